"""Digests and reports: about their texts, honest, and the same each time."""

from __future__ import annotations

import re
from time import process_time

import pytest

from agiraph.core.digest.digest import digest
from agiraph.core.digest.rank import central, scores
from agiraph.core.digest.record import from_json, to_json
from agiraph.core.digest.render import HONEST, digest_page
from agiraph.core.digest.report import report_page, shared_terms
from agiraph.core.digest.terms import Term, distinctive
from agiraph.tree.templates import template

TEXTS = {
    path.removeprefix("inputs/"): data.decode()
    for path, data in template("digest").items()
    if path.startswith("inputs/")
}


def flat(text: str) -> str:
    return " ".join(text.replace("*", "").split())


def test_the_sentence_that_the_others_lean_on_is_the_most_central() -> None:
    bags = [
        frozenset({"tide", "moon"}),
        frozenset({"tide", "moon", "sun", "water"}),
        frozenset({"sun", "water"}),
        frozenset({"bread"}),
    ]
    ranks = scores(bags)
    assert max(range(4), key=ranks.__getitem__) == 1
    assert min(range(4), key=ranks.__getitem__) == 3
    assert central(bags, 2)[0] == 1


def test_two_sentences_that_say_the_same_are_not_both_chosen() -> None:
    one = frozenset({"tide", "moon", "sun"})
    assert len(central([one, one, one | {"far"}], 3)) == 1


def test_a_text_far_larger_than_one_graph_is_ranked_all_the_same() -> None:
    bags = [frozenset({f"w{n % 97}", f"v{n % 89}", "all"}) for n in range(3000)]
    chosen = central(bags, 5)
    assert len(set(chosen)) == 5
    assert chosen == central(bags, 5)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_sentence_of_a_digest_stands_in_its_text(name: str) -> None:
    made = digest(name, name, TEXTS[name])
    source = flat(TEXTS[name])
    assert len(made.central) >= 4
    for sentence in (*made.central, made.first):
        assert flat(sentence) in source
    for figure in made.figures:
        assert figure.text in source
        assert flat(figure.sentence) in source
    for heading in made.headings:
        assert heading.text in source


def test_a_text_about_something_else_gives_another_digest() -> None:
    pages = [digest_page(digest("x", "x", text)) for text in TEXTS.values()]
    assert len(set(pages)) == len(TEXTS)
    firsts = {digest("x", "x", text).first for text in TEXTS.values()}
    assert len(firsts) == len(TEXTS)


def test_the_terms_of_a_text_are_what_it_is_about() -> None:
    tides = digest("tides", "tides.txt", TEXTS["tides.txt"])
    assert {"tide", "Moon", "Earth"} <= {term.text for term in tides.terms[:6]}
    assert tides.language == "en"
    assert next(heading.text for heading in tides.headings) == "THE TIDES"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# Only a heading\n", "One.", "...", "天。"]
)
def test_a_text_with_next_to_nothing_in_it_breaks_nothing(text: str) -> None:
    made = digest("x", "inputs/x", text)
    assert digest_page(made).startswith(HONEST)
    assert report_page([made]).startswith(HONEST)
    assert from_json(to_json(made)) == made


def test_a_digest_is_the_same_each_time_and_survives_its_record() -> None:
    for name, text in TEXTS.items():
        made = digest(name, name, text)
        assert made == digest(name, name, text)
        assert from_json(to_json(made)) == made


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "agiraph digest 1"}'])
def test_what_is_no_record_is_refused_as_a_value(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        from_json(text)


def test_the_first_line_of_every_page_says_that_no_model_was_used() -> None:
    made = [digest(name, name, text) for name, text in TEXTS.items()]
    for page in (*map(digest_page, made), report_page(made), report_page([])):
        assert page.splitlines()[0].startswith("No language model was used")


def test_a_report_compares_its_texts_in_a_table() -> None:
    made = [digest(name, f"inputs/{name}", text) for name, text in TEXTS.items()]
    page = report_page(made)
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    for one in made:
        assert any(one.title in row and f"{one.words:,}" in row for row in rows)
        assert one.first in flat(page)
        assert one.source in page


def test_a_report_says_nothing_but_its_frame_and_its_texts() -> None:
    made = [digest(name, name, text) for name, text in TEXTS.items()]
    frame = report_page([]) + report_page(made[:1])
    known = " ".join(map(flat, TEXTS.values())) + flat(frame)
    for line in report_page(made).splitlines():
        for quoted in re.findall(r"^(?:> |- )(.+)$", line):
            assert flat(quoted) in known, quoted


def test_shared_terms_are_those_that_several_texts_repeat() -> None:
    one = digest("a", "a", "The tide rises. The tide falls. A moon. Salt and salt.")
    two = digest("b", "b", "A tide of ink. The tide again. Paper is paper.")
    (shared,) = shared_terms([one, two], wanted=9)
    assert (shared.text, shared.counts) == ("tide", (("a", 2), ("b", 2)))


def test_a_word_that_no_other_text_has_tells_more() -> None:
    own = (Term("water", 5), Term("yeast", 4))
    others = [(Term("water", 9),), (Term("water", 3),)]
    assert next(term.text for term in distinctive(own, others, wanted=2)) == "yeast"


def test_what_is_left_out_and_missing_is_named() -> None:
    gone = digest("pic", "inputs/pic", "")
    page = report_page(
        [digest("a", "a", TEXTS["tides.txt"])], missing=["`inputs/b`: node b failed"]
    )
    assert "## Left out\n\n- `inputs/b`: node b failed" in page
    assert gone.words == 0


def test_marks_in_a_text_stay_text_in_the_page() -> None:
    text = "A <script>alert(1)</script> tag | and a pipe stand in 5 km of text here."
    page = digest_page(digest("x", "x", text))
    assert "<script>" not in page
    assert "tag \\| and" in page


def test_a_megabyte_takes_a_few_seconds_at_most() -> None:
    text = "\n\n".join(TEXTS.values()) * 40
    start = process_time()
    made = digest("x", "x", text[:1_000_000])
    assert process_time() - start < 15
    assert made.central
