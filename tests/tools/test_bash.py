"""Commands are bounded, leave nothing behind, and see no secrets."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from agiraph.core.approval import needed
from agiraph.model.agent import Permission, Permissions
from agiraph.ports import Command, Finished, Seat
from agiraph.tools import processes
from tests.tools.conftest import SECRET, Bench

if TYPE_CHECKING:
    from collections.abc import Callable

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def command(bench: Bench, text: str, timeout: float = 20.0, name: str = "k") -> Command:
    node = PurePosixPath(bench.node.relative_to(bench.root))
    return Command(
        text, node / "scratch", timeout, node / "outputs" / f"{name}.txt", {}, "chips"
    )


async def run(bench: Bench, text: str, timeout: float = 20.0) -> Finished:
    return await bench.shell.run(command(bench, text, timeout))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_a_command_runs_in_scratch_and_says_its_exit_code(bench: Bench) -> None:
    text = await bench.call("bash", command="pwd; echo err >&2; touch made; exit 3")

    assert text == f"exit code 3\n{bench.scratch}\nerr\n"
    assert (bench.scratch / "made").exists()


async def test_no_output_is_said_to_be_none(bench: Bench) -> None:
    assert await bench.call("bash", command="true") == "exit code 0\n[no output]"


async def test_a_command_that_a_signal_ends_is_said_to_be_so(bench: Bench) -> None:
    assert (await bench.call("bash", command="kill -9 $$")).startswith(
        "exit code -9 (ended by SIGKILL)"
    )


@LINUX
async def test_a_command_has_a_session_and_a_group_of_its_own(bench: Bench) -> None:
    finished = await run(bench, "echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)")

    assert len(set(finished.head.split())) == 1


async def test_stdin_is_closed(bench: Bench) -> None:
    assert (await run(bench, "cat; echo done")).head == "done\n"


async def test_the_environment_holds_no_secret_and_a_home_of_its_own(
    bench: Bench,
) -> None:
    text = await bench.call("bash", command="env; cat ~/.netrc")

    assert SECRET not in text
    assert "ANTHROPIC" not in text
    assert f"AGIRAPH_RUN={bench.run}\n" in text
    assert f"AGIRAPH_INPUTS={bench.home / 'inputs'}\n" in text
    assert f"HOME={bench.root}/.agiraph/shell/chips/home\n" in text
    assert "LANG=C.UTF-8" in text


async def test_a_model_is_not_handed_the_command_line_of_people(bench: Bench) -> None:
    text = await bench.call("bash", command="env")

    assert "AGIRAPH_AGENTS" not in text  # what is said there counts as a person's word
    assert "PATH=/usr/bin:/bin\n" in text


async def test_home_and_temporary_folder_are_there(bench: Bench) -> None:
    finished = await run(bench, 'cd ~ && touch a && mktemp && cd "$TMPDIR"')

    assert finished.code == 0
    assert list(bench.scratch.iterdir()) == []


async def test_the_daemons_descriptors_are_not_handed_over(bench: Bench) -> None:
    finished = await run(bench, "ls /proc/self/fd 2>/dev/null || ls /dev/fd")

    assert len(finished.head.split()) <= 4  # three, and the folder that ls reads


async def test_a_limit_ends_the_whole_group_even_what_ignores_it(bench: Bench) -> None:
    stubborn = (
        "trap '' TERM; (trap '' TERM; echo $BASHPID > child; "
        "while true; do sleep 0.1; done) & echo $$ > parent; wait; sleep 60"
    )
    begun = time.monotonic()

    finished = await run(bench, stubborn, timeout=0.5)

    assert finished.code is None
    assert time.monotonic() - begun < 30
    for name in ("child", "parent"):
        assert not alive(int((bench.scratch / name).read_text()))


async def test_a_limit_is_said_in_words(
    bench: Bench, seat: Callable[..., Seat]
) -> None:
    intent = await bench.prepare("bash", bench.alice, command="sleep 60", timeout=0.2)

    result = await bench.perform("bash", intent, bench.alice)

    assert result.error
    assert result.content.startswith("ended at its limit of 0.2 s")


async def test_what_is_asked_to_end_has_time_to_clean_up(bench: Bench) -> None:
    await run(bench, "trap 'echo bye > bye; exit' TERM; sleep 60 & wait", timeout=0.3)

    assert (bench.scratch / "bye").read_text() == "bye\n"


async def test_a_child_in_the_background_neither_hangs_nor_stays(bench: Bench) -> None:
    begun = time.monotonic()

    finished = await run(bench, "sleep 60 & echo $! > pid; echo started")

    assert finished.head == "started\n"
    assert time.monotonic() - begun < 30
    assert not alive(int((bench.scratch / "pid").read_text()))


@LINUX
async def test_a_child_that_left_the_group_is_ended_too(bench: Bench) -> None:
    text = (
        "setsid sh -c 'echo $$ > pid; exec sleep 60' & while [ ! -s pid ]; do :; done"
    )

    await run(bench, text)

    assert not alive(int((bench.scratch / "pid").read_text()))


@LINUX
async def test_one_command_does_not_end_another(bench: Bench) -> None:
    async with asyncio.TaskGroup() as group:
        long = group.create_task(
            bench.shell.run(command(bench, "sleep 0.6; echo whole", name="a"))
        )
        await asyncio.sleep(0.2)
        group.create_task(bench.shell.run(command(bench, "sleep 9 & true", name="b")))

    assert long.result().head == "whole\n"


async def test_big_output_is_cut_and_kept_whole(bench: Bench) -> None:
    text = await bench.call("bash", command="seq 1 200000")
    kept = bench.node / "outputs" / "alice-1.2.0.txt"

    assert len(text) < 10_300
    assert text.startswith("exit code 0\n1\n2\n")
    assert text.endswith("\n199999\n200000\n")
    assert "kept in outputs/alice-1.2.0.txt" in text
    assert kept.read_text().split() == [str(n) for n in range(1, 200_001)]
    assert "1\n2\n" in await bench.call("read_file", path="outputs/alice-1.2.0.txt")


async def test_small_output_leaves_no_file(bench: Bench) -> None:
    await bench.call("bash", command="echo a")

    assert list((bench.node / "outputs").iterdir()) == []


async def test_output_that_is_no_text_is_made_text(bench: Bench) -> None:
    finished = await run(bench, r"printf 'a\0b\377c'")

    assert finished.head == "a\ufffdb\ufffdc"


async def test_many_wide_characters_are_cut_between_characters(bench: Bench) -> None:
    finished = await run(bench, "yes 価格比較 | head -n 20000")

    assert "\ufffd" not in finished.head[:-1] + finished.tail[1:]
    assert len(finished.head) + len(finished.tail) <= 10_000


async def test_cancellation_ends_the_group(bench: Bench) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run(bench, "echo $$ > pid; sleep 60; true"))
        while not (bench.scratch / "pid").exists():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        task.cancel()

    assert task.cancelled()
    assert not alive(int((bench.scratch / "pid").read_text()))


@LINUX
async def test_what_a_dead_daemon_left_is_found_and_ended(bench: Bench) -> None:
    """A group that nobody waits for any more, and the same of two others' agents."""
    marks = {"PATH": "/usr/bin:/bin", "AGIRAPH_ROOT": str(bench.root)}

    def orphan(agent: str, root: str = "") -> subprocess.Popen[bytes]:
        env = {**marks, "AGIRAPH_AGENT": agent}
        env["AGIRAPH_ROOT"] += root
        return subprocess.Popen(["sleep", "60"], env=env, start_new_session=True)

    ours, other, elsewhere = orphan("chips"), orphan("chip"), orphan("chips", "2")
    try:
        await asyncio.sleep(0.1)
        assert await bench.shell.end_left_behind("chips") == 1
        assert ours.wait(5) == -15
        assert other.poll() is None
        assert elsewhere.poll() is None
        assert await bench.shell.end_left_behind("chips") == 0
        assert await bench.shell.end_left_behind("fish") == 0
        assert await bench.shell.end_left_behind("chip") == 1
    finally:
        for process in (ours, other, elsewhere):
            process.kill()
            process.wait()


@pytest.mark.parametrize("permission", [Permission.ALLOW, Permission.SANDBOX])
async def test_allow_and_sandbox_run(
    bench: Bench, seat: Callable[..., Seat], permission: Permission
) -> None:
    by = seat(permissions=Permissions(bash=permission))

    assert await bench.call("bash", by, command="echo a") == "exit code 0\na\n"


async def test_deny_does_not(bench: Bench, seat: Callable[..., Seat]) -> None:
    by = seat(permissions=Permissions(bash=Permission.DENY))

    said = await bench.refused("bash", by, command="touch made")

    assert "bash: deny" in said
    assert not (bench.scratch / "made").exists()


async def test_ask_says_what_the_person_is_to_be_shown(
    bench: Bench, seat: Callable[..., Seat]
) -> None:
    by = seat(permissions=Permissions(bash=Permission.ASK))
    intent = await bench.prepare("bash", by, command="touch made")

    need = needed(intent)
    assert need is not None
    assert (need.kind, need.subjects) == ("bash", ("touch made",))
    assert "\ntouch made\n" in need.shown
    assert str(bench.scratch) in need.shown


@pytest.mark.parametrize(
    ("text", "timeout", "word"),
    [
        (" ", 1, "empty"),
        ("a\0b", 1, "NUL"),
        ("x" * 100_001, 1, "write a script"),
        ("true", "soon", "90s, 30m"),
        ("true", 0, "90s, 30m"),
    ],
)
async def test_an_unfit_call_is_refused_in_words(
    bench: Bench, text: str, timeout: float | str, word: str
) -> None:
    assert word in await bench.refused("bash", command=text, timeout=timeout)


async def test_no_limit_is_longer_than_half_an_hour(bench: Bench) -> None:
    for said in ("2h", 7200):
        intent = await bench.prepare("bash", bench.alice, command="true", timeout=said)
        assert intent["timeout"] == 1800.0


async def test_a_scratch_that_became_a_link_is_not_entered(
    bench: Bench, tmp_path: Path
) -> None:
    bench.scratch.rmdir()
    bench.scratch.symlink_to(tmp_path)

    said = await bench.refused("bash", command="touch made")

    assert "link" in said
    assert not (tmp_path / "made").exists()


async def test_an_output_file_that_became_a_link_is_not_written(
    bench: Bench, tmp_path: Path
) -> None:
    (bench.node / "outputs" / "alice-1.2.0.txt").symlink_to(tmp_path / "secret.txt")

    await bench.refused("bash", command="seq 1 100000")

    assert (tmp_path / "secret.txt").read_text() == SECRET


async def test_the_coordinator_runs_in_the_runs_scratch(bench: Bench) -> None:
    assert await bench.call("bash", bench.boss, command="pwd") == (
        f"exit code 0\n{bench.run}/scratch\n"
    )
    said = await bench.refused("bash", replace(bench.boss, run=None), command="pwd")
    assert "No run is open" in said


@LINUX
def test_a_hidden_environment_cannot_be_read_by_others_of_the_same_user() -> None:
    script = (
        "import ctypes,os,subprocess; from agiraph.tools.processes import *; "
        "root = os.getuid() == 0; "  # from whom nothing is hidden
        "root and (os.setgroups([]), os.setgid(65534), os.setuid(65534)); "
        "ctypes.CDLL(None).prctl(4, 1, 0, 0, 0); "  # as any program begins
        "read = lambda: subprocess.run(['cat', f'/proc/{os.getpid()}/environ'], "
        "capture_output=True).returncode; "
        "before = read(); hidden = hide_environment(); print(before, hidden, read())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["0", "True", "1"]


@LINUX
async def test_a_command_still_runs_when_the_environment_is_hidden(
    bench: Bench,
) -> None:
    hidden = processes.hide_environment()
    try:
        assert (await run(bench, "pwd")).head == f"{bench.scratch}\n"
    finally:
        import ctypes  # noqa: PLC0415 - to undo it, for the tests that follow

        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    assert hidden
