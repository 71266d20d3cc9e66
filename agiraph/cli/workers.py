"""`agiraph import-worker`: a worker from another program's subagent file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Misused, NotFound
from agiraph.cli.read import Files
from agiraph.cli.view import newest_run, one_agent
from agiraph.cli.write import put
from agiraph.core.codec import read_identity, write_identity
from agiraph.core.codec.report import Rejected
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from agiraph.core.codec.report import Good
    from agiraph.model.worker import Identity


@click.command(
    name="import-worker", short_help="Take a worker from a Claude Code subagent file."
)
@click.argument("name")
@click.argument(
    "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE"
)
@click.option("--as", "called", metavar="WORKER", help="Its name; default: the file's.")
@tree_options
@click.pass_obj
def import_worker(call: Call, name: str, file: Path, called: str | None) -> None:
    """Give NAME's newest run a worker from a Claude Code subagent file.

    Its description becomes the role, its prompt the identity; tools and model are
    put into our words. The file itself may as well be copied to
    runs/<run>/workers/<worker>/identity.md: that does the same.

    Examples:
      agiraph import-worker news ~/.claude/agents/reviewer.md
      agiraph import-worker news reviewer.md --as Rita
    """
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    run = newest_run(files, home)
    if run is None:
        raise NotFound(f"{home.agent} has no run yet; start it first.")
    worker = called or file.stem
    found = _read(file, worker)
    path = home.run(run.name).worker(worker).identity
    if files.there(path):
        raise Misused(f"{path} is there already; choose another name by --as.")
    put(call.tree, path, write_identity(found.value))
    for remark in found.remarks:
        click.echo(f"{file}, line {remark.line}: {remark.text}", err=True)
    click.echo(f"{worker} is a worker of {home.agent} now: {path}")


def _read(file: Path, worker: str) -> Good[Identity]:
    try:
        found = read_identity(file.read_text("utf-8"), worker)
    except UnicodeDecodeError:
        raise Misused(f"{file} is no text in UTF-8.") from None
    if isinstance(found, Rejected):
        first = found.problems[0]
        allowed = f"; allowed: {first.allowed}" if first.allowed else ""
        raise Misused(f"{file}, line {first.line}: {first.key} {first.found}{allowed}.")
    return found
