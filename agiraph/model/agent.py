"""An agent: its goal, its settings and its states."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import TYPE_CHECKING

from agiraph.model.usage import Spend

if TYPE_CHECKING:
    from agiraph.model.json import JsonObject
    from agiraph.model.notice import Channel
    from agiraph.model.usage import Price


class AgentState(Enum):
    """What an agent is doing, as `_status.md` says it."""

    IDLE = "idle"
    WORKING = "working"
    WAITING_FOR_HUMAN = "waiting_for_human"
    HELD = "held"
    PAUSED = "paused"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"
    FORKED = "forked"
    BROKEN = "broken"


class Mode(Enum):
    """Whether the goal ends."""

    FINITE = "finite"
    INFINITE = "infinite"


class Permission(Enum):
    """What a tool family may do; whatever is unknown is never an allow."""

    ALLOW = "allow"
    SANDBOX = "sandbox"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns in each kind: of hosts (`*.example.org`), of tools (`server/read_*`)."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Permissions:
    """One permission for each family of tools; these are the defaults.

    Attributes:
        hosts: what `web` says of single hosts.
        mcp: for the tools of tool servers; tools: what it says of single ones.
    """

    bash: Permission = Permission.SANDBOX
    web: Permission = Permission.ALLOW
    write: Permission = Permission.ALLOW
    spawn: Permission = Permission.ALLOW
    schedule: Permission = Permission.ALLOW
    reconvene: Permission = Permission.ALLOW
    hosts: Patterns = Patterns()
    mcp: Permission = Permission.ALLOW
    tools: Patterns = Patterns()


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps on spending; None is no cap. Tokens count all four buckets."""

    usd: float | None = None
    tokens: int | None = None
    usd_per_day: float | None = None
    tokens_per_day: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps for nodes that name none (turns, seconds), for the graph and for a run.

    Attributes:
        run_turns: model calls of a run; of a day where the agent is infinite.
        run_time: seconds from a run's opening; none where the agent is infinite.
    """

    max_turns: int = 50
    timeout: float = 1800.0
    depth: int = 4
    nodes: int = 200
    run_turns: int = 5000
    run_time: float = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What GOAL.md's frontmatter sets, over agiraph.yaml, over these defaults.

    Attributes:
        model: the coordinator's, as a fallback chain; empty is "what is there".
        worker_model: for workers that name none; empty is the coordinator's.
        cycle: seconds between the cycles of an infinite agent.
        run_per: how long one of its runs goes on: a day, a week or a month.
        tools: names of the tools that may be called; None is all.
        context: the window to assume, in tokens; None is what the model is known for.
        run: another value opens a new run with the same goal.
        coordinator: False leaves the nodes to people alone.
        reflection: whether workers look back after a node.
    """

    model: tuple[str, ...] = ()
    worker_model: tuple[str, ...] = ()
    mode: Mode = Mode.FINITE
    cycle: float = 1800.0
    run_per: str = "day"
    max_workers: int = 4
    budget: Budget = Budget()
    permissions: Permissions = Permissions()
    limits: Limits = Limits()
    tools: tuple[str, ...] | None = None
    context: int | None = None
    compact_at: float = 0.85
    options: JsonObject = field(default_factory=dict)
    run: str = "1"
    coordinator: bool = True
    reflection: bool = True


@dataclass(frozen=True, slots=True)
class Goal:
    """A good GOAL.md: the objective and the settings that it works under."""

    body: str
    settings: Settings


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One entry of `providers:` in agiraph.yaml.

    Attributes:
        kind: openai, anthropic or gemini: whose protocol the server speaks.
        wire_api: messages, responses, chat or gemini; None is the kind's default.
        text: whether models call tools by text there.
        stream: whether answers come piece by piece; else each in one piece.
    """

    name: str
    kind: str
    base_url: str | None = None
    api_key_env: str | None = None
    wire_api: str | None = None
    text: bool = False
    stream: bool = True


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """`search:` in agiraph.yaml: who searches the web.

    Attributes:
        provider: tavily, brave, serper, exa, searxng or ddgs; empty is whichever has
            its key in the environment.
        url: of a SearXNG.
        api_key_env: the variable with the key; empty is the provider's own.
    """

    provider: str = ""
    url: str = ""
    api_key_env: str = ""


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many seconds what has grown old stays where it is.

    Attributes:
        runs: a run stays a folder, after its end.
        logs: a line stays in its log, and what compaction put aside a plain file.
        archives: an archive stays; for ever where nobody has said so.
    """

    runs: float = 90 * 86400.0
    logs: float = 90 * 86400.0
    archives: float = inf


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """A good agiraph.yaml, or the defaults where there is none.

    Attributes:
        defaults: what every agent's settings start from.
        budget: for the whole tree; agent_budget: the default for each agent.
        by_text: by `provider/model`: whether it calls tools by text, whatever its
            provider's setting.
        prices: overrides, by `provider/model`.
    """

    defaults: Settings = Settings()
    max_agents: int = 8
    timezone: str | None = None
    budget: Budget = Budget()
    agent_budget: Budget = Budget()
    providers: tuple[ProviderSettings, ...] = ()
    by_text: tuple[tuple[str, bool], ...] = ()
    prices: tuple[tuple[str, Price], ...] = ()
    search: SearchSettings = SearchSettings()
    notify: tuple[Channel, ...] = ()
    keep: Keep = Keep()


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """What an agent's `_status.md` shows; all but the state where it applies.

    Attributes:
        since: when this state began, ISO 8601.
        spend: of the run.
        waiting_for: why it does not go on, for people.
        last_message: the last message received, in a few words, with its time.
        questions: ids and words of the open questions.
        nodes: how many nodes are in which state.
        workers: each worker's name and what it is doing.
        permissions: what a person should know of them, e.g. that there is no sandbox.
        fallback: which model is asked instead of which, and why.
        spent: a table of what the run spent on what.
        due: each trigger's next due times, or why it has none.
        remarks: what is odd in good files, such as a key that nobody knows.
    """

    state: AgentState
    since: str = ""
    run: str = ""
    stage: int | None = None
    spend: Spend = Spend()
    waiting_for: str = ""
    error: str = ""
    model: str = ""
    last_message: str = ""
    questions: tuple[str, ...] = ()
    nodes: tuple[tuple[str, int], ...] = ()
    workers: tuple[tuple[str, str], ...] = ()
    permissions: str = ""
    fallback: str = ""
    spent: str = ""
    due: tuple[tuple[str, tuple[str, ...]], ...] = ()
    remarks: tuple[str, ...] = ()
