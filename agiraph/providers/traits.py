"""What is known of models by their names alone.

Sources: the parameter tables of the services' own references. A name that no rule
knows is taken to be without the trait, because an unknown parameter is refused while
a missing one only loses a wish.
"""

from __future__ import annotations

import re

_PLAIN_CLAUDE = re.compile(
    r"claude-(instant|v?[123]([.-]|$)"
    r"|(sonnet|haiku)-4(-[05])?(-\d{8}|-latest)?$"
    r"|opus-4(-[01])?(-\d{8}|-latest)?$)"
)
_PLAIN_GPT = re.compile(r"(ft:)?(gpt-3|gpt-4|chatgpt|gpt-5[\w.]*-chat|davinci|babbage)")
_OPENAI = re.compile(r"(ft:)?(gpt|chatgpt|o\d|codex|davinci|babbage)")
_GEMINI_THINKS = re.compile(r"gemini-(2\.5|[3-9])")


def takes_effort(model: str) -> bool:
    """Whether the option `effort` may be sent to a model of this name."""
    name = _last(model)
    if name.startswith("claude"):
        return not _PLAIN_CLAUDE.match(name)
    if _OPENAI.match(name):
        return not _PLAIN_GPT.match(name)
    return bool(_GEMINI_THINKS.match(name))


def takes_temperature(model: str) -> bool:
    """Whether `temperature` and `top_p` may be sent to a model of this name."""
    name = _last(model)
    if name.startswith("claude"):
        return bool(_PLAIN_CLAUDE.match(name))
    if _OPENAI.match(name):
        return bool(_PLAIN_GPT.match(name))
    return True


def reasons_in_secret(model: str) -> bool:
    """Whether OpenAI's own model has encrypted reasoning that it wants back."""
    return not _PLAIN_GPT.match(_last(model))


def _last(model: str) -> str:
    return model.rpartition("/")[2].lower()
