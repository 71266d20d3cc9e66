"""An agent's memory, for people: where a line came from, and having it tidied."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

import click

from agiraph import prompts
from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Misused, NotFound
from agiraph.cli.daemons import daemon_of
from agiraph.cli.post import post
from agiraph.cli.read import Files
from agiraph.cli.render import as_json, clean, data, moment, say
from agiraph.cli.shell import quoted
from agiraph.cli.view import one_agent
from agiraph.cli.write import clear, move, with_pen
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agiraph.core.remembering import Written
    from agiraph.ports import Pen

_DEEPEST = 6
_UNDONE = "-undone"
_COPY: Final = re.compile(rf"[0-9]{{8}}-[0-9]{{6}}-[0-9]{{6}}({_UNDONE})?")
_KEPT = 10  # copies that can be brought back, and as many of what was undone


@click.command()
@click.argument("name")
@click.argument("place", metavar="FILE:LINE")
@click.option("--json", "as_data", is_flag=True, help="For programs.")
@tree_options
@click.pass_obj
def blame(call: Call, name: str, place: str, as_data: bool) -> None:
    """Where a line of an agent's memory came from.

    Who wrote it, when, in which run and step, and what it was read from.

    Examples:
      agiraph blame news MEMORY.md:12
      agiraph blame news memory/knowledge/chips.md:3
    """
    from agiraph.core.remembering import blame as traced
    from agiraph.runtime.memorybook import recorded

    files = Files(call.tree)
    home = Home(one_agent(files, name))
    path, line = _line(files, home, place)
    found = traced(tuple(recorded(files.reader, home)), path, line)
    if as_data:
        data(as_json({"line": line, "written": [_facts(each, line) for each in found]}))
        return
    data(clean(line.strip()))
    for each in found:
        data(_told(each, line))
    if not found:
        data("  nothing is on record: it was there before the record began.")


def _line(files: Files, home: Home, place: str) -> tuple[str, str]:
    """The file and the text of a line."""
    path, _, number = place.rpartition(":")
    if not path or not number.isdigit():
        raise Misused(f"{place}: name a file and a line, such as MEMORY.md:12.")
    inner = PurePosixPath(path)
    if inner.is_absolute() or ".." in inner.parts:
        raise Misused(f"{path}: name MEMORY.md or a file below memory/.")
    if path != "MEMORY.md" and inner.parts[0] != "memory":
        inner = PurePosixPath("memory") / inner
    if not files.there(home.path / inner):
        raise NotFound(f"{home.path / inner} is not there.")
    lines = files.text(home.path / inner).splitlines()
    if not 1 <= int(number) <= len(lines):
        raise NotFound(f"{home.path / inner} has {len(lines)} lines, no {number}.")
    return str(inner), lines[int(number) - 1]


def _source(each: Written, line: str) -> str:
    from agiraph.core.remembering import line_hash

    return each.lines.get(line_hash(line), "")


def _facts(each: Written, line: str) -> dict[str, str]:
    return {
        "ts": each.ts,
        "path": each.path,
        "by": each.by,
        "run": each.run,
        "node": each.node,
        "step": each.step,
        "from": _source(each, line),
    }


def _told(each: Written, line: str) -> str:
    who = {"person": "a person", "": "somebody, before the record began"}
    words = [f"  {moment(each.ts)}  {each.path}: by {who.get(each.by, each.by)}"]
    if each.run:
        where = f"run {each.run}" + (f", node {each.node}" if each.node else "")
        words.append(f"in {where} (step {each.step})")
    if source := _source(each, line):
        words.append(f"from {source}")
    return clean(", ".join(words))


@click.command()
@click.argument("name")
@click.option("--diff", "differs", is_flag=True, help="What the last tidying changed.")
@click.option("--undo", is_flag=True, help="Bring back what was there before it.")
@tree_options
@click.pass_obj
def tidy(call: Call, name: str, differs: bool, undo: bool) -> None:
    """Have an agent tidy its memory.

    A copy of the memory is kept in memory/.before/ first, where the ten newest stay;
    then the agent is asked by a message to distil its daily logs, to prune, and to mend
    the index. In triggers.yaml the action {type: run_command, command: agiraph tidy
    NAME} does the same.

    Examples:
      agiraph tidy news
      agiraph tidy news --diff      what it has changed
      agiraph tidy news --undo      as it was before
    """
    if differs and undo:
        raise Misused("--diff shows and --undo changes; name one of them.")
    files = Files(call.tree)
    home = Home(one_agent(files, name))
    if differs:
        data(_difference(files, home) or "Nothing has changed since.")
    elif undo:
        _undo(files, home)
        say(f"The memory of {home.agent} is as it was before the last tidying.")
        _prune(files, home)
    else:
        kept = _keep(files, home)
        post(files.root, home.agent, prompts.words("tidy"), to="coordinator")
        say(f"Asked {home.agent} to tidy its memory; a copy is kept in {kept}.")
        if not daemon_of(files).running:
            say("No daemon runs on this tree: it is read at the next `agiraph up`.")
        say(f"Next: agiraph tidy {quoted(home.agent)} --diff")
        _prune(files, home)


def _copies(home: Home) -> PurePosixPath:
    return home.memories / ".before"


def _memory(files: Files, top: PurePosixPath) -> dict[str, str]:
    """MEMORY.md and what lies below memory/, by their paths below a folder."""
    found = {}
    if files.there(top / "MEMORY.md"):
        found["MEMORY.md"] = files.text(top / "MEMORY.md")
    for path in _below(files, top / "memory", _DEEPEST):
        found[str(path.relative_to(top))] = files.text(path)
    return found


def _below(files: Files, folder: PurePosixPath, deep: int) -> Iterator[PurePosixPath]:
    for name in files.files(folder):
        if not name.startswith("."):
            yield folder / name
    for name in files.folders(folder) if deep else ():
        if not name.startswith("."):
            yield from _below(files, folder / name, deep - 1)


def _keep(files: Files, home: Home, mark: str = "") -> PurePosixPath:
    """Copy the memory as it is now, whole or not at all; where to."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    kept = _copies(home) / f"{stamp}{mark}"
    unfinished = kept.with_name(f".{kept.name}")
    texts = _memory(files, home.path)
    if not texts:
        raise NotFound(f"{home.agent} has no memory yet.")

    async def copy(pen: Pen) -> None:
        for path, text in texts.items():
            await pen.write(unfinished / path, text.encode("utf-8", "surrogatepass"))
        await pen.move(unfinished, kept)

    with_pen(files.root, copy)
    return kept


def _prune(files: Files, home: Home) -> None:
    """Take the oldest copies away, and what a kill left unfinished."""
    for name in stale(files.folders(_copies(home))):
        old = _copies(home) / name
        hidden = old.with_name("." + name.lstrip("."))
        if hidden != old:  # in one step, so that no half of a copy is ever brought back
            move(files.root, old, hidden)
        clear(files.root, hidden)


def stale(names: Iterable[str]) -> list[str]:
    """Which copies of the memory need not be kept any longer, by their names.

    Half ones that a kill left go once they are older than all that is kept: a younger
    one may still be written.
    """
    newest = sorted(names, reverse=True)
    whole = _kept(newest)
    oldest = min(whole[:_KEPT], default="")
    hidden = [name[1:] for name in newest if name[0] == "."]
    half = [*_kept(hidden), *_kept(hidden, _UNDONE)]
    return [
        *(f".{name}" for name in half if name < oldest),
        *whole[_KEPT:],
        *_kept(newest, _UNDONE)[_KEPT:],
    ]


def _kept(names: Iterable[str], mark: str = "") -> list[str]:
    """Of some names, those of whole copies with this mark."""
    found = ((name, _COPY.fullmatch(name)) for name in names)
    return [name for name, match in found if match and (match[1] or "") == mark]


def _last(files: Files, home: Home) -> PurePosixPath:
    kept = _kept(files.folders(_copies(home)))
    if not kept:
        raise NotFound(f"the memory of {home.agent} has not been tidied yet.")
    return _copies(home) / max(kept)


def _difference(files: Files, home: Home) -> str:
    old, new = _memory(files, _last(files, home)), _memory(files, home.path)
    parts: list[str] = []
    for path in sorted({*old, *new}):
        before, now = old.get(path, ""), new.get(path, "")
        lines = difflib.unified_diff(
            before.splitlines(),
            now.splitlines(),
            f"{path} (before)" if path in old else "(not there)",
            f"{path} (now)" if path in new else "(taken away)",
            lineterm="",
        )
        parts += lines
    return clean("\n".join(parts))


def _undo(files: Files, home: Home) -> None:
    """Put the last copy back; what is there now is kept beside it."""
    last = _last(files, home)
    old, new = _memory(files, last), _memory(files, home.path)
    _keep(files, home, _UNDONE)

    async def back(pen: Pen) -> None:
        for path, text in old.items():
            data_ = text.encode("utf-8", "surrogatepass")
            await pen.write(home.path / path, data_)
        for path in new.keys() - old.keys():
            await pen.remove(home.path / path)
        await pen.move(last, last.with_name(f"{last.name}{_UNDONE}"))

    with_pen(files.root, back)
