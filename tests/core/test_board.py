"""The board: what nodes wait for, what may start, what is stale, who takes what."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.board import (
    Hand,
    ancestors,
    children,
    choose_worker,
    dependencies,
    depth,
    descendants,
    fault,
    held_back,
    open_nodes,
    ref_node,
    startable,
    state,
    unmet,
    wait_fault,
    why_not,
    why_stale,
)
from agiraph.model.node import NodeSpec, NodeState
from agiraph.model.worker import Identity
from tests.support.board import board_of, changed, done, node, with_status

S = NodeState


def names(nodes: object) -> list[str]:
    return [each.id for each in nodes]  # type: ignore[attr-defined]


# --- what refs imply


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("nodes/nvidia/published/findings.md", "nvidia"),
        ("nvidia/published/findings.md", "nvidia"),
        ("./nodes//nvidia/published", "nvidia"),
        ("nodes/nvidia", "nvidia"),
        ("nodes/inputs/published/a.md", "inputs"),
        ("nodes/big node/published/*.md", "big node"),
        ("inputs/data.csv", None),
        ("inputs", None),
        ("./inputs/*.csv", None),
        ("nodes", None),
        ("", None),
    ],
)
def test_a_ref_leads_to_a_node_or_to_the_inputs(
    path: str, leads_to: str | None
) -> None:
    assert ref_node(path) == leads_to


def test_refs_imply_dependencies_each_once() -> None:
    one = node(
        "d",
        "a",
        refs=(
            ("a", ("nodes/a/published/x.md", "a/published/y.md")),
            ("both", ("b/published", "inputs/data.csv")),
        ),
    )

    assert dependencies(one) == ("a", "b")


def test_refs_into_inputs_alone_need_nothing() -> None:
    one = node("a", refs=(("data", ("inputs/data.csv", "inputs/more/*.csv")),))
    nodes = board_of(one)

    assert dependencies(one) == ()
    assert names(startable(nodes)) == ["a"]


def test_a_dependency_is_found_without_regard_to_case() -> None:
    one = node("d", "NVIDIA", refs=(("n", ("Nvidia/published/x.md",)),))
    nodes = board_of(done("nvidia"), one)

    assert dependencies(one, nodes) == ("nvidia",)
    assert unmet(one, nodes) == ()


# --- what may start


def test_a_node_without_dependencies_may_start() -> None:
    assert names(startable(board_of(node("a"), node("b")))) == ["a", "b"]


@pytest.mark.parametrize("stands", [s for s in S if s is not S.COMPLETED])
def test_only_a_completed_node_satisfies_its_dependants(stands: NodeState) -> None:
    one = node("b", "a")
    nodes = board_of(node("a", state=stands), one)

    assert "b" not in names(startable(nodes))
    assert stands.value in unmet(one, nodes)[0]


def test_every_dependency_must_be_complete() -> None:
    one = node("c", "a", "b")
    nodes = board_of(done("a"), node("b", state=S.RUNNING), one)

    assert unmet(one, nodes) == ("waits for b, which is running",)


@pytest.mark.parametrize("stands", [s for s in S if s not in (S.PENDING, S.ASSIGNED)])
def test_only_pending_and_assigned_nodes_start(stands: NodeState) -> None:
    assert startable(board_of(node("a", state=stands))) == ()


def test_a_node_on_hold_waits_until_it_is_assigned() -> None:
    held = node("a", spec=NodeSpec("x", hold=True))
    freed = with_status(held, state=S.ASSIGNED, released=True)

    assert held_back(held)
    assert startable(board_of(held)) == ()
    assert "hold" in why_not(held, board_of(held))
    assert names(startable(board_of(freed))) == ["a"]


def test_a_partial_result_waits_for_the_coordinators_word() -> None:
    one = node("b", "a")
    nodes = board_of(done("a", partial=True), one)

    assert "partial" in unmet(one, nodes)[0]
    assert unmet(with_status(one, released=True), nodes) == ()


def test_an_assignment_never_goes_past_an_unmet_dependency() -> None:
    one = node("b", "a", state=S.ASSIGNED, released=True)

    assert unmet(one, board_of(node("a", state=S.FAILED), one)) != ()
    assert unmet(one, board_of(changed(done("a")), one)) != ()


# --- faults hold back only who names them


def test_a_ghost_is_a_fault_of_the_node_that_names_it() -> None:
    one, other = node("a", "ghost"), node("b")
    nodes = board_of(one, other)

    assert fault(one, nodes) == "it depends on 'ghost', which does not exist"
    assert names(startable(nodes)) == ["b"]


def test_a_ref_to_a_ghost_is_a_fault_too() -> None:
    one = node("a", refs=(("g", ("nodes/ghost/published/x.md",)),))

    assert "ghost" in fault(one, board_of(one))


def test_a_ghost_that_appears_is_no_fault_any_more() -> None:
    one = node("a", "late")

    assert fault(one, board_of(one, node("late"))) == ""


@pytest.mark.parametrize("itself", ["a", "A"])
def test_a_node_that_depends_on_itself_says_so(itself: str) -> None:
    one = node("a", itself)

    assert fault(one, board_of(one)) == "it depends on itself"


def test_two_nodes_in_a_circle_name_the_circle() -> None:
    a, b, c = node("a", "b"), node("b", "a"), node("c")
    nodes = board_of(a, b, c)

    assert fault(a, nodes) == "it depends on itself in a circle: a -> b -> a"
    assert fault(b, nodes) == "it depends on itself in a circle: b -> a -> b"
    assert names(startable(nodes)) == ["c"]


def test_who_depends_on_a_circle_is_not_in_it() -> None:
    nodes = board_of(node("a", "b"), node("b", "a"), node("c", "a"))

    assert fault(nodes["c"], nodes) == ""
    assert unmet(nodes["c"], nodes) == ("waits for a, which is pending",)


def test_a_circle_through_refs_and_other_case_is_found() -> None:
    nodes = board_of(
        node("a", "B"), node("b", refs=(("c", ("C/published",)),)), node("c", "a")
    )

    assert fault(nodes["a"], nodes).endswith("a -> b -> c -> a")


def test_two_ways_to_the_same_node_are_no_circle() -> None:
    nodes = board_of(node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c"))

    assert [fault(one, nodes) for one in nodes.values()] == [""] * 4


def test_a_child_cannot_depend_on_the_parent_that_waits_for_it() -> None:
    parent = node("p", state=S.RUNNING)
    child = node("c", "p", parent="p")
    nodes = board_of(parent, child)

    assert "circle" in fault(child, nodes)
    assert fault(parent, nodes) == ""


def test_a_child_cannot_depend_on_who_waits_for_its_parent() -> None:
    nodes = board_of(
        node("p", state=S.RUNNING), node("after", "p"), node("c", "after", parent="p")
    )

    assert "circle" in fault(nodes["c"], nodes)


def test_a_child_may_depend_on_a_sibling() -> None:
    nodes = board_of(
        node("p", state=S.RUNNING), node("c1", parent="p"), node("c2", "c1", parent="p")
    )

    assert names(startable(nodes)) == ["c1"]
    assert fault(nodes["c2"], nodes) == ""


def test_a_child_of_an_ended_node_may_depend_on_it() -> None:
    nodes = board_of(done("p"), node("c", "p", parent="p"))

    assert names(startable(nodes)) == ["c"]


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdefg"), max_size=3)
    )
)
def test_whatever_the_graph_a_fault_never_lets_a_node_start(
    graph: dict[str, list[str]],
) -> None:
    nodes = board_of(*(node(ident, *needs) for ident, needs in graph.items()))
    started = startable(nodes)

    assert all(not one.spec.depends_on for one in started)
    for one in nodes.values():
        wrong = fault(one, nodes)
        reach = _reach(one.id, graph)
        ghost = any(needed not in graph for needed in graph[one.id])
        assert bool(wrong) == (ghost or one.id in reach)


def _reach(start: str, graph: dict[str, list[str]]) -> set[str]:
    found: set[str] = set()
    line = list(graph[start])
    while line:
        at = line.pop()
        if at not in found:
            found.add(at)
            line += graph.get(at, [])
    return found


def test_a_long_chain_is_judged_quickly() -> None:
    count = 1500
    chain = [done("n0"), *(done(f"n{i}", f"n{i - 1}") for i in range(1, count))]
    nodes = board_of(*chain, node("last", f"n{count - 1}"))
    began = time.process_time()

    assert names(startable(nodes)) == ["last"]
    assert time.process_time() - began < 4


# --- stale


def test_a_completed_node_whose_spec_changed_is_stale() -> None:
    one = changed(done("a"))

    assert state(one, board_of(one)) is S.STALE
    assert "spec" in why_stale(one, board_of(one))


@pytest.mark.parametrize("stands", [s for s in S if s is not S.COMPLETED])
def test_only_completed_nodes_become_stale(stands: NodeState) -> None:
    one = node("a", state=stands, shown="other")

    assert state(one, board_of(one)) is stands


def test_all_that_depends_on_a_changed_node_is_stale() -> None:
    nodes = board_of(changed(done("a")), done("b", "a"), done("c", "b"), done("x"))

    assert [state(one, nodes) for one in nodes.values()] == [
        S.STALE,
        S.STALE,
        S.STALE,
        S.COMPLETED,
    ]


def test_what_consumed_a_node_that_was_published_anew_is_stale() -> None:
    nodes = board_of(done("a", of="2"), done("b", "a"), done("c", "b"))

    assert state(nodes["a"], nodes) is S.COMPLETED
    assert why_stale(nodes["b"], nodes) == "a was published anew"
    assert state(nodes["c"], nodes) is S.STALE


def test_publishing_the_same_anew_makes_nothing_stale() -> None:
    nodes = board_of(done("a", attempt=2), done("b", "a"))

    assert state(nodes["b"], nodes) is S.COMPLETED


def test_what_depends_stays_stale_while_its_source_is_done_again() -> None:
    again = with_status(changed(done("a")), state=S.RUNNING, shown="d2")
    nodes = board_of(again, done("b", "a"), node("c", "b"))

    assert state(nodes["b"], nodes) is S.STALE
    assert startable(nodes) == ()


def test_a_source_that_is_gone_makes_nothing_stale() -> None:
    nodes = board_of(done("b", "a"))

    assert state(nodes["b"], nodes) is S.COMPLETED


def test_stale_inputs_do_not_satisfy_a_node_that_has_not_started() -> None:
    nodes = board_of(changed(done("a")), done("b", "a"), node("c", "b"))

    assert unmet(nodes["c"], nodes) == ("b is stale",)
    assert startable(nodes) == ()


def test_a_node_that_has_started_goes_on_with_what_it_took_in() -> None:
    nodes = board_of(changed(done("a")), node("b", "a", state=S.RUNNING))

    assert state(nodes["b"], nodes) is S.RUNNING


def test_a_circle_of_consumed_results_is_judged_once() -> None:
    a = done("a", consumed=(("b", "b@1"),))
    b = done("b", consumed=(("a", "a@1"),))

    assert state(a, board_of(a, b)) is S.COMPLETED


def test_stale_counts_as_ended() -> None:
    nodes = board_of(changed(done("a")), node("b"), node("c", state=S.CHECKPOINTED))

    assert names(open_nodes(nodes)) == ["b"]


# --- parents and children


def family() -> dict[str, object]:
    return dict(
        board_of(
            node("top", state=S.WAITING),
            node("mid", parent="TOP", state=S.WAITING),
            node("leaf", parent="mid"),
            node("other"),
        )
    )


def test_the_family_is_known_in_both_directions() -> None:
    nodes = family()

    assert ancestors("leaf", nodes) == ("mid", "top")  # type: ignore[arg-type]
    assert names(children("top", nodes)) == ["mid"]  # type: ignore[arg-type]
    assert names(descendants("top", nodes)) == ["mid", "leaf"]  # type: ignore[arg-type]


def test_the_coordinators_nodes_lie_at_one() -> None:
    nodes = family()
    depths = [depth(one, nodes) for one in (None, "top", "leaf")]  # type: ignore[arg-type]

    assert depths == [0, 1, 3]


@pytest.mark.parametrize(
    "parents", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "a"}]
)
def test_parents_in_a_circle_end_nothing_but_themselves(
    parents: dict[str, str],
) -> None:
    nodes = board_of(*(node(one, parent=up) for one, up in parents.items()), node("x"))

    assert "a" not in ancestors("a", nodes)
    assert "a" not in names(descendants("a", nodes))
    assert "parent" in fault(nodes["a"], nodes)
    assert names(startable(nodes)) == ["x"]


def test_a_parent_that_is_gone_holds_nothing_back() -> None:
    nodes = board_of(node("c", parent="gone"))

    assert names(startable(nodes)) == ["c"]


# --- waiting


def test_the_coordinator_may_wait_for_any_node_there_is() -> None:
    nodes = board_of(node("a"), node("b", "a"))

    assert wait_fault(None, ["a", "B"], nodes) == ""
    assert "ghost" in wait_fault(None, ["a", "ghost"], nodes)


def test_a_node_may_wait_for_its_children_and_for_others() -> None:
    nodes = board_of(
        node("p", state=S.RUNNING), node("c", parent="p"), node("x", state=S.RUNNING)
    )

    assert wait_fault("p", ["c", "x"], nodes) == ""


def test_nobody_waits_for_itself_or_an_ancestor() -> None:
    nodes = family()

    assert "itself" in wait_fault("leaf", ["LEAF"], nodes)  # type: ignore[arg-type]
    assert "ancestor" in wait_fault("leaf", ["top"], nodes)  # type: ignore[arg-type]


def test_nobody_waits_for_who_depends_on_it() -> None:
    nodes = board_of(node("a", state=S.RUNNING), node("b", "a"), node("c", "b"))

    assert "circle" in wait_fault("a", ["c"], nodes)


def test_nobody_waits_for_who_waits_for_its_parent() -> None:
    nodes = board_of(
        node("p", state=S.WAITING),
        node("c", parent="p", state=S.RUNNING),
        node("after", "p"),
    )

    assert "circle" in wait_fault("c", ["after"], nodes)


def test_two_workers_do_not_wait_for_each_other() -> None:
    nodes = board_of(node("a", state=S.RUNNING), node("b", state=S.WAITING))

    assert wait_fault("a", ["b"], nodes) == ""
    assert "circle" in wait_fault("a", ["b"], nodes, {"b": ["a"]})


def test_what_has_ended_may_be_waited_for() -> None:
    nodes = board_of(node("a", state=S.RUNNING), done("b", "a"))

    assert wait_fault("a", ["b"], nodes) == ""


# --- why not


def test_each_open_node_says_why_it_does_not_go_on() -> None:
    nodes = board_of(
        node("failed", state=S.FAILED),
        node("after", "failed"),
        node("free"),
        node("named", worker="Alice"),
        node("held", state=S.HELD, waiting_for="the agent's budget"),
        node("running", state=S.RUNNING),
    )

    assert {one.id: why_not(one, nodes) for one in open_nodes(nodes)} == {
        "after": "waits for failed, which is failed",
        "free": "it waits for a free worker",
        "named": "it waits for Alice",
        "held": "the agent's budget",
        "running": "",
    }


def test_a_node_that_names_a_retired_worker_says_so() -> None:
    one, hands = node("a", worker="alice"), [Hand("Alice", busy=False, retired=True)]
    nodes = board_of(one)

    assert "retired" in why_not(one, nodes, hands)
    assert startable(nodes, hands) == ()


# --- who takes what


def hand(name: str, *, busy: bool = False, retired: bool = False) -> Hand:
    return Hand(name, busy=busy, retired=retired)


def chosen(one: str, nodes: object, *hands: Hand) -> str | None:
    return choose_worker(nodes[one], nodes, hands)  # type: ignore[index,arg-type]


def test_an_idle_worker_takes_a_node_without_a_name() -> None:
    nodes = board_of(node("a"))

    assert chosen("a", nodes, hand("Bob", busy=True), hand("Alice")) == "Alice"


def test_a_new_worker_takes_it_when_nobody_is_idle() -> None:
    nodes = board_of(node("a"))
    hands = (hand("Worker-1", busy=True), hand("worker-3", retired=True))

    assert chosen("a", nodes) == "worker-1"
    assert chosen("a", nodes, *hands) == "worker-2"


@pytest.mark.parametrize("asks", ["Alice", Identity("Alice", role="analyst")])
def test_a_named_worker_that_does_not_exist_is_to_be_made(asks: str | Identity) -> None:
    nodes = board_of(node("a", spec=NodeSpec("x", worker=asks)))

    assert chosen("a", nodes, hand("Bob")) == "Alice"


def test_a_named_worker_is_waited_for() -> None:
    nodes = board_of(node("a", worker="ALICE"))

    assert chosen("a", nodes, hand("Alice"), hand("Bob")) == "Alice"
    assert chosen("a", nodes, hand("Alice", busy=True), hand("Bob")) is None
    assert chosen("a", nodes, hand("Alice", retired=True), hand("Bob")) is None


def test_an_assignment_goes_before_the_name_in_the_spec() -> None:
    nodes = board_of(node("a", spec=NodeSpec("x", worker="Alice"), state=S.ASSIGNED))
    nodes = board_of(with_status(nodes["a"], worker="Bob"))

    assert chosen("a", nodes, hand("Alice"), hand("Bob")) == "Bob"


def test_who_had_it_before_is_the_first_choice_but_not_the_only_one() -> None:
    nodes = board_of(with_status(node("a"), worker="Bob"))

    assert chosen("a", nodes, hand("Alice"), hand("Bob")) == "Bob"
    assert chosen("a", nodes, hand("Alice"), hand("Bob", retired=True)) == "Alice"


def test_a_child_may_not_name_a_busy_ancestors_worker() -> None:
    top = with_status(node("top", state=S.WAITING), worker="Alice")
    mid = with_status(node("mid", state=S.WAITING, parent="top"), worker="Bob")
    leaf = node("leaf", parent="mid", worker="alice")
    nodes = board_of(top, mid, leaf)

    assert "busy with a node above" in fault(leaf, nodes)
    assert startable(nodes) == ()
    assert chosen("leaf", nodes, hand("Alice", busy=True)) is None


def test_a_child_may_name_the_worker_of_an_ancestor_that_is_not_at_work() -> None:
    top = with_status(node("top", state=S.CHECKPOINTED), worker="Alice")
    leaf = node("leaf", parent="top", worker="Alice")
    nodes = board_of(top, leaf)

    assert fault(leaf, nodes) == ""
    assert chosen("leaf", nodes, hand("Alice")) == "Alice"


def test_an_ancestors_worker_is_never_chosen_for_a_child() -> None:
    top = with_status(node("top", state=S.ASSIGNED), worker="alice")
    nodes = board_of(top, node("leaf", parent="top"))

    assert chosen("leaf", nodes, hand("Alice"), hand("Bob")) == "Bob"


def test_a_worker_that_another_node_was_assigned_to_is_left_to_it() -> None:
    mine = with_status(node("mine", state=S.ASSIGNED), worker="Alice")
    nodes = board_of(node("any"), mine)

    assert chosen("any", nodes, hand("Alice")) == "worker-1"
    assert chosen("mine", nodes, hand("Alice")) == "Alice"
