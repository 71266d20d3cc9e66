"""`_approvals.yaml`: what a person has allowed for always, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.fields import Place, Section
from agiraph.core.codec.marked import Listing, parse
from agiraph.core.codec.page import plain_lines
from agiraph.core.codec.report import Findings, Good, Problem, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable

Approved: TypeAlias = tuple[str, str]
"""A kind of permission, and exactly what of it is allowed."""

HEAD = (
    "# What you have allowed for always. Delete a line to take it back: you are asked "
    "again.\n"
)


def read_approvals(text: str) -> Good[frozenset[Approved]] | Rejected:
    """What is allowed for always; without any line, nothing."""
    findings = Findings.none_yet()
    value = parse(plain_lines(text), findings)
    found: list[Approved | None] = []
    if isinstance(value, Listing):
        top = Place(value, "", findings)
        found = [each.read(_approved) for each in kinds.items(top)]
    elif value is not None and not Place(value, "", findings).empty:
        allowed = "a list: `- {allow: bash, exactly: git push}` for each"
        findings.problems.append(Problem(value.line, 1, "", "no list", allowed))
    if findings.problems:
        return findings.rejected()
    kept = frozenset(each for each in found if each is not None)
    return Good(kept, tuple(findings.remarks))


def _approved(place: Place) -> Approved:
    keys = Section.at(place)
    kind = keys.need("allow", kinds.line, "which permission, such as bash") or ""
    what = keys.need("exactly", kinds.text, "what of it, such as git push") or ""
    keys.get("since", kinds.line, "")
    keys.get("by", kinds.line, "")
    keys.close()
    return kind, what


def with_approvals(text: str, new: Iterable[Approved], *, since: str, by: str) -> str:
    """A good file's text with lines added for what it does not allow yet.

    Args:
        text: as it stands, comments and order are kept.
        since: the day; by: the question that was answered.
    """
    found = read_approvals(text)
    known = found.value if isinstance(found, Good) else frozenset()
    kept = [line for line in plain_lines(text).splitlines() if line.strip() != "[]"]
    lines = [
        "- " + emit.flow({"allow": kind, "exactly": what, "since": since, "by": by})
        for kind, what in dict.fromkeys(new)
        if (kind, what) not in known
    ]
    above = "\n".join(kept).rstrip()
    head = above + "\n" if above else HEAD
    return head + "".join(f"{line}\n" for line in lines)
