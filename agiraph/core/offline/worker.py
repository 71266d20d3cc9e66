"""What the worker does next: read, digest, write, publish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.digest.digest import Digest, digest
from agiraph.core.digest.record import from_json, to_json
from agiraph.core.digest.render import digest_page, reading_time
from agiraph.core.digest.report import report_page
from agiraph.core.digest.stopwords import LANGUAGES
from agiraph.core.offline.listing import first_line
from agiraph.core.offline.material import (
    NODES,
    Wanted,
    digest_names,
    files,
    short_name,
    wanted,
)
from agiraph.core.offline.pages import readout
from agiraph.core.offline.talk import Move

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.pages import Readout
    from agiraph.core.offline.talk import Done, Talk
    from agiraph.model.json import JsonObject

REPORT = "report.md"
NO_MODEL = "No language model was used."
_SPEC = "_spec.md"
_NEEDED = ("read_file", "write_file", "publish")
_EFFECTS = ("write_file", "publish")
_SUMMARY = 480


def worker_move(talk: Talk) -> Move:
    """The next step of a worker on its node."""
    lacking = [tool for tool in _NEEDED if tool not in talk.tools]
    if lacking:
        return Move(f"{NO_MODEL} I cannot work without {', '.join(lacking)}.")
    if talk.succeeded("publish"):
        return Move(_looked_back(talk))
    if talk.last is not None and talk.last.error and talk.last.name in _EFFECTS:
        return _after_refusal(talk, talk.last)
    if talk.succeeded("write_file"):
        return Move(calls=(("publish", {"summary": _summary(talk)}),))
    return _read_and_write(talk)


def _read_and_write(talk: Talk) -> Move:
    """Read on, or write when everything has been read."""
    spec = readout(talk, _SPEC)
    if spec.calls:
        return Move(calls=spec.calls)
    task = wanted(spec.text or talk.brief)
    found = files(talk, task.paths or ("inputs/",))
    if found.calls:
        return Move(calls=found.calls)
    sources = [_source(talk, path) for path in _without_twins(found.paths)]
    calls = tuple(call for source in sources for call in source.read.calls)
    # A folder shows itself as one when it is read, and is listed then.
    calls = calls or files(talk, task.paths).calls
    if calls:
        return Move(calls=calls)
    return Move(calls=_writes(task, sources, found.remarks))


@dataclass(frozen=True, slots=True)
class _Source:
    """A file, and how it was read; record: as a digest's JSON."""

    path: str
    read: Readout
    record: bool = False


def _source(talk: Talk, path: str) -> _Source:
    """A file of the material; for another node's digest the record beside it."""
    if path.startswith(NODES) and path.endswith((".md", ".json")):
        record = readout(talk, path.rpartition(".")[0] + ".json")
        if record.calls or not record.left_out:
            return _Source(path, record, record=True)
    return _Source(path, readout(talk, path))


def _without_twins(paths: Sequence[str]) -> list[str]:
    """Paths without the JSON that stands beside a page."""
    pages = {path.removesuffix(".md") for path in paths if path.endswith(".md")}
    return [
        path
        for path in paths
        if not (path.startswith(NODES) and path.removesuffix(".json") in pages)
    ]


def _digest_of(source: _Source) -> Digest:
    read = source.read
    if source.record:
        try:
            return from_json(read.text)
        except ValueError:
            pass  # no record of ours: it is a text like any other
    name = short_name(source.path)
    if read.left_out:
        return Digest(name, source.path, left_out=read.left_out)
    made = replace(digest(name, source.path, read.text), notes=read.remarks)
    if not made.words:
        return replace(made, left_out="there are no words in it")
    return made


def _writes(
    task: Wanted, sources: Sequence[_Source], remarks: Sequence[str]
) -> tuple[tuple[str, JsonObject], ...]:
    """The files of the result."""
    digests = [_digest_of(source) for source in sources]
    missing = (*task.missing, *remarks)
    written: dict[str, str] = {}
    if task.merges or not digests:
        written[REPORT] = report_page(digests, missing=missing)
    else:
        names = digest_names([one.source for one in digests], task.names)
        for one in digests:
            written[f"{names[one.source]}.md"] = digest_page(one)
            written[f"{names[one.source]}.json"] = to_json(one)
    if task.also and task.also not in written:
        written[task.also] = report_page(digests, missing=missing)
    return tuple(
        ("write_file", {"path": f"scratch/{name}", "content": text})
        for name, text in written.items()
    )


def _summary(talk: Talk) -> str:
    """What was written, for those who build on it."""
    made = _records(talk)
    left = [one for one in made if one.left_out]
    read = [one for one in made if not one.left_out]
    parts = [NO_MODEL]
    if not made:
        names = [
            str(done.arguments.get("path")) for done in talk.calls_of("write_file")
        ]
        parts.append(f"Written by rules: {', '.join(names)}.")
    for one in read:
        terms = ", ".join(term.text for term in one.terms[:3])
        parts.append(
            f"{one.title}: {one.words:,} words, {reading_time(one.words)}; {terms}."
        )
    parts.extend(f"Left out: {one.source} ({one.left_out})." for one in left)
    text = " ".join(parts)
    return text if len(text) <= _SUMMARY else text[: _SUMMARY - 1].rstrip() + "…"


def _records(talk: Talk) -> list[Digest]:
    """The digests that were written, from what was written."""
    found: list[Digest] = []
    for done in talk.calls_of("write_file"):
        path, content = done.arguments.get("path"), done.arguments.get("content")
        if isinstance(content, str) and str(path).endswith(".json"):
            found.append(from_json(content))
    return found


def _after_refusal(talk: Talk, refused: Done) -> Move:
    """A refusal is told once; a reminder after it brings what can be published."""
    words = f"{NO_MODEL} {refused.name} was refused: {first_line(refused.result)}"
    if not talk.fresh or not talk.succeeded("write_file"):
        return Move(words)
    return Move(calls=(("publish", {"summary": words, "partial": True}),))


def _looked_back(talk: Talk) -> str:
    """One line for the worker's memory: what it read, and by which means."""
    read = [one for one in _records(talk) if not one.left_out]
    if not read:
        return "nothing"
    texts = "; ".join(
        f"{one.source} ({LANGUAGES[one.language]}, {one.words:,} words: "
        f"{', '.join(term.text for term in one.terms[:3])})"
        for one in read[:8]
    )
    return f"Digested by rules, without a language model: {texts}."
