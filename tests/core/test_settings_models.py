"""agiraph.yaml says whose protocol a server speaks, and which models call by text."""

from __future__ import annotations

import pytest

from agiraph.core.codec import Good, Rejected, read_tree_settings


def good(text: str) -> Good:
    found = read_tree_settings(text)
    assert isinstance(found, Good), found
    return found


def test_a_provider_of_a_known_name_speaks_its_own_protocol():
    text = "providers:\n  gemini: {}\n  anthropic: {}\n  ollama: {text: true}\n"
    kinds = {one.name: (one.kind, one.text) for one in good(text).value.providers}
    assert kinds == {
        "gemini": ("gemini", False),
        "anthropic": ("anthropic", False),
        "ollama": ("openai", True),
    }


def test_a_model_may_call_by_text_or_not_whatever_its_provider_does():
    text = (
        "models:\n"
        "  ollama/qwen2.5-coder:1.5b: {text: true}\n"
        "  ollama/qwen3:8b: {text: false}\n"
        "  ollama/other: {}\n"
    )
    assert good(text).value.by_text == (
        ("ollama/qwen2.5-coder:1.5b", True),
        ("ollama/qwen3:8b", False),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("models: {a/b: {text: maybe}}\n", "models.a/b.text"),
        ("models: {a/b: true}\n", "models.a/b"),
        ("providers: {a: {kind: other}}\n", "openai, anthropic or gemini"),
    ],
)
def test_what_is_wrong_there_is_said(text, words):
    found = read_tree_settings(text)
    assert isinstance(found, Rejected)
    assert words in str(found)
