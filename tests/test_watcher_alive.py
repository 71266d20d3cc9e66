from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from agiraph.watcher import FolderWatch
from agiraph.watcher.alive import EVERY, PATIENCE, Cookie, watches
from agiraph.watcher.network import silent_disk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".agiraph").mkdir()
    return tmp_path


def test_a_cookie_that_is_heard_of_proves_that_watching_works(root: Path) -> None:
    cookie = Cookie(str(root))
    assert not cookie.missed(100.0)  # touched
    cookie.heard()
    assert not cookie.missed(100.0 + PATIENCE + 1)


def test_a_cookie_that_nobody_hears_of_is_missed_once(root: Path) -> None:
    cookie = Cookie(str(root))
    assert not cookie.missed(100.0)
    assert not cookie.missed(100.0 + PATIENCE - 0.1)
    assert cookie.missed(100.0 + PATIENCE)
    assert not cookie.missed(100.0 + PATIENCE + 0.1)


def test_a_disk_that_takes_no_cookie_proves_nothing(tmp_path: Path) -> None:
    cookie = Cookie(str(tmp_path))  # there is no .agiraph to touch it in
    assert not cookie.missed(100.0)
    assert not cookie.missed(100.0 + PATIENCE)
    assert cookie.wait(100.0 + PATIENCE) == pytest.approx(EVERY - PATIENCE)


async def test_the_kernel_lists_the_watches_that_stand(root: Path) -> None:
    before = watches()
    if before is None:
        pytest.skip("this system does not list watches")
    watch = FolderWatch(str(root), report=lambda _: None)
    hints = watch.hints()
    await anext(hints)
    assert watches() == before + 2  # the root, and .agiraph
    await hints.aclose()
    await watch.close()


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        ("1 0 0:1 / / rw - ext4 /dev/sda rw", ""),
        ("1 0 0:1 / / rw - ext4 /dev/sda rw\n2 1 0:2 / /mnt rw - nfs4 host:/x rw", ""),
        ("1 0 0:1 / / rw - nfs4 host:/x rw", "nfs4"),
        ("1 0 0:1 / / rw - fuse.sshfs host rw", "fuse.sshfs"),
        ("1 0 0:1 / / rw - 9p drvfs rw\n3 1 0:3 / /tmp rw - tmpfs none rw", None),
    ],
)
def test_a_disk_that_tells_nothing_is_polled(
    mounts: str, kind: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "mountinfo"
    file.write_text(mounts + "\n")
    expected = kind if kind is not None else ("" if "/tmp" in str(tmp_path) else "9p")
    assert silent_disk(str(tmp_path), str(file)) == expected


async def test_a_disk_mounted_over_the_root_is_watched_instead(root: Path) -> None:
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command")
    watch = FolderWatch(str(root), report=lambda _: None)
    hints = watch.hints()
    await anext(hints)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(root)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        await hints.aclose()
        await watch.close()
        pytest.skip("mounting is not permitted here")
    try:
        async with asyncio.timeout(10):
            assert "*" in await anext(hints)
            (root / "ada").mkdir()
            while "ada" not in await anext(hints):
                pass
    finally:
        await hints.aclose()
        await watch.close()
        subprocess.run(["umount", "-l", str(root)], check=True)


async def test_a_link_to_the_whole_disk_costs_no_watches(root: Path) -> None:
    if watches() is None:
        pytest.skip("the kernel lists no watches here")
    (root / "ada").mkdir()
    (root / "all").symlink_to("/", target_is_directory=True)
    (root / "ada/inputs").symlink_to("/", target_is_directory=True)
    before = watches() or 0
    watch = FolderWatch(str(root), report=lambda _: None)
    watch.folders("all", [PurePosixPath("all")])
    watch.folders("ada", [PurePosixPath("ada"), PurePosixPath("ada/inputs")])
    hints = watch.hints()
    await anext(hints)
    try:
        assert (watches() or 0) - before <= 4
    finally:
        await hints.aclose()
        await watch.close()
