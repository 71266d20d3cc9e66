"""The templates are found, teach, and are good files of the tree."""

from __future__ import annotations

import pytest
import yaml

from agiraph.core.codec.goal import read_goal
from agiraph.core.codec.report import Good
from agiraph.core.codec.triggers import read_triggers
from agiraph.core.digest.words import word_count
from agiraph.model.agent import Mode, Settings
from agiraph.tree.templates import described, names, template

ALL = ("basic", "coding", "digest", "monitor", "research")


def test_the_five_templates_are_there() -> None:
    assert names() == ALL


def test_each_template_says_in_a_line_what_it_is_for() -> None:
    lines = described()
    assert tuple(lines) == ALL
    assert all(20 < len(line) < 100 and line.endswith(".") for line in lines.values())


def test_an_unknown_template_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        template("nosuch")


@pytest.mark.parametrize("name", ALL)
def test_a_template_has_a_goal_a_soul_and_triggers(name: str) -> None:
    assert {"GOAL.md", "SOUL.md", "triggers.yaml"} <= template(name).keys()


@pytest.mark.parametrize("name", ALL)
def test_a_templates_goal_is_good_and_without_remarks(name: str) -> None:
    read = read_goal(template(name)["GOAL.md"].decode(), Settings())
    assert isinstance(read, Good), read
    assert read.remarks == ()
    assert read.value.body.strip()


@pytest.mark.parametrize("name", ALL)
def test_every_setting_that_a_goal_shows_in_a_comment_can_be_switched_on(
    name: str,
) -> None:
    text = template(name)["GOAL.md"].decode()
    shown = [
        line[2:]
        for line in text.split("---")[1].splitlines()
        if line.startswith("# ") and line[2:].partition(":")[0].isidentifier()
    ]
    assert len(shown) >= 9
    for line in shown:
        read = read_goal(f"---\n{line}\n---\nA goal.\n", Settings())
        assert isinstance(read, Good), (line, read)
        assert read.remarks == (), line


@pytest.mark.parametrize("name", ALL)
def test_no_trigger_is_armed_and_each_example_is_a_good_one(name: str) -> None:
    text = template(name)["triggers.yaml"].decode()
    assert yaml.safe_load(text) == []
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("# - id:"))
    end = next(at for at, line in enumerate(lines) if "`enabled: false`" in line)
    shown = "\n".join(line[2:] for line in lines[start:end])
    read = read_triggers(shown)
    assert isinstance(read, Good), read
    assert read.remarks == ()
    assert len(yaml.safe_load(shown)) >= 1


def test_monitor_does_not_end() -> None:
    read = read_goal(template("monitor")["GOAL.md"].decode(), Settings())
    assert isinstance(read, Good)
    assert read.value.settings.mode is Mode.INFINITE


def test_digest_needs_no_key_and_brings_texts_of_some_length() -> None:
    files = template("digest")
    read = read_goal(files["GOAL.md"].decode(), Settings())
    assert isinstance(read, Good)
    assert read.value.settings.model == ("offline/digest",)
    assert read.value.settings.worker_model == ("offline/digest",)
    texts = {path: data for path, data in files.items() if path.startswith("inputs/")}
    assert len(texts) >= 5
    for path, data in texts.items():
        assert 500 <= word_count(data.decode()) <= 1200, path
