"""The tool box of one loop: the acts on the desk, and the tools of the edges."""

from __future__ import annotations

from collections import ChainMap
from typing import TYPE_CHECKING

from agiraph.model.names import COORDINATOR
from agiraph.runtime.acts import ending, scheduling, talk, waiting, work, workers
from agiraph.runtime.acts.command import CoordinatorsBash
from agiraph.runtime.acts.remember import Remember

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.ports import Tool
    from agiraph.runtime.acts.act import Act, Parker
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk

ACTS: tuple[type[Act], ...] = (
    work.CreateWorkNode,
    work.AssignWorker,
    workers.SpawnWorker,
    workers.RetireWorker,
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
    scheduling.Schedule,
    scheduling.ListTriggers,
    scheduling.CancelTrigger,
)


def toolbox(
    desk: Desk, conversation: Conversation, loop: Parker, edges: Mapping[str, Tool]
) -> Mapping[str, Tool]:
    """Every tool by its name, those of servers as they come.

    Which of them a session offers is the session's affair.
    """
    box: dict[str, Tool] = dict(edges)
    if "memory_write" in box:
        box["memory_write"] = Remember(desk, conversation, box["memory_write"])
    for kind in ACTS:
        act = kind(desk, conversation, loop)
        box[act.name] = act
    if loop.name == COORDINATOR and "bash" in box:
        box["bash"] = CoordinatorsBash(desk, box["bash"])
    return ChainMap(box, desk.servers.box)
