"""Verdicts of dellamea2004 on its own data, on other data, and on data that cannot decide."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, kruskal, mannwhitneyu

from gainful import Qrels
from gainful.data.judged import Judged
from gainful.pages.page import Page, Table
from gainful.policy import Policy
from gainful_papers.dellamea2004 import study
from gainful_papers.dellamea2004.adm_experiment import Experiment, evaluate_lists, read_lists, run_experiment
from gainful_papers.dellamea2004.adm_figures import figure_7, first_hypothesis
from gainful_papers.dellamea2004.adm_tables import systems_section, table_3, table_4
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


class TestWhoseData:
    def test_other_data(self, found: Experiment) -> None:
        assert not found.is_own
        assert "comparison only" in found.data
        verdicts = {row["verdict"] for row in rows_of(systems_section(found), "Systems")}
        assert verdicts == {"other data"}

    def test_the_papers_own(self, found: Experiment) -> None:
        """Known by topics, runs, relevant documents and depth."""
        own = as_own(found)
        assert own.is_own
        assert "the paper's data" in own.data
        assert "unnamed manual runs" in own.data
        for changed in ({"relevant": 4727}, {"queries": own.queries[1:]}, {"systems": replace(own.systems, depth=999)}):
            assert not replace(own, **changed).is_own  # type: ignore[arg-type]

    def test_the_papers_collection_with_some_of_its_runs(self) -> None:
        """Known by topics 401 to 450 with 4,728 relevant documents; depth and runs may be others."""
        topics = [str(topic) for topic in range(401, 451)]
        sizes = [95] * 28 + [94] * 22
        assert sum(sizes) == 4728
        judgments = {topic: {f"r{i}": 1.0 for i in range(size)} for topic, size in zip(topics, sizes, strict=True)}
        # Run i begins with i relevant documents of 4; all that it misses are 1 away from their URS.
        lists = {
            f"run{i}": {topic: [*(f"r{j}" for j in range(i)), *(f"x{j}" for j in range(4 - i))] for topic in topics}
            for i in range(5)
        }
        own = run_experiment(Judged(Qrels.from_dict(judgments), Policy()), lists, (), None, 2, 0, 1)
        assert own.is_own_collection and not own.is_own
        assert "the paper's collection (TREC-8 ad hoc; same collection, 5 of 129 runs;" in own.data
        rows = claims_of(systems_section(own), "Systems")
        assert rows["systems"] == ("129", "5", "same collection")
        assert {verdict for *_, verdict in rows.values()} == {"same collection"}
        taus = claims_of(table_3(own), "Correlations")
        srs = (1.0, 0.75, 0.5, 0.25)
        apart = [sum(1 - each for each in srs[:i]) + sum(srs[i:]) for i in range(5)]
        adm = [statistics.fmean(1 - (apart[i] + size - i) / (4 + size - i) for size in sizes) for i in range(5)]
        assert taus["AvgPrec and ADM'"] == ("0.876", f"{kendalltau(range(5), adm).statistic:.3f}", "same collection")
        assert claims_of(table_4(own), "Correlations")["set 6, ADM'"][::2] == ("0.935", "same collection")
        [notes] = [
            part.notes for part in table_3(own).parts if isinstance(part, Table) and part.title == "Correlations"
        ]
        assert notes == ("all: same collection, 5 of 129 runs",)
        fewer = {topic: dict(list(grades.items())[1:]) for topic, grades in judgments.items()}
        other = run_experiment(Judged(Qrels.from_dict(fewer), Policy()), lists, (), None, 2, 0, 1)
        assert not other.is_own_collection

    def test_the_papers_19_worst_and_its_rule(self, found: Experiment) -> None:
        own = as_own(found)

        def paragraphs(experiment: Experiment, worst: int) -> str:
            groups = {**own.systems.groups, "Worst": tuple(f"w{i}" for i in range(worst))}
            section = systems_section(replace(experiment, systems=replace(experiment.systems, groups=groups)))
            return " ".join(part for part in section.parts if isinstance(part, str))

        assert 'The paper has 19 Worst, "systematically performing worse than median precision' in paragraphs(own, 2)
        assert "by that rule 2 systems are Worst here." in paragraphs(own, 2)
        assert "The paper has 19 Worst" not in paragraphs(own, 19)
        assert "The paper has 19 Worst" not in paragraphs(found, 2)  # other data

    def test_its_figures_have_to_be_the_same(self, found: Experiment) -> None:
        """But for those that depend on the ten best, which the paper does not name."""
        own = as_own(found)
        rows = claims_of(systems_section(own), "Systems")
        assert rows["systems"] == ("129", "129", "agrees")
        assert rows["remaining systems"] == ("109", "16", "differs")
        assert rows["Best systems"] == ("7", "9", "other data")
        taus = claims_of(table_3(own), "Correlations")
        assert {verdict for what, (_, _, verdict) in taus.items() if "ADM''" in what} == {"other data"}
        assert {verdict for what, (_, _, verdict) in taus.items() if "ADM''" not in what} == {"differs"}
        sets = claims_of(table_4(own), "Correlations")
        assert sets["set 6, ADM'"][2] == "differs"
        assert sets["set 6, ADM''"][2] == "other data"
        assert not any(what.startswith("set ") for what in claims_of(table_4(own), "Conclusions of the paper"))

    def test_they_agree_where_they_are_the_same(self, found: Experiment) -> None:
        """Two orders of 109 systems with 365 of 5,886 pairs exchanged have the tau of ADM' and AvgPrec: .876."""
        scores = {name: np.arange(109.0) for name in found.scores}
        scores["ADM'"] = order_with_exchanges(109, 365)
        names = tuple(f"s{i}" for i in range(109))
        groups = {"Best": names[:7], "Normal": names[7:90], "Worst": names[90:]}
        own = as_own(found)
        own = replace(own, systems=replace(own.systems, kept=names, groups=groups), scores=scores)
        taus = claims_of(table_3(own), "Correlations")
        assert taus["AvgPrec and ADM'"] == ("0.876", "0.876", "agrees")
        assert taus["R-Prec and AvgPrec"] == ("0.902", "1.000", "differs")
        rows = claims_of(systems_section(own), "Systems")
        assert {rows[f"{group} systems"][2] for group in groups} == {"agrees"}

    def test_what_is_drawn_stands_beside_the_papers_draw(self, found: Experiment) -> None:
        rows = list(found.sets.rows)
        rows[1] = rows[1]._replace(tau=(0.8521, 0.9109))
        claims = claims_of(table_4(as_own(replace(found, sets=replace(found.sets, rows=tuple(rows))))), "Correlations")
        assert claims["set 1, ADM'"] == ("0.852", "0.852", "agrees")
        assert claims["set 1, ADM''"] == ("0.911", "0.911", "agrees")
        spread = rows[3].spread[0]
        expected = f"{spread.lowest:.3f} to {spread.highest:.3f} in 3 draws"
        assert claims["set 3, ADM'"] == ("0.910", expected, "same collection")


def as_own(found: Experiment) -> Experiment:
    """The same as if it had the size of TREC-8."""
    names = (*found.systems.names, *(f"t{i}" for i in range(129 - len(found.systems.names))))
    topics = tuple(str(topic) for topic in range(401, 451))
    return replace(found, queries=topics, relevant=4728, systems=replace(found.systems, names=names, depth=1000))


def apart(**sizes: int) -> dict[str, list[float]]:
    """Groups of which each is wholly above the next."""
    return {group: [1000.0 * -i + j for j in range(size)] for i, (group, size) in enumerate(sizes.items())}


class TestFirstHypothesis:
    TITLE = "Kruskal-Wallis and Mann-Whitney"

    @pytest.mark.parametrize("sizes", [(7, 83, 19), (10, 10), (5, 30)])
    def test_groups_that_do_not_overlap(self, found: Experiment, sizes: tuple[int, ...]) -> None:
        """Mann-Whitney holds by its exact P = 2 / C(n + m, n); of 7 and 19 the normal one is .00014."""
        values = apart(**dict(zip(("Best", "Normal", "Worst"), sizes, strict=False)))
        claims = claims_of(first_hypothesis(grouped(found, values)), self.TITLE)
        pairs = {what: claim for what, claim in claims.items() if what.startswith("ADM': Mann-Whitney")}
        assert len(pairs) == math.comb(len(sizes), 2)
        for what, (_, finds, verdict) in pairs.items():
            one, other = (values[group] for group in what.split(", ")[1].split())
            exact = 2 / math.comb(len(one) + len(other), len(one))
            assert verdict == "holds"
            assert finds == ("P < 0.00001 (exact)" if exact < 1e-5 else f"P = {exact:.6f} (exact)")
        if "Worst" in values:
            assert mannwhitneyu(values["Best"], values["Worst"], method="asymptotic").pvalue > 0.0001
            assert claims["ADM': Kruskal-Wallis, Best Normal Worst"][2] == "holds"

    def test_groups_that_overlap(self, found: Experiment) -> None:
        values = {"Best": [50.5, 3.5, 60.5, 20.5, 9.5, 70.5, 61.5], "Normal": [float(i) for i in range(83)]}
        claims = claims_of(first_hypothesis(grouped(found, values)), self.TITLE)
        exact = mannwhitneyu(values["Best"], values["Normal"], method="exact").pvalue
        assert claims["ADM': Mann-Whitney, Best Normal"] == ("P < 0.0001", f"P = {exact:.4f} (exact)", "not seen")
        overall = kruskal(*values.values()).pvalue
        assert claims["ADM': Kruskal-Wallis, Best Normal"] == (
            "P < 0.0001",
            f"P = {overall:.4f} (chi-square)",
            "not seen",
        )

    def test_equal_values_have_no_exact_p(self, found: Experiment) -> None:
        """A tie within Best."""
        values = apart(Best=10, Normal=10)
        values["Best"][0] = values["Best"][1]
        [row] = [
            row
            for row in rows_of(first_hypothesis(grouped(found, values)), self.TITLE)
            if row["what"] == "ADM': Mann-Whitney, Best Normal"
        ]
        normal = mannwhitneyu(values["Best"], values["Normal"], method="asymptotic").pvalue
        assert (row["gainful finds"], row["verdict"]) == (f"P = {normal:.2g} (normal)", "not seen")


class TestWhatCannotBeTold:
    def test_identical_runs(self) -> None:
        """Nothing is borne out, and nothing refuted."""
        result = study(judged(), {f"s{i}": LISTS["s09"] for i in range(12)}, draws=2)
        found = {
            row["verdict"]
            for section in result.sections
            for table in Page("papers", section.parts).tables_for_machines
            if "verdict" in [column.name for column in table.columns]
            for row in rows_of(section, str(table.title))
        }
        assert found == {"not seen", "other data"}

    def test_the_best_system(self, found: Experiment) -> None:
        """By all reference measures the last one; ADM'' has another one first, or the same, or all are equal."""
        title, what = "The best system", "best system by all three reference measures"

        def claim(by_adm: Any, by_others: Any) -> tuple[str, str, str]:
            given = grouped(found, {"Normal": [0.0, 1.0, 2.0, 3.0]})
            scores = {name: np.array(by_adm if "ADM" in name else by_others, float) for name in given.scores}
            return claims_of(figure_7(replace(given, scores=scores)), title)[what]

        assert claim([0, 3, 1, 2], [0, 1, 2, 3])[1:] == ("Normal3: rank 2 of 4 by ADM''", "holds")
        assert claim([0, 1, 2, 3], [0, 1, 2, 3])[1:] == ("Normal3: rank 1 of 4 by ADM''", "not seen")
        assert claim([0, 1, 2, 3], [1, 1, 1, 1])[1:] == ("several are equal", "not seen")

    def test_another_one_is_best_by_each(self, found: Experiment) -> None:
        given = grouped(found, {"Normal": [0.0, 1.0, 2.0]})
        scores = {**given.scores, "AvgPrec": np.array([2.0, 1.0, 0.0])}
        [row] = rows_of(figure_7(replace(given, scores=scores)), "The best system")
        assert row["verdict"] == "not seen"

    def test_one_document(self) -> None:
        lists = {name: {q: each[q][:1] for q in JUDGMENTS} for name, each in LISTS.items() if name != "s04"}
        text = str(systems_section(experiment(lists)).parts[0])
        assert "Every system retrieves 1 document, the longest list, for every judged query." in text


def test_measures_keep_nothing_beside_the_runs() -> None:
    """Caches of measures are several times the size of a run: a gigabyte for 129 runs."""
    prepared = Judged(Qrels.from_dict(JUDGMENTS), Policy())
    lists, _ = read_lists(prepared, LISTS, 1)
    before = {name: set(vars(each.graded)) for name, each in lists.items()}
    evaluate_lists(lists)
    assert {name: set(vars(each.graded)) for name, each in lists.items()} == before
