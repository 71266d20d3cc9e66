"""Searches by each service: what it is asked, how it answers, and how it fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agiraph.core.searchers import KEYS, chosen
from agiraph.errors import ToolRefused
from agiraph.model.agent import SearchSettings
from agiraph.model.web import Hit
from agiraph.web import searching
from agiraph.web.searching import WebSearch
from tests.support.clock import HandClock
from tests.support.web import Answer, Asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.web import WebServer

HIT = Hit("Fast chips", "https://a.example.org/chips", "They are fast.")
MORE = [{"title": f"{n}", "url": f"https://a.example.org/{n}"} for n in range(9)]


def result(**names: str) -> dict[str, str]:
    return {
        names.get("title", "title"): "Fast <b>chips</b>",
        names.get("url", "url"): "https://a.example.org/chips",
        names["snippet"]: "They  are\n<strong>fast</strong>.",
    }


ANSWERS: dict[str, Any] = {
    "tavily": {"results": [result(snippet="content"), *MORE]},
    "brave": {"web": {"results": [result(snippet="description"), *MORE]}},
    "serper": {"organic": [result(url="link", snippet="snippet")]},
    "exa": {"results": [result(snippet="text"), *MORE]},
    "searxng": {"results": [result(snippet="content"), *MORE]},
}
ASKED: dict[str, tuple[str, str, dict[str, str], Any]] = {
    "tavily": (
        "POST", "/search", {"authorization": "Bearer the-key"},
        {"query": "fast chips", "max_results": 5},
    ),
    "brave": (
        "GET", "/res/v1/web/search?q=fast+chips&count=5",
        {"x-subscription-token": "the-key"}, None,
    ),
    "serper": (
        "POST", "/search", {"x-api-key": "the-key"}, {"q": "fast chips", "num": 5},
    ),
    "exa": (
        "POST", "/search", {"x-api-key": "the-key"},
        {
            "query": "fast chips",
            "numResults": 5,
            "contents": {"text": {"maxCharacters": 500}},
        },
    ),
    "searxng": ("GET", "/search?q=fast+chips&format=json", {}, None),
}  # fmt: skip


class HastyClock(HandClock):
    """Sleeps at once, and remembers how long it was to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.move(seconds)


class Service:
    """A search service on loopback: one answer after another, the last for ever."""

    def __init__(self, serve: Callable[..., WebServer], *answers: Any) -> None:
        self.answers = list(answers)
        self.web = serve()
        for path in ("/search", "/res/v1/web/search"):
            self.web.pages[path] = self._next
        self.clock = HastyClock()

    def _next(self, asked: Asked) -> Answer:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Answer):
            return answer
        return Answer(json.dumps(answer).encode(), "application/json")

    def search(self, **environment: str) -> WebSearch:
        bases = dict.fromkeys(KEYS, self.web.url)
        return WebSearch(self.clock, environment, bases=bases)

    def settings(self, name: str) -> SearchSettings:
        return SearchSettings(name, self.web.url if name == "searxng" else "")


@pytest.mark.parametrize("name", ANSWERS)
async def test_each_service_is_asked_in_its_way_and_read(
    name: str, served: Callable[..., WebServer]
) -> None:
    service = Service(served, ANSWERS[name])
    keys = {KEYS[name]: "the-key"} if name in KEYS else {}

    by, hits = await service.search(**keys).search("fast chips", service.settings(name))

    assert by == name
    assert hits[0] == HIT
    assert len(hits) == min(5, 1 if name == "serper" else 10)
    asked = service.web.asked[0]
    method, path, headers, body = ASKED[name]
    assert (asked.method, asked.path) == (method, path)
    assert headers.items() <= dict(asked.headers).items()
    assert (json.loads(asked.body) if asked.body else None) == body


async def test_a_busy_service_is_asked_again_when_it_says(
    served: Callable[..., WebServer],
) -> None:
    busy = Answer(status=429, headers={"Retry-After": "7"})
    service = Service(served, busy, Answer(status=503), ANSWERS["tavily"])

    search = service.search(TAVILY_API_KEY="k")
    _, hits = await search.search("q", SearchSettings())

    assert hits[0] == HIT
    assert service.clock.slept == [7.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=401), "put a good one into EXA_API_KEY"),
        (Answer(status=500), "failed (500 Internal Server Error)"),
        (Answer(b"<html>", "text/html"), "no JSON"),
        (Answer(status=302, headers={"Location": "http://127.0.0.1:1/"}), "302"),
    ],
)
async def test_a_service_that_fails_is_told_in_words_without_its_key(
    answer: Answer, words: str, served: Callable[..., WebServer]
) -> None:
    service = Service(served, answer)
    search = service.search(EXA_API_KEY="very-secret")
    with pytest.raises(ToolRefused) as refusal:
        await search.search("q", SearchSettings("exa"))
    assert words in str(refusal.value)
    assert "very-secret" not in str(refusal.value)


async def test_a_service_that_cannot_be_reached_is_told_in_words(
    served: Callable[..., WebServer],
) -> None:
    service = Service(served, {})
    settings = SearchSettings("searxng", "http://127.0.0.1:1")
    with pytest.raises(ToolRefused, match=r"127\.0\.0\.1:1"):
        await service.search().search("q", settings)


async def test_the_same_question_is_asked_once_in_a_while(
    served: Callable[..., WebServer],
) -> None:
    service = Service(served, ANSWERS["tavily"])
    search = service.search(TAVILY_API_KEY="k")
    for _ in range(3):
        await search.search("q", SearchSettings())
    assert len(service.web.asked) == 1
    service.clock.move(901)
    await search.search("q", SearchSettings())
    assert len(service.web.asked) == 2


@pytest.mark.parametrize(
    "answer", [{}, [], {"results": None}, {"results": "x"}, {"results": [1, {}]}, None]
)
async def test_an_answer_of_another_form_is_no_result(
    answer: Any, served: Callable[..., WebServer]
) -> None:
    service = Service(served, answer)
    search = service.search(TAVILY_API_KEY="k")
    assert (await search.search("q", SearchSettings()))[1] == ()


# --- who searches


@pytest.mark.parametrize(
    ("settings", "environment", "ddgs", "name"),
    [
        (SearchSettings(), {}, True, "ddgs"),
        (SearchSettings(), {"EXA_API_KEY": "k"}, True, "exa"),
        (SearchSettings(), {"EXA_API_KEY": "k", "TAVILY_API_KEY": "k"}, 0, "tavily"),
        (SearchSettings(), {"EXA_API_KEY": " "}, True, "ddgs"),
        (SearchSettings(), {"SEARXNG_URL": "http://s:8888/"}, True, "searxng"),
        (SearchSettings("exa"), {"EXA_API_KEY": "k", "TAVILY_API_KEY": "k"}, 0, "exa"),
        (SearchSettings("exa", "", "MINE"), {"MINE": "k"}, False, "exa"),
        (SearchSettings("searxng", "http://s"), {"EXA_API_KEY": "k"}, 0, "searxng"),
        (SearchSettings("ddgs"), {"EXA_API_KEY": "k"}, True, "ddgs"),
    ],
)
def test_the_settings_choose_else_the_key_that_is_there(
    settings: SearchSettings, environment: dict[str, str], ddgs: bool, name: str
) -> None:
    assert chosen(settings, environment, ddgs=bool(ddgs)).name == name


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (SearchSettings(), "TAVILY_API_KEY"),
        (SearchSettings(), r"agiraph\[search\]"),
        (SearchSettings("brave"), "set BRAVE_API_KEY"),
        (SearchSettings("brave", "", "MINE"), "set MINE"),
        (SearchSettings("searxng"), "SEARXNG_URL"),
        (SearchSettings("ddgs"), r"agiraph\[search\]"),
    ],
)
def test_where_nobody_searches_it_is_said_what_to_set(
    settings: SearchSettings, words: str
) -> None:
    with pytest.raises(ToolRefused, match=words):
        chosen(settings, {}, ddgs=False)


async def test_ddgs_is_asked_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = HastyClock()
    monkeypatch.setattr(searching, "find_spec", lambda name: name)
    monkeypatch.setattr(searching, "_ddgs", lambda query: (HIT,))
    search = WebSearch(clock, {})
    for number in range(3):
        assert (await search.search(f"q{number}", SearchSettings()))[1] == (HIT,)
    assert clock.slept == [1.0, 1.0]
