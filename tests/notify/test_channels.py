"""The channels against servers and programs of this machine, obedient and not."""

from __future__ import annotations

import asyncio
import email
import email.policy
import json
import sys
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import NotSent
from agiraph.model.notice import (
    Channel,
    Desktop,
    Email,
    Format,
    Notice,
    NoticeKind,
    Parcel,
    Program,
    Security,
    Webhook,
)
from agiraph.notify.messenger import Outward
from agiraph.notify.programs import desktop
from agiraph.notify.webhook import body
from tests.support import listeners

if TYPE_CHECKING:
    from pathlib import Path

NOTICE = Notice(
    "q-001:0",
    NoticeKind.QUESTION,
    "news",
    "Alice of news asks (q-001)",
    "Which <year> & why?\n- [ ] 2024 ☃",
    "2026-11-21T20:14:03+00:00",
    "news/_questions/q-001.md",
    'agiraph answer news q-001 "..."',
)
PARCEL = Parcel("news:q-001:0 ☃", NOTICE.title, NOTICE.text, (NOTICE,))
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOOK_TOKEN": "s3cret", "API_KEY": "k"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


async def send(way: object, *, patience: float = 20.0) -> None:
    outward = Outward(ENVIRONMENT, patience=patience)
    await outward.send(Channel(way), PARCEL)  # type: ignore[arg-type]


def mailbox(server: listeners.Post, **more: object) -> Email:
    return Email(
        "127.0.0.1",
        "a@example.org",
        ("b@example.org", "c@example.org"),
        server.port,
        security=Security.NONE,
        **more,  # type: ignore[arg-type]
    )


async def test_a_webhook_gets_everything_as_json() -> None:
    async with listeners.hook() as hook:
        await send(Webhook(hook.url, token_env="HOOK_TOKEN"))

    (got,), (head,) = hook.bodies, hook.heads
    assert got["title"] == NOTICE.title
    assert got["notices"][0]["kind"] == "question"
    assert got["notices"][0]["file"] == "news/_questions/q-001.md"
    assert "authorization: Bearer s3cret" in head.replace(
        "Authorization", "authorization"
    )
    assert "idempotency-key" in head.lower()


def test_slack_and_discord_get_their_own_shape() -> None:
    slack = body(Format.SLACK, PARCEL)["text"]
    assert isinstance(slack, str)
    assert slack.startswith(
        "*Alice of news asks (q-001)*\nWhich &lt;year&gt; &amp; why?"
    )
    assert slack.endswith('agiraph answer news q-001 "..."')
    long = Parcel("x", "t", "@everyone " * 1000, (NOTICE,))
    discord = body(Format.DISCORD, long)
    assert len(str(discord["content"])) == 2000
    assert discord["allowed_mentions"] == {"parse": []}


async def test_an_address_may_come_from_a_variable() -> None:
    async with listeners.hook() as hook:
        outward = Outward({"HOOK": hook.url})
        await outward.send(Channel(Webhook("${HOOK}")), PARCEL)
        assert len(hook.bodies) == 1
    with pytest.raises(NotSent, match="variable HOOK of the daemon is not set"):
        await send(Webhook("${HOOK}"))


@pytest.mark.parametrize("status", [301, 400, 404, 429, 500])
async def test_a_webhook_that_refuses_is_said_to(status: int) -> None:
    async with listeners.hook(status) as hook:
        with pytest.raises(NotSent, match=f"127.0.0.1 answered with HTTP {status}"):
            await send(Webhook(hook.url))


async def test_a_webhook_that_hangs_takes_no_longer_than_its_limit() -> None:
    async with listeners.hook(0) as hook:
        with pytest.raises(NotSent, match="did not answer within"):
            await send(Webhook(hook.url), patience=0.3)


async def test_nobody_there_is_said_without_the_address() -> None:
    async with listeners.hook() as hook:
        gone = hook.url
    with pytest.raises(NotSent, match="could not be reached") as said:
        await send(Webhook(f"{gone}/T0KEN"))
    assert "T0KEN" not in str(said.value)


async def test_a_mail_is_whole_and_goes_to_everyone() -> None:
    async with listeners.post() as server:
        await send(mailbox(server))

    (got,) = server.mails
    mail = email.message_from_string(got, policy=email.policy.default)
    assert mail["Subject"] == NOTICE.title
    assert mail["To"] == "b@example.org, c@example.org"
    text = mail.get_content()
    assert "2024 ☃" in text
    assert "news/_questions/q-001.md; agiraph answer news q-001" in text


@pytest.mark.parametrize("word", ["MAIL", "RCPT", "DATA"])
async def test_a_mail_server_that_refuses_is_said_to(word: str) -> None:
    async with listeners.post(refuses=word) as server:
        with pytest.raises(NotSent, match="not from you"):
            await send(mailbox(server))
        assert server.mails == []


async def test_a_mail_server_that_hangs_takes_no_longer_than_its_limit() -> None:
    async with listeners.post(hangs="MAIL") as server:
        with pytest.raises(NotSent, match="did not answer within"):
            await send(mailbox(server), patience=0.5)


async def test_a_password_is_not_sent_where_nothing_protects_it() -> None:
    async with listeners.post() as server:
        way = Email(
            "127.0.0.1",
            "a@example.org",
            ("b@example.org",),
            server.port,
            "me",
            "API_KEY",
        )
        with pytest.raises(NotSent, match="STARTTLS"):
            await send(way)


async def test_a_program_gets_the_text_and_no_secrets(tmp_path: Path) -> None:
    script = (
        "import json, os, sys; "
        f"open({str(tmp_path / 'got')!r}, 'w').write("
        "json.dumps([dict(os.environ), sys.stdin.read(), sys.argv[1:]]))"
    )
    await send(Program((sys.executable, "-c", script, "an argument")))

    variables, text, arguments = json.loads((tmp_path / "got").read_text())
    assert text == NOTICE.text
    assert arguments == ["an argument"]
    assert variables["AGIRAPH_KIND"] == "question"
    assert variables["AGIRAPH_AGENT"] == "news"
    assert variables["AGIRAPH_FILE"] == NOTICE.file
    assert not {"HOOK_TOKEN", "API_KEY"} & set(variables)


async def test_a_program_that_fails_hangs_or_is_not_there_is_said() -> None:
    with pytest.raises(NotSent, match="exit code 3 oh no"):
        await send(Program(("sh", "-c", "echo oh no >&2; exit 3")))
    with pytest.raises(NotSent, match="could not be started"):
        await send(Program(("there-is-no-such-program",)))
    with pytest.raises(NotSent, match="did not answer"):
        await send(Program(("sh", "-c", "sleep 60 & wait")), patience=0.3)


async def test_a_program_that_reads_nothing_is_no_fault() -> None:
    long = Parcel("x", "t", "y" * 1_000_000, (NOTICE,))
    await Outward(ENVIRONMENT).send(Channel(Program(("true",))), long)


def test_a_desktop_is_told_without_markup_or_options() -> None:
    odd = Parcel("x", "-t", "<b>&" * 500, (NOTICE,))
    linux, apple = desktop("linux", odd), desktop("darwin", odd)

    assert linux[:3] == ("notify-send", "--app-name=Agiraph", "--")
    assert "<" not in linux[-1]
    assert apple[0] == "osascript"
    assert apple[-2] == "-t"


async def test_a_machine_without_a_desktop_says_so() -> None:
    outward = Outward({"PATH": "/nowhere"}, platform="linux")
    with pytest.raises(NotSent, match="notify-send"):
        await outward.send(Channel(Desktop()), PARCEL)


async def test_a_channel_can_be_given_up_at_any_moment() -> None:
    async with listeners.post(hangs="EHLO") as server:
        task = asyncio.create_task(send(mailbox(server), patience=5))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
