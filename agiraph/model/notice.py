"""Notices to people outside the tree, and the channels that carry them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias
from urllib.parse import urlsplit


class NoticeKind(Enum):
    """What a notice is about, as `kinds:` names it."""

    QUESTION = "question"
    APPROVAL = "approval"
    MESSAGE = "message"
    FINISHED = "finished"
    FAILED = "failed"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that a person is told of.

    Attributes:
        id: unique within the agent; the same thing has the same one.
        title: a line; text: the whole, as far as it is worth sending.
        file: where it stands in the tree, relative to the root.
        command: what answers it in a terminal; empty where nothing is to be answered.
        channel: cli, webhook or email where whoever asks named one; else empty.
    """

    id: str
    kind: NoticeKind
    agent: str
    title: str
    text: str
    ts: str
    file: str = ""
    command: str = ""
    channel: str = ""


class Format(Enum):
    """The shape of a webhook's body."""

    JSON = "json"
    SLACK = "slack"
    DISCORD = "discord"


class Security(Enum):
    """How a mail server's connection is protected."""

    STARTTLS = "starttls"
    SSL = "ssl"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that is posted to; `${NAME}` in it is a variable."""

    address: str
    format: Format = Format.JSON
    token_env: str | None = None


@dataclass(frozen=True, slots=True)
class Email:
    """A mail server and an address; the password comes from a variable."""

    host: str
    sender: str
    to: tuple[str, ...]
    port: int = 587
    user: str | None = None
    password_env: str | None = None
    security: Security = Security.STARTTLS


@dataclass(frozen=True, slots=True)
class Desktop:
    """The desktop of whoever runs the daemon."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is started for each notice; its text is the standard input."""

    arguments: tuple[str, ...]


Way: TypeAlias = Webhook | Email | Desktop | Program


@dataclass(frozen=True, slots=True)
class Channel:
    """One entry of `notify:`.

    Attributes:
        kinds: what it carries; empty is everything.
        quiet: from and to, in minutes of the day, between which nothing is sent.
    """

    way: Way
    kinds: frozenset[NoticeKind] = frozenset()
    quiet: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        """What it is called towards people; never with what is secret of it."""
        match self.way:
            case Webhook():
                address = self.way.address
                host = urlsplit(address).hostname if "://" in address else address
                return f"webhook {host or address}"
            case Email():
                return f"email to {', '.join(self.way.to)}"
            case Desktop():
                return "desktop"
            case Program():
                return f"command {self.way.arguments[0]}"

    @property
    def word(self) -> str:
        """What `ask_human` calls it."""
        match self.way:
            case Webhook():
                return "webhook"
            case Email():
                return "email"
            case Desktop():
                return "desktop"
            case Program():
                return "command"

    def carries(self, notice: Notice) -> bool:
        """Whether a notice is for it."""
        if notice.channel:
            return notice.channel == self.word
        return not self.kinds or notice.kind in self.kinds


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent at once: one notice, or several that were held back.

    Attributes:
        id: the same when it is sent again after a failure.
    """

    id: str
    title: str
    text: str
    notices: tuple[Notice, ...]
