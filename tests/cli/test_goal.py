from __future__ import annotations

import pytest

from agiraph.cli.codes import BadTree, Code, code_of_state
from agiraph.cli.goal import run_again, with_body, with_setting
from agiraph.core.codec import Good, read_goal
from agiraph.model.agent import AgentState, Settings


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("---\nrun: 1  # one\n---\nGo.\n", "---\nrun: 2  # one\n---\nGo.\n"),
        ('---\nrun: "9"\n---\nGo.\n', "---\nrun: 10\n---\nGo.\n"),
        ("---\nrun: monday\n---\nGo.\n", "---\nrun: monday-2\n---\nGo.\n"),
        ("---\nrun: monday-2\n---\nGo.\n", "---\nrun: monday-3\n---\nGo.\n"),
        ("---\nrun:\n---\nGo.\n", "---\nrun: 2\n---\nGo.\n"),
        ("---\r\nrun: 1\r\n---\r\nGo.\r\n", "---\r\nrun: 2\r\n---\r\nGo.\r\n"),
        (
            "---\n{mode: finite, run: 3}\n---\nGo.",
            "---\n{mode: finite, run: 4}\n---\nGo.",
        ),
        ("---\n{mode: finite}\n---\nGo.", "---\n{run: 2, mode: finite}\n---\nGo."),
        (
            "---\n# why\nmode: finite\n\n# end\n---\nrun: 1\n",
            "---\n# why\nrun: 2\nmode: finite\n\n# end\n---\nrun: 1\n",
        ),
        ("---\n---\nGo.\n", "---\nrun: 2\n---\nGo.\n"),
        ("---\n# only words\n---\nGo.\n", "---\n# only words\nrun: 2\n---\nGo.\n"),
        ("Go.\n", "---\nrun: 2\n---\nGo.\n"),
        ("\ufeffGo.\r\n", "\ufeff---\r\nrun: 2\r\n---\r\nGo.\r\n"),
        (
            "---\nlimits:\n  run: 7\nrun: 1\n---\nGo.\n",
            "---\nlimits:\n  run: 7\nrun: 2\n---\nGo.\n",
        ),
    ],
)
def test_a_new_run_changes_one_value_and_no_other_byte(before: str, after: str) -> None:
    assert run_again(before) == after


def test_a_new_run_is_one_for_the_daemon_too() -> None:
    text = "---\nmodel: a/b\n---\nGo.\n"
    for number in ("2", "3"):
        text = run_again(text)
        goal = read_goal(text, Settings())
        assert isinstance(goal, Good)
        assert goal.value.settings.run == number
        assert goal.value.body == "Go."


@pytest.mark.parametrize("text", ["---\nrun: [1\n---\nGo.\n", "---\nrun: 1\nGo.\n"])
def test_settings_that_cannot_be_read_are_left_alone(text: str) -> None:
    with pytest.raises(BadTree):
        run_again(text)


def test_a_setting_of_several_lines_is_replaced_whole() -> None:
    text = "---\nbudget:\n  usd: 9\nmode: finite\n---\nGo.\n"
    told = with_setting(text, "budget", "{tokens: 5}")
    assert told == "---\nbudget: {tokens: 5}\nmode: finite\n---\nGo.\n"


def test_a_goal_replaces_the_words_and_keeps_the_settings() -> None:
    assert with_body("---\nmode: finite  # it ends\n---\n\nOld.\n", "New.") == (
        "---\nmode: finite  # it ends\n---\nNew.\n"
    )
    assert with_body("Old.\n", "---\nNew.") == "---\n---\n---\nNew.\n"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("completed", 0),
        ("idle", 0),
        ("failed", 1),
        ("broken", 4),
        ("stopped", 1),
        ("held", 6),
        ("waiting_for_human", 8),
        ("something else", 1),
    ],
)
def test_the_exit_code_says_how_an_agent_ended(state: str, code: int) -> None:
    assert code_of_state(state) == code


def test_every_state_has_an_exit_code() -> None:
    assert all(code_of_state(state.value) in Code for state in AgentState)
