"""`agiraph adopt`: from now on this machine and place run an agent."""

from __future__ import annotations

import os

import click

from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.owner import judged, owner_here, read_owner_of, whereabouts
from agiraph.cli.read import Files
from agiraph.cli.render import data, say
from agiraph.cli.shell import quoted
from agiraph.cli.view import one_agent
from agiraph.cli.write import put
from agiraph.model.layout import Home


@click.command()
@click.argument("name")
@tree_options
@click.pass_obj
def adopt(call: Call, name: str) -> None:
    """Move an agent here: from now on this machine and place run it.

    For an agent that came by a sync, a copy or a backup, and that its status calls
    `elsewhere`. Its `_owner.yaml` is written anew, with the next epoch; a daemon that
    still runs it elsewhere lets go of it when it sees that file.

    Examples:
      agiraph adopt news
    """
    from agiraph.core.codec import write_owner
    from agiraph.core.ownership import Claim, adopted

    files = Files(call.tree)
    agent = one_agent(files, name)
    before = read_owner_of(files, agent)
    found = judged(files, agent, before)
    if before is None or found.claim in (Claim.MINE, Claim.MOVED, Claim.FORKED):
        raise Refused(
            f"{agent} is run here already: nothing has to be adopted. "
            f"`agiraph status {quoted(agent)}` says how it stands."
        )
    owner = adopted(before, here=owner_here(whereabouts(files), agent))
    path = Home(agent).owner
    put(files.root, path, write_owner(owner))
    data(os.path.join(files.root, str(path)))
    say(f"{agent} is run here from now on (epoch {owner.epoch}).")
    say(f"If it is still at work in {before.where}, end it there.")
    if not daemon_of(files).running:
        say("Next: agiraph up")
