"""No text makes a reader raise: it is good, or rejected with the place of each fault.

In full, 2,000 texts for each format:
`AGIRAPH_FORMAT_TEXTS=2000 pytest tests/core/test_codec_fuzz.py`.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agiraph.core import codec
from agiraph.core.codec import Good, Rejected
from agiraph.core.inbox import InboxMemory, quiet_needed, take_in
from agiraph.model.agent import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS_EACH = int(os.environ.get("AGIRAPH_FORMAT_TEXTS", "120"))
READERS: dict[str, Callable[[str], object]] = {
    "goal": lambda text: codec.read_goal(text, Settings()),
    "tree": codec.read_tree_settings,
    "spec": codec.read_spec,
    "identity": lambda text: codec.read_identity(text, "Alice"),
    "question": lambda text: codec.read_question(text, "q-001.md"),
    "triggers": codec.read_triggers,
    "node status": codec.read_node_status,
    "run": codec.read_run,
    "message": codec.read_message,
    "dropped": codec.read_dropped,
    "approvals": codec.read_approvals,
    "owner": codec.read_owner,
    "tool servers": codec.read_mcp,
    "skill": lambda text: codec.read_skill(text, "folder"),
}
KEYS = [
    "model",
    "mode",
    "cycle",
    "budget",
    "permissions",
    "limits",
    "tools",
    "options",
    "run",
    "title",
    "depends_on",
    "refs",
    "worker",
    "accept",
    "type",
    "role",
    "command",
    "answer",
    "kind",
    "from",
    "status",
    "spent",
    "consumed",
    "stages",
    "contract",
    "providers",
    "prices",
    "notify",
    "keep",
    "timezone",
    "id",
    "cron",
    "action",
    "at",
    "filter",
    "usd",
    "name",
    "description",
    "allowed-tools",
    "allow",
    "exactly",
    "host",
    "place",
    "agent",
    "epoch",
    "mcpServers",
    "args",
    "env",
    "url",
    "headers",
]
VALUES = st.sampled_from(
    [
        "",
        "x",
        "[a, {b: c}]",
        "{usd: 1}",
        "{a: {kind: x}}",
        "[[]]",
        "{}",
        "1e999",
        "-",
        "0",
        "2026-01-01",
        "!!int 3",
        "&a x",
        "*a",
        "'",
        '"\\ud800"',
        "|\n  x",
        "? y",
        "-1",
        "0x1f",
        "~",
        "true",
        "9" * 400,
    ]
)
PAIRS = st.lists(st.tuples(st.sampled_from(KEYS), VALUES), max_size=6)
LIKELY = PAIRS.map(lambda pairs: "\n".join(f"{key}: {value}" for key, value in pairs))
VALUE = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=4
        )
    ),
    max_leaves=12,
)
JSON = (
    VALUE.map(json.dumps)
    | VALUE.map(lambda value: json.dumps({"mcpServers": value}))
    | VALUE.map(lambda value: json.dumps({"mcpServers": {"a": value}}, indent=1))
)
TEXTS = (
    st.text(max_size=200)
    | st.binary(max_size=200).map(lambda data: data.decode("utf-8", "surrogateescape"))
    | LIKELY
    | LIKELY.map(lambda front: f"---\n{front}\n---\nbody")
    | LIKELY.map(lambda front: f"- {front}".replace("\n", "\n  "))
    | JSON
)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=TEXTS_EACH, deadline=None)
@given(text=TEXTS)
def test_any_text_is_good_or_is_rejected_with_the_place(name: str, text: str) -> None:
    found = READERS[name](text)
    assert isinstance(found, Good | Rejected)
    if isinstance(found, Rejected):
        assert found.problems
        for problem in found.problems:
            assert 1 <= problem.line <= lines_of(text)
            assert problem.column >= 1
            assert problem.found or problem.allowed


def lines_of(text: str) -> int:
    """How many lines an editor shows, an empty last one included."""
    return len(re.split(r"\r\n|\r|\n", text))


@settings(max_examples=TEXTS_EACH, deadline=None)
@given(TEXTS)
def test_no_text_makes_the_generic_reader_raise(text: str) -> None:
    assert isinstance(codec.read_status(text), dict)


@settings(max_examples=TEXTS_EACH, deadline=None)
@given(
    st.lists(st.text('ab@!q-01:\n "`', max_size=40) | st.text(max_size=40), max_size=5)
)
def test_no_inbox_makes_the_reader_raise_and_nothing_is_said_twice(
    texts: list[str],
) -> None:
    memory = InboxMemory()
    for text in texts:
        quiet_needed(memory, text, editor_lock=False)
        _, memory = take_in(memory, text, now=0.0)
        messages, memory = take_in(memory, text, now=0.0)
        assert not messages
