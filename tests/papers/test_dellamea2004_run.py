"""dellamea2004 run again: its worked examples as it prints them, its experiment against a naive one."""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
import shutil
import statistics
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau, kruskal, mannwhitneyu

from gainful import Qrels, evaluate_runs
from gainful.data.judged import Judged
from gainful.errors import GainfulError, InputError, UsageError
from gainful.papers.dellamea2004 import examples, study
from gainful.papers.dellamea2004_experiment import Experiment, run_experiment
from gainful.papers.dellamea2004_figures import figure_7
from gainful.papers.dellamea2004_set_tables import table_4
from gainful.papers.dellamea2004_tables import systems_section, table_3
from gainful.papers.sections import Section
from gainful.policy import Policy
from gainful.progress import Progress
from gainful.render import FORMATS
from gainful.render.charts import Boxes, Plot
from gainful.render.page import Page, Table
from gainful.stats.draws import stream

Judgments = dict[str, dict[str, float]]
Lists = dict[str, dict[str, list[str]]]


def table_of(section: Section, title: str) -> Table:
    [table] = [
        part for part in section.parts if isinstance(part, Table) and part.title == title and not part.for_people
    ]
    return table


def rows_of(section: Section, title: str) -> list[dict[str, Any]]:
    table = table_of(section, title)
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def example(name: str) -> Section:
    [section] = [section for section in examples() if section.name == name]
    return section


def claims_of(section: Section, title: str) -> dict[str, tuple[str, str, str]]:
    return {
        row["what"]: (row["the paper says"], row["gainful finds"], row["verdict"]) for row in rows_of(section, title)
    }


class TestExamples:
    def test_table_1(self) -> None:
        """P, R, E and ADM of the three systems, as printed."""
        claims = claims_of(example("Table 1"), "P, R, E and ADM, thresholds at 0.5")
        for system, adm in (("IRS1", "0.90"), ("IRS2", "0.80"), ("IRS3", "0.70")):
            for column, printed in (("P", "0.50"), ("R", "1.00"), ("E", "0.75"), ("ADM", adm)):
                assert claims[f"{system} {column}"] == (printed, printed, "agrees")

    def test_table_2(self) -> None:
        """As printed, but for E of IRS1: .84 is the mean of a rounded .67 and 1."""
        claims = claims_of(example("Table 2"), "(a): small differences in SRS")
        printed = {
            "IRS1": ("0.67", "1.00", "0.84", "0.83"),
            "IRS2": ("1.00", "0.50", "0.75", "0.83"),
            "IRS3": ("0.50", "0.50", "0.50", "0.826"),
        }
        for system, values in printed.items():
            for column, value in zip(("P", "R", "E", "ADM"), values, strict=True):
                says, finds, verdict = claims[f"{system} {column}"]
                assert says == value
                assert (finds, verdict) == (("0.83", "erratum") if value == "0.84" else (value, "agrees"))
        claims = claims_of(example("Table 2"), "(b): large differences in SRS")
        assert {what: finds for what, (_, finds, _) in claims.items() if finds != "1.00"} == {"IRS2 ADM": "0.50"}
        assert {verdict for _, _, verdict in claims.values()} == {"agrees"}

    def test_precision_is_printed_wrongly(self) -> None:
        """Of IRS1 in Table 2 (a) one document is only retrieved, two are both: 1/3 by the formula, .67 in the table."""
        [row] = rows_of(example("Figure 2"), "Precision by sectors")
        assert row["the paper says"] == "|α| / (|α| + |β|)"
        assert (row["gainful finds"], row["verdict"]) == ("|β| / (|α| + |β|)", "erratum")
        assert "would give 0.33, and the table has 0.67" in row["note"]

    def test_table_2_says_that_its_points_were_chosen(self) -> None:
        assert "were chosen so that they reproduce the table" in str(example("Table 2").parts[0])

    def test_two_categories(self) -> None:
        """One of three documents in sector alpha; IRS3 of Table 2 (a) has one in alpha and one in delta."""
        rows = rows_of(example("ADM(2)(2)"), "Two categories of relevance and of retrieval")
        found = {(row["example"], row["system"]): row["ADM(2)(2)"] for row in rows}
        assert found["Table 1", "IRS2"] == pytest.approx(2 / 3)
        assert found["Table 2 (a)", "IRS3"] == pytest.approx(1 / 3)
        assert found["Table 2 (b)", "IRS2"] == 1

    def test_over_and_under(self) -> None:
        rows = rows_of(example("Figure 6"), "Over- and underestimated")
        [irs3] = [row for row in rows if (row["example"], row["system"]) == ("Table 1", "IRS3")]
        assert irs3["P*, t = 0.1"] == pytest.approx(2 / 3)
        assert irs3["R*, t = 0.1"] == 1
        # Table 2 (a), IRS1: .3 is overestimated by .2; .7 and .6 are underestimated by .2 and .1.
        [irs1] = [row for row in rows if (row["example"], row["system"]) == ("Table 2 (a)", "IRS1")]
        assert [irs1[name] for name in ("ADP", "ADR", "ADM")] == pytest.approx([1 - 0.2 / 3, 0.9, 1 - 0.5 / 3])
        claims = claims_of(example("Figure 6"), "Sums")
        assert len(claims) == 6
        assert {verdict for _, _, verdict in claims.values()} == {"holds"}

    def test_planes(self) -> None:
        """Figures 4 and 5: the points of all systems, the ideal line, both thresholds; equal axes."""
        [plot] = [part for part in example("Figure 4").parts if isinstance(part, Plot)]
        assert plot.is_square
        assert {points.name: sorted(zip(points.x, points.y, strict=True)) for points in plot.points} == {
            "IRS1": [(0.1, 0.2), (0.4, 0.5), (0.8, 0.9)],
            "IRS2": [(0.1, 0.3), (0.4, 0.6), (0.8, 1.0)],
            "IRS3": [(0.1, 1.0), (0.4, 0.4), (0.8, 0.8)],
        }
        assert {(rule.x, rule.y) for rule in plot.rules} == {(0.5, None), (None, 0.5)}
        assert plot.lines[0].x == plot.lines[0].y == (0.0, 1.0)
        plots = [part for part in example("Figure 5").parts if isinstance(part, Plot)]
        assert [len(plot.points) for plot in plots] == [3, 2]

    @pytest.mark.parametrize("format_", FORMATS)
    def test_every_page_can_be_written(self, format_: str) -> None:
        """What is found stands in every format; machines get all tables."""
        for section in examples():
            page = Page("papers", section.parts)
            text = page.text(format_)
            if format_ == "jsonl":
                rows = [json.loads(line) for line in text.splitlines()]
                assert sum("verdict" in row for row in rows) == sum(map(len, verdicts_of(section)))
            elif format_ == "csv":
                cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
                assert Counter(c for c in cells if c in VERDICTS) == Counter(chain.from_iterable(verdicts_of(section)))
            elif format_ == "trec":
                lines = [line.split("\t") for line in text.splitlines()]
                assert {len(fields) for fields in lines} == {3}
                assert len(lines) >= sum(len(table.rows) for table in page.tables_for_machines)
            elif format_ == "latex":
                tables = [part for part in page.parts_for_people if isinstance(part, Table)]
                assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(tables)
                assert text.count(r"\toprule") == text.count(r"\bottomrule") == len(tables)
            else:
                assert all(verdict in text for verdicts in verdicts_of(section) for verdict in verdicts)

    @pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
    def test_latex_compiles(self, tmp_path: Path) -> None:
        """Figure 2 and ADM(2)(2) have Greek letters in their tables."""
        texts = [Page("papers", section.parts).text("latex") for section in examples()]
        frame = (r"\documentclass{article}", r"\usepackage{booktabs}", r"\begin{document}", *texts, r"\end{document}")
        (tmp_path / "x.tex").write_text("\n".join(frame), encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")

    def test_what_is_to_be_seen_is_a_sentence(self) -> None:
        for section in (*examples(), *study(judged(), LISTS, draws=1).sections):
            assert section.about[0].isupper()
            assert section.about.endswith(".")


VERDICTS = ("agrees", "truncated", "erratum", "differs", "holds", "fails", "not seen", "other data")


def verdicts_of(section: Section) -> list[list[str]]:
    """The verdicts of each of its tables of claims."""
    tables = Page("papers", section.parts).tables_for_machines
    return [
        [str(row[-1 if table.columns[-1].name == "verdict" else -2]) for row in table.rows]
        for table in tables
        if "verdict" in [column.name for column in table.columns]
    ]


DEPTH = 20
SYSTEMS = 18


def collection() -> tuple[Judgments, Lists]:
    """Systems of rising quality on 8 queries, two of them with short lists, one of these the best of all."""
    chance = random.Random(7)
    judgments: Judgments = {}
    lists: Lists = {f"s{i:02d}": {} for i in range(SYSTEMS)}
    for query in ("1", "2", "3", "4", "5", "6", "10", "11"):
        documents = [f"d{i}" for i in range(60)]
        grades = {document: chance.choice((0, 0, 1, 2)) for document in documents[:25]}
        judgments[query] = {document: float(grade) for document, grade in grades.items()}
        for i, system in enumerate(lists):
            quality = 9.0 if i == SYSTEMS - 1 else i / 9
            score = {d: quality * grades.get(d, 0) + chance.gauss(0, 1) for d in documents}
            lists[system][query] = sorted(documents, key=lambda d: -score[d])[:DEPTH]
    lists["s17"]["3"] = lists["s17"]["3"][:12]
    lists["s04"]["10"] = lists["s04"]["10"][:19]
    del lists["s04"]["2"]
    return judgments, lists


JUDGMENTS, LISTS = collection()
SCALE = 2.0


def average_precision(system: str, query: str) -> float:
    relevant = {d for d, grade in JUDGMENTS[query].items() if grade > 0}
    found, total = 0, 0.0
    for rank, document in enumerate(LISTS[system].get(query, []), 1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


def mean_precision(system: str) -> float:
    return statistics.fmean(average_precision(system, query) for query in JUDGMENTS)


BY_PRECISION = sorted(LISTS, key=lambda system: -mean_precision(system))
CHOSEN = BY_PRECISION[:10]
KEPT = [name for name in BY_PRECISION if name not in ("s17", "s04")]


def srs_of(system: str, query: str) -> dict[str, float]:
    return {d: 1 - (rank - 1) / DEPTH for rank, d in enumerate(LISTS[system].get(query, []), 1)}


def urs_of(query: str, with_systems: bool) -> Callable[[str], float]:
    chosen = [srs_of(system, query) for system in CHOSEN]

    def urs(document: str) -> float:
        said = JUDGMENTS[query].get(document, 0.0) / SCALE
        if not with_systems:
            return said
        return (3 * said + statistics.fmean(srs.get(document, 0.0) for srs in chosen)) / 4

    return urs


def naive_adm(
    system: str,
    with_systems: bool,
    queries: Sequence[str] = tuple(JUDGMENTS),
    keeps: Callable[[str, str], bool] = lambda query, document: True,
    over: str = "both",
) -> float:
    values = []
    for query in queries:
        srs, urs = srs_of(system, query), urs_of(query, with_systems)
        relevant = {d for d, grade in JUDGMENTS[query].items() if grade > 0}
        counted = {"both": {*srs, *relevant}, "retrieved": set(srs), "relevant": relevant}[over]
        kept = [d for d in counted if keeps(query, d)]
        values.append(1 - statistics.fmean(abs(srs.get(d, 0.0) - urs(d)) for d in kept))
    return statistics.fmean(values)


def tau(one: Sequence[float], other: Sequence[float]) -> float:
    return float(kendalltau(np.round(one, 12), np.round(other, 12)).statistic)


def judged(judgments: Mapping[str, Mapping[str, float]] = JUDGMENTS, policy: Policy | None = None) -> Judged:
    return Judged(Qrels.from_dict(judgments, scale=SCALE), policy or Policy())


def experiment(lists: Mapping[str, Any] = LISTS, **changes: Any) -> Experiment:
    settings: dict[str, Any] = {"best": (), "worst_share": None, "draws": 3, "seed": 0, "threads": 1}
    return run_experiment(judged(), lists, **{**settings, **changes}, progress=Progress())


@pytest.fixture(scope="module")
def found() -> Experiment:
    return experiment()


class TestSystems:
    def test_the_best_are_chosen_before_any_is_left_out(self, found: Experiment) -> None:
        """s17 is the best by average precision, and its lists are too short."""
        assert BY_PRECISION[0] == "s17"
        assert list(found.systems.chosen) == CHOSEN
        assert list(found.systems.kept) == KEPT
        assert list(found.systems.groups["Best"]) == [name for name in CHOSEN if name != "s17"]
        assert found.systems.depth == DEPTH

    def test_who_is_left_out_and_why(self, found: Experiment) -> None:
        short = {each.name: (each.queries, each.unanswered, each.fewest) for each in found.systems.short}
        assert short == {"s17": (1, 0, 12), "s04": (2, 1, 0)}

    @pytest.mark.parametrize("share", [None, 0.75])
    def test_worst(self, share: float | None) -> None:
        """Below the median of all systems, excluded ones included, on every query or on a share of them."""
        medians = {q: statistics.median(average_precision(system, q) for system in LISTS) for q in JUDGMENTS}
        limit = len(JUDGMENTS) * (share or 1.0)
        worst = [
            name
            for name in KEPT
            if name not in CHOSEN and sum(average_precision(name, q) < medians[q] for q in JUDGMENTS) >= limit
        ]
        systems = experiment(worst_share=share).systems
        assert list(systems.groups["Worst"]) == worst
        normal = [name for name in KEPT if name not in CHOSEN and name not in worst]
        assert list(systems.groups["Normal"]) == normal
        assert worst

    def test_the_best_can_be_given(self) -> None:
        systems = experiment(best=("s04", "s09")).systems
        assert systems.chosen == ("s09", "s04")
        assert systems.groups["Best"] == ("s09",)

    def test_one_name_is_a_name(self) -> None:
        assert experiment(best="s09").systems.chosen == ("s09",)

    @pytest.mark.parametrize(("number", "best"), [(5, 2), (9, 4), (10, 5), (11, 10), (14, 10), (16, 10)])
    def test_of_more_than_ten_systems_ten_are_the_best(self, number: int, best: int) -> None:
        """As in the paper; of ten or fewer half of them, so that others remain."""
        names = KEPT[:number]
        found = experiment({name: LISTS[name] for name in names})
        assert list(found.systems.chosen) == sorted(names, key=lambda name: -mean_precision(name))[:best]
        text = str(systems_section(found).parts[0])
        assert f"the {best} systems of highest average precision" in text
        assert ("no more than ten" in text) == (number <= 10)

    def test_a_query_on_which_most_find_nothing_does_not_decide(self) -> None:
        judgments = {**JUDGMENTS, "12": {"nobody finds this": 1.0}}
        lists = {name: {**queries, "12": [f"d{i}" for i in range(DEPTH)]} for name, queries in LISTS.items()}
        args: dict[str, Any] = {"best": (), "draws": 1, "seed": 0, "threads": 1, "progress": Progress()}
        with_it = run_experiment(judged(judgments), lists, worst_share=0.5, **args).systems
        assert with_it.groups["Worst"] == experiment(worst_share=0.5).systems.groups["Worst"] != ()
        assert (with_it.telling, with_it.silent, with_it.skipped) == (8, 1, 0)

    @pytest.mark.parametrize(
        ("undefined", "says", "does_not"),
        [
            ("zero", "1 query with a median of 0 tells nothing", "no average"),
            ("skip", "1 query has no average", "of 0"),
        ],
    )
    def test_why_a_query_does_not_decide(self, undefined: str, says: str, does_not: str) -> None:
        """Nothing is relevant for it: average precision is 0 for all, or there is none."""
        judgments = {**JUDGMENTS, "12": {"d1": 0.0}}
        lists = {name: {**queries, "12": [f"d{i}" for i in range(DEPTH)]} for name, queries in LISTS.items()}
        prepared = judged(judgments, Policy(undefined=undefined))
        found = run_experiment(prepared, lists, (), 0.9, 1, 0, 1, Progress())
        text = str(systems_section(found).parts[0])
        assert says in text
        assert does_not not in text
        assert "on at least 90 % of queries (8 queries tell something)" in text


class TestScores:
    @pytest.mark.parametrize(("name", "with_systems"), [("ADM'", False), ("ADM''", True)])
    def test_adm(self, found: Experiment, name: str, with_systems: bool) -> None:
        expected = [naive_adm(system, with_systems) for system in KEPT]
        assert found.scores[name] == pytest.approx(expected, abs=1e-11)

    def test_adm_is_the_measure(self, found: Experiment) -> None:
        measure = f"ADM@{DEPTH}"
        evaluations = evaluate_runs(Qrels.from_dict(JUDGMENTS, scale=SCALE), LISTS, measure)
        assert found.scores["ADM'"] == pytest.approx([evaluations[name].mean(measure) for name in KEPT], abs=1e-12)

    def test_reference_measures(self, found: Experiment) -> None:
        relevant = {query: {d for d, grade in grades.items() if grade > 0} for query, grades in JUDGMENTS.items()}
        returned = [sum(len(relevant[q].intersection(LISTS[s][q])) for q in JUDGMENTS) for s in KEPT]
        assert found.scores["Rel-Ret"].tolist() == returned
        assert found.scores["AvgPrec"] == pytest.approx([mean_precision(s) for s in KEPT])
        r_precision = [
            statistics.fmean(
                len(relevant[q].intersection(LISTS[s][q][: len(relevant[q])])) / len(relevant[q]) for q in JUDGMENTS
            )
            for s in KEPT
        ]
        assert found.scores["R-Prec"] == pytest.approx(r_precision)

    def test_table_3(self, found: Experiment) -> None:
        rows = rows_of(table_3(found), "Table 3")
        assert len(rows) == 10
        for row in rows:
            expected = tau(found.scores[row["measure"]], found.scores[row["with"]])
            assert row["tau"] == pytest.approx(expected, abs=1e-12)
        printed = {(row["measure"], row["with"]): row["the paper's tau"] for row in rows}
        assert printed["ADM''", "ADM'"] == 0.874
        assert printed["R-Prec", "Rel-Ret"] == 0.807

    def test_groups_compared(self) -> None:
        result = study(judged(), LISTS, draws=1)
        section = next(section for section in result.sections if section.name == "First hypothesis")
        rows = rows_of(section, "Groups compared by rank")
        groups = experiment().by_group("ADM'")
        assert [len(values) for values in groups.values()] == [9, 2, 5]
        by_groups = {(row["measure"], row["groups"]): row for row in rows}
        overall = kruskal(*groups.values())
        assert by_groups["ADM'", "Best, Normal, Worst"]["statistic"] == pytest.approx(overall.statistic)
        assert by_groups["ADM'", "Best, Normal, Worst"]["P value"] == pytest.approx(overall.pvalue)
        pair = mannwhitneyu(groups["Normal"], groups["Worst"], method="exact")
        assert by_groups["ADM'", "Normal, Worst"]["P value"] == pytest.approx(pair.pvalue)
        assert any(isinstance(part, str) and part.startswith("Descriptive") for part in section.parts)


class TestSets:
    def test_first_topics(self, found: Experiment) -> None:
        """In the order of numbers: 10 and 11 are the last two."""
        for number, queries in ((1, ("1", "2", "3", "4")), (2, ("1", "2"))):
            row = found.sets.rows[number]
            for place, with_systems in enumerate((False, True)):
                part = [naive_adm(system, with_systems, queries) for system in KEPT]
                assert row.tau[place] == pytest.approx(tau(part, found.sets.whole[place]), abs=1e-12)
        apart = [naive_adm(system, False, ("5", "6", "10", "11")) for system in KEPT]
        row = found.sets.rows[1]
        assert row.apart is not None
        assert row.apart[0] == pytest.approx(tau(found.sets.set_1[0], apart), abs=1e-12)

    @pytest.mark.parametrize(("number", "over"), [(6, "retrieved"), (7, "relevant")])
    def test_retrieved_and_relevant_only(self, found: Experiment, number: int, over: str) -> None:
        for place, with_systems in enumerate((False, True)):
            part = [naive_adm(system, with_systems, over=over) for system in KEPT]
            assert found.sets.rows[number].tau[place] == pytest.approx(tau(part, found.sets.whole[place]), abs=1e-12)

    @pytest.mark.parametrize(
        ("number", "share", "queries"),
        [(3, 0.5, tuple(JUDGMENTS)), (4, 0.1, tuple(JUDGMENTS)), (5, 0.5, ("1", "2", "3", "4"))],
    )
    def test_drawn_documents(self, number: int, share: float, queries: tuple[str, ...]) -> None:
        """A pair of query and document is in for all systems or for none, by the order of ids; ranks stay."""
        found = experiment(seed=5)
        drawn = []
        for draw in range(4):
            chances = naive_chances(5, draw)
            keeps = lambda query, document, chances=chances: chances[query, document] < share  # noqa: E731
            # A query of which some system has no document left says nothing.
            usable = [q for q in queries if all(any(keeps(q, d) for d in documents_of(s, q)) for s in KEPT)]
            both = []
            for place, with_systems in enumerate((False, True)):
                part = [naive_adm(system, with_systems, usable, keeps) for system in KEPT]
                both.append(tau(part, found.sets.whole[place]))
            drawn.append(both)
        row = found.sets.rows[number]
        assert row.tau == pytest.approx(drawn[0], abs=1e-12)
        assert row.spread is not None
        for place, spread in enumerate(row.spread):
            others = [each[place] for each in drawn[1:]]
            assert spread is not None
            assert spread[:4] == pytest.approx(
                (statistics.fmean(others), statistics.stdev(others), min(others), max(others)), abs=1e-12
            )

    def test_how_many_documents(self) -> None:
        """What a system retrieves or misses, of some queries, of what is drawn; retrieved only, relevant only."""
        found = experiment(seed=5)
        chances = naive_chances(5, 0)
        first = ("1", "2", "3", "4")

        def counted(queries: Sequence[str], share: float = 1.0) -> float:
            pairs = {s: [(q, d) for q in queries for d in documents_of(s, q)] for s in KEPT}
            return statistics.fmean(sum(chances[pair] < share for pair in pairs[s]) for s in KEPT)

        every = tuple(JUDGMENTS)
        expected = {
            0: counted(every),
            1: counted(first),
            2: counted(first[:2]),
            3: counted(every, 0.5),
            4: counted(every, 0.1),
            5: counted(first, 0.5),
            6: DEPTH * len(every),
            7: sum(grade > 0 for grades in JUDGMENTS.values() for grade in grades.values()),
        }
        assert {row.number: row.documents for row in found.sets.rows} == pytest.approx(expected)

    @pytest.mark.parametrize("wants_some", [True, False])
    def test_a_query_without_documents_left_does_not_count(self, wants_some: bool) -> None:
        """Of three documents a query a tenth is mostly nothing; if it is nothing for all queries there is no tau."""
        queries = [str(i) for i in range(10, 50 if wants_some else 12)]
        chance = random.Random(1)
        lists = {f"s{i}": {q: chance.sample(["a", "b", "c", "d"], 2) for q in queries} for i in range(5)}
        prepared = Judged(Qrels.from_dict({q: {"a": 1} for q in queries}), Policy())

        def distances(system: str, query: str, kept: Callable[[str], bool]) -> list[float]:
            listed = lists[system][query]
            srs = {d: 1 - rank / 2 for rank, d in enumerate(listed)}
            return [abs(srs.get(d, 0.0) - (d == "a")) for d in {*listed, "a"} if kept(d)]

        def usable(seed: int) -> dict[str, Callable[[str], bool]]:
            numbers = stream(seed, 0)
            tests: dict[str, Callable[[str], bool]] = {}
            for query in queries:
                some = sorted({"a", *(d for each in lists.values() for d in each[query])})
                drawn = {d for d in some if numbers.random() < 0.1}
                if all(drawn.intersection((*each[query], "a")) for each in lists.values()):
                    tests[query] = drawn.__contains__
            return tests

        seed = next(seed for seed in range(100) if bool(usable(seed)) == wants_some)
        row = run_experiment(prepared, lists, (), None, 1, seed, 1, Progress()).sets.rows[4]
        if not wants_some:
            assert row.tau == (None, None)
            return
        tests = usable(seed)
        assert 0 < len(tests) < len(queries)
        means = [1 - statistics.fmean(statistics.fmean(distances(s, q, tests[q])) for q in tests) for s in lists]
        whole = [1 - statistics.fmean(statistics.fmean(distances(s, q, bool)) for q in queries) for s in lists]
        assert row.tau[0] == pytest.approx(tau(means, whole), abs=1e-12)

    @pytest.mark.parametrize(("draws", "is_empty"), [(1, True), (2, False)])
    def test_one_draw_has_no_spread(self, draws: int, is_empty: bool) -> None:
        rows = rows_of(table_4(experiment(draws=draws)), "Sets 3 to 5 drawn again")
        assert [row["sd"] is None for row in rows] == [is_empty] * 6

    def test_the_order_of_runs_and_threads_change_nothing(self) -> None:
        names = list(LISTS)
        random.Random(3).shuffle(names)
        one = study(judged(), LISTS, threads=1, draws=2)
        other = study(judged(), {name: LISTS[name] for name in names}, threads=4, draws=2)
        assert one.sections == other.sections

    def test_another_seed_is_another_draw(self) -> None:
        rows = [experiment(seed=seed).sets.rows for seed in (0, 1)]
        assert rows[0][3].tau != rows[1][3].tau
        assert rows[0][1] == rows[1][1]


def documents_of(system: str, query: str) -> set[str]:
    return {*LISTS[system].get(query, []), *(d for d, grade in JUDGMENTS[query].items() if grade > 0)}


def naive_chances(seed: int, draw: int) -> dict[tuple[str, str], float]:
    """One number for every pair that a system in use retrieves or that is relevant, in byte order of both ids."""
    numbers = stream(seed, draw)
    chances = {}
    for query in sorted(JUDGMENTS):
        documents = set[str]().union(*(documents_of(system, query) for system in {*KEPT, *CHOSEN}))
        for document in sorted(documents):
            chances[query, document] = numbers.random()
    return chances


class TestFigures:
    def test_figure_7(self) -> None:
        found = experiment()
        section = figure_7(found)
        plots = [part for part in section.parts if isinstance(part, Plot)]
        assert [(plot.y.label, plot.x.label) for plot in plots] == [
            (adm, reference) for adm in ("ADM'", "ADM''") for reference in ("Rel-Ret", "AvgPrec", "R-Prec")
        ]
        for plot in plots:
            # The largest is drawn first: it would cover the others.
            assert [(points.name, len(points.x)) for points in plot.points] == [
                ("Best", 9),
                ("Worst", 5),
                ("Normal", 2),
            ]
            assert [line.name for line in plot.lines] == ["Best", "Worst"]
        rows = rows_of(section, "Scores of the systems")
        assert [row["system"] for row in rows] == KEPT

    def test_figures_8_and_9(self) -> None:
        result = study(judged(), LISTS, draws=1)
        sections = {section.name: section for section in result.sections}
        boxes = [part for part in sections["Figure 8"].parts if isinstance(part, Boxes)]
        scores = experiment().by_group("ADM''")
        assert boxes[1].groups[0].points == pytest.approx(np.quantile(scores["Best"], [0.1, 0.25, 0.5, 0.75, 0.9]))
        assert [group.size for group in boxes[0].groups] == [9, 2, 5]
        plots = [part for part in sections["Figure 9"].parts if isinstance(part, Plot)]
        assert len(plots) == 4
        assert [len(points.x) for points in plots[0].points] == [9, 5, 2]


class TestErrors:
    @pytest.mark.parametrize(
        ("lists", "settings", "error", "text"),
        [
            ({"a": LISTS["s01"], "b": LISTS["s02"]}, {}, UsageError, "expected three or more runs to compare, found 2"),
            ({name: LISTS[name] for name in ("s01", "s02", "s17")}, {}, InputError, "found 2 of 3\nhint: depth=12 "),
            (
                {name: LISTS[name] for name in ("s01", "s02", "s04")},
                {},
                InputError,
                "hint: 1 run has nothing for .*'2'",
            ),
            ({name: {"1": []} for name in "abc"}, {}, InputError, "retrieved documents, found none"),
            ({}, {}, UsageError, "at least one"),
            (LISTS, {"best": ("s99",)}, UsageError, "no run is called 's99'"),
            (LISTS, {"best": "s99"}, UsageError, "no run is called 's99'"),
            (LISTS, {"best": ("s01", 2)}, UsageError, "best: expected names of runs, found int"),
            (LISTS, {"best": 2}, UsageError, "best: expected names of runs, found int"),
            (LISTS, {"worst_share": 0}, UsageError, "worst_share: expected a number above 0"),
            (LISTS, {"worst_share": math.nan}, UsageError, "worst_share: expected a finite number"),
            (LISTS, {"draws": 0}, UsageError, "draws: expected at least 1"),
            (LISTS, {"draws": 1001}, UsageError, "draws: expected at most 1,000, found 1,001"),
        ],
    )
    def test_refused(
        self, lists: Mapping[str, Any], settings: dict[str, Any], error: type[GainfulError], text: str
    ) -> None:
        with pytest.raises(error, match=text):
            study(judged(), lists, **settings)

    @pytest.mark.parametrize(
        ("new", "text"), [(["99"], "query '99'$"), (["98", "99"], "query '98' and 1 other query$")]
    )
    def test_a_query_that_nobody_answers(self, new: list[str], text: str) -> None:
        """No depth would help: it is named."""
        judgments = {**JUDGMENTS, **{query: {"d1": 1.0} for query in new}}
        with pytest.raises(InputError) as refused:
            study(judged(judgments), LISTS)
        assert re.search(text, str(refused.value).splitlines()[0])
        assert "leave the judgments of such queries out" in str(refused.value)

    @pytest.mark.parametrize("grade", [0.0, -1.0])
    def test_nothing_is_relevant(self, grade: float) -> None:
        judgments = {query: dict.fromkeys(grades, grade) for query, grades in JUDGMENTS.items()}
        with pytest.raises(InputError, match=r"expects relevant documents .*, found none for any query"):
            study(judged(judgments), LISTS)

    def test_condensed_lists_are_no_lists_of_all_documents(self) -> None:
        with pytest.raises(UsageError, match="unjudged=condensed"):
            study(judged(policy=Policy(unjudged="condensed")), LISTS)

    def test_a_depth_makes_lists_equally_long(self) -> None:
        systems = run_experiment(
            judged(policy=Policy(depth=12)),
            {n: q for n, q in LISTS.items() if n != "s04"},
            (),
            None,
            1,
            0,
            1,
            Progress(),
        ).systems
        assert systems.depth == 12
        assert not systems.short

    def test_one_group_only(self) -> None:
        result = study(judged(), {name: LISTS[name] for name in KEPT[:4]}, best=KEPT[:4], draws=1)
        section = next(section for section in result.sections if section.name == "First hypothesis")
        assert section.parts == ("There is only one group with members: nothing to compare.",)
        for each in result.sections:
            assert Page("papers", each.parts).text()
