"""A record's answers, given where nodes end in another order than they did then."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec.lines import line_to_json
from agiraph.errors import ProviderFault
from agiraph.model.conversation import AssistantLine, Kind, Stop, UserLine
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage
from agiraph.providers import replay, replay_files, replay_words
from agiraph.providers.replay import ReplayProvider
from tests.support.talk import TS, Talk

if TYPE_CHECKING:
    from pathlib import Path

    from agiraph.model.conversation import Line

RUN = "2026-11-21-01"
A, B = (f"[node {name} completed, worker w, 1 turn, $0.00] done" for name in "ab")


def heard(text: str, *ids: str) -> UserLine:
    return UserLine(TS, text, Kind.NOTICE, "agiraph", ids)


def said(text: str, *tools: str) -> AssistantLine:
    calls = tuple(ToolCall(f"{text}-{each}", each, {}) for each in tools)
    stop = Stop.TOOLS if calls else Stop.END
    return AssistantLine(TS, 1, "led/model", text, calls, stop, Usage(9, 1))


def talk(tmp_path: Path, *lines: Line) -> Talk:
    """A new conversation with the record of a run."""
    run = tmp_path / "a" / "runs" / RUN
    run.mkdir(parents=True)
    (run / "_run.yaml").write_text("status: completed\n")
    record = (heard("The goal.", f"brief:{RUN}"), *lines)
    text = "".join(json.dumps(line_to_json(line)) + "\n" for line in record)
    (tmp_path / "a" / "conversation.jsonl").write_text(text)
    return Talk(ReplayProvider(str(run)), f"replay/{run}")


async def test_an_answer_waits_for_the_ends_that_were_told_before_it(
    tmp_path: Path,
) -> None:
    both = heard(f"<agiraph>{A}\n{B}</agiraph>")
    led = talk(tmp_path, said("I wait."), both, said("Both.", "finish"))

    assert (await led.ask("The goal.")).text == "I wait."
    early = await led.ask(f"<agiraph>{A}</agiraph>")
    assert (early.stop, early.calls, early.usage) == (Stop.END, (), Usage())
    assert (await led.ask(f"<agiraph>{B}</agiraph>")).text == "Both."
    with pytest.raises(ProviderFault):
        await led.ask("More?")


@pytest.mark.parametrize("tools", [(), ("wait",)])
async def test_a_rest_whose_end_has_been_told_is_left_out(
    tmp_path: Path, tools: tuple[str, ...]
) -> None:
    waits, still = said("I wait.", *tools), said("Still.", *tools)
    led = talk(tmp_path, waits, heard(A), still, heard(B), said("Both.", "finish"))

    assert (await led.ask("The goal.")).text == "I wait."
    if tools:
        led.results("mail came; it follows.")
    assert (await led.ask(f"<agiraph>{A}\n{B}</agiraph>")).text == "Both."


async def test_what_never_ends_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    led = talk(tmp_path, said("I wait."), heard(A), said("A.", "finish"))

    await led.ask("The goal.")
    assert not (await led.ask("Nothing can go on.")).calls
    assert (await led.ask("Nothing can go on.")).text == "A."


async def test_a_record_whose_sessions_and_events_were_put_away_is_the_same(
    tmp_path: Path,
) -> None:
    led = talk(tmp_path, said("One."), heard("Go on."), said("Two."))
    home, run = tmp_path / "a", tmp_path / "a" / "runs" / RUN
    first, *rest = (home / "conversation.jsonl").read_bytes().splitlines(keepends=True)
    (home / "conversation.jsonl").write_bytes(b"".join(rest))
    pack(home / "_archive" / "conversations" / "0001.jsonl.gz", first)
    asks = {"type": "human.question", "run": RUN, "data": {"id": "q-1", "text": "So?"}}
    says = {"type": "human.response", "run": RUN, "data": {"id": "q-1", "text": "Yes"}}
    lines = [json.dumps(each).encode() + b"\n" for each in (asks, says)]
    pack(home / "_archive" / "events" / "2026-11-22.jsonl.gz", lines[0])
    (home / "events.jsonl").write_bytes(lines[1])

    assert (await led.ask("The goal.")).text == "One."
    assert (await led.ask("Go on.")).text == "Two."
    (word,) = replay_words.words(str(run), replay.said(str(run)))
    assert (word.question, word.text) == ("So?", "Yes")


def test_sessions_and_archives_are_read_in_the_order_in_which_they_were_made(
    tmp_path: Path,
) -> None:
    plain, away = tmp_path / "conversations", tmp_path / "_archive" / "conversations"
    plain.mkdir()
    for name in ("0003.jsonl", "0002-2.jsonl", "10000.jsonl", "outbox-2026-01.md"):
        (plain / name).write_bytes(b"")
    for name in ("0001.jsonl.gz", "0002.jsonl.gz", "0003.jsonl.gz"):
        pack(away / name, b"")  # the third: the daemon was killed before it went
    assert replay_files.sessions(tmp_path) == [
        away / "0001.jsonl.gz",
        away / "0002.jsonl.gz",
        plain / "0002-2.jsonl",
        plain / "0003.jsonl",
        plain / "10000.jsonl",
    ]
    shelf = tmp_path / "_archive" / "events"
    names = ["2026-01-02.jsonl.gz", "2026-01-02.2.jsonl.gz", "2026-01-03.jsonl.gz"]
    for name in (*names, ".2026-01-03.jsonl.gz.agi-1-0.tmp"):
        pack(shelf / name, b"")
    log = tmp_path / "events.jsonl"
    assert replay_files.events(tmp_path) == [*(shelf / name for name in names), log]


def pack(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data))
