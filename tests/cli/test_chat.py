"""`agiraph chat`: over files alone, in a terminal and in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from agiraph.cli.answering import answering
from agiraph.cli.read import Files
from agiraph.cli.thread import Outbox, so_far
from agiraph.cli.view import QuestionView
from agiraph.core.codec.outbox import read_outbox
from tests.support.daemon import Daemon, clean_environment, until
from tests.support.scripts import call, done, drop, say, speak, when
from tests.support.trees import lines

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

OUTBOX = """
## 2026-11-21 20:15 · Alice <!-- 2026-11-21-01/Alice/1.1.0 -->

Half of it is done.

## 2026-11-21 20:15 · news <!-- reply:1.2 -->

It goes well.

Really.
"""


def question(number: int, *options: str) -> QuestionView:
    return QuestionView(f"q-{number:03d}", "a", "", "Which?", options=options)


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("1: PostgreSQL", "q-001: PostgreSQL"),
        ("q-1: PostgreSQL", "q-001: PostgreSQL"),
        ("q-001: two\nlines", "q-001: two\nlines"),
        ("2: 1", "q-002: red"),
        ("7: it is no question", "7: it is no question"),
        ("1", "1"),  # two are open
        ("1. First of all", "1. First of all"),
        ("Hello.", "Hello."),
    ],
)
def test_an_answer_names_its_question(typed: str, sent: str) -> None:
    assert answering(typed, [question(1), question(2, "red", "blue")]) == sent


def test_the_number_of_an_option_is_an_answer_where_one_question_is_open() -> None:
    assert answering("2", [question(3, "red", "blue")]) == "q-003: blue"
    assert answering("3", [question(3, "red", "blue")]) == "3"


def test_the_outbox_is_read_entry_by_entry() -> None:
    first, second = read_outbox(OUTBOX)
    assert (first.sender, first.text, first.is_reply) == (
        "Alice", "Half of it is done.", False,
    )  # fmt: skip
    assert (second.sender, second.text, second.is_reply) == (
        "news", "It goes well.\n\nReally.", True,
    )  # fmt: skip


def test_entries_are_told_once_even_when_old_ones_are_moved_away(root: Path) -> None:
    path = root / "news/_outbox.md"
    path.write_text(OUTBOX)
    outbox = Outbox(Files(str(root)), "news")
    assert len(outbox.more()) == 2
    assert outbox.more() == []
    rest = OUTBOX[OUTBOX.index("## 2026-11-21 20:15 · news") :]
    path.write_text(
        f"\n{rest}\n## 2026-11-21 20:16 · news <!-- reply:1.3 -->\n\nNew.\n"
    )
    assert [each.text for each in outbox.more()] == ["New."]


def test_the_thread_stands_in_the_order_in_which_it_was_said(root: Path) -> None:
    (root / "news/_outbox.md").write_text(OUTBOX)
    (root / "news/conversation.jsonl").write_text(
        lines(
            {"role": "system", "session": 1, "ts": "2026-11-21T20:14:00+00:00"},
            {
                "role": "user",
                "from": "human",
                "ts": "2026-11-21T20:15:10+00:00",
                "content": "[message from human]\nHow is it?",
            },
            {"role": "assistant", "turn": 2, "ts": "2026-11-21T20:15:40+00:00"},
        )
    )
    (root / "news/events.jsonl").write_text(
        lines(
            {
                "type": "message.sent",
                "ts": "2026-11-21T20:15:05+00:00",
                "data": {"id": "2026-11-21-01/Alice/1.1.0"},
            }
        )
    )
    files = Files(str(root))
    found = so_far(files, "news", Outbox(files, "news").more(), exchanges=5)
    assert [line.who for line in found] == ["Alice", "you", "news"]
    assert found[1].text == "How is it?"
    last = so_far(files, "news", Outbox(files, "news").more(), exchanges=1)
    assert [line.who for line in last] == ["you", "news"]


def test_without_a_daemon_piped_words_are_kept_and_that_is_said(
    run: Run, root: Path
) -> None:
    result = run("chat", "news", stdin="Hello\n")
    assert result.exit_code == 5
    [mail] = (root / "news/_inbox").iterdir()
    assert mail.read_text() == "Hello\n"
    assert mail.name in result.stderr
    assert not (root / "_read.yaml").exists()
    assert result.stdout == ""


def test_nothing_piped_is_nothing_sent(run: Run, root: Path) -> None:
    assert run("chat", "news", stdin="\n").exit_code == 2
    assert not (root / "news/_inbox").exists()


def test_piped_words_bring_the_answer_alone(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, {})
    speak(
        daemon,
        "news",
        [
            call("ask_human", question="Which year?", options=["2025", "2026"]),
            when("How far", say("Half way.\nMore tomorrow.")),
            when("answer to q-001", done("It is 2026.")),
            say("I wait."),
            say("I wait."),
        ],
    )
    drop(daemon, "news")
    with daemon:
        daemon.until_there("news/_questions/q-001.md")
        words = [sys.executable, "-m", "agiraph", "chat", "news"]
        environment = daemon.environment | {"AGIRAPH_AGENTS": str(daemon.root)}

        def piped(text: str) -> tuple[int, str, str]:
            found = subprocess.run(
                words, input=text, env=environment, cwd=tmp_path,
                capture_output=True, text=True, timeout=60, check=False,
            )  # fmt: skip
            return found.returncode, found.stdout, found.stderr

        assert piped("How far are you?") == (0, "Half way.\nMore tomorrow.\n", "")
        reply = read_outbox(daemon.read("news/_outbox.md"))[-1]
        assert reply.id in daemon.read("_read.yaml")
        code, told, rest = piped("2")
        assert (code, told, rest) == (0, "", "q-001 is answered.\n")
        daemon.until_state("news", "completed")
        assert "[answer to q-001] 2026" in daemon.read("news/conversation.jsonl")


class Terminal:
    """The chat in a terminal of its own."""

    def __init__(self, root: Path, *more: str) -> None:
        self._ours, theirs = pty.openpty()
        environment = clean_environment(root.parent, {"NO_COLOR": "1"})
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agiraph", "--agents", str(root), "chat", "news",
             *more],
            stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
            cwd=root.parent,
        )  # fmt: skip
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self.seen = ""

    def shows(self, words: str) -> None:
        def there() -> bool:
            try:
                self.seen += os.read(self._ours, 1 << 16).decode()
            except BlockingIOError:
                pass
            except OSError:
                assert words in self.seen  # it has ended
            return words in self.seen

        until(there, f"the terminal shows {words!r}", told=lambda: self.seen)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def ended(self) -> int:
        code = self._process.wait(30)
        os.close(self._ours)
        return code


def test_in_a_terminal_answers_come_live_and_questions_are_answered_in_place(
    root: Path,
) -> None:
    asked = "\n## 2026-11-21 20:14 · Alice <!-- q-001 -->\n\nWhich year?\n"
    (root / "news/_outbox.md").write_text(asked + OUTBOX)
    chat = Terminal(root)
    chat.shows("It goes well.")
    chat.shows("Alice at nvidia asks (q-001):\r\n  Which year?")
    chat.shows("no daemon runs: nothing moves until `agiraph up`")
    chat.shows("> ")
    assert chat.seen.count("Which year?") == 1

    with (root / "news/_outbox.md").open("a") as file:
        file.write("\n## 2026-11-21 20:16 · news <!-- reply:1.3 -->\n\nBrand new.\n")
    chat.shows("news\r\n  Brand new.")
    ids = [each.id for each in read_outbox((root / "news/_outbox.md").read_text())]
    marks = root / "_read.yaml"
    until(lambda: marks.exists() and ids[-1] in marks.read_text(), "it is read")
    assert [ident in marks.read_text() for ident in ids] == [False, *[True] * 3]
    chat.type("1: 2026\n")
    inbox = root / "news/_inbox"
    until(lambda: list(inbox.glob("*.md")), "the answer is sent")
    assert next(inbox.glob("*.md")).read_text() == "q-001: 2026\n"

    question = root / "news/_questions/q-001.md"
    question.write_text(question.read_text().replace("answer:", "answer: 2026"))
    chat.shows("(q-001 is answered)")
    chat.type("\x04")
    assert chat.ended() == 0


def test_what_chat_did_not_show_stays_unread(root: Path) -> None:
    (root / "news/_outbox.md").write_text(OUTBOX)
    chat = Terminal(root, "--last", "0")
    chat.shows("> ")
    chat.type("/quit\n")
    assert chat.ended() == 0
    assert not (root / "_read.yaml").exists()


def test_quit_leaves(root: Path) -> None:
    chat = Terminal(root)
    chat.shows("> ")
    chat.type("/help\n")
    chat.shows("ahead of everything else")
    chat.type("/quit\n")
    assert chat.ended() == 0
