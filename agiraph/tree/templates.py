"""The templates that new agents are made from: their names, words and files.

They lie in `agiraph/templates` where Agiraph was installed from a wheel, and in the
repository's `templates/`, beside the package, where it runs from a checkout.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.errors import OurError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_PACKAGE = "agiraph"
_FOLDER = "templates"
_GOAL = "GOAL.md"


def names() -> tuple[str, ...]:
    """The names of all templates, sorted."""
    return tuple(sorted(folder.name for folder in _folders()))


def described() -> dict[str, str]:
    """Each template's name, and what it is for in a line, from its GOAL.md."""
    goals = {name: template(name)[_GOAL].decode("utf-8") for name in names()}
    return {name: _first_comment(goal) for name, goal in goals.items()}


def template(name: str) -> dict[str, bytes]:
    """The files of a template: the path in an agent's home -> its bytes.

    Raises:
        KeyError: there is no such template.
    """
    for folder in _folders():
        if folder.name == name:
            return dict(sorted(_files(folder, "")))
    raise KeyError(name)


def furnishing() -> dict[str, bytes]:
    """What a new home gets where it has none of its own."""
    soul = template("basic")["SOUL.md"]
    return {"SOUL.md": soul, "MEMORY.md": b"", "_inbox.md": b""}


def _folders() -> Iterator[Traversable]:
    for folder in _home().iterdir():
        if folder.is_dir() and (folder / _GOAL).is_file():
            yield folder


def _home() -> Traversable:
    """The folder that holds the templates."""
    package = files(_PACKAGE)
    installed = package / _FOLDER
    if installed.is_dir():
        return installed
    checkout = Path(str(package)).parent / _FOLDER
    if checkout.is_dir():
        return checkout
    raise OurError(f"the templates are not there: neither {installed} nor {checkout}")


def _files(folder: Traversable, above: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{above}{entry.name}"
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files(entry, f"{path}/")
        else:
            yield path, entry.read_bytes()


def _first_comment(goal: str) -> str:
    """The words of the first comment in the frontmatter, else of the first line."""
    lines = [line.strip() for line in goal.splitlines()]
    said = [line for line in lines if line and line != "---"]
    return said[0].lstrip("# ").strip() if said else ""
