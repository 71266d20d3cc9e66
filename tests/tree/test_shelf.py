"""The index over memory: right whatever becomes of it, in any script, and quick."""

from __future__ import annotations

import os
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.core.search import Leaf
from agiraph.tree.shelf import SqliteShelf
from tests.support.shelf import PlainShelf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from agiraph.ports import Shelf

LONG_AGO = 1_000_000.0


class Texts:
    """Files that a test changes, and how often each was read."""

    def __init__(self, **texts: str) -> None:
        self.texts = {f"a/memory/{name}.md": text for name, text in texts.items()}
        self.changed = dict.fromkeys(self.texts, LONG_AGO)
        self.read_again: list[str] = []

    def put(self, name: str, text: str, changed: float) -> None:
        self.texts[f"a/memory/{name}.md"] = text
        self.changed[f"a/memory/{name}.md"] = changed

    def leaves(self) -> list[Leaf]:
        return [
            Leaf(PurePosixPath(path), path[2:], len(text.encode()), self.changed[path])
            for path, text in self.texts.items()
        ]

    def read(self, leaf: Leaf) -> str:
        self.read_again.append(leaf.path.name)
        return self.texts[str(leaf.path)]

    def find(self, shelf: Shelf, query: str, most: int = 5) -> list[str]:
        found = shelf.best("a", self.leaves(), self.read, query, most)
        return [section.text for section in found]


@pytest.fixture(params=["sqlite", "plain"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Shelf:
    return SqliteShelf(str(tmp_path)) if request.param == "sqlite" else PlainShelf()


@pytest.fixture
def index(tmp_path: Path) -> Callable[[], Path]:
    return lambda: tmp_path / ".agiraph/memory/a.sqlite"


def test_the_section_that_fits_best_comes_first(shelf: Shelf) -> None:
    texts = Texts(
        chips="# NVIDIA\n\nFast and dear.\n\n# AMD\n\nMuch memory for each chip.",
        food="# Bread\n\nThe chip shop sells bread, too, and much of it.",
    )
    assert texts.find(shelf, "AMD memory")[0] == "# AMD\n\nMuch memory for each chip."
    assert texts.find(shelf, "bread shop")[0].startswith("# Bread")
    assert texts.find(shelf, "zebra") == []
    assert len(texts.find(shelf, "chip", most=1)) == 1


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("机器学习的笔记, 模型很大。", "学习"),
        ("東京の天気は晴れです。", "天気"),
        ("กรุงเทพเป็นเมืองใหญ่", "เมือง"),
        ("Жёлтый дом стоит здесь.", "ЖЁЛТЫЙ"),
        ("Über die Straße gehen", "strasse"),
        ("snake_case_names and C3PO", "snake_case_names"),
        ("Il y a 3 méthodes asynchrones.", "méthode"),
        ("Die Brücke in Zürich ist gesperrt.", "zurich brucke"),
        ("στην Αθήνα είναι ζεστή.", "αθηνα"),
        ("İstanbul, Türkiye", "istanbul"),
        ("서울에서 회의가 있습니다", "회의"),
        ("我养了一只猫咪", "猫"),
        ("दिल्ली में मौसम", "दिल्ली"),
        ("الطَّقْسُ في القاهرة", "الطقس"),
    ],
)
def test_every_script_is_found(shelf: Shelf, text: str, query: str) -> None:
    texts = Texts(one=f"# One\n\n{text}", other="# Other\n\nSomething else.")
    assert texts.find(shelf, query) == [f"# One\n\n{text}"]


def test_vowel_signs_tell_words_apart(shelf: Shelf) -> None:
    texts = Texts(one="# One\n\nदिन", two="# Two\n\nदान")
    assert texts.find(shelf, "दान") == ["# Two\n\nदान"]


def test_a_query_may_hold_anything(shelf: Shelf) -> None:
    texts = Texts(one='# One\n\nAsk "them" (now) OR never: it\'s NEAR.')
    for query in ('"', "'; drop table", "a* OR (b", "NEAR(x y)", "", "them AND", "\0"):
        texts.find(shelf, query)
    assert texts.find(shelf, '"them" OR') != []


def test_what_changed_is_read_again_and_nothing_else(tmp_path: Path) -> None:
    shelf = SqliteShelf(str(tmp_path))
    texts = Texts(one="# One\n\nred", two="# Two\n\nblue")
    texts.find(shelf, "red")
    assert sorted(texts.read_again) == ["one.md", "two.md"]
    texts.put("two", "# Two\n\npink", LONG_AGO + 1)
    assert texts.find(shelf, "pink") == ["# Two\n\npink"]
    assert texts.find(shelf, "blue") == []
    assert texts.read_again[2:] == ["two.md"]
    del texts.texts["a/memory/one.md"]
    assert texts.find(shelf, "red") == []


def test_a_file_that_changed_just_now_is_read_until_its_stamp_can_be_trusted(
    tmp_path: Path,
) -> None:
    shelf = SqliteShelf(str(tmp_path))
    texts = Texts()
    now = time.time()
    texts.put("one", "# One\n\nred!", now)
    texts.find(shelf, "red")
    texts.put("one", "# One\n\npink", now)  # as long, within one tick of the clock
    assert texts.find(shelf, "pink") == ["# One\n\npink"]


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"no database" * 1000),
        lambda path: path.write_bytes(b""),
        lambda path: os.truncate(path, 5000),
    ],
)
def test_the_index_may_be_deleted_or_broken_at_any_time(
    tmp_path: Path, index: Callable[[], Path], harm: Callable[[Path], None]
) -> None:
    shelf = SqliteShelf(str(tmp_path))
    texts = Texts(one="# One\n\nred", two="# Two\n\nblue")
    texts.find(shelf, "red")
    harm(index())
    assert texts.find(shelf, "blue") == ["# Two\n\nblue"]


def test_where_no_index_can_be_kept_the_files_are_searched(tmp_path: Path) -> None:
    (tmp_path / ".agiraph").write_text("a file, where the folder should be")
    texts = Texts(one="# One\n\nred", two="# Two\n\nblue")
    assert texts.find(SqliteShelf(str(tmp_path)), "blue") == ["# Two\n\nblue"]


def many(count: int) -> Iterable[str]:
    nouns = ["river", "engine", "ledger", "garden", "signal", "window", "harbor"]
    for number in range(count):
        noun, other = nouns[number % 7], nouns[(number // 7) % 7]
        yield f"## Note {number}\n\nThe {noun} of case {number} meets the {other}.\n\n"


def test_ten_thousand_sections_are_searched_in_milliseconds(tmp_path: Path) -> None:
    shelf = SqliteShelf(str(tmp_path))
    pages = list(many(10_000))
    texts = Texts(
        **{f"p{at}": "".join(pages[at : at + 100]) for at in range(0, 10_000, 100)}
    )
    assert texts.find(shelf, "river case 7777")[0].startswith("## Note 7777\n")
    took = []
    for number in range(100, 130):
        begun = time.perf_counter()
        found = texts.find(shelf, f"engine of case {number}")
        took.append(time.perf_counter() - begun)
        assert found[0].startswith(f"## Note {number}\n")
    assert min(took) < 0.1  # a few ms at rest; the machine may be busy
    print(f"a query over 10,000 sections: {sorted(took)[15] * 1000:.1f} ms (median)")
