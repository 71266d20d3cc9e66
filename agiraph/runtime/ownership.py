"""Whether this daemon works on an agent: its `_owner.yaml`, judged when it changes."""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

from agiraph import prompts
from agiraph.core.codec import read_owner, write_owner
from agiraph.core.limits import GOAL_BYTES
from agiraph.core.ownership import Claim, Judgement, judge, words
from agiraph.errors import AgiraphError
from agiraph.model.conversation import ToolLine
from agiraph.model.owner import Old, Owner
from agiraph.model.run import RunState
from agiraph.ports import Seen
from agiraph.runtime.conversation import Conversation
from agiraph.runtime.people import questions
from agiraph.runtime.work import runs

if TYPE_CHECKING:
    from agiraph.ports import Sight
    from agiraph.runtime.desk import Desk
    from agiraph.runtime.folder import Folder
    from agiraph.runtime.people.intake import Intake

HOLD = "owner"
DISARMED = "triggers disarmed "
BAD = "_owner.yaml was not accepted; see _owner.yaml.error.md"


class Ownership:
    """One agent's owner file, as this daemon sees it.

    Attributes:
        let_go: another record has come, so that the home is to be judged anew.
    """

    def __init__(self, desk: Desk, intake: Intake) -> None:
        """Nothing has been judged yet."""
        self._desk = desk
        self._intake = intake
        self._held: Owner | None = None
        self._first: Judgement | None = None
        self._sha = ""
        self._owed = False
        self.let_go = False

    # --- looking

    async def look(self, folder: Folder) -> bool:
        """Judge the file where it has changed; whether the agent is worked on here."""
        path, sight = self._desk.home.owner, folder.owner
        if sight.seen is not Seen.LATER and self._intake.is_new(path, sight):
            await self._take(sight)
        return self._held is not None and not self.let_go

    async def _take(self, sight: Sight) -> None:
        desk, path, found = self._desk, self._desk.home.owner, None
        if sight.seen is not Seen.ABSENT:
            force = "what it said before" if self._held else "nothing; it does not work"
            found = await self._intake.judge(path, sight, read_owner, force)
            if found is None:
                desk.bad_goal = "" if self._held else BAD
                return
            if sight.sha == self._sha:
                self._intake.note(path, sight)
                return  # by this daemon's own hand
        judgement = await self._judged(found)
        if self._held is None:
            self._begin(judgement)
        else:
            await self._again(judgement)
        # Not before: where something could not be read, it is judged once more.
        if found is None:
            await self._intake.clear(path, sight)
        else:
            self._intake.note(path, sight)

    async def _judged(self, found: Owner | None) -> Judgement:
        world, agent = self._desk.world, self._desk.agent
        spot, old = world.whereabouts.spot(agent), Old.GONE
        if found is not None and found.spot.host == spot.host and found.spot != spot:
            old = await asyncio.to_thread(world.whereabouts.old, found, agent)
            # Of two copies whose original is gone, one at most is its heir.
            if world.heirs.setdefault(found, agent) != agent:
                old = Old.THERE
        here = Owner(spot, since=world.stamp(), machine=world.whereabouts.machine)
        return judge(found, here=here, held=self._held, old=old)

    def _begin(self, judgement: Judgement) -> None:
        desk = self._desk
        desk.bad_goal = ""
        said = words(judgement, desk.world.whereabouts.spot(desk.agent))
        desk.elsewhere = said
        if said:
            desk.world.remark(f"{desk.agent}: {said}")
            return
        self._held, self._first = judgement.owner, judgement
        self._owed = judgement.write

    async def _again(self, judgement: Judgement) -> None:
        """A record has come that this daemon did not write."""
        desk, claim = self._desk, judgement.claim
        if claim in (Claim.MINE, Claim.NEW):
            self._held = judgement.owner
            if desk.holds.pop(HOLD, None):
                desk.changed()
            if judgement.write:
                self._owed = True
                await self.claim()
            return
        spot = desk.world.whereabouts.spot(desk.agent)
        if claim is Claim.CONTESTED:
            desk.holds[HOLD] = words(judgement, spot)
            desk.world.remark(f"{desk.agent}: {desk.holds[HOLD]}")
        else:
            self.let_go = True
            desk.elsewhere = "another _owner.yaml has come"
        desk.changed()

    # --- writing

    async def settle(self) -> None:
        """Before all else: a copy lets go of what its original goes on with.

        Of an agent at rest nothing has to be written: a thousand of them may arrive.
        """
        desk, first = self._desk, self._first
        if first is None or not self._owed:
            return
        if first.claim is Claim.FORKED and self._has_business():
            await self._fork()
        if first.claim is Claim.MOVED or desk.run_open:
            await self.claim()

    async def claim(self) -> None:
        """Write the record, before the agent does anything."""
        desk, owner = self._desk, self._held
        if not self._owed or owner is None:
            return
        if self._first is not None and self._first.claim is Claim.FORKED:
            await desk.journal.mark("fork", f"{DISARMED}{self._triggers()}")
        data = write_owner(owner).encode()
        self._sha = hashlib.sha256(data).hexdigest()
        await desk.world.write(desk.home.owner, data)
        self._owed = False

    def _triggers(self) -> str:
        """What stands for the triggers that came along: they belong to the original."""
        desk = self._desk
        try:
            data = desk.world.reader.read(desk.home.triggers, limit=GOAL_BYTES)
        except AgiraphError:
            return "none"
        return hashlib.sha256(data).hexdigest()

    def _has_business(self) -> bool:
        desk = self._desk
        triggers = desk.world.reader.entry(desk.home.triggers) is not None
        return desk.run_open or triggers or desk.mail.any_accepted()

    async def _fork(self) -> None:
        """What was under way belongs to the original, and is not done twice."""
        desk = self._desk
        await self._answer_open_calls()
        await desk.mail.drop()
        await questions.close_all(desk)
        if desk.run_open:
            reason = "this agent is a copy; its original goes on with the run"
            await runs.end_run(desk, RunState.FORKED, reason=reason)
        await self.claim()

    async def _answer_open_calls(self) -> None:
        talk = Conversation(self._desk.world, self._desk.home.conversation)
        talk.load()
        calls, done = talk.open_calls()
        for index, call in enumerate(calls[done:], done):
            line = ToolLine(
                self._desk.world.stamp(),
                talk.turn,
                index,
                call.id,
                call.name,
                prompts.words("forked"),
                error=True,
            )
            await talk.append(line, flush=True)
