"""`_run.yaml`: how a run stands, with its goal and its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.page import plain_lines, read_section
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.model.run import Contract, Policy, Run, RunState, Stage

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place
    from agiraph.model.json import Json, JsonObject


def write_run(run: Run) -> str:
    """The text of a `_run.yaml`; reading it gives the same run."""
    keys: dict[str, Json] = {
        "status": run.state.value,
        "run": run.name,
        "opened": run.opened,
        "ended": run.ended,
        "reason": run.reason,
        "summary": run.summary,
        "key": run.key,
        "goal_hash": run.goal_hash,
        "goal": run.goal,
    }
    said = {key: value for key, value in keys.items() if value}
    stages = "".join(_stage_text(stage) for stage in run.stages)
    return emit.settings(said) + (f"stages:\n{stages}" if stages else "")


def read_run(text: str) -> Good[Run] | Rejected:
    """What a `_run.yaml` records."""
    findings = Findings.none_yet()
    top = read_section(plain_lines(text), findings)
    state = top.need("status", kinds.choice(RunState), "how the run stands")
    run = Run(
        name=top.need("run", kinds.text, "the run's name") or "",
        state=state or RunState.OPEN,
        opened=top.get("opened", kinds.text, ""),
        goal=top.get("goal", kinds.text, ""),
        goal_hash=top.get("goal_hash", kinds.text, ""),
        key=top.get("key", kinds.text, ""),
        ended=top.get("ended", kinds.text, ""),
        reason=top.get("reason", kinds.text, ""),
        summary=top.get("summary", kinds.text, ""),
        stages=top.get("stages", kinds.many(_stage), ()),
    )
    return findings.rejected() if findings.problems else Good(run)


def contract_keys(contract: Contract) -> JsonObject:
    """A contract's limits and policy."""
    keys: dict[str, Json] = {"policy": contract.policy.value}
    if contract.max_turns is not None:
        keys["max_turns"] = contract.max_turns
    if contract.timeout is not None:
        keys["timeout"] = emit.duration(contract.timeout)
    return keys


def _stage_text(stage: Stage) -> str:
    keys: dict[str, Json] = {
        "number": stage.number,
        "title": stage.title,
        "contract": contract_keys(stage.contract),
        "opened": stage.opened,
        "closed": stage.closed,
        "told": stage.told,
        "paused": round(stage.paused, 3),
        "assessment": stage.assessment,
    }
    said = {key: value for key, value in keys.items() if value}
    lines = emit.settings(said).splitlines(keepends=True)
    return "".join(f"{'    ' if at else '  - '}{each}" for at, each in enumerate(lines))


def _stage(place: Place) -> Stage:
    keys = Section.at(place)
    return Stage(
        number=keys.get("number", kinds.whole(0), 0),
        title=keys.get("title", kinds.text, ""),
        contract=keys.get("contract", _contract, Contract()),
        opened=keys.get("opened", kinds.text, ""),
        closed=keys.get("closed", kinds.text, ""),
        assessment=keys.get("assessment", kinds.text, ""),
        told=keys.get("told", kinds.flag, default=False),
        paused=keys.get("paused", kinds.number(0), 0.0),
    )


def _contract(place: Place) -> Contract:
    keys = Section.at(place)
    policy = kinds.choice(Policy)
    return Contract(
        max_turns=keys.get("max_turns", kinds.whole(0), None),
        timeout=keys.get("timeout", kinds.duration, None),
        policy=keys.get("policy", policy, Policy.ALL_MUST_COMPLETE),
    )
