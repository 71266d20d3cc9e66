"""Fetching a page: its type, its bounds, where it leads, and what robots may see."""

from __future__ import annotations

import gzip
import threading
import zlib
from typing import TYPE_CHECKING

import pytest

from agiraph.core.webaddress import read_address
from agiraph.errors import ToolRefused
from agiraph.model.agent import Patterns, Permission, Permissions
from agiraph.web import cache, fetching, markdown
from tests.support.web import Answer, Asked, moved

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agiraph.model.web import WebPage
    from agiraph.web.fetching import Fetcher
    from tests.support.web import WebServer

HTML = """<!doctype html><html><head><title>Fast &amp; small</title>
<script>alert(1)</script></head><body><nav>menu</nav><main><h1>Chips</h1>
<p>See <a href="/more">more</a>, or <a href="javascript:alert(1)">this</a>.</p>
<table><tr><th>Name</th><th>GB</th></tr><tr><td>H100</td><td>80</td></tr></table>
<pre><code>x = 1
</code></pre><img src="data:image/png;base64,AAAA" alt="a chip"></main></body></html>"""


async def fetch(
    fetcher: Fetcher,
    url: str,
    permissions: Permissions | None = None,
    *,
    named: bool = True,
) -> WebPage:
    address = read_address(url, loopback=True)
    return await fetcher.fetch(address, permissions or Permissions(), named=named)


async def refused(fetcher: Fetcher, url: str, *, named: bool = True) -> str:
    with pytest.raises(ToolRefused) as refusal:
        await fetch(fetcher, url, named=named)
    return str(refusal.value)


async def test_html_becomes_markdown_with_title_links_and_tables(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(page=Answer(HTML.encode(), "text/html; charset=utf-8"))

    page = await fetch(fetcher, f"{web.url}/page")

    assert page.title == "Fast & small"
    assert page.text is not None
    assert "# Chips" in page.text
    assert f"[more]({web.url}/more)" in page.text
    assert "| H100 | 80 |" in page.text
    assert "x = 1" in page.text
    for gone in ("alert", "menu", "base64"):
        assert gone not in page.text


async def test_without_a_wheel_the_other_way_to_markdown_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(markdown, "_by_rust", lambda page, url: None)
    text = markdown.to_markdown(HTML, "https://example.org/x/")

    assert "# Chips" in text
    assert "[more](https://example.org/more)" in text
    assert "H100" in text
    assert "alert" not in text


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        ("größe".encode(), "text/plain", "größe"),
        ("größe".encode("latin-1"), "text/plain; charset=iso-8859-1", "größe"),
        ("größe".encode("latin-1"), "text/plain", "größe"),
        ("größe".encode("utf-16"), "text/plain", "größe"),
        (b"\xef\xbb\xbfa,b", "text/csv", "a,b"),
        (b"x", "text/plain; charset=zlib", "x"),
        (b"just words", "", "just words"),
        (b"<rss/>", "application/rss+xml", "<rss/>"),
    ],
)
async def test_text_comes_as_it_is(
    fetcher: Fetcher,
    served: Callable[..., WebServer],
    body: bytes,
    kind: str,
    text: str,
) -> None:
    web = served(page=Answer(body, kind))
    assert (await fetch(fetcher, f"{web.url}/page")).text == text


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"%PDF-1.7 ...", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0", "image/png"),
        (b"\0\1\2", "text/plain"),
        (b"\0\1\2", ""),
    ],
)
async def test_what_is_no_text_comes_as_data(
    fetcher: Fetcher, served: Callable[..., WebServer], body: bytes, kind: str
) -> None:
    web = served(page=Answer(body, kind))
    page = await fetch(fetcher, f"{web.url}/page")
    assert page.text is None
    assert page.data == body


async def test_packed_pages_are_unpacked(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    gzipped = Answer(
        gzip.compress(b"hello"), "text/plain", headers={"Content-Encoding": "gzip"}
    )
    deflated = Answer(
        zlib.compress(b"hello"), "text/plain", headers={"Content-Encoding": "deflate"}
    )
    web = served(a=gzipped, b=deflated)
    assert (await fetch(fetcher, f"{web.url}/a")).text == "hello"
    assert (await fetch(fetcher, f"{web.url}/b")).text == "hello"


async def test_a_page_that_is_too_large_is_refused_packed_or_not(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < 100_000
    web = served(
        said=Answer(b"x", headers={"Content-Length": "99999999"}),
        plain=Answer(b"x" * (5 * 1024 * 1024 + 1), "text/plain"),
        bomb=Answer(bomb, "text/plain", headers={"Content-Encoding": "gzip"}),
        odd=Answer(b"x", "text/plain", headers={"Content-Encoding": "br"}),
        bad=Answer(b"no gzip", "text/plain", headers={"Content-Encoding": "gzip"}),
    )
    for path in ("said", "plain", "bomb"):
        assert "larger than 5 MiB" in await refused(fetcher, f"{web.url}/{path}")
    assert "packed as 'br'" in await refused(fetcher, f"{web.url}/odd")
    assert "packed wrongly" in await refused(fetcher, f"{web.url}/bad")


async def test_redirects_are_followed_five_times(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(
        a=moved("/b"), b=moved("c", 301), c=moved("d", 303), d=moved("e", 307),
        e=moved("/end", 308), end="there", loop=moved("/loop"),
    )  # fmt: skip
    page = await fetch(fetcher, f"{web.url}/a")
    assert (page.url, page.text) == (f"{web.url}/end", "there")
    assert "more than 5 redirects" in await refused(fetcher, f"{web.url}/loop")
    assert web.visits.count("/loop") == 6


async def test_a_redirect_goes_only_to_hosts_that_the_person_allows(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    other = served(page="other")
    web = served(away=moved(f"http://localhost:{other.port}/page"))

    async def went(**rules: tuple[str, ...]) -> str:
        allowed = Permissions(hosts=Patterns(**rules))
        try:
            return (await fetch(fetcher, f"{web.url}/away", allowed)).text or ""
        except ToolRefused as refusal:
            return str(refusal)

    assert await went() == "other"
    assert "does not allow that host" in await went(deny=("localhost",))
    assert "fetch that address itself" in await went(ask=("localhost",))
    assert "does not allow that host" in await went(allow=("127.0.0.1",))
    assert other.visits == ["/page"]
    assert Permission.ALLOW is Permissions().web


async def test_a_bad_status_is_told_in_words(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    busy = Answer(status=503, headers={"Retry-After": "60"})
    web = served(busy=busy, gone=Answer(b"secret words", status=410))
    assert "answered 404" in await refused(fetcher, f"{web.url}/none")
    assert "left alone for 60 s" in await refused(fetcher, f"{web.url}/busy")
    assert "secret" not in await refused(fetcher, f"{web.url}/gone")


async def test_a_server_that_does_not_answer_is_told_in_words(
    fetcher: Fetcher, served: Callable[..., WebServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = served(x="x")
    url = f"{closed.url}/x"
    closed.__exit__(None, None, None)
    assert "could not be fetched" in await refused(fetcher, url)
    monkeypatch.setattr(fetching, "SECONDS", 0.2)

    over = threading.Event()

    def silent(asked: Asked) -> str:
        over.wait(30)
        return asked.path

    web = served(silent=silent)
    words = await refused(fetcher, f"{web.url}/silent")
    over.set()
    assert "took longer than" in words


async def test_nothing_of_ours_is_sent(
    fetcher: Fetcher,
    served: Callable[..., WebServer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    web = served(page=Answer(b"x", headers={"Set-Cookie": "a=b"}), next="y")

    await fetch(fetcher, f"{web.url}/page")
    await fetch(fetcher, f"{web.url}/next")

    for asked in web.asked:
        assert not {"authorization", "cookie", "referer"} & set(asked.headers)
        assert asked.headers["user-agent"] == "agiraph/0"


# --- robots.txt

ROBOTS = Answer(b"User-agent: *\nDisallow: /private\n", "text/plain")


async def test_robots_txt_is_honoured_for_what_no_person_named(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(robots__txt=ROBOTS, open="open", private="private")

    assert (await fetch(fetcher, f"{web.url}/open", named=False)).text == "open"
    words = await refused(fetcher, f"{web.url}/private", named=False)

    assert "asks robots to stay away" in words
    assert web.visits == ["/open"]
    assert [one.path for one in web.asked].count("/robots.txt") == 1
    assert (await fetch(fetcher, f"{web.url}/private")).text == "private"


async def test_a_redirect_is_asked_of_robots_txt_too(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(robots__txt=ROBOTS, a=moved("/private"), private="private")
    words = await refused(fetcher, f"{web.url}/a", named=False)
    assert "asks robots to stay away" in words
    assert web.visits == ["/a"]


async def test_a_robots_txt_that_leads_to_a_denied_host_is_not_asked_for_there(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    other = served(robots__txt=ROBOTS)
    web = served(robots__txt=moved(f"http://localhost:{other.port}/robots.txt"), a="a")
    allowed = Permissions(hosts=Patterns(deny=("localhost",)))
    address = read_address(f"{web.url}/a", loopback=True)
    with pytest.raises(ToolRefused, match="does not allow that host"):
        await fetcher.fetch(address, allowed, named=False)
    assert other.asked == []
    assert (await fetcher.fetch(address, Permissions(), named=False)).text == "a"


@pytest.mark.parametrize(
    "to",
    [
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "//0x7f.1/",
        "http:\\\\10.0.0.1\\",
        "http://user@10.0.0.1/",
        "/\\169.254.169.254/",
        "http://[::ffff:10.0.0.1]/",
        "gopher://10.0.0.1:6379/_INFO",
        "data:text/html,hi",
        "http://[64:ff9b::a00:1]/",
    ],
)
async def test_a_chain_of_redirects_ends_where_nothing_is_public(
    fetcher: Fetcher, served: Callable[..., WebServer], to: str
) -> None:
    web = served(a=moved("/b"), b=moved("/c", 307), c=moved(to, 308))
    with pytest.raises(ToolRefused, match=r"is not fetched|could not be fetched"):
        await fetch(fetcher, f"{web.url}/a")
    assert web.visits == ["/a", "/b", "/c"]


async def test_a_site_without_robots_txt_is_open_and_a_broken_one_is_not(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    without = served(page="page")
    broken = served(robots__txt=Answer(status=500), page="page")
    moved_on = served(robots__txt=moved("/r"), r=ROBOTS, private="x")

    assert (await fetch(fetcher, f"{without.url}/page", named=False)).text == "page"
    words = await refused(fetcher, f"{broken.url}/page", named=False)
    assert "robots.txt cannot be read" in words
    words = await refused(fetcher, f"{moved_on.url}/private", named=False)
    assert "stay away" in words


# --- the cache


async def test_a_page_that_has_not_changed_is_taken_from_the_cache(
    fetcher: Fetcher, served: Callable[..., WebServer], tmp_path: Path
) -> None:
    counted = {"whole": 0}

    def page(asked: Asked) -> Answer:
        counted["whole"] += asked.headers.get("if-none-match") != '"1"'
        return Answer(b"text", "text/plain", headers={"ETag": '"1"'})

    web = served(page=page)
    first = await fetch(fetcher, f"{web.url}/page")
    again = await fetch(fetcher, f"{web.url}/page")

    assert first == again
    assert counted == {"whole": 1}
    assert len(list((tmp_path / "agents/.agiraph/web").iterdir())) == 1


async def test_a_page_that_changed_comes_anew(
    fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(page=Answer(b"one", "text/plain", headers={"ETag": '"1"'}))
    await fetch(fetcher, f"{web.url}/page")
    web.pages["/page"] = Answer(b"two", "text/plain", headers={"ETag": '"2"'})
    assert (await fetch(fetcher, f"{web.url}/page")).text == "two"


@pytest.mark.parametrize(
    "headers", [{}, {"ETag": '"1"', "Cache-Control": "private, no-store"}]
)
async def test_a_page_without_a_name_or_not_to_be_kept_is_not_kept(
    fetcher: Fetcher,
    served: Callable[..., WebServer],
    tmp_path: Path,
    headers: dict[str, str],
) -> None:
    web = served(page=Answer(b"x", "text/plain", headers=headers))
    await fetch(fetcher, f"{web.url}/page")
    assert not (tmp_path / "agents/.agiraph/web").exists()


async def test_a_spoilt_or_lost_cache_only_means_fetching_again(
    fetcher: Fetcher, served: Callable[..., WebServer], tmp_path: Path
) -> None:
    web = served(page=Answer(b"text", "text/plain", headers={"ETag": '"1"'}))
    await fetch(fetcher, f"{web.url}/page")
    (kept,) = (tmp_path / "agents/.agiraph/web").iterdir()
    for spoilt in (b"", b"{", kept.read_bytes()[:-1], b"[]\n", b"\xff\n"):
        kept.write_bytes(spoilt)
        assert (await fetch(fetcher, f"{web.url}/page")).text == "text"
        assert "if-none-match" not in web.asked[-1].headers


async def test_the_cache_has_a_bound(
    fetcher: Fetcher,
    served: Callable[..., WebServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "MOST_FILES", 3)
    monkeypatch.setattr(cache, "_ROOM", 1)
    names = [f"p{number}" for number in range(6)]
    page = Answer(b"x", "text/plain", headers={"ETag": '"1"'})
    web = served(**dict.fromkeys(names, page))
    for name in names:
        await fetch(fetcher, f"{web.url}/{name}")
    assert len(list((tmp_path / "agents/.agiraph/web").iterdir())) == 3
