"""Limits that no setting changes, all named in one place."""

from __future__ import annotations

from typing import Final

GOAL_BYTES: Final = 1024 * 1024
INBOX_BYTES: Final = 8 * 1024 * 1024
MESSAGE_BYTES: Final = 256 * 1024
RESULT_SHOWN: Final = 24_000
WEB_SHOWN: Final = 15_000
SEARCH_RESULTS: Final = 5
LOG_BYTES: Final = 256 * 1024 * 1024
JOURNAL_BYTES: Final = 4 * 1024 * 1024
# A model with no larger a window than this is told its single task and nothing else.
SMALL_WINDOW: Final = 16_384
ANSWER_TOKENS: Final = 8192
SMALLEST_ANSWER: Final = 512
INLINED_REFS: Final = 24_000
SUMMARY_SHOWN: Final = 500
PREVIEW: Final = 200
MEMORY_SHOWN: Final = 20_000
MEMORY_CAP: Final = 16_000
GATHER_SECONDS: Final = 0.25
COUNTERS_EVERY: Final = 30.0
QUESTIONS_CLOSE_AFTER: Final = 86_400.0
OUTBOX_MOST: Final = 256 * 1024
OUTBOX_KEPT: Final = 64 * 1024
REMINDERS: Final = (3_600.0, 86_400.0, 259_200.0, 604_800.0)
REMINDERS_THEN: Final = 604_800.0
FOREGROUND: Final = 5.0
JOBS_AT_ONCE: Final = 8
BYTES_PER_TOKEN: Final = 3
RETRY_FIRST: Final = 15.0
RETRY_LAST: Final = 600.0
CRASHES: Final = 3
CRASH_PAUSE: Final = 1.0
DISK_FLOOR: Final = 16 * 1024 * 1024
DISK_ENOUGH: Final = 32 * 1024 * 1024
FILES_FLOOR: Final = 16
FILES_ENOUGH: Final = 64
DISK_EVERY: Final = 5.0
RESCAN_SECONDS: Final = 60.0
RESCAN_SHARE: Final = 50.0
STARTS_WITHIN: Final = 300.0
STARTS_ANYHOW: Final = 10
GO_ON: Final = ", and the work goes on where it was."
