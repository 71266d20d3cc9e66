"""The page that `agiraph status` draws for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from agiraph.cli import render
from agiraph.cli.shell import quoted
from agiraph.cli.view import AT_REST, PERMISSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from agiraph.cli.call import Call
    from agiraph.cli.daemons import DaemonView
    from agiraph.cli.view import AgentView, QuestionView, TreeView

_MOST_AT_REST = 20
_MOST_LINES = 20
_LONGEST = 2000
NODE_HEADS = ("NODE", "STATUS", "WORKER", "TURNS", "TOKENS", "COST", "NOTES")
NUMBERS = ("TURNS", "TOKENS", "COST")


def draw(
    call: Call,
    view: TreeView,
    daemon: DaemonView,
    cost: tuple[float, int],
    *,
    file: TextIO | None = None,
) -> None:
    """Print the page; with one agent, its nodes and workers too."""
    console = render.console(call, file)
    console.print(daemon.words)
    if view.paused:
        console.print("The whole tree is PAUSED; `agiraph resume` goes on.")
    if view.away:
        console.print(
            f"You are away {view.away}: what would be sent to you is held back; "
            "`agiraph available` when you are back."
        )
    if not view.agents:
        console.print("No agents yet.")
        render.next_step('agiraph new NAME --goal "..."')
        return
    console.print()
    _agents(console, view.agents)
    if len(view.agents) == 1:
        _one(console, view.agents[0])
    _section(console, "Waits for you", list(_waiting(view)))
    _section(console, "Wrong", list(_wrong(view)))
    console.print()
    console.print(_cost_line(view, cost))
    told = "; ".join(f"`{word}` means {means}" for word, means in PERMISSIONS.items())
    console.print(
        f"Permissions today: {told}.", style="dim", soft_wrap=not console.is_terminal
    )


def _agents(console: Console, agents: Sequence[AgentView]) -> None:
    resting = [each for each in agents if each.status in AT_REST and not _trouble(each)]
    hidden = {each.name for each in resting[_MOST_AT_REST:]}
    heads = ("AGENT", "STATUS", "RUN", "NODES", "TOKENS", "COST")
    rows = [
        (
            each.name,
            _state(each),
            each.run or "-",
            _nodes_in_short(each),
            render.tokens(each.tokens),
            render.money(each.cost_usd, spent=bool(each.tokens or each.turns)),
        )
        for each in agents
        if each.name not in hidden
    ]
    console.print(render.table(heads, rows, right=NUMBERS))
    if hidden:
        console.print(f"… and {len(hidden)} more at rest (--json lists them all)")


def _one(console: Console, agent: AgentView) -> None:
    if agent.nodes:
        console.print()
        console.print(render.table(NODE_HEADS, node_rows(agent), right=NUMBERS))
    if agent.workers:
        console.print()
        rows = [(each.name, each.status, each.node or "-") for each in agent.workers]
        console.print(render.table(("WORKER", "STATUS", "NODE"), rows))


def node_rows(agent: AgentView) -> list[tuple[str, ...]]:
    """The rows of the table of an agent's nodes."""
    return [
        (
            each.id,
            each.status,
            each.worker or "-",
            str(each.turns),
            render.tokens(each.tokens),
            render.money(each.cost_usd, spent=bool(each.tokens or each.turns)),
            render.short(each.error or each.waiting_for, 60),
        )
        for each in agent.nodes
    ]


def _state(agent: AgentView) -> str:
    if agent.paused and agent.status != "paused":
        return f"{agent.status} (pausing)"
    return agent.status


def _nodes_in_short(agent: AgentView) -> str:
    counts = agent.counts
    every = sum(counts.values())
    if not every:
        return "-"
    done = counts.pop("completed", 0)
    rest = ", ".join(f"{count} {state}" for state, count in counts.items())
    return f"{done}/{every} done" + (f", {rest}" if rest else "")


def _trouble(agent: AgentView) -> bool:
    return bool(agent.questions or agent.errors or agent.error or agent.remarks)


def _waiting(view: TreeView) -> Iterator[str]:
    for each in view.questions:
        who = each.sender + (f" at {each.node}" if each.node else "")
        yield (
            f"{each.agent}: {who or 'the coordinator'} asks ({each.id}): "
            f"{render.short(_asked(each), 120)}"
        )
        yield f"    answer in {each.path}, or: {each.command}"
    for agent in view.agents:
        if _waits_for_more(agent):
            yield f"{agent.name}: {agent.status}, {_whole(agent.waiting_for)}"
        for node in agent.nodes:
            if node.status == "held" and node.waiting_for not in agent.waiting_for:
                why = _whole(node.waiting_for)
                yield f"{agent.name}: node {node.id} is held, {why}"
        if agent.paused:
            name = quoted(agent.name)
            yield f"{agent.name}: paused by a file PAUSE; `agiraph resume {name}`"


def _asked(question: QuestionView) -> str:
    """What is asked; of an approval its first line, which names the call."""
    text = question.text.strip()
    return text.partition("\n")[0] if question.kind == "approval" else text


def _waits_for_more(agent: AgentView) -> bool:
    """Whether it waits for something that its questions do not say already."""
    if agent.status == "waiting_for_human" and agent.questions:
        return False
    return bool(agent.waiting_for) and agent.status not in ("working", "idle")


def _wrong(view: TreeView) -> Iterator[str]:
    for each in view.errors:
        yield f"{each.path}: {_whole(each.words)}"
    for agent in view.agents:
        for each in agent.errors:
            yield f"{each.path}: {_whole(each.words)}"
        for remark in agent.remarks:
            yield f"{agent.name}/{_whole(remark)}"
        if agent.fallback and agent.status not in AT_REST:
            yield f"{agent.name}: {_whole(agent.fallback)}"
        if agent.error and not _told_before(agent):
            yield f"{agent.name}: {_whole(agent.error)}"
        for node in agent.nodes:
            if node.status == "failed":
                why = _whole(node.error or "it gave no reason")
                yield f"{agent.name}: node {node.id} failed: {why}"


def _told_before(agent: AgentView) -> bool:
    """Whether its error only points to a bad file that is listed already."""
    return any(
        f"see {each.path.rpartition('/')[2]}" in agent.error for each in agent.errors
    )


def _whole(words: str) -> str:
    """What is to be done about something, on one line and to its end."""
    return render.short(words, _LONGEST)


def _section(console: Console, head: str, lines: list[str]) -> None:
    console.print()
    if not lines:
        console.print(f"{head}: nothing")
        return
    console.print(f"{head}:", style="bold")
    for line in lines[:_MOST_LINES]:
        _indented(console, render.clean(line))
    if len(lines) > _MOST_LINES:
        console.print(f"  … and {len(lines) - _MOST_LINES} more")


def _indented(console: Console, line: str) -> None:
    """A line as one line for programs; on a terminal its rest stands below it."""
    from rich.padding import Padding
    from rich.text import Text

    if console.is_terminal:
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    else:
        console.print(f"  {line}", soft_wrap=True)


def _cost_line(view: TreeView, cost: tuple[float, int]) -> str:
    known, unknown = cost
    used = sum(each.tokens or 0 for each in view.agents)
    line = f"Cost: {render.money(known, spent=True)}"
    if unknown:
        known_part = f"{render.money(known, spent=True)} known; " if known else ""
        who = "one agent" if unknown == 1 else f"{unknown} agents"
        line = f"Cost: {known_part}unknown for {who} (no price for the model)"
    return f"{line}, {render.tokens(used)} tokens in these runs (`agiraph cost`: all)"
