"""Whether a person has named an address themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.core.webaddress import read_address
from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agiraph.core.webaddress import WebAddress

_NAMED: Final = re.compile(
    r"(?:https?://)?(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:[/?][^\s<>\"'`]*)?"
)
_ENDS: Final = ".,;:!?)]}*_"


def is_named(address: WebAddress, said: Iterable[str]) -> bool:
    """Whether one of the texts names the address, with `http://` or without.

    Args:
        address: as it would be fetched.
        said: what people wrote.
    """
    return any(
        address.url in _forms(word)
        for text in said
        if address.host in text.lower()
        for word in _NAMED.findall(text)
    )


def _forms(word: str) -> Iterator[str]:
    """The addresses that a word in a text may mean."""
    for each in (word, word.rstrip(_ENDS)):
        whole = [each] if "://" in each else [f"https://{each}", f"http://{each}"]
        for text in whole:
            try:
                yield read_address(text, loopback=True).url
            except ToolRefused:
                continue
