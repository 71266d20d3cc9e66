"""The words on a bad file: a page beside it, and one line for the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePosixPath

    from agiraph.core.codec.report import Problem

_MOST = 50


def error_page(path: PurePosixPath, problems: Sequence[Problem], in_force: str) -> str:
    """The text of `GOAL.md.error.md`.

    Args:
        path: the bad file.
        problems: everything that is wrong with it.
        in_force: a sentence: what counts meanwhile.
    """
    shown = "\n".join(_item(problem) for problem in problems[:_MOST])
    more = len(problems) - _MOST
    rest = f"\n- and {more} more" if more > 0 else ""
    return (
        f"# {path.name} was not accepted\n\n{shown}{rest}\n\n"
        f"In force meanwhile: {in_force.rstrip('.')}.\n\n"
        f"Mend {path.name} and save it; this page then goes away by itself.\n"
    )


def log_words(path: PurePosixPath, problems: Sequence[Problem]) -> str:
    """The first problem on one line, and how many more there are."""
    if not problems:
        return f"{path}: not accepted"
    first = problems[0]
    key = f"{first.key}: " if first.key else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    allowed = f", allowed: {first.allowed}" if first.allowed else ""
    words = f"{key}{'found ' if allowed else ''}{first.found}{allowed}{more}"
    place = f":{first.line}:{first.column}" if first.line else ""
    return f"{path}{place}: {words}"


def _item(problem: Problem) -> str:
    key = f", `{problem.key}`" if problem.key else ""
    place = f"Line {problem.line}, column {problem.column}{key}"
    if not problem.allowed:  # the words say it all
        return f"- {f'{place}: ' if problem.line else ''}{problem.found}"
    return f"- {place}\n  - found: {problem.found}\n  - allowed: {problem.allowed}"
