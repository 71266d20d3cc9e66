"""A connection goes to the number that was judged, under the name that was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from agiraph.clock import SystemClock
from agiraph.core.webaddress import read_address
from agiraph.errors import ToolRefused
from agiraph.model.agent import Permissions
from agiraph.web.client import PinnedTransport
from agiraph.web.fetching import Fetcher
from tests.support.web import moved

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agiraph.web.cache import PageCache
    from tests.support.web import WebServer

PUBLIC = "93.184.216.34"


class Wire(httpx.AsyncBaseTransport):
    """Keeps what would be sent, and answers; numbers in `dead` do not answer."""

    def __init__(self, *dead: str) -> None:
        self.sent: list[httpx.Request] = []
        self._dead = dead

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if request.url.host in self._dead:
            raise httpx.ConnectError("dead")
        return httpx.Response(200, text="here")


class Names:
    """A resolver whose answers a test gives, one after another."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


async def get(wire: Wire, names: Names, url: str, *, loopback: bool = False) -> str:
    pinned = PinnedTransport(wire, names, loopback=loopback)
    async with httpx.AsyncClient(transport=pinned, trust_env=False) as client:
        return (await client.get(url)).text


async def test_the_number_is_connected_to_and_the_name_is_kept() -> None:
    wire, names = Wire(), Names([PUBLIC])

    assert await get(wire, names, "https://example.org/a?b") == "here"

    sent = wire.sent[0]
    assert str(sent.url) == f"https://{PUBLIC}/a?b"
    assert sent.headers["host"] == "example.org"
    assert sent.extensions["sni_hostname"] == "example.org"
    assert names.asked == [("example.org", 443)]


async def test_a_number_in_ipv6_is_connected_to_likewise() -> None:
    wire, names = Wire(), Names(["2606:2800:220:1::1"])

    await get(wire, names, "http://example.org:8080/")

    assert str(wire.sent[0].url) == "http://[2606:2800:220:1::1]:8080/"
    assert wire.sent[0].headers["host"] == "example.org:8080"


async def test_a_number_that_is_dead_gives_way_to_the_next_and_three_are_tried() -> (
    None
):
    wire = Wire(PUBLIC, "1.1.1.1")

    assert await get(wire, Names([PUBLIC, "1.1.1.1", "1.0.0.1"]), "http://a.org/")
    with pytest.raises(httpx.ConnectError):
        await get(Wire(*["1.1.1.1"] * 3), Names(["1.1.1.1"] * 4), "http://a.org/")


@pytest.mark.parametrize(
    "numbers",
    [
        ["127.0.0.1"],
        [PUBLIC, "127.0.0.1"],
        ["10.0.0.8", PUBLIC],
        ["::1"],
        ["::ffff:169.254.169.254"],
        ["fe80::1%2"],
        ["64:ff9b::7f00:1"],
        ["0.0.0.0"],
        ["2002:7f00:1::"],
    ],
)
async def test_a_name_is_refused_when_any_of_its_numbers_is_not_public(
    numbers: list[str],
) -> None:
    wire = Wire()
    with pytest.raises(ToolRefused, match="no public address"):
        await get(wire, Names(numbers), "https://rebind.example.org/")
    assert wire.sent == []


async def test_a_name_that_changes_its_meaning_gains_nothing() -> None:
    wire, names = Wire(), Names([PUBLIC], ["127.0.0.1"])

    await get(wire, names, "http://rebind.example.org/")
    assert [each.url.host for each in wire.sent] == [PUBLIC]
    assert len(names.asked) == 1
    with pytest.raises(ToolRefused):
        await get(wire, names, "http://rebind.example.org/")
    assert len(wire.sent) == 1


async def test_with_loopback_for_tests_only_this_machine_itself_is_open() -> None:
    wire = Wire()
    assert await get(wire, Names(["127.0.0.1"]), "http://localhost:1/", loopback=True)
    with pytest.raises(ToolRefused):
        await get(wire, Names(["127.0.0.1"]), "http://a.org/", loopback=True)
    with pytest.raises(ToolRefused):
        await get(wire, Names(["10.0.0.1"]), "http://a.org/", loopback=True)


@pytest.mark.parametrize(
    "to",
    [
        "http://2130706433/",
        "//169.254.169.254/latest/",
        "http://[::ffff:127.0.0.1]/",
        "http://127.1/",
        "http://10.0.0.1/",
        "file:///etc/passwd",
        "http://user:secret@example.org/",
        "http://router.local/",
        "http://example.org:22/",
    ],
)
async def test_a_redirect_into_the_house_is_refused(
    to: str, fetcher: Fetcher, served: Callable[..., WebServer]
) -> None:
    web = served(start=moved(to))
    start = read_address(f"{web.url}/start", loopback=True)

    with pytest.raises(ToolRefused, match="is not fetched"):
        await fetcher.fetch(start, Permissions(), named=True)

    assert web.visits == ["/start"]


async def test_a_fetcher_that_was_not_told_otherwise_reaches_no_loopback(
    cache: PageCache, served: Callable[..., WebServer]
) -> None:
    web = served(start="secret")
    fetcher = Fetcher(
        cache, SystemClock(), version="0", resolve=Names([PUBLIC, "127.0.0.1"])
    )
    with pytest.raises(ToolRefused):
        await fetcher.fetch(
            read_address("http://example.org/"), Permissions(), named=True
        )
    forged = read_address(f"{web.url}/start", loopback=True)
    with pytest.raises(ToolRefused):
        await fetcher.fetch(forged, Permissions(), named=True)
    assert web.visits == []
