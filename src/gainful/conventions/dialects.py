"""Known tools and papers, each as the conventions that it has.

As read from the sources of the tools and from the papers. A dimension that is not mentioned is left to those who use
the tool; several values are several ways in which it is used. Where nothing is said of the divisor, it is that of the
measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gainful.conventions.dimensions import Dimension, usual_divisor
from gainful.measures.base import Measure

Values = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Dialect:
    """A tool's or a paper's way to compute some measures: the values that a dimension can have there.

    ``measures`` are names, with ``@k`` where there is a cutoff. ``averages`` says whether ``average=ranks`` is in it.
    """

    name: str
    measures: frozenset[str]
    values: Values
    averages: bool = False

    def computes(self, measure: Measure) -> bool:
        """Whether the tool has such a measure."""
        name = measure.name if measure.rank_cutoff is None else f"{measure.name}@k"
        averages = getattr(measure, "average", None) is not None
        by_level = getattr(measure, "level", None) is not None
        return name in self.measures and not by_level and (self.averages or not averages)

    def adopted(self, settings: Mapping[str, str], dimensions: Iterable[Dimension]) -> dict[str, str] | None:
        """The settings with what the dialect has otherwise put right; None where it has what is not searched here."""
        result = dict(settings)
        for dimension in dimensions:
            allowed = self.values.get(dimension.name)
            if allowed is None or settings[dimension.name] in allowed:
                continue
            possible = [value for value in allowed if value in dimension.values]
            if not possible:
                return None
            result[dimension.name] = possible[0]
        return result

    def choices(self, dimension: Dimension) -> tuple[str, ...]:
        """The values between which those who use the tool can choose."""
        allowed = self.values.get(dimension.name)
        return tuple(value for value in dimension.values if allowed is None or value in allowed)

    def leaves_open(self, name: str) -> bool:
        """Whether nothing is known of a dimension."""
        return name not in self.values


def _of(**values: str) -> Values:
    """Values from words: ``|`` separates them, ``_`` in a name stands for ``-``."""
    return {name.replace("_", "-"): tuple(text.split("|")) for name, text in values.items()}


def _measures(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NDCG = _measures("nDCG nDCG@k")
_GRADED = _measures("nDCG nDCG@k DCG DCG@k")
_TREC = _NDCG | _measures("AP AP@k P@k R@k RR Rprec Success@k IPrec SetP SetR NumQ NumRet NumRel NumRelRet")
#: trec_eval itself has a DCG, too, but none that is cut at k.
_TREC_EVAL_ITSELF = _TREC | _measures("DCG")
_RANX = _GRADED | _measures("AP AP@k P@k R@k RR RR@k Rprec Success@k")

#: What a formula without peculiarities does.
_PLAIN = _of(
    gain="linear",
    ideal="judged",
    discount="burges2005|burges2005 base 2",
    rel="none",
    unjudged="zero",
)
_EXPONENTIAL = {**_PLAIN, **_of(gain="exp2")}
#: Sorted by score, ties left as they come.
_STABLE = _of(order="score", ties="input", scores="float64")
#: What sees only the documents that it is handed: of a query without any it does not know, unless 0 is put in for it.
_LIST_ONLY = _of(ideal="retrieved", order="score", missing="skip|zero")
#: What refuses a list that has a document twice; no combination of the search has this.
_REFUSED = "refused"

_TREC_EVAL = {
    **_PLAIN,
    **_of(undefined="zero", ties="docid-desc", order="score", duplicates=_REFUSED, negative="unjudged"),
}
_TREC_EVAL_9 = {**_TREC_EVAL, **_of(scores="float32", recall_cut="ceil0.9")}
_TREC_EVAL_10 = {**_TREC_EVAL, **_of(scores="float64", recall_cut="round")}

_BASES = {name: "|".join(f"{name} base {b}" for b in ("2", "e", "10")) for name in ("jarvelin2000", "jarvelin2008")}

DIALECTS: tuple[Dialect, ...] = (
    # trec_eval 9.0.8 leaves unanswered queries out unless -c is given; 10.0 without -c ends with an error there, so its
    # numbers are over all of them. pytrec_eval bundles 9.0.8 and answers for queries that are in both.
    Dialect("trec_eval 9.0.8", _TREC_EVAL_ITSELF, {**_TREC_EVAL_9, **_of(missing="skip")}),
    Dialect("pytrec_eval", _TREC, {**_TREC_EVAL_9, **_of(missing="skip")}),
    Dialect("trec_eval 9.0.8 -c", _TREC_EVAL_ITSELF, {**_TREC_EVAL_9, **_of(missing="zero")}),
    Dialect("trec_eval 10.0", _TREC_EVAL_ITSELF, {**_TREC_EVAL_10, **_of(missing="zero")}),
    # ir_measures asks pytrec_eval and fills unanswered queries with 0; its RR@k breaks ties the other way round.
    Dialect("ir_measures", _TREC, {**_TREC_EVAL_9, **_of(missing="zero")}),
    Dialect(
        "ir_measures", _measures("RR@k"), {**_TREC_EVAL_10, **_of(missing="zero", ties="docid-asc", negative="judged")}
    ),
    Dialect("gdeval", _measures("nDCG@k"), {**_EXPONENTIAL, **_of(ties="docid-desc", order="score", scores="float64")}),
    Dialect("ranx", _RANX, {**_PLAIN, **_STABLE, **_of(missing="zero", undefined="zero")}),
    Dialect("ranx ndcg_burges", _GRADED, {**_EXPONENTIAL, **_STABLE, **_of(missing="zero", undefined="zero")}),
    # trectools' nDCG takes lists as the file has them and drops what is not a number.
    Dialect("trectools", _NDCG, {**_PLAIN, **_of(ties="input", order="score|input", missing="skip", undefined="skip")}),
    Dialect(
        "trectools (trec_eval=False)",
        _NDCG,
        {**_EXPONENTIAL, **_of(ties="input", order="score|input", missing="skip", undefined="skip")},
    ),
    # scikit-learn and those below it see only what is passed to them: no judged document that was not retrieved.
    Dialect(
        "scikit-learn", _GRADED, {**_PLAIN, **_LIST_ONLY, **_of(ties="averaged", scores="float64", undefined="zero")}
    ),
    Dialect(
        "torchmetrics", _NDCG, {**_PLAIN, **_LIST_ONLY, **_of(ties="averaged", scores="float32", undefined="zero")}
    ),
    Dialect(
        "torchmetrics",
        _measures("AP AP@k"),
        {**_PLAIN, **_of(divisor="retrieved", order="score", undefined="zero", missing="skip|zero")},
    ),
    Dialect("LightGBM", _NDCG, {**_EXPONENTIAL, **_LIST_ONLY, **_of(ties="input", scores="float64", undefined="one")}),
    Dialect("TF-Ranking", _NDCG, {**_EXPONENTIAL, **_LIST_ONLY, **_of(scores="float32", undefined="zero")}),
    # Recommendation: a hit is a hit; the discount of LensKit is log2(max(j, 2)), the ideal of RecTools has k ones.
    Dialect(
        "LensKit",
        _GRADED,
        {**_PLAIN, **_of(gain="linear|binary", discount="jarvelin2002 base 2", undefined="zero|skip", order="score")},
    ),
    Dialect("Microsoft recommenders", _measures("nDCG@k"), {**_PLAIN, **_STABLE, **_of(gain="binary", missing="skip")}),
    Dialect("RecTools", _measures("nDCG@k"), {**_PLAIN, **_of(gain="binary", ideal="highest", missing="skip")}),
    Dialect("RecTools (divide_by_k)", _measures("AP@k"), {**_PLAIN, **_of(divisor="k", missing="skip")}),
    Dialect("elinor", _NDCG, {**_PLAIN, **_STABLE, **_of(undefined="one")}),
    Dialect("elinor Burges", _NDCG, {**_EXPONENTIAL, **_STABLE, **_of(undefined="one")}),
    # NTCIREVAL takes lists in the order given; its gains are the user's. MATTERS' default weights are 0, 5, 10, ...
    Dialect("NTCIREVAL", _measures("AP@k"), {**_PLAIN, **_of(divisor="capped", order="rank|input")}),
    Dialect("NTCIREVAL MSnDCG", _measures("nDCG@k"), {**_PLAIN, **_of(order="rank|input")}),
    Dialect(
        "NTCIREVAL nDCG",
        _measures("nDCG@k"),
        {
            **_PLAIN,
            **_of(discount="jarvelin2002 base 2|jarvelin2002 base e|jarvelin2002 base 10", order="rank|input"),
        },
    ),
    Dialect("MATTERS", _NDCG, {**_PLAIN, **_of(discount="jarvelin2002 base 10", scores="float32", undefined="skip")}),
    Dialect("BEIR R_cap", _measures("R@k"), {**_PLAIN, **_of(divisor="capped", order="score")}),
    # The papers say how gains are discounted and what the ideal is made of, no more.
    Dialect("Burges et al. 2005", _GRADED, _EXPONENTIAL),
    Dialect("Järvelin and Kekäläinen 2000", _GRADED, {**_PLAIN, **_of(discount=_BASES["jarvelin2000"])}, averages=True),
    Dialect(
        "Järvelin and Kekäläinen 2002",
        _GRADED,
        {**_PLAIN, **_of(discount="jarvelin2002 base 2|jarvelin2002 base 10")},
        averages=True,
    ),
    Dialect("Järvelin et al. 2008", _GRADED, {**_PLAIN, **_of(discount=_BASES["jarvelin2008"])}, averages=True),
)


_OF_MEASURE = ("gain", "ideal", "discount", "rel")
_GAINFUL = _of(
    missing="zero",
    undefined="zero",
    ties="docid-desc",
    unjudged="zero",
    order="score",
    scores="float64",
    duplicates=_REFUSED,
    negative="judged",
    recall_cut="round",
)


def dialects_for(measure: Measure, dimensions: Iterable[Dimension]) -> tuple[Dialect, ...]:
    """The dialects that have a measure; gainful's own first: the measure as given, all choices at their defaults."""
    starts = {dimension.name: dimension.values[0] for dimension in dimensions}
    own = {**_GAINFUL, **{name: (starts[name],) for name in _OF_MEASURE if name in starts}}
    if "scores" not in starts:  # a run without scores is ordered as it came
        own["order"] = ("input",)
    divisor = {"divisor": (usual_divisor(measure),)}
    found = [Dialect("gainful", frozenset(), own), *(dialect for dialect in DIALECTS if dialect.computes(measure))]
    return tuple(replace(dialect, values={**divisor, **dialect.values}) for dialect in found)
