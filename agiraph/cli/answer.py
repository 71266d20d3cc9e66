"""`agiraph answer`: answers a question, or an approval, in its own file."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import Misused, NotFound, Refused
from agiraph.cli.daemons import daemon_of
from agiraph.cli.read import Files
from agiraph.cli.view import agent_names, one_agent, open_questions
from agiraph.cli.write import encoded, put
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath

    from agiraph.cli.view import QuestionView

_NUMBER = re.compile(r"(?:q-)?0*([0-9]{1,9})", re.IGNORECASE)


@click.command()
@click.argument("name", required=False)
@click.argument("question", required=False)
@click.argument("text", required=False)
@click.option("--yes", "verdict", flag_value="yes", help="Allow it, this once.")
@click.option("--no", "verdict", flag_value="no", help="Refuse it.")
@click.option("--always", "verdict", flag_value="always", help="Allow it from now on.")
@as_json
@tree_options
@click.pass_obj
def answer(
    call: Call,
    name: str | None,
    question: str | None,
    text: str | None,
    verdict: str | None,
    json_: bool,
) -> None:
    """Answer a question; without one, list those that are open.

    The answer is written into the question's own file in `_questions/`. TEXT may be -
    for standard input. An approval takes --yes, --no or --always.

    Examples:
      agiraph answer
      agiraph answer news q-001 "PostgreSQL"
      agiraph answer news 2 --yes
    """
    files = Files(call.tree)
    agents = [one_agent(files, name)] if name else list(agent_names(files))
    if question is None:
        if verdict:
            raise Misused("name the question, such as q-001; `agiraph answer` lists.")
        _list(files, agents, json_=json_)
        return
    words = _words(text, verdict)
    path, found = _open(files, agents[0], question)
    _fill_in(files, path, found, words)
    render.say(f"Answered {found.id} of {agents[0]}: {path}")
    if not daemon_of(files).running:
        render.say("No daemon runs on this tree: it is read at the next `agiraph up`.")


def _list(files: Files, agents: list[str], *, json_: bool) -> None:
    found = [one for each in agents for one in open_questions(files, Home(each))]
    if json_:
        render.data(render.as_json([asdict(each) for each in found]))
    elif not found:
        render.data("No question is open.")
    else:
        render.data("\n\n".join("\n".join(_shown(each)) for each in found))


def _shown(asked: QuestionView) -> Iterator[str]:
    who = asked.sender + (f" at {asked.node}" if asked.node else "")
    head = f"{asked.agent} {asked.id}, {asked.kind} of {who or 'the coordinator'}"
    when = render.moment(asked.asked)
    yield render.clean(f"{head}, {when}" if when else head)
    for line in asked.text.splitlines():
        yield f"    {render.clean(line)}".rstrip()
    yield from (f"    - {render.clean(each)}" for each in asked.choices)
    yield f"    Answer: {asked.command}"


def _words(text: str | None, verdict: str | None) -> str:
    if (text is None) == (verdict is None):
        raise Misused("give the answer: TEXT, or one of --yes, --no and --always.")
    words = verdict or (sys.stdin.read() if text == "-" else text or "")
    if not words.strip():
        raise Misused("the answer is empty.")
    encoded(words)
    return words.strip()


def _open(files: Files, agent: str, typed: str) -> tuple[PurePosixPath, QuestionView]:
    """The open question that was meant."""
    number = _NUMBER.fullmatch(typed.strip())
    there = list(open_questions(files, Home(agent)))
    named = ", ".join(each.id for each in there) or "none"
    if number is None:
        raise Misused(f"{typed!r} is no question, such as q-001. Open: {named}.")
    path = Home(agent).question(int(number[1]))
    for each in there:
        if each.path == str(path):
            return path, each
    if files.there(path) or files.there(path.parent / "closed" / path.name):
        raise Refused(f"{path.stem} of {agent} is answered already. Open: {named}.")
    raise NotFound(f"{agent} has no question {path.stem}. Open: {named}.")


def _fill_in(
    files: Files, path: PurePosixPath, asked: QuestionView, words: str
) -> None:
    from agiraph.core.approval import verdict
    from agiraph.core.codec import Good, read_question, with_answer

    if asked.kind == "approval" and verdict(words) is None:
        raise Misused(
            f"{asked.id} is an approval: --yes, --no or --always, and nothing else."
        )
    new = with_answer(files.text(path), words)
    found = read_question(new, path.name)
    if not isinstance(found, Good) or found.value.answer != words:
        raise Refused(f"{path} holds another answer already; mend it in the file.")
    put(files.root, path, new)
