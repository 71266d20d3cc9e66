"""`agiraph mcp`: which tool servers an agent has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.model.server import ServerSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

ENTRIES = {
    "mcpServers": {"files": {"command": "serve"}, "new": {"url": "http://e.org"}}
}


def test_servers_are_shown_with_what_is_known_of_them(run: Run, root: Path) -> None:
    (root / "news" / ".mcp.json").write_text(json.dumps(ENTRIES))
    tool = {"name": "read", "called": "mcp__files__read", "parameters": {}}
    known = {
        "name": "files",
        "digest": ServerSettings("files", "serve").digest,
        "stands": "runs, 1 tools",
        "tools": [{**tool, "description": "Read\x1b[31m it."}],
    }
    state = root / "news" / "_state"
    state.mkdir(exist_ok=True)
    (state / "mcp.json").write_text(json.dumps({"servers": [known]}))

    shown = run("mcp", "news").stdout
    assert "files  runs, 1 tools" in shown
    assert "  mcp__files__read  Read[31m it." in shown
    assert "new  not started yet" in shown
    whole = json.loads(run("mcp", "news", "--json").stdout)
    assert [one["name"] for one in whole["servers"]] == ["files", "new"]
    assert whole["servers"][0]["tools"][0]["called"] == "mcp__files__read"


def test_an_agent_without_servers_says_so(run: Run) -> None:
    assert "no tool servers" in run("mcp", "news").stdout
    assert json.loads(run("mcp", "news", "--json").stdout)["servers"] == []


def test_an_unknown_agent_is_named_with_the_nearest(run: Run) -> None:
    page = run("mcp", "newz")
    assert page.exit_code != 0
    assert "news" in page.stderr


def test_check_reads_servers_and_skills_too(run: Run, root: Path) -> None:
    (root / "news" / ".mcp.json").write_text('{"mcpServers": {"a": {}}}')
    (root / "news" / "skills" / "bad").mkdir(parents=True)
    (root / "news" / "skills" / "bad" / "SKILL.md").write_text("no frontmatter")
    out = run("check").stdout
    assert "news/.mcp.json" in out
    assert "news/skills/bad/SKILL.md" in out
