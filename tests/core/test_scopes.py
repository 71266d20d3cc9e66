"""Who may go where: every row of the scope table, both ways."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from agiraph.core.scopes import Place, reading, writing
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permissions
from agiraph.model.worker import AgentMemory
from agiraph.ports import Seat

RUN = "2026-11-21-01"
HOME = "chips"
R = f"{HOME}/runs/{RUN}"


def coordinator(run: str | None = RUN) -> Seat:
    return Seat(HOME, run, None, None, "c/1.1.0", Permissions(), frozenset())


def worker(
    node: str = "nvidia", shared: tuple[str, ...] = (), memory: str = "none"
) -> Seat:
    access = AgentMemory(memory)
    return Seat(
        HOME, RUN, node, "Alice", "a/1.1.0", Permissions(), frozenset(shared), access
    )


def at(place: Place) -> str:
    return str(place.path)


@pytest.mark.parametrize(
    ("path", "leads_to", "within"),
    [
        ("scratch/a/b.md", f"{R}/nodes/nvidia/scratch/a/b.md", "scratch"),
        ("scratch", f"{R}/nodes/nvidia/scratch", "scratch"),
        ("scratch/", f"{R}/nodes/nvidia/scratch", "scratch"),
        ("./scratch//a.md", f"{R}/nodes/nvidia/scratch/a.md", "scratch"),
        ("report.md", f"{R}/nodes/nvidia/scratch/report.md", "scratch"),
        ("published/a.md", f"{R}/nodes/nvidia/published/a.md", "published"),
        ("outputs/a.txt", f"{R}/nodes/nvidia/outputs/a.txt", "outputs"),
        ("_spec.md", f"{R}/nodes/nvidia/_spec.md", "nvidia"),
        ("_refs.json", f"{R}/nodes/nvidia/_refs.json", "nvidia"),
        ("identity.md", f"{R}/workers/Alice/identity.md", "Alice"),
        ("memory.md", f"{R}/workers/Alice/memory.md", "Alice"),
        ("notebook.md", f"{R}/workers/Alice/notebook.md", "Alice"),
        (
            "conversations/1.jsonl",
            f"{R}/workers/Alice/conversations/1.jsonl",
            "conversations",
        ),
        ("_plan.md", f"{R}/_plan.md", RUN),
        ("_board.md", f"{R}/_board.md", RUN),
        ("run", R, RUN),
        ("run/scratch/a", f"{R}/scratch/a", "scratch"),
        ("run/published/a", f"{R}/published/a", "published"),
        ("run/_messages/1.md", f"{R}/_messages/1.md", "_messages"),
        ("run/_plan.md", f"{R}/_plan.md", RUN),
        ("run/_board.md", f"{R}/_board.md", RUN),
        ("nodes", f"{R}/nodes", "nodes"),
        ("nodes/amd", f"{R}/nodes/amd", "amd"),
        ("nodes/amd/published/f.md", f"{R}/nodes/amd/published/f.md", "published"),
        ("nodes/amd/_spec.md", f"{R}/nodes/amd/_spec.md", "amd"),
        ("nodes/amd/_refs.json", f"{R}/nodes/amd/_refs.json", "amd"),
        ("nodes/amd/_status.md", f"{R}/nodes/amd/_status.md", "amd"),
        ("nodes/nvidia/scratch/a", f"{R}/nodes/nvidia/scratch/a", "scratch"),
        ("inputs/data.csv", f"{HOME}/inputs/data.csv", "inputs"),
    ],
)
def test_a_worker_reads_its_own_and_what_the_run_shares(
    path: str, leads_to: str, within: str
) -> None:
    place = reading(path, worker())

    assert at(place) == leads_to
    assert place.within.name == within
    assert place.path.is_relative_to(place.within)


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("scratch/a.md", f"{R}/scratch/a.md"),
        ("notes.md", f"{R}/scratch/notes.md"),
        ("published/a.md", f"{R}/published/a.md"),
        ("outputs/a.txt", f"{R}/outputs/a.txt"),
        ("conversations/1.jsonl", f"{HOME}/conversations/1.jsonl"),
        ("nodes/amd/scratch/a", f"{R}/nodes/amd/scratch/a"),
        ("nodes/amd/outputs/a", f"{R}/nodes/amd/outputs/a"),
        ("GOAL.md", f"{HOME}/GOAL.md"),
        ("SOUL.md", f"{HOME}/SOUL.md"),
        ("MEMORY.md", f"{HOME}/MEMORY.md"),
        ("memory/index.md", f"{HOME}/memory/index.md"),
        ("triggers.yaml", f"{HOME}/triggers.yaml"),
        ("runs/2026-11-20-01/_output.md", f"{HOME}/runs/2026-11-20-01/_output.md"),
        ("runs/2026-11-20-01/published/a", f"{HOME}/runs/2026-11-20-01/published/a"),
    ],
)
def test_the_coordinator_reads_more(path: str, leads_to: str) -> None:
    assert at(reading(path, coordinator())) == leads_to


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("nodes/amd/scratch/a", "published/"),
        ("nodes/amd/outputs/a", "published/"),
        ("nodes/amd/log.jsonl", "_spec.md"),
        ("GOAL.md", "coordinator"),
        ("SOUL.md", "coordinator"),
        ("MEMORY.md", "memory.md"),
        ("memory/index.md", "coordinator"),
        ("triggers.yaml", "coordinator"),
        ("runs/2026-11-20-01/_output.md", "coordinator"),
        (f"runs/{RUN}/scratch/a.md", "scratch/a.md"),
        ("workers/Bob/memory.md", "memory.md"),
        ("run/_run.yaml", "_plan.md"),
        ("run/workers/Bob/memory.md", "memory.md"),
        ("_inbox.md", "no place"),
        ("events.jsonl", "no place"),
        ("../chips/GOAL.md", "scratch/"),
        ("/etc/passwd", "scratch/"),
        (f"/srv/agents/{R}/nodes/nvidia/scratch/report.md", "scratch/report.md"),
        ("nodes/../_run.yaml", "id"),
        ("nodes/.hidden/published/a", "id"),
        ("scrath/report.md", "scratch/report.md"),
        ("Scratch/report.md", "scratch/report.md"),
        ("amd/published/f.md", "nodes/amd/published/f.md"),
        ("drafts/report.md", "scratch/drafts/report.md"),
        ("..", "scratch/"),
        ("", "empty"),
        (".", "empty"),
        ("a\0b", "NUL"),
        ("\ud800", "Unicode"),
        ("C:\\notes.md", "scratch/"),
    ],
)
def test_everything_else_is_refused_to_a_worker_naming_the_likely_place(
    path: str, names: str
) -> None:
    with pytest.raises(ToolRefused) as refusal:
        reading(path, worker())

    assert names in str(refusal.value)


def test_a_shared_scratch_is_open_to_all() -> None:
    place = reading("nodes/amd/scratch/a", worker(shared=("amd",)))

    assert at(place) == f"{R}/nodes/amd/scratch/a"
    with pytest.raises(ToolRefused):
        reading("nodes/amd/outputs/a", worker(shared=("amd",)))


@pytest.mark.parametrize("access", ["read", "write"])
def test_agent_memory_opens_the_agents_home_to_a_worker(access: str) -> None:
    for path in ("MEMORY.md", "memory/index.md", "GOAL.md", "SOUL.md"):
        assert at(reading(path, worker(memory=access))) == f"{HOME}/{path}"


@pytest.mark.parametrize("path", ["scratch/../_spec.md", "inputs/../../other/GOAL.md"])
def test_dots_are_left_to_the_kernel_within_the_place(path: str) -> None:
    place = reading(path, worker())

    assert ".." in place.path.parts
    assert place.path.is_relative_to(place.within)


def test_a_listing_of_a_shared_folder_shows_only_what_may_be_read() -> None:
    assert reading("run/", worker()).names is not None
    assert "workers" not in (reading("run/", worker()).names or ())
    assert "scratch" not in (reading("nodes/amd", worker()).names or ())
    assert "scratch" in (reading("nodes/amd", coordinator()).names or ())


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("scratch/a/b.md", f"{R}/nodes/nvidia/scratch/a/b.md"),
        ("report.md", f"{R}/nodes/nvidia/scratch/report.md"),
        ("nodes/nvidia/scratch/a", f"{R}/nodes/nvidia/scratch/a"),
        ("nodes/NVIDIA/scratch/a", f"{R}/nodes/nvidia/scratch/a"),
        ("memory.md", f"{R}/workers/Alice/memory.md"),
        ("notebook.md", f"{R}/workers/Alice/notebook.md"),
    ],
)
def test_a_worker_writes_its_own(path: str, leads_to: str) -> None:
    assert at(writing(path, worker())) == leads_to


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("scratch/a.md", f"{R}/scratch/a.md"),
        ("_plan.md", f"{R}/_plan.md"),
        ("run/_plan.md", f"{R}/_plan.md"),
        ("run/scratch/a.md", f"{R}/scratch/a.md"),
        ("nodes/amd/_spec.md", f"{R}/nodes/amd/_spec.md"),
    ],
)
def test_the_coordinator_writes_the_plan_its_scratch_and_specs(
    path: str, leads_to: str
) -> None:
    assert at(writing(path, coordinator())) == leads_to


def test_a_spec_to_be_written_names_its_node() -> None:
    assert writing("nodes/amd/_spec.md", worker()).spec_of == "amd"
    assert writing("scratch/_spec.md", worker()).spec_of is None


@pytest.mark.parametrize(
    "path",
    [
        "scratch", "published/a.md", "inputs/a", "outputs/a", "conversations/a",
        "_plan.md", "_board.md", "run/_plan.md", "run/scratch/a", "run/published/a",
        "run/_messages/1.md", "identity.md", "_spec.md", "_refs.json",
        "nodes/nvidia/_spec.md", "nodes/Nvidia/_spec.md", "nodes/nvidia/_status.md",
        "nodes/amd/scratch/a", "nodes/amd/published/a", "MEMORY.md", "memory/a.md",
        "GOAL.md", "SOUL.md", "triggers.yaml", "_inbox.md", "STOP", "PAUSE", "../a",
        "/tmp/a", "drafts/a.md", "workers/Alice/memory.md", "runs/x/_output.md",
    ],
)  # fmt: skip
def test_nothing_else_is_written_by_a_worker(path: str) -> None:
    with pytest.raises(ToolRefused):
        writing(path, worker(shared=("amd",), memory="write"))


@pytest.mark.parametrize(
    "path",
    [
        "published/a.md", "inputs/a", "_board.md", "run/_board.md", "run/published/a",
        "nodes/amd/scratch/a", "nodes/amd/published/a", "nodes/amd/_status.md",
        "GOAL.md", "SOUL.md", "MEMORY.md", "memory/a.md", "triggers.yaml",
        "memory.md", "notebook.md", "runs/x/_output.md", "_status.md", "_owner.yaml",
    ],
)  # fmt: skip
def test_nothing_else_is_written_by_the_coordinator(path: str) -> None:
    with pytest.raises(ToolRefused):
        writing(path, coordinator())


def test_a_refused_write_names_the_tool_or_the_place_that_was_meant() -> None:
    with pytest.raises(ToolRefused, match="memory_write"):
        writing("MEMORY.md", coordinator())
    with pytest.raises(ToolRefused, match=r"scratch/a\.md"):
        writing("published/a.md", worker())


@pytest.mark.parametrize("path", ["scratch/a", "a.md", "run/_plan.md", "nodes/x"])
def test_without_an_open_run_its_places_are_refused_in_words(path: str) -> None:
    with pytest.raises(ToolRefused, match="No run is open"):
        reading(path, coordinator(run=None))


def test_without_an_open_run_the_home_can_still_be_read() -> None:
    for path in ("GOAL.md", "inputs/a", "runs/x/_output.md", "conversations/1.jsonl"):
        assert reading(path, coordinator(run=None)).path.parts[0] == HOME


def test_what_is_shown_is_in_the_callers_words() -> None:
    assert reading("./report.md", worker()).shown == "scratch/report.md"
    assert reading("nodes/amd/published/", worker()).shown == "nodes/amd/published"
    assert reading("inputs", worker()).within == PurePosixPath(HOME, "inputs")
