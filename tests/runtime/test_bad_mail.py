"""Bad input in inboxes: it is told where it stands, and nothing good is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec.outbox import read_outbox
from agiraph.core.limits import OUTBOX_MOST
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, inside, node, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside


async def begun(a: Inside) -> None:
    a.model.says(COORDINATOR, node("n", worker="Alice"), say("I wait."))
    await a.begin()
    await a.asked(COORDINATOR, 2)
    await a.asked("n")


MANY = 300  # a thousand take the same way, and three times as long
BAD = [
    (b"x" * 10_000_000 + b"\n", "bytes"),
    ("Grüße\n".encode("latin-1"), "UTF-8"),
    (b"one\n<<<<<<< HEAD\ntwo\n=======\nthree\n>>>>>>> b\n", "conflict"),
    (b"one\0two\n", "NUL"),
]


@pytest.mark.parametrize(("data", "word"), BAD, ids=[word for _, word in BAD])
@pytest.mark.parametrize("name", ["_inbox.md", "_inbox/a.md"])
async def test_what_cannot_be_read_is_told_and_mended(
    tmp_path: Path, name: str, data: bytes, word: str
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        path, page = a.home / name, a.home / f"{name}.error.md"
        path.write_bytes(data)
        await a.look()
        assert word in page.read_text("utf-8")
        assert path.read_bytes() == data
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2, 0.1)
        path.write_text("Now it is good.\n")
        await a.look()
        await a.asked(COORDINATOR, 3)

        assert a.told().count("Now it is good.") == 1
        assert not page.exists()


@pytest.mark.parametrize("text", ["\n", " \n\t\n", "---\n\n---\n", "\u3000\n"])
async def test_white_space_is_no_message_and_no_fault(
    tmp_path: Path, text: str
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        a.write("_inbox.md", text)
        await a.look()

        await a.stays(lambda: a.model.asked(COORDINATOR) == 2, 0.1)
        assert not (a.home / "_inbox.md.error.md").exists()
        a.write("_inbox.md", f"{text}---\nHello.\n")
        await a.look()
        await a.asked(COORDINATOR, 3)
        assert a.told().count("Hello.") == 1


async def test_a_large_message_is_kept_whole_and_shown_in_part(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        a.write("_inbox.md", "Long: " + "word " * 1_400_000 + "end\n")
        await a.look()
        await a.asked(COORDINATOR, 3)

        assert len(a.told()) < 200_000
        (kept,) = (a.run / "_messages").glob("*_human_to_coordinator.md")
        assert kept.read_text().rstrip().endswith("end")
        assert kept.stat().st_size > 7_000_000


async def test_hundreds_at_once_all_arrive_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        blocks = [f"number {at} of many" for at in range(MANY)]
        a.write("_inbox.md", "\n---\n".join(blocks) + "\n")
        for at in range(30):
            a.write(f"_inbox/{at:04}.md", f"dropped {at} too\n")
        await a.look()
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, say("So many."))
        await a.until(lambda: "dropped 29 too" in a.told())

        told = a.told()
        assert all(told.count(f"number {at} of many") == 1 for at in range(MANY))
        assert all(told.count(f"dropped {at} too") == 1 for at in range(30))
        assert a.model.asked(COORDINATOR) < 20
        await a.restart()
        await a.look()
        assert a.told().count(" of many") == MANY


async def test_to_somebody_unknown_the_coordinator_has_it_and_the_person_is_told(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        a.write("_inbox.md", "@Bob hello there\n")
        await a.look()
        await a.asked(COORDINATOR, 3)

        assert "hello there" in a.told()
        outbox = a.outbox()
        assert "there is no worker 'Bob'; the coordinator has your message" in outbox


async def test_the_outbox_is_capped_and_its_old_parts_are_kept(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await begun(a)
        for at in range(40):
            await a.desk.mail.to_outbox("Alice", f"{at} " + "word " * 2000, f"m:{at}")

        outbox = a.outbox()
        (old,) = (a.home / "conversations").glob("outbox-*.md")
        assert len(outbox) <= OUTBOX_MOST
        both = [*read_outbox(old.read_text()), *read_outbox(outbox)]
        assert [each.text.split()[0] for each in both] == [str(at) for at in range(40)]
        assert read_outbox(outbox)[-1].text.startswith("39 ")


async def test_who_asks_is_told_that_the_person_is_away(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.world.away = "until Monday"
        a.model.says(COORDINATOR, call("ask_human", question="Which?"), say("ok"))
        await a.begin()
        await a.asked(COORDINATOR, 2)

        assert "The person is away until Monday." in a.results("ask_human")[0]


async def test_a_key_that_nobody_knows_is_told_on_the_agents_page_until_it_is_mended(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await a.begin(bugdet={"usd": 5})
        page = a.home / "_status.md"
        words = "the key `bugdet` is unknown and ignored; did you mean `budget`?"
        await a.until(page.is_file)
        await a.until(lambda: f"GOAL.md, line 2: {words}" in page.read_text())

        a.goal("The goal.", budget={"usd": 5})
        await a.look()
        await a.until(lambda: "bugdet" not in page.read_text())
