"""The providers and models that need no setting: names, addresses, defaults.

One table, to be mended when services bring new models; prices and windows are not
here but come from genai-prices.
"""

from __future__ import annotations

from dataclasses import dataclass

STRONG = "strong"
MEDIUM = "medium"
WEAK = "weak"
WIRES = ("messages", "responses", "chat", "gemini")
KINDS = {"anthropic": "messages", "openai": "chat", "gemini": "gemini"}
# The package that speaks a wire, and the extra that brings it where it is one.
SDKS = {
    "messages": "anthropic",
    "responses": "openai",
    "chat": "openai",
    "gemini": "google.genai",
}
EXTRAS = {"google.genai": "gemini", "xllamacpp": "local"}
UNKNOWN_WINDOW = 128_000
LOCAL_WINDOW = 32_768


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """A provider that is used by its name alone.

    Attributes:
        kind: whose protocol it speaks: openai, anthropic or gemini.
        wire: how it is spoken to where nothing else is set.
        key_env: the variable with its key; "" where none is needed.
        url_envs: variables that replace its base URL, the first that is set.
        prices: its name in genai-prices; "" where it costs nothing.
        local: whether it is a server on one's own machine.
    """

    name: str
    kind: str
    wire: str
    base_url: str
    key_env: str = ""
    url_envs: tuple[str, ...] = ()
    prices: str = ""
    local: bool = False


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model worth naming; the first of a provider is its default."""

    name: str
    strength: str
    longest: int | None = None

    @property
    def provider(self) -> str:
        """The name of its provider."""
        return self.name.partition("/")[0]


PROVIDERS = (
    KnownProvider(
        "anthropic",
        "anthropic",
        "messages",
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        ("ANTHROPIC_BASE_URL",),
        "anthropic",
    ),
    KnownProvider(
        "openai",
        "openai",
        "responses",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        ("OPENAI_BASE_URL",),
        "openai",
    ),
    KnownProvider(
        "gemini",
        "gemini",
        "gemini",
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_KEY",
        ("GEMINI_BASE_URL",),
        "google",
    ),
    KnownProvider(
        "openrouter",
        "openai",
        "chat",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        ("OPENROUTER_BASE_URL",),
        "openrouter",
    ),
    KnownProvider(
        "ollama",
        "openai",
        "chat",
        "http://127.0.0.1:11434/v1",
        url_envs=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
        local=True,
    ),
    KnownProvider(
        "lmstudio",
        "openai",
        "chat",
        "http://127.0.0.1:1234/v1",
        url_envs=("LMSTUDIO_BASE_URL", "LMSTUDIO_HOST"),
        local=True,
    ),
    KnownProvider(
        "llamacpp",
        "openai",
        "chat",
        "http://127.0.0.1:8080/v1",
        url_envs=("LLAMACPP_BASE_URL", "LLAMACPP_HOST"),
        local=True,
    ),
)
MODELS = (
    KnownModel("anthropic/claude-sonnet-5-5", MEDIUM, 64_000),
    KnownModel("anthropic/claude-opus-5-5", STRONG, 64_000),
    KnownModel("anthropic/claude-haiku-5-5", WEAK, 64_000),
    KnownModel("anthropic/claude-opus-4-5", STRONG, 64_000),
    KnownModel("anthropic/claude-sonnet-4-5", MEDIUM, 64_000),
    KnownModel("anthropic/claude-haiku-4-5", WEAK, 64_000),
    KnownModel("openai/gpt-6.1-sol", STRONG, 128_000),
    KnownModel("openai/gpt-6.1-terra", MEDIUM, 128_000),
    KnownModel("openai/gpt-6-luna", WEAK, 128_000),
    KnownModel("openai/gpt-4o", MEDIUM, 16_384),
    KnownModel("openai/gpt-4o-mini", WEAK, 16_384),
    KnownModel("gemini/gemini-3.8-flash", MEDIUM, 65_536),
    KnownModel("gemini/gemini-3.1-pro-preview", STRONG, 65_536),
    KnownModel("gemini/gemini-3.1-flash-lite", WEAK, 65_536),
    KnownModel("openrouter/anthropic/claude-sonnet-5.5", MEDIUM, 64_000),
    KnownModel("openrouter/openai/gpt-6-luna", WEAK, 128_000),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}
MODEL_BY_NAME = {model.name: model for model in MODELS}
FREE_OF_CHARGE = frozenset(
    {"offline", "scripted", "replay", "gguf", "ollama", "lmstudio", "llamacpp"}
)
# Which default is taken, in this order, when a key is set and no model is named.
BY_KEY = ("anthropic", "openai", "gemini", "openrouter")


def default_of(provider: str) -> str | None:
    """The model that is taken where only the provider is known."""
    return next((m.name for m in MODELS if m.provider == provider), None)
