"""No path leads out of its place, whatever stands on the way; nothing is touched."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agiraph.errors import ToolRefused
from tests.tools.conftest import SECRET, Bench

Trap = Callable[[Bench, Path], str]


def dots(bench: Bench, secret: Path) -> str:
    return "scratch/" + os.path.relpath(secret, bench.scratch)


def dots_to_a_neighbour(bench: Bench, secret: Path) -> str:
    (bench.node / "log.jsonl").write_text(SECRET)
    return "scratch/../log.jsonl"


def absolute(bench: Bench, secret: Path) -> str:
    return str(secret)


def absolute_link(bench: Bench, secret: Path) -> str:
    (bench.scratch / "link").symlink_to(secret)
    return "scratch/link"


def relative_link(bench: Bench, secret: Path) -> str:
    (bench.scratch / "link").symlink_to(os.path.relpath(secret, bench.scratch))
    return "scratch/link"


def folder_link(bench: Bench, secret: Path) -> str:
    (bench.scratch / "link").symlink_to(secret.parent)
    return f"scratch/link/{secret.name}"


def link_in_the_place_of_the_scope(bench: Bench, secret: Path) -> str:
    bench.scratch.rmdir()
    bench.scratch.symlink_to(secret.parent)
    return f"scratch/{secret.name}"


def link_above_the_scope(bench: Bench, secret: Path) -> str:
    elsewhere = secret.parent / "elsewhere"
    bench.node.rename(elsewhere)
    bench.node.symlink_to(elsewhere)
    (elsewhere / "scratch" / "secret.txt").write_text(SECRET)
    return "scratch/secret.txt"


def link_in_inputs(bench: Bench, secret: Path) -> str:
    (bench.home / "inputs" / "link").symlink_to(secret)
    return "inputs/link"


TRAPS = [
    dots,
    dots_to_a_neighbour,
    absolute,
    absolute_link,
    relative_link,
    folder_link,
    link_in_the_place_of_the_scope,
    link_above_the_scope,
    link_in_inputs,
]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return tmp_path / "secret.txt"


@pytest.mark.parametrize("trap", TRAPS)
async def test_nothing_outside_is_read(bench: Bench, secret: Path, trap: Trap) -> None:
    said = await bench.refused("read_file", path=trap(bench, secret))

    assert SECRET not in said


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("append", [True, False])
async def test_nothing_outside_is_written(
    bench: Bench, secret: Path, trap: Trap, append: bool
) -> None:
    path = trap(bench, secret)
    said = await bench.refused("write_file", path=path, content="ours", append=append)

    assert secret.read_text() == SECRET
    assert SECRET not in said


@pytest.mark.parametrize("trap", TRAPS)
async def test_nothing_outside_is_edited(
    bench: Bench, secret: Path, trap: Trap
) -> None:
    path = trap(bench, secret)
    said = await bench.refused("edit_file", path=path, old="secret", new="ours")

    assert secret.read_text() == SECRET
    assert SECRET not in said


@pytest.mark.parametrize("trap", [folder_link, link_in_the_place_of_the_scope, dots])
async def test_nothing_outside_is_listed(
    bench: Bench, secret: Path, trap: Trap
) -> None:
    folder = str(Path(trap(bench, secret)).parent)

    said = await bench.refused("list_files", path=folder)

    assert secret.name not in said.replace(folder, "")


async def test_a_dangling_link_makes_nothing_outside(
    bench: Bench, secret: Path
) -> None:
    target = secret.parent / "made.txt"
    (bench.scratch / "link").symlink_to(target)
    (bench.scratch / "deep").symlink_to(secret.parent / "made")

    await bench.refused("write_file", path="scratch/link", content="x")
    await bench.refused("write_file", path="scratch/deep/a.txt", content="x")

    assert not target.exists()
    assert not (secret.parent / "made").exists()


async def test_a_link_that_appears_before_the_write_is_performed_leads_nowhere(
    bench: Bench,
) -> None:
    (bench.scratch / "d").mkdir()
    theirs = bench.run / "nodes" / "amd" / "scratch"
    intent = await bench.prepare(
        "write_file", bench.alice, path="scratch/d/a.txt", content="x"
    )
    (bench.scratch / "d").rmdir()
    (bench.scratch / "d").symlink_to(theirs)

    with pytest.raises(ToolRefused):
        await bench.perform("write_file", intent, bench.alice)

    assert list(theirs.iterdir()) == []


async def test_a_pipe_in_the_place_of_a_file_does_not_hang(bench: Bench) -> None:
    os.mkfifo(bench.scratch / "pipe")

    assert "pipe" in await bench.refused("read_file", path="scratch/pipe")
    await bench.refused("write_file", path="scratch/pipe", content="x")


async def test_a_link_inside_the_place_may_be_read(bench: Bench) -> None:
    (bench.scratch / "a").write_text("inside")
    (bench.scratch / "link").symlink_to("a")

    assert await bench.call("read_file", path="scratch/link") == "inside"


@pytest.mark.parametrize("root", ["memory/../../../secret.txt", "../secret.txt"])
async def test_memory_does_not_lead_out(bench: Bench, secret: Path, root: str) -> None:
    await bench.refused("memory_read", bench.boss, path=root)
    await bench.refused("memory_write", bench.boss, path=root, content="x")

    assert secret.read_text() == SECRET


async def test_the_search_in_memory_follows_no_link(bench: Bench, secret: Path) -> None:
    (bench.home / "memory" / "link.md").symlink_to(secret)
    (bench.home / "memory" / "a.md").write_text("about secrets")

    assert SECRET not in await bench.call("memory_search", bench.boss, query="secret")


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
async def test_a_link_swapped_in_meanwhile_leads_nowhere(
    bench: Bench, secret: Path
) -> None:
    """A folder turns into a link to outside and back, while it is read and written."""
    folder, link = bench.scratch / "d", bench.scratch / "l"
    folder.mkdir()
    (folder / "secret.txt").write_text("inside")
    link.symlink_to(secret.parent)
    stop = threading.Event()

    def swap() -> None:
        exchange = ctypes.CDLL(None, use_errno=True).renameat2
        while not stop.is_set():
            exchange(-100, os.fsencode(folder), -100, os.fsencode(link), 2)

    swapper = threading.Thread(target=swap)
    swapper.start()
    read = 0
    try:
        for number in range(400):
            try:
                text = await bench.call("read_file", path="scratch/d/secret.txt")
                read += 1
            except ToolRefused as refusal:
                text = str(refusal)
            assert SECRET not in text
            if number % 8 == 0:
                try:
                    await bench.call(
                        "write_file", path="scratch/d/new.txt", content=str(number)
                    )
                except ToolRefused:
                    continue
    finally:
        stop.set()
        swapper.join()

    assert 0 < read < 400
    assert secret.read_text() == SECRET
    assert not (secret.parent / "new.txt").exists()
