"""What the daemon writes it reads back as the same value."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agiraph.core import codec
from agiraph.core.codec import Good, emit, kinds
from agiraph.core.codec.page import read_section
from agiraph.core.codec.report import Findings
from agiraph.model.agent import AgentState, AgentStatus, Budget
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    Stop,
    SystemLine,
    ToolLine,
    UserLine,
)
from agiraph.model.node import Accept, NodeSpec, NodeState, NodeStatus
from agiraph.model.run import Contract, Policy, Run, RunState, Stage
from agiraph.model.tool import ToolCall, ToolSpec
from agiraph.model.usage import Spend, Usage
from agiraph.model.worker import (
    AgentMemory,
    Identity,
    WorkerState,
    WorkerStatus,
    WorkerType,
)

quick = settings(max_examples=60, deadline=None)
traps = st.sampled_from(
    [
        "on",
        "01",
        "null",
        "~",
        "a: b",
        "- x",
        "---",
        "#x",
        "{",
        "1e3",
        "é",
        "yes\nno",
        "'",
    ]
)
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\r")
words = traps | st.text(characters, max_size=40)
line = words.map(lambda text: " ".join(text.split()))
body = words.map(str.strip).filter(bool)
name = st.text("abcÄß語0-_ ", min_size=1, max_size=8).map(lambda n: f"n{n}x")
hashed = st.text("0123456789abcdef", min_size=4, max_size=64)
seconds = st.floats(0.01, 1e7) | st.integers(1, 10**6).map(float)
usage = st.builds(Usage, *[st.integers(0, 10**9)] * 4)
money = st.none() | st.floats(0, 1e6)
spend = st.builds(Spend, st.integers(0, 999), usage, money)
paths = st.lists(name.map(lambda n: f"{n}/published/*.md"), min_size=1, max_size=3)
models = st.lists(name.map(lambda n: f"lab/{n}".replace(" ", "")), max_size=2)


@st.composite
def identities(draw: st.DrawFn, *, text: bool) -> Identity:
    autonomous = draw(st.booleans())
    return Identity(
        name=draw(name),
        role=draw(line),
        type=WorkerType.AUTONOMOUS if autonomous else WorkerType.HARNESSED,
        model=tuple(draw(models)),
        command="claude -p" if autonomous else "",
        tools=draw(st.none() | st.lists(name, max_size=3).map(tuple)),
        agent_memory=draw(st.sampled_from(AgentMemory)),
        retired=draw(st.booleans()),
        text=draw(words).strip() if text else "",
    )


specs = st.builds(
    NodeSpec,
    body=body,
    title=line,
    depends_on=st.lists(name, unique=True, max_size=4).map(tuple),
    refs=st.dictionaries(words, paths.map(tuple), max_size=3).map(
        lambda refs: tuple(refs.items())
    ),
    worker=st.none() | name | identities(text=False),
    parent=st.none() | name,
    stage=st.none() | st.integers(1, 99),
    max_turns=st.none() | st.integers(1, 99),
    timeout=st.none() | seconds,
    budget=st.builds(
        Budget, money, st.none() | st.integers(0, 10**9), money, st.none()
    ),
    share=st.booleans(),
    hold=st.booleans(),
    accept=st.lists(
        st.just(Accept(file="report.md")) | st.just(Accept(run="a: b\n# c")), max_size=2
    ).map(tuple),
)
statuses = st.builds(
    NodeStatus,
    state=st.sampled_from(NodeState),
    since=line,
    worker=st.none() | name,
    attempt=st.integers(0, 9),
    turns=st.integers(0, 999),
    active_s=st.floats(0, 1e6),
    spend=spend,
    shown=hashed,
    consumed=st.dictionaries(name, hashed, max_size=3).map(lambda c: tuple(c.items())),
    summary=words,
    waiting_for=words,
    error=words,
    partial=st.booleans(),
    released=st.booleans(),
    published=hashed,
)
contracts = st.builds(
    Contract,
    st.none() | st.integers(1, 99),
    st.none() | seconds,
    st.sampled_from(Policy),
)
stages = st.builds(
    Stage, st.integers(1, 9), line, contracts, line, line, words, st.booleans()
)
runs = st.builds(
    Run,
    name=st.just("2026-11-21-01"),
    state=st.sampled_from(RunState),
    opened=st.just("2026-11-21T20:14:03+00:00"),
    goal=words,
    goal_hash=hashed,
    key=line,
    ended=line,
    reason=words,
    summary=words,
    stages=st.lists(stages, max_size=3).map(tuple),
)


@quick
@given(specs)
def test_a_spec_survives_writing_and_reading(spec: NodeSpec) -> None:
    assert codec.read_spec(codec.write_spec(spec)) == Good(spec)


@quick
@given(identities(text=True))
def test_an_identity_survives_writing_and_reading(identity: Identity) -> None:
    written = codec.write_identity(identity)

    assert codec.read_identity(written, identity.name) == Good(identity)


@quick
@given(statuses)
def test_a_node_status_survives_writing_and_reading(status: NodeStatus) -> None:
    written = codec.write_node_status(status, title="Synthesis")

    assert written.startswith(f"---\nstatus: {status.state.value}\n")
    assert codec.read_node_status(written) == Good(status)


@quick
@given(runs)
def test_a_run_survives_writing_and_reading(run: Run) -> None:
    assert codec.read_run(codec.write_run(run)) == Good(run)


@quick
@given(st.dictionaries(words, words | st.lists(words, max_size=3) | money, max_size=4))
def test_any_settings_survive_writing_and_reading(
    given_keys: dict[str, object],
) -> None:
    section = read_section(emit.settings(given_keys), Findings.none_yet())

    assert {key: kinds.json(place) for key, place in section.others()} == given_keys


def test_what_is_written_reads_well() -> None:
    run = Run(
        name="2026-11-21-01",
        state=RunState.OPEN,
        opened="2026-11-21T20:14:03+00:00",
        goal="Compare the three.\n\n- NVIDIA: its prices\n- AMD",
        goal_hash="ab12",
        key="1",
        stages=(Stage(1, "Look", Contract(timeout=5400.0), "2026-11-21T20:14:04Z"),),
    )

    assert codec.write_run(run) == (
        "status: open\n"
        "run: 2026-11-21-01\n"
        "opened: 2026-11-21T20:14:03+00:00\n"
        'key: "1"\n'
        "goal_hash: ab12\n"
        "goal: |2-\n"
        "  Compare the three.\n\n"
        "  - NVIDIA: its prices\n"
        "  - AMD\n"
        "stages:\n"
        "  - number: 1\n"
        "    title: Look\n"
        "    contract: {policy: all_must_complete, timeout: 90m}\n"
        "    opened: 2026-11-21T20:14:04Z\n"
    )


def test_an_unknown_cost_is_null_and_never_zero() -> None:
    status = NodeStatus(spend=Spend(2, Usage(10, 5), None))

    assert "\ncost_usd: null\n" in codec.write_node_status(status)
    assert codec.read_status(codec.write_node_status(status))["cost_usd"] is None


def test_an_agents_page_opens_with_its_state_and_shows_it_at_a_glance() -> None:
    page = codec.write_agent_status(
        AgentStatus(
            AgentState.HELD,
            since="2026-11-21T20:14:03+00:00",
            run="2026-11-21-01",
            spend=Spend(3, Usage(10, 5), 0.25),
            waiting_for="budget: 5 USD are spent",
            questions=("q-001 Alice: which database?",),
            nodes=(("completed", 2), ("pending", 1)),
            workers=(("Alice", "busy with database"),),
        )
    )

    assert page.startswith("---\nstatus: held\nrun: 2026-11-21-01\n")
    for words in ("2 completed, 1 pending", "q-001 Alice", "Waiting for: budget"):
        assert words in page.split("---\n")[2]
    status = codec.read_status(page)
    assert (status["tokens"], status["cost_usd"]) == (15, 0.25)
    assert "error" not in status


def test_a_workers_page_says_which_node_it_has() -> None:
    page = codec.write_worker_status(WorkerStatus(WorkerState.BUSY, node="database"))

    assert codec.read_status(page) == {"status": "busy", "node": "database"}


def test_every_name_of_the_package_leads_somewhere() -> None:
    assert all(getattr(codec, name) for name in codec.__all__)


LINES = [
    SystemLine(
        "t", 1, "a/b", "be\nkind", (ToolSpec("bash", "runs", {"type": "o"}),), "n"
    ),
    UserLine("t", "hi\u2028there", Kind.MAIL, "human", ("m-1", "m-2")),
    AssistantLine(
        "t",
        3,
        "a/b",
        "",
        (ToolCall("c1", "bash", {"x": [1, 2.5, None]}), ToolCall("c2", "b", None, "{")),
        Stop.TOOLS,
        Usage(1, 2, 3, 4),
        {"wire": "messages", "content": [{"type": "thinking", "signature": "é=="}]},
    ),
    ToolLine("t", 3, 0, "c1", "bash", "out", error=True),
    ToolLine("t", 3, 1, "c2", "check_messages", "hi", ids=("_inbox.md#1",)),
    SystemLine("t", 2, "a/b", "rules", (), why="the model changed", carries=True),
    SystemLine("t", 3, "a/b", "rules", (), node="n", compacted=2, turns=7),
    UserLine("t", "# Run 1", Kind.OPENING, "agiraph", ("brief:1",)),
]


@pytest.mark.parametrize("line", LINES, ids=lambda line: type(line).__name__)
def test_a_conversation_line_survives(line: codec.Line) -> None:
    written = codec.dumps(codec.line_to_json(line))

    assert written.count(b"\n") == 1
    assert codec.line_from_json(json.loads(written)) == line
    assert codec.dumps(json.loads(written)) == written


def test_unknown_keys_of_a_conversation_line_are_ignored() -> None:
    said = {**codec.line_to_json(LINES[1]), "mood": "fine"}

    assert codec.line_from_json(said) == LINES[1]
