"""What reaches the disk, in which order: seen by tracing system calls."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CALLS = (
    "openat,openat2,write,fsync,fdatasync,rename,renameat,renameat2,link,linkat,"
    "mkdirat,syncfs"
)


@pytest.fixture
def trace(tmp_path: Path) -> object:
    """Run lines of a program with a pen; what it called, one name and path a line."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not here")

    def run(body: str) -> list[str]:
        root = tmp_path / "agents"
        (root / "ada").mkdir(parents=True)
        program = tmp_path / "program.py"
        program.write_text(
            textwrap.dedent("""
                import asyncio, os, sys
                from pathlib import PurePosixPath as P
                from agiraph.tree.pen import DiskPen

                async def main():
                    pen = DiskPen(sys.argv[1])
                    os.write(2, b"BEGIN")
                    await body(pen)
                    os.write(2, b"END")
                    await pen.close()

                async def body(pen):
            """)
            + textwrap.indent(textwrap.dedent(body), "    ")
            + "\nasyncio.run(main())\n"
        )
        out = tmp_path / "trace"
        command = [strace, "-f", "-y", "-s", "80", "-e", f"trace={CALLS}", "-o"]
        done = subprocess.run(
            [*command, str(out), sys.executable, str(program), str(root)],
            capture_output=True,
            check=False,
            text=True,
        )
        if "ptrace" in done.stderr:
            pytest.skip("tracing is not permitted here")
        assert done.returncode == 0, done.stderr
        return _between(out.read_text(), str(root))

    return run


def _between(text: str, root: str) -> list[str]:
    inside = text.split('"BEGIN"', 1)[1].split('"END"', 1)[0]
    steps = []
    for line in inside.splitlines():
        call = re.search(r"\b(\w+)\(", line)
        if call is None or root not in line or "resumed" in line:
            continue
        steps.append(f"{call[1]} {line.split('(', 1)[1].replace(root, '')}")
    return [step for step in steps if not step.startswith("open")]


def kinds(steps: list[str]) -> list[str]:
    return [step.split()[0].removesuffix("2").removesuffix("at") for step in steps]


def test_a_file_is_on_the_disk_before_its_name_and_the_name_before_the_end(
    trace: object,
) -> None:
    assert callable(trace)
    steps = trace('await pen.write(P("ada/_status.md"), b"words")')
    assert kinds(steps) == ["write", "fsync", "rename", "fsync"]
    assert ".tmp>" in steps[0]
    assert ".tmp>" in steps[1]
    assert re.search(r"</ada>", steps[3])


def test_a_new_folder_is_on_the_disk_too(trace: object) -> None:
    assert callable(trace)
    steps = trace('await pen.write(P("ada/runs/r/_run.yaml"), b"words")')
    assert kinds(steps)[:2] == ["mkdir", "mkdir"]
    synced = {found[1] for s in steps if (found := re.match(r"fsync \d+<(.*?)>", s))}
    assert {"/ada", "/ada/runs", "/ada/runs/r"} <= synced


def test_a_flushed_line_and_the_name_of_a_new_log_are_on_the_disk(
    trace: object,
) -> None:
    assert callable(trace)
    steps = trace("""
        await pen.append(P("ada/events.jsonl"), b'{"n": 1}', flush=True)
        await pen.append(P("ada/events.jsonl"), b'{"n": 2}', flush=True)
        await pen.append(P("ada/events.jsonl"), b'{"n": 3}', flush=False)
    """)
    assert kinds(steps) == [
        "write", "fdatasync", "fsync", "write", "fdatasync", "write"
    ]  # fmt: skip
    assert "</ada>" in steps[2]


def test_what_is_published_is_on_the_disk_before_it_appears(trace: object) -> None:
    assert callable(trace)
    steps = trace("""
        os.makedirs(sys.argv[1] + "/ada/n/scratch")
        with open(sys.argv[1] + "/ada/n/scratch/report.md", "w") as report:
            report.write("done")
        await pen.move(P("ada/n/scratch"), P("ada/n/published"))
    """)
    assert kinds(steps)[-3:] == ["syncfs", "rename", "fsync"]
    assert "</ada/n>" in steps[-1]


def test_logs_of_many_loops_cost_fewer_flushes_than_lines(trace: object) -> None:
    assert callable(trace)
    steps = trace("""
        async def loop(name):
            for n in range(20):
                await pen.append(P("ada/events.jsonl"), b'{"n": 1}', flush=True)
        await asyncio.gather(*(loop(n) for n in range(10)))
    """)
    assert kinds(steps).count("write") == 200
    assert kinds(steps).count("fdatasync") < 100
