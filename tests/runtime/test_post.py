"""The post room: every notice reaches each channel once, whatever the channel does."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agiraph.core import notices
from agiraph.errors import NotSent
from agiraph.model.agent import TreeSettings
from agiraph.model.names import COORDINATOR
from agiraph.model.notice import Channel, Desktop, NoticeKind, Program, Webhook
from agiraph.runtime.root import post
from agiraph.runtime.root.post import PostRoom
from agiraph.runtime.root.presence import RootPresence
from tests.support.inside import AGENT, call, inside, node, say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

    from agiraph.model.notice import Notice, Parcel
    from tests.support.inside import Inside

HOOK = Channel(Webhook("https://hook.example/x"))


class Carrier:
    """The port `Messenger`: keeps what it was given; refuses, or hangs, on demand."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Parcel]] = []
        self.refuses: set[str] = set()
        self.hangs: set[str] = set()
        self.tries = 0

    async def send(self, channel: Channel, parcel: Parcel) -> None:
        self.tries += 1
        if channel.word in self.hangs:
            await asyncio.Event().wait()
        if channel.word in self.refuses:
            raise NotSent("it answered with HTTP 500")
        self.sent.append((channel.word, parcel))

    def notices(self, word: str = "webhook") -> list[Notice]:
        return [n for to, parcel in self.sent if to == word for n in parcel.notices]

    def ids(self, word: str = "webhook") -> list[str]:
        return [each.id for each in self.notices(word)]


@asynccontextmanager
async def sending(
    a: Inside, carrier: Carrier, *channels: Channel
) -> AsyncIterator[None]:
    """The post room at work, as the daemon has it."""
    if not isinstance(a.world.notices, PostRoom):  # nor after a restart
        a.world.notices = PostRoom(a.world, carrier)
    a.world.settings = TreeSettings(notify=channels or (HOOK,))
    a.world.notices.settings_changed()
    task = asyncio.create_task(a.world.notices.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def failing(a: Inside) -> list[dict[str, object]]:
    path = a.root / ".agiraph/notify.json"
    return list(json.loads(path.read_text())) if path.exists() else []


async def tell(a: Inside, *words: str) -> None:
    for each in words:
        await a.desk.mail.to_outbox("Alice", each, f"m:{each}")


async def test_questions_messages_and_the_end_are_told(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        async with sending(a, carrier):
            a.model.says(
                COORDINATOR,
                call("ask_human", question="Which?", options=["A", "B"]),
                call("send_message", to="human", content="I have begun."),
                call("finish", summary="Done."),
            )
            await a.begin()
            await a.until(lambda: len(carrier.notices()) == 3)

        question, message, end = carrier.notices()
        assert question.kind is NoticeKind.QUESTION
        assert question.text == "Which?\n- A\n- B"
        assert question.command == 'agiraph answer a q-001 "..."'
        assert message.text == "I have begun."
        assert end.kind is NoticeKind.FINISHED


async def test_an_approval_shows_what_would_be_done(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        only = Channel(HOOK.way, frozenset({NoticeKind.APPROVAL}))
        async with sending(a, carrier, only):
            a.model.says(COORDINATOR, call("bash", command="git push"))
            await a.begin(permissions={"bash": "ask"})
            await a.until(carrier.notices)

        (notice,) = carrier.notices()
        assert "\ngit push\n" in notice.text
        assert notice.command.endswith("--yes|--no|--always")


async def test_the_channel_that_was_asked_for_is_honoured(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        quiet = Channel(HOOK.way, frozenset({NoticeKind.FAILED}))
        desktop = Channel(Desktop(), frozenset({NoticeKind.QUESTION}))
        async with sending(a, carrier, quiet, desktop):
            a.model.says(
                COORDINATOR,
                call("ask_human", question="One?", channel="webhook"),
                call("ask_human", question="Two?", channel="cli"),
                call("ask_human", question="Three?"),
                call("ask_human", question="Four?", channel="email"),
                say("ok"),
            )
            await a.begin()
            await a.until(lambda: len(carrier.sent) == 3)

        assert [n.text for n in carrier.notices()] == ["One?"]
        desk = [n.text for n in carrier.notices("desktop")]
        assert sorted(desk) == ["Four?", "Three?"]


async def test_one_that_fails_is_tried_again_and_shown_and_stops_no_other(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        carrier.refuses.add("webhook")
        await a.begin()
        async with sending(a, carrier, HOOK, Channel(Desktop())):
            await tell(a, "one")
            await a.until(lambda: carrier.ids("desktop") == ["m:one"])
            await a.until(lambda: failing(a))
            (shown,) = failing(a)
            assert shown["channel"] == "webhook hook.example"
            assert shown["error"] == "it answered with HTTP 500"
            assert shown["waiting"] == 1
            carrier.refuses.clear()
        # What waits is on the disk: the next post room sends it.
        await a.restart()
        async with sending(a, carrier, HOOK, Channel(Desktop())):
            await a.until(lambda: carrier.ids() == ["m:one"])
            await a.until(lambda: failing(a) == [])

        assert carrier.ids("desktop") == ["m:one"]


async def test_a_start_without_a_handle_left_goes_on_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.open, [1]

    def refuses(path: str, *args: int, **more: int | None) -> int:
        if left[0] and path == str(tmp_path):
            left[0] -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(path, *args, **more)

    async with inside(tmp_path) as a:
        carrier = Carrier()
        await a.begin()
        monkeypatch.setattr(os, "open", refuses)
        async with sending(a, carrier):
            await a.until(lambda: not left[0])
            left[0] = 1  # nor the second time that it reads
            await a.until(lambda: not left[0])
            await tell(a, "one")
            await a.until(lambda: carrier.ids() == ["m:one"])


async def test_one_that_hangs_blocks_neither_the_loops_nor_the_others(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        carrier.hangs.add("webhook")
        async with sending(a, carrier, HOOK, Channel(Program(("x",)))):
            a.model.says(COORDINATOR, call("ask_human", question="Which?"), say("ok"))
            await a.begin()
            await a.asked(COORDINATOR, 2)
            await a.until(lambda: carrier.ids("command") == ["q-001:0"])

        assert carrier.ids() == []


async def test_nothing_is_sent_twice_over_restarts(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        a.model.says(COORDINATOR, call("ask_human", question="Which?"), say("ok"))
        await a.begin()
        async with sending(a, carrier):
            await tell(a, "one", "two")
            await a.until(lambda: len(carrier.ids()) >= 2)
        for _ in range(3):
            await a.restart()
            async with sending(a, carrier):
                await tell(a, "one", "two")
                await asyncio.sleep(0.1)

        assert sorted(set(carrier.ids())) == sorted(carrier.ids())
        assert {"m:one", "m:two"} <= set(carrier.ids())


async def test_what_was_told_before_a_long_record_was_begun_anew_is_not_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post, "KEPT", 0)
    async with inside(tmp_path) as a:
        carrier = Carrier()
        await a.begin()
        async with sending(a, carrier):
            await tell(a, "one", "two")
            record = a.home / "_state/notices.jsonl"
            await a.until(lambda: '"known"' in record.read_text("utf-8"))
        await a.restart()
        async with sending(a, carrier):
            await tell(a, "one", "three")
            await a.until(lambda: "m:three" in carrier.ids())
        assert carrier.ids().count("m:one") == 1


async def test_a_copied_home_does_not_send_what_its_original_kept(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        carrier.refuses.add("webhook")
        await a.begin()
        async with sending(a, carrier):
            await tell(a, "one")
            await a.until(lambda: failing(a))
        copy = a.root / "b/_state"
        copy.mkdir(parents=True)
        record = (a.home / "_state/notices.jsonl").read_text()
        (copy / "notices.jsonl").write_text(record)
        carrier.refuses.clear()
        await a.restart()
        async with sending(a, carrier):
            await a.until(carrier.ids)
            await asyncio.sleep(0.1)

        assert carrier.ids() == ["m:one"]
        assert {each.agent for each in carrier.notices()} == {AGENT}


async def test_hundreds_at_once_are_a_few_parcels_and_none_is_lost(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        await a.begin()
        async with sending(a, carrier):
            async with asyncio.TaskGroup() as group:
                for number in range(200):
                    group.create_task(tell(a, f"word {number}"))
            assert len(carrier.sent) <= 2 * notices.PER_MINUTE
        a.clock.ahead += 61
        a.world.notices = PostRoom(a.world, carrier)  # as after a restart
        async with sending(a, carrier):
            await a.until(lambda: len(carrier.ids()) == 200)

        assert len(set(carrier.ids())) == 200


async def test_quiet_hours_hold_back_and_then_send_all_as_one(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        await a.begin()
        now = a.clock.now().astimezone(a.clock.zone())
        minute = now.hour * 60 + now.minute
        quiet = Channel(HOOK.way, quiet=(minute, (minute + 2) % 1440))
        async with sending(a, carrier, quiet):
            await tell(a, "one", "two")
            await a.stays(lambda: carrier.tries == 0)
        a.clock.ahead += 180
        async with sending(a, carrier, quiet):
            await a.until(lambda: carrier.sent)

        ((_, parcel),) = carrier.sent
        assert [each.id for each in parcel.notices] == ["m:one", "m:two"]


async def test_while_the_person_is_away_all_is_held_back_and_then_sent_as_one(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier, presence = Carrier(), RootPresence(a.world)
        await a.begin()
        (a.root / "AWAY").write_text("until: 2099-01-01\n")
        assert presence.look()
        async with sending(a, carrier):
            await tell(a, "one", "two")
            await a.stays(lambda: carrier.tries == 0)
            await a.leap(2 * 86400)
            await a.look()
        (a.root / "AWAY").unlink()
        assert presence.look() is None
        async with sending(a, carrier):
            await a.until(lambda: carrier.sent)

        ((_, parcel),) = carrier.sent
        assert [each.id for each in parcel.notices] == ["m:one", "m:two"]


async def test_a_channel_that_is_taken_out_drops_what_waits_for_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        carrier = Carrier()
        carrier.refuses.add("webhook")
        await a.begin()
        async with sending(a, carrier):
            await tell(a, "one")
            await a.until(lambda: failing(a))
            a.world.settings = TreeSettings(notify=(Channel(Desktop()),))
            a.world.notices.settings_changed()
            await tell(a, "two")
            await a.until(lambda: carrier.ids("desktop") == ["m:two"])
            await a.until(lambda: failing(a) == [])


async def test_without_channels_nothing_is_kept(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, node("n"), say("ok"))
        await a.begin()
        await tell(a, "one")

        assert not (a.home / "_state/notices.jsonl").exists()
