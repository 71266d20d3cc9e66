"""A row for every tool: who calls it, and what must be true after a restart.

Each row is a scenario of its own, so that everything is checked that a sweep checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.crash.scenario import AGENT, DROPPED, RUN, Deed, Scenario, effect
from tests.support.cast import after, cast
from tests.support.model_server import call
from tests.support.web import Answer, results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.support.cast import Step
    from tests.support.model_asked import Asked
    from tests.support.model_server import Call, Script, Scripted

AGAIN = "run again: it only reads"
ONCE = "found by its id, or done now: once in the end"
UNKNOWN = "answered: its outcome is unknown"
PARKED = "parked over the restart"


@dataclass(frozen=True)
class Row:
    """What a restart does with one tool.

    Attributes:
        does: one of the four sentences above.
        scenario: a run in which the tool is called once.
        log: the conversation in which its result is recorded.
    """

    tool: str
    does: str
    scenario: Scenario
    log: str


def _coordinator(
    tool: str,
    does: str,
    steps: Callable[[Path], Sequence[Step]],
    holds: Callable[[Doomed], None],
    *,
    nodes: dict[str, Sequence[Step]] | None = None,
    deeds: tuple[Deed, ...] = (),
    effects: tuple[str, ...] = (),
    web: dict[str, str | Answer] | None = None,
) -> Row:
    def script(file: Path) -> Script:
        return cast(coordinator=list(steps(file)), **(nodes or {}))

    deeds = (DROPPED, *deeds)
    scenario = Scenario(tool, script, deeds, holds, effects=effects, web=web or {})
    return Row(tool, does, scenario, f"{AGENT}/conversation.jsonl")


def _worker(
    tool: str,
    does: str,
    steps: Sequence[Step],
    holds: Callable[[Doomed], None],
    *,
    deeds: tuple[Deed, ...] = (),
    more: dict[str, object] | None = None,
    people: dict[str, str] | None = None,
    how: str = "completed",
) -> Row:
    worker = {"task": "Do it.", "worker": "Wanda", **(more or {})}
    node = call("create_work_node", id="one", **worker)

    def script(file: Path) -> Script:
        first = call("write_file", path="scratch/w.md", content="work\n")
        return cast(
            coordinator=[node, after(f"node one {how}", do=FINISH)],
            one=[first, *steps],
        )

    deeds = (DROPPED, *deeds)
    scenario = Scenario(tool, script, deeds, holds, people=people or {})
    return Row(tool, does, scenario, f"{RUN}/workers/Wanda/conversation.jsonl")


FINISH = call("finish", summary="At its end.")
PUBLISH = call("publish", summary="Handed in.")
KEEP = call("write_file", path="scratch/kept.md", content="one two\n")
NODE = call("create_work_node", id="one", task="Do it.", worker="Wanda", hold=True)
LATER = call(
    "schedule",
    type="delayed",
    action="Look again.",
    config={"id": "later", "delay_seconds": 86_400},
)
HANDED_IN = [
    [call("write_file", path="scratch/w.md", content="work\n"), PUBLISH],
]


def _nothing(daemon: Doomed) -> None:
    """What every run is held to is all there is."""


def _results(log: str, tool: str, words: str) -> Callable[[Doomed], None]:
    def holds(daemon: Doomed) -> None:
        lines = [one for one in daemon.lines(log) if one.get("name") == tool]
        assert len(lines) == 1, lines
        assert words in lines[0]["content"], lines[0]["content"]

    return holds


def _told(tool: str, words: str) -> Callable[[Doomed], None]:
    return _results(f"{AGENT}/conversation.jsonl", tool, words)


def _worker_told(tool: str, words: str) -> Callable[[Doomed], None]:
    return _results(f"{RUN}/workers/Wanda/conversation.jsonl", tool, words)


def _file(path: str, text: str) -> Callable[[Doomed], None]:
    def holds(daemon: Doomed) -> None:
        assert daemon.read(path) == text

    return holds


def _nodes(*names: str) -> Callable[[Doomed], None]:
    def holds(daemon: Doomed) -> None:
        assert daemon.names(f"{RUN}/nodes/*") == sorted(names)

    return holds


def _messages(count: int) -> Callable[[Doomed], None]:
    def holds(daemon: Doomed) -> None:
        assert len(daemon.names(f"{RUN}/_messages/*")) == count

    return holds


def _assigned(daemon: Doomed) -> None:
    head = daemon.head(f"{RUN}/nodes/one/_status.md")
    assert (head["status"], head["attempt"]) == ("completed", 1), head


def _cancelled(daemon: Doomed) -> None:
    assert daemon.state(f"{RUN}/nodes/one") == "cancelled"


def _retired(daemon: Doomed) -> None:
    assert daemon.head(f"{RUN}/workers/Wanda/identity.md")["retired"] is True


def _stages(daemon: Doomed) -> None:
    kinds = [event["type"] for event in daemon.events(AGENT, "stage.started")]
    assert len(kinds) == 1, kinds


def _published(daemon: Doomed) -> None:
    assert daemon.read(f"{RUN}/nodes/one/published/w.md") == "work\n"
    assert daemon.names(f"{RUN}/nodes/one/published*") == ["published"]


def _checkpointed(daemon: Doomed) -> None:
    kinds = [e["type"] for e in daemon.events(AGENT, "node.", node="one")]
    assert kinds.count("node.checkpointed") == 1, kinds


def _memory(daemon: Doomed) -> None:
    assert daemon.read(f"{AGENT}/MEMORY.md").count("- noted") == 1


def _scheduled(daemon: Doomed) -> None:
    assert daemon.read(f"{AGENT}/triggers.yaml").count("id: later") == 1


def _unscheduled(daemon: Doomed) -> None:
    assert "later" not in daemon.read(f"{AGENT}/triggers.yaml")
    _told("cancel_trigger", "the trigger later is cancelled")(daemon)


def _asked_once(daemon: Doomed) -> None:
    assert daemon.names(f"{AGENT}/_questions/**/q-*.md") == ["q-001.md"]
    _worker_told("ask_human", "the person answered: yes")(daemon)


def _asked(daemon: Doomed) -> bool:
    return daemon.state(f"{RUN}/nodes/one") == "waiting_for_human"


def _answer(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/_inbox/a.md", "q-001: yes\n")


def _waits(daemon: Doomed) -> bool:
    return '"tool": "wait"' in daemon.read(f"{AGENT}/_state/journal.jsonl")


def _write_in(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/_inbox/m.md", "Here I am.\n")


def _bash(file: Path) -> list[Step]:
    return [effect(file, "row"), FINISH]


def _fetch(file: Path) -> list[Step]:
    def fetches(asked: Asked) -> Scripted:
        url = (file.parent / "web").read_text()
        return call("web_fetch", url=f"{url}/page")

    return [fetches, FINISH]


FOUND = results(("A page", "http://127.0.0.1/page", "What stands there."))


def steps(*each: Step) -> Callable[[Path], Sequence[Step]]:
    return lambda file: each


def _after_nodes(*first: Call | list[Call]) -> Callable[[Path], Sequence[Step]]:
    return steps(*first, after("node one completed", do=FINISH))


ROWS = (
    _coordinator("create_work_node", ONCE, _after_nodes(
        call("create_work_node", id="one", task="Do it.", worker="Wanda")
    ), _nodes("one"), nodes={"one": HANDED_IN}),
    _coordinator("assign_worker", ONCE, _after_nodes(
        NODE, call("assign_worker", node_id="one", worker_id="Wanda")
    ), _assigned, nodes={"one": HANDED_IN}),
    _coordinator("spawn_worker", ONCE, steps(
        call("spawn_worker", name="Wanda", role="writer"), FINISH
    ), _told("spawn_worker", "worker Wanda is there")),
    _coordinator("retire_worker", ONCE, steps(
        call("spawn_worker", name="Wanda"),
        call("retire_worker", worker_id="Wanda"),
        FINISH,
    ), _retired),
    _coordinator("cancel_node", ONCE, steps(
        NODE, call("cancel_node", node_id="one", reason="not needed"), FINISH
    ), _cancelled),
    _coordinator("check_board", AGAIN, steps(
        call("check_board"), FINISH
    ), _told("check_board", "Workers:")),
    _coordinator("reconvene", ONCE, steps(
        call("reconvene", assessment="Begun.", next_stage="On"), FINISH
    ), _stages),
    _coordinator("finish", ONCE, steps(FINISH), _told("finish", "the run has ended")),
    _worker("publish", ONCE, [PUBLISH], _published),
    _worker("checkpoint", ONCE, [
        call("checkpoint", summary="Half of it."),
    ], _checkpointed, how="checkpointed"),
    _coordinator("wait", PARKED, steps(
        call("wait", timeout=60), FINISH
    ), _told("wait", "mail came"), deeds=(Deed(_waits, _write_in),)),
    _worker("suggest_next", ONCE, [
        call("suggest_next", suggestion="More of it."), PUBLISH
    ], _messages(1)),
    _coordinator("send_message", ONCE, steps(
        call("send_message", to="human", content="A word."), FINISH
    ), _messages(1)),
    _coordinator("check_messages", AGAIN, steps(
        call("check_messages"), FINISH
    ), _told("check_messages", "no new messages")),
    _worker("ask_human", PARKED, [
        call("ask_human", question="Shall I?"), PUBLISH
    ], _asked_once, deeds=(Deed(_asked, _answer),)),
    _coordinator("read_file", AGAIN, steps(
        KEEP, call("read_file", path="scratch/kept.md"), FINISH
    ), _told("read_file", "one two")),
    _coordinator("write_file", ONCE, steps(
        KEEP, FINISH
    ), _file(f"{RUN}/published/kept.md", "one two\n")),
    _coordinator("edit_file", ONCE, steps(
        KEEP,
        call("edit_file", path="scratch/kept.md", old="one", new="one one"),
        FINISH,
    ), _file(f"{RUN}/published/kept.md", "one one two\n")),
    _coordinator("list_files", AGAIN, steps(
        KEEP, call("list_files", path="scratch"), FINISH
    ), _told("list_files", "kept.md")),
    _worker("read_ref", AGAIN, [
        call("read_ref", ref_name="notes"), PUBLISH
    ], _worker_told("read_ref", "from a person"),
        more={"refs": {"notes": "inputs/notes.md"}},
        people={f"{AGENT}/inputs/notes.md": "from a person\n"}),
    _coordinator("bash", UNKNOWN, _bash, _nothing, effects=("row",)),
    _coordinator("web_search", AGAIN, steps(
        call("web_search", query="a page"), FINISH
    ), _told("web_search", "What stands there."), web={"/search": FOUND}),
    _coordinator("web_fetch", AGAIN, _fetch, _told("web_fetch", "A whole page."),
        web={"/page": Answer(b"<p>A whole page.</p>", "text/html")}),
    _coordinator("memory_write", ONCE, steps(
        call("memory_write", path="MEMORY.md", content="- noted\n"), FINISH
    ), _memory),
    _coordinator("memory_read", AGAIN, steps(
        call("memory_read", path="MEMORY.md"), FINISH
    ), _nothing),
    _coordinator("memory_search", AGAIN, steps(
        call("memory_search", query="noted"), FINISH
    ), _nothing),
    _coordinator("schedule", ONCE, steps(LATER, FINISH), _scheduled),
    _coordinator("list_triggers", AGAIN, steps(
        LATER, call("list_triggers"), FINISH
    ), _told("list_triggers", "- later (delayed)")),
    _coordinator("cancel_trigger", ONCE, steps(
        LATER, call("cancel_trigger", trigger_id="later"), FINISH
    ), _unscheduled),
)  # fmt: skip
BY_TOOL = {row.tool: row for row in ROWS}
