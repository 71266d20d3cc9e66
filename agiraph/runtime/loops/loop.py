"""One loop: it does what the turn decides, and records each step before the next."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core import turn as rules
from agiraph.core.brief import notice
from agiraph.core.limits import CRASHES
from agiraph.core.narration import about
from agiraph.errors import AgiraphError, NotThere, StepCrashed, ToolRefused, TooManyOpen
from agiraph.model.conversation import (
    AssistantLine,
    Kind,
    Stop,
    ToolLine,
    UserLine,
)
from agiraph.model.event import EventType
from agiraph.model.names import AGIRAPH
from agiraph.model.tool import Effect, ToolResult
from agiraph.runtime.conversation import ENDINGS, as_line
from agiraph.runtime.loops.compaction import Compaction
from agiraph.runtime.loops.outputs import bounded
from agiraph.runtime.people import approvals, questions
from agiraph.runtime.records import preview
from agiraph.tools.registry import check_arguments, spec_named

if TYPE_CHECKING:
    from agiraph.model.conversation import Answer
    from agiraph.model.json import JsonObject
    from agiraph.model.tool import ToolCall
    from agiraph.ports import Intent, Seat, Tool
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.loops.role import Role


LONG_WAITS = frozenset({"wait", "ask_human"})  # a daemon may well die meanwhile


class Loop:
    """Drives one conversation from event to deed until the turn says that it ends."""

    def __init__(self, desk: Desk, conversation: Conversation, role: Role) -> None:
        """A loop for one role on one conversation."""
        self._desk = desk
        self._talk = conversation
        self._role = role
        self._cut: ToolResult | None = None
        self._compaction = Compaction(desk, conversation, role)

    async def run(self, *, turns: int = 0, max_turns: int | None = None) -> rules.End:
        """Go on from where the conversation stands, until the end.

        Args:
            turns: model calls of this assignment that are on record already.
            max_turns: None is no limit.
        """
        state, deed = await self._begin(turns, max_turns)
        while not isinstance(deed, rules.End):
            if isinstance(deed, rules.Skip):
                await self._skip(deed)
                state, deed = rules.after_skip(state, deed)
                continue
            event = await self._do(deed)
            if event is None:
                return rules.End(rules.Why.DONE, "rested")
            state, deed = rules.step(state, event)
        await self._talk.flush()
        return deed

    async def settle(self) -> None:
        """Give the calls that a restart cut off their results, and ask nothing."""
        state, deed = await self._begin(0, None)
        while isinstance(deed, rules.Act | rules.Skip):
            if isinstance(deed, rules.Skip):
                await self._skip(deed)
                state, deed = rules.after_skip(state, deed)
            else:
                state, deed = rules.step(state, await self._act(deed))
        await self._talk.flush()

    async def _begin(
        self, turns: int, max_turns: int | None
    ) -> tuple[rules.Turn, rules.Deed]:
        """Where the conversation stands, as the turn's first deed."""
        last = self._talk.lines[-1] if self._talk.lines else None
        aside = self._compaction.under_way
        if isinstance(last, AssistantLine) and (last.tool_calls or not aside):
            # It was recorded, and nothing after it: it is said now.
            said = rules.Said(last.content, last.tool_calls, last.stop, not aside)
            before = turns if aside else max(turns - 1, 0)
            turn = rules.Turn(max_turns=max_turns, turns=before)
            return rules.step(turn, said)
        calls, done = self._talk.open_calls()
        turn = rules.Turn(max_turns=max_turns, calls=calls, next=done, turns=turns)
        if done < len(calls) and self._talk.has_ended(done):
            await self._skip(rules.Skip(done, calls[done:], "ended before a restart"))
            turn = rules.Turn(max_turns=max_turns, turns=turns)
        return rules.step(turn, rules.Began())

    async def _do(
        self, deed: rules.Ask | rules.Act | rules.Rest | rules.Tell
    ) -> rules.Event | None:
        match deed:
            case rules.Ask():
                return await self._ask()
            case rules.Act():
                return await self._act(deed)
            case rules.Rest():
                await self._talk.flush()
                return await self._role.rest(deed.text)
            case rules.Tell():
                words = notice(self._role.nudge(deed.nudge, deed.count))
                await self._note(words)
                return await self._ask()

    # --- the model

    async def _ask(self) -> rules.Event | None:
        answer = None
        while answer is None:
            await self._role.ready()
            await self._role.renew()
            self._desk.at[self._role.name] = self._step(None)
            if self._compaction.under_way:
                if said := await self._compaction.go_on():
                    return said
                continue
            await self._role.take_in()
            last = self._talk.lines[-1] if self._talk.lines else None
            if isinstance(last, AssistantLine):
                if last.stop is not Stop.PAUSE:
                    return await self._role.rest("")  # nothing new to answer to
            elif self._compaction.is_due:
                await self._compaction.begin()
                continue
            await self._talk.flush()
            answer = await self._compaction.asked()
        return await self._said(answer)

    async def _said(self, answer: Answer) -> rules.Said:
        line = as_line(self._talk, answer, self._desk.world.stamp())
        await self._talk.append(line, flush=True)
        await self._role.said(answer)
        await self._desk.records.trace(
            self._role.log,
            step="model",
            turn=line.turn,
            model=line.model,
            text=preview(answer.text),
            calls=[call.name for call in answer.calls],
            stop=answer.stop.value,
            tokens=answer.usage.total,
        )
        return rules.Said(answer.text, answer.calls, answer.stop)

    async def _note(self, text: str) -> None:
        line = UserLine(self._desk.world.stamp(), text, Kind.NOTICE, AGIRAPH)
        await self._talk.append(line, flush=False)

    # --- the tools

    async def _act(self, act: rules.Act) -> rules.Event:
        await self._role.ready()
        if self._role.urgent():
            return rules.Interrupted()
        step = self._desk.at[self._role.name] = self._step(act.index)
        records, where = self._desk.records, self._role.where()
        await records.event(
            EventType.TOOL_CALLED,
            where,
            tool=act.call.name,
            step=step,
            about=about(act.call.arguments or {}),
        )
        try:
            result = await self._result(step, act.call)
        except asyncio.CancelledError:
            # The command's processes are ended, so its outcome is known: it was cut
            # off. Said now, it need not be called unknown after the restart.
            if self._cut is not None:
                await self._record(act.index, act.call, self._cut)
                await self._talk.flush()
            raise
        seat = self._role.seat(step)
        result = await bounded(self._desk, self._talk, seat, result)
        await self._record(act.index, act.call, result)
        await records.event(
            EventType.TOOL_RESULT,
            where,
            tool=act.call.name,
            step=step,
            error=result.error,
            preview=preview(result.content),
        )
        return rules.Returned(result.content, result.error, result.ends)

    def _step(self, index: int | None) -> str:
        """The id of a call of the last answer, or of the model call that is next."""
        talk = self._talk
        turn = f"{talk.turn + 1}" if index is None else f"{talk.turn}.{index}"
        return f"{self._role.loop_name()}/{talk.session}.{turn}"

    async def _result(self, step: str, call: ToolCall) -> ToolResult:
        try:
            tool = self._role.tools.get(call.name)
            specs = self._talk.prefix.tools if self._talk.prefix else ()
            arguments = check_arguments(spec_named(call.name, specs), call)
            if words := self._compaction.refusal(call.name):
                raise ToolRefused(words)
            if tool is None:
                raise ToolRefused(f"{call.name} is not there yet; do without it")
            return await self._perform(step, tool, arguments)
        except (StepCrashed, TooManyOpen):
            raise
        except NotThere:
            if not self._home_is_there():
                raise
            return ToolResult("what was named is not there any more", error=True)
        except AgiraphError as refused:
            return ToolResult(str(refused), error=True)

    def _home_is_there(self) -> bool:
        return self._desk.world.reader.entry(self._desk.home.path) is not None

    async def _perform(
        self, step: str, tool: Tool, arguments: JsonObject
    ) -> ToolResult:
        await self._role.before(tool.spec.name)
        seat, durably = self._role.seat(step), self._desk.world.durably
        if tool.effect is Effect.READS:
            intent = await durably(lambda: tool.prepare(arguments, seat))
            if not approvals.is_needed(intent):
                whole = {**arguments, **intent}
                return await durably(lambda: tool.perform(whole, seat))
        known = self._desk.journal.intent(step)
        if known is None:
            decided = await durably(lambda: tool.prepare(arguments, seat))
            intent = {"run": seat.run, **decided}
            intent = {**approvals.addressed(self._desk, intent, seat)}
            new = _new(intent, arguments)
            await self._desk.journal.intend(step, tool.spec.name, new)
            return await self._once_allowed(tool, {**arguments, **intent}, seat)
        number = approvals.number_of(known)
        waits = number is not None and not approvals.is_used(self._desk, number, step)
        if tool.effect is Effect.OUTSIDE and not waits:
            ids = self._desk.jobs.ids(step)
            return ToolResult(prompts.words("interrupted"), error=True, ids=ids)
        if not self._is_about(known, seat, tool):
            return ToolResult(
                "cut off: the run that this was about has ended; look whether it was "
                "done",
                error=True,
            )
        if waits:
            return await self._once_allowed(tool, {**arguments, **known}, seat)
        return await self._anew(step, tool, {**arguments, **known}, seat)

    async def _once_allowed(self, tool: Tool, intent: Intent, seat: Seat) -> ToolResult:
        """Perform a call, after a person's yes where it needs one."""
        instead = await approvals.settle(self._desk, self._role, intent, seat)
        result = instead or await self._guarded(tool, intent, seat)
        return approvals.answered(self._desk, intent, result)

    async def _anew(
        self, step: str, tool: Tool, intent: Intent, seat: Seat
    ) -> ToolResult:
        """Do what was cut off by a restart, unless the daemon dies of it each time.

        Raises:
            StepCrashed: it did.
        """
        journal = self._desk.journal
        if tool.spec.name in LONG_WAITS:
            return await self._guarded(tool, intent, seat)
        if await journal.again(step) >= CRASHES - 1:
            why = f"the daemon ended while {tool.spec.name} was done"
            raise StepCrashed(step, why)
        try:
            return await self._guarded(tool, intent, seat)
        except asyncio.CancelledError:
            await journal.unharmed(step)  # a shutdown is no crash
            raise

    def _is_about(self, known: Intent, seat: Seat, tool: Tool) -> bool:
        """Whether an intent is about the run that is open, or that it has ended."""
        run = self._desk.run
        if tool.spec.name in ENDINGS and run is not None:
            return known.get("run") == run.name
        return known.get("run") == seat.run

    async def _guarded(self, tool: Tool, intent: Intent, seat: Seat) -> ToolResult:
        durably = self._desk.world.durably
        if tool.effect is not Effect.OUTSIDE:
            return await durably(lambda: tool.perform(intent, seat))
        try:  # what a command needs of the disk comes before it starts
            return await durably(lambda: tool.perform(intent, seat))
        except asyncio.CancelledError:
            self._cut = ToolResult(prompts.words("cut_off"), error=True)
            raise

    async def _record(self, index: int, call: ToolCall, result: ToolResult) -> None:
        line = ToolLine(
            ts=self._desk.world.stamp(),
            turn=self._talk.turn,
            index=index,
            call_id=call.id,
            name=call.name,
            content=result.content,
            error=result.error,
            ids=result.ids,
        )
        await self._talk.append(line, flush=bool(result.ids or result.ends))
        if result.ids:
            await self._desk.mail.taken(self._role.name, result.ids)
            await questions.told(self._desk, result.ids)
        await self._desk.records.trace(
            self._role.log,
            step="tool",
            turn=line.turn,
            tool=call.name,
            error=result.error,
            result=preview(result.content),
        )

    async def _skip(self, skip: rules.Skip) -> None:
        words = (
            "not run: the work has ended with the call before it"
            if skip.after
            else prompts.words("put_off").strip()
        )
        for offset, call in enumerate(skip.calls):
            await self._record(skip.first + offset, call, ToolResult(words, error=True))


def _new(intent: Intent, arguments: JsonObject) -> JsonObject:
    """What an intent adds to the arguments, which are on record already."""
    return {
        key: value
        for key, value in intent.items()
        if key not in arguments or arguments[key] != value
    }
