""".mcp.json: which servers it names, and what is wrong with it."""

from __future__ import annotations

import json

import pytest

from agiraph.core.codec import Good, Rejected, read_mcp
from agiraph.core.expansion import expanded
from agiraph.errors import ToolRefused
from agiraph.model.server import ServerSettings, ServerTool

WHOLE = """{
\t"mcpServers": {
\t\t"web": {"type": "http", "url": "https://e.org/mcp",
\t\t\t"headers": {"Authorization": "Bearer ${TOKEN}"}},
\t\t"files": {
\t\t\t"command": "npx", "args": ["-y", "server", "${HOME}/docs", 1],
\t\t\t"env": {"API_KEY": "${MY_KEY:-none}", "LEVEL": "2"}, "disabled": false
\t\t},
\t\t"off": {"command": "x", "disabled": true}
\t}
}
"""


def good(text: str) -> tuple[ServerSettings, ...]:
    found = read_mcp(text)
    assert isinstance(found, Good), found
    return found.value


def test_servers_are_read_by_name_with_their_variables_unfilled() -> None:
    files, web = good(WHOLE)
    assert files.name == "files"
    assert files.args == ("-y", "server", "${HOME}/docs", "1")
    assert dict(files.env) == {"API_KEY": "${MY_KEY:-none}", "LEVEL": "2"}
    assert web.url == "https://e.org/mcp"
    assert dict(web.headers) == {"Authorization": "Bearer ${TOKEN}"}


@pytest.mark.parametrize("text", ["{}", '{"mcpServers": {}}', '{"other": 1}'])
def test_a_file_may_name_none(text: str) -> None:
    assert good(text) == ()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "x", "url": "http://e.org"}, "either a command or a url"),
        ({}, "either a command or a url"),
        ({"type": "http", "command": "x"}, "an address, for a server of type http"),
        ({"type": "stdio", "url": "http://e.org"}, "a command, for a server of type"),
        ({"type": "sse", "url": "http://e.org"}, "stdio, http"),
        ({"url": "ftp://e.org"}, "http:// or https://"),
        ({"command": "x", "args": "one"}, "a list"),
        ({"command": "x", "env": {"API_KEY": "0123456789abcdefghijkl"}}, "${NAME}"),
        ({"command": "x", "args": ["--api-key", "a1" * 12]}, "${NAME}"),
        ({"command": "x", "args": ["-v", "--token=" + "a1" * 12]}, "${NAME}"),
        ({"url": "https://e.org/mcp?a=b&apikey=" + "a1" * 12}, "${NAME}"),
        ({"url": "http://e", "headers": {"Authorization": "Bearer " + "a1" * 20}}, "$"),
    ],
)
def test_a_bad_entry_is_refused_in_words_with_its_place(
    entry: dict[str, object], words: str
) -> None:
    found = read_mcp(json.dumps({"mcpServers": {"files": entry}}, indent=1))
    assert isinstance(found, Rejected)
    assert any(words in each.allowed for each in found.problems)
    assert found.problems[0].key.startswith("mcpServers.files")
    assert found.problems[0].line >= 2
    assert "a1a1" not in found.problems[0].found


def test_what_only_looks_a_little_like_a_key_is_taken() -> None:
    args = ["--key-file", "/home/me/keys/of-the-house.json", "--token-limit=4096", "-k"]
    entry = {"command": "x", "args": [*args, "--api-key", "${KEY}"]}
    (server,) = good(json.dumps({"mcpServers": {"files": entry}}))
    assert server.args[-1] == "${KEY}"
    (web,) = good('{"mcpServers": {"w": {"url": "https://e.org/?token=${KEY}"}}}')
    assert web.url == "https://e.org/?token=${KEY}"


@pytest.mark.parametrize("name", ["a b", "a__b", "", "-a", "x" * 33, "größe"])
def test_a_name_that_no_tool_could_carry_is_refused(name: str) -> None:
    found = read_mcp(json.dumps({"mcpServers": {name: {"command": "x"}}}))
    assert isinstance(found, Rejected)


@pytest.mark.parametrize("text", ["", "{", "mcpServers: {}", "[1]", "{'a': 1}"])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    assert isinstance(read_mcp(text), Rejected)


def test_another_entry_is_another_server() -> None:
    one = ServerSettings("files", "npx", ("a",))
    assert one.digest == ServerSettings("files", "npx", ("a",)).digest
    assert one.digest != ServerSettings("files", "npx", ("b",)).digest


def test_variables_are_filled_once_and_missing_ones_are_named() -> None:
    files, web = good(WHOLE)
    filled = expanded(files, {"HOME": "/home/${TOKEN}"})
    assert filled.args[2] == "/home/${TOKEN}/docs"
    assert dict(filled.env)["API_KEY"] == "none"
    with pytest.raises(ToolRefused, match="set TOKEN in"):
        expanded(web, {"TOKEN": ""})


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("read_file", "mcp__files__read_file"),
        ("read.file/x", "mcp__files__read_file_x"),
    ],
)
def test_a_tool_has_a_name_that_every_provider_takes(tool: str, name: str) -> None:
    assert ServerTool("files", tool, "", {}).spec.name == name


def test_long_names_are_cut_and_stay_apart() -> None:
    names = {ServerTool("files", "x" * 90 + end, "", {}).spec.name for end in "ab"}
    assert len(names) == 2
    assert all(len(name) <= 64 for name in names)
