"""Järvelin and Kekäläinen: Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4), 2002.

Its vectors and its discussion of the discount are checked without data; its case study runs on any judgments and runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from gainful import Gain, Policy, Qrels, QrelsLike, Report, RunLike, parse
from gainful.data.judged import Judged
from gainful_papers.claims import Case, Claim, Section, Study, added, by_rank, claims_tables, table, without_empty_bases
from gainful_papers.jarvelin2002.discussion import base_section, discussed_measures, last_rank_section
from gainful_papers.jarvelin2002.gain_figures import figure_sections
from gainful_papers.jarvelin2002.setting import KEY, Weights, data_sentence
from gainful_papers.jarvelin2002.tables_1_and_2 import (
    printed_readings,
    printed_table_1,
    recall_section,
    table_1_section,
    table_2_measures,
    table_2_section,
)


@cache
def examples() -> tuple[Section, ...]:
    """Check the worked vectors and errata, and a false claim with a counterexample."""
    return _cumulated(), _discounted(), _normalised(), _lists(), printed_table_1(), printed_readings(), _discounts()


def study(
    judged: Judged,
    runs: Mapping[str, RunLike],
    *,
    other: QrelsLike | None = None,
    gain: Sequence[object] | None = None,
    base: Sequence[object] = (2, 10),
    at: int | None = None,
    threads: int | None = None,
) -> Study:
    """Run the case study on any graded judgments and runs: tables, figures, and statements of the article.

    ``other`` is a second set of judgments, for Table 1. ``gain`` replaces the article's weights (figures show the first
    two), ``base`` replaces 2 and 10 (the first is used, the others are compared with it), ``at`` replaces the last
    ranks 100 and 200.
    """
    case = Case.of(KEY, judged, runs, threads)
    weights = Weights(judged, gain, base, at)
    wanted = dict.fromkeys([*table_2_measures(weights).values(), *discussed_measures(weights)])
    evaluations = replace(case, judged=without_empty_bases(judged)).evaluate(wanted)
    # Queries without a document of the highest level are reported once, with Table 2, not for every run.
    noted = {run: replace(each, measures=each.measures[:2], raw=each.raw[:2]) for run, each in evaluations.items()}
    # Tests skip undefined scores; figures follow the requested policy.
    asked = {run: replace(each, policy=judged.policy) for run, each in noted.items()}
    tested = table_2_section(weights, evaluations), last_rank_section(evaluations, weights)
    own = tuple(Report(noted).signatures)
    sections = (
        recall_section(judged, weights),
        *(() if other is None else (table_1_section(judged, Qrels.of(other)),)),
        *figure_sections(case, weights),
        *(replace(each, conventions=own) for each in (*tested, base_section(evaluations, weights))),
    )
    return Study(data_sentence(judged, weights, len(runs)), sections, noted, tuple(Report(asked).signatures))


#: G' of section 2.1, the judged documents below its rank 10, and I' of section 2.2.
GRADES = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
MISSED = (1, 1, 1)
IDEAL = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1)
DISCOUNTED = "DCG(discount=jarvelin2002)"

# As printed.
_CG = (3, 5, 8, 8, 8, 9, 11, 13, 16, 16)
_DCG = (3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61)
_IDEAL_CG = (3, 6, 9, 11, 13, 15, 16, 17, 18, 19, 19, 19, 19)
_IDEAL_DCG = (3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83, 11.83, 11.83)
_NCG = (1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84)


def _vector(measure: str, grades: Sequence[float] = GRADES, missed: Sequence[float] = MISSED) -> list[float]:
    return by_rank(measure, grades, missed, 10)


def _cumulated() -> Section:
    cumulated = _vector("CG")
    claims = (Claim.vector("CG'", _CG, cumulated, 0), Claim.number("CG' at rank 7", 11, cumulated[6], 0))
    about = "Direct cumulated gain: the sum of gains up to each rank. G' has the grades 3 2 3 0 0 1 2 2 3 0."
    return Section("Section 2.1", about, claims_tables("Cumulated gain", claims))


def _discounted() -> Section:
    one_at_1024 = parse(f"{DISCOUNTED}@1024").score([*(0 for _ in range(1023)), 1])
    # The ideal gain vector of the example's recall base.
    grades = {f"d{i}": grade for i, grade in enumerate((*GRADES, *MISSED))}
    judged = Judged(Qrels.from_dict({"example": grades}), Policy())
    ideal = judged.ideal_lists(Gain("linear"), None, None).dense(len(IDEAL))[0].tolist()
    claims = (
        Claim.vector("DCG', b = 2", _DCG, _vector(DISCOUNTED)),
        Claim.number("share of its score that a document keeps at rank 1024", 0.1, one_at_1024, 1),
        Claim.vector("I', by eq. 4 from the recall base", IDEAL, ideal, 0),
        Claim.vector("ideal CG", _IDEAL_CG, by_rank("CG", IDEAL, to=len(_IDEAL_CG)), 0),
        Claim.vector("ideal DCG, b = 2", _IDEAL_DCG, by_rank(DISCOUNTED, IDEAL, to=len(_IDEAL_DCG))),
    )
    about = (
        "Discounted cumulated gain, and the ideal: the recall base (three documents of grade 3, three of 2, four of "
        "1), best first. Two values of the ideal DCG, 10.52 and 11.21, are truncated, not rounded."
    )
    return Section("Section 2.2", about, claims_tables("Discounted cumulated gain and the ideal", claims))


def _normalised() -> Section:
    of_ideal = [parse(f"{kind}@10").score(IDEAL) for kind in ("AnCG", "AnDCG(discount=jarvelin2002)")]
    claims = (
        Claim.vector("nCG'", _NCG, _vector("nCG")),
        Claim.vector("normalised ideal CG", (1,) * 10, _vector("nCG", IDEAL, ()), 0),
        Claim.vector("normalised ideal DCG", (1,) * 10, _vector(f"n{DISCOUNTED}", IDEAL, ()), 0),
        Claim.vector("avg-pos of the normalised ideal CG and DCG", (1, 1), of_ideal, 0),
    )
    about = "Gain relative to the ideal (eq. 5), and its average over ranks (eq. 6)."
    return Section("Section 2.3", about, claims_tables("Normalised vectors", claims))


def _lists() -> Section:
    about = "Differences that earlier measures do not detect, shown with lists of grades."
    return Section("Section 2.4, lists", about, claims_tables("Earlier measures", _on_lists()))


def _on_lists() -> Iterator[Claim]:
    def scores(measure: str, *lists: Sequence[float]) -> list[float]:
        return [parse(measure).score(each) for each in lists]

    lists: tuple[Sequence[float], ...] = ((3, 0, 1), (1, 0, 3))
    measures = {"ASL": "ASL(N=10)", "ESL": "ESL(n=1, count=all, N=10)", "NR": "NormRecall(N=10)"}
    blind, seen = {name: scores(text, *lists) for name, text in measures.items()}, scores("nCG@1", *lists)
    yield Claim.statement(
        "3 0 1 against 1 0 3",
        "ASL, ESL and NR are dichotomous",
        ", ".join(f"{name} {_pair(values)}" for name, values in blind.items()) + f", nCG@1 {_pair(seen)}",
        all(one == other for one, other in blind.values()) and seen[0] > seen[1],
    )
    lists = (1, 1, 1, *((0,) * 6), 1), (1, 1, 1, *((0,) * 96), 1)
    asl, recall, ndcg = (
        scores(measure, *lists) for measure in ("ASL(N=100)", "NormRecall(N=100)", f"n{DISCOUNTED}@100")
    )
    yield Claim.statement(
        "relevant at 1, 2, 3 and 10, or 1, 2, 3 and 100",
        "ASL and NR depend on the last one found",
        f"ASL {_pair(asl)}, NR {_pair(recall)}, nDCG@100 {_pair(ndcg)}",
        min(_change(asl), _change(recall)) > _change(ndcg),
    )
    short, longer = (1, 1, 0), (1, 1, 0, 3)
    ratio, ncg = scores("SlidingRatio@1", short, longer), [parse("nCG@1").score(short, [3]), *scores("nCG@1", longer)]
    yield Claim.statement(
        "1 1 0, then 1 1 0 3: at rank 1",
        "a longer list changes SR, not nCG",
        f"SR {_pair(ratio)}, nCG {_pair(ncg)}",
        ratio[0] != ratio[1] and ncg[0] == ncg[1],
    )
    half, gain = (scores(measure, (3, 3, 3, 3), (1, 1, 1, 1)) for measure in ("RankedHalfLife", "CG@4"))
    yield Claim.statement(
        "3 3 3 3 against 1 1 1 1",
        "RHL may be the same for different lists",
        f"RHL {_pair(half)}, CG@4 {_pair(gain)}",
        half[0] == half[1] and gain[0] != gain[1],
    )


def _pair(values: Sequence[float]) -> str:
    return " and ".join(f"{value:.3g}" for value in values)


def _change(values: Sequence[float]) -> float:
    return abs(values[1] - values[0]) / abs(values[0])


#: The two lists of the counterexample.
EARLY, LATE = (1, 0, 0, 0), (0, 0, 0, 3)


def _discounts() -> Section:
    """Check the statements of section 4, "Discounting Factor", that need no data."""
    cg, flat, sharp = _vector("CG"), _vector("DCG(discount=none)"), _vector("DCG(discount=rank)")
    near_1, base_2, huge = (_vector(f"DCG(discount=jarvelin2002, base={base})") for base in ("1.0001", "2", "1000000"))
    alike = [1] * 200
    kept = {base: parse(f"DCG(discount=jarvelin2002, base={base})@200").score(alike) / 2 for base in (2, 10, 100)}
    shares = added(by_rank("DCG(discount=jarvelin2000, base=10)", [1] * 10))
    boosted = [rank for rank, share in enumerate(shares, 1) if share > 1]
    claims = (
        Claim.statement("df = 1", "DCG = CG", f"{flat[-1]:g} at rank 10, CG is {cg[-1]:g}", flat == cg),
        Claim.statement(
            "df = i",
            "a very sharp discount",
            f"{sharp[-1]:.2f} at rank 10, {100 * sum(added(sharp)[:3]) / sharp[-1]:.0f}% from ranks 1-3",
            sharp[-1] < base_2[-1],
        ),
        Claim.statement(
            "b approaches 1",
            "finally only the first document matters",
            f"b = 1.0001: {100 * GRADES[0] / near_1[-1]:.2f}% from rank 1",
            GRADES[0] / near_1[-1] > 0.99,
        ),
        Claim.statement(
            "b approaches infinity",
            "DCG approaches CG",
            f"b = 1000000: {huge[-1]:g} at rank 10",
            huge == cg,
            "ranks up to b are not discounted, so at rank 10 DCG = CG for b ≥ 10",
        ),
        Claim.statement(
            "b above 100",
            "a very marginal discount",
            f"{kept[100]:.1f}% of CG left at rank 200",
            kept[100] > 90,
            f"200 documents of equal gain; with base 10 {kept[10]:.1f}%, with base 2 {kept[2]:.1f}%",
        ),
        Claim.statement(
            "ranks below b without the cut-off",
            "a boost instead of a discount",
            f"b = 10: rank 2 counts {shares[1]:.2f} times",
            shares[1] > 1,
        ),
        Claim.text(
            "ranks that would be boosted, b = 10",
            "2 to 10",
            f"{boosted[0]} to {boosted[-1]}",
            '"the rank region 2 to b" has one rank too many: log_b b is 1, as the previous sentence states',
        ),
    )
    rows = []
    for base in ("1.2", "2"):
        early, late = (parse(f"DCG(discount=jarvelin2000, base={base})@4").score(each) for each in (EARLY, LATE))
        rows.append(("jarvelin2000", base, early, late, "1 0 0 0" if early > late else "0 0 0 3"))
    is_same = rows[0][-1] == rows[1][-1]
    refuted = Claim.statement(
        "jarvelin2000: log_b i for ranks ≥ 2",
        "the base does not affect the order",
        "it does not" if is_same else "it does",
        is_same,
        "changing the base multiplies all divisors by the same factor, except the divisor of rank 1, which stays 1",
    )
    about = (
        "Three cases of the discount, extreme bases, and the claim that without the cut-off at rank b the base would "
        "not change the order of systems, which is false."
    )
    title = "DCG@4 of two lists with grades 1 0 0 0 and 0 0 0 3"
    return Section.of(
        "Section 4, discount",
        about,
        claims_tables("Statements about the discount", claims),
        table(title, "discount | b | 1 0 0 0 .2 | 0 0 0 3 .2 | better list", rows),
        claims_tables("Statement about the base without the cut-off", [refuted]),
    )
