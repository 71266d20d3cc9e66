"""A search index over memory files, kept in `.agiraph/` and made anew when it is gone.

SQLite's FTS5 ranks by BM25. The words are cut by our own rule, the same for the query,
so that scripts without spaces are found by pairs of characters; SQLite only splits them
at spaces. What is kept here can be worked out again from the files, so nothing is
flushed, and a file that SQLite cannot read is thrown away.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Final

from agiraph.core.search import Section, best, sections, terms
from agiraph.model.layout import MACHINE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agiraph.core.search import Leaf

VERSION: Final = 2
_TITLE_WEIGHT: Final = 5.0
_RACY: Final = 2.0  # seconds in which a second change may leave the same stamp
_MOST_WORDS: Final = 64
_EVERYWHERE: Final = 0.3
_MADE: Final = f"""
pragma user_version = {VERSION};
create table files (path text primary key, size integer, changed real, racy integer);
create table pieces (
    id integer primary key, path text not null, title text, text text
);
create index pieces_of on pieces (path);
create virtual table words using fts5 (title, body, tokenize = "ascii tokenchars '_'");
create virtual table known using fts5vocab (words, row);
"""


class SqliteShelf:
    """The indexes of a tree, one file for each agent."""

    def __init__(self, root: str) -> None:
        """For the tree at `root`; nothing is opened before the first search."""
        self._folder = Path(root) / MACHINE / "memory"
        self._lock = threading.Lock()

    def best(
        self,
        name: str,
        leaves: Sequence[Leaf],
        read: Callable[[Leaf], str],
        query: str,
        most: int,
    ) -> tuple[Section, ...]:
        """The sections that fit a query; without an index where none can be kept."""
        with self._lock:
            for _ in range(2):
                try:
                    return self._find(name, leaves, read, query, most)
                except sqlite3.DatabaseError:
                    with suppress(OSError):
                        self._path(name).unlink(missing_ok=True)
                except OSError:
                    break
        pool = [part for leaf in leaves for part in sections(leaf.shown, read(leaf))]
        return best(query, pool, most)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.sqlite"

    def _find(
        self,
        name: str,
        leaves: Sequence[Leaf],
        read: Callable[[Leaf], str],
        query: str,
        most: int,
    ) -> tuple[Section, ...]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._path(name))) as base:
            base.executescript("pragma synchronous = off; pragma journal_mode = memory")
            (version,) = base.execute("pragma user_version").fetchone()
            if version == 0:
                base.executescript(_MADE)
            elif version != VERSION:
                raise sqlite3.DatabaseError("the index is of another version")
            with base:
                _bring_up_to_date(base, leaves, read)
            return _ranked(base, leaves, query, most)


def _bring_up_to_date(
    base: sqlite3.Connection, leaves: Sequence[Leaf], read: Callable[[Leaf], str]
) -> None:
    known = {
        path: (size, changed, racy)
        for path, size, changed, racy in base.execute("select * from files")
    }
    now = time()
    for leaf in leaves:
        path = str(leaf.path)
        if known.pop(path, None) == (leaf.size, leaf.changed, 0):
            continue
        _forget(base, path)
        racy = int(now - leaf.changed < _RACY)
        row = (path, leaf.size, leaf.changed, racy)
        base.execute("insert into files values (?, ?, ?, ?)", row)
        for section in sections(path, read(leaf)):
            _add(base, path, section)
    for path in known:
        _forget(base, path)


def _add(base: sqlite3.Connection, path: str, section: Section) -> None:
    row = (path, section.title, section.text)
    made = base.execute(
        "insert into pieces (path, title, text) values (?, ?, ?)", row
    ).lastrowid
    title = " ".join(terms(f"{section.title} {path}"))
    body = " ".join(terms(section.text))
    base.execute(
        "insert into words (rowid, title, body) values (?, ?, ?)", (made, title, body)
    )


def _forget(base: sqlite3.Connection, path: str) -> None:
    base.execute(
        "delete from words where rowid in (select id from pieces where path = ?)",
        (path,),
    )
    base.execute("delete from pieces where path = ?", (path,))
    base.execute("delete from files where path = ?", (path,))


def _ranked(
    base: sqlite3.Connection, leaves: Sequence[Leaf], query: str, most: int
) -> tuple[Section, ...]:
    wanted = _telling(base, list(dict.fromkeys(terms(query)))[:_MOST_WORDS])
    if not wanted:
        return ()
    asked = " OR ".join(f'"{word}"' for word in wanted)
    ranked = base.execute(
        "select rowid from words where words match ? and rank match ?"
        " order by rank limit ?",
        (asked, f"bm25({_TITLE_WEIGHT}, 1.0)", most),
    ).fetchall()
    one = "select path, title, text from pieces where id = ?"
    rows = [base.execute(one, each).fetchone() for each in ranked]
    shown = {str(leaf.path): leaf.shown for leaf in leaves}
    return tuple(Section(shown[path], title, text) for path, title, text in rows)


def _telling(base: sqlite3.Connection, asked: list[str]) -> list[str]:
    """The words that are there; not those that stand nearly everywhere, if others do.

    A word of every second section says nothing of any, and ranking by it takes long.
    """
    (count,) = base.execute("select count(*) from pieces").fetchone()
    found = {}
    for word in asked:
        row = base.execute("select doc from known where term = ?", (word,)).fetchone()
        if row is not None:
            found[word] = row[0]
    telling = [word for word, docs in found.items() if docs <= count * _EVERYWHERE]
    return telling or sorted(found, key=lambda word: found[word])[:2]
