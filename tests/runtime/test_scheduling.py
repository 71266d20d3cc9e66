"""The tools on triggers.yaml: the person's words in it stay, what is armed changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import read_triggers
from agiraph.core.codec.entries import with_entry, without_entry
from agiraph.core.codec.report import Good
from agiraph.errors import ToolRefused
from agiraph.model.names import COORDINATOR
from tests.support.inside import call, calls, inside, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

ENTRY = {
    "id": "new",
    "type": "delayed",
    "delay": "5s",
    "action": {"type": "wake_agent", "task": "T: 1"},
}
PERSONS = """\
# Mine.

- id: one            # the first
  type: heartbeat
  every: 1h
  action: {type: wake_agent, task: "a: b"}

# About the second.
- {id: two, type: delayed, delay: 3h, action: {type: wake_agent, task: c}}
# The end.
"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only words\n",
        "[]\n",
        "# words\n[]",
        PERSONS,
        "\n".join(f"  {line}" if line else "" for line in PERSONS.splitlines()),
        "-\n  id: o\n  type: delayed\n  delay: 1h\n  action: {type: run_node, node: c}",
        (
            "- id: o\n  type: delayed\n  delay: 1h\n"
            "  action: {type: run_node, node: c, task: 'a\u2028b'}"
        ),
    ],
)
def test_an_entry_put_in_and_taken_out_leaves_all_else_as_it_was(text: str) -> None:
    before = read_triggers(text)
    assert isinstance(before, Good)
    longer = with_entry(text, ENTRY)
    read = read_triggers(longer)
    assert isinstance(read, Good)
    assert read.value[:-1] == before.value
    assert (read.value[-1].id, read.value[-1].action.task) == ("new", "T: 1")
    if before.value:
        assert longer.startswith(text)
        assert without_entry(longer, "new").rstrip() == text.rstrip()
    again = read_triggers(without_entry(longer, "NEW"))
    assert again == before


def test_what_is_taken_out_takes_no_remark_of_another_along() -> None:
    left = without_entry(PERSONS, "one")
    assert left == (
        "# Mine.\n\n\n# About the second.\n"
        "- {id: two, type: delayed, delay: 3h, "
        "action: {type: wake_agent, task: c}}\n# The end.\n"
    )
    assert read_triggers(without_entry(left, "two")) == Good(())
    with pytest.raises(ToolRefused, match="no trigger 'three'"):
        without_entry(PERSONS, "three")


def test_a_list_in_brackets_is_left_to_its_writer() -> None:
    with pytest.raises(ToolRefused, match="brackets"):
        with_entry("[{id: a, type: x}]\n", ENTRY)


def config(**about: object) -> dict[str, object]:
    return dict(about)


async def asked(a: Inside, count: int) -> None:
    await a.asked(COORDINATOR, count)
    await a.look()


async def test_an_agent_schedules_lists_and_cancels_and_is_woken(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("triggers.yaml", PERSONS)
        a.model.says(
            COORDINATOR,
            calls(
                call(
                    "schedule",
                    type="delayed",
                    config=config(delay_seconds=7200),
                    action="Look at the build.",
                ),
                call(
                    "schedule",
                    type="scheduled",
                    config=config(id="weekly", cron="0 9 * * 1"),
                    action={"type": "send_message", "to": "human", "content": "Hi"},
                ),
            ),
            call("finish", summary="Done."),
        )
        await a.begin()
        await a.until(lambda: a.supervising is not None and a.supervising.done())
        text = (a.home / "triggers.yaml").read_text("utf-8")
        assert text.startswith(PERSONS)
        assert "scheduled as delayed" in a.results("schedule")[0]
        assert "T09:00:00" in a.results("schedule")[1]
        await a.look()
        assert dict(a.desk.planned).keys() == {"one", "two", "delayed", "weekly"}
        a.clock.ahead += 7200
        await a.look()
        await a.asked(COORDINATOR, 3)
        assert "Look at the build." in a.model.heard(COORDINATOR)
        a.model.says(
            COORDINATOR,
            call("list_triggers"),
            call("cancel_trigger", trigger_id="weekly"),
            say("Good."),
        )
        await asked(a, 5)
        assert "weekly (scheduled): send_message Hi" in a.results("list_triggers")[0]
        assert "weekly" not in (a.home / "triggers.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("kind", "about", "words"),
    [
        ("at_time", {"at": "2020-01-01T09:00"}, "past"),
        ("at_time", {"at": "2027-02-30T09:00"}, "day is out of range"),
        ("scheduled", {"cron": "0 0 30 2 *"}, "day-of-month"),
        ("scheduled", {"cron": "0 9 * * 1", "timezone": "Mars/Olympus"}, "Mars"),
        ("delayed", {}, "delay"),
        ("on_event", {"event": "node.complete"}, "node.completed"),
        ("scheduled", {"cron": "0 9 * * 1", "id": "ONE"}, "a second time"),
    ],
)
async def test_what_cannot_be_scheduled_is_refused_in_words(
    tmp_path: Path, kind: str, about: dict[str, str], words: str
) -> None:
    async with inside(tmp_path) as a:
        a.write("triggers.yaml", PERSONS)
        a.model.says(
            COORDINATOR, call("schedule", type=kind, config=about, action="Look.")
        )
        await a.begin()
        await a.asked(COORDINATOR, 2)
        assert words in a.results("schedule")[0]
        assert (a.home / "triggers.yaml").read_text("utf-8") == PERSONS


async def test_permission_to_schedule_is_the_person_s_to_give(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        later = call(
            "schedule", type="delayed", config={"delay_seconds": 60}, action="Look."
        )
        a.model.says(COORDINATOR, later)
        await a.begin(permissions={"schedule": "deny"})
        await a.asked(COORDINATOR, 2)
        assert "schedule: deny" in a.results("schedule")[0]
        assert not (a.home / "triggers.yaml").exists()
