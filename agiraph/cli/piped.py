"""A chat without a terminal: one message goes out, its answer comes back."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from agiraph.cli import render
from agiraph.cli.answering import answering
from agiraph.cli.codes import Code, NoDaemon, Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.post import post
from agiraph.cli.readmarks import mark_shown
from agiraph.cli.shell import quoted
from agiraph.cli.thread import Outbox
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import open_questions
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from agiraph.cli.read import Files
    from agiraph.core.codec.outbox import Said

_BETWEEN_LOOKS = 0.2
_SETTLES = 1.0  # seconds for which an agent that has ended may still say something
_ADDRESS = re.compile(r"\s*!?\s*@([^\s:,]+)")
_LOG_TAIL = 1_000_000


class Exchange:
    """One message, and what may count as its answer."""

    def __init__(self, files: Files, agent: str, text: str) -> None:
        """Sends it."""
        self._files = files
        self._agent = agent
        self._outbox = Outbox(files, agent)
        self._outbox.more()
        self._asked = self._open()
        words = answering(text, list(open_questions(files, Home(agent))))
        self._question = words.partition(":")[0] if ":" in words else ""
        to = _ADDRESS.match(text)
        self._to = to[1].casefold() if to else ""
        self.path = post(files.root, agent, words)
        self._quiet_since: float | None = None

    def _open(self) -> set[str]:
        return {each.id for each in open_questions(self._files, Home(self._agent))}

    def look(self) -> Code | None:
        """Print what has come; the exit code once it is over.

        Raises:
            NoDaemon: nobody reads it now.
        """
        for said in self._outbox.more():
            if not said.is_question:
                mark_shown(self._files, self._agent, [said.id])
            if self._is_answer(said):
                render.data(render.clean(said.text))
                return Code.DONE
            render.say(f"{said.sender}: {render.clean(said.text)}")
            if said.mark.startswith("q-") and said.mark not in self._asked:
                return Code.WAITS
        if self._question in self._asked and self._question not in self._open():
            render.say(f"{self._question} is answered.")
            return Code.DONE
        if not daemon_of(self._files).running:
            raise NoDaemon(
                f"no daemon runs on this tree; the message waits in {self.path} and "
                "is read at the next `agiraph up`."
            )
        return self._ended()

    def _is_answer(self, said: Said) -> bool:
        """Whether this is what the one who was asked has said."""
        if self._to not in ("", "all", "coordinator"):
            return said.sender.casefold() == self._to
        return said.is_reply

    def _ended(self) -> Code | None:
        """Whether it was read, and the agent rests without having said anything."""
        home, now = Home(self._agent), time.monotonic()
        unread = self._files.there(home.dropbox / self.path.name)
        if unread or not agent_view(self._files, self._agent).ended:
            self._quiet_since = None
            return None
        entry = self._files.entry(home.conversation)
        start = max(0, (entry.size if entry else 0) - _LOG_TAIL)
        tail = self._files.part(home.conversation, start, _LOG_TAIL)
        if f"_inbox/{self.path.name}#".encode() not in tail:
            return None
        self._quiet_since = self._quiet_since or now
        if now - self._quiet_since < _SETTLES:
            return None
        render.say(f"{self._agent} has read it and ended without a word to you.")
        return Code.DONE


def exchange(files: Files, agent: str, text: str, limit: float) -> Code:
    """Send, wait for the answer, print it; the exit code for how it went.

    Raises:
        NoDaemon: nobody reads it now.
        Refused: no answer came in time.
    """
    waiting = Exchange(files, agent, text)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        code = waiting.look()
        if code is not None:
            return code
        time.sleep(_BETWEEN_LOOKS)
    raise Refused(
        f"no answer in {limit:g} s. {agent} still has the message; what it says comes "
        f"in {Home(agent).outbox}, and `agiraph chat {quoted(agent)}` shows it."
    )
