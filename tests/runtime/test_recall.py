"""What a daemon reads when it takes an agent up: all that it needs, however long."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

GIB = 1024**3


async def ended(a: Inside) -> None:
    a.model.says(COORDINATOR, node("n", worker="Alice"), say("I wait."))
    a.model.says("n", publish())
    a.model.says(COORDINATOR, call("finish", summary="Done."))
    await a.begin()
    await a.until(lambda: a.desk.run is not None and not a.desk.run_open)
    await a.until(lambda: a.supervising is not None and a.supervising.done())


async def test_a_torn_end_of_a_log_that_nobody_adds_to_is_cut_off(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        logs = [
            a.home / "events.jsonl",
            a.home / "usage.jsonl",
            a.run / "nodes/n/log.jsonl",
            a.run / "workers/Alice/conversation.jsonl",
            a.home / "_state/journal.jsonl",
            a.home / "_state/memory.jsonl",
            a.home / "_state/notices.jsonl",
            a.home / "_triggers.jsonl",
        ]
        for log in logs[-2:]:
            log.touch()
        before = [log.read_bytes() for log in logs]
        for log in logs:
            with log.open("ab") as file:
                file.write(b'{"ts": "2026-11-21T10:0')

        await a.restart()

        assert [log.read_bytes() for log in logs] == before


async def test_a_gigabyte_of_events_stops_nothing(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        await a.end()
        log = a.home / "events.jsonl"
        text = log.read_bytes()
        with log.open("wb") as file:  # a hole, which costs no room
            file.truncate(GIB)
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + text)

        await a.restart()
        a.model.says(COORDINATOR, say("Yes."))
        a.write("_inbox/more.md", "Are you there?\n")
        await a.look()
        a.go()
        await a.until(lambda: "Are you there?" in a.told())

        assert log.stat().st_size > GIB + len(text)


def usage(a: Inside, **more: Any) -> bytes:
    line = json.loads((a.home / "usage.jsonl").read_text().splitlines()[0])
    return json.dumps({**line, **more}).encode() + b"\n"


async def test_what_was_spent_is_read_back_from_the_end_of_any_usage(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        spent = a.desk.spend
        await a.end()
        log, day = a.home / "usage.jsonl", timedelta(days=9)
        text = log.read_bytes()
        old = usage(a, run="2020-01-01-01", ts=(a.clock.now() - day).isoformat())
        with log.open("wb") as file:
            file.truncate(GIB)
            file.seek(0, os.SEEK_END)
            file.write(b"\n" + old * 9000 + text)

        await a.restart()

        assert a.desk.spend == spent
        day_account = a.world.ledger.account(f"day:a:{a.world.today()}")
        assert day_account.tokens == spent.usage.total


@pytest.mark.parametrize("calls", [1, 9000])
async def test_all_of_todays_calls_count_for_the_day_whatever_their_run(
    tmp_path: Path, calls: int
) -> None:
    async with inside(tmp_path) as a:
        await ended(a)
        spent = a.desk.spend
        await a.end()
        log = a.home / "usage.jsonl"
        text = log.read_bytes()
        now = a.clock.now().isoformat()
        log.write_bytes(usage(a, run="2020-01-01-01", ts=now) * calls + text)

        await a.restart()

        assert a.desk.spend == spent
        day_account = a.world.ledger.account(f"day:a:{a.world.today()}")
        assert day_account.tokens == spent.usage.total + 15 * calls
