"""The definitions of the tools that make, hand out and end work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import (
    choice,
    define,
    duration,
    either,
    flag,
    record,
    text,
    texts,
    whole,
)

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

_WORKER: Final = either(
    "Who does it: a worker's name, or an object that describes a new worker. "
    "Default: whoever is free.",
    {"type": "string"},
    record(
        {"name": text("The worker's name.")},
        {
            "role": text("What the worker is, such as analyst."),
            "type": choice(
                "harnessed (default) works with these tools, autonomous is a "
                "command-line agent.",
                "harnessed",
                "autonomous",
            ),
            "model": text("The model as provider/model. Default: the worker model."),
            "command": text("The command-line agent of an autonomous worker."),
        },
    ),
)
_REFS: Final[JsonObject] = {
    "type": "object",
    "description": (
        "What the node is given to read: a name of your choice -> a path, or a list of "
        "paths, below nodes/ or inputs/, such as nvidia/published/findings.md. A file, "
        "a folder or a glob. Each implies a dependency on its node."
    ),
    "additionalProperties": {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}},
        ]
    },
}
_ACCEPT: Final[JsonObject] = {
    "type": "array",
    "description": "Checks at publish; each has either file or run.",
    "items": record(
        optional={
            "file": text("A file that must be there, relative to scratch/."),
            "run": text("A command that must exit with 0, run in a copy of scratch/."),
        }
    ),
}
_CONTRACT: Final[JsonObject] = {
    **record(
        optional={
            "max_turns": whole("Model calls of all nodes of the stage together."),
            "timeout": duration("How long the stage may last."),
            "checkpoint_policy": choice(
                "When the stage counts as met. Default: all_must_complete.",
                "all_must_complete",
                "majority",
                "any",
            ),
        }
    ),
    "description": "When you are woken again. Nothing is stopped by it.",
}

CREATE_WORK_NODE: Final = define(
    "create_work_node",
    "Put a workpiece on the board. Returns its id at once; it starts when what it "
    "depends on is complete and a worker is free.",
    Who.ALL,
    Effect.OWN,
    record(
        {"task": text("What to do and what to deliver, complete in itself.")},
        {
            "id": text("The node's name, unique in the run. Default: from the task."),
            "title": text("A few words for the board."),
            "depends_on": texts("Ids of nodes that must be complete first."),
            "refs": _REFS,
            "worker": _WORKER,
            "max_turns": whole(
                "Model calls at most. 1: a single answer without tools, published as "
                "answer.md."
            ),
            "timeout": duration("Time of work at most."),
            "accept": _ACCEPT,
            "stage": whole("The stage it belongs to. Default: the open one."),
            "share": flag("Whether everyone in the run may read its scratch/."),
            "hold": flag("Whether it waits until it is assigned by hand."),
        },
    ),
)
ASSIGN_WORKER: Final = define(
    "assign_worker",
    "Give a pending, held, checkpointed, failed or stale node to a worker. Turns and "
    "time count anew.",
    Who.COORDINATOR,
    Effect.OWN,
    record(
        {"node_id": text("The node's id."), "worker_id": text("The worker's name.")}
    ),
)
SPAWN_WORKER: Final = define(
    "spawn_worker",
    "Make a worker. A name known from an earlier run brings its memory along.",
    Who.COORDINATOR,
    Effect.OWN,
    record(
        {"name": text("The worker's name.")},
        {
            "role": text("What the worker is, such as analyst."),
            "type": choice(
                "harnessed (default) works with these tools; autonomous is a "
                "command-line agent that works by itself.",
                "harnessed",
                "autonomous",
            ),
            "model": text("The model as provider/model. Default: the worker model."),
            "agent_command": text("The command-line agent of an autonomous worker."),
            "tools": texts("The only tools that it may call. Default: all."),
            "identity": text("Who the worker is and how it works, in words."),
            "memory": text("What its memory.md begins with."),
            "agent_memory": choice(
                "What it may do with the agent's own memory. Default: none.",
                "none",
                "read",
                "write",
            ),
        },
    ),
)
RETIRE_WORKER: Final = define(
    "retire_worker",
    "Give a worker no new work. Its files stay.",
    Who.COORDINATOR,
    Effect.OWN,
    record({"worker_id": text("The worker's name.")}),
)
CANCEL_NODE: Final = define(
    "cancel_node",
    "Stop a node, its children and what they started.",
    Who.COORDINATOR,
    Effect.OWN,
    record({"node_id": text("The node's id."), "reason": text("Why, in a sentence.")}),
)
CHECK_BOARD: Final = define(
    "check_board",
    "Look at the board: nodes, states, workers, stages and what was spent.",
    Who.COORDINATOR,
    Effect.READS,
    record(),
)
RECONVENE: Final = define(
    "reconvene",
    "Close the open stage with an assessment and open the next one; the first call "
    "opens the first stage.",
    Who.COORDINATOR,
    Effect.OWN,
    record(
        {"assessment": text("What the stage brought, and what follows from it.")},
        {"next_stage": text("The next stage's title."), "contract": _CONTRACT},
    ),
)
FINISH: Final = define(
    "finish",
    "The goal is met: write the result and end the run. Refused while nodes are open.",
    Who.COORDINATOR,
    Effect.OWN,
    record(
        {"summary": text("The result, as the person is to read it.")},
        {"artifacts": texts("Paths of the files that make up the result.")},
    ),
)
PUBLISH: Final = define(
    "publish",
    "The node's work is done: scratch/ becomes published/ and the node is complete.",
    Who.WORKER,
    Effect.OWN,
    record(
        {"summary": text("What was done and found, for those who build on it.")},
        {"partial": flag("Publish unfinished work, unchecked and marked so.")},
    ),
)
CHECKPOINT: Final = define(
    "checkpoint",
    "Done for this stage or cycle, not for good; what you know is kept.",
    Who.ALL,
    Effect.OWN,
    record({"summary": text("How things stand and what is left.")}),
)
WAIT: Final = define(
    "wait",
    "Sleep, at no cost, until nodes end or mail comes. Returns the nodes' summaries.",
    Who.ALL,
    Effect.OWN,  # its deadline is recorded, so that a restart does not begin it anew
    record(
        optional={
            "nodes": texts("Ids of nodes to wait for. Default: your own children."),
            "timeout": duration("How long at most."),
        }
    ),
)
SUGGEST_NEXT: Final = define(
    "suggest_next",
    "Suggest follow-up work; the coordinator decides on it.",
    Who.WORKER,
    Effect.OWN,
    record({"suggestion": text("What should be done, and why.")}),
)
