from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agiraph.tree.lock import TreeLock
from tests.support.trees import lines, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.cli.conftest import Run


@contextmanager
def _daemon(root: Path, act: Callable[[], None]) -> Iterator[None]:
    """Somebody who holds the tree and does one thing to it meanwhile."""
    since = datetime(2026, 11, 21, tzinfo=UTC)
    with TreeLock.take(str(root), version="1", since=since):
        thread = threading.Thread(target=act, name="the daemon of the test")
        thread.start()
        try:
            yield
        finally:
            thread.join()


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not true() and time.monotonic() < end:
        time.sleep(0.01)


def test_an_agent_is_followed_until_it_ends(run: Run, root: Path) -> None:
    status = root / "news" / "_status.md"
    events = root / "news" / "events.jsonl"

    def work() -> None:
        time.sleep(1.5)  # the command must be looking by then
        with events.open("a") as log:
            log.write(lines({"ts": "", "type": "agent.completed", "agent": "news"}))
        _status_is(status, "completed")

    with _daemon(root, work):
        result = run("run", "news")
    assert result.exit_code == 0
    assert "run completed" in result.stdout
    assert "opened" not in result.stdout
    assert "news: completed" in result.stderr


def _status_is(status: Path, word: str) -> None:
    new = status.with_name("new.tmp")
    new.write_text(f"---\nstatus: {word}\n---\n")
    new.rename(status)


def test_again_waits_for_the_new_run_and_not_for_the_old_one(
    run: Run, root: Path
) -> None:
    home = root / "news"
    _status_is(home / "_status.md", "completed")
    record = home / "runs/2026-11-21-01/_run.yaml"
    record.write_text(record.read_text().replace("status: open", "status: completed"))

    def work() -> None:
        _until(lambda: "run: 2\n" in (home / "GOAL.md").read_text())
        _status_is(home / "_status.md", "failed")
        write(home, {"runs/2026-11-21-02/_run.yaml": "status: failed\nrun: x\n"})

    with _daemon(root, work):
        result = run("run", "news", "--again")
    assert (home / "GOAL.md").read_text() == (
        "---\nmodel: offline/digest  # none is needed\nrun: 2\n---\nSum up.\n"
    )
    assert result.exit_code == 1


def test_a_page_of_the_old_run_is_not_the_end_of_the_new_one(
    run: Run, root: Path
) -> None:
    home = root / "news"
    page = "---\nstatus: completed\nrun: 2026-11-21-0{}\n---\n"
    (home / "_status.md").write_text(page.format(1))

    def work() -> None:
        _until(lambda: "run: 2\n" in (home / "GOAL.md").read_text())
        write(home, {"runs/2026-11-21-02/_run.yaml": "status: open\nrun: x\n"})
        time.sleep(0.6)  # the command looks at the new run with the old page
        with (home / "events.jsonl").open("a") as log:
            log.write(lines({"ts": "", "type": "node.completed", "node": "late"}))
        write(home, {"runs/2026-11-21-02/_run.yaml": "status: completed\nrun: x\n"})
        write(home, {"_status.md": page.format(2)})

    with _daemon(root, work):
        result = run("run", "news", "--again")
    assert "node late completed" in result.stdout
    assert result.exit_code == 0


def test_an_agent_that_waits_for_a_person_says_so(run: Run, root: Path) -> None:
    _status_is(root / "news" / "_status.md", "working")

    def work() -> None:
        _status_is(root / "news" / "_status.md", "waiting_for_human")

    with _daemon(root, work):
        result = run("run", "news")
    assert result.exit_code == 8
    assert "q-001: Which year?" in result.stderr
    assert "_questions/q-001.md" in result.stderr


def test_a_daemon_that_ends_meanwhile_is_told(run: Run, root: Path) -> None:
    since = datetime(2026, 11, 21, tzinfo=UTC)
    lock = TreeLock.take(str(root), version="1", since=since)
    timer = threading.Timer(0.5, lock.release)
    timer.start()
    result = run("run", "news")
    timer.join()
    assert result.exit_code == 5
    assert "agiraph run news" in result.stderr


def test_a_second_daemon_is_told_who_has_the_tree(run: Run, root: Path) -> None:
    since = datetime(2026, 11, 21, tzinfo=UTC)
    with TreeLock.take(str(root), version="1", since=since):
        result = run("up")
    assert result.exit_code == 7
    assert f"process {os.getpid()}" in result.stderr


def test_an_agent_without_a_goal_is_not_run(run: Run, root: Path) -> None:
    (root / "news" / "GOAL.md").unlink()
    assert run("run", "news").exit_code == 3
    assert run("run", "nothing").exit_code == 3


def _alone(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`agiraph run` without a daemon, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "agiraph", "run", "--agents", str(tree), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_run_that_ends_has_said_on_disk_how_it_stands(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a/GOAL.md": "---\nmodel: nobody/has-it\n---\nGo.\n"})
    told = _alone(tree, "a")
    assert told.returncode == 6
    page = (tree / "a/_status.md").read_text()
    assert "status: held" in page
    assert "No provider is called 'nobody'" in page
    assert "a: held: No provider is called 'nobody'" in told.stderr
    assert "Once that is mended: agiraph run a" in told.stderr


def test_a_run_with_nothing_to_do_says_so(tmp_path: Path) -> None:
    goal = "---\nmodel: offline/digest\n---\nDigest what is there.\n"
    tree = write(tmp_path, {"a/GOAL.md": goal, "a/inputs/x.txt": "A text. It ends.\n"})
    assert _alone(tree, "a").returncode == 0
    again = _alone(tree, "a")
    assert again.returncode == 0
    assert "agiraph run a --again" in again.stderr
    assert "opened" not in again.stderr


def test_a_stopped_agent_runs_again_only_when_asked(tmp_path: Path) -> None:
    goal = "---\nmodel: offline/digest\n---\nDigest what is there.\n"
    tree = write(tmp_path, {"a/GOAL.md": goal, "a/STOP": "", "a/inputs/x.txt": "A.\n"})
    refused = _alone(tree, "a")
    assert refused.returncode == 1
    assert "agiraph run a --again" in refused.stderr
    assert _alone(tree, "a", "--again").returncode == 0
    assert not (tree / "a/STOP").exists()
