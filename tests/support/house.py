"""Many small stories on one daemon and one model server, an agent for each."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.cast import cast
from tests.support.model_server import ModelServer
from tests.support.trace import check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.cast import Part
    from tests.support.daemon import Daemon
    from tests.support.manners import Manner
    from tests.support.model_asked import Asked
    from tests.support.model_server import Script


class Story:
    """One agent of the house; its model is called as the agent is."""

    def __init__(self, house: House, agent: str) -> None:
        self._house = house
        self.tree = house.daemon
        self.agent = agent
        self.run = f"{agent}/runs/*"

    @property
    def asked(self) -> list[Asked]:
        """The requests of this agent's coordinator and workers."""
        return [one for one in self._house.server.requests if one.model == self.agent]

    def asked_by(self, who: str) -> list[Asked]:
        return [one for one in self.asked if who in (one.who, one.node)]

    def node(self, node: str) -> str:
        """The folder of a node."""
        return f"{self.run}/nodes/{node}"

    def until(self, *states: str, node: str = "", seconds: float = 20.0) -> str:
        """Wait until the agent, or one of its nodes, has one of these states."""
        pattern = self.node(node) if node else self.agent

        def stands() -> str | None:
            for error in self._house.server.errors:
                raise error  # of a script: there is nothing more to wait for
            state = self.tree.state(pattern)
            return state if state in states else None

        what = f"{pattern} is {' or '.join(states)}"
        return self.tree.until(stands, what, seconds=seconds)

    def kinds(self, node: str) -> list[str]:
        """What happened to a node, in order."""
        events = self.tree.events(self.agent, "node.", node=node)
        return [event["type"].removeprefix("node.") for event in events]

    def why(self, node: str) -> str:
        """Why a node failed, as its status says it."""
        return str(self.tree.head(f"{self.node(node)}/_status.md").get("error", ""))

    def check(self, *, unanswered: int = 0, restarted: bool = False) -> None:
        """Hold its records against each other."""
        check(
            self.tree,
            self.agent,
            self._house.server,
            model=self.agent,
            unanswered=unanswered,
            restarted=restarted,
        )


class House:
    """A daemon with its model server; `tell` begins a story."""

    def __init__(self, daemon: Daemon, server: ModelServer) -> None:
        self.daemon = daemon
        self.server = server
        self.scripts: dict[str, Script] = {}

    def tell(
        self,
        agent: str,
        *,
        settings: dict[str, Any] | None = None,
        learned: str = "nothing",
        **parts: Part,
    ) -> Story:
        """Drop a goal whose coordinator and workers play these parts."""
        self.scripts[agent] = cast(learned=learned, **parts)
        keys = {"model": f"lab/{agent}"} | (settings or {})
        head = yaml.safe_dump(keys, sort_keys=False)
        self.daemon.write(f"{agent}/GOAL.md", f"---\n{head}---\nThe goal of {agent}.\n")
        return Story(self, agent)


@contextmanager
def opened(home: Path, manner: Manner) -> Iterator[House]:
    """A house as long as the context lasts."""

    def script(asked: Asked) -> Any:
        return house.scripts[asked.model](asked)

    with ModelServer(script) as server:
        daemon = manner.daemon(home, server)
        house = House(daemon, server)
        with daemon:
            yield house
