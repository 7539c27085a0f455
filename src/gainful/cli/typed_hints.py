"""What people type, and what they mean: words of other tools, with what there is here."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

import click

from gainful.errors import UsageError
from gainful.notation import nearest

#: Options by the names that they have elsewhere.
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
_DRAWING = "gainful curves QRELS RUN --figure FILE draws gain by rank; compare and sessions draw, too"
#: Options that there are not, and how to ask for what they mean. FILES is what was typed, without the option;
#: FLOOR the same with a floor.
_INSTEAD: Mapping[str, str] = {
    "--latex --tex": "--format latex",
    "--json --jsonl": "--format jsonl",
    "--csv --tsv": "--format csv",
    "--markdown --md": "--format markdown",
    "--html": "--format html",
    "--plot --chart --figure": _DRAWING,
    "--significance --stats --stat-test --ttest --t-test --test --pvalue --p-value": "gainful compare QRELS RUN RUN "
    "tests whether systems differ",
    "--unretrieved": "gainful explain nDCG@6 --grades 3,2,3,0,1,2 --detail takes a list of grades, and says "
    "what other tools compute for it; --figure FILE draws it",
    "-k --k --cutoff --cutoffs --cut --top --topk --top-k --at": "the cutoff is part of a measure's name: -m nDCG@10",
    "--confidence --confidence-level": "--alpha 0.05 is a confidence of 95%",
    "-c": "queries without results count 0 unless --missing skip is given; gainful trec_eval has trec_eval's options",
    "--verbose -v --debug": "--detail shows more where a command has it; notices are printed unless --quiet is given",
    "--bounds": "what unjudged documents could add is not computed; gate init --judged-drop says how many there may be",
    "--by --segment --segments --group --groups --group-by": "--queries FILE gives groups of queries where a command "
    "has it; eval, compare, curves and gate init show them --by COLUMN",
    "--min --fail-under --min-score --threshold": "gainful eval FLOOR",
    "--floor": "gainful eval and gate init have it",
    "--qrels --qrel --judgments --gold --run --runs --results": "files need no option: gainful FILES",
}
_TREC_EVAL_ONLY = "only versions of trec_eval have a name here; gainful explain MEASURE --detail lists other tools"
#: Values of options, and what is meant.
_VALUES: Mapping[str, Mapping[str, str]] = {
    "--format": {
        "tex": "--format latex",
        "json": "--format jsonl, a JSON object a line",
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
        "mannwhitney mann_whitney u-test ranksum": "--test mann-whitney, of unpaired sessions",
    },
    "--like": {
        "trec_eval treceval trec": "--like trec_eval-9, or trec_eval-10 as its newest version does",
        "ranx ir_measures ir-measures pytrec_eval sklearn beir mteb": _TREC_EVAL_ONLY,
    },
}
#: Commands by what they are called elsewhere.
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
    """What stands in a table for a word of one of its keys."""
    return table.get(_words(table, typed))


def _words(table: Mapping[str, str], typed: str) -> str:
    """The words of a table, in one text, that a word is among."""
    return next((words for words in table if typed in words.split()), "")


def unknown_command(arguments: Sequence[str], commands: Iterable[str]) -> Exception:
    """What is said of a first word that is no command: it may be a file, or what others call a command."""
    typed = arguments[0]
    if os.path.exists(typed):
        return UsageError(f"no command '{typed}', but a file of that name", f"gainful eval {' '.join(arguments)}")
    if meant := _meant(_COMMANDS, typed):
        return UsageError(f"no command '{typed}'", f"gainful {' '.join([meant, *arguments[1:]])}")
    return UsageError(f"no command '{typed}'", nearest(typed, commands) or "gainful --help lists them")


def rephrase_click_error(error: click.ClickException, arguments: Sequence[str]) -> Exception:
    """The same error as ours are, with what somebody meant if an option or its value is a word of other tools."""
    if not isinstance(error, click.UsageError) or type(error).__name__ == "NoArgsIsHelpError":
        return error  # the second has the help as its message, and not every click knows it
    if isinstance(error, click.NoSuchOption):
        has = {name for each in error.ctx.command.params for name in each.opts} if error.ctx else set()
        # Grades are whole numbers, least means are not.
        is_score = error.option_name == "--threshold" and "." in (_value_of("--threshold", arguments) or "")
        ours = None if is_score else _meant(_SAME, error.option_name)
        if ours in has:
            return UsageError(f"no option {error.option_name}", f"it is {ours}")
        hint = _meant(_INSTEAD, error.option_name)
        if hint and not ("FILES" in hint and "papers" in arguments[:1]):  # whose files are options
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
        message = unknown[0]  # newer versions of click go on with commands that are close
        near = nearest(unknown[1], error.ctx.command.list_commands(error.ctx))
    return UsageError(message, _gate_of_files(arguments) or near or _way_on(error))


def _floor_of(arguments: Sequence[str], option: str) -> str:
    """What was typed for `eval` with the least mean as --floor has it."""
    measure = _value_of("-m", arguments) or _value_of("--measure", arguments) or "R@5"
    files = without_options(arguments[1:], [option]) if arguments[0] == "eval" else ["QRELS", "RUN"]
    return f"{shlex.join(files)} --floor {shlex.quote(f'{measure}>={_value_of(option, arguments)}')}"


def _bad_value(param: click.Option, value: str) -> UsageError | None:
    """What is said of a value that an option does not take: what is meant, or what it takes, if that can be listed."""
    flag, kind = param.opts[0], param.type
    if hint := _meant(_VALUES.get(flag, {}), value.lower()):
        return UsageError(f"{flag}: no '{value}'", hint)
    if isinstance(kind, click.Choice):
        choices, hint = [*map(str, kind.choices)], None
        if isinstance(param.flag_value, str):  # which stands for the flag alone
            hint = nearest(value, choices) or f"before files write {flag} {param.flag_value}, or put {flag} last"
        return UsageError(f"{flag}: expected {' | '.join(choices)}, found '{value}'", hint)
    if not isinstance(kind, click.types.IntParamType):
        return None
    limits = {"from": getattr(kind, "min", None), "to": getattr(kind, "max", None)}
    words = ["a whole number", *(f"{word} {number}" for word, number in limits.items() if number is not None)]
    return UsageError(f"{flag}: expected {' '.join(words)}, found '{value}'")


def _gate_of_files(arguments: Sequence[str]) -> str | None:
    """What was meant by a gate that is neither frozen nor checked, but has files."""
    if arguments[0] != "gate" or not os.path.exists("".join(arguments[1:2])):
        return None
    files = shlex.join(arguments[1:])
    is_gate = os.path.basename(arguments[1]).startswith("gate")
    return f"gainful gate check {files}" if is_gate else f"gainful gate init {files} -o gate.json"


def _way_on(error: click.ClickException) -> str | None:
    """An example of the command that was misspelt, or where its help is."""
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
    """Arguments without some options, whose values stay."""
    split = [part for text in arguments for part in (text.split("=", 1) if text.split("=")[0] in flags else [text])]
    return [text for text in split if text not in flags.split()]


def without_options(arguments: Sequence[str], flags: Sequence[str]) -> list[str]:
    """Arguments without some options and their values."""
    kept = [i for i, text in enumerate(arguments) if text.split("=")[0] not in flags]
    return [arguments[i] for i in kept if i == 0 or arguments[i - 1] not in flags]


def _value_of(flag: str, arguments: Sequence[str]) -> str | None:
    """What was given for an option."""
    for text, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if text == flag:
            return following
        if text.startswith(f"{flag}="):
            return text.partition("=")[2]
    return None
