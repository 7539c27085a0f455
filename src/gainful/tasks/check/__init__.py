"""What may be wrong with judgments and runs: `gainful check`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from gainful.data.qrels import Qrels
from gainful.frozen import dataclass, replace
from gainful.notation import count_of, printable
from gainful.pages.page import Column, Table, head
from gainful.render import Page, Showable

#: ``serious``: eval refuses the files, or its numbers would mean nothing. ``warning``: numbers are affected.
#: ``note``: good to know.
Severity: TypeAlias = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")


class Check(NamedTuple):
    """Something that is looked for: how serious it usually is, what it does to the numbers, and what to do about it.

    ``{ties}`` and the like stand for choices of the policy, other names for what the case at hand has.
    """

    severity: Severity
    consequence: str
    remedy: str


_serious, _warning, _note = (partial(Check, severity) for severity in SEVERITIES)
_SAME_COLLECTION = "Are these judgments and this run of the same collection?"
_RANKS = "No matter here, where ranks decide nothing; tools that read them may be misled."
_NUMBER_THEM = "Number the documents of every list 1, 2, 3 and so on."

#: Everything that is looked for, in the order of reports: first what eval refuses or what makes its numbers void.
CHECKS: Mapping[str, Check] = {
    "conflicting-judgments": _serious(
        "gainful eval refuses these judgments.",
        "Keep one of them, or let --judges mean, median, max, min or turn make one grade of several.",
    ),
    "grades-above-scale": _serious(
        "gainful eval --scale {scale} refuses these judgments.", "Correct the grades, or give the scale that they have."
    ),
    "nothing-relevant": _serious(
        "No grade is above {grade_zero}: every score is 0 or undefined.",
        "The highest grade is {highest}: is the grade in the last column, and --grade-zero right?",
    ),
    "unmatched-queries": _serious("gainful eval refuses the run.", _SAME_COLLECTION),
    "unmatched-documents": _serious("Nothing that the run retrieved is judged: every score is 0.", _SAME_COLLECTION),
    "several-in-one": _serious(
        "A judged id that is several is found in no list: scores are too low.",
        "Write one document a row, or call the column relevant_ids: its cells are split.",
    ),
    "repeated-documents": _serious(
        "gainful eval refuses the run.", "Remove the repeats, or let --duplicates first keep the best ranked."
    ),
    "reversed-scores": _serious(
        "The lower the score the better the place, as with distances: order=score turns lists upside down.",
        "Negate the scores, or use --order rank.",
    ),
    "constant-scores": _serious(
        "Nothing but ties={ties} orders these lists: their scores are those of chance.",
        "Write the scores that ranked them; --order rank or input takes the order from elsewhere.",
    ),
    "empty-lists": _serious(
        "They score 0, whatever --missing says: an empty answer is an answer.",
        "Right if the system found nothing; else see whether its results were lost.",
    ),
    "missing-queries": _warning(
        "missing=zero scores each 0 and keeps it in the mean, which is lower by that share.",
        "Run the system on all judged queries; --missing skip averages over the others.",
    ),
    "extra-queries": _note(
        "extra=ignore leaves them aside.", "Nothing need be done, if only some queries were meant to be judged."
    ),
    "rank-conflicts": _warning(
        "order=score goes by the scores, as trec_eval does, not by the ranks.",
        "See which of them the system meant: --order rank goes by the ranks.",
    ),
    "tied-documents": _warning(
        "ties={ties} orders them; a tool that does it otherwise prints other numbers.",
        "Write scores with more digits; --ties chooses what breaks ties.",
    ),
    "float32-ties": _warning(
        "trec_eval 9 reads scores as 32-bit numbers, for which these are ties: its numbers may differ.",
        "--like trec_eval-9 does as that tool does; scores further apart avoid it.",
    ),
    "unjudged-top-10": _warning(
        "They count as not relevant, which may be wrong: the run may be better than its scores.",
        "Judge them, or look at --unjudged condensed and the measure Judged@10 beside the scores.",
    ),
    "unjudged-bias": _warning(
        "The judgments favour runs that they were made from: others look worse than they are.",
        "Compare on judged documents, too (--unjudged condensed), and show Judged@10.",
    ),
    "different-depths": _warning(
        "Recall, AP and all that looks further down favours the deeper runs.",
        "--depth {depth} cuts all runs alike; measures @k up to there are not affected.",
    ),
    "short-lists": _warning(
        "What is not retrieved counts as not found, in recall and average precision above all.",
        "Right if the system found no more; else see whether the run was cut or is incomplete.",
    ),
    "self-hits": _warning(
        "A query that is a document of the collection finds itself, which is no achievement.",
        "Leave it out of its own list, if ids of queries and documents mean the same things.",
    ),
    "queries-without-relevant": _warning(
        "nDCG, AP, R and others divide by 0: undefined={undefined}, they {done}.",
        "--undefined skip leaves them out of the mean, zero keeps them; say which in a report.",
    ),
    "outlying-grades": _warning(
        "The others go from {lowest} to {highest}: {outweighs} them.",
        "Correct {slip}; --scale G says what the highest grade can be.",
    ),
    "fractional-grades": _note(
        "They count as they are; other tools cut them to whole numbers or refuse them.",
        "Correct them if they are slips; means of several judges are fine.",
    ),
    "negative-grades": _note(
        "negative={negative} counts them as {counted}; either way their gain is 0.",
        "Choose with --negative judged or unjudged; trec_eval takes them as unjudged.",
    ),
    "equal-grades": _note(
        "Nothing is judged not relevant: grades make no difference, unjudged and not relevant are one.",
        "Fine where only relevant documents were recorded; else see whether the grades were lost.",
    ),
    "no-zero-grade": _note(
        "All grades from 1 to {highest} count as relevant, the lowest too.",
        "If 1 means not relevant, --grade-zero 1 says so.",
    ),
    "repeated-judgments": _note("Repeats with the same grade count once.", "Nothing need be done."),
    "ranks-not-from-1": _note(_RANKS, _NUMBER_THEM),
    "uneven-ranks": _note(_RANKS, _NUMBER_THEM),
    "identical-runs": _note(
        "They have the same judged documents at the same ranks: every measure gives the same.",
        "Is one a copy of the other under another name?",
    ),
    "equal-tags": _note(
        "Tools that go by what runs call themselves take them for one.",
        "Nothing need be done here, where runs are called by their files.",
    ),
}


@dataclass(frozen=True)
class Finding:
    """Something suspicious: what it is, how often, an example, what it does to the numbers, and what to do about it.

    ``run`` is None where the judgments, or several runs together, are meant. ``check`` is the name of what was looked
    for; it says what is counted in ``count`` and ``total``.
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
        """A finding as the catalogue has it, except in what the case at hand says otherwise."""
        usual = CHECKS[check]
        return cls(
            check,
            severity or usual.severity,
            run,
            count,
            total,
            example,
            consequence or usual.consequence.format(**words),
            remedy or usual.remedy.format(**words),
        )

    def __str__(self) -> str:
        where = "" if self.run is None else f" in {self.run}"
        return f"{self.severity}: {self.check}{where}: {self.count:,} of {self.total:,}, such as {self.example}"


@dataclass(frozen=True)
class Examination(Showable):
    """The findings about judgments and runs, serious ones first. Printed, it is a table with advice below."""

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
        """The findings of one kind, of all runs or of one."""
        return [each for each in self.findings if each.check == check and run in (None, each.run)]

    def without(self, severity: Severity) -> Examination:
        """The same without the findings of one severity."""
        return replace(self, findings=tuple(each for each in self.findings if each.severity != severity))

    def page(self) -> Page:
        """A sentence, a table of the findings, and for each kind of them what it means and what to do."""
        # People read the advice below; without findings only machines want to see the columns.
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
        """One sentence: what was looked at and how much was found."""
        judgments = count_of(self.judgments, "judgment")
        looked_at = f"{count_of(self.queries, 'query', 'queries')}, {judgments}, {count_of(len(self.runs), 'run')}"
        if not self.findings:
            return f"{looked_at}: nothing suspicious."
        nouns = {"serious": "serious finding", "warning": "warning", "note": "note"}
        found = [count_of(count, nouns[severity]) for severity, count in self._counts().items() if count]
        return f"{looked_at}: {', '.join(found)}."


_WIDEST_ID = 32


def at_judgment(qrels: Qrels, row: int, detail: str = "") -> str:
    """A judgment as an example, with something to say about it."""
    return example_of(qrels.query_ids[int(qrels.query[row])], qrels.document(row), qrels.origin.place(row), detail)


def at_query(query: bytes, detail: str = "") -> str:
    """A query as an example, with something to say about it."""
    return f"query {shown_id(query)}{detail}"


def example_of(query: bytes, document: bytes, place: str, detail: str) -> str:
    """A document of a query as an example, with the line or row where there is one."""
    return f"{f'{place}: ' if place else ''}{shown_id(query)} {shown_id(document)}{detail}"


def shown_id(identifier: bytes) -> str:
    """An id as it can be shown beside others."""
    return printable(identifier, _WIDEST_ID)
