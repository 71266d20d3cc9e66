"""Names: those that people and models give, and the ids made from them."""

from __future__ import annotations

import unicodedata

COORDINATOR = "coordinator"
AGIRAPH = "agiraph"  # who speaks where the daemon itself does
HUMAN = "human"
EVERYONE = "*"
LONGEST = 64
_TAKEN = frozenset({HUMAN, COORDINATOR, "all"})
_FOLDERS = frozenset({"inputs", "nodes"})  # a ref's first word: never a made-up id
_SLUG = 40


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
    if name[-1] == " ":
        return "a name may not end with ' '"
    for character in name:
        if not _allowed(character):
            return (
                f"{character!r} may not stand in a name; allowed are letters, "
                "digits, spaces and . _ -"
            )
    if folded(name) in _TAKEN:
        return f"{name!r} is taken; choose another name"
    return None


def question_id(number: int) -> str:
    """A question's id, as files and people write it: `q-007`."""
    return f"q-{number:03d}"


def slug(text: str, taken: frozenset[str] = frozenset()) -> str:
    """A node's id made from its task: lower case, hyphens, `-2` where taken.

    Args:
        text: the task or title that the id should remind of.
        taken: ids in use, in folded form.
    """
    lower = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    base = ""
    for word in "".join(c if _in_word(c) else " " for c in lower).split():
        if base and len(base) + 1 + len(word) > _SLUG:
            break
        base = f"{base}-{word}" if base else word[:_SLUG]
    return free_name(base or "node", taken | _FOLDERS)


def free_name(base: str, taken: frozenset[str]) -> str:
    """The name itself, or with `-2`, `-3` … behind it where it is taken."""
    name, number = base, 1
    while folded(name) in taken or folded(name) in _TAKEN:
        number += 1
        name = f"{base[: LONGEST - len(f'-{number}')]}-{number}"
    return name


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN"


def _allowed(character: str) -> bool:
    return character in " ._-" or _in_word(character)
