"""What a gzip archive holds, a piece at a time, and when it was made."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from agiraph.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import PurePosixPath

GZIP: Final = 31  # zlib's word for a gzip header and trailer around the data
HEADER: Final = 10  # bytes of a gzip header
_PIECE: Final = 1 << 20
_MAGIC: Final = b"\x1f\x8b"


def unpacked(pieces: Iterable[bytes], path: PurePosixPath) -> Iterator[bytes]:
    """The bytes that a gzip file holds.

    Args:
        pieces: the file, in order.
        path: whose it is, for the words of an error.

    Raises:
        Unreadable: it is damaged, or ends too early.
    """
    opener = zlib.decompressobj(GZIP)
    try:
        for piece in pieces:
            rest = piece
            while rest and not opener.eof:
                if out := opener.decompress(rest, _PIECE):
                    yield out
                rest = opener.unconsumed_tail
    except zlib.error as error:
        raise Unreadable(f"{path} is damaged: {error}") from error
    if not opener.eof:
        raise Unreadable(f"{path} is damaged: it ends too early")


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text in pieces, with their ends; the last may have none."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest


def made_at(header: bytes) -> float | None:
    """When an archive was made, in seconds since 1970 (RFC 1952, MTIME).

    Args:
        header: its first `HEADER` bytes.

    Returns:
        None where it is no gzip file, or does not say.
    """
    if len(header) < HEADER or not header.startswith(_MAGIC):
        return None
    return float(int.from_bytes(header[4:8], "little")) or None
