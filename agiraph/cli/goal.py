"""Changes in the text of a GOAL.md that leave every other byte as it is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agiraph.cli.codes import BadTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from yaml.nodes import Node

# The fences of frontmatter, as the codec takes them: three dashes alone on a line.
_FENCE = re.compile(r"^-{3,}[ \t]*\r?$\n?", re.MULTILINE)
_COUNT = re.compile(r"(.*?)([0-9]{1,15})\Z", re.DOTALL)


def with_body(text: str, body: str) -> str:
    """The settings of a goal's text with another goal below them."""
    front = _front(text)
    kept = text[: front[2]] if front else ""
    words = body.strip()
    if not front and words.startswith("---"):
        kept = "---\n---\n"
    return f"{kept}{words}\n"


def run_again(text: str) -> str:
    """The text with the next `run:` in its settings: 2 after 1, `b-2` after `b`.

    Raises:
        BadTree: the settings cannot be read, so that nothing may be written there.
    """
    return _with_key(text, "run", _next)


def with_setting(text: str, key: str, said: str) -> str:
    """The text with one setting; what it was before is replaced.

    Args:
        text: of GOAL.md.
        key: a key at the top of the settings.
        said: its value, as YAML on one line.
    """
    return _with_key(text, key, lambda _: said)


def _with_key(text: str, key: str, say: Callable[[str], str]) -> str:
    front = _front(text)
    if front is None:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        end = _line_end(text)
        rest = text.removeprefix("\ufeff")
        return f"{mark}---{end}{key}: {say('')}{end}---{end}{rest}"
    start, stop, _ = front
    return text[:start] + _set(text[start:stop], key, say) + text[stop:]


def _front(text: str) -> tuple[int, int, int] | None:
    """Where the settings begin and end, and where the body begins; None without any."""
    lead = re.match(r"\ufeff?\s*", text)
    opening = _FENCE.match(text, lead.end() if lead else 0)
    if opening is None:
        return None
    closing = _FENCE.search(text, opening.end())
    if closing is None:
        raise BadTree("GOAL.md: the settings are opened by `---` and never closed.")
    return opening.end(), closing.start(), closing.end()


def _set(settings: str, key: str, say: Callable[[str], str]) -> str:
    import yaml

    try:
        node = yaml.compose(settings, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise BadTree(
            f"GOAL.md: its settings are no good YAML ({' '.join(str(error).split())}); "
            "`agiraph check` shows where."
        ) from error
    if node is None:
        return f"{settings}{key}: {say('')}{_line_end(settings)}"
    if not isinstance(node, yaml.MappingNode):
        raise BadTree("GOAL.md: its settings are no `key: value` lines.")
    for name, value in node.value:
        if name.value == key:
            return _replaced(settings, name, value, say)
    if node.flow_style:
        at = node.start_mark.index + 1
        comma = ", " if node.value else ""
        return f"{settings[:at]}{key}: {say('')}{comma}{settings[at:]}"
    # Before the first key: what follows the last one may be a comment or a block.
    at = settings.rfind("\n", 0, node.start_mark.index) + 1
    return f"{settings[:at]}{key}: {say('')}{_line_end(settings)}{settings[at:]}"


def _replaced(settings: str, name: Node, value: Node, say: Callable[[str], str]) -> str:
    import yaml

    start, stop = value.start_mark.index, value.end_mark.index
    if isinstance(value, yaml.ScalarNode) and settings[start - 1] == " ":
        return f"{settings[:start]}{say(value.value)}{settings[stop:]}"
    # A block ends where the next key begins: its last line end stays.
    old = settings[start:stop]
    stop -= len(old) - len(old.rstrip())
    said = say(value.value if isinstance(value, yaml.ScalarNode) else "")
    return f"{settings[: name.end_mark.index]}: {said}{settings[stop:]}"


def _next(run: str) -> str:
    """Another value than the one that stands there, as YAML."""
    if not run:
        return "2"
    match = _COUNT.match(run)
    said = f"{match[1]}{int(match[2]) + 1}" if match else f"{run}-2"
    return said if re.fullmatch(r"\w[\w.-]*", said) else json.dumps(said)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
