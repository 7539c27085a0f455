"""Curves of sessions against vectors from plain loops, and their charts."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from gainful import Policy, SessionCurves, UsageError, session_curves
from gainful.data.sessions import Sessions
from gainful.errors import InputError
from gainful.pages.charts import Plot
from gainful.tasks.sessions.session_curves import MOST_QUERIES
from tests.together import together

Lists = dict[str, list[list[str]]]

#: Two topics; u offers nothing at all.
QRELS = {"t": {"a": 3, "b": 2, "c": 1, "n": 0}, "u": {"n": 0}}


def sessions(lists: Lists, topic: str = "t", **topics: str) -> Sessions:
    return Sessions.of(
        [
            {"session": s, "topic": topics.get(s, topic), "queries": [{"results": page} for page in pages]}
            for s, pages in lists.items()
        ]
    )


# -- the article in plain loops ----------------------------------------------------------------------------------------


def steps(pages: list[list[str]], grades: dict[str, float], k: int) -> list[float]:
    """The gain after both discounts at every position: k for every query."""
    found = []
    for q, page in enumerate(pages, 1):
        for r in range(1, k + 1):
            gain = max(grades.get(page[r - 1], 0), 0) if r <= len(page) else 0
            found.append(gain / (1 + math.log2(r)) / (1 + math.log(q, 4)))
    return found


def held(values: list[float], width: int) -> list[float]:
    """Cumulated; after the last position nothing is added."""
    found = [math.fsum(values[: i + 1]) for i in range(len(values))][:width]
    return found + [found[-1]] * (width - len(found))


def vector(pages: list[list[str]], grades: dict[str, float], k: int, width: int) -> list[float]:
    return held(steps(pages, grades, k), width)


def ideal(pages: list[list[str]], grades: dict[str, float], k: int, width: int) -> list[float]:
    best = sorted((d for d in grades if grades[d] > 0), key=lambda d: -grades[d])
    return vector([best] * len(pages), grades, k, width)


def mean(rows: list[list[float]]) -> list[float]:
    return [math.fsum(column) / len(column) for column in zip(*rows, strict=True)]


def random_sessions(seed: int) -> Lists:
    source = random.Random(seed)
    documents = ["a", "b", "c", "n", "x", "y", "z"]
    return {
        f"s{i:02}": [source.sample(documents, source.randint(0, 5)) for _ in range(source.randint(1, 6))]
        for i in range(source.randint(1, 12))
    }


@pytest.mark.parametrize("seed", range(10))
class TestRandomSessions:
    k = 3

    def test_not_normalised(self, seed: int) -> None:
        lists = random_sessions(seed)
        found = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG@3", draws=0)
        longest = max(map(len, lists.values()))
        assert (found.queries, found.longest) == (longest, longest)
        rows = [vector(pages, QRELS["t"], 3, 3 * longest) for pages in lists.values()]
        curve = found.curve("mine")
        assert curve.values.tolist() == pytest.approx(mean(rows), abs=1e-12)
        assert (curve.count, curve.average, curve.of, curve.band) == (len(lists), "mean", "all sessions", None)

    def test_both_averages(self, seed: int) -> None:
        lists = random_sessions(seed)
        found = session_curves(QRELS, {"mine": sessions(lists)}, "nsDCG@3", average="both", draws=0)
        width = 3 * found.queries
        real = [vector(pages, QRELS["t"], 3, width) for pages in lists.values()]
        best = [ideal(pages, QRELS["t"], 3, width) for pages in lists.values()]
        ratios = [[a / b for a, b in zip(x, y, strict=True)] for x, y in zip(real, best, strict=True)]
        assert found.averages() == ["mean of ratios", "ratio of means"]
        assert found.curve("mine", average="ratios").values.tolist() == pytest.approx(mean(ratios), abs=1e-12)
        of_means = [a / b for a, b in zip(mean(real), mean(best), strict=True)]
        assert found.curve("mine", average="ratio of means").values.tolist() == pytest.approx(of_means, abs=1e-12)
        # At the last position it is what the table prints.
        table = found.evaluations["mine"].mean("nsDCG@3")
        assert found.curve("mine", average="ratios").values[-1] == pytest.approx(table, abs=1e-12)

    def test_minimum_number_of_queries(self, seed: int) -> None:
        lists = random_sessions(seed) | {"long": [["x"], ["a"], [], ["b"]]}
        found = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG@3", kind="subset", draws=0)
        width = 3 * found.queries
        for of, chosen in (
            ("all sessions", lists),
            ("at least 4 queries", {s: pages for s, pages in lists.items() if len(pages) >= 4}),
        ):
            curve = found.curve("mine", of=of)
            rows = [vector(pages, QRELS["t"], 3, width) for pages in chosen.values()]
            assert curve.count == len(chosen)
            assert curve.values.tolist() == pytest.approx(mean(rows), abs=1e-12)

    def test_single_sessions(self, seed: int) -> None:
        lists = random_sessions(seed)
        found = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG@3", kind="individual", queries=4)
        assert [curve.session for curve in found.curves] == sorted(lists)
        for session, pages in lists.items():
            curve = found.curve("mine", session=session)
            assert curve.values.tolist() == pytest.approx(vector(pages, QRELS["t"], 3, 12), abs=1e-12)
            assert curve.queries == len(pages)

    def test_last_queries_and_earlier_ones(self, seed: int) -> None:
        lists = random_sessions(seed)
        found = session_curves(QRELS, {"mine": sessions(lists)}, "nsDCG@5", kind="positions")
        assert [str(measure) for measure in found.measures] == ["sDCG@5"]
        rows: dict[bool, list[list[float]]] = {True: [], False: []}
        for pages in lists.values():
            for q, page in enumerate(pages, 1):
                own = [value / (1 + math.log(q, 4)) for value in vector([page], QRELS["t"], 5, 5)]
                rows[q == len(pages)].append(own)
        last, earlier = found.curve("mine", of="last query"), found.curve("mine", of="earlier queries")
        assert (last.count, earlier.count) == (len(rows[True]), len(rows[False]))
        assert last.values.tolist() == pytest.approx(mean(rows[True]), abs=1e-12)
        if rows[False]:
            assert earlier.values.tolist() == pytest.approx(mean(rows[False]), abs=1e-12)
        else:
            assert all(map(math.isnan, earlier.values.tolist()))

    def test_best_queries(self, seed: int) -> None:
        """The best query of each session; of ties the last, which may have another vector."""
        lists = random_sessions(seed)
        curves = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG@5", kind="positions")
        found = curves.curve("mine", of="best query")
        best = []
        for pages in lists.values():
            own = [
                [value / (1 + math.log(q, 4)) for value in vector([page], QRELS["t"], 5, 5)]
                for q, page in enumerate(pages, 1)
            ]
            best.append(max(reversed(own), key=lambda each: round(each[-1], 12)))
        assert found.count == len(lists) and found.values.tolist() == pytest.approx(mean(best), abs=1e-12)


# -- the policy --------------------------------------------------------------------------------------------------------


class TestPolicy:
    lists: Lists = {"s1": [["a"], ["b"]], "s2": [["n"]]}

    def curve(self, lists: Lists | None = None, qrels: Any = QRELS, **options: Any) -> list[float]:
        topics = options.pop("topics", {})
        found = session_curves(
            qrels, {"mine": sessions(self.lists if lists is None else lists, **topics)}, "nsDCG@1", **options
        )
        return found.curve("mine").values.tolist()

    def test_undefined_sessions(self) -> None:
        # s2 has a topic without anything relevant.
        topics = {"s2": "u"}
        # s1: 3 of 3, then 3 + 2 / 1.5 of 3 + 3 / 1.5.
        own = [1.0, (3 + 2 / 1.5) / (3 + 3 / 1.5)]
        assert self.curve(topics=topics) == pytest.approx([each / 2 for each in own])
        assert self.curve(topics=topics, policy=Policy(undefined="skip")) == pytest.approx(own)

    def test_sessions_that_are_not_there(self) -> None:
        qrels = {"s1": {"a": 3, "b": 2}, "s2": {"a": 1}, "s3": {"a": 1}}
        lists: Lists = {"s1": [["a"]], "s2": [["x"]]}
        assert self.curve(lists, qrels) == pytest.approx([1 / 3])
        assert self.curve(lists, qrels, policy=Policy(missing="skip")) == pytest.approx([1 / 2])
        # Nobody knows how long the ideal of s3 would be: it has no part in a ratio of means.
        assert self.curve(lists, qrels, average="means") == pytest.approx([3 / 4])

    def test_a_ratio_begins_with_the_first_judged_query(self) -> None:
        qrels = {"s1_2": {"a": 2}, "s2_1": {"a": 2}}
        lists: Lists = {"s1": [["a"], ["a"]], "s2": [["x"], ["a"]]}
        assert self.curve(lists, qrels, judged_by="query") == pytest.approx([0.0, 0.5])
        # With undefined=skip s1 counts from its second query on.
        skipped = self.curve(lists, qrels, judged_by="query", policy=Policy(undefined="skip"))
        assert skipped == pytest.approx([0.0, 0.5])
        one = self.curve({"s1": [["a"], ["a"]]}, {"s1_2": {"a": 2}}, judged_by="query", policy=Policy(undefined="skip"))
        assert math.isnan(one[0]) and one[1] == 1.0

    def test_unjudged_documents_can_be_left_out(self) -> None:
        lists: Lists = {"s1": [["x", "a"]]}
        found = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG(unjudged=condensed)@2", draws=0)
        assert found.curve("mine").values.tolist() == [3.0, 3.0]

    def test_an_ideal_that_goes_on(self) -> None:
        # Three ideal queries for one real one: the share falls while the session stays as it is.
        found = session_curves(QRELS, {"mine": sessions({"s": [["a"]]})}, "nsDCG(ideal_queries=3)@1")
        ideals = [3, 3 + 3 / 1.5, 3 + 3 / 1.5 + 3 / (1 + math.log(3, 4))]
        assert found.curve("mine").values.tolist() == pytest.approx([3 / each for each in ideals])


# -- bands, subsets, ends ----------------------------------------------------------------------------------------------


def test_bands_of_two_sessions_reach_from_one_to_the_other() -> None:
    lists: Lists = {"s1": [["a", "x"]], "s2": [["x", "b"]]}
    found = session_curves(QRELS, {"mine": sessions(lists)}, "sDCG@2", draws=200)
    band = found.curve("mine").band
    assert band is not None
    assert (band.ranks.tolist(), band.low.tolist(), band.high.tolist()) == ([1, 2], [0.0, 1.0], [3.0, 3.0])
    again = session_curves(QRELS, {"mine": sessions(dict(reversed(lists.items())))}, "sDCG@2", draws=200)
    assert again.curve("mine").band.low.tolist() == band.low.tolist()  # type: ignore[union-attr]
    single = session_curves(QRELS, {"mine": sessions({"s1": [["a"]]})}, "sDCG@2")
    assert single.curve("mine").band is None


def test_parts_make_no_difference() -> None:
    lists = random_sessions(3)
    whole = sessions(lists)
    parts = [whole.part(i, i + 2) for i in range(0, len(whole), 2)]
    one, other = (
        session_curves(QRELS, {"mine": given}, ["sDCG@3", "nsDCG@3"], average="both") for given in (whole, parts)
    )
    for a, b in zip(one.curves, other.curves, strict=True):
        assert a.values.tolist() == b.values.tolist()
        assert a.band is not None and b.band is not None and a.band.high.tolist() == b.band.high.tolist()


def test_many_queries_are_cut() -> None:
    long: Lists = {"s": [["x"]] * 30 + [["a"]]}
    found = session_curves(QRELS, {"mine": sessions(long)}, "sDCG@2")
    assert (found.queries, found.longest, len(found.curve("mine").values)) == (MOST_QUERIES, 31, 2 * MOST_QUERIES)
    assert "the first 20 queries of each session are shown; the longest has 31" in found.page().notes
    all_of_them = session_curves(QRELS, {"mine": sessions(long)}, "sDCG@2", queries=31)
    assert all_of_them.curve("mine").values[-1] == pytest.approx(3 / (1 + math.log(31, 4)))


def test_systems_are_named_by_the_dict() -> None:
    named = Sessions.of([{"session": "s", "topic": "t", "system": "X", "queries": [{"results": ["a"]}]}])
    assert session_curves(QRELS, {"mine": named}, "sDCG@1").runs == ["mine"]


def test_choices_of_sessions() -> None:
    lists: Lists = {"s1": [["a"]], "s2": [["b"], ["a"]], "s3": [["c"]]}
    given = {"mine": sessions(lists, s3="u")}

    def count(**options: Any) -> int:
        return session_curves(QRELS, given, "sDCG@1", **options).curve("mine").count

    assert count() == 3
    assert count(session=["s1", "s3"]) == 2
    assert count(topic=["t"]) == 2
    assert count(topic=["t"], at_least=2) == 1
    with pytest.raises(InputError, match="unknown session 's9'; there are s1, s2, s3"):
        count(session=["s9"])
    with pytest.raises(InputError, match="unknown topic 'v'; there are t, u"):
        count(topic=["v"])
    with pytest.raises(InputError, match="no session has 3 queries; the longest has 2"):
        count(at_least=3)
    with pytest.raises(InputError, match="no session matches both session= and topic="):
        count(session=["s3"], topic=["t"])


# -- charts ------------------------------------------------------------------------------------------------------------


def plots(found: SessionCurves) -> list[Plot]:
    charts = list(found.page().charts)
    assert all(isinstance(chart, Plot) for chart in charts)
    return charts  # type: ignore[return-value]


class TestCharts:
    two: dict[str, Sessions] = {
        "A": sessions({"s1": [["a", "x"], ["b"]], "s2": [["x", "c"]]}),
        "B": sessions({"s1": [["x", "a"]], "s2": [["x"], ["x"], ["a"]]}),
    }

    def test_queries_end_where_the_axis_says(self) -> None:
        [plot] = plots(session_curves(QRELS, self.two, "nsDCG@4"))
        assert plot.x.ticks == ((4.0, "Q1"), (8.0, "Q2"), (12.0, "Q3"))
        assert [(rule.x, rule.label) for rule in plot.rules] == [(4.0, ""), (8.0, "")]
        assert (plot.x.low, plot.x.high, plot.y.low, plot.y.high) == (1.0, 12.0, 0.0, 1.0)
        assert [line.name for line in plot.lines] == ["A", "B"]
        assert all(line.band is not None and len(line.y) == 12 for line in plot.lines)

    def test_lines_are_the_curves(self) -> None:
        found = session_curves(QRELS, self.two, ["sDCG@2", "nsDCG@2"], average="both")
        charts = plots(found)
        assert [plot.title for plot in charts] == [
            "sDCG@2, mean over 2 sessions",
            "nsDCG@2, mean of ratios over 2 sessions",
            "nsDCG@2, ratio of means over 2 sessions",
        ]
        drawn = [list(line.y) for plot in charts for line in plot.lines]
        expected = [
            found.curve(run, measure, average=average).values.tolist()
            for measure, average in (("sDCG@2", None), ("nsDCG@2", "ratios"), ("nsDCG@2", "means"))
            for run in ("A", "B")
        ]
        assert drawn == expected

    def test_short_lists_have_no_common_ends(self) -> None:
        [plot] = plots(session_curves(QRELS, self.two, "nsDCG(short=asis)@4", draws=0))
        assert (plot.x.label, plot.x.ticks, plot.rules) == ("position in the session", (), ())

    def test_many_queries_have_fewer_ticks(self) -> None:
        [plot] = plots(session_curves(QRELS, {"A": sessions({"s": [["a"]] * 13})}, "sDCG@2", draws=0))
        assert [text for _, text in plot.x.ticks] == ["Q1", "Q5", "Q10"]
        assert len(plot.rules) == 12

    def test_subsets_and_positions_side_by_side(self) -> None:
        [plot] = plots(session_curves(QRELS, self.two, "sDCG@2", kind="positions"))
        names = [f"{run}, {of}" for run in "AB" for of in ("last", "earlier", "best")]
        assert [line.name for line in plot.lines] == names
        [plot] = plots(session_curves(QRELS, self.two, "sDCG@2", kind="subset", at_least=2))
        assert [line.name for line in plot.lines] == ["A", "A, 2+ queries", "B", "B, 2+ queries"]
        many = dict.fromkeys("ABCD", self.two["A"])
        charts = plots(session_curves(QRELS, many, "sDCG@2", kind="positions"))
        assert [plot.title for plot in charts] == [f"sDCG@2, {of} queries" for of in ("last", "earlier", "best")]
        assert [[line.name for line in plot.lines] for plot in charts] == [["A", "B", "C", "D"]] * 3
        assert charts[0].y == charts[1].y

    def test_single_sessions_of_every_system(self) -> None:
        charts = plots(session_curves(QRELS, self.two, "sDCG@2", kind="individual"))
        assert [plot.title for plot in charts] == ["sDCG@2, 2 sessions of A", "sDCG@2, 2 sessions of B"]
        assert [line.name for line in charts[0].lines] == ["s1", "s2"]

    def test_a_crowd_of_sessions_has_a_mean(self) -> None:
        crowd = sessions({f"s{i:02}": [["a"] if i % 2 else ["x"]] for i in range(20)})
        [plot] = plots(session_curves(QRELS, {"A": crowd}, "sDCG@1", kind="individual"))
        assert [line.role for line in plot.lines] == ["guide"] * 20 + ["system"]
        assert (plot.lines[-1].name, plot.lines[-1].y) == ("mean", (1.5,))

    def test_a_large_crowd_is_not_drawn_in_full(self) -> None:
        crowd = sessions({f"s{i:03}": [["a"] if i < 210 else ["x"]] for i in range(300)})
        found = session_curves(QRELS, {"A": crowd}, "sDCG@1", kind="individual")
        [plot] = plots(found)
        assert (len(plot.lines), plot.lines[-1].y) == (201, (2.1,))
        assert plot.caption == "200 sessions drawn; mean over all"
        text = found.text()
        assert "the first 50 of 300 sessions" in text and "s049" in text and "s050" not in text
        assert len(found.text("csv").splitlines()) == 302  # conventions, a header, and all sessions

    def test_a_figure_is_drawn(self, tmp_path: Any) -> None:
        for kind in ("average", "subset", "individual", "positions"):
            found = session_curves(QRELS, self.two, "sDCG@2", kind=kind)
            found.save(tmp_path / f"{kind}.png")
            assert (tmp_path / f"{kind}.png").stat().st_size > 5000


# -- wrong usage -------------------------------------------------------------------------------------------------------


@together(
    ("options", "message"),
    [
        ({"measures": "nDCG@10"}, "expected sDCG or nsDCG, found nDCG@10"),
        ({"measures": "sDCG"}, "all queries must have the same number of positions"),
        ({"measures": "sDCG(scan=recorded)@10"}, "all queries must have the same number of positions"),
        ({"measures": "sDCG(summary=best)@10"}, "expected a measure with summary=final"),
        ({"kind": "all"}, "kind: .* found 'all'"),
        ({"average": "median"}, "average: .* found 'median'"),
        ({"queries": 0}, "queries: expected a whole number"),
        ({"draws": -1}, "draws: expected a whole number"),
        ({"at_least": 0}, "at_least: expected a whole number"),
    ],
)
def test_wrong_usage(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        session_curves(QRELS, {"mine": sessions({"s1": [["a"]]})}, **options)


def test_unknown_curves() -> None:
    found = session_curves(QRELS, {"mine": sessions({"s1": [["a"]]})})
    with pytest.raises(UsageError, match="no run is called 'yours'; runs: mine"):
        found.curve("yours")
    with pytest.raises(UsageError, match="no curve for sDCG@10"):
        found.curve("mine", "sDCG@10")
    with pytest.raises(UsageError, match="of: expected all sessions, found 'last query'"):
        found.curve("mine", of="last query")
    with pytest.raises(UsageError, match="expected a dict"):
        session_curves(QRELS, sessions({"s1": [["a"]]}))  # type: ignore[arg-type]
