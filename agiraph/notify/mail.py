"""A parcel as a mail, handed to one mail server."""

from __future__ import annotations

import asyncio
import hashlib
import smtplib
import ssl
import threading
from email.message import EmailMessage
from typing import TYPE_CHECKING

from agiraph.errors import NotSent
from agiraph.model.notice import Security

if TYPE_CHECKING:
    from agiraph.model.notice import Email, Parcel


async def send(way: Email, password: str, parcel: Parcel, *, patience: float) -> None:
    """Hand it over.

    A thread of its own does it, and is left to its time limit where nobody waits for
    it any more: a daemon that ends is not held up by a mail server.

    Raises:
        NotSent: it was refused, or could not be reached.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[str] = loop.create_future()

    def tell(words: str) -> None:
        if not done.done():
            done.set_result(words)

    def work() -> None:
        words = _hand_over(way, password, parcel, patience)
        if not loop.is_closed():
            loop.call_soon_threadsafe(tell, words)

    threading.Thread(target=work, name="mail", daemon=True).start()
    words = await done
    if words:
        raise NotSent(words)


def _hand_over(way: Email, password: str, parcel: Parcel, patience: float) -> str:
    """Words on what went wrong; empty where it was taken."""
    try:
        with _server(way, patience) as server:
            if way.security is Security.STARTTLS:
                server.starttls(context=ssl.create_default_context())
            if way.user:
                server.login(way.user, password)
            server.send_message(letter(way, parcel))
    except (smtplib.SMTPException, OSError, ValueError) as fault:
        return f"{way.host}: {' '.join(str(fault).split())[:200]}"
    return ""


def _server(way: Email, patience: float) -> smtplib.SMTP:
    if way.security is Security.SSL:
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(way.host, way.port, timeout=patience, context=context)
    return smtplib.SMTP(way.host, way.port, timeout=patience)


def letter(way: Email, parcel: Parcel) -> EmailMessage:
    """The mail; sent again, it has the same id, so that a reader may know it."""
    mail = EmailMessage()
    mail["From"] = f"Agiraph <{way.sender}>"
    mail["To"] = ", ".join(way.to)
    mail["Subject"] = " ".join(parcel.title.split())[:200]
    mark = hashlib.sha256(parcel.id.encode()).hexdigest()[:32]
    mail["Message-ID"] = f"<{mark}@agiraph.invalid>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no replies by machines
    text = "\n\n".join([parcel.text, *_how(parcel)]) + "\n"
    mail.set_content(text, cte="quoted-printable")  # servers without 8BITMIME take it
    return mail


def _how(parcel: Parcel) -> list[str]:
    """Where each notice stands, and how it is answered."""
    lines = [
        "; ".join(filter(None, (each.file, each.command))) for each in parcel.notices
    ]
    return ["\n".join(line for line in lines if line)] if any(lines) else []
