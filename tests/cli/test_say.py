from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import Good
from agiraph.core.codec.mail import read_dropped

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

RUN = "runs/2026-11-21-01"


def _only_mail(root: Path, agent: str = "news") -> str:
    (mail,) = (root / agent / "_inbox").iterdir()
    assert not mail.name.startswith(".")
    assert mail.suffix == ".md"
    return mail.read_text(encoding="utf-8")


def test_a_message_is_a_whole_file_in_the_inbox(run: Run, root: Path) -> None:
    result = run("send", "news", "Leave out sports")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert _only_mail(root) == "Leave out sports\n"


def test_a_worker_may_be_named_and_hurried(run: Run, root: Path) -> None:
    assert run("send", "news", "Hurry", "--to", "alice", "--urgent").exit_code == 0
    message = read_dropped(_only_mail(root))
    assert isinstance(message, Good)
    assert (message.value.to, message.value.urgent) == ("Alice", True)
    assert message.value.text == "Hurry"


def test_the_text_itself_may_say_who_is_meant(run: Run, root: Path) -> None:
    assert run("send", "news", "@Alice Hurry").exit_code == 0
    message = read_dropped(_only_mail(root))
    assert isinstance(message, Good)
    assert message.value.to == "Alice"


def test_a_worker_that_is_not_there_gets_nothing(run: Run, root: Path) -> None:
    result = run("send", "news", "Hi", "--to", "Alcie")
    assert result.exit_code == 3
    assert "Did you mean 'Alice'?" in result.stderr
    assert not (root / "news" / "_inbox").exists()


def test_a_message_may_begin_with_a_dash_or_a_fence(run: Run, root: Path) -> None:
    assert run("send", "held one", "--", "---\nto: nobody\n---\nx").exit_code == 0
    text = _only_mail(root, "held one")
    message = read_dropped(text)
    assert isinstance(message, Good)
    assert message.value.to == "coordinator"
    assert message.value.text == "---\nto: nobody\n---\nx"


def test_a_message_may_come_from_standard_input(run: Run, root: Path) -> None:
    assert run("send", "news", "-", stdin="two\nlines\n").exit_code == 0
    assert _only_mail(root) == "two\nlines\n"


def test_two_messages_are_two_files(run: Run, root: Path) -> None:
    run("send", "news", "one")
    run("send", "news", "two")
    names = sorted(each.name for each in (root / "news" / "_inbox").iterdir())
    assert len(names) == 2
    texts = [(root / "news" / "_inbox" / name).read_text() for name in names]
    assert [text.splitlines()[-1] for text in texts] == ["one", "two"]


@pytest.mark.parametrize("text", ["", "  \n", "\udcff"])
def test_what_is_no_text_is_not_sent(run: Run, root: Path, text: str) -> None:
    assert run("send", "news", text).exit_code == 2
    assert not (root / "news" / "_inbox").exists()


def test_pausing_and_resuming_are_one_file(run: Run, root: Path) -> None:
    assert run("pause", "news").exit_code == 0
    assert (root / "news" / "PAUSE").is_file()
    assert "news: paused by a file PAUSE" in run("status").stdout
    assert run("resume", "news").stderr == (
        "news goes on at the step where it stopped.\n"
    )
    assert not (root / "news" / "PAUSE").exists()
    assert "was not paused" in run("resume", "news").stderr


def test_without_a_name_the_whole_tree_is_paused(run: Run, root: Path) -> None:
    run("pause")
    assert (root / "PAUSE").is_file()
    assert "PAUSED" in run("status").stdout
    assert "still paused" in run("resume", "news").stderr
    run("resume")
    assert not (root / "PAUSE").exists()


def test_stopping_is_a_file_in_the_home_or_the_node(run: Run, root: Path) -> None:
    assert run("stop", "news", "--node", "nvidia").exit_code == 0
    assert (root / "news" / RUN / "nodes" / "nvidia" / "STOP").is_file()
    assert not (root / "news" / "STOP").exists()
    assert run("stop", "news").exit_code == 0
    assert (root / "news" / "STOP").is_file()


def test_a_node_that_is_not_there_is_not_stopped(run: Run) -> None:
    result = run("stop", "news", "--node", "amt")
    assert result.exit_code == 3
    assert "Did you mean 'amd'?" in result.stderr
    assert run("stop", "held one", "--node", "x").exit_code == 3


def test_without_a_daemon_a_message_is_said_to_wait(run: Run) -> None:
    assert "No daemon runs" in run("send", "news", "Go on").stderr
    assert "No daemon runs" in run("stop", "news").stderr
