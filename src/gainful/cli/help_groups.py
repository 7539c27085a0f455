"""Help in groups: what a command is given, its measures, statistics, output and conventions.

``--help`` fits two screens: a line an option, those that are rarely needed by name only, and as much text as there is
room for. ``--help-all`` has all of it in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from gainful.policy import CHOICES

_CONVENTIONS = "Conventions"
#: What is remembered of how help is wanted: in full, or as short as can be.
_FULL, _SHORT = f"{__name__}.full", f"{__name__}.short"
_TWO_SCREENS = 48
#: How wide flags are beside what they do, a text that stands in one line, its first clause at least, and choices beside
#: their flag, all in letters; how many examples there are, and how many flags are named of very many rare ones.
_FLAGS, _LINE, _LEAST, _CHOICES, _EXAMPLES, _NAMED = 24, 50, 20, 12, 2, 4
_HELP = ("--help", "--help-all")

#: The flags of every group; what is in none is a command's own and comes first. Those behind the bar are rarely needed.
_GROUPS: Mapping[str, str] = {
    "Input": """--qrels --run --runs --sessions --letor --from --name --query --session --documents |
        --exclude --items --training --intents --queries --by --weights --only-queries --exclude-queries --session-gap
        --scale --rows --better --qrels-format --run-format --session-format --columns --grades --feature
        --session-separator --gaps --topics --threads --max-memory --engine
        --master --other-qrels --at-least --topic""",
    "Measures": """--measure --rel --gain --discount --base --at --vary --judged-by |
        --average --cost-query --cost-document""",
    "Statistics": """--baseline --test --margin --procedure --alpha --pairs |
        --correction --interval --family --draws --seed --confidence --groups --factors --sequential --arrival
        --set-size --fuzziness --swaps --persistence --repetitions --best --worst-share""",
    "Output": """--format --output --floor --by-query --by-session --detail --most --figure --open
        --only --marks | --sort --caption --label
        --all --chart --signature --places --quiet --figure-size --no-title --no-signature --figures""",
    _CONVENTIONS: " ".join(["--like |", *(f"--{choice.name}" for choice in CHOICES)]),
}
_GROUP_OF = {flag: group for group, flags in _GROUPS.items() for flag in flags.split() if flag != "|"}
#: Rare ones that are not rare for a command.
_USUAL: Mapping[str, tuple[str, ...]] = {"judgments": ("--judges",), "report": ("--queries",)}
_RARE = frozenset(flag for flags in _GROUPS.values() for flag in flags.partition("|")[2].split())


class GroupedCommand(click.Command):
    """A command whose options are shown in groups."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.params.append(
            click.Option(
                ["--help-all"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_print_all,
                help="All options in full.",
            )
        )

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence, whole."""
        return super().get_short_help_str(10 * limit)

    def get_help(self, ctx: click.Context) -> str:
        """The help; what would not fit two screens is left to that in full."""
        text = super().get_help(ctx)
        if ctx.meta.get(_FULL) or len(text.splitlines()) <= _TWO_SCREENS:
            return text
        ctx.meta[_SHORT] = True
        return super().get_help(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the command does, and examples below each other; in short a sentence and a few examples."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in (self.help or "").split("\n\n")]
        examples = [text for text in paragraphs if text.startswith("Example: ")]
        said = [text for text in paragraphs if text not in examples]
        if ctx.meta.get(_SHORT):
            said, examples = said[:1], examples[:_EXAMPLES]
        with formatter.indentation():
            for text in said:
                formatter.write_paragraph()
                formatter.write_text(text)
            for i, example in enumerate(examples):
                if i == 0:
                    formatter.write_paragraph()
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")  # in one line, to be copied

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, the command's own ones first."""
        groups: dict[str, list[click.Option]] = {"Options": [], **{group: [] for group in _GROUPS}}
        is_full = ctx.meta.get(_FULL, False)
        for option in self.get_params(ctx):
            if isinstance(option, click.Option) and (is_full or _flag(option) not in _HELP):
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
    """Makes a function a command with its help in groups."""
    return click.command(name, cls=GroupedCommand)


def _print_all(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[_FULL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _flag(option: click.Option) -> str:
    return max(option.opts, key=len)


def _brief_records(options: list[click.Option], ctx: click.Context) -> Iterator[tuple[str, str]]:
    """Flags with what they do, in brief; the rare ones last, by name."""
    rare = [flag for flag in map(_flag, options) if flag in _RARE and flag not in _USUAL.get(ctx.info_name or "", ())]
    yield from (_brief(option, ctx) for option in options if _flag(option) not in rare)
    if rare:
        more = f" and {len(rare) - _NAMED} more" if len(rare) > 2 * _NAMED else ""
        yield "also", ", ".join(rare[:_NAMED] if more else rare) + more


def _brief(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """A line an option; choices that do not fit beside their flag may need another one."""
    flags, text = option.get_help_record(ctx) or ("", "")
    choices = option.type.choices if isinstance(option.type, click.Choice) else ()
    if len(option.make_metavar(ctx)) > _CHOICES and choices:
        about = _before("; ", _before(": ", text.partition("  [")[0].rstrip("."), 0), 0)
        return f"{flags.partition(' [')[0]} NAME", f"{about}: {', '.join(map(str, choices))}"
    return flags.replace("INTEGER RANGE", "N"), _first_clause(text)


def _first_clause(text: str) -> str:
    """What a text says first, if it is long: without its default, and up to the first pause.

    >>> _first_clause("Relevant from grade G on, for every measure that takes rel and has none.")
    'Relevant from grade G on'
    """
    text = text if len(text) <= _LINE else text.partition("  [")[0].rstrip(".")
    for end in ("; ", " (", ": ", ", "):
        text = text if len(text) <= _LINE else _before(end, text, _LEAST)
    return text


def _before(end: str, text: str, least: int) -> str:
    """The text before an end that comes not too soon, if there is one."""
    place = text.find(end, least)
    return text if place < 0 else text[:place]
