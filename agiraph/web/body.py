"""An answer's body, read to a bound, unpacked to the same bound."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import TYPE_CHECKING, Final

from agiraph.errors import ToolRefused

if TYPE_CHECKING:
    import httpx

_PLAIN: Final = frozenset({"", "identity"})
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{2,40})", re.I)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


async def read_body(response: httpx.Response, *, most: int) -> bytes:
    """The whole body.

    Args:
        response: opened as a stream.
        most: bytes at most, packed as well as unpacked.

    Raises:
        ToolRefused: it is larger, or packed in a way that we do not know.
    """
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in _PLAIN | _PACKED:
        raise ToolRefused(f"{_shown(response)}: it is packed as {packing[:40]!r}.")
    said = response.headers.get("content-length", "")
    if said.isdigit() and int(said) > most:
        raise _too_large(response, most)
    unpacker = zlib.decompressobj(wbits=47) if packing in _PACKED else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        left = most - len(body) + 1
        try:
            body += unpacker.decompress(chunk, left) if unpacker else chunk
        except zlib.error:
            raise ToolRefused(f"{_shown(response)}: it is packed wrongly.") from None
        if len(body) > most:
            raise _too_large(response, most)
    return bytes(body)


def _shown(response: httpx.Response) -> str:
    return f"{response.request.url} could not be read"


def _too_large(response: httpx.Response, most: int) -> ToolRefused:
    return ToolRefused(
        f"{response.request.url} is larger than {most / 1024 / 1024:g} MiB; nothing of "
        "it was kept. Look for a smaller page, or for a part of it."
    )


def decoded(body: bytes, content_type: str) -> str:
    """The body's text, by its marks, its header or its own words; UTF-8 otherwise."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    head = body[:2048].decode("ascii", "ignore")
    for source in (content_type, head):
        found = _CHARSET.search(source)
        if found is not None and _is_known(found[1]):
            return body.decode(found[1], "replace")
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace")


def has_mark(body: bytes) -> bool:
    """Whether a body says by its first bytes that it is text."""
    return body.startswith(tuple(mark for mark, _ in _MARKS))


def _is_known(charset: str) -> bool:
    """Whether a charset is one of text; Python knows other codecs by such names."""
    try:
        return isinstance(b"a".decode(charset), str)
    except (LookupError, ValueError):
        return False
