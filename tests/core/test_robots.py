"""Whether a robots.txt lets us fetch a path (RFC 9309)."""

from __future__ import annotations

import pytest

from agiraph.core.robots import may_fetch

PAGE = """
# a comment
User-agent: otherbot
Disallow: /

User-agent: agiraph/1.0   # a version does no harm
user-agent: thirdbot
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /search?*sort=
Disallow: /caf%C3%A9

User-agent: *
Disallow: /all-others
"""


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("/", True),
        ("/all-others", True),
        ("/private", False),
        ("/private/x", False),
        ("/private/open/x", True),
        ("/privately", False),
        ("/a/b.pdf", False),
        ("/a/b.pdf?x", True),
        ("/search?q=a&sort=b", False),
        ("/search?q=a", True),
        ("/caf%c3%a9/menu", False),
        ("/robots.txt", True),
    ],
)
def test_the_longest_rule_of_our_own_group_counts(path: str, may: bool) -> None:
    assert may_fetch(PAGE, "agiraph", path) is may


def test_others_go_by_the_star() -> None:
    assert may_fetch(PAGE, "fourthbot", "/private")
    assert not may_fetch(PAGE, "fourthbot", "/all-others/x")
    assert not may_fetch(PAGE, "otherbot", "/")


@pytest.mark.parametrize(
    ("robots", "may"),
    [
        ("", True),
        ("<html>no robots here: /</html>", True),
        ("Disallow: /", True),
        ("User-agent: *\nDisallow:\n", True),
        ("User-agent: *\nDisallow: /\nAllow: /\n", True),
        ("\ufeffUser-agent: *\r\nDisallow: /\r\n", False),
        ("User-agent: *\nDisallow: /" + "*a" * 5000 + "$\n", True),
        ("User-agent: a\nUser-agent: agiraph\nDisallow: /\n", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: agiraph\nAllow: /\n", True),
        ("User-agent: agiraph\nAllow: /\n\nUser-agent: agiraph\nDisallow: /x\n", False),
    ],
)
def test_odd_files_are_read_as_the_standard_says(robots: str, may: bool) -> None:
    assert may_fetch(robots, "agiraph", "/x/y") is may
