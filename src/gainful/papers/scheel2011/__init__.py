"""Scheel, Lommatzsch and Albayrak, SPIM 2011: measures that do not depend on how many grades there are."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

from gainful.evaluation.evaluate import evaluate
from gainful.kernel.parallel import Progress
from gainful.measures.catalog import parse
from gainful.papers.claims import (
    Claim,
    Section,
    Study,
    claims_tables,
    number_claim,
    statement,
    text_claim,
    vector_claim,
)
from gainful.papers.scheel2011.artificial import figures
from gainful.papers.scheel2011.ohsumed import ohsumed

#: Tables 1 and 2: the list A ... H.
_GRADES = (1.0, 0.0, 3.0, 3.0, 2.0, 0.0, 1.0, 4.0)
_RANKS = range(1, len(_GRADES) + 1)

_DCG = "DCG(gain=exp2, base=10)"
_ROUNDING = 1e-12


def examples(
    *, repetitions: int = 100, seed: int = 0, threads: int | None = None, progress: Progress | None = None
) -> tuple[Section, ...]:
    """Tables 1 and 2, the example after equation 4, the artificial experiment (Figures 4 and 5), and two levels only.

    >>> [section.name for section in examples(repetitions=1)]
    ['Table 1', 'Section 3.1', 'Table 2', 'Figure 4', 'Figure 5', 'Section 5']
    """
    return (
        _table_1(),
        _distances(),
        _table_2(),
        *figures(repetitions, seed, threads, progress),
        _two_levels(),
    )


def study(letor: str | os.PathLike[str], *, threads: int | None = None, progress: Progress | None = None) -> Study:
    """Figures 6 to 8: eight features of OHSUMED judged by people, by the first and by the ninth feature.

    ``letor`` is the folder of LETOR 3.0's OHSUMED with raw features: Feature-null, or the folder above it.
    """
    return ohsumed(letor, threads=threads, progress=progress)


def _table_1() -> Section:
    by_threshold = {5: 0.0, 4: 0.125, 3: 0.403, 2: 0.483, 1: 0.780, 0: 1.0}
    measures = [f"AP(rel={threshold})" for threshold in by_threshold]
    documents = "ABCDEFGH"
    qrels = {"list": dict(zip(documents, _GRADES, strict=True))}
    found = evaluate(qrels, {"list": list(documents)}, [*measures, "muAP"])
    claims = [
        number_claim(f"AP, t = {threshold}", printed, found.mean(measure), 3)
        for (threshold, printed), measure in zip(by_threshold.items(), measures, strict=True)
    ]
    six = math.fsum(found.mean(measure) for measure in measures) / len(measures)
    claims += [
        number_claim("mean of all six", 0.465, six, 3),
        number_claim("muAP (mean of 5 > t > 0)", 0.448, found.mean("muAP"), 3),
    ]
    return Section(
        "Table 1",
        "AP of the grades 1 0 3 3 2 0 1 4, where all from a threshold t on are relevant.",
        (
            *claims_tables("", claims),
            "muAP is the mean over the thresholds that tell documents apart. The mean of all six is not muAP: the "
            "threshold 5 makes nothing relevant (undefined, which counts as 0 here) and the threshold 0 everything.",
        ),
    )


def _distances() -> Section:
    """What the example after equation 4 calls AP is a distance: shown by lists on which the two differ."""
    average, mu_ap = parse("AP(rel=0.3)"), parse("muAP")
    best = [1.0, 0.3, 0.0]
    # Of a list without the document of grade 1 the higher level's AP is 0, and only the lower level's share is left.
    lower = mu_ap.score([0.3, 0.0], [1.0]) / average.score([0.3, 0.0], [1.0])
    higher = mu_ap.score(best) - lower * average.score(best)
    reason = "{}, which the paper computes, is the distance d of the level from the one below; AP depends on the list"
    claims = (
        number_claim("AP of 1.0 0.3 0.0, t = 0.3", 0.3, average.score(best), 1, reason.format("0.3 - 0.0")),
        number_claim("AP of 1.0 0.3 0.0, t = 1.0", 0.7, parse("AP(rel=1)").score(best), 1, reason.format("1.0 - 0.3")),
        number_claim("d, t = 0.3", 0.3, lower, 1),
        number_claim("d, t = 1.0", 0.7, higher, 1),
        text_claim(
            "d of the level i = 1",
            "none (d is for i > 1 and i = 0)",
            f"{lower:.1f} (t = 0.3)",
            "i > 1 has to be i > 0: the example itself takes 0.3 - 0.0 for the level after 0.0",
        ),
    )
    return Section(
        "Section 3.1",
        "The example after equation 4 has the levels 0.0, 0.3 and 1.0.",
        claims_tables("", claims),
    )


def _table_2() -> Section:
    doubled, relative = [2 * grade for grade in _GRADES], [grade / max(_GRADES) for grade in _GRADES]
    ideal_10, ideal_2 = (_vector(f"DCG(gain=exp2, base={base})", _best(_GRADES))[0] for base in (10, 2))
    return Section(
        "Table 2",
        "NDCG when all grades are doubled, and when gains are relative to the highest grade (NDCNG).",
        (
            *claims_tables("Example one: the gain is the grade", _example_one()),
            *claims_tables("Example two: the gain is twice the grade", _example_two(doubled)),
            *claims_tables("Example three: gains relative to the highest grade (NDCNG)", _example_three(relative)),
            f"Equation 3 has no base; the printed DCGs have logarithms to the base 10: the first ideal one is "
            f"{ideal_10:.2f}, with base 2 it is {ideal_2:.2f}. The ratio does not show it. Where example two prints "
            f"whole numbers, they are cut off, not rounded.",
            *claims_tables("Scales", _scale_claims(doubled)),
        ),
    )


def _two_levels() -> Section:
    """The list of Table 1 with two levels, 0 and the threshold."""
    mu_ap, claims = parse("muAP"), []
    for threshold in (1.0, 2.0, 3.0, 4.0):
        grades = [threshold if grade >= threshold else 0.0 for grade in _GRADES]
        found, average = mu_ap.score(grades), parse("AP").score(grades)
        claims.append(
            statement(
                f"muAP of the grades 0 and {threshold:g}",
                "the same as AP",
                f"{found:.3f}, AP {average:.3f}",
                abs(found - average) < _ROUNDING,
            )
        )
    about = "With two levels muAP is AP: the list of Table 1, all from a threshold on relevant."
    return Section("Section 5", about, claims_tables("", claims))


def _example_one() -> Iterator[Claim]:
    yield from _gain_claims(_GRADES, (1, 0, 3, 3, 2, 0, 1, 4), (4, 3, 3, 2, 1, 1, 0, 0), 0)
    yield vector_claim("dcg", (3.32, 3.32, 14.95, 24.96, 28.82, 28.82, 29.93, 45.65), _vector(_DCG, _GRADES))
    ideal = (49.83, 64.50, 76.13, 80.42, 81.70, 82.89, 82.89, 82.89)
    yield vector_claim("dcg, ideal", ideal, _vector(_DCG, _best(_GRADES)))
    yield from _share_claims("nDCG(gain=exp2)", _GRADES, (0.07, 0.05, 0.20, 0.31, 0.35, 0.35, 0.36, 0.55), 0.28)


def _example_two(doubled: Sequence[float]) -> Iterator[Claim]:
    yield from _gain_claims(doubled, (2, 0, 6, 6, 4, 0, 2, 8), (8, 6, 6, 4, 2, 2, 0, 0), 0)
    found = _vector(_DCG, doubled)
    yield vector_claim("dcg, ranks 1 and 2", (9.97, 9.97), found[:2])
    yield vector_claim("dcg, ranks 3 to 8", (114, 204, 224, 224, 227, 494), found[2:], 0)
    yield vector_claim("dcg, ideal", (847, 979, 1083, 1105, 1109, 1112, 1112, 1112), _vector(_DCG, _best(doubled)), 0)
    yield from _share_claims("nDCG(gain=exp2)", doubled, (0.01, 0.01, 0.11, 0.19, 0.20, 0.20, 0.20, 0.44), 0.17)


def _example_three(relative: Sequence[float]) -> Iterator[Claim]:
    gains, best = (0.25, 0, 0.75, 0.75, 0.5, 0, 0.25, 1), (1, 0.75, 0.75, 0.5, 0.25, 0.25, 0, 0)
    yield from _gain_claims(relative, gains, best, 2)
    yield vector_claim("dcg", (0.63, 0.63, 1.76, 2.74, 3.27, 3.27, 3.48, 4.53), _vector(_DCG, relative))
    ideal = (3.32, 4.75, 5.88, 6.48, 6.72, 6.94, 6.94, 6.94)
    yield vector_claim("dcg, ideal", ideal, _vector(_DCG, _best(relative)))
    # Of the grades themselves: to make gains relative is the measure's work.
    yield from _share_claims("NDCNG", _GRADES, (0.19, 0.13, 0.30, 0.42, 0.49, 0.47, 0.50, 0.65), 0.39)


def _scale_claims(doubled: Sequence[float]) -> Iterator[Claim]:
    for name, measure, depends in (
        ("NDCG over ranks", "nDCG(gain=exp2, average=ranks)@8", True),
        ("NDCNG over ranks", "NDCNG(average=ranks)@8", False),
        ("muAP", "muAP", False),
    ):
        one, two = (parse(measure).score(grades) for grades in (_GRADES, doubled))
        is_same = abs(one - two) < _ROUNDING
        says = "smaller for doubled grades" if depends else "the same for doubled grades"
        yield statement(name, says, f"{one:.3f}, doubled {two:.3f}", two < one if depends else is_same)


def _gain_claims(
    grades: Sequence[float], says: Sequence[float], says_best: Sequence[float], places: int
) -> Iterator[Claim]:
    yield vector_claim("gain", says, _gains(grades), places)
    yield vector_claim("gain, ideal", says_best, _gains(_best(grades)), places)


def _share_claims(measure: str, grades: Sequence[float], says: Sequence[float], says_mean: float) -> Iterator[Claim]:
    """NDCG or NDCNG at all ranks, and its mean over them."""
    yield vector_claim("ndcg", says, _vector(measure, grades))
    over_ranks = parse(f"{measure}@{len(_RANKS)}").replace(average="ranks")
    yield number_claim("ndcg, mean over ranks", says_mean, over_ranks.score(grades))


def _vector(measure: str, grades: Sequence[float]) -> list[float]:
    """The measure at every rank."""
    return [parse(f"{measure}@{rank}").score(grades) for rank in _RANKS]


def _gains(grades: Sequence[float]) -> list[float]:
    """What is gained at every rank, without discount."""
    cumulated = _vector("CG", grades)
    return [here - before for before, here in zip([0.0, *cumulated], cumulated, strict=False)]


def _best(grades: Sequence[float]) -> list[float]:
    return sorted(grades, reverse=True)
