"""A text too large to be shown whole: its head, its tail, and how to read on."""

from __future__ import annotations


def excerpt(text: str, *, kept: str, most: int) -> str:
    """The text itself while it is small, else its ends with a note between them.

    Args:
        text: what there is to show.
        kept: the path under which its reader finds the whole.
        most: characters that may be shown.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    head = text[: most - tail]
    cut = head.rfind("\n") + 1
    head = head[:cut] if cut > len(head) // 2 else head
    line = head.count("\n") + 1
    return (
        f"{head.rstrip()}\n[… cut here: {len(text):,} characters in all, kept in "
        f"{kept}; read on with read_file, offset={line} …]\n{text[-tail:]}"
    )


def ends(text: str, most: int) -> str:
    """The text itself while it is short, else its head and tail with a sign between."""
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = len(text) - most
    return (
        f"{text[: most - tail].rstrip()}\n[… {left_out:,} characters …]\n{text[-tail:]}"
    )
