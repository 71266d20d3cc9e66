"""`agiraph check`: reads every file as the daemon would, and lists what is wrong."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import BadTree, Code, NotFound
from agiraph.cli.read import Files
from agiraph.model.layout import SETTINGS

if TYPE_CHECKING:
    from agiraph.cli.findings import Finding


@click.command()
@click.argument("path", required=False)
@click.option(
    "--prompt", metavar="NAME", help="Show what the next call of an agent would send."
)
@as_json
@tree_options
@click.pass_obj
def check(call: Call, path: str | None, prompt: str | None, json_: bool) -> int:
    """List what is wrong in the files, with places.

    Every file is read as the daemon would read it.

    PATH is a tree, an agent's folder or one file of it; without it the tree is
    checked. Nothing is changed. The exit code is 4 when something is wrong;
    remarks alone are no fault.

    Examples:
      agiraph check
      agiraph check agents/news/GOAL.md
      agiraph check --json | jq -r '.problems[].path'
      agiraph check --prompt news
      agiraph check --prompt news/Ada
    """
    if prompt is not None:
        from agiraph.cli.prompt import show

        show(call, prompt, json_=json_)
        return Code.DONE
    from agiraph.cli.findings import Checker

    root, inner = _split(path) if path is not None else (call.tree, "")
    checker = Checker(Files(root), "" if inner == "." else inner)
    found = list(checker.tree())
    problems = [each for each in found if not each.remark]
    remarks = [each for each in found if each.remark]
    if json_:
        render.data(
            render.as_json(
                {
                    "root": root,
                    "files": checker.count,
                    "problems": [asdict(each) for each in problems],
                    "remarks": [asdict(each) for each in remarks],
                }
            )
        )
    else:
        for each in found:
            render.data(_line(root, each))
        render.say(_summary(checker.count, len(problems), len(remarks)))
    return Code.BAD_TREE if problems else Code.DONE


def _line(root: str, found: Finding) -> str:
    where = os.path.relpath(os.path.join(root, found.path))
    if found.line:
        where += f":{found.line}"
        where += f":{found.column}" if found.column else ""
    kind = "remark: " if found.remark else ""
    return render.clean(f"{where}: {kind}{found.words}")


def _summary(files: int, problems: int, remarks: int) -> str:
    read = f"{files} {'file' if files == 1 else 'files'} read"
    more = f", {remarks} {'remark' if remarks == 1 else 'remarks'}" if remarks else ""
    if not problems:
        return f"{read}, nothing wrong{more}."
    return f"{read}, {problems} {'problem' if problems == 1 else 'problems'}{more}."


def _split(typed: str) -> tuple[str, str]:
    """The root of the tree that a path lies in, and the path below it.

    The folder above the outermost GOAL.md is the root; a path without one above it
    is a tree itself.
    """
    whole = os.path.abspath(typed)
    if not os.path.lexists(whole):
        raise NotFound(f"there is nothing at {typed}.")
    root, at = "", whole
    while (above := os.path.dirname(at)) != at:
        if os.path.lexists(os.path.join(at, "GOAL.md")):
            root = above
        at = above
    if not root and os.path.basename(whole) == SETTINGS.name:
        root = os.path.dirname(whole)
    if root:
        return root, os.path.relpath(whole, root)
    if not os.path.isdir(whole):
        raise BadTree(f"{typed} is neither a tree nor a file of an agent.")
    return whole, ""
