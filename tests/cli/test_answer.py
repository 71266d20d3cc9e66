from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import Good, read_question

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def page(root: Path) -> Path:
    return root / "news/_questions/q-001.md"


@pytest.fixture
def approval(page: Path) -> Path:
    page.write_text(
        "---\nfrom: Alice\nkind: approval\nanswer:\n---\nMay I?\n\n## Answer\n\n"
    )
    return page


def said(page: Path) -> str:
    found = read_question(page.read_text(encoding="utf-8"), page.name)
    assert isinstance(found, Good)
    return found.value.answer


def test_without_a_question_the_open_ones_are_listed(run: Run) -> None:
    result = run("answer")
    assert result.exit_code == 0
    assert "news q-001, question of Alice at nvidia" in result.stdout
    assert 'agiraph answer news q-001 "..."' in result.stdout
    assert "q-002" not in result.stdout
    (asked,) = json.loads(run("answer", "news", "--json").stdout)
    assert asked["id"] == "q-001"


@pytest.mark.parametrize("name", ["q-001", "1", "Q-1"])
def test_an_answer_is_written_into_the_questions_file(
    run: Run, page: Path, name: str
) -> None:
    result = run("answer", "news", name, "2024: I'm sure")
    assert result.exit_code == 0
    assert said(page) == "2024: I'm sure"
    assert "Which year?" in page.read_text()
    assert run("answer").stdout == "No question is open.\n"


def test_an_answer_of_several_lines_comes_from_standard_input(
    run: Run, page: Path
) -> None:
    assert run("answer", "news", "1", "-", stdin="one\n\ntwo\n").exit_code == 0
    assert said(page) == "one\n\ntwo"


@pytest.mark.parametrize("flag", ["--yes", "--no", "--always"])
def test_an_approval_takes_one_of_three_flags(
    run: Run, approval: Path, flag: str
) -> None:
    assert "--yes, --no or --always" in run("answer").stdout
    assert run("answer", "news", "1", flag).exit_code == 0
    assert said(approval) == flag[2:]


def test_an_approval_takes_nothing_else(run: Run, approval: Path) -> None:
    before = approval.read_text()
    result = run("answer", "news", "1", "sure")
    assert result.exit_code == 2
    assert "--yes, --no or --always, and nothing else" in result.stderr
    assert approval.read_text() == before


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["news", "q-002", "x"], 1, "answered already. Open: q-001"),
        (["news", "q-009", "x"], 3, "no question q-009. Open: q-001"),
        (["news", "first", "x"], 2, "no question, such as q-001"),
        (["news", "1"], 2, "give the answer"),
        (["news", "1", " "], 2, "empty"),
        (["news", "1", "x", "--yes"], 2, "give the answer"),
        (["news", "--yes"], 2, "name the question"),
        (["nws", "1", "x"], 3, "Did you mean"),
    ],
)
def test_what_cannot_be_answered_is_said(
    run: Run, page: Path, words: list[str], code: int, told: str
) -> None:
    before = page.read_text()
    result = run("answer", *words)
    assert result.exit_code == code
    assert told in result.stderr
    assert page.read_text() == before


def test_a_file_with_another_answer_is_left_alone(run: Run, page: Path) -> None:
    text = page.read_text().rstrip() + "\n\n## Answer\n\n"
    page.write_text(text.replace("## Answer", "- [x] a\n- [x] b\n\n## Answer") + "c\n")
    result = run("answer", "news", "1", "d")
    assert result.exit_code == 1
    assert "holds another answer already" in result.stderr


def test_an_approval_is_listed_by_its_call_and_with_one_line_on_how_to_answer(
    run: Run, approval: Path
) -> None:
    asked = "asked: 2026-11-22T05:13:44.220+00:00\nkind: approval"
    call = "May this be done? bash: `ls`\n\nTool: `bash`\n\n- [ ] yes\n- [ ] no\n"
    text = approval.read_text().replace("kind: approval", asked)
    approval.write_text(text.replace("May I?", call))

    shown = run("answer").stdout
    assert "T05:13" not in shown
    assert re.search(r", 2026-11-2\d \d\d:\d\d:44\n", shown)
    assert "    - yes" not in shown
    assert "    - yes" not in run("inbox").stdout
    assert "T05:13" not in run("inbox").stdout
    assert "(q-001): May this be done? bash: `ls`\n" in run("status").stdout


def test_what_the_questions_say_is_not_said_again(run: Run, root: Path) -> None:
    waits = "---\nstatus: waiting_for_human\nwaiting_for: an answer to q-001\n---\n"
    (root / "news" / "_status.md").write_text(waits)
    assert "asks (q-001)" in (page := run("status").stdout)
    assert "an answer to q-001" not in page
