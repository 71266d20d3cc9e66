"""Where each path of a caller leads, to read and to write: the scope table itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from agiraph.errors import ToolRefused
from agiraph.model.layout import SKILLS, Home, NodeFolder, RunFolder
from agiraph.model.names import folded, name_problem

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.worker import AgentMemory

_RUN_NAMES: Final = ("_board.md", "_messages", "_plan.md", "published", "scratch")
_NODE_NAMES: Final = ("_refs.json", "_spec.md", "_status.md", "published")


class Caller(Protocol):
    """What is known of whoever names a path: the part of a seat that counts here."""

    @property
    def agent(self) -> str: ...  # noqa: D102
    @property
    def run(self) -> str | None: ...  # noqa: D102
    @property
    def node(self) -> str | None: ...  # noqa: D102
    @property
    def worker(self) -> str | None: ...  # noqa: D102
    @property
    def shared(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def agent_memory(self) -> AgentMemory: ...  # noqa: D102
    @property
    def shared_skills(self) -> frozenset[str]: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the tree that a caller may go to.

    Attributes:
        path: relative to the root; may hold `..`.
        within: the folder that the path may not leave, links followed.
        shown: the path in the caller's own words.
        names: the only names that a listing shows; None is all.
        spec_of: the node whose `_spec.md` this is, when it is to be written.
        packed: where its archive lies once it was put away; of a folder, where those
            of its files lie.
    """

    path: PurePosixPath
    within: PurePosixPath
    shown: str
    names: tuple[str, ...] | None = None
    spec_of: str | None = None
    packed: PurePosixPath | None = None


Parts: TypeAlias = tuple[str, ...]
Way: TypeAlias = Callable[[Parts, Caller], Place]


class Closed(ToolRefused):
    """A place that is not open to the caller: the reason only."""


# Where things are ---------------------------------------------------------------


def _run(seat: Caller) -> RunFolder:
    if seat.run is None:
        raise ToolRefused(
            "No run is open, so there is no scratch/, run/ or nodes/. The results of "
            "earlier runs are in runs/<run>/published/."
        )
    return Home(seat.agent).run(seat.run)


def _room(seat: Caller) -> NodeFolder | RunFolder:
    run = _run(seat)
    return run if seat.node is None else run.node(seat.node)


def _inside(folder: PurePosixPath, parts: Parts, shown: str) -> Place:
    return Place(folder.joinpath(*parts), folder, "/".join((shown, *parts)))


def _file(path: PurePosixPath, shown: str) -> Place:
    return Place(path, path.parent, shown)


def _alone(parts: Parts) -> None:
    if len(parts) > 1:
        raise Closed(f"{parts[0]} is a file.")


# Ways to read -------------------------------------------------------------------


def own_room(parts: Parts, seat: Caller) -> Place:
    """`scratch/…`, `published/…` and `outputs/…` of one's own."""
    return _inside(_room(seat).path / parts[0], parts[1:], parts[0])


def _own_node_file(parts: Parts, seat: Caller) -> Place:
    """`_spec.md` and `_refs.json` of a worker's node."""
    _alone(parts)
    if seat.node is None:
        raise Closed(f"you have no {parts[0]}; a node's is nodes/<id>/{parts[0]}.")
    return _file(_run(seat).node(seat.node).path / parts[0], parts[0])


def _worker_file(parts: Parts, seat: Caller) -> Place:
    """`identity.md`, `memory.md` and `notebook.md` of a worker."""
    _alone(parts)
    if seat.worker is None:
        raise Closed(f"{parts[0]} is a worker's, and you are the coordinator.")
    return _file(_run(seat).worker(seat.worker).path / parts[0], parts[0])


def _conversations(parts: Parts, seat: Caller) -> Place:
    home = Home(seat.agent)
    if seat.worker is not None:
        folder = _run(seat).worker(seat.worker).conversations
        return _inside(folder, parts[1:], parts[0])
    place = _inside(home.conversations, parts[1:], parts[0])
    match parts[1:]:
        case ():
            return replace(place, packed=home.talks_away)
        case (name,):
            return replace(place, packed=home.talks_away / f"{name}.gz")
        case _:
            return place


def _run_file(parts: Parts, seat: Caller) -> Place:
    """`_plan.md` and `_board.md`."""
    _alone(parts)
    return _file(_run(seat).path / parts[0], parts[0])


def _inputs(parts: Parts, seat: Caller) -> Place:
    return _inside(Home(seat.agent).inputs, parts[1:], parts[0])


def _skills(parts: Parts, seat: Caller) -> Place:
    """`skills/<name>/…`: what people gave this agent, else what they gave all."""
    if len(parts) == 1:
        return _inside(Home(seat.agent).skills, (), parts[0])
    if name_problem(parts[1]) is not None:
        raise Closed(f"{parts[1]!r} is no skill's name.")
    top = SKILLS if parts[1] in seat.shared_skills else Home(seat.agent).skills
    return _inside(top / parts[1], parts[2:], f"skills/{parts[1]}")


def _of_run(parts: Parts, seat: Caller) -> Place:
    """`run/…`: what everyone in the run may read of it."""
    folder = _run(seat).path
    match parts[1:]:
        case ():
            return Place(folder, folder, "run", names=_RUN_NAMES)
        case ("scratch" | "published" | "_messages" as room, *rest):
            return _inside(folder / room, tuple(rest), f"run/{room}")
        case ("_plan.md" | "_board.md" as name,):
            return _file(folder / name, f"run/{name}")
        case _:
            raise Closed(f"run/ has {', '.join(_RUN_NAMES)}.")


def _of_node(parts: Parts, seat: Caller) -> Place:
    """`nodes/…`: what this caller may read of a node."""
    if len(parts) == 1:
        return _inside(_run(seat).nodes, (), "nodes")
    node = _node(parts[1], seat)
    shown = f"nodes/{node.id}"
    match parts[2:]:
        case ():
            names = tuple(n for n in ("scratch", "outputs") if _opens(n, node.id, seat))
            return Place(node.path, node.path, shown, names=(*_NODE_NAMES, *names))
        case ("published", *rest):
            return _inside(node.published, tuple(rest), f"{shown}/published")
        case ("_spec.md" | "_refs.json" | "_status.md" as name,):
            return _file(node.path / name, f"{shown}/{name}")
        case ("scratch" | "outputs" as room, *rest):
            if _opens(room, node.id, seat):
                return _inside(node.path / room, tuple(rest), f"{shown}/{room}")
            raise Closed(f"a node's {room}/ is not open to you; its published/ is.")
        case _:
            raise Closed(f"a node has {', '.join(_NODE_NAMES)} to read.")


def _node(name: str, seat: Caller) -> NodeFolder:
    node = unicodedata.normalize("NFC", name)
    if name_problem(node) is not None:
        raise Closed(f"{name!r} is no node's id.")
    if seat.node is not None and folded(node) == folded(seat.node):
        node = seat.node
    return _run(seat).node(node)


def _opens(room: str, node: str, seat: Caller) -> bool:
    """Whether this caller may read a node's `scratch/` or `outputs/`."""
    if seat.worker is None or node == seat.node:
        return True
    return room == "scratch" and node in seat.shared


def _of_home(parts: Parts, seat: Caller) -> Place:
    """`GOAL.md`, `SOUL.md`, `MEMORY.md`, `memory/…` of the agent."""
    home = Home(seat.agent)
    if seat.worker is not None and not seat.agent_memory.readable:
        raise Closed(f"{parts[0]} is the coordinator's.")
    if parts[0] == "memory":
        return _inside(home.memories, parts[1:], parts[0])
    _alone(parts)
    return _file(home.path / parts[0], parts[0])


def _triggers(parts: Parts, seat: Caller) -> Place:
    _alone(parts)
    if seat.worker is not None:
        raise Closed("triggers.yaml is the coordinator's.")
    return _file(Home(seat.agent).triggers, parts[0])


def _of_runs(parts: Parts, seat: Caller) -> Place:
    """`runs/<run>/_output.md` and `runs/<run>/published/…` for the coordinator."""
    if seat.worker is not None:
        raise Closed("earlier runs are the coordinator's.")
    home = Home(seat.agent)
    if len(parts) == 1:
        return _inside(home.runs, (), "runs")
    if name_problem(parts[1]) is not None:
        raise Closed(f"{parts[1]!r} is no run's name.")
    run, shown = home.run(parts[1]), f"runs/{parts[1]}"
    match parts[2:]:
        case ():
            return Place(run.path, run.path, shown, names=("_output.md", "published"))
        case ("_output.md",):
            return _file(run.output, f"{shown}/_output.md")
        case ("published", *rest):
            return _inside(run.published, tuple(rest), f"{shown}/published")
        case _:
            raise Closed("of a run you may read _output.md and published/.")


# Ways to write ------------------------------------------------------------------


def _no(reason: str) -> Way:
    def way(parts: Parts, seat: Caller) -> Place:
        raise Closed(reason.format(head=parts[0]))

    return way


def _write_plan(parts: Parts, seat: Caller) -> Place:
    if seat.worker is not None:
        raise Closed("the plan is the coordinator's to write.")
    return _run_file(parts, seat)


def _write_run(parts: Parts, seat: Caller) -> Place:
    match parts[1:]:
        case ("_plan.md",) | ("scratch", *_) if seat.worker is None:
            return _of_run(parts, seat)
        case _:
            raise Closed("you may not write there.")


def _write_node(parts: Parts, seat: Caller) -> Place:
    match parts[1:]:
        case (name, "_spec.md"):
            node = _node(name, seat)
            if node.id == seat.node:
                raise Closed("your own spec is not yours to change.")
            return Place(
                node.spec, node.path, f"nodes/{node.id}/_spec.md", spec_of=node.id
            )
        case (name, "scratch", *rest) if _node(name, seat).id == seat.node:
            return own_room(("scratch", *rest), seat)
        case _:
            raise Closed("a node is written by its own worker only.")


READ: Final[Mapping[str, Way]] = {
    "scratch": own_room,
    "published": own_room,
    "outputs": own_room,
    "inputs": _inputs,
    "skills": _skills,
    "_spec.md": _own_node_file,
    "_refs.json": _own_node_file,
    "identity.md": _worker_file,
    "memory.md": _worker_file,
    "notebook.md": _worker_file,
    "conversations": _conversations,
    "_plan.md": _run_file,
    "_board.md": _run_file,
    "run": _of_run,
    "nodes": _of_node,
    "runs": _of_runs,
    "GOAL.md": _of_home,
    "SOUL.md": _of_home,
    "MEMORY.md": _of_home,
    "memory": _of_home,
    "triggers.yaml": _triggers,
}
WRITE: Final[Mapping[str, Way]] = {
    "scratch": own_room,
    "memory.md": _worker_file,
    "notebook.md": _worker_file,
    "_plan.md": _write_plan,
    "run": _write_run,
    "nodes": _write_node,
    "published": _no("published/ appears whole at the end; write into scratch/."),
    "skills": _no("skills/ are a person's; nobody here writes there."),
    "inputs": _no("inputs/ are a person's; nobody here writes there."),
    "outputs": _no("outputs/ and conversations/ are to read."),
    "conversations": _no("outputs/ and conversations/ are to read."),
    "MEMORY.md": _no("the agent's memory is written with memory_write."),
    "memory": _no("the agent's memory is written with memory_write."),
    "triggers.yaml": _no("triggers.yaml is not written as a file."),
    "GOAL.md": _no("{head} is a person's."),
    "SOUL.md": _no("{head} is a person's."),
}
