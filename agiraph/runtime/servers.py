"""The tool servers of one agent: started once a person allows it, kept running.

Their tools are kept in `_state/mcp.json`, so that a restart, or a server that is down,
changes nothing of what a session has frozen.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agiraph.core.approval import Need, Verdict, permitted, shown, verdict
from agiraph.core.limits import GOAL_BYTES
from agiraph.errors import AgiraphError, ToolRefused
from agiraph.model.agent import Permission
from agiraph.model.message import Question, QuestionKind
from agiraph.model.names import AGIRAPH
from agiraph.model.server import ServerTool
from agiraph.runtime.acts.outside import OutsideTool
from agiraph.runtime.people import approvals, questions

if TYPE_CHECKING:
    from agiraph.model.json import Json, JsonObject
    from agiraph.model.server import ServerReply, ServerSettings
    from agiraph.ports import Tool
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.hosting import Connection, Host

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0


@dataclass(slots=True)
class _Server:
    """What is known of one server.

    Attributes:
        stands: in words, for people.
        settled: whether a session need not wait for it any longer.
    """

    settings: ServerSettings
    tools: tuple[ServerTool, ...] = ()
    stands: str = "not started yet"
    settled: bool = False
    connection: Connection | None = field(default=None, repr=False)


class Servers:
    """The servers that `.mcp.json` names, and the tools that they bring."""

    def __init__(self, desk: Desk) -> None:
        """None, until `put`."""
        self._desk = desk
        self._servers: dict[str, _Server] = {}
        self._version = 0
        self.box: dict[str, Tool] = {}

    # --- what is known

    def put(self, settings: tuple[ServerSettings, ...]) -> None:
        """These are the servers from now on; one that is as before goes on."""
        old, kept = self._servers, self._kept()
        self._servers = {}
        for each in settings:
            same = old.get(each.name)
            if same is None or same.settings.digest != each.digest:
                tools = kept.get(each.digest, ())
                same = _Server(each, tools, settled=bool(tools))
            self._servers[each.name] = same
        self._changed()

    @property
    def tools(self) -> tuple[ServerTool, ...]:
        """Every tool, by server and name: the order is part of what a session froze."""
        found = [tool for one in self._servers.values() for tool in one.tools]
        return tuple(sorted(found, key=lambda tool: (tool.server, tool.name)))

    @property
    def starting(self) -> bool:
        """Whether a server may still bring its tools at any moment."""
        host = self._desk.world.tool_servers
        return host is not None and not all(
            one.settled for one in self._servers.values()
        )

    def _changed(self) -> None:
        self.box.clear()
        for tool in self.tools:
            self.box.setdefault(tool.spec.name, OutsideTool(self, self._desk, tool))
        self._version += 1
        self._desk.bell.ring()

    # --- the file that outlives the daemon

    def _kept(self) -> dict[str, tuple[ServerTool, ...]]:
        """The tools of servers by their digest, as they were last."""
        path = self._desk.home.servers_known
        try:
            found = json.loads(self._desk.world.reader.read(path, limit=GOAL_BYTES))
            return {one["digest"]: tuple(_tools(one)) for one in found["servers"]}
        except (AgiraphError, ValueError, KeyError, TypeError):
            return {}

    async def _keep(self) -> None:
        desk = self._desk
        data = json.dumps({"servers": [_line(each) for each in self._in_order()]})
        path = desk.home.servers_known
        await desk.world.write(path, data.encode())

    def _in_order(self) -> list[_Server]:
        return [self._servers[name] for name in sorted(self._servers)]

    async def _stands(self, server: _Server, words: str, *, settled: bool) -> None:
        """Note how a server stands, where anybody can read it."""
        if self._servers.get(server.settings.name) is not server:
            return
        if words != server.stands:
            self._desk.world.remark(
                f"{self._desk.agent}: tool server {server.settings.name}: {words}"
            )
        server.stands = words
        server.settled = server.settled or settled
        await self._keep()
        self._desk.bell.ring()

    # --- running

    async def run(self) -> None:
        """Keep every server running that a person allows, until cancelled."""
        host = self._desk.world.tool_servers
        if host is None:
            return
        tasks: dict[str, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                seen = self._version
                wanted = {one.settings.digest: one for one in self._servers.values()}
                for digest in [each for each in tasks if each not in wanted]:
                    tasks.pop(digest).cancel()
                for digest, server in wanted.items():
                    if digest not in tasks:
                        name = f"tool server {server.settings.name}"
                        work = self._serve(host, server)
                        tasks[digest] = group.create_task(work, name=name)
                await self._until_others_than(seen)

    async def _until_others_than(self, seen: int) -> None:
        await self._desk.bell.until(lambda: self._version != seen)

    async def _serve(self, host: Host, server: _Server) -> None:
        """Start one, and start it again whenever it ends."""
        if not await self._allowed(server):
            return
        pause, clock = FIRST_PAUSE, self._desk.world.clock
        while True:
            await self._desk.bell.until(lambda: not self._desk.is_paused)
            await self._stands(server, "is being started", settled=False)
            try:
                async with host.open(server.settings, self._desk.agent) as connection:
                    await self._listed(server, connection)
                    pause = FIRST_PAUSE
                    while await connection.changed():
                        await self._listed(server, connection)
                words = "it has ended by itself and is being started again"
            except ToolRefused as refused:
                words = f"it does not run ({refused}); it is tried again"
            finally:
                server.connection = None
            await self._stands(server, words, settled=True)
            await clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _listed(self, server: _Server, connection: Connection) -> None:
        """A server runs: these are its tools."""
        tools, server.connection = connection.tools, connection
        if server.tools != tools:
            server.tools = tools
            self._changed()
        await self._stands(server, f"runs, {len(tools)} tools", settled=True)

    async def call(self, tool: ServerTool, arguments: JsonObject) -> ServerReply:
        """Call a tool of a server that runs.

        Raises:
            ToolRefused: it does not run now, or refused the call.
        """
        server = self._servers.get(tool.server)
        if server is None:
            raise ToolRefused(f"The tool server {tool.server} is gone from .mcp.json.")
        if server.connection is None:
            raise ToolRefused(
                f"The tool server {tool.server} is not there now: {server.stands}. Try "
                "later, or go on without it."
            )
        return await server.connection.call(tool.name, arguments)

    # --- a person's word

    async def _allowed(self, server: _Server) -> bool:
        """Whether the person allows this server, as it is written; waits for a word."""
        desk, settings = self._desk, server.settings
        subject = f"start {settings.name} {settings.digest}"
        need = Need("mcp", (subject,), _shown(settings))
        number = 0
        while not approvals.is_covered(desk, need):
            number += 1
            step = f"mcp:{settings.name}:{settings.digest}:{number}"
            said = await self._asked(server, step, need)
            if said in (Verdict.YES, Verdict.ALWAYS):
                return True
            if said is Verdict.NO:
                words = "the person refused it; change its entry to be asked again"
                await self._stands(server, words, settled=True)
                return False
        return True

    async def _asked(self, server: _Server, step: str, need: Need) -> Verdict | None:
        """The person's word on a step; None where it was withdrawn, or not needed."""
        desk = self._desk
        intent = desk.journal.intent(step)
        if intent is None:
            asked = permitted(Permission.ASK, need)
            number = questions.next_number(desk)
            intent = approvals.numbered(asked, number, desk.world.stamp())
            await desk.journal.intend(step, "mcp", intent)
        question = _question(intent, server.settings.name, need)
        ident = question.id
        if desk.journal.mark_of(ident, questions.ANSWERED) is None:
            await questions.ask(desk, question)
            words = f"waits for your approval, {ident}"
            await self._stands(server, words, settled=True)
            await desk.bell.until(
                lambda: (
                    question.number not in desk.questions
                    or approvals.is_covered(desk, need)
                )
            )
        if question.number in desk.questions:
            await questions.withdraw(desk, question.number, "it is allowed by now")
        await questions.settled(desk, question.number)
        return verdict(desk.journal.mark_of(ident, questions.ANSWERED) or "")


def _tools(one: Mapping[str, Json]) -> list[ServerTool]:
    tools = one["tools"]
    if not isinstance(tools, list):
        raise TypeError("tools are a list")
    return [
        ServerTool(
            str(one["name"]),
            str(tool["name"]),
            str(tool["description"]),
            _shape(tool["parameters"]),
        )
        for tool in tools
        if isinstance(tool, Mapping)
    ]


def _shape(value: Json) -> JsonObject:
    if not isinstance(value, Mapping):
        raise TypeError("parameters are an object")
    return value


def _line(server: _Server) -> dict[str, Json]:
    tools: list[Json] = [
        {
            "name": tool.name,
            "called": tool.spec.name,
            "description": tool.description,
            "parameters": tool.parameters,
        }
        for tool in server.tools
    ]
    return {
        "name": server.settings.name,
        "digest": server.settings.digest,
        "stands": server.stands,
        "tools": tools,
    }


def _shown(settings: ServerSettings) -> str:
    """The whole of an entry for a person, its variables unfilled."""
    texts = {
        "arguments": "\n".join(settings.args),
        "environment": "\n".join(f"{name}={value}" for name, value in settings.env),
        "headers": "\n".join(f"{name}: {value}" for name, value in settings.headers),
    }
    where = settings.command or settings.url
    what = "start" if settings.command else "connect to"
    return shown(what, where, {name: text for name, text in texts.items() if text})


def _question(intent: JsonObject, name: str, need: Need) -> Question:
    number = approvals.number_of(intent) or 0
    asked = intent.get("approval")
    stamp = str(asked.get("asked", "")) if isinstance(asked, Mapping) else ""
    text = (
        f"`.mcp.json` names the tool server `{name}`. May it be used?\n\n"
        f"{need.shown}\n\nIt runs with your rights, outside of any sandbox, and its "
        "tools are offered to this agent. Answer `yes` or `always` (as long as its "
        "entry stays as it is), or `no`."
    )
    return Question(
        number=number,
        sender=AGIRAPH,
        node=None,
        asked=stamp,
        kind=QuestionKind.APPROVAL,
        text=text,
        options=tuple(each.value for each in Verdict),
    )
