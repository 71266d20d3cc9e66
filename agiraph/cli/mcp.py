"""`agiraph mcp`: the tool servers of an agent, how they stand, and their tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.read import Files
from agiraph.cli.view import one_agent
from agiraph.core.codec import read_mcp
from agiraph.core.codec.report import Good
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from pathlib import PurePosixPath

    from agiraph.model.server import ServerSettings

_WORDS = 70


@click.command(short_help="The tool servers of an agent, and their tools.")
@click.argument("name")
@as_json
@tree_options
@click.pass_obj
def mcp(call: Call, name: str, json_: bool) -> None:
    """The tool servers that NAME's .mcp.json names, and the tools they have.

    A server starts once you have answered its approval with yes; its tools are known
    from then on. It reads the files, so it works without a daemon too.

    Examples:
      agiraph mcp news
      agiraph mcp news --json | jq '.servers[].tools[].called'
    """
    files = Files(call.tree)
    servers = servers_of(files, one_agent(files, name))
    if json_:
        render.data(render.as_json({"agent": name, "servers": servers}))
        return
    if not servers:
        click.echo(f"{name} has no tool servers: there is no entry in its .mcp.json.")
    for server in servers:
        click.echo(f"{server['name']}  {server['stands']}")
        for tool in server["tools"]:
            click.echo(f"  {tool['called']}  {_short(tool['description'])}")


def _short(words: str) -> str:
    """A stranger's words on one line, without what a terminal would obey."""
    plain = "".join(one for one in " ".join(words.split()) if one.isprintable())
    return plain[:_WORDS]


def servers_of(files: Files, agent: str) -> list[dict[str, Any]]:
    """Each server of the file, with what the daemon noted of it."""
    home = Home(agent)
    found = read_mcp(files.text(home.servers) or "{}")
    named = found.value if isinstance(found, Good) else ()
    noted = _noted(files, home.servers_known)
    return [_server(each, noted.get(each.digest, {})) for each in named]


def _noted(files: Files, path: PurePosixPath) -> dict[str, dict[str, Any]]:
    try:
        known = json.loads(files.text(path) or "{}")
        return {each["digest"]: each for each in known.get("servers", ())}
    except (ValueError, KeyError, TypeError):
        return {}


def _server(server: ServerSettings, noted: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": server.name,
        "where": server.command or server.url,
        "stands": noted.get("stands", "not started yet"),
        "tools": noted.get("tools", []),
    }
