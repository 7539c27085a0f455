"""`gainful papers jarvelin2002`: its worked examples against the article's numbers, its study against plain Python."""

from __future__ import annotations

import math
import random

import pytest

from gainful import Policy, Qrels
from gainful.data.judged import Judged
from gainful.errors import InputError, UsageError
from gainful.pages.charts import Plot
from gainful.pages.page import Page
from gainful.render import text as render_text
from gainful_papers.jarvelin2002 import examples, study

from .paper_sections import claims, tables

# Sections 2.1 to 2.3 as printed.
SECTIONS = {section.name: section for section in examples()}


def test_the_false_claim_about_the_base():
    found = claims(SECTIONS["Section 4, discount"])
    assert found["jarvelin2000: log_b i for ranks ≥ 2"]["verdict"] == "fails"
    rows = tables(SECTIONS["Section 4, discount"])[1].rows
    expected = [(1, 3 * math.log(1.2) / math.log(4)), (1, 1.5)]
    assert [row[2:4] for row in rows] == [pytest.approx(pair) for pair in expected]
    assert [row[4] for row in rows] == ["1 0 0 0", "0 0 0 3"]


def test_cases_of_the_discount():
    said = claims(SECTIONS["Section 4, discount"])
    sharp = sum(g / i for i, g in enumerate([3, 2, 3, 0, 0, 1, 2, 2, 3, 0], 1))
    assert said["df = i"]["gainful finds"] == f"{sharp:.2f} at rank 10, {100 * 5 / sharp:.0f}% from ranks 1-3"
    assert said["b approaches infinity"]["gainful finds"] == "b = 1000000: 16 at rank 10"
    assert {said[what]["verdict"] for what in list(said)[:6]} == {"holds"}


# A small collection: 8 queries, lists of 30, some of them short.

WEIGHTS = {"flat": [0, 1, 1, 1], "tenfold": [0, 1, 10, 100], "top": [0, 0, 0, 1]}
QUERIES = [f"q{i}" for i in range(8)]


def _collection() -> tuple[dict, dict]:
    draw = random.Random(4)
    qrels = {query: {f"d{d}": draw.choice([0, 0, 0, 1, 1, 2, 3]) for d in range(40)} for query in QUERIES}
    qrels["q5"] = {document: min(grade, 2) for document, grade in qrels["q5"].items()}  # nothing of the highest level
    runs = {}
    for run, skill in (("good", 0.9), ("fair", 0.5), ("poor", 0.2)):
        runs[run] = {}
        for query in QUERIES:
            documents = [*qrels[query], *(f"u{u}" for u in range(30))]
            key = {each: skill * qrels[query].get(each, 0) + draw.random() * 3 for each in documents}
            kept = sorted(documents, key=key.__getitem__, reverse=True)[: 12 if query == "q3" else 30]
            runs[run][query] = {each: 100.0 - i for i, each in enumerate(kept)}
    return qrels, runs


QRELS, RUNS = _collection()


def gains(run: str, query: str, weights: list[int], depth: int) -> list[float]:
    found = [weights[QRELS[query].get(each, 0)] for each in RUNS[run][query]]
    return (found + [0] * depth)[:depth]


def ideal_gains(query: str, weights: list[int], depth: int) -> list[float]:
    return (sorted((weights[grade] for grade in QRELS[query].values()), reverse=True) + [0] * depth)[:depth]


def cumulated(values: list[float], base: float | None) -> list[float]:
    """CG (no base) or DCG as equation 2 means it."""
    sums, total = [], 0.0
    for i, value in enumerate(values, 1):
        total += value if base is None or i < base else value / math.log(i, base)
        sums.append(total)
    return sums


def over_ranks(run: str, query: str, weights: list[int], base: float | None, depth: int) -> float:
    own, best = cumulated(gains(run, query, weights, depth), base), cumulated(ideal_gains(query, weights, depth), base)
    return sum(x / y for x, y in zip(own, best, strict=True)) / depth if best[-1] else 0.0


def mean(values) -> float:
    values = list(values)
    return sum(values) / len(values)


@pytest.fixture(scope="module")
def found():
    other = {query: {each: int(grade > 1) for each, grade in judged.items()} for query, judged in QRELS.items()}
    other["q0"].pop("d0")
    judged = Judged(Qrels.from_dict(QRELS), Policy())
    return study(judged, RUNS, other=Qrels.from_dict(other))


@pytest.fixture(scope="module")
def sections(found):
    return {section.name: section for section in found.sections}


def test_names_of_the_sections(sections):
    names = ["Section 3.2", "Table 1", "Figure 1", "Figure 2", "Figure 3", "Figure 4", "Table 2"]
    assert list(sections) == [*names, "Section 4, last rank", "Section 3.3"]
    assert not set(sections) & set(SECTIONS)


@pytest.mark.parametrize(
    ("name", "base", "normalised"),
    [("Figure 1", None, False), ("Figure 2", 2, False), ("Figure 3", None, True), ("Figure 4", 2, True)],
)
def test_figures(sections, name, base, normalised):
    values = {}
    for panel, _, average, run, rank, value in tables(sections[name])[-1].rows:
        assert average == ("ratio of means" if normalised else "mean")
        values.setdefault((panel, run), {})[rank] = value
    assert len(values) == 2 * (3 if normalised else 4)
    for panel, scheme in (("(a)", "flat"), ("(b)", "tenfold")):
        best = [cumulated(ideal_gains(query, WEIGHTS[scheme], 100), base) for query in QUERIES]
        ideal = [mean(each[i] for each in best) for i in range(100)]
        if not normalised:
            assert list(values[panel, "(ideal)"].values()) == pytest.approx(ideal)
        for run in RUNS:
            own = [cumulated(gains(run, query, WEIGHTS[scheme], 100), base) for query in QUERIES]
            curve = [mean(each[i] for each in own) for i in range(100)]
            expected = [x / y for x, y in zip(curve, ideal, strict=True)] if normalised else curve
            assert list(values[panel, run].values()) == pytest.approx(expected)


def test_what_is_read_off_figure_1(sections):
    best = [cumulated(ideal_gains(query, WEIGHTS["flat"], 100), None) for query in QUERIES]
    goal = mean(each[9] for each in best)
    ranks = {}
    for run in RUNS:
        curve = [
            mean(cumulated(gains(run, query, WEIGHTS["flat"], 100), None)[i] for query in QUERIES) for i in range(100)
        ]
        ranks[run] = next((i + 1 for i, value in enumerate(curve) if value >= goal), None)
    there = [rank for rank in ranks.values() if rank is not None]
    most = str(max(there)) if len(there) == len(ranks) else "not within 100"
    claim = claims(sections["Figure 1"])["(a) documents for the ideal's gain at 10"]
    assert (claim["the paper says"], claim["gainful finds"]) == ("30 to 90", f"{min(there)} to {most}")
    assert claim["verdict"] == "other data"


def test_how_much_further_the_worst_run_has_to_be_read(sections):
    more, never = [], 0
    for base in (None, 2):
        for scheme in ("flat", "tenfold"):
            vectors = {
                run: [cumulated(gains(run, query, WEIGHTS[scheme], 100), base) for query in QUERIES] for run in RUNS
            }
            curves = {run: [mean(each[i] for each in vectors[run]) for i in range(100)] for run in RUNS}
            for at in (5, 10, 20):
                goal = max(curves[run][at - 1] for run in RUNS) * (1 - 1e-12)
                reached = [next((i + 1 for i, value in enumerate(curves[run]) if value >= goal), None) for run in RUNS]
                if None in reached:
                    never += 1
                else:
                    more.append(100 * (max(reached) / min(reached) - 1))
    assert more
    found = claims(sections["Figure 2"])["more documents with the worst run"]
    expected = f"{min(more):.0f} to {max(more):.0f}%" + (
        f", {never} of {never + len(more)} not in 100" if never else ""
    )
    assert (found["the paper says"], found["gainful finds"]) == ("100 to 500%", expected)


def conover_by_hand(scores: dict[str, list[float]]) -> dict[tuple[str, str], tuple[float, bool]]:
    """p of Conover's comparison and whether the first is better, for every pair; 1 where Friedman does not reach it."""
    from scipy import stats

    names, n, m = list(scores), len(next(iter(scores.values()))), len(scores)
    ranks = [stats.rankdata([round(scores[run][q], 12) for run in names]) for q in range(n)]
    sums = [sum(row[j] for row in ranks) for j in range(m)]
    squares = sum(value**2 for row in ranks for value in row)
    chi2 = (m - 1) * (sum(r**2 for r in sums) - n**2 * m * (m + 1) ** 2 / 4) / (squares - n * m * (m + 1) ** 2 / 4)
    overall = stats.f.sf((n - 1) * chi2 / (n * (m - 1) - chi2), m - 1, (m - 1) * (n - 1))
    error = math.sqrt(2 * (n * squares - sum(r**2 for r in sums)) / ((n - 1) * (m - 1)))
    found = {}
    for i in range(m):
        for j in range(i + 1, m):
            p = 2 * stats.t.sf(abs(sums[i] - sums[j]) / error, (n - 1) * (m - 1))
            found[names[i], names[j]] = (max(p, overall), sums[i] > sums[j])
    return found


def test_table_2(sections):
    means, tests = tables(sections["Table 2"])[:2]
    rows = {row[0]: row[1:] for row in means.rows}
    for scheme, text in (("flat", "0-1-1-1"), ("tenfold", "0-1-10-100"), ("top", "0-0-0-1")):
        for kind, base in (("nCG", None), ("nDCG", 2)):
            # A query without a document that counts is left out.
            queries = [each for each in QUERIES if scheme != "top" or 3 in QRELS[each].values()]
            scores = {run: [over_ranks(run, query, WEIGHTS[scheme], base, 200) for query in queries] for run in RUNS}
            count, *found, verdict = rows[f"{kind} ({text})"]
            assert count == len(queries) == (7 if scheme == "top" else 8)
            assert found == pytest.approx([mean(values) for values in scores.values()])
            told = {
                (one if first else other, other if first else one): 2 if p < 0.01 else 1
                for (one, other), (p, first) in conover_by_hand(scores).items()
                if p < 0.05
            }
            groups = []
            for loser in RUNS:
                for stars in (2, 1):
                    winners = [winner for winner in RUNS if told.get((winner, loser)) == stars]
                    groups += [f"{','.join(winners)} > {loser}{'*' * stars}"] if winners else []
            assert verdict == ("; ".join(groups) or "none")
    assert any(row[-1] != "none" for row in rows.values())
    assert [column.name for column in tests.columns][:4] == ["measure", "Friedman F", "p", "two-way ANOVA F"]


def test_the_printed_table_2_stands_beside(sections):
    printed = tables(sections["Table 2"])[-1]
    assert printed.rows[2] == ("nCG (0-1-10-100)", 0.254, 0.305, 0.313, 0.316, 0.342, "D,E > A**")
    assert printed.rows[3][-1] == "D > A*"
    said = " ".join(part for part in sections["Table 2"].parts if isinstance(part, str))
    assert (
        "without a document of positive gain (1 with 0-0-0-1) are left out of these rows (undefined=skip), as" in said
    )


def test_weights_bases_and_the_last_rank_are_the_users():
    judged = Judged(Qrels.from_dict(QRELS), Policy())
    found = study(judged, RUNS, gain=["0-1-5-7", "binary"], base=[3, "e"], at=30)
    of = {section.name: section for section in found.sections}
    rows = {row[0]: row[1:] for row in tables(of["Table 2"])[0].rows}
    for kind, base in (("nCG", None), ("nDCG", 3)):
        for text, weights in (("0-1-5-7", [0, 1, 5, 7]), ("binary", [0, 1, 1, 1])):
            scores = [mean(over_ranks(run, query, weights, base, 30) for query in QUERIES) for run in RUNS]
            assert list(rows[f"{kind} ({text})"][:3]) == pytest.approx(scores)
    assert "(b = 3), averaged over ranks 1 to 30" in of["Table 2"].about
    assert "(a) is 0-1-5-7, (b) is binary" in of["Figure 1"].about
    assert "bases 3 and e" in claims(of["Section 3.3"]) and "runs at rank 30, (a) and (b)" in claims(of["Figure 4"])
    with pytest.raises(UsageError, match="at: expected a rank from 20 to 200, found 300"):
        study(judged, RUNS, at=300)


@pytest.mark.parametrize(
    ("grade", "gains", "worth"),
    [
        (lambda grade: min(grade, 1), ["0-1"], "Grade 1 is worth 1 (0-1); the paper's highest, 3, is worth 100."),
        (lambda grade: grade + (grade == 3), ["0-1-1-1-1", "0-1-10-100-1000", "0-0-0-0-1"], "Grade 4 is worth 1,000 ("),
        (lambda grade: grade / 2, ["binary", "linear"], "Grade 1.5 is worth 1.5 (linear)"),
        (lambda grade: grade * 5, ["binary", "linear"], "Grade 15 is worth 15 (linear)"),
    ],
)
def test_any_number_of_levels_and_what_the_highest_is_worth(grade, gains, worth):
    """0-1-1-1 is one of the article's schemes, and its measures are not coupled with a number of levels."""
    qrels = {query: {each: grade(old) for each, old in judged.items()} for query, judged in QRELS.items()}
    found = study(Judged(Qrels.from_dict(qrels), Policy()), RUNS)
    of = {section.name: section for section in found.sections}
    names = [row[0] for row in tables(of["Table 2"])[0].rows]
    assert names == [f"{kind} ({gain})" for gain in gains for kind in ("nCG", "nDCG")]
    assert worth in found.data and found.data.endswith("--gain sets other weights.")
    flat = [mean(over_ranks(run, query, WEIGHTS["flat"], None, 200) for query in QUERIES) for run in RUNS]
    row = tables(of["Table 2"])[0].rows[0]
    assert [each for each in row if isinstance(each, float)] == pytest.approx(flat)
    assert len([part for part in of["Figure 1"].parts if isinstance(part, Plot)]) == min(len(gains), 2)
    assert "nan" not in "".join(render_text(Page("papers", each.parts)) for each in found.sections)


def test_table_1(sections):
    cross, _, printed = tables(sections["Table 1"])
    shown = {row[0]: row[1:] for row in cross.rows}
    for grade in range(4):
        old = [
            int(QRELS[query][each] > 1)
            for query in QUERIES
            for each in QRELS[query]
            if QRELS[query][each] == grade and (query, each) != ("q0", "d0")
        ]
        assert shown[str(grade)][0] == old.count(0)
        assert shown[str(grade)][2] == old.count(1)
    assert shown["total"][1] == shown["total"][3] == 1.0
    assert "1 only in B" in cross.notes[0]
    assert printed.rows[1] == ("Rel=1", 1004, 36.2, 134, 4.5, 1138, 19.8)


def test_the_papers_own_topics_and_judgments_are_recognised():
    numbers = (351, 353, 355, 358, 360, 362, 364, 365, 372, 373, 377, 378, 384, 385, 387, 392, 393, 396, 399, 400)
    topics = list(map(str, numbers))
    # 1,182 relevant documents, of which 49.4%, 30.5% and 20.1% are at levels 1, 2 and 3.
    grades = [1] * 584 + [2] * 360 + [3] * 238
    qrels = {topic: {f"d{i}": grade for i, grade in enumerate(grades[k::20])} for k, topic in enumerate(topics)}
    runs = {name: {topic: [f"d{i}" for i in range(k, 30)] for topic in topics} for k, name in enumerate("AB")}
    found = study(Judged(Qrels.from_dict(qrels), Policy()), runs)
    assert "the judgments are the paper's" in found.data
    said = claims(found.sections[0])
    assert {claim["verdict"] for claim in said.values()} == {"agrees"}
    assert said["documents above level 1 per topic"]["gainful finds"] == "29.9"
    qrels["351"]["more"] = 1
    assert "the judgments are not (1,183" in study(Judged(Qrels.from_dict(qrels), Policy()), runs).data
    # As many, but none of one of its levels.
    grades = [1] * 944 + [3] * 238
    qrels = {topic: {f"d{i}": grade for i, grade in enumerate(grades[k::20])} for k, topic in enumerate(topics)}
    found = study(Judged(Qrels.from_dict(qrels), Policy()), runs)
    assert "so are the judgments" not in found.data
    assert "agrees" not in {claim["verdict"] for claim in claims(found.sections[0]).values()}


def test_on_three_levels_weights_are_adapted_and_said():
    qrels = {query: {each: min(grade, 2) for each, grade in judged.items()} for query, judged in QRELS.items()}
    found = {section.name: section for section in study(Judged(Qrels.from_dict(qrels), Policy()), RUNS).sections}
    assert "(a) is 0-1-1, (b) is 0-1-10" in found["Figure 1"].about
    assert "Weights: 0-1-1, 0-1-10 and 0-0-1; in the paper: 0-1-1-1, 0-1-10-100 and 0-0-0-1" in found["Table 2"].about
    assert [row[0] for row in tables(found["Table 2"])[0].rows][-1] == "nDCG (0-0-1)"


def test_many_runs_stand_in_rows_and_keep_the_papers_notation_for_machines():
    runs = {f"run{i}": RUNS[("good", "fair", "poor")[i % 3]] for i in range(9)}
    found = {s.name: s for s in study(Judged(Qrels.from_dict(QRELS), Policy()), runs).sections}
    shown = render_text(Page("papers", found["Table 2"].parts))
    assert "run0,run3" not in shown
    assert "run0,run3" in render_text(Page("papers", found["Table 2"].parts), "csv")
    plot = next(Page("papers", found["Figure 1"].parts).charts)
    assert sum(line.role == "guide" for line in plot.lines) == len(plot.lines) - 1 - len(
        {line.name for line in plot.lines if line.role == "system"}
    )
    assert "other runs" in plot.caption


def test_what_is_refused():
    judged = Judged(Qrels.from_dict(QRELS), Policy())
    with pytest.raises(InputError):
        study(judged, RUNS, other={"another": {"d0": 1}})
