"""Only whole UTF-8 text without conflict markers is taken at its word."""

from __future__ import annotations

import pytest

from agiraph.tree.content import Unfit, text_of


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"hello\n", "hello\n"),
        (b"\xef\xbb\xbfhello", "hello"),
        ("grüße 🐝\r\n".encode(), "grüße 🐝\r\n"),
        (b"", ""),
        (b"Title\n=======\n\ntext\n", "Title\n=======\n\ntext\n"),
        (b">>>>>>> quoted deep\n", ">>>>>>> quoted deep\n"),
        (b"a <<<<<<< b\n", "a <<<<<<< b\n"),
    ],
)
def test_text_is_taken(data: bytes, text: str) -> None:
    assert text_of(data) == text


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"one\ntwo \xe9\n", 2, "0xe9"),
        (b"one\n\n\0\0\0", 3, "NUL"),
        (b"\xff\xfeh\0i\0", None, "UTF-16"),
        (b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> main\n", 2, "merge"),
        (b"b\n=======\nc\n>>>>>>> main\n", 4, "merge"),
    ],
)
def test_the_words_say_where_and_what_to_do(
    data: bytes, line: int | None, word: str
) -> None:
    found = text_of(data)
    assert isinstance(found, Unfit)
    assert found.line == line
    assert word in found.words
    assert ";" in found.words
