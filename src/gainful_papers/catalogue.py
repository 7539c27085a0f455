"""The five papers, and what each needs to be run again. Nothing here loads NumPy; the papers' modules do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gainful.errors import UsageError


@dataclass(frozen=True)
class Paper:
    """A paper, and what its experiment takes.

    Attributes:
        key: What it is called here; also the name of its module.
        alone: What is recomputed without data.
        with_data: What is computed with data.
        needs: Which data these are, in words.
        data: Names of the data that have to be given together.
        settings_alone: Settings that have a meaning without data; all others are those of its study.
        draws_alone: Whether there are figures without data.
        other_data: Names of data that can be given instead.
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
        """What has to be given where this is: the data of the paper's own experiment, or others."""
        return self.other_data if any(name in self.other_data for name in given) else self.data

    @property
    def options(self) -> str:
        """What has to be given on the command line for the experiment.

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
            "worked vectors, a discount that boosts, the paper's figures held against each other",
            "recall bases, Table 1 with Friedman's test, Figures 1 to 3, the sideways readings",
            "judgments and two or more runs",
            ("qrels", "runs"),
        ),
        Paper(
            "jarvelin2002",
            "Järvelin and Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002, 422-446.",
            "gain relative to the ideal (nCG, nDCG), averages over ranks, and a test of the difference",
            "worked vectors, errata, a false claim with its counter-example, what its tables add up to",
            "Tables 1 (with --other-qrels FILE) and 2, Figures 1 to 4, its discussion",
            "judgments and two or more runs",
            ("qrels", "runs"),
        ),
        Paper(
            "jarvelin2008",
            "Järvelin, Price, Delcambre and Nielsen: Discounted cumulated gain based evaluation of multiple-query IR "
            "sessions. ECIR 2008, 4-15.",
            "gain over whole sessions (sDCG), discounted by the rank and by the number of the query",
            "formula examples, errata, what its Table 2 adds up to",
            "Table 2, Figures 1 to 4",
            "judgments (by topic, session or query) and sessions, one file a system or one file that names its systems",
            ("qrels", "sessions"),
        ),
        Paper(
            "scheel2011",
            "Scheel, Lommatzsch and Albayrak: Performance measures for multi-graded relevance. SPIM 2011, 54-65.",
            "measures that do not depend on how many grades there are (muAP, NDCNG)",
            "Tables 1 and 2, errata, the artificial experiment in full (Figures 4 and 5)",
            "Figures 6 to 8, of OHSUMED or of any runs",
            "OHSUMED of LETOR 3.0 (its folder Feature-null); or runs and what plays the user (--qrels FILE, too)",
            ("letor",),
            ("repetitions", "seed"),
            draws_alone=True,
            other_data=("runs", "reference"),
        ),
        Paper(
            "dellamea2004",
            "Della Mea and Mizzaro: Measuring retrieval effectiveness: a new proposal and a first experimental "
            "validation. JASIST 55(6), 2004, 530-543.",
            "the distance between what users and what systems say of documents, on continuous scales (ADM)",
            "Tables 1 and 2, the planes of Figures 4 and 5, measures of Figure 6, errata",
            "Tables 3 and 4, Figures 7 to 9",
            "judgments and a dozen or more runs that retrieve equally many documents for every query",
            ("qrels", "runs"),
            draws_alone=True,
        ),
    )
}


#: What figures can be.
FIGURES = ("svg", "png", "pdf")


def check_given(paper: Paper, data: Iterable[str]) -> None:
    """Refuses data that the paper has no use for, and data of which a part is missing."""
    words = {"qrels": "judgments", "letor": "a LETOR collection", "reference": "references"}
    words |= {"runs": "runs", "sessions": "sessions"}
    wanted, needs = paper.data_among(data), f"it needs {paper.options}: {paper.needs}"
    for name in data:
        if name not in wanted:
            raise UsageError(f"{paper.key}: has no use for {words[name]}", needs)
    missing = [name for name in wanted if name not in data]
    if data and missing:
        raise UsageError(
            f"{paper.key}: expected {' and '.join(words[name] for name in wanted)}, "
            f"found no {' and no '.join(words[name] for name in missing)}",
            needs,
        )
