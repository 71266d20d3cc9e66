"""The servers that many people use, by npx; only where a person asks for it.

Set AGIRAPH_REAL_SERVERS=1; npx fetches the packages once.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import ToolRefused
from agiraph.mcp.host import SdkHost
from agiraph.model.server import ServerSettings

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mcp", reason="the extra `mcp` is missing")
pytestmark = pytest.mark.skipif(
    os.environ.get("AGIRAPH_REAL_SERVERS") != "1",
    reason="AGIRAPH_REAL_SERVERS is not 1",
)


@pytest.fixture
def host(tmp_path: Path) -> SdkHost:
    (tmp_path / ".agiraph").mkdir()
    (tmp_path / "a").mkdir()
    return SdkHost(str(tmp_path), {}, version="0")


async def test_the_file_server_reads_its_folder_and_nothing_else(
    host: SdkHost, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text("hello")
    (tmp_path / "secret.txt").write_text("secret")
    package = "@modelcontextprotocol/server-filesystem"
    settings = ServerSettings("files", "npx", ("-y", package, str(docs)))
    async with host.open(settings, "a") as session:
        assert "read_text_file" in [tool.name for tool in session.tools]
        path = {"path": str(docs / "a.txt")}
        found = await session.call("read_text_file", path)
        other = {"path": str(tmp_path / "secret.txt")}
        refused = await session.call("read_text_file", other)
    assert "hello" in found.text
    assert refused.error
    assert "secret" not in refused.text.replace(str(tmp_path / "secret.txt"), "")


async def test_the_server_of_everything_gives_texts_and_pictures(host: SdkHost) -> None:
    package = "@modelcontextprotocol/server-everything"
    settings = ServerSettings("all", "npx", ("-y", package))
    async with host.open(settings, "a") as session:
        names = [tool.name for tool in session.tools]
        echoed = await session.call("echo", {"message": "hello"})
        picture = next(name for name in names if "image" in name.lower())
        pictured = await session.call(picture, {})
        try:
            wrong = (await session.call("echo", {})).error
        except ToolRefused:
            wrong = True
    assert "hello" in echoed.text
    assert pictured.files[0][0] == "image/png"
    assert wrong
