"""Credit chunks to the judged spans of text that they cover. IDs of both look like ``report.pdf[120:480]``."""

from __future__ import annotations

import re

import numpy as np

from gainful.data.judged import Judged
from gainful.data.run import Run
from gainful.errors import InputError, option
from gainful.frozen import replace
from gainful.io.rows import ids_of, packed
from gainful.kernel import core
from gainful.kernel.arrays import Floats
from gainful.notation import count_of, printable

_SPAN = re.compile(rb"(.+)\[(\d{1,18}):(\d{1,18})\]", re.DOTALL)
_HINT = "a span's id is its document with two positions, such as doc12[120:480]; build it from three columns with {}"


def credit_spans(run: Run, judged: Judged, least: float) -> tuple[Run, Floats]:
    """Return the run with judged spans in place of the chunks that cover them, and the share that each row covers.

    A chunk counts for one span of its query: the one of which it covers the largest share (of equal shares, the longest
    one), if that share is above 0 and at least ``least``. Any other chunk stays as it is, with a share of 1. Of chunks
    of a span with equal scores, the largest share counts, so that the order of the input does not matter.
    """
    spans = judged.cached("spans", lambda: _judged_spans(judged))
    ids, number = core.number_ids(*run.document_spans)
    chunks = [span_of(each) for each in ids]
    if ids and not any(chunks):
        raise _no_span(run.name, ids[0])
    documents, share = [ids[at] for at in number.tolist()], np.ones(len(run))
    scores = run.score.tolist() if run.has_scores else range(len(run))
    tied: dict[tuple[int, bytes, float], list[int]] = {}
    for row, (query, at) in enumerate(zip(run.query_of_rows.tolist(), number.tolist(), strict=True)):
        if chunk := chunks[at]:
            document, start, end = chunk
            of_document = spans.get((run.query_ids[query], document), ())
            covers = [((min(end, z) - max(start, a)) / (z - a), z - a, each) for a, z, each in of_document]
            covered, _, best = max(covers, default=(0.0, 0, b""))
            if covered > 0 and covered >= least:
                share[row], documents[row] = covered, best
                tied.setdefault((query, best, scores[row]), []).append(row)
    for rows in tied.values():
        share[rows] = share[rows].max()
    notes, lacking = run.notes, chunks.count(None)
    if lacking:
        shown = printable(ids[chunks.index(None)])
        notes += (f"{run.name}: {lacking:,} of {count_of(len(ids), 'id')} without positions, such as '{shown}'",)
    data, start_of, length = packed(documents, lambda row: f"{run.name}: row {row}")
    return replace(run, data=data, document_start=start_of, document_length=length, notes=notes), share


def _judged_spans(judged: Judged) -> dict[tuple[bytes, bytes], list[tuple[int, int, bytes]]]:
    """The judged spans by query and document: start, end and id of each."""
    qrels = judged.qrels
    spans: dict[tuple[bytes, bytes], list[tuple[int, int, bytes]]] = {}
    for query, identifier in zip(qrels.query.tolist(), ids_of(qrels.document_spans), strict=True):
        if span := span_of(identifier):
            document, start, end = span
            spans.setdefault((qrels.query_ids[query], document), []).append((start, end, identifier))
    if not spans:
        raise _no_span(qrels.name, ids_of(qrels.document_spans)[0])
    return spans


def span_of(identifier: bytes) -> tuple[bytes, int, int] | None:
    """Return the document, start and end of a span; None if the ID has no positions, or they are empty."""
    found = _SPAN.fullmatch(identifier)
    return (found[1], start, end) if found and (start := int(found[2])) < (end := int(found[3])) else None


def _no_span(name: str, example: bytes) -> InputError:
    columns = option("columns", {"document": "doc[start:end]"})
    return InputError(f"{name}: no id has positions, such as '{printable(example)}'", _HINT.format(columns))
