"""What a journal may leave out: what no restart can ask for any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.keeping import still_matters

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject


def intent(step: str, **more: int | str) -> JsonObject:
    return {"kind": "intent", "step": step, "tool": "x", "intent": {"run": "r", **more}}


def mark(step: str, what: str = "checked") -> JsonObject:
    return {"kind": "mark", "step": step, "what": what}


def crash(step: str) -> JsonObject:
    return {"kind": "crash", "step": step, "why": "a bug"}


def kept(*entries: JsonObject, questions: tuple[str, ...] = ()) -> list[JsonObject]:
    return still_matters(entries, questions)


def test_of_each_loop_what_belongs_to_its_last_turn_is_kept() -> None:
    old = (intent("coordinator/1.1.0"), mark("coordinator/1.1.0"))
    now = (
        mark("coordinator/1.2.0"),
        intent("coordinator/1.2.0"),
        intent("coordinator/1.2.1"),
        mark("coordinator/1.3.0"),
    )
    hers = intent("2026-11-21-01/alice/1.1.0")
    assert kept(*old, hers, *now) == [hers, *now]


def test_numbers_that_begin_again_count_as_they_stand_in_the_file() -> None:
    new = intent("coordinator/1.1.0")
    assert kept(intent("coordinator/4.9.0"), new) == [new]


def test_loops_of_runs_long_gone_are_left_out() -> None:
    loops = [f"2026-11-21-{number:02d}/alice/1.1.0" for number in range(1, 5)]
    assert kept(*map(intent, loops)) == [intent(loops[2]), intent(loops[3])]


def test_crashes_of_the_step_at_hand_go_on_counting() -> None:
    now = (intent("coordinator/1.2.0"), crash("coordinator/1.3"))
    assert kept(crash("coordinator/1.1"), *now) == list(now)


def test_what_a_person_has_released_counts_no_more() -> None:
    why = {"kind": "quarantined", "step": "n", "words": "w", "goal_changed": 1.0}
    assert kept(crash("n"), why) == [crash("n"), why]
    assert kept(crash("n"), why, {"kind": "released"}) == []


def test_the_marks_of_a_question_stay_until_it_is_put_away() -> None:
    marks = [mark("q-001", "answered: yes"), mark("q-002", "answered: no")]
    assert kept(*marks, questions=("q-002",)) == marks[1:]


def test_the_number_of_a_question_is_never_forgotten() -> None:
    asks = intent("coordinator/1.1.0", number=7, asked="now")
    then = intent("coordinator/1.2.0")
    highest = {"kind": "asked", "number": 7}
    assert kept(asks, then) == [highest, then]
    assert kept(highest, then) == [highest, then]


def test_an_answer_outlives_as_long_as_its_question_may_be_asked_anew() -> None:
    asks = intent("coordinator/1.1.0", number=7, asked="now")
    answered = mark("q-007", "answered: yes")
    assert answered in kept(asks, answered)


def test_what_waits_for_an_approval_is_kept_until_its_question_is_put_away() -> None:
    asks = intent("coordinator/1.1.0")
    asks = {**asks, "intent": {"run": "r", "approval": {"number": 4, "kind": "bash"}}}
    then = intent("coordinator/1.2.0")
    answered, used = mark("q-004", "answered: yes"), mark("q-004", "used: x")
    highest = {"kind": "asked", "number": 4}
    entries = (asks, answered, used, then)
    assert kept(*entries, questions=("q-004",)) == [highest, *entries]
    assert kept(*entries) == [highest, then]


def test_a_long_command_is_kept_until_its_end_was_told() -> None:
    def job(turn: int, *whats: str) -> list[JsonObject]:
        return [mark(f"coordinator/1.{turn}.0", what) for what in whats]

    told = job(1, "job: 1 r", "job report: done", "job told")
    open_one = job(2, "job: 2 r", "job report: done")
    last = job(3, "job: 3 r", "job told")
    then = intent("coordinator/1.9.0")
    assert kept(*told, *open_one, *last, then) == [*open_one, *last, then]


def test_what_is_not_known_here_is_kept() -> None:
    odd = [{"kind": "armed", "trigger": "t"}, mark("fork", "triggers disarmed"), {}]
    assert kept(*odd) == odd


def test_what_only_tells_of_people_is_kept_for_a_while() -> None:
    files = [{"kind": "accepted", "file": "GOAL.md", "sha": str(n)} for n in range(900)]
    answers = [mark(f"_inbox.md {n}", "answer abc") for n in range(900)]
    found = kept(*files, *answers)
    assert found == [*files[-500:], *answers[-500:]]


def test_leaving_out_twice_leaves_out_nothing_more() -> None:
    entries = [intent(f"coordinator/1.{n}.0", number=n, asked="x") for n in range(9)]
    once = kept(*entries, crash("coordinator/1.9"))
    assert kept(*once) == once
