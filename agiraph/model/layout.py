"""Every path of the tree, on one page; all are relative to the tree's root."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from agiraph.model.names import question_id

ROOT: Final = PurePosixPath()
SETTINGS: Final = PurePosixPath("agiraph.yaml")
PAUSE: Final = PurePosixPath("PAUSE")
AWAY: Final = PurePosixPath("AWAY")
READ: Final = PurePosixPath("_read.yaml")
MACHINE: Final = PurePosixPath(".agiraph")
LOCK: Final = MACHINE / "lock"
DAEMON: Final = MACHINE / "daemon.json"
SETTINGS_KEPT: Final = MACHINE / "agiraph.yaml"
SKILLS: Final = PurePosixPath("skills")
ARCHIVE: Final = PurePosixPath("_archive")
ERROR_SUFFIX: Final = ".error.md"
_LONGEST: Final = 255  # bytes of a file's name


def error_file(path: PurePosixPath) -> PurePosixPath:
    """Where the words on a bad file stand: beside it, `GOAL.md.error.md`."""
    name = path.name.encode("utf-8", "surrogateescape")[: _LONGEST - len(ERROR_SUFFIX)]
    return path.with_name(name.decode("utf-8", "ignore") + ERROR_SUFFIX)


def put_away(log: PurePosixPath) -> PurePosixPath:
    """The folder of a log's archives: `events.jsonl` has `_archive/events/`."""
    return log.parent / "_archive" / log.stem.lstrip("_")


@dataclass(frozen=True, slots=True)
class NodeFolder:
    """The paths of one node."""

    path: PurePosixPath

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def spec(self) -> PurePosixPath:
        return self.path / "_spec.md"

    @property
    def refs(self) -> PurePosixPath:
        return self.path / "_refs.json"

    @property
    def status(self) -> PurePosixPath:
        return self.path / "_status.md"

    @property
    def scratch(self) -> PurePosixPath:
        return self.path / "scratch"

    @property
    def published(self) -> PurePosixPath:
        return self.path / "published"

    @property
    def outputs(self) -> PurePosixPath:
        return self.path / "outputs"

    @property
    def log(self) -> PurePosixPath:
        return self.path / "log.jsonl"

    @property
    def stop(self) -> PurePosixPath:
        return self.path / "STOP"

    @property
    def rerun(self) -> PurePosixPath:
        return self.path / "RERUN"


@dataclass(frozen=True, slots=True)
class WorkerFolder:
    """The paths of one worker."""

    path: PurePosixPath

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def identity(self) -> PurePosixPath:
        return self.path / "identity.md"

    @property
    def memory(self) -> PurePosixPath:
        return self.path / "memory.md"

    @property
    def notebook(self) -> PurePosixPath:
        return self.path / "notebook.md"

    @property
    def history(self) -> PurePosixPath:
        return self.path / "history.json"

    @property
    def status(self) -> PurePosixPath:
        return self.path / "_status.md"

    @property
    def conversation(self) -> PurePosixPath:
        return self.path / "conversation.jsonl"

    @property
    def conversations(self) -> PurePosixPath:
        return self.path / "conversations"

    @property
    def inbox(self) -> PurePosixPath:
        return self.path / "_inbox.md"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run."""

    path: PurePosixPath

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def record(self) -> PurePosixPath:
        return self.path / "_run.yaml"

    @property
    def plan(self) -> PurePosixPath:
        return self.path / "_plan.md"

    @property
    def board(self) -> PurePosixPath:
        return self.path / "_board.md"

    @property
    def output(self) -> PurePosixPath:
        return self.path / "_output.md"

    @property
    def scratch(self) -> PurePosixPath:
        return self.path / "scratch"

    @property
    def published(self) -> PurePosixPath:
        return self.path / "published"

    @property
    def outputs(self) -> PurePosixPath:
        return self.path / "outputs"

    @property
    def messages(self) -> PurePosixPath:
        return self.path / "_messages"

    @property
    def nodes(self) -> PurePosixPath:
        return self.path / "nodes"

    @property
    def workers(self) -> PurePosixPath:
        return self.path / "workers"

    def node(self, node: str) -> NodeFolder:
        return NodeFolder(self.path.joinpath("nodes", node))

    def worker(self, worker: str) -> WorkerFolder:
        return WorkerFolder(self.path.joinpath("workers", worker))


@dataclass(frozen=True, slots=True)
class Home:
    """The paths of one agent; the folder's name is the agent's id."""

    agent: str
    path: PurePosixPath = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", PurePosixPath(self.agent))

    @property
    def goal(self) -> PurePosixPath:
        return self.path / "GOAL.md"

    @property
    def soul(self) -> PurePosixPath:
        return self.path / "SOUL.md"

    @property
    def triggers(self) -> PurePosixPath:
        return self.path / "triggers.yaml"

    @property
    def inputs(self) -> PurePosixPath:
        return self.path / "inputs"

    @property
    def inbox(self) -> PurePosixPath:
        return self.path / "_inbox.md"

    @property
    def dropbox(self) -> PurePosixPath:
        return self.path / "_inbox"

    @property
    def read_mail(self) -> PurePosixPath:
        return self.path / "_inbox" / ".read"

    @property
    def pause(self) -> PurePosixPath:
        return self.path / "PAUSE"

    @property
    def stop(self) -> PurePosixPath:
        return self.path / "STOP"

    @property
    def memory(self) -> PurePosixPath:
        return self.path / "MEMORY.md"

    @property
    def memories(self) -> PurePosixPath:
        return self.path / "memory"

    @property
    def outbox(self) -> PurePosixPath:
        return self.path / "_outbox.md"

    @property
    def questions(self) -> PurePosixPath:
        return self.path / "_questions"

    @property
    def approvals(self) -> PurePosixPath:
        return self.path / "_approvals.yaml"

    @property
    def status(self) -> PurePosixPath:
        return self.path / "_status.md"

    @property
    def owner(self) -> PurePosixPath:
        return self.path / "_owner.yaml"

    @property
    def state(self) -> PurePosixPath:
        return self.path / "_state"

    @property
    def skills(self) -> PurePosixPath:
        return self.path / "skills"

    @property
    def servers(self) -> PurePosixPath:
        return self.path / ".mcp.json"

    @property
    def servers_known(self) -> PurePosixPath:
        return self.state / "mcp.json"

    @property
    def journal(self) -> PurePosixPath:
        return self.state / "journal.jsonl"

    @property
    def armed(self) -> PurePosixPath:
        return self.state / "triggers.json"

    @property
    def watched(self) -> PurePosixPath:
        return self.state / "watched.json"

    @property
    def fired(self) -> PurePosixPath:
        return self.path / "_triggers.jsonl"

    @property
    def notices(self) -> PurePosixPath:
        return self.state / "notices.jsonl"

    @property
    def memory_book(self) -> PurePosixPath:
        return self.state / "memory.jsonl"

    @property
    def conversation(self) -> PurePosixPath:
        return self.path / "conversation.jsonl"

    @property
    def conversations(self) -> PurePosixPath:
        return self.path / "conversations"

    @property
    def events(self) -> PurePosixPath:
        return self.path / "events.jsonl"

    @property
    def usage(self) -> PurePosixPath:
        return self.path / "usage.jsonl"

    @property
    def runs(self) -> PurePosixPath:
        return self.path / "runs"

    @property
    def archive(self) -> PurePosixPath:
        return self.path / "_archive"

    @property
    def talks_away(self) -> PurePosixPath:
        return self.archive / "conversations"

    def kept_worker(self, worker: str) -> WorkerFolder:
        """What stays at hand of a worker whose run was put away."""
        return WorkerFolder(self.archive / "workers" / worker)

    def run(self, run: str) -> RunFolder:
        return RunFolder(self.path.joinpath("runs", run))

    def question(self, number: int) -> PurePosixPath:
        return self.questions / f"{question_id(number)}.md"

    def accepted(self, path: PurePosixPath) -> PurePosixPath:
        """Where the last good copy of a person's file is kept."""
        return self.state / "accepted" / path.relative_to(self.path)
