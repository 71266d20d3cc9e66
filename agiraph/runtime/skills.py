"""The skills that a person gave one agent, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import read_skill
from agiraph.core.codec.report import Rejected
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import AgiraphError
from agiraph.model.layout import SKILLS
from agiraph.model.names import name_problem
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.skill import Skill
    from agiraph.ports import Reader
    from agiraph.runtime.desk import Desk

FILE = "SKILL.md"
MOST = 100


class Skills:
    """What lies in `skills/` of the agent and of the tree; the agent's own goes first.

    Only names and descriptions: the bodies are read when they are wanted.
    """

    def __init__(self, desk: Desk) -> None:
        """None, until `look`."""
        self._desk = desk
        self._mark = ""
        self.known: tuple[Skill, ...] = ()
        self.shared: frozenset[str] = frozenset()

    def look(self) -> None:
        """Read them anew where anything about them has changed."""
        reader, own = self._desk.world.reader, self._desk.home.skills
        mine, theirs = _folders(reader, own), _folders(reader, SKILLS)
        if not (mine or theirs or self.known):
            return
        shared = [name for name in theirs if name not in mine]
        places = {name: own / name for name in mine}
        places |= {name: SKILLS / name for name in shared}
        mark, _ = reader.stand(places.values(), ignoring=frozenset())
        if mark == self._mark:
            return
        self._mark, self.shared = mark, frozenset(shared)
        found = (self._read(name, places[name]) for name in sorted(places)[:MOST])
        self.known = tuple(skill for skill in found if skill is not None)

    def _read(self, name: str, folder: PurePosixPath) -> Skill | None:
        world, path = self._desk.world, folder / FILE
        try:
            data = world.reader.read(path, limit=GOAL_BYTES, within=folder)
            found = read_skill(data.decode(), name)
        except (AgiraphError, UnicodeDecodeError) as fault:
            world.remark(f"{path}: not read: {fault}")
            return None
        if isinstance(found, Rejected):
            first = found.problems[0]
            words = f"{first.key} {first.found}; allowed: {first.allowed}".strip()
            world.remark(f"{path}, line {first.line}: not accepted: {words}")
            return None
        for remark in found.remarks:
            world.remark(f"{path}, line {remark.line}: {remark.text}")
        return found.value

    @property
    def tools(self) -> tuple[str, ...]:
        """What all of them may do without a question."""
        return tuple(tool for skill in self.known for tool in skill.tools)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each, for a brief."""
        return tuple(
            f"`skills/{skill.name}/{FILE}`: {skill.description}" for skill in self.known
        )


def _folders(reader: Reader, path: PurePosixPath) -> list[str]:
    try:
        entries = reader.entries(path)
    except AgiraphError:
        return []
    folders = [each.name for each in entries if each.kind is EntryKind.FOLDER]
    return [name for name in folders if name_problem(name) is None]
