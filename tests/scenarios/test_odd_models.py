"""Models that call what is not there, break their JSON, say nothing, or only talk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.cast import after
from tests.support.model_server import broken_call, call, say

if TYPE_CHECKING:
    from tests.support.house import House
    from tests.support.model_asked import Asked
    from tests.support.model_server import Scripted

NODE = call("create_work_node", id="a", task="Write a.md.")
FINISH = call("finish", summary="Done.")
DONE = [
    call("write_file", path="scratch/a.md", content="Text.\n"),
    call("publish", summary="It is written."),
]


def refused(asked: Asked) -> str:
    """What the last call was told; it was an error, where the wire can say so."""
    result = asked.results[-1]
    assert result.error is not False, result
    return result.text


def test_each_mistake_is_told_and_the_work_goes_on(house: House) -> None:
    def breaks_json(asked: Asked) -> Scripted:
        assert "write_fil" in refused(asked)
        assert "write_file" in refused(asked)  # the one that was meant
        return broken_call("write_file", '{"path": "scratch/a.md", "content": ')

    def mistakes_types(asked: Asked) -> Scripted:
        assert "the arguments are cut off after 36 characters" in refused(asked)
        return call("write_file", path=7, content=["Text."], append="perhaps")

    def leaves_out(asked: Asked) -> Scripted:
        words = refused(asked)
        assert "path" in words
        assert "content" in words
        return call("write_file", path="scratch/a.md")

    def leaves_its_scope(asked: Asked) -> Scripted:
        assert "content" in refused(asked)
        return call("write_file", path="../../../GOAL.md", content="Mine.")

    def says_nothing(asked: Asked) -> Scripted:
        assert "GOAL.md" in refused(asked)
        return say("")

    def publishes(asked: Asked) -> Scripted:
        assert "Your answer was empty" in asked.last_user
        return DONE

    story = house.tell(
        "clumsy",
        coordinator=[NODE, after("[node a completed", do=FINISH)],
        a=[
            call("write_fil", path="scratch/a.md", content="Text."),
            breaks_json,
            mistakes_types,
            leaves_out,
            leaves_its_scope,
            says_nothing,
            publishes,
        ],
    )
    story.until("completed")

    assert "The goal of clumsy." in story.tree.read("clumsy/GOAL.md")
    assert story.tree.names(f"{story.node('a')}/published/*") == ["a.md"]
    story.check()


def test_the_same_mistake_again_and_again_waits_for_the_coordinators_word(
    house: House,
) -> None:
    def worker(asked: Asked) -> Scripted:
        if "Write the file." not in asked.all_text:
            return call("dig_a_hole", depth=3)
        return DONE[asked.called.count("write_file")]

    helps = call("send_message", to="worker-1", content="Write the file.")
    story = house.tell(
        "stuck",
        coordinator=[
            NODE,
            after("I go in circles in node a", do=helps),
            after("[node a completed", do=FINISH),
        ],
        a=worker,
    )
    story.until("completed")

    assert len(story.asked_by("a")) == 3 + len(DONE) + 1  # in the end it looks back
    assert "worker-1 goes on" in story.tree.read("stuck/_outbox.md")
    story.check()


def test_broken_json_again_and_again_waits_for_the_persons_word(house: House) -> None:
    story = house.tell(
        "broken-json",
        coordinator=[
            NODE,
            after("the same call failed the same way", do=call("wait")),
            after("[node a completed", do=FINISH),
        ],
        a=lambda asked: (
            DONE[asked.called.count("write_file")]
            if "Anew." in asked.all_text
            else broken_call("publish", "{")
        ),
    )
    story.until("waiting_for_human")
    story.tree.append("broken-json/_inbox.md", "q-001: Anew.\n")
    story.until("completed")

    assert "[answer to q-001] Anew." in story.asked_by("a")[-1].all_text
    story.check()


def test_a_model_that_says_nothing_is_not_asked_for_ever(house: House) -> None:
    story = house.tell(
        "mute",
        coordinator=[NODE, after("[node a failed", do=FINISH)],
        a=lambda _: say(""),
    )
    story.until("completed")

    assert len(story.asked_by("a")) == 4
    assert story.why("a").startswith("no_publish")
    story.check()


def test_a_node_that_goes_round_in_new_circles_is_bounded_by_its_turns(
    house: House,
) -> None:
    node = call("create_work_node", id="a", task="Write a.md.", max_turns=5)
    story = house.tell(
        "restless",
        coordinator=[node, after("[node a failed", do=FINISH)],
        a=lambda asked: call("read_file", path=f"scratch/{asked.turn}.md"),
    )
    story.until("completed")

    assert len(story.asked_by("a")) == 5
    assert story.why("a") == "max_turns: 5 of 5 turns are used"
    story.check()


def test_a_coordinator_that_only_talks_asks_the_person_in_the_end(
    house: House,
) -> None:
    def coordinator(asked: Asked) -> Scripted:
        if "Write it yourself." in asked.last_user:
            return call("write_file", path="scratch/a.md", content="Text.\n")
        if asked.called == ["write_file"]:
            return FINISH
        return say("Let me think about it.")

    story = house.tell("dreamer", coordinator=coordinator)
    story.until("waiting_for_human")

    asked = story.asked_by("coordinator")
    assert len(asked) == 4  # the brief, and three reminders
    assert all("Nothing can go on" in one.last_user for one in asked[1:])
    question = story.tree.read("dreamer/_questions/q-001.md")
    assert "no node is open, and the run has not been ended" in question

    story.tree.append("dreamer/_inbox.md", "q-001: Write it yourself.\n")
    story.until("completed")
    assert "[answer to q-001] Write it yourself." in story.asked[4].last_user
    story.check()
