"""identity.md: who a worker is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds, subagent
from agiraph.core.codec.fields import Section
from agiraph.core.codec.marked import Group
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Problem, Rejected, Remark
from agiraph.model.names import folded, name_problem
from agiraph.model.worker import AgentMemory, Identity, WorkerType

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place
    from agiraph.model.json import Json, JsonObject


def read_identity(text: str, name: str) -> Good[Identity] | Rejected:
    """Who a worker is, by its identity.md.

    Args:
        text: the whole file.
        name: of the worker's folder, which names the worker.
    """
    findings = Findings.none_yet()
    problem = name_problem(name)
    if problem is not None:
        allowed = f"a folder whose name can stand: {problem}"
        findings.problems.append(Problem(1, 1, "", f"'{name}'", allowed))
    page = read_page(text, findings)
    _other_name(page.settings, name, findings)
    identity = _read(page.settings, name, page.body)
    if findings.problems:
        return findings.rejected()
    return Good(identity, tuple(findings.remarks))


def inner_identity(place: Place) -> Identity | str:
    """A spec's `worker:`: the name of one, or who is to be spawned."""
    if not isinstance(place.value, Group):
        return kinds.name(place)
    keys = Section.at(place)
    name = keys.need("name", kinds.name, "a name for the worker")
    return _read(keys, name or "", "")


def write_identity(identity: Identity) -> str:
    """The text of an identity.md."""
    keys = {key: each for key, each in identity_keys(identity).items() if key != "name"}
    return emit.page(keys, identity.text)


def identity_keys(identity: Identity) -> JsonObject:
    """What an identity states beyond the defaults; its text is not among it."""
    keys: dict[str, Json] = {"name": identity.name, "type": identity.type.value}
    if identity.role:
        keys["role"] = identity.role
    if identity.model:
        keys["model"] = emit.one_or_list(identity.model)
    if identity.command:
        keys["command"] = identity.command
    if identity.tools is not None:
        keys["tools"] = list(identity.tools)
    if identity.agent_memory is not AgentMemory.NONE:
        keys["agent_memory"] = identity.agent_memory.value
    if identity.retired:
        keys["retired"] = True
    return keys


def _read(keys: Section, name: str, text: str) -> Identity:
    chain: tuple[str, ...] = ()
    role = subagent.described(keys)
    identity = Identity(
        name=name,
        role=keys.get("role", kinds.line, role),
        type=keys.get("type", kinds.choice(WorkerType), WorkerType.HARNESSED),
        model=keys.get("model", subagent.models, chain),
        command=keys.get("command", kinds.line, ""),
        tools=keys.get("tools", subagent.tools, None),
        agent_memory=keys.get(
            "agent_memory", kinds.choice(AgentMemory), AgentMemory.NONE
        ),
        retired=keys.get("retired", kinds.flag, default=False),
        text=text,
    )
    _check_command(keys, identity)
    keys.close()
    return identity


def _check_command(keys: Section, identity: Identity) -> None:
    autonomous = identity.type is WorkerType.AUTONOMOUS
    if autonomous and not identity.command:
        keys.need("command", kinds.line, "the command of an autonomous worker")
    if identity.command and not autonomous:
        keys.refuse("type", "type: autonomous, where there is a command")


def _other_name(keys: Section, name: str, findings: Findings) -> None:
    stated = keys.get("name", kinds.line, name)
    if folded(stated) != folded(name):
        text = f"`name` is ignored: the folder names the worker, '{name}'"
        findings.remarks.append(Remark(keys.group.line, text))
