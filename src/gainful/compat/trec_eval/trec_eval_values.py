"""The lines of trec_eval's report: their measures, values and output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from gainful.compat.trec_eval.trec_eval_reading import Inputs, refusals
from gainful.data.lists import gather
from gainful.errors import GainfulError, InputError
from gainful.evaluation.results import LEAST_FACTOR
from gainful.frozen import dataclass
from gainful.io.sources import open_source
from gainful.kernel.arrays import Floats, Ints
from gainful.measures.base import Measure
from gainful.measures.block import raw_scores
from gainful.measures.catalog import MEASURES
from gainful.measures.names_trec_eval import FAMILIES, Family, Reads, build
from gainful.notation import number_text, text_of_id

#: The Z-score if the mean is unknown, or the value differs from the mean with zero deviation.
_NO_ZSCORE = -1000000.0

#: Means and deviations, keyed by topic and measure name.
ZScores = Mapping[tuple[str, str], tuple[float, float]]


def read_zscores(path: str) -> ZScores:
    """Read a file of lines ``topic measure mean deviation``."""
    known: dict[tuple[str, str], tuple[float, float]] = {}
    try:
        data = open_source(path).data.tobytes()
    except InputError as error:
        raise RefusedError(ZSCORES, error.message, error.hint) from error
    if not data:
        raise RefusedError(ZSCORES, f"{path}: the file is empty; expected lines of topic measure mean deviation")
    for number, line in enumerate(data.splitlines(), 1):
        fields = [text_of_id(field) for field in line.split()]
        if len(fields) != 4:
            found = f"found {len(fields)} fields"
            raise RefusedError(ZSCORES, f"{path}:{number}: expected topic measure mean deviation, {found}")
        known.setdefault((fields[0], fields[1]), (leading_real(fields[2]), leading_real(fields[3])))
    return known


def zscores_of(known: ZScores, measure: str, topics: list[str], values: Floats) -> Floats:
    """Return the Z-scores of a measure's values.

    >>> zscores_of({("301", "map"): (0.25, 0.5)}, "map", ["301", "302"], np.array([0.5, 0.5])).tolist()
    [0.5, -1000000.0]
    """
    scores = []
    for topic, value in zip(topics, values.tolist(), strict=True):
        mean, deviation = known.get((topic, measure), (math.nan, 0.0))
        without = 0.0 if value == mean else _NO_ZSCORE
        scores.append((value - mean) / deviation if deviation else without)
    return np.array(scores)


_UNJUDGED, _POOLED, _MORE = ord("-"), ord("."), ord(">")


@dataclass(frozen=True)
class Line:
    """A line of the report: a number per topic and one for all; ``measure`` is None for texts and preferences."""

    name: str
    of: str  # the measure's name without parameters
    family: Family
    measure: Measure | None = None
    given: str | None = None  # parameters that became part of the name


def report_lines(options: Options, levels: Sequence[float]) -> list[Line]:
    """Return the requested lines in trec_eval's order; ``levels`` are the grades in the judgments."""
    lines: list[Line] = []
    for name in FAMILIES:
        if name in options.names:
            try:
                lines += _lines_of_measure(name, options, levels)
            except GainfulError as error:
                code = error.code if isinstance(error, RefusedError) else FILE
                raise RefusedError(code, f"measure '{name}': {error.message}", error.hint) from error
    return lines


def _lines_of_measure(name: str, options: Options, levels: Sequence[float]) -> Iterator[Line]:
    family, given = FAMILIES[name], options.parameters.get(name)

    def measure(parameters: Mapping[str, object]) -> Measure:
        has_level = family.has_level and "rel" in MEASURES[family.of_topic].parameters()
        return build(family.of_topic, {**parameters, "rel": options.level} if has_level else parameters)

    if family.takes in ("cutoffs", "levels"):
        form = "{}_{:.0f}" if family.takes == "cutoffs" else "{}_{:3.2f}"
        for at in family.defaults if given is None else _cutoffs(family, given):
            yield Line(form.format(name, at), name, family, measure({"@": number_text(at)}))
        return
    if family.takes == "nothing":
        given = None
    parameters = _parameters(family.takes, given, options, levels)
    whole_name = name if given is None else f"{name}_{given}"
    yield Line(whole_name, name, family, measure(parameters) if family.ours else None, given)


def _cutoffs(family: Family, given: str) -> tuple[float, ...]:
    read: Callable[[str], float] = leading_whole if family.takes == "cutoffs" else leading_real
    cutoffs = sorted(read(part) for part in given.split(","))
    if family.takes == "cutoffs" and cutoffs[0] <= 0:
        raise RefusedError(FILE, f"expected cutoffs above 0, found {number_text(cutoffs[0])}")
    for one, other in pairwise(cutoffs):
        if one == other:
            raise RefusedError(FILE, f"duplicate cutoff {number_text(one)}")
    return tuple(cutoffs)


def _parameters(takes: str, given: str | None, options: Options, levels: Sequence[float]) -> Mapping[str, object]:
    """Convert trec_eval's parameters, which may be missing, to ours."""
    if takes == "utility":
        weights = [1.0, -1.0, 0.0, 0.0] if given is None else _numbers(given)
        if len(weights) != 4:
            raise RefusedError(CALCULATION, f"expected 4 numbers, found {len(weights)}")
        collection = {"N": options.documents} if options.documents else {}
        return {**dict(zip("abcd", weights, strict=True)), **collection}
    if takes == "patience":
        pairs = {} if given is None else _pairs(given)
        gain = _gain_table(pairs, levels) if pairs.keys() - {"p"} else "linear"
        # The gains of a topic with grades above 1 are divided by its highest, as trec_eval 10 intends; if a table is
        # given, it divides by the table's highest, which `_adapt` sees to.
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
        if name == "p" or name not in pairs:  # in trec_eval the last persistence counts
            pairs[name] = leading_real(value)
    return pairs


def _gain_table(pairs: Mapping[str, float], levels: Iterable[float]) -> dict[float, float]:
    given = _given_gains(pairs)
    return {level: given.get(level, level) for level in sorted({*levels, *given, 0.0}) if level >= 0}


def _given_gains(pairs: Mapping[str, float]) -> dict[float, float]:
    return {float(name): gain for name, gain in pairs.items() if name.lstrip("+-").isdecimal()}


def report(inputs: Inputs, options: Options) -> Iterator[str]:
    """Yield the lines per topic if requested, then those over all topics.

    The first topic that trec_eval cannot score ends the report: its error is raised after the lines of earlier topics.
    """
    zscores = None if options.zscores is None else read_zscores(options.zscores)
    lines = report_lines(options, inputs.judged.levels.tolist())
    end, refused = min(refusals(inputs, options), key=lambda refusal: refusal[0], default=(None, None))
    answered = inputs.graded.answered
    if options.is_old and not answered.any():
        raise RefusedError(NOTHING_SHARED, "no topic is both in the judgments and in the run")
    for line in lines:
        if line.family.reads not in ("any", options.reads):
            fitting = [f"-R {name}" for name, reads in FORMATS.items() if reads == line.family.reads]
            text = f"measure '{line.of}': needs {' or '.join(fitting)}, found -R {options.format}"
            raise RefusedError(CALCULATION, text, f"use -m {_GROUP_OF[options.reads]} for this format")
    positions = np.arange(answered.size) if options.scores_missing_topics else np.flatnonzero(answered)
    if end is not None:
        positions = positions[positions < end]
    topics = [text_of_id(inputs.graded.query_ids[i]) for i in positions.tolist()]
    values = _values_by_line(lines, inputs, options, positions)
    if zscores is not None:
        values = {line: zscores_of(zscores, line.name, topics, of_line) for line, of_line in values.items()}
    mark = "" if options.zscores is None else "Z"

    def value_text(line: Line, value: float) -> str:
        is_count = line.family.summary in ("sum", "topics") and not mark
        return str(int(value)) if is_count else f"{value:6.4f}"

    columns: list[tuple[str, list[str]]] = []
    for line in lines if options.by_query else ():
        if line.family.takes == "length":
            columns.append((f"{line.name:<22}", _grades_as_text(line, inputs, options, positions)))
        elif line.family.by_topic:
            columns.append((f"{mark}{line.name:<22}", [value_text(line, each) for each in values[line].tolist()]))
    for i, topic in enumerate(topics if columns else ()):
        yield "".join([f"{start}\t{topic}\t{texts[i]}\n" for start, texts in columns])
    if refused is not None:
        raise refused
    for line in lines if options.summary else ():
        if line.of == "runid":
            yield f"{line.name:<22}\tall\t{inputs.run_id}\n"
        elif line in values:
            summary = _summary_value(line, values[line], inputs, options)
            yield f"{mark}{line.name:<22}\tall\t{value_text(line, summary)}\n"


#: The group of all measures for each kind of judgments.
_GROUP_OF: Mapping[Reads, str] = {"grades": "all_trec", "judges": "qrels_jg", "preferences": "all_prefs"}


def _values_by_line(lines: list[Line], inputs: Inputs, options: Options, positions: Ints) -> dict[Line, Floats]:
    graded = inputs.graded
    measures = list(dict.fromkeys(line.measure for line in lines if line.measure is not None))
    raw = dict(zip(measures, _mean_of_judges(inputs, measures), strict=True))
    values = {}
    for line in lines:
        if line.measure is not None:
            of_line = _adapt(line, raw[line.measure], inputs, options)
            of_line = np.where(graded.answered, of_line, _unanswered(line, of_line, options))[positions]
            if line.family.summary == "geometric":
                of_line = np.log(np.maximum(of_line, LEAST_FACTOR))
            values[line] = of_line
    if inputs.preferences is not None:
        asked = {line.of: line for line in lines if line.family.reads == "preferences"}
        # By topic, indices of retrieved documents among the judged ones, by rank.
        hits: dict[bytes, Ints] = {}
        for i in positions.tolist():
            start, end = graded.hit_offsets[i : i + 2]
            hits[graded.query_ids[i]] = graded.hit_item[start:end] - inputs.judged.item_offsets[i]
        values |= {asked[name]: scores for name, scores in inputs.preferences.scores(asked, hits).items()}
    return values


def _mean_of_judges(inputs: Inputs, measures: Sequence[Measure]) -> Floats:
    """One row of scores by topic per measure."""
    if len(inputs.by_judge) == 1:
        return np.nan_to_num(raw_scores(inputs.graded, measures))
    place = {topic: i for i, topic in enumerate(inputs.graded.query_ids)}
    total, judges = np.zeros((len(measures), len(place))), np.zeros(len(place))
    for graded in inputs.by_judge:
        at = [place[topic] for topic in graded.query_ids]
        total[:, at] += np.nan_to_num(raw_scores(graded, measures))
        judges[at] += 1
    return np.asarray(total / judges)


def _adapt(line: Line, scores: Floats, inputs: Inputs, options: Options) -> Floats:
    """Apply behaviour of trec_eval that is not part of the measure."""
    if line.of == "rbp_resid":
        # trec_eval computes it only for lists with an unjudged document.
        return np.where(np.diff(inputs.graded.hit_offsets) == inputs.graded.retrieved, 0.0, scores)
    if line.of == "Rndcg":
        # This is the only effect of -l on it.
        return np.where(inputs.judged.recall_base(options.level, None) == 0, 0.0, scores)
    if line.of == "rbp" and line.given is not None:
        # Rescale gains from the topic's highest to the table's highest. The table has every given grade, even without
        # documents, and all grades up to the topic's highest.
        given, judged = _given_gains(_pairs(line.given)), inputs.judged
        factors = np.ones(len(judged.qrels.query_ids))
        for i, (start, end) in enumerate(pairwise(judged.item_offsets.tolist())):
            grades = set(judged.grade[start:end][judged.grade[start:end] >= 0].tolist())
            known = grades | set(range(int(max(grades, default=0)) + 1))
            highest = max((given.get(grade, grade) for grade in grades), default=1.0)
            factors[i] = max(1.0, highest) / max(1.0, *given.values(), *(known - given.keys()))
        return scores * factors
    if line.of == "yaap":
        relevant = inputs.judged.recall_base(options.level, None)
        return np.asarray(np.log((1 + scores * relevant) / (1 + relevant - scores * relevant)))
    return scores


def _unanswered(line: Line, scores: Floats, options: Options) -> Floats | float:
    """Return the score, with -c, of topics that are not in the run.

    trec_eval 10 scores a made-up list of one document and then undoes that, except for names with parameters.
    """
    if line.of in ("num_rel", "yaap"):
        return scores
    if line.given is not None and line.of == "utility":
        made_up = 0.0 if options.judged_only else getattr(line.measure, "b", 0.0) - getattr(line.measure, "d", 0.0)
        return scores + made_up
    if line.given is not None and line.of == "rbp_resid" and not options.judged_only:
        return 1.0
    return 0.0


def _grades_as_text(line: Line, inputs: Inputs, options: Options, topics: Ints) -> list[str]:
    """Return the grades of each topic's first documents as quoted text.

    0 to 9 are printed as such, higher grades as ``>``, unjudged documents as ``-``, and negative grades as ``.``.
    """
    graded, made_up = inputs.graded, "" if line.given is None or options.judged_only else "-"
    length = int(line.family.defaults[0] if line.given is None else leading_real(line.given))
    length = max(0, min(length, int(graded.retrieved[topics].max(initial=0))))
    characters = np.full((topics.size, length), _UNJUDGED, np.uint8)
    known = [(graded.hit_offsets, graded.hit_rank, np.where(graded.hit_grade > 9, _MORE, ord("0") + graded.hit_grade))]
    if graded.pooled is not None:
        offsets, ranks = graded.pooled
        known.append((offsets, ranks, np.full(ranks.size, _POOLED)))
    for offsets, ranks, codes in known:
        row, place = gather(offsets, topics)
        fits = ranks[place] <= length
        characters[row[fits], ranks[place][fits] - 1] = codes[place][fits]
    shown = zip(characters, graded.retrieved[topics].tolist(), graded.answered[topics].tolist(), strict=True)
    texts = (line.tobytes()[:count].decode() if is_answered else made_up for line, count, is_answered in shown)
    return [f"'{text}'" for text in texts]


def _summary_value(line: Line, values: Floats, inputs: Inputs, options: Options) -> float:
    count = inputs.graded.answered.size if options.complete else values.size
    # Sum in topic order without compensation, like trec_eval, so that rounding agrees.
    total = float(np.cumsum(values)[-1]) if values.size else 0.0
    if line.family.summary == "topics":
        return float(count)
    if line.of == "num_rel" and options.complete:
        return float(inputs.judged.recall_base(None, None).sum())  # trec_eval ignores -l here
    if line.family.summary == "sum":
        return total
    if line.family.summary == "geometric":
        missing = (count - values.size) * math.log(LEAST_FACTOR)
        return math.exp((total + missing) / count) if count else 0.0
    return total / count if count else 0.0
