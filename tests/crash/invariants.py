"""What must be true of a tree, a model's server and the world after a crash."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

from tests.crash.ageing import OLD_RUN, whole_log
from tests.crash.ageing import sessions as put_aside
from tests.crash.scenario import AGENT, RUN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.crash.scenario import Scenario
    from tests.support.model_asked import Asked
    from tests.support.model_server import ModelServer

TEMPORARY = re.compile(r"\..+\.agi-\d+-[0-9a-f]+\.tmp")
# Logs and the outbox grow by whole lines, outputs while a command runs; people write
# some files meanwhile.
NOT_OURS = re.compile(
    rf"\.jsonl$|/_outbox\.md$|/outputs/|^{AGENT}/(GOAL\.md|_inbox\.md|_inbox/)"
)
CUT_OFF = ("outcome is unknown", "Cut off:", "their outcome is unknown")
_MARKED = ("_status.md", "_spec.md", "GOAL.md")


def whole_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a log up to where a crash tore it."""
    return _said(path.read_bytes() if path.exists() else b"")


def _said(data: bytes) -> list[dict[str, Any]]:
    whole = data[: data.rfind(b"\n") + 1].decode()
    return [json.loads(line) for line in whole.splitlines() if line.strip("\0")]


def conversations(root: Path) -> Iterator[Path]:
    yield from root.glob(f"{AGENT}/conversation.jsonl")
    yield from root.glob(f"{AGENT}/runs/*/workers/*/conversation.jsonl")


def history(path: Path) -> list[dict[str, Any]]:
    """A conversation's lines, and before them what compaction put away of it."""
    now = whole_lines(path)
    sessions = [_said(each) for each in put_aside(path.parent)]
    if now in sessions:  # a crash between the copy and the new session
        sessions.remove(now)
    return [line for session in [*sessions, now] for line in session]


# --- at the moment of the crash


def check_crashed(copy: Path, server: ModelServer, effects: Path) -> None:
    """What a kill leaves: whole files, and a record of whatever was told or done."""
    for path in _files(copy):
        if not TEMPORARY.fullmatch(path.name) and path.suffix != ".jsonl":
            _parses(path)
    _asked_is_recorded(copy, server)
    intents = _intents(copy)
    done = effects.read_text().split() if effects.exists() else []
    commands = [i for i in intents if i["tool"] == "bash"]
    assert len(done) <= len(commands), f"{done}, but {len(commands)} intents"
    for published in copy.glob(f"{AGENT}/runs/*/nodes/*/published"):
        old = OLD_RUN in str(published)
        assert old or any(i["tool"] == "publish" for i in intents), published
    records = copy.glob(f"{AGENT}/runs/*/_run.yaml")
    if any(OLD_RUN not in str(record) for record in records):
        goal = copy / f"{AGENT}/_state/accepted/GOAL.md"
        assert goal.exists(), "a run was opened before its goal was on record"


def check_whole(scenario: Scenario, copy: Path, versions: Path) -> None:
    """Every visible file is a version that its writer had finished.

    Args:
        scenario: whose files were there before.
        copy: the tree as the crash left it.
        versions: the hashes of all files that were given a name, one a line; not there
            where strace did the killing.
    """
    if not versions.exists():
        return
    before = (*scenario.people.values(), *scenario.grown.values())
    finished = {hashlib.sha256(text.encode()).hexdigest() for text in before}
    finished |= frozenset(versions.read_text().split())
    for path in _files(copy):
        where = str(path.relative_to(copy))
        if TEMPORARY.fullmatch(path.name) or NOT_OURS.search(where):
            continue
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        assert found in finished, f"no writer had finished {where} as it stands there"


def _files(root: Path) -> Iterator[Path]:
    for path in root.rglob("*"):
        if path.is_file() and ".agiraph" not in path.parts:
            yield path


def _parses(path: Path) -> None:
    if path.suffix == ".gz":
        gzip.decompress(path.read_bytes())
        return
    text = path.read_text("utf-8")
    match path.suffix:
        case ".json":
            json.loads(text)
        case ".yaml":
            yaml.safe_load(text)
        case ".jsonl":
            assert not text or text.endswith("\n"), f"{path} ends in half a line"
            for line in text.splitlines():
                json.loads(line)
        case _ if path.name in _MARKED and text.startswith("---\n"):
            assert "\n---" in text[4:], f"{path} is cut off: {text[-200:]!r}"
            yaml.safe_load(text[4:].partition("\n---")[0])


def _intents(root: Path) -> list[dict[str, Any]]:
    lines = whole_lines(root / f"{AGENT}/_state/journal.jsonl")
    return [line for line in lines if line["kind"] == "intent"]


def _asked_is_recorded(root: Path, server: ModelServer) -> None:
    """Whatever a model was told stands in a conversation on the disk."""
    known = [
        str(line.get("content", ""))
        for path in conversations(root)
        for line in history(path)
    ]
    for asked in server.requests:
        for result in asked.results:
            assert any(result.text in text for text in known), (
                f"the model was told a result that is not on record: {result.text}"
            )


# --- at the end


def check_recorded(copy: Path, daemon: Doomed) -> None:
    """What was on record at a crash stands there still, and was not done again."""
    for before in conversations(copy):
        after = daemon.root / before.relative_to(copy)
        old, new = history(before), history(after)
        assert new[: len(old)] == old, f"{after} was changed behind the crash"
    before_events = _events(copy)
    ended = {
        event["data"]["step"]
        for event in before_events
        if event.get("type") == "tool.result"
    }
    began = len(before_events)
    for event in _events(daemon.root)[began:]:
        if event["type"] == "tool.called":
            assert event["data"]["step"] not in ended, f"run again: {event}"


def _events(root: Path) -> list[dict[str, Any]]:
    return _said(b"".join(whole_log(root / f"{AGENT}/events.jsonl")))


def check_end(
    scenario: Scenario, daemon: Doomed, server: ModelServer, *, kills: int
) -> None:
    """Everything that must hold once the run has come to its end."""
    assert server.refusals == []
    assert server.errors == []
    assert not (daemon.root / ".agiraph/faults.log").exists(), daemon.told()
    assert not leftovers(daemon)
    for path in _files(daemon.root):
        _parses(path)
    errors = [p for p in _files(daemon.root) if p.name.endswith(".error.md")]
    assert not errors, errors
    _people_untouched(scenario, daemon)
    _called_once(daemon)
    _delivered_once(scenario, daemon)
    _asked_once(server, kills)
    _effects_once(scenario, daemon)
    assert daemon.state(AGENT) == "completed"
    assert len(daemon.names(f"{AGENT}/runs/*")) == 1
    run = yaml.safe_load(daemon.read(f"{RUN}/_run.yaml"))
    assert run["status"] == "completed", run
    kinds = [event["type"] for event in _events(daemon.root)]
    assert kinds.count("agent.completed") >= 1
    scenario.holds(daemon)


def leftovers(daemon: Doomed) -> list[Path]:
    """Temporary names of the daemon's own."""
    return [p for p in _files(daemon.root) if TEMPORARY.fullmatch(p.name)]


def _people_untouched(scenario: Scenario, daemon: Doomed) -> None:
    for path, text in scenario.files().items():
        assert daemon.read(path) == text, f"{path} was changed"
    if scenario.name == "inbox":
        text = daemon.read(f"{AGENT}/_inbox.md")
        assert all(text.count(word) == 1 for word in ("first", "second", "fourth"))
        read = daemon.names(f"{AGENT}/_inbox/.read/*")
        assert read == ["third.md"], read


def _called_once(daemon: Doomed) -> None:
    """Each call of each answer has exactly one result."""
    for path in conversations(daemon.root):
        open_calls: list[str] = []
        for line in history(path):
            if line["role"] == "assistant":
                assert not open_calls, f"{path}: no result for {open_calls}"
                open_calls = [each["id"] for each in line.get("tool_calls", [])]
            elif line["role"] == "tool":
                assert line["call_id"] in open_calls, f"{path}: {line}"
                open_calls.remove(line["call_id"])
        assert not open_calls, f"{path}: no result for {open_calls}"


def _delivered_once(scenario: Scenario, daemon: Doomed) -> None:
    ids: Counter[str] = Counter()
    for path in conversations(daemon.root):
        reader = path.parent.name
        for line in whole_lines(path):
            ids.update(f"{reader} {ident}" for ident in line.get("ids", ()))
    twice = [ident for ident, count in ids.items() if count > 1]
    assert not twice, f"delivered twice: {twice}"
    told = [
        str(line["content"])
        for path in conversations(daemon.root)
        for line in whole_lines(path)
        if line["role"] in ("user", "tool")
    ]
    for mail in scenario.mails:
        count = sum(text.count(mail) for text in told)
        assert count == 1, f"{mail!r} was told {count} times"
    names = [p.name for p in (daemon.root / AGENT).glob("runs/*/_messages/*")]
    numbers = [name.partition("_")[0] for name in names]
    assert len(set(numbers)) == len(numbers), f"numbers used twice: {sorted(names)}"


def _asked_once(server: ModelServer, kills: int) -> None:
    """A kill may cost each loop the one call that was in flight, and no more."""
    counts = Counter(
        (asked.who, asked.node, _session(asked), asked.turn)
        for asked in server.requests
    )
    loops: Counter[tuple[str, str | None]] = Counter()
    for (who, node, _, _), count in counts.items():
        loops[who, node] += count - 1
    over = {loop: more for loop, more in loops.items() if more > kills}
    assert not over, f"model calls repeated by {kills} kills: {over}"


def _session(asked: Asked) -> str:
    """Which session a request is of: each but the first names what was put away."""
    found = re.search(r"conversations/[\w-]+\.jsonl", asked.first_user)
    return found.group() if found else ""


def _effects_once(scenario: Scenario, daemon: Doomed) -> None:
    file = daemon.home / "effects"
    done = Counter(file.read_text().split() if file.exists() else [])
    twice = [line for line, count in done.items() if count > 1]
    assert not twice, f"done twice: {twice}"
    told = "".join(
        str(line["content"])
        for path in conversations(daemon.root)
        for line in history(path)
    )
    for line in scenario.effects:
        if not done[line]:
            assert any(words in told for words in CUT_OFF), f"{line} went missing"
