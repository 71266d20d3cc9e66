"""Folders put away: the archive holds all, and comes before the folder goes."""

from __future__ import annotations

import errno
import os
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from agiraph.errors import AgiraphError, Changing, Full
from agiraph.tree import packing, tars
from agiraph.tree.attic import DiskAttic
from agiraph.tree.beneath import Beneath

RUN = PurePosixPath("a/runs/2026-01-01-01")
INTO = PurePosixPath("a/_archive")
AT = 1.8e9


def tree(root: Path) -> Path:
    run = root / RUN
    (run / "nodes" / "n" / "empty").mkdir(parents=True)
    (root / INTO).mkdir()
    (run / "_run.yaml").write_text("status: completed\n")
    (run / "nodes" / "n" / "log.jsonl").write_bytes(os.urandom(3_000_000))
    (run / "nodes" / "n" / "é 頁.md").write_text("x" * 200)
    os.symlink("/etc/hostname", run / "link")
    os.symlink("nodes", run / "way")
    os.mkfifo(run / "pipe")
    return run


def facts(run: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def unpacked(root: Path, archive: str) -> dict[str, bytes | str]:
    out = root / "out"
    with tarfile.open(root / INTO / archive) as tar:
        tar.extractall(out, filter="fully_trusted")
    return facts(out / RUN.name)


def test_everything_is_in_the_archive_and_the_folder_is_gone(tmp_path: Path) -> None:
    run = tree(tmp_path)
    before = facts(run)
    made = DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT)
    assert made.archive == INTO / "2026-01-01-01.tar.gz"
    assert made.before > 3_000_000
    assert os.listdir(tmp_path / "a" / "runs") == []
    assert os.listdir(tmp_path / INTO) == ["2026-01-01-01.tar.gz"]
    assert unpacked(tmp_path, "2026-01-01-01.tar.gz") == before
    assert (tmp_path / "out" / RUN.name / "nodes" / "n" / "empty").is_dir()


def test_a_name_that_is_no_utf_8_is_kept(tmp_path: Path) -> None:
    run = tree(tmp_path)
    odd = os.fsencode(run) + b"/\xff\xfe.txt"
    try:
        Path(os.fsdecode(odd)).write_bytes(b"odd")
    except OSError:
        pytest.skip("this disk takes no such name")
    before = facts(run)
    DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT)
    assert unpacked(tmp_path, "2026-01-01-01.tar.gz") == before


def test_a_link_is_not_put_away(tmp_path: Path) -> None:
    run = tree(tmp_path)
    whole = tmp_path / "whole"
    os.rename(run, whole)
    os.symlink(whole, run)
    with pytest.raises(AgiraphError):
        DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT)
    assert run.is_symlink()
    assert (whole / "_run.yaml").exists()


def test_after_a_kill_behind_the_archive_the_next_pass_finishes(tmp_path: Path) -> None:
    tree(tmp_path)
    attic = DiskAttic(Beneath(str(tmp_path)))
    attic.put_away(RUN, INTO, AT)
    archive = tmp_path / INTO / "2026-01-01-01.tar.gz"
    first = archive.read_bytes()
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "a" / "runs", filter="fully_trusted")
    attic.put_away(RUN, INTO, AT)
    assert archive.read_bytes() == first
    assert os.listdir(tmp_path / INTO) == ["2026-01-01-01.tar.gz"]
    assert os.listdir(tmp_path / "a" / "runs") == []


@pytest.mark.parametrize("old", [b"", b"no archive", b"\x1f\x8b\x08\x00half"])
def test_an_archive_that_holds_something_else_is_never_written_over(
    tmp_path: Path, old: bytes
) -> None:
    run = tree(tmp_path)
    other = tmp_path / INTO / "2026-01-01-01.tar.gz"
    other.write_bytes(old)
    before = facts(run)
    made = DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT)
    assert made.archive.name == "2026-01-01-01.2.tar.gz"
    assert other.read_bytes() == old
    assert unpacked(tmp_path, made.archive.name) == before


def test_a_folder_that_changes_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tree(tmp_path)

    def late(fd: int) -> None:
        os.fsync(fd)
        (run / "late.md").write_text("written while the archive was made")

    monkeypatch.setattr(tars, "sync", late)
    with pytest.raises(Changing):
        DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT)
    assert (run / "late.md").exists()
    assert (run / "nodes" / "n" / "log.jsonl").exists()
    assert os.listdir(tmp_path / INTO) == []


def test_a_shutdown_breaks_it_off_and_loses_nothing(tmp_path: Path) -> None:
    run = tree(tmp_path)
    before = facts(run)
    attic = DiskAttic(Beneath(str(tmp_path)))
    attic.stop()
    with pytest.raises(Changing):
        attic.put_away(RUN, INTO, AT)
    assert facts(run) == before
    assert DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT).before > 3_000_000


def test_what_was_put_away_and_not_yet_removed_is_taken_away(tmp_path: Path) -> None:
    run = tree(tmp_path)
    away = run.with_name(".2026-01-01-01.put-away")
    os.rename(run, away)
    DiskAttic(Beneath(str(tmp_path))).clear(RUN.with_name(away.name))
    assert not away.exists()


OLD = PurePosixPath("a/conversations/0001.jsonl")


def session(root: Path) -> Path:
    for folder in (OLD.parent, INTO):
        (root / folder).mkdir(parents=True)
    (root / OLD).write_bytes(b"{}\n" * 100_000)
    return root / OLD


def test_a_file_that_was_replaced_meanwhile_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = session(tmp_path)
    new = old.with_name("new")
    new.write_bytes(b"mended by hand\n")

    def late(fd: int) -> None:
        os.fsync(fd)
        if new.exists():
            os.replace(new, old)

    monkeypatch.setattr(packing, "sync", late)
    with pytest.raises(Changing):
        DiskAttic(Beneath(str(tmp_path))).put_file_away(OLD, INTO, AT)
    assert old.read_bytes() == b"mended by hand\n"


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_is_not_filled_with_what_was_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    run, old = tree(tmp_path / "1"), session(tmp_path / "2")
    span, archive = (0, old.stat().st_size), INTO / "2026-01-01.jsonl.gz"

    def refuses(*args: object, **more: object) -> object:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    one, two = (DiskAttic(Beneath(str(tmp_path / each))) for each in "12")
    with monkeypatch.context() as patched:
        patched.setattr(os, call, refuses)
        if call == "fsync":  # Python writes a tar archive by calls of its own
            with pytest.raises(Full):
                one.put_away(RUN, INTO, AT)
        with pytest.raises(Full):
            two.put_file_away(OLD, INTO, AT)
        with pytest.raises(Full):
            two.copy_away(OLD, span, archive, AT)
    assert os.listdir(tmp_path / "1" / INTO) == os.listdir(tmp_path / "2" / INTO) == []
    assert run.exists()
    assert old.exists()


def test_who_could_read_a_file_can_read_its_archive(tmp_path: Path) -> None:
    old, attic = session(tmp_path), DiskAttic(Beneath(str(tmp_path)))
    os.chmod(old, 0o640)
    archive = INTO / "2026-01-01.jsonl.gz"
    attic.copy_away(OLD, (0, 3), archive, AT)
    made = attic.put_file_away(OLD, INTO, AT).archive
    for path in (archive, made):
        assert (tmp_path / path).stat().st_mode & 0o777 == 0o640


def test_a_runs_archive_is_its_owners_alone(tmp_path: Path) -> None:
    run = tree(tmp_path)
    if os.getuid() == 0:
        os.chown(run, 12345, 12345)
    owner = run.stat().st_uid
    made = DiskAttic(Beneath(str(tmp_path))).put_away(RUN, INTO, AT).archive
    assert (tmp_path / made).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / made).stat().st_uid == owner
