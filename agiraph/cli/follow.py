"""Following one agent that a daemon works on, until it can go no further by itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.codes import NoDaemon, code_of_state
from agiraph.cli.logs import event_line, worth_telling
from agiraph.cli.shell import quoted
from agiraph.cli.view import AT_REST
from agiraph.cli.view import agent as agent_view
from agiraph.tree.lock import holder
from agiraph.tree.logs import Tail

if TYPE_CHECKING:
    from agiraph.cli.codes import Code
    from agiraph.cli.read import Files
    from agiraph.cli.view import AgentView

_BETWEEN_LOOKS = 0.2
_GRACE = 3.0  # an agent that had ended gets this long to take up a changed goal
_TOO_LONG = 30.0


def from_here(files: Files, path_agent: str) -> Tail:
    """The agent's events from this moment on."""
    from agiraph.model.layout import Home

    tail = Tail(files.reader, Home(path_agent).events)
    tail.more()
    return tail


def until_ended(files: Files, before: AgentView, tail: Tail, *, again: bool) -> Code:
    """Print what happens to an agent until its work ends; the exit code for how.

    Args:
        files: of the tree.
        before: how it stood before anything was asked of it.
        tail: its events, from then on.
        again: whether a new run was asked for, so that the old one does not count.

    Raises:
        NoDaemon: the daemon ended meanwhile.
    """
    start = time.monotonic()
    moved = False
    while True:
        moved = _tell(tail) or moved
        now = agent_view(files, before.name)
        waited = time.monotonic() - start
        if now.ended and _counts(now, before, moved=moved, again=again, waited=waited):
            _tell(tail)
            say_end(now, before)
            return code_of_state(now.status)
        if holder(files.root) is None:
            raise NoDaemon(
                f"the daemon ended before {now.name} did; nothing is lost. "
                f"`agiraph run {quoted(now.name)}` goes on from there."
            )
        if not moved and waited > _TOO_LONG:
            moved = True
            render.say(f"Nothing happens yet; see `agiraph status {quoted(now.name)}`.")
        time.sleep(_BETWEEN_LOOKS)


def _tell(tail: Tail) -> bool:
    """Print what was added to the log; whether anything was."""
    events = tail.more().records
    for event in worth_telling(events):
        render.data(event_line(event, dated=False))
    return bool(events)


def _counts(
    now: AgentView, before: AgentView, *, moved: bool, again: bool, waited: float
) -> bool:
    """Whether an end is that of the work that was asked for, not of an older one."""
    if not again:
        return not before.ended or now != before or moved or waited > _GRACE
    if now.run != before.run:
        return True
    # No run was opened: it is paused, or a file of it is bad.
    return waited > _GRACE and now.status in ("broken", "paused", "elsewhere", "forked")


def _the_same(now: AgentView, before: AgentView) -> bool:
    """Whether nothing was left to do, and nothing was done."""
    at_work = before.run_status in ("", "open", "reopened")
    return not at_work and (now.run, now.turns) == (before.run, before.turns)


def say_end(now: AgentView, before: AgentView) -> None:
    """Say how an agent stands, and what to do; and that it had ended before."""
    name = quoted(now.name)
    why = now.error or now.waiting_for
    render.say(
        f"{now.name}: {now.status}{f': {render.short(why, 2000)}' if why else ''}"
    )
    for each in now.questions:
        render.say(
            f"  {each.id}: {render.short(each.text, 200)}  (answer in {each.path})"
        )
    if now.status == "paused":
        render.next_step(f"agiraph resume {name}")
    elif now.status in ("held", "broken"):
        render.say(f"Once that is mended: agiraph run {name}")
    elif now.status in AT_REST and _the_same(now, before):
        render.say("There was nothing to do: its goal was worked on before.")
        render.next_step(
            f"agiraph run {name} --again    (a new run with the same goal)"
        )
    else:
        render.next_step(f"agiraph show {name}")
