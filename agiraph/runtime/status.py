"""The agent's `_status.md`: written when its state changes, counters now and then."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from agiraph.core import board
from agiraph.core.brief import shortened
from agiraph.core.codec import read_status, write_agent_status
from agiraph.core.costs import spent_on
from agiraph.core.limits import COUNTERS_EVERY, GOAL_BYTES
from agiraph.core.standing import Facts, standing
from agiraph.errors import AgiraphError, NotThere
from agiraph.model.agent import AgentState, AgentStatus, Permission
from agiraph.model.event import EventType
from agiraph.model.message import QuestionKind
from agiraph.model.names import COORDINATOR
from agiraph.model.node import NodeState
from agiraph.runtime.loops import chains

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.message import Question
    from agiraph.runtime.desk import Desk

_EVENTS = {
    AgentState.PAUSED: EventType.AGENT_PAUSED,
    AgentState.WAITING_FOR_HUMAN: EventType.AGENT_WAITING,
}

SOON = 0.25  # seconds until a page that could not be written is tried again


class StatusPage:
    """Writes the page, and the events that go with a change of state."""

    def __init__(self, desk: Desk) -> None:
        """Nothing has been written yet."""
        self._desk = desk
        self._shown: tuple[object, ...] = ()
        self._state: AgentState | None = None
        self._told: AgentState | None = None
        self._since = ""
        self._written = -COUNTERS_EVERY
        self._spent = desk.spend

    def due(self) -> float | None:
        """Seconds until the counters are to be written; None when they are.

        Never no time at all: while GOAL.md settles nothing is written, and whoever
        waits for it would go round in circles.
        """
        if self._spent == self._desk.spend:
            return None
        now = self._desk.world.clock.monotonic()
        return max(self._written + COUNTERS_EVERY - now, SOON)

    async def write(self) -> None:
        """Bring the page up to date, if what it says has changed."""
        desk = self._desk
        if desk.elsewhere:
            self._elsewhere()
            return
        nothing = desk.goal is None and not desk.bad_goal and desk.run is None
        if desk.unsettled or nothing:
            return
        state, waiting_for = standing(facts(desk))
        if self._state is None:
            self._recall(state, waiting_for)
        event = self._changed(state) if state is not self._state else None
        shown = self._facts(state, waiting_for)
        now = desk.world.clock.monotonic()
        counters = now - self._written >= COUNTERS_EVERY and self._spent != desk.spend
        if shown == self._shown and not counters:
            self._tell(state)
            return
        self._shown, self._written, self._spent = shown, now, desk.spend
        page = write_agent_status(self._page(state, waiting_for)).encode()
        with suppress(NotThere):  # the home is gone; so is its page
            await desk.world.write(desk.home.status, page)
        if event is not None:
            await desk.records.event(event, desk.where())
        self._tell(state)

    def _recall(self, state: AgentState, waiting_for: str) -> None:
        """After a restart: what has lasted since before it is no news.

        A page that says the same already stays as it is, its counters with it.
        """
        desk = self._desk
        try:
            text = desk.world.reader.read(desk.home.status, limit=GOAL_BYTES).decode()
        except (AgiraphError, UnicodeDecodeError):
            return
        before = read_status(text)
        when, _, words = str(before.get("last_message", "")).partition(": ")
        desk.last_mail = desk.last_mail if any(desk.last_mail) else (when, words)
        if before.get("status") != state.value:
            return
        self._state, self._since = state, str(before.get("since", ""))
        now = read_status(write_agent_status(self._page(state, waiting_for)))
        if _lasting(before) == _lasting(now):
            self._shown, self._spent = self._facts(state, waiting_for), desk.spend

    def _tell(self, state: AgentState) -> None:
        """Say the new state, once the page says it: hearing it may end the daemon."""
        if state is not self._told:
            self._told = state
            self._desk.world.stands(self._desk.agent, state)

    def _elsewhere(self) -> None:
        """The page is written where the agent is run; here it is only told."""
        self._state = AgentState.ELSEWHERE
        self._tell(self._state)

    def _changed(self, state: AgentState) -> EventType | None:
        """Note the new state; the event that goes with it, if there is one."""
        before, self._state = self._state, state
        self._since = self._desk.world.stamp()
        # From a question to work is going on; to the end of the run, it is not.
        waited = before is AgentState.WAITING_FOR_HUMAN and self._desk.run_open
        goes_on = waited or before is AgentState.PAUSED
        resumed = EventType.AGENT_RESUMED if goes_on else None
        return _EVENTS.get(state, resumed)

    def _facts(self, state: AgentState, waiting_for: str) -> tuple[object, ...]:
        desk = self._desk
        return (
            state,
            waiting_for,
            desk.run.name if desk.run else "",
            desk.run.state if desk.run else None,
            desk.stage,
            desk.error,
            tuple(desk.questions),
            desk.last_mail,
            self._nodes(),
            self._workers(),
            desk.world.trouble,
            desk.hold,
            desk.settings,
            desk.planned,
            chains.in_force(desk),
            self._remarks(),
        )

    def _remarks(self) -> tuple[str, ...]:
        """What is odd in what people wrote, file by file."""
        told = self._desk.remarks
        return tuple(words for path in sorted(told) for words in told[path])

    def _nodes(self) -> tuple[tuple[str, int], ...]:
        nodes = self._desk.recorded
        counts = Counter(board.state(node, nodes).value for node in nodes.values())
        return tuple(counts.items())

    def _workers(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (staff.name, f"node {staff.node}" if staff.node else staff.state.value)
            for staff in self._desk.staff.values()
        )

    def _page(self, state: AgentState, waiting_for: str) -> AgentStatus:
        desk = self._desk
        run = desk.run.name if desk.run else ""
        when, words = desk.last_mail
        last = f"{when}: {shortened(words, 60)}" if when else ""
        error = desk.error or desk.world.trouble
        if state is AgentState.BROKEN:  # it waits for nothing but to be mended
            error, waiting_for = waiting_for, ""
        return AgentStatus(
            state=state,
            since=self._since,
            run=run,
            stage=desk.stage,
            spend=desk.spend,
            waiting_for=waiting_for,
            error=error,
            model=", ".join(desk.settings.model) or desk.world.models.default(),
            last_message=last,
            questions=tuple(map(_in_short, desk.questions.values())),
            nodes=self._nodes(),
            workers=self._workers(),
            permissions=permissions_note(desk),
            spent=spent_on(desk.tally, lambda spot: spot.run == run),
            due=desk.planned,
            fallback=chains.in_force(desk),
            remarks=self._remarks(),
        )


def _in_short(question: Question) -> str:
    """A question on one line; an approval's first line names the call."""
    text = question.text.strip()
    if question.kind is QuestionKind.APPROVAL:
        text = text.partition("\n")[0]
    return f"{question.id}: {shortened(' '.join(text.split()), 120)}"


_COUNTERS = frozenset({"turns", "tokens", "cost_usd", "spent"})


def _lasting(head: JsonObject) -> JsonObject:
    """What a page says, without what it counts."""
    return {key: value for key, value in head.items() if key not in _COUNTERS}


def permissions_note(desk: Desk) -> str:
    """What a person should know of the permissions in force."""
    permissions = desk.settings.permissions
    notes = []
    if permissions.bash is Permission.SANDBOX:
        notes.append(
            "bash: sandbox means its own process group and a scrubbed environment; "
            "there is no sandbox yet"
        )
    asks = [
        name
        for name in ("bash", "web", "write", "spawn", "schedule", "reconvene")
        if getattr(permissions, name) is Permission.ASK
    ]
    if asks:
        notes.append(f"you are asked before each use of {', '.join(asks)}")
    return "; ".join(notes)


def _is_coming(desk: Desk) -> bool:
    """Whether a node could start, or has started and its loop is on its way."""
    nodes = desk.recorded
    running = (node.status.state is NodeState.RUNNING for node in nodes.values())
    return any(running) or bool(board.startable(nodes, desk.hands()))


def _holds(desk: Desk) -> dict[str, str]:
    """What holds the agent; what holds the tree shows where there is work to do."""
    if not desk.world.hold or not (desk.run_open or desk.mail.has(COORDINATOR)):
        return desk.holds
    return {**desk.holds, "tree": desk.world.hold}


def facts(desk: Desk) -> Facts:
    """What the agent's standing is worked out from."""
    return Facts(
        broken=desk.broken or ("" if desk.goal else desk.bad_goal),
        failed=desk.error,
        paused=desk.is_paused,
        run=desk.run.state if desk.run else None,
        active=len(desk.active),
        held={**desk.held, **_holds(desk)},
        questions=tuple(question.id for question in desk.questions.values()),
        queued=desk.world.runs.waits(desk.agent),
        startable=_is_coming(desk),
        aimless=desk.goal is None,
        resting=desk.resting,
        settling=desk.is_settling and desk.goal is not None and not desk.stopping,
    )
