"""Failures of services, in words that say what to do.

Kinds and codes follow the error pages of the services: platform.claude.com
(api/errors), developers.openai.com (guides/error-codes), ai.google.dev (gemini-api
troubleshooting) and openrouter.ai (api/errors).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from agiraph.errors import Fault, ProviderFault
from agiraph.providers.known import EXTRAS

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_QUOTE = 300
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "insufficient_quota": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "timeout_error": 408,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "api_error": 500,
    "server_error": 500,
    "overloaded_error": 529,
}
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|prompt is too long"
    r"|(maximum|available) context|context (window|length|size)"
    r"|input token count|input is too long|too many tokens in",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient_quota|billing_error|credit balance|insufficient credits",
    re.IGNORECASE,
)
_KEY = re.compile(r"api[ _]key (not valid|is invalid)|api_key_invalid", re.IGNORECASE)
_MODEL = re.compile(
    r"model_not_found|does not support tools|(not|n't) have access to (the )?model"
    r"|model .{1,80} (does not exist|not found)|not a valid model",
    re.IGNORECASE,
)
_SECRET = re.compile(r"\b(sk|key|AIza|xai|gsk)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}")
_DELAY = re.compile(r"\"retryDelay\": ?\"(\d+(?:\.\d+)?)s\"|retry in (\d+(?:\.\d+)?)s")
_PAGE = re.compile(r"^\s*(<!doctype html|<html)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Service:
    """Whose failure it is.

    Attributes:
        provider: its name in models' names.
        where: its base URL.
        key_env: the environment variable that holds the key; "" where none is needed.
        key: the key itself, only to keep it out of the words.
        model: the whole name of the model that was asked.
    """

    provider: str
    where: str
    key_env: str = ""
    key: str = ""
    model: str = ""

    def said(self, text: str) -> str:
        """What the service said, short and without secrets."""
        if self.key:
            text = text.replace(self.key, "***")
        text = " ".join(_SECRET.sub("***", text).split())
        return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE] + " …"


def of_status(
    service: Service, status: int, body: str, headers: Mapping[str, str]
) -> ProviderFault:
    """The fault for an answer with an error status, from its body and headers."""
    kind = _kind(status, body)
    wait = None
    if kind in (Fault.RATE, Fault.OVERLOADED):
        wait = retry_after(headers) or _named_delay(body)
    return ProviderFault(kind, _words(service, kind, status, body), wait)


def of_report(service: Service, error: object) -> ProviderFault:
    """The fault for an error that came inside an answer which began well."""
    if not isinstance(error, dict):
        return of_status(service, 500, str(error), {})
    code = error.get("code")
    status = code if isinstance(code, int) else None
    for word in (code, error.get("type")):
        if status is None and isinstance(word, str):
            status = _STATUS.get(word)
    words = [str(error[key]) for key in ("type", "code", "message") if error.get(key)]
    return of_status(service, status or 500, ": ".join(words), {})


def of_connection(service: Service, error: BaseException) -> ProviderFault:
    """The fault for a service that could not be reached or fell silent."""
    cause = error.__cause__ or error
    what = service.said(str(cause)) or type(cause).__name__
    if "imeout" in type(cause).__name__:
        what = f"no answer in time ({type(cause).__name__})"
    words = (
        f"{service.provider} at {service.where} could not be reached: {what}. "
        "It is tried again; check the network and the base URL if this lasts."
    )
    return ProviderFault(Fault.NETWORK, words)


def broken(service: Service, what: str) -> ProviderFault:
    """The fault for an answer that broke off or cannot be read."""
    words = (
        f"The answer of {service.provider} at {service.where} {what}; nothing of it "
        "was used. It is asked again."
    )
    return ProviderFault(Fault.NETWORK, words)


def not_a_stream(service: Service, content_type: str, body: str) -> ProviderFault:
    """The fault for a good status with something else than an answer in it."""
    if _PAGE.match(body):
        words = (
            f"{service.where} sent a web page instead of an answer: it is no "
            f"{service.provider} endpoint. Check the base URL, and any proxy or login "
            "page on the way."
        )
        return ProviderFault(Fault.REQUEST, words)
    if '"error"' in body[:2000]:
        return of_status(service, _status_in(body), body, {})
    words = (
        f"{service.where} sent {content_type or 'no content type'} instead of an "
        f"answer as it was asked for: {service.said(body) or 'nothing'}. Check the "
        "base URL, `wire_api` and `stream`."
    )
    return ProviderFault(Fault.REQUEST, words)


def missing_key(provider: str, key_env: str) -> ProviderFault:
    """The fault for a provider whose key nobody set."""
    words = (
        f"{key_env} is not set, and {provider} needs it. Set it in the daemon's "
        "environment and start it again, or name a model of another provider."
    )
    return ProviderFault(Fault.KEY, words)


def missing_package(package: str, why: str) -> ProviderFault:
    """The fault for an SDK that is not there or cannot be loaded."""
    extra = EXTRAS.get(package)
    wanted = f"'agiraph[{extra}]'" if extra else package
    first = "Run" if extra else "Install Agiraph again, or run"
    words = (
        f"The package {package} cannot be used: {why}. {first} "
        f"`pip install {wanted}` in its environment."
    )
    return ProviderFault(Fault.SDK, words)


def of_setting(service: Service, why: str) -> ProviderFault:
    """The fault for an account that the SDK does not accept as it is set."""
    words = (
        f"{service.provider} at {service.where} cannot be used as it is set: "
        f"{service.said(why)}. Check its base URL and key."
    )
    return ProviderFault(Fault.REQUEST, words)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers ask to wait: in ms, in seconds, or as an HTTP date."""
    millis = _number(headers.get("retry-after-ms", ""))
    if millis is not None:
        return max(0.0, millis / 1000)
    written = headers.get("retry-after", "")
    seconds = _number(written)
    if seconds is not None:
        return max(0.0, seconds)
    try:
        date = parsedate_to_datetime(written)
    except (TypeError, ValueError):
        return None
    now = _server_now(headers)
    return max(0.0, (date.astimezone(UTC) - now).total_seconds())


def _server_now(headers: Mapping[str, str]) -> datetime:
    # The service's own clock counts: ours may be wrong by minutes.
    try:
        return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)
    except (TypeError, ValueError):
        return datetime.now(UTC)


def _number(written: str) -> float | None:
    try:
        value = float(written)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _named_delay(body: str) -> float | None:
    found = _DELAY.search(body)
    return float(found[1] or found[2]) if found else None


def _status_in(body: str) -> int:
    for word, status in _STATUS.items():
        if word in body:
            return status
    found = re.search(r"\"(?:code|status)\": ?(\d{3})\b", body)
    return int(found[1]) if found else 500


def _kind(status: int, body: str) -> Fault:
    for pattern, kind in (
        (_QUOTA, Fault.QUOTA),
        (_KEY, Fault.KEY),
        (_MODEL, Fault.MODEL),
    ):
        if 400 <= status < 500 and pattern.search(body):
            return kind
    if status in (400, 413, 422, 500) and (status == 413 or _CONTEXT.search(body)):
        return Fault.CONTEXT
    if status in (408, 409) or status >= 500:
        return Fault.OVERLOADED
    plain = {401: Fault.KEY, 402: Fault.QUOTA, 403: Fault.KEY, 404: Fault.MODEL}
    return plain.get(status, Fault.RATE if status == 429 else Fault.REQUEST)


def _words(service: Service, kind: Fault, status: int, body: str) -> str:
    said = service.said(_message(body))
    answer = f"{status}: {said}" if said else f"{status}"
    return f"{_what(service, kind)} ({answer}). {_remedy(service, kind)}"


def _message(body: str) -> str:
    if _PAGE.match(body):
        return "a web page"
    found = re.search(r"\"message\": ?\"((?:[^\"\\]|\\.)*)\"", body)
    if found:
        return found[1].replace('\\"', '"').replace("\\n", " ")
    return body


def _what(service: Service, kind: Fault) -> str:
    key = service.key_env or "the key"
    name = f"{service.provider} at {service.where}"
    return {
        Fault.KEY: f"{key} was refused by {name}",
        Fault.MODEL: f"{name} does not offer {service.model or 'this model'} to us",
        Fault.QUOTA: f"{name} has no credit left for this key",
        Fault.REQUEST: f"{name} refused the request",
        Fault.CONTEXT: f"The conversation does not fit into {service.model or name}",
        Fault.RATE: f"{name} has had too many requests",
        Fault.OVERLOADED: f"{name} is busy or broken",
        Fault.NETWORK: f"{name} could not be reached",
        Fault.SDK: f"The package for {service.provider} cannot be used",
    }[kind]


def _remedy(service: Service, kind: Fault) -> str:
    set_key = (
        f"Set {service.key_env} to a valid key in the daemon's environment "
        "and start it again."
    )
    name_key = "Name the variable that holds its key as `api_key_env` in agiraph.yaml."
    return {
        Fault.KEY: set_key if service.key_env else name_key,
        Fault.MODEL: "Correct `model`, or the provider's base URL; "
        "`agiraph models` lists what can be used.",
        Fault.QUOTA: "Add credit there, or name a model of another provider.",
        Fault.REQUEST: "It would be refused again; see `options` and `wire_api`.",
        Fault.CONTEXT: "Set `context` to its real window, or take a larger model.",
        Fault.RATE: "It is asked again later; fewer `max_workers` ask less.",
        Fault.OVERLOADED: "It is asked again later.",
        Fault.NETWORK: "It is tried again.",
        Fault.SDK: "Install Agiraph again.",
    }[kind]
