"""The scenarios of the sweeps: who says and does what, and what must come of it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.crash.ageing import AGEING
from tests.crash.scenario import AGENT, DROPPED, MODEL, RUN, Deed, Scenario, effect
from tests.support.cast import after, cast, told
from tests.support.model_server import call, say

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crash.doomed import Doomed
    from tests.support.model_asked import Asked
    from tests.support.model_server import Script, Scripted


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

# --- a conversation that no longer fits: notes, a summary, and a new session

FILLS = 5
LONG = "head -c 9000 /dev/zero | tr '\\0' x"
NARROW = f"---\nmodel: {MODEL}\ncontext: 24000\n---\nFill it {FILLS} times.\n"


def _compaction(file: Path) -> Script:
    """How far it is, its conversation tells, or the summary that stands for it."""

    def fills(asked: Asked) -> Scripted:
        calls = [json.dumps(one.arguments) for one in asked.calls]
        text = " ".join([*(turn.text for turn in asked.turns), *calls])
        done = sorted(set(re.findall(r"fill-\d", text)))
        if "This one answer is for notes" in asked.last_user:
            words = "".join(f"- {fill}\n" for fill in done)
            return call("memory_write", path="knowledge/fills.md", content=words)
        if "Now write the summary" in asked.last_user:
            return say("## Done\n" + "\n".join(done))
        if len(done) == FILLS:
            return call("finish", summary="It was filled.")
        return effect(file, f"fill-{len(done) + 1}", then=LONG)

    return cast(coordinator=fills)


def _compaction_holds(daemon: Doomed) -> None:
    put_away = daemon.names(f"{AGENT}/conversations/*.jsonl")
    assert put_away, "nothing was put away"
    sessions = [
        line["session"]
        for line in daemon.lines(f"{AGENT}/conversation.jsonl")
        if line["role"] == "system"
    ]
    assert sessions == [len(put_away) + 1], (sessions, put_away)
    assert "- fill-1\n" in daemon.read(f"{AGENT}/memory/knowledge/fills.md")
    assert "It was filled." in daemon.read(f"{RUN}/_output.md")


COMPACTION = Scenario(
    "compaction",
    _compaction,
    (),
    _compaction_holds,
    effects=tuple(f"fill-{number}" for number in range(1, FILLS + 1)),
    people={f"{AGENT}/GOAL.md": NARROW},
)

ALL = (DROP, INBOX, TOOLS, PUBLISH, QUESTION, TRIGGER, SHUTDOWN, COMPACTION, AGEING)
BY_NAME = {scenario.name: scenario for scenario in ALL}
