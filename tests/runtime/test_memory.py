"""Memory: kept within bounds, in one's own words, and edited by people, too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agiraph.core.untrusted import fence
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

PAGE = (
    "The Blackwell chip draws up to one thousand watts and was shown in March of the "
    "year 2024 by its maker."
)


def book(a: Inside) -> list[dict[str, Any]]:
    text = (a.home / "_state/memory.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def remember(path: str, content: str, **more: Any) -> Any:
    return call("memory_write", path=path, content=content, **more)


async def test_the_first_request_has_the_memory_the_index_and_the_last_two_logs(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("MEMORY.md", "Call me Ann.\n")
        a.write("memory/index.md", "knowledge/doors.md: which code opens what\n")
        a.write("memory/knowledge/doors.md", "4711\n")
        for day in ("18", "19", "20"):
            a.write(f"memory/2026-11-{day}.md", f"On the {day}th it rained.\n")
        await a.begin()
        await a.asked(COORDINATOR)
        text = "\n".join(
            line.content for line in a.model.requests[COORDINATOR][0].lines
        )
        shown = [
            "Call me Ann.",
            "knowledge/doors.md: which code opens what",
            "On the 19th it rained.",
            "On the 20th it rained.",
        ]
        places = [text.find(each) for each in shown]
        assert -1 not in places
        assert places == sorted(places)
        assert "On the 18th" not in text
        assert "4711" not in text


async def test_at_the_cap_a_write_fails_and_says_what_to_prune(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.write("MEMORY.md", "# Old\n\n" + "An old thing.\n" * 1_100)
        a.model.says(COORDINATOR, remember("MEMORY.md", "x" * 1_000, append=True))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        (words,) = a.results("memory_write")
        assert "may have 16,000 bytes" in words
        assert "'# Old'" in words
        assert "x" * 100 not in (a.home / "MEMORY.md").read_text()


async def test_a_daily_log_is_only_added_to(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        path = "memory/2026-11-20.md"
        a.model.says(COORDINATOR, remember(path, "one\n"))
        a.model.says(COORDINATOR, remember(path, "two\n"))
        a.model.says(COORDINATOR, remember(path, "three\n", append=True))
        await a.begin()
        await a.asked(COORDINATOR, 4)
        assert "only added to" in a.results("memory_write")[1]
        assert (a.home / path).read_text() == "one\nthree\n"


async def test_what_a_stranger_wrote_does_not_enter_memory_word_for_word(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("inputs/page.txt", fence(PAGE, "https://chips.example"))
        a.model.says(
            COORDINATOR,
            call("read_file", path="inputs/page.txt"),
            remember("MEMORY.md", fence(PAGE, "https://chips.example")),
            remember("MEMORY.md", f"- {PAGE}\n"),
            remember("knowledge/chips.md", fence(PAGE, "https://chips.example")),
            remember("MEMORY.md", "- Blackwell draws a kilowatt (chips.example)\n"),
        )
        await a.begin()
        await a.asked(COORDINATOR, 6)
        marked, copied, quoted, own = a.results("memory_write")
        assert "mark of untrusted text" in marked
        assert "https://chips.example" in copied
        assert "own words" in copied
        assert "knowledge/chips.md" in quoted
        assert "MEMORY.md" in own
        text = (a.home / "MEMORY.md").read_text()
        assert text == "- Blackwell draws a kilowatt (chips.example)\n"


async def test_the_book_says_who_wrote_a_line_and_where_it_is_from(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("inputs/page.txt", fence(PAGE, "https://chips.example"))
        a.model.says(
            COORDINATOR,
            call("read_file", path="inputs/page.txt"),
            remember("MEMORY.md", "- The Blackwell chip draws a thousand watts\n"),
        )
        await a.begin()
        await a.asked(COORDINATOR, 3)
        last = book(a)[-1]
        assert (last["path"], last["by"]) == ("MEMORY.md", "coordinator")
        assert last["run"] == a.run.name
        assert last["step"].startswith("coordinator/1.2.")
        assert list(last["lines"].values()) == ["https://chips.example"]
        assert "memory.written" in a.events("memory.")


async def test_an_edit_of_a_memory_file_is_told_within_the_run_and_once(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, remember("knowledge/own.md", "mine\n"))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        a.write("memory/knowledge/doors.md", "The door code is 4711.\n")
        a.write("memory/knowledge/own.md", "no, mine\n")
        await a.look()
        a.model.says(COORDINATOR, call("check_board"), call("check_board"))
        await a.asked(COORDINATOR, 4)
        told = a.told()
        assert told.count("[memory/knowledge/doors.md was edited by a person") == 1
        assert told.count("[memory/knowledge/own.md was edited by a person") == 1
        assert [x["by"] for x in book(a)][-2:] == ["person", "person"]


async def test_an_edit_made_while_the_daemon_was_away_is_told(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, remember("knowledge/own.md", "mine\n"))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        await a.end()
        a.write("memory/knowledge/own.md", "theirs\n")
        (a.home / "MEMORY.md").write_text("Call me Ann.\n")
        await a.restart()
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, call("check_board"))
        await a.until(lambda: "memory/knowledge/own.md was edited" in a.told())
        assert "[MEMORY.md was edited by a person; read it]" in a.told()


async def test_ones_own_writes_are_no_news_after_a_restart(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.write("memory/knowledge/old.md", "from before\n")
        a.model.says(COORDINATOR, remember("MEMORY.md", "mine\n"))
        await a.begin()
        await a.asked(COORDINATOR, 2)
        await a.restart()
        a.model.says(COORDINATOR, call("check_board"))
        await a.asked(COORDINATOR, 4)
        assert "edited by a person" not in a.told()


async def test_workers_see_nothing_of_the_agents_memory_unless_told(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("MEMORY.md", "The password rule: none.\n")
        a.model.says(COORDINATOR, node("n", worker="Alice"), say("ok"))
        a.model.says("n", call("memory_search", query="password rule"), publish())
        await a.begin()
        await a.until(lambda: a.state("n") == "completed")
        assert "The password rule" not in a.model.heard("n")
        assert "The password rule" in a.model.heard(COORDINATOR)
