"""`agiraph show`: one agent, or one node of its newest run, in full."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import NotFound
from agiraph.cli.names import found
from agiraph.cli.read import Files
from agiraph.cli.shell import quoted
from agiraph.cli.steps import told
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import newest_run, one_agent
from agiraph.cli.view import node as node_view
from agiraph.model.layout import Home
from agiraph.ports import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.model.layout import NodeFolder, RunFolder

_LAST_STEPS = 60
_MOST_FILES = 200
_MOST_TEXT = 4000
_LOG_TAIL = 256 * 1024


@click.command()
@click.argument("name")
@click.argument("node", required=False)
@as_json
@tree_options
@click.pass_obj
def show(call: Call, name: str, node: str | None, json_: bool) -> None:
    """One agent or one node in full.

    A node: its spec, status, refs, last steps and files.

    Examples:
      agiraph show news
      agiraph show news nvidia
      agiraph show news nvidia --json
    """
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    run = newest_run(files, home)
    if node is None:
        shown = _agent_object(files, home, run)
    else:
        shown = _node_object(files, *_one_node(files, home, run, node))
    if json_:
        render.data(render.as_json(shown))
    elif node is None:
        _draw_agent(call, shown, home.agent)
    else:
        _draw_node(shown)


def _one_node(
    files: Files, home: Home, run: RunFolder | None, typed: str
) -> tuple[Home, NodeFolder]:
    if run is None:
        raise NotFound(f"{home.agent} has no run yet, so it has no nodes.")
    where = f"{home.agent}'s run {run.name}"
    return home, run.node(
        found(typed, files.folders(run.nodes), kind="node", where=where)
    )


def _agent_object(files: Files, home: Home, run: RunFolder | None) -> dict[str, object]:
    view = asdict(agent_view(files, home.agent))
    settings, goal = files.page(home.goal)
    return view | {
        "goal": goal,
        "settings": settings,
        "goal_path": str(home.goal),
        "output_path": str(run.output) if run and files.there(run.output) else None,
        "output": files.text(run.output) if run else "",
        "published": list(_below(files, run.published)) if run else [],
        "inputs": list(_below(files, home.inputs)),
        "runs": list(files.folders(home.runs)),
    }


def _node_object(files: Files, home: Home, folder: NodeFolder) -> dict[str, object]:
    settings, body = files.page(folder.spec)
    facts, said = files.page(folder.status)
    return asdict(node_view(files, folder)) | {
        "agent": home.agent,
        "path": str(folder.path),
        "spec": body,
        "settings": settings,
        "facts": facts,
        "summary": said,
        "refs": _json(files.text(folder.refs)),
        "steps": list(_last_steps(files, folder)),
        "files": [
            *_below(files, folder.scratch),
            *_below(files, folder.published),
            *_below(files, folder.outputs),
        ],
    }


def _below(files: Files, folder: PurePosixPath) -> Iterator[str]:
    """The files below a folder as paths of the tree, a bounded number of them."""
    todo = [folder]
    told = 0
    while todo:
        here = todo.pop(0)
        for each in files.entries(here):
            if each.kind is EntryKind.FOLDER:
                todo.append(here / each.name)
                continue
            told += 1
            if told > _MOST_FILES:
                return
            yield str(here / each.name)


def _json(text: str) -> object:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {}


def _last_steps(files: Files, folder: NodeFolder) -> Iterator[dict[str, object]]:
    entry = files.reader.entry(folder.log) if files.there(folder.log) else None
    if entry is None:
        return
    start = max(0, entry.size - _LOG_TAIL)
    tail = files.reader.part(folder.log, offset=start, limit=_LOG_TAIL)
    lines = tail.decode("utf-8", "replace").splitlines()
    for line in lines[1 if start else 0 :][-_LAST_STEPS:]:
        step = _json(line)
        if isinstance(step, dict) and step:
            yield step


def _draw_agent(call: Call, shown: dict[str, object], name: str) -> None:
    from agiraph.cli import status_page

    view = agent_view(Files(call.tree), name)
    _facts(shown, ("name", "status", "run", "stage", "since", "waiting_for", "error"))
    _text("Goal", shown["goal"], shown["goal_path"])
    if view.nodes:
        render.data("")
        drawn = render.table(
            status_page.NODE_HEADS,
            status_page.node_rows(view),
            right=status_page.NUMBERS,
        )
        render.console(call).print(drawn)
    _list("Questions", [f"{each.id}: {each.text}" for each in view.questions])
    _list("Wrong", [f"{each.path}: {each.words}" for each in view.errors])
    _text("Result", shown["output"], shown["output_path"])
    _list("Published", shown["published"])
    if view.nodes:
        render.next_step(f"agiraph show {quoted(name)} {quoted(view.nodes[0].id)}")


def _draw_node(shown: dict[str, object]) -> None:
    keys = (
        "id",
        "status",
        "worker",
        "since",
        "turns",
        "tokens",
        "waiting_for",
        "error",
    )
    _facts(shown, keys)
    _text("Spec", shown["spec"], f"{shown['path']}/_spec.md")
    _list("Settings", _settings(shown["settings"]))
    _text("What came of it", shown["summary"], f"{shown['path']}/_status.md")
    refs = shown["refs"]
    if isinstance(refs, dict):
        _list("Refs", [f"{key}: {_ref(value)}" for key, value in refs.items()])
    steps = shown["steps"]
    if isinstance(steps, list):
        _list("Last steps", told(steps))
    _list("Files", shown["files"])


def _settings(shown: object) -> list[str]:
    """What stands above a spec's text; its refs have a list of their own."""
    if not isinstance(shown, dict):
        return []
    return [
        f"{key}: {value if isinstance(value, str) else render.as_line(value)}"
        for key, value in shown.items()
        if key not in ("refs", "title")
    ]


def _ref(found: object) -> str:
    """What a ref leads to: its files, each with its size where it is known."""
    files = found if isinstance(found, list) else [found]
    return ", ".join(_ref_file(each) for each in files) or "nothing yet"


def _ref_file(found: object) -> str:
    if not isinstance(found, dict):
        return str(found)
    size = found.get("size")
    more = f" ({render.size(size)})" if isinstance(size, int) else ""
    return f"{found.get('path', '?')}{more}"


def _facts(shown: dict[str, object], keys: tuple[str, ...]) -> None:
    for key in keys:
        value = shown.get(key)
        if value in (None, ""):
            continue
        words = render.moment(str(value)) if key == "since" else str(value)
        head = f"{key.replace('_', ' ')}:"
        render.data(f"{head:<13}{render.short(words, 2000)}")


def _text(head: str, text: object, where: object) -> None:
    if not text:
        return
    words = render.clean(str(text)).strip()
    if len(words) > _MOST_TEXT:
        words = f"{words[:_MOST_TEXT]}\n… the rest is in the file"
    render.data(f"\n{head} ({where}):\n")
    render.data("\n".join(f"  {line}".rstrip() for line in words.splitlines()))


def _list(head: str, lines: object) -> None:
    if isinstance(lines, list) and lines:
        render.data(f"\n{head}:")
        for line in lines:
            render.data(f"  {render.short_line(str(line), 300)}")
