"""What may be wrong with the lists of one run: their documents, scores and ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gainful.kernel.arrays import Bools, Ints
from gainful.notation import number_text
from gainful.tasks.check.check_findings import (
    TOP,
    Example,
    Finding,
    InspectedRun,
    Row,
    Severity,
    at_judgment,
    at_query,
    at_row,
    shown_id,
)
from gainful.tasks.check.id_checks import extra_queries, missing_queries, unmatched_documents, unmatched_queries

#: Shares from which on something is worth a warning, or worth saying at all.
_MANY_TIES, _SOME_TIES = 0.05, 0.01
_MANY_SHORT, _SHORT = 0.1, 0.5
_MANY_SELF = 0.05
_MANY_UNJUDGED, _SOME_UNJUDGED = 0.5, 0.2
#: A usual list of fewer documents than this is short itself.
_USUAL = 4
#: So many documents hardly come in rising order of scores by chance; where ranks say so, too, together in lists of at
#: least the second.
_TELLING, _TELLING_RANKED = 5, 3
#: The share of such lists from which on the scores of a run are the wrong way round.
_MOST = 0.8
#: How many documents of a list show whether they have names or numbers.
_NUMBERED = 20


def repeated_documents(run: InspectedRun) -> Iterator[Finding]:
    """A document more than once in a list."""
    repeats = run.lists["duplicates"]
    if not repeats.any():
        return
    later, first = run.rows_at(repeats > 0, "duplicate_at", "duplicate_of")
    detail = " again" + (f" (first: {first.place})" if first.place else "")
    severity: Severity = "serious"
    consequence = "gainful eval refuses the run."
    if run.policy.duplicates == "first":
        severity, consequence = "note", "duplicates=first keeps the best ranked of them."
    remedy = "Remove the repeats, or let --duplicates first keep the best ranked."
    total = int(run.lists["rows"].sum())
    yield Finding(
        "repeated-documents", severity, run.name, int(repeats.sum()), total, at_row(later, detail), consequence, remedy
    )


def reversed_scores(run: InspectedRun) -> Iterator[Finding]:
    """The best ranked documents have the lowest scores."""
    lists = _upside_down(run)
    if not lists.any():
        return
    if np.all(run.lists["conflict_at"][lists] >= 0):
        row, other = run.rows_at(lists, "conflict_at", "conflict_with")
        example = at_row(row, f", {_ranked(row)}, {_ranked(other)}")
        severity: Severity = "serious"
        remedy = "Negate the scores, or use --order rank."
    else:
        # Only the order of the file says so, which need not mean anything.
        row = run.rows_at(lists, "first")[0]
        example = at_row(row, f" comes first with score {row.score}")
        severity, remedy = "warning", "If the best were meant to come first, negate the scores, or use --order input."
    consequence = "The lower the score the better the place, as with distances: order=score turns lists upside down."
    count, total = int(np.count_nonzero(lists)), int(np.count_nonzero(_with_different_scores(run)))
    yield Finding("reversed-scores", severity, run.name, count, total, example, consequence, remedy)


def constant_scores(run: InspectedRun) -> Iterator[Finding]:
    """Lists whose documents all have the same score."""
    constant, several = run.counts & (run.lists["constant"] > 0), run.counts & (_distinct(run) > 1)
    if not run.by_score or not constant.any():
        return
    count, total = int(np.count_nonzero(constant)), int(np.count_nonzero(several))
    row = run.rows_at(constant, "tied_at")[0]
    severity: Severity = "serious" if count == total else "warning"
    consequence = f"Nothing but ties={run.policy.ties} orders these lists: their scores are those of chance."
    remedy = "Write the scores that ranked them; --order rank or input takes the order from elsewhere."
    example = at_row(row, f", score {row.score} as all others")
    yield Finding("constant-scores", severity, run.name, count, total, example, consequence, remedy)


def rank_conflicts(run: InspectedRun) -> Iterator[Finding]:
    """The rank column says otherwise than the scores."""
    conflicts = np.where(run.counts, run.lists["rank_conflicts"], 0)
    conflicts = np.where(_upside_down(run), 0, conflicts)
    if not run.has_scores or not conflicts.any():
        return
    row, other = run.rows_at(conflicts > 0, "conflict_at", "conflict_with")
    detail = f", {_ranked(row)}, {_ranked(other)}"
    severity: Severity = "warning"
    consequence = "order=score goes by the scores, as trec_eval does, not by the ranks."
    if not run.by_score:
        severity, consequence = "note", f"order={run.policy.order} does not go by the scores."
    remedy = "See which of them the system meant: --order rank goes by the ranks."
    count = int(conflicts.sum())
    yield Finding("rank-conflicts", severity, run.name, count, run.total(), at_row(row, detail), consequence, remedy)


def tied_documents(run: InspectedRun) -> Iterator[Finding]:
    """Documents with the score of another, where not all have the same."""
    lists = run.counts & (run.lists["constant"] == 0) & (run.lists["tied"] > 0)
    count, total = int(run.lists["tied"][lists].sum()), run.total()
    if not run.by_score or count <= _SOME_TIES * total:
        return
    row, other = run.rows_at(lists, "tied_at", "tied_with")
    severity: Severity = "warning" if count > _MANY_TIES * total else "note"
    consequence = f"ties={run.policy.ties} orders them; a tool that does it otherwise prints other numbers."
    remedy = "Write scores with more digits; --ties chooses what breaks ties."
    example = at_row(row, f" and {shown_id(other.document)}")
    yield Finding("tied-documents", severity, run.name, count, total, example, consequence, remedy)


def float32_ties(run: InspectedRun) -> Iterator[Finding]:
    """Documents whose scores only 64 bits tell apart."""
    lists = run.counts & (run.lists["float32_tied"] > 0)
    count, total = int(run.lists["float32_tied"][lists].sum()), run.total()
    if not run.by_score or not count:
        return
    row, other = run.rows_at(lists, "float32_at", "float32_with")
    severity: Severity = "warning" if count > _MANY_TIES * total else "note"
    consequence = "trec_eval 9 reads scores as 32-bit numbers, for which these are ties: its numbers may differ."
    if run.policy.scores == "float32":
        consequence = f"scores=float32 makes ties of them, which ties={run.policy.ties} orders."
    remedy = "--like trec_eval-9 does as that tool does; scores further apart avoid it."
    example = at_row(row, f" and {shown_id(other.document)}")
    yield Finding("float32-ties", severity, run.name, count, total, example, consequence, remedy)


def rank_column(run: InspectedRun) -> Iterator[Finding]:
    """Ranks that are not numbers, do not start at 1, or are not consecutive."""
    lists, distinct = run.lists, _distinct(run)
    ranked = run.counts & np.isfinite(lists["lowest_rank"])
    if not ranked.any():
        return
    count_ranked = distinct - lists["unranked"]
    uneven = ranked & (lists["duplicates"] == 0) & (lists["highest_rank"] - lists["lowest_rank"] + 1 != count_ranked)
    not_from_one = ranked & (lists["lowest_rank"] != 1)
    for check, concerned in (("ranks-not-from-1", not_from_one), ("uneven-ranks", uneven)):
        if not concerned.any():
            continue
        first = int(np.flatnonzero(concerned)[0])
        bounds = number_text(lists["lowest_rank"][first]), number_text(lists["highest_rank"][first])
        detail = f": ranks {bounds[0]} to {bounds[1]} for {distinct[first]:,} documents"
        example = at_query(lists["query_ids"][first], detail)
        consequence = "No matter here, where ranks decide nothing; tools that read them may be misled."
        if run.policy.needs_rank:
            consequence = "Only the order of ranks matters here; equal ones are broken by the ids of documents."
        remedy = "Number the documents of every list 1, 2, 3 and so on."
        count, total = int(np.count_nonzero(concerned)), int(np.count_nonzero(ranked))
        yield Finding(check, "note", run.name, count, total, example, consequence, remedy)


def self_hits(run: InspectedRun) -> Iterator[Finding]:
    """Lists that hold a document with the id of their query."""
    lists = run.counts & (run.lists["self_rank"] > 0)
    lists[[i for i in np.flatnonzero(lists).tolist() if _is_numbered(run, i)]] = False
    count, total = int(np.count_nonzero(lists)), int(np.count_nonzero(run.counts))
    if not count:
        return
    row = run.rows_at(lists, "self_at")[0]
    severity: Severity = "warning" if count > _MANY_SELF * total else "note"
    consequence = "A query that is a document of the collection finds itself, which is no achievement."
    remedy = "Leave it out of its own list, if ids of queries and documents mean the same things."
    yield Finding("self-hits", severity, run.name, count, total, at_row(row), consequence, remedy)


def empty_lists(run: InspectedRun) -> Iterator[Finding]:
    """Queries that are answered with nothing."""
    empty = run.counts & (run.lists["rows"] == 0)
    if not empty.any():
        return
    count, total = int(np.count_nonzero(empty)), int(np.count_nonzero(run.counts))
    severity: Severity = "serious" if count == total else "warning"
    consequence = "They score 0, whatever --missing says: an empty answer is an answer."
    remedy = "Right if the system found nothing; else see whether its results were lost."
    example = at_query(run.lists["query_ids"][int(np.argmax(empty))])
    yield Finding("empty-lists", severity, run.name, count, total, example, consequence, remedy)


def short_lists(run: InspectedRun) -> Iterator[Finding]:
    """Lists much shorter than the run's usual one."""
    short = run.counts & (run.lists["rows"] > 0) & (run.lists["retrieved"] < _SHORT * run.usual_depth)
    if run.usual_depth < _USUAL or not short.any():
        return
    count, total = int(np.count_nonzero(short)), int(np.count_nonzero(run.counts))
    shortest = int(np.argmin(np.where(short, run.lists["retrieved"], np.iinfo(np.int64).max)))
    detail = f": {run.lists['retrieved'][shortest]:,} documents, usually {run.usual_depth:,}"
    severity: Severity = "warning" if count > _MANY_SHORT * total else "note"
    consequence = "What is not retrieved counts as not found, in recall and average precision above all."
    remedy = "Right if the system found no more; else see whether the run was cut or is incomplete."
    example = at_query(run.lists["query_ids"][shortest], detail)
    yield Finding("short-lists", severity, run.name, count, total, example, consequence, remedy)


def unjudged_documents(run: InspectedRun) -> Iterator[Finding]:
    """Unjudged documents in the top 10, where they are many."""
    if not run.hits or run.unjudged <= _SOME_UNJUDGED * run.shown:
        return
    # Where fewer than ten documents a query are judged, most of the first ten cannot be.
    sparse = is_sparse(run)
    severity: Severity = "warning" if run.unjudged > _MANY_UNJUDGED * run.shown and not sparse else "note"
    each = len(run.judged.qrels) / len(run.judged.qrels.query_ids)
    consequence = "They count as not relevant, which may be wrong: the run may be better than its scores."
    if sparse:
        consequence = f"With {each:.1f} judgments a query that must be so; relevant documents may be among them."
    remedy = "Judge them, or look at --unjudged condensed and the measure Judged@10 beside the scores."
    example = _unjudged_example(run)
    yield Finding("unjudged-top-10", severity, run.name, run.unjudged, run.shown, example, consequence, remedy)


def _unjudged_example(run: InspectedRun) -> Example:
    lists = run.lists["unjudged_at"] >= 0
    if lists.any():
        return at_row(run.rows_at(lists, "unjudged_at")[0])
    # All have a judgment, but negative=unjudged says that some count as none.
    grade = run.judged.grade[run.joined["hit_item"]]
    item = run.joined["hit_item"][int(np.argmax(np.isnan(grade) & (run.joined["hit_rank"] <= TOP)))]
    return at_judgment(run.judged.qrels, int(np.argmax(run.judged.item == item)))


def is_sparse(run: InspectedRun) -> bool:
    """Whether fewer than ten documents a query are judged."""
    return len(run.judged.qrels) < TOP * len(run.judged.qrels.query_ids)


def _is_numbered(run: InspectedRun, one: int) -> bool:
    """Whether the documents of a list that holds its query's id are called by their places in it, as are those of
    LETOR lines without names: such an id is nobody's name."""
    identifier = run.lists["query_ids"][one]
    if not identifier.isdigit() or len(identifier) > len(b"%d" % run.lists["rows"][one]):
        return False
    documents = run.places.documents(int(run.lists["first"][one]), _NUMBERED)
    numbers = [(document, place) for place, document in enumerate(documents, 1) if document.isdigit()]
    return bool(numbers) and all(document == b"%d" % place for document, place in numbers)


def _ranked(row: Row) -> str:
    return f"rank {row.rank} has {row.score}"


def _distinct(run: InspectedRun) -> Ints:
    return run.lists["rows"] - run.lists["duplicates"]


def _with_different_scores(run: InspectedRun) -> Bools:
    return np.asarray(run.counts & (_distinct(run) > 1) & (run.lists["constant"] == 0))


def _upside_down(run: InspectedRun) -> Bools:
    """The lists whose scores rise where they should fall, if most that are long enough to tell do so; otherwise they
    are contradictions like others."""
    distinct, lists = _distinct(run), run.lists
    ranked = (lists["unranked"] == 0) & (lists["lowest_rank"] < lists["highest_rank"])
    telling = _with_different_scores(run) & (distinct >= np.where(ranked, _TELLING_RANKED, _TELLING))
    rising = telling & (lists["reversed"] > 0)
    is_rule = run.by_score and np.count_nonzero(rising) >= _MOST * np.count_nonzero(telling)
    if not is_rule or distinct[rising].sum() < _TELLING:
        return np.zeros(run.size, bool)
    return np.asarray(rising | (run.counts & ranked & (lists["reversed"] > 0)))


RUN_CHECKS: tuple[Callable[[InspectedRun], Iterator[Finding]], ...] = (
    unmatched_queries,
    unmatched_documents,
    repeated_documents,
    reversed_scores,
    constant_scores,
    missing_queries,
    extra_queries,
    rank_conflicts,
    tied_documents,
    float32_ties,
    unjudged_documents,
    self_hits,
    empty_lists,
    short_lists,
    rank_column,
)


def examine_run(run: InspectedRun) -> list[Finding]:
    """All that is suspicious about one run."""
    return [finding for check in RUN_CHECKS for finding in check(run)]
