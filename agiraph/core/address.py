"""To whom a typed message goes, whether it is urgent, which question it answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agiraph.model.message import InboxMessage
from agiraph.model.names import COORDINATOR, EVERYONE, question_id

if TYPE_CHECKING:
    from collections.abc import Sequence

_TO = re.compile(r'@(?:"([^"\n]+)"|([^\s"@,:;!?()]+))[,:]?(?=\s|$)\s*')
_REPLY = re.compile(r"q-([0-9]{1,9})\s*:\s*(.*)", re.IGNORECASE | re.DOTALL)
_OPENS = re.compile(
    r'!?\s*@("[^"\n]+"|[\w.-]+)[,:]?\s+\S|q-[0-9]{1,9}\s*:|!\s*\w', re.IGNORECASE
)
_FENCE = re.compile(r"\s*(```|~~~)")


def addressed(text: str, to: str = COORDINATOR) -> InboxMessage:
    """A typed text as a message.

    `@alice …` or `@"Big Bob" …` goes to a worker, `@all …` to everyone; a leading `!`,
    before the address or behind it, is urgent (`![` opens a picture and is not).

    Args:
        text: what was typed.
        to: who gets it when it does not say.
    """
    rest, urgent, addressee = text.strip(), False, ""
    while True:
        if rest.startswith("!") and not rest.startswith("!["):
            rest, urgent = rest.lstrip("!").lstrip(), True
        elif not addressee and (match := _TO.match(rest)):
            addressee = match[1] or match[2]
            rest = rest[match.end() :]
        else:
            break
    if not rest:
        return InboxMessage(text.strip(), to, urgent)
    reply = _REPLY.match(rest)
    return InboxMessage(
        text=rest,
        to=receiver(addressee.rstrip(".")) if addressee else to,
        urgent=urgent,
        reply_to=question_id(int(reply[1])) if reply else "",
        answer=reply[2].strip() if reply else "",
    )


def apart(lines: Sequence[str]) -> list[int]:
    """Where in lines that came together another message opens, by its address.

    Two programs that append one line each, at the same moment, mean two messages. Lines
    inside of a code fence open none.
    """
    opens: list[int] = []
    fenced = False
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif at and not fenced and _OPENS.match(line):
            opens.append(at)
    return opens


def receiver(typed: str) -> str:
    """Whom a name means that a person wrote, with an `@` before it or without."""
    name = typed.removeprefix("@")
    if name.casefold() in ("all", EVERYONE):
        return EVERYONE
    return COORDINATOR if name.casefold() == COORDINATOR else name
