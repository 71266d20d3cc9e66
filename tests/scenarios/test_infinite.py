"""An agent that watches a front page: cycles over a kill, each post reported once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.cast import cast
from tests.support.model_server import ModelServer, call, say
from tests.support.trace import check
from tests.support.web import Answer, WebServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

GOAL = """---
mode: infinite
cycle: 1s
---
Watch the front page and tell me of every new post.
"""
AGENT = "watcher"


def front_page() -> WebServer:
    """A page that has one post more each time that it is asked for."""
    visits = 0

    def page(_: object) -> Answer:
        nonlocal visits
        visits += 1
        posts = "".join(f"<p>Post {n}.</p>" for n in range(1, visits + 3))
        body = f"<!doctype html><title>Front page</title><h1>News</h1>{posts}"
        return Answer(body.encode(), "text/html")

    return WebServer({"/front": page})


def watcher(web: WebServer) -> dict[str, object]:
    def cycle(asked: Asked) -> Scripted:
        """Fetch and remember; tell and note what is new; end the cycle."""
        said = [turn for turn in asked.turns if turn.role == "assistant"]
        match len(said) % 3:
            case 0:
                return [
                    call("web_fetch", url=f"{web.url}/front"),
                    call("memory_read", path="memory/seen.md"),
                ]
            case 1:
                page, seen = (posts(each.text) for each in asked.results[-2:])
                new = [post for post in page if post not in seen]
                lines = "".join(f"{post}.\n" for post in new)
                path = "memory/seen.md"
                return [
                    call("send_message", to="human", content=f"New: {lines}"),
                    call("memory_write", path=path, content=lines, append=True),
                ]
        known = len(set(posts(" ".join(each.text for each in asked.all_results))))
        return call(
            "checkpoint", summary=f"{len(said) // 3 + 1} cycles, {known} posts."
        )

    return {"coordinator": cycle}


def posts(text: str) -> list[str]:
    return re.findall(r"Post \d+", text)


def test_three_cycles_and_more_over_a_kill_report_each_post_once(
    tmp_path: Path,
    manner: Manner,
) -> None:
    results: list[str] = []

    def cycles(count: int) -> bool:
        output = daemon.read(f"{AGENT}/runs/*/_output.md")
        if not results or results[-1] != output:
            results.append(output)
        return int(output.split()[0]) >= count

    with (
        front_page() as web,
        ModelServer(cast(**watcher(web))) as server,
        manner.daemon(tmp_path, server, web.environment()) as daemon,
    ):
        daemon.write(f"{AGENT}/GOAL.md", GOAL)
        daemon.until(lambda: cycles(2), "two cycles", seconds=30)
        daemon.kill()
        daemon.start()
        daemon.until(lambda: cycles(4), "two more after a kill", seconds=30)
        daemon.write(f"{AGENT}/STOP", "")
        daemon.until_state(AGENT, "stopped", seconds=30)
        told = posts(daemon.read(f"{AGENT}/_outbox.md"))
        noted = posts(daemon.read(f"{AGENT}/memory/seen.md"))
        check(daemon, AGENT, server, restarted=True)

    assert len(told) == len(set(told)) >= 6
    assert noted == told
    assert len(results) >= 2  # the summary is written anew
    assert all(asked.refused == "" for asked in server.requests)


def sociable(asked: Asked) -> Scripted:
    """A cycle is one call; a person is answered, and nothing else is done for them."""
    number = len([turn for turn in asked.turns if turn.role == "assistant"])
    end = call("checkpoint", summary=f"{number + 1} answers.")
    if number and "a new cycle begins" not in asked.last_user:
        return say("Good day to you.")
    if "Hi there." in asked.last_user:  # both came at once
        return [call("send_message", to="human", content="Good day to you."), end]
    return end


def test_a_greeting_between_two_cycles_is_answered_and_the_next_cycle_comes(
    tmp_path: Path,
    manner: Manner,
) -> None:
    def result() -> str:
        return daemon.read(f"{AGENT}/runs/*/_output.md")

    with (
        ModelServer(cast(coordinator=sociable)) as server,
        manner.daemon(tmp_path, server) as daemon,
    ):
        daemon.write(f"{AGENT}/GOAL.md", GOAL.replace("cycle: 1s", "cycle: 8s"))
        daemon.until_there(f"{AGENT}/runs/*/_output.md", seconds=30)
        first = result()
        daemon.write(f"{AGENT}/_inbox.md", "Hi there.\n")
        answered = f"{AGENT}/_outbox.md"
        daemon.until_there(answered, seconds=30)
        assert "Good day to you." in daemon.read(answered)
        daemon.kill()
        daemon.start()
        daemon.until(lambda: result() != first, "the next cycle", seconds=30)
        assert daemon.names(f"{AGENT}/_questions/*.md") == []
        daemon.write(f"{AGENT}/STOP", "")
        daemon.until_state(AGENT, "stopped", seconds=30)
