"""What lies in a folder, found by listing it and the folders in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.core.offline.talk import Talk
    from agiraph.model.json import JsonObject

_FILE = re.compile(r"^\s+(.+)  ([\d,.]+) bytes$")
_FOLDER = re.compile(r"^\s+(.+)/$")
_OTHER = re.compile(r"^\s+(.+)  \((.+)\)$")
_NOT_SHOWN = re.compile(r"^\[(.+)\]$")
_MOST_FOLDERS = 100
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Found:
    """A file and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Walk:
    """How far a walk through a folder has come.

    Attributes:
        files: in the order of their paths.
        remarks: what was not looked into, and why.
        calls: the listings that are still to be made; none when it is done.
    """

    files: tuple[Found, ...]
    remarks: tuple[str, ...]
    calls: tuple[tuple[str, JsonObject], ...]


def walk(talk: Talk, root: str) -> Walk:
    """A folder and all below it, as far as the conversation has listed it."""
    open_folders, seen = [root], 0
    files: list[Found] = []
    remarks: list[str] = []
    calls: list[tuple[str, JsonObject]] = []
    while open_folders:
        folder = open_folders.pop(0)
        seen += 1
        if seen > _MOST_FOLDERS or folder.count("/") - root.count("/") > _DEEPEST:
            remarks.append(f"`{folder}/` was not opened: too many folders")
            continue
        done = talk.call("list_files", path=folder)
        if done is None:
            calls.append(("list_files", {"path": folder}))
        elif done.error:
            remarks.append(
                f"`{folder}/` could not be listed: {first_line(done.result)}"
            )
        else:
            inside = _entries(folder, done.result)
            files.extend(inside.files)
            remarks.extend(inside.remarks)
            open_folders.extend(inside.folders)
    files.sort(key=lambda found: found.path)
    return Walk(tuple(files), tuple(remarks), tuple(calls))


def first_line(text: str) -> str:
    """The first line of a text, for a remark."""
    return text.strip().partition("\n")[0]


@dataclass(frozen=True, slots=True)
class _Inside:
    files: list[Found]
    folders: list[str]
    remarks: list[str]


def _entries(folder: str, shown: str) -> _Inside:
    inside = _Inside([], [], [])
    for line in shown.split("\n"):
        file, sub = _FILE.match(line), _FOLDER.match(line)
        other, more = _OTHER.match(line), _NOT_SHOWN.match(line)
        name = next((m.group(1) for m in (file, sub, other) if m), "")
        if name.startswith("."):
            continue
        if file:
            size = int(re.sub(r"\D", "", file.group(2)))
            inside.files.append(Found(f"{folder}/{name}", size))
        elif sub:
            inside.folders.append(f"{folder}/{name}")
        elif other:
            inside.remarks.append(f"`{folder}/{name}`: {other.group(2)}")
        elif more:
            inside.remarks.append(f"`{folder}/`: {more.group(1)}")
    return inside
