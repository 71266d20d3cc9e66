"""A chat in a terminal: lines typed go out, what the agent says comes in."""

from __future__ import annotations

import os
import select
import sys
import time
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.answering import answering
from agiraph.cli.codes import Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.post import post
from agiraph.cli.readmarks import mark_shown
from agiraph.cli.thread import YOU, Line, Outbox, line_of, so_far
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import open_questions
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from agiraph.cli.read import Files
    from agiraph.cli.view import QuestionView

_BETWEEN_LOOKS = 0.2
_PASTED = 0.05  # seconds within which more lines belong to the same message
_HELP = """\
Type, and press Enter. It goes to the coordinator; `@alice ...` to a worker, `@all ...`
to everyone, `! ...` ahead of everything else. `1: ...` answers question q-001, and
where a question has options, their number alone. /quit or Ctrl-D leaves."""


class Sitting:
    """One sitting: lines typed go out, what the agent says comes in."""

    def __init__(self, files: Files, agent: str, *, color: bool) -> None:
        """Nothing is shown yet."""
        self._files = files
        self._agent = agent
        self._color = color
        self._outbox = Outbox(files, agent)
        self._open: set[str] = set()
        self._state = ""
        self._running = True
        self._looked_at = -1.0

    def run(self, last: int) -> None:
        """Until /quit, Ctrl-D or Ctrl-C."""
        asked = {each.id for each in open_questions(self._files, Home(self._agent))}
        said = [each for each in self._outbox.more() if each.mark not in asked]
        self._tell_all(so_far(self._files, self._agent, said, exchanges=last))
        self._ask_open()
        self._look_at_state()
        render.say("/help explains, /quit leaves.")
        self._prompt()
        try:
            while self._one_look():
                pass
        except KeyboardInterrupt:
            render.say("")

    def _one_look(self) -> bool:
        """Take in what was typed or said meanwhile; False at the end."""
        typed = self._typed()
        if typed is None:
            render.say("")
            return False
        if typed.strip() in ("/quit", "/q", "/exit"):
            return False
        if typed.strip():
            self._send(typed.strip())
        if self._news() or typed:
            self._prompt()
        return True

    def _typed(self) -> str | None:
        """Lines typed since the last look; None at the end of the input."""
        found = b""
        wait = _BETWEEN_LOOKS
        while select.select([sys.stdin], [], [], wait)[0]:
            more = os.read(sys.stdin.fileno(), 1 << 16)
            if not more:
                return None if not found else found.decode("utf-8", "replace")
            found += more
            wait = _PASTED
        return found.decode("utf-8", "replace")

    def _send(self, text: str) -> None:
        if text == "/help":
            render.say(_HELP)
            return
        if text.startswith("/") and " " not in text and text.count("/") == 1:
            render.say(f"There is no {text}; /help and /quit are all there are.")
            return
        try:
            words = answering(text, open_questions(self._files, Home(self._agent)))
            post(self._files.root, self._agent, words)
        except Refused as wrong:
            render.say(str(wrong))
            return
        if not self._running:
            render.say("(no daemon runs: it is read at the next `agiraph up`)")

    def _news(self) -> bool:
        """Tell what has come; whether anything had."""
        said = [each for each in self._outbox.more() if not each.mark.startswith("q-")]
        if said and self._color:
            click.echo("\r\x1b[K", nl=False)
        self._tell_all([line_of(each, time.time()) for each in said])
        asked = self._ask_open()
        return self._look_at_state() or asked or bool(said)

    def _ask_open(self) -> bool:
        """Show each question that is open now, once; whether one was shown."""
        found = {
            each.id: each for each in open_questions(self._files, Home(self._agent))
        }
        new = [each for ident, each in found.items() if ident not in self._open]
        for each in new:
            self._question(each)
        closed = self._open - found.keys()
        for ident in sorted(closed):
            render.say(f"({ident} is answered)")
        self._open = set(found)
        return bool(new or closed)

    def _question(self, asked: QuestionView) -> None:
        who = asked.sender + (f" at {asked.node}" if asked.node else "")
        head = f"{who} asks ({asked.id}):"
        click.echo(click.style(head, fg="yellow", bold=True) if self._color else head)
        click.echo(_indented(asked.text))
        for number, option in enumerate(asked.options, 1):
            click.echo(_indented(f"{number}) {option}"))
        number = int(asked.id.removeprefix("q-"))
        yes = "yes, no or always" if asked.kind == "approval" else "..."
        click.echo(f"  Answer: {number}: {yes}")

    def _look_at_state(self) -> bool:
        """Say how the agent stands when that has changed, and whether a daemon runs."""
        if time.monotonic() - self._looked_at < 1.0:
            return False
        self._looked_at = time.monotonic()
        running = daemon_of(self._files).running
        view = agent_view(self._files, self._agent, deep=False)
        why = view.error or (view.waiting_for if view.status != "idle" else "")
        state = f"{view.status}{f': {render.short(why, 300)}' if why else ''}"
        told = []
        if running != self._running:
            gone = "no daemon runs: nothing moves until `agiraph up`"
            told.append("the daemon is back" if running else gone)
        if state != self._state and (running or not self._state):
            told.append(f"{self._agent} is {state}")
        self._running, self._state = running, state
        for words in told:
            render.say(f"({words})")
        return bool(told)

    def _tell_all(self, lines: list[Line]) -> None:
        for line in lines:
            self._tell(line)
        mark_shown(self._files, self._agent, (line.id for line in lines))

    def _tell(self, line: Line) -> None:
        when = time.strftime("%H:%M", time.localtime(line.at))
        who = line.who
        if self._color:
            colour = "green" if who == YOU else "cyan"
            who = click.style(who, fg=colour, bold=True)
        click.echo(f"{when} {who}\n{_indented(line.text)}")

    def _prompt(self) -> None:
        click.echo("> ", nl=False)


def _indented(text: str) -> str:
    lines = render.clean(text).strip().splitlines()
    return "\n".join(f"  {line}".rstrip() for line in lines)
