"""Making an agent out of the files of a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.cli.codes import NotFound
from agiraph.cli.names import did_you_mean
from agiraph.cli.write import with_pen
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.ports import Pen

GOAL = "GOAL.md"


def template_files(name: str) -> dict[str, bytes]:
    """The files of a template: path in the agent's home -> bytes; GOAL.md is one.

    Raises:
        NotFound: there is no such template; the message names the nearest.
    """
    from agiraph.tree.templates import names, template

    known = names()
    if name not in known:
        raise NotFound(f"there is no template {name!r}.{did_you_mean(name, known)}")
    return dict(template(name))


def make_agent(root: str, agent: str, texts: Mapping[str, bytes]) -> None:
    """Write an agent's files, GOAL.md last: from then on a daemon works on it."""
    home = Home(agent)

    async def fill(pen: Pen) -> None:
        await pen.make_home(agent)
        for path in sorted(texts, key=lambda each: (each == GOAL, each)):
            await pen.write(home.path / path, texts[path])

    with_pen(root, fill)
