"""Exact, unique replacement in a text, and words on why a passage was not found."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

from agiraph.errors import ToolRefused

_MOST_LINES: Final = 20_000
_ALIKE: Final = 0.6


def replaced(text: str, old: str, new: str, *, shown: str) -> str:
    """The text with one passage replaced.

    Args:
        shown: the file's name, for the words of a refusal.

    Raises:
        ToolRefused: the passage is not there exactly once; says where it nearly is.
    """
    if not old:
        raise ToolRefused("`old` is empty; to write a whole file use write_file.")
    if old == new:
        raise ToolRefused("`old` and `new` are the same; nothing to change.")
    count = text.count(old)
    if count == 1:
        return text.replace(old, new)
    if count == 0:
        raise ToolRefused(f"`old` does not stand in {shown}. {_near(text, old)}")
    places = ", ".join(str(line) for line in _lines_of(text, old))
    raise ToolRefused(
        f"`old` stands {count} times in {shown} (lines {places}); take in more lines "
        "round it, so that it is the only one."
    )


def _lines_of(text: str, old: str) -> list[int]:
    lines: list[int] = []
    at = text.find(old)
    while at >= 0 and len(lines) < 20:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(old, at + 1)
    return lines


def _near(text: str, old: str) -> str:
    if "\r\n" in text and "\r\n" not in old and "\n" in old:
        return "Its lines end with \\r\\n; write them so in `old` and `new`."
    lines = text.splitlines()[:_MOST_LINES]
    wanted = [line.strip() for line in old.strip().splitlines()]
    same = _same_but_spaces(lines, wanted)
    if same is not None:
        return (
            f"The same words with other spaces stand at line {same + 1}:\n"
            + "\n".join(lines[same : same + min(len(wanted), 5)])
        )
    close = _closest(lines, max(wanted, key=len, default=""))
    if close is None:
        return "Nothing like it is there; read the file again."
    return f"The nearest is line {close + 1}:\n{lines[close][:500]}"


def _same_but_spaces(lines: list[str], wanted: list[str]) -> int | None:
    plain = [" ".join(line.split()) for line in lines]
    target = [" ".join(line.split()) for line in wanted]
    for index in range(len(plain) - len(target) + 1):
        if plain[index : index + len(target)] == target:
            return index
    return None


def _closest(lines: list[str], wanted: str) -> int | None:
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[:500])
    best, where = _ALIKE, None
    for index, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:500])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        ratio = matcher.ratio()
        if ratio > best:
            best, where = ratio, index
    return where
