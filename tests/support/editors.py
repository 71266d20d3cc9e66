"""Everything that saves a file in its own way, so that each way is really met."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Writer:
    """One way of saving; `needs` is the program, if it is one."""

    name: str
    save: Callable[[Path, str], None]
    needs: str = ""

    @property
    def missing(self) -> bool:
        return bool(self.needs) and shutil.which(self.needs) is None


def _run(*command: str, said: bytes = b"", where: Path | None = None) -> None:
    subprocess.run(command, input=said, capture_output=True, check=True, cwd=where)


def _in_place(path: Path, text: str) -> None:
    """As VS Code does: truncate, write, flush."""
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    time.sleep(0.02)
    os.write(fd, text.encode())
    os.fdatasync(fd)
    os.close(fd)


def _slowly(path: Path, text: str) -> None:
    """As Obsidian on a busy machine: the file stands empty for a while, held open."""
    fd = os.open(path, os.O_WRONLY | os.O_TRUNC)
    time.sleep(0.3)
    os.write(fd, text.encode())
    os.close(fd)


def _in_two_parts(path: Path, text: str) -> None:
    half = len(text) // 2
    with path.open("w") as file:
        file.write(text[:half])
        file.flush()
        time.sleep(0.3)
        file.write(text[half:])


def _two_renames(path: Path, text: str) -> None:
    """As JetBrains' safe write: the file is away between the two renames."""
    new = path.with_name(path.name + "___jb_tmp___")
    old = path.with_name(path.name + "___jb_old___")
    new.write_text(text)
    path.rename(old)
    time.sleep(0.02)
    new.rename(path)
    old.unlink()


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.tmp")
    new.write_text(text)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(path)


def _append(path: Path, text: str) -> None:
    """`>>`, after `>` has emptied it: what a shell script does."""
    command = 'printf "%s" "$1" > "$0"'
    _run("sh", "-c", command, str(path), text)


def _tee(path: Path, text: str) -> None:
    _run("tee", str(path), said=text.encode())


def _copy(path: Path, text: str) -> None:
    source = path.parent.parent / "prepared"
    source.write_text(text)
    _run("cp", str(source), str(path))


def _move(path: Path, text: str) -> None:
    source = path.parent.parent / "prepared"
    source.write_text(text)
    _run("mv", "-f", str(source), str(path))


def _rsync(path: Path, text: str) -> None:
    source = path.parent.parent / "prepared"
    source.write_text(text)
    _run("rsync", "-I", str(source), str(path))


def _sed(path: Path, text: str) -> None:
    lines = text.rstrip("\n").split("\n")
    program = path.parent.parent / "program.sed"
    body = "\\\n".join(line.replace("\\", "\\\\") for line in lines)
    program.write_text(f"1,$d\n1i\\\n{body}\n".replace("1,$d\n1i", "1i") + "1,$d\n")
    _run("sed", "-i", "-f", str(program), str(path))


def _ed(path: Path, text: str) -> None:
    script = f"1,$d\na\n{text.rstrip()}\n.\nw\nq\n"
    _run("ed", "-s", str(path), said=script.encode())


def _vim(path: Path, text: str) -> None:
    new = path.parent.parent / "vim.txt"
    new.write_text(text)
    orders = ["-c", "%d", "-c", f"r {new}", "-c", "g/^$/d", "-c", "wq"]
    _run("vim", "-Nu", "NONE", "-es", *orders, str(path))


def _emacs(path: Path, text: str) -> None:
    new = path.parent.parent / "emacs.txt"
    new.write_text(text)
    lisp = f'(progn (erase-buffer) (insert-file-contents "{new}") (save-buffer))'
    _run("emacs", "-Q", "--batch", str(path), "--eval", lisp)


def _git(path: Path, text: str) -> None:
    """`git checkout` of another version; the repository lies beside the tree."""
    where = path.parent.parent
    git = ["git", f"--git-dir={where}/repo.git", f"--work-tree={path.parent}"]
    git += ["-c", "user.name=a", "-c", "user.email=a@b"]
    if not (where / "repo.git").exists():
        _run("git", "init", "-q", "--bare", f"{where}/repo.git")
    blob = subprocess.run(
        [*git, "hash-object", "-w", "--stdin"],
        input=text.encode(),
        capture_output=True,
        check=True,
    ).stdout.decode()
    entry = f"100644 {blob.strip()}\t{path.name}\n"
    _run(*git, "update-index", "--index-info", said=entry.encode())
    _run(*git, "checkout-index", "-f", path.name, where=path.parent)


def _nano(path: Path, text: str) -> None:
    """A real nano on a terminal: cut everything, type, save, leave."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execvp("nano", ["nano", "--ignorercfiles", "-t", str(path)])
    _read_for(terminal, 0.4)
    os.write(terminal, b"\x1b\\")  # Alt-\: to the first line
    os.write(terminal, b"\x1bT")  # Alt-T: cut to the end
    _read_for(terminal, 0.1)
    os.write(terminal, text.rstrip("\n").replace("\n", "\r").encode())
    _read_for(terminal, 0.2)
    os.write(terminal, b"\x18")  # Ctrl-X, with -t: save and leave
    _read_for(terminal, 0.4)
    os.close(terminal)
    os.waitpid(pid, 0)


def _read_for(terminal: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                os.read(terminal, 65536)
            except OSError:
                return


WRITERS = (
    Writer("vim", _vim, "vim"),
    Writer("nano", _nano, "nano"),
    Writer("emacs", _emacs, "emacs"),
    Writer("ed", _ed, "ed"),
    Writer("sed -i", _sed, "sed"),
    Writer("git checkout", _git, "git"),
    Writer("rsync", _rsync, "rsync"),
    Writer("cp", _copy),
    Writer("mv", _move),
    Writer("tee", _tee),
    Writer("shell redirect", _append),
    Writer("atomic replace", _replace),
    Writer("two parts", _in_two_parts),
    Writer("like VS Code", _in_place),
    Writer("like Obsidian", _slowly),
    Writer("like JetBrains", _two_renames),
)
