"""From the name of a provider, the settings and the environment to an account."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.errors import Fault, ProviderFault
from agiraph.providers import known, local
from agiraph.providers.connection import IDLE, LOCAL_IDLE, WHOLE_IDLE, Account

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.agent import ProviderSettings

APP_HEADERS = {"X-OpenRouter-Title": "Agiraph"}
_IMITATION, _VERSION = "/openai", "/v1beta"


@dataclass(frozen=True, slots=True)
class Way:
    """How a provider is reached.

    Attributes:
        wire: messages, responses, chat or gemini.
        missing: the variable whose key is missing; "" where none is.
        at_home: whether it is the service's own address, not another server.
    """

    account: Account
    wire: str
    missing: str = ""
    at_home: bool = False


def way_to(
    name: str,
    declared: Mapping[str, ProviderSettings],
    environment: Mapping[str, str],
) -> Way:
    """How the provider of this name is reached.

    What agiraph.yaml declares goes before the environment, and that before what is
    known of the provider.

    Raises:
        ProviderFault: nobody knows such a provider, or its settings make no sense.
    """
    setting = declared.get(name)
    usual = known.BY_NAME.get(name)
    if setting is None and usual is None:
        raise _unknown(name, declared)
    kind = setting.kind if setting else usual.kind if usual else ""
    if kind not in known.KINDS:
        raise _wrong(name, "kind", kind, tuple(known.KINDS))
    home = usual or known.BY_NAME[kind]
    base_url, at_home = _base_url(setting, usual, home, environment)
    wire = _wire(setting, home, base_url, at_home=at_home)
    if wire not in known.WIRES:
        raise _wrong(name, "wire_api", wire, known.WIRES)
    base_url = _root(base_url, wire, home)
    key_env = _key_env(setting, usual, home, at_home=at_home)
    key = environment.get(key_env, "").strip() if key_env else ""
    stream = setting.stream if setting else True
    account = Account(
        provider=name,
        sdk=known.SDKS[wire],
        base_url=base_url,
        key=key,
        key_env=key_env,
        idle=_idle(base_url, stream=stream),
        headers=APP_HEADERS if home.name == "openrouter" else {},
        stream=stream,
    )
    needed = bool(key_env) and not key and not _may_be_open(setting, base_url)
    return Way(account, wire, key_env if needed else "", at_home)


def _base_url(
    setting: ProviderSettings | None,
    usual: known.KnownProvider | None,
    home: known.KnownProvider,
    environment: Mapping[str, str],
) -> tuple[str, bool]:
    written = setting.base_url if setting else None
    if written is None and usual is not None:
        named = (environment.get(name, "").strip() for name in usual.url_envs)
        written = next((url for url in named if url), None)
    if written is None:
        return home.base_url, True
    if home.local:
        written = local.address(written, home.base_url)
    written = written.rstrip("/")
    return written, written == home.base_url


def _wire(
    setting: ProviderSettings | None,
    home: known.KnownProvider,
    base_url: str,
    *,
    at_home: bool,
) -> str:
    if setting is not None and setting.wire_api:
        return setting.wire_api
    if home.wire == "gemini":
        # Its own protocol where the package for it is there; else the address at
        # which it imitates OpenAI, which needs none.
        imitated = base_url.endswith(_IMITATION) or not has_package(
            known.SDKS["gemini"]
        )
        return "chat" if imitated else "gemini"
    # Few of the servers that imitate OpenAI speak Responses; all speak chat.
    return home.wire if at_home else known.KINDS[home.kind]


def _root(base_url: str, wire: str, home: known.KnownProvider) -> str:
    """The base URL as the package of a wire wants it."""
    if wire == "messages":
        return base_url.removesuffix("/v1")
    if home.wire != "gemini":
        return base_url
    root = base_url.removesuffix(_IMITATION).removesuffix(_VERSION)
    return root if wire == "gemini" else root + _VERSION + _IMITATION


def _idle(base_url: str, *, stream: bool) -> float:
    if local.is_loopback(base_url):
        return LOCAL_IDLE
    return IDLE if stream else WHOLE_IDLE


def has_package(name: str) -> bool:
    """Whether a package is installed, without loading it."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _key_env(
    setting: ProviderSettings | None,
    usual: known.KnownProvider | None,
    home: known.KnownProvider,
    *,
    at_home: bool,
) -> str:
    if setting is not None and setting.api_key_env:
        return setting.api_key_env
    if usual is not None:
        return usual.key_env
    # A declared server of its own needs no key unless it names one.
    return home.key_env if at_home else ""


def _may_be_open(setting: ProviderSettings | None, base_url: str) -> bool:
    """Whether a server may do without a key: one on this machine that names none."""
    named = setting is not None and setting.api_key_env is not None
    return local.is_loopback(base_url) and not named


def _unknown(name: str, declared: Mapping[str, ProviderSettings]) -> ProviderFault:
    names = sorted({*known.BY_NAME, *declared, "gguf", "offline", "scripted", "replay"})
    words = (
        f"No provider is called {name!r}. Write the model as `provider/model`, with "
        f"one of {', '.join(names)}, or declare it under `providers:` in agiraph.yaml."
    )
    return ProviderFault(Fault.MODEL, words)


def _wrong(name: str, key: str, found: str, allowed: tuple[str, ...]) -> ProviderFault:
    words = (
        f"`{key}: {found}` of the provider {name!r} in agiraph.yaml is not known; "
        f"it may be {' or '.join(allowed)}."
    )
    return ProviderFault(Fault.REQUEST, words)
