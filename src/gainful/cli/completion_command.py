"""`gainful completion`: shell completion of commands, options and measures."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from gainful.errors import UsageError


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    For bash, add `eval "$(gainful completion bash)"` to ~/.bashrc.
    """
    from gainful.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"no completion for {shell}")
    click.echo(kind(cli, {}, "gainful", "_GAINFUL_COMPLETE").source())
