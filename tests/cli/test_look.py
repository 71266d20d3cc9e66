from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from agiraph.tree.lock import TreeLock
from tests.support.trees import lines, write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

RUN = "runs/2026-11-21-01"


def test_one_page_tells_what_runs_waits_costs_and_is_wrong(run: Run) -> None:
    page = run("status")
    assert page.exit_code == 0
    out = page.stdout
    assert "The daemon is not running" in out
    assert "news" in out
    assert "working" in out
    assert "1/3 done" in out
    assert "Alice at nvidia asks (q-001): Which year?" in out
    assert "answer in news/_questions/q-001.md" in out
    assert "held one: held, a price for mylab/big" in out
    assert "broken/GOAL.md: Line 2, column 7, `mode`; found: 'sometimes'" in out
    assert "allowed: finite or infinite (and 1 more)\n" in out
    assert "broken: GOAL.md was not accepted" not in out
    assert "node intel failed: out of turns" in out
    assert "`sandbox`" in out
    assert "`ask`" in out


def test_keys_that_nobody_knows_are_told(run: Run, root: Path) -> None:
    odd = "the key `bugdet` is unknown and ignored; did you mean `budget`?"
    page = f"---\nstatus: working\nremarks:\n  - 'GOAL.md, line 2: {odd}'\n---\n"
    (root / "news" / "_status.md").write_text(page)
    (root / "agiraph.yaml").write_text("# odd: 1\nbugdet: {usd: 3}\n")

    out = run("status").stdout

    assert f"  news/GOAL.md, line 2: {odd}\n" in out
    assert f"  agiraph.yaml: line 2: {odd}\n" in out


def test_an_empty_goal_is_told(run: Run, root: Path) -> None:
    (root / "blank").mkdir()
    (root / "blank" / "GOAL.md").write_text("\n")
    assert "  blank: new, its goal: GOAL.md is empty\n" in run("status").stdout


def test_what_to_do_is_told_to_its_end(run: Run, root: Path) -> None:
    words = "set this, " * 60 + "and that"
    page = f"---\nstatus: held\nwaiting_for: {words!r}\n---\n"
    (root / "held one" / "_status.md").write_text(page)
    node = root / "news" / RUN / "nodes" / "nvidia" / "_status.md"
    node.write_text(page.replace("set this", "set my"))
    out = run("status").stdout
    assert f"held one: held, {words}\n" in out
    assert f"node nvidia is held, {words.replace('set this', 'set my')}\n" in out


def test_an_unknown_cost_is_never_shown_as_nothing(run: Run) -> None:
    page = run("status")
    assert re.search(r"(?m)^held one .* unknown *$", page.stdout)
    assert "Cost: $0.25 known; unknown for one agent" in page.stdout
    shown = json.loads(run("status", "--json").stdout)
    assert shown["cost_usd"] is None
    assert shown["known_cost_usd"] == 0.25
    held = next(each for each in shown["agents"] if each["name"] == "held one")
    assert held["cost_usd"] is None


def test_the_json_of_status_keeps_its_keys(run: Run) -> None:
    shown = json.loads(run("status", "news", "--json").stdout)
    assert set(shown) >= {"root", "daemon", "paused", "cost_usd", "tokens", "agents"}
    (agent,) = shown["agents"]
    assert agent["name"] == "news"
    assert agent["status"] == "working"
    assert agent["run"] == "2026-11-21-01"
    assert agent["tokens"] == 12345
    assert [each["id"] for each in agent["nodes"]] == ["amd", "intel", "nvidia"]
    assert [each["status"] for each in agent["nodes"]] == [
        "completed",
        "failed",
        "pending",
    ]
    assert agent["workers"] == [{"name": "Alice", "status": "busy", "node": "nvidia"}]
    assert [each["id"] for each in agent["questions"]] == ["q-001"]


def test_an_answered_question_no_longer_waits(run: Run) -> None:
    assert "q-002" not in run("status").stdout


def test_the_daemon_that_holds_the_lock_is_named(run: Run, root: Path) -> None:
    since = datetime(2026, 11, 21, 20, tzinfo=UTC)
    with TreeLock.take(str(root), version="1", since=since):
        assert f"The daemon is running (pid {os.getpid()}" in run("status").stdout
    assert "not running" in run("status").stdout


@pytest.mark.parametrize("typed", ["News", "NEWS"])
def test_the_case_of_a_name_does_not_matter(run: Run, typed: str) -> None:
    assert run("status", typed).exit_code == 0


def test_a_wrong_name_brings_the_nearest_one(run: Run) -> None:
    result = run("status", "nwes")
    assert result.exit_code == 3
    assert "Did you mean 'news'?" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "typed", ["../agents/news", ".", "..", "", "/etc", "a\0b", "ü"]
)
def test_a_name_never_leads_out_of_the_tree(run: Run, typed: str) -> None:
    result = run("show", typed)
    assert result.exit_code == 3
    assert "Traceback" not in result.output


def test_a_wrong_command_brings_the_nearest_one(run: Run) -> None:
    result = run("statsu")
    assert result.exit_code == 2
    assert "Did you mean 'status'?" in result.stderr


@pytest.mark.parametrize("before", [True, False])
def test_the_tree_is_named_before_or_after_the_command(
    run: Run, tmp_path: Path, *, before: bool
) -> None:
    other = write(tmp_path / "other", {"solo/GOAL.md": "Go.\n"})
    flag = ["--agents", str(other)]
    words = [*flag, "status", "--json"] if before else ["status", "--json", *flag]
    shown = json.loads(run(*words).stdout)
    assert [each["name"] for each in shown["agents"]] == ["solo"]
    assert shown["agents"][0]["status"] == "new"


def test_a_tree_that_is_not_there_is_not_found(run: Run, tmp_path: Path) -> None:
    result = run("status", "--agents", str(tmp_path / "nowhere"))
    assert result.exit_code == 3
    assert "agiraph init" in result.stderr


def test_a_file_is_no_tree(run: Run, root: Path) -> None:
    result = run("status", "--agents", str(root / "news" / "GOAL.md"))
    assert result.exit_code == 4


def test_what_a_model_wrote_cannot_drive_the_terminal(run: Run, root: Path) -> None:
    status = root / "news" / RUN / "nodes" / "amd" / "_status.md"
    status.write_text('---\nstatus: failed\nerror: "\\e[2Jgone"\n---\n')
    for words in (["status"], ["show", "news", "amd"], ["logs", "news"]):
        assert "\x1b" not in run(*words).stdout


def test_an_agent_is_shown_with_goal_nodes_and_files(run: Run) -> None:
    out = run("show", "news").stdout
    assert "Sum up." in out
    assert "intel" in out
    shown = json.loads(run("show", "news", "--json").stdout)
    assert shown["goal"] == "Sum up."
    assert shown["settings"]["model"] == "offline/digest"


def test_a_node_is_shown_with_spec_refs_steps_and_files(run: Run) -> None:
    out = run("show", "news", "amd").stdout
    assert "Look at AMD." in out
    assert "notes" in out
    assert "turn 1  read_file \N{MULTIPLICATION SIGN} 2, bash" in out
    assert "says: I look first." in out
    assert "read_file: A page." in out
    assert "FAILED bash: no x" in out
    assert "notes: inputs/notes.md (2.3 kB)" in out
    assert f"news/{RUN}/nodes/amd/published/findings.md" in out
    shown = json.loads(run("show", "news", "amd", "--json").stdout)
    assert shown["status"] == "completed"
    assert shown["refs"]["notes"][0]["path"] == "inputs/notes.md"
    assert shown["steps"][0]["calls"] == ["read_file", "read_file", "bash"]


def test_a_node_that_is_not_there_is_not_found(run: Run) -> None:
    result = run("show", "news", "nvidai")
    assert result.exit_code == 3
    assert "Did you mean 'nvidia'?" in result.stderr


def _event_lines(run: Run, *words: str) -> list[str]:
    return run("logs", "news", *words).stdout.splitlines()


def test_events_are_sentences_with_the_time_of_this_machine(run: Run) -> None:
    when = datetime(2026, 11, 21, 20, 0, 5, tzinfo=UTC).astimezone()
    assert len(_event_lines(run)) == 2
    assert _event_lines(run)[1].startswith(
        f"{when:%Y-%m-%d %H:%M:%S}  node intel failed: no "
    )


def test_small_events_and_details_are_told_when_asked(run: Run, root: Path) -> None:
    with (root / "news" / "events.jsonl").open("a") as log:
        log.write(lines({"ts": "", "type": "worker.idle", "worker": "Alice"}))
    assert len(_event_lines(run)) == 2
    told = _event_lines(run, "--all")
    assert len(told) == 3
    assert "[type=node.failed, run=2026-11-21-01, node=intel" in told[1]
    assert "worker Alice is idle" in told[2]


def test_an_event_of_a_later_version_is_told_by_its_type(run: Run, root: Path) -> None:
    with (root / "news" / "events.jsonl").open("a") as log:
        log.write(lines({"ts": "x", "type": "node.sang"}))
    assert _event_lines(run)[2] == "x  node.sang"


def test_events_as_json_are_the_lines_of_the_log(run: Run, root: Path) -> None:
    shown = [
        json.loads(line) for line in run("logs", "news", "--json").stdout.splitlines()
    ]
    log = (root / "news" / "events.jsonl").read_text().splitlines()
    assert shown == [json.loads(line) for line in log]


def test_only_the_last_events_are_shown_when_asked(run: Run) -> None:
    assert len(run("logs", "news", "-n", "1").stdout.splitlines()) == 1


def test_a_resting_agents_runs_are_not_opened_for_the_page(
    run: Run, root: Path
) -> None:
    status = root / "news" / "_status.md"
    status.write_text(status.read_text().replace("working", "completed"))
    page = run("status").stdout
    assert "1/3 done" in page
    shown = json.loads(run("status", "--json").stdout)
    news = next(each for each in shown["agents"] if each["name"] == "news")
    assert len(news["nodes"]) == 3


def test_many_agents_at_rest_are_folded(run: Run, root: Path) -> None:
    for number in range(30):
        write(
            root,
            {
                f"old {number:02}/GOAL.md": "Done.\n",
                f"old {number:02}/_status.md": "---\nstatus: completed\n---\n",
            },
        )
    assert "… and 10 more at rest" in run("status").stdout


def test_models_are_a_table_and_json(run: Run) -> None:
    out = run("models")
    assert out.exit_code == 0
    assert "offline" in out.stdout
    shown = json.loads(run("models", "--json").stdout)["models"]
    offline = next(each for each in shown if each["model"] == "offline/digest")
    assert offline["usable"] is True


def _process(root: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        env={**os.environ, "AGIRAPH_AGENTS": str(root), **env},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", [["status"], ["status", "--json"], ["logs", "news"]])
def test_looking_imports_nothing_heavy(root: Path, words: list[str]) -> None:
    told = _process(root, "-X", "importtime", "-m", "agiraph", *words)
    assert told.returncode == 0
    names = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    heavy = {
        "anthropic",
        "openai",
        "httpx",
        "genai_prices",
        "watchfiles",
        "apscheduler",
    }
    assert "agiraph.cli.app" in names
    assert not heavy & {name.partition(".")[0] for name in names}
    assert "asyncio" not in names
    if "--json" in words:
        assert "rich" not in names


def test_no_colour_is_written_where_none_is_wanted(root: Path) -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {}):
        told = _process(root, "-m", "agiraph", "status", **env)
        assert "\x1b" not in told.stdout


@pytest.mark.skipif(shutil.which("script") is None, reason="needs script(1)")
@pytest.mark.parametrize(
    ("flag", "env", "coloured"),
    [("", {}, True), ("--no-color", {}, False), ("", {"NO_COLOR": "1"}, False)],
)
def test_colour_is_for_terminals(
    root: Path, flag: str, env: dict[str, str], *, coloured: bool
) -> None:
    environment = {**os.environ, "AGIRAPH_AGENTS": str(root), "TERM": "xterm", **env}
    if not env:
        environment.pop("NO_COLOR", None)
    command = f"{sys.executable} -m agiraph status {flag}"
    told = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert ("\x1b[" in told.stdout) is coloured


def test_a_reader_that_leaves_early_is_no_news(root: Path) -> None:
    events = root / "news" / "events.jsonl"
    events.write_text('{"ts": "", "type": "agent.started"}\n' * 50_000)
    command = f"{sys.executable} -m agiraph logs news --json | head -1"
    told = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "AGIRAPH_AGENTS": str(root)},
        timeout=60,
        check=False,
    )
    assert told.stdout.count("\n") == 1
    assert told.stderr == ""


def test_a_bug_is_one_sentence_and_its_trace_is_for_those_who_ask(root: Path) -> None:
    code = (
        "from agiraph.cli import app, view\n"
        "def broken(*_, **__): raise ZeroDivisionError('by zero')\n"
        "view.agent_names = broken\n"
        "import sys; sys.argv = ['agiraph', 'status']; app.main()\n"
    )
    told = _process(root, "-c", code)
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "ZeroDivisionError: by zero" in told.stderr
    assert "AGIRAPH_TRACE=1" in told.stderr
    traced = _process(root, "-c", code, AGIRAPH_TRACE="1")
    assert traced.returncode == 1
    assert "Traceback" in traced.stderr


def test_a_channel_that_takes_no_notices_is_a_line(root: Path, run: Run) -> None:
    (root / ".agiraph").mkdir(exist_ok=True)
    (root / ".agiraph/notify.json").write_text(
        '[{"channel": "webhook a.example", "since": "2026-11-21T20:14:03+00:00", '
        '"error": "it answered with HTTP 500", "waiting": 3}]'
    )
    out = run("status").stdout
    assert "notify: webhook a.example: it answered with HTTP 500" in out
    assert "3 waiting" in out
