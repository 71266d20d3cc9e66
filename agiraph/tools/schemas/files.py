"""The definitions of the tools that read and write files."""

from __future__ import annotations

from typing import Final

from agiraph.model.tool import Effect, Who
from agiraph.tools.schemas.words import define, flag, record, text, whole

READ_FILE: Final = define(
    "read_file",
    "Read a text file, page by page. A binary file is described, not shown.",
    Who.ALL,
    Effect.READS,
    record(
        {"path": text("The file, such as scratch/notes.md or inputs/data.csv.")},
        {
            "offset": whole("The line to begin with, from 1. Default: 1."),
            "limit": whole("How many lines at most. Default: as many as fit."),
        },
    ),
)
WRITE_FILE: Final = define(
    "write_file",
    "Write a whole file, replacing what was there, or add to its end.",
    Who.ALL,
    Effect.OWN,
    record(
        {
            "path": text("The file, such as scratch/report.md."),
            "content": text("The text to write."),
        },
        {"append": flag("Add to the end of the file. Default: false.")},
    ),
)
EDIT_FILE: Final = define(
    "edit_file",
    "Replace one piece of a file. The old text must stand there exactly once.",
    Who.ALL,
    Effect.OWN,
    record(
        {
            "path": text("The file, such as scratch/report.md."),
            "old": text("The text to replace, exactly as it stands in the file."),
            "new": text("The text to put in its place."),
        }
    ),
)
LIST_FILES: Final = define(
    "list_files",
    "List a folder: names and sizes; folders end with a slash.",
    Who.ALL,
    Effect.READS,
    record({"path": text("The folder, such as scratch/, inputs/ or nodes/.")}),
)
READ_REF: Final = define(
    "read_ref",
    "Read what an earlier node published and your spec refers to by name.",
    Who.ALL,
    Effect.READS,
    record({"ref_name": text("The name of the ref, as in your spec.")}),
)
