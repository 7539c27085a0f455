"""The unjudged documents whose judgments can change a comparison most: `gainful judge-next`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.errors import InputError, UsageError
from gainful.evaluation.scores import ScoreReport, Scores
from gainful.evaluation.unjudged import Unjudged
from gainful.frozen import dataclass
from gainful.io.columns import NAMES, find_role
from gainful.io.records import id_of_cell, name_of_table, number_of_cell, read_records
from gainful.kernel.arrays import Floats
from gainful.measures.holes import end_grades
from gainful.notation import bytes_of_id, count_of, printable, text_of_id
from gainful.pages.page import Column, Table, head
from gainful.question import question
from gainful.render import Page
from gainful.tasks.compare import check_known
from gainful.tasks.score_questions import JudgeNextOptions

#: Without a cutoff, only documents down to this rank of some list are proposed.
_DEPTH = 100
#: The weight of a pair of systems falls with the gap between their means, by this many times the median gap.
_SHARPNESS = 4.0
#: With more systems, the table has the number of lists and the best rank instead of all ranks.
_FEW_SYSTEMS = 4
_LONGEST_TEXT = 40

#: Columns of probabilities: p0, p_1, or prob_2 and prob_yes as in LARA's files.
_GRADE = re.compile(r"p(?:rob)?_?(\d+(?:\.\d+)?|yes|no)", re.ASCII | re.IGNORECASE)


class Proposal(NamedTuple):
    """An unjudged document, its rank in every list that has it, and how much its judgment can move.

    ``moves`` is the largest change of the difference between the means of two systems, or of the mean of a single one.
    ``expected`` is the weighted root mean square of these changes over pairs of systems and grades.
    """

    query: str
    document: str
    ranks: Mapping[str, int]
    moves: float
    expected: float

    @property
    def lists(self) -> int:
        return len(self.ranks)

    @property
    def best_rank(self) -> int:
        return min(self.ranks.values())


@dataclass(frozen=True, eq=False, repr=False)
class JudgeNext(ScoreReport):
    """Result of :func:`judge_next`: the ``proposals``, best first, out of ``unjudged`` documents."""

    systems: tuple[str, ...]
    proposals: tuple[Proposal, ...]
    unjudged: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Query and document of each proposal."""
        return [(each.query, each.document) for each in self.proposals]

    def page(self, places: int = 4) -> Page:
        """Return a sentence and the proposals; files have an empty column for the grade."""
        measure, found = self.scores.measures[0], count_of(self.unjudged, "unjudged document")
        sentence = f"{len(self.proposals):,} of {found} that can change {measure}, the most decisive first."
        if not self.proposals:
            sentence = f"No unjudged document can change {measure}."
        about = next(iter(self.scores.evaluations.values())).about
        columns = list(head("query | document | lists # | best rank # ← best_rank"))
        if len(self.systems) <= _FEW_SYSTEMS:
            columns[2:] = [Column(name, "count", get=partial(_rank_by, name)) for name in self.systems]
        if about is not None and about.has_texts:
            columns.insert(1, Column("text", get=lambda each: printable(about.text(each.query) or "", _LONGEST_TEXT)))
        columns += [
            *head(f"moves .{places} | expected .{places}"),
            Column("grade", get=lambda _: "", for_machines=True),
        ]
        notes = [
            "moves: largest change of a difference of means; expected: weighted root mean square over pairs and grades"
        ]
        table = Table.of(columns, self.proposals, title="Judge next", notes=tuple(notes))
        header = {"systems": list(self.systems), "unjudged": self.unjudged}
        return self.page_of("judge-next", [sentence, *([table] if self.proposals else [])], header)


def _rank_by(system: str, proposal: Proposal) -> int | None:
    return proposal.ranks.get(system)


@question(JudgeNextOptions)
def judge_next(asked: JudgeNextOptions) -> JudgeNext:
    """Find the unjudged documents whose judgments can change the comparison of systems most, by the first measure.

    Each document is scored as if it alone were judged, with every grade that is possible. The changes of the difference
    between the means of two systems are squared and averaged over grades, by their probabilities, and over pairs of
    systems, by the weight exp(-(16 (gap / median gap)^2)): pairs whose order is clear hardly count. Documents are
    ordered by this average. docs/how-to/judge-next.md compares it with other orders.

    Possible grades are the lowest and the highest of the scale; the highest has the probability (r + 1) / (n + 2) if r
    of the query's n judged documents are relevant. Or ``prior`` is a table of probabilities: query, document, p0, p1,
    .... Only documents down to the cutoff of the measure in some list are considered, or down to rank 100.

    >>> from gainful import evaluate
    >>> runs = {"a": {"q": ["new", "d1", "other"]}, "b": {"q": ["d1", "other", "new"]}}
    >>> judge_next(evaluate({"q": {"d1": 1}}, runs, "P@1")).proposals[0][:4]
    ('q', 'new', {'a': 1, 'b': 3}, 1.0)
    """
    scores = Scores.of(asked.scores)
    systems = scores.systems if asked.between is None else tuple(asked.between)
    for name in systems:
        check_known(name, scores.systems, "between")
    found = Unjudged.of_scores(scores, systems, asked.threads, "judge-next")
    matrix = next(iter(scores.matrices.values()))
    measure = next(iter(scores.evaluations.values()))._measure(matrix.measure)
    if "documents" in measure.needed():
        raise UsageError(f"{measure}: judge_next cannot use measures that need tables of documents")
    position = {query: i for i, query in enumerate(found.runs[0].query_ids)}
    weights = np.zeros(len(position))
    weights[[position[bytes_of_id(query)] for query in matrix.queries]] = (
        1.0 if matrix.weights is None else matrix.weights
    ) / len(matrix.queries)
    is_near = ((found.rank > 0) & (found.rank <= (measure.rank_cutoff or _DEPTH))).any(axis=1)
    tried = np.flatnonzero(is_near & (weights[found.query] > 0))
    judged = found.runs[0].judged
    grades, share = (
        np.array(end_grades(measure, judged)),
        (judged.recall_base(None, None) + 1.0) / (judged.counts + 2.0),
    )
    probability = np.stack([1.0 - share, share], axis=1)[found.query[tried]]
    if asked.prior is not None:
        pairs = [(judged.query_ids[found.query[i]], found.document[i]) for i in tried.tolist()]
        grades, probability = _probabilities(asked.prior, pairs, share[found.query[tried]])
    means = matrix.means[[matrix.place(name) for name in systems]]
    if means.size == 1:
        means = np.append(means, 0.0)
    one, other = np.triu_indices(means.size, 1)
    gaps = abs(means[one] - means[other])
    closeness = np.exp(-((_SHARPNESS * gaps / (np.median(gaps) or 1.0)) ** 2))
    moves, expected = np.zeros((2, tried.size))
    for grade, chance in zip(grades.tolist(), probability.T, strict=True):
        changes = found.changes(measure, tried, grade) * weights[found.query[tried], None]
        if len(systems) == 1:
            changes = np.append(changes, np.zeros_like(changes), axis=1)
        moves = np.maximum(moves, changes.max(axis=1) - changes.min(axis=1))
        for i, j, weight in zip(one.tolist(), other.tolist(), (closeness / closeness.sum()).tolist(), strict=True):
            expected += chance * weight * (changes[:, i] - changes[:, j]) ** 2
    can_change = moves > 0
    order = np.lexsort((found.rank[tried].max(axis=1), -moves, -expected))
    chosen = order[can_change[order]][: asked.number]
    proposals = []
    for i in chosen.tolist():
        ranks = {name: int(rank) for name, rank in zip(systems, found.rank[tried[i]], strict=True) if rank}
        query, document = found.runs[0].query_ids[found.query[tried[i]]], found.document[tried[i]]
        root = float(np.sqrt(expected[i]))
        proposals.append(Proposal(text_of_id(query), text_of_id(document), ranks, float(moves[i]), root))
    return JudgeNext(scores, systems, tuple(proposals), int(np.count_nonzero(can_change)))


def _probabilities(table: Any, pairs: list[tuple[bytes, bytes]], share: Floats) -> tuple[Floats, Floats]:
    """Read the probabilities of grades from columns such as query, document, p0, p1 and p2 for some documents.

    Documents that are not in the table have the highest grade with the probability ``share``, else the lowest.
    """
    name = name_of_table(table, "prior")
    records = read_records(table, name, NAMES["document"])
    columns = list(records[0].values) if records else []
    found = {column: match[1].lower() for column in columns if (match := _GRADE.fullmatch(column.strip()))}
    grades = {column: float({"yes": 1, "no": 0}.get(text, text)) for column, text in found.items()}
    roles = [find_role(role, columns, {}, name) for role in ("query", "document")]
    if not grades or None in roles:
        raise InputError(f"{name}: expected columns query, document, p0, p1, ..., found {', '.join(columns) or 'none'}")
    query, document = (columns[place] for place in roles if place is not None)
    known: dict[tuple[bytes, bytes], list[float]] = {}
    for record in records:
        key = [id_of_cell(record.values.get(column), record.where) for column in (query, document)]
        row = [number_of_cell(record, column) for column in grades]
        if min(row) < 0 or not 0.99 <= sum(row) <= 1.01:
            raise InputError(f"{record.where}: expected probabilities that sum to 1, found {', '.join(map(str, row))}")
        known[key[0], key[1]] = row
    unknown = [pair for pair in pairs if pair not in known]
    if unknown and len(unknown) == len(pairs):
        query_id, document_id = map(printable, unknown[0])
        raise InputError(f"{name}: no unjudged document of the lists, such as {document_id} of query {query_id}")
    values = np.array(list(grades.values()))
    otherwise = np.zeros((len(pairs), values.size))
    otherwise[:, values.argmin()] = 1.0 - share
    otherwise[:, values.argmax()] += share
    return values, np.array([known.get(pair, row) for pair, row in zip(pairs, otherwise, strict=True)])
