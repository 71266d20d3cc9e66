"""What is learned is kept, found, and never written over unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.ports import Seat
    from tests.tools.conftest import Bench


async def test_the_coordinator_writes_memory_and_the_memory_folder(
    bench: Bench,
) -> None:
    await bench.call("memory_write", bench.boss, path="MEMORY.md", content="a\n")
    await bench.call(
        "memory_write", bench.boss, path="knowledge/chips.md", content="b\n"
    )
    await bench.call(
        "memory_write", bench.boss, path="memory/knowledge/chips.md", content="c\n",
        append=True,
    )  # fmt: skip

    assert (bench.home / "MEMORY.md").read_text() == "a\n"
    assert (bench.home / "memory/knowledge/chips.md").read_text() == "b\nc\n"
    assert await bench.call("memory_read", bench.boss, path="knowledge/chips.md") == (
        "b\nc\n"
    )


@pytest.mark.parametrize("path", ["memory.md", "MEMORY.md"])
async def test_a_workers_memory_is_its_own(bench: Bench, path: str) -> None:
    await bench.call("memory_write", path=path, content="mine\n")

    assert (bench.run / "workers/Alice/memory.md").read_text() == "mine\n"
    assert not (bench.home / "MEMORY.md").exists()
    assert "memory.md" in await bench.refused(
        "memory_write", path="memory/knowledge/a.md", content="x"
    )


async def test_agent_memory_opens_the_agents_own(
    bench: Bench, seat: Callable[..., Seat]
) -> None:
    (bench.home / "MEMORY.md").write_text("theirs\n")
    reader, writer = seat(memory="read"), seat(memory="write")

    assert await bench.call("memory_read", reader, path="MEMORY.md") == "theirs\n"
    await bench.refused("memory_write", reader, path="MEMORY.md", content="x")
    await bench.call("memory_write", writer, path="MEMORY.md", content="ours\n")
    await bench.call("memory_write", writer, path="memory.md", content="mine\n")

    assert (bench.home / "MEMORY.md").read_text() == "ours\n"
    assert (bench.run / "workers/Alice/memory.md").read_text() == "mine\n"


async def test_a_persons_edit_is_never_written_over_unseen(bench: Bench) -> None:
    memory = bench.home / "MEMORY.md"
    memory.write_text("likes tea\n")
    await bench.call("memory_read", bench.boss, path="MEMORY.md")
    memory.write_text("likes coffee\n")

    said = await bench.refused(
        "memory_write", bench.boss, path="MEMORY.md", content="likes tea and cake\n"
    )

    assert "-likes tea" in said
    assert "+likes coffee" in said
    assert memory.read_text() == "likes coffee\n"
    await bench.call(
        "memory_write", bench.boss, path="MEMORY.md", content="likes coffee, cake\n"
    )
    assert memory.read_text() == "likes coffee, cake\n"


async def test_adding_to_what_a_person_changed_loses_nothing(bench: Bench) -> None:
    memory = bench.home / "MEMORY.md"
    memory.write_text("a\n")
    await bench.call("memory_read", bench.boss, path="MEMORY.md")
    memory.write_text("b\n")

    await bench.call(
        "memory_write", bench.boss, path="MEMORY.md", content="c\n", append=True
    )

    assert memory.read_text() == "b\nc\n"


async def test_a_write_that_is_performed_twice_is_done_once(bench: Bench) -> None:
    intent = await bench.prepare(
        "memory_write", bench.boss, path="MEMORY.md", content="x\n", append=True
    )

    await bench.perform("memory_write", intent, bench.boss)
    await bench.perform("memory_write", intent, bench.boss)

    assert (bench.home / "MEMORY.md").read_text() == "x\n"


async def test_small_memory_is_shown_whole(bench: Bench) -> None:
    (bench.home / "MEMORY.md").write_text("one\n")
    (bench.home / "memory/a.md").write_text("two\n")

    text = await bench.call("memory_search", bench.boss, query="nothing like it")

    assert text == "[MEMORY.md]\none\n\n[memory/a.md]\ntwo"


async def test_of_much_memory_the_best_sections_are_shown(bench: Bench) -> None:
    for number in range(60):
        filler = "Weather, sport and other news of the day. " * 10
        (bench.home / f"memory/{number}.md").write_text(f"# Day {number}\n{filler}\n")
    (bench.home / "memory/chips.md").write_text(
        "# Prices\nThe H100 costs 30,000 USD.\n# Tea\nGreen.\n"
    )

    text = await bench.call("memory_search", bench.boss, query="price of the H100?")

    assert text.startswith("[memory/chips.md]\n# Prices\nThe H100 costs")
    assert "Green" not in text
    assert len(text) < 17_000


async def test_no_memory_and_no_match_are_said_to_be_so(bench: Bench) -> None:
    assert await bench.call("memory_search", query="x") == "Memory is empty."
    (bench.home / "memory/a.md").write_text("weather " * 4_000)
    said = await bench.call("memory_search", bench.boss, query="accelerators")
    assert said.endswith("There are: memory/a.md.")


async def test_a_worker_searches_its_own_memory_only(bench: Bench) -> None:
    (bench.home / "MEMORY.md").write_text("the agent's\n")
    (bench.run / "workers/Alice/memory.md").write_text("the worker's\n")

    assert await bench.call("memory_search", query="s") == "[memory.md]\nthe worker's"


async def test_the_memory_folder_is_listed(bench: Bench) -> None:
    (bench.home / "memory/index.md").write_text("x")

    assert "index.md" in await bench.call("memory_read", bench.boss, path="memory")
    assert "index.md" in await bench.refused(
        "memory_read", bench.boss, path="memory/indx.md"
    )
