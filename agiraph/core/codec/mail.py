"""Message files: those of a run, and those that programs drop into `_inbox/`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.address import addressed, receiver
from agiraph.core.codec import emit, kinds
from agiraph.core.codec.goal import need_body
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.model.message import InboxMessage, Message
from agiraph.model.names import COORDINATOR, EVERYONE

if TYPE_CHECKING:
    from agiraph.model.json import Json

_LONGEST_PART = 80


def message_name(number: int, sender: str, to: str) -> str:
    """The file's name, e.g. `000001_alice_to_bob.md`; everyone is `all`."""
    return f"{number:06d}_{_part(sender)}_to_{_part(to)}.md"


def write_message(message: Message) -> str:
    """The text of a message file; reading it gives the same message."""
    keys: dict[str, Json] = {
        "id": message.id,
        "from": message.sender,
        "to": message.to,
        "ts": message.ts,
    }
    if message.urgent:
        keys["urgent"] = True
    if message.readers:
        keys["readers"] = list(message.readers)
    return emit.page(keys, message.text)


def read_message(text: str) -> Good[Message] | Rejected:
    """The message that a file holds."""
    findings = Findings.none_yet()
    page = read_page(text, findings)
    top = page.settings
    message = Message(
        id=top.need("id", kinds.text, "the message's id") or "",
        sender=top.need("from", kinds.text, "who sent it") or "",
        to=top.need("to", kinds.text, "to whom it goes") or "",
        ts=top.get("ts", kinds.text, ""),
        text=page.body,
        urgent=top.get("urgent", kinds.flag, default=False),
        readers=top.get("readers", kinds.many(kinds.text), ()),
    )
    return findings.rejected() if findings.problems else Good(message)


def read_dropped(text: str, *, to: str = COORDINATOR) -> Good[InboxMessage] | Rejected:
    """What a program says by a file in `_inbox/`: one file, one message.

    Args:
        text: the whole file; its settings may say `to:` and `urgent:`.
        to: who gets it when neither the settings nor its first word say.
    """
    findings = Findings.none_yet()
    page = read_page(text, findings)
    top = page.settings
    message = addressed(page.body, to)
    stated = top.get("to", kinds.line, "")
    if stated:
        message = replace(message, to=receiver(stated))
    urgent = top.get("urgent", kinds.flag, default=False)
    top.close()
    need_body(page, findings, "the message, in words")
    if findings.problems:
        return findings.rejected()
    return Good(
        replace(message, urgent=urgent or message.urgent), tuple(findings.remarks)
    )


def _part(name: str) -> str:
    if name == EVERYONE:
        return "all"
    safe = "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
    return safe.encode()[:_LONGEST_PART].decode(errors="ignore") or "someone"
