"""Catalogue of the five papers and the data that each needs. It does not import NumPy; the papers' modules do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gainful.errors import UsageError


@dataclass(frozen=True)
class Paper:
    """A paper and the inputs of its experiment.

    Attributes:
        key: Name of the command and of the module.
        alone: Parts reproduced without data.
        with_data: Parts reproduced with data.
        needs: Description of these data.
        data: Names of the data, all of which are required.
        settings_alone: Settings that apply without data; the study takes all others.
        draws_alone: Whether there are figures without data.
        other_data: Names of alternative data.
    """

    key: str
    citation: str
    proposes: str
    alone: str
    with_data: str
    needs: str
    data: tuple[str, ...]
    settings_alone: tuple[str, ...] = ()
    draws_alone: bool = False
    other_data: tuple[str, ...] = ()

    def data_among(self, given: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the required data: the paper's own, or the alternative if any of it is given."""
        return self.other_data if any(name in self.other_data for name in given) else self.data

    @property
    def options(self) -> str:
        """Command-line options that the experiment requires.

        >>> PAPERS["jarvelin2008"].options
        '--qrels FILE --sessions FILE'
        """
        kinds = {"runs": "DIR", "letor": "DIR", "reference": "NAME"}
        ways = [[f"--{name} {kinds.get(name, 'FILE')}" for name in each] for each in (self.data, self.other_data)]
        return " or ".join(" ".join(way) for way in ways if way)


PAPERS: dict[str, Paper] = {
    paper.key: paper
    for paper in (
        Paper(
            "jarvelin2000",
            "Järvelin and Kekäläinen: IR evaluation methods for retrieving highly relevant documents. SIGIR 2000, "
            "41-48.",
            "cumulated gain with and without a discount, and precision-recall curves for each level of relevance",
            "worked vectors, a discount that increases gains, consistency of the paper's numbers",
            "recall bases, Table 1 with Friedman's test, Figures 1 to 3 and their readings",
            "judgments and two or more runs",
            ("qrels", "runs"),
        ),
        Paper(
            "jarvelin2002",
            "Järvelin and Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002, 422-446.",
            "gain relative to the ideal (nCG, nDCG), averages over ranks, and significance tests",
            "worked vectors, errata, a false claim with a counterexample, sums of its tables",
            "Tables 1 (with --other-qrels FILE) and 2, Figures 1 to 4, statements of the discussion",
            "judgments and two or more runs",
            ("qrels", "runs"),
        ),
        Paper(
            "jarvelin2008",
            "Järvelin, Price, Delcambre and Nielsen: Discounted cumulated gain based evaluation of multiple-query IR "
            "sessions. ECIR 2008, 4-15.",
            "gain over whole sessions (sDCG), discounted by rank and by query number",
            "formula examples, errata, sums of its Table 2",
            "Table 2, Figures 1 to 4",
            "judgments (by topic, session or query) and sessions: one file per system, or one file that names systems",
            ("qrels", "sessions"),
        ),
        Paper(
            "scheel2011",
            "Scheel, Lommatzsch and Albayrak: Performance measures for multi-graded relevance. SPIM 2011, 54-65.",
            "measures that do not depend on the number of grades (muAP, NDCNG)",
            "Tables 1 and 2, errata, the complete artificial experiment (Figures 4 and 5)",
            "Figures 6 to 8, for OHSUMED or any runs",
            "OHSUMED from LETOR 3.0 (folder Feature-null); or runs and a reference (NAME, or --qrels FILE)",
            ("letor",),
            ("repetitions", "seed"),
            draws_alone=True,
            other_data=("runs", "reference"),
        ),
        Paper(
            "dellamea2004",
            "Della Mea and Mizzaro: Measuring retrieval effectiveness: a new proposal and a first experimental "
            "validation. JASIST 55(6), 2004, 530-543.",
            "the distance between users' and systems' relevance scores, on continuous scales (ADM)",
            "Tables 1 and 2, the planes of Figures 4 and 5, measures of Figure 6, errata",
            "Tables 3 and 4, Figures 7 to 9",
            "judgments and at least a dozen runs that retrieve the same number of documents for every query",
            ("qrels", "runs"),
            draws_alone=True,
        ),
    )
}


#: Figure formats.
FIGURES = ("svg", "png", "pdf")


def check_given(paper: Paper, data: Iterable[str]) -> None:
    """Raise UsageError if data are given that the paper does not use, or if required data are missing."""
    words = {"qrels": "judgments", "letor": "a LETOR collection", "reference": "references"}
    words |= {"runs": "runs", "sessions": "sessions"}
    wanted, needs = paper.data_among(data), f"it needs {paper.options}: {paper.needs}"
    for name in data:
        if name not in wanted:
            raise UsageError(f"{paper.key}: {words[name]} cannot be used", needs)
    missing = [words[name] for name in wanted if name not in data]
    if data and missing:
        raise UsageError(f"{paper.key}: missing {' and '.join(missing)}", needs)
