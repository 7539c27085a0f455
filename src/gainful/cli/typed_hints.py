"""Hints for options, values and commands that other tools use."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

import click

from gainful.errors import UsageError
from gainful.notation import nearest

#: Options by their names in other tools.
_SAME: Mapping[str, str] = {
    "--metric --metrics --measures": "--measure",
    "--names --label --labels": "--name",
    "--file --out --save": "--output",
    "--digits --decimals --precision": "--places",
    "--jobs --n-jobs --workers --processes": "--threads",
    "--reference --control": "--baseline",
    "--train --seen --filter": "--exclude",
    "--threshold --min-rating --min-grade --relevance-level": "--rel",
    "--level --pvalue --p-value --max-p --alpha-level --significance-level": "--alpha",
    "--per-query": "--by-query",
    "--gap --timeout --session-timeout --inactivity": "--session-gap",
    "--segment --segments --group --groups --group-by": "--by",
}
_UNKNOWN = re.compile(r"No such command .(.*?).(?=$|\. )")
_DRAWING = "gainful curves QRELS RUN --figure FILE plots gain by rank; compare and sessions also take --figure"
#: Options that do not exist here, with hints. FILES is replaced by what was typed without the option; FLOOR also adds
#: a floor.
_INSTEAD: Mapping[str, str] = {
    "--latex --tex": "--format latex",
    "--json --jsonl": "--format jsonl",
    "--csv --tsv": "--format csv",
    "--markdown --md": "--format markdown",
    "--html": "--format html",
    "--plot --chart --figure": _DRAWING,
    "--significance --stats --stat-test --ttest --t-test --test --pvalue --p-value": "gainful compare QRELS RUN RUN "
    "tests whether systems differ",
    "--unretrieved": "gainful explain nDCG@6 --grades 3,2,3,0,1,2 --detail takes a list of grades and shows "
    "other tools' results for it; --figure FILE plots it",
    "-k --k --cutoff --cutoffs --cut --top --topk --top-k --at": "the cutoff is part of a measure's name: -m nDCG@10",
    "--gain --gains --discount --base": "it is part of a measure: -m 'nDCG(gain=0-1-10, discount=rank)@10'",
    "--confidence --confidence-level": "--alpha 0.05 gives 95% confidence",
    "-c": "queries without results count as 0 unless --missing skip; gainful trec_eval takes trec_eval's options",
    "--verbose -v --debug": "--detail shows more in some commands; notices are printed unless --quiet is given",
    "--bounds": "gainful eval and gainful compare have it; the gate uses bounds if too few documents are judged",
    "--by --segment --segments --group --groups --group-by": "--queries FILE reads groups of queries; eval, compare, "
    "curves and gate init show them with --by COLUMN",
    "--min --fail-under --min-score --threshold": "gainful eval FLOOR",
    "--floor": "only gainful eval and gainful gate init take --floor",
    "--qrels --qrel --judgments --gold --run --runs --results": "files need no option: gainful FILES",
}
_TREC_EVAL_ONLY = "--like knows versions of trec_eval only; gainful explain MEASURE --detail lists other tools"
#: Hints for values of options.
_VALUES: Mapping[str, Mapping[str, str]] = {
    "--format": {
        "tex": "--format latex",
        "json": "--format jsonl, one JSON object per line",
        "md": "--format markdown",
        "tsv excel xlsx xls": "--format csv",
        "text txt plain": "--format table",
        "pdf svg png": _DRAWING,
    },
    "--test": {
        "t-test ttest t_test student students paired-t paired": "--test t",
        "permutation permutation-test randomization fisher flips": "--test randomisation",
        "anova two-way-anova": "--procedure anova",
        "tukey hsd tukey-hsd": "--procedure tukey",
        "friedman nemenyi conover": "--procedure friedman",
        "mannwhitney mann_whitney u-test ranksum": "--test mann-whitney, for unpaired sessions",
    },
    "--like": {
        "trec_eval treceval trec": "--like trec_eval-9, or trec_eval-10 for the newest version",
        "ranx ir_measures ir-measures pytrec_eval sklearn beir mteb": _TREC_EVAL_ONLY,
    },
}
#: Commands by their names in other tools.
_COMMANDS: Mapping[str, str] = {
    "evaluate score run metrics": "eval",
    "test ttest significance stats diff": "compare",
    "plot curve graph": "curves",
    "session": "sessions",
    "validate lint inspect": "check",
    "qrels describe pool": "judgments",
    "latex tex table": "eval --format latex",
    "version": "--version",
}


def _meant(table: Mapping[str, str], typed: str) -> str | None:
    """Look up a word in a table whose keys are lists of words."""
    return table.get(_words(table, typed))


def _words(table: Mapping[str, str], typed: str) -> str:
    """Return the table's key that contains a word."""
    return next((words for words in table if typed in words.split()), "")


def unknown_command(arguments: Sequence[str], commands: Iterable[str]) -> Exception:
    """Return the error for an unknown command, which may be a file or another tool's name of a command."""
    typed = arguments[0]
    if os.path.exists(typed):
        return UsageError(f"'{typed}' is a file, not a command", f"gainful eval {' '.join(arguments)}")
    if meant := _meant(_COMMANDS, typed):
        return UsageError(f"no command '{typed}'", f"gainful {' '.join([meant, *arguments[1:]])}")
    return UsageError(f"no command '{typed}'", nearest(typed, commands) or "gainful --help lists all commands")


def rephrase_click_error(error: click.ClickException, arguments: Sequence[str]) -> Exception:
    """Rephrase a click error in our style, with a hint if an option or value is known from other tools."""
    if not isinstance(error, click.UsageError) or type(error).__name__ == "NoArgsIsHelpError":
        return error  # the second carries the help text, and older versions of click lack the class
    if isinstance(error, click.NoSuchOption):
        has = {name for each in error.ctx.command.params for name in each.opts} if error.ctx else set()
        # Grades are whole numbers; floors of means are not.
        is_score = error.option_name == "--threshold" and "." in (_value_of("--threshold", arguments) or "")
        ours = None if is_score else _meant(_SAME, error.option_name)
        if ours in has:
            return UsageError(f"no option {error.option_name}", f"use {ours}")
        hint = _meant(_INSTEAD, error.option_name)
        if hint and not ("FILES" in hint and "papers" in arguments[:1]):  # papers takes files as options
            typed = " ".join(_without_flags(arguments, _words(_INSTEAD, error.option_name)))
            hint = hint.replace("FLOOR", _floor_of(arguments, error.option_name))
            return UsageError(f"no option {error.option_name}", hint.replace("FILES", typed))
        close = " or ".join(error.possibilities or ())
        return UsageError(f"no option {error.option_name}", f"did you mean {close}?" if close else _way_on(error))
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        values = (_value_of(name, arguments) for name in error.param.opts)
        value = next((each for each in values if each is not None), None)
        if value is not None and (refusal := _bad_value(error.param, value)):
            return refusal
    message, near = error.format_message().removesuffix("."), None
    if error.ctx and isinstance(error.ctx.command, click.Group) and (unknown := _UNKNOWN.match(message)):
        message = unknown[0]  # newer versions of click append similar commands
        near = nearest(unknown[1], error.ctx.command.list_commands(error.ctx))
    return UsageError(message, _gate_of_files(arguments) or near or _way_on(error))


def _floor_of(arguments: Sequence[str], option: str) -> str:
    """Rewrite the typed arguments as an `eval` command with --floor."""
    measure = _value_of("-m", arguments) or _value_of("--measure", arguments) or "R@5"
    files = without_options(arguments[1:], [option]) if arguments[0] == "eval" else ["QRELS", "RUN"]
    return f"{shlex.join(files)} --floor {shlex.quote(f'{measure}>={_value_of(option, arguments)}')}"


def _bad_value(param: click.Option, value: str) -> UsageError | None:
    """Return the error for an invalid value: a hint for a known word, else the valid values if they can be listed."""
    flag, kind = param.opts[0], param.type
    if hint := _meant(_VALUES.get(flag, {}), value.lower()):
        return UsageError(f"{flag}: unknown value '{value}'", hint)
    if isinstance(kind, click.Choice):
        choices, hint = [*map(str, kind.choices)], None
        if isinstance(param.flag_value, str):  # the value of the flag without an argument
            hint = nearest(value, choices) or f"write {flag} {param.flag_value} before files, or put {flag} last"
        return UsageError(f"{flag}: expected {' | '.join(choices)}, found '{value}'", hint)
    if not isinstance(kind, click.types.IntParamType):
        return None
    limits = {"from": getattr(kind, "min", None), "to": getattr(kind, "max", None)}
    words = ["a whole number", *(f"{word} {number}" for word, number in limits.items() if number is not None)]
    return UsageError(f"{flag}: expected {' '.join(words)}, found '{value}'")


def _gate_of_files(arguments: Sequence[str]) -> str | None:
    """Suggest `gate check` or `gate init` if files follow `gate` directly."""
    if arguments[0] != "gate" or not os.path.exists("".join(arguments[1:2])):
        return None
    files = shlex.join(arguments[1:])
    is_gate = os.path.basename(arguments[1]).startswith("gate")
    return f"gainful gate check {files}" if is_gate else f"gainful gate init {files} -o gate.json"


def _way_on(error: click.ClickException) -> str | None:
    """Return an example of the misspelt command, or where to find its help."""
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    if ctx is None:
        return None
    example = re.search(r"Example: (.+?)(?:\n\s*\n|$)", ctx.command.help or "", re.DOTALL)
    is_option = isinstance(error, click.NoSuchOption) or (
        isinstance(error, click.BadParameter) and isinstance(error.param, click.Option)
    )
    if example is None or is_option:
        return f"{ctx.command_path} --help lists all"
    return f"for example: {' '.join(example[1].split())}"


def _without_flags(arguments: Sequence[str], flags: str) -> list[str]:
    """Drop flags from the arguments, but keep their values."""
    split = [part for text in arguments for part in (text.split("=", 1) if text.split("=")[0] in flags else [text])]
    return [text for text in split if text not in flags.split()]


def without_options(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Drop options and their values from the arguments."""
    kept = [i for i, text in enumerate(arguments) if text.split("=")[0] not in flags]
    return [arguments[i] for i in kept if i == 0 or arguments[i - 1] not in flags]


def _value_of(flag: str, arguments: Sequence[str]) -> str | None:
    for text, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if text == flag:
            return following
        if text.startswith(f"{flag}="):
            return text.partition("=")[2]
    return None
