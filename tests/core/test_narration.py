from __future__ import annotations

import pytest

from agiraph.core.narration import about, narrate
from agiraph.model.event import Event, EventType

LONG = "set this variable, " * 30


@pytest.mark.parametrize("kind", list(EventType))
def test_every_event_has_words(kind: EventType) -> None:
    data = {"words": "why"}
    words = narrate(Event(kind, "news", run="r", node="n", worker="w", data={**data}))
    assert words
    assert "{" not in words


@pytest.mark.parametrize(
    "kind", [EventType.AGENT_HELD, EventType.FILE_ERROR, EventType.BUDGET_REACHED]
)
def test_what_a_person_must_do_is_never_cut_off(kind: EventType) -> None:
    words = narrate(Event(kind, "news", data={"words": LONG}))
    assert words.endswith(LONG.strip())


def test_other_words_stay_on_a_short_line() -> None:
    event = Event(EventType.NODE_COMPLETED, "news", node="n", data={"summary": LONG})
    assert len(narrate(event)) <= 200


def test_a_file_is_named_as_it_is_called_in_the_agents_home() -> None:
    event = Event(EventType.FILE_CHANGED, "news", data={"path": "news/GOAL.md"})
    assert narrate(event) == "GOAL.md accepted"
    bad = Event(EventType.FILE_ERROR, "news", data={"words": "news/GOAL.md:1: no"})
    assert narrate(bad) == "GOAL.md:1: no"


def test_a_title_that_says_no_more_than_the_name_is_left_out() -> None:
    data = {"by": "coordinator", "title": "amd"}
    event = Event(EventType.NODE_CREATED, "news", node="amd", data={**data})
    assert narrate(event) == "node amd created by coordinator"


def test_a_call_is_told_with_what_it_is_about() -> None:
    data = {"tool": "read_file", "about": about({"path": "inputs/a.txt", "offset": 0})}
    event = Event(EventType.TOOL_CALLED, "news", worker="Ada", data={**data})
    assert narrate(event) == "Ada calls read_file inputs/a.txt"


def test_what_a_call_is_about_is_one_short_line() -> None:
    assert about({"command": "ls\n" * 200}).startswith("ls ls")
    assert len(about({"command": "ls\n" * 200})) <= 60
    assert about({"path": 3}) == ""
    assert about({}) == ""
