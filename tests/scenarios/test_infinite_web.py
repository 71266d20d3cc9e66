"""An agent watches a front page, cycle after cycle, and tells of each post once."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from tests.support.cast import cast
from tests.support.model_server import ModelServer, call
from tests.support.trace import check
from tests.support.web import Answer, Asked, WebServer, results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import model_asked
    from tests.support.manners import Manner
    from tests.support.model_server import Scripted

GOAL = """---
mode: infinite
cycle: 1s
---
Watch {url}/front and tell me of each new post, once.
"""
LONG = 60.0
POST = re.compile(r"post-\w+")


class FrontPage:
    """A page with posts; it has a name for each version of itself."""

    def __init__(self) -> None:
        self.posts = ["post-one"]

    def __call__(self, asked: Asked) -> Answer:
        listed = "".join(f"<li>{post}</li>" for post in self.posts)
        body = f"<h1>News</h1><ul>{listed}</ul>".encode()
        name = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        return Answer(body, "text/html", headers={"ETag": name})


def watcher(url: str) -> Callable[[model_asked.Asked], Scripted]:
    """Begins each cycle from memory; looks up what is new; writes it down; rests."""

    def plays(asked: model_asked.Asked) -> Scripted:
        texts = {result.name: result.text for result in asked.results}
        if "web_fetch" in texts:
            assert texts["web_fetch"].startswith(f'<untrusted from="{url}/front"')
            seen = set(POST.findall(texts["memory_read"]))
            new = [p for p in POST.findall(texts["web_fetch"]) if p not in seen]
            if new:
                return call("web_search", query=" ".join(new))
            return call("checkpoint", summary=f"Nothing new; {len(seen)} seen.")
        if "web_search" in texts:
            new = POST.findall(asked.calls[-1].arguments["query"])
            assert f"{url}/about" in texts["web_search"]
            noted = "".join(f"- {post}\n" for post in new)
            return [
                call("send_message", to="human", content=f"New: {', '.join(new)}"),
                call("memory_write", path="seen.md", content=noted, append=True),
                call("checkpoint", summary=f"Newest: {new[-1]}."),
            ]
        return [
            call("memory_read", path="seen.md"),
            call("web_fetch", url=f"{url}/front"),
        ]

    return plays


def test_each_new_post_is_told_of_once_over_a_restart(
    tmp_path: Path, manner: Manner
) -> None:
    front = FrontPage()
    web = WebServer({"/front": front})
    web.pages["/search"] = results(("About it", f"{web.url}/about", "More words."))
    with (
        web,
        ModelServer(cast(coordinator=watcher(web.url))) as server,
        manner.daemon(tmp_path, server, web.environment()) as daemon,
    ):

        def output() -> str:
            return daemon.read("watch/runs/*/_output.md")

        def cycles() -> int:
            called = daemon.events("watch", "tool.result")
            return sum(event["data"]["tool"] == "checkpoint" for event in called)

        daemon.write("watch/GOAL.md", GOAL.format(url=web.url))
        daemon.until(
            lambda: "Newest: post-one." in output(), "the first cycle", seconds=LONG
        )
        front.posts.insert(0, "post-two")
        daemon.until(
            lambda: "Newest: post-two." in output(), "the second cycle", seconds=LONG
        )
        assert daemon.stop() == 0
        front.posts.insert(0, "post-three")
        daemon.start()
        daemon.until(
            lambda: "Newest: post-three." in output(), "the third cycle", seconds=LONG
        )
        daemon.until(
            lambda: "Nothing new; 3 seen." in output(), "a quiet cycle", seconds=LONG
        )
        daemon.until(lambda: cycles() >= 4, "four cycles on record", seconds=LONG)
        daemon.write("watch/STOP", "")
        daemon.until_state("watch", "stopped")

    told = daemon.read("watch/_outbox.md")
    for post in ("post-one", "post-two", "post-three"):
        assert told.count(f"New: {post}") == 1
    assert daemon.read("watch/memory/seen.md").count("post-") == 3
    assert "/robots.txt" not in [one.path for one in web.asked], "a person named it"
    asked_for = [one for one in web.asked if one.path == "/front"]
    assert any("if-none-match" in one.headers for one in asked_for)
    check(daemon, "watch", server, restarted=True)
