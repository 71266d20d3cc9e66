"""`agiraph show`: one agent, or a node, worker or message of its newest run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import NotFound
from agiraph.cli.names import found
from agiraph.cli.parts import below, facts, json_of, listed, text
from agiraph.cli.read import Files
from agiraph.cli.shell import quoted
from agiraph.cli.steps import told
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import newest_run, one_agent
from agiraph.cli.view import node as node_view
from agiraph.model.layout import Home
from agiraph.model.names import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.layout import NodeFolder, RunFolder

_LAST_STEPS = 60
_LOG_TAIL = 256 * 1024


@click.command()
@click.argument("name")
@click.argument("node", required=False, metavar="[NODE|WORKER]")
@click.option(
    "--message",
    metavar="N",
    help="Which model call's input contained this message: its number, or its id.",
)
@as_json
@tree_options
@click.pass_obj
def show(
    call: Call, name: str, node: str | None, message: str | None, json_: bool
) -> None:
    """One agent, node or worker in full.

    A node: its spec, status, refs, last steps and files. A worker: who it is, what it
    does and did, its last steps and files. A message: who has read it, and when.

    Examples:
      agiraph show news
      agiraph show news nvidia
      agiraph show news Alice --json
      agiraph show news --message 12
    """
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    run = newest_run(files, home)
    if message is not None:
        from agiraph.cli import proof

        proof.show(files, home, run, message, json_=json_)
        return
    if node is not None and run is not None and _is_worker(files, run, node):
        from agiraph.cli import staff

        staff.show(files, home, run, node, json_=json_)
        return
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
    names = files.folders(run.nodes)
    known = {folded(each) for each in names}
    more = [each for each in files.folders(run.workers) if folded(each) not in known]
    return home, run.node(
        found(typed, [*names, *more], kind="node or worker", where=where)
    )


def _is_worker(files: Files, run: RunFolder, typed: str) -> bool:
    """Whether a name is that of a worker and of no node."""
    nodes = {folded(each) for each in files.folders(run.nodes)}
    workers = {folded(each) for each in files.folders(run.workers)}
    return folded(typed) in workers - nodes


def _agent_object(files: Files, home: Home, run: RunFolder | None) -> dict[str, object]:
    view = asdict(agent_view(files, home.agent))
    settings, goal = files.page(home.goal)
    return view | {
        "goal": goal,
        "settings": settings,
        "goal_path": str(home.goal),
        "output_path": str(run.output) if run and files.there(run.output) else None,
        "output": files.text(run.output) if run else "",
        "published": list(below(files, run.published)) if run else [],
        "inputs": list(below(files, home.inputs)),
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
        "refs": json_of(files.text(folder.refs)),
        "steps": list(_last_steps(files, folder)),
        "files": [
            *below(files, folder.scratch),
            *below(files, folder.published),
            *below(files, folder.outputs),
        ],
    }


def _last_steps(files: Files, folder: NodeFolder) -> Iterator[dict[str, object]]:
    entry = files.reader.entry(folder.log) if files.there(folder.log) else None
    if entry is None:
        return
    start = max(0, entry.size - _LOG_TAIL)
    tail = files.reader.part(folder.log, offset=start, limit=_LOG_TAIL)
    lines = tail.decode("utf-8", "replace").splitlines()
    for line in lines[1 if start else 0 :][-_LAST_STEPS:]:
        step = json_of(line)
        if isinstance(step, dict) and step:
            yield step


def _draw_agent(call: Call, shown: dict[str, object], name: str) -> None:
    from agiraph.cli import status_page

    view = agent_view(Files(call.tree), name)
    facts(shown, ("name", "status", "run", "stage", "since", "waiting_for", "error"))
    text("Goal", shown["goal"], shown["goal_path"])
    if view.nodes:
        render.data("")
        drawn = render.table(
            status_page.NODE_HEADS,
            status_page.node_rows(view),
            right=status_page.NUMBERS,
        )
        render.console(call).print(drawn)
    listed("Questions", [f"{each.id}: {each.text}" for each in view.questions])
    listed("Wrong", [f"{each.path}: {each.words}" for each in view.errors])
    text("Result", shown["output"], shown["output_path"])
    listed("Published", shown["published"])
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
    facts(shown, keys)
    text("Spec", shown["spec"], f"{shown['path']}/_spec.md")
    listed("Settings", _settings(shown["settings"]))
    text("What came of it", shown["summary"], f"{shown['path']}/_status.md")
    refs = shown["refs"]
    if isinstance(refs, dict):
        listed("Refs", [f"{key}: {_ref(value)}" for key, value in refs.items()])
    steps = shown["steps"]
    if isinstance(steps, list):
        listed("Last steps", told(steps))
    listed("Files", shown["files"])


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
