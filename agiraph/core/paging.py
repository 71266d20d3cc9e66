"""A text shown in pages of whole lines, and what a file is that is no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE: Final = 16_000
LONGEST_LINE: Final = 2_000
SAMPLE: Final = 8_192
_KEPT: Final = 4 * PAGE  # bytes of one line, however long it is
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an Office document)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "an ELF program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ", "a Windows program"),
    (b"ID3", "MP3 audio"),
    (b"OggS", "Ogg media"),
    (b"PAR1", "a Parquet table"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
_CONTROLS: Final = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x1b\b")
_HIGH: Final = bytes(range(128, 256))


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of a text.

    Attributes:
        text: the lines as they stand, long ones cut.
        first, last: their numbers, from 1; last < first when there are none.
        total: lines of the whole text, or None when it was not read to its end.
        remarks: what is not shown as it is.
    """

    text: str
    first: int
    last: int
    total: int | None
    remarks: tuple[str, ...] = ()

    @property
    def more(self) -> bool:
        """Whether lines follow."""
        return self.total is None or self.last < self.total


def binary_kind(sample: bytes) -> str | None:
    """What a file is by its first bytes, when it is not text; else None."""
    for magic, kind in _MAGIC:
        if sample.startswith(magic) and not _plain(sample):
            return kind
    if sample[257:262] == b"ustar":
        return "a tar archive"
    if sample[4:8] == b"ftyp":
        return "MP4 media"
    return None if _plain(sample) else "binary data"


def _plain(sample: bytes) -> bool:
    """Whether bytes can be shown as text, in UTF-8 or some older encoding."""
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if b"\0" in sample:
        return False
    try:
        sample[: -3 or None].decode()
    except UnicodeDecodeError as fault:
        if fault.end >= len(sample) - 3:  # a character cut by the sample's end
            return controls == 0
        high = len(sample) - len(sample.translate(None, _HIGH))
        return controls == 0 and high * 3 < len(sample)
    return controls * 20 <= len(sample)


def page(
    chunks: Iterable[bytes],
    *,
    offset: int = 1,
    limit: int | None = None,
    count_all: bool = True,
) -> Page:
    """The lines from `offset` that fit on one page.

    Args:
        chunks: the file's bytes in order, in pieces of any size.
        offset: the first line, from 1.
        limit: lines at most.
        count_all: whether to read on to the end, to know how many lines there are.
    """
    taken = _Taken(offset, limit)
    total = 0
    begun, lost = b"", 0  # of a line that goes on in the next chunk
    for chunk in chunks:
        *lines, rest = chunk.split(b"\n")
        for at in range(max(offset - 1 - total, 0), len(lines)):
            line = lines[at] + b"\n"
            if at == 0:
                taken.take(begun + line, lost)
            else:
                taken.take(line)
            if taken.full:
                break
        total += len(lines)
        if taken.full and not count_all:
            return taken.page(None)
        if lines:
            begun, lost = b"", 0
        begun += rest
        begun, lost = begun[:_KEPT], lost + max(len(begun) - _KEPT, 0)
    if begun:
        total += 1
        if total >= offset:
            taken.take(begun, lost)
    return taken.page(None if taken.full and not count_all else total)


class _Taken:
    """The lines taken for a page so far."""

    def __init__(self, offset: int, limit: int | None) -> None:
        self.full = False
        self._first = offset
        self._limit = limit
        self._lines: list[str] = []
        self._size = 0
        self._remarks: list[str] = []

    def take(self, line: bytes, lost: int = 0) -> None:
        """Take a line, or become full; `lost` bytes of it are not known any more."""
        number = self._first + len(self._lines)
        text, remark = _shown(line[:_KEPT], len(line) + lost, number)
        full = self.full or len(self._lines) == self._limit
        if full or (self._lines and self._size + len(text) > PAGE):
            self.full = True
            return
        self._lines.append(text)
        self._size += len(text)
        if remark and len(self._remarks) < 5:
            self._remarks.append(remark)

    def page(self, total: int | None) -> Page:
        """What was taken, as a page."""
        last = self._first + len(self._lines) - 1
        return Page("".join(self._lines), self._first, last, total, (*self._remarks,))


def _shown(line: bytes, whole_length: int, number: int) -> tuple[str, str]:
    text = line.decode("utf-8", "replace")
    remark = f"line {number} is not valid UTF-8" if "\ufffd" in text else ""
    if whole_length > len(line) or len(text) > PAGE:
        remark = (
            f"line {number} has {whole_length:,} bytes; "
            f"its first {LONGEST_LINE:,} characters are shown"
        )
        text = text[:LONGEST_LINE] + "\n"
    return text, remark
