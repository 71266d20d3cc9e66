"""Where watching meets its limits, everything is looked through, and a person told."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.watching import NOBODY, Watching, own_limits

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "agents"
    for number in range(12):
        (root / f"a{number}").mkdir(parents=True)
    return root


@pytest.fixture
def limited() -> None:
    if not own_limits():
        pytest.skip("a process cannot have its own limit of watches here")


@pytest.mark.usefixtures("limited")
def test_a_limit_of_watches_reached_at_the_start_is_told_and_polled_around(
    root: Path,
) -> None:
    names = [path.name for path in sorted(root.iterdir())]
    with Watching(root, own_limits=True) as watching:
        watching.hears("hint", "*")
        watching.say("most", 1)
        watching.hears("done", "most 1")
        watching.say("watch", "all", *names)
        words = watching.hears("words", "max_user_watches")
        assert "looked through every 2 s" in words
        assert str(root) in words
        for _ in range(2):
            watching.forget()
            watching.hears("hint", "*")

        watching.say("most", 1000)
        watching.hears("done", "most 1000")
        watching.forget()
        watching.hears("hint", "*")  # it is tried again by itself, after a while
        for number in range(1000):
            (root / "a3/GOAL.md").write_text(f"{number}")
            if "a3" in watching.next().get("hint", ()):
                break


@pytest.mark.usefixtures("limited")
def test_a_limit_of_watches_reached_later_is_told_and_polled_around(
    root: Path,
) -> None:
    with Watching(root, own_limits=True) as watching:
        watching.hears("hint", "*")  # before it, that one stands for all others
        watching.say("most", 12)
        watching.say("watch", "one", "a0", "a1")
        watching.hears("hint", "one")
        watching.say("watch", "all", *(f"a{number}" for number in range(2, 12)))
        watching.hears("words", "max_user_watches")
        watching.forget()
        watching.hears("hint", "*")


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A tree of somebody who is not root; root may read everything."""
    root = Path(tempfile.mkdtemp(prefix="agiraph-watch-"))
    for name in ("ada", "ada/_inbox", "secret"):
        (root / name).mkdir()
        if os.geteuid() == 0:
            os.chown(root / name, NOBODY, NOBODY)
    if os.geteuid() == 0:
        os.chown(root, NOBODY, NOBODY)
    (root / "secret").chmod(0)
    yield root
    (root / "secret").chmod(0o700)
    shutil.rmtree(root)


def test_a_folder_that_may_not_be_read_blinds_nothing(theirs: Path) -> None:
    with Watching(theirs, "--nobody") as watching:
        watching.hears("hint", "*")
        watching.say("watch", "ada", "ada", "ada/_inbox")
        watching.say("watch", "secret", "secret")
        watching.hears("done", "watch secret secret")
        watching.hears("hint", "ada")
        watching.forget()
        (theirs / "ada/_inbox/note.md").write_text("hello")
        watching.hears("hint", "ada")
        assert not [line for line in watching.told if "words" in line]
