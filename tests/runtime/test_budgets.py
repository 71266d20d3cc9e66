"""Budgets: shared by children, asked about once, gone on from, kept over restarts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agiraph.model.agent import Budget, TreeSettings
from agiraph.model.names import COORDINATOR
from agiraph.model.usage import Price, Usage
from tests.support.inside import Inside, call, calls, inside, node, publish, say

if TYPE_CHECKING:
    from pathlib import Path

DEAR = Price(input=1.0, output=100.0, cache_read=0.1, cache_write=1.25)
A_CALL = Usage(input=1_500, output=500)
PAID = DEAR.cost(A_CALL)
WORK = [call("write_file", path=f"scratch/{n}.md", content="x") for n in range(9)]


def dear(a: Inside) -> None:
    a.model.price, a.model.usage = DEAR, A_CALL


def questions(a: Inside) -> list[str]:
    return sorted(path.name for path in (a.home / "_questions").glob("q-*.md"))


async def by_people(a: Inside, name: str, usd: float) -> None:
    """A run in which a person has written the one node, and no coordinator works."""
    await a.begin(coordinator=False)
    head = f"---\nbudget: {{usd: {usd}}}\n---\n"
    a.write(f"runs/{a.run.name}/nodes/{name}/_spec.md", f"{head}Do {name}.\n")
    await a.look()


async def test_at_the_cap_the_person_is_asked_and_told_what_it_went_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says(COORDINATOR, *WORK)
        await a.begin(budget={"usd": 8 * PAID})
        await a.until(lambda: a.desk.held)
        await a.until(lambda: questions(a))

        (name,) = questions(a)
        text = (a.home / "_questions" / name).read_text("utf-8")
        assert "from: agiraph" in text
        assert "raise the number under `budget` in `a/GOAL.md`" in text
        count = a.model.asked(COORDINATOR)
        assert f"| coordinator | led/model | {count} |" in text
        await a.until(lambda: "held" in (a.home / "_status.md").read_text("utf-8"))
        status = (a.home / "_status.md").read_text("utf-8")
        assert "does not allow another call" in status
        assert f"| coordinator | led/model | {count} |" in status

        a.goal("The goal.", budget={"usd": 100.0})
        await a.look()
        await a.asked(COORDINATOR, count + 1)
        await a.until(lambda: not questions(a))
        assert (a.home / "_questions" / "closed" / name).exists()


async def test_the_same_budget_is_asked_about_once(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        names = [f"n{number}" for number in range(5)]
        a.model.says(COORDINATOR, calls(*(node(name) for name in names)), say("ok"))
        for name in names:
            a.model.says(name, *WORK)
        await a.begin(budget={"usd": 9 * PAID}, max_workers=5)
        await a.until(lambda: sum(name in a.desk.held for name in names) == 5)
        await a.until(lambda: questions(a))
        await a.leap(700.0)
        await a.leap(700.0)

        assert len(questions(a)) == 1
        await a.restart()
        await a.until(lambda: a.desk.held)
        assert len(questions(a)) == 1


async def test_what_a_parent_is_allowed_is_shared_by_its_children(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says("top", node("one"), node("two"), call("wait"))
        a.model.says("one", *WORK)
        a.model.says("two", *WORK)
        await by_people(a, "top", usd=6 * PAID)
        await a.until(lambda: {"one", "two"} <= set(a.desk.held))

        spent = a.world.ledger.account(f"node:a:{a.run.name}:top")
        assert spent.usd <= 6 * PAID
        assert "budget of node top" in a.desk.held["one"]
        assert a.model.asked("one") + a.model.asked("two") <= 3
        (name,) = questions(a)
        assert "node: top" in (a.home / "_questions" / name).read_text("utf-8")

        await a.restart()
        await a.until(lambda: {"one", "two"} <= set(a.desk.held))
        again = a.world.ledger.account(f"node:a:{a.run.name}:top")
        assert (again.calls, again.usd) == (spent.calls, spent.usd)


async def test_a_cap_survives_a_restart(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says(COORDINATOR, *WORK)
        await a.begin(budget={"usd_per_day": 3 * PAID})
        await a.until(lambda: a.desk.held)
        count, spend = a.model.asked(COORDINATOR), a.desk.spend

        await a.restart()
        await a.until(lambda: a.desk.held)
        assert a.model.asked(COORDINATOR) == count
        assert a.desk.spend.usage == spend.usage
        assert a.desk.tally.total().known_usd == spend.cost_usd


async def test_the_trees_budget_counts_what_everyone_ever_spent(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        old = {"ts": "2026-01-01T00:00:00+00:00", "model": "x/y", "run": "r"}
        line = old | {"input": 1, "output": 1, "cost_usd": 7.0}
        for home in ("other", "_archive/older"):
            (tmp_path / home).mkdir(parents=True)
            (tmp_path / home / "usage.jsonl").write_text(json.dumps(line) + "\n")
        a.world.settings = TreeSettings(budget=Budget(usd=14.0))
        await a.begin()
        await a.until(lambda: a.desk.held)

        assert "tree's budget" in a.desk.held[COORDINATOR]
        assert "$14.00 of $14.00" in a.desk.held[COORDINATOR]
        (name,) = questions(a)
        text = (a.home / "_questions" / name).read_text("utf-8")
        assert "`agiraph.yaml`" in text


def copied(tmp_path: Path, a: Inside, *more: dict[str, object]) -> None:
    """Another home has the same past, and made some calls of its own."""
    log = (a.home / "usage.jsonl").read_text("utf-8")
    own = "".join(f"{json.dumps(line)}\n" for line in more)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "usage.jsonl").write_text(log + own)


async def test_what_a_copy_brought_along_is_no_second_spending_of_the_tree(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says(COORDINATOR, *WORK[:3])
        await a.begin()
        await a.asked(COORDINATOR, 4)
        line = json.loads((a.home / "usage.jsonl").read_text("utf-8").splitlines()[0])
        copied(tmp_path, a, line | {"agent": "copy", "cost_usd": 7.0})
        a.world.settings = TreeSettings(budget=Budget(usd=100.0))
        a.model.says(COORDINATOR, WORK[3])
        await a.asked(COORDINATOR, 5)

        spent = a.world.ledger.account("tree").usd
        assert 7.0 + 3 * PAID <= round(spent, 9) <= 7.0 + 4 * PAID


async def test_a_copys_day_does_not_have_what_its_original_spent(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says(COORDINATOR, *WORK[:3])
        await a.begin()
        await a.asked(COORDINATOR, 4)
        log = (a.home / "usage.jsonl").read_text("utf-8").splitlines()
        other = tmp_path / "original"
        other.mkdir()
        theirs = [json.loads(line) | {"agent": "original"} for line in log[:2]]
        text = "".join(f"{json.dumps(line)}\n" for line in theirs)
        (other / "usage.jsonl").write_text(text)
        await a.end()
        (a.home / "usage.jsonl").write_text(f"{text}{log[2]}\n")
        await a.restart()
        day = a.world.today()
        assert a.world.ledger.account(f"day:a:{day}").calls == 1
        (other / "usage.jsonl").unlink()
        await a.restart()
        assert a.world.ledger.account(f"day:a:{day}").calls == 3


async def test_a_run_out_of_calls_is_held_and_goes_on_when_the_number_is_raised(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, *WORK[:2], call("finish", summary="done"))
        await a.begin(limits={"run_turns": 2})
        await a.until(lambda: a.desk.held)
        assert "run_turns" in a.desk.held[COORDINATOR]
        assert a.model.asked(COORDINATOR) == 2
        await a.until(lambda: "run_turns" in (a.home / "_status.md").read_text("utf-8"))
        words = "raise it under `limits` in a/GOAL.md to go on"
        assert words in (a.home / "_status.md").read_text("utf-8")
        await a.until(lambda: questions(a))
        text = (a.home / "_questions/q-001.md").read_text("utf-8")
        assert "raise it under `limits` in `a/GOAL.md`" in text
        assert "| coordinator | led/model | 2 |" in text  # what it went on

        a.goal("The goal.", limits={"run_turns": 3})
        await a.look()
        await a.until(lambda: "agent.completed" in a.events("agent."))
        assert not questions(a)


async def test_a_run_out_of_time_asks_for_more_of_it(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.says(COORDINATOR, WORK[0])
        await a.begin(limits={"run_time": "1h"})
        await a.asked(COORDINATOR, 2)
        await a.leap(3700.0)
        a.model.says(COORDINATOR, WORK[1])
        await a.until(lambda: questions(a))

        text = (a.home / "_questions/q-001.md").read_text("utf-8")
        assert "reached `run_time`: raise it under `limits` in `a/GOAL.md`" in text
        a.goal("The goal.", limits={"run_time": "2d"})
        await a.look()
        await a.asked(COORDINATOR, 3)
        await a.until(lambda: not questions(a))


async def test_a_price_that_nobody_knows_is_asked_for(tmp_path: Path) -> None:
    async with inside(tmp_path) as a:
        a.model.price = None
        a.model.says(COORDINATOR, *WORK)
        await a.begin(budget={"usd": 1.0})
        await a.until(lambda: a.desk.held)

        assert "the price of led/model is unknown" in a.desk.held[COORDINATOR]
        text = (a.home / "_questions/q-001.md").read_text("utf-8")
        assert "nobody knows the price of led/model" in text
        assert "`prices` in `agiraph.yaml`" in text
        assert "`tokens` instead of `usd` under `budget` in `a/GOAL.md`" in text
        a.goal("The goal.", budget={"tokens": 100_000})
        await a.look()
        await a.asked(COORDINATOR, 1)
        await a.until(lambda: not questions(a))


async def test_an_answer_instead_of_a_larger_number_brings_no_second_question(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says(COORDINATOR, *WORK)
        await a.begin(budget={"usd": 3 * PAID})
        await a.until(lambda: questions(a))
        a.write("_inbox.md", "q-001: go on, please\n")
        await a.look()
        await a.until(lambda: a.events("human.response"))
        await a.leap(700.0)
        await a.stays(lambda: questions(a) == ["q-001.md"])


async def test_a_worker_out_of_money_publishes_once_there_is_more(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        dear(a)
        a.model.says("n", publish())
        await by_people(a, "n", usd=0.01)
        await a.until(lambda: "n" in a.desk.held)
        spec = a.run / "nodes" / "n" / "_spec.md"
        spec.write_text(spec.read_text("utf-8").replace("0.01", "10.0"), "utf-8")
        await a.look()
        await a.until(lambda: a.state("n") == "completed")
        assert questions(a) == []
