"""What must be true of the records of every agent, whatever it did."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from tests.support.daemon import until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.daemon import Tree
    from tests.support.model_server import ModelServer

LOST = 4  # events of tools that a kill in the middle of a turn may cost
_ENDS = ("completed", "failed", "cancelled", "checkpointed")
_AT_WORK = ("waiting", "held", *_ENDS)
# After an event of a node, which may come next; "" is the beginning. Waiting twice is
# waiting on after a restart.
NODE_MAY: dict[str, tuple[str, ...]] = {
    "": ("created",),
    "created": ("assigned", "cancelled"),
    "assigned": ("started", "assigned", "cancelled"),
    "started": _AT_WORK,
    "waiting": ("waiting", "resumed", "cancelled", "failed"),
    "held": ("resumed", "cancelled", "failed"),
    "resumed": _AT_WORK,
    "completed": ("stale", "assigned"),
    "failed": ("assigned", "cancelled"),
    "cancelled": ("assigned",),
    "checkpointed": ("assigned", "cancelled"),
    "stale": ("stale", "assigned"),
}
# Busy twice is busy again after a restart.
WORKER_MAY: dict[str, tuple[str, ...]] = {
    "": ("busy",),
    "busy": ("busy", "waiting", "idle"),
    "waiting": ("waiting", "busy", "idle"),
    "idle": ("busy",),
}
_WORKER_TURNS = ("worker.busy", "worker.waiting", "worker.idle")
_AGENT_ENDS = ("completed", "failed", "stopped")
_SHOWN = {
    "created": ("pending",),
    "assigned": ("assigned",),
    "started": ("running",),
    "resumed": ("running",),
    "waiting": ("waiting", "waiting_for_human"),
}


def check(
    tree: Tree,
    agent: str,
    server: ModelServer | None = None,
    *,
    model: str = "",
    unanswered: int = 0,
    restarted: bool = False,
) -> None:
    """Hold every record of an agent against the others.

    Args:
        server: what its models were; not given, usage is not looked at.
        model: whose requests are this agent's; empty is all of the server's.
        unanswered: how many requests had no answer, by the test's own will.
        restarted: whether the daemon was, so that a call may be told of once more, or
            not at all.

    Events: each node's in the one order that makes sense, its last one what its
    status says; calls and results in pairs. Conversations: they parse, each call has
    its one result. Each node that was started has its trace. Each answer of the
    server is one line of usage, and nothing was refused.
    """
    events = at_rest(tree, agent)
    check_agent(events, tree.state(agent))
    check_nodes(tree, agent, events)
    check_workers(tree, agent, events)
    check_pairs(events, restarted=restarted)
    for log in [f"{agent}/conversation.jsonl", *_conversations(tree, agent)]:
        if tree.there(log):
            check_conversation(tree.lines(log), log)
    if server is not None:
        assert server.refusals == []
        asked = [each for each in server.requests if model in ("", each.model)]
        paid = tree.lines(f"{agent}/usage.jsonl")
        assert len(paid) == len(asked) - unanswered


def at_rest(tree: Tree, agent: str) -> list[dict[str, Any]]:
    """The events, once no worker looks back at its node any more."""

    def resting() -> list[dict[str, Any]] | None:
        events = tree.events(agent)
        last = {e["worker"]: e["type"] for e in events if e["type"] in _WORKER_TURNS}
        ended = tree.state(agent) in _AGENT_ENDS
        return None if ended and set(last.values()) - {"worker.idle"} else events

    return until(resting, f"the workers of {agent} are idle")


def _conversations(tree: Tree, agent: str) -> list[str]:
    found = tree.root.glob(f"{agent}/runs/*/workers/*/conversation.jsonl")
    return [str(path.relative_to(tree.root)) for path in found]


def check_agent(events: list[dict[str, Any]], state: str) -> None:
    """The agent's own events: created once, started before all else, ended last."""
    kinds = [e["type"] for e in events if e["type"].startswith("agent.")]
    assert kinds[:2] == ["agent.created", "agent.started"], kinds
    assert kinds.count("agent.created") == 1, kinds
    if state in _AGENT_ENDS:
        assert kinds[-1] == f"agent.{state}", (kinds, state)
    opened = None
    for kind in kinds:
        if kind in ("agent.held", "agent.waiting", "agent.paused"):
            opened = kind
        elif kind == "agent.resumed":
            assert opened, f"resumed without having stopped: {kinds}"
            opened = None


def check_nodes(tree: Tree, agent: str, events: list[dict[str, Any]]) -> None:
    """Each node's events, in the newest run, and what stands in its folder."""
    run = sorted(tree.names(f"{agent}/runs/*"))[-1]
    told: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event["type"].startswith("node.") and event["run"] == run:
            told[event["node"]].append(event["type"].removeprefix("node."))
    assert sorted(told) == tree.names(f"{agent}/runs/{run}/nodes/*")
    for node, kinds in told.items():
        check_order(node, kinds)
        folder = f"{agent}/runs/{run}/nodes/{node}"
        state, last = tree.state(folder), kinds[-1]
        assert state in _SHOWN.get(last, (last,)), f"{node}: {kinds}, but {state}"
        if tree.head(f"{folder}/_status.md").get("turns"):
            steps = tree.lines(f"{folder}/log.jsonl")
            assert steps, f"{node} had turns, but its trace is empty"
            assert all(step["ts"] for step in steps)
        if state == "completed":
            assert tree.names(f"{folder}/published/*"), f"{node} published nothing"
            assert not tree.there(f"{folder}/scratch"), f"{node} kept its scratch"


def check_workers(tree: Tree, agent: str, events: list[dict[str, Any]]) -> None:
    """Each worker is spawned, then busy, waiting, idle; in the end none is at work."""
    run = sorted(tree.names(f"{agent}/runs/*"))[-1]
    told: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event["type"].startswith("worker.") and event["run"] == run:
            told[event["worker"]].append(event["type"].removeprefix("worker."))
    assert sorted(told) == tree.names(f"{agent}/runs/{run}/workers/*")
    ended = tree.state(agent) in _AGENT_ENDS
    for worker, kinds in told.items():
        assert kinds[0] == "spawned", f"{worker}: {kinds}"
        turns = [kind for kind in kinds if f"worker.{kind}" in _WORKER_TURNS]
        for before, now in zip(["", *turns], turns, strict=False):
            assert now in WORKER_MAY[before], f"{worker}: {now} after {before}: {kinds}"
        state = tree.state(f"{agent}/runs/{run}/workers/{worker}")
        assert not ended or state in ("idle", "stopped"), f"{worker} is {state}"


def check_order(node: str, kinds: Iterable[str]) -> None:
    """The events of one node follow each other as they may."""
    kinds = list(kinds)
    for before, now in zip(["", *kinds], kinds, strict=False):
        assert now in NODE_MAY[before], f"{node}: {now} after {before or '-'}: {kinds}"


def check_pairs(events: list[dict[str, Any]], *, restarted: bool = False) -> None:
    """Every tool that was called has one result, under the same step."""
    steps: dict[str, list[str]] = {"tool.called": [], "tool.result": []}
    for event in events:
        if event["type"] in steps:
            steps[event["type"]].append(event["data"]["step"])
    if (
        restarted
    ):  # a kill may cost the lines of its moment; which is no more than a turn
        called, results = (set(each) for each in steps.values())
        assert len(called ^ results) <= LOST, called ^ results
        return
    assert sorted(steps["tool.called"]) == sorted(steps["tool.result"])
    assert len(set(steps["tool.called"])) == len(steps["tool.called"])


def check_conversation(lines: list[dict[str, Any]], name: str) -> None:
    """It opens with a session; each call has its one result before the next answer."""
    assert lines[0]["role"] == "system", name
    waiting: list[str] = []
    for number, line in enumerate(lines, 1):
        assert line["ts"], f"{name}:{number}"
        match line["role"]:
            case "assistant":
                assert not waiting, f"{name}:{number}: no result for {waiting}"
                waiting = [each["id"] for each in line.get("tool_calls", [])]
            case "tool":
                assert line["call_id"] in waiting, f"{name}:{number}: {line['call_id']}"
                waiting.remove(line["call_id"])
                assert line["content"], f"{name}:{number}: an empty result"
            case "user":
                assert not waiting, f"{name}:{number}: text before {waiting}"
                assert line["content"].strip(), f"{name}:{number}: an empty text"
            case other:
                assert other == "system", f"{name}:{number}: {other}"
                assert not waiting, f"{name}:{number}: no result for {waiting}"
    assert not waiting, f"{name}: no result for {waiting}"
