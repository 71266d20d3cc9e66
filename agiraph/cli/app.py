"""The command `agiraph`: which words there are, and the edge where errors end."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from agiraph import __version__
from agiraph.cli.call import Call, tree_options
from agiraph.cli.codes import Code, code_of_error
from agiraph.errors import AgiraphError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

_MODULE_OF = {
    "demo": "demo",
    "init": "care",
    "new": "care",
    "up": "serve",
    "run": "serve",
    "status": "look",
    "show": "show",
    "cost": "cost",
    "logs": "logs",
    "replay": "replay",
    "digest": "digest",
    "send": "say",
    "chat": "chat",
    "answer": "answer",
    "inbox": "inbox",
    "away": "away",
    "available": "away",
    "pause": "say",
    "resume": "say",
    "stop": "say",
    "blame": "memory",
    "tidy": "memory",
    "archive": "care",
    "adopt": "adopt",
    "check": "check",
    "models": "models",
    "model": "model",
    "mcp": "mcp",
    "import-worker": "workers",
    "version": "care",
}


class Words(click.Group):
    """The group of all commands; each one's module is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a new user meets them."""
        del ctx
        return list(_MODULE_OF)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One command, its module imported now."""
        del ctx
        module = _MODULE_OF.get(cmd_name)
        if module is None:
            return None
        found = getattr(
            importlib.import_module(f"agiraph.cli.{module}"), cmd_name.replace("-", "_")
        )
        return found if isinstance(found, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was typed.

        Raises:
            click.UsageError: there is none of that name; the nearest one is named.
        """
        if args and args[0] not in _MODULE_OF and not args[0].startswith("-"):
            from agiraph.cli.names import did_you_mean

            ctx.fail(
                f"There is no command {args[0]!r}.{did_you_mean(args[0], _MODULE_OF)}"
            )
        return super().resolve_command(ctx, args)

    def main(  # type: ignore[override]  # always ends the process, so never returns
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        **extra: object,
    ) -> NoReturn:
        """Run one command line and leave with its exit code."""
        del extra
        sys.exit(self._ending(args, prog_name))

    def _ending(self, args: Sequence[str] | None, prog_name: str | None) -> int:
        """The exit code of one command line; what went wrong is told on stderr."""
        try:
            result = super().main(args, prog_name, standalone_mode=False)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            return Code.INTERRUPTED
        except AgiraphError as error:
            click.echo(f"agiraph: {error}", err=True)
            return code_of_error(error)
        except OSError as error:
            click.echo(f"agiraph: {_words_of(error)}", err=True)
            return Code.FAILED
        return int(result) if isinstance(result, int) else Code.DONE


def _words_of(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}."


@click.group(
    cls=Words,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, message="agiraph %(version)s")
@tree_options
@click.pass_context
def agiraph(ctx: click.Context) -> None:
    """Turn folders into working agents.

    An agent is a folder with a GOAL.md. All that these commands do, an editor
    can do too: they read and write files below the folder `agents/`.

    Examples:
      agiraph demo                          see it work, without a key
      agiraph init                          make ./agents
      agiraph new news --goal "Sum up ..."  make an agent
      agiraph up                            work, until Ctrl-C
      agiraph status                        what runs, waits, costs, fails
    """
    ctx.ensure_object(Call)


def main() -> NoReturn:
    """The console script `agiraph`."""
    sys.excepthook = _surprised
    agiraph.main(prog_name="agiraph")


def main_daemon() -> NoReturn:
    """The console script `agiraphd`: `agiraph up`, for a service."""
    sys.excepthook = _surprised
    agiraph.main(["up", *sys.argv[1:]], prog_name="agiraphd")


def _surprised(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """One sentence for a bug; the trace is for those who ask for it."""
    if os.environ.get("AGIRAPH_TRACE"):
        sys.__excepthook__(kind, error, trace)
        return
    told = " ".join(str(error).split())
    click.echo(
        f"agiraph: this should not have happened: {kind.__name__}: {told}\n"
        "This is a bug; please report it. AGIRAPH_TRACE=1 shows where it is.",
        err=True,
    )
