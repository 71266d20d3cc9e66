"""`_read.yaml`: which messages the person has read; every view shares it."""

from __future__ import annotations

from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from agiraph.cli.codes import BadTree
from agiraph.cli.write import put
from agiraph.errors import AgiraphError
from agiraph.model.layout import READ, Home

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agiraph.cli.read import Files
    from agiraph.core.codec.outbox import Said

_HEAD = (
    "# Which messages you have read, by agent; `agiraph inbox --read` and "
    "`agiraph chat` keep it. Take a line out to have its messages unread again.\n"
)


def messages(files: Files, agent: str) -> list[Said]:
    """What an agent and its workers said, questions left out; oldest first."""
    from agiraph.core.codec.outbox import read_outbox

    text = files.text(Home(agent).outbox)
    return [each for each in read_outbox(text) if not each.is_question]


def read_marks(files: Files) -> dict[str, frozenset[str]]:
    """The ids of the messages that were read, by agent."""
    found: dict[str, frozenset[str]] = {}
    for agent, ids in files.settings(READ).items():
        if isinstance(ids, list | tuple):
            found[agent] = frozenset(map(str, ids))
    return found


def broken_marks(files: Files) -> str:
    """What is wrong with the file of the marks; empty where nothing is."""
    facts, wrong = files.sound_settings(READ)
    odd = [name for name, ids in facts.items() if not isinstance(ids, list | tuple)]
    if odd and not wrong:
        wrong = f"{odd[0]} has no list of ids"
    return wrong and f"{READ} is not understood ({wrong}) and left as it is"


def mark_read(files: Files, new: Mapping[str, frozenset[str]]) -> None:
    """Note that messages were read; ids that no outbox holds any more are let go.

    Raises:
        BadTree: a person has left something in the file that would be lost.
    """
    from agiraph.core.codec import emit

    if wrong := broken_marks(files):
        raise BadTree(f"{wrong}: mend it, or delete it to begin anew.")

    known = read_marks(files)
    kept = {}
    for agent in sorted({*known, *new}):
        there = [each.id for each in messages(files, agent)]
        mine = known.get(agent, frozenset()) | new.get(agent, frozenset())
        ids = [ident for ident in there if ident in mine]
        if ids:
            kept[agent] = ids
    put(files.root, READ, _head(files.text(READ)) + emit.settings(dict(kept)))


def _head(text: str) -> str:
    """The remarks at the top of the file, which stay as a person left them."""
    remarks = takewhile(
        lambda line: line.startswith("#"), text.splitlines(keepends=True)
    )
    return "".join(remarks) or _HEAD


def mark_shown(files: Files, agent: str, ids: Iterable[str]) -> None:
    """Note what a person was shown, where marks can be written and are in order."""
    known = read_marks(files).get(agent, frozenset())
    new = frozenset(filter(None, ids)) - known
    if new:
        with suppress(AgiraphError):
            mark_read(files, {agent: new})
