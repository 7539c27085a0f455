"""Della Mea and Mizzaro: Measuring retrieval effectiveness: a new proposal and a first experimental validation (2004).

Its worked examples, and its experiment on any runs; the paper's own are those of TREC-8 ad hoc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.data.judged import Judged
from gainful.data.run import RunLike
from gainful.kernel.parallel import Progress
from gainful.papers.claims import Section, Study
from gainful.papers.dellamea2004 import adm_examples as worked
from gainful.papers.dellamea2004.adm_experiment import exchange_rule, run_experiment
from gainful.papers.dellamea2004.adm_figures import figure_7, figure_8, figure_9, first_hypothesis
from gainful.papers.dellamea2004.adm_tables import systems_section, table_3, table_4


def examples() -> tuple[Section, ...]:
    """Tables 1 and 2, the planes of Figures 4 and 5, and the formulas in between.

    >>> [section.name for section in examples()][:3]
    ['Figure 2', 'Table 1', 'Figure 4']
    """
    return (
        worked.sectors(),
        worked.table_1(),
        worked.figure_4(),
        worked.categories(),
        worked.table_2(),
        worked.figure_5(),
        worked.over_and_under(),
        worked.ranks(),
    )


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    best: str | Sequence[str] = (),
    worst_share: float | None = None,
    draws: int = 20,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Study:
    """The experiment: ADM', ADM'' beside Rel-Ret, AvgPrec and R-Prec, and on parts of the documents and topics.

    ``best`` names the systems whose mean SRS is in URS'', or one of them (the first ten by average precision unless
    given; of ten runs or fewer the better half);
    ``worst_share`` is on which share of queries a Worst system is below the median (on all unless given).
    """
    found = run_experiment(judged, runs, best, worst_share, draws, seed, threads, progress or Progress())
    sections = (
        systems_section(found),
        table_3(found),
        figure_7(found),
        first_hypothesis(found),
        figure_8(found),
        table_4(found),
        figure_9(found),
    )
    depth = found.systems.depth
    conventions = (
        f"SRS = 1 - (rank - 1) / {depth}, 0 if not retrieved; URS' = grade / scale; URS'' = (3 URS' + mean SRS of the "
        "chosen) / 4",
        exchange_rule(len(found.systems.kept)),
        str(next(iter(found.evaluations.values())).signature()),
    )
    return Study(found.data, sections, found.evaluations, conventions)
