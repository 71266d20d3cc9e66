"""A real tool server over its pipes: started clean, called, and missed when it dies."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import ToolRefused
from agiraph.mcp.host import SdkHost
from agiraph.model.server import ServerSettings

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agiraph.mcp.session import Session

pytest.importorskip("mcp", reason="the extra `mcp` is missing")

SERVER = str(Path(__file__).parents[1] / "support" / "tool_server.py")
OLD_SERVER = str(Path(SERVER).with_name("old_tool_server.py"))
PATIENCE = 30.0


def settings(*more: str, env: tuple[tuple[str, str], ...] = ()) -> ServerSettings:
    return ServerSettings("tests", sys.executable, (SERVER, *more), env)


@pytest.fixture
def host(tmp_path: Path) -> SdkHost:
    (tmp_path / ".agiraph").mkdir()
    (tmp_path / "a").mkdir()
    environment = {"MINE": "given", "ANTHROPIC_API_KEY": "sk-very-secret"}
    return SdkHost(str(tmp_path), environment, version="0")


def running(host: SdkHost) -> AbstractAsyncContextManager[Session]:
    return host.open(settings(env=(("PASSED", "${MINE}"),)), "a")


async def test_its_tools_are_listed_and_called(host: SdkHost) -> None:
    async with running(host) as session:
        names = [tool.name for tool in session.tools]
        assert names == [
            "chat",
            "count",
            "die",
            "echo",
            "fail",
            "grow",
            "look",
            "picture",
        ]
        echo = next(tool for tool in session.tools if tool.name == "echo")
        assert echo.description == "Say it again."
        assert echo.spec.name == "mcp__tests__echo"
        assert echo.spec.parameters["required"] == ["text"]

        assert (await session.call("echo", {"text": "hello"})).text == "hello"
        failed = await session.call("fail", {})
        assert failed.error
        assert "fail" in failed.text
        assert (await session.call("nothing", {})).error
        picture = await session.call("picture", {})
        assert picture.files == (("image/png", b"\x89PNG\r\n\x1a\n"),)


async def test_it_sees_what_it_was_given_and_nothing_of_ours(
    host: SdkHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(host) as session:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
        seen = json.loads((await session.call("look", {})).text)

        assert seen["names"]["PASSED"] == "given"
        assert seen["names"]["AGIRAPH_AGENT"] == "a"
        assert "sk-very-secret" not in str(seen["names"])
        assert "MINE" not in seen["names"]
        assert seen["folder"] == str(tmp_path / "a")


async def test_calls_may_run_side_by_side(host: SdkHost) -> None:
    async with running(host) as session:
        async with asyncio.TaskGroup() as group:
            calls = [
                group.create_task(session.call("echo", {"text": str(n)}))
                for n in range(5)
            ]
        assert [call.result().text for call in calls] == ["0", "1", "2", "3", "4"]


async def test_a_server_that_dies_is_noticed_and_its_call_is_an_error(
    host: SdkHost,
) -> None:
    async with running(host) as session:
        with pytest.raises(ToolRefused, match="ended while it was called"):
            await session.call("die", {})
        assert not await asyncio.wait_for(session.changed(), PATIENCE)


@pytest.mark.parametrize("server", [SERVER, OLD_SERVER])
async def test_a_server_that_has_other_tools_by_now_is_heard(
    host: SdkHost, server: str
) -> None:
    async with host.open(
        ServerSettings("x", sys.executable, (server,)), "a"
    ) as session:
        before = {tool.name for tool in session.tools}
        assert (await session.call("grow", {})).text == "grown"
        assert await asyncio.wait_for(session.changed(), PATIENCE)
        assert {tool.name for tool in session.tools} - before == {"added"}


async def test_what_a_server_says_to_nobody_is_kept_short(
    host: SdkHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(host) as session:
        module = importlib.import_module("agiraph.mcp.session")
        monkeypatch.setattr(module, "LOG_MOST", 5_000)
        monkeypatch.setattr(module, "LOG_LOOK", 0.01)
        log = tmp_path / ".agiraph/mcp-tests.log"
        await session.call("chat", {})
        assert log.stat().st_size >= 4096
        watching = asyncio.create_task(session.changed())
        try:
            await session.call("chat", {})
            async with asyncio.timeout(PATIENCE):
                while log.stat().st_size:
                    await asyncio.sleep(0.01)
            await session.call("chat", {})
            assert b"\0" not in log.read_bytes()  # no hole before it
        finally:
            watching.cancel()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ServerSettings("x", "/no/such/command"), "did not start"),
        (ServerSettings("x", sys.executable, ("-c", "print(1)")), "did not start"),
        (ServerSettings("x", "${NOT_SET}", ("${ALSO}",)), "set NOT_SET, ALSO in"),
        (ServerSettings("x", url="http://127.0.0.1:1/mcp"), "did not start"),
    ],
)
async def test_a_server_that_cannot_be_had_is_told_in_words(
    host: SdkHost, settings: ServerSettings, words: str
) -> None:
    with pytest.raises(ToolRefused, match=words):
        async with host.open(settings, "a"):
            pass


@pytest.mark.parametrize(
    "settings",
    [
        ServerSettings("x", "/no/${ANTHROPIC_API_KEY}"),
        ServerSettings("x", url="http://127.0.0.1:1/", headers=(("A", "${LINES}"),)),
        ServerSettings("x", url="http://127.0.0.1:1/", headers=(("A", "${ODD}"),)),
        ServerSettings("x", url="${ANTHROPIC_API_KEY}"),
    ],
)
async def test_no_value_of_a_variable_is_told_when_a_server_cannot_be_had(
    tmp_path: Path, settings: ServerSettings
) -> None:
    (tmp_path / ".agiraph").mkdir()
    (tmp_path / "a").mkdir()
    key = "sk-very-secret"
    environment = {
        "ANTHROPIC_API_KEY": key, "LINES": f"{key}\n", "ODD": f"{key}\u20ac",
    }  # fmt: skip
    host = SdkHost(str(tmp_path), environment, version="0")
    with pytest.raises(ToolRefused, match="did not start") as refused:
        async with host.open(settings, "a"):
            pass
    assert key not in str(refused.value)


async def test_a_server_over_http_works_alike(host: SdkHost, tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['x']; sys.path.insert(0, sys.path[0]);"
        f"exec(open({SERVER!r}).read().split('if __name__')[0]);"
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0));"
        "port = s.getsockname()[1]; s.close(); print(port, flush=True);"
        "server.run('streamable-http', host='127.0.0.1', port=port)"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        port = int(await process.stdout.readline())
        settings = ServerSettings("web", url=f"http://127.0.0.1:{port}/mcp")
        async with asyncio.timeout(PATIENCE):
            answer = await _echo(host, settings)
    finally:
        process.terminate()
        await process.wait()
    assert answer == "hello"


async def _echo(host: SdkHost, settings: ServerSettings) -> str:
    """The answer, as soon as the server listens."""
    while True:
        try:
            async with host.open(settings, "a") as session:
                return (await session.call("echo", {"text": "hello"})).text
        except ToolRefused:
            await asyncio.sleep(0.1)
