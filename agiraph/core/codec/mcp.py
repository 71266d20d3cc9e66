""".mcp.json: the tool servers of an agent, in the form that other programs share."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.page import plain_lines, read_section
from agiraph.core.codec.report import Findings, Good, Problem, Rejected
from agiraph.model.server import ServerSettings

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Parse, Place, Unfit

_NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}")
_SECRET: Final = re.compile(r"key|token|secret|passw|authorization|cookie", re.I)
_KEY_LIKE: Final = re.compile(r"(?:Bearer\s+)?[A-Za-z0-9_.-]{20,}")


def read_mcp(text: str) -> Good[tuple[ServerSettings, ...]] | Rejected:
    """The servers that a `.mcp.json` names, by name."""
    findings = Findings.none_yet()
    text = plain_lines(text)
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        words = f"no JSON: {fault.msg}"
        findings.problems.append(Problem(fault.lineno, fault.colno, "", words, ""))
        return findings.rejected()
    # Every JSON text is YAML but for its tabs, and YAML's reader knows the places.
    top = read_section(text.replace("\t", " "), findings)
    nobody: tuple[ServerSettings, ...] = ()
    servers = top.get("mcpServers", _servers, nobody)
    top.close()
    if findings.problems:
        return findings.rejected()
    return Good(servers, tuple(findings.remarks))


def _servers(place: Place) -> tuple[ServerSettings, ...]:
    found = []
    for name, each in Section.at(place).others():
        server = each.read(_server(name))
        if server is not None:
            found.append(server)
    return tuple(sorted(found, key=lambda one: one.name))


def _server(name: str) -> Parse[ServerSettings | None]:
    def read(place: Place) -> ServerSettings | None:
        if not _NAME.fullmatch(name):
            raise place.unfit("a name of letters, digits, - and _, 32 at most", name)
        keys = Section.at(place)
        kind = keys.get("type", kinds.one_of("stdio", "http", "streamable-http"), "")
        server = ServerSettings(
            name=name,
            command=keys.get("command", kinds.line, ""),
            args=keys.get("args", _args, ()),
            env=keys.get("env", _pairs, ()),
            url=keys.get("url", _url, ""),
            headers=keys.get("headers", _pairs, ()),
        )
        off = keys.get("disabled", kinds.flag, default=False)
        keys.close()
        if kind == "stdio" and not server.command:
            keys.refuse("command", "a command, for a server of type stdio")
        elif kind not in ("", "stdio") and not server.url:
            keys.refuse("url", "an address, for a server of type http")
        elif bool(server.command) == bool(server.url):
            keys.refuse("command", "either a command or a url")
        return None if off else server

    return read


def _url(place: Place) -> str:
    found = kinds.line(place)
    if not found.startswith(("http://", "https://", "${")):
        raise place.unfit("an address that begins with http:// or https://")
    parts = found.partition("?")[2].partition("#")[0].split("&")
    if any(_is_a_key(*part.partition("=")[::2]) for part in parts):
        raise _a_key(place)
    return found


def _args(place: Place) -> tuple[str, ...]:
    """Arguments; a key after `--api-key`, or behind its `=`, must be a `${VAR}`."""
    found = kinds.many(kinds.text)(place)
    flags = [
        each.partition("=")[::2] if "=" in each else (each, after)
        for each, after in zip(found, (*found[1:], ""), strict=True)
        if each.startswith("-")
    ]
    if any(_is_a_key(*flag) for flag in flags):
        raise _a_key(place)
    return found


def _is_a_key(name: str, value: str) -> bool:
    said = bool(_SECRET.search(name)) and "${" not in value
    return said and _KEY_LIKE.fullmatch(value) is not None


def _a_key(place: Place) -> Unfit:
    return place.unfit(
        "no key in the tree: ${NAME}, a variable of the daemon's environment",
        "what looks like a key itself",
    )


def _pairs(place: Place) -> tuple[tuple[str, str], ...]:
    """Variables or headers; what looks like a secret must be a `${VAR}`."""
    found = []
    for name, each in Section.at(place).others():
        value = each.read(_value(name))
        if value is not None:
            found.append((name, value))
    return tuple(found)


def _value(name: str) -> Parse[str]:
    def read(place: Place) -> str:
        found = kinds.line(place)
        if _is_a_key(name, found):
            raise _a_key(place)
        return found

    return read
