"""How much of a long run the cache serves, by the strict server's own count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.bench.gauge import Figure
from tests.bench.house import folder, until
from tests.support.daemon import Daemon
from tests.support.model_server import ModelServer, call

if TYPE_CHECKING:
    from tests.bench.house import Plan
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

TURNS = 50
AIM = 5.0
A_PAGE = "The lamp was lit at dusk, and the log says so. " * 90
MODELS = {"Messages": "anthropic/claude-sonnet-5-5", "Chat": "openai/gpt-5.4"}


def script(asked: Asked) -> Scripted:
    """A page of some 1,400 tokens a turn."""
    number = sum(1 for each in asked.messages if each.get("role") == "assistant")
    if number >= TURNS:
        return call("finish", summary="Written.")
    return call("write_file", path=f"scratch/{number:03d}.md", content=A_PAGE)


def measure(plan: Plan) -> list[Figure]:
    """One run on each wire, with a memory change, a message and a restart in it."""
    return [_run(plan, wire, model) for wire, model in MODELS.items()]


def _run(plan: Plan, wire: str, model: str) -> Figure:
    with ModelServer(script) as server, folder(plan) as home:
        with Daemon(home, server.environment()) as at_work:
            goal = f"---\nmodel: {model}\nreflection: false\n---\nKeep the log.\n"
            at_work.write("a/GOAL.md", goal)
            _until(server, 15)
            at_work.write("a/MEMORY.md", "# Memory\n\nThe harbour is Aben.\n")
            at_work.write("a/_inbox/note.md", "How far are you?\n")
            _until(server, 25)
        with Daemon(home, server.environment()) as at_work:
            at_work.until_state("a", "completed", seconds=300)
            text = at_work.path("a/usage.jsonl").read_text("utf-8")
    plan.say(f"{wire}, {TURNS} turns")
    calls = [json.loads(line) for line in text.splitlines()]
    read = sum(each["cache_read"] for each in calls)
    sent = read + sum(each["input"] + each["cache_write"] for each in calls)
    missed = 100.0 * (1 - read / sent)
    what = f"{wire}, {len(calls)} turns, input that was not read from the cache"
    note = f"read: {read / sent:.1%}"
    return Figure(f"cache-{wire.lower()}", what, missed, "%", AIM, note)


def _until(server: ModelServer, requests: int) -> None:
    until(lambda: len(server.requests) >= requests, f"{requests} requests", 120)
