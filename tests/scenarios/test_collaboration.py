"""Three researchers at the same time on two services, then a synthesis of theirs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.cast import after, cast
from tests.support.manners import GEMINI, GPT
from tests.support.model_server import ModelServer, call
from tests.support.trace import check
from tests.support.web import Answer, WebServer, results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.cast import Step
    from tests.support.daemon import Daemon
    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Call, Scripted

GOAL = f"""---
worker_model: {GPT}
---
Compare the AI accelerators of NVIDIA, AMD and Intel and recommend one.
"""
FINDINGS = {
    "nvidia": "NVIDIA: the widest software, the highest price.",
    "amd": "AMD: the most memory for each chip.",
    "intel": "Intel: the lowest price, the least software.",
}
REFS = {name: f"{name}/published/findings.md" for name in FINDINGS}
RESEARCHERS = {"nvidia": "Nina", "amd": "Adam", "intel": "Ines"}
RUN = "chips/runs/*"


def research(name: str, manner: Manner) -> Call:
    """The node on one maker; NVIDIA's and Intel's are on other services."""
    worker = {"name": RESEARCHERS[name], "role": "researcher"}
    if name != "amd":
        worker["model"] = manner.model if name == "nvidia" else GEMINI
    return call(
        "create_work_node",
        id=name,
        task=f"Write findings.md on the accelerators of {name}.",
        worker=worker,
    )


def coordinator(manner: Manner) -> list[Step]:
    def reads_what_was_published(_: Asked) -> Scripted:
        return [call("read_file", path=f"nodes/{path}") for path in REFS.values()]

    def opens_the_second_stage(asked: Asked) -> Scripted:
        assert [r.text for r in asked.results if "highest price" in r.text]
        assessment = "All three are there and agree on prices."
        synthesis = call(
            "create_work_node",
            id="synthesis",
            task="Write report.md: the three compared, then a recommendation.",
            refs=REFS,
            worker="Adam",
            accept=[{"file": "report.md"}],
        )
        return [
            call("reconvene", assessment=assessment, next_stage="Synthesis"),
            synthesis,
        ]

    copy = 'cp "$AGIRAPH_RUN"/nodes/synthesis/published/report.md .'
    return [
        [
            call(
                "reconvene",
                assessment="Nothing is known yet.",
                next_stage="Research",
                contract={"checkpoint_policy": "all_must_complete"},
            ),
            *(research(name, manner) for name in FINDINGS),
        ],
        after("[stage 1]", do=reads_what_was_published),
        opens_the_second_stage,
        after("[node synthesis completed", do=call("bash", command=copy)),
        call("finish", summary="AMD it is; see the report.", artifacts=["report.md"]),
    ]


def looked_up(web: WebServer, name: str, then: list[Step]) -> list[Step]:
    """What the steps of a researcher are, after it has read the maker's own page."""

    def fetches(asked: Asked) -> Scripted:
        assert f"{web.url}/{name}" in asked.result
        return call("web_fetch", url=f"{web.url}/{name}")

    def reads(asked: Asked) -> Scripted:
        assert f'<untrusted from="{web.url}/{name}"' in asked.result
        assert FINDINGS[name] in asked.result
        first, *_ = then
        return first(asked) if callable(first) else first

    search = call("web_search", query=f"{name} accelerators")
    return [search, fetches, reads, *then[1:]]


def the_web() -> WebServer:
    pages: dict[str, Answer] = {
        f"/{name}": Answer(f"<h1>{name}</h1><p>{words}</p>".encode(), "text/html")
        for name, words in FINDINGS.items()
    }
    web = WebServer(pages)
    makers = [(name, f"{web.url}/{name}", "The maker's page") for name in FINDINGS]
    web.pages["/search"] = results(*makers)
    return web


def published(name: str) -> list[Call]:
    findings = f"# {name}\n\n{FINDINGS[name]}\n"
    return [
        call("write_file", path="scratch/findings.md", content=findings),
        call("publish", summary=FINDINGS[name]),
    ]


def nina() -> list[Step]:
    question = "Adam, how much memory has AMD's largest? I compare with it."

    def writes_on(asked: Asked) -> Scripted:
        assert "288 GB" in asked.last_user
        return published("nvidia")

    return [
        [call("send_message", to="Adam", content=question), call("wait", timeout=30)],
        writes_on,
    ]


def adam() -> list[Step]:
    def answers(asked: Asked) -> Scripted:
        assert "[message from Nina]" in asked.last_user
        answer = call("send_message", to="Nina", content="288 GB, says AMD.")
        return [answer, *published("amd")]

    return [call("wait", timeout=30), answers]


def synthesis() -> list[Step]:
    def compares(asked: Asked) -> Scripted:
        for words in FINDINGS.values():
            assert words in asked.first_user
        return call("read_ref", ref_name="nvidia")

    def writes(asked: Asked) -> Scripted:
        assert FINDINGS["nvidia"] in asked.result
        report = "\n".join(["# Compared", "", *FINDINGS.values(), "", "Take AMD."])
        return [
            call("write_file", path="scratch/report.md", content=report),
            call("publish", summary="Compared; AMD is recommended."),
        ]

    return [compares, writes]


@pytest.fixture(scope="module")
def done(
    tmp_path_factory: pytest.TempPathFactory, manner: Manner
) -> Iterator[tuple[Daemon, ModelServer]]:
    """The whole run, once for all the promises below."""
    together = asyncio.Barrier(len(FINDINGS))
    web = the_web()
    script = cast(
        coordinator=coordinator(manner),
        nvidia=looked_up(web, "nvidia", nina()),
        amd=looked_up(web, "amd", adam()),
        intel=looked_up(web, "intel", [published("intel")]),
        synthesis=synthesis(),
    )

    async def all_at_once(asked: Asked) -> Scripted:
        if asked.node in FINDINGS and asked.turn == 1:
            # Answered only once all three have asked: so they work at the same time.
            await asyncio.wait_for(together.wait(), 30)
        return script(asked)

    with (
        web,
        ModelServer(all_at_once) as server,
        manner.daemon(
            tmp_path_factory.mktemp("chips"), server, web.environment()
        ) as daemon,
    ):
        daemon.write("chips/GOAL.md", GOAL)
        daemon.until_state("chips", "completed", seconds=50)
        yield daemon, server


def test_three_researchers_work_at_the_same_time(
    done: tuple[Daemon, ModelServer],
) -> None:
    daemon, server = done
    kinds = [
        (event["type"], event["node"])
        for event in daemon.events("chips", "node.")
        if event["type"] in ("node.started", "node.completed")
    ]
    assert {node for kind, node in kinds[:3] if kind == "node.started"} == set(FINDINGS)
    assert server.most_at_once >= 3
    check(daemon, "chips", server)


def test_each_node_keeps_its_own_files(done: tuple[Daemon, ModelServer]) -> None:
    daemon, _ = done
    for name, words in FINDINGS.items():
        folder = f"{RUN}/nodes/{name}"
        assert words in daemon.read(f"{folder}/published/findings.md")
        assert daemon.head(f"{folder}/_spec.md")["worker"]["name"] == RESEARCHERS[name]
        status = daemon.head(f"{folder}/_status.md")
        assert status["status"] == "completed"
        assert status["turns"] >= 1
        assert daemon.lines(f"{folder}/log.jsonl")[0]["step"] == "model"
    assert sorted(daemon.names(f"{RUN}/workers/*")) == ["Adam", "Ines", "Nina"]


def test_colleagues_write_to_each_other(done: tuple[Daemon, ModelServer]) -> None:
    daemon, _ = done
    told = {(h["from"], h["to"]) for h in map(daemon.head, messages(daemon))}
    assert {("Nina", "Adam"), ("Adam", "Nina")} <= told
    assert len(daemon.events("chips", "message.received", worker="Nina")) == 1


def messages(daemon: Daemon) -> list[str]:
    found = daemon.root.glob(f"{RUN}/_messages/*.md")
    return sorted(str(path.relative_to(daemon.root)) for path in found)


def test_the_second_stage_is_made_from_what_the_first_published(
    done: tuple[Daemon, ModelServer],
) -> None:
    daemon, _ = done
    stages = yaml.safe_load(daemon.read(f"{RUN}/_run.yaml"))["stages"]
    assert [stage["title"] for stage in stages] == ["Research", "Synthesis"]
    assert stages[0]["assessment"] == "All three are there and agree on prices."
    kinds = [e["type"] for e in daemon.events("chips", "stage.")]
    first = ["stage.started", "stage.completed", "stage.reconvened"]
    assert kinds == [*first, *first]
    assert daemon.head(f"{RUN}/nodes/synthesis/_spec.md")["refs"] == REFS
    report = daemon.read(f"{RUN}/published/report.md")
    assert all(maker in report for maker in ("NVIDIA", "AMD", "Intel"))
    assert "AMD it is" in daemon.read(f"{RUN}/_output.md")


def test_each_speaks_to_the_service_of_its_own_model(
    done: tuple[Daemon, ModelServer], manner: Manner
) -> None:
    daemon, server = done
    spoken = {(line.get("worker"), line["model"]) for line in usage(daemon)}
    named = {("Nina", manner.model), ("Adam", GPT), ("Ines", GEMINI)}
    assert spoken == {(None, manner.model), *named}
    wires = {asked.who: asked.wire for asked in server.requests}
    assert wires == {
        "coordinator": manner.wire,
        "Nina": manner.wire,
        "Adam": "chat",
        "Ines": "gemini",
    }


def usage(daemon: Daemon) -> list[dict[str, object]]:
    return daemon.lines("chips/usage.jsonl")
