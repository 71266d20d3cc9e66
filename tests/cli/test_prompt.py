from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

SYSTEM = "Rules.\n\n## Who you are (SOUL.md)\n\nYou are calm.\n"


@pytest.fixture
def spoken(root: Path) -> Path:
    """An agent whose coordinator has answered once."""
    ts = "2026-11-21T10:00:00+00:00"
    usage = {"input": 90, "output": 10, "cache_read": 0, "cache_write": 0}
    lines = [
        {"role": "system", "session": 1, "model": "x/y", "why": "start"}
        | {"content": SYSTEM, "tools": []},
        {"role": "user", "content": "Do it.", "kind": "brief", "from": "agiraph"},
        {"role": "assistant", "turn": 1, "model": "x/y", "content": "I begin."}
        | {"stop": "end", "usage": usage},
    ]
    text = "".join(json.dumps({"ts": ts, **line}) + "\n" for line in lines)
    (root / "news" / "conversation.jsonl").write_text(text)
    return root


def test_the_next_prompt_is_shown_part_by_part(run: Run, spoken: Path) -> None:
    page = run("check", "--prompt", "news")
    assert page.exit_code == 0, page.output
    for words in ("rules, shared", "who it is", "brief from agiraph", "answer 1"):
        assert words in page.stdout
    assert "You are calm." in page.stdout
    assert "the service said 100" in page.stdout

    told = json.loads(run("check", "--prompt", "news", "--json").stdout)
    assert "".join(part["text"] for part in told["parts"][1:3]).startswith("Rules.")
    assert told["tokens"] == sum(part["tokens"] for part in told["parts"])
    assert all("news/conversation.jsonl" in part["source"] for part in told["parts"])


def test_where_nothing_was_sent_yet_it_says_so(run: Run, root: Path) -> None:
    page = run("check", "--prompt", "held one")
    assert page.exit_code == 3
    assert "nothing was sent" in page.output
