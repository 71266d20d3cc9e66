"""No path leads out of the folder that it must stay in."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from agiraph.errors import NotPlain, NotThere, Outside
from agiraph.tree import beneath as module
from agiraph.tree.beneath import Beneath

SCRATCH = PurePosixPath("ada/scratch")


@pytest.fixture
def beneath(root: Path, by_kernel: bool | None) -> Beneath:
    (root / "ada/scratch").mkdir()
    (root / "ada/scratch/inner").mkdir()
    (root / "ada/scratch/inner/note.txt").write_text("inside")
    (root / "ada/secret.txt").write_text("secret")
    return Beneath(str(root), by_kernel=by_kernel)


def read(
    beneath: Beneath, path: str | PurePosixPath, within: PurePosixPath | None = None
) -> str:
    fd = beneath.open(PurePosixPath(path), os.O_RDONLY, within=within)
    try:
        return os.read(fd, 100).decode()
    finally:
        os.close(fd)


@pytest.mark.parametrize(
    "path", ["../x", "ada/../../x", "ada/../ada/secret.txt", "/etc"]
)
def test_dots_and_absolute_paths_are_outside(beneath: Beneath, path: str) -> None:
    with pytest.raises(Outside):
        read(beneath, path)
    with pytest.raises(Outside):
        read(beneath, path, SCRATCH)


@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_names_that_no_file_can_have_are_not_there(beneath: Beneath, name: str) -> None:
    with pytest.raises(NotThere):
        read(beneath, f"ada/{name}")


def test_a_path_beside_the_folder_to_stay_in_is_outside(beneath: Beneath) -> None:
    with pytest.raises(Outside):
        read(beneath, "ada/secret.txt", SCRATCH)


@pytest.mark.parametrize(
    "target",
    ["../secret.txt", "/etc/passwd", "../../ada/secret.txt", "/proc/self/root"],
)
def test_a_link_that_leaves_is_outside(
    beneath: Beneath, root: Path, target: str
) -> None:
    (root / "ada/scratch/out").symlink_to(target)
    with pytest.raises(Outside):
        read(beneath, SCRATCH / "out", SCRATCH)


def test_links_that_stay_are_followed_for_a_model(beneath: Beneath, root: Path) -> None:
    (root / "ada/scratch/file").symlink_to("inner/note.txt")
    (root / "ada/scratch/inner/back").symlink_to("../inner/note.txt")
    (root / "ada/scratch/folder").symlink_to("inner")
    assert read(beneath, SCRATCH / "file", SCRATCH) == "inside"
    assert read(beneath, SCRATCH / "inner/back", SCRATCH) == "inside"
    assert read(beneath, SCRATCH / "folder/note.txt", SCRATCH) == "inside"
    assert read(beneath, SCRATCH / "folder/back", SCRATCH) == "inside"


def test_no_link_at_all_is_followed_for_protocol_files(
    beneath: Beneath, root: Path
) -> None:
    (root / "ada/GOAL.md").symlink_to("secret.txt")
    (root / "eve").symlink_to("ada")
    for path in ("ada/GOAL.md", "eve/secret.txt"):
        with pytest.raises(NotPlain):
            read(beneath, path)


def test_the_folder_to_stay_in_may_not_be_reached_through_a_link(
    beneath: Beneath, root: Path
) -> None:
    (root / "eve").symlink_to("ada")
    with pytest.raises(NotPlain):
        read(beneath, "eve/scratch/inner/note.txt", PurePosixPath("eve/scratch"))


def test_a_ring_of_links_ends(beneath: Beneath, root: Path) -> None:
    (root / "ada/scratch/a").symlink_to("b")
    (root / "ada/scratch/b").symlink_to("a")
    with pytest.raises(NotPlain):
        read(beneath, SCRATCH / "a", SCRATCH)


def test_opening_a_pipe_does_not_wait(beneath: Beneath, root: Path) -> None:
    os.mkfifo(root / "ada/GOAL.md")
    fd = beneath.open(PurePosixPath("ada/GOAL.md"), os.O_RDONLY)
    os.close(fd)


def test_a_root_that_was_replaced_is_opened_anew(beneath: Beneath, root: Path) -> None:
    root.rename(root.with_name("old"))
    (root / "ada").mkdir(parents=True)
    (root / "ada/secret.txt").write_text("new")
    assert read(beneath, "ada/secret.txt") == "new"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_kernel_without_the_call_is_asked_once(
    root: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def refuse(*_: object) -> int:
        asked.append(1)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "_openat2", refuse)
    module._kernel_can.cache_clear()
    try:
        (root / "ada/file").write_text("found")
        beneath = Beneath(str(root))
        assert read(beneath, "ada/file") == "found"
        assert read(beneath, "ada/file") == "found"
        assert len(asked) == 1
    finally:
        module._kernel_can.cache_clear()


def test_a_link_swapped_in_a_race_never_leads_out(beneath: Beneath, root: Path) -> None:
    """A folder and a link to the outside change places thousands of times."""
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "note.txt").write_text("ESCAPED")
    scratch = root / "ada/scratch"
    (scratch / "evil").symlink_to(outside)
    stop = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not stop.is_set():
            (scratch / "inner").rename(scratch / "kept")
            (scratch / "evil").rename(scratch / "inner")
            (scratch / "inner").rename(scratch / "evil")
            (scratch / "kept").rename(scratch / "inner")
            swaps += 1

    racer = threading.Thread(target=swap)
    racer.start()
    seen = set()
    until = time.monotonic() + 20
    tries = 0
    try:
        while (swaps < 3000 or tries < 3000) and time.monotonic() < until:
            tries += 1
            for within in (SCRATCH, None):
                try:
                    seen.add(read(beneath, SCRATCH / "inner/note.txt", within))
                except (NotThere, Outside, NotPlain) as refused:
                    seen.add(type(refused).__name__)
    finally:
        stop.set()
        racer.join()
    assert "ESCAPED" not in seen
    assert "inside" in seen
    assert len(seen) > 1, "the race was never met"
