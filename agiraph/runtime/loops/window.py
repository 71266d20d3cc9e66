"""What the model of a conversation can read at once, as far as is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.compaction import Window, answer_of
from agiraph.core.limits import ANSWER_TOKENS

if TYPE_CHECKING:
    from agiraph.runtime.conversation import Conversation
    from agiraph.runtime.desk import Desk


def window_of(desk: Desk, talk: Conversation) -> Window:
    """The window of a session's model, with the answer that is asked for."""
    model = talk.prefix.model if talk.prefix else ""
    facts, settings = desk.world.models.facts(model), desk.settings
    wanted = settings.options.get("max_tokens")
    answer = wanted if isinstance(wanted, int) else ANSWER_TOKENS
    tokens = settings.context or facts.window
    tokens = min(tokens, desk.narrow.get(model, tokens))
    longest = min(answer, facts.longest or answer)
    return Window(tokens, answer_of(tokens, longest), settings.compact_at)
