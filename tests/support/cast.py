"""Scripts for the model server: who says what, step by step.

```python
script = cast(
    coordinator=[
        call("create_work_node", id="paris", task="Write on Paris."),
        after("node paris completed", do=call("finish", summary="Done.")),
    ],
    paris=[call("write_file", …), call("publish", summary="Paris.")],
)
```

Speakers are `coordinator`, workers by name, or nodes by id. A speaker takes the next
step of its list whenever it is asked; where a step waits for words that have not been
told, the speaker ends its turn with text. How far it is, its conversation says: so a
daemon may be ended and started in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tests.support.model_asked import COORDINATOR, Asked
from tests.support.model_server import Scripted, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.model_server import Script

WAITS = "I wait for what is under way."
REFLECTS = "Look back for a moment"


@dataclass(frozen=True)
class After:
    """A step that waits until all these words have been told."""

    words: tuple[str, ...]
    do: Scripted | Callable[[Asked], Scripted]


Step: TypeAlias = "Scripted | After | Callable[[Asked], Scripted]"
Part: TypeAlias = "Sequence[Step] | Callable[[Asked], Scripted]"


def after(*words: str, do: Scripted | Callable[[Asked], Scripted]) -> After:
    """A step once all these words stand in what the speaker was told."""
    return After(words, do)


def cast(*, learned: str = "nothing", **parts: Part) -> Script:
    """A script in which each speaker plays its part; `_` in a name stands for `-`.

    Args:
        learned: what workers say when they look back after a node.
    """
    known = {name.replace("_", "-").casefold(): part for name, part in parts.items()}

    def script(asked: Asked) -> Scripted:
        if REFLECTS in asked.last_user:
            return say(learned)
        for name in (asked.node or COORDINATOR, asked.who):
            part = known.get(name.casefold())
            if part is not None:
                return part(asked) if callable(part) else _next(part, asked)
        msg = f"nobody plays {asked.who} on {asked.node}"
        raise LookupError(msg)

    return script


def _next(steps: Sequence[Step], asked: Asked) -> Scripted:
    said = [turn for turn in asked.turns if turn.role == "assistant"]
    taken = sum(turn.text != WAITS for turn in said)
    if taken >= len(steps):
        msg = f"{asked.who} has taken its {taken} steps, but was asked again"
        raise LookupError(f"{msg}; last it was told: {told(asked)[-500:]}")
    step = steps[taken]
    if isinstance(step, After):
        known = told(asked)
        if not all(words in known for words in step.words):
            return say(WAITS)
        step = step.do
    return step(asked) if callable(step) else step


def told(asked: Asked) -> str:
    """All that a speaker was told: texts and results, not what it said itself."""
    parts = [turn.text for turn in asked.turns if turn.role == "user"]
    return "\n".join([*parts, *(result.text for result in asked.all_results)])
