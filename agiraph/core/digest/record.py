"""A digest as JSON and back, so that digests can be brought together exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.core.digest.digest import Digest, Heading
from agiraph.core.digest.figures import Figure, FigureKind
from agiraph.core.digest.terms import Term

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject

FORMAT = "agiraph digest 1"


def to_json(one: Digest) -> str:
    """A digest as JSON, many short lines, with a line break at its end."""
    value: JsonObject = {
        "format": FORMAT,
        "name": one.name,
        "source": one.source,
        "left_out": one.left_out,
        "notes": list(one.notes),
        "language": one.language,
        "characters": one.characters,
        "words": one.words,
        "sentences": one.sentences,
        "first": one.first,
        "central": list(one.central),
        "headings": [[heading.level, heading.text] for heading in one.headings],
        "terms": [[term.text, term.count] for term in one.terms],
        "figures": [[one.kind.value, one.text, one.sentence] for one in one.figures],
        "vocabulary": [[term.text, term.count] for term in one.vocabulary],
    }
    rows = (f"  {json.dumps(key)}: {_value(item)}" for key, item in value.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def from_json(text: str) -> Digest:
    """The digest that `to_json` wrote.

    Raises:
        ValueError: the text is no such JSON.
    """
    value: Json = json.loads(text)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise ValueError(f"this is not JSON of the form {FORMAT!r}")
    return Digest(
        name=_text(value, "name"),
        source=_text(value, "source"),
        left_out=_text(value, "left_out"),
        notes=tuple(_str(item) for item in _list(value, "notes")),
        language=_text(value, "language"),
        characters=_number(value, "characters"),
        words=_number(value, "words"),
        sentences=_number(value, "sentences"),
        first=_text(value, "first"),
        central=tuple(_str(item) for item in _list(value, "central")),
        headings=tuple(
            Heading(_int(n), _str(t)) for n, t in _rows(value, "headings", 2)
        ),
        terms=tuple(Term(_str(t), _int(n)) for t, n in _rows(value, "terms", 2)),
        figures=tuple(
            Figure(FigureKind(_str(kind)), _str(text), _str(sentence))
            for kind, text, sentence in _rows(value, "figures", 3)
        ),
        vocabulary=tuple(
            Term(_str(t), _int(n)) for t, n in _rows(value, "vocabulary", 2)
        ),
    )


def _value(item: Json) -> str:
    """A value; a list has each of its members on a line of its own."""
    if not isinstance(item, list) or not item:
        return json.dumps(item, ensure_ascii=False)
    members = (f"    {json.dumps(member, ensure_ascii=False)}" for member in item)
    return "[\n" + ",\n".join(members) + "\n  ]"


def _text(value: JsonObject, key: str) -> str:
    return _str(value.get(key))


def _number(value: JsonObject, key: str) -> int:
    return _int(value.get(key))


def _list(value: JsonObject, key: str) -> list[Json]:
    found = value.get(key)
    if not isinstance(found, list):
        raise ValueError(f"{key!r} should be a list")  # noqa: TRY004
    return found


def _rows(value: JsonObject, key: str, width: int) -> list[list[Json]]:
    rows: list[list[Json]] = []
    for row in _list(value, key):
        if not isinstance(row, list) or len(row) != width:
            raise ValueError(f"{key!r} should hold lists of {width}")
        rows.append(row)
    return rows


def _str(value: Json) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} should be a text")  # noqa: TRY004
    return value


def _int(value: Json) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} should be a whole number")  # noqa: TRY004
    return value
