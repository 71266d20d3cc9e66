"""What settings say of a service: its address, and the variable that holds its key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agiraph.core.codec import kinds

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_LIKE = re.compile(r"sk-|[A-Za-z0-9_-]{33,}")


def address(place: Place) -> str:
    """Where a service of the person is reached, without a slash at its end."""
    found = kinds.line(place)
    if not found.startswith(("http://", "https://")) or len(found) < 9:
        raise place.unfit("an address that begins with http:// or https://")
    return found.rstrip("/")


def variable(place: Place) -> str:
    """The name of the variable that holds a key, never the key."""
    found = kinds.line(place)
    allowed = "the name of an environment variable, such as MYLAB_KEY"
    if _KEY_LIKE.match(found) and not found.isupper():
        raise place.unfit(allowed, "what looks like a key itself")
    if not _VARIABLE.fullmatch(found):
        raise place.unfit(allowed)
    return found


def no_key(place: Place) -> str:
    """Refuses a key that stands in the tree itself."""
    raise place.unfit(
        "no key in the tree: api_key_env, the name of a variable", "a key"
    )
