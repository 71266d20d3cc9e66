"""What a skill allows beforehand, by its `allowed-tools`.

The names are those that the skill's writer knows (`Bash(git log:*)`, `WebFetch(domain:
example.org)`, `Write`, `mcp__server__tool`). They count where the person wants to be
asked, never where something is denied. A bare `Bash` would allow every command: for
that a person is still asked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_RULE: Final = re.compile(r"([^(]+)(?:\((.*)\))?")
# What could join a second command to the first.
_JOINS: Final = re.compile(r"[;&|<>$`\n\r(){}\\]")
_WRITES: Final = frozenset({"Write", "Edit", "MultiEdit", "write_file", "edit_file"})


def allows(tools: Iterable[str], kind: str, subject: str) -> bool:
    """Whether one of the words of `allowed-tools` covers a call.

    Args:
        tools: of all skills that a person gave.
        kind, subject: of the approval: `bash` and a command, `web` and a host …
    """
    return any(_allows(tool, kind, subject) for tool in tools)


def _allows(tool: str, kind: str, subject: str) -> bool:
    found = _RULE.fullmatch(tool.strip())
    if found is None:
        return False
    name, what = found[1].strip(), (found[2] or "").strip()
    match kind:
        case "bash":
            return name in ("Bash", "bash") and _begins(what, subject)
        case "web" if subject == "search":
            return name in ("WebSearch", "web_search")
        case "web":
            return _fetches(name, what, subject)
        case "write":
            return name in _WRITES and not what
        case "mcp":
            server, _, its_tool = subject.partition("/")
            return name in (f"mcp__{server}", f"mcp__{server}__{its_tool}")
        case _:
            return False


def _begins(what: str, command: str) -> bool:
    """Whether a command is one that `git log:*` or `git log` names, and no more."""
    if not what or what == "*" or _JOINS.search(command):
        return False
    start = what.removesuffix("*").removesuffix(":").rstrip()
    if not start:
        return False
    if not what.endswith("*"):
        return command.strip() == what
    return command.strip() == start or command.strip().startswith(f"{start} ")


def _fetches(name: str, what: str, host: str) -> bool:
    if name not in ("WebFetch", "web_fetch"):
        return False
    return not what or what.removeprefix("domain:").strip() == host
