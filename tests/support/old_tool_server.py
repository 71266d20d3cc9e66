"""A tool server over its pipes that speaks the protocol of 2025, by hand.

It has the tool grow, after which there is also added.
"""

from __future__ import annotations

import json
import sys
from typing import Any

tools = ["grow"]


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answered(method: str) -> dict[str, Any] | None:
    """The result of a request; None where it is not known."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "old", "version": "1"},
        }
    if method == "tools/list":
        shape = {"type": "object"}
        return {"tools": [{"name": name, "inputSchema": shape} for name in tools]}
    if method == "tools/call":
        tools.append("added")
        send({"method": "notifications/tools/list_changed"})
        return {"content": [{"type": "text", "text": "grown"}]}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answered(asked["method"])
    if result is None:
        error = {"code": -32601, "message": "Method not found"}
        send({"id": asked["id"], "error": error})
    else:
        send({"id": asked["id"], "result": result})
