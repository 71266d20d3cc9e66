"""Which tools there are, in one frozen order, and whether a call fits its tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from agiraph.core.arguments import broken, checked, nearest
from agiraph.errors import ToolRefused
from agiraph.model.server import FOREIGN
from agiraph.model.tool import Who
from agiraph.prompts import guidance
from agiraph.tools.schemas import (
    communication,
    execution,
    files,
    memory,
    scheduling,
    web,
    work,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolCall, ToolSpec
    from agiraph.tools.schemas.words import Definition

# The order is part of what providers cache of a request: add at the end of a family,
# never sort anew.
_ALL: Final = (
    work.CREATE_WORK_NODE,
    work.ASSIGN_WORKER,
    work.SPAWN_WORKER,
    work.RETIRE_WORKER,
    work.CANCEL_NODE,
    work.CHECK_BOARD,
    work.RECONVENE,
    work.FINISH,
    work.PUBLISH,
    work.CHECKPOINT,
    work.WAIT,
    work.SUGGEST_NEXT,
    communication.SEND_MESSAGE,
    communication.CHECK_MESSAGES,
    communication.ASK_HUMAN,
    files.READ_FILE,
    files.WRITE_FILE,
    files.EDIT_FILE,
    files.LIST_FILES,
    files.READ_REF,
    execution.BASH,
    web.WEB_SEARCH,
    web.WEB_FETCH,
    memory.MEMORY_WRITE,
    memory.MEMORY_READ,
    memory.MEMORY_SEARCH,
    scheduling.SCHEDULE,
    scheduling.LIST_TRIGGERS,
    scheduling.CANCEL_TRIGGER,
)
ORDER: Final = tuple(one.name for one in _ALL)
DEFINITIONS: Final[Mapping[str, Definition]] = {one.name: one for one in _ALL}
# Without these a list of allowed tools would leave a loop no way to end its work.
_ENDINGS: Final = frozenset({"publish", "finish", "checkpoint"})


@lru_cache(maxsize=64)  # asked before every turn
def specs_for(who: Who, allowed: tuple[str, ...] | None) -> tuple[ToolSpec, ...]:
    """The tools of a coordinator or a worker, in the frozen order.

    Args:
        who: COORDINATOR or WORKER.
        allowed: names that a person gave; None is all, an empty list is none. The
            tools that end one's work go with any list that is not empty.
    """
    if allowed is not None and not allowed:
        return ()
    return tuple(
        one.spec
        for one in _ALL
        if one.who in (Who.ALL, who)
        and (allowed is None or one.name in allowed or one.name in _ENDINGS)
    )


def guidance_for(names: Iterable[str]) -> str:
    """When and how to use these tools, in the frozen order, for the system prompt."""
    return _guidance(frozenset(names))


@lru_cache(maxsize=64)  # asked before every turn
def _guidance(names: frozenset[str]) -> str:
    return guidance(name for name in ORDER if name in names)


def spec_named(name: str, specs: Sequence[ToolSpec]) -> ToolSpec:
    """The tool that a model named.

    Raises:
        ToolRefused: there is none of that name; names the nearest.
    """
    for spec in specs:
        if spec.name == name:
            return spec
    names = [spec.name for spec in specs]
    if not names:
        raise ToolRefused(f"There is no tool {name!r}: answer in text.")
    close = nearest(name, names, 3)
    if close:
        raise ToolRefused(f"There is no tool {name!r}. Nearest: {', '.join(close)}.")
    raise ToolRefused(f"There is no tool {name!r}. You have: {', '.join(names)}.")


def check_arguments(spec: ToolSpec, call: ToolCall) -> JsonObject:
    """The arguments of a call, as the tool is to get them.

    Raises:
        ToolRefused: they do not fit; says each fault and what was expected.
    """
    if call.arguments is None:
        raise ToolRefused(f"{spec.name}: {broken(call.broken)}. {_usage(spec)}")
    if spec.name.startswith(FOREIGN):
        return call.arguments  # in a larger language of schemas: its server judges
    result = checked(spec.parameters, call.arguments)
    if result.faults:
        raise ToolRefused(f"{spec.name}: {'; '.join(result.faults)}. {_usage(spec)}")
    if not isinstance(result.value, Mapping):  # a tool's schema is always an object
        raise ToolRefused(f"{spec.name}: the arguments must be an object.")
    return result.value


def _usage(spec: ToolSpec) -> str:
    shape = spec.parameters
    properties, required = shape.get("properties"), shape.get("required")
    if not isinstance(properties, Mapping) or not properties:
        return f"Expected: {spec.name}()."
    must = required if isinstance(required, list) else []
    names = [name if name in must else f"{name}?" for name in properties]
    return f"Expected: {spec.name}({', '.join(names)})."
