"""A person is one more who takes part: asked and answered in files, in mid-run."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.cast import WAITS, after, told
from tests.support.model_server import call, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.cast import Step
    from tests.support.house import House, Story
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

QUESTION = "PostgreSQL or SQLite for the project's database?"
ANSWER = "PostgreSQL, please."
ASK = call("ask_human", question=QUESTION, options=["PostgreSQL", "SQLite"])
FOURTH = "Also look at delta."
ADDED = "Delta is added."
SOURCES = "I cannot find any numbers for beta."
METRIC = "Use metric units everywhere."
LATE = 30.0  # seconds: what is later than this on any machine is lost


def write(path: str, content: str) -> Scripted:
    return call("write_file", path=f"scratch/{path}", content=content)


# --- "Set up a database for our project."


def by_the_file(story: Story) -> None:
    """In the place that the question's file has for it."""
    fill_in(story, f"{story.agent}/_questions/q-001.md", ANSWER)


def by_the_inbox(story: Story) -> None:
    """As a line of the inbox that names the question."""
    story.tree.append(f"{story.agent}/_inbox.md", f"q-001: {ANSWER}\n")


def by_the_command_line(story: Story) -> None:
    """By `agiraph send`."""
    code, _, told = story.tree.run("send", story.agent, f"q-001: {ANSWER}")
    assert code == 0, told


def after_a_restart(story: Story) -> None:
    """While no daemon runs."""
    story.tree.stop()
    by_the_file(story)
    story.tree.start()


def fill_in(story: Story, question: str, answer: str) -> None:
    """As `nano` does: the whole file is written again, with the answer in its line."""
    path = story.tree.path(question)
    head, line, rest = path.read_text().partition("answer:")
    _, _, below = rest.partition("\n")
    path.write_text(f"{head}{line} {answer}\n{below}")


WAYS = pytest.mark.parametrize(
    "way", [by_the_file, by_the_inbox, by_the_command_line, after_a_restart]
)


def records(story: Story) -> list[tuple[str, str]]:
    """What was asked and answered, as the events have it."""
    found = story.tree.events(story.agent, "human.")
    return [(event["type"], event["data"]["text"]) for event in found]


@WAYS
def test_a_worker_asks_and_goes_on_with_the_answer(
    house: House, way: Callable[[Story], None]
) -> None:
    def sets_up(asked: Asked) -> Scripted:
        assert ANSWER in asked.result
        return [write("db.md", f"{ANSWER}\n"), call("publish", summary="Set up.")]

    story = house.tell(
        f"worker-{way.__name__}".replace("_", "-"),
        coordinator=[
            call("create_work_node", id="database", task="Set up a database."),
            after("[node database completed", do=call("finish", summary="Set up.")),
        ],
        database=[ASK, sets_up],
    )
    story.until("waiting_for_human")
    assert story.tree.state(story.node("database")) == "waiting_for_human"
    assert QUESTION in story.tree.read(f"{story.agent}/_outbox.md")
    assert QUESTION in story.tree.read(f"{story.agent}/_questions/q-001.md")

    way(story)
    story.until("completed", seconds=LATE)
    assert story.tree.read(f"{story.node('database')}/published/db.md") == f"{ANSWER}\n"
    told = [("human.question", QUESTION), ("human.response", ANSWER)]
    assert records(story) == told
    assert "waiting" in story.kinds("database")
    story.check(restarted=way is after_a_restart)


@WAYS
def test_the_coordinator_asks_and_is_told_the_answer(
    house: House, way: Callable[[Story], None]
) -> None:
    def goes_on(asked: Asked) -> Scripted:
        assert "asked as q-001" in asked.all_text
        return write("db.md", f"{ANSWER}\n")

    steps: list[Step] = [
        ASK,
        after(f"[answer to q-001] {ANSWER}", do=goes_on),
        call("finish", summary="Set up."),
    ]
    name = f"coordinator-{way.__name__}".replace("_", "-")
    story = house.tell(name, coordinator=steps)
    story.until("waiting_for_human")

    way(story)
    story.until("completed", seconds=LATE)
    assert story.tree.read(f"{story.run}/published/db.md") == f"{ANSWER}\n"
    told = [("human.question", QUESTION), ("human.response", ANSWER)]
    assert records(story) == told
    story.check(restarted=way is after_a_restart)


# --- the whole conversation, with nothing but an editor


class Measured:
    """How long each answer of a conversation took, in seconds."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self.took: dict[str, float] = {}

    def types(self, text: str) -> None:
        """As `nano` does: the inbox is written whole, with more at its end."""
        inbox = self._story.tree.path(f"{self._story.agent}/_inbox.md")
        inbox.write_text(f"{inbox.read_text()}\n---\n{text}\n".lstrip())

    def until(self, what: str, words: str, *patterns: str) -> None:
        """Wait until the words stand in each of these files; counted from now."""
        tree, begun = self._story.tree, time.monotonic()
        tree.until(
            lambda: all(words in tree.read(pattern) for pattern in patterns),
            f"{what}: {words!r} in {patterns}",
            seconds=LATE,
        )
        self.took[what] = time.monotonic() - begun


def subject(name: str, worker: str) -> Scripted:
    return call("create_work_node", id=name, task=f"On {name}.", worker=worker)


def coordinator(asked: Asked) -> Scripted:
    """A front desk: it acts on whatever it hears, and answers everyone who writes."""
    heard, did = told(asked), [f"{one.name} {one.arguments}" for one in asked.calls]
    if not did:
        subjects = {"alpha": "Ada", "beta": "Ben", "gamma": "Cleo"}
        return [subject(name, worker) for name, worker in subjects.items()]
    if FOURTH in heard and not any("'delta'" in one for one in did):
        return subject("delta", "Dora")
    if SOURCES in heard and "ask_human" not in asked.called:
        return call("ask_human", question=f"Ben says: {SOURCES} Where should he look?")
    answer = re.search(r"\[answer to q-\d+\] (.+)", heard)
    if answer and "send_message" not in asked.called:
        return call("send_message", to="Ben", content=answer[1])
    if len(set(re.findall(r"\[node (\w+) completed", heard))) == 4:
        return call("finish", summary="All four are compared.")
    said = [turn.text for turn in asked.turns if turn.role == "assistant"]
    if FOURTH in heard and ADDED not in said:
        return say(ADDED)
    return say("Noted." if METRIC in asked.last_user else WAITS)


def hears(words: str, do: Scripted) -> Callable[[Asked], Scripted]:
    """A step that is taken with these words in mind."""

    def step(asked: Asked) -> Scripted:
        assert words in told(asked), told(asked)[-1000:]
        return do

    return step


def report(name: str) -> Callable[[Asked], Scripted]:
    done = [write(f"{name}.md", f"{name} in metres.\n"), call("publish", summary=name)]
    return hears(METRIC, done)


WAIT = call("wait", timeout="30m")


def test_the_conversation_of_the_design(house: House) -> None:
    story = house.tell(
        "compares",
        coordinator=coordinator,
        alpha=[
            call("ask_human", question="Which year?"),
            hears("the person answered: 2026", WAIT),
            report("alpha"),
        ],
        beta=[
            [call("send_message", to="coordinator", content=SOURCES), WAIT],
            hears("The yearbook.", WAIT),
            report("beta"),
        ],
        gamma=[WAIT, report("gamma")],
        delta=[WAIT, report("delta")],
    )
    tree, home = story.tree, story.agent
    person = Measured(story)
    worker = f"{story.run}/workers/{{}}/conversation.jsonl"
    for node in ("alpha", "beta", "gamma"):
        story.until("running", "waiting", "waiting_for_human", node=node, seconds=LATE)

    person.types(FOURTH)
    person.until("a fourth subject is answered", ADDED, f"{home}/_outbox.md")
    story.until("running", "waiting", node="delta", seconds=LATE)

    asked = question_of(story, "Ada")
    fill_in(story, f"{home}/_questions/{asked}.md", "2026")
    person.until("an answer in a file", "answered: 2026", worker.format("Ada"))

    difficulty = question_of(story, "coordinator")
    assert SOURCES in tree.read(f"{home}/_outbox.md")
    person.types(f"{difficulty}: The yearbook.")
    person.until("an answer that is passed on", "The yearbook.", worker.format("Ben"))

    for node in ("alpha", "beta", "gamma", "delta"):
        story.until("waiting", node=node, seconds=LATE)
    person.types(f"@all {METRIC}")
    everyone = [worker.format(name) for name in ("Ada", "Ben", "Cleo", "Dora")]
    person.until("a broadcast", METRIC, f"{home}/conversation.jsonl", *everyone)

    story.until("completed", seconds=LATE)
    for node in ("alpha", "beta", "gamma", "delta"):
        assert tree.read(f"{story.node(node)}/published/{node}.md").endswith(
            "metres.\n"
        )
    for pattern in (f"{home}/conversation.jsonl", *everyone):
        assert tree.read(pattern).count(METRIC) == 1, pattern
    kinds = [event["type"] for event in tree.events(home, "human.")]
    assert sorted(kinds) == ["human.question"] * 2 + ["human.response"] * 2
    story.check()
    proves(story)
    print({what: f"{seconds:.2f} s" for what, seconds in person.took.items()})


def proves(story: Story) -> None:
    """Each reader of the broadcast was shown it, in the call that the proof names."""
    [name] = story.tree.names(f"{story.run}/_messages/*_human_to_all.md")
    number = str(int(name.partition("_")[0]))
    code, out, _ = story.tree.run("show", story.agent, "--message", number, "--json")
    assert code == 0
    readings = json.loads(out)["readings"]
    assert {each["reader"] for each in readings} == {
        "coordinator", "Ada", "Ben", "Cleo", "Dora",
    }  # fmt: skip
    usage = story.tree.lines(f"{story.agent}/usage.jsonl")
    for each in readings:
        line = story.tree.lines(each["path"])[each["line"] - 1]
        assert METRIC in line["content"]
        asked = story.asked_by(each["reader"])[each["turn"] - 1]
        assert METRIC in asked.last_user
        paid = usage[each["usage_line"] - 1]
        assert paid.get("worker", "coordinator") == each["reader"]


def question_of(story: Story, who: str) -> str:
    """The id of the question that somebody has open."""
    tree = story.tree

    def asked() -> str | None:
        for name in tree.names(f"{story.agent}/_questions/q-*.md"):
            if tree.head(f"{story.agent}/_questions/{name}").get("from") == who:
                return name.removesuffix(".md")
        return None

    return tree.until(asked, f"{who} asks", seconds=LATE)
