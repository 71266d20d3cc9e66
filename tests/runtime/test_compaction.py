"""A conversation that no longer fits: put away, and gone on with, at every point."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agiraph.model.conversation import Kind, Stop, UserLine
from agiraph.model.names import COORDINATOR, HUMAN
from tests.support.inside import Said, call, calls, inside, node, publish, say, size_of

if TYPE_CHECKING:
    from pathlib import Path

    from agiraph.model.conversation import Request
    from tests.support.inside import Inside

WINDOW = 40_000
SUMMARY = "## Goal\nIt.\n## Done\n- the first three are read\n## Open\n- the fourth"
TRIGGERS = """\
- id: mishap
  type: on_event
  event: node.failed
  action: {type: wake_agent, task: Look why.}
"""
READ = call("read_file", path="inputs/page.md")
NOTE = call("memory_write", path="knowledge/pages.md", content="Pages are long.\n")


async def filled(a: Inside, who: str = COORDINATOR) -> None:
    """Work until the conversation is full, and notes are asked for."""
    a.model.measures = True
    a.write("inputs/page.md", "A line of a long page.\n" * 2000)
    if a.supervising is None:
        await a.begin(context=WINDOW)
    await a.until(lambda: who in a.model.waits)
    while not asks_for_notes(a, who):
        asked = a.model.asked(who)
        a.model.says(who, call("read_file", path="inputs/page.md", offset=asked))
        await a.until(lambda: who in a.model.waits)


def last(a: Inside, who: str = COORDINATOR) -> Request:
    return a.model.requests[who][-1]


def asks_for_notes(a: Inside, who: str = COORDINATOR) -> bool:
    asked = a.model.requests[who]
    return bool(asked) and "This one answer is for notes" in asked[-1].lines[-1].content


def opening(a: Inside, who: str = COORDINATOR) -> str:
    """What the newest session goes on from; empty where none was put away."""
    line = last(a, who).lines[0]
    is_one = isinstance(line, UserLine) and line.kind is Kind.OPENING
    return line.content if is_one else ""


def said(a: Inside, text: str) -> bool:
    return any(line["content"] == text for line in a.lines())


def put_away(a: Inside, folder: str = "") -> list[list[dict[str, Any]]]:
    """The files of what was put away, as lines."""
    found = sorted((a.home / folder / "conversations").glob("*.jsonl"))
    texts = [path.read_text("utf-8").splitlines() for path in found]
    return [[json.loads(line) for line in lines] for lines in texts]


async def test_notes_come_first_then_a_summary_then_a_session_that_knows_the_tree(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("triggers.yaml", TRIGGERS)
        a.model.says(COORDINATOR, node("n", worker="Alice"))
        a.model.says(COORDINATOR, call("ask_human", question="Which colour?"))
        await filled(a)
        a.model.says(COORDINATOR, NOTE, say(SUMMARY))
        await a.until(lambda: opening(a))

        text = opening(a)
        assert "The goal." in text
        assert "the first three are read" in text
        assert "- n is running, Alice" in text
        assert "q-001 from coordinator: Which colour?" in text
        assert TRIGGERS.strip() in text
        assert "`memory/knowledge/pages.md`" in text
        assert "conversations/0001.jsonl" in text
        assert len(last(a).lines) == 1
        assert (a.home / "memory/knowledge/pages.md").read_text() == "Pages are long.\n"
        assert size_of(last(a)) < WINDOW * 0.6
        assert "memory.compacted" in a.events("memory.")


async def test_what_was_put_away_can_be_read_word_for_word(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        before = a.lines()
        a.model.says(COORDINATOR, NOTE, say(SUMMARY))
        await a.until(lambda: opening(a))

        assert put_away(a)[0][: len(before)] == before
        assert [line["role"] for line in a.lines()] == ["system", "user"]
        a.model.says(
            COORDINATOR, call("read_file", path="conversations/0001.jsonl", limit=2)
        )
        await a.until(lambda: "The goal." in str(a.results("read_file")))


@pytest.mark.parametrize("kills", range(1, 6))
async def test_a_kill_at_any_step_goes_on_from_there(
    tmp_path: Path, kills: int
) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        answers = [NOTE, say(SUMMARY), say("I go on.")]
        for step, answer in enumerate(answers):
            if kills & (1 << step):
                asked = a.model.asked(COORDINATOR)
                await a.restart()
                await a.asked(COORDINATOR, asked + 1)
            asked = a.model.asked(COORDINATOR)
            a.model.says(COORDINATOR, answer)
            if step < 2:
                await a.asked(COORDINATOR, asked + 1)
        await a.until(lambda: said(a, "I go on."))

        assert "the first three are read" in opening(a)
        assert len(put_away(a)) == 1
        assert a.results("memory_write") == []
        put = [line for line in put_away(a)[0] if line.get("name") == "memory_write"]
        assert len(put) == 1


async def test_a_new_session_after_a_restart_is_the_one_that_goes_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, say("nothing"), say(SUMMARY), node("n"))
        a.model.says("n", publish())
        await a.until(lambda: a.state("n") == "completed")
        heard = a.model.heard(COORDINATOR)
        await a.restart()
        a.model.says(COORDINATOR, call("check_board"))
        await a.until(lambda: a.results("check_board"))

        assert a.model.heard(COORDINATOR).startswith(heard[:2000])
        told = a.told()
        assert told.count("[node n completed") == 1
        assert told.count("# Run ") == 1


async def test_other_tools_wait_while_notes_are_written(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, calls(node("n"), NOTE), say(SUMMARY))
        await a.until(lambda: opening(a))
        assert a.state("n") == ""
        results = [x["content"] for x in put_away(a)[0] if x.get("name")]
        assert any("this answer was for notes only" in text for text in results)


async def test_an_empty_summary_is_asked_for_once_more(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, NOTE, say(""), say(SUMMARY))
        await a.until(lambda: opening(a))
        assert "the first three are read" in opening(a)
        asked = [r.lines[-1].content for r in a.model.requests[COORDINATOR]]
        assert sum("it was empty" in text for text in asked) == 1


async def test_a_summary_that_is_no_use_twice_is_made_by_rule(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        cut = Said("## Goal\nIt", stop=Stop.LENGTH)
        a.model.says(COORDINATOR, NOTE, cut, say(" "))
        await a.until(lambda: opening(a))
        assert "- read_file inputs/page.md: done" in opening(a)
        assert "`inputs/page.md`" in opening(a)


async def test_a_summary_longer_than_what_it_sums_up_is_not_taken(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, NOTE, say("word " * 60_000), say(SUMMARY))
        await a.until(lambda: opening(a))
        assert "the first three are read" in opening(a)


async def test_calls_in_the_place_of_a_summary_are_refused(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, say("nothing"), node("n"), say(SUMMARY))
        await a.until(lambda: opening(a))
        assert a.state("n") == ""
        assert "the first three are read" in opening(a)


async def test_the_summary_before_stands_in_the_next_one_that_is_made_by_rule(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.model.says(COORDINATOR, say("nothing"), say(SUMMARY))
        await a.until(lambda: opening(a))
        await filled(a)
        a.model.says(COORDINATOR, say("nothing"), say(""), say(""))
        await a.until(lambda: "conversations/0002.jsonl" in opening(a))
        assert "The summary before this one" in opening(a)
        assert "the first three are read" in opening(a)


async def test_a_person_who_wrote_meanwhile_gets_the_answer(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await filled(a)
        a.write("_inbox.md", "What is the weather like?\n")
        await a.look()
        a.model.says(COORDINATOR, say("nothing"), say(SUMMARY))
        await a.until(lambda: opening(a))
        assert "What is the weather like?" in last(a).lines[-1].content
        a.model.says(COORDINATOR, say("It rains."))
        await a.until((a.home / "_outbox.md").exists)
        assert "It rains." in a.outbox()
        assert SUMMARY not in a.outbox()


async def test_what_a_person_wrote_before_and_is_owed_is_kept_word_for_word(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("_inbox.md", "Read the page five times, please, and tell me.\n")
        await filled(a)
        a.model.says(COORDINATOR, NOTE, say(SUMMARY), say("I have read it."))
        await a.until((a.home / "_outbox.md").exists)
        assert "I have read it." in a.outbox()
        assert "and tell me" in last(a).lines[1].content


async def test_what_a_person_wrote_and_was_answered_stays_in_their_own_words(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("_inbox.md", "Whatever you print, print it in Prussian blue.\n")
        a.model.says(COORDINATOR, say("Noted."))
        await a.begin(context=WINDOW)
        await a.until((a.home / "_outbox.md").exists)
        with (a.home / "_inbox.md").open("a") as inbox:
            inbox.write("Read the page now.\n")
        await a.look()
        a.go()
        await filled(a)
        a.model.says(COORDINATOR, NOTE, say(SUMMARY))
        await a.until(lambda: opening(a))

        opened, thread, *waits = [
            line for line in last(a).lines if isinstance(line, UserLine)
        ]
        assert "Prussian blue" not in opened.content
        assert (thread.sender, thread.kind) == (HUMAN, Kind.OPENING)
        assert "print it in Prussian blue." in thread.content
        assert "Read the page now." not in thread.content
        assert any("Read the page now." in line.content for line in waits)


async def test_a_service_that_says_it_does_not_fit_is_answered_by_compaction(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.measures = True
        a.model.too_large = 16_000
        a.write("inputs/page.md", "A line of a long page.\n" * 2000)
        a.model.says(COORDINATOR, *[READ] * 3, say(SUMMARY), say("I go on."))
        await a.begin()
        await a.asked(COORDINATOR)
        await a.until(lambda: said(a, "I go on."))
        assert "the first three are read" in opening(a)
        assert len(put_away(a)) == 1


async def test_compaction_that_brings_nothing_three_times_parks_the_loop_with_words(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.measures = True
        a.model.says(COORDINATOR, *[READ, say("nothing"), say(SUMMARY)] * 6)
        a.write("inputs/page.md", "A line of a long page.\n" * 2000)
        await a.begin(context=5_000)
        await a.until(lambda: a.desk.held)
        (words,) = a.desk.held.values()
        assert "3 times in a row" in words
        assert "5,000" in words
        assert a.model.asked(COORDINATOR) <= 9

        a.goal("The goal.", context=200_000)
        await a.look()
        await a.until(lambda: not a.desk.held)
        asked = a.model.asked(COORDINATOR)
        await a.asked(COORDINATOR, asked + 1)


async def test_a_worker_goes_on_with_its_turns_counted_through(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice", max_turns=8), say("ok"))
        a.goal("The goal.", context=WINDOW)
        await a.look()
        a.go()
        await filled(a, "n")
        note = call("write_file", path="notebook.md", content="Three are read.\n")
        a.model.says("n", note, say(SUMMARY))
        await a.until(lambda: opening(a, "n"))
        text = opening(a, "n")
        assert "# Your node: n" in text
        assert "Three are read." in text
        asked = a.model.asked("n")
        left = 8 - (asked - 3)
        a.model.says("n", *[call("list_files", path="inputs")] * 9)
        await a.until(lambda: a.state("n") == "failed")
        assert a.model.asked("n") == asked + left - 1
        assert "max_turns" in a.desk.nodes["n"].status.error


async def test_a_worker_hands_off_and_the_coordinator_hears_what_is_left(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.goal("The goal.", context=WINDOW)
        await a.look()
        a.go()
        write = call("write_file", path="scratch/a.md", content="Half of it.\n")
        a.model.says("n", write)
        await filled(a, "n")
        left = call("suggest_next", suggestion="Pages 4 to 9 are left.")
        done = call("publish", summary="Half of it.", partial=True)
        a.model.says("n", calls(left, done))
        await a.until(lambda: a.state("n") == "completed")
        await a.until(lambda: "Pages 4 to 9 are left." in a.model.heard(COORDINATOR))
        assert "[node n completed (partial)" in a.model.heard(COORDINATOR)
        assert a.desk.nodes["n"].status.partial


async def test_another_node_of_the_worker_keeps_its_session(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("first", worker="Alice"), say("ok"))
        a.model.says("first", call("list_files", path="inputs"))
        a.model.says("first", call("checkpoint", summary="half"))
        a.goal("The goal.", context=WINDOW)
        await a.look()
        a.go()
        await a.until(lambda: a.state("first") == "checkpointed")
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, node("second", worker="Alice"), say("ok"))
        await filled(a, "second")
        a.model.says("second", say("nothing"), say(SUMMARY), publish())
        await a.until(lambda: a.state("second") == "completed")
        assert len(put_away(a, f"runs/{a.run.name}/workers/Alice")) == 1
        assert "Do first." not in str(put_away(a, f"runs/{a.run.name}/workers/Alice"))
        await a.restart()
        a.model.says(
            COORDINATOR,
            call("assign_worker", node_id="first", worker_id="Alice"),
            say("ok"),
        )
        await a.until(lambda: a.model.asked("first") >= 3)
        assert "go on where you were" in a.model.heard("first")
        assert "Do first." in a.model.heard("first")


async def test_a_result_is_cut_to_what_a_small_window_can_show(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.measures = True
        a.write("inputs/page.md", "A line of a long page.\n" * 2000)
        a.model.says(COORDINATOR, READ)
        await a.begin(context=16_000)
        await a.asked(COORDINATOR, 2)
        (shown,) = a.results("read_file")
        assert len(shown) < 9_000 + 200
        assert "kept in outputs/" in shown
        assert "read on with read_file" in shown
