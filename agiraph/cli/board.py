"""The board of one agent as it grows: live on a terminal, else a line a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.status_page import NODE_HEADS, NUMBERS, node_rows

if TYPE_CHECKING:
    from types import TracebackType

    from rich.live import Live

    from agiraph.cli.call import Call
    from agiraph.cli.view import AgentView


class Board:
    """Shows an agent again and again; used as a context."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._live: Live | None = None
        self._shown: AgentView | None = None
        self._told: dict[str, str] = {}

    def __enter__(self) -> Board:
        console = render.console(self._call)
        if console.is_terminal and not console.is_dumb_terminal:
            from rich.live import Live

            self._live = Live(console=console, auto_refresh=False)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, agent: AgentView) -> None:
        """Show how it stands now."""
        if self._live is None:
            self._tell_changes(agent)
            return
        if agent == self._shown:
            return
        self._shown = agent
        from rich.console import Group

        head = f"{agent.name}: {agent.status}"
        drawn = render.table(NODE_HEADS, node_rows(agent), right=NUMBERS)
        self._live.update(Group(head, drawn), refresh=True)

    def _tell_changes(self, agent: AgentView) -> None:
        stand = {f"agent {agent.name}": agent.status}
        for node in agent.nodes:
            by = f" ({node.worker})" if node.worker else ""
            stand[f"node {node.id}"] = f"{node.status}{by}"
        for what, how in stand.items():
            if self._told.get(what) != how:
                render.data(render.clean(f"{what}: {how}"))
        self._told = stand
