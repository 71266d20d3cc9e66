"""What a busy agent writes in a year, worked out from a few of its cycles."""

from __future__ import annotations

import gzip
import random
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.model.agent import Keep
from agiraph.model.names import COORDINATOR
from agiraph.model.usage import Usage
from tests.support.inside import LedModel, Said, inside

if TYPE_CHECKING:
    import pytest

    from agiraph.model.conversation import Answer, Request
    from tests.support.inside import Inside

PROJECT = Path(__file__).parents[2]
CALLS_A_DAY = 350
GIGABYTE = 1e9
NODES = 3
CYCLES = 3
PAGES = 7_000


class Words:
    """Plain English of any length, another piece each time."""

    def __init__(self) -> None:
        pages = sorted((PROJECT / "docs").glob("*.md"))
        self._all = "\n".join(page.read_text("utf-8") for page in pages)
        self._dice = random.Random(1)

    def some(self, count: int) -> str:
        at = self._dice.randrange(len(self._all) - count)
        return self._all[at : at + count]

    def key(self, count: int) -> str:
        return "".join(self._dice.choices("ABCDEFabcdef0123456789+/", k=count))


def one_node(words: Words) -> list[Said]:
    """Six pages read, a report written and published."""
    reads = [
        Said(words.some(250), (("read_file", {"path": f"inputs/{page}.txt"}),))
        for page in range(6)
    ]
    report = {"path": "scratch/report.md", "content": words.some(6_000)}
    end = {"summary": words.some(300)}
    return [
        *reads,
        Said(words.some(200), (("write_file", report),)),
        Said(words.some(100), (("publish", end),)),
    ]


async def one_cycle(a: Inside, words: Words, number: int) -> None:
    names = [f"n{number}-{at}" for at in range(NODES)]
    for page in range(6):
        a.write(f"inputs/{page}.txt", words.some(PAGES))
    for name in names:
        a.model.says(name, *one_node(words))
    begins = tuple(
        ("create_work_node", {"id": name, "task": words.some(900)}) for name in names
    )
    report = {"path": f"nodes/{names[0]}/published/report.md"}
    note = {"path": "2026-01-01.md", "content": words.some(400), "append": True}
    told = {"to": "human", "content": words.some(500)}
    a.model.says(
        COORDINATOR,
        Said(words.some(200), begins),
        Said(words.some(100), (("wait", {}),)),
        Said(words.some(150), (("read_file", report),)),
        Said(words.some(100), (("memory_write", note),)),
        Said(words.some(100), (("send_message", told),)),
        Said(words.some(100), (("checkpoint", {"summary": words.some(800)}),)),
    )
    await a.asked(COORDINATOR, 6 * (number + 1))
    await a.until(lambda: a.desk.next_cycle is not None and not a.desk.active)


def size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def packed(a: Inside, into: Path) -> float:
    """How much of a run is left of it in its archive."""
    with tarfile.open(into, "w:gz", compresslevel=6) as tar:
        tar.add(a.run, "run")
    return into.stat().st_size / size(a.run)


def packed_logs(a: Inside) -> float:
    """How much of what an agent writes beside its runs is left of it in archives."""
    logs = [a.home / "events.jsonl", a.home / "usage.jsonl"]
    data = [log.read_bytes() for log in [*logs, a.home / "conversation.jsonl"]]
    return sum(len(gzip.compress(each, 6)) for each in data) / sum(map(len, data))


async def test_a_year_of_a_busy_agent_takes_less_than_a_gigabyte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, plain = Words(), LedModel.ask

    async def thinks(model: LedModel, request: Request) -> Answer:
        """As a service that thinks answers, with blocks of its own."""
        said = await plain(model, request)
        blocks = [{"thinking": words.some(500), "signature": words.key(400)}]
        calls = [{"id": one.id, "input": dict(one.arguments)} for one in said.calls]
        own = {"content": [*blocks, {"text": said.text}, *calls]}
        usage = Usage(input=1_200, output=350, cache_read=45_000, cache_write=2_400)
        return replace(said, own=own, usage=usage)

    monkeypatch.setattr(LedModel, "ask", thinks)
    async with inside(tmp_path / "tree") as a:
        a.write("inputs/0.txt", "")
        await a.begin(words.some(1_500), mode="infinite", cycle="1h")
        await one_cycle(a, words, 0)
        begun = sum(map(len, a.model.requests.values()))
        runs, all_ = size(a.run), size(a.home)
        for number in range(1, CYCLES):
            await a.leap(4_000)
            await one_cycle(a, words, number)
        calls = sum(map(len, a.model.requests.values())) - begun
        run = (size(a.run) - runs) / calls
        logs = (size(a.home) - all_) / calls - run
        share, share_of_logs = packed(a, tmp_path / "run.tar.gz"), packed_logs(a)

    whole, lines = Keep().runs / 86_400, Keep().logs / 86_400 * 4 / 3
    # What the journal holds is counted, though it is cut short now and then.
    daily = run * (whole + (365 - whole) * share)
    daily += logs * (lines + (365 - lines) * share_of_logs)
    year = CALLS_A_DAY * daily
    print(
        f"a call writes {run:,.0f} bytes in its run ({share:.0%} in the archive) and "
        f"{logs:,.0f} beside it ({share_of_logs:.0%}); {CALLS_A_DAY} a day for a year: "
        f"{year / 1e6:,.0f} MB; a gigabyte is {GIGABYTE / daily:,.0f} a day"
    )
    assert year < GIGABYTE
