"""Names that people type: found as they are, or the nearest one named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.cli.codes import Misused, NotFound
from agiraph.model.names import folded, name_problem

if TYPE_CHECKING:
    from collections.abc import Iterable


def found(typed: str, names: Iterable[str], *, kind: str, where: str) -> str:
    """The name that was meant: the same, or the same without regard to case.

    Args:
        typed: what the person typed.
        names: those that exist.
        kind: what they are names of, for the message: agent, node, worker.
        where: where they were looked for, for the message.

    Raises:
        NotFound: there is none; the message names the nearest.
    """
    there = list(names)
    if typed in there:
        return typed
    alike = [name for name in there if folded(name) == folded(typed)]
    if len(alike) == 1:
        return alike[0]
    raise NotFound(
        f"there is no {kind} {typed!r} in {where}.{did_you_mean(typed, there)}"
    )


def did_you_mean(typed: str, names: Iterable[str]) -> str:
    """A sentence that names what is nearest; where nothing is near, a few names."""
    from difflib import get_close_matches

    there = sorted(names)
    of_folded = {folded(name): name for name in there}
    near = get_close_matches(folded(typed), list(of_folded), n=2, cutoff=0.6)
    if near:
        return f" Did you mean {' or '.join(repr(of_folded[one]) for one in near)}?"
    if not there:
        return " There are none yet."
    few = ", ".join(there[:8]) + (", …" if len(there) > 8 else "")
    return f" There are: {few}."


def good_new_name(typed: str, taken: Iterable[str], *, kind: str) -> str:
    """A name for something new.

    Raises:
        Misused: it is no good name, or it is taken; the message says why.
    """
    problem = name_problem(typed)
    if problem is not None:
        raise Misused(f"{typed!r} cannot be the name of an {kind}: {problem}.")
    for name in taken:
        if folded(name) == folded(typed):
            raise Misused(f"there is already an {kind} {name!r}; choose another name.")
    return typed
