"""The coordinator by rule over a weak model: narrow questions, each answer judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.brief import NodeBrief, small_brief
from agiraph.core.offline.judge import fault_of, first_sentence, plain_answer
from agiraph.core.offline.narrow import model_wanted
from agiraph.core.turn import CUT_OFF
from agiraph.model.conversation import Kind
from tests.support.offline import World

if TYPE_CHECKING:
    from collections.abc import Callable

WHALES = (
    "A blue whale eats 4 tonnes of krill each day. Krill drift in cold water, and "
    "the whales follow the krill through cold water every summer. The cold water holds "
    "more krill than warm water does. Sailors have counted whales since 1920, and the "
    "counts show that there are more of them now than a hundred years ago."
)
GOAL = "Summarise each paragraph of the texts, by `gguf/tiny` in one answer.\n"
GOOD = "Blue whales follow the krill through cold water and eat 4 tonnes a day."


class Weak(World):
    """A world whose workers are a weak model: a text for each node, or a failure."""

    def __init__(self, answer: Callable[[str], str | None], **inputs: str) -> None:
        files = {name.replace("_", "."): text for name, text in inputs.items()}
        super().__init__(dict(files), GOAL)
        self._answer = answer

    def work_on(self, node: str) -> str:
        assert self.nodes[node]["max_turns"] == 1
        assert self.nodes[node]["worker"]["model"] == "gguf/tiny"
        said = self._answer(node)
        self.states[node] = "failed" if said is None else "completed"
        if said is not None:
            self.published[node] = {"answer.md": said}
        head = f"[node {node} {self.states[node]}, worker W, 1 turns, $0.00]"
        return f"{head} {f'max_turns: 1 of 1; {CUT_OFF}' if said is None else said}"


def test_a_good_answer_is_taken_as_the_models() -> None:
    run = Weak(lambda _: f"Summary: {GOOD}", whales_md=WHALES)
    run.whole_run()
    assert set(run.nodes) == {"whales-1"}
    assert WHALES in run.nodes["whales-1"]["task"]
    assert f"1. {GOOD} *(the model)*" in run.run["report.md"]
    assert "1 paragraphs: 1 summarised by gguf/tiny at once" in run.finished["summary"]
    assert run.finished["artifacts"] == ["report.md"]


@pytest.mark.parametrize("bad", ["", "I cannot do that.", None])
def test_a_bad_answer_is_asked_for_once_more(bad: str | None) -> None:
    run = Weak(lambda node: GOOD if "again" in node else bad, whales_md=WHALES)
    run.whole_run()
    assert list(run.nodes) == ["whales-1", "whales-1-again"]
    first, second = (run.nodes[node]["task"] for node in run.nodes)
    assert first != second
    assert f"1. {GOOD} *(asked again; the model's answer: " in run.run["report.md"]
    assert "1 when it was asked again" in run.finished["summary"]


def test_after_two_bad_answers_the_paragraph_is_done_by_rule() -> None:
    run = Weak(lambda _: "", whales_md=WHALES)
    run.whole_run()
    assert list(run.nodes) == ["whales-1", "whales-1-again"]
    report = run.run["report.md"]
    assert "*(by rule, its most central sentence; the model's answer: it was" in report
    assert any(sentence in report for sentence in WHALES.split(". "))
    assert "1 by rule" in run.finished["summary"]


def test_the_first_paragraphs_of_every_text_are_taken_up_to_the_most() -> None:
    text = "\n\n".join([WHALES] * 9)
    run = Weak(lambda _: GOOD, one_md=text, two_md=f"# Title\n\nShort.\n\n{text}")
    run.whole_run()
    assert sorted(run.nodes) == sorted(
        f"{name}-{number}" for name in ("one", "two") for number in range(1, 7)
    )


def test_a_node_that_nothing_brings_to_its_end_is_given_up() -> None:
    run = Weak(lambda _: GOOD, whales_md=WHALES)
    run.brief()
    run.coordinator.speak()
    while not run.coordinator.ended:
        run.coordinator.hear("<agiraph>nothing can go on</agiraph>", Kind.NOTICE)
        run.coordinator.speak()
    assert set(run.states.values()) == {"cancelled"}
    assert "1 by rule" in run.finished["summary"]


def test_only_a_goal_that_says_so_is_done_by_paragraph() -> None:
    assert model_wanted("Digest each paragraph of `inputs/a.md`.") == ""
    assert model_wanted("Sum up by `gguf/tiny`.") == ""
    assert (
        model_wanted("Each paragraph, one by\n`ollama/qwen3:8b`.") == "ollama/qwen3:8b"
    )


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (GOOD, ""),
        ("", "it was empty"),
        ("Whales eat krill.", "it had 3 words"),
        ("As an AI language model I summarise whales and krill.", "it spoke of itself"),
        ("Blue whales eat 40 tonnes of krill each day.", "it named 40"),
        ("Three blue whales eat krill in cold water.", "it named three"),
        ("Now there are more of them than a hundred years ago.", ""),
        ("The stock market fell sharply after the election.", "about something else"),
        ("whales eat krill in water " * 4, "again and again"),
        (f"{WHALES} {WHALES}", "words, for a paragraph of"),
    ],
)
def test_answers_are_judged_by_what_can_be_seen(answer: str, fault: str) -> None:
    found = fault_of(answer, WHALES)
    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    "answer",
    [
        f'"{GOOD}"',
        f"Here is a summary of the paragraph: {GOOD}",
        f"**Summary**: {GOOD}",
        f"The sentence is: {GOOD}\n",
    ],
)
def test_what_stands_around_an_answer_is_no_part_of_it(answer: str) -> None:
    assert plain_answer(answer) == GOOD


def test_an_answer_that_was_cut_off_is_told_as_that() -> None:
    run = Weak(lambda _: None, whales_md=WHALES)
    run.whole_run()
    told = "answer: it was cut off at its greatest length, both times)"
    assert told in run.run["report.md"]


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (GOOD, GOOD),
        (f"{GOOD} Whales are fish. They sing.", GOOD),
        (f"Whales eat. {GOOD} They sing.", f"Whales eat. {GOOD}"),
        ("", ""),
    ],
)
def test_of_an_answer_that_goes_on_the_first_sentence_is_kept(
    answer: str, kept: str
) -> None:
    assert first_sentence(answer) == kept


def test_a_small_model_is_told_its_task_and_nothing_around_it() -> None:
    brief = NodeBrief(
        date="today",
        node="n",
        spec="spec",
        goal="the goal",
        stage="Stage 1.",
        memory="",
        notebook="",
        refs=(),
        how_to_end="end",
    )
    assert small_brief(brief, "Do this.\n") == "Do this."
