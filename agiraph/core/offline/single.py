"""The one answer where there are no tools: a digest of what stands in the brief."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agiraph.core.codec.report import Rejected
from agiraph.core.codec.spec import read_spec
from agiraph.core.digest.digest import digest
from agiraph.core.digest.render import digest_page
from agiraph.core.digest.report import report_page
from agiraph.core.offline.material import short_name
from agiraph.core.offline.talk import Move

if TYPE_CHECKING:
    from agiraph.core.offline.talk import Talk

# The brief's own headings, as `core.brief` writes them. A text may hold the same ones;
# then it ends there, which is still an honest part of it.
_TASK = re.compile(r"^## Task \(_spec\.md\)\n", re.MULTILINE)
_MATERIAL = re.compile(r"^## What you have from others\n", re.MULTILINE)
_END = re.compile(
    r"^## (?:What you have from others|Your memory \(memory\.md\)|"
    r"Your notebook \(notebook\.md\)|The goal behind it, in short|Where it belongs|"
    r"Who else works)\n",
    re.MULTILINE,
)
_REF = re.compile(r"^### [^\n]*?`([^`\n]+)` \([\d,]+ bytes\)\n", re.MULTILINE)


def single_move(talk: Talk) -> Move:
    """A digest of the refs in the brief, else of the task's own text."""
    texts = material(talk.brief)
    digests = [digest(short_name(path), path, text) for path, text in texts]
    if len(digests) == 1:
        return Move(digest_page(digests[0]))
    return Move(report_page(digests))


def material(brief: str) -> list[tuple[str, str]]:
    """The texts that a brief brings along, each with its path."""
    start = _MATERIAL.search(brief)
    if start:
        part = _until_end(brief[start.end() :])
        heads = list(_REF.finditer(part))
        ends = [head.start() for head in heads[1:]] + [len(part)]
        if heads:
            return [
                (head.group(1), part[head.end() : end].strip())
                for head, end in zip(heads, ends, strict=True)
            ]
    task = _TASK.search(brief)
    text = _until_end(brief[task.end() :]) if task else brief
    read = read_spec(text.strip() + "\n")
    body = text if isinstance(read, Rejected) else read.value.body
    return [("_spec.md", body.strip())]


def _until_end(text: str) -> str:
    end = _END.search(text)
    return text[: end.start()] if end else text
