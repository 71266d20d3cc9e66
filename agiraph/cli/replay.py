"""`agiraph replay`: a recorded run once more, in a fresh tree, without key or bill."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click
import yaml

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import Code, Misused, NotFound
from agiraph.cli.names import found
from agiraph.cli.post import post
from agiraph.cli.read import Files
from agiraph.cli.shell import quoted
from agiraph.cli.view import newest_run, one_agent
from agiraph.model.conversation import ToolLine
from agiraph.model.layout import SETTINGS, Home

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agiraph.model.layout import RunFolder
    from agiraph.providers.replay_words import Word

_KEPT = ("HOME", "LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ", "VIRTUAL_ENV")
_WAITING = (Code.HELD, Code.WAITS)
_PARTS = ("SOUL.md", "MEMORY.md", "memory", "inputs")
# What differs from run to run without meaning anything.
_PASSING = re.compile(
    r"\d{4}-\d\d-\d\d(T[\d:.]+([+-]\d\d:\d\d|Z)?|-\d+)?|\$\d[\d.]*|cost unknown"
    r"|\d+(\.\d+)? ?m?s\b|q-\d+"
)


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a replay went another way; `turn` counts results, from 1."""

    who: str
    turn: int
    recorded: str
    now: str


@click.command()
@click.argument("name")
@click.argument("run", required=False)
@click.option("--keep", metavar="DIR", help="Keep the fresh tree, in a new folder.")
@as_json
@tree_options
@click.pass_obj
def replay(
    call: Call, name: str, run: str | None, keep: str | None, json_: bool
) -> int:
    """Go through a recorded run again, without key or bill.

    The models' answers are those of the record; all else happens anew in a fresh copy
    of the agent: its tools run, commands too. It tells where the results depart from
    the record; then, or when the run ends otherwise, the exit code is 1.

    RUN is a run's name; without it the newest one is taken.

    Examples:
      agiraph replay news
      agiraph replay news 2026-11-21-01 --keep /tmp/again
    """
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    folder = _run_of(files, home, run)
    if keep is not None and os.path.lexists(keep):
        raise Misused(f"{keep} is there already; name a folder that is not.")
    root = os.path.abspath(keep or tempfile.mkdtemp(prefix="agiraph-replay-"))
    try:
        _copy(files, home, folder, root)
        _work(root, home.agent, os.path.join(files.root, str(folder.path)))
        fresh = Files(root)
        again = newest_run(fresh, home)
        departures = list(_departures(files, home, folder, fresh, again))
        ends = _end(files, folder), _end(fresh, again) if again else "nothing"
    finally:
        if keep is None:
            shutil.rmtree(root, ignore_errors=True)
    _tell(folder, ends, departures, json_=json_)
    return Code.DONE if not departures and ends[0] == ends[1] else Code.FAILED


def _run_of(files: Files, home: Home, run: str | None) -> RunFolder:
    if run is None:
        folder = newest_run(files, home)
        if folder is None:
            raise NotFound(f"{home.agent} has no run yet.")
        return folder
    away = home.archive / f"{run}.tar.gz"
    if run not in files.folders(home.runs) and files.there(away):
        whole = [os.path.join(files.root, str(each)) for each in (away, home.runs)]
        raise NotFound(
            f"run {run} was put away. Bring it back, and replay it then:\n"
            f"  tar xzf {quoted(whole[0])} -C {quoted(whole[1])}"
        )
    return home.run(found(run, files.folders(home.runs), kind="run", where=home.agent))


def _copy(files: Files, home: Home, folder: RunFolder, root: str) -> None:
    """A fresh tree: the settings, the agent as it is, and the goal as it was."""
    old, new = os.path.join(files.root, home.agent), os.path.join(root, home.agent)
    os.makedirs(new)
    if files.there(SETTINGS):
        shutil.copy(os.path.join(files.root, str(SETTINGS)), root)
    for part in _PARTS:
        source, target = os.path.join(old, part), os.path.join(new, part)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True)
        elif os.path.isfile(source):
            shutil.copy(source, target)
    settings = dict(files.page(home.goal)[0])
    settings.pop("budget", None)  # it costs nothing
    goal = str(files.settings(folder.record).get("goal", ""))
    head = f"---\n{yaml.safe_dump(settings, allow_unicode=True)}---\n"
    with open(os.path.join(new, "GOAL.md"), "w", encoding="utf-8") as file:
        file.write(f"{head if settings else ''}{goal}\n")


def _work(root: str, agent: str, recorded: str) -> None:
    """One agent until it ends, in a process that knows no key.

    Wherever it can only wait for a person, the person of the record speaks.
    """
    from agiraph.providers.replay import said
    from agiraph.providers.replay_words import words

    environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
    environment["AGIRAPH_REPLAY"] = recorded
    typed = [sys.executable, "-m", "agiraph", "run", agent, "--agents", root]
    left = list(words(recorded, said(recorded)))
    while True:
        # Our own program, and the name of an agent that is there.
        done = subprocess.run(  # noqa: S603
            typed, env=environment, check=False, stdout=subprocess.DEVNULL
        )
        due = _due(root, agent, left) if done.returncode in _WAITING else None
        if due is None:
            return
        word, text = due
        left = [each for each in left if each.id != word.id]  # one message to many
        post(root, agent, text, to=word.to or None, urgent=word.urgent)


def _due(root: str, agent: str, left: list[Word]) -> tuple[Word, str] | None:
    """What the person says next, and in which words; None where nothing is due."""
    from agiraph.providers.replay import place, said

    files = Files(root)
    run = newest_run(files, Home(agent))
    if run is None:
        return None
    spoken = said(os.path.join(root, str(run.path)))
    questions = _open_questions(files, Home(agent))
    for word in left:
        if word.who and place(spoken.get(word.who, ())) < word.after:
            continue
        if not word.question:
            return word, word.text
        asked = [n for n, text in questions.items() if text.startswith(word.question)]
        if asked:
            return word, f"{asked[0]}: {word.text}"
    return None


def _open_questions(files: Files, home: Home) -> dict[str, str]:
    """The text of each question that waits for an answer, by its id."""
    from agiraph.core.codec import read_question
    from agiraph.core.codec.report import Good

    found = {}
    for name in files.files(home.questions):
        read = read_question(files.text(home.questions / name), name)
        if isinstance(read, Good) and not read.value.answer:
            found[read.value.id] = read.value.text
    return found


def _departures(
    files: Files, home: Home, folder: RunFolder, fresh: Files, again: RunFolder | None
) -> Iterator[Departure]:
    if again is None:
        return
    then, now = _results(files, home, folder), _results(fresh, home, again)
    for who in sorted({*then, *now}):
        old, new = then.get(who, []), now.get(who, [])
        for turn in range(max(len(old), len(new))):
            was = old[turn] if turn < len(old) else "(nothing)"
            has = new[turn] if turn < len(new) else "(nothing)"
            if _lasting(was) != _lasting(has):
                yield Departure(who, turn + 1, was, has)
                break  # what follows from it would be told again and again


def _results(files: Files, home: Home, folder: RunFolder) -> dict[str, list[str]]:
    """What tools returned, by who had called them."""
    from agiraph.providers.replay import said

    run = os.path.join(files.root, str(folder.path))
    return {
        who: [
            f"{line.name}: {line.content}"
            for line in lines
            # When `wait` returned, and with what, hangs on the order of things.
            if isinstance(line, ToolLine) and line.name != "wait"
        ]
        for who, lines in said(run).items()
    }


def _lasting(words: str) -> str:
    return _PASSING.sub("…", words)


def _end(files: Files, run: RunFolder) -> str:
    return str(files.settings(run.record).get("status", "unknown"))


def _tell(
    folder: RunFolder,
    ends: tuple[str, str],
    departures: list[Departure],
    *,
    json_: bool,
) -> None:
    if json_:
        told = [asdict(each) for each in departures]
        said = {"run": folder.name, "recorded": ends[0], "now": ends[1]}
        render.data(render.as_json(said | {"departures": told}))
        return
    render.data(f"{folder.name}: recorded {ends[0]}, now {ends[1]}")
    for each in departures:
        render.data(f"{each.who}, result {each.turn} departs:")
        render.data(f"  recorded  {render.short(each.recorded, 300)}")
        render.data(f"  now       {render.short(each.now, 300)}")
    if not departures:
        render.data("Every result was as recorded.")
