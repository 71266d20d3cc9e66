"""Whether a person has named an address themselves."""

from __future__ import annotations

import pytest

from agiraph.core.named import is_named
from agiraph.core.webaddress import read_address


@pytest.mark.parametrize(
    ("said", "url", "named"),
    [
        ("Watch https://example.org/news daily.", "https://example.org/news", True),
        ("Watch https://example.org/news.", "https://example.org/news", True),
        ("Watch (https://example.org/news).", "https://example.org/news", True),
        ("See https://example.org/a_(b)", "https://example.org/a_(b)", True),
        ("Watch news.example.org for me", "https://news.example.org/", True),
        ("Watch news.example.org/x?y=1", "http://news.example.org/x?y=1", True),
        ("[docs](https://example.org/d)", "https://example.org/d", True),
        ("Watch EXAMPLE.org", "https://example.org/", True),
        ("Watch example.org", "https://example.org/other", False),
        ("Watch example.org", "https://www.example.org/", False),
        ("notexample.org", "https://example.org/", False),
        ("", "https://example.org/", False),
        ("http://127.0.0.1:4711/front", "http://127.0.0.1:4711/front", True),
    ],
)
def test_a_person_names_an_address_by_writing_it(
    said: str, url: str, named: bool
) -> None:
    assert is_named(read_address(url, loopback=True), ["Hello.", said]) is named
