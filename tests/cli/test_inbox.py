from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

OUTBOX = (
    "\n## 2026-11-21 20:14 · Alice <!-- q-001 -->\n\nWhich year?\n"
    "\n## 2026-11-21 20:15 · news <!-- reply:1.2 -->\n\nI have begun.\n\n## no head\n"
    "\n## 2026-11-21 20:16 · Bob <!-- bob/1.2.0 -->\n\nDone with AMD.\n"
)


@pytest.fixture(autouse=True)
def outbox(root: Path) -> Path:
    path = root / "news/_outbox.md"
    path.write_text(OUTBOX, encoding="utf-8")
    return path


def items(run: Run, *words: str) -> list[dict[str, str]]:
    return list(json.loads(run("inbox", "--json", *words).stdout))


def messages(run: Run, *words: str) -> list[str]:
    return [x["text"] for x in items(run, *words) if x["kind"] == "message"]


def test_everything_that_waits_over_all_agents(run: Run) -> None:
    out = run("inbox").stdout
    assert "Questions:\n  news  q-001" in out
    assert "agiraph answer news q-001" in out
    assert "I have begun." in out
    assert out.count("Which year?") == 1
    assert "  held one\n      held: a price for mylab/big" in out
    assert [each["kind"] for each in items(run)] == [
        *("question", "message", "message", "held"),
        *(["held"] * (len(items(run)) - 4)),
    ]


def test_one_agent_by_itself(run: Run) -> None:
    assert {each["agent"] for each in items(run, "news")} == {"news"}
    assert run("inbox", "nws").exit_code == 3


def test_what_was_read_is_not_shown_again_anywhere(run: Run, root: Path) -> None:
    first = next(x for x in items(run) if x["kind"] == "message")
    assert run("inbox", "--read", first["id"]).exit_code == 0
    assert messages(run) == ["Done with AMD."]
    marks = (root / "_read.yaml").read_text()
    assert first["id"] in marks
    assert run("inbox", "--read").exit_code == 0
    assert messages(run) == []
    assert len(messages(run, "--all")) == 2
    assert next(x["kind"] for x in items(run)) == "question"


def test_a_new_message_after_that_is_unread(run: Run, outbox: Path) -> None:
    run("inbox", "--read", "news")
    more = "\n## 2026-11-21 20:20 · Bob <!-- bob/1.3.0 -->\n\nMore.\n"
    outbox.write_text(OUTBOX + more, encoding="utf-8")
    assert messages(run) == ["More."]


def test_marks_of_what_is_gone_are_let_go(run: Run, root: Path, outbox: Path) -> None:
    run("inbox", "--read")
    outbox.write_text("")
    run("inbox", "--read")
    assert "news" not in (root / "_read.yaml").read_text()


def test_an_unknown_id_marks_nothing(run: Run, root: Path) -> None:
    result = run("inbox", "--read", "ffffffff")
    assert result.exit_code == 3
    assert not (root / "_read.yaml").exists()


def test_away_is_a_file_and_available_takes_it_away(run: Run, root: Path) -> None:
    assert run("available").exit_code == 0
    assert run("away", "on the train").exit_code == 0
    assert (root / "AWAY").read_text() == "on the train\n"
    assert "You are away for now (on the train)" in run("status").stdout
    assert json.loads(run("status", "--json").stdout)["away"]
    told = run("away", "3d")
    assert told.exit_code == 0
    assert "You are away until 20" in told.stderr
    assert (root / "AWAY").read_text().startswith("until: 20")
    assert run("away").exit_code == 0
    assert run("available").exit_code == 0
    assert not (root / "AWAY").exists()
    assert "away" not in run("status").stdout


def test_away_until_a_time_that_is_over_is_a_mistake(run: Run, root: Path) -> None:
    assert run("away", "2020-01-01").exit_code == 2
    (root / "AWAY").write_text("until: 2020-01-01\n")
    assert "You are away" not in run("status").stdout


@pytest.mark.parametrize(
    "broken", ["news: [abc\n", "<<<<<<< here\nnews: [a]\n=======\n", "news: all\n"]
)
def test_read_marks_that_a_person_has_broken_are_left_as_they_are(
    run: Run, root: Path, broken: str
) -> None:
    marks = root / "_read.yaml"
    marks.write_text(broken, encoding="utf-8")
    refused = run("inbox", "--read")
    assert refused.exit_code == 4
    assert "_read.yaml is not understood" in refused.output
    shown = run("inbox")
    assert "left as it is" in shown.output
    assert "Done with AMD." in shown.output
    assert marks.read_text(encoding="utf-8") == broken


def test_read_marks_keep_the_remarks_at_their_top(run: Run, root: Path) -> None:
    (root / "_read.yaml").write_text("# mine\n# too\n", encoding="utf-8")
    assert run("inbox", "--read").exit_code == 0
    assert messages(run) == []
    assert (root / "_read.yaml").read_text().startswith("# mine\n# too\nnews:")
