"""Problems in judgments and runs: `gainful check`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from gainful.data.qrels import Qrels
from gainful.frozen import dataclass, replace
from gainful.notation import count_of, printable
from gainful.pages.page import Column, Table, head
from gainful.render import Page, Showable

#: ``serious``: eval refuses the files, or its scores would be meaningless. ``warning``: scores are affected. ``note``:
#: for information.
Severity: TypeAlias = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")


class Check(NamedTuple):
    """A kind of problem: usual severity, consequence for the scores, and remedy.

    Placeholders such as ``{ties}`` are filled with policy choices or with facts of the finding.
    """

    severity: Severity
    consequence: str
    remedy: str


_serious, _warning, _note = (partial(Check, severity) for severity in SEVERITIES)
_SAME_COLLECTION = "Check that the judgments and the run are of the same collection."
_RANKS = "No effect here, because ranks are not used; tools that use ranks may be affected."
_NUMBER_THEM = "Number the documents of every list 1, 2, 3 and so on."

#: All problems, in the order of reports: first those that eval refuses or that invalidate scores.
CHECKS: Mapping[str, Check] = {
    "conflicting-judgments": _serious(
        "gainful eval refuses these judgments.",
        "Keep one of them, or merge them with --judges mean, median, max, min or turn.",
    ),
    "grades-above-scale": _serious(
        "gainful eval --scale {scale} refuses these judgments.", "Correct the grades or the scale."
    ),
    "nothing-relevant": _serious(
        "No grade is above {grade_zero}: every score is 0 or undefined.",
        "The highest grade is {highest}: check that the last column is the grade, and check --grade-zero.",
    ),
    "unmatched-queries": _serious("gainful eval refuses the run.", _SAME_COLLECTION),
    "unmatched-documents": _serious("Nothing that the run retrieved is judged: every score is 0.", _SAME_COLLECTION),
    "several-in-one": _serious(
        "A judged ID made of several IDs matches no retrieved document: scores are too low.",
        "Write one document per row, or name the column relevant_ids, whose cells are split.",
    ),
    "repeated-documents": _serious(
        "gainful eval refuses the run.", "Remove the repeats, or use --duplicates first to keep the best rank."
    ),
    "reversed-scores": _serious(
        "Lower scores have better ranks, as with distances: order=score reverses these lists.",
        "Negate the scores, or use --order rank.",
    ),
    "constant-scores": _serious(
        "Only ties={ties} orders these lists, so their results are arbitrary.",
        "Write the scores that were used for ranking, or use --order rank or --order input.",
    ),
    "empty-lists": _serious(
        "They score 0 whatever --missing is, because an empty list is an answer.",
        "Correct if the system found nothing; otherwise check whether results were lost.",
    ),
    "missing-queries": _warning(
        "missing=zero scores each 0 and keeps it in the mean, which is lowered accordingly.",
        "Run the system on all judged queries; --missing skip averages over the others.",
    ),
    "extra-queries": _note(
        "extra=ignore ignores them.", "No action needed if only some queries were meant to be judged."
    ),
    "rank-conflicts": _warning(
        "order=score uses the scores, like trec_eval, and ignores the ranks.",
        "Check which of them is correct; --order rank uses the ranks.",
    ),
    "tied-documents": _warning(
        "ties={ties} orders them; tools with another rule give different scores.",
        "Write scores with more digits, or choose the tie-breaking rule with --ties.",
    ),
    "float32-ties": _warning(
        "trec_eval 9 reads scores as 32-bit floats, in which these are ties: its results may differ.",
        "Use --like trec_eval-9 to reproduce them, or scores that are further apart.",
    ),
    "unjudged-top-10": _warning(
        "They count as not relevant; the run may be better than its scores.",
        "Judge them, or also report --unjudged condensed and the measure Judged@10.",
    ),
    "unjudged-bias": _warning(
        "The judgments favour the runs that they were pooled from; others are underestimated.",
        "Also compare on judged documents (--unjudged condensed), and report Judged@10.",
    ),
    "different-depths": _warning(
        "Recall, AP and other deep measures favour the deeper runs.",
        "Use --depth {depth} to cut all runs equally; measures @k up to that depth are not affected.",
    ),
    "short-lists": _warning(
        "Documents below the end count as not retrieved, which lowers recall and AP in particular.",
        "Correct if the system found no more; otherwise check whether the run was cut.",
    ),
    "all-candidates": _warning(
        "They hold all relevant documents: R@k, Success@k and Complete@k are 1 in any order if k is {depth}.",
        "Use a k below the number of candidates, or nDCG, AP or RR.",
    ),
    "self-hits": _warning(
        "A query that is a document of the collection retrieves itself.",
        "Remove it from its own list if queries and documents share their IDs.",
    ),
    "queries-without-relevant": _warning(
        "nDCG, AP, R and other measures divide by 0; with undefined={undefined} they {done}.",
        "--undefined skip omits them from the mean, zero keeps them; report which one you use.",
    ),
    "outlying-grades": _warning(
        "The others range from {lowest} to {highest}: {outweighs} them.",
        "Correct {slip}; set the highest possible grade with --scale G.",
    ),
    "fractional-grades": _note(
        "They count as they are; other tools truncate or refuse them.",
        "Correct them if they are mistakes; means of several judges are fine.",
    ),
    "negative-grades": _note(
        "negative={negative} counts them as {counted}; their gain is 0 in any case.",
        "Choose with --negative judged or unjudged; trec_eval treats them as unjudged.",
    ),
    "equal-grades": _note(
        "No document is judged not relevant, so grades have no effect.",
        "Correct if only relevant documents were recorded; otherwise check whether grades were lost.",
    ),
    "no-zero-grade": _note(
        "All grades from 1 to {highest} count as relevant, including 1.", "If 1 means not relevant, use --grade-zero 1."
    ),
    "repeated-judgments": _note("Repeats with the same grade count once.", "No action needed."),
    "ranks-not-from-1": _note(_RANKS, _NUMBER_THEM),
    "uneven-ranks": _note(_RANKS, _NUMBER_THEM),
    "identical-runs": _note(
        "They have the same judged documents at the same ranks, so all scores are equal.",
        "Check whether one is a copy of the other.",
    ),
    "equal-tags": _note(
        "Tools that identify runs by their tags treat them as one.",
        "No action needed here, because runs are named after their files.",
    ),
}


@dataclass(frozen=True)
class Finding:
    """A problem found: its kind, frequency, an example, the consequence for the scores, and a remedy.

    ``run`` is None for the judgments, or for several runs together. ``check`` is its key in ``CHECKS``, on which the
    meaning of ``count`` and ``total`` depends.
    """

    check: str
    severity: Severity
    run: str | None
    count: int
    total: int
    example: str
    consequence: str
    remedy: str

    @property
    def share(self) -> float:
        return self.count / self.total if self.total else 0.0

    @classmethod
    def of(
        cls,
        check: str,
        count: int,
        total: int,
        example: str,
        *,
        run: str | None = None,
        severity: Severity | None = None,
        consequence: str | None = None,
        remedy: str | None = None,
        **words: str,
    ) -> Finding:
        """Return a finding with the defaults of the catalogue, unless overridden."""
        usual = CHECKS[check]
        consequence = consequence or usual.consequence.format(**words)
        remedy = remedy or usual.remedy.format(**words)
        return cls(check, severity or usual.severity, run, count, total, example, consequence, remedy)

    def __str__(self) -> str:
        where = "" if self.run is None else f" in {self.run}"
        return f"{self.severity}: {self.check}{where}: {self.count:,} of {self.total:,}, such as {self.example}"


@dataclass(frozen=True)
class Examination(Showable):
    """The findings about judgments and runs, most serious first."""

    qrels: str
    queries: int
    judgments: int
    runs: tuple[str, ...]
    findings: tuple[Finding, ...]

    __str__ = Showable.__str__

    @property
    def is_serious(self) -> bool:
        return any(finding.severity == "serious" for finding in self.findings)

    def about(self, check: str, run: str | None = None) -> list[Finding]:
        """Return the findings of one kind, for all runs or for one."""
        return [each for each in self.findings if each.check == check and run in (None, each.run)]

    def without(self, severity: Severity) -> Examination:
        """Return the examination without the findings of one severity."""
        return replace(self, findings=tuple(each for each in self.findings if each.severity != severity))

    def page(self) -> Page:
        """Return a summary, a table of the findings, and the consequence and remedy of each kind."""
        # The advice below repeats the consequence and the remedy; without findings the table is for machines only.
        run = Column("run", for_machines=not self.findings, get=lambda each: each.run and printable(each.run, 32))
        columns = (
            *head("severity | check", for_machines=not self.findings),
            run,
            *head("count # | of # ← total | example", for_machines=not self.findings),
            *head("consequence | remedy", for_machines=True),
        )
        advice = dict.fromkeys(f"{each.check}: {each.consequence} {each.remedy}" for each in self.findings)
        header: dict[str, object] = {"judgments": self.qrels, "runs": list(self.runs), **self._counts()}
        return Page("check", (self.summary(), Table.of(columns, self.findings), *advice), header=header)

    def _counts(self) -> dict[str, int]:
        return {severity: sum(each.severity == severity for each in self.findings) for severity in SEVERITIES}

    def summary(self) -> str:
        """Return one sentence: the sizes of the input and the number of findings."""
        judgments = count_of(self.judgments, "judgment")
        looked_at = f"{count_of(self.queries, 'query', 'queries')}, {judgments}, {count_of(len(self.runs), 'run')}"
        if not self.findings:
            return f"{looked_at}: no problems found."
        nouns = {"serious": "serious finding", "warning": "warning", "note": "note"}
        found = [count_of(count, nouns[severity]) for severity, count in self._counts().items() if count]
        return f"{looked_at}: {', '.join(found)}."


_WIDEST_ID = 32


def at_judgment(qrels: Qrels, row: int, detail: str = "") -> str:
    """Return a judgment as an example, with a detail."""
    return example_of(qrels.query_ids[int(qrels.query[row])], qrels.document(row), qrels.origin.place(row), detail)


def at_query(query: bytes, detail: str = "") -> str:
    """Return a query as an example, with a detail."""
    return f"query {shown_id(query)}{detail}"


def example_of(query: bytes, document: bytes, place: str, detail: str) -> str:
    """Return a document of a query as an example, with its line or row if known."""
    return f"{f'{place}: ' if place else ''}{shown_id(query)} {shown_id(document)}{detail}"


def shown_id(identifier: bytes) -> str:
    """Return an ID shortened for display."""
    return printable(identifier, _WIDEST_ID)
