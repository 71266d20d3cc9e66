"""A sweep that is ended from outside leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.tidy import processes_in
from tests.support.daemon import until


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="there is no /proc")
@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGINT])
def test_a_sweep_that_is_ended_takes_its_daemon_and_its_folders_with_it(
    tmp_path: Path, ends: signal.Signals
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.kills", "--kills", "1000"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        until(lambda: processes_in(tmp_path), "a daemon is at work", seconds=60)
        process.send_signal(ends)
        assert process.wait(60) == 128 + ends
    finally:
        process.kill()
        process.wait()
    until(lambda: not processes_in(tmp_path), "its daemon has ended", seconds=60)
    assert list(tmp_path.iterdir()) == []
