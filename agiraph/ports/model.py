"""Models: who finds them, and who asks one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from agiraph.model.conversation import Answer, Request
    from agiraph.model.usage import Price


class Provider(Protocol):
    """A model's service. May not retry, keep history, or touch the tree."""

    async def ask(self, request: Request) -> Answer:
        """One whole answer.

        Raises:
            ProviderFault: the service failed; a half-received answer is a failure.
        """

    async def close(self) -> None:
        """Let go of connections."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model: window and longest answer in tokens, and its price."""

    window: int
    longest: int | None
    price: Price | None
    strength: str = ""


class Models(Protocol):
    """Finds providers by name. May not call a model by itself."""

    def default(self) -> str:
        """The whole name of the model to use where none is named."""

    def provider(self, model: str) -> Provider:
        """The provider of `provider/model`, built when first asked for.

        Raises:
            ProviderFault: the name, key or package is missing; words say what to set.
        """

    def facts(self, model: str) -> ModelFacts:
        """Window and price; never raises, never asks the network."""

    def table(self) -> str:
        """The models that may be used, for a brief: name, strength, price."""
