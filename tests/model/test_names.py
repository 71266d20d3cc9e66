"""Names: what may be one, when two are the same, and ids made from a task."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.model.names import LONGEST, folded, free_name, name_problem, slug


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "Alice",
        "worker-1",
        "big node",
        "v1.2_final",
        "Acme Inc.",
        "-dash",
        "7",
        "Größe",
        "分析",
        "हिन्दी",
        "Ангелина",
        "x" * LONGEST,
        "漢" * LONGEST,
        "humans",
        "nodes",
    ],
)
def test_letters_digits_spaces_and_marks_make_a_name(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "empty"),
        ("x" * (LONGEST + 1), "64"),
        (".hidden", "begin"),
        ("..", "begin"),
        ("_board", "begin"),
        (" a", "begin"),
        ("a ", "end"),
        ("a/b", "'/'"),
        ("a\\b", "may not stand"),
        ("a\0b", "may not stand"),
        ("a\nb", "may not stand"),
        ("a\tb", "may not stand"),
        ("a:b", "':'"),
        ("*", "'*'"),
        ("a*", "'*'"),
        ("@alice", "'@'"),
        ("a\u202eb", "may not stand"),
        ("🚀", "may not stand"),
        ("\ud800", "may not stand"),
        ("human", "taken"),
        ("Human", "taken"),
        ("COORDINATOR", "taken"),
        ("all", "taken"),
        (unicodedata.normalize("NFD", "Größe"), "NFC"),
    ],
)
def test_everything_else_is_refused_in_words(name: str, words: str) -> None:
    problem = name_problem(name)

    assert problem is not None
    assert words in problem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alice", "aLICE"),
        ("STRASSE", "straße"),
        ("Größe", unicodedata.normalize("NFD", "GRÖSSE")),
    ],
)
def test_two_names_are_the_same_without_regard_to_case(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@given(st.text())
def test_it_does_not_matter_how_letters_are_composed(name: str) -> None:
    assert folded(name) == folded(unicodedata.normalize("NFD", name))


# --- ids made up


@pytest.mark.parametrize(
    ("task", "made"),
    [
        ("Compare NVIDIA & AMD", "compare-nvidia-amd"),
        ("  Write report.md! ", "write-report-md"),
        ("snake_case_name", "snake-case-name"),
        ("Größe der Märkte", "größe-der-märkte"),
        ("分析 報告", "分析-報告"),
        ("हिन्दी में लिखो", "हिन्दी-में-लिखो"),
        ("İstanbul", unicodedata.normalize("NFC", "İstanbul".lower())),
        ("", "node"),
        ("!!! ---", "node"),
        ("🚀", "node"),
        ("Human", "human-2"),
        ("all", "all-2"),
        ("Inputs", "inputs-2"),
        ("nodes", "nodes-2"),
        ("x" * 100, "x" * 40),
    ],
)
def test_an_id_is_a_lower_case_slug_of_the_task(task: str, made: str) -> None:
    assert slug(task) == made


def test_a_long_task_is_cut_between_words() -> None:
    task = "Collect all the figures that the three vendors have published since May"

    assert slug(task) == "collect-all-the-figures-that-the-three"


def test_a_taken_id_gets_the_next_number() -> None:
    assert slug("Read", frozenset({"read"})) == "read-2"
    assert slug("Read", frozenset({"read", "read-2", "read-3"})) == "read-4"
    assert slug("STRASSE", frozenset({folded("straße")})) == "strasse-2"


def test_a_numbered_name_is_not_longer_than_a_name_may_be() -> None:
    long = "x" * LONGEST
    taken = frozenset({long})

    name = free_name(long, taken)

    assert name.endswith("-2")
    assert name_problem(name) is None


@given(st.text())
def test_every_made_up_id_is_a_good_name_that_was_free(task: str) -> None:
    first = slug(task)
    second = slug(task, frozenset({folded(first)}))

    assert name_problem(first) is None
    assert name_problem(second) is None
    assert folded(first) != folded(second)
    assert first == first.lower()
