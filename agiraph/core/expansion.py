"""`${VAR}` and `${VAR:-otherwise}` in settings, from the daemon's environment."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agiraph.model.server import ServerSettings

_PLACE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


def expanded(
    settings: ServerSettings, environment: Mapping[str, str]
) -> ServerSettings:
    """The entry with its values; what was put in is not looked through again.

    Raises:
        ToolRefused: variables are missing; names them all.
    """
    missing: list[str] = []

    def filled(text: str) -> str:
        def value(found: re.Match[str]) -> str:
            name, otherwise = found[1], found[2]
            if environment.get(name):
                return environment[name]
            if otherwise is None:
                missing.append(name)
            return otherwise or ""

        return _PLACE.sub(value, text)

    whole = replace(
        settings,
        command=filled(settings.command),
        args=tuple(filled(each) for each in settings.args),
        env=tuple((name, filled(each)) for name, each in settings.env),
        url=filled(settings.url),
        headers=tuple((name, filled(each)) for name, each in settings.headers),
    )
    if missing:
        raise ToolRefused(
            f"set {', '.join(dict.fromkeys(missing))} in the daemon's environment "
            "and start it again"
        )
    return whole


def unfilled(
    text: str, settings: ServerSettings, environment: Mapping[str, str]
) -> str:
    """A text with the variables of an entry in the place of their values.

    What a server says of itself may hold the key that it was given.
    """
    entry = (
        settings.command,
        settings.url,
        *settings.args,
        *(value for _, value in (*settings.env, *settings.headers)),
    )
    names = {found[1] for each in entry for found in _PLACE.finditer(each)}
    filled = {environment.get(name, "").strip(): name for name in sorted(names)}
    for value in sorted(filled, key=len, reverse=True):
        if value:
            text = text.replace(value, f"${{{filled[value]}}}")
    return text
