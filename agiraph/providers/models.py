"""Finds models by name: the port `Models` over the settings and the environment."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agiraph.errors import Fault, ProviderFault
from agiraph.model.usage import FREE
from agiraph.ports import ModelFacts
from agiraph.providers import faults, gguf, gguf_files, known, local, prices
from agiraph.providers.accounts import has_package, way_to
from agiraph.providers.connection import Connections
from agiraph.providers.gate import PATIENCE, Gate
from agiraph.providers.service import WireProvider
from agiraph.providers.text_fallback import TextFallback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agiraph.model.agent import TreeSettings
    from agiraph.model.usage import Price
    from agiraph.ports import Clock, Provider
    from agiraph.providers.accounts import Way
    from agiraph.providers.wire import Wire

OFFLINE = "offline/digest"
LOOK_AGAIN = 60.0

# Providers that need neither a key nor a server.
NEAR = frozenset({"offline", "scripted", "replay"})

# The folder of a recorded run, which then answers for every model.
REPLAY = "AGIRAPH_REPLAY"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model for `agiraph models`.

    Attributes:
        model: its whole name; `provider/` alone where a provider's models are unknown.
        default: whether it is taken where no model is named.
        why_not: what to do before it can be used; "" when it can.
    """

    provider: str
    model: str
    window: int
    strength: str
    price: Price | None
    default: bool
    why_not: str

    @property
    def usable(self) -> bool:
        """Whether it can be asked."""
        return not self.why_not


class Shared:
    """What outlives a change of settings: connections, gates and what was found."""

    def __init__(self, clock: Clock, patience: float) -> None:
        self.clock = clock
        self.patience = patience
        self.connections = Connections()
        self.providers: dict[tuple[str, ...], Provider] = {}
        self.found: dict[str, tuple[float, tuple[str, ...]]] = {}

    def models_at(self, base_url: str) -> tuple[str, ...]:
        """What a local server offers; it is asked again after a minute."""
        now = self.clock.monotonic()
        at, names = self.found.get(base_url, (now - LOOK_AGAIN, ()))
        if now - at >= LOOK_AGAIN:
            names = local.models_at(base_url)
            self.found[base_url] = (now, names)
        return names


class ModelCatalog:
    """The models that this daemon can reach, under one agiraph.yaml.

    Args:
        settings: providers and prices.
        environment: keys and base URLs, name -> value.
        clock: for pauses and probes.
        patience: seconds that a call is retried before its fault is let out.
        shared: what an earlier catalog had open; see `with_settings`.
    """

    def __init__(
        self,
        *,
        settings: TreeSettings,
        environment: Mapping[str, str],
        clock: Clock,
        patience: float = PATIENCE,
        shared: Shared | None = None,
    ) -> None:
        self._settings = settings
        self._environment = environment
        self._declared = {setting.name: setting for setting in settings.providers}
        self._prices = dict(settings.prices)
        self._shared = shared or Shared(clock, patience)
        self._asked: dict[str, Provider] = {}
        self._facts: dict[str, tuple[int, ModelFacts]] = {}

    def with_settings(self, settings: TreeSettings) -> ModelCatalog:
        """The same connections and gates under a changed agiraph.yaml."""
        return ModelCatalog(
            settings=settings,
            environment=self._environment,
            clock=self._shared.clock,
            shared=self._shared,
        )

    async def close(self) -> None:
        """Close every connection, for all catalogs that share them."""
        for provider in self._shared.providers.values():
            await provider.close()
        self._shared.providers.clear()
        self._asked.clear()
        await self._shared.connections.close()

    def default(self) -> str:
        """The model to use where none is named: by key, else local, else offline."""
        for provider in known.BY_KEY:
            name = known.default_of(provider)
            if name and self._environment.get(known.BY_NAME[provider].key_env):
                return name
        return next(iter(self._local_models()), OFFLINE)

    def provider(self, model: str) -> Provider:
        """The provider of `provider/model`, built when first asked for.

        Raises:
            ProviderFault: the name, key or package is missing; words say what to set.
        """
        if model not in self._asked:
            self._asked[model] = self._provider(model)
        return self._asked[model]

    def _provider(self, model: str) -> Provider:
        name, _, rest = model.partition("/")
        if not rest:
            raise _no_model(model)
        recorded = self._environment.get(REPLAY, "")
        if recorded or (name == "replay" and name not in self._declared):
            run = recorded or rest
            waits = bool(recorded)  # `agiraph replay` says again what people said
            from agiraph.providers.replay import ReplayProvider  # noqa: PLC0415

            return self._kept(("replay", run), lambda: ReplayProvider(run, waits=waits))
        if name not in self._declared:
            if name == "offline":
                return self._kept((name,), _offline)
            if name == "scripted":
                from agiraph.providers.scripted import ScriptedProvider  # noqa: PLC0415

                clock = self._shared.clock
                return self._kept((name, rest), lambda: ScriptedProvider(rest, clock))
            if name == gguf.PROVIDER:
                return self._from_file(model)
        way = way_to(name, self._declared, self._environment)
        why_not = self._why_not(way)
        if why_not is not None:
            raise why_not
        account = way.account
        manner = "stream" if account.stream else "whole"
        key = (name, account.sdk, account.base_url, account.key, way.wire, manner)
        gated = self._kept(key, lambda: self._gated(way))
        if not self._by_text(model):
            return gated
        return self._kept((*key, "text"), lambda: TextFallback(gated))

    def facts(self, model: str) -> ModelFacts:
        """Window and price; never raises, never asks the network.

        They are asked for several times a turn, and are looked up anew once a minute:
        a list may have other prices at another hour.
        """
        if model.startswith(f"{gguf.PROVIDER}/"):
            return self._looked_up(model)  # its file may come at any moment
        minute = int(self._shared.clock.monotonic() // 60)
        found = self._facts.get(model)
        if found is None or found[0] != minute:
            found = self._facts[model] = (minute, self._looked_up(model))
        return found[1]

    def _looked_up(self, model: str) -> ModelFacts:
        provider, _, rest = model.partition("/")
        usual = known.BY_NAME.get(provider)
        price = self._prices.get(model)
        window = None
        if usual is not None and usual.prices:
            listed = prices.listed(usual.prices, rest)
            if listed is not None:
                price, window = price or listed.price, listed.window
        if provider in known.FREE_OF_CHARGE:
            price = price or FREE
            window = known.LOCAL_WINDOW if usual else known.UNKNOWN_WINDOW
        if provider == gguf.PROVIDER:
            window = self._window_of_file(rest)
        named = known.MODEL_BY_NAME.get(model)
        # Said, so that nobody gives it hard work because it is free.
        unknown = known.WEAK if provider == gguf.PROVIDER else ""
        return ModelFacts(
            window=window or known.UNKNOWN_WINDOW,
            longest=named.longest if named else None,
            price=price,
            strength=named.strength if named else unknown,
        )

    def _window_of_file(self, written: str) -> int:
        try:
            return gguf.window_of(gguf_files.path_of(written, self._environment))
        except ProviderFault:
            return gguf.WINDOW

    def rows(self) -> tuple[ModelRow, ...]:
        """Every model that is known here, usable or not, and why not."""
        names = [model.name for model in known.MODELS]
        names += [name for name in self._named() if name not in names]
        names += [name for name in self._local_models() if name not in names]
        files = gguf_files.listed(self._environment)
        names += [f"{gguf.PROVIDER}/{file.name}" for file in files]
        names += [f"{name}/" for name in self._without_models(names)]
        default = self.default()
        names += [name for name in (OFFLINE,) if name not in names]
        return tuple(self._row(name, default) for name in dict.fromkeys(names))

    def table(self) -> str:
        """The models that may be used, for a brief: name, strength, price."""
        rows = [row for row in self.rows() if row.usable and row.model[-1] != "/"]
        others = [row for row in rows if row.model != OFFLINE]
        return "\n".join(_line(row) for row in others or rows)

    def _kept(self, key: tuple[str, ...], make: Callable[[], Provider]) -> Provider:
        if key not in self._shared.providers:
            self._shared.providers[key] = make()
        return self._shared.providers[key]

    def _gated(self, way: Way) -> Provider:
        connection = self._shared.connections.to(way.account)
        inner = WireProvider(connection, lambda service: _wire(way, service))
        shared = self._shared
        return Gate(inner, clock=shared.clock, patience=shared.patience)

    def _from_file(self, model: str) -> Provider:
        """The provider of a model file.

        Raises:
            ProviderFault: there is no such file, or nothing to run it with.
        """
        path = gguf_files.path_of(model.partition("/")[2], self._environment)
        if not has_package(gguf.SDK):
            raise faults.missing_package(gguf.SDK, "it is not installed")
        shared = self._shared

        def gated() -> Provider:
            inner = gguf.GgufProvider(model, path, self._environment)
            return Gate(inner, clock=shared.clock, patience=shared.patience)

        one = self._kept((gguf.PROVIDER, path), gated)
        if not self._by_text(model):
            return one
        return self._kept((gguf.PROVIDER, path, "text"), lambda: TextFallback(one))

    def _by_text(self, model: str) -> bool:
        """Whether a model calls tools by text: its own setting, or its provider's.

        Models in files do, unless it is said otherwise: most of them are small.
        """
        said = dict(self._settings.by_text).get(model)
        if said is not None:
            return said
        provider = model.partition("/")[0]
        setting = self._declared.get(provider)
        return provider == gguf.PROVIDER if setting is None else setting.text

    def _why_not(self, way: Way) -> ProviderFault | None:
        if way.missing:
            return faults.missing_key(way.account.provider, way.missing)
        if not has_package(way.account.sdk):
            return faults.missing_package(way.account.sdk, "it is not installed")
        return None

    def _local_models(self) -> tuple[str, ...]:
        """What the servers on this machine offer, declared ones too."""
        found: list[str] = []
        usual = [provider.name for provider in known.PROVIDERS if provider.local]
        for provider in dict.fromkeys([*usual, *self._declared]):
            url = self._local_url(provider)
            names = self._shared.models_at(url) if url else ()
            found += [f"{provider}/{name}" for name in names]
        return tuple(found)

    def _local_url(self, provider: str) -> str:
        """Where a server of this machine is to be asked; "" where it is none."""
        try:
            way = way_to(provider, self._declared, self._environment)
        except ProviderFault:
            return ""
        url = way.account.base_url
        return url if way.account.sdk == "openai" and local.is_loopback(url) else ""

    def _named(self) -> tuple[str, ...]:
        """The models that agiraph.yaml names itself."""
        defaults = self._settings.defaults
        return (*defaults.model, *defaults.worker_model, *self._prices)

    def _without_models(self, names: list[str]) -> list[str]:
        """Providers of which no model is known: they are shown by themselves."""
        seen = {name.partition("/")[0] for name in names}
        every = [*(provider.name for provider in known.PROVIDERS), *self._declared]
        return [name for name in dict.fromkeys(every) if name not in seen]

    def _row(self, model: str, default: str) -> ModelRow:
        facts = self.facts(model)
        return ModelRow(
            provider=model.partition("/")[0],
            model=model,
            window=facts.window,
            strength=facts.strength,
            price=facts.price,
            default=model == default,
            why_not=self._obstacle(model),
        )

    def _obstacle(self, model: str) -> str:
        provider, _, rest = model.partition("/")
        if (
            provider in ("offline", "scripted", "replay")
            and provider not in self._declared
        ):
            return ""
        try:
            if provider == gguf.PROVIDER and provider not in self._declared:
                self._from_file(model)
                return ""
            way = way_to(provider, self._declared, self._environment)
        except ProviderFault as fault:
            return fault.words
        usual = known.BY_NAME.get(provider)
        if usual is not None and usual.local and not rest:
            return f"no server answers at {way.account.base_url}"
        why_not = self._why_not(way)
        return "" if why_not is None else why_not.words


def _wire(way: Way, service: faults.Service) -> Wire:
    stream = way.account.stream
    if way.wire == "messages":
        from agiraph.providers.anthropic import MessagesWire  # noqa: PLC0415

        return MessagesWire(service, diagnoses=way.at_home, stream=stream)
    if way.wire == "gemini":
        from agiraph.providers.gemini import GeminiWire  # noqa: PLC0415

        return GeminiWire(service, stream=stream)
    if way.wire == "responses":
        from agiraph.providers.openai_responses import ResponsesWire  # noqa: PLC0415

        return ResponsesWire(service, stream=stream)
    from agiraph.providers.openai_chat import ChatWire, Dialect  # noqa: PLC0415

    dialect = Dialect(
        openai=way.account.provider == "openai" and way.at_home,
        openrouter=way.account.provider == "openrouter",
    )
    return ChatWire(service, dialect, stream=stream)


def _offline() -> Provider:
    # Late, because most daemons never need it.
    module = importlib.import_module("agiraph.providers.offline")
    provider: Provider = module.OfflineProvider()
    return provider


def _no_model(model: str) -> ProviderFault:
    words = (
        f"{model!r} does not say whose model it is. Write it as `provider/model`, for "
        f"example {known.MODELS[0].name}."
    )
    return ProviderFault(Fault.MODEL, words)


def _line(row: ModelRow) -> str:
    parts = [row.strength] if row.strength else []
    if row.price is None:
        parts.append("price unknown")
    elif row.price.input or row.price.output:
        parts.append(f"${row.price.input:g} in, ${row.price.output:g} out a million")
    else:
        parts.append("free")
    parts.append(f"window {row.window:,}")
    return f"- `{row.model}`: {'; '.join(parts)}"
