"""The plane of the user's and the system's scores, against the article's examples and against naive computations."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from gainful import Policy, evaluate
from gainful.errors import InputError, UsageError
from gainful.pages.charts import Plot
from gainful_papers import Plane, score_plane
from gainful_papers.dellamea2004.plane import PlacedDocument, Sectors, score_planes
from tests.together import together

GIVEN = "ADM(srs=score, urs=given)"
USER = {"q": {"d1": 0.8, "d2": 0.4, "d3": 0.1}}

#: Table 1 of the article: what three systems estimate, and their ADM.
TABLE_1 = {
    "IRS1": ((0.9, 0.5, 0.2), 0.9),
    "IRS2": ((1.0, 0.6, 0.3), 0.8),
    "IRS3": ((0.8, 0.4, 1.0), 0.7),
}


def random_case(seed: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Judgments (some negative) and a list that holds some of the judged and some unjudged documents."""
    draw = random.Random(seed)
    judged = {f"d{i:02}": float(draw.choice([-1, 0, 0, 1, 2, 3])) for i in range(30)} | {"d99": 3.0}
    listed = draw.sample([f"d{i:02}" for i in range(45)], 25)
    return {"q": judged}, {"q": {document: 1 - 0.04 * i for i, document in enumerate(listed)}}


def by_hand(qrels: dict[str, float], run: dict[str, float], over: str, depth: int) -> dict[str, tuple[float, float]]:
    """URS and SRS of every document that counts, by the definitions."""
    ranked = sorted(run, key=lambda document: -run[document])[:depth]
    relevant = [document for document, grade in qrels.items() if grade > 0]
    counting = {
        "retrieved+relevant": {*ranked, *relevant},
        "retrieved": {*ranked},
        "relevant": {*relevant},
        "judged": {*qrels},
    }[over]
    srs = {document: 1 - i / depth for i, document in enumerate(ranked)}
    return {document: (max(qrels.get(document, 0), 0) / 3, srs.get(document, 0.0)) for document in counting}


class TestScores:
    @pytest.mark.parametrize("name", TABLE_1)
    def test_table_1(self, name):
        estimates, adm = TABLE_1[name]
        run = {"q": dict(zip(("d1", "d2", "d3"), estimates, strict=True))}
        plane = score_plane(USER, run, "q", GIVEN, name=name)
        assert plane.adm == pytest.approx(adm)
        assert {(d.document, d.urs, d.srs) for d in plane.documents} == {
            (document, USER["q"][document], run["q"][document]) for document in USER["q"]
        }
        # Precision .5 and recall 1 for all three systems: one document is both, one is only retrieved.
        assert plane.sectors == Sectors(1, 1, 0, 1)

    @together("over", ["retrieved+relevant", "retrieved", "relevant", "judged"])
    @together("seed", range(4))
    def test_against_the_definitions(self, over, seed):
        qrels, run = random_case(seed)
        wanted = by_hand(qrels["q"], run["q"], over, 20)
        plane = score_plane(qrels, run, "q", f"ADM(over={over})@20")
        assert len(plane.documents) == len(wanted)
        ranks = {document: i + 1 for i, document in enumerate(run["q"])}
        for placed in plane.documents:
            urs, srs = wanted[placed.document]
            assert (placed.urs, placed.srs) == pytest.approx((urs, srs))
            assert placed.distance == pytest.approx(abs(srs - urs))
            assert placed.grade == qrels["q"].get(placed.document)
            assert placed.rank == (ranks[placed.document] if ranks.get(placed.document, 99) <= 20 else None)
            assert placed.estimate == ("exact" if abs(srs - urs) < 1e-9 else "over" if srs > urs else "under")
        distances = [srs - urs for urs, srs in wanted.values()]
        assert plane.adm == pytest.approx(1 - sum(map(abs, distances)) / len(distances))
        assert plane.adp == pytest.approx(1 - sum(d for d in distances if d > 0) / len(distances))
        assert plane.adr == pytest.approx(1 + sum(d for d in distances if d < 0) / len(distances))

    @pytest.mark.parametrize("measure", ["ADM@20", "ADM(distance=squared)@20", "ADM(over=500, urs_levels=2)@20"])
    def test_values_are_those_of_the_measures_and_of_the_documents(self, measure):
        qrels, run = random_case(7)
        plane = score_plane(qrels, run, "q", measure)
        alike = [measure.replace("ADM", name) for name in ("ADM", "ADP", "ADR")]
        evaluated = evaluate(qrels, run, alike)
        assert [plane.adm, plane.adp, plane.adr] == [evaluated.mean(one) for one in alike]
        sums = [sum(d.distance for d in plane.of_estimate(estimate)) for estimate in ("over", "under", "exact")]
        assert [1 - each / plane.count for each in sums] == pytest.approx([plane.adp, plane.adr, 1])

    @pytest.mark.parametrize("name", ["ADP", "ADR"])
    def test_the_other_measures_mean_the_same_plane(self, name):
        qrels, run = random_case(1)
        one, other = (score_plane(qrels, run, "q", f"{m}(over=judged)@10") for m in ("ADM", name))
        assert one.documents == other.documents and str(other.measure) == "ADM(over=judged)@10"

    def test_the_rest_of_a_collection(self):
        plane = score_plane({"q": {"a": 1, "b": 0}}, {"q": ["b", "c"]}, "q", "ADM(over=10)@2")
        assert {d.document for d in plane.documents} == {"a", "b", "c"}
        assert (plane.rest, plane.count) == (7, 10)
        assert plane.adm == pytest.approx(1 - (1 + 1 + 0.5) / 10)
        assert plane.sectors == Sectors(0, 2, 1, 7)
        assert sum(score_plane({"q": {"a": 1}}, {"q": ["b"]}, "q", "ADM(over=9)", threshold=0).sectors) == 9

    def test_furthest_first(self):
        qrels, run = random_case(3)
        off = [abs(placed.difference) for placed in score_plane(qrels, run, "q", "ADM@20").documents]
        assert all(a >= b - 1e-12 for a, b in pairwise(off))
        plane = score_plane({"q": {"b": 1, "a": 1, "c": 1}}, {"q": ["x"]}, "q", "ADM@1")
        assert [placed.document for placed in plane.documents] == ["x", "a", "b", "c"]

    def test_sectors_are_what_precision_and_recall_at_thresholds_count(self):
        qrels, run = random_case(5)
        for threshold in (0.3, 0.5, 2 / 3):
            plane = score_plane(qrels, run, "q", "ADM(srs=score)", threshold=threshold)
            both, only_retrieved, only_relevant, _ = plane.sectors
            names = [
                f"{name}(urs_threshold={threshold!r}, srs_threshold={threshold!r}, srs=score)"
                for name in ("ThresholdP", "ThresholdR")
            ]
            evaluated = evaluate(qrels, run, names)
            assert evaluated.mean(names[0]) == pytest.approx(both / (both + only_retrieved))
            assert evaluated.mean(names[1]) == pytest.approx(both / (both + only_relevant))

    def test_condensed_lists_close_up(self):
        plane = score_plane({"q": {"a": 1}}, {"q": ["x", "a"]}, "q", "ADM@2", policy=Policy(unjudged="condensed"))
        assert plane.documents == (PlacedDocument("a", 1, 1.0, 1.0, 1.0, 0.0),)

    def test_a_query_that_the_run_does_not_answer(self):
        plane = score_plane({"q": {"a": 1}, "r": {"a": 1}}, {"r": ["a"]}, "q")
        assert (plane.is_answered, plane.adm, plane.adr) == (False, 0.0, 0.0)
        assert "does not answer query q" in str(plane)

    def test_no_document_to_compare(self):
        plane = score_plane({"q": {"a": 0}, "r": {"a": 1}}, {"r": ["a"]}, "q")
        assert math.isnan(plane.adm)
        text = " ".join(str(plane).split())
        assert "ADM undefined" in text and "no documents to compare" in text


class TestSeveral:
    def test_query_by_query_run_by_run(self):
        qrels, runs = {"q": {"a": 1}, "r": {"a": 1}}, {"one": {"q": ["a"]}, "two": {"q": ["b"], "r": ["a"]}}
        planes = score_planes(qrels, runs, ["r", "q", "r"])
        assert [(plane.query, plane.run) for plane in planes] == [
            ("r", "one"),
            ("r", "two"),
            ("q", "one"),
            ("q", "two"),
        ]
        assert len(planes) == 4 and isinstance(planes.planes[0], Plane)
        assert len(list(planes.page().charts)) == 4

    def test_scale_is_that_of_all_queries(self):
        plane = score_plane({"q": {"a": 1}, "r": {"a": 4}}, {"q": ["a"]}, "q")
        assert plane.documents[0].urs == 0.25 and plane.signature.scale == 4


class TestPage:
    def plane(self) -> Plane:
        return score_plane(*random_case(2), "q", "ADM@20", threshold=0.4, name="bm25")

    def test_the_chart_is_the_data(self):
        plane = self.plane()
        [chart] = plane.page().charts
        assert isinstance(chart, Plot) and chart.is_square
        drawn = {points.name: set(zip(points.x, points.y, strict=True)) for points in chart.points}
        for estimate, name in (("over", "overestimated"), ("under", "underestimated"), ("exact", "exact")):
            assert drawn[name] == {(d.urs, d.srs) for d in plane.of_estimate(estimate)}
        [ideal] = chart.lines
        assert (ideal.x, ideal.y, ideal.role) == ((0, 1), (0, 1), "ideal")
        assert [(rule.x, rule.y) for rule in chart.rules] == [(0.4, None), (None, 0.4)]
        assert all(f"{name} {value:.4f}" in chart.caption for name, value in self.values(plane))

    def values(self, plane: Plane) -> list[tuple[str, float]]:
        return [("ADM", plane.adm), ("ADP", plane.adp), ("ADR", plane.adr)]

    def test_only_the_furthest_off_are_named(self):
        plane = self.plane()
        [chart] = plane.page().charts
        named = {label for points in chart.points for label in points.labels if label}
        over, under = plane.of_estimate("over"), plane.of_estimate("under")
        assert named == {placed.document for placed in (*over[:3], *under[:3])}

    def test_people_see_ten_documents_and_machines_all(self):
        plane = self.plane()
        assert f"{len(plane.documents) - 10} more in csv and jsonl" in plane.text()
        assert plane.text("csv").count("\nbm25,q,") == 1 + len(plane.documents)
        people = plane.text().split("largest distance first")[1]
        assert [placed.document in people for placed in plane.documents] == [True] * 10 + [False] * (
            len(plane.documents) - 10
        )

    def test_sentences_count(self):
        text = " ".join(self.plane().text().split())
        both, only_retrieved, only_relevant, neither = self.plane().sectors
        assert (
            f"With the threshold at 0.4, {both} are retrieved and relevant, {only_retrieved} only retrieved, "
            f"{only_relevant} only relevant, {neither} neither."
        ) in text

    @pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
    def test_a_figure(self, ending, tmp_path):
        self.plane().save(tmp_path / f"plane.{ending}")
        assert (tmp_path / f"plane.{ending}").stat().st_size > 5000


class TestRefusals:
    def test_nothing_to_place(self):
        with pytest.raises(UsageError, match="at least one run and one query"):
            score_planes(USER, {}, ["q"])
        with pytest.raises(UsageError, match="expected several query IDs"):
            score_planes(USER, {"a": USER}, "q")

    def test_scores_that_are_no_estimates(self):
        with pytest.raises(InputError, match="expected scores from 0 to 1"):
            score_plane(USER, {"q": {"d1": 7.0}}, "q", GIVEN)


def test_the_band_of_figure_6a_and_what_is_beyond_it() -> None:
    """Distances 0, 0.7, 0.8 and -0.6: within 0.65 are the first and the last."""
    user = {"q": {"d1": 1.0, "d2": 0.2, "d3": 0.0, "d4": 0.9}}
    system = {"q": {"d1": 1.0, "d2": 0.9, "d3": 0.8, "d4": 0.3}}
    plane = score_plane(user, system, "q", "Pstar(t=0.65, srs=score, urs=given)")
    assert (plane.tolerance, plane.beyond(0.65), plane.beyond(0.1)) == (0.65, (2, 2, 0), (1, 2, 1))
    way = "(t=0.65, srs=score, urs=given)"
    measures = [f"{name}{way}" for name in ("Pstar", "Rstar")]
    values = evaluate(user, system, measures)
    text = next(part for part in plane.page().parts if isinstance(part, str))
    told = f"P* {values.mean(measures[0]):.4f}, R* {values.mean(measures[1]):.4f}."
    assert text.endswith(
        f"Within 0.65 of the user score, 2 documents are estimated correctly, 2 too high and 0 too low: {told}"
    )
    [plot] = plane.page().charts
    bands = [(line.x, line.y) for line in plot.lines if line.role == "guide"]
    assert bands == [((0.0, 0.35), (0.65, 1.0)), ((0.65, 1.0), (0.0, 0.35))]
    assert not plot.rules
    usual = score_plane(user, system, "q", "ADM(srs=score, urs=given)")
    assert usual.tolerance is None and len(next(usual.page().charts).rules) == 2
