"""The tool box of one loop: the acts on the desk, and the tools of the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from agiraph.runtime.acts import ending, people, talk, waiting, work
from agiraph.runtime.acts.command import CoordinatorsBash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agiraph.model.tool import ToolSpec
    from agiraph.ports import Tool
    from agiraph.runtime.acts.act import Act, Parker
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk

ACTS: tuple[type[Act], ...] = (
    work.CreateWorkNode,
    work.AssignWorker,
    people.SpawnWorker,
    people.RetireWorker,
    work.CancelNode,
    work.CheckBoard,
    ending.Reconvene,
    ending.Finish,
    ending.Publish,
    ending.Checkpoint,
    waiting.Wait,
    work.SuggestNext,
    talk.SendMessage,
    talk.CheckMessages,
    talk.AskHuman,
)


def toolbox(
    desk: Desk, conversation: Conversation, loop: Parker, edges: Mapping[str, Tool]
) -> dict[str, Tool]:
    """Every tool by its name; which of them a session offers is the session's."""
    box: dict[str, Tool] = dict(edges)
    for kind in ACTS:
        act = kind(desk, conversation, loop)
        box[act.name] = act
    if loop.name == COORDINATOR and "bash" in box:
        box["bash"] = CoordinatorsBash(desk, box["bash"])
    return box


def offered(box: Mapping[str, Tool], specs: Iterable[ToolSpec]) -> dict[str, Tool]:
    """The tools that a session's frozen list names."""
    return {spec.name: box[spec.name] for spec in specs if spec.name in box}
