"""agiraph.yaml: the defaults of every agent and the settings of the whole tree."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agiraph.core.codec import kinds, services
from agiraph.core.codec.fields import Section
from agiraph.core.codec.goal import budget_over, read_settings
from agiraph.core.codec.notify import channel
from agiraph.core.codec.page import plain_lines, read_section
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.core.codec.web import search_settings
from agiraph.model.agent import Budget, Keep, ProviderSettings, Settings, TreeSettings
from agiraph.model.usage import Price

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place

_ZONE = re.compile(r"[A-Za-z0-9_+-]{1,40}(/[A-Za-z0-9_+-]{1,40}){0,3}")
_KINDS = ("openai", "anthropic", "gemini")
_ELSEWHERE = {"run": "; it belongs in an agent's GOAL.md"}


def read_tree_settings(text: str) -> Good[TreeSettings] | Rejected:
    """The settings that agiraph.yaml states, over the defaults."""
    findings = Findings.none_yet()
    top = read_section(plain_lines(text), findings)
    given = TreeSettings()
    agent_budget = top.get("agent_budget", budget_over(Budget()), given.agent_budget)
    settings = TreeSettings(
        defaults=replace(read_settings(top, Settings()), budget=agent_budget),
        max_agents=top.get("max_agents", kinds.whole(1, 100_000), given.max_agents),
        timezone=top.get("timezone", zone, given.timezone),
        budget=top.get("budget", budget_over(Budget()), given.budget),
        agent_budget=agent_budget,
        providers=top.get("providers", _providers, given.providers),
        by_text=top.get("models", _by_text, given.by_text),
        prices=top.get("prices", _prices, given.prices),
        search=top.get("search", search_settings, given.search),
        notify=top.get("notify", kinds.many(channel), given.notify),
        keep=top.get("keep", _keep, given.keep),
    )
    top.close(hints=_ELSEWHERE)
    if findings.problems:
        return findings.rejected()
    return Good(settings, tuple(findings.remarks))


def zone(place: Place) -> str:
    """The name of a time zone that this machine knows."""
    name = kinds.line(place)
    allowed = "a time zone, such as Europe/Berlin or UTC"
    if not _ZONE.fullmatch(name):
        raise place.unfit(allowed)
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise place.unfit(allowed) from None
    return name


def _providers(place: Place) -> tuple[ProviderSettings, ...]:
    found = [(name, each.read(_provider)) for name, each in Section.at(place).others()]
    return tuple(replace(each, name=name) for name, each in found if each is not None)


def _provider(place: Place) -> ProviderSettings:
    keys = Section.at(place)
    named = place.key.rpartition(".")[2]
    default = named if named in _KINDS else "openai"
    wire = kinds.one_of("messages", "responses", "chat", "gemini")
    provider = ProviderSettings(
        name=named,
        kind=keys.get("kind", kinds.one_of(*_KINDS), default),
        base_url=keys.get("base_url", services.address, None),
        api_key_env=keys.get("api_key_env", services.variable, None),
        wire_api=keys.get("wire_api", wire, None),
        text=keys.get("text", kinds.flag, default=False),
        stream=keys.get("stream", kinds.flag, default=True),
    )
    keys.get("api_key", services.no_key, "")
    keys.close()
    return provider


def _by_text(place: Place) -> tuple[tuple[str, bool], ...]:
    found = [(name, each.read(_model)) for name, each in Section.at(place).others()]
    return tuple((name, text) for name, text in found if text is not None)


def _model(place: Place) -> bool | None:
    keys = Section.at(place)
    text = keys.get("text", kinds.flag, None)
    keys.close()
    return text


def _prices(place: Place) -> tuple[tuple[str, Price], ...]:
    found = [(name, each.read(_price)) for name, each in Section.at(place).others()]
    return tuple((name, price) for name, price in found if price is not None)


def _price(place: Place) -> Price:
    keys = Section.at(place)
    usd = kinds.number(0, what="USD for a million tokens")
    sent = keys.need("input", usd, "USD for a million tokens") or 0.0
    price = Price(
        input=sent,
        output=keys.need("output", usd, "USD for a million tokens") or 0.0,
        cache_read=keys.get("cache_read", usd, sent),
        cache_write=keys.get("cache_write", usd, sent),
    )
    keys.close()
    return price


def _keep(place: Place) -> Keep:
    keys = Section.at(place)
    long, given = kinds.long_or_ever, Keep()
    keep = Keep(
        runs=keys.get("runs", long, given.runs),
        logs=keys.get("logs", long, given.logs),
        archives=keys.get("archives", long, given.archives),
    )
    keys.close()
    return keep
