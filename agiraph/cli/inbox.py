"""`agiraph inbox`: what agents want from the person, over all agents."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.absence import away_words
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import Misused, NotFound
from agiraph.cli.read import Files
from agiraph.cli.readmarks import broken_marks, mark_read, messages, read_marks
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import agent_names, one_agent, open_questions
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = ("approval", "question", "message", "held")
_HEADS = {
    "approval": "For your approval",
    "question": "Questions",
    "message": "Messages",
    "held": "Held",
}
_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that somebody wants; `id` is what --read takes, for messages."""

    kind: str
    agent: str
    id: str
    sender: str
    when: str
    text: str
    read: bool = False
    file: str = ""
    command: str = ""


@click.command(short_help="What agents want from you, over all agents.")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Messages that were read, too.")
@click.option("--read", "read", is_flag=True, help="Mark messages as read.")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@as_json
@tree_options
@click.pass_obj
def inbox(
    call: Call,
    name: str | None,
    everything: bool,
    read: bool,
    ids: tuple[str, ...],
    json_: bool,
) -> None:
    """What agents want from you: approvals, questions, unread messages, held work.

    With --read, messages are marked as read: those named, or all that are unread, of
    one agent or of all. The marks stand in `_read.yaml` at the root of the tree.

    Examples:
      agiraph inbox
      agiraph inbox news --all
      agiraph inbox --read                  all messages
      agiraph inbox --read 3f2a1c9b
    """
    files = Files(call.tree)
    if read:
        _mark(files, [each for each in (name, *ids) if each])
        return
    if ids:
        raise Misused("ids go with --read.")
    agents = [one_agent(files, name)] if name else list(agent_names(files))
    found = [one for each in agents for one in _items(files, each, everything)]
    found.sort(key=lambda each: _KINDS.index(each.kind))
    if json_:
        render.data(render.as_json([asdict(each) for each in found]))
        return
    if wrong := broken_marks(files):
        render.say(f"{wrong}; mend it, or delete it.")
    away = away_words(files)
    if away:
        render.say(f"You are away {away}; `agiraph available` when you are back.")
    render.data("\n".join(_page(found)))


def _items(files: Files, name: str, everything: bool) -> Iterator[Item]:
    for asked in open_questions(files, Home(name)):
        yield Item(
            kind=asked.kind,
            agent=name,
            id=asked.id,
            sender=asked.sender or "coordinator",
            when=asked.asked,
            text="\n".join([asked.text, *(f"- {each}" for each in asked.choices)]),
            file=asked.path,
            command=asked.command,
        )
    marks = read_marks(files).get(name, frozenset())
    for said in messages(files, name):
        if everything or said.id not in marks:
            is_read = said.id in marks
            yield Item(
                "message", name, said.id, said.sender, said.when, said.text, is_read
            )
    yield from _held(files, name)


def _held(files: Files, name: str) -> Iterator[Item]:
    view = agent_view(files, name, deep=False)
    if view.status in ("held", "broken", "failed"):
        words = view.waiting_for or view.error or view.status
        yield Item("held", name, "", name, view.since, f"{view.status}: {words}")
    for node in view.nodes:
        if node.status == "held" and node.waiting_for not in view.waiting_for:
            words = f"node {node.id} is held: {node.waiting_for}"
            yield Item("held", name, "", node.worker or name, node.since, words)


def _page(found: list[Item]) -> Iterator[str]:
    if not found:
        yield "Nothing waits for you."
    for kind in _KINDS:
        some = [each for each in found if each.kind == kind]
        if some:
            yield f"{_HEADS[kind]}:"
        for each in some:
            # A message's time stands in `_outbox.md` as people read it.
            when = render.moment(each.when) if "T" in each.when else each.when
            parts = (each.agent, each.id, when, each.sender)
            head = "  ".join(dict.fromkeys(part for part in parts if part))
            yield f"  {render.clean(head)}{'  (read)' if each.read else ''}"
            text = each.text if len(each.text) <= _SHOWN else each.text[:_SHOWN] + "…"
            for line in text.splitlines():
                yield f"      {render.clean(line)}".rstrip()
            if each.command:
                yield f"      Answer: {each.command}"


def _mark(files: Files, words: list[str]) -> None:
    """Mark messages as read: of all agents, of agents that are named, or by id."""
    agents = agent_names(files)
    unread: dict[str, set[str]] = defaultdict(set)
    left = set(words)
    for agent in agents:
        for said in messages(files, agent):
            if not words or agent in words or said.id in words:
                unread[agent].add(said.id)
                left -= {agent, said.id}
        left -= {agent}
    if left:
        named = ", ".join(sorted(left))
        raise NotFound(f"nothing is called {named}; `agiraph inbox` lists what is.")
    known = read_marks(files)
    new = {agent: frozenset(ids) for agent, ids in unread.items()}
    count = sum(len(ids - known.get(agent, frozenset())) for agent, ids in new.items())
    mark_read(files, new)
    render.say(f"{count} marked as read.")
