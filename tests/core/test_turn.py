"""The turn: one deed for each event, a result for each call, and always an end."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from agiraph.core.turn import (
    ALTERNATING,
    NUDGES,
    SAME_FAILURE,
    SAME_RESULT,
    Act,
    Ask,
    Began,
    Deed,
    End,
    Event,
    Idle,
    Interrupted,
    Nudge,
    Rest,
    Returned,
    Said,
    Skip,
    Tell,
    Trace,
    Turn,
    Why,
    Woken,
    after_skip,
    step,
    stuck,
)
from agiraph.model.conversation import Stop
from agiraph.model.tool import ToolCall


def call(name: str = "read_file", ident: str = "c1", **arguments: str) -> ToolCall:
    return ToolCall(ident, name, dict(arguments))


def said(*calls: ToolCall, text: str = "", stop: Stop | None = None) -> Said:
    return Said(text, calls, stop or (Stop.TOOLS if calls else Stop.END))


def play(turn: Turn, *events: Event) -> tuple[Turn, Deed]:
    """What a loop does with these events; skipped calls are recorded at once."""
    deed: Deed = Ask()
    for event in events:
        turn, deed = step(turn, event)
        if isinstance(deed, Skip) and event is not events[-1]:
            turn, deed = after_skip(turn, deed)
    return turn, deed


def deeds(turn: Turn, *events: Event) -> list[Deed]:
    found = []
    for event in events:
        turn, deed = step(turn, event)
        found.append(deed)
    return found


# --- calls and results


def test_the_model_is_asked_first() -> None:
    assert step(Turn(), Began()) == (Turn(), Ask())


def test_calls_are_run_one_after_another_and_then_the_model_is_asked() -> None:
    one, two = call("list_files", "c1"), call("read_file", "c2")

    assert deeds(
        Turn(),
        Began(),
        said(one, two),
        Returned("a", error=False),
        Returned("b", error=True),
    ) == [Ask(), Act(0, one), Act(1, two), Ask()]


def test_after_a_restart_the_first_call_without_a_result_comes_next() -> None:
    calls = (call(ident="c1"), call(ident="c2"), call(ident="c3"))

    turn, deed = step(Turn(calls=calls, next=1, turns=4), Began())

    assert deed == Act(1, calls[1])
    assert turn.turns == 4


def test_after_a_restart_with_every_result_on_record_the_model_is_asked() -> None:
    calls = (call(),)

    turn, deed = step(Turn(calls=calls, next=1), Began())

    assert deed == Ask()
    assert turn.calls == ()


def test_an_answer_on_record_is_taken_up_after_a_restart_though_no_turn_is_left() -> (
    None
):
    turn = Turn(max_turns=1, turns=0)  # the one turn is on record, as this answer

    assert step(turn, said(text="the answer"))[1] == Rest("the answer")


def test_calls_left_are_put_off_in_order_when_something_urgent_comes() -> None:
    calls = (call(ident="c1"), call(ident="c2"), call(ident="c3"))
    turn, _ = play(Turn(), Began(), said(*calls), Returned("a", error=False))

    turn, deed = step(turn, Interrupted())

    assert deed == Skip(1, calls[1:])
    assert after_skip(turn, deed)[1] == Ask()


def test_a_tool_that_ends_the_loop_skips_the_calls_behind_it_first() -> None:
    calls = (call("publish", "c1"), call("write_file", "c2"))
    turn, _ = play(Turn(), Began(), said(*calls))

    turn, deed = step(turn, Returned("ok", error=False, ends="published"))

    assert deed == Skip(1, calls[1:], "published")
    assert after_skip(turn, deed)[1] == End(Why.DONE, "published")


def test_a_tool_that_ends_the_loop_last_ends_it_at_once() -> None:
    turn, _ = play(Turn(), Began(), said(call("finish")))

    turn, deed = step(turn, Returned("ok", error=False, ends="finished"))

    assert deed == End(Why.DONE, "finished")
    assert turn.calls == ()


def test_calls_count_even_where_the_answer_was_cut_off() -> None:
    one = call()

    assert play(Turn(), Began(), said(one, stop=Stop.LENGTH))[1] == Act(0, one)


# --- turns


def test_the_calls_of_the_last_turn_still_run() -> None:
    one = call()
    turn, deed = play(Turn(max_turns=1), Began(), said(one))
    assert deed == Act(0, one)

    _, deed = step(turn, Returned("a", error=False))

    assert deed == End(Why.TURNS, "1 of 1 turns are used")


def test_a_loop_without_a_limit_is_asked_on_and_on() -> None:
    turn = Turn(turns=10_000)

    assert step(turn, Began())[1] == Ask()


def test_no_turn_is_left_for_a_reminder() -> None:
    _, deed = play(Turn(max_turns=1), Began(), said(text="done, I think"), Idle())

    assert isinstance(deed, End)
    assert deed.why is Why.TURNS


def test_put_off_calls_do_not_buy_a_turn() -> None:
    turn, deed = play(Turn(max_turns=1), Began(), said(call()), Interrupted())

    assert isinstance(deed, Skip)
    end = after_skip(turn, deed)[1]
    assert isinstance(end, End)
    assert end.why is Why.TURNS


# --- text without a call


def test_text_without_a_call_ends_the_turn() -> None:
    assert play(Turn(), Began(), said(text="I wait."))[1] == Rest("I wait.")


def test_news_ends_a_rest() -> None:
    assert play(Turn(), Began(), said(text="I wait."), Woken())[1] == Ask()


def test_three_reminders_then_the_end() -> None:
    turn, found = Turn(), []
    for _ in range(NUDGES + 1):
        turn, deed = play(turn, said(text="I am done."), Idle())
        found.append(deed)

    assert found == [
        Tell(Nudge.TALK, 1),
        Tell(Nudge.TALK, 2),
        Tell(Nudge.TALK, 3),
        End(Why.SILENT, "nudge"),
    ]


def test_a_call_between_them_counts_reminders_anew() -> None:
    turn, _ = play(Turn(), said(text="a"), Idle(), said(text="b"), Idle())
    turn, _ = play(turn, said(call()), Returned("x", error=False))

    assert play(turn, said(text="c"), Idle())[1] == Tell(Nudge.TALK, 1)


def test_being_woken_counts_reminders_anew() -> None:
    turn, _ = play(Turn(), said(text="a"), Idle(), said(text="b"), Woken())

    assert play(turn, said(text="c"), Idle())[1] == Tell(Nudge.TALK, 1)


@pytest.mark.parametrize(
    ("answer", "nudge"),
    [
        (said(text=""), Nudge.EMPTY),
        (said(text=" \n"), Nudge.EMPTY),
        (said(text="", stop=Stop.TOOLS), Nudge.EMPTY),
        (said(text="half a", stop=Stop.LENGTH), Nudge.LENGTH),
        (said(text="half a", stop=Stop.CONTEXT), Nudge.LENGTH),
    ],
)
def test_an_answer_of_no_use_is_said_to_be_so(answer: Said, nudge: Nudge) -> None:
    assert play(Turn(), Began(), answer)[1] == Tell(nudge, 1)


def test_reminders_of_every_kind_share_one_bound() -> None:
    turn, _ = play(Turn(), said(text=""), said(text="x", stop=Stop.LENGTH))
    turn, deed = play(turn, said(text="y"), Idle())
    assert deed == Tell(Nudge.TALK, 3)

    assert play(turn, said(text=""))[1] == End(Why.SILENT, "answer_empty")


def test_a_refusal_ends_the_loop_in_the_models_words() -> None:
    answer = said(text="I will not.", stop=Stop.REFUSAL)

    assert play(Turn(), Began(), answer)[1] == End(Why.REFUSED, "I will not.")


def test_a_service_that_pauses_is_asked_again_three_times_in_a_row() -> None:
    pause = said(text="so far", stop=Stop.PAUSE)

    assert deeds(Turn(), pause, pause, pause, pause) == [
        Ask(),
        Ask(),
        Ask(),
        Rest("so far"),
    ]


def test_pauses_are_counted_in_a_row_only() -> None:
    pause = said(text="so far", stop=Stop.PAUSE)
    turn, _ = play(Turn(), pause, pause, pause, said(text="cut", stop=Stop.LENGTH))

    assert play(turn, pause)[1] == Ask()


# --- circles


def again(
    turn: Turn, one: ToolCall, result: str, *, error: bool = False
) -> tuple[Turn, Deed]:
    return play(turn, said(one), Returned(result, error=error))


def test_the_same_call_with_the_same_result_four_times_is_a_circle() -> None:
    turn, found = Turn(), []
    for number in range(SAME_RESULT):
        turn, deed = again(turn, call(ident=f"c{number}", path="a"), "same")
        found.append(deed)

    assert found[:-1] == [Ask()] * (SAME_RESULT - 1)
    assert found[-1] == End(Why.STUCK, "the same call had the same result 4 times")


def test_the_same_failure_three_times_is_a_circle() -> None:
    turn, deed = Turn(), Ask()
    for _ in range(SAME_FAILURE):
        turn, deed = again(turn, call(path="a"), "no such file", error=True)

    assert isinstance(deed, End)
    assert deed.why is Why.STUCK


def test_swinging_between_two_calls_six_times_is_a_circle() -> None:
    turn, deed = Turn(), Ask()
    for number in range(ALTERNATING):
        turn, deed = again(turn, call(path="ab"[number % 2]), "same")

    assert isinstance(deed, End)
    assert deed.why is Why.STUCK


def test_progress_is_no_circle() -> None:
    turn = Turn()
    for number in range(20):
        turn, deed = again(turn, call(path="a"), f"line {number}")
        assert deed == Ask()


def test_the_order_of_arguments_makes_no_other_call() -> None:
    turn, deed = Turn(), Ask()
    for keys in ("ab", "ba", "ab", "ba"):
        one = ToolCall("c", "read_file", dict.fromkeys(keys, "1"))
        turn, deed = again(turn, one, "same")

    assert isinstance(deed, End)


def test_a_circle_ends_only_when_every_call_has_its_result() -> None:
    same = [call(ident=f"c{n}") for n in range(SAME_RESULT)]
    other = call("list_files", "c9")
    results = [Returned("same", error=False)] * SAME_RESULT

    assert play(Turn(), said(*same, other), *results)[1] == Act(SAME_RESULT, other)


def test_the_same_look_after_each_piece_of_news_is_no_circle() -> None:
    turn, deed = Turn(), Ask()
    for _ in range(3 * SAME_RESULT):
        turn, deed = again(turn, call("check_board"), "nothing new")
        assert deed == Ask()
        turn, deed = play(turn, said(text="All is well."), Woken())
        assert deed == Ask()


def test_urgent_mail_breaks_a_circle() -> None:
    turn = Turn()
    for _ in range(SAME_RESULT - 1):
        turn, _ = again(turn, call("check_board"), "same")
    turn, _ = play(turn, said(call("check_board")), Interrupted())

    assert again(turn, call("check_board"), "same")[1] == Ask()


@pytest.mark.parametrize("count", range(SAME_FAILURE))
def test_too_few_traces_are_no_circle(count: int) -> None:
    assert stuck((Trace("a", "x", error=True),) * count) == ""


def test_the_trail_is_bounded() -> None:
    turn = Turn()
    for number in range(100):
        turn, _ = again(turn, call(path=str(number)), "x")

    assert len(turn.trail) <= 2 * ALTERNATING


# --- whatever happens


class AnyLoop(RuleBasedStateMachine):
    """A loop under any sequence of events, restarts at any point included."""

    @initialize(most=st.one_of(st.none(), st.integers(1, 6)))
    def begin(self, most: int | None) -> None:
        self.most = most
        self.asked = 0
        self.answers = 0
        self.reminders = 0
        self.ends = 0
        self.calls: tuple[ToolCall, ...] = ()
        self.results: list[int] = []
        self.take(*step(Turn(max_turns=most), Began()))

    def take(self, turn: Turn, deed: Deed) -> None:
        """Check the deed, as the loop would be bound by it."""
        self.turn, self.deed = turn, deed
        match deed:
            case Ask() | Tell():
                assert self.results == list(range(len(self.calls)))
                assert self.most is None or self.answers < self.most
                if isinstance(deed, Tell):
                    self.reminders += 1
                    assert deed.count == self.reminders <= NUDGES
            case Act():
                assert deed.index == len(self.results)
                assert deed.call == self.calls[deed.index]
            case Skip():
                assert deed.first == len(self.results)
                assert deed.calls == self.calls[deed.first :]
                self.results += range(deed.first, deed.first + len(deed.calls))
                self.take(*after_skip(turn, deed))
            case Rest():
                assert self.results == list(range(len(self.calls)))
            case End():
                assert self.results == list(range(len(self.calls)))
                self.ends += 1

    @precondition(lambda self: isinstance(self.deed, Ask | Tell))
    @rule(
        names=st.lists(st.sampled_from(["read_file", "bash", "publish"]), max_size=4),
        text=st.sampled_from(["", " ", "words"]),
        stop=st.sampled_from(Stop),
    )
    def answer(self, names: list[str], text: str, stop: Stop) -> None:
        self.answers += 1
        self.calls = tuple(call(name, f"c{n}") for n, name in enumerate(names))
        self.results = []
        if self.calls:
            self.reminders = 0
        self.take(*step(self.turn, Said(text, self.calls, stop)))

    @precondition(lambda self: isinstance(self.deed, Act))
    @rule(
        content=st.sampled_from("ab"),
        error=st.booleans(),
        ends=st.sampled_from(["", "", "x"]),
    )
    def result(self, content: str, error: bool, ends: str) -> None:
        self.results.append(len(self.results))
        self.take(*step(self.turn, Returned(content, error, ends)))

    @precondition(lambda self: isinstance(self.deed, Act))
    @rule()
    def urgent(self) -> None:
        self.take(*step(self.turn, Interrupted()))

    @precondition(lambda self: isinstance(self.deed, Ask | Tell | Rest))
    @rule()
    def woken(self) -> None:
        self.reminders = 0
        self.take(*step(self.turn, Woken()))

    @precondition(lambda self: isinstance(self.deed, Ask | Tell | Rest))
    @rule()
    def idle(self) -> None:
        self.take(*step(self.turn, Idle()))

    @precondition(lambda self: not isinstance(self.deed, End))
    @rule()
    def restart(self) -> None:
        self.reminders = 0
        turn = Turn(
            max_turns=self.most,
            calls=self.calls,
            next=len(self.results),
            turns=self.answers,
        )
        self.take(*step(turn, Began()))

    @precondition(lambda self: isinstance(self.deed, End))
    @rule()
    def nothing_happens_any_more(self) -> None:
        """The loop is over; there is nobody to give an event to."""

    @invariant()
    def the_end_comes_once(self) -> None:
        ends = getattr(self, "ends", 0)
        assert ends == isinstance(getattr(self, "deed", None), End)

    @invariant()
    def turns_are_counted(self) -> None:
        if hasattr(self, "turn"):
            assert self.turn.turns == self.answers


AnyLoop.TestCase.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None
)
TestAnyLoop = AnyLoop.TestCase
