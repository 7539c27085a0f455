"""Sensitivity: cells against single evaluations, findings against naive computations, scenarios and refused input."""

from __future__ import annotations

import math
import random
from itertools import combinations, product

import pytest
from scipy.stats import kendalltau, ttest_ind, ttest_rel
from statsmodels.stats.multitest import multipletests

from gainful import (
    Gain,
    InputError,
    Policy,
    Qrels,
    Scenario,
    Sessions,
    UsageError,
    assess_sensitivity,
    assess_session_sensitivity,
    evaluate,
    parse,
)
from gainful.data.judged import Judged
from gainful.errors import quietly
from gainful.tasks.sensitivity.sensitivity_grid import ranks_of
from tests.together import together

RUNS = ("one", "two", "three", "four")


def collection(seed=11, grades=(0, 0, 0, 1, 1, 2, 3), queries=6):
    """Judgments and four runs that each prefer relevant documents slightly, in different ways."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(60)]
    qrels = {f"q{i}": {d: rng.choice(grades) for d in rng.sample(documents, 40)} for i in range(queries)}
    runs = {}
    for name in RUNS:
        taste = rng.uniform(0.2, 2)
        runs[name] = {
            query: {d: max(judged.get(d, 0), 0) ** taste + 2.5 * rng.random() for d in rng.sample(documents, 45)}
            for query, judged in qrels.items()
        }
    return qrels, runs


@pytest.fixture(scope="module")
def data():
    return collection()


@pytest.fixture(scope="module")
def found(data):
    return assess_sensitivity(*data)


def tau_of_values(one, other):
    """Kendall's tau-b with a tolerance for rounding; None if one side has only ties."""
    tau = kendalltau(*([round(value, 12) for value in values] for values in (one, other))).statistic
    return None if math.isnan(tau) else tau


class TestCells:
    def test_every_combination_is_there(self, found):
        expected = [
            f"nDCG(gain={gain}, {discount})@{depth}"
            for gain, discount, depth in product(
                ("0-1-1-1", "0-1-2-3", "exp2", "0-1-10-100", "0-0-0-1"),
                (
                    "discount=jarvelin2002",
                    "discount=jarvelin2002, base=e",
                    "discount=jarvelin2002, base=10",
                    "discount=none",
                ),
                (10, 30, 100, 200),
            )
        ]
        assert [str(cell.measure) for cell in found.cells] == expected

    def test_cells_are_single_evaluations(self, data, found):
        qrels, runs = data
        for cell in found.cells[::7]:
            alone = {name: evaluate(qrels, run, cell.measure).mean(cell.measure) for name, run in runs.items()}
            assert {score.run: score.value for score in cell.scores} == alone
            by_value = sorted(alone, key=lambda name: -alone[name])
            assert list(cell.order) == [(name,) for name in by_value]
            assert cell.winners == (by_value[0],)
            assert cell.value == alone[by_value[0]]
            assert cell.lead == pytest.approx(alone[by_value[0]] - alone[by_value[1]])
            assert cell.relative_lead == pytest.approx(1 - alone[by_value[1]] / alone[by_value[0]])

    def test_policy_reaches_the_cells(self, data):
        qrels, runs = data
        policy = Policy(unjudged="condensed", depth=20)
        result = assess_sensitivity(qrels, runs, policy=policy, gain=["exp2"], at=[10])
        for cell in result.cells:
            values = [evaluate(qrels, run, cell.measure, policy=policy).mean(cell.measure) for run in runs.values()]
            assert [score.value for score in cell.scores] == values
        assert result.signature().policy == policy

    def test_order_of_runs_and_queries_changes_nothing(self, data, found):
        qrels, runs = data
        turned = assess_sensitivity(dict(reversed(qrels.items())), {name: runs[name] for name in reversed(runs)})
        for one, other in zip(found.cells, turned.cells, strict=True):
            assert one.order == other.order
            assert sorted(one.scores) == sorted(other.scores)

    def test_hundreds_of_gains_do_not_fill_the_memory(self, data):
        """Ideal lists are cached for some gain maps only, without effect on scores."""
        qrels, runs = data
        judged = Judged(Qrels.of(qrels), Policy())
        gains = [f"0-1-2-{i}" for i in range(3, 103)]
        result = assess_sensitivity(judged, runs, gain=gains, discount=["none"], at=[10])
        assert len(judged._ideal_lists) <= 64
        for cell in (result.cells[0], result.cells[-1]):
            values = [evaluate(qrels, run, cell.measure).mean(cell.measure) for run in runs.values()]
            assert [score.value for score in cell.scores] == values


class TestFindings:
    def test_wins_are_counted(self, found):
        counts = {}
        for cell in found.cells:
            best = max(cell.scores, key=lambda score: score.value).run
            counts[best,] = counts.get((best,), 0) + 1
        assert found.wins() == counts
        assert len(counts) > 1  # else the other tests of this class would see nothing
        assert list(found.wins().values()) == sorted(counts.values(), reverse=True)

    def test_winner_changes(self, found):
        """Neighbours differ by one step on one axis; recomputed from positions only."""
        expected = set()
        for one, other in product(found.cells, repeat=2):
            steps = [b - a for a, b in zip(one.place, other.place, strict=True)]
            if sorted(steps) == [0, 0, 1] and one.winners != other.winners:
                expected.add((found.axes[steps.index(1)].name, one.label, other.label))
        changes = found.winner_changes()
        assert {(change.axis.name, change.before.label, change.after.label) for change in changes} == expected
        assert len(changes) == len(expected) > 0

    def test_effects(self, found):
        effects = {effect.axis.name: effect for effect in found.effects()}
        assert {name: effect.neighbours for name, effect in effects.items()} == {
            "gain": 4 * 4 * 4,
            "discount": 5 * 3 * 4,
            "depth": 5 * 4 * 3,
        }
        cells = {cell.place: cell for cell in found.cells}
        pairs = [
            (cells[g, d, k], cells[g, d, k + 1]) for g, d, k in product(range(5), range(4), range(3))
        ]  # neighbours in depth
        taus = [tau_of_values([s.value for s in a.scores], [s.value for s in b.scores]) for a, b in pairs]
        depth = effects["depth"]
        assert depth.winner_changes == sum(a.winners != b.winners for a, b in pairs)
        assert depth.order_changes == sum(a.order != b.order for a, b in pairs)
        assert depth.mean_tau == pytest.approx(sum(taus) / len(taus))
        assert depth.lowest_tau == pytest.approx(min(taus))

    def test_tau_between_all_cells(self, found):
        agreements = found.agreements()
        assert len(agreements) == 80 * 79 // 2
        for one, other, tau in agreements[::41]:
            values = [[score.value for score in cell.scores] for cell in (one, other)]
            assert tau == pytest.approx(tau_of_values(*values))

    def test_tau_between_the_values_of_an_axis(self, found):
        depth = found.axes[2]
        cells = {cell.place: [score.value for score in cell.scores] for cell in found.cells}
        taus = [tau_of_values(cells[g, d, 0], cells[g, d, 3]) for g, d in product(range(5), range(4))]
        matrix = found.levels_tau(depth)
        assert matrix[0][3] == matrix[3][0] == pytest.approx(sum(taus) / len(taus))
        assert [matrix[i][i] for i in range(4)] == [1.0] * 4


class TestSupport:
    def test_changes_of_places_against_scipy(self, seed=3):
        """Eight systems with many swaps: paired t tests of every setting, with Holm correction."""
        qrels, runs = collection(seed, queries=12)
        more = collection(seed + 50, queries=12)[1]
        runs |= {f"{name}'": {query: more[name][query] for query in qrels} for name in RUNS}
        found = assess_sensitivity(qrels, runs, gain=["flat", "tenfold"], discount=["none", "jarvelin2002"], at=[3, 30])
        names, signs, shown = list(runs), [], []
        for cell in found.cells:
            scores = [list(found.evaluations[run].by_query(cell.measure).values()) for run in runs]
            pairs = list(combinations(scores, 2))
            rejected = multipletests(ttest_rel(*zip(*pairs, strict=True), axis=1).pvalue, 0.05, "holm")[0]
            apart = [round(sum(one) - sum(other), 9) for one, other in pairs]
            signs.append([(each > 0) - (each < 0) for each in apart])
            shown.append([sign * is_rejected for sign, is_rejected in zip(signs[-1], rejected, strict=True)])
        expected = {}
        for i, (one, other) in enumerate(combinations(names, 2)):
            means, tests = ([row[i] for row in rows] for rows in (signs, shown))
            if {1, -1} <= set(means):
                expected[one, other] = (means.count(1), means.count(-1), tests.count(1), tests.count(-1))
        assert {tuple(each[:2]): tuple(each[2:]) for each in found.reversals} == expected
        assert len(expected) > 3

    def test_supported_reversals_come_first(self):
        """A document of grade 3 or three of grade 1, in all queries; and two systems that differ by chance."""
        qrels = {f"q{i}": {"d": 3, "b0": 1, "b1": 1, "b2": 1} for i in range(10)}
        runs = {
            "high": {query: ["d"] for query in qrels},
            "many": {query: ["b0", "b1", "b2"] for query in qrels},
        }
        found = assess_sensitivity(qrels, runs, gain=["flat", "tenfold"], discount=["none"], at=[4])
        assert found.reversals == (("high", "many", 1, 1, 1, 1),) and found.reversals[0].is_supported
        texts = [part for part in found.page().parts if isinstance(part, str)]
        assert texts[0] == (
            "1 of 1 pair of systems swaps. Significant reversals: high and many (ahead in 1 setting, behind in 1)."
        )
        [effect] = found.effects()
        assert (effect.order_changes, effect.supported_changes) == (1, 1)
        # The same in seven of ten queries.
        runs["high"] |= {"q0": ["b0"], "q1": ["b0"]}
        runs["many"] = {query: ["d"] for query in qrels} | {"q0": ["b0", "b1"], "q1": ["b0", "b1"], "q2": ["b0"]}
        noise = assess_sensitivity(qrels, runs, gain=["flat", "tenfold"], discount=["none"], at=[4])
        texts = [part for part in noise.page().parts if isinstance(part, str)]
        assert "within noise: no pair differs significantly in both directions" in texts[0]
        [effect] = noise.effects()
        assert (effect.order_changes, effect.supported_changes) == (1, 0)
        same = assess_sensitivity(qrels, runs, gain=["flat"], discount=["none"], at=[4, 5])
        texts = [part for part in same.page().parts if isinstance(part, str)]
        assert texts[0] == "No two systems swap: the order is the same in every setting."


class TestTies:
    def test_rounding_decides_nothing(self):
        assert ranks_of([0.3, 0.1 + 0.2, 0.2]) == [1, 1, 3]
        assert ranks_of([0.3, 0.3 + 2e-12, 0.2]) == [2, 1, 3]
        assert ranks_of([3e6, 3e6 + 1e-7, 2.0]) == [1, 1, 3]  # of large sums it is a share
        assert ranks_of([0.3, None, 0.2], lower_is_better=True) == [2, None, 1]

    def test_runs_that_are_the_same_share_places(self, data):
        qrels, runs = data
        twins = {"a": runs["one"], "b": runs["two"], "twin of a": runs["one"]}
        result = assess_sensitivity(qrels, twins)
        for cell in result.cells:
            assert ("a", "twin of a") in cell.order
            if cell.winners == ("a", "twin of a"):
                assert (cell.lead, cell.relative_lead) == (0.0, 0.0)
        assert ("a", "twin of a") in result.wins()
        assert "a = twin of a" in result.text()

    def test_all_alike(self, data):
        qrels, runs = data
        result = assess_sensitivity(qrels, {"a": runs["one"], "b": runs["one"]}, at=[10, 20])
        assert {each.tau for each in result.agreements()} == {None}
        assert result.effects()[0].mean_tau is None
        assert "all systems are tied" in result.text()


class TestAxes:
    def labels(self, result):
        return {axis.name: axis.labels for axis in result.axes}

    def test_given_values(self, data):
        result = assess_sensitivity(
            *data,
            gain=["tenfold", {0: 0, 1: 2, 2: 2, 3: 5}, Gain("linear"), "tenfold"],
            discount=["jarvelin2002", "jarvelin2008", "rank"],
            base=[3, "e"],
            at=[7],
        )
        assert self.labels(result) == {
            "gain": ("0-1-10-100", "{0:0,1:2,2:2,3:5}", "linear"),
            "discount": (
                "jarvelin2002 base 3",
                "jarvelin2002 base e",
                "jarvelin2008 base 3",
                "jarvelin2008 base e",
                "rank",
            ),
            "depth": ("7",),
        }

    def test_parameters_of_the_measure_are_not_varied(self, data):
        result = assess_sensitivity(*data, measure="nDCG(gain=exp2, discount=jarvelin2002, base=10, rel=2)@20")
        assert [str(cell.measure) for cell in result.cells] == [
            "nDCG(gain=exp2, discount=jarvelin2002, base=10, rel=2)@20"
        ]
        with pytest.raises(UsageError, match="gain is set in the measure and also varied"):
            assess_sensitivity(*data, measure="nDCG(gain=exp2)", gain=["flat"])

    def test_a_measure_that_takes_gains_up_to_1(self, data):
        """RBP's gains are probabilities: weights become shares of the highest, under their usual names."""
        qrels, runs = data
        result = assess_sensitivity(qrels, runs, measure="RBP", vary={"p": [0.5, 0.95]}, at=[10])
        assert result.axes[0].labels == ("0-1-1-1", "0-1-2-3", "exp2", "0-1-10-100", "0-0-0-1")
        assert str(result.cells[6].measure) == "RBP(p=0.5, gain=0-0.01-0.1-1)@10"
        third = parse("RBP(p=0.5, gain=scaled)@10")
        for score in result.cells[2].scores:
            assert score.value == pytest.approx(evaluate(qrels, runs[score.run], third).mean(third))

    def test_a_measure_that_needs_a_depth(self, data):
        result = assess_sensitivity(*data, measure="AnDCG@10", gain=["flat"], discount=["none"], at=[5, 20])
        assert [str(cell.measure) for cell in result.cells] == [
            "nDCG(gain=0-1-1-1, discount=none, average=ranks)@5",
            "nDCG(gain=0-1-1-1, discount=none, average=ranks)@20",
        ]

    def test_a_base_that_cancels_is_evaluated_once(self, data):
        result = assess_sensitivity(*data, discount=["burges2005"], base=[2, 10], gain=["flat"], at=[10])
        assert [str(cell.measure) for cell in result.cells] == ["nDCG(gain=0-1-1-1)@10"]
        assert any("cancels" in notice for notice in result.notices)
        # The reason: whatever the base, nDCG is the same.
        qrels, runs = data
        for run in runs.values():
            values = [evaluate(qrels, run, f"nDCG(base={base})@10").mean(f"nDCG(base={base})@10") for base in (3, 10)]
            assert values[0] == pytest.approx(values[1], abs=1e-12)
        # It does not cancel where nothing is normalised.
        dcg = assess_sensitivity(*data, measure="DCG", discount=["burges2005"], gain=["flat"], at=[10])
        assert self.labels(dcg)["discount"] == ("base 2", "base e", "base 10")

    @pytest.mark.parametrize("measure", ["CG", "nCG"])
    def test_measures_without_a_discount(self, data, measure):
        result = assess_sensitivity(*data, measure=measure)
        assert list(self.labels(result)) == ["gain", "depth"]
        assert f"{measure} has no discount, which is therefore not varied" in result.notices
        with pytest.raises(UsageError, match=f"{measure}: has no discount"):
            assess_sensitivity(*data, measure=measure, base=[2])

    def test_measures_without_gains(self, data):
        result = assess_sensitivity(*data, measure="P@10", vary={"rel": [1, 2, 3]}, at=[5, 10])
        assert self.labels(result) == {"rel": ("1", "2", "3"), "depth": ("5", "10")}
        assert [str(cell.measure) for cell in result.cells][:3] == ["P(rel=1)@5", "P(rel=1)@10", "P(rel=2)@5"]

    def test_lower_is_better(self, data):
        result = assess_sensitivity(*data, measure="Fallout", vary={"rel": [1, 2]}, at=[10])
        for cell in result.cells:
            assert cell.value == min(score.value for score in cell.scores)

    @together(
        ("options", "message"),
        [
            ({"runs": {}}, "runs: at least one run is required"),
            ({"measure": "RR", "at": [0]}, "depth: expected a whole number"),
            ({"measure": "Bpref"}, "has no gain, discount or depth to vary"),
            ({"gain": []}, "gain: at least one value is required"),
            ({"gain": "flat"}, "gain: expected several values"),
            ({"discount": ["none"], "base": [2]}, "base: has no effect with discount none"),
            ({"vary": {"persistence": [1]}}, "unknown parameter 'persistence'"),
            ({"vary": {"cutoff": [1]}}, "cutoff cannot be used here; set the depths instead"),
            ({"at": list(range(1, 300))}, "cells, at most 1,000 are allowed"),
        ],
    )
    def test_refused(self, data, options, message):
        with pytest.raises((UsageError, InputError), match=message):
            assess_sensitivity(data[0], **{"runs": data[1], **options})


class TestScales:
    @together(
        ("grades", "gains"),
        [
            ((0, 1), ("0-1",)),
            ((0, 1, 2), ("0-1-1", "0-1-2", "exp2", "0-1-10", "0-0-1")),
            ((-2, 0, 1, 3), ("0-1-1-1", "0-1-2-3", "exp2", "0-1-10-100", "0-0-0-1")),
            ((0, 0.5, 1), ("{0:0,0.5:1,1:1}", "linear", "exp2", "{0:0,0.5:1,1:10}", "{0:0,0.5:0,1:1}")),
            (tuple(range(11)), ("binary", "linear", "exp2", "binary from 5", "binary from 10")),
            (tuple(i / 40 for i in range(41)), ("binary", "linear", "exp2", "binary from 0.5")),
        ],
    )
    def test_gains_for_other_scales(self, grades, gains):
        qrels, runs = collection(grades=grades, queries=8)
        qrels["q0"].update({f"e{i}": grade for i, grade in enumerate(grades)})  # every grade occurs
        result = assess_sensitivity(qrels, runs, at=[10], discount=["none"])
        assert result.axes[0].labels == gains
        assert any("so gains have no effect" in notice for notice in result.notices) == (len(gains) == 1)

    def test_thresholds_are_rel(self):
        qrels, runs = collection(grades=range(11))
        result = assess_sensitivity(qrels, runs, at=[10], discount=["none"])
        assert str(result.cells[3].measure) == "nDCG(gain=binary, discount=none, rel=5)@10"

    def test_too_many_grades_for_weights(self):
        qrels, runs = collection(grades=tuple(i / 100 for i in range(100)))
        with pytest.raises(UsageError, match="needs at most 30 levels"):
            assess_sensitivity(qrels, runs, gain=["tenfold"])

    def test_grade_zero_counts(self):
        """Stars from 1 to 4 with grade-zero 1 have levels 1 to 3."""
        qrels, runs = collection(grades=(1, 2, 3, 4))
        result = assess_sensitivity(qrels, runs, policy=Policy(grade_zero=1), at=[10])
        assert result.axes[0].labels[-2:] == ("0-1-10-100", "0-0-0-1")

    def test_nothing_relevant(self):
        qrels, runs = collection(grades=(0,))
        result = assess_sensitivity(qrels, runs, at=[10])
        assert result.axes[0].labels == ("linear",)
        assert all(cell.winners == tuple(sorted(RUNS)) for cell in result.cells)


class TestADM:
    def test_grid_over_the_values_of_the_categories(self, data):
        qrels, runs = data
        result = assess_sensitivity(qrels, runs, measure="ADM", vary={"srs": ["rank", "minmax"]})
        assert [axis.name for axis in result.axes] == ["urs", "srs", "depth"]
        assert result.axes[0].labels == ("0-1-1-1", "0-1-2-3", "exp2", "0-1-10-100", "0-0-0-1")
        assert result.axes[2].labels == ("10", "30", "100", "200", "1000")
        assert "ADM has no discount, which is therefore not varied" in result.notices

    def test_values_by_hand(self):
        """One document of grade 1 of 2 at rank 1 (SRS 1): its distance is 1 minus the value of its category."""
        runs, gains = {"r": {"q": ["d"]}}, ["flat", "tenfold", "top"]
        result = assess_sensitivity({"q": {"d": 1, "e": 2}}, runs, measure="ADM(over=retrieved)", gain=gains)
        values = {cell.label: cell.value for cell in result.cells if cell.label.endswith("@10")}
        assert values == pytest.approx({"0-1-1, @10": 1.0, "0-1-10, @10": 0.1, "0-0-1, @10": 0.0})

    def test_given(self):
        qrels, runs = collection(grades=(0, 0.25, 0.5, 1))
        result = assess_sensitivity(qrels, runs, measure="ADM", gain=["given", "linear"], at=[10])
        assert result.axes[0].labels == ("given", "linear")
        assert [score.value for score in result.cells[0].scores] == [score.value for score in result.cells[1].scores]


class TestScenarios:
    def test_those_of_the_article(self, data):
        qrels, runs = data
        result = assess_sensitivity(qrels, runs, scenario=["impatient", "patient"])
        assert [(cell.label, str(cell.measure)) for cell in result.cells] == [
            ("impatient", "nDCG(gain=0-1-10-100, discount=jarvelin2002)@30"),
            ("patient", "nDCG(gain=0-1-2-3, discount=jarvelin2002, base=10)@200"),
        ]
        assert result.axes == ()
        assert result.effects() == result.winner_changes() == ()

    def test_weights_fit_other_scales(self):
        result = assess_sensitivity(*collection(grades=(0, 1, 4)), scenario=["impatient", "patient"])
        assert [str(cell.measure.gain) for cell in result.cells] == ["0-1-10-100-1000", "0-1-2-3-4"]
        real = assess_sensitivity(*collection(grades=(0, 0.5, 1)), scenario=["impatient", "patient"])
        assert [str(cell.measure.gain) for cell in real.cells] == ["{0:0,0.5:1,1:10}", "linear"]
        with pytest.raises(UsageError, match="scenario impatient: gain: 'tenfold' needs at most 30 levels"):
            assess_sensitivity(*collection(grades=[i / 100 for i in range(100)]), scenario="impatient")

    def test_own_ones(self, data):
        scenarios = [Scenario("mine", gain="top", depth=5), "patient", Scenario("plain", measure=parse("AP"))]
        result = assess_sensitivity(*data, scenario=scenarios, measure="DCG")
        assert [str(cell.measure) for cell in result.cells] == [
            "DCG(gain=0-0-0-1, discount=jarvelin2002)@5",
            "DCG(gain=0-1-2-3, discount=jarvelin2002, base=10)@200",
            "AP",
        ]

    def test_a_file(self, data, tmp_path):
        path = tmp_path / "mine.toml"
        path.write_text(
            '[first-page]\nabout = "one look"\ngain = "0-1-10-100"\ndepth = 10\n'
            '[digging]\nbase = "e"\ngain = { 0 = 0, 1 = 1, 2 = 1, 3 = 4 }\n'
            '[distance]\nmeasure = "ADM(srs=minmax)"\ngain = "flat"\ndepth = 100\n'
            '[burges]\ndiscount = "burges2005"\n'
        )
        result = assess_sensitivity(*data, scenarios=path)
        assert [(cell.label, str(cell.measure)) for cell in result.cells] == [
            ("first-page", "nDCG(gain=0-1-10-100, discount=jarvelin2002)@10"),
            ("digging", "nDCG(gain={0:0,1:1,2:1,3:4}, discount=jarvelin2002, base=e)"),
            ("distance", "ADM(srs=minmax, urs=0-1-1-1)@100"),
            ("burges", "nDCG"),
        ]
        assert "(one look)" in result.text()

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "the file has no scenarios"),
            ("[a\n", "invalid TOML"),
            ("depth = 10\n", "depth: expected a table, found 10"),
            ("[a]\ndept = 10\n", "a.dept: unknown key; a scenario has .*\nhint: did you mean depth"),
            ("[a]\ndepth = 0\n", "a.depth: expected a whole number from 1"),
            ("[a]\ndepth = true\n", "a.depth: expected a number, found True"),
            ("[a]\nbase = 1\n", "a.base: expected a number above 1 or e, found 1"),
            ('[a]\ngain = "steep"\n', "a.gain: expected linear"),
            ("[a]\ngain = 3\n", "a.gain: expected linear"),
            ('[a]\ndiscount = "log2"\n', "a.discount: expected burges2005"),
            ('[a]\nmeasure = "nDGC"\n', "a.measure: .*nDGC"),
            ("[a]\nmeasure = 1\n", "a.measure: expected a string, found 1"),
            ("[a]\nabout = 1\n", "a.about: expected a string, found 1"),
            ("[patient]\ndepth = 1\n", "patient: the name of a built-in scenario is reserved"),
        ],
    )
    def test_bad_files(self, data, tmp_path, content, message):
        path = tmp_path / "bad.toml"
        path.write_text(content)
        with pytest.raises(InputError, match=f"bad.toml: (?s:{message})"):
            assess_sensitivity(*data, scenarios=path)

    @together(
        ("scenario", "message"),
        [
            (Scenario("s", gain="flat", measure=parse("AP")), "scenario s: gain: AP has no such parameter"),
            (Scenario("s", base=2, measure=parse("nCG")), "scenario s: discount and base: nCG has no such parameter"),
            (Scenario("s", depth=3, measure=parse("Bpref")), "scenario s: depth: Bpref has no such parameter"),
            (Scenario("s", discount="none", base=10), "scenario s: nDCG: discount=none has no base"),
            (Scenario("s", measure=parse("NumRel")), "NumRel: the measure cannot order systems"),
            (Scenario("s", gain="0-1", where="my.toml: s"), "my.toml: s: gain=0-1: no weight for these grades"),
        ],
    )
    def test_parameters_that_the_measure_lacks(self, data, scenario, message):
        with pytest.raises((UsageError, InputError), match=message):
            assess_sensitivity(*data, scenario=[scenario])

    def test_refused(self, data):
        with pytest.raises(UsageError, match=r"expected impatient \| patient, found 'patent'\nhint: did you mean pa"):
            assess_sensitivity(*data, scenario=["patent"])
        with pytest.raises(UsageError, match="duplicate scenario 'patient'"):
            assess_sensitivity(*data, scenario=["patient", Scenario("patient", depth=3)])
        with pytest.raises(UsageError, match="scenarios: expected a TOML file"):
            assess_sensitivity(*data, scenarios=["patient"])
        with pytest.raises(UsageError, match="at: cannot be used with scenarios"):
            assess_sensitivity(*data, scenario=["patient"], at=[1])


class TestPages:
    def test_the_least_similar_orders_differ_in_little_else(self, found):
        """Among the pairs with the lowest tau, the first differs on the fewest axes."""

        def axes_apart(one, other):
            return sum(a != b for a, b in zip(one.place, other.place, strict=True))

        [table] = [table for table in found.page().tables if table.title == "The least similar orders"]
        agreements = found.agreements()
        lowest = min(each.tau for each in agreements)
        apart = min(axes_apart(each.one, each.other) for each in agreements if each.tau == lowest)
        cells = {cell.label: cell for cell in found.cells}
        one, other, tau = table.rows[0]
        assert (tau, axes_apart(cells[one], cells[other])) == (lowest, apart)

    def test_without_a_usual_winner_none_is_marked(self):
        result = assess_sensitivity(*collection(1), scenario=["impatient", "patient"])
        assert result.cells[0].winners != result.cells[1].winners
        assert result.usual_winners is None
        assert not any(table.marked for table in result.page().tables)
        assert "Kendall's tau between impatient and patient is" in result.text()

    def test_one_run_alone(self, data):
        qrels, runs = data
        result = assess_sensitivity(qrels, {"only": runs["one"]}, gain=["flat"])
        assert "A single system has no order" in result.text()
        assert all(cell.lead is None and cell.winners == ("only",) for cell in result.cells)

    def test_the_map_of_winners(self, found):
        chart = next(found.page().charts)
        assert (len(chart.rows), chart.columns) == (20, ("10", "30", "100", "200"))
        assert chart.rows[5] == "0-1-2-3, base e"
        cells = {cell.place: cell for cell in found.cells}
        usual = max(found.wins(), key=lambda names: found.wins()[names])
        for row, column in product(range(20), range(4)):
            cell = cells[row // 4, row % 4, column]
            assert chart.texts[row][column] == cell.winners[0]
            assert chart.values[row][column] == pytest.approx(100 * cell.relative_lead)
            assert ((row, column) in chart.outlined) == (cell.winners != usual)

    def test_long_names_become_numbers(self, data):
        qrels, runs = data
        result = assess_sensitivity(qrels, {f"a rather long name {name}": run for name, run in runs.items()})
        chart = next(result.page().charts)
        assert {text for row in chart.texts for text in row} == {str(i + 1) for i in range(len(result.wins()))}
        assert all(f"is {names[0]}" in chart.caption for names in result.wins())

    def test_charts_of_tau(self, found):
        _, *taus = found.page().charts
        assert [(chart.rows, chart.columns) for chart in taus] == [(axis.labels, axis.labels) for axis in found.axes]
        assert taus[2].values[0] == tuple(found.levels_tau(found.axes[2])[0])

    def test_few_settings_are_compared_all(self, data):
        result = assess_sensitivity(*data, gain=["flat", "top"], discount=["none"], at=[10, 20])
        _, taus = result.page().charts
        assert taus.rows == tuple(cell.label for cell in result.cells)
        assert taus.values[0][3] == result.tau(result.cells[0], result.cells[3])


def test_notice_of_another_winner_under_the_default_discount() -> None:
    # By hand, 1/log2(rank + 1): one has 3 + 2/2 + 1/log2(5) = 4.43, two 3/log2(3) + 3/2 + 2/log2(5) = 4.25.
    qrels = {"q": {"A": 3, "B": 2, "C": 0, "D": 1, "E": 3}}
    runs = {"one": {"q": ["A", "C", "B", "D"]}, "two": {"q": ["C", "E", "A", "B"]}}
    told = (
        "nDCG@10, with its default discount burges2005, is not in the grid and would rank one first; "
        "add it with --discount burges2005"
    )
    with quietly():
        assert told in assess_sensitivity(qrels, runs).notices
        assert told not in assess_sensitivity(qrels, runs, discount=["none"]).notices
        alike = assess_sensitivity(qrels, {**runs, "two": runs["one"]})
    assert not any("default discount" in line for line in alike.notices)


class TestSessions:
    """Quick systems find something at once, thorough ones find more later: the winner depends on bq."""

    GRADES = {"t": {"a": 1, "b": 2, "c": 3}}

    @staticmethod
    def log(system: str, lists: list[list[list[str]]], shared: bool) -> Sessions:
        return Sessions.of(
            [
                {
                    "session": f"s{i}" if shared else f"{system}{i}",
                    "topic": "t",
                    "queries": [{"results": page} for page in pages],
                }
                for i, pages in enumerate(lists)
            ]
        )

    LISTS = {
        "quick": [[["a", "b"], ["x"]], [["b"], []], [["x", "a"], ["a"]], [["a"]]],
        "thorough": [[["x"], ["x"], ["c", "b"]], [["x"], ["c"]], [["x"], ["b", "a"]], [["x"], ["x"], ["b"]]],
    }

    @staticmethod
    def sdcg(pages: list[list[str]], gains: dict[str, float], b: float, bq: float, k: int) -> float:
        return math.fsum(
            gains.get(document, 0.0) / (1 + math.log(rank, b)) / (1 + math.log(number, bq))
            for number, page in enumerate(pages, 1)
            for rank, document in enumerate(page[:k], 1)
        )

    @pytest.mark.parametrize("shared", [True, False])
    def test_every_cell_is_a_mean_by_hand_and_who_wins_changes(self, shared):
        systems = {name: self.log(name, lists, shared) for name, lists in self.LISTS.items()}
        found = assess_session_sensitivity(
            self.GRADES,
            systems,
            measure="sDCG",
            gain=["flat", "tenfold"],
            base=[2],
            at=[1, 2],
            vary={"query_base": [1.5, 10]},
        )
        assert [axis.name for axis in found.axes] == ["gain", "base", "query_base", "depth"]
        assert len(found.cells) == 8 and found.queries == (4 if shared else 8)
        weights = {"0-1-1-1": (1, 1, 1), "0-1-10-100": (1, 10, 100)}
        for cell in found.cells:
            gain, b, bq, k = found.labels(cell)
            gains = dict(zip("abc", weights[gain], strict=True))
            scores = {
                name: [self.sdcg(pages, gains, float(b), float(bq), int(k)) for pages in lists]
                for name, lists in self.LISTS.items()
            }
            assert [score.value for score in cell.scores] == pytest.approx(
                [math.fsum(each) / 4 for each in scores.values()]
            )
            test = ttest_rel(*scores.values()) if shared else ttest_ind(*scores.values(), equal_var=False)
            assert cell.leads.shown.tolist() == [test.pvalue < 0.05]
        assert set(found.wins()) == {("quick",), ("thorough",)}
        assert ("paired t test" if shared else "Welch's t test") in found.page().text()
        assert f"2 systems, {found.queries} sessions." in found.page().text()

    def test_default_values_and_parameters_of_the_measure(self):
        systems = {name: self.log(name, lists, True) for name, lists in self.LISTS.items()}
        found = assess_session_sensitivity(self.GRADES, systems)
        assert [axis.labels for axis in found.axes][1:] == [("2", "e", "10"), ("2", "4", "10"), ("5", "10", "20")]
        found = assess_session_sensitivity(self.GRADES, systems, measure="nsDCG(query_base=3)@10")
        assert [axis.name for axis in found.axes] == ["gain", "base", "depth"]
        assert {cell.measure.query_base for cell in found.cells} == {3.0}
        found = assess_session_sensitivity(self.GRADES, systems, measure="sRBP")
        assert [axis.name for axis in found.axes] == ["gain", "depth"]
        with pytest.raises(UsageError, match="a measure of single queries cannot score sessions"):
            assess_session_sensitivity(self.GRADES, systems, measure="nDCG")
