"""The unjudged documents whose judgments can change a comparison most: `gainful judge-next`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError, for_asker, option
from gainful.evaluation.scores import ScoreReport, Scores
from gainful.evaluation.unjudged import Unjudged
from gainful.frozen import dataclass
from gainful.io.columns import NAMES, find_role
from gainful.io.records import Record, duplicate_row, id_of_cell, name_of_table, number_of_cell, read_records
from gainful.kernel.arrays import Floats
from gainful.measures.holes import end_grades
from gainful.notation import count_of, listed, printable, text_of_id
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
#: Smaller changes are those of rounding.
_ROUNDING = 1e-12

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

    def rank_by(self, system: str) -> int | None:
        return self.ranks.get(system)

    @property
    def lists(self) -> int:
        return len(self.ranks)

    @property
    def best_rank(self) -> int:
        return min(self.ranks.values())


@dataclass(frozen=True, eq=False, repr=False)
class JudgeNext(ScoreReport):
    """Result of :func:`judge_next`: the ``proposals``, best first, out of ``unjudged`` documents down to ``depth``."""

    systems: tuple[str, ...]
    proposals: tuple[Proposal, ...]
    unjudged: int
    depth: int

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Query and document of each proposal."""
        return [(each.query, each.document) for each in self.proposals]

    def page(self, places: int = 4) -> Page:
        """Return a sentence and the proposals; files have an empty column for the grade."""
        measure, *others = self.scores.measures
        found = f"{count_of(self.unjudged, 'unjudged document')} in the top {self.depth}"
        sentence = f"{len(self.proposals):,} of {found} that can change {measure}, the most decisive first."
        if not self.proposals:
            sentence = f"No unjudged document in the top {self.depth} can change {measure}."
        if others:
            sentence += f" {listed(others)}: not considered."
        about = next(iter(self.scores.evaluations.values())).about
        columns = list(head("query | document | lists # | best rank # ← best_rank"))
        if len(self.systems) <= _FEW_SYSTEMS:
            columns[2:] = [Column(name, "count", get=partial(Proposal.rank_by, system=name)) for name in self.systems]
        else:
            columns.append(Column("ranks", for_machines=True, get=lambda p: json.dumps(p.ranks, ensure_ascii=False)))
        if about is not None and about.has_texts:
            columns.insert(1, Column("text", get=lambda each: printable(about.text(each.query) or "", _LONGEST_TEXT)))
        columns += head(f"moves .{places} | expected .{places}")
        columns.append(Column("grade", get=lambda _: "", for_machines=True))
        of = "a difference between means" if len(self.systems) > 1 else "the mean"
        note = f"moves: largest change of {of}; expected: its root mean square by the probabilities of grades"
        table = Table.of(columns, self.proposals, title="Judge next", notes=(note,))
        header = {"systems": list(self.systems), "unjudged": self.unjudged}
        return self.page_of("judge-next", [sentence, *([table] if self.proposals else [])], header)


@question(JudgeNextOptions)
def judge_next(asked: JudgeNextOptions) -> JudgeNext:
    """Find the unjudged documents whose judgments can change the comparison of systems most, by the first measure.

    Each document is scored as if it alone were judged, with every grade that is possible. The changes of the difference
    between the means of two systems are squared and averaged over grades, by their probabilities, and over pairs of
    systems, by the weight exp(-(16 (gap / median gap)^2)): pairs whose order is clear hardly count. Documents are
    ordered by this average. docs/how-to/judge-next.md compares it with other orders.

    Possible grades are the lowest and the highest of the scale; the highest has the probability (r + 1) / (n + 2) if r
    of the query's n judged documents are relevant. ``prior`` is a table of other probabilities, for some or all
    documents: query, document, p0, p1, and so on. Only documents down to the cutoff of the measure in some list are
    considered, or down to rank 100.

    >>> from gainful import evaluate
    >>> runs = {"a": {"q": ["new", "d1", "other"]}, "b": {"q": ["d1", "other", "new"]}}
    >>> judge_next(evaluate({"q": {"d1": 1}}, runs, "P@1")).proposals[0][:4]
    ('q', 'new', {'a': 1, 'b': 3}, 1.0)
    """
    scores = Scores.of(asked.scores)
    systems = scores.systems if asked.between is None else tuple(asked.between)
    for name in systems:
        check_known(name, scores.systems, "between")
    if len({*systems}) < len(systems):
        raise UsageError(f"between: expected two systems, found '{printable(systems[0])}' twice")
    matrix = next(iter(scores.matrices.values()))
    found = Unjudged.of(scores, matrix, systems, for_asker("judge-next", "judge_next"), asked.threads)
    judged, depth = found.runs[0].judged, found.measure.rank_cutoff or _DEPTH
    is_near = ((found.rank > 0) & (found.rank <= depth)).any(axis=1)
    tried = np.flatnonzero(is_near & (found.weights[found.query] > 0))
    ends = end_grades(found.measure, judged)
    share = (judged.recall_base(None, None) + 1.0) / (judged.counts + 2.0)
    probability = {ends[0]: 1.0 - share[found.query[tried]], ends[1]: share[found.query[tried]]}
    if asked.prior is not None:
        pairs = [(judged.query_ids[found.query[i]], found.document[i]) for i in tried.tolist()]
        _read_prior(asked.prior, judged, pairs, probability)
    single = len(systems) == 1  # compared with one whose mean never changes
    means = np.pad(matrix.means[[matrix.place(name) for name in systems]], (0, single))
    one, other = np.triu_indices(means.size, 1)
    gaps = abs(means[one] - means[other])
    closeness = np.exp(-((_SHARPNESS * gaps / (np.median(gaps) or 1.0)) ** 2))
    moves, expected = np.zeros((2, tried.size))
    for grade, chance in probability.items():
        changes = np.pad(found.changes(tried, grade), ((0, 0), (0, single)))
        if grade in ends:
            moves = np.maximum(moves, changes.max(axis=1) - changes.min(axis=1))
        for i, j, weight in zip(one.tolist(), other.tolist(), (closeness / closeness.sum()).tolist(), strict=True):
            expected += chance * weight * (changes[:, i] - changes[:, j]) ** 2
    can_change = moves > _ROUNDING
    order, proposals = np.lexsort((found.rank[tried].max(axis=1), -moves, -expected)), []
    for i in order[can_change[order]][: asked.number].tolist():
        ranks = {name: int(rank) for name, rank in zip(systems, found.rank[tried[i]], strict=True) if rank}
        query, document = judged.query_ids[found.query[tried[i]]], found.document[tried[i]]
        values = float(moves[i]), float(np.sqrt(expected[i]))
        proposals.append(Proposal(text_of_id(query), text_of_id(document), ranks, *values))
    return JudgeNext(scores, systems, tuple(proposals), int(np.count_nonzero(can_change)), depth)


def _read_prior(table: Any, judged: Judged, pairs: list[tuple[bytes, bytes]], probability: dict[float, Floats]) -> None:
    """Replace probabilities by those of a table with columns such as query, document, p0, p1 and p2."""
    name = name_of_table(table, "prior")
    records = read_records(table, name, NAMES["document"])
    columns = list(records[0].values) if records else []
    texts = {column: match[1].lower() for column in columns if (match := _GRADE.fullmatch(column.strip()))}
    grades = {column: float({"yes": 1, "no": 0}.get(text, text)) for column, text in texts.items()}
    roles = [find_role(role, columns, {}, name) for role in ("query", "document")]
    if not grades or None in roles:
        there = ", ".join(columns) or "no rows"
        raise InputError(f"{name}: expected columns query, document, p0, p1, ..., found {there}")
    if (highest := max(grades.values())) > judged.qrels.scale:
        hint = f"{option('scale', highest)} raises the scale"
        raise InputError(f"{name}: grade {highest:g} is above the scale {judged.qrels.scale:g}", hint)
    settled = dict(zip(grades, judged.settled(np.array([*grades.values()])).tolist(), strict=True))
    query, document = (columns[place] for place in roles if place is not None)
    known: dict[tuple[bytes, bytes], Record] = {}
    for record in records:
        key = tuple(id_of_cell(record.values.get(column), record.where) for column in (query, document))
        row = [number_of_cell(record, column) for column in grades]
        if min(row) < 0 or not 0.99 <= sum(row) <= 1.01:
            raise InputError(f"{record.where}: expected probabilities that sum to 1, found {', '.join(map(str, row))}")
        if (first := known.setdefault((key[0], key[1]), record)) is not record:
            raise duplicate_row("document", key[1], record, first)
    found = [(i, known[pair]) for i, pair in enumerate(pairs) if pair in known]
    if pairs and not found:
        shown = f"document {printable(pairs[0][1])} of query {printable(pairs[0][0])}"
        raise InputError(f"{name}: none of the unjudged documents, such as {shown}")
    for grade in settled.values():
        probability.setdefault(grade, np.zeros(len(pairs)))
    for i, record in found:
        for grade, values in probability.items():
            values[i] = sum(number_of_cell(record, column) for column, at in settled.items() if at == grade)
