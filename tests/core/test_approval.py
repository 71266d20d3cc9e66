"""What a person is shown before they say yes, and what counts as a yes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agiraph.core import approval
from agiraph.core.approval import Need, Verdict, fenced, shown, verdict, visible
from agiraph.core.codec import (
    Good,
    Rejected,
    read_approvals,
    read_question,
    with_approvals,
    write_question,
)
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permission
from agiraph.model.message import Question, QuestionKind

words = st.text(st.characters(exclude_categories=["Cs"]))
wild = st.text(st.sampled_from(list("`~#- [x]\n\r|A\u202e\u200b\x1b\\>")), max_size=60)


def test_only_five_words_are_answers() -> None:
    assert verdict(" Yes\n") is verdict("y") is Verdict.YES
    assert verdict("no") is verdict("N") is Verdict.NO
    assert verdict("ALWAYS") is Verdict.ALWAYS
    for text in ("", "yes!", "yes please", "ja", "ok", "not", "yes no", "`yes`", "1"):
        assert verdict(text) is None


@settings(max_examples=300, deadline=None)
@given(words | wild)
def test_no_text_leaves_its_fence(text: str) -> None:
    page = fenced("command", text)
    _, _, fence, *inside, end = page.split("\n")

    assert set(fence) == {"`"}
    assert fence == end
    assert not any(re.match(rf" {{0,3}}{fence}", line) for line in inside)
    assert "\r" not in page


@settings(max_examples=300, deadline=None)
@given(words | wild, words | wild)
def test_no_call_answers_its_own_question(command: str, folder: str) -> None:
    need = Need("bash", (command,), shown("bash", folder, {"command": command}))
    asked = Question(
        3,
        "Bob",
        None,
        "t",
        QuestionKind.APPROVAL,
        approval.question_text(need),
        ("yes", "no", "always"),
    )
    found = read_question(write_question(asked), "q-003.md")

    assert isinstance(found, Good)
    assert found.value.answer == ""
    assert found.value.options == ("yes", "no", "always")
    assert found.value.text == asked.text


def test_what_does_not_show_is_named() -> None:
    assert visible("rm \u202etxt.exe\x1b[2K") == "rm ⟨U+202E⟩txt.exe⟨U+001B⟩[2K"
    assert visible("a" + " " * 300 + "; rm -rf ~") == "a⟨300 spaces⟩; rm -rf ~"
    assert visible("naïve 日本語\tok\n") == "naïve 日本語\tok\n"


def test_every_line_of_a_long_text_is_there_and_counted() -> None:
    page = fenced("content", "\n".join(f"line {n}" for n in range(1, 1001)))

    assert page.startswith("content (1,000 lines, ")
    assert " 999| line 999\n1000| line 1000\n```" in page


def test_what_cannot_be_shown_whole_is_not_asked() -> None:
    long = "x" * (approval.LONGEST_SHOWN + 1)
    need = Need("write", ("a.md",), shown("write", "a.md", {"content": long}))

    with pytest.raises(ToolRefused, match="smaller parts"):
        approval.permitted(Permission.ASK, need)


def test_a_permission_says_whether_to_ask() -> None:
    need = Need("web", ("example.org",), "…")

    assert approval.permitted(Permission.ALLOW, need) == {}
    assert approval.permitted(Permission.SANDBOX, need) == {}
    asked = approval.permitted(Permission.ASK, need)
    assert approval.needed(asked) == need
    with pytest.raises(ToolRefused, match="permissions: web: deny"):
        approval.permitted(Permission.DENY, need)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["bash", "mcp"]), words), max_size=4))
def test_what_is_allowed_for_always_is_read_back_exactly(
    allowed: list[tuple[str, str]],
) -> None:
    text = with_approvals("", allowed, since="2026-11-22", by="q-001")
    found = read_approvals(text)

    wanted = frozenset(each for each in allowed if each[1])
    if wanted == frozenset(allowed):
        assert found == Good(wanted)
        assert with_approvals(text, allowed, since="later", by="q-002") == text


def test_a_person_keeps_their_comments_and_takes_lines_back() -> None:
    mine = "# mine\n- {allow: bash, exactly: git push}  # since May\n"
    more = with_approvals(mine, [("bash", "make")], since="2026-11-22", by="q-002")

    assert more == mine + (
        '- {allow: bash, exactly: make, since: "2026-11-22", by: q-002}\n'
    )
    assert read_approvals("# none\n") == Good(frozenset())
    assert with_approvals("[]\n", [("bash", "a")], since="d", by="q").count("\n") == 2


@pytest.mark.parametrize(
    "text", ["allow: bash\n", "- bash\n", "- {allow: bash}\n", "- {exactly: ls}\n"]
)
def test_a_bad_line_is_rejected_with_words(text: str) -> None:
    assert isinstance(read_approvals(text), Rejected)
