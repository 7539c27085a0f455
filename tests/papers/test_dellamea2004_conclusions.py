"""Conclusions of dellamea2004 from tau, and the number of systems they need."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gainful.pages.page import Page
from gainful.render import text as render_text
from gainful_papers.claims import Section
from gainful_papers.dellamea2004 import study
from gainful_papers.dellamea2004.adm_experiment import Experiment
from gainful_papers.dellamea2004.adm_tables import exchange_rule, table_3, table_4
from tests.papers.dellamea2004_collection import (
    JUDGMENTS,
    LISTS,
    claims_of,
    experiment,
    grouped,
    judged,
    order_with_exchanges,
    rows_of,
)


@pytest.fixture(scope="module")
def found() -> Experiment:
    return experiment()


def verdicts(section: Section, title: str) -> set[str]:
    return {verdict for _, _, verdict in claims_of(section, title).values()}


class TestConclusions:
    TITLE = "Conclusions of the paper"

    def with_scores(self, found: Experiment, systems: int, **exchanged: int) -> Experiment:
        """Systems in the same order by all measures but those of which so many pairs are exchanged."""
        own = grouped(found, {"Normal": [float(i) for i in range(systems)]})
        names = {"first": "ADM'", "second": "ADM''", "recall": "Rel-Ret"}
        changed = {names[key]: order_with_exchanges(systems, number) for key, number in exchanged.items()}
        return replace(own, scores={**own.scores, **changed})

    @pytest.mark.parametrize(
        ("systems", "first", "second", "verdict"),
        [
            (20, 2, 4, "holds"),
            (20, 2, 2, "not seen"),  # all the same
            (20, 4, 2, "not seen"),
            (20, 2, 20, "not seen"),  # higher by .189, which is not slightly
            (20, 2, 3, "holds"),  # by one exchange, .0105, and no less
            (20, 0, 4, "not seen"),  # higher by .042: .008 below the limit of slightly
            (20, 0, 5, "not seen"),  # higher by .053: .003 above it
            (20, 0, 6, "not seen"),  # higher by .063: .013 above it
            (9, 1, 2, "not seen"),  # one exchange is worth .056
            (
                13,
                1,
                40,
                "not seen",
            ),  # nothing is one exchange, .026, from both 0 and .05: it could not hold
        ],
    )
    def test_slightly_higher(self, found: Experiment, systems: int, first: int, second: int, verdict: str) -> None:
        given = self.with_scores(found, systems, first=first, second=second)
        assert claims_of(table_3(given), self.TITLE)["references with ADM' vs with ADM''"][2] == verdict

    @pytest.mark.parametrize(("systems", "verdict"), [(6, "not seen"), (7, "holds")])
    def test_of_few_systems_nothing_is_told(self, found: Experiment, systems: int, verdict: str) -> None:
        """One exchange of neighbours among six changes tau by .133."""
        claims = claims_of(table_3(self.with_scores(found, systems, recall=1)), self.TITLE)
        assert claims["ADMs with references vs references with each other"][2] == verdict

    @pytest.mark.parametrize(
        ("systems", "exchanged", "verdict"),
        [
            (7, 0, "holds"),  # .1 from the limit; one exchange is .095
            (7, 1, "not seen"),  # .095 below: .005 from the limit
            (7, 2, "not seen"),
            (7, 3, "not seen"),  # .286 below
            (20, 8, "holds"),  # .084 below; one exchange is .011
            (20, 9, "not seen"),
            (20, 10, "not seen"),
            (20, 11, "not seen"),  # .116 below
        ],
    )
    def test_the_same_order_of_magnitude(self, found: Experiment, systems: int, exchanged: int, verdict: str) -> None:
        """The reference measures have one order, and ADMs one with so many pairs exchanged."""
        given = self.with_scores(found, systems, first=exchanged, second=exchanged)
        [row] = [row for row in rows_of(table_3(given), self.TITLE) if row["what"].startswith("ADMs with references")]
        assert row["verdict"] == verdict
        assert row["note"].startswith("holds if the first mean is less than 0.1 below")
        margin = abs(0.1 - exchanged * 2 / math.comb(systems, 2))
        assert (f"the margin here, {margin:.3f}, is less than one exchange" in row["note"]) == (
            verdict != "holds" and margin < 4 / (systems * (systems - 1)) - 1e-9
        )

    @pytest.mark.parametrize(
        ("first", "second", "verdict"), [(3, 2, "holds"), (4, 2, "not seen"), (5, 2, "not seen"), (2, 6, "not seen")]
    )
    def test_rel_ret(self, found: Experiment, first: int, second: int, verdict: str) -> None:
        """Two pairs away from AvgPrec and R-Prec, and from ADM' and ADM'' as many as these have more than two."""
        given = self.with_scores(found, 7, first=first, second=second, recall=2)
        assert claims_of(table_3(given), self.TITLE)["Rel-Ret with ADMs vs with AvgPrec and R-Prec"][2] == verdict

    def test_the_papers_own_correlations(self, found: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
        """All three statements hold of its Table 3, although Rel-Ret has the same tau with both ADMs: 109 systems."""
        names = ("ADM'", "ADM''", "Rel-Ret", "AvgPrec", "R-Prec")
        triangle = ((0.874,), (0.891, 0.891), (0.876, 0.857, 0.824), (0.844, 0.814, 0.807, 0.902))
        given = grouped(found, {"Normal": [float(i) for i in range(109)]})
        scores = {name: np.full(109, float(i)) for i, name in enumerate(names)}

        def printed(row: Any, column: Any) -> float:
            return triangle[int(row[0]) - 1][int(column[0])]

        monkeypatch.setattr("gainful_papers.dellamea2004.adm_tables.kendall_tau", printed)
        assert verdicts(table_3(replace(given, scores=scores)), self.TITLE) == {"holds"}

    def test_the_rule_is_printed_once(self) -> None:
        """Sixteen systems have 120 pairs."""
        result = study(judged(), LISTS, draws=1)
        [rule] = [line for line in result.conventions if "one exchange of neighbours" in line]
        assert rule.endswith(f"= {2 / 120:.3f} for m = 16 systems")
        parts = tuple(part for section in result.sections for part in section.parts)
        assert "one exchange of neighbours" not in render_text(Page("papers", parts))

    def test_one_exchange_of_many_systems_is_not_0(self) -> None:
        """4 / (109 * 108) = 0.0003398."""
        assert exchange_rule(109).endswith("= 0.00034 for m = 109 systems")

    @pytest.mark.parametrize(
        ("number", "tau", "verdict"),
        [
            (6, 0.92, "holds"),
            (6, 0.916, "not seen"),
            (6, 0.884, "not seen"),
            (6, 0.88, "not seen"),
            (1, 0.82, "holds"),
            (1, 0.81, "not seen"),
            (1, 0.79, "not seen"),
            (1, 0.78, "not seen"),
        ],
    )
    def test_what_is_said_of_sets(self, found: Experiment, number: int, tau: float, verdict: str) -> None:
        """Set 6 resembles the whole very well, set 1 well enough, with the rule in the note.

        One exchange among sixteen systems is .0167.
        """
        rows = list(found.sets.rows)
        rows[number] = rows[number]._replace(tau=(tau, tau))
        section = table_4(replace(found, sets=replace(found.sets, rows=tuple(rows))))
        [row] = [row for row in rows_of(section, self.TITLE) if row["what"].startswith(f"ADM': set {number}")]
        assert row["verdict"] == verdict
        assert row["note"].startswith(f"holds if tau ≥ {0.9 if number == 6 else 0.8}; the paper has")

    def test_sets_of_few_systems(self, found: Experiment) -> None:
        section = table_4(experiment({name: LISTS[name] for name in ("s00", "s05", "s09", "s12", "s15")}))
        assert verdicts(section, self.TITLE) == {"not seen"}

    def test_the_half_of_one_query_is_all_of_it(self) -> None:
        names = [name for name in LISTS if name not in ("s04", "s17")]
        one = {name: {"1": LISTS[name]["1"]} for name in names}
        result = study(judged({"1": JUDGMENTS["1"]}), one, draws=1)
        [section] = [section for section in result.sections if section.name == "Table 4"]
        claims = claims_of(section, self.TITLE)
        assert claims["ADM': set 1, half of the topics"][1:] == ("tau 1.000", "not seen")
        assert claims["ADM': set 6, retrieved documents only"][2] == "holds"
