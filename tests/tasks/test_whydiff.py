"""The search over conventions finds planted conventions.

What is planted is computed here, by loops over plain Python values that know nothing of the package; only the figure is
handed over, printed to a few digits as people report it.
"""

from __future__ import annotations

import math
import random
import struct
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import pytest

from gainful import Policy, Qrels, Run, evaluate, find_conventions, parse, simulate
from gainful.kernel.parallel import Progress
from gainful.tasks.whydiff import Findings, Search, Way
from tests.together import together

# --- The naive part -------------------------------------------------------------------------------------------------

Settings = dict[str, str]


@dataclass(frozen=True)
class Case:
    """Judgments (query, document, grade) and the lines of a run (query, document, rank, score) in the file's order."""

    judgments: tuple[tuple[str, str, float], ...]
    lines: tuple[tuple[str, str, int, float], ...]

    @cached_property
    def rows(self) -> dict[str, list[tuple[int, str, int, float]]]:
        """Query -> its lines, each with its position in the file."""
        rows: dict[str, list[tuple[int, str, int, float]]] = {}
        for at, (query, *line) in enumerate(self.lines):
            rows.setdefault(query, []).append((at, *line))
        return rows

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        grades: dict[str, dict[str, float]] = {}
        for query, document, grade in self.judgments:
            grades.setdefault(query, {})[document] = grade
        return grades

    @property
    def run(self) -> Run:
        text = "".join(f"{query} Q0 {doc} {rank} {score!r} tag\n" for query, doc, rank, score in self.lines)
        return Run.read(text.encode())


def naive_list(case: Case, query: str, settings: Settings) -> list[tuple[str, float]]:
    """The ranked documents of a query with the scores used for comparison."""
    rows = list(case.rows[query])
    if settings.get("scores") == "float32":
        rows = [(at, doc, rank, struct.unpack("f", struct.pack("f", score))[0]) for at, doc, rank, score in rows]
    if settings.get("duplicates") == "last":
        last = {doc: at for at, doc, _, _ in rows}
        rows = [row for row in rows if last[row[1]] == row[0]]
    ties, order = settings.get("ties", "docid-desc"), settings.get("order", "score")
    if ties in ("docid-desc", "rank", "expected"):
        rows.sort(key=lambda row: row[1], reverse=True)
    elif ties == "docid-asc":
        rows.sort(key=lambda row: row[1])
    if ties == "rank":
        rows.sort(key=lambda row: row[2])
    if order == "score":
        rows.sort(key=lambda row: -row[3])
    elif order == "rank":
        rows.sort(key=lambda row: row[2])
    else:
        rows.sort(key=lambda row: row[0])
    ranked: list[tuple[str, float]] = []
    for _, doc, _, score in rows:
        if doc not in [seen for seen, _ in ranked]:
            ranked.append((doc, score))
    return ranked


def naive_gain(grade: float | None, settings: Settings, scale: float) -> float:
    rel = settings.get("rel", "none")
    if grade is None or grade <= 0 or (rel != "none" and grade < float(rel)):
        return 0.0
    return {"linear": grade, "exp2": 2.0**grade - 1, "binary": 1.0, "scaled": grade / scale}[
        settings.get("gain", "linear")
    ]


def naive_divisor(rank: int, settings: Settings, name: str) -> float:
    if name in ("CG", "nCG"):
        return 1.0
    discount, _, base_text = settings.get("discount", "burges2005").partition(" base ")
    base = math.e if base_text == "e" else float(base_text or 2)
    if discount == "burges2005":
        return math.log(rank + 1) / math.log(base)
    if discount == "jarvelin2008":
        return 1 + math.log(rank) / math.log(base)
    if discount == "jarvelin2002":
        return 1.0 if rank < base else math.log(rank) / math.log(base)
    if discount == "jarvelin2000":
        return 1.0 if rank == 1 else math.log(rank) / math.log(base)
    return {"rank": float(rank), "none": 1.0}[discount]


def naive_vector(gains: list[float], length: int, settings: Settings, name: str) -> list[float]:
    total, vector = 0.0, []
    for rank in range(1, length + 1):
        total += (gains[rank - 1] if rank <= len(gains) else 0.0) / naive_divisor(rank, settings, name)
        vector.append(total)
    return vector


def naive_cumulated(ranked: list[tuple[str, float]], grades: dict[str, float], spec: Spec, settings: Settings) -> float:
    gains = [naive_gain(grades.get(doc), settings, spec.scale) for doc, _ in ranked]
    judged = sorted((naive_gain(grade, settings, spec.scale) for grade in grades.values()), reverse=True)
    k = spec.k or max(len(gains), len(judged), 1)
    ideal = {
        "judged": judged,
        "retrieved": sorted(gains, reverse=True),
        "shown": sorted(gains[:k], reverse=True),
        "uncut": judged,
        "highest": [naive_gain(spec.scale, {**settings, "rel": "none"}, spec.scale)] * k,
    }[settings.get("ideal", "judged")]
    if settings.get("ties") == "expected":
        scores = [score for _, score in ranked]
        gains = [
            sum(gain for gain, other in zip(gains, scores, strict=True) if other == score) / scores.count(score)
            for score in scores
        ]
    vector = naive_vector(gains, k, settings, spec.name)
    if spec.name.startswith("n"):
        depth = max(len(ideal), 1) if settings.get("ideal") == "uncut" else k
        best = naive_vector(ideal, depth, settings, spec.name)
        if not best[-1]:
            return math.nan
        vector = (
            [own / other for own, other in zip(vector, best, strict=False)] if spec.average else [vector[-1] / best[-1]]
        )
    return sum(vector) / len(vector) if spec.average else vector[-1]


def naive_binary(ranked: list[tuple[str, float]], grades: dict[str, float], spec: Spec, settings: Settings) -> float:
    relevant = {doc for doc, grade in grades.items() if naive_gain(grade, settings, spec.scale) > 0}
    shown = [doc for doc, _ in ranked][: spec.k or None]
    found = [rank for rank, doc in enumerate(shown, 1) if doc in relevant]
    if spec.name == "RR":
        return 1 / found[0] if found else 0.0
    if spec.name == "IPrec":
        needed = spec.recall * len(relevant)
        whole = math.ceil(Fraction(str(spec.recall)) * len(relevant))
        counts = {"exact": whole, "round": math.floor(needed + 0.5), "ceil0.9": int(needed + 0.9)}
        count = counts[settings.get("recall-cut", "exact")]
        precisions = [nth / rank for nth, rank in enumerate(found, 1) if nth >= count]
        return max(precisions, default=0.0) if relevant else math.nan
    total = sum(nth / rank for nth, rank in enumerate(found, 1)) if spec.name == "AP" else float(len(found))
    divisor = settings.get("divisor", "k" if spec.name == "P" else "relevant")
    k = spec.k or 0
    below = {
        "relevant": len(relevant),
        "capped": min(len(relevant), k),
        "retrieved": min(k, len(ranked)) if spec.name == "P" else len(found),
        "k": k if relevant or spec.name == "P" else 0,
    }[divisor]
    return total / below if below else math.nan


@dataclass(frozen=True)
class Spec:
    """A measure of the naive computation."""

    name: str
    k: int | None = None
    average: bool = False
    recall: float = 0.0
    scale: float = 3.0


SPECS = {
    "nDCG@5": Spec("nDCG", 5),
    "nDCG": Spec("nDCG"),
    "nDCG(average=ranks)@5": Spec("nDCG", 5, average=True),
    "nCG@5": Spec("nCG", 5),
    "DCG@5": Spec("DCG", 5),
    "CG": Spec("CG"),
    "AP": Spec("AP"),
    "AP@5": Spec("AP", 5),
    "P@5": Spec("P", 5),
    "R@5": Spec("R", 5),
    "RR": Spec("RR"),
    "IPrec@0.2": Spec("IPrec", recall=0.2),
}


def naive_scores(case: Case, measure: str, settings: Settings) -> dict[str, float]:
    """Query -> score after missing and undefined, without omitted queries."""
    spec, scores = SPECS[measure], {}
    for query, all_grades in case.qrels.items():
        if query not in case.rows:
            if settings.get("missing", "zero") == "zero":
                scores[query] = 0.0
            continue
        grades = dict(all_grades)
        if settings.get("negative") == "unjudged":
            grades = {doc: grade for doc, grade in grades.items() if grade >= 0}
        ranked = naive_list(case, query, settings)
        if settings.get("unjudged") == "condensed":
            ranked = [(doc, score) for doc, score in ranked if doc in grades]
        compute = naive_cumulated if spec.name.endswith("CG") else naive_binary
        score = compute(ranked, grades, spec, settings)
        if not math.isnan(score):
            scores[query] = score
        elif settings.get("undefined", "zero") != "skip":
            scores[query] = 1.0 if settings.get("undefined") == "one" else 0.0
    return scores


def naive_mean(case: Case, measure: str, settings: Settings) -> float:
    scores = naive_scores(case, measure, settings)
    return sum(scores.values()) / len(scores)


# --- Cases in which every convention makes a difference ---------------------------------------------------------------


@cache
def rich_case(seed: int = 12, duplicates: bool = False) -> Case:
    """Ties, scores that tie in float32 only, different ranks and input order, gaps in answers and judgments."""
    rng = random.Random(seed)
    judgments: list[tuple[str, str, float]] = []
    lines: list[tuple[str, str, int, float]] = []
    for number in range(14):
        query = f"q{number:02}"
        documents = [f"d{n:02}" for n in range(30)]
        grades = [-1, 0, 0] if number == 13 else [-1, 0, 0, 0, 1, 1, 2, 3]
        judgments += [(query, doc, rng.choice(grades)) for doc in documents if rng.random() < 0.7]
        if number in (3, 8):
            continue
        # A list shorter than the cutoff, too.
        retrieved = rng.sample(documents, 4 if number in (2, 5, 10) else 20)
        scores = [rng.randint(1, 8) + rng.choice([0.0, 1e-9, 2e-9]) for _ in retrieved]
        ranks = rng.sample(range(1, len(retrieved) + 1), len(retrieved))
        mine = [(query, *line) for line in zip(retrieved, ranks, scores, strict=True)]
        if duplicates:
            mine += [(query, rng.choice(retrieved), 21 + i, rng.uniform(4, 9)) for i in range(4)]
        lines += rng.sample(mine, len(mine))
    return Case(tuple(judgments), tuple(lines))


ALTERNATIVES: dict[str, list[str]] = {
    "gain": ["exp2", "binary"],
    "ideal": ["retrieved", "shown", "uncut", "highest"],
    "discount": [
        *(
            f"{name} base {base}"
            for name in ("jarvelin2002", "jarvelin2000", "jarvelin2008")
            for base in ("2", "e", "10")
        ),
        "rank",
        "none",
    ],
    "missing": ["skip"],
    "undefined": ["skip", "one"],
    "rel": ["2", "3"],
    "ties": ["docid-asc", "input", "rank", "expected"],
    "unjudged": ["condensed"],
    "order": ["rank", "input"],
    "scores": ["float32"],
}


def search(case: Case, measure: str, figure: str, **more: Any) -> Findings:
    return find_conventions(case.qrels, case.run, {"figure": figure}, measure, **more)


def is_planted(explanation: Way, planted: Settings, start: Settings) -> bool:
    """Whether an explanation matches the planted conventions, up to values that the data do not distinguish."""
    wanted = {**start, **planted}
    return len(explanation.departed) <= len(planted) and all(
        value == wanted[name] or wanted[name] in explanation.alike.get(name, ())
        for name, value in explanation.settings.items()
    )


def search_all(case: Case, measure: str, planted: dict[int, list[Settings]], **more: Any) -> Findings:
    """One search for the figures of all planted conventions, by printed decimals."""
    figures = {
        str(settings): f"{naive_mean(case, measure, settings):.{places}f}"
        for places, together in planted.items()
        for settings in together
    }
    return find_conventions(case.qrels, case.run, figures, measure, **more)


def assert_first(found: Findings, case: Case, measure: str, planted: Settings) -> Way:
    """The planted conventions come first among the explanations of their figure."""
    [explained] = [explained for explained in found.figures if explained.figure.name == str(planted)]
    first = explained.ways[0]
    assert explained.reproduced
    assert first.value == pytest.approx(naive_mean(case, measure, planted), abs=1e-12), (planted, first)
    start = {dimension.name: dimension.values[0] for dimension in found.dimensions}
    assert planted.keys() <= start.keys()
    assert is_planted(first, planted, start), (planted, first)
    return first


def assert_found(case: Case, measure: str, planted: Settings, places: int = 4, **more: Any) -> Way:
    return assert_first(search_all(case, measure, {places: [planted]}, **more), case, measure, planted)


# --- Planted conventions are found ------------------------------------------------------------------------------------

SINGLES = [{name: value} for name, values in ALTERNATIVES.items() for value in values]


def some_pairs() -> list[Settings]:
    rng = random.Random(1)
    pairs = [
        {one: rng.choice(ALTERNATIVES[one]), other: rng.choice(ALTERNATIVES[other])}
        for one, other in combinations(ALTERNATIVES, 2)
    ]
    # Lists that are not ordered by score have no equal scores to break or to round.
    return [pair for pair in pairs if not ("order" in pair and pair.keys() & {"ties", "scores"})]


NEGATIVE = {"negative": "unjudged", "unjudged": "condensed"}
THREE = {"gain": "exp2", "discount": "jarvelin2008 base 2", "missing": "skip"}


@cache
def found() -> Findings:
    """One search for all of them. Of several conventions together fewer digits would leave others that fit by
    chance."""
    return search_all(rich_case(), "nDCG@5", {4: [{}, *SINGLES], 6: [*some_pairs(), NEGATIVE], 7: [THREE]})


@together("planted", [{}, *SINGLES, *some_pairs(), THREE])
def test_departures_are_found(planted: Settings) -> None:
    first = assert_first(found(), rich_case(), "nDCG@5", planted)
    if len(planted) < 2:
        assert first.departed == tuple(planted)
    if len(planted) == 1:
        usual, changed = (naive_mean(rich_case(), "nDCG@5", each) for each in ({}, planted))
        assert changed != pytest.approx(usual, abs=1e-6)


OTHERS = [
    ("nDCG", {"ideal": "retrieved"}),
    ("nDCG(average=ranks)@5", {"ideal": "retrieved"}),
    ("nDCG(average=ranks)@5", {"ideal": "shown"}),
    ("nDCG(average=ranks)@5", {"ties": "expected"}),
    ("nDCG(average=ranks)@5", {"discount": "jarvelin2002 base 10"}),
    ("nCG@5", {"ideal": "uncut"}),
    ("nCG@5", {"ideal": "highest"}),
    ("nCG@5", {"gain": "exp2"}),
    ("DCG@5", {"gain": "scaled"}),
    ("DCG@5", {"discount": "burges2005 base e"}),
    ("DCG@5", {"discount": "burges2005 base 10"}),
    ("DCG@5", {"ties": "expected"}),
    ("CG", {"gain": "binary"}),
    ("CG", {"rel": "2"}),
    ("AP", {"divisor": "retrieved"}),
    ("AP", {"undefined": "one"}),
    ("AP", {"ties": "input"}),
    ("AP@5", {"divisor": "capped"}),
    ("AP@5", {"divisor": "k"}),
    ("AP@5", {"divisor": "retrieved"}),
    ("P@5", {"divisor": "retrieved"}),
    ("P@5", {"rel": "3"}),
    ("P@5", {"unjudged": "condensed"}),
    ("R@5", {"divisor": "capped"}),
    ("R@5", {"undefined": "skip"}),
    ("RR", {"order": "rank"}),
    ("RR", {"scores": "float32"}),
    ("IPrec@0.2", {"recall-cut": "round"}),
]


@cache
def found_others(measure: str) -> Findings:
    return search_all(rich_case(), measure, {4: [planted for name, planted in OTHERS if name == measure]})


@together(("measure", "planted"), OTHERS)
def test_other_measures_have_their_own_conventions(measure: str, planted: Settings) -> None:
    case = rich_case()
    assert naive_mean(case, measure, planted) != pytest.approx(naive_mean(case, measure, {}), abs=1e-6)
    assert_first(found_others(measure), case, measure, planted)


def test_more_departures_are_found_on_request() -> None:
    planted = {"rel": "2", "ties": "input", "missing": "skip", "unjudged": "condensed"}
    assert not search(rich_case(), "AP", f"{naive_mean(rich_case(), 'AP', planted):.8f}").reproduced
    assert_found(rich_case(), "AP", planted, places=8, departures=4)


def test_negative_grades_matter_only_if_unjudged_documents_are_removed() -> None:
    assert_first(found(), rich_case(), "nDCG@5", NEGATIVE)
    alone = assert_first(found(), rich_case(), "nDCG@5", {"gain": "exp2"})
    assert alone.alike["negative"] == ("unjudged",)


@together("measure", ["nDCG@5", "AP"])
def test_duplicates(measure: str) -> None:
    case, planted = rich_case(duplicates=True), [{}, {"duplicates": "last"}, {"duplicates": "last", "ties": "rank"}]
    explained = search_all(case, measure, {6: planted})
    for each in planted:
        assert_first(explained, case, measure, each)
    names = [dimension.name for dimension in found().dimensions]  # of a run without duplicates
    assert "duplicates" not in names and "negative" in names


@together("measure", SPECS)
@together("duplicates", [False, True])
def test_any_combination_gives_its_value(measure: str, duplicates: bool) -> None:
    """Not only likely conventions: values taken at random in every dimension."""
    case, rng = rich_case(duplicates=duplicates), random.Random(2)
    search = Search(Qrels.from_dict(case.qrels), case.run, parse(measure), Policy(), 1, Progress())
    wanted = [tuple(rng.randrange(len(d.values)) for d in search.dimensions) for _ in range(30)]
    outcomes = search.outcomes(wanted)
    for combination in wanted:
        settings = search.settings(combination)
        contradicts = settings["ties"] == "expected" and settings["order"] != "score"
        assert (combination in outcomes) is not contradicts
        if not contradicts:
            expected = naive_mean(case, measure, settings)
            assert outcomes[combination].value == pytest.approx(expected, abs=1e-12), settings


#: Measures that look at scores, ties or what a list misses.
SEE_MORE = ["NDPM", "ESL(n=2)", "SwetsE", "RelativeRelevance", "SlidingRatio@3"]


@together(
    ("measure", "planted"),
    [
        *((measure, {}) for measure in SEE_MORE),
        *((measure, {"order": "input"}) for measure in SEE_MORE),
        *((measure, {"scores": "float32"}) for measure in SEE_MORE),
        *((measure, {"unjudged": "condensed"}) for measure in SEE_MORE),
        ("ASL(N=40)", {"ties": "docid-asc"}),
    ],
)
def test_measures_of_scores_ties_and_what_is_missed(measure: str, planted: Settings) -> None:
    case = rich_case()
    run: dict[str, dict[str, float]] = {}
    for query, document, _, score in case.lines:
        run.setdefault(query, {})[document] = score
    expected = evaluate(case.qrels, run, measure, policy=Policy(**planted)).mean(measure)
    [explained] = search(case, measure, f"{expected:.9f}", departures=1).figures
    # Rounded scores may change a value by less than is written.
    assert explained.ways[0].value == pytest.approx(expected, abs=1e-9)


def test_simulated_collection() -> None:
    collection = simulate(queries=20, documents=300, depth=50, seed=3)
    lines = [
        (query, document, rank, score)
        for query, scores in collection.runs["bm25"].items()
        for rank, (document, score) in enumerate(scores.items(), 1)
    ]
    judgments = [(q, document, float(g)) for q, grades in collection.qrels.items() for document, g in grades.items()]
    case = Case(tuple(judgments), tuple(lines))
    one, two = {"gain": "exp2"}, {"ideal": "retrieved", "gain": "exp2"}
    explained = search_all(case, "nDCG@5", {4: [one], 5: [two]})
    assert_first(explained, case, "nDCG@5", one)
    assert_first(explained, case, "nDCG@5", two)
    assert_found(case, "AP", {"rel": "2"})


def test_conventions_that_differ_in_the_eighth_digit_are_distinguished() -> None:
    # Two documents of equal score whose grades hardly differ: which stands first moves DCG by less than 2e-8.
    better, worse = 1.00000005, 1.0
    descending = better / math.log2(2) + worse / math.log2(3)  # b, a
    ascending = worse / math.log2(2) + better / math.log2(3)  # a, b
    assert 1e-8 < descending - ascending < 2e-8
    figures = {"descending": f"{descending:.12f}", "ascending": f"{ascending:.12f}"}
    case = Case((("q", "a", worse), ("q", "b", better)), (("q", "a", 1, 5.0), ("q", "b", 2, 5.0)))
    found = find_conventions(case.qrels, case.run, figures, "DCG@2")
    first_of_both = [explained.ways[0] for explained in found.figures]
    assert found.reproduced
    assert [way.value for way in first_of_both] == pytest.approx([descending, ascending], rel=0, abs=1e-12)
    assert [way.settings["ties"] for way in first_of_both] == ["docid-desc", "docid-asc"]
    assert "docid-asc" not in first_of_both[0].alike.get("ties", ())
    assert "docid-desc" not in first_of_both[1].alike.get("ties", ())
