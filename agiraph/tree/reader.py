"""The only way to read the tree, as the port `Reader`."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from agiraph.errors import (
    AgiraphError,
    NotPlain,
    NotThere,
    TooLarge,
    TooManyOpen,
    Unreadable,
)
from agiraph.ports import Entry, EntryKind, Seen, Sight
from agiraph.tree import lease
from agiraph.tree.beneath import Beneath
from agiraph.tree.content import Unfit, text_of
from agiraph.tree.disk import kind_in_words, read_all
from agiraph.tree.faults import told
from agiraph.tree.remembered import Known, Memory, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import PurePosixPath

    from agiraph.ports import Clock

SETTLED: Final = 0.25  # five times the longest window measured with an editor
EMPTY_BELIEVED: Final = 5.0
ABSENT_BELIEVED: Final = 2.0
_STAMPS_TELL: Final = 2.0  # younger changes can carry equal time stamps
_TRANSIENT: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO})
_PLAIN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class DiskReader:
    """Reads below one root. It never writes."""

    def __init__(
        self, root: str, clock: Clock, *, by_kernel: bool | None = None
    ) -> None:
        """Read below `root`; for `by_kernel` see Beneath."""
        self._beneath = Beneath(root, by_kernel=by_kernel)
        self._clock = clock
        self._memory = Memory()

    def look(self, path: PurePosixPath, *, limit: int, at_once: bool = False) -> Sight:
        """One look at a person's file, by the rules of when a file is whole."""
        try:
            with self._beneath.folder(path.parent) as folder:
                try:
                    found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                except FileNotFoundError:
                    return self._absent(path)
                except OSError as error:
                    return _refused(error, path)
                return self._judge(folder, path, found, limit, at_once=at_once)
        except NotThere:
            return self._absent(path)
        except AgiraphError as error:
            return _unreadable(error)

    def read(
        self, path: PurePosixPath, *, limit: int, within: PurePosixPath | None = None
    ) -> bytes:
        """The bytes of a file, as it is at this moment.

        Raises:
            NotThere, Outside, NotPlain, TooLarge: as they say.
        """
        fd = self._open_plain(path, within)
        try:
            size = os.fstat(fd).st_size
            data = read_all(fd, limit) if size <= limit else b""
        except OSError as error:
            raise told(error, path) from error
        finally:
            os.close(fd)
        if max(size, len(data)) > limit:
            raise TooLarge(f"{path} has {size} bytes; {limit} are read at most")
        return data

    def part(
        self,
        path: PurePosixPath,
        *,
        offset: int,
        limit: int,
        within: PurePosixPath | None = None,
    ) -> bytes:
        """Up to `limit` bytes from `offset`; raises as `read` does."""
        fd = self._open_plain(path, within)
        try:
            return os.pread(fd, limit, offset)
        except OSError as error:
            raise told(error, path) from error
        finally:
            os.close(fd)

    def entries(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> tuple[Entry, ...]:
        """The names in a folder, sorted; raises as `read` does.

        Names that are not valid UTF-8 are left out: nothing could be written about
        them, neither into a log nor to a model.
        """
        found = []
        with self._beneath.folder(path, within=within) as fd:
            try:
                with os.scandir(fd) as names:
                    found = [_entry(name) for name in names if _is_utf8(name.name)]
            except OSError as error:
                raise told(error, path) from error
        present = [entry for entry in found if entry is not None]
        return tuple(sorted(present, key=lambda entry: entry.name))

    def stand(
        self, folders: Iterable[PurePosixPath], *, ignoring: frozenset[str]
    ) -> tuple[str, float]:
        """How all that lies directly in some folders stands, without reading it."""
        told, newest = hashlib.blake2b(digest_size=16), 0
        for folder in folders:
            stamps = self._stamps(folder, ignoring)
            newest = max([newest, *(stamp[-1] for stamp in stamps)])
            told.update(repr((str(folder), stamps)).encode("utf-8", "surrogatepass"))
        return told.hexdigest(), newest / 1e9

    def _stamps(
        self, path: PurePosixPath, ignoring: frozenset[str]
    ) -> list[tuple[str, int, int, int, int, int]]:
        stamps = []
        try:
            with self._beneath.folder(path) as fd, os.scandir(fd) as entries:
                for entry in entries:
                    if entry.name in ignoring:
                        continue
                    with suppress(FileNotFoundError):
                        found = entry.stat(follow_symlinks=False)
                        stamps.append((entry.name, *stamp_of(found)))
        except (AgiraphError, OSError):
            return []
        return sorted(stamps)

    def entry(
        self, path: PurePosixPath, *, within: PurePosixPath | None = None
    ) -> Entry | None:
        """What a path leads to, links not followed at its end; None when nothing."""
        if not path.name or path == within:
            return self._top_entry(path)
        try:
            with self._beneath.folder(path.parent, within=within) as folder:
                found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
        except (NotThere, FileNotFoundError):
            return None
        except OSError as error:
            raise told(error, path) from error
        return _entry_of(path.name, found)

    def _top_entry(self, path: PurePosixPath) -> Entry | None:
        try:
            with self._beneath.folder(path):
                return Entry(path.name, EntryKind.FOLDER, 0)
        except NotThere:
            return None

    def _open_plain(self, path: PurePosixPath, within: PurePosixPath | None) -> int:
        fd = self._beneath.open(path, os.O_RDONLY, within=within)
        mode = os.fstat(fd).st_mode
        if not stat.S_ISREG(mode):
            os.close(fd)
            raise NotPlain(f"{path} is {kind_in_words(mode)}, not a regular file")
        return fd

    def _absent(self, path: PurePosixPath) -> Sight:
        known = self._memory.get(path)
        if known is None:
            return Sight(Seen.ABSENT)
        now = self._clock.monotonic()
        if known.stamp is not None:
            known = Known(None, now)
            self._memory.keep(path, known)
        gone_for = now - known.since
        if gone_for < ABSENT_BELIEVED:
            return Sight(Seen.LATER, again=ABSENT_BELIEVED - gone_for)
        self._memory.forget(path)
        return Sight(Seen.ABSENT)

    def _judge(
        self,
        folder: int,
        path: PurePosixPath,
        found: os.stat_result,
        limit: int,
        *,
        at_once: bool,
    ) -> Sight:
        """What to make of something that is there."""
        known = self._noticed(path, found)
        quiet = self._quiet(found, known)
        if known.sight is not None:
            return replace(known.sight, quiet=quiet)
        if not stat.S_ISREG(found.st_mode):
            what = kind_in_words(found.st_mode)
            return Sight(
                Seen.BAD,
                problem=f"this is {what}; put a regular file in its place",
                quiet=quiet,
            )
        needed = SETTLED if found.st_size else EMPTY_BELIEVED
        early = quiet < needed
        if early and not (at_once and found.st_size):
            return Sight(Seen.LATER, again=needed - quiet, quiet=quiet)
        sight = self._whole(folder, path, found, limit, leased=early)
        if sight.seen is not Seen.LATER and quiet >= _STAMPS_TELL:
            self._memory.keep(path, Known(known.stamp, known.since, sight))
        return replace(sight, quiet=quiet)

    def _noticed(self, path: PurePosixPath, found: os.stat_result) -> Known:
        stamp = stamp_of(found)
        known = self._memory.get(path)
        if known is None or known.stamp != stamp:
            known = Known(stamp, self._clock.monotonic())
            self._memory.keep(path, known)
        return known

    def _quiet(self, found: os.stat_result, known: Known) -> float:
        """Seconds since the last change, by the disk's time stamp or our own watching.

        A time stamp in the future (a clock that was set back, another machine's
        clock) says nothing.
        """
        watched = self._clock.monotonic() - known.since
        age = self._clock.now().timestamp() - found.st_ctime_ns / 1e9
        return max(watched, age, 0.0)

    def _whole(
        self,
        folder: int,
        path: PurePosixPath,
        found: os.stat_result,
        limit: int,
        *,
        leased: bool,
    ) -> Sight:
        """Read a file that has been quiet long enough, or that a lease vouches for."""
        if found.st_size > limit:
            return _too_large(found.st_size, limit)
        try:
            data = _read_untorn(folder, path.name, found, limit, leased=leased)
        except (FileNotFoundError, BlockingIOError):
            return Sight(Seen.LATER, again=SETTLED)
        except OSError as error:
            return _refused(error, path)
        if isinstance(data, Sight):
            return data
        sha = hashlib.sha256(data).hexdigest()
        text = text_of(data)
        if isinstance(text, Unfit):
            return Sight(Seen.BAD, sha=sha, problem=text.words, line=text.line)
        return Sight(Seen.GOOD, text=text, sha=sha)


def _read_untorn(
    folder: int, name: str, found: os.stat_result, limit: int, *, leased: bool
) -> bytes | Sight:
    """All of a file as one writer left it, or a sight that says to come again.

    With `leased`, only where a lease was granted.
    """
    changing = Sight(Seen.LATER, again=SETTLED)
    fd = os.open(name, _PLAIN, dir_fd=folder)
    try:
        if stamp_of(os.fstat(fd)) != stamp_of(found):
            return changing
        granted = lease.take(fd)
        if granted is lease.Lease.BUSY:
            return replace(changing, problem="another program has it open for writing")
        if leased and granted is not lease.Lease.GRANTED:
            return changing
        data = read_all(fd, limit)
        after = os.fstat(fd)
        here = os.stat(name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(fd)
    if stamp_of(after) != stamp_of(found) or not os.path.samestat(after, here):
        return changing
    return data if len(data) == found.st_size else changing


def _refused(error: OSError, path: PurePosixPath) -> Sight:
    fault = told(error, path)
    fault.__cause__ = error
    return _unreadable(fault)


def _unreadable(error: AgiraphError) -> Sight:
    number = getattr(error.__cause__, "errno", None)
    if isinstance(error, TooManyOpen | Unreadable) and number in _TRANSIENT:
        return Sight(Seen.LATER, again=1.0, problem=str(error))
    return Sight(Seen.BAD, problem=str(error))


def _too_large(size: int, limit: int) -> Sight:
    return Sight(
        Seen.BAD,
        problem=f"the file has {size:,} bytes; {limit:,} are read at most. Shorten it, "
        "or put the bulk into inputs/ and name it here",
    )


def _is_utf8(name: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in name)


def _entry(name: os.DirEntry[str]) -> Entry | None:
    try:
        return _entry_of(name.name, name.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None  # taken away while the folder was read


def _entry_of(name: str, found: os.stat_result) -> Entry:
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return Entry(name, EntryKind.FILE, found.st_size, found.st_ctime)
    if stat.S_ISDIR(mode):
        return Entry(name, EntryKind.FOLDER, 0, found.st_ctime)
    kind = EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER
    return Entry(name, kind, 0, found.st_ctime)
