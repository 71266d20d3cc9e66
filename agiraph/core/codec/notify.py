"""`notify:` in agiraph.yaml: the channels that carry notices to people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agiraph.core.codec import kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.marked import Listing
from agiraph.model.notice import (
    Channel,
    Desktop,
    Email,
    Format,
    NoticeKind,
    Program,
    Security,
    Webhook,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from agiraph.core.codec.fields import Place
    from agiraph.model.notice import Way

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TIME = r"([01]?[0-9]|2[0-3]):([0-5][0-9])"
_QUIET = re.compile(f"{_TIME}-{_TIME}")
_ADDRESS = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")
_SECRET_PATHS = ("hooks.slack.com/", "discord.com/api/", "discordapp.com/api/")
_IN_ADDRESS = re.compile(r"https?://[^/]*@")
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")
OUTSIDE = "no secret in the tree: the name of an environment variable"


def channel(place: Place) -> Channel:
    """One entry: exactly one way, and what it carries when."""
    keys = Section.at(place)
    found = [(name, read(keys)) for name, read in _WAYS.items()]
    ways = [way for _, way in found if way is not None]
    given = [name for name in _WAYS if _is_given(keys, name)]
    everything: tuple[NoticeKind, ...] = ()
    carried = keys.get("kinds", _kinds, everything)
    quiet = keys.get("quiet", _quiet, None)
    keys.close()
    if len(given) != 1:
        allowed = "exactly one of webhook, email, desktop and command"
        raise place.unfit(allowed, ", ".join(given) or "none of them")
    way = ways[0] if ways else Desktop()  # what was wrong with it is recorded
    return Channel(way, frozenset(carried), quiet)


def _is_given(keys: Section, name: str) -> bool:
    return any(key.text == name for key, _ in keys.group.entries)


def _webhook(keys: Section) -> Way | None:
    address = keys.get("webhook", _url, "")
    shape = keys.get("format", kinds.choice(Format), Format.JSON)
    token = keys.get("token_env", variable, None)
    keys.get("token", _no_secret("token_env: HOOK_TOKEN"), "")
    return Webhook(address, shape, token) if address else None


def _email(keys: Section) -> Way | None:
    return keys.get("email", _mail, None)


def _mail(place: Place) -> Email:
    keys = Section.at(place)
    security = keys.get("security", kinds.choice(Security), Security.STARTTLS)
    usual = {Security.SSL: 465, Security.STARTTLS: 587, Security.NONE: 25}[security]
    found = Email(
        host=keys.need("host", kinds.line, "the mail server's name") or "",
        sender=keys.need("from", _mailbox, "an address, such as a@example.org") or "",
        to=keys.need("to", _mailboxes, "an address, or a list of them") or (),
        port=keys.get("port", kinds.whole(1, 65535), usual),
        user=keys.get("user", kinds.line, None),
        password_env=keys.get("password_env", variable, None),
        security=security,
    )
    secret = keys.get("password", _hole, None)
    if found.user and security is Security.NONE and found.host not in _THIS_MACHINE:
        keys.refuse("security", "starttls or ssl, since a password is sent")
    keys.close()
    return Email(
        found.host,
        found.sender,
        found.to,
        found.port,
        found.user,
        found.password_env or secret,
        found.security,
    )


def _desktop(keys: Section) -> Way | None:
    return Desktop() if keys.get("desktop", kinds.flag, default=False) else None


def _program(keys: Section) -> Way | None:
    nothing: tuple[str, ...] = ()
    found = keys.get("command", _arguments, nothing)
    return Program(found) if found else None


_WAYS: dict[str, Callable[[Section], Way | None]] = {
    "webhook": _webhook,
    "email": _email,
    "desktop": _desktop,
    "command": _program,
}


def variable(place: Place) -> str:
    """The name of an environment variable, and not what is in it."""
    found = kinds.line(place)
    if not _VARIABLE.fullmatch(found) or len(found) > 64:
        raise place.unfit(f"{OUTSIDE}, such as HOOK_TOKEN", "no such name")
    return found


def _hole(place: Place) -> str:
    """`${NAME}`: the name."""
    match = _HOLE.fullmatch(kinds.line(place))
    if match is None:
        allowed = f"{OUTSIDE}: `password_env: SMTP_PASSWORD`"
        raise place.unfit(allowed, "a password")
    return match[1]


def _no_secret(instead: str) -> Callable[[Place], str]:
    def read(place: Place) -> str:
        raise place.unfit(f"{OUTSIDE}: `{instead}`", "a secret")

    return read


def _url(place: Place) -> str:
    found = kinds.line(place)
    shape = "an address that begins with http:// or https://, or ${NAME} for one"
    plain = _HOLE.sub("x", found)
    if "$" in plain or not (
        _HOLE.match(found) or plain.startswith(("http://", "https://"))
    ):
        raise place.unfit(shape)
    if len(plain) < 9 and not _HOLE.match(found):
        raise place.unfit(shape)
    secret = any(part in plain for part in _SECRET_PATHS) and plain == found
    if secret or _IN_ADDRESS.match(plain):
        raise place.unfit(
            f"{OUTSIDE}: `webhook: ${{SLACK_HOOK}}`, with the address in it",
            "an address that is a secret itself",
        )
    return found


def _mailbox(place: Place) -> str:
    found = kinds.line(place)
    if not _ADDRESS.fullmatch(found):
        raise place.unfit("an address, such as me@example.org")
    return found


def _mailboxes(place: Place) -> tuple[str, ...]:
    if isinstance(place.value, Listing):
        return kinds.many(_mailbox)(place)
    return (_mailbox(place),)


def _arguments(place: Place) -> tuple[str, ...]:
    if not isinstance(place.value, Listing):
        raise place.unfit('a list of arguments, such as ["notify.sh", "--quiet"]')
    found = kinds.many(kinds.text)(place)
    if not found or not found[0].strip() or any("\0" in each for each in found):
        raise place.unfit("a list that begins with a program")
    return found


def _kinds(place: Place) -> tuple[NoticeKind, ...]:
    if isinstance(place.value, Listing):
        return kinds.many(kinds.choice(NoticeKind))(place)
    return (kinds.choice(NoticeKind)(place),)


def _quiet(place: Place) -> tuple[int, int]:
    match = _QUIET.fullmatch(kinds.line(place).replace(" ", ""))
    if match is None or match[1] + match[2] == match[3] + match[4]:
        raise place.unfit('two times of the day in quotes, such as "22:00-07:00"')
    hours = [int(each) for each in match.groups()]
    return hours[0] * 60 + hours[1], hours[2] * 60 + hours[3]
