"""A bad file says where, what was found and what is allowed; all of it at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest

from agiraph.core import codec
from agiraph.core.codec import Good, Problem, Rejected
from agiraph.model.agent import Budget, Goal, Mode, Permission, Settings
from agiraph.model.node import Accept
from agiraph.model.usage import Price
from agiraph.model.worker import Identity, WorkerType

FULL = """\
---
model: anthropic/claude-sonnet-4-5     # a chain may stand here
worker_model: [openai/gpt-4o, ollama/llama3]
mode: infinite
cycle: 90s
max_workers: 2
budget: {usd: 5.00, tokens: 2_000_000, usd_per_day: 2}
permissions: {bash: ask, web: deny}
limits: {max_turns: 9, timeout: 2h, depth: 1, nodes: 5}
tools: [read_file, bash]
context: 200000
compact_at: 0.5
options: {max_tokens: 8192, effort: medium}
run: 01
coordinator: false
reflection: no
---

Compare the three.
"""


def goal(text: str, defaults: Settings | None = None) -> Goal:
    read = codec.read_goal(text, defaults or Settings())
    assert isinstance(read, Good), read
    return read.value


def problems(text: str) -> list[Problem]:
    read = codec.read_goal(text, Settings())
    assert isinstance(read, Rejected)
    return list(read.problems)


def only(front: str) -> Problem:
    found = problems(f"---\n{front}\n---\nA goal.\n")
    assert len(found) == 1, found
    return found[0]


def test_every_setting_of_a_goal_is_read() -> None:
    read = goal(FULL)

    assert read.body == "Compare the three."
    settings = read.settings
    assert settings.model == ("anthropic/claude-sonnet-4-5",)
    assert settings.worker_model == ("openai/gpt-4o", "ollama/llama3")
    assert (settings.mode, settings.cycle) == (Mode.INFINITE, 90.0)
    assert settings.budget == Budget(5.0, 2_000_000, 2.0)
    assert settings.permissions.bash is Permission.ASK
    assert settings.permissions.write is Permission.ALLOW
    assert (settings.limits.timeout, settings.limits.nodes) == (7200.0, 5)
    assert settings.tools == ("read_file", "bash")
    assert settings.options == {"max_tokens": 8192, "effort": "medium"}
    assert settings.run == "01"
    assert (settings.coordinator, settings.reflection) == (False, False)


@pytest.mark.parametrize("text", ["Do it.", "\ufeffDo it.\r\n", "---\n---\nDo it."])
def test_a_goal_without_settings_has_every_default(text: str) -> None:
    assert goal(text) == Goal("Do it.", Settings())


def test_what_a_goal_leaves_out_comes_from_the_tree() -> None:
    defaults = replace(Settings(), max_workers=9, budget=Budget(usd=3.0, tokens=10))

    read = goal("---\nbudget: {usd: 1}\n---\nDo it.", defaults)

    assert read.settings.max_workers == 9
    assert read.settings.budget == Budget(usd=1.0, tokens=10)


def test_all_problems_are_told_each_with_its_place_in_the_file() -> None:
    text = FULL.replace("infinite", "maybe").replace("90s", "90").replace("2h", "2 h")

    assert [(each.line, each.column, each.key) for each in problems(text)] == [
        (4, 7, "mode"),
        (5, 8, "cycle"),
        (9, 33, "limits.timeout"),
    ]


@pytest.mark.parametrize(
    ("above", "line"), [("", 3), ("\n\n \n", 6), ("\ufeff\r\n", 4)]
)
def test_lines_count_from_the_top_of_the_file(above: str, line: int) -> None:
    text = f"{above}---\nrun: 1\nmode: x\n\n---\nDo it.\n"

    assert [(each.line, each.column) for each in problems(text)] == [(line, 7)]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[", (1, 2)),
        ("- id: a\n- {", (2, 4)),
        ("- id: a\n  x: [\n\n", (4, 1)),
        ("- id: 'a\u2028b'\n- {]", (2, 4)),
    ],
)
def test_text_that_breaks_off_is_told_by_a_line_that_an_editor_shows(
    text: str, place: tuple[int, int]
) -> None:
    read = codec.read_triggers(text)

    assert isinstance(read, Rejected)
    assert [(each.line, each.column) for each in read.problems] == [place]


@pytest.mark.parametrize(
    ("front", "found", "allowed"),
    [
        ("reflection: maybe", "'maybe'", "true or false"),
        ("reflection: 'yes'", "'yes'", "true or false, without quotes"),
        ("mode: forever", "'forever'", "finite or infinite"),
        ("cycle: 30", "'30', a number without a unit", "30m"),
        ("cycle: 0s", "'0s'", "longer than none"),
        ("model: on", "'on', which YAML reads as no text", "a model's name"),
        ("model: 4.5", "'4.5', which YAML reads as no text", "a model's name"),
        ("model: gpt 4o", "'gpt 4o'", "without spaces"),
        ("max_workers: 04", "'04'", "without a leading zero"),
        ("max_workers: '4'", "'4'", "without quotes"),
        ("max_workers: 0", "'0'", "1 or more"),
        ("max_workers: [4]", "a list", "a whole number"),
        ("context: " + "9" * 5000, "'999", "at most"),
        ("budget: 5", "'5'", "a group of keys"),
        ("budget: {usd: $5}", "'$5'", "USD, 0 or more"),
        ("budget: {usd: -1}", "'-1'", "0 or more"),
        ("permissions: {bash: maybe}", "'maybe'", "allow, sandbox, ask or deny"),
        ("tools: bash", "'bash'", "a list"),
        ("a: 1\na: 2", "a second time (first in line 2)", "each key once"),
        ("<<: {a: 1}", "a merge key", "written out"),
        ("[a]: 1", "a list or group as a key", "a word"),
        ("model: !!python/name:os.system x", "the tag", "without tags"),
        ("- a", "text or a list", "`key: value` lines"),
        ("a: b: c", "mapping values", "in quotes"),
        ("a:\n\tb: c", "broken YAML", "spaces"),
        ("a: *b", "the alias *b", "above it"),
        ("a: &a [*a]", "the alias *a", "above it"),
        ("a: " + "[" * 5000, "nested too deep", "50 levels"),
        ("a: b\x07", "U+0007", "control"),
    ],
)
def test_a_bad_value_says_what_was_found_and_what_is_allowed(
    front: str, found: str, allowed: str
) -> None:
    problem = only(front)

    assert found in problem.found
    assert allowed in problem.allowed
    assert problem.line >= 2


def test_aliases_of_aliases_are_counted_and_not_unfolded() -> None:
    rows = ["a0: &a0 [x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]

    assert "too many values" in only("\n".join(rows)).found


def test_an_alias_is_taken_for_what_it_stands_for() -> None:
    text = "---\nmodel: &m lab/big\nworker_model: *m\n---\nDo it."

    assert goal(text).settings.worker_model == ("lab/big",)


def test_settings_that_are_never_closed_are_a_problem() -> None:
    problem, *_ = problems("\n---\nmodel: a/b\n\nDo it.\n")

    assert (problem.line, problem.allowed) == (2, "a line `---` after the last setting")


@pytest.mark.parametrize("text", ["", "  \n\n", "---\nrun: 2\n---\n \n"])
def test_a_goal_without_words_is_a_problem(text: str) -> None:
    assert problems(text)[0].found == "no text"


def test_an_unknown_key_is_accepted_with_a_remark_that_names_the_nearest() -> None:
    read = codec.read_goal("---\nmax_worker: 3\n---\nDo it.", Settings())

    assert isinstance(read, Good)
    assert read.remarks[0].line == 2
    assert "did you mean `max_workers`?" in read.remarks[0].text


def test_a_key_without_a_value_leaves_its_default() -> None:
    read = codec.read_goal("---\nmodel:\n---\nDo it.", Settings())

    assert isinstance(read, Good)
    assert read.value.settings == Settings()
    assert "no value" in read.remarks[0].text


def test_the_trees_settings_are_read() -> None:
    text = """\
model: anthropic/claude-sonnet-4-5
max_agents: 3
timezone: Europe/Berlin
budget: {usd_per_day: 10}
agent_budget: {usd: 5}
providers:
  mylab: {kind: openai, base_url: "http://127.0.0.1:8000/v1/", api_key_env: MYLAB_KEY}
prices:
  mylab/big: {input: 3.00, output: 15.00, cache_read: 0.30}
notify:
  - {webhook: "https://example.org/hook", kinds: [question]}
keep: {runs: 1y}
run: 3
"""
    read = codec.read_tree_settings(text)

    assert isinstance(read, Good)
    tree = read.value
    assert tree.budget == Budget(usd_per_day=10.0)
    assert tree.defaults.budget == tree.agent_budget == Budget(usd=5.0)
    assert tree.defaults.model == ("anthropic/claude-sonnet-4-5",)
    assert tree.providers[0].name == "mylab"
    assert tree.providers[0].base_url == "http://127.0.0.1:8000/v1"
    assert tree.prices == (("mylab/big", Price(3.0, 15.0, 0.3, 3.0)),)
    assert {each.value for each in tree.notify[0].kinds} == {"question"}
    assert "GOAL.md" in read.remarks[0].text


def test_the_trees_settings_may_be_empty() -> None:
    assert isinstance(codec.read_tree_settings("# nothing yet\n"), Good)


def test_a_key_in_the_tree_is_refused_and_not_repeated() -> None:
    secret = "sk-" + "x" * 40
    text = f"providers:\n  lab: {{api_key: {secret}}}\n  b: {{api_key_env: {secret}}}\n"

    read = codec.read_tree_settings(text)

    assert isinstance(read, Rejected)
    assert [each.line for each in read.problems] == [2, 3]
    assert secret not in repr(read)


def test_an_unknown_zone_kind_or_price_is_refused() -> None:
    text = (
        "timezone: Europe/Berln\nproviders: {a: {kind: x}}\nprices: {a/b: {input: 1}}"
    )

    read = codec.read_tree_settings(text)

    assert isinstance(read, Rejected)
    keys = [each.key for each in read.problems]
    assert keys == ["timezone", "providers.a.kind", "prices.a/b.output"]


def test_a_spec_is_read() -> None:
    read = codec.read_spec(
        "---\n"
        "depends_on: [nvidia, amd]\n"
        "refs: {nvidia: nvidia/published/*.md, more: [inputs/a, amd/published]}\n"
        "worker: {name: Claude, type: autonomous, command: claude}\n"
        "timeout: 10m\n"
        "accept:\n  - file: report.md\n  - run: python -m pytest -q\n"
        "---\nWrite report.md.\n"
    )

    assert isinstance(read, Good)
    spec = read.value
    assert spec.refs[1] == ("more", ("inputs/a", "amd/published"))
    assert spec.worker == Identity(
        "Claude", type=WorkerType.AUTONOMOUS, command="claude"
    )
    assert spec.accept == (Accept(file="report.md"), Accept(run="python -m pytest -q"))


@pytest.mark.parametrize(
    ("front", "key"),
    [
        ("depends_on: [a, ../b]", "depends_on[2]"),
        ("refs: {a: ../../etc/passwd}", "refs.a"),
        ("refs: {a: /etc/passwd}", "refs.a"),
        ("refs: [a]", "refs"),
        ("worker: human", "worker"),
        ("worker: {role: analyst}", "worker.name"),
        ("worker: {name: A, type: autonomous}", "worker.command"),
        ("worker: {name: A, command: claude}", "worker.type"),
        ("accept: [{file: a, run: b}]", "accept[1]"),
        ("accept: [{}]", "accept[1]"),
        ("stage: 0", "stage"),
    ],
)
def test_a_bad_spec_names_the_key(front: str, key: str) -> None:
    read = codec.read_spec(f"---\n{front}\n---\nDo it.\n")

    assert isinstance(read, Rejected)
    assert [each.key for each in read.problems] == [key]


def test_a_specs_hash_follows_the_work_and_nothing_else() -> None:
    def hashed(front: str, body: str = "Do it.") -> str:
        read = codec.read_spec(f"---\n{front}\n---\n{body}")
        assert isinstance(read, Good)
        return codec.spec_hash(read.value)

    plain = hashed("title: A")

    assert hashed("title: B\nmax_turns: 3\nworker: Alice") == plain
    assert hashed("title: A", "Do it.\r\n\n") == plain
    assert hashed("depends_on: [a, b]") == hashed("depends_on: [b, a]")
    changed = [
        hashed("depends_on: [a]"),
        hashed("refs: {a: b}"),
        hashed("accept: [{file: a}]"),
        hashed("title: A", "Do that."),
    ]
    assert len({plain, *changed}) == 5


def test_an_identity_is_named_by_its_folder() -> None:
    read = codec.read_identity("---\nname: Bob\nrole: analyst\n---\nCalm.", "Alice")

    assert isinstance(read, Good)
    assert read.value == Identity("Alice", role="analyst", text="Calm.")
    assert "folder names the worker" in read.remarks[0].text
    assert isinstance(codec.read_identity("", "all"), Rejected)


def test_the_error_page_says_all_that_a_person_needs() -> None:
    path = PurePosixPath("news/GOAL.md")
    found = problems(FULL.replace("infinite", "maybe").replace("90s", "90"))

    page = codec.error_page(path, found, "the version of 20:14.")

    assert page == (
        "# GOAL.md was not accepted\n\n"
        "- Line 4, column 7, `mode`\n"
        "  - found: 'maybe'\n"
        "  - allowed: finite or infinite\n"
        "- Line 5, column 8, `cycle`\n"
        "  - found: '90', a number without a unit\n"
        "  - allowed: a time with its unit, such as 90s, 30m, 2h or 1d\n\n"
        "In force meanwhile: the version of 20:14.\n\n"
        "Mend GOAL.md and save it; this page then goes away by itself.\n"
    )
    assert codec.log_words(path, found) == (
        "news/GOAL.md:4:7: mode: found 'maybe', "
        "allowed: finite or infinite (and 1 more)"
    )
