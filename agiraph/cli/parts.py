"""The parts of which `agiraph show` makes its pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.read import Files

MOST_FILES = 200
MOST_TEXT = 4000


def below(files: Files, folder: PurePosixPath) -> Iterator[str]:
    """The files below a folder as paths of the tree, a bounded number of them."""
    todo = [folder]
    told = 0
    while todo:
        here = todo.pop(0)
        for each in files.entries(here):
            if each.kind is EntryKind.FOLDER:
                todo.append(here / each.name)
                continue
            told += 1
            if told > MOST_FILES:
                return
            yield str(here / each.name)


def json_of(text: str) -> object:
    """What a text says as JSON; nothing where it is none."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {}


def facts(shown: dict[str, object], keys: tuple[str, ...]) -> None:
    """Keys and what they say, those that say something."""
    for key in keys:
        value = shown.get(key)
        if value in (None, ""):
            continue
        words = render.moment(str(value)) if key == "since" else str(value)
        head = f"{key.replace('_', ' ')}:"
        render.data(f"{head:<13}{render.short(words, 2000)}")


def text(head: str, text: object, where: object) -> None:
    """A text with its heading, and where it stands; nothing for an empty one."""
    if not text:
        return
    words = render.clean(str(text)).strip()
    if len(words) > MOST_TEXT:
        words = f"{words[:MOST_TEXT]}\n… the rest is in the file"
    render.data(f"\n{head} ({where}):\n")
    render.data("\n".join(f"  {line}".rstrip() for line in words.splitlines()))


def listed(head: str, lines: object) -> None:
    """A list with its heading; nothing for an empty one."""
    if isinstance(lines, list) and lines:
        render.data(f"\n{head}:")
        for line in lines:
            render.data(f"  {render.short_line(str(line), 300)}")
