"""Trees made by hand, as a daemon and people would have left them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, files: dict[str, str]) -> Path:
    """Put texts at their paths below a folder."""
    for path, text in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return root


def contents(folder: Path) -> dict[str, bytes]:
    """What each file below a folder holds, by its path there."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def lines(*objects: dict[str, object]) -> str:
    """A log of JSON lines."""
    return "".join(json.dumps(each) + "\n" for each in objects)


RUN = "runs/2026-11-21-01"

NEWS = {
    "news/GOAL.md": (
        "---\nmodel: offline/digest  # none is needed\nrun: 1\n---\nSum up.\n"
    ),
    "news/_status.md": (
        "---\nstatus: working\nrun: 2026-11-21-01\nstage: 1\n"
        "since: 2026-11-21T20:00:00+00:00\nturns: 7\ntokens: 12345\ncost_usd: 0.25\n"
        "nodes: {completed: 1, running: 1, failed: 1}\n---\nAll is well.\n"
    ),
    "news/events.jsonl": lines(
        {"ts": "2026-11-21T20:00:00+00:00", "type": "agent.started", "agent": "news"},
        {
            "ts": "2026-11-21T20:00:05+00:00",
            "type": "node.failed",
            "agent": "news",
            "run": "2026-11-21-01",
            "node": "intel",
            "worker": "Alice",
            "data": {"error": "no \u001b[31mtime\u001b[0m"},
        },
    ),
    f"news/{RUN}/_run.yaml": (
        "status: open\nrun: 2026-11-21-01\nopened: 2026-11-21T20:00:00+00:00\n"
        "key: '1'\ngoal_hash: abc\ngoal: Sum up.\n"
    ),
    f"news/{RUN}/nodes/amd/_spec.md": "Look at AMD.\n",
    f"news/{RUN}/nodes/amd/_status.md": (
        "---\nstatus: completed\nworker: Alice\nturns: 3\ntokens: 900\n"
        "cost_usd: 0.05\n---\nDone.\n"
    ),
    f"news/{RUN}/nodes/amd/published/findings.md": "AMD is there.\n",
    f"news/{RUN}/nodes/amd/log.jsonl": lines(
        {
            "ts": "2026-11-21T20:00:01+00:00",
            "step": "model",
            "turn": 1,
            "text": "I look first.",
            "calls": ["read_file", "read_file", "bash"],
        },
        {"step": "tool", "turn": 1, "tool": "read_file", "result": "A page."},
        {"step": "tool", "turn": 1, "tool": "read_file", "result": "Another."},
        {"step": "tool", "turn": 1, "tool": "bash", "error": True, "result": "no x"},
    ),
    f"news/{RUN}/nodes/amd/_refs.json": (
        '{"notes": [{"path": "inputs/notes.md", "size": 2345, "sha256": "0"}]}\n'
    ),
    f"news/{RUN}/nodes/intel/_spec.md": "Look at Intel.\n",
    f"news/{RUN}/nodes/intel/_status.md": (
        "---\nstatus: failed\nworker: Alice\nerror: out of turns\n---\n"
    ),
    f"news/{RUN}/nodes/nvidia/_spec.md": "Look at NVIDIA.\n",
    f"news/{RUN}/workers/Alice/identity.md": "---\nrole: analyst\n---\nCareful.\n",
    f"news/{RUN}/workers/Alice/_status.md": "---\nstatus: busy\nnode: nvidia\n---\n",
    "news/_questions/q-001.md": (
        "---\nfrom: Alice\nnode: nvidia\nasked: 2026-11-21T20:14:03+00:00\n"
        "kind: question\nanswer:\n---\nWhich year?\n\n## Answer\n\n"
    ),
    "news/_questions/q-002.md": (
        "---\nfrom: Alice\nkind: question\nanswer: 2026\n---\nWhen?\n\n## Answer\n\n"
    ),
}

HELD = {
    "held one/GOAL.md": "Compare.\n",
    "held one/_status.md": (
        "---\nstatus: held\nturns: 2\ntokens: 10\ncost_usd: null\n"
        "waiting_for: a price for mylab/big\n---\n"
    ),
}

BROKEN = {
    "broken/GOAL.md": "---\nmode: sometimes\nmodle: x\n---\nDo it.\n",
    "broken/_status.md": (
        "---\nstatus: broken\n"
        "error: GOAL.md was not accepted; see GOAL.md.error.md\n---\n"
    ),
    "broken/GOAL.md.error.md": (
        "# GOAL.md was not accepted\n\n- Line 2, column 7, `mode`\n"
        "  - found: 'sometimes'\n  - allowed: finite or infinite\n"
        "- Line 3, column 1, `modle`\n  - found: a word\n  - allowed: others\n\n"
        "In force meanwhile: nothing.\n"
    ),
}
