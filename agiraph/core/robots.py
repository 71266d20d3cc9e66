"""Whether a robots.txt lets us fetch a path (RFC 9309)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 500 * 1024
_SAFE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_TOKEN: Final = re.compile(r"[A-Za-z_-]+")


@dataclass(slots=True)
class _Group:
    """Rules for some robots; a rule is its pattern and whether it allows."""

    agents: list[str] = field(default_factory=list)
    rules: list[tuple[str, bool]] = field(default_factory=list)


def may_fetch(robots: str, agent: str, path: str) -> bool:
    """Whether a robot may fetch a path: the longest rule that fits counts.

    Args:
        robots: the text of robots.txt.
        agent: the robot's own name, in lower case.
        path: with its query, as it would be asked for.
    """
    if path == "/robots.txt":
        return True
    groups = list(_groups(robots))
    mine = [each for each in groups if agent in each.agents]
    mine = mine or [each for each in groups if "*" in each.agents]
    wanted = _plain(path)
    fitting = [
        (len(pattern), allows)
        for group in mine
        for pattern, allows in group.rules
        if _fits(pattern, wanted)
    ]
    return max(fitting, default=(0, True))[1]


def _groups(robots: str) -> Iterator[_Group]:
    group = _Group()
    for name, value in _lines(robots):
        if name == "user-agent":
            if group.rules:
                yield group
                group = _Group()
            found = _TOKEN.match(value)
            group.agents.append("*" if value == "*" else _name(found))
        elif name in ("allow", "disallow") and group.agents and value:
            group.rules.append((_plain(value), name == "allow"))
    yield group


def _name(found: re.Match[str] | None) -> str:
    return found.group().lower() if found else ""


def _lines(robots: str) -> Iterator[tuple[str, str]]:
    for line in robots[:LONGEST].removeprefix("\ufeff").splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _plain(path: str) -> str:
    """A path in one way of writing it, so that rules and paths can be compared."""
    return quote(unquote(path, errors="replace"), safe=_SAFE)


def _fits(pattern: str, path: str) -> bool:
    """Whether a rule fits: a beginning, `*` for anything, `$` for the end."""
    ends = pattern.endswith("$")
    first, *pieces = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    at = len(first)
    for number, piece in enumerate(pieces, 1):
        if ends and number == len(pieces):
            return len(path) - at >= len(piece) and path.endswith(piece)
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return not ends or at == len(path)
