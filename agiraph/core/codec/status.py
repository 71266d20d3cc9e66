"""`_status.md` of a node, a worker and an agent: keys for scripts, words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.model.agent import AgentState
from agiraph.model.node import NodeState, NodeStatus
from agiraph.model.usage import Spend, Usage

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Parse, Place
    from agiraph.model.agent import AgentStatus
    from agiraph.model.json import Json, JsonObject
    from agiraph.model.worker import WorkerStatus

_COUNT = kinds.whole(0)


def write_node_status(status: NodeStatus, *, title: str = "") -> str:
    """A node's page; reading it gives the same status."""
    keys: dict[str, Json] = {
        "status": status.state.value,
        "worker": status.worker,
        "since": status.since,
        "turns": status.turns,
        **_spend_keys(status.spend),
        "waiting_for": status.waiting_for,
        "error": status.error,
        "summary": status.summary,
        "attempt": status.attempt,
        "active_s": status.active_s,
        "shown": status.shown,
        "consumed": dict(status.consumed),
        "published": status.published,
        "partial": status.partial,
        "released": status.released,
    }
    body = _words(title, status.summary, status.waiting_for, status.error)
    return emit.page(_applying(keys, status.spend), body)


def read_node_status(text: str) -> Good[NodeStatus] | Rejected:
    """What a node's page records."""
    findings = Findings.none_yet()
    top = read_page(text, findings).settings
    states = " or ".join(state.value for state in NodeState)
    status = NodeStatus(
        state=top.need("status", kinds.choice(NodeState), states) or NodeState.PENDING,
        since=top.get("since", kinds.text, ""),
        worker=top.get("worker", kinds.text, None),
        attempt=top.get("attempt", _COUNT, 0),
        turns=top.get("turns", _COUNT, 0),
        active_s=top.get("active_s", kinds.number(0), 0.0),
        spend=top.get("spent", _spend(top), Spend()),
        shown=top.get("shown", kinds.text, ""),
        consumed=top.get("consumed", _consumed, ()),
        summary=top.get("summary", kinds.text, ""),
        waiting_for=top.get("waiting_for", kinds.text, ""),
        error=top.get("error", kinds.text, ""),
        partial=top.get("partial", kinds.flag, default=False),
        released=top.get("released", kinds.flag, default=False),
        published=top.get("published", kinds.text, ""),
    )
    return findings.rejected() if findings.problems else Good(status)


def write_worker_status(status: WorkerStatus) -> str:
    """A worker's page."""
    keys: dict[str, Json] = {
        "status": status.state.value,
        "node": status.node,
        "run": status.run,
        "since": status.since,
        "turns": status.spend.turns,
        **_spend_keys(status.spend),
        "waiting_for": status.waiting_for,
        "error": status.error,
    }
    body = _words("", "", status.waiting_for, status.error)
    return emit.page(_applying(keys, status.spend), body)


def write_agent_status(status: AgentStatus) -> str:
    """An agent's page: everything at a glance."""
    keys: dict[str, Json] = {
        "status": status.state.value,
        "run": status.run,
        "stage": status.stage,
        "since": status.since,
        "turns": status.spend.turns,
        **_spend_keys(status.spend),
        "waiting_for": status.waiting_for,
        "error": status.error,
        "model": status.model,
        "fallback": status.fallback,
        "last_message": status.last_message,
        "questions": list(status.questions),
        "nodes": dict(status.nodes),
        "workers": dict(status.workers),
        "due": {name: list(times) for name, times in status.due},
        "remarks": list(status.remarks),
    }
    return emit.page(_applying(keys, status.spend), _agent_words(status))


def read_status(text: str) -> JsonObject:
    """Any status page's keys, as far as they can be read."""
    top = read_page(text, Findings.none_yet()).settings
    return {key: kinds.json(place) for key, place in top.others()}


def _spend_keys(spend: Spend) -> dict[str, Json]:
    return {
        "tokens": spend.usage.total,
        "cost_usd": spend.cost_usd,
        "spent": {
            "turns": spend.turns,
            "input": spend.usage.input,
            "output": spend.usage.output,
            "cache_read": spend.usage.cache_read,
            "cache_write": spend.usage.cache_write,
        },
    }


def _applying(keys: dict[str, Json], spend: Spend) -> JsonObject:
    """The keys that say something; an unknown cost says null."""
    said = {key: value for key, value in keys.items() if value}
    if spend == Spend():
        said.pop("spent")
        return said
    shown = ("tokens", "cost_usd", "spent")
    return {key: value for key, value in keys.items() if key in said or key in shown}


def _spend(top: Section) -> Parse[Spend]:
    cost = top.get("cost_usd", kinds.number(0), None)
    top.place("tokens")

    def read(place: Place) -> Spend:
        keys = Section.at(place)
        usage = Usage(
            keys.get("input", _COUNT, 0),
            keys.get("output", _COUNT, 0),
            keys.get("cache_read", _COUNT, 0),
            keys.get("cache_write", _COUNT, 0),
        )
        return Spend(keys.get("turns", _COUNT, 0), usage, cost)

    return read


def _consumed(place: Place) -> tuple[tuple[str, str], ...]:
    found = [(name, each.read(kinds.text)) for name, each in Section.at(place).others()]
    return tuple((name, each) for name, each in found if each is not None)


def _words(title: str, summary: str, waiting_for: str, error: str) -> str:
    parts = [
        f"# {title}" if title else "",
        f"Waiting for: {waiting_for}" if waiting_for else "",
        f"Error: {error}" if error else "",
        summary,
    ]
    return "\n\n".join(part for part in parts if part)


def _agent_words(status: AgentStatus) -> str:
    ended = status.state is AgentState.COMPLETED and status.run
    facts = [
        ("Result", f"`runs/{status.run}/_output.md`" if ended else ""),
        ("Model", status.model),
        ("Fallback", status.fallback),
        ("Nodes", ", ".join(f"{count} {state}" for state, count in status.nodes)),
        ("Workers", ", ".join(f"{name}: {what}" for name, what in status.workers)),
        ("Last message received", status.last_message),
        ("Permissions", status.permissions),
    ]
    lines = [f"- {name}: {words}" for name, words in facts if words]
    due = [f"- {name}: {', '.join(times)}" for name, times in status.due]
    odd = [f"- {remark}" for remark in status.remarks]
    asked = [f"- {question}" for question in status.questions]
    parts = [
        _words("", "", status.waiting_for, status.error),
        "\n".join(lines),
        "Open questions, to be answered in `_questions/`:\n\n" + "\n".join(asked)
        if asked
        else "",
        "Please look at this:\n\n" + "\n".join(odd) if odd else "",
        f"Spent in this run:\n\n{status.spent}" if status.spent else "",
        "Triggers, and when they are due next:\n\n" + "\n".join(due) if due else "",
    ]
    return "\n\n".join(part for part in parts if part)
