"""Judgments and runs read like trec_eval, which is more lenient than gainful elsewhere.

The core reads ordinary files directly. Files that it rejects, or that trec_eval reads differently, are first rewritten
as clean text. Also detects topics that trec_eval cannot score, which end its report.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

import numpy as np

from gainful.compat.trec_eval.trec_eval_options import (
    CALCULATION,
    FILE,
    Options,
    RefusedError,
    leading_real,
    leading_whole,
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
from gainful.kernel.arrays import Bytes
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress
from gainful.notation import NUMBER, count_of, printable, text_of_id

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
#: Scores beyond float64 are read as infinite, and still rank first.
_LARGEST = 1.7976931348623157e308
#: Bytes searched for comments at a time.
_STEP = 1 << 24


def lenient_rows(
    text: Text, form: str, noun: Literal["grade", "level", "score"], options: Options, notices: list[str]
) -> Iterator[tuple[list[bytes], float]]:
    """Yield the fields of every line with its number, parsed as far as C's atol (grades) or atof does.

    >>> text, notices = Text.of_view(b"q1 0 d1 2.7", "qrels"), []
    >>> list(lenient_rows(text, QRELS_LINE, "grade", Options(), notices))
    [([b'q1', b'0', b'd1', b'2.7'], 2)]
    >>> notices
    ["qrels: 1 grade not written as whole numbers, read as trec_eval does: '2.7' as 2"]
    """
    is_run, is_whole = noun == "score", noun == "grade"
    read: Callable[[str], float] = leading_whole if is_whole else leading_real
    count = len(form.split())
    cut = []
    for number, line in enumerate(text.data.tobytes().removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        fields = line.split()
        if not fields or (not options.is_old and fields[0].startswith(b"#")):
            continue
        # Anything may follow a run's tag.
        if len(fields) < count or (len(fields) > count and not is_run):
            expected = f"{'at least ' if is_run else ''}{count} fields, found {len(fields)}"
            message = f"{text.name}:{number}: expected {expected}\n    {printable(b' '.join(fields), 120)}"
            raise RefusedError(FILE, message, f"a line is `{form}`")
        written = fields[4 if is_run else -1].decode("latin-1")
        value = read(written)
        if not (_INTEGER if is_whole else NUMBER).fullmatch(written):
            cut.append(f"'{printable(written)}' as {value}")
        if math.isnan(value):
            found = f"found '{printable(written)}'"
            raise RefusedError(FILE, f"{text.name}:{number}: expected a number as {noun}, {found}")
        yield fields, value
    if cut:
        kind = "whole numbers" if is_whole else "numbers"
        how = f"not written as {kind}, read as trec_eval does: {cut[0]}"
        notices.append(f"{text.name}: {count_of(len(cut), noun)} {how}")


class Inputs(NamedTuple):
    """The judgments, the run joined with them, and notices about their reading.

    ``by_judge`` holds the run joined with the grades of each topic's first, second, ... judge; ``graded`` is the first.
    """

    judged: Judged
    run: Text
    notices: list[str]
    by_judge: list[GradedRun]
    preferences: Preferences | None

    @property
    def graded(self) -> GradedRun:
        return self.by_judge[0]

    @property
    def run_id(self) -> str:
        """The tag in the last line of the run."""
        step = 1 << 12
        while True:
            end = self.run.tail(step)
            is_whole = len(end) < step
            lines = end.split(b"\n")
            for line in reversed(lines if is_whole else lines[1:]):
                fields = line.split()
                if len(fields) > 5 and not fields[0].startswith(b"#"):
                    return text_of_id(fields[5])
            if is_whole:
                return ""
            step *= 16


def read_inputs(options: Options, ahead: ReadAhead | None) -> Inputs:
    """Read both files; ordinary text is read fast."""
    notices: list[str] = []
    preferences: Preferences | None = None
    ordinary = _ordinary_judgments(options, ahead) if options.reads == "grades" else None
    if ordinary is not None:
        by_judge = [ordinary]
    else:
        text = open_source(options.qrels)
        if options.reads == "grades":
            rows = lenient_rows(text, QRELS_LINE, "grade", options, notices)
            lines = [[b"%b %d" % (b" ".join(fields[:3]), grade) for fields, grade in rows]]
        else:
            judgments = _read_judgments(text, options, notices)
            lines = [[]]
            if options.reads == "preferences":
                preferences = Preferences(judgments)
                lines = [[b"%b 0 %b 1" % (topic, each) for topic, ids in preferences.documents.items() for each in ids]]
                judgments = []
            # Lines by each topic's first judge, second judge, and so on.
            for _, of_topic in groupby(judgments, key=lambda row: row.topic):
                for place, (_, of_judge) in enumerate(groupby(of_topic, key=lambda row: row.judge)):
                    lines += [[]] if place == len(lines) else []
                    lines[place] += [b"%b 0 %b %d" % (row.topic, row.document, row.level) for row in of_judge]
        sources = [Text.of_view(b"\n".join(each), text.name) for each in lines]
        by_judge = [Judged(Qrels.read(source, format="trec"), options.policy) for source in sources]
    for each in by_judge:
        # A run without shared topics is handled topic by topic.
        each.qrels = replace(each.qrels, is_part=True)
    judged = by_judge[0]
    run = ahead.runs()[0] if ahead is not None and ordinary is not None else None
    graded, text = _read_run(options, judged, run, notices)
    joined = [graded, *(_joined(other, text) for other in by_judge[1:])]
    if options.judged_only and preferences is None:
        joined = [each.condensed() for each in joined]
    return Inputs(judged, text, notices, joined, preferences)


def _read_judgments(text: Text, options: Options, notices: list[str]) -> list[Judgment]:
    """Read preferences, or the grades of several judges, in trec_eval's order."""
    has_parts = options.format == "prefs"
    form = "topic judge part document level" if has_parts else "topic judge document level"
    rows = lenient_rows(text, form, "grade" if options.reads == "judges" else "level", options, notices)
    parts = ((fields, fields[2] if has_parts else b"", level) for fields, level in rows)
    found = sorted(Judgment(fields[0], fields[1], part, fields[-2], level) for fields, part, level in parts)
    for one, other in pairwise(found):
        if one[:4] == other[:4]:
            topic, document, judge = (printable(each) for each in (one.topic, one.document, one.judge))
            message = f"{text.name}: topic '{topic}' has duplicate document '{document}' by judge '{judge}'"
            raise RefusedError(FILE, message)
    return found


def _ordinary_judgments(options: Options, ahead: ReadAhead | None) -> Judged | None:
    """Read the judgments with the core; return None if trec_eval reads them differently."""
    try:
        if ahead is not None:
            judged = ahead.judged()
        else:
            judged = Judged(Qrels.read(open_source(options.qrels), format="trec"), options.policy)
    except InputError:
        return None
    has_others = _has_odd_grades(judged.qrels) or (options.is_old and _has_comments(judged.qrels.data))
    return None if has_others else judged


def _read_run(options: Options, judged: Judged, run: RunSource | None, notices: list[str]) -> tuple[GradedRun, Text]:
    text = open_source(options.run) if run is None else run.value
    if not (options.is_old and _has_comments(text.data)):
        try:
            return _joined(judged, run or text), text
        except InputError:
            pass  # any error is reported below
    lines = []
    for fields, score in lenient_rows(text, RUN_LINE, "score", options, notices):
        finite = repr(min(max(score, -_LARGEST), _LARGEST)).encode()
        lines.append(b"%b Q0 %b 0 %b %b" % (fields[0], fields[2], finite, fields[5]))
    clean = Text.of_view(b"\n".join(lines), text.name)
    return _joined(judged, clean), clean


def _joined(judged: Judged, run: RunSource | Text) -> GradedRun:
    # Always read it as TREC text.
    source = run if isinstance(run, RunSource) else RunSource(run, Reading("trec"))
    return join(judged, source, judged.policy, threads=default_threads())


def _has_odd_grades(qrels: Qrels) -> bool:
    """Whether any grade is not written as an integer."""
    if np.any(qrels.grade != np.trunc(qrels.grade)):
        return True
    if not isinstance(qrels.origin, TextLines):
        return False
    # The shortest such grades, `1e1` and `1.0`, take at least five bytes with blank and line end.
    after_document = qrels.document_start + qrels.document_length
    line_end = np.append(qrels.origin.offset[1:], qrels.data.size + 1)
    long_enough = np.flatnonzero(line_end - after_document >= 5)
    for start, end in zip(after_document[long_enough].tolist(), line_end[long_enough].tolist(), strict=True):
        if not _INTEGER.fullmatch(qrels.data[start:end].tobytes().split(maxsplit=1)[0].decode("latin-1")):
            return True
    return False


def _has_comments(data: Bytes) -> bool:
    return data[:1].tobytes() == b"#" or any(
        b"\n#" in data[start : start + _STEP + 1].tobytes() for start in range(0, data.size, _STEP)
    )


def refusals(inputs: Inputs, options: Options) -> Iterator[tuple[int, RefusedError]]:
    """Yield the position of the first topic per problem that prevents scoring, with the error."""
    judged, answered, ids = inputs.judged, inputs.graded.answered, inputs.graded.query_ids
    needed = np.ones_like(answered) if options.scores_missing_topics else answered

    missing = np.flatnonzero(~answered)
    if missing.size and not options.is_old and not options.complete:
        # This is trec_eval's message, which confuses the two files.
        text = f"result qid '{printable(ids[missing[0]])}' not found in qrels"
        way_out = "-c counts topics that are not in the run as 0, --compat 9.0.8 leaves them out"
        yield int(missing[0]), RefusedError(CALCULATION, text, f"it is the run that lacks it: {way_out}")

    hint = "`gainful check` lists such documents"
    if inputs.graded.facts.duplicate_count:
        join_options = judged.policy.join_options(want_facts=True)
        joined = core.join_text(inputs.run.data, judged.index, join_options, default_threads(), Progress().cells)
        facts = joined["facts"]
        assert facts is not None  # they were asked for
        suspects = facts["query"][(facts["query"] >= 0) & (facts["duplicates"] > 0)]
        for position in sorted(suspects.tolist()):
            if _is_repeated_to_depth(inputs, ids[position]):
                text = f"the run has a document twice for topic '{printable(ids[position])}'"
                yield position, RefusedError(CALCULATION, text, hint)
                break

    rows = np.bincount(judged.qrels.query, minlength=needed.size)
    repeated = np.flatnonzero(needed & (rows != np.diff(judged.item_offsets)))
    if repeated.size:
        text = f"the judgments have a document twice for topic '{printable(ids[repeated[0]])}'"
        yield int(repeated[0]), RefusedError(CALCULATION, text, hint)

    judges = {} if inputs.preferences is None else inputs.preferences.judges
    for position in np.flatnonzero(needed).tolist():
        for judge in judges.get(ids[position], ()):
            problem = judge.contradiction()
            if problem is not None:
                text = f"topic '{printable(ids[position])}': judge '{printable(judge.name)}' {problem}"
                hint = "judges may contradict each other, but not themselves"
                yield position, RefusedError(CALCULATION, text, hint)
                return


def _is_repeated_to_depth(inputs: Inputs, topic: bytes) -> bool:
    """Whether a document occurs twice in the part of a list that counts."""
    depth = inputs.judged.policy.depth
    if depth is None:
        return True
    run = Run.read(inputs.run, format="trec").select([topic])
    score = run.score.astype(np.float32) if inputs.judged.policy.scores == "float32" else run.score
    ranked = sorted(((value, run.document(row)) for row, value in enumerate(score.tolist())), reverse=True)
    shown = [document for _, document in ranked[:depth]]
    return len(set(shown)) < len(shown)
