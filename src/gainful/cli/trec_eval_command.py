"""`gainful trec_eval`: trec_eval's options, output and return codes."""

from __future__ import annotations

import sys

import click

from gainful.compat.trec_eval import link, main
from gainful.errors import UsageError


class PassingCommand(click.Command):
    """A command that leaves all arguments to another tool's parser."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.params["arguments"] = tuple(args)
        return []

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write nothing: ``-h`` lists the options."""


@click.command("trec_eval", cls=PassingCommand)
def command(arguments: tuple[str, ...]) -> int:
    """Replace trec_eval: the same options, output lines and return codes.

    `gainful trec_eval -h` lists the options; `--link DIR` writes an executable `trec_eval` to the folder DIR.

    Example: gainful trec_eval -q -m ndcg_cut.10 -m map qrels.txt bm25.run
    """
    option, equals, joined = "".join(arguments[:1]).partition("=")
    if option == "--link":
        folders = [*([joined] if equals else []), *arguments[1:]]
        if len(folders) != 1 or not folders[0]:
            raise UsageError(f"--link: expected one folder, found {len(folders)} arguments", "trec_eval --link ~/bin")
        click.echo(f"wrote {link(folders[0])}")
        return 0
    return main(arguments, sys.stdout, sys.stderr)
