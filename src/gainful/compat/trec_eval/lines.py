"""A report as trec_eval prints it."""

from __future__ import annotations

from collections.abc import Iterator

from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.report import Line
from gainful.compat.trec_eval.values import Scored


def output_lines(scored: Scored, options: Options) -> Iterator[str]:
    """Topic by topic if that was asked for, then over all topics."""
    if options.by_query:
        columns = [_column(line, scored, options) for line in scored.lines if line.family.by_topic]
        for i, topic in enumerate(scored.topics):
            yield "".join([f"{start}\t{topic}\t{texts[i]}\n" for start, texts in columns])
    if options.summary and scored.refused is None:
        yield from _summary(scored, options)


def _summary(scored: Scored, options: Options) -> Iterator[str]:
    for line in scored.lines:
        if line.family.name == "runid":
            yield f"{line.name:<22}\tall\t{scored.run_id}\n"
        elif line in scored.summary:
            yield f"{_start(line, options)}\tall\t{_text(line, scored.summary[line], options)}\n"


def _column(line: Line, scored: Scored, options: Options) -> tuple[str, list[str]]:
    """How a line begins, and how it ends for every topic."""
    if line in scored.strings:
        return f"{line.name:<22}", [f"'{string}'" for string in scored.strings[line]]
    return _start(line, options), [_text(line, value, options) for value in scored.values[line].tolist()]


def _start(line: Line, options: Options) -> str:
    return f"{'' if options.zscores is None else 'Z'}{line.name:<22}"


def _text(line: Line, value: float, options: Options) -> str:
    return str(int(value)) if line.is_count and options.zscores is None else f"{value:6.4f}"
