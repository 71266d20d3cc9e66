"""One daemon works on a tree, and others are told which."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import NotThere, YourError
from agiraph.tree.lock import Taken, TreeLock, holder

if TYPE_CHECKING:
    from pathlib import Path

SINCE = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def take(root: Path) -> TreeLock:
    return TreeLock.take(str(root), version="0.1.0", since=SINCE)


def test_nobody_holds_a_tree_at_first_and_asking_makes_nothing(root: Path) -> None:
    assert holder(str(root)) is None
    assert sorted(path.name for path in root.iterdir()) == ["ada"]


def test_a_second_daemon_is_told_who_has_the_tree(root: Path) -> None:
    with take(root) as lock:
        assert lock.holds()
        with pytest.raises(Taken) as refused:
            take(root)
        assert refused.value.holder.pid == os.getpid()
        assert refused.value.holder.version == "0.1.0"
        words = str(refused.value)
        assert str(os.getpid()) in words
        assert "2026-11-21T09:30:00+00:00" in words
        assert isinstance(refused.value, YourError)
        assert holder(str(root)) == refused.value.holder
    assert holder(str(root)) is None
    take(root).release()


def test_what_belongs_to_this_machine_stays_out_of_git(root: Path) -> None:
    with take(root):
        assert (root / ".agiraph" / ".gitignore").read_text() == "*\n"


def test_who_it_is_stands_in_daemon_json(root: Path) -> None:
    with take(root):
        said = json.loads((root / ".agiraph/daemon.json").read_text())
    assert set(said) == {"pid", "host", "version", "since"}


def test_asking_does_not_disturb_somebody_who_takes(root: Path) -> None:
    for _ in range(50):
        assert holder(str(root)) is None
        take(root).release()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"pid": "x"}', b"\xff"])
def test_a_broken_daemon_json_hides_nobody(root: Path, content: bytes) -> None:
    with take(root):
        (root / ".agiraph/daemon.json").write_bytes(content)
        found = holder(str(root))
        assert found is not None
        assert "just starting" in str(found)


def test_a_killed_daemon_leaves_the_tree_free(root: Path) -> None:
    program = textwrap.dedent("""
        import sys, time
        from datetime import UTC, datetime
        from agiraph.tree.lock import TreeLock
        lock = TreeLock.take(sys.argv[1], version="1", since=datetime.now(UTC))
        print("taken", flush=True)
        time.sleep(60)
    """)
    other = subprocess.Popen(
        [sys.executable, "-c", program, str(root)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    with other:
        assert other.stdout.readline() == "taken\n"
        found = holder(str(root))
        assert found is not None
        assert found.pid == other.pid
        other.send_signal(signal.SIGKILL)
    assert holder(str(root)) is None
    take(root).release()


def test_a_daemon_notices_that_its_lock_was_deleted(root: Path) -> None:
    with take(root) as lock:
        shutil.rmtree(root / ".agiraph")
        assert not lock.holds()


def test_a_root_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotThere, match="make the folder first"):
        take(tmp_path / "none")
