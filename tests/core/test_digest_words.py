"""Sentences, words, blocks and figures, by values."""

from __future__ import annotations

from collections import Counter

import pytest

from agiraph.core.digest.blocks import BlockKind, blocks, plain
from agiraph.core.digest.figures import FigureKind, figures
from agiraph.core.digest.sentences import sentences
from agiraph.core.digest.stopwords import language_of
from agiraph.core.digest.words import folds, lowered, word_count, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It rains. It pours!", ["It rains.", "It pours!"]),
        ("It is 3.5 km. Far.", ["It is 3.5 km.", "Far."]),
        ("Dr. Ames came. He left.", ["Dr. Ames came.", "He left."]),
        ("See p. 3, e.g. here.", ["See p. 3, e.g. here."]),
        ("The answer is no. He left.", ["The answer is no.", "He left."]),
        ("J. S. Bach wrote it.", ["J. S. Bach wrote it."]),
        ("Wait… what? Yes.", ["Wait… what?", "Yes."]),
        ('"Why?" she asked. "So."', ['"Why?" she asked.', '"So."']),
        ("今日は晴れ。明日は雨。", ["今日は晴れ。", "明日は雨。"]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("no stop at the end", ["no stop at the end"]),
        ("", []),
    ],
)
def test_a_sentence_ends_where_a_reader_would_end_it(
    text: str, found: list[str]
) -> None:
    assert sentences(text) == found


def test_a_german_ordinal_does_not_end_a_sentence() -> None:
    text = "Am 3. Mai kam er z. B. zu Fuß. Das war 1999. So."
    assert sentences(text, "de") == [
        "Am 3. Mai kam er z. B. zu Fuß.",
        "Das war 1999.",
        "So.",
    ]


def test_words_keep_apostrophes_hyphens_and_vowel_signs() -> None:
    assert words("The lamp-keeper's oil") == ["The", "lamp-keeper's", "oil"]
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_scripts_without_spaces_are_counted_by_character_and_read_in_pairs() -> None:
    assert word_count("天气很好") == 4
    assert words("天气很好") == ["天气", "气很", "很好"]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The sea is calm and the wind is from the west, but it will turn."),
        ("de", "Das Meer ist ruhig und der Wind kommt aus dem Westen, aber er dreht."),
        ("fr", "La mer est calme et le vent vient de l'ouest, mais il va tourner."),
        ("es", "El mar está en calma y el viento viene del oeste, pero va a girar."),
        ("", "Lorem ipsum dolor sit amet consectetur adipiscing elit."),
        ("", ""),
    ],
)
def test_the_language_is_guessed_by_its_small_words(code: str, text: str) -> None:
    assert language_of(Counter(lowered(words(text)))) == code


def test_a_word_is_folded_only_onto_one_that_the_text_uses() -> None:
    counts = Counter(["lamps", "lamp", "lens", "tides", "glass"])
    assert folds(counts, "en") == {"lamps": "lamp"}
    assert folds(counts, "") == {}


def test_headings_of_every_kind_are_found() -> None:
    text = (
        "---\ntitle: no heading\n---\n# One #\ntext\n\nTwo\n===\n\ntext\n\n"
        "THREE AND MORE\n\ntext\n\n2.1 Four\n\ntext\n\nFive\n----\ntext\n"
    )
    found = [(b.text, b.level) for b in blocks(text) if b.kind is BlockKind.HEADING]
    assert found == [
        ("One", 1),
        ("Two", 1),
        ("THREE AND MORE", 2),
        ("2.1 Four", 3),
        ("Five", 2),
    ]


def test_the_items_of_a_list_are_no_headings() -> None:
    text = "1. Salt the water\n\n2. Boil the eggs\n\n3. Eat\n\nDone.\n"
    assert [block.kind for block in blocks(text)] == [BlockKind.ITEM] * 3 + [
        BlockKind.PARAGRAPH
    ]


def test_code_and_tables_are_left_out_of_the_prose() -> None:
    text = (
        "Before.\n\n```\ncode = 1\n```\n\n| a | b |\n|---|---|\n\n"
        "> Quoted.\n- [x] Item\n"
    )
    assert [block.text for block in blocks(text)] == ["Before.", "Quoted.", "Item"]


def test_marks_are_taken_off_and_sums_are_not() -> None:
    assert plain("**Bold** and *it*, [a link](http://x.org/y), `code`") == (
        "Bold and it, a link, code"
    )
    assert plain("5 * 3 * 2 and snake_case_name") == "5 * 3 * 2 and snake_case_name"


@pytest.mark.parametrize(
    ("text", "kind", "figure"),
    [
        ("It cost $3.50 then.", FigureKind.MONEY, "$3.50"),
        ("It cost 3.5 million euros.", FigureKind.MONEY, "3.5 million euros"),
        ("Some 12 per cent left.", FigureKind.SHARE, "12 per cent"),
        ("Etwa 3,5 % bleiben.", FigureKind.SHARE, "3,5 %"),
        ("It was 1850.", FigureKind.YEAR, "1850"),
        ("In the 1850s.", FigureKind.YEAR, "1850s"),
        ("It ran at 30 km/h.", FigureKind.MEASURE, "30 km/h"),
        ("From 3 to 5 metres.", FigureKind.MEASURE, "3 to 5 metres"),
        ("At −20 °C it froze.", FigureKind.MEASURE, "−20 °C"),  # noqa: RUF001
        ("It took 1,200 lamps.", FigureKind.COUNT, "1,200 lamps"),
    ],
)
def test_a_figure_is_found_with_what_it_measures(
    text: str, kind: FigureKind, figure: str
) -> None:
    (found,) = figures([text], wanted=9)
    assert (found.kind, found.text, found.sentence) == (kind, figure, text)


def test_a_bare_small_number_is_no_figure_and_none_comes_twice() -> None:
    assert figures(["There were 4 of them."], wanted=9) == ()
    assert len(figures(["A 5 km walk.", "Again 5 km."], wanted=9)) == 1


def test_measures_go_before_years_where_room_is_short() -> None:
    found = figures(["In 1850 and 1860 it was 5 km to go."], wanted=1)
    assert [figure.text for figure in found] == ["5 km"]
