"""`agiraph demo`: the real machine at work on a few texts, in a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.board import Board
from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Code, Refused, code_of_state
from agiraph.cli.goal import with_setting
from agiraph.cli.read import Files
from agiraph.cli.shell import on_path, quoted
from agiraph.cli.view import agent as agent_view
from agiraph.cli.view import newest_run
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import PurePosixPath
    from types import FrameType

    from agiraph.cli.view import AgentView
    from agiraph.model.layout import RunFolder
    from agiraph.providers.models import ModelCatalog

_TEMPLATE = _AGENT = "digest"
_OFFLINE = "offline/digest"
_WEAK = "gguf/smollm2"
_LOCAL_GOAL = """Summarise the texts in `inputs/`, paragraph by paragraph, each one by
`{model}` in one answer. The coordinator plans, judges each answer and puts
them together, by fixed rules; what the model cannot do is done by rule, and the report
says which.
"""
_USD = 0.50
_TOKENS = 500_000
_BETWEEN_LOOKS = 0.15
_TO_END = 15.0
_MOST_LINES = 50


@click.command(short_help="See an agent work: it digests and compares a few texts.")
@click.option("--model", metavar="M", help="A model, e.g. anthropic/claude-sonnet-4-5.")
@click.option(
    "--local",
    is_flag=True,
    help="Fixed rules lead a small real model, on this machine.",
)
@tree_options
@click.pass_obj
def demo(call: Call, model: str | None, local: bool) -> int:
    """See an agent work: it digests a few texts and compares them.

    It runs the real daemon on a new tree in your state directory, not in this folder.
    No key and no network are needed: no language model is used unless --model names
    one, and then under a small budget.

    Examples:
      agiraph demo
      agiraph demo --model anthropic/claude-sonnet-4-5
    """
    weak = model or _WEAK if local else ""
    settings = _local_settings(weak) if weak else _settings(model)
    root = _make_tree(settings, _LOCAL_GOAL.format(model=weak) if weak else "")
    render.say(f"A new tree: {root}")
    if weak:
        render.say(f"{weak} is used, on this machine; nothing leaves it.\n")
    elif model is None:
        render.say("No language model is used and nothing leaves this machine.\n")
    else:
        render.say(f"{model} is used, under the budget {settings['budget']}.\n")
    files = Files(root)
    try:
        with _daemon(root) as daemon:
            ended = _watch(call, files, daemon)
    except KeyboardInterrupt:
        render.say(
            "Broken off; nothing is lost. It goes on from there with:\n"
            f"  agiraph run {_AGENT} --agents {quoted(root)}"
        )
        raise
    return _told(files, ended)


def _settings(model: str | None) -> dict[str, str]:
    """What is written into the demo's GOAL.md: key -> value, as YAML.

    Raises:
        ProviderFault: the model cannot be used here; words say what to set.
    """
    if model is None:
        return {"worker_model": _OFFLINE, "model": _OFFLINE}
    from agiraph.core.codec.emit import scalar

    catalog = _catalog()
    catalog.provider(model)
    # Under a cap in money a model of unknown price makes no call at all.
    priced = catalog.facts(model).price is not None
    money = f"usd: {_USD:.2f}, " if priced else ""
    return {
        "budget": f"{{{money}tokens: {_TOKENS}}}",
        "worker_model": scalar(model),
        "model": scalar(model),
    }


def _local_settings(weak: str) -> dict[str, str]:
    """The same for `--local`.

    Raises:
        ProviderFault: the model cannot be used here; words say what to do.
    """
    _catalog().provider(weak)
    return {
        "options": "{max_tokens: 200, temperature: 0}",
        "worker_model": weak,
        "model": _OFFLINE,
    }


def _catalog() -> ModelCatalog:
    from agiraph.clock import SystemClock
    from agiraph.model.agent import TreeSettings
    from agiraph.providers.models import ModelCatalog

    return ModelCatalog(
        settings=TreeSettings(), environment=os.environ, clock=SystemClock()
    )


def _make_tree(settings: dict[str, str], body: str) -> str:
    from agiraph.cli.making import make_agent, template_files

    texts = template_files(_TEMPLATE)
    goal = texts["GOAL.md"].decode("utf-8")
    for key, said in settings.items():
        goal = with_setting(goal, key, said)
    if body:
        head, mark, _ = goal.partition("\n---\n")
        goal = head + mark + body
    texts["GOAL.md"] = goal.encode("utf-8")
    root = os.path.join(_new_folder(), "agents")
    os.mkdir(root)
    make_agent(root, _AGENT, texts)
    return root


def _new_folder() -> str:
    """A new folder in the user's state directory (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_STATE_HOME", "")
    state = given if os.path.isabs(given) else os.path.expanduser("~/.local/state")
    above = os.path.join(state, "agiraph")
    os.makedirs(above, exist_ok=True)
    stamp = datetime.now().astimezone().strftime("demo-%Y%m%d-%H%M%S")
    number = 1
    while True:
        path = os.path.join(above, stamp if number == 1 else f"{stamp}-{number}")
        try:
            os.mkdir(path)
        except FileExistsError:
            number += 1
        else:
            return path


@contextmanager
def _daemon(root: str) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon as a child in a process group of its own; ended in every case."""
    with (
        open(_log_of(root), "wb") as log,
        _ends_as_exit(),
    ):
        child = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
            [sys.executable, "-m", "agiraph", "up", "--agents", root],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield child
        finally:
            _end(child)


def _log_of(root: str) -> str:
    return os.path.join(os.path.dirname(root), "daemon.log")


@contextmanager
def _ends_as_exit() -> Iterator[None]:
    """Make SIGTERM and SIGHUP leave through every `finally`, as Ctrl-C does."""

    def leave(number: int, _: FrameType | None) -> None:
        sys.exit(128 + number)

    kinds = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(kind, leave) for kind in kinds]
    try:
        yield
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_TO_END)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _watch(call: Call, files: Files, daemon: subprocess.Popen[bytes]) -> AgentView:
    """Show the board as it grows, until the agent's work ends."""
    with Board(call) as board:
        while True:
            now = agent_view(files, _AGENT)
            board.show(now)
            if now.ended:
                return now
            if daemon.poll() is not None:
                raise Refused(
                    f"the daemon ended by itself (exit code {daemon.returncode}):\n"
                    f"{_last_words(files.root)}"
                )
            time.sleep(_BETWEEN_LOOKS)


def _last_words(root: str) -> str:
    with open(_log_of(root), encoding="utf-8", errors="replace") as log:
        return render.clean("".join(log.readlines()[-15:])).rstrip()


def _told(files: Files, ended: AgentView) -> Code:
    """Print the result, where it lies and what to type next."""
    run = newest_run(files, Home(_AGENT))
    if run is not None:
        for path in _result(files, run):
            _print_short(files.text(path))
            render.say(f"\nThe whole text: {os.path.join(files.root, str(path))}")
    why = ended.error or ended.waiting_for
    render.say(f"It ended as {ended.status}{f': {why}' if why else ''}.")
    _say_next(files.root)
    return code_of_state(ended.status)


def _say_next(root: str) -> None:
    """What to type next; in the demo's own folder `agents` is the tree."""
    told = [
        (f"cd {quoted(os.path.dirname(root))}", "into the folder of this demo"),
        (f"agiraph show {_AGENT}", "the agent, its nodes and its result"),
        (f"agiraph logs {_AGENT}", "what happened, step by step"),
        (f"cp your-own.txt agents/{_AGENT}/inputs/", "other texts, another report:"),
        (f"agiraph run {_AGENT} --again", "the same goal once more"),
    ]
    if on_path():
        told.insert(0, (on_path(), "puts `agiraph` on your path"))
    wide = min(max(len(typed) for typed, _ in told), 40)
    render.say("\nNext:")
    for typed, why in told:
        render.say(f"  {typed:<{wide}}  # {why}")


def _result(files: Files, run: RunFolder) -> list[PurePosixPath]:
    """What to print: the first text that was published, else the run's output."""
    texts = [run.published / name for name in files.files(run.published)]
    found = [path for path in texts if path.suffix in (".md", ".txt")]
    output = [run.output] if files.there(run.output) else []
    return found[:1] or output


def _print_short(text: str) -> None:
    lines = render.clean(text).strip().splitlines()
    render.data("")
    render.data("\n".join(lines[:_MOST_LINES]))
    if len(lines) > _MOST_LINES:
        render.data(f"… {len(lines) - _MOST_LINES} more lines in the file")
