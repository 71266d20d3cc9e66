"""What the prompts promise: whole, filled, and the same from run to run."""

from __future__ import annotations

import re
from importlib.resources import files
from string import Template

import pytest

from agiraph.errors import OurError
from agiraph.model.tool import Who
from agiraph.prompts import fill, guidance, words
from agiraph.tools.registry import ORDER, specs_for

TOOLS = sorted(ORDER)
FROZEN = ["coordinator", "finite", "infinite", "worker", "single", "single_small"]
PLACES = {
    "calls_by_text": {"tools"},
    "nudge_worker": {"count"},
    "nudge_coordinator": {"why"},
    "notes_coordinator": {"day"},
    "summarise": {"headings", "most"},
    "summarise_again": {"why"},
    "opened": {"file"},
}


def every_part() -> list[str]:
    root = files("agiraph.prompts")
    top = [entry.name for entry in root.iterdir()]
    below = [f"guidance/{e.name}" for e in root.joinpath("guidance").iterdir()]
    return sorted(n.removesuffix(".md") for n in top + below if n.endswith(".md"))


def own_places(name: str) -> set[str]:
    """The places of a part, but for the shell's variables in guidance."""
    found = set(Template(words(name)).get_identifiers())
    return {place for place in found if not place.startswith("AGIRAPH_")}


@pytest.mark.parametrize("name", every_part())
def test_no_part_is_empty_and_each_ends_as_a_sentence(name: str) -> None:
    assert len(words(name)) > 40
    assert words(name)[-1] in ".?`" or name == "reflect"


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_has_guidance_of_six_lines_at_most(tool: str) -> None:
    lines = words(f"guidance/{tool}").splitlines()
    assert 1 <= len(lines) <= 6
    assert len(words(f"guidance/{tool}")) < 1200


def test_no_guidance_is_left_without_its_tool() -> None:
    written = {n.removeprefix("guidance/") for n in every_part() if "/" in n}
    assert written == set(TOOLS)


def test_guidance_stands_under_the_name_of_its_tool_in_the_order_given() -> None:
    text = guidance(["wait", "bash"])
    assert text.startswith("### wait\n\n")
    assert text.index("### wait") < text.index("### bash")
    assert words("guidance/bash") in text


@pytest.mark.parametrize("name", every_part())
def test_a_part_has_just_the_places_that_its_callers_fill(name: str) -> None:
    assert own_places(name) == PLACES.get(name, set())


def test_places_are_filled() -> None:
    assert "reminder 2 of 3" in fill("nudge_worker", count=2)
    said = fill("nudge_coordinator", why="- a: failed\n- b: waits for a, costs $1")
    assert "- b: waits for a, costs $1" in said
    assert "$why" not in said


def test_a_place_without_a_value_is_refused() -> None:
    with pytest.raises(OurError, match=r"nudge_worker.*count"):
        fill("nudge_worker")


def test_a_value_without_a_place_is_refused() -> None:
    with pytest.raises(OurError, match="turns"):
        fill("stuck", turns=4)


def test_a_part_that_is_not_there_is_named() -> None:
    with pytest.raises(OurError, match="no prompt 'haiku'"):
        words("haiku")


@pytest.mark.parametrize("name", [*FROZEN, *(f"guidance/{tool}" for tool in TOOLS)])
def test_nothing_in_a_frozen_part_changes_with_time_or_place(name: str) -> None:
    text = words(name)
    assert not re.search(r"\b(19|20)\d\d\b", text), "a year"
    assert not re.search(r"\d\d?:\d\d", text), "a time of day"
    assert not re.search(r"(?<![\w.`>])/(home|root|tmp|usr|var|work|Users)\b", text)
    assert "\r" not in text
    assert "\t" not in text


def test_a_coordinator_reads_its_rules_in_a_few_thousand_tokens() -> None:
    tools = [spec.name for spec in specs_for(Who.COORDINATOR, None)]
    for mode in ("finite", "infinite"):
        text = "\n\n".join([words("coordinator"), words(mode), guidance(tools)])
        assert 2_500 < len(text) / 4.2 < 4_500


@pytest.mark.parametrize("name", [*FROZEN, *every_part()])
def test_parts_name_only_tools_that_exist(name: str) -> None:
    parts = {"max_turns", "depends_on", "agent_memory"}
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", words(name)))
    assert named - parts <= set(TOOLS)


def test_the_tools_of_an_end_are_named_where_the_end_is_told() -> None:
    assert "`finish`" in words("finite")
    assert "`checkpoint`" in words("infinite")
    assert "`publish`" in words("how_to_end")
    assert "`publish`" in words("nudge_worker")
