"""The command group, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence

import click

from gainful.errors import GainfulError, InputError, at_command_line, quietly
from gainful.io.sources import HINT, SETTING, read_size
from gainful.notation import printable

#: The commands and their short help. A command is imported when it runs.
COMMAND_GROUPS = {
    "Evaluate": {
        "eval": "Score runs against relevance judgments.",
        "compare": "Test whether systems differ significantly.",
        "curves": "Plot gain by rank and precision-recall curves.",
        "sessions": "Score multi-query sessions.",
        "report": "Write an interactive HTML report.",
        "gate": "Fail CI when a system regresses from its baseline.",
        "demo": "Create and evaluate a five-system example.",
    },
    "Understand": {
        "explain": "Define a measure, or show how a score was computed.",
        "measures": "List or search the available measures.",
        "check": "Find problems in judgments and runs before scoring.",
        "diff": "List changes between runs, without judgments.",
        "judgments": "Summarise judgments, or compare two sets.",
        "whydiff": "Find out why two scores for one measure differ.",
        "sensitivity": "Test whether gains, discounts or depth change the ranking.",
        "agree": "Measure how closely measures agree on system order.",
        "papers": "Reproduce the five papers behind gainful.",
    },
    "Plan": {
        "power": "Estimate detectable differences and queries needed.",
        "stability": "Test whether the ranking holds on other queries or documents.",
        "judge-next": "List the documents whose judgments matter most.",
    },
    "Compatibility": {
        "trec_eval": "Drop-in replacement for trec_eval.",
        "completion": "Print a shell completion script.",
    },
}
COMMANDS = {name: about for commands in COMMAND_GROUPS.values() for name, about in commands.items()}
#: Commands of other packages, and their modules.
_OTHER_PACKAGES = {"papers": "gainful_papers.papers_command"}


def _limit_memory(ctx: click.Context, param: click.Parameter, size: str | None) -> None:
    if size is not None:
        read_size(size, "--max-memory")
        os.environ[SETTING] = size


#: Added to every command that reads files.
_MAX_MEMORY = click.Option(
    ["--max-memory"],
    metavar="SIZE",
    expose_value=False,
    callback=_limit_memory,
    help="Memory limit for input data; 500MB, 8GB.  [default: three quarters of the memory]",
)


class LazyGroup(click.Group):
    """A command group that imports only the command that runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(
            _OTHER_PACKAGES.get(cmd_name, f"gainful.cli.{cmd_name.replace('-', '_')}_command")
        )
        command: click.Command = module.command
        for each in (command, *getattr(command, "commands", {}).values()):
            if _MAX_MEMORY not in each.params and any(isinstance(param.type, click.Path) for param in each.params):
                each.params.append(_MAX_MEMORY)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from gainful.cli.typed_hints import unknown_command

            raise unknown_command(args, COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for group, commands in COMMAND_GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), about) for name, about in commands.items()])


def _print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from gainful.kernel.core import version_line

        click.echo(version_line())
        ctx.exit()


# The long name comes first, because click's hints use the first name.
@click.group(cls=LazyGroup, context_settings={"help_option_names": ["--help", "-h"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and the core in use.",
)
def cli() -> None:
    """Evaluate search, RAG and recommender systems with graded relevance.

    \b
    gainful demo                        create a five-system example
    gainful eval QRELS RUN -m nDCG@10   score a system
    gainful compare QRELS RUN RUN       test whether the new system is better
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    0 done, 1 a requested check failed, 2 wrong usage or a missing extra, 3 bad input (or output that cannot be
    written, or out of memory), 70 unexpected error, 130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.
    """
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the parent process closed it
    if sys.stdout is None:
        sys.stderr.write("standard output: cannot be written (closed)\n")
        return 3
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        with at_command_line(), quietly():  # commands print notices themselves
            arguments = [*arguments[1:2], "--help"] if "help" in arguments[:1] else list(arguments)
            # Some hints repeat what was typed.
            code = cli.main(arguments, prog_name="gainful", standalone_mode=False, obj=tuple(arguments))
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as closed:
        # Completion exits with a code; otherwise click reacts to a closed pipe.
        return int(closed.code or 0) if "_GAINFUL_COMPLETE" in os.environ else 0
    except MemoryError:
        return _print_error(InputError("out of memory", HINT))
    except click.ClickException as error:
        from gainful.cli.typed_hints import rephrase_click_error

        return _print_error(rephrase_click_error(error, arguments))
    except (Exception, KeyboardInterrupt) as error:
        return _print_error(error)


def _print_error(error: BaseException) -> int:
    if isinstance(error, click.ClickException):
        error.show()
        return 2
    if isinstance(error, OSError):
        with contextlib.suppress(OSError, ValueError):  # keeps Python from retrying the failed write at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            where = error.filename or "standard output"
            done = "read" if os.path.isdir(where) else "written"  # only folders are listed outside of the readers
            sys.stderr.write(f"{printable(where, 200)}: cannot be {done} ({error.strerror or error})\n")
            return 3
        return 0
    if isinstance(error, GainfulError):
        from gainful.render.text_formats import messages

        lines = (printable(line, 1000) for line in str(error).split("\n"))
        sys.stderr.writelines(f"{line}\n" for line in messages(lines, sys.stderr))
        return error.exit_code
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        sys.stderr.write("interrupted\n")
        return 128 + signal.SIGINT
    if os.environ.get("GAINFUL_TRACEBACK"):
        import traceback

        traceback.print_exception(error)
    sys.stderr.write(
        f"unexpected {type(error).__name__}: {error}\n"
        "hint: this is a bug in gainful; set GAINFUL_TRACEBACK=1 to see the traceback\n"
    )
    return 70
