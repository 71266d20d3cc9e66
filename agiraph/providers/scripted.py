"""Answers from a file, as `scripted/<file>`: for demonstrations and tests.

The file is YAML; its path is relative to the folder that the daemon was started in,
or absolute. Each key names a speaker and holds that speaker's answers in order:

```yaml
coordinator:
  - call: {create_work_node: {id: paris, task: Find out about Paris.}}
  - call: {wait: {}}
  - text: All is done.
    call: {finish: {summary: Paris is large.}}
paris:                          # a node's id, or a word of the system prompt
  - when: "no such file"        # a rule: taken whenever this was just said to it
    text: Then I write it anew.
  - calls:
      - {name: write_file, arguments: {path: scratch/a.md, content: Paris}}
      - {name: publish, arguments: {summary: done}}
    usage: {input: 900, output: 40, cache_read: 0, cache_write: 0}
    delay: 0.5                  # seconds
"*":                            # whoever has no part of its own
  - fault: overloaded           # any kind of fault: key, rate, network …
otherwise:                      # when there is nothing more to say; else a fault
  text: I have nothing to add.
```

Answers without `when` are taken in order: as many have been given as there are
answers in the conversation that no rule explains. So nothing is remembered here, and a
restart repeats nothing. `when` is a regular expression, without regard to case, over
the texts and the results of calls since the last answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Answer, AssistantLine, Stop
from agiraph.model.names import COORDINATOR
from agiraph.model.tool import ToolCall
from agiraph.model.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.model.conversation import Request, Spoken
    from agiraph.ports import Clock

ANYONE = "*"
OTHERWISE = "otherwise"
_KEYS = frozenset({"when", "text", "call", "calls", "usage", "delay", "fault"})
_BUCKETS = frozenset({"input", "output", "cache_read", "cache_write"})


@dataclass(frozen=True, slots=True)
class Scripted:
    """One answer of a script."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()
    when: re.Pattern[str] | None = None
    usage: Usage | None = None
    delay: float = 0.0
    fault: Fault | None = None


class ScriptedProvider:
    """Speaks the parts of one file; the file is read when first asked."""

    def __init__(self, file: str, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._parts: dict[str, tuple[Scripted, ...]] | None = None

    async def ask(self, request: Request) -> Answer:
        """The answer that is next in this conversation."""
        if self._parts is None:
            self._parts = _parts(self._file)
        speaker = _speaker(request, self._parts)
        chosen = _chosen(self._parts.get(speaker, ()), request.lines)
        if chosen is None:
            chosen = next(iter(self._parts.get(OTHERWISE, ())), None)
        if chosen is None:
            raise self._nothing_left(speaker, request)
        if chosen.delay:
            await self._clock.sleep(chosen.delay)
        if chosen.fault is not None:
            words = (
                f"{self._file} says that the service fails here: {chosen.fault.value}."
            )
            raise ProviderFault(chosen.fault, words)
        return _answer(chosen, request)

    async def close(self) -> None:
        """Nothing is open."""

    def _nothing_left(self, speaker: str, request: Request) -> ProviderFault:
        given = sum(isinstance(line, AssistantLine) for line in request.lines)
        words = (
            f"{self._file} has no answer {given + 1} for {speaker!r}. Add one, or an "
            f"`{OTHERWISE}:` for whatever is not scripted."
        )
        return ProviderFault(Fault.REQUEST, words)


def _speaker(request: Request, parts: Mapping[str, object]) -> str:
    """Whose part it is: by node, by a word of the system prompt, or anyone's."""
    node = request.prefix.node
    if node is None and COORDINATOR in parts:
        return COORDINATOR
    if node is not None and node in parts:
        return node
    for name in sorted(parts, key=len, reverse=True):
        if name in (ANYONE, OTHERWISE, COORDINATOR):
            continue
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", request.prefix.content):
            return name
    return ANYONE


def _chosen(answers: Sequence[Scripted], lines: Sequence[Spoken]) -> Scripted | None:
    rules = [answer for answer in answers if answer.when is not None]
    in_order = [answer for answer in answers if answer.when is None]
    given = 0
    said: list[str] = []
    for line in lines:
        if not isinstance(line, AssistantLine):
            said.append(line.content)
            continue
        given += _rule_for(rules, said) is None
        said = []
    rule = _rule_for(rules, said)
    if rule is not None:
        return rule
    return in_order[given] if given < len(in_order) else None


def _rule_for(rules: Sequence[Scripted], said: Sequence[str]) -> Scripted | None:
    text = "\n".join(said)
    return next((rule for rule in rules if rule.when and rule.when.search(text)), None)


def _answer(chosen: Scripted, request: Request) -> Answer:
    turn = sum(isinstance(line, AssistantLine) for line in request.lines) + 1
    calls = tuple(
        # Parsed YAML with names as keys is what JSON can say.
        ToolCall(f"scripted_{turn}_{index}", name, arguments)  # type: ignore[arg-type]
        for index, (name, arguments) in enumerate(chosen.calls)
    )
    size = sum(len(line.content) for line in request.lines)
    usage = chosen.usage or Usage(
        input=(len(request.prefix.content) + size) // 3, output=len(chosen.text) // 3
    )
    stop = Stop.TOOLS if calls else Stop.END
    return Answer(chosen.text, calls, stop, usage, own={})


def _parts(file: str) -> dict[str, tuple[Scripted, ...]]:
    import yaml  # noqa: PLC0415 - only those who use a script pay for it

    try:
        text = Path(file).read_text("utf-8")
    except FileNotFoundError as error:
        where = (
            "" if Path(file).is_absolute() else f"; it is looked for in {Path.cwd()}"
        )
        raise _bad(file, None, f"there is no such file{where}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(file, None, f"cannot be read: {error}") from error
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        read = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise _bad(file, line, f"is no YAML: {error.problem}") from error
    if not isinstance(read, dict) or not isinstance(root, yaml.MappingNode):
        raise _bad(file, 1, "must be a mapping from speakers to their answers")
    parts = {}
    for (key, node), written in zip(root.value, read.values(), strict=True):
        entries = written if isinstance(written, list) else [written]
        nodes = node.value if isinstance(written, list) else [node]
        parts[str(key.value)] = tuple(
            _scripted(file, at.start_mark.line + 1, entry)
            for at, entry in zip(nodes, entries, strict=True)
        )
    return parts


def _scripted(file: str, line: int, entry: object) -> Scripted:
    if not isinstance(entry, dict) or not entry:
        raise _bad(file, line, "an answer is a mapping with text, call, calls or fault")
    unknown = sorted(str(key) for key in entry if key not in _KEYS)
    if unknown:
        allowed = ", ".join(sorted(_KEYS))
        raise _bad(file, line, f"`{unknown[0]}` is not known; there are {allowed}")
    try:
        when = entry.get("when")
        return Scripted(
            text=str(entry.get("text") or ""),
            calls=(*_calls(entry.get("call")), *_calls(entry.get("calls"))),
            when=re.compile(str(when), re.IGNORECASE) if when is not None else None,
            usage=_usage(entry.get("usage")),
            delay=float(entry.get("delay") or 0),
            fault=Fault(entry["fault"]) if "fault" in entry else None,
        )
    except (ValueError, TypeError, KeyError, re.error) as error:
        raise _bad(file, line, str(error)) from error


def _calls(written: object) -> list[tuple[str, Mapping[str, object]]]:
    """Calls in either form: `{name: arguments}`, or a list of name and arguments."""
    if written is None:
        return []
    if isinstance(written, Mapping):
        return [(str(name), _arguments(given)) for name, given in written.items()]
    if not isinstance(written, list):
        msg = "`calls` is a list of {name, arguments}, `call` is {name: arguments}"
        raise TypeError(msg)
    return [(str(one["name"]), _arguments(one.get("arguments"))) for one in written]


def _arguments(given: object) -> Mapping[str, object]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        msg = "the arguments of a call are a mapping from names to values"
        raise TypeError(msg)
    return given


def _usage(written: object) -> Usage | None:
    if written is None:
        return None
    if not isinstance(written, Mapping) or not _BUCKETS.issuperset(written):
        msg = f"`usage` is a mapping with {', '.join(sorted(_BUCKETS))}"
        raise TypeError(msg)
    return Usage(**{str(name): int(tokens) for name, tokens in written.items()})


def _bad(file: str, line: int | None, what: str) -> ProviderFault:
    where = f"{file}, line {line}" if line else file
    return ProviderFault(Fault.REQUEST, f"The script {where}: {what}.")
