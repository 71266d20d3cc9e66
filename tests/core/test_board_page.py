"""The page `_board.md`: every picture can be drawn, every table keeps its columns."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.board_page import board_page, mermaid
from agiraph.model.node import Node, NodeSpec, NodeState
from agiraph.model.run import Contract, Policy, Run, RunState, Stage
from agiraph.model.usage import Spend, Usage
from tests.support.board import board_of, changed, done, node, with_status
from tests.support.mermaid import parse

S = NodeState
RUN = Run("2026-11-21-01", RunState.OPEN, "2026-11-21T12:00:00+00:00", "g", "h", "1")
NASTY = [
    'say "hello"',
    "`code` first",
    "a `b` c",
    "%%{init: {'theme': 'dark'}}%%",
    "issue #35; fixed",
    "#quot;",
    "1. first",
    "- item",
    "2) item",
    "* item",
    "_under_ **bold** ~~out~~",
    "<script>alert(1)</script>",
    "<br/>",
    "a & b &amp; c",
    "a]b[c{d}e(f)g",
    "a | b --> c",
    "end",
    "$$x^2$$",
    "back\\slash \\n here",
    "tab\there\nand line",
    "```",
    "style fill:#fff;",
    "NVIDIA's chips: A/B (draft)?",
    "Größe und Weiße",
    "分析報告",
    "हिन्दी",
    "\u202eright to left\u202c\u0000\u2028",
    "🚀 launch",
    "x" * 500,
]


def titled(title: str, ident: str = "a", **more: object) -> Node:
    return node(ident, spec=NodeSpec("x", title=title), **more)  # type: ignore[arg-type]


def rows(page: str) -> list[list[str]]:
    """The table's cells, split as a Markdown reader splits them."""
    found = [line for line in page.splitlines() if line.startswith("| ")]
    return [
        [cell.strip() for cell in re.findall(r"(?:\\.|[^|\\])*", line[1:-1]) if cell]
        for line in found[1:]
    ]


# --- the picture


def test_a_picture_shows_each_node_with_its_state_and_worker() -> None:
    one = with_status(titled("Synthesis", state=S.RUNNING), worker="Alice")

    picture = parse(mermaid(board_of(one)))

    assert picture.labels == {"n0": ["Synthesis", "running", "Alice"]}
    assert picture.classes == {"n0": "running"}


def test_arrows_lead_from_what_is_needed_to_who_needs_it() -> None:
    nodes = board_of(
        done("a"),
        node("b", refs=(("a", ("nodes/A/published",)),)),
        node("c", "a", "b"),
        node("child", parent="C"),
    )

    picture = parse(mermaid(nodes))

    assert picture.needs == [("n0", "n1"), ("n0", "n2"), ("n1", "n2")]
    assert picture.parents == [("n2", "n3")]


def test_ghosts_circles_and_oneself_can_be_drawn() -> None:
    nodes = board_of(node("a", "b", "ghost"), node("b", "a"), node("c", "c"))

    assert parse(mermaid(nodes)).needs == [("n1", "n0"), ("n0", "n1"), ("n2", "n2")]


@pytest.mark.parametrize("stands", S)
def test_every_state_has_a_look(stands: NodeState) -> None:
    picture = parse(mermaid(board_of(node("a", state=stands))))

    assert picture.classes == {"n0": stands.value}


def test_a_stale_node_is_shown_as_stale() -> None:
    nodes = board_of(changed(done("a")), done("b", "a"))

    assert set(parse(mermaid(nodes)).classes.values()) == {"stale"}


@pytest.mark.parametrize("title", NASTY)
def test_any_title_can_be_drawn_and_reads_as_it_was_written(title: str) -> None:
    picture = parse(board_page(RUN, board_of(titled(title))))

    shown = picture.labels["n0"][0]
    plain = " ".join(re.sub(r"[\x00-\x1f\u2028\u202c\u202e]", " ", title).split())
    assert shown.rstrip("…") == plain[: len(shown.rstrip("…"))]
    assert len(shown) <= 40


@given(st.text(), st.text())
def test_whatever_a_person_writes_the_picture_can_be_drawn(
    title: str, ident: str
) -> None:
    label = mermaid(board_of(titled(title, ident or "a"))).splitlines()[2]

    assert re.fullmatch(r'  n0\["[^"`%{}<>\[\]&\\]*(<br/>)pending"\]', label)


# --- the table


def test_the_table_has_a_row_for_each_node() -> None:
    spend = Spend(12, Usage(), 0.0449)
    one = done("big node", summary="All | done.\nTwo lines.", turns=12, spend=spend)
    one = with_status(one, worker="Alice")

    assert rows(board_page(RUN, board_of(one))) == [
        [
            "[big node](nodes/big%20node/_spec.md)",
            "completed",
            "Alice",
            "12",
            "$0.04",
            "All \\| done. Two lines.",
        ]
    ]


@pytest.mark.parametrize("words", NASTY)
def test_no_words_break_the_table(words: str) -> None:
    page = board_page(RUN, board_of(done("a", summary=words), done("b", summary="\\|")))

    assert [len(row) for row in rows(page)] == [6, 6]
    assert "<script" not in page


def test_an_unknown_price_is_called_so() -> None:
    one = done("a", spend=Spend(1, Usage(), None))

    assert rows(board_page(RUN, board_of(one)))[0][4] == "unknown"


def test_a_failed_node_shows_its_error_and_not_an_older_summary() -> None:
    one = node(
        "a", state=S.FAILED, summary="half done", error="50 of 50 turns are used"
    )

    assert rows(board_page(RUN, board_of(one)))[0][5] == "50 of 50 turns are used"


def test_an_open_node_shows_what_it_waits_for() -> None:
    page = board_page(RUN, board_of(node("a", state=S.FAILED), node("b", "a")))

    assert rows(page)[1][5] == "waits for a, which is failed"


def test_a_stale_node_says_why() -> None:
    nodes = board_of(done("a", of="2"), done("b", "a", summary="Done."))

    assert rows(board_page(RUN, nodes))[1][5] == "a was published anew. Done."


def test_a_partial_result_is_marked() -> None:
    page = board_page(RUN, board_of(done("a", partial=True)))

    assert rows(page)[0][1] == "completed (partial)"


# --- the rest of the page


def test_an_empty_board_says_so_and_draws_nothing() -> None:
    page = board_page(RUN, {})

    assert "No nodes yet." in page
    assert "mermaid" not in page


def test_the_headline_counts_the_states() -> None:
    page = board_page(RUN, board_of(done("a"), done("b"), node("c")))

    assert "Run: open · nodes: 2 completed, 1 pending" in page


def test_stages_show_their_contract_and_how_they_closed() -> None:
    first = Stage(
        1,
        "Read\nall",
        Contract(policy=Policy.ANY),
        "t",
        closed="t2",
        assessment="Good\nso far",
    )
    page = board_page(replace(RUN, stages=(first, Stage(2, "", Contract(), "t2"))), {})

    assert "- 1. Read all (any) · closed: Good so far" in page
    assert "- 2. stage (all_must_complete) · open" in page


def test_the_same_board_gives_the_same_page() -> None:
    nodes = board_of(done("a"), node("b", "a"))

    assert board_page(RUN, nodes) == board_page(RUN, dict(nodes))


def test_the_order_of_the_nodes_hangs_on_nothing_but_the_nodes() -> None:
    nodes = board_of(
        node("report", "part-9", "part-10"),
        node("part-10"),
        node("part-9"),
        node("inner", parent="part-9"),
    )
    page = board_page(RUN, nodes)
    backwards = dict(reversed(nodes.items()))

    assert board_page(RUN, backwards) == page
    rows = re.findall(r"^\| \[([^]]+)\]", page, re.M)
    assert rows == ["part-9", "part-10", "inner", "report"]


def test_nodes_in_a_circle_have_their_rows_all_the_same() -> None:
    circle = board_of(node("a", "b"), node("b", "a"))
    assert re.findall(r"^\| \[([^]]+)\]", board_page(RUN, circle), re.M) == ["a", "b"]
