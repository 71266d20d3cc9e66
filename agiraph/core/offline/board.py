"""What the coordinator has been told of its nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.core.offline.listing import first_line
from agiraph.model.conversation import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agiraph.core.offline.plan import Group
    from agiraph.core.offline.talk import Done, Talk
    from agiraph.model.json import JsonObject

# A line of news on a node's end, as `core.brief.ended_line` writes it.
_ENDED = re.compile(
    r"^(?:<agiraph>)?\[node (.+?) "
    r"(completed|failed|cancelled|checkpointed)( \(partial\))?(?=[,\]])([^\n]*)",
    re.MULTILINE,
)
REPORT_TITLE = "Report"
_STATES = ("completed", "failed", "cancelled", "checkpointed")
_STATUS_FILE = re.compile(r"nodes/([^/]+)/_status\.md")
_STATUS = re.compile(r"^status: *(\w+)", re.MULTILINE)
_STUCK = re.compile(r"nothing can go on", re.IGNORECASE)
_TAKEN = re.compile(r"\b(?:taken|exists|already)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class News:
    """How nodes have ended, the last word on each; states: node -> its state.

    Attributes:
        words: node -> what its line said.
        partial: nodes whose result counts only when somebody says so.
        stuck: whether we were just told that nothing can go on.
        looked: whether we have looked for ourselves after that.
    """

    states: Mapping[str, str]
    words: Mapping[str, str]
    partial: frozenset[str]
    stuck: bool
    looked: bool

    def ended(self, node: str) -> bool:
        """Whether a node came to an end, good or bad."""
        return node in self.states

    def completed(self, node: str) -> bool:
        """Whether a node has published."""
        return self.states.get(node) == "completed"


@dataclass(frozen=True, slots=True)
class Made:
    """A group and the node that was made for it; why: why there is none."""

    group: Group
    node: str = ""
    why: str = ""


def news_of(talk: Talk) -> News:
    """What the daemon has told since the brief."""
    states: dict[str, str] = {}
    words: dict[str, str] = {}
    partial: set[str] = set()
    for line in talk.told:
        if line.kind is not Kind.NOTICE:
            continue
        for node, state, part, rest in _ENDED.findall(line.content):
            states[node] = state
            words[node] = rest.partition("]")[2].removesuffix("</agiraph>").strip()
            (partial.add if part else partial.discard)(node)
    for done in talk.calls_of("read_file"):
        node, state = _status(done)
        if state:
            states[node] = state
    stuck = any(_STUCK.search(line.content) for line in talk.fresh)
    looked = talk.last is not None and bool(_status(talk.last)[0])
    return News(states, words, frozenset(partial), stuck, looked and not talk.fresh)


def status_calls(nodes: Sequence[str]) -> tuple[tuple[str, JsonObject], ...]:
    """The calls that look how nodes stand: a missed word changes nothing in the end."""
    return tuple(("read_file", {"path": f"nodes/{node}/_status.md"}) for node in nodes)


def _status(done: Done) -> tuple[str, str]:
    """The node whose status was read, and its state if it has ended; else ""."""
    path = _STATUS_FILE.fullmatch(str(done.arguments.get("path", "")))
    if path is None or done.name != "read_file":
        return "", ""
    state = _STATUS.search(done.result)
    ended = state is not None and state.group(1) in _STATES and not done.error
    return path.group(1), state.group(1) if ended and state is not None else ""


def made_for(talk: Talk, group: Group) -> Made | None:
    """The node of a group; None while the next name is to be tried."""
    for node in names_for(group.id):
        done = talk.call("create_work_node", id=node)
        if done is None:
            return None
        if not done.error:
            return Made(group, node)
        if not _TAKEN.search(done.result):
            return Made(group, why=first_line(done.result))
    return Made(group, why="every name for its node is taken")


def names_for(node: str) -> Sequence[str]:
    """The names that are tried for a node, one after another."""
    return (node, f"{node}-again", f"{node}-once-more")


def report_attempts(talk: Talk) -> list[Done]:
    """Every attempt to make a node that brings the digests together, in order."""
    return [
        done
        for done in talk.calls_of("create_work_node")
        if done.arguments.get("title") == REPORT_TITLE
    ]


def depends_on(report: Done) -> tuple[str, ...]:
    """The nodes that a report node was made to wait for."""
    nodes = report.arguments.get("depends_on")
    return tuple(map(str, nodes)) if isinstance(nodes, (list, tuple)) else ()
