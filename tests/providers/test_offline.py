"""`offline/digest` led through whole runs on tools that are played by the test."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agiraph.core.brief import Listed, NodeBrief, node_brief
from agiraph.core.offline.talk import CHECKPOINT
from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import AssistantLine, Kind, Stop
from agiraph.model.usage import Usage
from agiraph.providers.offline import OfflineProvider, move_for
from agiraph.tree.templates import template
from tests.support.offline import WORKER, Refused, Speaker, World, again

if TYPE_CHECKING:
    from typing import Any

WHALES = (
    "# Whales\n\nA blue whale eats 4 tonnes of krill each day. Krill drift in cold "
    "water. Whales follow the krill through cold water every summer. The cold water "
    "holds more krill than warm water does. Sailors have counted whales since 1920.\n"
)
STAMPS = (
    "# Stamps\n\nThe first stamp cost one penny in 1840. A stamp shows that the letter "
    "is paid. Before the stamp the person who got the letter paid for the letter. "
    "Collectors pay more than 1,000 dollars for a rare stamp from an old letter.\n"
)


def world(**files: str | bytes) -> World:
    return World({name.replace("_", "."): data for name, data in files.items()})


def calls_of(speaker: Speaker) -> list[list[str]]:
    return [
        [call.name for call in line.tool_calls]
        for line in speaker.lines
        if isinstance(line, AssistantLine)
    ]


def never(name: str, args: dict[str, Any]) -> str:
    raise AssertionError((name, args))


# --- the whole of it


def test_a_run_ends_with_a_report_about_the_texts_it_was_given() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.whole_run()
    assert set(run.nodes) == {"whales", "stamps", "report"}
    assert run.nodes["report"]["depends_on"] == ["stamps", "whales"]
    assert run.finished["artifacts"] == ["published/report.md"]
    report = run.run["report.md"]
    assert "| Whales |" in report
    assert "| Stamps |" in report
    assert "4 tonnes" in report
    assert report == run.published["report"]["report.md"]


def test_other_inputs_give_another_report() -> None:
    one, other = world(whales_md=WHALES), world(stamps_md=STAMPS)
    one.whole_run()
    other.whole_run()
    assert "krill" in one.run["report.md"]
    assert "krill" not in other.run["report.md"]
    assert one.finished["summary"] != other.finished["summary"]


def test_everything_that_is_written_says_first_that_no_model_was_used() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.whole_run()
    pages = [
        text
        for files in (run.run, *run.published.values())
        for name, text in files.items()
        if name.endswith(".md")
    ]
    assert len(pages) == 5
    said = [run.finished["summary"], *(node["summary"] for node in run.nodes.values())]
    for text in (*pages, *said):
        assert text.startswith("No language model was used")


def test_nothing_is_told_of_the_texts_that_is_not_in_them() -> None:
    run = world(whales_md=WHALES)
    run.whole_run()
    quoted = [
        line.removeprefix("> ").removeprefix("- ")
        for line in run.run["report.md"].splitlines()
        if line.startswith(("> ", "- "))
    ]
    assert quoted
    assert all(line in WHALES for line in quoted)


def test_a_restart_at_any_point_brings_the_same_move() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.whole_run()
    for speaker in (run.coordinator, *run.workers.values()):
        lines = speaker.lines
        for at, line in enumerate(lines):
            if not isinstance(line, AssistantLine):
                continue
            speaker.lines = lines[:at]
            move = move_for(again(speaker))
            assert [name for name, _ in move.calls] == [c.name for c in line.tool_calls]
            assert [a for _, a in move.calls] == [c.arguments for c in line.tool_calls]
            assert move.text == line.content


def test_an_answer_costs_nothing_and_keeps_its_own_form() -> None:
    run = world(whales_md=WHALES)
    run.brief()
    answer = run.coordinator.ask()
    assert answer.usage == Usage()
    assert answer.stop is Stop.TOOLS
    assert answer.own == {"wire": "offline", "content": ""}
    assert len({call.id for call in answer.calls}) == len(answer.calls)


def test_another_offline_model_is_refused_in_words() -> None:
    run = world(whales_md=WHALES)
    run.brief()
    request = run.coordinator.request()
    wrong = replace(request, prefix=replace(request.prefix, model="offline/poet"))
    with pytest.raises(ProviderFault, match=r"offline/poet.*offline/digest") as fault:
        asyncio.run(OfflineProvider().ask(wrong))
    assert fault.value.kind is Fault.MODEL


# --- the coordinator


def test_folders_in_inputs_are_opened_and_what_is_no_text_is_named() -> None:
    files = {
        "a/b/deep.txt": WHALES,
        "photo.jpg": b"\xff\xd8",
        "noise": b"\0\1\2",
        "empty.md": "",
    }
    run = World(files)
    run.whole_run()
    left = run.run["report.md"].partition("## Left out")[2]
    for name in ("photo.jpg", "noise", "empty.md"):
        assert f"inputs/{name}" in left
        assert f"inputs/{name}" in run.finished["summary"]
    assert "deep" in run.nodes


def test_many_texts_are_shared_out_by_size() -> None:
    files: dict[str, str | bytes] = {
        f"t{n:02}.txt": f"Text {n} is about subject{n}. " * (n + 1) for n in range(30)
    }
    run = World(files)
    run.whole_run()
    assert len(run.nodes) == 9
    report = run.run["report.md"]
    assert all(f"`inputs/{name}`" in report for name in files)


def test_two_texts_of_one_name_keep_apart() -> None:
    run = World({"a/notes.txt": WHALES, "b/notes.md": STAMPS})
    run.whole_run()
    assert set(run.nodes) == {"notes", "notes-2", "report"}
    assert "Whales" in run.run["report.md"]
    assert "Stamps" in run.run["report.md"]


def test_a_node_whose_name_is_taken_gets_another() -> None:
    run = world(whales_md=WHALES)
    run.nodes["whales"] = {"task": "a person's", "depends_on": []}
    run.states["whales"] = "completed"
    run.whole_run()
    assert run.nodes["report"]["depends_on"] == ["whales-again"]


def test_the_coordinator_parks_with_a_word_while_nodes_are_at_work() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.brief()
    assert "0 of 2" in run.coordinator.speak()
    lines = "\n".join(run.work_on(node) for node in ("whales", "stamps"))
    run.coordinator.hear(f"<agiraph>{lines}</agiraph>", Kind.NOTICE)
    assert "report is being written" in run.coordinator.speak()
    assert not run.coordinator.ended


def test_without_texts_the_goals_own_text_is_digested() -> None:
    goal = "---\nrun: 1\n---\n" + WHALES * 5
    run = World({}, goal)
    run.whole_run()
    assert "krill" in run.run["report.md"]
    assert run.run["goal.md"].startswith("---\nrun: 1")


def test_without_texts_and_with_a_short_goal_it_says_what_to_do() -> None:
    run = World({}, "Digest.\n")
    run.whole_run()
    assert not run.nodes
    assert "nothing to read" in run.finished["summary"]
    assert "inputs/" in run.finished["summary"]


def test_a_failed_node_is_named_and_the_rest_is_reported() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.refuse["whales:write_file"] = "permission denied"
    run.whole_run()
    assert run.states == {
        "whales": "failed",
        "stamps": "completed",
        "report": "cancelled",
        "report-v2": "completed",
    }
    assert "inputs/whales.md" in run.run["report.md"].partition("## Left out")[2]
    assert "inputs/whales.md" in run.finished["summary"]


def test_when_every_node_fails_the_end_is_honest() -> None:
    run = world(whales_md=WHALES)
    run.refuse["whales:write_file"] = "permission denied"
    run.whole_run()
    assert "No text could be digested" in run.finished["summary"]
    assert "inputs/whales.md" in run.finished["summary"]


def test_when_the_report_fails_the_digests_are_the_result() -> None:
    run = world(whales_md=WHALES)
    run.refuse["report:write_file"] = "the disk is full"
    run.whole_run()
    assert run.finished["artifacts"] == ["nodes/whales/published/digest-whales.md"]
    assert "the report" in run.finished["summary"]


def test_told_that_nothing_can_go_on_it_ends_with_what_is_there() -> None:
    run = world(whales_md=WHALES, stamps_txt=STAMPS)
    run.brief()
    run.coordinator.speak()
    line = run.work_on("whales")
    run.coordinator.hear(f"<agiraph>{line}</agiraph>", Kind.NOTICE)
    run.coordinator.speak()
    text = "<agiraph>Nothing can go on, and your turn ended.\n\nstamps: held</agiraph>"
    run.coordinator.hear(text, Kind.NOTICE)
    run.coordinator.speak()
    assert run.states["stamps"] == "cancelled"
    run.work()
    run.coordinator.speak()
    assert "inputs/stamps.txt" in run.finished["summary"]
    assert "| Whales |" in run.run["report.md"]


def test_a_refused_finish_is_tried_again_only_when_something_has_happened() -> None:
    run = world(whales_md=WHALES)
    run.refuse["finish"] = "nodes are still open: mine (running); wait for them"
    run.brief()
    run.coordinator.speak()
    for _ in range(2):
        run.work()
        text = run.coordinator.speak()
    assert "mine (running)" in text
    del run.refuse["finish"]
    text = "<agiraph>[node mine completed, worker A, 2 turns, $0.00] done</agiraph>"
    run.coordinator.hear(text, Kind.NOTICE)
    run.coordinator.speak()
    assert run.coordinator.ended == "finish"


def test_a_person_who_writes_gets_an_answer_and_the_work_goes_on() -> None:
    run = world(whales_md=WHALES)
    run.brief()
    run.coordinator.ask()
    run.coordinator.hear("[message from human]\nHow far are you?", Kind.MAIL, "human")
    run.coordinator.ask()
    assert len(run.told) == 1
    assert run.told[0].startswith("No language model was used")
    run.coordinator.speak()
    run.coordinator.hear("And now?", Kind.MAIL, "human")
    text = run.coordinator.speak()
    assert "0 of 1 nodes" in text or "0 of 2 nodes" in text
    run.work()
    run.coordinator.speak()
    run.work()
    run.coordinator.speak()
    assert run.coordinator.ended == "finish"


def test_after_the_end_a_message_is_answered_and_nothing_is_done() -> None:
    run = world(whales_md=WHALES)
    run.whole_run()
    run.coordinator.hear("Thank you!", Kind.MAIL, "human")
    answer = run.coordinator.ask()
    assert not answer.calls
    assert "finished" in answer.text


def test_a_new_run_begins_anew_with_what_is_there_now() -> None:
    run = world(whales_md=WHALES)
    run.whole_run()
    later = world(stamps_md=STAMPS)
    later.coordinator.lines = run.coordinator.lines
    later.whole_run()
    assert "stamp" in later.run["report.md"]
    assert set(later.nodes) == {"stamps", "report"}


def test_without_its_tools_it_says_so() -> None:
    speaker = Speaker(("bash",), never)
    speaker.hear("# Run 1", Kind.BRIEF)
    assert "list_files" in speaker.speak()


def test_an_agent_that_does_not_end_goes_in_cycles() -> None:
    run = world(whales_md=WHALES)
    prefix = run.coordinator.prefix
    content = "This goal does not end. You work in cycles."
    run.coordinator.prefix = replace(prefix, content=content)
    run.whole_run()
    assert run.coordinator.ended == CHECKPOINT
    first = run.finished["summary"]
    assert "scratch/report.md" in first

    run.coordinator.hear("What have you got?", Kind.MAIL, "human")
    assert first in run.coordinator.ask().text

    run.coordinator.ended = ""
    run.coordinator.hear("<agiraph>A new cycle begins.</agiraph>", Kind.NOTICE)
    run.coordinator.speak()
    assert run.finished["summary"].startswith(first)
    assert "has changed" in run.finished["summary"]
    assert set(run.nodes) == {"whales", "report"}

    run.inputs["inputs/stamps.md"] = STAMPS
    run.coordinator.ended = ""
    run.coordinator.hear("<agiraph>A new cycle begins.</agiraph>", Kind.NOTICE)
    run.coordinator.speak()
    for _ in range(2):
        run.work()
        run.coordinator.speak()
    assert "2 texts" in run.finished["summary"]


def test_an_end_that_was_not_told_is_found_by_looking() -> None:
    run = world(whales_md=WHALES)
    run.brief()
    run.coordinator.speak()
    run.work_on("whales")
    run.work_on("report")
    text = "<agiraph>Nothing can go on, and your turn ended.</agiraph>"
    run.coordinator.hear(text, Kind.NOTICE)
    run.coordinator.speak()
    assert run.coordinator.ended == "finish"
    assert set(run.nodes) == {"whales", "report"}
    assert "Left out" not in run.finished["summary"]


# --- the worker


def test_a_long_text_is_read_to_its_end_in_few_turns() -> None:
    lines = [f"Line {n} tells of thing{n} and of its {n} km.\n" for n in range(9000)]
    run = world(long_txt="\n".join(lines) + "\nThe zebra stands at the end.\n")
    run.brief()
    run.coordinator.speak()
    run.work_on("long")
    made = run.published["long"]["digest-long.json"]
    assert '"sentences": 9001' in made
    assert len(calls_of(run.workers["long"])) < 9


def test_lines_that_are_cut_are_named_in_the_report() -> None:
    run = world(
        wide_txt="word and word again. " * 3000 + "\nA second line stands here.\n"
    )
    run.whole_run()
    page = run.published["wide"]["digest-wide.md"]
    assert "line 1 has" in page
    assert "line 1 has" in run.run["report.md"].partition("## Left out")[2]


def test_a_worker_looks_back_in_one_honest_line() -> None:
    run = world(whales_md=WHALES)
    run.whole_run()
    worker = run.workers["whales"]
    worker.hear("Your node is complete. What did you learn?", Kind.NOTICE)
    answer = worker.ask()
    assert not answer.calls
    assert "without a language model" in answer.text
    assert "inputs/whales.md" in answer.text
    merger = run.workers["report"]
    merger.hear("What did you learn?", Kind.NOTICE)
    assert merger.ask().text == "nothing"


def test_a_node_that_a_person_wrote_is_done_by_its_own_words() -> None:
    run = world(whales_md=WHALES, stamps_md=STAMPS)
    run.create({"id": "mine", "task": "Please digest inputs/whales.md for me."})
    run.work_on("mine")
    assert set(run.published["mine"]) == {"digest-whales.md", "digest-whales.json"}


def test_a_node_that_names_a_folder_reads_what_is_in_it() -> None:
    run = World({"sea/whales.md": WHALES, "post/stamps.md": STAMPS})
    refs = {"sea": "inputs/sea"}
    run.create({"id": "mine", "task": "Digest the refs.", "refs": refs})
    shown = run.shown

    def folder_or_file(path: str, args: dict[str, Any]) -> str:
        if path == "inputs/sea":
            raise Refused("inputs/sea is a folder; list_files shows what is in it.")
        return shown(path, args)

    run.shown = folder_or_file  # type: ignore[method-assign]
    run.work_on("mine")
    assert set(run.published["mine"]) == {"digest-whales.md", "digest-whales.json"}


def test_a_refused_publish_is_told_and_after_a_reminder_published_in_part() -> None:
    seen: list[dict[str, Any]] = []

    def play(name: str, args: dict[str, Any]) -> str:
        if name == "publish":
            seen.append(args)
            if not args.get("partial"):
                raise Refused("the check failed: other.md is not there")
        if name == "read_file":
            return "Digest `inputs/whales.md`." if "_spec" in args["path"] else WHALES
        return "done"

    worker = Speaker(WORKER, play, node="mine")
    worker.hear("# Your node: mine", Kind.BRIEF)
    assert "other.md" in worker.speak()
    worker.hear("You answered without calling a tool.", Kind.NOTICE)
    worker.speak()
    assert worker.ended == "publish"
    assert seen[-1]["partial"] is True
    assert "other.md" in seen[-1]["summary"]


# --- without tools


def brief(spec: str, refs: tuple[tuple[str, tuple[Listed, ...]], ...] = ()) -> str:
    return node_brief(
        NodeBrief(
            date="2026-11-21", node="one", spec=spec, goal="Digest.", stage="1",
            memory="I remember penguins.", notebook="", refs=refs, others=(),
            inputs=True, earlier="", how_to_end="Answer now.",
        )
    )  # fmt: skip


def test_without_tools_the_refs_of_the_brief_are_digested() -> None:
    speaker = Speaker((), never, node="one")
    refs = (("whales", (Listed("inputs/whales.md", len(WHALES), WHALES),)),)
    speaker.hear(brief("Digest this.", refs), Kind.BRIEF)
    text = speaker.speak()
    assert text.startswith("No language model was used")
    assert "# Digest: Whales" in text
    assert "penguins" not in text


def test_without_tools_and_refs_the_task_itself_is_digested() -> None:
    speaker = Speaker((), never, node="one")
    speaker.hear(brief(f"---\nmax_turns: 1\n---\n{STAMPS}"), Kind.BRIEF)
    text = speaker.speak()
    assert "# Digest: Stamps" in text
    assert "max_turns" not in text


def test_the_texts_of_the_template_give_a_report_over_all_of_them() -> None:
    files: dict[str, str | bytes] = {
        path.removeprefix("inputs/"): data.decode()
        for path, data in template("digest").items()
        if path.startswith("inputs/")
    }
    run = World(files)
    run.whole_run()
    assert f"Report on {len(files)} texts" in run.run["report.md"]
