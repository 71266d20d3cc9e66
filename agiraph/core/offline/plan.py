"""How texts are shared out among nodes, and what each node is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from agiraph.core.offline.listing import first_line
from agiraph.core.offline.material import digest_names, short_name
from agiraph.model.names import free_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.listing import Found

MOST_NODES = 8
REPORT: Final = "report"
# Endings of files that hold no text; what others hold, the worker finds out.
_NO_TEXT_ENDINGS: Final = """
7z aac avi bin bmp bz2 class db dll dmg doc docx dylib epub exe flac gif gz heic ico
iso jar jpeg jpg m4a mkv mov mp3 mp4 npy o odp ods odt ogg otf parquet pdf pickle
png ppt pptx pyc rar so sqlite tar tif tiff ttf wasm wav webm webp woff woff2 xls
xlsx xz zip zst
"""
_NO_TEXT: Final = frozenset(_NO_TEXT_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class Group:
    """The texts of one node.

    Attributes:
        id: what the node is to be called.
        texts: in the order of their paths.
        names: path -> the digest's file name without its ending.
    """

    id: str
    texts: tuple[Found, ...]
    names: tuple[tuple[str, str], ...]

    @property
    def task(self) -> str:
        """What the node's worker is told."""
        lines = "\n".join(f"- `{path}` as `{name}.md`" for path, name in self.names)
        return (
            "Read each of these texts to its end and write a digest of it into "
            "`scratch/`, under the name given behind it:\n\n"
            f"{lines}\n\n"
            "A digest holds: how long the text is; its most central sentences, word "
            "for word; its headings; its most telling terms; its figures, each with "
            "the sentence in which it stands. Add nothing that is not in the text. Of "
            "a file that is no text, say that it was left out. Then publish."
        )

    @property
    def refs(self) -> dict[str, str]:
        """The texts by name."""
        return {_ref(name): path for path, name in self.names}

    def results(self, node: str) -> dict[str, str]:
        """Where the digests will stand, by name."""
        return {
            _ref(name): f"nodes/{node}/published/{name}.md" for _, name in self.names
        }


def sorted_out(files: Sequence[Found]) -> tuple[tuple[Found, ...], tuple[str, ...]]:
    """The files that may be texts, and what is said of the others."""
    texts: list[Found] = []
    left: list[str] = []
    for file in files:
        name = file.path.rpartition("/")[2]
        ending = name.rpartition(".")[2].casefold() if "." in name else ""
        if file.size == 0:
            left.append(f"`{file.path}`: it is empty")
        elif ending in _NO_TEXT:
            left.append(f"`{file.path}`: by its name (.{ending}) it is no text")
        else:
            texts.append(file)
    return tuple(texts), tuple(left)


def groups(texts: Sequence[Found], suffix: str = "") -> tuple[Group, ...]:
    """The texts shared out: one a node, or a few of about equal size.

    Args:
        suffix: behind each node's id, to keep later rounds apart.
    """
    names = digest_names([text.path for text in texts])
    shares = [[text] for text in texts] if len(texts) <= MOST_NODES else _shares(texts)
    taken = {REPORT, "human", "coordinator", "all"}
    made: list[Group] = []
    for at, share in enumerate(shares, start=1):
        base = short_name(share[0].path) if len(share) == 1 else f"texts-{at}"
        node = free_name(base + suffix, frozenset(taken))
        taken.add(node.casefold())
        pairs = tuple((text.path, names[text.path]) for text in share)
        made.append(Group(node, tuple(share), pairs))
    return tuple(made)


def report_task(missing: Sequence[str]) -> str:
    """What the node is told that brings the digests together."""
    task = (
        "Bring the digests in your refs together in `scratch/report.md`: a table that "
        "compares the texts (words, sentences, reading time, most telling terms, "
        "figures), the terms that several texts share, and for each text its central "
        "sentences and figures. Name what was left out. Then publish."
    )
    lines = "\n".join(f"- missing: {first_line(line)}" for line in missing)
    return f"{task}\n\n{lines}" if lines else task


def plan_page(made: Sequence[Group], left: Sequence[str]) -> str:
    """The coordinator's plan, as `_plan.md`."""
    rows = [
        f"| {group.id} | {', '.join(f'`{text.path}`' for text in group.texts)} "
        f"| {sum(text.size for text in group.texts):,} |"
        for group in made
    ]
    total = sum(len(group.texts) for group in made)
    parts = [
        "No language model was used: this plan follows fixed rules.",
        "# Plan",
        (
            f"{total} {'text' if total == 1 else 'texts'} in {len(made)} "
            f"{'node' if len(made) == 1 else 'nodes'}; then `{REPORT}` brings the "
            "digests together."
        ),
        "\n".join(["| node | texts | bytes |", "|---|---|--:|", *rows]),
    ]
    if left:
        parts.append("Left out:\n\n" + "\n".join(f"- {line}" for line in left))
    return "\n\n".join(parts) + "\n"


def _shares(texts: Sequence[Found]) -> list[list[Found]]:
    """The largest text first, each to the share that is smallest so far."""
    shares: list[list[Found]] = [[] for _ in range(MOST_NODES)]
    for text in sorted(texts, key=lambda one: (-one.size, one.path)):
        least = min(shares, key=lambda share: sum(one.size for one in share))
        least.append(text)
    for share in shares:
        share.sort(key=lambda one: one.path)
    return sorted(shares, key=lambda share: share[0].path)


def _ref(name: str) -> str:
    return name.removeprefix("digest-")
