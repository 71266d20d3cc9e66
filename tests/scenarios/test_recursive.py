"""A worker has its part made by children, and one of these by a child of its own."""

from __future__ import annotations

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

PRICE = {"input": 1.00, "output": 2.00, "cache_read": 0.10, "cache_write": 1.00}
# One worker at a time: a parent that waits must give its place to its children.
GOAL = """---
model: lab/builder
max_workers: 1
---
Build a todo app: back end, front end, Docker.
"""
SCHEMA = "CREATE TABLE todo (id INTEGER PRIMARY KEY, text TEXT, done INTEGER);"
SERVER = f'SCHEMA = """{SCHEMA}"""\n\n\ndef todos():\n    return []\n'
PAGE = "<!DOCTYPE html>\n<title>Todo</title>\n<ul id=todos></ul>\n"
DOCKERFILE = "FROM python:3.11-slim\nCOPY backend /app\nCMD python /app/server.py\n"
COMPOSE = "services:\n  web: {build: .}\n"
RUN = "todo/runs/*"


def coordinator() -> list[Step]:
    app = call(
        "create_work_node",
        id="app",
        task="Build the todo app: backend/, frontend/, Dockerfile, compose.yaml.",
        worker={"name": "Tara", "role": "architect"},
    )
    copy = 'cp -r "$AGIRAPH_RUN"/nodes/app/published/. . && ls'
    artifacts = ["backend", "frontend", "Dockerfile", "compose.yaml"]
    return [
        app,
        after("[node app completed", do=call("bash", command=copy)),
        call("finish", summary="A todo app with Docker.", artifacts=artifacts),
    ]


def tara() -> list[Step]:
    """Splits the app, waits, and puts the parts together."""

    def splits(_: Asked) -> Scripted:
        back = call(
            "create_work_node",
            id="back-end",
            task="Write server.py with the table.",
            worker={"name": "Ben", "role": "back end"},
        )
        front = call(
            "create_work_node", id="front-end", task="Write index.html.", worker="Fay"
        )
        docker = call(
            "create_work_node",
            id="docker",
            task="Write Dockerfile and compose.yaml for server.py.",
            refs={"server": "back-end/published/server.py"},
            worker="Fay",
        )
        return [back, front, docker, call("wait")]

    def reads(asked: Asked) -> Scripted:
        waited = asked.results[-1].text
        for node in ("back-end", "front-end", "docker"):
            assert f"[node {node} completed" in waited
        return call("read_file", path="nodes/back-end/published/server.py")

    def integrates(asked: Asked) -> Scripted:
        assert "CREATE TABLE todo" in asked.result
        nodes = '"$AGIRAPH_RUN"/nodes'
        command = (
            f"cp -r {nodes}/back-end/published backend && "
            f"cp -r {nodes}/front-end/published frontend && "
            f"cp {nodes}/docker/published/* . && python3 backend/server.py && ls"
        )
        return call("bash", command=command)

    def publishes(asked: Asked) -> Scripted:
        assert "exit code 0" in asked.result, asked.result
        return call("publish", summary="The app in four parts; server.py runs.")

    return [splits, reads, integrates, publishes]


def ben() -> list[Step]:
    """Has the table designed by a child that answers once."""
    schema = call(
        "create_work_node",
        id="schema",
        task="Answer with the SQL of one table for todos, nothing else.",
        max_turns=1,
    )

    def writes(asked: Asked) -> Scripted:
        assert SCHEMA in asked.result
        return [
            call("write_file", path="scratch/server.py", content=SERVER),
            call("publish", summary="server.py"),
        ]

    read = call("read_file", path="nodes/schema/published/answer.md")
    return [[schema, call("wait", nodes=["schema"])], read, writes]


def test_parents_wait_for_their_children_and_put_the_parts_together(
    tmp_path: Path,
    manner: Manner,
) -> None:
    page = call("write_file", path="scratch/index.html", content=PAGE)
    docker = [
        call("write_file", path="scratch/Dockerfile", content=DOCKERFILE),
        call("write_file", path="scratch/compose.yaml", content=COMPOSE),
        call("publish", summary="Dockerfile, compose.yaml"),
    ]
    script = cast(
        coordinator=coordinator(),
        app=tara(),
        back_end=ben(),
        schema=[SCHEMA],
        front_end=[[page, call("publish", summary="index.html")]],
        docker=[docker],
    )
    with ModelServer(script) as server:
        settings = manner.settings(server, prices={"lab/builder": PRICE})
        daemon = manner.daemon(tmp_path, server, settings=settings)
        daemon.write("todo/GOAL.md", GOAL)
        with daemon:
            daemon.until_state("todo", "completed", seconds=50)
            check(daemon, "todo", server)

    published = f"{RUN}/published"
    assert SCHEMA in daemon.read(f"{published}/backend/server.py")
    assert daemon.read(f"{published}/frontend/index.html") == PAGE
    assert daemon.read(f"{published}/Dockerfile") == DOCKERFILE
    assert daemon.read(f"{published}/compose.yaml") == COMPOSE
    assert "[published/backend](published/backend)" in daemon.read(f"{RUN}/_output.md")
    parents = {
        node: daemon.head(f"{RUN}/nodes/{node}/_spec.md").get("parent")
        for node in daemon.names(f"{RUN}/nodes/*")
    }
    assert parents == {
        "app": None,
        "back-end": "app",
        "front-end": "app",
        "docker": "app",
        "schema": "back-end",
    }
    check_single_inference(daemon, server)
    check_waits(daemon)
    check_one_at_a_time(daemon)
    assert {asked.wire for asked in server.requests} == {manner.wire}


def check_single_inference(daemon: Daemon, server: ModelServer) -> None:
    """One request without tools; its answer is the deliverable."""
    asked = server.asked_by("schema")
    assert len(asked) == 1
    assert asked[0].tools == {}
    answer = daemon.read(f"{RUN}/nodes/schema/published/answer.md")
    assert answer == f"{SCHEMA}\n"


def check_waits(daemon: Daemon) -> None:
    """A parent goes on only once all its children have ended."""
    kinds = [
        (e["node"], e["type"].removeprefix("node."))
        for e in daemon.events("todo", "node.")
    ]
    for parent, children in {
        "app": ("back-end", "front-end", "docker"),
        "back-end": ("schema",),
    }.items():
        resumed = kinds.index((parent, "resumed"))
        assert kinds.index((parent, "waiting")) < resumed
        for child in children:
            assert kinds.index((child, "completed")) < resumed


def check_one_at_a_time(daemon: Daemon) -> None:
    """Never are two nodes in hand; those that wait are not."""
    at_work: set[str] = set()
    for event in daemon.events("todo", "node."):
        kind, node = event["type"].removeprefix("node."), event["node"]
        if kind in ("started", "resumed"):
            at_work.add(node)
        elif kind in ("waiting", "completed"):
            at_work.discard(node)
        assert len(at_work) <= 1, at_work
