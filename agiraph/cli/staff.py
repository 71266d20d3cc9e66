"""`agiraph show NAME WORKER`: who it is, what it does and did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.names import found
from agiraph.cli.parts import below, facts, json_of, listed, text
from agiraph.cli.steps import told
from agiraph.cli.thread import log_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.cli.read import Files
    from agiraph.model.layout import Home, RunFolder, WorkerFolder

_STEPS = 60


def show(files: Files, home: Home, run: RunFolder, typed: str, *, json_: bool) -> None:
    """Print one worker of a run."""
    where = f"{home.agent}'s run {run.name}"
    name = found(typed, files.folders(run.workers), kind="worker", where=where)
    shown = worker_object(files, home, run.worker(name))
    if json_:
        render.data(render.as_json(shown))
    else:
        _draw(shown)


def worker_object(files: Files, home: Home, folder: WorkerFolder) -> dict[str, object]:
    """What `--json` prints of a worker: keys are added over time, never renamed."""
    settings, body = files.page(folder.identity)
    history = json_of(files.text(folder.history))
    inbox = folder.inbox
    return {
        "agent": home.agent,
        "name": folder.name,
        **files.facts(folder.status),
        "path": str(folder.path),
        "identity": body,
        "settings": settings,
        "memory": files.text(folder.memory),
        "notebook": files.text(folder.notebook),
        "history": history if isinstance(history, list) else [],
        "steps": list(_steps(files, folder))[-_STEPS:],
        "inbox": str(inbox) if files.there(inbox) else None,
        "files": list(below(files, folder.path)),
    }


def _steps(files: Files, folder: WorkerFolder) -> Iterator[dict[str, object]]:
    """The last lines of its conversation as steps, as a node's log has them."""
    for line in log_lines(files, folder.conversation):
        step: dict[str, object] = {"ts": line.get("ts"), "turn": line.get("turn")}
        if line.get("role") == "assistant":
            names = _names(line.get("tool_calls"))
            yield step | {"step": "model", "text": line.get("content"), "calls": names}
        elif line.get("role") == "tool":
            failed = line.get("error") is True
            told = {"tool": line.get("name"), "result": line.get("content")}
            yield step | {"step": "tool", "error": failed} | told


def _names(calls: object) -> list[object]:
    found = calls if isinstance(calls, list) else []
    return [each.get("name") for each in found if isinstance(each, dict)]


def _draw(shown: dict[str, object]) -> None:
    facts(shown, ("name", "status", "node", "since", "waiting_for", "error"))
    text("Identity", shown["identity"], f"{shown['path']}/identity.md")
    settings = shown["settings"]
    if isinstance(settings, dict):
        listed("Settings", [f"{key}: {value}" for key, value in settings.items()])
    text("Memory", shown["memory"], f"{shown['path']}/memory.md")
    text("Notebook", shown["notebook"], f"{shown['path']}/notebook.md")
    done = shown["history"]
    if isinstance(done, list):
        deeds = [each for each in done if isinstance(each, dict)]
        listed("Done", [f"{each.get('node')}: {each.get('summary')}" for each in deeds])
    steps = shown["steps"]
    if isinstance(steps, list):
        listed("Last steps", told(steps))
    listed("Files", shown["files"])
