"""GOAL.md: the objective below, the settings above."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agiraph.core.codec import kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Problem, Rejected
from agiraph.core.codec.web import tool_permissions, web_permissions
from agiraph.model.agent import Budget, Goal, Limits, Mode, Permission, Permissions

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Parse, Place
    from agiraph.core.codec.page import Page
    from agiraph.model.agent import Settings

_TREE_KEYS = ("max_agents", "timezone", "agent_budget", "providers", "prices", "notify")
_ELSEWHERE = dict.fromkeys(
    (*_TREE_KEYS, "keep", "search"), "; it belongs in agiraph.yaml"
)


def read_goal(text: str, defaults: Settings) -> Good[Goal] | Rejected:
    """The goal that a text states, its settings over the defaults.

    Args:
        text: the whole file.
        defaults: of agiraph.yaml, the agent's default budget being its `budget`.
    """
    findings = Findings.none_yet()
    page = read_page(text, findings)
    top = page.settings
    settings = read_settings(top, defaults)
    settings = replace(
        settings,
        budget=top.get("budget", budget_over(defaults.budget), defaults.budget),
        run=top.get("run", kinds.line, defaults.run),
    )
    top.close(hints=_ELSEWHERE)
    need_body(page, findings, "the goal, in words, below the settings")
    if findings.problems:
        return findings.rejected()
    return Good(Goal(page.body, settings), tuple(findings.remarks))


def read_settings(top: Section, given: Settings) -> Settings:
    """The settings that GOAL.md and agiraph.yaml share, over those given."""
    allowed = _permissions_over(given.permissions)
    models = kinds.one_or_many(kinds.model)
    return replace(
        given,
        model=top.get("model", models, given.model),
        worker_model=top.get("worker_model", models, given.worker_model),
        mode=top.get("mode", kinds.choice(Mode), given.mode),
        cycle=top.get("cycle", kinds.duration, given.cycle),
        run_per=top.get("run_per", kinds.one_of("day", "week", "month"), given.run_per),
        max_workers=top.get("max_workers", kinds.whole(1, 10_000), given.max_workers),
        permissions=top.get("permissions", allowed, given.permissions),
        limits=top.get("limits", _limits_over(given.limits), given.limits),
        tools=top.get("tools", kinds.many(kinds.line), given.tools),
        context=top.get("context", kinds.whole(1000), given.context),
        compact_at=top.get("compact_at", kinds.number(0.05, 1), given.compact_at),
        options={**given.options, **top.get("options", kinds.json_object, {})},
        coordinator=top.get("coordinator", kinds.flag, given.coordinator),
        reflection=top.get("reflection", kinds.flag, given.reflection),
    )


def need_body(page: Page, findings: Findings, allowed: str) -> None:
    """Record the lack of a body."""
    if not page.body:
        problem = Problem(page.body_line, 1, "", "no text", allowed)
        findings.problems.append(problem)


def budget_over(given: Budget) -> Parse[Budget]:
    """Caps, each over the one given."""
    usd, tokens = kinds.number(0, what="USD"), kinds.whole(0)

    def read(place: Place) -> Budget:
        keys = Section.at(place)
        budget = Budget(
            usd=keys.get("usd", usd, given.usd),
            tokens=keys.get("tokens", tokens, given.tokens),
            usd_per_day=keys.get("usd_per_day", usd, given.usd_per_day),
            tokens_per_day=keys.get("tokens_per_day", tokens, given.tokens_per_day),
        )
        keys.close()
        return budget

    return read


def _permissions_over(given: Permissions) -> Parse[Permissions]:
    word = kinds.choice(Permission)

    def read(place: Place) -> Permissions:
        keys = Section.at(place)
        web = keys.get("web", web_permissions, given)
        mcp = keys.get("mcp", tool_permissions, given)
        permissions = Permissions(
            bash=keys.get("bash", word, given.bash),
            web=web.web,
            write=keys.get("write", word, given.write),
            spawn=keys.get("spawn", word, given.spawn),
            schedule=keys.get("schedule", word, given.schedule),
            reconvene=keys.get("reconvene", word, given.reconvene),
            hosts=web.hosts,
            mcp=mcp.mcp,
            tools=mcp.tools,
        )
        keys.close()
        return permissions

    return read


def _limits_over(given: Limits) -> Parse[Limits]:
    def read(place: Place) -> Limits:
        keys = Section.at(place)
        limits = Limits(
            max_turns=keys.get("max_turns", kinds.whole(1), given.max_turns),
            timeout=keys.get("timeout", kinds.duration, given.timeout),
            depth=keys.get("depth", kinds.whole(0), given.depth),
            nodes=keys.get("nodes", kinds.whole(1), given.nodes),
            run_turns=keys.get("run_turns", kinds.whole(1), given.run_turns),
            run_time=keys.get("run_time", kinds.long_duration, given.run_time),
        )
        keys.close()
        return limits

    return read
