"""A parcel to a program: one that the person named, or the desktop's."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from agiraph.errors import NotSent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agiraph.model.notice import Parcel

# What a program may need to find itself and the desktop; no keys are among them.
_PASSED: Final = (
    "PATH", "HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TZ", "DISPLAY",
    "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
)  # fmt: skip
_TITLE, _BODY = 100, 500
_APPLE: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def desktop(platform: str, parcel: Parcel) -> tuple[str, ...]:
    """The command that shows it on a desktop."""
    title, text = parcel.title[:_TITLE], parcel.text[:_BODY]
    if platform == "darwin":
        script = [part for line in _APPLE for part in ("-e", line)]
        return ("osascript", *script, "--", title, text)
    # notify-send(1): the body may hold markup, so that of a model must not.
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return ("notify-send", "--app-name=Agiraph", "--", title, plain)


async def run(
    command: Sequence[str], environment: Mapping[str, str], parcel: Parcel
) -> None:
    """Start it with the text on its standard input, and wait for its end.

    Raises:
        NotSent: it is not there, or its exit code is not 0.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=variables(environment, parcel),
            start_new_session=True,
        )
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", "") or str(fault)
        raise NotSent(f"{command[0]} could not be started: {why}") from None
    try:
        _, said = await process.communicate(parcel.text.encode("utf-8", "replace"))
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # what it left behind, too
        await process.wait()
    if process.returncode:
        words = " ".join(said.decode("utf-8", "replace").split())[:200]
        raise NotSent(f"{command[0]} ended with exit code {process.returncode} {words}")


def variables(environment: Mapping[str, str], parcel: Parcel) -> dict[str, str]:
    """The variables of the program: what it is told, and no secrets."""
    first = parcel.notices[0]
    one = len(parcel.notices) == 1
    told = {
        "AGIRAPH_ID": parcel.id,
        "AGIRAPH_KIND": first.kind.value if one else "summary",
        "AGIRAPH_AGENT": first.agent if one else "",
        "AGIRAPH_TITLE": parcel.title,
        "AGIRAPH_FILE": first.file if one else "",
        "AGIRAPH_COMMAND": first.command if one else "",
    }
    passed = {name: environment[name] for name in _PASSED if name in environment}
    return passed | {name: value.replace("\0", "") for name, value in told.items()}
