"""The words that models read, kept as Markdown files beside this one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from agiraph.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def words(name: str) -> str:
    """The text of one part as it stands, without the line break at its end.

    Args:
        name: the file without `.md`, e.g. `worker` or `guidance/bash`.

    Raises:
        OurError: there is no such part.
    """
    source = files(__name__).joinpath(f"{name}.md")
    try:
        return source.read_text(encoding="utf-8").strip()
    except FileNotFoundError as missing:
        raise OurError(f"there is no prompt {name!r} in {__name__}") from missing


def fill(name: str, **values: object) -> str:
    """The text of one part with each `$name` in it replaced by its value.

    Raises:
        OurError: the part has a place without a value, or a value has no place.
    """
    template = Template(words(name))
    places = set(template.get_identifiers())
    if places != values.keys():
        raise OurError(
            f"the prompt {name!r} has the places {sorted(places)} "
            f"and was given {sorted(values)}"
        )
    return template.substitute(values)


def guidance(tools: Iterable[str]) -> str:
    """How to use these tools well, each under its name, in the order given.

    Raises:
        OurError: a tool has no guidance.
    """
    return "\n\n".join(f"### {tool}\n\n{words(f'guidance/{tool}')}" for tool in tools)
