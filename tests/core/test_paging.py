"""Pages hold whole lines and say where they are, however the bytes come in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.paging import PAGE, binary_kind, page


@given(
    st.text(alphabet="ab\nß", max_size=60),
    st.integers(1, 8),
    st.integers(1, 6),
    st.integers(1, 9),
)
def test_a_page_is_the_lines_that_were_asked_for(
    text: str, offset: int, limit: int, piece: int
) -> None:
    data = text.encode()
    chunks = [data[at : at + piece] for at in range(0, len(data), piece)]
    lines = text.split("\n")
    whole = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])

    got = page(chunks, offset=offset, limit=limit)

    assert got.text == "".join(whole[offset - 1 : offset - 1 + limit])
    assert got.total == len(whole)
    assert got.last == max(min(len(whole), offset - 1 + limit), offset - 1)


def test_lines_that_do_not_fit_wait_for_the_next_page() -> None:
    data = [b"x" * (PAGE // 2) + b"\n", b"y" * (PAGE - 10) + b"\n", b"z\n"]

    first = page(data)
    second = page(data, offset=2)

    assert (first.first, first.last, first.more) == (1, 1, True)
    assert (second.first, second.last, second.more) == (2, 3, False)
    assert second.remarks == ()


def test_a_line_without_end_takes_no_memory() -> None:
    got = page(b"x" * 65_536 for _ in range(1_000))

    assert len(got.text) < 3_000
    assert got.total == 1


def test_kinds_are_known_by_their_first_bytes() -> None:
    assert binary_kind(b"%PDF-1.7\n%\xe2\xe3\0") == "a PDF document"
    assert binary_kind(b"\xff\xfeh\0i\0") == "text in UTF-16"
    assert binary_kind(bytes(257) + b"ustar" + bytes(200)) == "a tar archive"
    assert binary_kind(bytes(100)) == "binary data"


def test_text_is_no_binary_whatever_its_encoding() -> None:
    assert binary_kind("MZ and PK: Größe\n".encode()) is None
    assert binary_kind("Größe in Metern\n".encode("latin-1")) is None
    assert binary_kind("価格".encode() * 3000 + b"\xe4\xbe") is None
    assert binary_kind(b"\x1b[31mred\x1b[0m\n") is None
