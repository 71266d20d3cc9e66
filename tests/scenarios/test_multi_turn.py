"""A model writes a script, sees it fail twice, mends it, and runs it to the end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.support.cast import cast
from tests.support.model_server import ModelServer, call
from tests.support.trace import check
from tests.support.web import Answer, WebServer, results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

    Step = Scripted | Callable[[Asked], Scripted]

GOAL = """\
Write a Python script that fetches the price of copper from the API, and run it to
verify it.
"""
FIRST = """import json
import requests_of_old

print(requests_of_old.get("{url}/v1/price").json()["price"])
"""
SECOND = """import json
import urllib.request

with urllib.request.urlopen("{url}/v1/price") as answer:
    print("copper:", json.load(answer)["price"], "USD")
"""
DOCS = """<h1>API, version 1</h1><table><tr><th>Key</th><th>Meaning</th></tr>
<tr><td>amount</td><td>USD for a tonne</td></tr></table>"""
RUN = "python3 price.py"


def writer(url: str) -> list[Step]:
    """Reads each error and mends what it says."""

    def mends_the_import(asked: Asked) -> Scripted:
        assert "No module named 'requests_of_old'" in asked.result
        assert "exit code 1" in asked.result
        second = SECOND.format(url=url)
        return [
            call("write_file", path="scratch/price.py", content=second),
            call("bash", command=RUN),
        ]

    def looks_it_up(asked: Asked) -> Scripted:
        assert "KeyError: 'price'" in asked.result
        return call("web_search", query="copper price API keys")

    def reads_the_documentation(asked: Asked) -> Scripted:
        assert f"{url}/docs" in asked.result
        return call("web_fetch", url=f"{url}/docs")

    def mends_the_key(asked: Asked) -> Scripted:
        assert "| amount | USD for a tonne |" in asked.result
        edit = call(
            "edit_file", path="scratch/price.py", old='["price"]', new='["amount"]'
        )
        return [edit, call("bash", command=RUN)]

    def finishes(asked: Asked) -> Scripted:
        found = re.search(r"copper: ([\d.]+) USD", asked.result)
        assert found, asked.result
        summary = f"Copper costs {found[1]} USD; price.py fetches it and was run."
        return call("finish", summary=summary, artifacts=["price.py"])

    first = FIRST.format(url=url)
    return [
        [
            call("write_file", path="scratch/price.py", content=first),
            call("bash", command=RUN),
        ],
        mends_the_import,
        looks_it_up,
        reads_the_documentation,
        mends_the_key,
        finishes,
    ]


def test_a_script_that_fails_is_read_mended_and_run_again(
    tmp_path: Path, manner: Manner
) -> None:
    price = json.dumps({"metal": "copper", "amount": 9876.5})
    pages = {"/v1/price": price, "/docs": Answer(DOCS.encode(), "text/html")}
    with (
        WebServer(pages) as web,
        ModelServer(cast(coordinator=writer(web.url))) as server,
        manner.daemon(tmp_path, server, web.environment()) as daemon,
    ):
        found = ("The price API", f"{web.url}/docs", "Its keys have changed.")
        web.pages["/search"] = results(found)
        daemon.write("prices/GOAL.md", GOAL)
        daemon.until_state("prices", "completed")

    script = daemon.read("prices/runs/*/published/price.py")
    assert '["amount"]' in script
    assert "9876.5" in daemon.read("prices/runs/*/_output.md")
    called = [e["data"]["tool"] for e in daemon.events("prices", "tool.called")]
    assert called.count("bash") == 3
    searched = "/search?q=copper+price+API+keys&format=json"
    assert web.visits == ["/v1/price", searched, "/docs", "/v1/price"]
    check(daemon, "prices", server)
