"""What the coordinator does next: look, plan, hand out, wait, collect, finish."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agiraph.core.digest.digest import digest
from agiraph.core.offline.board import (
    REPORT_TITLE,
    Made,
    depends_on,
    made_for,
    names_for,
    news_of,
    report_attempts,
    status_calls,
)
from agiraph.core.offline.ending import ENDED, Ending, end_move, reply, unchanged_move
from agiraph.core.offline.listing import Found, first_line, walk
from agiraph.core.offline.narrow import model_wanted, narrow_move
from agiraph.core.offline.pages import readout
from agiraph.core.offline.plan import (
    REPORT,
    groups,
    plan_page,
    report_task,
    sorted_out,
)
from agiraph.core.offline.talk import CHECKPOINT, Move, Talk
from agiraph.model.conversation import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agiraph.core.offline.board import News
    from agiraph.core.offline.listing import Walk
    from agiraph.core.offline.plan import Group
    from agiraph.core.offline.talk import Done
    from agiraph.model.json import JsonObject

_NEEDED = ("list_files", "read_file", "write_file", "create_work_node", "finish")
_INPUTS = "inputs"
_GOAL = "GOAL.md"
_GOAL_COPY = "scratch/goal.md"
_GOAL_WORDS = 120
_MOST_ATTEMPTS = 4

Calls = tuple[tuple[str, "JsonObject"], ...]


def coordinator_move(talk: Talk) -> Move:
    """The next step of the coordinator; a person who has written gets an answer."""
    move = _next(talk)
    if not talk.mail:
        return move
    words = reply(talk)
    if not move.calls:
        return Move(words)
    if "send_message" not in talk.tools:
        return Move(words, move.calls)
    message: JsonObject = {"to": "human", "content": words}
    return Move(calls=(("send_message", message), *move.calls))


def _next(talk: Talk) -> Move:
    lacking = [tool for tool in _NEEDED if tool not in talk.tools]
    if lacking:
        return Move(f"I cannot work without {', '.join(lacking)}.")
    model = model_wanted(talk.brief)
    if talk.succeeded("finish") or _rests(talk):
        return Move("The work is done; there is nothing to do." if model else ENDED)
    survey = walk(talk, _INPUTS)
    if survey.calls:
        return Move(calls=survey.calls)
    if _is_unchanged(talk, survey):
        return unchanged_move(talk)
    texts, left = sorted_out(survey.files)
    left += survey.remarks
    if texts and model:
        suffix = _Work(talk, texts, left).suffix
        return narrow_move(talk, model, texts, left, suffix)
    if texts:
        return _with_texts(_Work(talk, texts, left))
    return _with_goal(talk, left)


def _rests(talk: Talk) -> bool:
    """Between two cycles: nothing has begun since the last one ended."""
    over = not talk.brief and any(done.name == CHECKPOINT for done in talk.earlier)
    woken = any(line.kind is Kind.NOTICE for line in talk.told)
    return over and not talk.done and not woken


def _is_unchanged(talk: Talk, survey: Walk) -> bool:
    """Whether an earlier cycle has dealt with the very same files."""
    if talk.done and any(done.name == "write_file" for done in talk.done):
        return False
    if not any(done.name == CHECKPOINT and not done.error for done in talk.earlier):
        return False
    return walk(replace(talk, done=talk.earlier), _INPUTS).files == survey.files


def _with_goal(talk: Talk, left: tuple[str, ...]) -> Move:
    """No text in inputs/: the goal's own text, when it is long enough to digest."""
    goal = readout(talk, _GOAL)
    if goal.calls:
        return Move(calls=goal.calls)
    if digest("goal", _GOAL, goal.text).words < _GOAL_WORDS:
        return end_move(talk, Ending(missing=left, nothing=True))
    copy = Found(f"run/{_GOAL_COPY}", len(goal.text.encode()))
    return _with_texts(_Work(talk, (copy,), left, goal.text))


@dataclass(frozen=True, slots=True)
class _Work:
    """What there is to do: the texts, and what is left out of it.

    Attributes:
        goal: the goal's text, where that is what is digested.
    """

    talk: Talk
    texts: tuple[Found, ...]
    left: tuple[str, ...]
    goal: str = ""

    @property
    def suffix(self) -> str:
        """What keeps the nodes of a later cycle apart from earlier ones."""
        cycles = sum(d.name == CHECKPOINT and not d.error for d in self.talk.earlier)
        return f"-{cycles + 1}" if cycles else ""


def _with_texts(work: _Work) -> Move:
    """Plan, make the nodes, then the one that brings them together."""
    talk = work.talk
    shares = groups(work.texts, work.suffix)
    if talk.call("write_file", path="_plan.md") is None:
        return Move(calls=_plan_calls(work, shares))
    made: list[Made] = []
    calls: list[tuple[str, JsonObject]] = []
    for group in shares:
        one = made_for(talk, group)
        if one is None:
            calls.append(_create(talk, group))
        else:
            made.append(one)
    if calls:
        return Move(calls=tuple(calls))
    return _with_nodes(work, made)


def _plan_calls(work: _Work, shares: Sequence[Group]) -> Calls:
    plan = plan_page(shares, work.left)
    calls: Calls = (("write_file", {"path": "_plan.md", "content": plan}),)
    if work.goal:
        calls += (("write_file", {"path": _GOAL_COPY, "content": work.goal}),)
    return calls


def _create(talk: Talk, group: Group) -> tuple[str, JsonObject]:
    tried = [done.arguments.get("id") for done in talk.calls_of("create_work_node")]
    node = next(name for name in names_for(group.id) if name not in tried)
    arguments: dict[str, JsonObject | str] = {"task": group.task, "id": node}
    refs = {name: path for name, path in group.refs.items() if path.startswith(_INPUTS)}
    if refs:
        arguments["refs"] = refs
    return "create_work_node", arguments


def _with_nodes(work: _Work, made: Sequence[Made]) -> Move:
    """Wait for the nodes and bring their results together."""
    talk = work.talk
    news = news_of(talk)
    attempts = report_attempts(talk)
    good = [one for one in made if one.node]
    if not good:
        return end_move(talk, Ending(missing=_missing(work, made, news, ())))
    if not attempts:
        return Move(calls=(_create_report(work, made, news, good),))
    current = attempts[-1]
    if current.error:
        if len(attempts) < _MOST_ATTEMPTS and "taken" in current.result:
            waited = depends_on(current)
            again = [one for one in good if one.node in waited]
            return Move(calls=(_create_report(work, made, news, again),))
        why = f"the report: {first_line(current.result)}"
        return _without_report(work, made, news, why)
    return _with_report(work, made, news, current)


def _with_report(work: _Work, made: Sequence[Made], news: News, current: Done) -> Move:
    talk, node = work.talk, str(current.arguments["id"])
    if news.completed(node):
        missing = _missing(work, made, news, depends_on(current))
        page = f"nodes/{node}/published/report.md"
        return end_move(talk, Ending(report=page, missing=missing))
    if news.ended(node) or talk.call("cancel_node", node_id=node):
        why = f"the report: {news.words.get(node) or 'its node could not go on'}"
        return _without_report(work, made, news, why)
    waited = depends_on(current)
    open_ones = [one for one in waited if not news.ended(one)]
    bad = [one for one in waited if news.ended(one) and not news.completed(one)]
    if news.stuck:
        return Move(calls=status_calls([*open_ones, node]))
    if news.looked or (bad and not open_ones):
        return Move(calls=_start_over(work, made, news, current))
    if not open_ones and news.partial & set(waited):
        return _released(talk, node)
    return Move(_parked(news, made))


def _start_over(work: _Work, made: Sequence[Made], news: News, current: Done) -> Calls:
    """Give up what cannot end; a new report over what is there, if anything is."""
    waited = depends_on(current)
    lost = [one for one in waited if not news.ended(one)]
    why = "it waits for a node that failed, or that nothing can bring to its end"
    calls: Calls = tuple(
        ("cancel_node", {"node_id": node, "reason": why})
        for node in (str(current.arguments["id"]), *lost)
    )
    rest = [one for one in made if one.node in waited and news.completed(one.node)]
    if rest and len(rest) < len(waited):
        calls += (_create_report(work, made, news, rest),)
    return calls


def _released(talk: Talk, node: str) -> Move:
    """A partial result counts only when the coordinator assigns its dependants."""
    if talk.call("assign_worker", node_id=node):
        return Move("The report is being written.")
    return Move(calls=(("assign_worker", {"node_id": node, "worker_id": "worker-1"}),))


def _create_report(
    work: _Work, made: Sequence[Made], news: News, over: Sequence[Made]
) -> tuple[str, JsonObject]:
    number = len(report_attempts(work.talk)) + 1
    node = f"{REPORT}{work.suffix}" + (f"-v{number}" if number > 1 else "")
    nodes = [one.node for one in over]
    refs: dict[str, str] = {}
    for one in over:
        refs.update(one.group.results(one.node))
    return "create_work_node", {
        "task": report_task(_missing(work, made, news, nodes)),
        "id": node,
        "title": REPORT_TITLE,
        "depends_on": nodes,
        "refs": refs,
    }


def _without_report(work: _Work, made: Sequence[Made], news: News, why: str) -> Move:
    """The end where there is no report: the digests that there are."""
    done = [one for one in made if news.completed(one.node)]
    pages = [path for one in done for path in one.group.results(one.node).values()]
    missing = (*_missing(work, made, news, [one.node for one in done]), why)
    return end_move(work.talk, Ending(missing=missing, pages=pages))


def _missing(
    work: _Work, made: Sequence[Made], news: News, nodes: Sequence[str]
) -> tuple[str, ...]:
    """What a report over these nodes cannot tell of, and why."""
    lines = list(work.left)
    for one in made:
        if one.node and one.node in nodes:
            continue
        state = news.states.get(one.node, "did not end")
        why = one.why or f"node {one.node} {state} {news.words.get(one.node, '')}"
        lines.extend(f"`{text.path}`: {why.strip()}" for text in one.group.texts)
    return tuple(lines)


def _parked(news: News, made: Sequence[Made]) -> str:
    nodes = [one.node for one in made if one.node]
    ended = sum(news.completed(node) for node in nodes)
    if ended < len(nodes):
        return f"{ended} of {len(nodes)} nodes have digested their texts."
    return "All texts are digested; the report is being written."
