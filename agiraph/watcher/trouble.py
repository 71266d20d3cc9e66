"""While watching fails: since when, when it is tried again, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_FIRST_RETRY: Final = 1.0
_LAST_RETRY: Final = 60.0


@dataclass
class Trouble:
    """While watching fails: since when, and when it is tried again."""

    blind: bool = False
    failures: int = 0
    retry_at: float = 0.0
    ended_at: float = 0.0

    def begin(self, now: float) -> float:
        """It failed; seconds until the next try."""
        if not self.blind and now - self.ended_at > _LAST_RETRY:
            self.failures = 0
        delay = min(_LAST_RETRY, _FIRST_RETRY * 2.0**self.failures)
        self.failures += 1
        self.blind, self.retry_at = True, now + delay
        return delay

    def end(self, now: float) -> None:
        """Watching works again."""
        self.blind, self.ended_at = False, now

    def wait(self, now: float) -> float:
        """Seconds until the next try."""
        return max(0.0, self.retry_at - now)


def plainer(words: str) -> str:
    """What watchfiles said, with what a person can do about it."""
    if "limit" in words:
        return (
            f"{words}; the system allows too few watches: raise "
            "fs.inotify.max_user_watches"
        )
    if "open files" in words:
        return (
            f"{words}; raise fs.inotify.max_user_instances or the limit of open files"
        )
    if "decode" in words:
        return f"{words}; its name is not valid UTF-8: rename it"
    return words or "for an unknown reason"
