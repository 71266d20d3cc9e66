"""Which hosts of the web an agent may go to, by the patterns that a person gave."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.model.agent import Permission

if TYPE_CHECKING:
    from agiraph.model.agent import Permissions

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
    rules = permissions.hosts
    lists = {
        Permission.DENY: rules.deny,
        Permission.ASK: rules.ask,
        Permission.ALLOW: rules.allow,
    }
    best, found = 0, None
    for permission in _ORDER:
        for pattern in lists[permission]:
            exact = _exactness(pattern, host)
            if exact > best:
                best, found = exact, permission
    if found is not None:
        return found
    return Permission.DENY if rules.allow else permissions.web


def _exactness(pattern: str, host: str) -> int:
    """How exactly a pattern fits a host; 0 where it does not."""
    if pattern == "*":
        return 1
    if pattern.startswith("*."):
        return len(pattern) if host.endswith(pattern[1:]) else 0
    return 1000 + len(pattern) if host == pattern else 0
