"""A strict reader of the part of Mermaid's flowcharts that Agiraph writes.

It takes less than Mermaid does: what it accepts, every renderer accepts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NODE = re.compile(r'  (n\d+)\["([^"]*)"\]')
_EDGE = re.compile(r"  (n\d+) (-->|-\.->) (n\d+)")
_LOOK = re.compile(r"  classDef ([a-z_]+) (.+)")
_STYLE = re.compile(r"(fill|stroke|color):#[0-9a-f]{6}")
_CLASS = re.compile(r"  class (n\d+(?:,n\d+)*) ([a-z_]+)")
_CODE = re.compile(r"#(\d+);")
_TEXT = re.compile(
    r"(?:[^\W_]|[̀-ͯ\u0900-\u0dff]|[ ,.:/'()!?=…-]|#\d+;|<br/>|(?<=[a-z])_(?=[a-z]))*"
)
_RESERVED = {"end", "graph", "subgraph", "style", "click", "default", "class"}


@dataclass
class Picture:
    """What a flowchart shows; labels are as a reader sees them, in their lines."""

    labels: dict[str, list[str]] = field(default_factory=dict)
    needs: list[tuple[str, str]] = field(default_factory=list)
    parents: list[tuple[str, str]] = field(default_factory=list)
    looks: dict[str, str] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)


def parse(page: str) -> Picture:
    """The one picture of a page.

    Raises:
        ValueError: there is none, or a line is not of the subset.
    """
    blocks = re.findall(r"(?:^|\n)```mermaid\n(.*?)\n```(?:\n|$)", page, re.DOTALL)
    if len(blocks) != 1:
        raise ValueError(f"{len(blocks)} pictures")
    head, *lines = blocks[0].split("\n")
    if head != "flowchart LR":
        raise ValueError(head)
    picture = Picture()
    for line in lines:
        _take(picture, line)
    if set(picture.classes) != set(picture.labels):
        raise ValueError("a node has no class")
    return picture


def _take(picture: Picture, line: str) -> None:
    if match := _NODE.fullmatch(line):
        _label(picture, match[1], match[2])
    elif match := _EDGE.fullmatch(line):
        if not {match[1], match[3]} <= set(picture.labels):
            raise ValueError(f"an edge to nowhere: {line}")
        edges = picture.needs if match[2] == "-->" else picture.parents
        edges.append((match[1], match[3]))
    elif match := _LOOK.fullmatch(line):
        styles = match[2].split(",")
        if match[1] in _RESERVED or not all(map(_STYLE.fullmatch, styles)):
            raise ValueError(line)
        picture.looks[match[1]] = match[2]
    elif match := _CLASS.fullmatch(line):
        if match[2] not in picture.looks:
            raise ValueError(f"a class without a look: {line}")
        picture.classes.update(dict.fromkeys(match[1].split(","), match[2]))
    else:
        raise ValueError(f"not of the subset: {line!r}")


def _label(picture: Picture, key: str, text: str) -> None:
    if key in picture.labels or not _TEXT.fullmatch(text):
        raise ValueError(f"label {key}: {text!r}")
    if re.match(r"(\d*[-.)]) ", text):
        raise ValueError(f"a label that is read as a list: {text!r}")
    parts = text.split("<br/>")
    picture.labels[key] = [_CODE.sub(lambda m: chr(int(m[1])), part) for part in parts]
