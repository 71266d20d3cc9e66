"""What comes from outside as a hint, and what goes out as a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import PurePosixPath

    from agiraph.model.notice import Channel, Parcel


class Watch(Protocol):
    """Hints that something below a folder may have changed; never the truth."""

    def hints(self) -> AsyncIterator[frozenset[str]]:
        """Names of agents to look at; "" is the root itself, "*" is everything."""

    def folders(self, group: str, folders: Sequence[PurePosixPath]) -> None:
        """What is watched for one agent from now on.

        A group is hinted at once its new watches stand, so that what changed before is
        found; no folders end the group. May be called again and again with the same.
        """

    async def close(self) -> None:
        """End the threads; `hints` says no more."""


class Messenger(Protocol):
    """Carries notices out of the tree. May not retry, and may not wait for ever."""

    async def send(self, channel: Channel, parcel: Parcel) -> None:
        """Send once; when this returns, the other side has taken it.

        Raises:
            NotSent: it was refused, or took too long; words for the person.
        """
