"""Three families of errors: yours (a file), theirs (a service), ours (a bug)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import PurePosixPath


TAKE_OUT: Final = (
    "one whole JSON object; take the line out, or bring the file back from a copy"
)


class AgiraphError(Exception):
    """Every error that Agiraph raises on purpose; its text is for the person."""


class YourError(AgiraphError):
    """Something that a person wrote or asked for cannot be done as it is."""


class Damaged(YourError):
    """What the daemon wrote cannot be read back, and no crash explains it.

    Attributes:
        path: of the file; line: from 1; why: what is wrong with it.
        mend: what may stand there, and what a person can do.
    """

    def __init__(
        self, path: PurePosixPath, line: int, why: str, *, mend: str = TAKE_OUT
    ) -> None:
        super().__init__(
            f"{path}, line {line} is damaged: {why}; {path.name}.error.md beside it "
            "says what to do"
        )
        self.path = path
        self.line = line
        self.why = why
        self.mend = mend


class OurError(AgiraphError):
    """A promise inside Agiraph was broken: a bug, recorded with that agent."""


class StepCrashed(OurError):
    """A step was cut off by the daemon's death, or a bug, too often.

    Attributes:
        step: its id; why: how it ended each time.
    """

    def __init__(self, step: str, why: str) -> None:
        super().__init__(f"{step}: {why}")
        self.step = step
        self.why = why


class ToolRefused(AgiraphError):
    """A tool call cannot be done; the text tells the model what was expected."""


class NotThere(AgiraphError):
    """A path of the tree leads to nothing."""


class Outside(AgiraphError):
    """A path leaves the folder that it must stay in."""


class NotPlain(AgiraphError):
    """A path leads to something that is no regular file or folder."""


class Unreadable(NotPlain):
    """A path is there, but the system refuses to read it."""


class Occupied(AgiraphError):
    """Something is already where a file or folder should go; it was left alone."""


class Changing(AgiraphError):
    """Something changed while it was read, or was broken off; another time."""


class TooLarge(AgiraphError):
    """A file is larger than its limit."""


class DiskRefused(AgiraphError):
    """The disk did not take what was to be written."""


class TooManyOpen(DiskRefused):
    """The system lets nothing more be opened just now; it passes by itself."""


class Full(DiskRefused):
    """The disk has no room; what was there before is still there."""


class ReadOnly(DiskRefused):
    """The tree, or a part of it, cannot be written."""


class DiskFault(DiskRefused):
    """The disk failed, so that nothing is known of what was written last."""


class NotSent(AgiraphError):
    """A notice could not be sent; the text says why, without secrets."""


class Fault(Enum):
    """What kind of failure a model's service reported."""

    KEY = "key"  # missing or refused: a person must act
    MODEL = "model"  # unknown model: a person must act
    QUOTA = "quota"  # out of credit: a person must act
    REQUEST = "request"  # the request itself was refused; repeating is useless
    CONTEXT = "context"  # the conversation does not fit
    RATE = "rate"  # too many requests; later
    OVERLOADED = "overloaded"  # the service is busy or broken; later
    NETWORK = "network"  # it could not be reached, or the stream broke; later
    SDK = "sdk"  # the provider's package is missing or unusable: a person must act


@dataclass
class ProviderFault(AgiraphError):
    """A model's service failed.

    Attributes:
        kind: what to make of it.
        words: what happened and what to do, for the person.
        retry_after: seconds that the service asked us to wait.
    """

    kind: Fault
    words: str
    retry_after: float | None = None

    def __str__(self) -> str:
        return self.words

    @property
    def passes(self) -> bool:
        """Whether it may go away by itself."""
        return self.kind in (Fault.RATE, Fault.OVERLOADED, Fault.NETWORK)
