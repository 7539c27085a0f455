"""Judgments and a run as trec_eval reads them, which is more lenient than we are otherwise.

Ordinary files go straight through the core. What it refuses, and what trec_eval reads in another way, is first written
anew as clean text.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gainful.ahead import ReadAhead, ReadRun
from gainful.compat.trec_eval.faults import FILE, RefusedError
from gainful.compat.trec_eval.options import Options
from gainful.core import default_threads
from gainful.errors import InputError
from gainful.notation import text_of_id
from gainful.policy import Policy
from gainful.progress import Progress

if TYPE_CHECKING:
    from gainful.arrays import Bytes
    from gainful.data.graded import GradedRun
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.io.sources import Text

_STEP = 1 << 24
_INTEGER = re.compile(rb"[+-]?\d+")


class Inputs(NamedTuple):
    """What was read: the judgments, the run that has met them, and what is to be said about their reading."""

    judged: Judged
    graded: GradedRun
    run: Text
    notices: tuple[str, ...]

    @property
    def run_id(self) -> str:
        """The tag in the last line of the run."""
        return _last_tag(self.run.data)


def policy_of(options: Options) -> Policy:
    """The conventions of the version. What is an error there is looked for later, topic by topic."""
    dialect = "trec_eval-9" if options.is_old else "trec_eval-10"
    return Policy.like(dialect, depth=options.depth, missing="zero", duplicates="first", judges="max")


def start_reading(options: Options) -> ReadAhead | None:
    """Starts to read plain files on the core's threads; None where there is something else to read."""
    for path in (options.qrels, options.run):
        if path == "-" and (options.is_old or path == options.qrels):
            raise RefusedError(FILE, "-: standard input can only be the run, and not in trec_eval 9.0.8")
        if path != "-" and not os.path.exists(path):
            raise RefusedError(FILE, f"{path}: no such file")
    if options.run == "-":
        return None
    policy = policy_of(options)
    return ReadAhead.start(options.qrels, [options.run], policy, default_threads(), Progress(), lambda *_: True)


def read_inputs(options: Options, ahead: ReadAhead | None) -> Inputs:
    """Reads both files, ordinary text fast and anything else slowly."""
    notices: list[str] = []
    judged = _ordinary_judgments(options, ahead)
    run = ahead.runs()[0] if ahead is not None and judged is not None else None
    if judged is None:
        judged = _cleaned_judgments(options, notices)
    # A run may share no topic with the judgments: what becomes of that is decided topic by topic.
    judged.qrels = replace(judged.qrels, is_part=True)
    graded, text = _read_run(options, judged, run, notices)
    return Inputs(judged, graded.condensed() if options.judged_only else graded, text, tuple(notices))


def _ordinary_judgments(options: Options, ahead: ReadAhead | None) -> Judged | None:
    """The judgments as the core reads them, if trec_eval reads the same in them."""
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.io.sources import open_source

    policy = policy_of(options)
    try:
        if ahead is not None:
            judged = ahead.judged(policy, None)
        else:
            judged = Judged(Qrels.read(open_source(options.qrels), format="trec"), policy)
    except InputError:
        return None
    has_others = _has_odd_grades(judged.qrels) or (options.is_old and _has_comments(judged.qrels.data))
    return None if has_others else judged


def _cleaned_judgments(options: Options, notices: list[str]) -> Judged:
    from gainful.compat.trec_eval.cleaning import clean_judgments
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.io.sources import Text, open_source

    text = open_source(options.qrels)
    cleaned = clean_judgments(text.data.tobytes(), text.name, comments=not options.is_old)
    notices += cleaned.notices
    return Judged(Qrels.read(Text.of_view(cleaned.text, text.name), format="trec"), policy_of(options))


def _read_run(options: Options, judged: Judged, run: ReadRun | None, notices: list[str]) -> tuple[GradedRun, Text]:
    from gainful.compat.trec_eval.cleaning import clean_run
    from gainful.io.sources import Text, open_source

    text = open_source(options.run) if run is None else run.text
    if not (options.is_old and _has_comments(text.data)):
        try:
            return _joined(judged, run or text), text
        except InputError:
            pass  # what is wrong with it, if anything, is found out below
    cleaned = clean_run(text.data.tobytes(), text.name, comments=not options.is_old)
    notices += cleaned.notices
    clean = Text.of_view(cleaned.text, text.name)
    return _joined(judged, clean), clean


def _joined(judged: Judged, run: ReadRun | Text) -> GradedRun:
    from gainful.data.graded import join
    from gainful.io.rows import Reading, RunFile

    # Whatever it looks like, it is read as TREC text.
    source = run if isinstance(run, ReadRun) else RunFile(run, Reading("trec"))
    return join(judged, source, judged.policy, threads=default_threads())


def _has_odd_grades(qrels: Qrels) -> bool:
    """Whether there is a grade that is not written as a whole number."""
    import numpy as np

    from gainful.io.origin import TextLines

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


def _last_tag(data: Bytes) -> str:
    step = 1 << 12
    while True:
        start = max(0, data.size - step)
        lines = data[start:].tobytes().split(b"\n")
        for line in reversed(lines if start == 0 else lines[1:]):
            fields = line.split()
            if len(fields) > 5 and not fields[0].startswith(b"#"):
                return text_of_id(fields[5])
        if start == 0:
            return ""
        step *= 16
