"""_spec.md: what a node is to do, with what and by whom."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.fields import Section
from agiraph.core.codec.goal import budget_over, need_body
from agiraph.core.codec.identity import identity_keys, inner_identity
from agiraph.core.codec.page import read_page
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.model.agent import Budget
from agiraph.model.node import Accept, NodeSpec
from agiraph.model.worker import Identity

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place
    from agiraph.model.json import Json, JsonObject


def read_spec(text: str) -> Good[NodeSpec] | Rejected:
    """What a _spec.md asks for."""
    findings = Findings.none_yet()
    page = read_page(text, findings)
    top = page.settings
    spec = NodeSpec(
        body=page.body,
        title=top.get("title", kinds.line, ""),
        depends_on=top.get("depends_on", _nodes, ()),
        refs=top.get("refs", _refs, ()),
        worker=top.get("worker", inner_identity, None),
        parent=top.get("parent", kinds.name, None),
        stage=top.get("stage", kinds.whole(1), None),
        max_turns=top.get("max_turns", kinds.whole(1), None),
        timeout=top.get("timeout", kinds.duration, None),
        budget=top.get("budget", budget_over(Budget()), Budget()),
        share=top.get("share", kinds.flag, default=False),
        hold=top.get("hold", kinds.flag, default=False),
        accept=top.get("accept", kinds.many(_accept), ()),
    )
    top.close()
    need_body(page, findings, "what to do, in words, below the settings")
    if findings.problems:
        return findings.rejected()
    return Good(spec, tuple(findings.remarks))


def write_spec(spec: NodeSpec) -> str:
    """The text of a _spec.md; reading it gives the same spec."""
    given: dict[str, Json] = {
        "title": spec.title,
        "depends_on": list(spec.depends_on),
        "refs": {name: emit.one_or_list(paths) for name, paths in spec.refs},
        "worker": _worker(spec.worker),
        "parent": spec.parent,
        "stage": spec.stage,
        "max_turns": spec.max_turns,
        "timeout": None if spec.timeout is None else emit.duration(spec.timeout),
        "budget": budget_keys(spec.budget),
        "share": spec.share,
        "hold": spec.hold,
        "accept": [_check(each) for each in spec.accept],
    }
    return emit.page({key: each for key, each in given.items() if each}, spec.body)


def spec_hash(spec: NodeSpec) -> str:
    """What tells whether the work changed, in hex: body, refs, depends_on, accept."""
    said = [
        spec.body,
        sorted([name, list(paths)] for name, paths in spec.refs),
        sorted(spec.depends_on),
        [[each.file, each.run] for each in spec.accept],
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def budget_keys(budget: Budget) -> JsonObject:
    """The caps that are set."""
    caps: dict[str, Json] = {
        "usd": budget.usd,
        "tokens": budget.tokens,
        "usd_per_day": budget.usd_per_day,
        "tokens_per_day": budget.tokens_per_day,
    }
    return {key: cap for key, cap in caps.items() if cap is not None}


def _worker(worker: Identity | str | None) -> Json:
    return identity_keys(worker) if isinstance(worker, Identity) else worker


def _check(accept: Accept) -> JsonObject:
    return {"file": accept.file} if accept.file else {"run": accept.run}


def _nodes(place: Place) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kinds.one_or_many(kinds.name)(place)))


def _refs(place: Place) -> tuple[tuple[str, tuple[str, ...]], ...]:
    paths = kinds.one_or_many(kinds.inner_path)
    found = [(name, each.read(paths)) for name, each in Section.at(place).others()]
    return tuple((name, each) for name, each in found if each is not None)


def _accept(place: Place) -> Accept:
    keys = Section.at(place)
    accept = Accept(
        file=keys.get("file", kinds.inner_path, ""), run=keys.get("run", kinds.text, "")
    )
    keys.close()
    if bool(accept.file) == bool(accept.run):
        raise place.unfit("either `file: name` or `run: command`")
    return accept
