"""Judgments and a run as trec_eval reads them, which is more lenient than we are otherwise.

Ordinary files go straight through the core. What it refuses, and what trec_eval reads in another way, is first written
anew as clean text. And the topics that trec_eval cannot score, which ends its report.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from gainful.compat.trec_eval.trec_eval_options import (
    CALCULATION,
    FILE,
    Options,
    RefusedError,
    leading_real,
    leading_whole,
    policy_of,
)
from gainful.compat.trec_eval.trec_eval_preferences import Judgment, Preferences
from gainful.data.collection import ReadAhead
from gainful.data.graded import GradedRun, join
from gainful.data.judged import Judged
from gainful.data.qrels import Qrels
from gainful.data.run import Run, RunSource
from gainful.errors import InputError
from gainful.io.formats import Reading
from gainful.io.rows import QRELS_LINE, RUN_LINE, TextLines
from gainful.io.sources import Text, open_source
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Bytes
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.notation import NUMBER, count_of, printable, text_of_id

_INTEGER = re.compile(rb"[+-]?\d+")
_NUMBER = re.compile(NUMBER.pattern.encode())
#: Larger scores than a float64 holds are read as infinite, and stand before all others all the same.
_LARGEST = 1.7976931348623157e308


class Cleaned(NamedTuple):
    """A text that the core can read, and what was done to it."""

    text: bytes
    notices: list[str]


def clean_judgments(data: bytes, name: str, *, comments: bool) -> Cleaned:
    """Judgments with whole grades: of others as much counts as C's atol reads.

    >>> clean_judgments(b"q1 0 d1 2.7", "qrels", comments=True).text
    b'q1 0 d1 2'
    """
    lines, cut = [], []
    for number, fields in _rows(data, comments):
        if len(fields) != 4:
            raise _malformed(name, number, "4", fields, QRELS_LINE)
        grade = fields[3].decode("latin-1")
        if not _INTEGER.fullmatch(fields[3]):
            cut.append(f"'{printable(grade)}' as {leading_whole(grade)}")
        lines.append(b" ".join((*fields[:3], b"%d" % leading_whole(grade))))
    return Cleaned(b"\n".join(lines), _notice(name, cut, "grade"))


def clean_run(data: bytes, name: str, *, comments: bool) -> Cleaned:
    """A run of six columns: what follows the tag is left out, and of a score as much counts as C's atof reads."""
    lines, cut = [], []
    for number, fields in _rows(data, comments):
        if len(fields) < 6:
            raise _malformed(name, number, "at least 6", fields, RUN_LINE)
        text = fields[4].decode("latin-1")
        if not NUMBER.fullmatch(text):
            cut.append(f"'{printable(text)}' as {leading_real(text)}")
        score = leading_real(text)
        if math.isnan(score):
            raise RefusedError(FILE, f"{name}:{number}: expected a number as score, found '{printable(text)}'")
        score = min(max(score, -_LARGEST), _LARGEST)
        lines.append(b" ".join((fields[0], b"Q0", fields[2], b"0", repr(score).encode(), fields[5])))
    return Cleaned(b"\n".join(lines), _notice(name, cut, "score"))


def _rows(data: bytes, comments: bool) -> Iterator[tuple[int, list[bytes]]]:
    """The lines that say something, with their numbers."""
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        fields = line.split()
        if fields and not (comments and fields[0].startswith(b"#")):
            yield number, fields


def _malformed(name: str, number: int, expected: str, fields: list[bytes], form: str) -> RefusedError:
    text = f"{name}:{number}: expected {expected} fields, found {len(fields)}\n    {printable(b' '.join(fields), 120)}"
    return RefusedError(FILE, text, f"a line is `{form}`")


def _notice(name: str, cut: list[str], noun: str) -> list[str]:
    if not cut:
        return []
    what = "whole numbers" if noun == "grade" else "numbers"
    return [f"{name}: {count_of(len(cut), noun)} not written as {what}, read as trec_eval does: {cut[0]}"]


#: So many bytes are looked at in one go.
_STEP = 1 << 24


class Inputs(NamedTuple):
    """What was read: the judgments, the run that has met them, and what is to be said about their reading."""

    judged: Judged
    graded: GradedRun
    run: Text
    notices: tuple[str, ...]
    #: The run by what each topic's first, second, ... judge says; ``graded`` alone where there is one.
    by_judge: tuple[GradedRun, ...]
    preferences: Preferences | None = None

    @property
    def run_id(self) -> str:
        """The tag in the last line of the run."""
        return _last_tag(self.run)


def read_inputs(options: Options, ahead: ReadAhead | None) -> Inputs:
    """Reads both files, ordinary text fast and anything else slowly."""
    notices: list[str] = []
    ordinary = _ordinary_judgments(options, ahead) if options.reads == "grades" else None
    run = ahead.runs()[0] if ahead is not None and ordinary is not None else None
    preferences: Preferences | None = None
    if ordinary is not None:
        by_place = [ordinary]
    elif options.reads == "grades":
        by_place = [_cleaned_judgments(options, notices)]
    else:
        preferences, by_place = _judgments_of_several(options, notices)
    for each in by_place:
        # A run may share no topic with the judgments: what becomes of that is decided topic by topic.
        each.qrels = replace(each.qrels, is_part=True)
    judged, *others = by_place
    graded, text = _read_run(options, judged, run, notices)
    by_judge = [graded, *(_joined(other, text) for other in others)]
    if options.judged_only and preferences is None:
        by_judge = [each.condensed() for each in by_judge]
    return Inputs(judged, by_judge[0], text, tuple(notices), tuple(by_judge), preferences)


def _judgments_of_several(options: Options, notices: list[str]) -> tuple[Preferences | None, list[Judged]]:
    """What all judges prefer, and where their documents are to be found; or for each place the judges in it."""
    text = open_source(options.qrels)
    rows = read_judgments(text.data.tobytes(), text.name, options, notices)
    if options.reads == "preferences":
        preferences = Preferences(rows)
        found = [b"%b 0 %b 1" % (topic, each) for topic, ids in preferences.documents.items() for each in ids]
        return preferences, [_judged(found, text.name, options)]
    lines: list[list[bytes]] = []
    for _, of_topic in groupby(rows, key=lambda row: row.topic):
        for place, (_, of_judge) in enumerate(groupby(of_topic, key=lambda row: row.judge)):
            if place == len(lines):
                lines.append([])
            lines[place] += [b"%b 0 %b %d" % (row.topic, row.document, row.level) for row in of_judge]
    return None, [_judged(each, text.name, options) for each in lines or [[]]]


def read_judgments(data: bytes, name: str, options: Options, notices: list[str]) -> list[Judgment]:
    """Judgments of preferences or by several judges, in trec_eval's order."""
    has_parts, is_whole = options.format == "prefs", options.reads == "judges"
    form = "topic judge part document level" if has_parts else "topic judge document level"
    read: Callable[[str], float] = leading_whole if is_whole else leading_real
    pattern, cut, found = _INTEGER if is_whole else _NUMBER, [], []
    for number, fields in _rows(data, comments=not options.is_old):
        if len(fields) != 4 + has_parts:
            raise _malformed(name, number, str(4 + has_parts), fields, form)
        level = fields[-1].decode("latin-1")
        if not pattern.fullmatch(fields[-1]):
            cut.append(f"'{printable(level)}' as {read(level)}")
        if math.isnan(read(level)):
            raise RefusedError(FILE, f"{name}:{number}: expected a number as level, found '{printable(level)}'")
        found.append(Judgment(fields[0], fields[1], fields[2] if has_parts else b"", fields[-2], read(level)))
    notices += _notice(name, cut, "grade" if is_whole else "level")
    found.sort()
    for one, other in pairwise(found):
        if one[:4] == other[:4]:
            text = f"{name}: topic '{printable(one.topic)}' has document '{printable(one.document)}' twice"
            raise RefusedError(FILE, f"{text} from judge '{printable(one.judge)}'")
    return found


def _ordinary_judgments(options: Options, ahead: ReadAhead | None) -> Judged | None:
    """The judgments as the core reads them, if trec_eval reads the same in them."""
    policy = policy_of(options)
    try:
        if ahead is not None:
            judged = ahead.judged()
        else:
            judged = Judged(Qrels.read(open_source(options.qrels), format="trec"), policy)
    except InputError:
        return None
    has_others = _has_odd_grades(judged.qrels) or (options.is_old and _has_comments(judged.qrels.data))
    return None if has_others else judged


def _cleaned_judgments(options: Options, notices: list[str]) -> Judged:
    text = open_source(options.qrels)
    cleaned = clean_judgments(text.data.tobytes(), text.name, comments=not options.is_old)
    notices += cleaned.notices
    return _judged([cleaned.text], text.name, options)


def _judged(lines: list[bytes], name: str, options: Options) -> Judged:
    return Judged(Qrels.read(Text.of_view(b"\n".join(lines), name), format="trec"), policy_of(options))


def _read_run(options: Options, judged: Judged, run: RunSource | None, notices: list[str]) -> tuple[GradedRun, Text]:
    text = open_source(options.run) if run is None else run.value
    if not (options.is_old and _has_comments(text.data)):
        try:
            return _joined(judged, run or text), text
        except InputError:
            pass  # what is wrong with it, if anything, is found out below
    cleaned = clean_run(text.data.tobytes(), text.name, comments=not options.is_old)
    notices += cleaned.notices
    clean = Text.of_view(cleaned.text, text.name)
    return _joined(judged, clean), clean


def _joined(judged: Judged, run: RunSource | Text) -> GradedRun:
    # Whatever it looks like, it is read as TREC text.
    source = run if isinstance(run, RunSource) else RunSource(run, Reading("trec"))
    return join(judged, source, judged.policy, threads=default_threads())


def _has_odd_grades(qrels: Qrels) -> bool:
    """Whether there is a grade that is not written as a whole number."""
    if np.any(qrels.grade != np.trunc(qrels.grade)):
        return True
    if not isinstance(qrels.origin, TextLines):
        return False
    # The shortest of them would be like `1e1` or `1.0`: with blank and line end no shorter than five bytes.
    after_document = qrels.document_start + qrels.document_length
    line_end = np.append(qrels.origin.offset[1:], qrels.data.size + 1)
    long_enough = np.flatnonzero(line_end - after_document >= 5)
    for start, end in zip(after_document[long_enough].tolist(), line_end[long_enough].tolist(), strict=True):
        if not _INTEGER.fullmatch(qrels.data[start:end].tobytes().split(maxsplit=1)[0]):
            return True
    return False


def _has_comments(data: Bytes) -> bool:
    """Whether a line begins with ``#``."""
    return data[:1].tobytes() == b"#" or any(
        b"\n#" in data[start : start + _STEP + 1].tobytes() for start in range(0, data.size, _STEP)
    )


def _last_tag(run: Text) -> str:
    step = 1 << 12
    while True:
        end = run.tail(step)
        is_whole = len(end) < step
        lines = end.split(b"\n")
        for line in reversed(lines if is_whole else lines[1:]):
            fields = line.split()
            if len(fields) > 5 and not fields[0].startswith(b"#"):
                return text_of_id(fields[5])
        if is_whole:
            return ""
        step *= 16


class Refusal(NamedTuple):
    """The first topic that cannot be scored, by its place among the judged ones, and why."""

    position: int
    error: RefusedError


def first_refusal(inputs: Inputs, options: Options) -> Refusal | None:
    """What ends the report early, if anything does."""
    answered = inputs.graded.answered
    needed = np.ones_like(answered) if options.complete and not options.is_old else answered
    found = [
        _missing(inputs, answered if options.is_old or options.complete else np.ones_like(answered)),
        _repeated_in_run(inputs),
        _repeated_in_judgments(inputs, needed),
        _contradictory(inputs, needed),
    ]
    return min(filter(None, found), key=lambda refusal: refusal.position, default=None)


def _refusal(inputs: Inputs, position: int, text: str, hint: str) -> Refusal:
    topic = printable(inputs.graded.query_ids[position])
    return Refusal(position, RefusedError(CALCULATION, text.format(topic=topic), hint))


def _missing(inputs: Inputs, wanted: Bools) -> Refusal | None:
    missing = np.flatnonzero(wanted & ~inputs.graded.answered)
    if not missing.size:
        return None
    # The message is trec_eval's own; it has the two files the wrong way round.
    hint = "it is the run that lacks it: -c counts topics that are not in the run as 0, --compat 9.0.8 leaves them out"
    return _refusal(inputs, int(missing[0]), "result qid '{topic}' not found in qrels", hint)


def _repeated_in_run(inputs: Inputs) -> Refusal | None:
    if not inputs.graded.facts.duplicate_count:
        return None
    judged, options = inputs.judged, inputs.judged.policy.join_options(want_facts=True)
    joined = core.join_text(inputs.run.data, judged.index, options, default_threads(), Progress().cells)
    facts = joined["facts"]
    if facts is None:
        return None
    suspects = sorted(facts["query"][(facts["query"] >= 0) & (facts["duplicates"] > 0)].tolist())
    for position in suspects:
        if _is_repeated_to_depth(inputs, position):
            text = "the run has a document twice for topic '{topic}'"
            return _refusal(inputs, position, text, "`gainful check` lists such documents")
    return None


def _is_repeated_to_depth(inputs: Inputs, position: int) -> bool:
    """Whether a document stands twice in the part of a list that counts."""
    depth = inputs.judged.policy.depth
    if depth is None:
        return True
    run = Run.read(inputs.run, format="trec").select([inputs.graded.query_ids[position]])
    score = run.score.astype(np.float32) if inputs.judged.policy.scores == "float32" else run.score
    ranked = sorted(((value, run.document(row)) for row, value in enumerate(score.tolist())), reverse=True)
    shown = [document for _, document in ranked[:depth]]
    return len(set(shown)) < len(shown)


def _repeated_in_judgments(inputs: Inputs, needed: Bools) -> Refusal | None:
    judged = inputs.judged
    rows = np.bincount(judged.qrels.query, minlength=needed.size)
    repeated = np.flatnonzero(needed & (rows != np.diff(judged.item_offsets)))
    if not repeated.size:
        return None
    text = "the judgments have a document twice for topic '{topic}'"
    return _refusal(inputs, int(repeated[0]), text, "`gainful check` lists such documents")


def _contradictory(inputs: Inputs, needed: Bools) -> Refusal | None:
    if inputs.preferences is None:
        return None
    for position in np.flatnonzero(needed).tolist():
        for judge in inputs.preferences.judges[inputs.graded.query_ids[position]]:
            problem = judge.contradiction()
            if problem is not None:
                text = f"topic '{{topic}}': judge '{printable(judge.name)}' {problem}"
                return _refusal(inputs, position, text, "judges may contradict each other, but not themselves")
    return None
