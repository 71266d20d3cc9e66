"""Approvals: what a person wishes to be asked for is done after a clear yes, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.inside import Inside

ASK = {"bash": "ask"}
COUNT = "echo done >> ../../../../../count.txt"


def times(a: Inside) -> int:
    path = a.home / "count.txt"
    return path.read_text().count("done") if path.exists() else 0


def question(a: Inside, number: int = 1) -> str:
    return (a.home / f"_questions/q-{number:03d}.md").read_text("utf-8")


async def asks(a: Inside, number: int) -> None:
    await a.until((a.home / f"_questions/q-{number:03d}.md").exists)


async def fill_in(a: Inside, words: str, number: int = 1) -> None:
    text = question(a, number)
    lines = [f"answer: {words}" if x[:7] == "answer:" else x for x in text.split("\n")]
    a.write(f"_questions/q-{number:03d}.md", "\n".join(lines))
    await a.look()


@pytest.fixture
async def a(tmp_path: Path) -> AsyncIterator[Inside]:
    async with inside(tmp_path) as found:
        yield found


async def a_command_waits(a: Inside, command: str = COUNT) -> None:
    a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
    a.model.says("n", call("bash", command=command))
    await a.begin(permissions=ASK)
    await a.until(lambda: a.state("n") == "waiting_for_human")
    await a.until(lambda: "worker.waiting" in a.events(worker="Alice"))


async def test_nothing_is_done_before_a_yes_and_one_thing_after_it(a: Inside) -> None:
    await a_command_waits(a)
    assert "Alice" not in a.desk.active
    assert COUNT in question(a)
    assert "kind: approval" in question(a)
    assert str(a.run / "nodes/n/scratch") in question(a)
    assert times(a) == 0
    await fill_in(a, "yes")
    await a.asked("n", 2)

    assert times(a) == 1
    assert a.results("bash", "Alice") == ["exit code 0\n[no output]"]
    assert not a.desk.questions
    assert "said yes" not in a.told("Alice")


async def test_a_no_is_told_and_nothing_is_done(a: Inside) -> None:
    await a_command_waits(a)
    await fill_in(a, "no")
    await a.asked("n", 2)

    assert a.results("bash", "Alice")[0].startswith("refused by the person (q-001)")
    assert times(a) == 0


@pytest.mark.parametrize(
    "words", ["sure", "yes, but only in scratch", "yes no", "never", "ok", "yess"]
)
async def test_anything_but_a_clear_word_leaves_it_open(a: Inside, words: str) -> None:
    await a_command_waits(a)
    await fill_in(a, words)

    page = (a.home / "_questions/q-001.md.error.md").read_text()
    assert f"'{words}'" in page
    assert "`yes`, `no` or `always`" in page
    assert a.state("n") == "waiting_for_human"
    assert times(a) == 0
    await fill_in(a, "Y")
    await a.asked("n", 2)
    assert times(a) == 1
    assert not (a.home / "_questions/q-001.md.error.md").exists()


async def test_a_ticked_box_is_an_answer_and_two_are_none(a: Inside) -> None:
    await a_command_waits(a)
    both = question(a).replace("- [ ] yes", "- [x] yes").replace("[ ] no", "[x] no")
    a.write("_questions/q-001.md", both)
    await a.look()
    assert a.state("n") == "waiting_for_human"
    a.write("_questions/q-001.md", both.replace("[x] no", "[ ] no"))
    await a.look()
    await a.asked("n", 2)

    assert times(a) == 1


async def test_a_chat_line_never_grants(a: Inside) -> None:
    await a_command_waits(a)
    a.write("_inbox.md", "@Alice yes\n---\nyes\n---\n@Alice always\n")
    await a.look()
    await a.asked("n", 2)

    assert times(a) == 0
    assert a.desk.questions
    result = a.results("bash", "Alice")[0]
    assert result.startswith("not done yet: it waits for the person's approval (q-001")


async def test_a_line_that_names_the_question_counts_if_it_is_clear(a: Inside) -> None:
    await a_command_waits(a)
    a.write("_inbox.md", "q-001: what is that for?\n")
    await a.look()
    assert times(a) == 0
    assert "q-001 is an approval and stays open" in a.outbox()
    assert (a.home / "_questions/q-001.md.error.md").exists()
    a.write("_inbox.md", "q-001: what is that for?\n---\nq-001: yes\n")
    await a.look()
    await a.asked("n", 2)

    assert times(a) == 1
    assert not (a.home / "_questions/q-001.md.error.md").exists()


async def test_who_was_called_away_makes_the_call_again_on_the_same_question(
    a: Inside,
) -> None:
    await a_command_waits(a)
    a.write("_inbox.md", "@Alice how far are you?\n")
    await a.look()
    await a.asked("n", 2)
    await fill_in(a, "yes")
    a.model.says("n", say("I wait."))
    await a.asked("n", 3)
    assert times(a) == 0
    assert "[q-001: the person said yes]" in a.told("Alice")
    a.model.says("n", call("bash", command=COUNT))
    await a.asked("n", 4)
    assert times(a) == 1

    a.model.says("n", call("bash", command=COUNT))
    await asks(a, 2)
    assert times(a) == 1


async def test_always_is_written_down_and_counts_until_it_is_deleted(
    a: Inside,
) -> None:
    await a_command_waits(a)
    await fill_in(a, "always")
    await a.asked("n", 2)
    path = a.home / "_approvals.yaml"
    line = path.read_text().splitlines()[-1]
    assert line.startswith(f'- {{allow: bash, exactly: "{COUNT}", since: ')
    assert line.endswith(", by: q-001}")
    a.model.says("n", call("bash", command=COUNT))
    await a.asked("n", 3)
    assert times(a) == 2
    a.model.says("n", call("bash", command=f"{COUNT} "))
    await asks(a, 2)

    await fill_in(a, "no", 2)
    path.write_text("# none\n")
    await a.look()
    a.model.says("n", call("bash", command=COUNT))
    await asks(a, 3)
    assert times(a) == 2


async def test_an_always_frees_who_waits_for_the_same(a: Inside) -> None:
    a.model.says(COORDINATOR, node("m"), node("n"), say("ok"))
    for name in ("m", "n"):
        a.model.says(name, call("bash", command=COUNT))
    await a.begin(permissions=ASK)
    await asks(a, 1)
    await asks(a, 2)
    await a.until(lambda: a.state("m") == a.state("n") == "waiting_for_human")
    await fill_in(a, "always")
    await a.asked("m", 2)
    await a.asked("n", 2)

    assert times(a) == 2
    assert "q-002 needs no answer any more" in a.outbox()


async def test_a_bad_list_of_approvals_approves_nothing(a: Inside) -> None:
    a.write("_approvals.yaml", f'- {{allow: bash, exactly: "{COUNT}"}}\n- oh\n')
    await a_command_waits(a)
    page = (a.home / "_approvals.yaml.error.md").read_text()
    assert "you are asked each time" in page
    await fill_in(a, "always")
    await a.asked("n", 2)
    assert times(a) == 1
    assert "was taken as `yes`, this once" in a.outbox()

    a.write("_approvals.yaml", f'- {{allow: bash, exactly: "{COUNT}"}}\n')
    await a.look()
    a.model.says("n", call("bash", command=COUNT))
    await a.asked("n", 3)
    assert times(a) == 2


async def test_it_waits_over_restarts(a: Inside) -> None:
    await a_command_waits(a)
    await a.restart()
    await a.until(lambda: a.state("n") == "waiting_for_human")
    await a.restart()
    await a.leap(3 * 86400)
    assert times(a) == 0
    await fill_in(a, "yes")
    await a.asked("n", 2)

    assert times(a) == 1
    assert a.results("bash", "Alice") == ["exit code 0\n[no output]"]
    assert len(list((a.home / "_questions").glob("q-*.md"))) == 1


async def test_a_yes_that_came_while_nobody_ran_counts_once(a: Inside) -> None:
    await a_command_waits(a)
    await a.end()
    text = question(a).replace("answer:", "answer: yes #")
    a.write("_questions/q-001.md", text)
    await a.restart()
    await a.asked("n", 2)
    await a.restart()

    assert times(a) == 1


async def test_a_yes_is_not_used_twice_around_a_crash(a: Inside) -> None:
    """The daemon dies between the yes being taken and the result being on record."""
    await a_command_waits(a, f"{COUNT}; sleep 30")
    await fill_in(a, "yes")
    await a.until(lambda: times(a) == 1)
    lines = (a.run / "workers/Alice/conversation.jsonl").read_text()
    await a.end()
    (a.run / "workers/Alice/conversation.jsonl").write_text(lines)
    await a.restart()
    await a.asked("n", 2)

    assert times(a) == 1
    assert "interrupted" in a.results("bash", "Alice")[0]


async def test_urgent_words_go_ahead_of_an_approved_call(a: Inside) -> None:
    await a_command_waits(a)
    a.write("_inbox.md", "q-001: yes\n---\n!@Alice stop, not that\n")
    await a.look()
    await a.asked("n", 2)

    assert times(a) == 0
    assert "put off" in a.results("bash", "Alice")[0]


async def test_a_yes_does_not_outrun_the_urgent_words_behind_it(a: Inside) -> None:
    """All that was typed together is there before any of it is acted on."""
    await a_command_waits(a)
    notes = "".join(f"Note {number}.\n---\n" for number in range(50))
    a.write("_inbox.md", f"q-001: yes\n---\n{notes}!@Alice stop, not that\n")
    await a.look()
    await a.asked("n", 2)

    assert times(a) == 0
    assert "put off" in a.results("bash", "Alice")[0]


async def test_a_cancelled_node_asks_no_longer(a: Inside) -> None:
    await a_command_waits(a)
    a.write("runs/" + a.run.name + "/nodes/n/STOP", "")
    await a.look()
    await a.until(lambda: a.state("n") == "cancelled")

    assert not a.desk.questions
    assert (a.home / "_questions/closed/q-001.md").exists()
    assert "q-001 needs no answer any more" in a.outbox()


async def test_the_coordinator_answers_while_its_call_waits(a: Inside) -> None:
    a.model.says(COORDINATOR, call("bash", command="true"))
    await a.begin(permissions=ASK)
    await asks(a, 1)
    a.write("_inbox.md", "How are you?\n")
    await a.look()
    await a.asked(COORDINATOR, 2)
    a.model.says(COORDINATOR, say("I wait for you."))
    await a.until(lambda: "I wait for you." in a.outbox())
    await fill_in(a, "yes")
    await a.asked(COORDINATOR, 3)

    assert "[q-001: the person said yes]" in a.told()


async def test_the_next_stage_waits_for_the_person(a: Inside) -> None:
    a.model.says(
        COORDINATOR,
        call("reconvene", assessment="All is read.", next_stage="Writing"),
        say("ok"),
    )
    await a.begin(permissions={"reconvene": "ask"})
    await asks(a, 1)
    assert "All is read." in question(a)
    assert a.desk.stage is None
    await fill_in(a, "yes")

    await a.until(lambda: a.desk.stage == 1)


async def test_writing_shows_the_whole_text_and_a_new_worker_its_name(
    a: Inside,
) -> None:
    a.model.says(
        COORDINATOR,
        call("write_file", path="scratch/a.md", content="one\n\n## Answer\n\nyes\n"),
        node("n", worker="Bob"),
        say("ok"),
    )
    await a.begin(permissions={"write": "ask", "spawn": "ask"})
    await asks(a, 1)
    assert "3| ## Answer" in question(a)
    await a.stays(lambda: not list(a.run.rglob("a.md")))
    await fill_in(a, "yes")
    await asks(a, 2)
    assert [x.read_text() for x in a.run.rglob("a.md")] == ["one\n\n## Answer\n\nyes\n"]
    assert "spawn: `Bob`" in question(a, 2)
    await fill_in(a, "no", 2)
    await a.asked(COORDINATOR, 3)

    assert a.desk.find_staff("Bob") is None


async def test_the_checks_of_a_deliverable_are_asked_for(a: Inside) -> None:
    a.model.says(COORDINATOR, node("n", accept=[{"run": "test -f a.md"}]), say("ok"))
    a.model.says("n", publish())
    await a.begin(permissions=ASK)
    await asks(a, 1)
    assert "test -f a.md" in question(a)
    await fill_in(a, "yes")

    await a.until(lambda: a.state("n") == "completed")


async def test_the_status_says_what_waits_and_for_what(a: Inside) -> None:
    await a_command_waits(a)
    await a.until(
        lambda: "q-001: May this be done? bash" in (a.home / "_status.md").read_text()
    )

    assert "you are asked before each use of bash" in (
        (a.home / "_status.md").read_text()
    )


@pytest.mark.parametrize("word", ["yes", "no"])
async def test_what_the_coordinator_says_to_an_approval_is_told_to_the_person(
    a: Inside, word: str
) -> None:
    a.model.says(COORDINATOR, call("bash", command=COUNT))
    await a.begin(permissions=ASK)
    await asks(a, 1)
    await fill_in(a, word)
    a.model.says(COORDINATOR, call("check_board"), say("That is that."))
    await a.until(lambda: "That is that." in a.outbox())
    assert ("refused" in a.results("bash")[0]) is (word == "no")
    a.model.says(COORDINATOR, say("Nobody has asked for this."))
    await a.stays(lambda: "Nobody has" not in a.outbox())


async def test_a_node_for_nobody_asks_for_the_first_worker_alone(a: Inside) -> None:
    a.model.says(COORDINATOR, node("n"), node("m"), say("I wait."))
    await a.begin(permissions={"spawn": "ask"})
    await asks(a, 1)
    assert "worker-1" in question(a)
    assert not (a.run / "workers").exists() or not list((a.run / "workers").iterdir())
    await fill_in(a, "yes")
    await a.asked("n")
    await a.until(lambda: a.state("m") == "pending")
    await a.stays(lambda: a.model.asked("m") == 0)
    assert [each.name for each in (a.run / "workers").iterdir()] == ["worker-1"]
    a.model.says("n", publish())
    await a.asked("m")
    assert [each.name for each in (a.run / "workers").iterdir()] == ["worker-1"]


async def test_where_no_worker_may_be_made_a_node_for_nobody_is_refused(
    a: Inside,
) -> None:
    a.model.says(COORDINATOR, node("n"), say("ok"))
    await a.begin(permissions={"spawn": "deny"})
    await a.asked(COORDINATOR, 2)
    assert "spawn" in a.results("create_work_node")[0]
    assert a.state("n") == ""


async def test_a_persons_own_node_finds_a_worker_where_the_agent_may_make_none(
    a: Inside,
) -> None:
    a.model.says(COORDINATOR, say("ok"))
    await a.begin(permissions={"spawn": "deny"})
    await a.asked(COORDINATOR)
    a.write(f"runs/{a.run.name}/nodes/mine/_spec.md", "Do this.\n")
    await a.look()
    await a.asked("mine")
