"""Files that were not accepted, or in which something is odd, as people are told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.model import layout

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.read import Files
    from agiraph.model.layout import Home, RunFolder

_SET = re.compile(r"^[^#\s]", re.M)


@dataclass(frozen=True, slots=True)
class BadFile:
    """A file with an error page beside it; path of the file itself."""

    path: str
    words: str


def of_tree(files: Files) -> Iterator[BadFile]:
    """What is wrong at the root: with agiraph.yaml, and with notifications."""
    yield from _bad_files(files, layout.ROOT)
    yield from _odd_settings(files)
    yield from _failing_channels(files)


def of_agent(files: Files, home: Home, run: RunFolder | None) -> Iterator[BadFile]:
    """The files of an agent, and of one of its runs, that were not accepted."""
    folders = [home.path, home.questions, home.dropbox]
    if run is not None:
        folders += [run.node(name).path for name in files.folders(run.nodes)]
        folders += [run.worker(name).path for name in files.folders(run.workers)]
    for folder in folders:
        yield from _bad_files(files, folder)


def _bad_files(files: Files, folder: PurePosixPath) -> tuple[BadFile, ...]:
    return tuple(
        BadFile(
            path=str(folder / name.removesuffix(layout.ERROR_SUFFIX)),
            words=_first_words(files, folder / name),
        )
        for name in files.files(folder)
        if _beside(name)
    )


def _odd_settings(files: Files) -> Iterator[BadFile]:
    """What is odd in agiraph.yaml, such as a key that nobody knows."""
    text = files.text(layout.SETTINGS)
    if not _SET.search(text):
        return  # every line is a remark, as `agiraph init` makes it
    from agiraph.core.codec import Good, read_tree_settings

    found = read_tree_settings(text)
    if isinstance(found, Good):
        for each in found.remarks:
            yield BadFile(str(layout.SETTINGS), f"line {each.line}: {each.text}")


def _failing_channels(files: Files) -> Iterator[BadFile]:
    """The channels of `notify:` that take nothing now; the daemon keeps the list."""
    import json

    try:
        found = json.loads(files.text(layout.MACHINE / "notify.json") or "[]")
        for each in found:
            words = (
                f"{each['error']}; since {each['since']}, {each['waiting']} waiting, "
                "tried again by itself"
            )
            yield BadFile(f"notify: {each['channel']}", words)
    except (ValueError, TypeError, KeyError):
        return


def _beside(name: str) -> bool:
    return name.endswith(layout.ERROR_SUFFIX)


def _first_words(files: Files, path: PurePosixPath) -> str:
    """The first thing that an error page lists, on one line."""
    told: list[str] = []
    more = 0
    for line in files.page(path)[1].splitlines():
        if told and line.startswith("- "):
            more += 1
        elif not more and line.strip() and not line.startswith("#"):
            told.append(line.strip().removeprefix("- "))
        elif told and not line.strip():
            break
    words = "; ".join(told) or "see its error page"
    return f"{words} (and {more} more)" if more else words
