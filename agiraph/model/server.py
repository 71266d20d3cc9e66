"""Tool servers that a person names in `.mcp.json`, and the tools that they have."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from agiraph.model.tool import ToolSpec

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject

FOREIGN: Final = "mcp__"
_LONGEST_NAME: Final = 64  # what every provider takes
_LONGEST_WORDS: Final = 1_000
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """One entry of `mcpServers`, its `${VAR}` left as they stand.

    Attributes:
        command, args, env: how it is started, for one that talks by its pipes.
        url, headers: where it is, for one that talks by HTTP.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """A short hash of all of it: another entry is another server."""
        whole = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(whole.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server, as the server describes it."""

    server: str
    name: str
    description: str
    parameters: JsonObject

    @property
    def subject(self) -> str:
        """As permissions name it: `server/tool`."""
        return f"{self.server}/{self.name}"

    @property
    def spec(self) -> ToolSpec:
        """As a model sees it: `mcp__server__tool`, within what providers take."""
        name = FOREIGN + _ODD.sub("_", f"{self.server}__{self.name}")
        if len(name) > _LONGEST_NAME:
            mark = hashlib.sha256(self.subject.encode()).hexdigest()[:8]
            name = f"{name[: _LONGEST_NAME - 9]}_{mark}"
        words = " ".join(self.description.split())[:_LONGEST_WORDS]
        shape = dict(self.parameters)
        if shape.get("type") != "object":
            shape = {"type": "object", "properties": {}}
        return ToolSpec(name, words or f"{self.name} of {self.server}.", shape)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a call of a server's tool came to.

    Attributes:
        files: what is no text: each with its type, such as `image/png`.
    """

    text: str
    error: bool = False
    files: tuple[tuple[str, bytes], ...] = ()
