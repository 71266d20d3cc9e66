"""The old lines of logs are put away, and nothing that is read from them changes."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.cli.digest import digest_of
from agiraph.cli.findings import Checker, Finding
from agiraph.cli.read import Files
from agiraph.cli.spending import CACHE, tallies
from agiraph.cli.streams import Stream
from agiraph.core.loghead import WHOLE
from agiraph.errors import AgiraphError, Damaged
from agiraph.model.agent import Keep, TreeSettings
from agiraph.model.names import COORDINATOR
from agiraph.runtime import purses
from agiraph.runtime.parts import archived, archives, head_at
from agiraph.runtime.retention.passes import Retention
from agiraph.runtime.root.seat import Seat, at_peace
from agiraph.runtime.spent import calls, latest
from tests.support.inside import AGENT, call, inside, node, say

if TYPE_CHECKING:
    from pathlib import Path

    from agiraph.core.costs import Sum
    from tests.support.inside import Inside

DAY = 86_400.0
LOGS = ("events.jsonl", "usage.jsonl")


async def one_pass(a: Inside) -> int:
    seat = Seat(a.agent, a.supervisor)
    of = Retention(a.world, lambda: at_peace([seat]))
    assert a.world.attic is not None
    return await of.once(a.world.attic)


async def a_run(a: Inside, number: int) -> None:
    done = call("finish", summary=f"Done {number}.")
    a.model.says(COORDINATOR, say("I think."), done)
    a.goal("The goal.", run=number)
    if number == 1:
        await a.begin(run=number)
    else:
        await a.look()
        a.go()
    await a.until(lambda: a.model.heard(COORDINATOR) and a.desk.run is not None)
    await a.until(lambda: not a.desk.run_open)
    await a.until(lambda: a.supervising is not None and a.supervising.done())


async def two_runs(a: Inside) -> None:
    """One of long ago, and one of today."""
    await a_run(a, 1)
    a.clock.ahead += 130 * DAY
    await a_run(a, 2)


def raw(a: Inside, name: str) -> list[bytes]:
    return (a.home / name).read_bytes().splitlines(keepends=True)


def put_away(a: Inside, name: str) -> list[bytes]:
    log = PurePosixPath(a.home.name, name)
    found = archives(a.world.reader, log)
    return [line for each in found for line in archived(a.world.reader, each)]


def packed(a: Inside, kind: str) -> list[str]:
    folder = a.home / "_archive" / kind
    return sorted(os.listdir(folder)) if folder.exists() else []


async def test_old_lines_are_in_the_archive_and_the_rest_in_the_log(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        before = {name: raw(a, name) for name in LOGS}
        assert await one_pass(a) == 3  # the run, too
        for name in LOGS:
            head, *rest = raw(a, name)
            old = put_away(a, name)
            assert old
            assert rest
            assert old + rest == before[name]
            said = json.loads(head)
            (archive,) = packed(a, name.removesuffix(".jsonl"))
            assert said["put_away"] == f"_archive/{name[:-6]}/{archive}"
            assert said["bytes"] == sum(map(len, old))
            assert said["ts"] == json.loads(old[-1])["ts"]
            assert archive.startswith(said["ts"][:10])
        assert any("events.jsonl to " in each for each in a.remarks)
        assert await one_pass(a) == 0
        before = {name: raw(a, name) for name in LOGS}
        await a_run(a, 3)  # the logs go on
        for name in LOGS:
            assert raw(a, name)[: len(before[name])] == before[name]
            assert len(raw(a, name)) > len(before[name])


async def test_a_second_part_is_put_away_behind_the_first(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        whole = raw(a, "usage.jsonl")
        await one_pass(a)
        a.clock.ahead += 130 * DAY
        await a_run(a, 3)
        whole += raw(a, "usage.jsonl")[
            len(whole) - len(put_away(a, "usage.jsonl")) + 1 :
        ]
        await one_pass(a)
        assert len(packed(a, "usage")) == 2
        assert put_away(a, "usage.jsonl") + raw(a, "usage.jsonl")[1:] == whole
        head = head_at(a.world.reader, PurePosixPath(a.home.name, "usage.jsonl"))
        assert head.bytes == sum(map(len, put_away(a, "usage.jsonl")))


async def test_what_was_spent_is_the_same_before_and_after(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        files, log = Files(str(tmp_path)), PurePosixPath(a.home.name, "usage.jsonl")
        before = tallies(files, [a.home.name])[a.home.name].total()
        assert before.calls == 4
        backwards = [one for piece in latest(a.world.reader, log) for one in piece]
        await one_pass(a)
        assert head_at(a.world.reader, log) != WHOLE

        after = tallies(files, [a.home.name])[a.home.name].total()
        assert after == before
        (tmp_path / CACHE).unlink(missing_ok=True)
        assert tallies(files, [a.home.name])[a.home.name].total() == before
        again = [one for piece in latest(a.world.reader, log) for one in piece]
        assert sorted(each.ts for each in again) == sorted(
            each.ts for each in backwards
        )
        purses._recall_tree(a.world)
        assert a.world.ledger.account(purses.TREE).calls == 4


async def total(files: Files) -> Sum:
    """What was spent, as a command in a process of its own works it out."""
    found = await asyncio.to_thread(tallies, files, [AGENT])
    return found[AGENT].total()


async def test_sums_that_were_kept_are_read_on_from_where_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agiraph.cli.spending._WORTH", 1)
    async with inside(tmp_path) as a:
        await two_runs(a)
        files = Files(str(tmp_path))
        before = await total(files)
        assert (tmp_path / CACHE).exists()
        await one_pass(a)
        for archive in packed(a, "usage"):  # so nothing but the sums can tell of it
            (a.home / "_archive" / "usage" / archive).unlink()
        await a_run(a, 3)
        assert (await total(files)).calls == before.calls + 2


async def test_a_run_that_is_older_than_the_log_keeps_its_account(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await long_ago(a)
        assert len(raw(a, "usage.jsonl")) == 1
        await a.restart()
        assert a.desk.spend.turns == 2


async def test_an_archive_that_the_log_does_not_name_yet_does_not_count(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        log = PurePosixPath(a.home.name, "usage.jsonl")
        before = raw(a, "usage.jsonl")
        attic, shelf = a.world.attic, a.home / "_archive" / "usage"
        assert attic is not None
        shelf.mkdir(parents=True)
        end, at = len(b"".join(before[:2])), a.world.now().timestamp()
        day = json.loads(before[1])["ts"][:10]
        archive = log.parent / "_archive" / "usage" / f"{day}.jsonl.gz"
        attic.copy_away(log, (0, end), archive, at)
        # Here the daemon was killed.
        assert len(list(calls(a.world.reader, log))) == len(before)
        assert archives(a.world.reader, log) == []

        await one_pass(a)
        assert packed(a, "usage") == [archive.name]
        assert put_away(a, "usage.jsonl") == before[:2]
        assert raw(a, "usage.jsonl")[1:] == before[2:]
        assert len(list(calls(a.world.reader, log))) == len(before)


async def test_an_archive_of_something_else_is_told_and_counts_for_nothing(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        a.write("_archive/usage/x", "")
        stray = a.home / "_archive" / "usage" / "2020-01-01.jsonl.gz"
        stray.write_bytes(gzip.compress(raw(a, "usage.jsonl")[0] * 7))
        before = raw(a, "usage.jsonl")
        await one_pass(a)
        assert raw(a, "usage.jsonl") == before
        log = PurePosixPath(a.home.name, "usage.jsonl")
        assert len(list(calls(a.world.reader, log))) == len(before)
        assert any("move that file away" in each for each in a.remarks)
        stray.unlink()
        await one_pass(a)
        assert put_away(a, "usage.jsonl") + raw(a, "usage.jsonl")[1:] == before


async def test_a_log_put_together_again_by_hand_is_put_away_again(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        before = raw(a, "events.jsonl")
        await one_pass(a)
        (a.home / "events.jsonl").write_bytes(b"".join(before))
        assert put_away(a, "events.jsonl") == []
        await one_pass(a)
        assert len(packed(a, "events")) == 1
        assert put_away(a, "events.jsonl") + raw(a, "events.jsonl")[1:] == before


async def test_an_event_that_was_heard_is_not_heard_again(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        says = "action: {type: send_message, to: human, content: It ended.}"
        a.write(
            "triggers.yaml",
            f"- {{id: end, type: on_event, event: agent.completed, {says}}}\n",
        )
        await two_runs(a)
        await a.look()
        assert a.outbox().count("It ended.") == 2
        fired = raw(a, "_triggers.jsonl")
        await one_pass(a)
        assert packed(a, "events")
        await a.look()
        await a.restart()
        await a.look()
        assert raw(a, "_triggers.jsonl")[-1] == fired[-1]
        assert a.outbox().count("It ended.") == 2
        await a_run(a, 3)
        await a.look()
        assert a.outbox().count("It ended.") == 3


async def test_an_end_that_was_put_away_is_not_told_again(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        a.clock.ahead += 130 * DAY
        a.write("_inbox/hello.md", "Hello.\n")  # an event of today
        a.model.says(COORDINATOR, say("Hello."))
        await a.look()
        a.go()
        await a.asked(COORDINATOR, 3)
        await a.until(lambda: a.supervising is not None and a.supervising.done())
        await one_pass(a)
        assert b"agent.completed" in b"".join(put_away(a, "events.jsonl"))
        await a.restart()
        assert "agent.completed" not in (a.home / "events.jsonl").read_text()


async def test_events_and_digests_reach_back_into_the_archives(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        start = a.world.now()
        await a_run(a, 2)
        a.clock.ahead += 130 * DAY
        await a_run(a, 3)
        files, name = Files(str(tmp_path)), a.home.name
        events = Stream(files, name).begin(lambda _: False)
        digests = [digest_of(files, name, each) for each in (start, a.world.now())]
        follows = Stream(files, name)
        assert follows.begin()
        await one_pass(a)
        assert packed(a, "events")
        assert follows.more() == []
        assert Stream(files, name).begin(lambda _: False) == events
        assert 0 < len(Stream(files, name).begin()) < len(events)
        for before, when in zip(digests, (start, a.world.now()), strict=True):
            after = digest_of(files, name, when)
            assert [i.what for i in after.told.happened] == [
                i.what for i in before.told.happened
            ]
            assert after.spent.total() == before.spent.total()
        assert digests[0].spent.total().calls == 4
        await a_run(a, 4)
        assert [each["run"] for each in follows.more() if "run" in each]


async def test_a_session_that_was_put_away_is_still_read_by_its_name(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        for number in (1, 2):
            a.write(f"conversations/000{number}.jsonl", f'{{"session": {number}}}\n')
        a.write("conversations/outbox-2026-01.md", "Hello.\n")
        assert await one_pass(a) == 0
        a.clock.ahead += 95 * DAY
        assert await one_pass(a) == 2
        assert packed(a, "conversations") == ["0001.jsonl.gz", "0002.jsonl.gz"]
        assert os.listdir(a.home / "conversations") == ["outbox-2026-01.md"]
        with gzip.open(a.home / "_archive" / "conversations" / "0001.jsonl.gz") as old:
            assert old.read() == b'{"session": 1}\n'

        reads = [
            ("read_file", {"path": "conversations/0001.jsonl"}),
            ("list_files", {"path": "conversations"}),
            ("read_file", {"path": "conversations/0003.jsonl"}),
        ]
        a.model.says(
            COORDINATOR, *(call(name, **given) for name, given in reads), say("So.")
        )
        a.write("_inbox/ask.md", "What was said?\n")
        await a.look()
        a.go()
        await a.asked(COORDINATOR, 6)
        first, missing = a.results("read_file")
        assert first.strip() == '{"session": 1}'
        assert "not there" in missing
        (listed,) = a.results("list_files")
        assert "outbox-2026-01.md" in listed
        assert "0002.jsonl  (put away; read it as any other)" in listed


async def test_archives_are_deleted_only_where_that_was_said_and_accounts_never(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        a.write("conversations/0001.jsonl", "{}\n")
        a.clock.ahead += 130 * DAY
        await a_run(a, 3)
        await one_pass(a)
        mine = a.home / "_archive" / "backup.tar.gz"
        mine.write_bytes(gzip.compress(b"mine", mtime=1))
        kinds = ("", "events", "usage", "conversations")
        before = {kind: packed(a, kind) for kind in kinds}
        assert all(before.values())
        a.clock.ahead += 1000 * DAY
        keep = Keep(runs=1e10, logs=1e10)
        a.world.settings = TreeSettings(keep=keep)
        assert await one_pass(a) == 0
        assert {kind: packed(a, kind) for kind in kinds} == before

        a.world.settings = TreeSettings(keep=Keep(1e10, 1e10, 2000 * DAY))
        assert await one_pass(a) == 0
        a.world.settings = TreeSettings(keep=Keep(1e10, 1e10, 900 * DAY))
        assert await one_pass(a) > 0
        assert packed(a, "events") == packed(a, "conversations") == []
        assert packed(a, "usage") == before["usage"]
        assert mine.exists()
        assert not [x for x in packed(a, "") if x.endswith(".tar.gz") and x[0] == "2"]
        assert any("is deleted, as keep.archives" in each for each in a.remarks)


async def test_check_tells_of_an_archive_that_is_damaged(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        await one_pass(a)
        files = Files(str(tmp_path))
        assert not list(await asyncio.to_thread(list, Checker(files).tree()))
        (name,) = packed(a, "events")
        archive = a.home / "_archive" / "events" / name
        archive.write_bytes(archive.read_bytes()[:-20])
        (found,) = await asyncio.to_thread(list, Checker(files).tree())
        assert found.path == f"{AGENT}/_archive/events/{name}"
        assert "is damaged: it ends too early" in found.words
        assert "not counted" in found.words
        assert Stream(files, AGENT).begin(lambda _: False)  # what is left of it


async def test_a_clock_that_was_wrong_for_a_while_loses_no_line(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        future = {"ts": "2099-01-01T00:00:00+00:00", "type": "agent.started"}
        with open(a.home / "events.jsonl", "a", encoding="utf-8") as log:
            log.write(json.dumps(future) + "\n")
        a.clock.ahead += 130 * DAY
        await a_run(a, 2)
        before = raw(a, "events.jsonl")
        await one_pass(a)
        assert put_away(a, "events.jsonl") + raw(a, "events.jsonl")[1:] == before
        assert json.dumps(future).encode() + b"\n" in raw(a, "events.jsonl")


async def test_sums_that_were_kept_of_a_log_that_was_put_away_whole_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agiraph.cli.spending._WORTH", 1)
    async with inside(tmp_path) as a:
        files = Files(str(tmp_path))
        await a_run(a, 1)
        a.clock.ahead += 130 * DAY
        await one_pass(a)
        assert len(raw(a, "usage.jsonl")) == 1
        before = await total(files)
        assert await total(files) == before
        monkeypatch.setattr("agiraph.cli.spending._WORTH", 1 << 30)  # nothing is kept
        await a_run(a, 2)
        a.clock.ahead += 130 * DAY
        await one_pass(a)
        assert len(packed(a, "usage")) == 2
        assert (await total(files)).calls == before.calls + 2


async def test_of_a_damaged_archive_counts_what_can_be_read(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        log = PurePosixPath(a.home.name, "usage.jsonl")
        start = a.world.now()
        count = len(list(calls(a.world.reader, log)))
        await one_pass(a)
        for kind in ("usage", "events"):
            (name,) = packed(a, kind)
            archive = a.home / "_archive" / kind / name
            archive.write_bytes(archive.read_bytes()[:-4])
        assert len(list(calls(a.world.reader, log))) == count
        told = digest_of(Files(str(tmp_path)), AGENT, start - timedelta(days=200))
        assert told.spent.total().calls == count
        assert len({i.path for i in told.told.happened}) > 1
        with pytest.raises(Damaged):
            list(latest(a.world.reader, log))


async def test_a_budget_is_not_worked_out_where_the_archives_cannot_be_listed(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        await one_pass(a)
        shelf = a.home / "_archive" / "usage"
        shutil.rmtree(shelf)
        log = PurePosixPath(a.home.name, "usage.jsonl")
        assert list(latest(a.world.reader, log))  # somebody deleted them
        shelf.write_text("no folder\n")
        with pytest.raises(AgiraphError):
            list(latest(a.world.reader, log))
        assert list(calls(a.world.reader, log))


async def test_a_log_that_cannot_be_read_keeps_no_other_back(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        (a.home / "_triggers.jsonl").symlink_to("nowhere")
        await one_pass(a)
        assert packed(a, "events")
        assert packed(a, "usage")


async def test_a_log_that_begins_in_the_future_is_put_away_all_the_same(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        future = {"ts": "2099-01-01T00:00:00+00:00", "type": "agent.started"}
        a.write("events.jsonl", json.dumps(future) + "\n")
        await two_runs(a)
        before = raw(a, "events.jsonl")
        await one_pass(a)
        assert packed(a, "events")[0] < "2099"
        assert put_away(a, "events.jsonl") + raw(a, "events.jsonl")[1:] == before


async def test_check_tells_where_the_accounts_are_not_all_there(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await two_runs(a)
        await one_pass(a)
        files, shelf = Files(str(tmp_path)), a.home / "_archive" / "usage"
        (name,) = packed(a, "usage")

        def found() -> list[Finding]:
            return [each for each in Checker(files).tree() if "usage" in each.path]

        assert not await asyncio.to_thread(found)
        shutil.copy(shelf / name, shelf / "2020-01-01.jsonl.gz")
        (twice,) = await asyncio.to_thread(found)
        (shelf / "2020-01-01.jsonl.gz").unlink()
        (shelf / name).unlink()
        (missing,) = await asyncio.to_thread(found)
        assert twice.remark
        assert missing.remark
        assert "holds 0; costs and budgets count what is there" in missing.words
        assert (missing.path, missing.line) == (f"{AGENT}/usage.jsonl", 1)


async def long_ago(a: Inside) -> Path:
    """A run that goes on, whose calls were all put away; the archive."""
    a.model.says(COORDINATOR, node("n"), say("I wait."))
    await a.begin(limits={"timeout": "9000h"})
    await a.asked("n")
    await a.until(lambda: a.desk.spend.turns == 2)
    a.clock.ahead += 130 * DAY
    await one_pass(a)
    (name,) = packed(a, "usage")
    return a.home / "_archive" / "usage" / name


async def test_a_damaged_archive_that_counts_holds_its_agent_until_it_is_mended(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        archive = await long_ago(a)
        whole = archive.read_bytes()
        archive.write_bytes(whole[:-4])
        await a.restart()
        assert f"_archive/usage/{archive.name}" in a.desk.broken
        page = archive.with_name(f"{archive.name}.error.md")
        assert "bring it back from a copy, or take it away" in page.read_text()
        archive.write_bytes(whole[:-5])
        await a.look()
        assert a.desk.broken
        assert b"file.mended" not in (a.home / "events.jsonl").read_bytes()
        archive.write_bytes(whole)
        await a.look()
        assert a.desk.broken == ""
        assert a.desk.spend.turns == 2
        assert not page.exists()


async def test_a_damaged_archive_that_was_taken_away_holds_nobody(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        archive = await long_ago(a)
        archive.write_bytes(b"no archive")
        await a.restart()
        assert a.desk.broken
        archive.unlink()
        await a.look()
        assert a.desk.broken == ""
        assert a.desk.spend.turns == 0


async def test_a_damaged_archive_of_before_the_run_holds_nobody(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await a_run(a, 1)
        a.clock.ahead += 130 * DAY
        await one_pass(a)
        assert len(raw(a, "usage.jsonl")) == 1
        (name,) = packed(a, "usage")
        (a.home / "_archive" / "usage" / name).write_bytes(b"no archive")
        a.goal("Another goal.", run=2)
        await a.look()
        await a.end()
        (a.home / "usage.jsonl").touch()
        await a.restart()
        assert a.desk.broken == ""
