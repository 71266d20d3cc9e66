"""A coder, a tester and a writer make a package together, by messages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.support.cast import after, cast
from tests.support.model_server import ModelServer, call
from tests.support.trace import check

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.cast import Step
    from tests.support.daemon import Daemon
    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

GOAL = """\
Make a small Python package `slugs` with code, tests and documentation.
"""
CODE = '''"""Slugs."""


def slug(title: str) -> str:
    """A title as it stands in an address."""
    return title.lower().replace(" ", "-")
'''
OLD = 'title.lower().replace(" ", "-")'
NEW = '"-".join(title.lower().split())'
TESTS = """import unittest

from slugs import slug


class Slugs(unittest.TestCase):
    def test_a_run_of_spaces_is_one_dash(self):
        self.assertEqual(slug("Hello   World"), "hello-world")
"""
SHARED = "nodes/code/scratch/slugs/__init__.py"
TRY = 'PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$AGIRAPH_RUN"/nodes/code/scratch python3'
COLLECT = """
set -e
for node in code tests docs; do cp -r "$AGIRAPH_RUN"/nodes/$node/published/. .; done
python3 -m unittest -q && rm -rf __pycache__ slugs/__pycache__ && ls
"""


def coordinator() -> list[Step]:
    code = call(
        "create_work_node",
        id="code",
        task="Write slugs/__init__.py. Theo tests it while you work.",
        worker={"name": "Cora", "role": "coder"},
        share=True,
    )
    tests = call(
        "create_work_node",
        id="tests",
        task="Write test_slugs.py for Cora's code, in nodes/code/scratch/.",
        worker={"name": "Theo", "role": "tester"},
    )
    docs = call(
        "create_work_node",
        id="docs",
        task="Write README.md for the package.",
        worker={"name": "Wanda", "role": "writer"},
        refs={"code": "code/published/slugs/__init__.py"},
        depends_on=["tests"],
    )
    return [
        [code, tests, docs],
        after("[node docs completed", do=call("bash", command=COLLECT)),
        call(
            "finish",
            summary="The package slugs: code, tests and documentation.",
            artifacts=["slugs", "test_slugs.py", "README.md"],
        ),
    ]


def cora() -> list[Step]:
    def mends(asked: Asked) -> Scripted:
        assert "[message from Theo]" in asked.last_user
        assert "hello---world" in asked.last_user
        return [
            call("edit_file", path="scratch/slugs/__init__.py", old=OLD, new=NEW),
            call("send_message", to="Theo", content="Mended; please try again."),
            call("wait", timeout=30),
        ]

    def publishes(asked: Asked) -> Scripted:
        assert "It passes now." in asked.last_user
        return call("publish", summary="slugs/__init__.py, tested by Theo.")

    return [
        [
            call("write_file", path="scratch/slugs/__init__.py", content=CODE),
            call("send_message", to="Theo", content=f"Please try {SHARED}."),
            call("wait", timeout=30),
        ],
        mends,
        publishes,
    ]


def theo() -> list[Step]:
    def reads(asked: Asked) -> Scripted:
        assert f"Please try {SHARED}." in asked.last_user
        return call("read_file", path=SHARED)

    def tries(asked: Asked) -> Scripted:
        assert OLD in asked.result
        return [
            call("write_file", path="scratch/test_slugs.py", content=TESTS),
            call("bash", command=f"{TRY} -m unittest"),
        ]

    def reports(asked: Asked) -> Scripted:
        assert "'hello---world' != 'hello-world'" in asked.result
        bug = "A bug: slug('Hello   World') gives hello---world, not hello-world."
        return [
            call("send_message", to="Cora", content=bug),
            call("wait", timeout=30),
        ]

    def tries_again(asked: Asked) -> Scripted:
        assert "Mended; please try again." in asked.last_user
        return call("bash", command=f"{TRY} -m unittest")

    def passes(asked: Asked) -> Scripted:
        assert "OK" in asked.result
        return [
            call("send_message", to="Cora", content="It passes now."),
            call("publish", summary="test_slugs.py; it passes."),
        ]

    return [call("wait", timeout=30), reads, tries, reports, tries_again, passes]


def wanda() -> list[Step]:
    def describes(asked: Asked) -> Scripted:
        assert NEW in asked.first_user
        text = "# slugs\n\n`slug(title)`: a title as it stands in an address.\n"
        return [
            call("write_file", path="scratch/README.md", content=text),
            call("publish", summary="README.md"),
        ]

    return [describes]


def test_a_bug_found_in_shared_work_goes_back_and_is_mended(
    tmp_path: Path, manner: Manner
) -> None:
    both = asyncio.Barrier(2)
    script = cast(coordinator=coordinator(), cora=cora(), theo=theo(), wanda=wanda())

    async def meeting(asked: Asked) -> Scripted:
        if asked.who in ("Cora", "Theo") and asked.turn == 1:
            await asyncio.wait_for(both.wait(), 30)
        return script(asked)

    with (
        ModelServer(meeting) as server,
        manner.daemon(tmp_path, server) as daemon,
    ):
        daemon.write("package/GOAL.md", GOAL)
        daemon.until_state("package", "completed", seconds=50)
        check(daemon, "package", server)

    published = "package/runs/*/published"
    assert NEW in daemon.read(f"{published}/slugs/__init__.py")
    assert daemon.read(f"{published}/test_slugs.py") == TESTS
    assert daemon.read(f"{published}/README.md").startswith("# slugs")
    assert "[published/slugs](published/slugs)" in daemon.read(
        "package/runs/*/_output.md"
    )
    assert letters(daemon) == [
        ("Cora", "Theo"),
        ("Theo", "Cora"),
        ("Cora", "Theo"),
        ("Theo", "Cora"),
    ]
    # The tester read the coder's work before it was published.
    read = next(
        e
        for e in daemon.events("package", "tool.result", worker="Theo")
        if e["data"]["tool"] == "read_file"
    )
    assert not read["data"]["error"]
    assert (
        read["ts"] < daemon.until_event("package", "node.completed", node="code")["ts"]
    )


def letters(daemon: Daemon) -> list[tuple[str, str]]:
    """Who wrote to whom, in order."""
    names = daemon.names("package/runs/*/_messages/*.md")
    heads = [daemon.head(f"package/runs/*/_messages/{name}") for name in names]
    return [(head["from"], head["to"]) for head in heads]
