from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from agiraph.core.codec import Good, read_tree_settings
from agiraph.model.agent import TreeSettings
from agiraph.tree.lock import TreeLock
from tests.support.trees import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

RUN = "runs/2026-11-21-01"


def test_a_new_tree_has_settings_that_are_the_defaults(
    run: Run, tmp_path: Path
) -> None:
    made = run("init", str(tmp_path / "mine"))
    assert made.exit_code == 0
    assert made.stdout.strip() == str(tmp_path / "mine")
    text = (tmp_path / "mine" / "agiraph.yaml").read_text()
    assert read_tree_settings(text) == Good(TreeSettings())
    assert (tmp_path / "mine" / "README.md").is_file()


def test_making_a_tree_again_changes_nothing(run: Run, root: Path) -> None:
    (root / "agiraph.yaml").write_text("max_agents: 3\n")
    assert run("init").exit_code == 0
    assert (root / "agiraph.yaml").read_text() == "max_agents: 3\n"


def test_a_tree_is_not_made_over_a_file(run: Run, root: Path) -> None:
    assert run("init", str(root / "news" / "GOAL.md")).exit_code == 4
    assert run("init", str(root / "news" / "GOAL.md" / "x")).exit_code == 4


def test_every_setting_that_the_new_file_explains_is_good(
    run: Run, tmp_path: Path
) -> None:
    run("init", str(tmp_path / "mine"))
    text = (tmp_path / "mine" / "agiraph.yaml").read_text()
    settings = [
        line.removeprefix("# ")
        for line in text.splitlines()
        if line.startswith(("#   ", "# ")) and ":" in line and _is_setting(line)
    ]
    found = read_tree_settings("\n".join(settings) + "\n")
    assert isinstance(found, Good)
    assert found.remarks == ()


def _is_setting(line: str) -> bool:
    key = line.removeprefix("#").strip().partition(":")[0]
    return key.replace("_", "").replace("/", "").isalpha() and key.islower()


def test_an_agent_is_put_away_whole(run: Run, root: Path) -> None:
    result = run("archive", "news")
    assert result.exit_code == 0
    assert not (root / "news").exists()
    assert (root / "_archive" / "news" / "GOAL.md").is_file()
    assert "news" not in [
        each["name"] for each in json.loads(run("status", "--json").stdout)["agents"]
    ]


def test_a_second_agent_of_the_same_name_is_put_beside_it(run: Run, root: Path) -> None:
    run("archive", "news")
    write(root, {"news/GOAL.md": "Again.\n"})
    assert run("archive", "news").exit_code == 0
    assert (root / "_archive" / "news-2" / "GOAL.md").read_text() == "Again.\n"


def test_an_agent_at_work_is_put_away_only_when_one_insists(
    run: Run, root: Path
) -> None:
    since = datetime(2026, 11, 21, tzinfo=UTC)
    with TreeLock.take(str(root), version="1", since=since):
        result = run("archive", "news")
        assert result.exit_code == 1
        assert "--yes" in result.stderr
        assert (root / "news").exists()
        assert run("archive", "news", "--yes").exit_code == 0
    assert not (root / "news").exists()


def test_check_lists_what_is_wrong_with_its_place(run: Run, root: Path) -> None:
    write(
        root,
        {
            "agiraph.yaml": "max_agents: many\n",
            "news/triggers.yaml": "- {id: a, type: never}\n",
            "news/_inbox/1.md": "---\nurgent: perhaps\n---\nHi.\n",
            "news/_inbox/2.md.tmp": "---\nhalf",
            f"news/{RUN}/nodes/ghost/_spec.md": "---\ndepends_on: [nobody]\n---\nGo.\n",
            f"news/{RUN}/nodes/a/_spec.md": "---\ndepends_on: [b]\n---\nGo.\n",
            f"news/{RUN}/nodes/b/_spec.md": "---\ndepends_on: [a]\n---\nGo.\n",
        },
    )
    (root / "news" / "SOUL.md").write_bytes(b"one\n\xff\n")
    result = run("check")
    assert result.exit_code == 4
    out = result.stdout
    assert "agents/agiraph.yaml:1:13: `max_agents`" in out
    assert "agents/broken/GOAL.md:2:7: `mode`: found 'sometimes'" in out
    assert "agents/news/SOUL.md:2: byte 0xff" in out
    assert "agents/news/triggers.yaml:1:" in out
    assert "agents/news/_inbox/1.md:2:9: `urgent`" in out
    assert "2.md.tmp" not in out
    assert "it depends on 'nobody', which does not exist" in out
    assert out.count("it depends on itself in a circle") == 2


def test_damage_in_the_middle_of_a_log_is_told_with_its_line(
    run: Run, root: Path
) -> None:
    head = '{"ts": "2026-01-01T00:00:00+00:00", "put_away": "x.jsonl.gz", "bytes": 9}'
    call = '{"ts": "2026-11-21T20:00:00+00:00", "model": "a/b", "input": 1}'
    torn = '{"ts": "2026-11'
    sound = f"{head}\n{call}\n{call}\n{torn}"
    write(
        root,
        {
            "news/usage.jsonl": sound,
            "news/events.jsonl": sound,
            "news/_triggers.jsonl": sound,
        },
    )
    before = run("check", "agents/news").stdout
    write(
        root,
        {
            "news/usage.jsonl": f"{head}\n{call}\n{torn}\n{{}}\n{call}\n{torn}",
            "news/events.jsonl": "rubbish\n" * 12 + f"{{}}\n{torn}",
            "news/_triggers.jsonl": f"{call}\n\0\0\n{call}\n\0",
        },
    )
    result = run("check", "agents/news")
    assert result.exit_code == 4
    out = result.stdout
    assert ".jsonl" not in before
    assert "agents/news/usage.jsonl:3:1: it cannot be read: it is no JSON" in out
    assert "agents/news/usage.jsonl:4:1: it cannot be read: a line of usage" in out
    assert "agents/news/events.jsonl:10:1: it cannot be read" in out
    assert "agents/news/events.jsonl: 2 more lines cannot be read" in out
    assert "agents/news/_triggers.jsonl:2:1: it cannot be read: there are NUL" in out
    assert out.count("cannot be read") == 14
    one = run("check", str(root / "news" / "usage.jsonl"))
    assert one.exit_code == 4
    assert one.stderr.startswith("1 file read")


def test_a_remark_alone_is_no_fault(run: Run, tmp_path: Path) -> None:
    other = write(tmp_path / "o", {"x/GOAL.md": "---\nbugdet: {usd: 1}\n---\nGo.\n"})
    result = run("check", str(other))
    assert result.exit_code == 0
    assert "GOAL.md:2: remark: the key `bugdet` is unknown" in result.stdout
    assert "did you mean `budget`?" in result.stdout


def test_one_file_of_an_agent_can_be_checked(run: Run, root: Path) -> None:
    good = run("check", str(root / "news" / "GOAL.md"), "--json")
    assert good.exit_code == 0
    bad = run("check", str(root / "broken" / "GOAL.md"), "--json")
    assert bad.exit_code == 4
    (problem,) = json.loads(bad.stdout)["problems"]
    assert problem["path"] == "broken/GOAL.md"
    assert (problem["line"], problem["column"]) == (2, 7)


def test_only_the_files_that_were_asked_for_are_counted(run: Run) -> None:
    assert run("check", "agents/news/GOAL.md").stderr.startswith("1 file read")
    assert "8 files read" in run("check", "agents/news").stderr


def test_a_bad_file_of_another_kind_is_told(run: Run, root: Path) -> None:
    (root / "held one" / "GOAL.md").unlink()
    (root / "held one" / "GOAL.md").mkdir()
    (root / "news" / "GOAL.md").unlink()
    (root / "news" / "GOAL.md").symlink_to("/nowhere")
    out = run("check").stdout
    assert "agents/held one/GOAL.md: this is a folder" in out
    assert "agents/news/GOAL.md: this is a link" in out


@pytest.mark.parametrize("name", ["human", "bad:name", "x" * 65])
def test_a_name_that_cannot_stand_is_told(run: Run, root: Path, name: str) -> None:
    write(root, {f"{name}/GOAL.md": "Go.\n"})
    result = run("check", str(root))
    assert result.exit_code == 4
    assert "name" in result.stdout


def test_checking_what_is_not_there_is_not_found(run: Run, tmp_path: Path) -> None:
    assert run("check", str(tmp_path / "nothing")).exit_code == 3


def test_the_version_is_told_twice_alike(run: Run) -> None:
    assert run("version").stdout == run("--version").stdout


COMMANDS = """demo init new up run status show logs send pause resume stop archive
check models model version"""


@pytest.mark.parametrize("command", COMMANDS.split())
def test_every_command_explains_itself_with_examples(run: Run, command: str) -> None:
    told = run(command, "--help")
    assert told.exit_code == 0
    assert f"Examples:\n    agiraph {command}" in told.stdout
    assert "--agents DIR" in told.stdout
