"""A parcel as the body of a POST: plain JSON, or as Slack and Discord take it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from agiraph.errors import NotSent
from agiraph.model.notice import Format

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.notice import Notice, Parcel

_SLACK_MOST: Final = 3000  # characters that Slack shows of one text
_DISCORD_MOST: Final = 2000  # characters that Discord takes at most


async def post(address: str, shape: Format, token: str, parcel: Parcel) -> None:
    """Post it.

    Raises:
        NotSent: there was no answer, or another one than 2xx.
    """
    import httpx  # noqa: PLC0415 - slow to load

    mark = hashlib.sha256(parcel.id.encode()).hexdigest()[:32]
    headers = {"Content-Type": "application/json", "Idempotency-Key": mark}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = json.dumps(body(shape, parcel), ensure_ascii=False).encode()
    try:
        host = urlsplit(address).hostname
        async with (
            httpx.AsyncClient(timeout=None) as client,  # noqa: S113 - the caller's limit
            client.stream("POST", address, content=data, headers=headers) as answer,
        ):
            status = answer.status_code
    except (
        httpx.HTTPError,
        httpx.StreamError,
        httpx.InvalidURL,
        OSError,
        ValueError,
    ) as fault:
        why = type(fault).__name__  # its text may hold the address, and that a secret
        raise NotSent(f"it could not be reached ({why})") from None
    if not 200 <= status < 300:
        raise NotSent(f"{host} answered with HTTP {status}")


def body(shape: Format, parcel: Parcel) -> JsonObject:
    """What is posted."""
    match shape:
        case Format.SLACK:
            text = f"*{_escaped(parcel.title)}*\n{_escaped(_with_how(parcel))}"
            return {"text": _cut(text, _SLACK_MOST)}
        case Format.DISCORD:
            text = f"**{parcel.title}**\n{_with_how(parcel)}"
            # Words of a model may not call everybody on a server.
            return {
                "content": _cut(text, _DISCORD_MOST),
                "allowed_mentions": {"parse": []},
            }
        case Format.JSON:
            return {
                "id": parcel.id,
                "title": parcel.title,
                "text": parcel.text,
                "notices": [_plain(each) for each in parcel.notices],
            }


def _plain(notice: Notice) -> JsonObject:
    return {
        "id": notice.id,
        "kind": notice.kind.value,
        "agent": notice.agent,
        "title": notice.title,
        "text": notice.text,
        "ts": notice.ts,
        "file": notice.file,
        "command": notice.command,
    }


def _with_how(parcel: Parcel) -> str:
    """The text, and how one notice by itself is answered."""
    command = parcel.notices[0].command if len(parcel.notices) == 1 else ""
    return f"{parcel.text}\n{command}" if command else parcel.text


def _escaped(text: str) -> str:
    """The three characters that mean something to Slack (its page on formatting)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
