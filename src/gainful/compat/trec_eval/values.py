"""The numbers of a report: topic by topic, then over all topics, added up as trec_eval adds them up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats, Ints
from gainful.compat.trec_eval.faults import NOTHING_SHARED, RefusedError
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.reading import Inputs
from gainful.compat.trec_eval.refusals import first_refusal
from gainful.compat.trec_eval.relstring import grade_strings
from gainful.compat.trec_eval.report import Line, report_lines
from gainful.compat.trec_eval.zscores import ZScores
from gainful.evaluation import raw_scores
from gainful.notation import text_of_id
from gainful.results import LEAST_FACTOR


@dataclass(frozen=True)
class Scored:
    """A report's lines with their values for every topic and over all topics."""

    lines: list[Line]
    run_id: str
    topics: list[str]
    values: dict[Line, Floats]
    strings: dict[Line, list[str]]
    summary: dict[Line, float]
    refused: RefusedError | None  # why there are no more topics, and no summary

    @classmethod
    def of(cls, inputs: Inputs, options: Options) -> Scored:
        """Scores every topic that trec_eval would score."""
        lines = report_lines(options, inputs.judged.levels.tolist())
        zscores = None if options.zscores is None else ZScores.read(options.zscores)
        refusal = first_refusal(inputs, options)
        if options.is_old and not inputs.graded.answered.any():
            raise RefusedError(NOTHING_SHARED, "no topic is both in the judgments and in the run")
        positions = _scored_topics(inputs, options)
        if refusal is not None:
            positions = positions[positions < refusal.position]
        topics = [text_of_id(inputs.graded.query_ids[i]) for i in positions.tolist()]
        values = _values(lines, inputs, options, positions)
        if zscores is not None:
            values = {line: zscores.of(line.name, topics, of_line) for line, of_line in values.items()}
        return cls(
            lines,
            inputs.run_id,
            topics,
            values,
            {line: _strings(line, inputs, options, positions) for line in lines if line.family.takes == "length"},
            {line: _over_all(line, of_line, inputs, options) for line, of_line in values.items()},
            None if refusal is None else refusal.error,
        )


def _scored_topics(inputs: Inputs, options: Options) -> Ints:
    """The topics that have values of their own: with -c trec_eval 10 makes up a list for those that have none."""
    answered = inputs.graded.answered
    return np.arange(answered.size) if options.complete and not options.is_old else np.flatnonzero(answered)


def _values(lines: list[Line], inputs: Inputs, options: Options, positions: Ints) -> dict[Line, Floats]:
    measures = list(dict.fromkeys(line.measure for line in lines if line.measure is not None))
    raw = dict(zip(measures, np.nan_to_num(raw_scores(inputs.graded, measures)), strict=True))
    values = {}
    for line in lines:
        if line.measure is not None:
            of_line = _as_theirs(line, raw[line.measure], inputs, options)
            of_line = np.where(inputs.graded.answered, of_line, _unanswered(line, of_line, options))[positions]
            if line.family.summary == "geometric":
                of_line = np.log(np.maximum(of_line, LEAST_FACTOR))
            values[line] = of_line
    return values


def _as_theirs(line: Line, scores: Floats, inputs: Inputs, options: Options) -> Floats:
    """Scores where trec_eval's habits are none of the measure's."""
    if line.family.name == "rbp_resid":
        # There it is only worked out where a document of the list is not judged.
        return np.where(np.diff(inputs.graded.hit_offsets) == inputs.graded.retrieved, 0.0, scores)
    if line.family.name == "Rndcg":
        # That is all that -l does to it.
        return np.where(inputs.judged.recall_base(options.level, None) == 0, 0.0, scores)
    return scores


def _unanswered(line: Line, scores: Floats, options: Options) -> Floats | float:
    """What topics that are not in the run score with -c.

    trec_eval 10 scores a list of one made-up document and then undoes that, but not for names with parameters.
    """
    if line.family.name == "num_rel":
        return scores
    if line.given is not None and line.family.name == "utility":
        made_up = 0.0 if options.judged_only else getattr(line.measure, "b", 0.0) - getattr(line.measure, "d", 0.0)
        return scores + made_up
    if line.given is not None and line.family.name == "rbp_resid" and not options.judged_only:
        return 1.0
    return 0.0


def _strings(line: Line, inputs: Inputs, options: Options, positions: Ints) -> list[str]:
    made_up = "" if line.given is None or options.judged_only else "-"
    strings = grade_strings(inputs.graded, line.length, positions)
    answered = inputs.graded.answered[positions].tolist()
    return [string if known else made_up for string, known in zip(strings, answered, strict=True)]


def _over_all(line: Line, values: Floats, inputs: Inputs, options: Options) -> float:
    count = inputs.graded.answered.size if options.complete else values.size
    # In the order of topics and without care for the last bits, as there: a tie is then rounded as there.
    total = float(np.cumsum(values)[-1]) if values.size else 0.0
    if line.family.summary == "topics":
        return float(count)
    if line.family.name == "num_rel" and options.complete:
        return float(inputs.judged.recall_base(None, None).sum())  # whatever -l says
    if line.family.summary == "sum":
        return total
    if line.family.summary == "geometric":
        missing = (count - values.size) * math.log(LEAST_FACTOR)
        return math.exp((total + missing) / count) if count else 0.0
    return total / count if count else 0.0
