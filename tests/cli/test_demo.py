from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from agiraph.tree.lock import holder
from tests.support.gguf import model_file, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run


def _start(state: Path, *words: str, **more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state), **more}
    environment.pop("AGIRAPH_AGENTS", None)
    return subprocess.Popen(
        [sys.executable, "-m", "agiraph", "demo", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=state,
    )


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A state directory; no daemon may be left in it."""
    folder = tmp_path / "state of mine"
    folder.mkdir()
    yield folder
    for root in folder.glob("agiraph/demo-*/agents"):
        assert holder(str(root)) is None


def test_the_demo_ends_with_a_report_on_its_own_texts(state: Path) -> None:
    demo = _start(state)
    out, err = demo.communicate(timeout=90)
    assert demo.returncode == 0, err
    assert "agent digest: completed" in out
    assert "No language model" in out
    assert out.count(": completed") > 2
    (root,) = state.glob("agiraph/demo-*/agents")
    assert str(root) in err
    assert f"cd '{root.parent}'" in err
    assert "agiraph run digest --again" in err
    assert "model: offline/digest" in (root / "digest" / "GOAL.md").read_text()
    (report,) = root.glob("digest/runs/*/published/*.md")
    assert str(report) in err
    assert report.read_text().splitlines()[0] in out
    assert "\x1b" not in out + err
    assert "Traceback" not in (root.parent / "daemon.log").read_text()


@pytest.mark.parametrize(
    ("kind", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_demo_that_is_broken_off_leaves_no_daemon(
    state: Path, kind: signal.Signals, code: int
) -> None:
    demo = _start(state)
    end = time.monotonic() + 30
    while not list(state.glob("agiraph/demo-*/agents/.agiraph/daemon.json")):
        assert time.monotonic() < end
        time.sleep(0.01)
    demo.send_signal(kind)
    _, err = demo.communicate(timeout=60)
    assert demo.returncode == code
    assert "Traceback" not in err
    if kind == signal.SIGINT:
        assert "agiraph run digest --agents" in err


def test_a_model_without_its_key_is_refused_before_anything_is_made(
    state: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    result = run("demo", "--model", "anthropic/claude-sonnet-4-5")
    assert result.exit_code == 1
    assert "ANTHROPIC_API_KEY" in result.stderr
    assert list(state.iterdir()) == []


def test_the_local_demo_leads_a_small_model_through_many_narrow_questions(
    state: Path, tmp_path: Path
) -> None:
    packages = f"{stand_in(tmp_path / 'packages')}{os.pathsep}{os.getcwd()}"
    model_file(tmp_path / "data", "smollm2")
    data = str(tmp_path / "data")
    demo = _start(state, "--local", PYTHONPATH=packages, XDG_DATA_HOME=data)
    out, err = demo.communicate(timeout=90)
    assert demo.returncode == 0, err
    assert "agent digest: completed" in out
    totals = re.search(r"12 paragraphs: (\d+) summarised by gguf/smollm2 at once", out)
    assert totals is not None
    assert 0 < int(totals[1]) < 12
    assert "*(the model)*" in out
    assert "*(asked again; the model's answer: " in out
    (root,) = state.glob("agiraph/demo-*/agents")
    goal = (root / "digest" / "GOAL.md").read_text()
    assert "model: offline/digest" in goal
    assert "worker_model: gguf/smollm2" in goal
    asked = (next(root.glob("digest/runs/*/workers/reader-1"))) / "conversation.jsonl"
    system = json.loads(asked.read_text().splitlines()[0])["content"]
    assert len(system) < 120  # a small model is told its task and little else


def test_without_a_model_file_the_local_demo_says_how_to_get_one(
    state: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setenv("XDG_DATA_HOME", str(state))
    result = run("demo", "--local")
    assert result.exit_code == 1
    assert "agiraph model get smollm2" in result.stderr
    assert list(state.iterdir()) == []
