"""The scenario of what grew old: lines of logs, a session and a run are put away."""

from __future__ import annotations

import gzip
import json
import tarfile
from typing import TYPE_CHECKING, Any

from tests.crash.scenario import AGENT, DROPPED, RUN, Deed, Scenario, effect
from tests.support.cast import cast
from tests.support.model_server import call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.support.model_asked import Asked
    from tests.support.model_server import Script, Scripted

LINES = 300
OLD_RUN = "2020-01-01-01"
RECORD = f"""\
run: {OLD_RUN}
status: completed
opened: 2020-01-01T00:00:00+00:00
ended: 2020-01-01T01:00:00+00:00
"""


def whole_log(log: Path) -> Iterator[bytes]:
    """The lines of a log, with those in the archives that its first line tells of.

    With their ends; the last may be torn.
    """
    lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
    head = json.loads(lines[0]) if lines and b'"put_away"' in lines[0] else None
    if head is not None:
        newest = head["put_away"].rpartition("/")[2]
        shelf = log.parent / "_archive" / log.stem.lstrip("_")
        for archive in sorted(shelf.glob("*.jsonl.gz")):
            if archive.name <= newest:
                data = gzip.decompress(archive.read_bytes())
                yield from data.splitlines(keepends=True)
        lines = lines[1:]
    yield from lines


def sessions(folder: Path) -> list[bytes]:
    """What compaction put aside in the home or a worker's folder, put away or not."""
    away = (folder / "_archive" / "conversations").glob("*.jsonl.gz")
    found = {path.stem: gzip.decompress(path.read_bytes()) for path in away}
    there = (folder / "conversations").glob("*.jsonl")
    found |= {path.name: path.read_bytes() for path in there}
    return [found[name] for name in sorted(found)]


def _lines(**more: Any) -> str:
    days = (f"2020-01-{1 + number // 12:02}" for number in range(LINES))
    said = (
        {"ts": f"{day}T00:00:00+00:00", "number": number, **more}
        for number, day in enumerate(days)
    )
    return "".join(json.dumps(line) + "\n" for line in said)


EVENTS = _lines(type="agent.started", agent=AGENT)
CALLS = _lines(model="openai/gpt-4o", input=10, output=1, cost_usd=0.5)
SESSION = '{"role": "user", "ts": "2020-01-01T00:00:00+00:00", "content": "Hm."}\n'


def _is_put_away(home: Path) -> bool:
    logs = [home / "events.jsonl", home / "usage.jsonl"]
    plain = [*home.glob(f"runs/*{OLD_RUN}*"), *home.glob("conversations/*.jsonl")]
    return not plain and all(b"put_away" in log.read_bytes()[:200] for log in logs)


def _ageing(file: Path) -> Script:
    home = file.parent / "agents" / AGENT

    def looks_on(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return effect(file, "aged")
        if _is_put_away(home):
            return call("finish", summary="All that is old is away.")
        return call("wait", timeout=1 + asked.turn / 1000)

    return cast(coordinator=looks_on)


def _is_at_work(daemon: Doomed) -> bool:
    """Until then its state is that of the old run, which has ended."""
    return '"assistant"' in daemon.read(f"{AGENT}/conversation.jsonl")


def _holds(daemon: Doomed) -> None:
    home = daemon.root / AGENT
    assert "All that is old is away." in daemon.read(f"{RUN}/_output.md")
    for name, old in (("events.jsonl", EVENTS), ("usage.jsonl", CALLS)):
        found = [line for line in whole_log(home / name) if b'"number"' in line]
        assert b"".join(found) == old.encode(), f"{name} lost or doubled lines"
        assert len(list(home.glob(f"_archive/{name[:-6]}/*"))) == 1
    assert sessions(home) == [SESSION.encode()]
    assert daemon.names(f"{AGENT}/_archive/*.gz") == [f"{OLD_RUN}.tar.gz"]
    with tarfile.open(home / "_archive" / f"{OLD_RUN}.tar.gz") as tar:
        kept = tar.extractfile(f"{OLD_RUN}/_run.yaml")
        assert kept is not None
        assert kept.read().decode() == RECORD


AGEING = Scenario(
    "ageing",
    _ageing,
    (DROPPED, Deed(_is_at_work, lambda _: None)),
    _holds,
    effects=("aged",),
    people={"agiraph.yaml": "keep: {runs: 30d, logs: 2s}\n"},
    grown={
        f"{AGENT}/events.jsonl": EVENTS,
        f"{AGENT}/usage.jsonl": CALLS,
        f"{AGENT}/conversations/0001.jsonl": SESSION,
        f"{AGENT}/runs/{OLD_RUN}/_run.yaml": RECORD,
        f"{AGENT}/runs/{OLD_RUN}/nodes/n/published/a.md": "old\n" * 1000,
    },
    module="tests.crash.hasty",
)
