"""`gainful papers scheel2011 --letor`: on a small collection made here, and on OHSUMED where that is at hand.

What is expected is computed from the lines of the files by code that knows nothing of gainful's.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import scipy.stats

from gainful.evaluation.notices import notices
from gainful.pages.charts import Plot
from gainful.render.figure_style import Looks
from gainful_papers.claims import Study
from gainful_papers.scheel2011 import study
from gainful_papers.scheel2011.letor_collection import STRATEGIES, read_collection
from gainful_papers.scheel2011.virtual_users import grades_of

from .letor_samples import Document, made_up, tables, write
from .naive_multigraded import average_precision, mean, mu_ap, ndcg, ndcng

OHSUMED = Path(__file__).parents[2].parent / "shared" / "data" / "letor-ohsumed"
#: The paper's 1 5 9 11 15 19 21 22, in a release with 15 features each of title, abstract and both.
FEATURES = (1, 5, 9, 16, 20, 24, 41, 42)


def documents_in(text: str) -> list[Document]:
    found = []
    for each in text.splitlines():
        fields, _, name = each.partition("#docid = ")
        grade, query, *features = fields.split()
        values = [feature.partition(":")[2] for feature in features]
        numbers = tuple(-math.inf if value == "NULL" else float(value) for value in values)
        found.append(Document(float(grade), query.removeprefix("qid:"), name, numbers))
    return found


REFERENCES: dict[str, Callable[[Document], float]] = {
    "Figure 6": lambda document: document.grade,
    "Figure 7": lambda document: document.features[0],
    "Figure 8": lambda document: document.features[8],
}


class Naive:
    """Expected values; each mean is computed once."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = documents
        self.orders: dict[int, list[list[Document]]] = {}
        self.means: dict[tuple[str, int, object], float] = {}

    def lists(self, figure: str, feature: int) -> list[list[float]]:
        """The grades of every query in the order of a feature, equal ones by document name, descending."""
        if feature not in self.orders:
            by_query: dict[str, list[Document]] = {}
            for document in self.documents:
                by_query.setdefault(document.query, []).append(document)
            self.orders[feature] = [
                sorted(some, key=lambda each: (each.features[feature - 1], each.name), reverse=True)
                for some in by_query.values()
            ]
        return [[REFERENCES[figure](each) for each in order] for order in self.orders[feature]]

    def mean(self, figure: str, feature: int, measure: Callable[[Sequence[float]], float | None]) -> float:
        key = figure, feature, measure
        if key not in self.means:
            self.means[key] = mean([measure(each) for each in self.lists(figure, feature)])
        return self.means[key]


def verdicts(found: Study) -> list[tuple[str, ...]]:
    claimed = [table for each in found.sections for table in tables(found, each.name)]
    return [
        tuple(map(str, row)) for table in claimed if "verdict" in [c.name for c in table.columns] for row in table.rows
    ]


def check_means(found: Study, figure: str, naive: Naive) -> None:
    means, *_ = tables(found, figure)
    levels = sorted(set(map(REFERENCES[figure], naive.documents)) - {0.0})
    shown = levels if len(levels) < 20 else levels[:: len(levels) // 10]
    by_threshold = {row[0]: row for row in tables(found, figure)[-1].rows}
    assert list(by_threshold) == levels
    for place, (row, feature) in enumerate(zip(means.rows, FEATURES, strict=True)):
        ranked = naive.lists(figure, feature)
        expected = [naive.mean(figure, feature, measure) for measure in (mu_ap, ndcg, ndcng)]
        assert list(row[1:4]) == pytest.approx(expected, abs=1e-10), row[0]
        for level in shown:
            by_query = [average_precision(each, level) for each in ranked]
            assert by_threshold[level][1] == len(by_query) - by_query.count(None)
            assert by_threshold[level][2 + place] == pytest.approx(mean(by_query), abs=1e-10)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return made_up()


@pytest.fixture(scope="module")
def found(documents: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(write(tmp_path_factory.mktemp("letor"), documents))


class TestMadeUp:
    @pytest.mark.parametrize("figure", REFERENCES)
    def test_every_value(self, found, documents, figure):
        check_means(found, figure, Naive(documents))

    def test_charts_show_the_tables(self, found):
        for name in REFERENCES:
            [section] = [section for section in found.sections if section.name == name]
            left, right = [part for part in section.parts if isinstance(part, Plot)]
            means, _, by_threshold = tables(found, name)
            assert [line_.name for line_ in left.lines] == [row[0] for row in means.rows]
            for place, drawn in enumerate(left.lines):
                assert list(zip(drawn.x, drawn.y, strict=True)) == [(r[0], r[2 + place]) for r in by_threshold.rows]
            for place, points in enumerate(right.points):
                assert list(points.y) == [row[1 + place] for row in means.rows]

    def test_the_mean_of_maps_is_by_distance(self, found):
        """Thresholds 1, 2, 3 of feature 1, each MAP over the queries that reach it; those of feature 9 by distance."""
        for name in ("Figure 7", "Figure 8"):
            means, _, by_threshold = tables(found, name)
            levels = [row[0] for row in by_threshold.rows]
            distances = [level - below for below, level in zip([0.0, *levels], levels, strict=False)]
            for place, row in enumerate(means.rows):
                maps = [each[2 + place] for each in by_threshold.rows]
                expected = sum(d * m for d, m in zip(distances, maps, strict=True)) / sum(distances)
                assert row[4] == pytest.approx(expected, abs=1e-10)

    def test_strategies(self, found):
        table, claims = tables(found, "Section 2.2")
        assert [row[:2] for row in table.rows] == list(zip((1, 5, 9, 11, 15, 19, 21, 22), FEATURES, strict=True))
        for row, feature in zip(table.rows, FEATURES, strict=True):
            assert row[4] == ("no: one value per query" if feature in (5, 20) else "yes")
        assert [row[0] for row in claims.rows][1:] == ["levels of feature 1", "levels of feature 9"]
        assert [row[3] for row in claims.rows][1:] == ["other data", "other data"]

    def test_a_part_is_called_one(self, found):
        assert "only 5 queries and 60 judged documents of 106 and 16,140" in found.data

    def test_one_query_is_called_one(self, tmp_path, documents):
        found = study(write(tmp_path, [each for each in documents if each.query == "1"]))
        assert "only 1 query and 12 judged documents of" in found.data
        assert tables(found, "Figure 6")[0].notes[0] == "over 1 query; 2 thresholds"

    def test_a_part_decides_nothing(self, tmp_path, documents):
        """Only that a reference is its own best list is so of any documents."""
        for number, queries in enumerate((["1"], ["1", "2", "4"], ["1", "2", "3", "4", "10"])):
            part = [each for each in documents if each.query in queries]
            for what, _, _, verdict, *_ in verdicts(study(write(tmp_path / str(number), part))):
                if what.endswith("of the reference itself"):
                    assert verdict == "holds"
                else:
                    is_figure = what.startswith(("Pearson", "levels of", "MAPs averaged"))
                    assert verdict == ("other data" if is_figure else "not seen"), what

    def test_eight_lines_have_eight_looks(self, found):
        for section in found.sections[1:]:
            left, right = [part for part in section.parts if isinstance(part, Plot)]
            looks = Looks.of([*left.systems, *right.systems])
            assert (
                len({looks(each).colour for each in left.lines})
                == len({looks(each).dashes for each in left.lines})
                == 8
            )
            assert len({looks(each).marker for each in right.points}) == 3

    def test_the_query_without_anything_relevant_is_noticed(self, found):
        """Each of eight strategies and the order of people's grades once; whose grades these are stands at Figure 6."""
        assert list(found.evaluations) == [*(strategy.name for strategy in STRATEGIES), "human grades"]
        first, *of_ties = notices(found.evaluations.values())
        assert first == "all 9 runs: 1 query with muAP, nDCG(gain=exp2), NDCNG undefined, left out (undefined=skip): 3"
        assert all("share their score with another in their list" in each or "ties leave" in each for each in of_ties)
        notes = {name: tables(found, name)[0].notes[0] for name in REFERENCES}
        assert notes.pop("Figure 6") == ("over 4 queries; 2 thresholds; left out, no grade above 0: 1 query (3)")
        assert all(note.startswith("over 5 queries;") and "left out" not in note for note in notes.values())

    def test_what_a_feature_leaves_out_is_said(self, tmp_path, documents):
        """A part whose title words do not occur: no grade of feature 1 is above 0 there."""
        dull = [
            each._replace(features=(0.0, *each.features[1:])) if each.query in ("2", "4") else each
            for each in documents
        ]
        note = tables(study(write(tmp_path, dull)), "Figure 7")[0].notes[0]
        assert note == "over 3 queries; 3 thresholds; left out, no grade above 0: 2 queries (2, 4)"

    def test_where_the_files_are(self, tmp_path, documents):
        """In the folder, in its Feature-null, deeper, compressed; training sets do not count."""
        plain = study(write(tmp_path / "plain", documents))
        packed = study(write(tmp_path / "packed", documents, "Fold{}.testset.txt.gz"))
        write(tmp_path / "whole/QueryLevelNorm", documents)
        for number in (1, 2):
            write(tmp_path / f"whole/Feature-null/Fold{number}", documents, f"training{number}{{}}.txt")
        write(tmp_path / "whole/Feature-null", documents, "Fold{}/test.txt")
        above = study(tmp_path / "whole")
        for other in (packed, above):
            for name in REFERENCES:
                assert [t.rows for t in tables(other, name)] == [t.rows for t in tables(plain, name)]

    def test_negative_scores_are_shifted(self, tmp_path, documents):
        below = [
            each._replace(features=(*each.features[:8], each.features[8] - 2.5, *each.features[9:]))
            for each in documents
        ]
        run = read_collection(write(tmp_path, below)).runs["9 TF-IDF of title"]
        lowest = min(each.features[8] for each in below)
        grades = sorted(grades_of(run, "feature 9").grade.tolist())
        assert grades == pytest.approx(sorted(each.features[8] - lowest for each in below))


@pytest.fixture(scope="module")
def ohsumed() -> Study:
    if not OHSUMED.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    return study(OHSUMED)


@pytest.fixture(scope="module")
def naive() -> Naive:
    if not OHSUMED.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    paths = sorted((OHSUMED / "Feature-null").glob("*.gz"))
    return Naive(documents_in("".join(gzip.decompress(path.read_bytes()).decode() for path in paths)))


class TestOhsumed:
    def test_it_is_the_whole_collection(self, ohsumed):
        assert "all 106 queries and 16,140 judged documents" in ohsumed.data

    @pytest.mark.parametrize("figure", REFERENCES)
    def test_every_value(self, ohsumed, naive, figure):
        check_means(ohsumed, figure, naive)

    def test_the_correlation_of_the_two_users(self, ohsumed, naive):
        """Section 2.2: Pearson's coefficient is 0.96."""
        pairs = [(each.features[0], each.features[8]) for each in naive.documents]
        assert scipy.stats.pearsonr(*zip(*pairs, strict=True)).statistic == pytest.approx(0.96, abs=0.005)
        _, claims = tables(ohsumed, "Section 2.2")
        assert claims.rows[0][1:4] == ("0.96", "0.96", "agrees")

    def test_what_the_features_are(self, naive):
        """TF is a whole number, IDF the same for a query's documents, the last feature the logarithm of BM25."""
        by_query: dict[str, set[tuple[float, float]]] = {}
        for document in naive.documents:
            tf, idf, other_tf, other_idf, bm25, log_bm25 = (document.features[f - 1] for f in (1, 5, 16, 20, 41, 42))
            assert tf.is_integer()
            assert other_tf.is_integer()
            by_query.setdefault(document.query, set()).add((idf, other_idf))
            if math.isinf(bm25):
                assert math.isinf(log_bm25)
            else:
                assert log_bm25 == pytest.approx(math.log(bm25), abs=2e-6)
        assert {len(values) for values in by_query.values()} == {1}

    def test_what_fails_and_what_does_not(self, ohsumed):
        found = verdicts(ohsumed)
        assert {row[3] for row in found} == {"agrees", "holds", "not seen", "fails", "erratum", "other data"}
        assert [row[0] for row in found if row[3] == "fails"] == ["muMAP"]
        assert [row[0] for row in found if row[3] == "erratum"] == ["relevance levels of OHSUMED"]
        assert sum(row[3] == "other data" for row in found) == 3
        assert sum(row[0].endswith("of the reference itself") for row in found) == 9

    def test_mu_map_is_not_the_mean_of_maps(self, ohsumed, naive):
        """Section 4: "the uMAP is the mean of the MAP computed applying the thresholds t = 1 and t = 2"."""
        pairs = []
        for feature in FEATURES:
            ranked = naive.lists("Figure 6", feature)
            maps = [mean([average_precision(each, level) for each in ranked]) for level in (1, 2)]
            pairs.append((naive.mean("Figure 6", feature, mu_ap), sum(maps) / 2, feature))
        widest = max(pairs, key=lambda pair: abs(pair[0] - pair[1]))
        [found] = [row for row in verdicts(ohsumed) if row[0] == "muMAP"]
        assert found[2:4] == ("{:.3f} and {:.3f} (feature {})".format(*widest), "fails")

    def test_levels(self, ohsumed, naive):
        """Both count the grade 0: the paper's 9 levels make 8 MAPs."""
        levels = {feature: len({each.features[feature - 1] for each in naive.documents}) for feature in (1, 9)}
        found = {row[0]: row[1:3] for row in verdicts(ohsumed)}
        assert found["levels of feature 1"] == ("9", str(levels[1]))
        assert found["levels of feature 9"] == ("158", f"{levels[9]:,}")
        assert found["MAPs averaged by muMAP"] == ("8", str(levels[1] - 1))

    def test_the_two_users_judge_each_other(self, ohsumed, naive):
        """Very similar: less than 0.05 apart."""
        for name, measure in (("muMAP", mu_ap), ("mean NDCG", ndcg), ("mean NDCNG", ndcng)):
            one = naive.mean("Figure 7", 9, measure)
            other = naive.mean("Figure 8", 1, measure)
            [found] = [row for row in verdicts(ohsumed) if row[0] == f"{name} of 9 by 1, and of 1 by 9"]
            assert found[2] == f"{one:.3f} and {other:.3f}"
            assert found[3] == ("holds" if abs(one - other) < 0.05 else "not seen")

    def test_a_part_of_it_decides_nothing(self, tmp_path, ohsumed):
        """One of its five test sets, 22 queries."""
        (tmp_path / "Fold1.testset.txt.gz").write_bytes((OHSUMED / "Feature-null/Fold1.testset.txt.gz").read_bytes())
        found = study(tmp_path)
        assert {row[3] for row in verdicts(found)} == {"holds", "not seen", "other data"}
        assert {row[0][-9:] for row in verdicts(found) if row[3] == "holds"} == {"ce itself"}

    def test_ndcg_alone_falls_from_figure_7_to_figure_8(self, ohsumed, naive):
        """Section 4, over the six strategies that are not references."""
        others = [feature for feature in FEATURES if feature not in (1, 9)]
        changes = {}
        for name, measure in (("muMAP", mu_ap), ("mean NDCG", ndcg), ("mean NDCNG", ndcng)):
            before, after = (
                sum(naive.mean(figure, feature, measure) for feature in others) / 6
                for figure in ("Figure 7", "Figure 8")
            )
            changes[name] = after / before - 1
            [found] = [row for row in verdicts(ohsumed) if row[0].startswith(f"{name} of the others")]
            assert found[2] == f"{before:.3f} to {after:.3f} ({100 * changes[name]:+.1f}%)"
        assert changes["mean NDCG"] < -0.3
        assert abs(changes["muMAP"]) < 0.03
        assert abs(changes["mean NDCNG"]) < 0.03
