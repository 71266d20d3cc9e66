"""Which machine this is, and what stands at the homes that owner files name."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from agiraph.core.codec import write_owner
from agiraph.model.owner import Old, Owner, Spot
from agiraph.tree import whereabouts
from agiraph.tree.whereabouts import DiskWhereabouts, host_id

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

BEGAN = "2026-11-14T12:00:00.000+00:00"
LATER = "2026-11-15T12:00:00.000+00:00"


def run_here(root: Path, agent: str, *, since: str = BEGAN) -> Owner:
    """An agent that a daemon has worked on."""
    home = root / agent
    (home / "_state").mkdir(parents=True)
    owner = Owner(Spot("m", str(root), agent), since=since)
    (home / "_owner.yaml").write_text(write_owner(owner))
    return owner


def at(root: Path) -> DiskWhereabouts:
    return DiskWhereabouts("m", "tower", str(root))


def test_the_machine_keeps_its_id_and_does_not_show_the_systems_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "machine-id"
    own.write_text("0123456789abcdef0123456789abcdef\n")
    monkeypatch.setattr(whereabouts, "MACHINE_IDS", (str(own),))
    assert host_id({}) == host_id({})
    assert "0123456789abcdef" not in host_id({})
    assert host_id({"AGIRAPH_HOST": "box"}) == "box"


def test_without_a_machine_id_the_hosts_name_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "machine-id"
    empty.write_text("uninitialized\n")
    absent = str(tmp_path / "absent")
    monkeypatch.setattr(whereabouts, "MACHINE_IDS", (absent, str(empty)))
    monkeypatch.setattr(whereabouts.socket, "gethostname", lambda: "tower")
    assert host_id({}) == "tower"


def test_a_place_is_told_without_links(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "link").symlink_to("agents")
    found = DiskWhereabouts.of(str(tmp_path / "link"), {})
    assert found.place == str(tmp_path / "agents")


def test_a_renamed_home_has_left_nothing_behind(tmp_path: Path) -> None:
    owner = run_here(tmp_path, "old")
    (tmp_path / "old").rename(tmp_path / "new")
    assert at(tmp_path).old(owner, "new") is Old.GONE


def test_a_copied_home_stands_beside_its_original(tmp_path: Path) -> None:
    owner = run_here(tmp_path, "old")
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    assert at(tmp_path).old(owner, "new") is Old.THERE


def test_a_new_agent_under_the_old_name_is_another(tmp_path: Path) -> None:
    owner = run_here(tmp_path, "old")
    (tmp_path / "old").rename(tmp_path / "new")
    (tmp_path / "old").mkdir()
    assert at(tmp_path).old(owner, "new") is Old.OTHER
    shutil.rmtree(tmp_path / "old")
    run_here(tmp_path, "old", since=LATER)
    assert at(tmp_path).old(owner, "new") is Old.OTHER


def test_a_copy_in_a_tree_that_was_moved_whole_is_still_a_copy(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    owner = run_here(tmp_path / "one", "old")
    shutil.copytree(tmp_path / "one/old", tmp_path / "one/new")
    (tmp_path / "one").rename(tmp_path / "two")
    assert at(tmp_path / "two").old(owner, "new") is Old.THERE
    assert at(tmp_path / "two").old(owner, "old") is Old.SAME


def test_the_same_folder_by_another_path_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    owner = run_here(tmp_path / "agents", "news")
    (tmp_path / "link").symlink_to("agents")
    by_link = Owner(Spot("m", str(tmp_path / "link"), "news"), since=owner.since)
    assert at(tmp_path / "agents").old(by_link, "news") is Old.SAME


def test_what_an_owner_file_names_is_never_followed_or_waited_for(
    tmp_path: Path,
) -> None:
    owner = run_here(tmp_path, "old")
    (tmp_path / "old/_owner.yaml").unlink()
    os.mkfifo(tmp_path / "old/_owner.yaml")
    shutil.copytree(tmp_path / "old/_state", tmp_path / "new/_state")
    assert at(tmp_path).old(owner, "new") is Old.THERE
    odd = Owner(Spot("m", "/dev/null", "x\0y"))
    assert at(tmp_path).old(odd, "new") is Old.GONE
