"""`gainful papers scheel2011 --reference`: the virtual-user experiment on ratings and on scores of any kind.

What is expected is computed from the tables by code that knows nothing of gainful's.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
import scipy.stats

from gainful.data.run import Run
from gainful.errors import InputError, UsageError
from gainful_papers.claims import Study
from gainful_papers.reproduction import reproduce
from gainful_papers.scheel2011 import study_of

from .letor_samples import tables
from .naive_multigraded import average_precision, mean, mu_ap, ndcg, ndcng

Scores = dict[str, dict[str, float]]
ITEMS = [f"film{i:02}" for i in range(12)]


def made_ratings() -> tuple[Scores, Scores, dict[str, Scores]]:
    """Stars from 1 to 5 of six users for most of twelve films, their taste as real numbers, and two recommenders."""
    chance = random.Random(5)
    taste = {f"user{u}": {item: chance.uniform(0, 5) for item in ITEMS} for u in range(6)}
    stars = {
        user: {item: float(max(1, round(value))) for item, value in liked.items() if chance.random() < 0.8}
        for user, liked in taste.items()
    }
    systems = {
        name: {
            user: {item: value + chance.gauss(0, noise) for item, value in liked.items()}
            for user, liked in taste.items()
        }
        for name, noise in (("near", 0.5), ("far", 4.0))
    }
    return taste, stars, systems


def write_table(path: Path, header: str, scores: Scores) -> str:
    rows = [f"{user},{item},{value!r}" for user, of in scores.items() for item, value in of.items()]
    path.write_text("\n".join((header, *rows)) + "\n")
    return str(path)


def ranked(grades: Scores, run: Scores) -> list[list[float]]:
    """The grades of every user in the order of a run, 0 where there is none."""
    ordered = {user: sorted(of, key=lambda item: (of[item], item), reverse=True) for user, of in run.items()}
    return [[of.get(item, 0.0) for item in ordered[user]] for user, of in grades.items()]


def expected_means(grades: Scores, run: Scores) -> list[float]:
    return [mean([measure(each) for each in ranked(grades, run)]) for measure in (mu_ap, ndcg, ndcng)]


def claims(found: Study, section: str) -> dict[str, tuple[str, str]]:
    """Results and verdicts."""
    said = next(each for each in tables(found, section) if "verdict" in [column.name for column in each.columns])
    return {str(row[0]): (str(row[2]), str(row[3])) for row in said.rows}


class TestRatings:
    def test_every_value(self, tmp_path: Path) -> None:
        taste, stars, systems = made_ratings()
        file = write_table(tmp_path / "stars.csv", "user,item,rating", stars)
        found = study_of(systems, {"stars": file, "taste": taste})
        for name, grades in (("stars", stars), ("taste", taste)):
            means, *_, by_threshold = tables(found, f"Judged by {name}")
            levels = sorted({grade for of in grades.values() for grade in of.values()})
            assert [row[0] for row in by_threshold.rows] == levels
            for place, row in enumerate(means.rows):
                run = systems[str(row[0])]
                assert list(row[1:4]) == pytest.approx(expected_means(grades, run), abs=1e-10)
                for level in (levels[0], levels[-1]):
                    ranked = [
                        [of.get(i, 0.0) for i in sorted(run[u], key=run[u].get, reverse=True)]
                        for u, of in grades.items()
                    ]
                    by_user = [average_precision(each, level) for each in ranked]
                    threshold = by_threshold.rows[levels.index(level)]
                    assert threshold[1] == len(by_user) - by_user.count(None)
                    assert threshold[2 + place] == pytest.approx(mean(by_user), abs=1e-10)

    def test_judgments_play_the_user(self, tmp_path: Path) -> None:
        _, stars, systems = made_ratings()
        one, other = (
            reproduce("scheel2011", runs=systems, **given)
            for given in ({"qrels": stars}, {"reference": {"judgments": stars}})
        )
        assert one.only("Judged by judgments").text() == other.only("Judged by judgments").text()

    def test_a_reference_is_its_own_best_list(self) -> None:
        taste, stars, systems = made_ratings()
        found = study_of({**systems, "taste": taste}, {"stars": stars, "taste": "taste"})
        for section in ("Judged by stars", "Judged by taste"):
            own = [said for what, said in claims(found, section).items() if what.endswith("of the reference itself")]
            assert own == [("1", "holds")] * 3

    def test_users_who_are_alike_decide(self) -> None:
        """Fewer levels come first, whatever the order in which references are given."""
        taste, stars, systems = made_ratings()
        found = study_of(systems, {"taste": taste, "stars": stars})
        table, _ = tables(found, "Virtual users")
        counts = [len({grade for of in each.values() for grade in of.values()}) for each in (stars, taste)]
        assert [(row[0], row[4]) for row in table.rows] == [("stars", counts[0]), ("taste", counts[1])]
        pairs = [(stars[user][item], taste[user][item]) for user in stars for item in stars[user]]
        correlation = scipy.stats.pearsonr(*zip(*pairs, strict=True)).statistic
        assert claims(found, "Virtual users")["stars and taste"] == (f"{correlation:.2f}", "other data")
        assert correlation > 0.9
        said = claims(found, "Judged by taste")
        before, after = (
            [mean([expected_means(g, run)[m] for run in systems.values()]) for m in range(3)] for g in (stars, taste)
        )
        for place, measure in enumerate(("muMAP", "mean NDCG", "mean NDCNG")):
            finds, verdict = said[f"{measure} of the others, stars to taste"]
            change = after[place] / before[place] - 1
            assert finds == f"{before[place]:.3f} to {after[place]:.3f} ({100 * change:+.1f}%)"
            assert verdict == ("holds" if (change < -0.2 if place == 1 else abs(change) < 0.05) else "not seen")
            finds, verdict = said[f"{measure} of taste by stars, and of stars by taste"]
            one, other = map(float, finds.split(" and "))
            assert one == pytest.approx(expected_means(stars, taste)[place], abs=0.0006)
            assert verdict == ("holds" if abs(one - other) < 0.05 else "not seen")

    def test_users_who_are_not_alike_decide_nothing(self) -> None:
        _, stars, systems = made_ratings()
        found = study_of(systems, ["far", "near"])
        verdicts = [verdict for what, (_, verdict) in claims(found, "Judged by near").items() if " by " in what]
        assert verdicts == ["not seen"] * 3
        alike = {user: {item: 2 * grade for item, grade in of.items()} for user, of in stars.items()}
        same = study_of(systems, {"stars": stars, "doubled": alike})
        paragraphs = [part for section in same.sections for part in section.parts if isinstance(part, str)]
        assert "Not seen: both references have the same number of levels." in paragraphs

    def test_scores_below_0_are_shifted(self) -> None:
        taste, _, systems = made_ratings()
        below = {user: {item: value - 3 for item, value in of.items()} for user, of in taste.items()}
        lowest = min(value for of in below.values() for value in of.values())
        grades = {user: {item: value - lowest for item, value in of.items()} for user, of in below.items()}
        means, *_ = tables(study_of(systems, {"below": below}), "Judged by below")
        for row in means.rows:
            assert list(row[1:4]) == pytest.approx(expected_means(grades, systems[str(row[0])]), abs=1e-10)

    def test_of_many_levels_some_are_drawn(self) -> None:
        """Twelve items of twenty users are 240 thresholds, of which up to 100 are drawn, at equal distances."""
        chance = random.Random(1)
        scores = {f"u{u}": {item: chance.random() for item in ITEMS} for u in range(20)}
        means, *_, by_threshold = tables(study_of({"a": scores}, "a"), "Judged by a")
        drawn, all_of_them = (
            [row[0] for row in by_threshold.rows],
            sorted(v for of in scores.values() for v in of.values()),
        )
        assert means.notes[0] == f"over 20 queries; {len(drawn)} of 240 thresholds"
        assert 50 < len(drawn) <= 100
        assert max(after - before for before, after in pairwise(drawn)) < 0.05
        assert set(drawn) < set(all_of_them)
        assert (drawn[0], drawn[-1]) == (all_of_them[0], all_of_them[-1])


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"flat": {"u": {"a": 3, "b": 3}}}, "reference flat: all documents of each query have the same score"),
        ({"none": {"u": {"a": 3}, "v": {"b": 1}}}, "reference none: all documents of each query have the same score"),
        ({"large": {"u": {"a": 3000, "b": 3}}}, "large: expected grades up to 1000 for gains of .*, found 3000"),
        ("ranks", "reference ranks: the run has no scores"),
    ],
)
def test_what_cannot_play_a_user_is_refused(reference: Mapping[str, Scores] | str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        study_of({"a": {"u": {"a": 1, "b": 2}}, "ranks": {"u": ["a", "b"]}}, reference)


def test_a_policy_is_refused() -> None:
    with pytest.raises(UsageError, match="scheel2011: policy cannot be used without judgments"):
        reproduce("scheel2011", runs={}, reference="a", policy="trec_eval-9")


def test_names_are_checked() -> None:
    runs = {"bm25": Run.from_dict({"u": {"a": 1, "b": 2}})}
    with pytest.raises(UsageError, match="reference: no run is called 'bm52'; runs: bm25\nhint: did you mean bm25"):
        study_of(runs, "bm52")
    with pytest.raises(UsageError, match="'bm25' is also the name of a run"):
        study_of(runs, {"bm25": {"u": {"a": 1, "b": 2}}})
    with pytest.raises(UsageError, match="scheel2011: missing runs"):
        reproduce("scheel2011", reference="bm25")
