"""Sections are found by the words that they share with a query, in any script."""

from __future__ import annotations

from agiraph.core.search import best, sections

NOTES = """Before any heading.

# Prices
The H100 costs 30,000 USD.

## Deliveries
The MI300 comes in May.

# 価格
価格は三万ドルです。
"""


def found(query: str, most: int = 3) -> list[str]:
    return [s.title for s in best(query, sections("chips.md", NOTES), most)]


def test_a_text_is_cut_at_its_headings() -> None:
    assert [s.title for s in sections("a", NOTES)] == [
        "", "Prices", "Deliveries", "価格",
    ]  # fmt: skip


def test_a_long_piece_is_cut_at_empty_lines() -> None:
    text = "# T\n" + "\n\n".join(["word " * 300] * 6)

    assert all(len(section.text) <= 4_100 for section in sections("a", text))
    assert len(sections("a", text)) > 1


def test_the_best_section_comes_first() -> None:
    assert found("what does the H100 cost?")[0] == "Prices"
    assert found("MI300 delivery")[0] == "Deliveries"


def test_a_plural_finds_its_singular() -> None:
    assert found("price") == ["Prices"]


def test_scripts_without_spaces_are_found() -> None:
    assert found("価格") == ["価格"]


def test_case_and_width_do_not_matter() -> None:
    assert found("\uff48\uff11\uff10\uff10")[0] == "Prices"


def test_without_a_shared_word_nothing_is_found() -> None:
    assert found("weather") == []
    assert best("x", (), 3) == ()
    assert found("") == []
