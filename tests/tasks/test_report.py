"""The page of `gainful report`: its numbers are those of `evaluate` and `compare`, its lists those of the runs, and
nothing that is in the data becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import re
import struct
import zlib
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from scipy import special

import gainful
from gainful.errors import InputError, UsageError
from gainful.tasks.report import HtmlReport

#: What markup, terminals and readers from right to left would make something of.
NASTY = [
    "</script><script>alert(1)</script>",
    "<img/src=x/onerror=alert(1)>",
    "\u202egnp.exe",
    "\x1b[31mred",
    "a&amp;b'\"",
]
MEASURES = ["nDCG(gain=0-1-10)@3", "AP", "Judged@5"]
QRELS = {
    "q1": {"d1": 2, "d2": 1, "d3": 0, "d4": 1},
    "q2": {"d1": 0, "d5": 1},
    "q3": {"d7": 0},  # nothing relevant
    "q4": {"d8": 2, "d9": 1},
}
RUNS = {
    "old": {"q1": ["d3", "d1", "x1", "d2"], "q2": ["d1", "d5"], "q3": ["d7"]},  # q4 is missing
    "new": {"q1": ["d1", "d2", "x1"], "q2": ["d5"], "q3": ["x2", "d7"], "q4": ["d9", "d8"]},
    "alt": {"q1": ["x9", "d4"], "q2": ["x9", "d1", "d5"], "q3": ["d7"], "q4": ["d8"]},
}
TYPES = {"u8": "B", "u16": "H", "u32": "I", "f64": "d"}


def unpacked(text: str) -> SimpleNamespace:
    """A data block of the page, decoded by the contract between Python and the script."""
    data = zlib.decompress(base64.b64decode(text), 31)
    (size,) = struct.unpack("<I", data[:4])
    assert (4 + size) % 8 == 0
    content = json.loads(data[4 : 4 + size])
    arrays = {}
    for name, where in content.pop("arrays").items():
        assert where["at"] % 8 == 0
        arrays[name] = struct.unpack_from(f"<{where['length']}{TYPES[where['type']]}", data, 4 + size + where["at"])
    return SimpleNamespace(**content, arrays=arrays)


def blocks(html: str) -> tuple[SimpleNamespace, SimpleNamespace]:
    texts = re.findall(
        r'<script type="application/octet-stream" id="(?:data|documents)">([A-Za-z0-9+/=]*)</script>', html
    )
    numbers, documents = texts
    return unpacked(numbers), unpacked(documents)


def lists_of(numbers: SimpleNamespace, documents: SimpleNamespace) -> dict[str, dict[str, list[str]]]:
    """The documents at each rank, decoded as by the page."""
    systems, queries, depth = len(numbers.systems), len(numbers.queries), documents.depth
    found: dict[str, dict[str, list[str]]] = {name: {} for name in numbers.systems}
    low, high = documents.arrays["docs"], documents.arrays["docsHigh"]
    for q, query in enumerate(numbers.queries):
        seen = 0
        for rank in range(depth):
            for s, name in enumerate(numbers.systems):
                place = (s * queries + q) * depth + rank
                code = low[place] + 256 * high[place]
                if code:
                    seen += code == 1
                    at = seen - 1 if code == 1 else seen + 1 - code
                    found[name].setdefault(query, []).append(documents.ids[q][at])
    assert systems * queries * depth == len(low)
    return found


@pytest.fixture(scope="module")
def page() -> HtmlReport:
    return gainful.report(QRELS, RUNS, MEASURES, baseline="old")


@pytest.fixture(scope="module")
def read(page: HtmlReport) -> tuple[SimpleNamespace, SimpleNamespace]:
    return blocks(page.html)


def test_the_lists_are_those_of_the_runs(read):
    numbers, documents = read
    assert lists_of(numbers, documents) == RUNS
    depth, queries = numbers.depth, numbers.queries
    for s, run in enumerate(RUNS.values()):
        for q, query in enumerate(queries):
            listed = run.get(query, [])
            codes = numbers.arrays["grades"][(s * len(queries) + q) * depth :][:depth]
            grades = [QRELS[query].get(document) for document in listed]
            expected = [1 if grade is None else 2 + numbers.levels.index(grade) for grade in grades]
            assert list(codes) == expected + [0] * (depth - len(listed))
            assert numbers.arrays["answered"][s * len(queries) + q] == (query in run)


def test_what_is_judged_is_there_for_ideal_lists(read):
    numbers, documents = read
    for q, query in enumerate(numbers.queries):
        of_query = slice(*numbers.arrays["poolAt"][q : q + 2])
        levels = [numbers.levels[i] for i in numbers.arrays["poolLevel"][of_query]]
        counts = dict(zip(levels, numbers.arrays["poolCount"][of_query], strict=True))
        grades = list(QRELS[query].values())
        assert counts == {grade: grades.count(grade) for grade in set(grades)}
        of_query = slice(*documents.arrays["poolDocAt"][q : q + 2])
        named = [documents.ids[q][i] for i in documents.arrays["poolDoc"][of_query]]
        best = [numbers.levels[i] for i in documents.arrays["poolDocLevel"][of_query]]
        assert dict(zip(named, best, strict=True)) == {d: grade for d, grade in QRELS[query].items() if grade > 0}
        assert best == sorted(best, reverse=True)


def test_scores_are_those_of_evaluate_and_of_the_lists(read):
    numbers, _ = read
    found = gainful.evaluate(QRELS, RUNS, MEASURES)
    for i, measure in enumerate(numbers.measures):
        for s, name in enumerate(numbers.systems):
            assert measure["means"][s] == pytest.approx(found[name].aggregate(MEASURES[i]), nan_ok=True)
    assert (numbers.first, numbers.live) == (0, 0)  # the first one orders systems, and the controls start with it
    # The measure that the page recomputes, from its own numbers alone.
    assert numbers.settings == {"measure": "nDCG", "discount": "burges2005", "base": 2, "depth": 3, "average": "ratios"}
    assert dict(zip(numbers.levels, numbers.gains, strict=True)) == {0: 0, 1: 1, 2: 10}
    for s, name in enumerate(numbers.systems):
        for q, query in enumerate(numbers.queries):
            codes = numbers.arrays["grades"][(s * 4 + q) * numbers.depth :][:3]
            run = [0 if code < 2 else numbers.gains[code - 2] for code in codes]
            pool = slice(*numbers.arrays["poolAt"][q : q + 2])
            levels, counts = numbers.arrays["poolLevel"][pool], numbers.arrays["poolCount"][pool]
            best = sorted(
                (numbers.gains[i] for i, n in zip(levels, counts, strict=True) for _ in range(n)), reverse=True
            )
            run_sum, ideal = (sum(g / math.log2(j + 2) for j, g in enumerate(gains[:3])) for gains in (run, best))
            value = found[name].by_query(MEASURES[0])[query] or 0.0
            assert value == pytest.approx(run_sum / ideal if ideal else 0.0, abs=1e-12), (name, query)


def test_statistics_are_those_of_compare(read, page):
    numbers, _ = read
    found = gainful.compare(QRELS, RUNS, MEASURES[:2])
    assert numbers.baseline == 0
    assert [each["measure"] for each in numbers.pairs] == [0, 1]
    for each, result in zip(numbers.pairs, found.systems.values(), strict=True):
        for i, (a, b) in enumerate([("old", "new"), ("old", "alt"), ("new", "alt")]):
            pair = result.family.pair(b, a)
            expected = [pytest.approx(value, rel=1e-6) for value in (pair.difference, pair.p, pair.adjusted)]
            assert [each[name][i] for name in ("difference", "p", "adjusted")] == expected
    first = numbers.measures[0]
    assert [tuple(each) for each in first["ranks"]] == list(found.systems[MEASURES[0]].family.rank_intervals)
    # Letters of the leaderboard, back in the order given.
    result = found.systems[MEASURES[0]]
    assert first["marks"] == [result.letters[result.family.order.index(i)] for i in range(3)]
    # The decision comes first, then the sentence of `compare` on the baseline.
    baseline = gainful.compare(QRELS, RUNS, MEASURES[0], baseline="old").text().replace("\n", " ")
    decision, answer = page.data.answer
    assert answer in baseline and decision == "No clear winner: any of the 3 systems could be best; new leads."


def test_judged_shares_and_recall_curves(read):
    numbers, _ = read
    shares = gainful.evaluate(QRELS, RUNS, ["Judged@5"], policy=gainful.Policy(undefined="skip"))
    assert numbers.judged["k"] == [5, 10, 20, 50, 100]
    assert numbers.judged["share"][0] == [pytest.approx(each.mean("Judged@5")) for each in shares.values()]
    curves = gainful.recall_levels(QRELS, RUNS, by="rel")
    assert [each["level"] for each in numbers.recall] == [1, 2]
    for each in numbers.recall:
        assert each["points"] == [i / 10 for i in range(11)]
        assert each["precision"] == [pytest.approx(curves.precision(name, each["level"], "rel")) for name in RUNS]


def test_one_system():
    page = gainful.report(QRELS, RUNS["new"], "AP")
    alone, _ = blocks(page.html)
    mean = gainful.evaluate(QRELS, RUNS["new"], "AP").mean("AP")
    assert (alone.pairs, alone.pair) == ([], [0, 0])
    assert page.data.answer == [f"run has AP {mean:.4f}, the mean over 4 queries."]


def test_the_first_sentence_decides_and_the_title_names_the_leaders():
    qrels, runs = random_collection()
    means = {name: gainful.evaluate(qrels, run, "nDCG@5").mean("nDCG@5") for name, run in runs.items()}
    ahead = means["top"] / means["mid"] - 1
    data = gainful.report(qrels, runs, ["nDCG@5", "AP"]).data
    assert data.answer[0] == f"top is clearly the best, {ahead:.0%} ahead of mid."
    assert data.title == "top, mid and low: nDCG@5 on 12 queries"
    assert data.meaning == (
        "nDCG@5: Normalised discounted cumulated gain: how close a list comes to the best possible one, which scores 1;"
        " better documents and higher ranks count more."
    )
    pair = gainful.compare(qrels, runs, "nDCG@5").systems["nDCG@5"].family.pair("top", "mid")
    assert data.answer[1].startswith(
        f"Difference between top and mid: {pair.difference:+.3f} nDCG@5 "
        f"(simultaneous 95% CI {pair.low:.3f} to {pair.high:.3f}, adjusted p "
    )
    assert gainful.report(qrels, runs, "NDPM").data.meaning.endswith("user's preferences (lower is better).")
    # Two indistinguishable systems, and the same system twice.
    close = {"one": runs["mid"], "two": {**runs["mid"], "q00": runs["top"]["q00"]}, "low": runs["low"]}
    first = gainful.report(qrels, close, "AP").data.answer[0]
    assert first == f"No clear winner: 2 of 3 systems could be best; {'two' if mean_of(qrels, close) else 'one'} leads."
    del close["low"]
    first = gainful.report(qrels, close, "AP").data.answer[0]
    assert re.fullmatch(
        r"No clear winner: (one|two) is [\d.]+% (ahead of|behind) (one|two), which may be due to chance\.", first
    )
    close["two"] = close["one"]
    assert gainful.report(qrels, close, "AP").data.answer[0] == "No clear winner: two and one have the same mean AP."
    close["three"] = close["one"]
    assert gainful.report(qrels, close, "AP").data.answer[0] == "No clear winner: all 3 have the same mean AP."
    # Means of queries that do not weigh the same are called so.
    queries = gainful.Queries({q: {"visits": 1 + i} for i, q in enumerate(qrels)}, weights="visits")
    weighted = gainful.report(qrels, runs["top"], "nDCG@5", queries=queries).data
    assert "the weighted mean over 12 queries, effective sample size " in weighted.answer[0]
    assert next(weighted.plots()).title.startswith("nDCG by rank, weighted mean over 12 queries")


def test_long_names_stay_distinct():
    """Names that begin alike are told apart in the title and in both sentences."""
    qrels, runs = random_collection()
    long = {f"of-the-university-of-somewhere-reranked-{name}-with-all-data": run for name, run in runs.items()}
    data = gainful.report(qrels, long, "nDCG@5").data
    for text in (data.title, *data.answer):
        assert re.search(r"of-[-.\w]*top-w", text) and re.search(r"of-[-.\w]*mid-w", text), text
    two = gainful.report(qrels, dict(list(long.items())[:2]), "nDCG@5").data
    assert all("mid-w" in text and "low-w" in text for text in two.answer)


def mean_of(qrels: dict[str, dict[str, int]], runs: dict[str, dict[str, list[str]]]) -> bool:
    """Whether the second of two runs has the higher mean."""
    one, two = (gainful.evaluate(qrels, runs[name], "AP").mean("AP") for name in ("one", "two"))
    return two > one


def random_collection() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, list[str]]]]:
    """Twelve queries, and three systems of which the last is best."""
    rng = random.Random(4)
    qrels = {f"q{q:02d}": {f"d{d}": rng.choice([0, 0, 1, 2]) for d in range(20)} for q in range(12)}
    runs = {
        name: {q: sorted(of, key=lambda d: -noise * rng.random() - of[d])[:8] for q, of in qrels.items()}
        for name, noise in (("low", 9), ("mid", 4), ("top", 1))
    }
    return qrels, runs


@pytest.mark.parametrize("baseline", [None, "top", "mid"])
def test_a_pair_is_the_second_minus_the_first_whichever_is_the_baseline(baseline):
    qrels, runs = random_collection()
    runs = {name: runs[name] for name in ("top", "mid")}
    found = gainful.evaluate(qrels, runs, "AP")
    values = [list(each.by_query("AP").values()) for each in found.values()]
    differences = [second - first for first, second in zip(*values, strict=True)]
    page = gainful.report(qrels, runs, "AP", baseline=baseline)
    numbers, _ = blocks(page.html)
    [pair] = numbers.pairs
    assert pair["difference"] == [pytest.approx(sum(differences) / 12, rel=1e-6)]
    # The test of all 2^12 signs, which are the same in either direction.
    sums = [abs(sum(d * s for d, s in zip(differences, signs, strict=True))) for signs in product((1, -1), repeat=12)]
    p = sum(each >= abs(sum(differences)) - 1e-9 for each in sums) / 2**12
    assert pair["p"] == pair["adjusted"] == [pytest.approx(p, rel=1e-6)]
    assert (pair["measure"], pair["alpha"], pair["correction"]) == (0, 0.05, None)
    said = str(gainful.compare(qrels, runs, "AP", baseline=baseline)).partition("\n\n")[0]
    share = abs(sum(differences)) / sum(values[1 if baseline == "mid" else 0])
    beats = f"top beats mid by {share:.0%}" if baseline == "mid" else f"mid is behind top by {share:.0%}"
    assert page.data.answer == [f"{beats}, clearly.", said.replace("\n", " ")]
    assert numbers.baseline == {None: None, "top": 0, "mid": 1}[baseline]
    # The initial pair: the baseline or the second best, and the best other system.
    assert numbers.pair == ([0, 1] if baseline == "top" else [1, 0])


def test_what_the_page_knows_of_measures_beside_their_means():
    qrels, runs = random_collection()
    measures = ["AP", "NDPM", "Judged@5", "GMAP"]  # the lower NDPM is, the better; the last two order nothing
    numbers, _ = blocks(gainful.report(qrels, runs, measures).html)
    found = gainful.compare(qrels, runs, measures[:2])
    assert numbers.t == [pytest.approx(special.stdtrit(11, 0.975))] * 3
    assert [each["higherIsBetter"] for each in numbers.measures] == [True, False, True, True]
    assert ["low" in each for each in numbers.measures] == [True, True, False, False]
    for each, result in zip(numbers.measures, found.systems.values(), strict=False):
        half = result.family.threshold / 2
        assert each["low"] == [pytest.approx(mean - half) for mean in each["means"]]
        assert each["high"] == [pytest.approx(mean + half) for mean in each["means"]]
    assert [(each["test"], each["correction"]) for each in numbers.pairs] == [
        (result.family.test, result.deciding) for result in found.systems.values()
    ]
    assert (numbers.baseline, numbers.pair, numbers.judged["tells"]) == (None, [1, 2], True)
    relevant = {query: {d: grade for d, grade in of.items() if grade} for query, of in qrels.items()}
    two = {"top": runs["top"], "low": runs["low"]}
    numbers, _ = blocks(gainful.report(relevant, two, ["NDPM", "AP"], baseline="low").html)
    assert (numbers.baseline, numbers.pair, numbers.judged["tells"]) == (1, [1, 0], False)
    for each, of in zip(numbers.measures, gainful.compare(relevant, two, ["NDPM", "AP"]).pairs.values(), strict=True):
        half = (of.interval.high - of.interval.low) / 4
        assert each["high"] == [pytest.approx(mean + half) for mean in each["means"]]


def test_bounds_and_losses_are_those_of_evaluate():
    qrels, runs = random_collection()
    measures = ["nDCG@5", "AP", "NDPM", "nDCG(unjudged=condensed)@5"]  # the last two have no exact bounds
    about = gainful.Queries({query: {"visits": i} for i, query in enumerate(qrels)}, weights="visits")
    numbers, _ = blocks(gainful.report(qrels, runs, measures, queries=about).html)
    found = gainful.evaluate(qrels, runs, measures[:2], queries=about, bounds=True, loss=True)
    assert [sorted({"bounds", "loss"} & each.keys()) for each in numbers.measures] == [["bounds", "loss"]] * 2 + [
        [],
        ["loss"],
    ]
    for each in numbers.measures[:2]:
        for kind in ("bounds", "loss"):
            of_runs = [run.beside(kind, each["name"]) for run in found.values()]
            assert each[kind] == {name: [parts[name] for parts in of_runs] for name in of_runs[0]}
        assert sum(map(sum, each["loss"].values())) + sum(each["means"]) == pytest.approx(len(runs))
    # Parts that only one run has keep their place.
    runs = {"short": {"q": ["a"]}, "long": {"q": [f"x{i}" for i in range(1000)] + ["a"]}}
    numbers, _ = blocks(gainful.report({"q": {"a": 1, "z": 0}}, runs, "nDCG@5").html)
    parts = {"order": [0, 0], "6-100": [0, 0], "101-1000": [0, 0], "after 1000": [0, 1], "not retrieved": [0, 0]}
    assert list(numbers.measures[0]["loss"].items()) == list(parts.items())
    qrels, runs = random_collection()
    # Without judgments of other documents, an unjudged one counts as not relevant.
    relevant = {query: {d: grade for d, grade in of.items() if grade > 0} for query, of in qrels.items()}
    assert ["bounds" in each for each in blocks(gainful.report(relevant, runs, measures).html)[0].measures] == [
        False
    ] * 4


def test_abstention_is_that_of_its_curves(monkeypatch):
    qrels, lists = random_collection()
    qrels["q11"] = dict.fromkeys(qrels["q11"], 0)  # nothing relevant
    rng = random.Random(1)
    top = {name: {query: rng.choice([3, 4, 5, 6]) for query in of} for name, of in lists.items()}
    runs = {
        name: {query: {d: top[name][query] - i / 10 for i, d in enumerate(ds)} for query, ds in of.items()}
        for name, of in lists.items()
    }
    del runs["mid"]["q03"]
    chosen = [query for query in qrels if query != "q00"]

    def plain(values):
        return [value if math.isfinite(value) else None for value in values]

    def check(queries, draws):
        found = gainful.abstention_curves({query: qrels[query] for query in queries}, runs, "nDCG@5", draws=draws)
        numbers, _ = blocks(
            gainful.report(qrels, runs, ["Judged@5", "nDCG@5"], queries=gainful.Queries(only=queries)).html
        )
        assert (numbers.abstention["measure"], numbers.abstention["level"]) == ("nDCG@5", 0.1)
        curves = [found.curves[name, "nDCG@5"] for name in runs]
        assert numbers.abstention["area"] == [plain(curve.area.tolist()) for curve in curves]
        assert numbers.abstention["rows"] == [[plain(curve.row(i)) for i in curve.shown] for curve in curves]
        lowest = [None if each.lowest is None else plain(each.row(each.lowest)) for each in curves]
        assert numbers.abstention["lowest"] == lowest

    check(chosen, 1000)
    monkeypatch.setattr("gainful.tasks.report._MOST_RESAMPLED", 35)
    check(list(qrels), 0)
    # Lists have no scores, and ones that are all equal decide nothing; the curves have no weights.
    equal = {"one": {query: {"d1": 1.0} for query in qrels}}
    weighted = gainful.Queries({query: {"visits": 1 + i} for i, query in enumerate(qrels)}, weights="visits")
    for some, measure, about in (
        (lists, "AP", None),
        (equal, "AP", None),
        (runs, "DCG@5", None),
        (runs, "AP", weighted),
    ):
        assert blocks(gainful.report(qrels, some, measure, queries=about).html)[0].abstention is None


def test_one_query_real_grades_and_nothing_relevant():
    numbers, _ = blocks(
        gainful.report({"q": {"a": 0.25, "b": 0.75, "c": -1}}, {"one": {"q": ["c", "a", "z", "b"]}}).html
    )
    assert (numbers.levels, numbers.gains) == ([-1, 0.25, 0.75], [0, 0.25, 0.75])
    assert list(numbers.arrays["grades"][:5]) == [2, 3, 1, 4] + [0] * (numbers.depth > 4)
    nothing, _ = blocks(gainful.report({"q": {"a": 0}}, {"one": {"q": ["a"]}, "two": {"q": ["b"]}}).html)
    assert nothing.recall == []
    many = {f"q{i}": {f"d{j}": (i * 60 + j) / 7 for j in range(60)} for i in range(5)}
    numbers, _ = blocks(gainful.report(many, {"one": {query: list(found)[::-1] for query, found in many.items()}}).html)
    assert len(numbers.levels) == 300
    assert [numbers.levels[code - 2] for code in numbers.arrays["grades"][:60]] == list(many["q0"].values())[::-1]
    assert len(numbers.recall) == 2


def test_the_page_starts_with_what_it_can_compute():
    asked = ["nDCG(unjudged=condensed)@5", "CG(average=ranks)@5", "DCG(base=3, discount=jarvelin2002)@4", "nCG@2"]
    numbers, _ = blocks(gainful.report(QRELS, RUNS, asked).html)
    started = {"measure": "DCG", "discount": "jarvelin2002", "base": 3, "depth": 4, "average": "ratios"}
    assert numbers.settings == started
    assert (numbers.first, numbers.live) == (0, 2)
    numbers, _ = blocks(gainful.report(QRELS, RUNS, ["Judged@5", "AP"]).html)
    assert (numbers.settings["measure"], numbers.first, numbers.live) == ("nDCG", 1, None)
    # If lists may continue beyond the ranks kept, the page cannot compute a measure of whole lists.
    assert blocks(gainful.report(QRELS, RUNS, "nDCG").html)[0].live == 0
    assert blocks(gainful.report(QRELS, RUNS, "nDCG", ranks=3).html)[0].live is None


def test_the_policy_holds(read):
    policy = gainful.Policy(missing="skip", unjudged="condensed")
    numbers, documents = blocks(gainful.report(QRELS, RUNS, "nDCG@3", policy=policy).html)
    judged = {name: {q: [d for d in ds if d in QRELS[q]] for q, ds in run.items()} for name, run in RUNS.items()}
    assert lists_of(numbers, documents) == judged
    found = gainful.evaluate(QRELS, RUNS, "nDCG@3", policy=policy)
    assert numbers.measures[0]["means"] == [each.mean("nDCG@3") for each in found.values()]
    assert (numbers.missing, numbers.undefined) == ("skip", "zero")
    assert "bounds" not in numbers.measures[0]


def test_queries_have_texts_groups_and_weights():
    table = {q: {"text": f"about {q}", "kind": kind, "visits": n} for q, kind, n in
             [("q1", "long", 3), ("q2", "short", 1), ("q3", "long", 0), ("q4", "short", 4)]}  # fmt: skip
    queries = gainful.Queries(table, weights="visits")
    numbers, documents = blocks(gainful.report(QRELS, RUNS, "AP", queries=queries).html)
    assert numbers.queries == ["q1", "q2", "q4"]  # one has no weight
    assert numbers.texts == ["about q1", "about q2", "about q4"]
    assert numbers.segments["kind"] == ["long", "short", "short"]
    assert list(numbers.arrays["weights"]) == pytest.approx([9 / 8, 3 / 8, 12 / 8])
    kept = {name: {q: ds for q, ds in run.items() if q != "q3"} for name, run in RUNS.items()}
    assert lists_of(numbers, documents) == kept
    found = gainful.evaluate(QRELS, RUNS, "AP", queries=queries)
    assert numbers.measures[0]["means"] == [each.mean("AP") for each in found.values()]


def test_titles(tmp_path: Path):
    table = tmp_path / "titles.csv"
    table.write_text('docno,title,year\nd1,"The first, of all",1999\nd9,Ninth,2001\nelsewhere,No,2002\n')
    _, documents = blocks(gainful.report(QRELS, RUNS, "AP", documents=str(table)).html)
    assert documents.titles == {"d1": "The first, of all", "d9": "Ninth"}
    table.write_text("d1\tThe first\nx1\tunjudged\n")
    queries = tmp_path / "queries.csv"
    queries.write_text("qid,text\nq1,foxes\nq2,tea\nq3,bees\nq4,ants\n")
    html = gainful.report(QRELS, RUNS, "AP", documents=table, queries=queries).html
    assert blocks(html)[1].titles == {"d1": "The first", "x1": "unjudged"}
    for file in (table, queries):  # hashes identify the files
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert f"{file}</th><td>{digest}</td>" in html
    long = blocks(gainful.report(QRELS, RUNS, "AP", documents={"d1": "word " * 100}).html)[1].titles["d1"]
    assert (len(long), long[-1]) == (160, "…")
    with pytest.raises(InputError, match=r"no titles of documents in the report, such as .*"):
        gainful.report(QRELS, RUNS, "AP", documents={"D1": "upper"}).save(table)
    with pytest.raises(InputError, match="expected a column for its title or text"):
        gainful.report(QRELS, RUNS, "AP", documents=[{"id": "d1", "year": 1999}]).save(table)


def test_what_cannot_be_reported():
    with pytest.raises(UsageError, match="at least one run is required\nhint: give each a name"):
        gainful.report(QRELS, {})
    with pytest.raises(UsageError, match="ranks"):
        gainful.report(QRELS, RUNS, ranks=0)


def test_nothing_in_the_data_is_markup():
    judgments = {query: {query: 1} for query in NASTY}
    runs = {name: {query: [*NASTY] for query in NASTY} for name in NASTY}
    html = gainful.report(
        judgments, runs, "AP", queries=dict.fromkeys(NASTY, NASTY[0]), documents={n: n for n in NASTY}
    ).html
    numbers, documents = blocks(html)
    assert numbers.systems == NASTY and sorted(numbers.queries) == sorted(NASTY)
    assert lists_of(numbers, documents) == {name: dict.fromkeys(NASTY, NASTY) for name in NASTY}
    assert (set(numbers.texts), documents.titles) == ({NASTY[0]}, {name: name for name in NASTY})
    # All tags of the page are its own, and there are as many scripts as it has.
    shown = re.sub(r"<(script|style)\b[^>]*>.*?</\1>", r"<\1></\1>", html, flags=re.DOTALL)
    assert (shown.count("<script"), shown.count("<style")) == (3, 1)
    assert not re.search(r"<img|<[^>]*onerror|alert\(1\)</script>|\x1b|\u202e", shown)
    assert not re.search(r"\sstyle\s*=", shown)


def test_only_its_own_script_and_style_run(page):
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page.html)[1]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>", page.html, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
    assert "http" not in re.sub(
        r"<script.*?</script>|<style.*?</style>|http-equiv|xmlns=\"[^\"]*\"", "", page.html, flags=re.DOTALL
    )


def test_the_page_is_complete_without_a_script(page):
    static = page.html.partition('<main id="static">')[2].partition("</main>")[0]
    for section in ("answer", "leaderboard", "curves"):
        assert f'<section id="{section}">' in static
    assert "No clear winner: any of the 3 systems could be best; new leads." in static
    answer = static.partition('id="answer"')[2].partition("</section>")[0]
    assert '<details id="about"><summary>Created on ' in answer and "|missing:zero|" in answer
    assert len(re.findall(r'<div class="scroll" tabindex="0"', static)) == static.count('class="scroll"')
    assert (static.count("<svg") == 2 and "<polyline" in static) or "<path" in static
    found = gainful.evaluate(QRELS, RUNS, MEASURES[0])
    for evaluation in found.values():
        assert f"{evaluation.mean(MEASURES[0]):.4f}" in static


def test_the_static_curves_are_those_of_gain_curves(page):
    normalised, cumulated = page.data.plots()
    depth = page.data.depth
    curves = gainful.gain_curves(QRELS, RUNS, [f"nDCG(gain=0-1-10)@{depth}", f"CG(gain=0-1-10)@{depth}"], draws=0)
    ideal, *lines = cumulated.lines
    assert list(ideal.y) == pytest.approx(curves.ideal("CG(gain=0-1-10)").values.tolist())
    for measure, drawn in (("CG(gain=0-1-10)", lines), ("nDCG(gain=0-1-10)", normalised.lines)):
        # A curve ends where the longest list of its system does.
        assert {line.name: list(line.y) for line in drawn} == {
            name: pytest.approx(curves.curve(name, measure).values.tolist()[: max(map(len, run.values()))])
            for name, run in RUNS.items()
        }


def test_a_large_page_notes_what_is_left_out(monkeypatch):
    ids = [hashlib.sha256(b"%d" % i).hexdigest() for i in range(60)]
    data = gainful.report({"q": {ids[0]: 1, "other": 1}}, {"one": {"q": ids}}, "AP").data
    whole, _ = data.documents
    numbers = len(data.numbers)
    monkeypatch.setattr("gainful.tasks.report._LETTERS_PER_CELL", 0)
    size = len(whole)
    for limit, depth in ((size, 60), (size - 1, 50), (size // 2, 20), (size // 3, 10), (0, None)):
        monkeypatch.setattr("gainful.tasks.report._LEAST_LETTERS", limit + numbers)
        page = HtmlReport(replace(data))
        if depth is None:
            assert page.notices[-1] == "To keep the file small, documents are not listed."
            assert page.data.documents[0] == ""
            continue
        said = f"To keep the file small, documents are shown for the first {depth} of 60 ranks."
        read, documents = blocks(page.html)
        assert lists_of(read, documents) == {"one": {"q": ids[:depth]}}
        assert documents.ids[0][-1] == "other"  # the ideal list has it
        assert depth == 60 or (page.notices[-1], documents.note) == (said, said)
        assert (said in page.html) == (depth < 60)


def test_saved_whole_or_not_at_all_and_again_the_same(page, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    path = tmp_path / "report.html"
    first = gainful.report(QRELS, RUNS, MEASURES)
    first.save(path)
    assert "Created on 1970-01-02</summary><p>conventions: " in path.read_text(encoding="utf-8")
    written = path.read_bytes()
    gainful.report(QRELS, RUNS, MEASURES).save(path)
    assert path.read_bytes() == written
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(InputError, match="No space left on device"):
        page.save(path)
    with pytest.raises(UsageError, match=r"report.csv: expected a file that ends in .html, found .csv"):
        page.save(tmp_path / "report.csv")
    assert path.read_bytes() == written and list(tmp_path.iterdir()) == [path]


def test_it_opens_and_shows_in_a_notebook(page, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    page.open()
    assert Path(opened[0].removeprefix("file://")).read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in frame and "<script" not in frame
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    with pytest.raises(UsageError, match="no browser found"):
        page.open()


JUDGED_TOPICS = {"t1": {"a": 2, "b": 1, "c": 3, "n": 0}, "t2": {"d": 1, "e": 2}}
SESSIONS = {
    "one": {"s1": ("t1", [["x", "a"], ["b", "a"], ["c"]]), "s2": ("t2", [["d"], ["y", "e"]])},
    "two": {"s1": ("t1", [["a", "b"], ["c"], ["x"]]), "s2": ("t2", [["e"], ["d", "e"]])},
}


def sessions_of(rows) -> gainful.Sessions:
    """Sessions from names, topics and lists."""
    return gainful.Sessions.of(
        [{"session": s, "topic": t, "queries": [{"results": each} for each in lists]} for s, t, lists in rows]
    )


def test_sessions():
    systems = {
        name: sessions_of((session, *searched) for session, searched in of.items()) for name, of in SESSIONS.items()
    }
    measures = ["nsDCG(base=3, query_base=2)@2", "sDCG@10"]
    page = gainful.report_sessions(JUDGED_TOPICS, systems, measures)
    html = page.html
    numbers, empty = re.findall(r'id="(?:data|documents)">([A-Za-z0-9+/=]*)</script>', html)
    numbers = unpacked(numbers)
    assert (numbers.mode, empty, numbers.sessions) == ("sessions", "", [["s1", "s2"]] * 2)
    assert numbers.settings == {"measure": "nsDCG", "base": 3, "queryBase": 2, "depth": 2}
    found = gainful.evaluate_sessions(JUDGED_TOPICS, systems, measures)
    decision, said = page.data.answer
    assert decision.startswith("No clear winner: two is ") and decision.endswith(
        " ahead of one, which may be due to chance."
    )
    assert said == gainful.compare(found, measures[0]).text().partition("\n\n")[0].replace("\n", " ")
    for s, evaluation in enumerate(found.values()):
        for i, measure in enumerate(measures):
            assert numbers.measures[i]["means"][s] == evaluation.aggregate(measure)
        # The page recomputes from its own numbers: normalised, then not.
        for (b, bq, depth), measure, is_share in (((3, 2, 2), measures[0], True), ((2, 4, 10), measures[1], False)):
            own = [live_sdcg(numbers, s, place, b, bq, depth, is_share) for place in range(2)]
            assert own == pytest.approx(list(evaluation.by_query(measure).values()), abs=1e-12)
    assert '<section id="curves"><h2>Gain by position</h2>' in html and html.count("<svg") == 1
    # nsDCG has no bounds.
    bounds = [
        each.beside("bounds", measures[1])
        for each in gainful.evaluate_sessions(JUDGED_TOPICS, systems, measures, bounds=True).values()
    ]
    assert ["bounds" in each for each in numbers.measures] == [False, True]
    assert numbers.measures[1]["bounds"] == {name: [each[name] for each in bounds] for name in ("lowest", "highest")}


def test_several_systems_with_the_same_sessions_and_a_baseline():
    lists = {"one": [*"abc"], "two": [*"xa"], "six": ["c"]}
    systems = {name: sessions_of((s, "t1", [each]) for s in ("s1", "s2")) for name, each in lists.items()}
    page = gainful.report_sessions(JUDGED_TOPICS, systems)
    assert page.data.answer[0] == "No clear winner: any of the 3 systems could be best; one leads."
    assert "rank range" in page.html
    page = gainful.report_sessions(JUDGED_TOPICS, systems, baseline="two")
    assert page.data.answer[0] == "one leads; 0 of 2 systems differ clearly from two."
    assert "No system differs significantly from two" in page.data.answer[1] and "rank range" not in page.html


def live_sdcg(numbers, s, place, b, bq, depth, is_share) -> float:
    arrays, width = numbers.arrays, numbers.ranks
    gained = ideal = 0.0
    first, end = arrays[f"turnAt{s}"][place : place + 2]
    for position, turn in enumerate(range(first, end), 1):
        codes = arrays[f"grades{s}"][turn * width : turn * width + depth][:width]
        pool = arrays[f"pool{s}"][turn] - 1
        of_pool = slice(*arrays["poolAt"][pool : pool + 2])
        judged = zip(arrays["poolLevel"][of_pool], arrays["poolCount"][of_pool], strict=True)
        best = sorted((numbers.gains[i] for i, count in judged for _ in range(count)), reverse=True)[:depth]
        shown = [0 if code < 2 else numbers.gains[code - 2] for code in codes]
        divisor = 1 + math.log(position, bq)
        gained += sum(g / (1 + math.log(j, b)) for j, g in enumerate(shown, 1)) / divisor
        ideal += sum(g / (1 + math.log(j, b)) for j, g in enumerate(best, 1)) / divisor
    return gained / ideal if is_share else gained


def test_sessions_of_their_own():
    own = sessions_of([("u1", "t1", [["a"]]), ("u2", "t2", [["e"], ["d"]]), ("u3", "t1", [["z"]])])
    first = sessions_of([("s1", "t1", [["b"]])])
    page = gainful.report_sessions(JUDGED_TOPICS, {"one": first, "own": own})
    assert page.data.title == "own and one: nsDCG@10 on sessions"
    assert "Each session belongs to one system, so the comparison is unpaired" in page.data.answer[2]
    alone = gainful.report_sessions(JUDGED_TOPICS, own, "sDCG@5")
    assert alone.data.answer[0].endswith("the mean over 3 sessions.")
