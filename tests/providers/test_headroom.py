"""What is read from a service's headers about its limits."""

from __future__ import annotations

import pytest

from agiraph.model.usage import Headroom, Usage
from agiraph.providers.headroom import headroom

CALL = Usage(input=100, output=20, cache_read=5_000, cache_write=300)

ANTHROPIC = {
    "date": "Sat, 21 Nov 2026 12:00:00 GMT",
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-11-21T12:00:01Z",
    "anthropic-ratelimit-tokens-limit": "38000",
    "anthropic-ratelimit-tokens-remaining": "8000",
    "anthropic-ratelimit-tokens-reset": "2026-11-21T12:00:47Z",
    "anthropic-ratelimit-input-tokens-limit": "30000",
    "anthropic-ratelimit-input-tokens-remaining": "1000",
    "anthropic-ratelimit-input-tokens-reset": "2026-11-21T12:00:58Z",
    "anthropic-ratelimit-output-tokens-limit": "8000",
    "anthropic-ratelimit-output-tokens-remaining": "7000",
    "anthropic-ratelimit-output-tokens-reset": "2026-11-21T12:00:07Z",
}
OPENAI = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-tokens": "149984",
    "x-ratelimit-reset-tokens": "6m0s",
}


def test_anthropics_four_limits_count_what_its_cache_did_not_serve() -> None:
    assert set(headroom(ANTHROPIC, CALL)) == {
        Headroom("requests", 50, 49, 1.0, 1),
        Headroom("tokens", 38_000, 8_000, 47.0, 420),
        Headroom("input-tokens", 30_000, 1_000, 58.0, 400),
        Headroom("output-tokens", 8_000, 7_000, 7.0, 20),
    }


def test_openais_two_limits_count_every_token() -> None:
    assert set(headroom(OPENAI, CALL)) == {
        Headroom("requests", 60, 59, 1.0, 1),
        Headroom("tokens", 150_000, 149_984, 360.0, 5_420),
    }


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("120ms", 0.12),
        ("7.66s", 7.66),
        ("1h2m3s", 3723.0),
        ("1d", 86_400.0),
        ("", None),
        ("soon", None),
        ("1767000000", None),
    ],
)
def test_the_time_of_a_reset_is_read_in_all_its_forms(
    reset: str, seconds: float | None
) -> None:
    headers = {**OPENAI, "x-ratelimit-reset-tokens": reset}
    (tokens,) = (x for x in headroom(headers, CALL) if x.what == "tokens")

    assert tokens.resets == (None if seconds is None else pytest.approx(seconds))


def test_a_moment_without_the_answers_date_tells_no_span() -> None:
    headers = {name: text for name, text in ANTHROPIC.items() if name != "date"}

    assert {room.resets for room in headroom(headers, CALL)} == {None}


@pytest.mark.parametrize("limit", ["0", "-1", "many", "1e5", "٣", ""])
def test_what_is_no_limit_is_left_out(limit: str) -> None:
    assert headroom({**OPENAI, "x-ratelimit-limit-tokens": limit}, CALL) == tuple(
        room for room in headroom(OPENAI, CALL) if room.what != "tokens"
    )


def test_no_headers_say_nothing() -> None:
    assert headroom({}, CALL) == ()
