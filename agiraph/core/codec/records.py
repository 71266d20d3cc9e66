"""Lines of events.jsonl and usage.jsonl."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agiraph.core.codec.lines import usage_from_json, usage_keys
from agiraph.errors import YourError
from agiraph.model.usage import ModelCall

if TYPE_CHECKING:
    from agiraph.model.event import Event
    from agiraph.model.json import Json, JsonObject


def event_to_json(event: Event, ts: str) -> JsonObject:
    """What events.jsonl says for an event; ts is ISO 8601 with an offset."""
    said: dict[str, Json] = {"ts": ts, "type": event.type.value, "agent": event.agent}
    if event.run is not None:
        said["run"] = event.run
    if event.node is not None:
        said["node"] = event.node
    if event.worker is not None:
        said["worker"] = event.worker
    if event.data:
        said["data"] = event.data
    return said


def usage_line(call: ModelCall) -> JsonObject:
    """What usage.jsonl says for a model call; an unknown cost is null."""
    said: dict[str, Json] = {"ts": call.ts, "model": call.model}
    places: dict[str, Json] = {
        "agent": call.agent or None,
        "run": call.run,
        "stage": call.stage,
        "node": call.node,
        "worker": call.worker,
    }
    said.update({key: value for key, value in places.items() if value is not None})
    said.update(usage_keys(call.usage))
    said["cost_usd"] = call.cost_usd
    if call.cache_miss:
        said["cache_miss"] = call.cache_miss
    return said


def usage_from_line(found: JsonObject) -> ModelCall:
    """The model call that usage.jsonl said.

    Raises:
        YourError: it is no such line; the words say why.
    """
    stage = found.get("stage")
    try:
        usage, cost = usage_from_json(found), _cost(found.get("cost_usd"))
    except (TypeError, OverflowError) as error:
        raise YourError(f"a line of usage.jsonl mistakes {error}") from error
    model = _text(found, "model")
    if model is None:  # such as the first line of a log whose beginning was put away
        raise YourError("a line of usage.jsonl names no model")
    return ModelCall(
        ts=_text(found, "ts") or "",
        model=model,
        usage=usage,
        cost_usd=cost,
        run=_text(found, "run"),
        stage=stage if isinstance(stage, int) else None,
        node=_text(found, "node"),
        worker=_text(found, "worker"),
        cache_miss=_text(found, "cache_miss") or "",
        agent=_text(found, "agent") or "",
    )


def _cost(said: Json) -> float | None:
    """Dollars; None where no price was known."""
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise TypeError("cost_usd")
    if not 0 <= said < math.inf:
        raise TypeError("cost_usd")
    return float(said)


def _text(found: JsonObject, key: str) -> str | None:
    value = found.get(key)
    return value if isinstance(value, str) else None
