"""The lines of trec_eval's report, each with a measure of ours, their values, and the report as trec_eval prints it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from gainful.compat.trec_eval.trec_eval_options import (
    CALCULATION,
    FILE,
    FORMATS,
    NOTHING_SHARED,
    ZSCORES,
    Options,
    RefusedError,
    leading_real,
    leading_whole,
)
from gainful.compat.trec_eval.trec_eval_reading import Inputs, first_refusal
from gainful.data.graded import GradedRun
from gainful.data.judged import Judged
from gainful.data.lists import gather
from gainful.errors import GainfulError, InputError
from gainful.evaluation.results import LEAST_FACTOR
from gainful.io.sources import open_source
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.names_trec_eval import FAMILIES, Family, Reads, build
from gainful.notation import number_text, text_of_id

#: What stands for a Z-score that there is none of.
_NONE = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """Means and deviations by topic and name of a measure."""

    known: dict[tuple[str, str], tuple[float, float]]

    @classmethod
    def read(cls, path: str) -> ZScores:
        """From a file of lines ``topic measure mean deviation``."""
        known: dict[tuple[str, str], tuple[float, float]] = {}
        try:
            data = open_source(path).data.tobytes()
        except InputError as error:
            raise RefusedError(ZSCORES, error.message, error.hint) from error
        if not data:
            raise RefusedError(ZSCORES, f"{path}: expected lines of topic measure mean deviation, found an empty file")
        for number, line in enumerate(data.splitlines(), 1):
            fields = [text_of_id(field) for field in line.split()]
            if len(fields) != 4:
                raise RefusedError(
                    ZSCORES, f"{path}:{number}: expected topic measure mean deviation, found {len(fields)} fields"
                )
            known.setdefault((fields[0], fields[1]), (leading_real(fields[2]), leading_real(fields[3])))
        return cls(known)

    def of(self, measure: str, topics: list[str], values: Floats) -> Floats:
        """The Z-scores of a measure's values.

        >>> ZScores({("301", "map"): (0.25, 0.5)}).of("map", ["301", "302"], np.array([0.5, 0.5])).tolist()
        [0.5, -1000000.0]
        """
        return np.array(
            [self._one(topic, measure, value) for topic, value in zip(topics, values.tolist(), strict=True)]
        )

    def _one(self, topic: str, measure: str, value: float) -> float:
        mean, deviation = self.known.get((topic, measure), (0.0, 0.0))
        if (topic, measure) not in self.known or (deviation == 0 and value != mean):
            return _NONE
        return (value - mean) / deviation if deviation else 0.0


_UNJUDGED, _POOLED, _MORE = ord("-"), ord("."), ord(">")


def grade_strings(graded: GradedRun, length: int, topics: Ints) -> list[str]:
    """For each of some topics the grades of its first documents.

    0 to 9 are themselves, more is ``>``; a document that was not judged is ``-``, or ``.`` if its grade is below 0.
    """
    length = max(0, min(length, int(graded.retrieved[topics].max(initial=0))))
    characters = np.full((topics.size, length), _UNJUDGED, np.uint8)
    row, place = gather(graded.hit_offsets, topics)
    grade = graded.hit_grade[place]
    _put(characters, row, graded.hit_rank[place], np.where(grade > 9, _MORE, ord("0") + np.minimum(grade, 9)))
    if graded.pooled is not None:
        offsets, ranks = graded.pooled
        row, place = gather(offsets, topics)
        _put(characters, row, ranks[place], np.full(row.size, _POOLED))
    shown = graded.retrieved[topics].tolist()
    return [line.tobytes()[:count].decode() for line, count in zip(characters, shown, strict=True)]


def _put(characters: np.ndarray[tuple[int, int], np.dtype[np.uint8]], row: Ints, rank: Ints, codes: np.ndarray) -> None:
    fits = rank <= characters.shape[1]
    characters[row[fits], rank[fits] - 1] = codes[fits]


@dataclass(frozen=True)
class Line:
    """A number for every topic and one for all of them; ``measure`` is None for texts."""

    name: str
    of: str  # the measure's name without parameters
    family: Family
    measure: Measure | None = None
    given: str | None = None  # parameters that became part of the name

    @property
    def is_count(self) -> bool:
        """Whether it is printed as a whole number."""
        return self.family.summary in ("sum", "topics")

    @property
    def length(self) -> int:
        """How many documents a text is about."""
        return int(self.family.defaults[0] if self.given is None else leading_real(self.given))


def report_lines(options: Options, levels: Sequence[float]) -> list[Line]:
    """The lines that were asked for, in trec_eval's order; ``levels`` are the grades in the judgments."""
    lines: list[Line] = []
    for name in FAMILIES:
        if name in options.names:
            try:
                lines += _lines(name, options, levels)
            except GainfulError as error:
                code = error.code if isinstance(error, RefusedError) else FILE
                raise RefusedError(code, f"measure '{name}': {error.message}", error.hint) from error
    return lines


def _lines(name: str, options: Options, levels: Sequence[float]) -> Iterable[Line]:
    family, given = FAMILIES[name], options.parameters.get(name)
    if family.takes in ("cutoffs", "levels"):
        form = "{}_{:.0f}" if family.takes == "cutoffs" else "{}_{:3.2f}"
        cutoffs = family.defaults if given is None else _cutoffs(family, given)
        return [
            Line(form.format(name, at), name, family, _measure(family, options, {"@": number_text(at)}))
            for at in cutoffs
        ]
    if family.takes == "nothing":
        given = None
    parameters = _parameters(family.takes, given, options, levels)
    measure = _measure(family, options, parameters) if family.ours else None
    return [Line(name if given is None else f"{name}_{given}", name, family, measure, given)]


def _cutoffs(family: Family, given: str) -> tuple[float, ...]:
    read: Callable[[str], float] = leading_whole if family.takes == "cutoffs" else leading_real
    cutoffs = sorted(read(part) for part in given.split(","))
    if family.takes == "cutoffs" and cutoffs[0] <= 0:
        raise RefusedError(FILE, f"expected cutoffs above 0, found {number_text(cutoffs[0])}")
    for one, other in pairwise(cutoffs):
        if one == other:
            raise RefusedError(FILE, f"expected every cutoff once, found {number_text(one)} twice")
    return tuple(cutoffs)


def _measure(family: Family, options: Options, parameters: Mapping[str, object]) -> Measure:
    measure = build(family.of_topic, parameters)
    has_level = family.has_level and options.level != 1 and "rel" in measure.parameters()
    return measure.replace(rel=options.level) if has_level else measure


def _parameters(takes: str, given: str | None, options: Options, levels: Sequence[float]) -> Mapping[str, object]:
    """What the text of a measure's parameters, if there is one, makes of ours."""
    if takes == "utility":
        weights = [1.0, -1.0, 0.0, 0.0] if given is None else _numbers(given)
        if len(weights) != 4:
            raise RefusedError(CALCULATION, f"expected 4 numbers, found {len(weights)}")
        collection = {"N": options.documents} if options.documents else {}
        return {**dict(zip("abcd", weights, strict=True)), **collection}
    if takes == "patience":
        pairs = {} if given is None else _pairs(given)
        gain = _gain_table(pairs, levels) if pairs.keys() - {"p"} else "linear"
        # The gains of a topic with grades above 1 are divided by its highest, which is what trec_eval 10 means to do;
        # that it goes by the whole table where one is given is seen to afterwards.
        return {"p": pairs.get("p", 0.9), "gain": gain, "scale": "query"}
    if given is None:
        return {}
    if takes == "weight":  # trec_eval has x where the formula has beta^2
        return {"beta": max(0.0, _numbers(given)[0]) ** 0.5}
    if takes == "points":
        return {"points": "-".join(map(number_text, _numbers(given)))}
    return {"gain": _gain_table(_pairs(given), levels)} if takes == "gains" else {}


def _numbers(given: str) -> list[float]:
    return [leading_real(part) for part in given.split(",")]


def _pairs(given: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for part in given.split(","):
        name, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise RefusedError(FILE, f"expected name=number, found '{part}'")
        if name == "p" or name not in pairs:  # of several persistences the last one counts there
            pairs[name] = leading_real(value)
    return pairs


def _gain_table(pairs: Mapping[str, float], levels: Iterable[float]) -> dict[float, float]:
    """The gain of every grade: given, or the grade itself."""
    given = _given_gains(pairs)
    return {level: given.get(level, level) for level in sorted({*levels, *given, 0.0}) if level >= 0}


def _given_gains(pairs: Mapping[str, float]) -> dict[float, float]:
    return {float(name): gain for name, gain in pairs.items() if name.lstrip("+-").isdecimal()}


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
        zscores = None if options.zscores is None else ZScores.read(options.zscores)
        lines = report_lines(options, inputs.judged.levels.tolist())
        refusal = first_refusal(inputs, options)
        if options.is_old and not inputs.graded.answered.any():
            raise RefusedError(NOTHING_SHARED, "no topic is both in the judgments and in the run")
        _refuse_other_judgments(lines, options)
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


def _refuse_other_judgments(lines: Iterable[Line], options: Options) -> None:
    for line in lines:
        if line.family.reads not in ("any", options.reads):
            fitting = [f"-R {name}" for name, reads in FORMATS.items() if reads == line.family.reads]
            text = f"measure '{line.of}': needs {' or '.join(fitting)}, found -R {options.format}"
            raise RefusedError(CALCULATION, text, f"-m {_GROUP_OF[options.reads]} has the measures of this format")


_GROUP_OF: Mapping[Reads, str] = {"grades": "all_trec", "judges": "qrels_jg", "preferences": "all_prefs"}


def _scored_topics(inputs: Inputs, options: Options) -> Ints:
    """The topics that have values of their own: with -c trec_eval 10 makes up a list for those that have none."""
    answered = inputs.graded.answered
    return np.arange(answered.size) if options.complete and not options.is_old else np.flatnonzero(answered)


def _values(lines: list[Line], inputs: Inputs, options: Options, positions: Ints) -> dict[Line, Floats]:
    measures = list(dict.fromkeys(line.measure for line in lines if line.measure is not None))
    raw = dict(zip(measures, _mean_of_judges(inputs, measures), strict=True))
    values = {}
    for line in lines:
        if line.measure is not None:
            of_line = _as_theirs(line, raw[line.measure], inputs, options)
            of_line = np.where(inputs.graded.answered, of_line, _unanswered(line, of_line, options))[positions]
            if line.family.summary == "geometric":
                of_line = np.log(np.maximum(of_line, LEAST_FACTOR))
            values[line] = of_line
    if inputs.preferences is not None:
        asked = {line.of: line for line in lines if line.family.reads == "preferences"}
        hits = {inputs.graded.query_ids[i]: _hits(inputs, i) for i in positions.tolist()}
        values |= {asked[name]: scores for name, scores in inputs.preferences.scores(asked, hits).items()}
    return values


def _mean_of_judges(inputs: Inputs, measures: Sequence[Measure]) -> Floats:
    """A row of scores for every measure, by topic."""
    if len(inputs.by_judge) == 1:
        return np.nan_to_num(raw_scores(inputs.graded, measures))
    place = {topic: i for i, topic in enumerate(inputs.graded.query_ids)}
    total, judges = np.zeros((len(measures), len(place))), np.zeros(len(place))
    for graded in inputs.by_judge:
        at = [place[topic] for topic in graded.query_ids]
        total[:, at] += np.nan_to_num(raw_scores(graded, measures))
        judges[at] += 1
    return np.asarray(total / judges)


def _hits(inputs: Inputs, position: int) -> Ints:
    """The places of a topic's retrieved documents among its judged ones, by rank."""
    start, end = inputs.graded.hit_offsets[position : position + 2]
    return np.asarray(inputs.graded.hit_item[start:end] - inputs.judged.item_offsets[position])


def _as_theirs(line: Line, scores: Floats, inputs: Inputs, options: Options) -> Floats:
    """Scores where trec_eval's habits are none of the measure's."""
    if line.of == "rbp_resid":
        # There it is only worked out where a document of the list is not judged.
        return np.where(np.diff(inputs.graded.hit_offsets) == inputs.graded.retrieved, 0.0, scores)
    if line.of == "Rndcg":
        # That is all that -l does to it.
        return np.where(inputs.judged.recall_base(options.level, None) == 0, 0.0, scores)
    if line.of == "rbp" and line.given is not None:
        return scores * _by_whole_table(_given_gains(_pairs(line.given)), inputs.judged)
    if line.of == "yaap":
        relevant = inputs.judged.recall_base(options.level, None)
        return np.asarray(np.log((1 + scores * relevant) / (1 + relevant - scores * relevant)))
    return scores


def _by_whole_table(given: Mapping[float, float], judged: Judged) -> Floats:
    """What makes gains divided by a topic's highest gain those divided by the highest in the table.

    The table has what was given, whether a document has such a grade or not, and all grades up to the topic's highest.
    """
    factors = np.ones(len(judged.qrels.query_ids))
    for i, (start, end) in enumerate(pairwise(judged.item_offsets.tolist())):
        grades = set(judged.grade[start:end][judged.grade[start:end] >= 0].tolist())
        known = grades | set(range(int(max(grades, default=0)) + 1))
        highest = max((given.get(grade, grade) for grade in grades), default=1.0)
        factors[i] = max(1.0, highest) / max(1.0, *given.values(), *(known - given.keys()))
    return factors


def _unanswered(line: Line, scores: Floats, options: Options) -> Floats | float:
    """What topics that are not in the run score with -c.

    trec_eval 10 scores a list of one made-up document and then undoes that, but not for names with parameters.
    """
    if line.of in ("num_rel", "yaap"):
        return scores
    if line.given is not None and line.of == "utility":
        made_up = 0.0 if options.judged_only else getattr(line.measure, "b", 0.0) - getattr(line.measure, "d", 0.0)
        return scores + made_up
    if line.given is not None and line.of == "rbp_resid" and not options.judged_only:
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
    if line.of == "num_rel" and options.complete:
        return float(inputs.judged.recall_base(None, None).sum())  # whatever -l says
    if line.family.summary == "sum":
        return total
    if line.family.summary == "geometric":
        missing = (count - values.size) * math.log(LEAST_FACTOR)
        return math.exp((total + missing) / count) if count else 0.0
    return total / count if count else 0.0


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
        if line.of == "runid":
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
