"""The scenarios of the sweeps: who says what, what a person does, what must come out.

Each bash command adds one line to a file outside the tree, so that what was done twice
shows there, whatever the records say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.cast import after, cast, told
from tests.support.model_server import call, say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.support.model_asked import Asked
    from tests.support.model_server import Script, Scripted
    from tests.support.web import Answer

AGENT = "ada"
RUN = f"{AGENT}/runs/*"
MODEL = "openai/gpt-4o"
GOAL = f"---\nmodel: {MODEL}\n---\nTake it to its end.\n"


@dataclass(frozen=True)
class Deed:
    """What a person does once a fact holds."""

    fact: Callable[[Doomed], bool]
    do: Callable[[Doomed], None]


@dataclass(frozen=True)
class Scenario:
    """One way of using an agent, from beginning to end.

    Attributes:
        script: what the models say; it is given the file of effects.
        deeds: what the person does, in order; none is done twice.
        holds: what must be true at the end; it asserts.
        effects: the lines that must stand in the file of effects, each once; one may
            be missing where its caller was told that its command was cut off.
        mails: what people wrote, each to be told to its reader exactly once.
        web: pages of a web server whose address stands in the file `web` beside.
        arm: a file in the tree's parent; the points of a sweep begin when it is there.
    """

    name: str
    script: Callable[[Path], Script]
    deeds: tuple[Deed, ...]
    holds: Callable[[Doomed], None]
    effects: tuple[str, ...] = ()
    mails: tuple[str, ...] = ()
    arm: str = ""
    web: Mapping[str, str | Answer] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """What people wrote at paths below the tree's root, byte for byte."""
        return {f"{AGENT}/GOAL.md": GOAL, **self.people}


def effect(file: Path, line: str, *, then: str = "echo done") -> Scripted:
    """A command that leaves a line behind, and a path to where it stands."""
    return call("bash", command=f"echo {line} >> {file}; {then}")


def watching(daemon: Doomed) -> bool:
    return b"watching" in daemon.log.read_bytes()


def drop_goal(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/GOAL.md", GOAL)


DROPPED = Deed(watching, drop_goal)


def waits(daemon: Doomed) -> bool:
    """The coordinator has called `wait`."""
    return '"wait"' in daemon.read(f"{AGENT}/conversation.jsonl")


def _ends_with(words: str) -> Callable[[Doomed], None]:
    def holds(daemon: Doomed) -> None:
        assert words in daemon.read(f"{RUN}/_output.md")

    return holds


# --- an agent is dropped


def _drop(file: Path) -> Script:
    return cast(coordinator=[call("finish", summary="Dropped and done.")])


DROP = Scenario("drop", _drop, (DROPPED,), _ends_with("Dropped and done."))


# --- mail comes, in both ways, and together


def _inbox(file: Path) -> Script:
    def listens(asked: Asked) -> Scripted:
        heard = sum(mail in told(asked) for mail in INBOX.mails)
        if heard < len(INBOX.mails):
            return call("wait", timeout=60 + asked.turn)
        return call("finish", summary="I have heard all of it.")

    return cast(coordinator=listens)


def _append(daemon: Doomed) -> None:
    daemon.append(f"{AGENT}/_inbox.md", "The first word.\n---\nThe second word.\n")


def _put_in(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/_inbox/third.md", "The third word.\n")


def _one_more(daemon: Doomed) -> None:
    daemon.append(f"{AGENT}/_inbox.md", "---\n! The fourth word, in haste.\n")


def _hears(words: str) -> Callable[[Doomed], bool]:
    return lambda daemon: words in daemon.read(f"{AGENT}/conversation.jsonl")


INBOX = Scenario(
    "inbox",
    _inbox,
    (
        DROPPED,
        Deed(waits, _append),
        Deed(_hears("The first word"), _put_in),
        Deed(lambda daemon: True, _one_more),
    ),
    _ends_with("I have heard all of it."),
    mails=("The first word", "The second word", "The third word", "The fourth word"),
)


# --- tools of every kind, one after the other


def _tools(file: Path) -> Script:
    return cast(
        coordinator=[
            [
                call("write_file", path="scratch/a.md", content="one\n"),
                call("write_file", path="scratch/a.md", content="two\n", append=True),
            ],
            effect(file, "tools-1"),
            [
                call("edit_file", path="scratch/a.md", old="two", new="three"),
                call("memory_write", path="MEMORY.md", content="- three\n"),
                call("send_message", to="human", content="It goes well."),
            ],
            effect(file, "tools-2"),
            call("finish", summary="All tools were used."),
        ]
    )


def _tools_hold(daemon: Doomed) -> None:
    assert daemon.read(f"{RUN}/published/a.md") == "one\nthree\n"
    assert daemon.read(f"{AGENT}/MEMORY.md").count("- three") == 1
    assert daemon.read(f"{AGENT}/_outbox.md").count("It goes well.") == 1
    assert len(daemon.names(f"{RUN}/_messages/*")) == 1
    assert "All tools were used." in daemon.read(f"{RUN}/_output.md")


TOOLS = Scenario(
    "tools", _tools, (DROPPED,), _tools_hold, effects=("tools-1", "tools-2")
)


# --- a worker publishes, after a check; the run publishes too


def _publish(file: Path) -> Script:
    node = call(
        "create_work_node",
        id="paris",
        task="Write paris.md.",
        worker="Paula",
        accept=[{"file": "paris.md"}, {"run": "grep -q Seine paris.md"}],
    )
    copy = 'cp "$AGIRAPH_RUN"/nodes/paris/published/paris.md .'
    write = call("write_file", path="scratch/paris.md", content="On the Seine.\n")

    def published(asked: Asked) -> Scripted:
        last = asked.results[-1] if asked.results else None
        if asked.turn == 1:
            return [write, call("publish", summary="Paris is there.")]
        assert last is not None
        assert "restart" in last.text, last.text
        return call("publish", summary="Paris is there.")

    def finishes(asked: Asked) -> Scripted:
        if asked.called[-1] == "bash" and not asked.results[-1].error:
            return call("finish", summary="Published.", artifacts=["paris.md"])
        return call("bash", command=copy)  # it does no harm to copy it again

    def coordinator(asked: Asked) -> Scripted:
        if asked.turn == 1:
            return node
        if "node paris completed" not in told(asked):
            return say("I wait for Paris.")
        return finishes(asked)

    return cast(coordinator=coordinator, paris=published)


def _publish_holds(daemon: Doomed) -> None:
    folder = f"{RUN}/nodes/paris"
    assert daemon.read(f"{folder}/published/paris.md") == "On the Seine.\n"
    assert not daemon.there(f"{folder}/scratch")
    assert not daemon.there(f"{folder}/published.1")
    assert daemon.head(f"{folder}/_status.md")["status"] == "completed"
    assert daemon.read(f"{RUN}/published/paris.md") == "On the Seine.\n"
    history = json.loads(daemon.read(f"{RUN}/workers/Paula/history.json"))
    assert [deed["node"] for deed in history] == ["paris"]


PUBLISH = Scenario("publish", _publish, (DROPPED,), _publish_holds)


# --- a stage with a contract, and a question that a person answers


def _question(file: Path) -> Script:
    return cast(
        coordinator=[
            [
                call(
                    "reconvene",
                    assessment="Nothing is known.",
                    next_stage="Ask",
                    contract={"checkpoint_policy": "all_must_complete"},
                ),
                call("create_work_node", id="colour", task="Ask.", worker="Quentin"),
                call("create_work_node", id="shape", task="Draw.", worker="Sheila"),
            ],
            after("[stage 1]", do=call("finish", summary="Two stages done.")),
        ],
        colour=[
            call("ask_human", question="Which colour?"),
            [
                call("write_file", path="scratch/c.md", content="blue\n"),
                call("publish", summary="It is blue."),
            ],
        ],
        shape=[
            [
                call("write_file", path="scratch/s.md", content="round\n"),
                call("publish", summary="It is round."),
            ]
        ],
    )


def _asked(daemon: Doomed) -> bool:
    return daemon.there(f"{AGENT}/_questions/q-001.md")


def _answer(daemon: Doomed) -> None:
    daemon.write(f"{AGENT}/_inbox/answer.md", "q-001: blue, please\n")


def _question_holds(daemon: Doomed) -> None:
    assert daemon.names(f"{AGENT}/_questions/q-*.md") == ["q-001.md"]
    assert daemon.read(f"{AGENT}/_outbox.md").count("Which colour?") == 1
    talk = daemon.read(f"{RUN}/workers/Quentin/conversation.jsonl")
    assert talk.count("the person answered: blue, please") == 1
    assert "blue, please" not in daemon.read(f"{AGENT}/conversation.jsonl")
    assert daemon.read(f"{RUN}/nodes/colour/published/c.md") == "blue\n"
    assert daemon.read(f"{RUN}/nodes/shape/published/s.md") == "round\n"
    assert daemon.read(f"{AGENT}/conversation.jsonl").count("[stage 1]") == 1


QUESTION = Scenario(
    "question", _question, (DROPPED, Deed(_asked, _answer)), _question_holds
)


# --- two triggers fall due: one speaks to the person, the other wakes the agent

TRIGGERS = """\
# both count from when this is first read
- {id: post, type: delayed, delay: 1s, \
action: {type: send_message, to: human, content: The build should be done.}}
- {id: wake, type: delayed, delay: 2s, \
action: {type: wake_agent, task: Look at the build.}}
"""


def _trigger(file: Path) -> Script:
    def listens(asked: Asked) -> Scripted:
        if "Look at the build." in told(asked):
            return call("finish", summary="I have looked.")
        return call("wait", timeout=60 + asked.turn)

    return cast(coordinator=listens)


def _trigger_holds(daemon: Doomed) -> None:
    assert daemon.read(f"{AGENT}/_outbox.md").count("The build should be done.") == 1
    lines = daemon.lines(f"{AGENT}/_triggers.jsonl")
    fired = sorted((line["trigger"], line["outcome"]) for line in lines)
    assert fired == [("post", "fired"), ("wake", "fired")], lines
    assert "I have looked." in daemon.read(f"{RUN}/_output.md")


TRIGGER = Scenario(
    "trigger",
    _trigger,
    (DROPPED,),
    _trigger_holds,
    mails=("Look at the build.",),
    people={f"{AGENT}/triggers.yaml": TRIGGERS},
)


# --- a clean end in the middle of a command, and going on


def _shutdown(file: Path) -> Script:
    node = call("create_work_node", id="long", task="Take long.", worker="Lena")
    return cast(
        coordinator=[
            node,
            after("node long completed", do=call("finish", summary="Went on.")),
        ],
        long=[
            effect(file, "before", then="sleep 20"),
            effect(file, "after"),
            [
                call("write_file", path="scratch/l.md", content="long\n"),
                call("publish", summary="It took long."),
            ],
        ],
    )


def _at_work(daemon: Doomed) -> bool:
    return (daemon.home / "effects").exists()


def _end_it(daemon: Doomed) -> None:
    (daemon.home / SHUTDOWN.arm).touch()
    daemon.terminate()


def _shutdown_holds(daemon: Doomed) -> None:
    assert daemon.read(f"{RUN}/nodes/long/published/l.md") == "long\n"
    talk = daemon.lines(f"{RUN}/workers/Lena/conversation.jsonl")
    cut = next(line for line in talk if line.get("role") == "tool")
    assert "restart" in cut["content"] or "Cut off" in cut["content"], cut


SHUTDOWN = Scenario(
    "shutdown",
    _shutdown,
    (DROPPED, Deed(_at_work, _end_it)),
    _shutdown_holds,
    effects=("before", "after"),
    arm="ending",
)

ALL = (DROP, INBOX, TOOLS, PUBLISH, QUESTION, TRIGGER, SHUTDOWN)
BY_NAME = {scenario.name: scenario for scenario in ALL}
