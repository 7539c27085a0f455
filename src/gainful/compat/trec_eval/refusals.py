"""Topics that trec_eval cannot score, which ends its report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gainful.arrays import Bools
from gainful.compat.trec_eval.faults import CALCULATION, RefusedError
from gainful.compat.trec_eval.options import Options
from gainful.compat.trec_eval.reading import Inputs
from gainful.core import core, default_threads
from gainful.data.run import Run
from gainful.notation import printable
from gainful.progress import Progress


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
    ]
    return min(
        (refusal for refusal in found if refusal is not None), key=lambda refusal: refusal.position, default=None
    )


def _refusal(inputs: Inputs, position: int, text: str, hint: str) -> Refusal:
    topic = printable(inputs.graded.query_ids[position])
    return Refusal(position, RefusedError(CALCULATION, text.format(topic=topic), hint))


def _missing(inputs: Inputs, wanted: Bools) -> Refusal | None:
    missing = np.flatnonzero(wanted & ~inputs.graded.answered)
    if not missing.size:
        return None
    hint = "-c counts topics that are not in the run as 0, --compat 9.0.8 leaves them out"
    return _refusal(inputs, int(missing[0]), "result qid '{topic}' not found in qrels", hint)


def _repeated_in_run(inputs: Inputs) -> Refusal | None:
    if not inputs.graded.facts.duplicate_count:
        return None
    judged, options = inputs.judged, inputs.judged.policy.join_options()
    joined = core.join_text(
        inputs.run.data, judged.index, *options, False, False, default_threads(), Progress().cells, True
    )
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
