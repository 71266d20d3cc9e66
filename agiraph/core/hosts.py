"""Which hosts and tools an agent may use, by the patterns that a person gave."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.model.agent import Permission

if TYPE_CHECKING:
    from agiraph.model.agent import Patterns, Permissions

# `*`, `example.org`, `*.example.org`; a `*` anywhere else would promise too much.
_PATTERN: Final = re.compile(r"\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9a-f:]*)?")
# The stricter first: it wins where two patterns are equally exact.
_ORDER: Final = (Permission.DENY, Permission.ASK, Permission.ALLOW)


def is_pattern(text: str) -> bool:
    """Whether a text is a pattern of hosts."""
    return _PATTERN.fullmatch(text) is not None


def permission_for(host: str, permissions: Permissions) -> Permission:
    """What a person says of a host: the most exact pattern counts.

    Args:
        host: as `WebAddress.host` has it.
        permissions: in force. A host that no pattern fits is denied where some are
            allowed by name, else it is as `web` says.
    """
    return most_exact(host, permissions.hosts, permissions.web)


def most_exact(name: str, rules: Patterns, otherwise: Permission) -> Permission:
    """What the most exact pattern says of a name.

    Args:
        name: a host, or a tool as `server/tool`.
        rules: patterns; a name that none fits is denied where some are allowed.
        otherwise: for a name that none fits, where none is allowed.
    """
    lists = {
        Permission.DENY: rules.deny,
        Permission.ASK: rules.ask,
        Permission.ALLOW: rules.allow,
    }
    best, found = 0, None
    for permission in _ORDER:
        for pattern in lists[permission]:
            exact = _exactness(pattern, name)
            if exact > best:
                best, found = exact, permission
    if found is not None:
        return found
    return Permission.DENY if rules.allow else otherwise


def _exactness(pattern: str, name: str) -> int:
    """How exactly a pattern fits a name; 0 where it does not."""
    if pattern == "*":
        return 1
    if pattern.startswith("*."):
        return len(pattern) if name.endswith(pattern[1:]) else 0
    if pattern.endswith("*"):
        return len(pattern) if name.startswith(pattern[:-1]) else 0
    whole = name == pattern or name.partition("/")[0] == pattern
    return 1000 + len(pattern) if whole else 0
