"""Seeing: streams over agents, a calm page, workers, proofs of reading, digests."""

from __future__ import annotations

import gzip
import json
import os
import pty
import select
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from agiraph.cli.read import Files
from agiraph.cli.streams import Stream
from agiraph.core.loghead import head_line
from tests.support.daemon import clean_environment, until
from tests.support.trees import lines, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

RUN = "runs/2026-11-21-01"


def event(ts: str, **more: object) -> dict[str, object]:
    stamp = f"2026-11-21T20:{ts}+00:00"
    return {"ts": stamp, "type": "agent.paused", "agent": "news", **more}


def kinds(found: list[dict[str, object]]) -> list[str]:
    return [f"{each['agent']} {each['ts'][14:19]}" for each in found]  # type: ignore[index]


# --- logs


def test_events_of_all_agents_are_one_stream_in_order(run: Run, root: Path) -> None:
    write(root, {"held one/events.jsonl": lines(event("00:03", agent="held one"))})
    told = run("logs").stdout.splitlines()
    assert [line[21:].split("  ")[0] for line in told] == ["news", "held one", "news"]
    assert len(run("logs", "-n", "1").stdout.splitlines()) == 1
    assert len(run("logs", "--json").stdout.splitlines()) == 3


def test_a_stream_goes_on_over_new_agents_and_logs_that_begin_anew(root: Path) -> None:
    log = root / "news/events.jsonl"
    log.write_text(lines(event("00:01"), event("00:02"), event("00:03")))
    stream = Stream(Files(str(root)), None)
    assert len(stream.begin()) == 3

    with log.open("a") as file:
        file.write(lines(event("00:04")) + '{"ts": "half')
    assert kinds(stream.more()) == ["news 00:04"]
    log.write_text(lines(event("00:04"), event("00:05")))  # old parts were moved away
    assert kinds(stream.more()) == ["news 00:05"]

    write(root, {"new/GOAL.md": "x\n", "new/events.jsonl": lines(event("00:06"))})
    stream._looked = 0.0
    assert len(stream.more()) == 1


# --- status --watch


@pytest.fixture
def watched(root: Path):  # type: ignore[no-untyped-def]
    """`agiraph status --watch` in a terminal: a function that reads what it writes."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "agiraph", "--agents", str(root), "status", "--watch"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=root.parent,
        env=clean_environment(root.parent, {"COLUMNS": "100", "LINES": "20"}),
    )  # fmt: skip
    os.close(theirs)
    seen = [""]

    def reads(words: str) -> str:
        def there() -> bool:
            while select.select([ours], [], [], 0)[0]:
                seen[0] += os.read(ours, 1 << 16).decode("utf-8", "replace")
            return words in seen[0]

        until(there, f"the page shows {words!r}", told=lambda: seen[0])
        found, seen[0] = seen[0], ""
        return found

    yield reads
    process.terminate()
    process.wait(20)
    os.close(ours)


def test_the_page_is_drawn_in_place_and_only_when_something_changed(
    watched, root: Path
) -> None:  # type: ignore[no-untyped-def]
    first = watched("Waits for you")
    assert "\x1b[2J" not in first  # nothing is cleared before it is drawn over
    assert "more lines" in first  # nothing scrolls away
    page = root / "news/_status.md"
    page.write_text(page.read_text().replace("status: working", "status: held"))
    again = watched("\x1b[J")
    assert again.count("\x1b[H") == 1
    assert "held" in again


# --- show


def test_a_worker_is_shown_with_what_it_does_and_did(run: Run, root: Path) -> None:
    talk = lines(
        {"role": "assistant", "turn": 1, "ts": "2026-11-21T20:00:00+00:00",
         "content": "I look.", "tool_calls": [{"id": "1", "name": "bash"}]},
        {"role": "tool", "turn": 1, "name": "bash", "content": "no x", "error": True},
    )  # fmt: skip
    alice = f"news/{RUN}/workers/Alice"
    history = json.dumps([{"node": "amd", "task": "Look.", "summary": "Looked."}])
    write(
        root,
        {
            f"{alice}/conversation.jsonl": talk,
            f"{alice}/history.json": history,
            f"{alice}/memory.md": "Sources lie.\n",
        },
    )
    told = run("show", "news", "alice").stdout
    for words in (
        "busy", "nvidia", "Careful.", "analyst", "Sources lie.", "amd: Looked.",
        "I look.", "FAILED bash: no x", f"{alice}/memory.md",
    ):  # fmt: skip
        assert words in told, words
    assert json.loads(run("show", "news", "Alice", "--json").stdout)["node"] == "nvidia"


def mail(number: int, to: str, text: str, **more: str) -> dict[str, str]:
    head = f"id: _inbox.md#{number}\nfrom: human\nto: {to}\nts: 2026-11-21T20:00:00Z\n"
    more_head = "".join(f"{key}: {value}\n" for key, value in more.items())
    name = f"news/{RUN}/_messages/{number:06d}_human_to_{to}.md"
    return {name: f"---\n{head}{more_head}---\n{text}\n"}


def test_a_message_is_read_where_the_readers_conversation_records_it(
    run: Run, root: Path
) -> None:
    ts = "2026-11-21T20:0{}:00.000+00:00"
    write(root, mail(1, "coordinator", "How far?") | mail(2, "Alice", "Hurry."))
    write(
        root,
        {
            "news/conversation.jsonl": lines(
                {"role": "system", "session": 2, "ts": ts.format(1)},
                {"role": "user", "from": "human", "ts": ts.format(2),
                 "content": "[message from human]\nHow far?", "ids": ["_inbox.md#1"]},
                {"role": "assistant", "turn": 4, "ts": ts.format(4), "content": "Ok."},
            ),
            "news/usage.jsonl": lines(
                {"ts": ts.format(1), "model": "a/b"},
                {"ts": ts.format(3), "model": "a/b", "worker": "Alice"},
                {"ts": ts.format(3), "model": "a/c"},
            ),
        },
    )  # fmt: skip
    told = run("show", "news", "--message", "1").stdout
    assert "coordinator: news/conversation.jsonl, line 2" in told
    assert "model call 4 of session 2 (a/c, usage.jsonl line 3)" in told
    assert "Alice: not yet read" in run("show", "news", "--message", "2").stdout
    by_id = run("show", "news", "--message", "_inbox.md#1").stdout
    assert by_id == told
    missing = run("show", "news", "--message", "9")
    assert missing.exit_code == 3
    assert "They are numbered to 2." in missing.stderr


def test_a_message_without_a_call_yet_is_said_to_wait(run: Run, root: Path) -> None:
    line = {"role": "user", "from": "human", "ts": "x", "ids": ["_inbox.md#1"]}
    write(root, mail(1, "coordinator", "Hm") | {"news/conversation.jsonl": lines(line)})
    told = run("show", "news", "--message", "1").stdout
    assert "no model call with it has been answered yet" in told


# --- digest


def test_a_digest_names_the_archive_of_a_run_that_was_put_away(
    run: Run, root: Path
) -> None:
    home = root / "news"
    folder = "news/runs/2026-11-21-01/"
    assert folder in run("digest", "news", "--since", "2026-11-21").stdout
    (home / "_archive").mkdir()
    (home / "_archive" / "2026-11-21-01.tar.gz").write_bytes(b"")
    (home / "runs" / "2026-11-21-01").rename(root / "elsewhere")

    told = run("digest", "news", "--since", "2026-11-21").stdout
    assert folder not in told
    assert "(news/_archive/2026-11-21-01.tar.gz)" in told


def test_a_digest_says_what_happened_was_decided_cost_and_is_open(
    run: Run, root: Path
) -> None:
    write(root, mail(3, "coordinator", "Leave out sports."))
    ts = "2026-11-21T20:00:0{}+00:00"
    with (root / "news/events.jsonl").open("a") as log:
        log.write(
            lines(
                {"ts": ts.format(6), "type": "message.sent", "agent": "news",
                 "run": "2026-11-21-01",
                 "data": {"id": "_inbox.md#3", "from": "human", "to": "coordinator"}},
                {"ts": ts.format(7), "type": "stage.reconvened", "agent": "news",
                 "run": "2026-11-21-01", "data": {"assessment": "Thin."}},
            )
        )  # fmt: skip
    usage = {"model": "a/b", "input": 900, "output": 100}
    old = {"ts": "2026-11-20T20:00:00+00:00", "cost_usd": 9.0, **usage}
    new = {"ts": ts.format(8), "cost_usd": 0.5, **usage}
    write(root, {"news/usage.jsonl": lines(old, new)})

    told = run("digest", "--since", "2026-11-21").stdout
    for words in (
        "node intel failed: no",
        (
            "a person wrote to coordinator: Leave out sports. "
            f"(news/{RUN}/_messages/000003_human_to_coordinator.md)"
        ),
        f"coordinator closed the stage, because: Thin. (news/{RUN}/_run.yaml)",
        "$0.50; 1.0k tokens in 1 calls (a/b: 1)",
        "q-001: Which year? (news/_questions/q-001.md)",
        "held: a price for mylab/big (held one/_status.md)",
        "broken/GOAL.md",
    ):
        assert words in told, told

    shown = json.loads(run("digest", "news", "--since", "2026-11-21", "--json").stdout)
    [agent] = shown["agents"]
    assert agent["cost"]["usd"] == 0.5
    assert agent["decided"][-1]["why"] == "Thin."


def test_only_what_came_since_is_told(run: Run, root: Path) -> None:
    told = run("digest", "news", "--since", "2026-11-21T20:00:03+00:00").stdout
    assert "intel failed" in told
    assert "opened" not in told
    wrong = run("digest", "--since", "soon")
    assert wrong.exit_code == 2
    assert "a span such as 2d" in wrong.stderr


def test_of_a_long_log_only_the_end_is_read(run: Run, root: Path) -> None:
    old = lines({"ts": "2026-11-01T00:00:00+00:00", "type": "agent.paused"}) * 20_000
    log = root / "news/events.jsonl"
    log.write_text(old + log.read_text())
    assert "intel failed" in run("digest", "news", "--since", "2026-11-21").stdout


def test_what_was_said_to_people_is_found_where_old_parts_are_moved(
    run: Run, root: Path
) -> None:
    head = "id: 1/Ada/1.1.0\nfrom: Ada\nto: human\nts: 2026-11-21T20:00:00Z\n"
    old = "news/conversations/outbox-2026-11.md"
    write(
        root,
        {
            f"news/{RUN}/_messages/000007_Ada_to_human.md": f"---\n{head}---\nHello.\n",
            old: "\n## 2026-11-21 20:00 · Ada <!-- 1/Ada/1.1.0 -->\n\nHello.\n",
        },
    )
    told = run("show", "news", "--message", "7").stdout
    assert f"human: {old}, line 2" in told


def put_away(log: Path, archive: str, count: int) -> None:
    """Put the first lines of a log away, as the daemon does."""
    old = log.read_bytes().splitlines(keepends=True)
    gone = old[:count]
    shelf = log.parent / "_archive" / log.stem
    shelf.mkdir(parents=True, exist_ok=True)
    (shelf / archive).write_bytes(gzip.compress(b"".join(gone)))
    ts, size = json.loads(gone[-1])["ts"], sum(map(len, gone))
    head = head_line(ts, f"_archive/{log.stem}/{archive}", size)
    log.write_bytes(head + b"".join(old[count:]))


def test_as_many_events_as_were_asked_for_are_told_put_away_or_not(
    run: Run, root: Path
) -> None:
    log = root / "news/events.jsonl"
    log.write_text(lines(*(event(f"00:0{n}") for n in range(8))))
    before = {n: run("logs", "news", "-n", str(n)).stdout for n in (0, 1, 3, 8, 200)}
    put_away(log, "2026-11-21.jsonl.gz", 6)
    for count, told in before.items():
        assert run("logs", "news", "-n", str(count)).stdout == told
    assert len(run("logs", "news", "--json").stdout.splitlines()) == 8
    (root / "news/_archive/events/2026-11-21.jsonl.gz").unlink()
    assert len(run("logs", "news").stdout.splitlines()) == 2


def test_the_first_line_of_a_log_is_not_taken_for_the_call_that_was_put_away(
    run: Run, root: Path
) -> None:
    ts = "2026-11-21T20:0{}:00.000+00:00"
    user = {"role": "user", "from": "human", "ts": ts.format(2), "ids": ["_inbox.md#1"]}
    says = {"role": "assistant", "turn": 4, "ts": ts.format(4), "content": "Ok."}
    calls = [{"ts": ts.format(n), "model": f"a/{n}"} for n in (1, 3, 5)]
    write(root, mail(1, "coordinator", "How far?"))
    write(root, {"news/conversation.jsonl": lines(user, says)})
    write(root, {"news/usage.jsonl": lines(*calls)})
    put_away(root / "news/usage.jsonl", "2026-11-21.jsonl.gz", 2)
    told = run("show", "news", "--message", "1").stdout
    assert "(a/3)" in told
    (root / "news/_archive/usage/2026-11-21.jsonl.gz").unlink()
    assert "(?)" in run("show", "news", "--message", "1").stdout


def test_one_file_is_checked_without_unpacking_the_archives(
    run: Run, root: Path
) -> None:
    put_away(root / "news/events.jsonl", "2026-11-21.jsonl.gz", 1)
    one = json.loads(run("check", str(root / "news/GOAL.md"), "--json").stdout)
    assert one["files"] == 1
    whole = json.loads(run("check", str(root / "news"), "--json").stdout)
    archive = str(root / "news/_archive/events/2026-11-21.jsonl.gz")
    assert json.loads(run("check", archive, "--json").stdout)["files"] == 1
    (root / "news/_archive/events/2026-11-21.jsonl.gz").unlink()
    fewer = json.loads(run("check", str(root / "news"), "--json").stdout)
    assert whole["files"] == fewer["files"] + 1
