"""Names that people and models give: agents, nodes and workers."""

from __future__ import annotations

import re
import unicodedata

COORDINATOR = "coordinator"
HUMAN = "human"
EVERYONE = "*"
LONGEST = 64
_TAKEN = frozenset({HUMAN, COORDINATOR, "all"})
_NOT_SLUG = re.compile(r"[^\w]+", re.UNICODE)


def folded(name: str) -> str:
    """The form in which two names are compared: NFC, without regard to case."""
    return unicodedata.normalize("NFC", name).casefold()


def name_problem(name: str) -> str | None:
    """What is wrong with a name for an agent, node or worker; None when nothing is."""
    if not name:
        return "a name may not be empty"
    if len(name) > LONGEST:
        return f"a name may have {LONGEST} characters at most; this has {len(name)}"
    if unicodedata.normalize("NFC", name) != name:
        return "a name must be in Unicode's composed form (NFC)"
    if name[0] in "._ ":
        return f"a name may not begin with {name[0]!r}"
    if name[-1] in ". ":
        return f"a name may not end with {name[-1]!r}"
    for character in name:
        if not _allowed(character):
            return (
                f"{character!r} may not stand in a name; allowed are letters, "
                "digits, spaces and . _ -"
            )
    if folded(name) in _TAKEN:
        return f"{name!r} is taken; choose another name"
    return None


def slug(text: str, taken: frozenset[str] = frozenset()) -> str:
    """A node's id made from its task: lower case, hyphens, `-2` where taken.

    Args:
        text: the task or title that the id should remind of.
        taken: ids in use, in folded form.
    """
    plain = _NOT_SLUG.sub("-", unicodedata.normalize("NFC", text).lower())
    words = [word for word in plain.replace("_", "-").split("-") if word]
    base = ""
    for word in words:
        if base and len(base) + 1 + len(word) > 40:
            break
        base = f"{base}-{word}" if base else word[:40]
    return free_name(base or "node", taken)


def free_name(base: str, taken: frozenset[str]) -> str:
    """The name itself, or with `-2`, `-3` … behind it where it is taken."""
    if folded(base) not in taken and folded(base) not in _TAKEN:
        return base
    number = 2
    while folded(f"{base}-{number}") in taken:
        number += 1
    return f"{base}-{number}"


def _allowed(character: str) -> bool:
    return character in " ._-" or unicodedata.category(character)[0] in "LMN"
