"""What the frontmatter of a Claude Code subagent file means in an identity.md."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agiraph.core.codec import kinds
from agiraph.core.codec.marked import Listing
from agiraph.core.codec.report import Remark

if TYPE_CHECKING:
    from agiraph.core.codec.fields import Place, Section

_TOOLS: Final = {
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "edit_file",
    "MultiEdit": "edit_file",
    "LS": "list_files",
    "Glob": "list_files",
    "Grep": "bash",
    "Bash": "bash",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
}
_MODELS: Final = {
    "sonnet": "anthropic/claude-sonnet-4-5",
    "opus": "anthropic/claude-opus-4-5",
    "haiku": "anthropic/claude-haiku-4-5",
}
_INHERIT: Final = "inherit"
_WITHOUT_MEANING: Final = (
    "color", "permissionMode", "maxTurns", "skills", "mcpServers", "hooks", "memory",
    "background", "isolation", "effort", "initialPrompt",
)  # fmt: skip
_WORD: Final = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
_ROLE: Final = 200


def tools(place: Place) -> tuple[str, ...]:
    """A list of tools, or words with commas between them, under our own names."""
    if isinstance(place.value, Listing):
        listed = kinds.many(kinds.line)(place)
        return tuple(_ours(each) for each in listed)
    named = _WORD.findall(kinds.line(place))
    if not named:
        raise place.unfit("a list of tools, such as [read_file, bash]")
    return tuple(dict.fromkeys(_ours(each) for each in named))


def _ours(tool: str) -> str:
    return _TOOLS.get(tool.partition("(")[0], tool)


def model(place: Place) -> str:
    """A model's name, or one of the short names that those files use."""
    found = kinds.model(place)
    return _MODELS.get(found, found)


def models(place: Place) -> tuple[str, ...]:
    """A chain of models; `inherit` is what workers have anyhow."""
    found = kinds.one_or_many(model)(place)
    return tuple(each for each in found if each != _INHERIT)


def described(keys: Section) -> str:
    """The `description` of such a file, as a role; what has no meaning is remarked.

    A list of tools that are *not* to be had cannot be kept to, so it is refused.
    """
    role = " ".join(keys.get("description", kinds.text, "").split())
    if keys.place("disallowedTools") is not None:
        keys.refuse("disallowedTools", "`tools`, with those that it may have")
    for name in _WITHOUT_MEANING:
        place = keys.place(name)
        if place is not None:
            words = f"`{name}` has no meaning here and is ignored"
            keys.findings.remarks.append(Remark(place.value.line, words))
    return role if len(role) <= _ROLE else role[: _ROLE - 1].rstrip() + "…"
