"""The definition of the tool that runs commands."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import define, duration, record, text

BASH: Final = define(
    "bash",
    "Run a shell command in your scratch/. What it starts ends with it.",
    Who.ALL,
    Effect.OUTSIDE,
    record(
        {
            "command": text(
                "The command. $AGIRAPH_RUN and $AGIRAPH_INPUTS are the folders of the "
                "run and of the inputs, to read from."
            )
        },
        {"timeout": duration("Time at most; default 120, at most 1800.")},
    ),
)
