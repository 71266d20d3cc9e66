"""What a node's spec asks to be read, and under which names the results go."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agiraph.core.codec.report import Rejected
from agiraph.core.codec.spec import read_spec
from agiraph.core.offline.listing import walk
from agiraph.model.names import free_name, slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.core.offline.talk import Talk
    from agiraph.model.json import JsonObject

_MAPPED = re.compile(r"^\s*[-*] `([^`\n]+)` as `([^`\n/]+)\.md`\s*$", re.MULTILINE)
_QUOTED = re.compile(r"`((?:inputs|nodes|run)/[^`\n]+)`")
_BARE = re.compile(
    r"(?<![\w/`.])((?:inputs|nodes)/[^\s`'\"<>|,;()]*[^\s`'\"<>|,;().:!?])"
)
_MISSING = re.compile(r"^\s*[-*] missing: (.+)$", re.MULTILINE)
_GLOB = re.compile(r"[*?\[]")
NODES = "nodes/"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read for a node.

    Attributes:
        paths: files, folders and globs, as the spec names them.
        names: path -> the name under which its digest is to be written.
        missing: what the task says is missing.
        also: the one file that the spec's checks ask for, else "".
    """

    paths: tuple[str, ...]
    names: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    also: str = ""

    @property
    def merges(self) -> bool:
        """Whether results of other nodes are to be brought together."""
        return any(path.startswith(NODES) for path in self.paths)


@dataclass(frozen=True, slots=True)
class Files:
    """The files that a spec's paths lead to; calls: what is still to be listed."""

    paths: tuple[str, ...]
    remarks: tuple[str, ...]
    calls: tuple[tuple[str, JsonObject], ...]


def wanted(spec: str) -> Wanted:
    """What a spec, as its file has it, asks to be read."""
    read = read_spec(spec)
    if isinstance(read, Rejected):
        return _from_words(spec)
    refs = [_whole(path) for _, paths in read.value.refs for path in paths]
    asked = [check.file for check in read.value.accept if check.file.endswith(".md")]
    words = _from_words(read.value.body, also=asked[0] if len(asked) == 1 else "")
    if not refs:
        return words
    mapped = {path for path, _ in words.names}
    named = [path for path in words.paths if path in mapped]
    return replace(words, paths=tuple(dict.fromkeys([*named, *refs])))


def digest_names(
    paths: Iterable[str], given: Sequence[tuple[str, str]] = ()
) -> dict[str, str]:
    """A file name without its ending for each text, none of them twice."""
    names = dict(given)
    taken = {name.casefold() for name in names.values()}
    for path in paths:
        if path not in names:
            names[path] = free_name(f"digest-{short_name(path)}", frozenset(taken))
            taken.add(names[path].casefold())
    return names


def short_name(path: str) -> str:
    """A name made of a path's last part, fit for a file or a node."""
    plain = PurePosixPath(path)
    return slug(plain.stem or plain.name)


def files(talk: Talk, paths: Sequence[str]) -> Files:
    """The files that paths lead to, folders and globs followed."""
    found: list[str] = []
    remarks: list[str] = []
    calls: list[tuple[str, JsonObject]] = []
    for path in paths:
        root = _folder_of(talk, path)
        if root is None:
            found.append(path)
            continue
        walked = walk(talk, root)
        calls.extend(walked.calls)
        remarks.extend(walked.remarks)
        inside = [one.path for one in walked.files]
        found.extend(
            p for p in inside if not _GLOB.search(path) or fnmatchcase(p, path)
        )
    return Files(tuple(dict.fromkeys(found)), tuple(remarks), tuple(calls))


def _folder_of(talk: Talk, path: str) -> str | None:
    """The folder to walk for a path that is no single file; None for a file."""
    if _GLOB.search(path):
        fixed = path[: _GLOB.search(path).start()]  # type: ignore[union-attr]
        return fixed.rpartition("/")[0] or fixed
    if path.endswith("/"):
        return path.rstrip("/")
    read = talk.call("read_file", path=path)
    if read is not None and read.error and "is a folder" in read.result:
        return path
    return None


def _from_words(body: str, *, also: str = "") -> Wanted:
    names = tuple(_MAPPED.findall(body))
    paths = [path for path, _ in names]
    if not paths:
        paths = _QUOTED.findall(body) or _BARE.findall(body)
    return Wanted(
        paths=tuple(dict.fromkeys(paths)),
        names=names,
        missing=tuple(_MISSING.findall(body)),
        also=also,
    )


def _whole(path: str) -> str:
    """A ref's path with the `nodes/` that a spec may leave out."""
    return path if path.startswith((NODES, "inputs/")) else f"{NODES}{path}"
