"""The studies: each makes one table of docs/ from the published matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from abstention import abstention
from beyond import posterior_calibration, posterior_coverage, sequence_errors, sequence_widths
from calibration import calibration
from gates import gate_commits, gate_errors, gate_misses, gate_rules
from intervals import judges, orders
from judging import judging
from matrices import distinct_systems, markdown, read, share
from real_runs import losses, shuffled
from repeats import repeats
from sessions import unpaired

from gainful.evaluation.score_matrix import ScoreMatrix
from gainful.kernel.arrays import Floats
from gainful.notation import numbered
from gainful.stats.anova import two_way
from gainful.stats.catalogues import INTERVALS, TESTS
from gainful.stats.families import FamilyResult, SystemsPlan, families_of
from gainful.stats.findings import Interval
from gainful.stats.paired import compare_pair
from gainful.stats.paired_tests import AllSubsets, FlippedSubsets, PairedScores, PairPlan, t_interval
from gainful.stats.rank_tests import conover, friedman, nemenyi
from gainful.stats.repeatable import Flips, exact_extremes, on_flip_grid
from gainful.stats.tukey import randomised_tukey, studentised_range_critical, tukey

ALPHA = 0.05


def _family(matrix: ScoreMatrix, **plan: Any) -> FamilyResult:
    [found] = families_of([matrix], SystemsPlan(**plan))
    return found


def coverage(folder: Path, pairs: int = 60, samples: int = 30, draws: int = 1000) -> str:
    """Measure the coverage of intervals for the mean difference, with queries sampled from two random systems."""
    scores = read(folder, "NewBestSub.R04").values
    rng = np.random.default_rng(1)
    kinds = ("Student t", "percentile", "BCa", "bootstrap-t", "inverted randomisation")
    rows = []
    for n in (6, 10, 20, 50):
        holds, disagrees = dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0)
        for pair in range(pairs):
            a, b = rng.choice(scores.shape[1], 2, replace=False)
            truth = float(np.mean(scores[:, a] - scores[:, b]))
            for sample in range(samples):
                queries = rng.integers(0, len(scores), n)
                drawn = PairedScores(scores[queries, a], scores[queries, b])
                p, found = _intervals(drawn, draws, seed=pair * samples + sample)
                for kind, interval in zip(kinds, found, strict=True):
                    holds[kind] += truth in interval
                    disagrees[kind] += (p < ALPHA) != (0.0 not in interval)
        of = pairs * samples
        rows.append([str(n), *(f"{share(holds[kind], of)} / {share(disagrees[kind], of)}" for kind in kinds)])
    return markdown(["queries", *kinds], rows)


#: Weights of n queries, by the words of the table.
_WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "1 / place": lambda rng, n: 1 / rng.permutation(np.arange(1.0, n + 1)),
    "Zipf, exponent 2": lambda rng, n: rng.zipf(2.0, n).astype(np.float64),
}


def weights(folder: Path, samples: int = 2000, draws: int = 1000) -> str:
    """Measure the coverage of intervals for the mean difference of two random systems with weighted queries."""
    scores = read(folder, "NewBestSub.R04").values
    rng = np.random.default_rng(9)
    rows = []
    for title, drawn in _WEIGHTS.items():
        for n in (25, 50, 200, 6000):
            held, worth = [0, 0, 0], []
            for sample in range(samples):
                a, b = rng.choice(scores.shape[1], 2, replace=False)
                queries, counts = rng.integers(0, len(scores), n), drawn(rng, n)
                counts *= n / counts.sum()
                pair = PairedScores(scores[queries, a], scores[queries, b], PairPlan(draws=draws, seed=sample), counts)
                worth.append(pair.weight)
                # The variance of a ratio of sums (Cochran 1977), without correction for leverage.
                spread = float(np.sqrt(((counts * (pair.plain_differences - pair.mean)) ** 2).sum() / (n - 1)))
                found = [INTERVALS[kind].formula(pair, ALPHA) for kind in ("t", "randomisation")]
                for i, interval in enumerate((t_interval(pair.mean, spread, n, ALPHA), *found)):
                    held[i] += float(np.mean(scores[:, a] - scores[:, b])) in interval
            rows.append([title, f"{n:,}", f"{np.median(worth):.0f}", *(share(each, samples) for each in held)])
    header = ["weights", "queries", "worth (median)", "t, ratio of sums, n - 1", "t", "inverted randomisation"]
    return markdown(header, rows)


def _intervals(pair: PairedScores, draws: int, seed: int) -> tuple[float, list[Interval]]:
    """p of the randomisation test, and the intervals in the order of the table."""
    both = np.stack((pair.a, pair.b), axis=1)
    subsets: AllSubsets | FlippedSubsets
    if pair.nonzero <= 10:
        extreme, of = exact_extremes(pair.differences)
        subsets, p = AllSubsets.of(pair.differences), extreme / of
    else:
        subsets = FlippedSubsets.of(on_flip_grid(both), Flips(pair.n, draws, seed))
        p = float(subsets.flips.p(np.array(subsets.extreme)))
    drawn = PairedScores(pair.a, pair.b, PairPlan(draws=draws, seed=seed))
    return p, [
        t_interval(pair.mean, pair.sd or 0.0, pair.n, ALPHA),
        *(INTERVALS[kind].formula(drawn, ALPHA) for kind in ("percentile", "bca", "bootstrap-t")),
        subsets.interval(ALPHA),
    ]


def families(folder: Path, samples: int = 500, m: int = 10, draws: int = 500) -> str:
    """Measure false positives and power of procedures on systems centred to known means."""
    source = distinct_systems(folder, "NewBestSub.R04")
    centred = source - source.mean(axis=0)
    same = np.zeros(m)
    half = np.where(np.arange(m) < m // 2, 0.0, 0.1)
    found: dict[str, list[str]] = {}
    for means in (same, half):
        null = means[:, np.newaxis] == means
        false, power = dict.fromkeys(PROCEDURES, 0), dict.fromkeys(PROCEDURES, 0.0)
        rng = np.random.default_rng(2)
        for sample in range(samples):
            systems = rng.choice(centred.shape[1], m, replace=False)
            queries = rng.integers(0, len(centred), 50)
            scores = centred[np.ix_(queries, systems)] + means
            first, second = np.triu_indices(m, 1)
            is_null = null[first, second]
            for name, p in _adjusted(scores, draws, sample).items():
                false[name] += bool((p[is_null] < ALPHA).any())
                power[name] += float(np.mean(p[~is_null] < ALPHA)) if (~is_null).any() else 0.0
        for name in PROCEDURES:
            found.setdefault(name, []).append(share(false[name], samples))
            if not null.all():
                found[name].append(f"{100 * power[name] / samples:.1f}%")
    header = ["procedure", "false finding, all equal", "false finding, half differ", "of real differences found"]
    return markdown(header, [[name, *cells] for name, cells in found.items()])


PROCEDURES = (
    "step-down maxT",
    "t, Holm",
    "Tukey HSD",
    "randomised Tukey HSD",
    "t, Benjamini-Hochberg",
    "t, uncorrected",
)


def _matrix(scores: Floats) -> ScoreMatrix:
    return ScoreMatrix("AP", "higher", tuple(numbered(len(scores))), tuple(map(str, range(scores.shape[1]))), scores)


def _adjusted(scores: Floats, draws: int, seed: int) -> dict[str, Floats]:
    matrix = _matrix(scores)
    found = [
        _family(matrix, draws=draws, seed=seed).adjusted,
        *(_family(matrix, test="t", correction=name).adjusted for name in ("holm",)),
        tukey(scores).p,
        randomised_tukey(scores, draws=draws, seed=seed, threads=1).p,
        *(_family(matrix, test="t", correction=name).adjusted for name in ("bh", "none")),
    ]
    return dict(zip(PROCEDURES, found, strict=True))


def many(folder: Path, samples: int = 250, draws: int = 500, systems: Sequence[int] = (5, 10, 20)) -> str:
    """Measure false positives among systems of equal means, by number of systems and queries."""
    sources = [distinct_systems(folder, name) for name in _MATRICES]
    rows = []
    for m in systems:
        for n in (25, 50, 200):
            rng = np.random.default_rng((6, m, n))
            false = np.zeros(4, np.int64)
            for source in sources:
                centred = source - source.mean(axis=0)
                for sample in range(samples):
                    chosen = rng.choice(centred.shape[1], m, replace=False)
                    false += _finds(centred[np.ix_(rng.integers(0, len(centred), n), chosen)], draws, sample)
            rows.append([str(m), str(n), *(share(count, samples * len(sources)) for count in false.tolist())])
    return markdown(["systems", "queries", *PROCEDURES[:4]], rows)


def _finds(scores: Floats, draws: int, seed: int) -> list[bool]:
    """Whether the first four procedures find anything; Tukey by its critical value, which is quicker than by p."""
    matrix, (n, m) = _matrix(scores), scores.shape
    error = np.sqrt(two_way(scores).residual.mean_square / n)
    return [
        bool((_family(matrix, draws=draws, seed=seed).adjusted < ALPHA).any()),
        bool((_family(matrix, test="t", correction="holm").adjusted < ALPHA).any()),
        bool(np.ptp(scores.mean(axis=0)) > error * studentised_range_critical(ALPHA, m, (m - 1) * (n - 1))),
        bool((randomised_tukey(scores, draws=draws, seed=seed, threads=1).p < ALPHA).any()),
    ]


_MATRICES = ("NewBestSub.R04", "urbano.adhoc8_rr", "urbano.adhoc8_p10", "urbano.web2013_ndcg20")


def measures(folder: Path, samples: int = 2000, m: int = 5, draws: int = 500) -> str:
    """Measure false positives and power of one family of three measures."""
    sources = [read(folder, f"urbano.adhoc8_{name}").values for name in ("ap", "p10", "rr")]
    half = np.where(np.arange(m) < m // 2, 0.0, 0.1)
    rows = []
    for n in (25, 50):
        false, power = [0, 0], 0.0
        for place, means in enumerate((np.zeros(m), half)):
            first, second = np.triu_indices(m, 1)
            is_null = means[first] == means[second]
            rng = np.random.default_rng(7)
            for sample in range(samples):
                systems = rng.choice(sources[0].shape[1], m, replace=False)
                queries = rng.integers(0, len(sources[0]), n)
                matrices = [
                    _matrix((scores - scores.mean(axis=0))[np.ix_(queries, systems)] + means) for scores in sources
                ]
                found = families_of(matrices, SystemsPlan(family="all", draws=draws, seed=sample))
                false[place] += any((each.adjusted[is_null] < ALPHA).any() for each in found)
                if place:
                    power += float(np.mean([each.adjusted[~is_null] < ALPHA for each in found]))
        rows.append([str(n), *(share(count, samples) for count in false), f"{100 * power / samples:.1f}%"])
    return markdown(
        ["queries", "false finding, all equal", "false finding, half differ", "of real differences found"], rows
    )


def rank_tests(folder: Path, samples: int = 1000) -> str:
    """Measure how often tests find a difference between two systems with equal means."""
    scores = distinct_systems(folder, "NewBestSub.R04")
    tests = ("t", "wilcoxon", "sign")
    rows = []
    for n in (50, 249, 1000, 5000):
        rng = np.random.default_rng(3)
        hits = dict.fromkeys(tests, 0)
        for _ in range(samples):
            a, b = rng.choice(scores.shape[1], 2, replace=False)
            difference = scores[:, a] - scores[:, b]
            drawn = (difference - difference.mean())[rng.integers(0, len(scores), n)]
            pair = PairedScores(drawn, np.zeros(n))
            for test in tests:
                hits[test] += TESTS[test].formula(pair).p < ALPHA
        rows.append([f"{n:,}", *(share(hits[test], samples) for test in tests)])
    return markdown(["queries", "Student t", "Wilcoxon", "sign"], rows)


def pool(folder: Path, times: int = 60) -> str:
    """Compute p of one pair of systems together with three other systems, repeatedly drawn."""
    matrix = read(folder, "NewBestSub.WEB14GD")
    pair = ("uogTrDwl", "CiirAll1")
    others = [system for system in matrix.systems if system not in pair]
    rng = np.random.default_rng(4)
    found: dict[str, list[float]] = {name: [] for name in ("Tukey HSD", "randomised Tukey HSD", "Nemenyi", "Conover")}
    for time in range(times):
        beside = [others[i] for i in sorted(rng.choice(len(others), 3, replace=False).tolist())]
        scores = matrix.select([*pair, *beside]).values
        ranks = friedman(scores)
        tests = (tukey(scores), randomised_tukey(scores, seed=time, threads=1), nemenyi(ranks), conover(ranks))
        for name, test in zip(found, tests, strict=True):
            found[name].append(float(test.p[0]))
    own = compare_pair(matrix, *pair).p
    rows = [[name, f"{min(p):.2g}", f"{np.median(p):.2g}", f"{max(p):.2g}"] for name, p in found.items()]
    rows.append(["randomisation test of the pair", *[f"{own:.2g}"] * 3])
    return markdown(["procedure", "smallest p", "median", "largest p"], rows)


def few(folder: Path) -> str:
    """The smallest p there can be, by the number of differences that are not 0."""
    counts = range(3, 11)
    smallest = []
    for k in counts:
        extreme, of = exact_extremes(np.linspace(0.1, 0.2, k))
        smallest.append(f"{extreme / of:.3g}")
    return markdown(["differences that are not 0", *map(str, counts)], [["smallest p", *smallest]])


def resolution(folder: Path) -> str:
    """Count the significant pairs of 110 systems, by correction."""
    matrix = read(folder, "NewBestSub.R04")
    one = {
        "step-down maxT, 100,000 flips": _family(matrix).adjusted,
        "t, Holm": _family(matrix, test="t", correction="holm").adjusted,
        "Tukey HSD": tukey(matrix.values).p,
        "randomised Tukey HSD, 10,000 permutations": randomised_tukey(matrix.values).p,
        "t, Benjamini-Hochberg": _family(matrix, test="t", correction="bh").adjusted,
        "t, uncorrected": _family(matrix, test="t", correction="none").adjusted,
        "100,000 flips, Holm (refused)": np.minimum(1.0, _family(matrix).p * 5995),
    }
    rows = [[name, f"{int((p < ALPHA).sum()):,}"] for name, p in one.items()]
    return markdown(["procedure", "of 5,995 pairs significantly different"], rows)


STUDIES: dict[str, Callable[[Path], str]] = {
    "coverage": coverage,
    "weights": weights,
    "families": families,
    "many": many,
    "measures": measures,
    "resolution": resolution,
    "pool": pool,
    "rank-tests": rank_tests,
    "few": few,
    "posterior-coverage": posterior_coverage,
    "posterior-calibration": posterior_calibration,
    "sequence-widths": sequence_widths,
    "sequence-errors": sequence_errors,
    "orders": orders,
    "judges": judges,
    "judging": judging,
    "gate-errors": gate_errors,
    "gate-misses": gate_misses,
    "gate-rules": gate_rules,
    "gate-commits": gate_commits,
    "unpaired": unpaired,
    "repeats": repeats,
    "losses": losses,
    "shuffled": shuffled,
    "abstention": abstention,
    "calibration": calibration,
}
