"""Reading, writing, editing and listing, on real files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agiraph.core.approval import needed
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permission, Permissions

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.ports import Seat
    from tests.tools.conftest import Bench


async def test_a_file_that_is_written_can_be_read(bench: Bench) -> None:
    said = await bench.call("write_file", path="report.md", content="# Größe\n")

    assert said == "Wrote scratch/report.md: 10 bytes."
    assert (bench.scratch / "report.md").read_text() == "# Größe\n"
    assert await bench.call("read_file", path="scratch/report.md") == "# Größe\n"


async def test_missing_folders_are_made(bench: Bench) -> None:
    await bench.call("write_file", path="scratch/a/b/c.md", content="x")

    assert (bench.scratch / "a/b/c.md").read_text() == "x"


async def test_append_adds_to_the_end_and_makes_the_file(bench: Bench) -> None:
    await bench.call("write_file", path="log.md", content="one\n", append=True)
    await bench.call("write_file", path="log.md", content="two\n", append=True)

    assert (bench.scratch / "log.md").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("append", [True, False])
async def test_a_write_that_is_performed_twice_is_done_once(
    bench: Bench, append: bool
) -> None:
    (bench.scratch / "a").write_text("old ")
    intent = await bench.prepare(
        "write_file", bench.alice, path="a", content="new", append=append
    )

    first = await bench.perform("write_file", intent, bench.alice)
    again = await bench.perform("write_file", intent, bench.alice)

    assert (bench.scratch / "a").read_text() == ("old new" if append else "new")
    assert first == again


async def test_a_file_that_someone_else_changed_meanwhile_is_left_alone(
    bench: Bench,
) -> None:
    intent = await bench.prepare("write_file", bench.alice, path="a", content="mine")
    (bench.scratch / "a").write_text("theirs")

    with pytest.raises(ToolRefused, match="changed meanwhile"):
        await bench.perform("write_file", intent, bench.alice)

    assert (bench.scratch / "a").read_text() == "theirs"


async def test_prepare_changes_nothing(bench: Bench) -> None:
    await bench.prepare("write_file", bench.alice, path="scratch/a/b", content="x")

    assert list(bench.scratch.iterdir()) == []


async def test_too_much_content_is_refused_in_words(bench: Bench) -> None:
    said = await bench.refused("write_file", path="a", content="x" * (8 * 1024**2 + 1))

    assert "8,388,608 are taken at most" in said


async def test_an_append_may_not_grow_a_file_past_the_limit(bench: Bench) -> None:
    (bench.scratch / "a").write_bytes(b"x" * (8 * 1024**2))

    said = await bench.refused("write_file", path="a", content="yz", append=True)

    assert "8,388,610 bytes" in said


async def test_half_a_character_is_refused_in_words(bench: Bench) -> None:
    assert "broken character at position 2" in await bench.refused(
        "write_file", path="a", content="ab\ud800"
    )


async def test_a_folder_is_not_written_over(bench: Bench) -> None:
    (bench.scratch / "a").mkdir()

    assert "a folder" in await bench.refused("write_file", path="a", content="x")


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "memory_write"])
async def test_what_permissions_deny_answers_with_an_error(
    bench: Bench,
    seat: Callable[..., Seat],
    tool: str,
) -> None:
    (bench.scratch / "a").write_text("x")
    denied = seat(permissions=Permissions(write=Permission.DENY))
    more = {"old": "x", "new": "y"} if tool == "edit_file" else {"content": "y"}

    path = "memory.md" if tool == "memory_write" else "a"
    said = await bench.refused(tool, denied, path=path, **more)

    assert "does not allow" in said
    assert (bench.scratch / "a").read_text() == "x"


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "memory_write"])
async def test_what_a_person_is_asked_for_shows_the_whole_change(
    bench: Bench, seat: Callable[..., Seat], tool: str
) -> None:
    (bench.scratch / "a").write_text("x")
    asking = seat(permissions=Permissions(write=Permission.ASK))
    more = {"old": "x", "new": "y"} if tool == "edit_file" else {"content": "y"}
    path = "memory.md" if tool == "memory_write" else "a"

    need = needed(await bench.prepare(tool, asking, path=path, **more))

    assert need is not None
    assert need.subjects[0].endswith(path)
    assert "```\ny\n```" in need.shown


async def test_an_edit_replaces_one_passage_exactly(bench: Bench) -> None:
    (bench.scratch / "a").write_text("one\n  two\nthree\n")

    await bench.call("edit_file", path="a", old="  two\n", new="  2\n")

    assert (bench.scratch / "a").read_text() == "one\n  2\nthree\n"


async def test_an_edit_that_is_performed_twice_is_done_once(bench: Bench) -> None:
    (bench.scratch / "a").write_text("a b")
    intent = await bench.prepare("edit_file", bench.alice, path="a", old="a", new="aa")

    await bench.perform("edit_file", intent, bench.alice)
    await bench.perform("edit_file", intent, bench.alice)

    assert (bench.scratch / "a").read_text() == "aa b"


async def test_an_edit_of_what_stands_there_twice_names_the_lines(bench: Bench) -> None:
    (bench.scratch / "a").write_text("x\ny\nx\n")

    said = await bench.refused("edit_file", path="a", old="x", new="z")

    assert "2 times" in said
    assert "lines 1, 3" in said


async def test_an_edit_of_a_missing_file_names_its_neighbours(bench: Bench) -> None:
    (bench.scratch / "report.md").write_text("x")

    said = await bench.refused("edit_file", path="reprt.md", old="x", new="z")

    assert "Did you mean scratch/report.md?" in said


async def test_a_long_file_comes_in_pages_that_lead_on(bench: Bench) -> None:
    lines = [f"line {number:04d} " + "x" * 30 for number in range(1, 1201)]
    (bench.scratch / "a").write_text("\n".join(lines) + "\n")
    got: list[str] = []
    offset = 1
    while True:
        text = await bench.call("read_file", path="a", offset=offset)
        body, _, note = text.rpartition("\n[")
        got += body.split("\n") if note else text.split("\n")
        assert len(text) < 16_200
        if "read on with offset=" not in note:
            break
        offset = int(note.split("offset=")[1].rstrip("]"))

    assert got == lines
    assert note == "lines 1115-1200 of 1200, the end]" or note.endswith("the end]")


async def test_limit_and_offset_choose_lines(bench: Bench) -> None:
    (bench.scratch / "a").write_text("1\n2\n3\n4\n")

    text = await bench.call("read_file", path="a", offset=2, limit=2)

    assert text == "2\n3\n[lines 2-3 of 4; read on with offset=4]"


async def test_an_offset_behind_the_end_is_refused_in_words(bench: Bench) -> None:
    (bench.scratch / "a").write_text("1\n2\n")

    assert "has 2 lines" in await bench.refused("read_file", path="a", offset=9)


async def test_a_very_long_line_is_cut_with_a_word(bench: Bench) -> None:
    (bench.scratch / "a").write_text("x" * 500_000 + "\nnext\n")

    text = await bench.call("read_file", path="a")

    assert len(text) < 3_000
    assert "next\n" in text
    assert "line 1 has 500,001 bytes" in text


async def test_a_huge_file_is_read_from_its_beginning_only(bench: Bench) -> None:
    with (bench.scratch / "a").open("wb") as file:
        for _ in range(20):
            file.write(b"0123456789abcde\n" * 65_536)

    text = await bench.call("read_file", path="a")

    assert "of more; read on with offset=1001" in text


async def test_binary_is_described_and_never_dumped(bench: Bench) -> None:
    (bench.scratch / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(90))
    (bench.scratch / "b").write_bytes(bytes(range(256)))

    assert await bench.call("read_file", path="a.png") == (
        "[scratch/a.png is no text: a PNG image, 106 bytes]"
    )
    assert "binary data" in await bench.call("read_file", path="b")


async def test_an_empty_file_and_a_folder_are_said_to_be_so(bench: Bench) -> None:
    (bench.scratch / "a").touch()
    (bench.scratch / "d").mkdir()

    assert await bench.call("read_file", path="a") == "[scratch/a is empty]"
    assert "list_files" in await bench.refused("read_file", path="scratch/d")


async def test_old_encodings_are_shown_as_far_as_they_go(bench: Bench) -> None:
    (bench.scratch / "a").write_bytes("Größe in Metern".encode("latin-1"))

    text = await bench.call("read_file", path="a")

    assert "in Metern" in text
    assert "not valid UTF-8" in text


async def test_a_folder_is_listed_with_names_and_sizes(bench: Bench) -> None:
    (bench.scratch / "sub").mkdir()
    (bench.scratch / "a.md").write_text("x" * 1234)

    text = await bench.call("list_files", path="scratch/")

    assert text == "scratch/\n  a.md  1,234 bytes\n  sub/"
    assert await bench.call("list_files", path=".") == text


async def test_only_five_hundred_names_are_listed(bench: Bench) -> None:
    for number in range(507):
        (bench.scratch / f"{number:03d}").touch()

    text = await bench.call("list_files", path="scratch")

    assert text.count("bytes") == 500
    assert "[7 more names are not shown]" in text


async def test_shared_folders_list_only_what_may_be_read(bench: Bench) -> None:
    (bench.run / "_run.yaml").write_text("x")
    (bench.run / "_plan.md").write_text("x")

    run = await bench.call("list_files", path="run/")
    nodes = await bench.call("list_files", path="nodes/")
    node = await bench.call("list_files", path="nodes/amd")
    shared = await bench.call("list_files", path="nodes/open")

    assert "_plan.md" in run
    assert "_run.yaml" not in run
    assert "workers" not in run
    assert "amd/" in nodes
    assert "published/" in node
    assert "scratch/" not in node
    assert "scratch/" in shared


async def test_an_empty_scope_and_a_missing_folder_are_told_apart(bench: Bench) -> None:
    (bench.home / "inputs").rmdir()

    assert await bench.call("list_files", path="inputs/") == "inputs/ is empty."
    assert "not there" in await bench.refused(
        "list_files", path="nodes/ghost/published"
    )


async def test_the_coordinator_rewrites_the_spec_of_a_node_that_has_not_started(
    bench: Bench,
) -> None:
    spec = bench.run / "nodes/amd/_spec.md"
    spec.write_text("---\ntitle: AMD\n---\nDo it.\n")
    new = "---\ntitle: AMD\n---\nDo it well.\n"

    await bench.call("write_file", bench.boss, path="nodes/amd/_spec.md", content=new)

    assert spec.read_text() == new


@pytest.mark.parametrize(
    ("spec", "status", "new", "word"),
    [
        ("Do it.", "running", "Other.", "has started (running)"),
        ("Do it.", "completed", "Other.", "has started (completed)"),
        ("Do it.", "pending", "---\nmax_turns: many\n---\nX", "max_turns"),
        ("Do it.", "pending", "---\nbudget: {usd: 99}\n---\nX", "budget"),
        ("Do it.", "pending", "---\nparent: open\n---\nX", "parent"),
        (None, "pending", "Other.", "create_work_node"),
    ],
)
async def test_a_spec_that_may_not_be_written_is_refused(
    bench: Bench, spec: str | None, status: str, new: str, word: str
) -> None:
    folder = bench.run / "nodes/amd"
    if spec is not None:
        (folder / "_spec.md").write_text(spec)
    (folder / "_status.md").write_text(f"---\nstatus: {status}\n---\n")

    said = await bench.refused(
        "write_file", bench.boss, path="nodes/amd/_spec.md", content=new
    )

    assert word in said


async def test_a_worker_writes_only_the_specs_of_its_own_children(bench: Bench) -> None:
    amd, other = (bench.run / f"nodes/{n}/_spec.md" for n in ("amd", "open"))
    amd.write_text("---\nparent: nvidia\n---\nDo it.\n")
    other.write_text("Do it.\n")

    await bench.call("edit_file", path="nodes/amd/_spec.md", old="it", new="that")
    said = await bench.refused(
        "edit_file", path="nodes/open/_spec.md", old="it", new="x"
    )

    assert amd.read_text() == "---\nparent: nvidia\n---\nDo that.\n"
    assert "not a child" in said


async def test_a_persons_change_to_a_spec_is_not_written_over_unseen(
    bench: Bench,
) -> None:
    spec = bench.run / "nodes/amd/_spec.md"
    spec.write_text("Do it.\n")
    await bench.call("read_file", bench.boss, path="nodes/amd/_spec.md")
    spec.write_text("Do it in French.\n")

    said = await bench.refused(
        "write_file", bench.boss, path="nodes/amd/_spec.md", content="Do it now.\n"
    )

    assert "+Do it in French." in said
    assert spec.read_text() == "Do it in French.\n"


async def test_a_ref_to_one_file_is_read_by_its_name(bench: Bench) -> None:
    (bench.run / "nodes/amd/published/f.md").write_text("MI300\n")
    (bench.node / "_refs.json").write_text(
        '{"amd": [{"path": "nodes/amd/published/f.md", "size": 6, "sha256": "x"}]}'
    )

    text = await bench.call("read_ref", ref_name="amd")

    assert text == "[nodes/amd/published/f.md]\nMI300\n"


async def test_several_small_files_are_read_together_and_large_ones_listed(
    bench: Bench,
) -> None:
    published = bench.run / "nodes/amd/published"
    (published / "a.md").write_text("A")
    (published / "b.md").write_text("B")
    entry = '{"path": "amd/published/%s", "size": %d}'
    small = ", ".join(entry % (name, 1) for name in ("a.md", "b.md"))
    large = ", ".join(entry % (name, 20_000) for name in ("a.md", "b.md"))
    (bench.node / "_refs.json").write_text(f'{{"s": [{small}], "l": [{large}]}}')

    assert await bench.call("read_ref", ref_name="s") == (
        "[nodes/amd/published/a.md]\nA\n\n[nodes/amd/published/b.md]\nB"
    )
    listed = await bench.call("read_ref", ref_name="l")
    assert "nodes/amd/published/a.md  20,000 bytes" in listed
    assert "read_file" in listed


async def test_an_unknown_ref_names_the_known_ones(bench: Bench) -> None:
    assert "no refs" in await bench.refused("read_ref", ref_name="amd")
    (bench.node / "_refs.json").write_text('{"amd": [], "intel": []}')
    assert "refs are amd" in await bench.refused("read_ref", ref_name="adm")
    assert "Only a node" in await bench.refused("read_ref", bench.boss, ref_name="x")


async def test_without_an_open_run_nothing_is_written(bench: Bench) -> None:
    said = await bench.refused(
        "write_file", replace(bench.boss, run=None), path="a.md", content="x"
    )

    assert "No run is open" in said
