"""Help in groups: options, input, measures, statistics, output and conventions.

``--help`` fits two screens: short texts, and rarely needed options by name only. ``--help-all`` shows all in full. The
short text of an option is its help up to the first semicolon or, if that is long, colon, unless all of it is short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from gainful.policy import CHOICES

_CONVENTIONS = "Conventions"
#: Context keys: help in full, or as short as possible.
_FULL, _SHORT = f"{__name__}.full", f"{__name__}.short"
_TWO_SCREENS = 48
#: Widths of the flags, of a text on one line, of the text before a colon at least, and of choices next to their flag;
#: examples shown; rare flags named.
_FLAGS, _LINE, _LEAST, _CHOICES, _EXAMPLES, _NAMED = 24, 50, 20, 12, 2, 4
_HELP = ("--help", "--help-all")

#: The flags of each group; all others are specific to a command and come first. Flags after the bar are rarely needed.
_GROUPS: Mapping[str, str] = {
    "Input": """--qrels --run --runs --sessions --letor --from --name --query --session --documents |
        --exclude --items --training --intents --queries --by --weights --only-queries --exclude-queries --session-gap
        --scale --rows --better --qrels-format --run-format --session-format --columns --grades --feature
        --session-separator --gaps --topics --threads --max-memory --engine
        --master --other-qrels --at-least --topic""",
    "Measures": """--measure --rel --gain --discount --base --at --vary --judged-by |
        --average --cost-query --cost-document""",
    "Statistics": """--baseline --test --margin --procedure --alpha --pairs |
        --bounds --chance --loss --loss-ranks --judged-again --correction --interval --family --draws --seed
        --confidence --groups --factors --cost --sequential --arrival --set-size --fuzziness --swaps --persistence
        --repetitions --best --worst-share""",
    "Output": """--format --output --floor --by-query --by-session --detail --most --figure --open
        --only --marks | --sort --caption --label
        --all --chart --signature --places --quiet --figure-size --no-title --no-signature --figures""",
    _CONVENTIONS: " ".join(["--like |", *(f"--{choice.name}" for choice in CHOICES)]),
}
_GROUP_OF = {flag: group for group, flags in _GROUPS.items() for flag in flags.split() if flag != "|"}
#: Rare flags that are common for one command.
_USUAL: Mapping[str, tuple[str, ...]] = {
    "eval": ("--bounds", "--chance", "--loss"),
    "diff": ("--queries", "--by", "--persistence"),
    "judgments": ("--judges",),
    "report": ("--queries",),
}
_RARE = frozenset(flag for flags in _GROUPS.values() for flag in flags.partition("|")[2].split())


class GroupedCommand(click.Command):
    """A command with its options in groups."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        how: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False, "callback": _print_all}
        self.params.append(click.Option(["--help-all"], help="Show all options in full.", **how))

    def make_parser(self, ctx: click.Context) -> Any:
        """Return the parser, which finds ``-m`` at once: click would first compare it with all long options."""
        parser = super().make_parser(ctx)
        getattr(parser, "_long_opt", {}).update(getattr(parser, "_short_opt", {}))
        return parser

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the whole first sentence."""
        return super().get_short_help_str(10 * limit)

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, shortened if it would not fit two screens."""
        text = super().get_help(ctx)
        if ctx.meta.get(_FULL) or len(text.splitlines()) <= _TWO_SCREENS:
            return text
        ctx.meta[_SHORT] = True
        return super().get_help(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description and one example per line; in short help, a sentence and a few examples."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in (self.help or "").split("\n\n")]
        examples = [text for text in paragraphs if text.startswith("Example: ")]
        prose = [text for text in paragraphs if text not in examples]
        if ctx.meta.get(_SHORT):
            prose, examples = prose[:1], examples[:_EXAMPLES]
        with formatter.indentation():
            for text in prose:
                formatter.write_paragraph()
                formatter.write_text(text)
            for i, example in enumerate(examples):
                if i == 0:
                    formatter.write_paragraph()
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")  # one line, to be copied

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by group, the command's own first."""
        groups: dict[str, list[click.Option]] = {"Options": [], **{group: [] for group in _GROUPS}}
        is_full = ctx.meta.get(_FULL, False)
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and not option.hidden and (is_full or _flag(option) not in _HELP):
                groups[_GROUP_OF.get(_flag(option), "Options")].append(option)
        for group, options in groups.items():
            if options:
                with formatter.section(group):
                    full = (record for option in options if (record := option.get_help_record(ctx)))
                    records = list(full if is_full else _brief_records(options, ctx))
                    formatter.write_dl(records, col_max=30 if is_full else _FLAGS)
        if not is_full:
            formatter.write("\nAll options in full: --help-all\n")


def command(name: str) -> Callable[[Callable[..., Any]], GroupedCommand]:
    """Make a function a command with grouped help."""
    return click.command(name, cls=GroupedCommand)


def _print_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len)


def _brief_records(options: list[click.Option], ctx: click.Context) -> Iterator[tuple[str, str]]:
    """Yield flags with short texts; rare flags last, by name only."""
    rare = [flag for flag in map(_flag, options) if flag in _RARE and flag not in _USUAL.get(ctx.info_name or "", ())]
    yield from (_brief(option, ctx) for option in options if _flag(option) not in rare)
    if rare:
        more = f" and {len(rare) - _NAMED} more" if len(rare) > 2 * _NAMED else ""
        yield "also", ", ".join(rare[:_NAMED] if more else rare) + more


def _brief(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """Return an option's flags and short text; choices too long for the flag column follow the text.

    >>> option = click.Option(["--rel"], help="Lowest relevant grade; for measures that take rel and set none.")
    >>> _brief(option, click.Context(click.Command("x")))
    ('--rel TEXT', 'Lowest relevant grade')
    """
    flags, text = option.get_help_record(ctx) or ("", "")
    short = text.partition("  [")[0].partition("; ")[0].rstrip(".")
    choices = [*map(str, option.type.choices)] if isinstance(option.type, click.Choice) else []
    if len(option.make_metavar(ctx)) > _CHOICES and choices:
        about = short.partition(": ")[0]
        is_listed = all(choice in about for choice in choices)
        return f"{flags.partition(' [')[0]} NAME", about if is_listed else f"{about}: {', '.join(choices)}"
    if len(short) > _LINE and (colon := short.find(": ", _LEAST)) > 0:
        short = short[:colon]
    return flags.replace("INTEGER RANGE", "N"), text.removesuffix(".") if len(text) <= _LINE else short
