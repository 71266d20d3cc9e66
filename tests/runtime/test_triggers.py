"""Triggers at work: fired once, or skipped and why, over edits, pauses and restarts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agiraph.model.names import COORDINATOR
from tests.support.inside import PROGRAMS, call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.inside import Inside

DONE = call("finish", summary="Done.")
PULSE = "{id: pulse, type: heartbeat, every: 1h, action: {type: wake_agent, task: T}}"
SAYS = "action: {type: send_message, to: human, content: Hello.}"
HOURLY = f'{{id: hourly, type: scheduled, cron: "0 * * * *", {SAYS}}}'


def arm(a: Inside, *triggers: str) -> None:
    a.write("triggers.yaml", "".join(f"- {each}\n" for each in triggers))


def ledger(a: Inside) -> list[dict[str, Any]]:
    path = a.home / "_triggers.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def told(a: Inside, trigger: str, *, late: bool = False) -> list[str]:
    """What became of a trigger's slots, in order; whether late where it matters."""
    mine = [line for line in ledger(a) if line["trigger"] == trigger]
    assert len({line["slot"] for line in mine}) == len(mine), "a slot stands twice"
    said = [f"{x['outcome']} {x.get('reason', '')}".strip() for x in mine]
    return said if late else [each.removesuffix(" caught up") for each in said]


async def finished(a: Inside, *triggers: str, **settings: Any) -> None:
    """An agent whose first run has ended, and which has triggers.

    It is twenty past, so that no full hour comes but by `later`.
    """
    past = a.clock.now().timestamp() % 3600
    a.clock.ahead += (1200 - past) % 3600
    arm(a, *triggers)
    a.model.says(COORDINATOR, DONE)
    await a.begin(**settings)
    await at_rest(a)


async def at_rest(a: Inside) -> None:
    await a.until(lambda: a.supervising is not None and a.supervising.done())
    await a.look()


async def later(a: Inside, seconds: float) -> None:
    a.clock.ahead += seconds
    await a.look()


async def test_a_wake_after_the_run_has_ended_opens_no_run_until_there_is_work(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(
            a,
            "{id: look, type: delayed, delay: 2h, "
            "action: {type: wake_agent, task: Look at it.}}",
        )
        await later(a, 7200)
        await a.asked(COORDINATOR, 2)
        assert "Look at it." in a.model.heard(COORDINATOR)
        a.model.says(COORDINATOR, say("Nothing to do."))
        await at_rest(a)
        assert len(list((a.home / "runs").iterdir())) == 1
        assert told(a, "look") == ["fired"]
        assert a.outbox() == ""  # nobody is told that there was nothing to do
        await later(a, 86400)
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)
        assert told(a, "look") == ["fired"]


async def test_a_beat_makes_no_call_while_nothing_has_changed(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        beat = PULSE.replace("every: 1h", "every: 1h, watch: 'inputs/**'")
        await finished(a, beat)
        for _ in range(3):
            await later(a, 3600)
        assert a.model.asked(COORDINATOR) == 1
        assert told(a, "pulse") == ["skipped unchanged"] * 3
        a.write("inputs/new.csv", "1,2\n")
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("I have seen it."))
        await at_rest(a)
        await later(a, 3600)
        assert a.model.asked(COORDINATOR) == 2
        assert told(a, "pulse")[3:] == ["fired", "skipped unchanged"]


async def test_a_week_of_beats_over_a_quiet_agent_makes_no_model_call(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        beat = PULSE.replace("every: 1h", "every: 30m, watch: 'inputs/**'")
        a.write("inputs/a.csv", "1\n")
        await finished(a, beat)
        for _ in range(7 * 48):
            a.clock.ahead += 1800
            await a.agent.look()
            a.go()
        assert a.model.asked(COORDINATOR) == 1
        beats = told(a, "pulse")
        assert set(beats) == {"skipped unchanged"}
        assert len(beats) >= 7 * 48


async def test_what_a_person_says_wakes_once_and_no_beat_after_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE)
        a.write("_inbox.md", "How are you?\n")
        await a.look()
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("Well."))
        await at_rest(a)
        await later(a, 3600)
        assert a.model.asked(COORDINATOR) == 2
        a.write("MEMORY.md", "A person's note.\n")
        await later(a, 3600)
        await a.asked(COORDINATOR, 3)


async def test_a_beat_whose_probe_says_something_else_wakes(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        beat = PULSE.replace("every: 1h", "every: 1h, probe: cat ../probed")
        (tmp_path / "probed").write_text("1")
        await finished(a, beat)
        await a.until(lambda: not a.agent.triggers.errands())
        await later(a, 3600)
        await a.until(lambda: told(a, "pulse") == ["skipped unchanged"])
        (tmp_path / "probed").write_text("2")
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        assert told(a, "pulse") == ["skipped unchanged", "fired"]


async def test_a_beat_calls_while_a_node_is_at_work(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        arm(a, PULSE)
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        await a.begin(limits={"timeout": "10h"})
        await a.asked("n")
        await a.asked(COORDINATOR, 2)
        await later(a, 3600)
        await a.asked(COORDINATOR, 3)
        assert told(a, "pulse") == ["fired"]


async def test_after_an_absence_each_trigger_catches_up_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(a, HOURLY)
        await a.end()
        a.clock.ahead += 5 * 3600
        await a.restart()
        assert told(a, "hourly", late=True) == [
            *["skipped down"] * 4,
            "fired caught up",
        ]
        a.clock.ahead += 3 * 3600  # the machine slept, the daemon with it
        await a.look()
        assert told(a, "hourly", late=True)[5:] == [
            *["skipped asleep"] * 2,
            "fired caught up",
        ]
        assert a.outbox().count("Hello.") == 2


async def test_a_pause_skips_what_recurs_and_puts_off_what_comes_once(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, HOURLY, f"{{id: once, type: delayed, delay: 90m, {SAYS}}}")
        a.write("PAUSE", "")
        await a.look()
        for _ in range(2):
            await later(a, 3600)
        assert set(told(a, "hourly")) == {"skipped paused"}
        assert told(a, "once") == []
        (a.home / "PAUSE").unlink()
        await a.look()
        assert told(a, "once") == ["fired"]
        assert a.outbox().count("Hello.") == 1


async def test_an_edit_leaves_the_others_their_due_times(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE.replace("1h", "5h"))
        first = dict(a.desk.planned)["pulse"]
        await later(a, 3600)
        arm(a, HOURLY, PULSE.replace("1h", "5h"))
        await a.look()
        assert dict(a.desk.planned)["pulse"] == first
        assert len(dict(a.desk.planned)["hourly"]) == 3
        arm(a, HOURLY, PULSE.replace("1h", "5h").replace("T}", "U}"))
        await a.look()
        assert dict(a.desk.planned)["pulse"] != first
        arm(a, HOURLY.replace("id: hourly", "id: hourly, enabled: false"))
        await later(a, 7200)
        assert dict(a.desk.planned) == {"hourly": ("not enabled",)}
        fired = told(a, "hourly")
        await later(a, 7200)
        assert told(a, "hourly") == fired
        await a.supervisor.write_status()
        page = (a.home / "_status.md").read_text("utf-8")
        assert "not enabled" in page


async def test_events_are_slots_and_an_answer_to_a_trigger_is_none(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        arm(
            a,
            "{id: chain, type: on_event, event: node.completed, filter: {node: a}, "
            "action: {type: run_node, node: b}}",
            f"{{id: mail, type: on_event, event: message.sent, {SAYS}}}",
        )
        a.model.says(COORDINATOR, calls(node("a"), node("b", hold=True)), say("ok"))
        await a.begin()
        await a.asked("a")
        assert a.state("b") == "pending"
        a.model.says("a", publish())
        await a.until(lambda: a.events("node.completed", node="a"))
        await a.look()
        await a.asked("b")
        assert told(a, "chain") == ["fired"]
        assert told(a, "mail") == []
        a.write("_inbox.md", "Hello?\n")
        await a.look()
        await a.look()
        assert told(a, "mail") == ["fired"]


async def test_a_file_in_inputs_is_an_event_where_a_trigger_names_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.write("inputs/old.csv", "0\n")
        await finished(
            a,
            "{id: drop, type: on_event, event: file.changed, "
            f"filter: {{path: 'inputs/**'}}, {SAYS}}}",
        )
        await later(a, 100)
        assert told(a, "drop") == []
        a.write("inputs/deep/new.csv", "1\n")
        await later(a, 100)
        await later(a, 100)
        assert told(a, "drop") == ["fired"]
        await a.restart()
        await later(a, 100)
        assert told(a, "drop") == ["fired"]
        (a.home / "inputs/old.csv").unlink()
        await later(a, 100)
        await later(a, 100)
        assert told(a, "drop") == ["fired", "fired"]


async def test_idleness_fires_once_for_each_stretch(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(
            a,
            "{id: dog, type: on_idle, idle: 1h, "
            "action: {type: wake_agent, task: Report.}}",
        )
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("All is well."))
        await at_rest(a)
        for _ in range(3):
            await later(a, 7200)
        assert told(a, "dog") == ["fired"]
        a.write("_inbox.md", "Go on.\n")
        await a.look()
        await a.asked(COORDINATOR, 3)
        a.model.says(COORDINATOR, say("Yes."))
        await at_rest(a)
        await later(a, 3600)
        await a.asked(COORDINATOR, 4)
        assert told(a, "dog") == ["fired", "fired"]


async def test_a_command_runs_once_and_a_restart_does_not_begin_it_again(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        run = "action: {type: run_command, command: 'echo x >> marks; sleep"
        arm(
            a,
            f"{{id: quick, type: delayed, delay: 1h, {run} 0'}}}}",
            f"{{id: slow, type: delayed, delay: 3h, {run} 60'}}}}",
        )
        a.model.says(COORDINATOR, say("I wait."), say("I wait."))
        await a.begin()
        await later(a, 3600)
        await a.until(lambda: told(a, "quick") == ["fired"])
        await later(a, 7200)
        marks = a.run / "scratch/marks"
        await a.until(lambda: marks.read_text().count("x") == 2)
        await a.restart()
        assert told(a, "slow") == ["fired cut off: the daemon ended while it ran"]
        assert marks.read_text().count("x") == 2


def command(name: str, words: str) -> str:
    """A trigger that runs a command after an hour."""
    run = f'action: {{type: run_command, command: "{words}"}}'
    return f"{{id: {name}, type: delayed, delay: 1h, {run}}}"


async def test_what_a_command_says_is_kept_where_it_is_short_too(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, command("short", "echo all is well"), command("mute", "true"))
        await later(a, 3600)
        await a.until(lambda: told(a, "short") == told(a, "mute") == ["fired"])
        assert a.text("outputs/trigger-short.txt") == "all is well\n"
        assert not (a.run / "outputs/trigger-mute.txt").exists()


async def test_a_command_that_fails_is_told_by_its_last_line(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        long = "x" * 300
        await finished(
            a,
            command("bad", "echo begun; echo no such paper >&2; exit 3"),
            command("mute", "exit 4"),
            command("long", f"printf '{long}'; exit 5"),
        )
        await later(a, 3600)
        await a.until(lambda: len(ledger(a)) == 3)
        assert told(a, "bad") == ["fired exit code 3: no such paper"]
        assert told(a, "mute") == ["fired exit code 4"]
        assert told(a, "long") == [f"fired exit code 5: {'x' * 199}…"]
        assert a.text("outputs/trigger-bad.txt") == "begun\nno such paper\n"


async def test_commands_and_probes_of_triggers_know_the_tree_and_find_agiraph(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        show = "echo $AGIRAPH_AGENTS ${PATH##*:} $AGIRAPH_RUN"
        beat = PULSE.replace("every: 1h", f"every: 1h, probe: '{show} > ../probed'")
        await finished(a, command("c", show), beat)
        await later(a, 3600)
        await a.until(lambda: told(a, "c") == ["fired"])
        await a.until((tmp_path / "probed").exists)
        said = f"{tmp_path} {PROGRAMS} {a.run}\n"
        assert a.text("outputs/trigger-c.txt") == said
        assert (tmp_path / "probed").read_text() == said


async def test_a_trigger_that_fails_ten_times_running_is_disarmed_and_says_so(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        bad = "{id: bad, type: heartbeat, every: 10m, when: always, "
        await finished(a, bad + "action: {type: run_node, node: nobody}}")
        for _ in range(14):
            await later(a, 600)
        assert (
            told(a, "bad")
            == ["skipped failed: there is no node 'nobody' in " + a.run.name] * 10
        )
        assert a.outbox().count("fires no more") == 1
        assert "disarmed" in dict(a.desk.planned)["bad"][0]
        await a.restart()
        await later(a, 6000)
        assert len(told(a, "bad")) == 10
        arm(a, f"{bad}{SAYS}}}")
        await a.look()
        await later(a, 600)
        assert told(a, "bad")[10:] == ["fired"]


async def test_bash_denied_denies_the_commands_of_triggers(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(
            a,
            "{id: c, type: delayed, delay: 1h, "
            "action: {type: run_command, command: ls}}",
            permissions={"bash": "deny"},
        )
        await later(a, 3600)
        assert told(a, "c") == ["skipped failed: permissions: bash: deny in GOAL.md"]


async def test_a_kill_between_decision_effect_and_line_does_nothing_twice(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, HOURLY, PULSE.replace("every: 1h", "every: 1h, when: always"))
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, say("I see."))
        await at_rest(a)
        before = told(a, "hourly"), told(a, "pulse")
        # As though the daemon had been killed after the effects, before their lines.
        lines = (a.home / "_triggers.jsonl").read_text().splitlines(keepends=True)
        (a.home / "_triggers.jsonl").write_text("".join(lines[:-2]))
        await a.restart()
        await a.look()
        assert (told(a, "hourly"), told(a, "pulse")) == before
        assert a.outbox().count("Hello.") == 1
        await a.stays(lambda: a.model.asked(COORDINATOR) == 2)


async def test_a_clock_set_back_a_year_does_not_silence_triggers(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, HOURLY, PULSE)
        await later(a, 3600)
        assert told(a, "hourly") == ["fired"]
        a.clock.wall -= 365 * 86400
        await a.look()
        await later(a, 3600)
        assert told(a, "hourly") == ["fired", "fired"]
        assert any("set back" in words for words in a.remarks)


async def test_a_moment_that_is_past_when_it_is_first_read_is_told_and_not_done(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, f'{{id: old, type: at_time, at: "2020-01-01T09:00", {SAYS}}}')
        assert told(a, "old") == ["skipped past: it was over when it was first read"]
        assert any("past" in words for words in a.remarks)
        assert dict(a.desk.planned)["old"] == ("done",)
        assert a.outbox() == ""


async def test_a_wake_that_is_still_at_work_is_not_followed_by_another(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE.replace("every: 1h", "every: 1h, when: always"))
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        await later(a, 3600)
        assert told(a, "pulse") == ["fired", "skipped still running"]


async def test_a_wake_that_has_opened_a_run_is_still_at_work(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE.replace("every: 1h", "every: 1h, when: always"))
        await later(a, 3600)
        await a.asked(COORDINATOR, 2)
        a.model.says(COORDINATOR, call("write_file", path="scratch/a", content="1"))
        await a.asked(COORDINATOR, 3)
        assert len(list((a.home / "runs").iterdir())) == 2
        await later(a, 3600)
        assert told(a, "pulse") == ["fired", "skipped still running"]


async def test_a_wake_that_nobody_has_read_yet_is_not_followed_by_another(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        await finished(a, PULSE.replace("every: 1h", "every: 1h, when: always"))
        for _ in range(3):  # the daemon looks, and no loop has come to run
            a.clock.ahead += 3600
            await a.agent.look()
        assert told(a, "pulse") == ["fired", *["skipped still running"] * 2]
        a.go()
        await a.asked(COORDINATOR, 2)
        assert a.model.heard(COORDINATOR).count("[trigger pulse") == 1


async def test_a_trigger_runs_a_node_that_has_ended_once_more(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        arm(
            a,
            "{id: again, type: delayed, delay: 2h, action: {type: run_node, node: n}}",
        )
        a.model.says(COORDINATOR, node("n"), say("I wait."))
        a.model.says("n", publish("once"))
        await a.begin(limits={"timeout": "10h"})
        await a.until(lambda: a.state("n") == "completed")
        asked = a.model.asked("n")
        await later(a, 7200)
        assert told(a, "again") == ["fired"]
        await a.asked("n", asked + 1)
        a.model.says("n", publish("twice"))
        await a.until(lambda: len(a.events("node.completed", node="n")) == 2)
        assert a.text("nodes/n/published/a.md") == "twice\n"


async def test_a_wake_without_money_is_skipped_and_no_call_is_made(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        beat = PULSE.replace("every: 1h", "every: 1h, when: always")
        await finished(a, beat, budget={"tokens_per_day": 1_000_000})
        await later(a, 3480)
        account = f"day:{a.desk.agent}:{a.world.today()}"
        a.world.ledger.account(account).book(None, 1_000_000)
        await later(a, 60)
        assert told(a, "pulse") == ["skipped over budget"]
        assert a.model.asked(COORDINATOR) == 1


async def test_a_thousand_triggers_are_armed_and_each_slot_has_its_line(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        many = [HOURLY.replace("hourly", f"t{n}") for n in range(1000)]
        await finished(a, *many)
        a.write("PAUSE", "")
        await a.look()
        await later(a, 3600)
        lines = ledger(a)
        assert len(lines) == 1000
        assert {line["reason"] for line in lines} == {"paused"}
        assert len(a.desk.planned) == 50
