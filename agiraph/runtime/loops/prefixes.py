"""The frozen first line that a session would have now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.brief import OWN_PART, system_text
from agiraph.model.agent import Mode
from agiraph.model.conversation import SystemLine
from agiraph.model.server import FOREIGN
from agiraph.model.tool import Who
from agiraph.runtime.loops.briefs import is_small
from agiraph.runtime.loops.chains import chain_of, chosen, loop_of
from agiraph.tools.registry import guidance_for, specs_for

if TYPE_CHECKING:
    from agiraph.model.server import ServerTool
    from agiraph.model.tool import ToolSpec
    from agiraph.model.worker import Identity
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


def for_coordinator(desk: Desk, talk: Conversation) -> SystemLine:
    """The rules, the tools and the soul; what was said before goes on under it."""
    settings = desk.settings
    specs = (
        *specs_for(Who.COORDINATOR, settings.tools),
        *_of_servers(desk, settings.tools),
    )
    content = system_text(
        prompts.words("coordinator"),
        prompts.words("finite" if settings.mode is Mode.FINITE else "infinite"),
        "## Tools",
        _guidance(specs),
        f"{OWN_PART} (SOUL.md)\n\n{desk.soul}" if desk.soul.strip() else "",
    )
    model = chosen(desk, chain_of(desk), loop_of(desk, None))
    return SystemLine(
        ts=desk.world.stamp(),
        session=talk.session + 1,
        model=model,
        content=content,
        tools=specs,
        why=_changes(talk.prefix, model, content),
        carries=bool(talk.lines),
        compacted=talk.prefix.compacted if talk.prefix else 0,
    )


def grounds_of_coordinator(desk: Desk) -> tuple[object, ...]:
    """What `for_coordinator` works with: while it is the same, so is what is frozen."""
    model = chosen(desk, chain_of(desk), loop_of(desk, None))
    return model, desk.settings, desk.soul, desk.servers.tools


def for_worker(
    desk: Desk, talk: Conversation, identity: Identity, node: str, *, single: bool
) -> SystemLine:
    """The rules, the tools and who it is; it carries on a session of the same node.

    Args:
        single: whether the node has one answer and no tools.
    """
    allowed = _allowed(desk, identity)
    specs = (*specs_for(Who.WORKER, allowed), *_of_servers(desk, allowed))
    specs = () if single else specs
    role = f", {identity.role}" if identity.role else ""
    tools = ("## Tools", _guidance(specs)) if specs else ()
    model = chosen(desk, chain_of(desk, identity), loop_of(desk, node))
    content = system_text(
        prompts.words("single" if single else "worker"),
        *tools,
        f"{OWN_PART} (identity.md)\n\nYou are {identity.name}{role}.\n\n"
        f"{identity.text}",
    )
    if single and is_small(desk, model):
        content = system_text(prompts.words("single_small"), identity.text)
    old = talk.prefix if talk.prefix and talk.prefix.node == node else None
    return SystemLine(
        ts=desk.world.stamp(),
        session=talk.session + 1,
        model=model,
        content=content,
        tools=specs,
        node=node,
        why=_changes(old, model, content),
        carries=old is not None,
        compacted=old.compacted if old else 0,
        turns=old.turns if old else 0,
    )


def grounds_of_worker(desk: Desk, identity: Identity, node: str) -> tuple[object, ...]:
    """What `for_worker` works with: while it is the same, so is what is frozen."""
    model = chosen(desk, chain_of(desk, identity), loop_of(desk, node))
    known = desk.world.models  # says what a small model is
    return model, known, desk.settings, identity, desk.servers.tools


def _of_servers(desk: Desk, allowed: tuple[str, ...] | None) -> tuple[ToolSpec, ...]:
    """The tools of servers that a person lets a loop have, by server and name."""
    names = [tool.spec for tool in desk.servers.tools if _may(tool, allowed)]
    return tuple({spec.name: spec for spec in names}.values())


def _may(tool: ServerTool, allowed: tuple[str, ...] | None) -> bool:
    """Whether a list of tools names this one, or its whole server."""
    server = f"{FOREIGN}{tool.server}"
    wanted = (tool.spec.name, server, f"{server}__*")
    return allowed is None or any(each in allowed for each in wanted)


def _guidance(specs: tuple[ToolSpec, ...]) -> str:
    """How to use the tools; one word for all that come from servers."""
    words = guidance_for(spec.name for spec in specs)
    if any(spec.name.startswith(FOREIGN) for spec in specs):
        words += "\n\n" + prompts.words("tool_servers")
    return words


def _allowed(desk: Desk, identity: Identity) -> tuple[str, ...] | None:
    mine, agents = identity.tools, desk.settings.tools
    if mine is None or agents is None:
        return mine if agents is None else agents
    return tuple(tool for tool in mine if tool in agents)


def _changes(old: SystemLine | None, model: str, content: str) -> str:
    """Why a new session opens."""
    if old is None:
        return "start"
    if old.model != model:
        return f"the model changed from {old.model}"
    return (
        "the rules or who it is changed" if old.content != content else "tools changed"
    )
