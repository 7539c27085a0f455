"""Texts of measures: parsing, canonical texts, and errors."""

from __future__ import annotations

import pytest

from gainful import Measure, UsageError, parse
from gainful.measures.catalog import ALL_MEASURES, DEFAULT_MEASURES, SHORT_NAMES, find, parse_all
from gainful.measures.cumulated_gain import CG, DCG, NCG, NDCG
from gainful.measures.names_trec_eval import trec_eval_name
from gainful.measures.precision import P, Rprec


def said(text: str) -> str:
    """Return the error message of a text, with its hint."""
    with pytest.raises(UsageError) as caught:
        parse(text)
    return str(caught.value)


class TestReading:
    @pytest.mark.parametrize(
        ("text", "measure"),
        [
            ("nDCG", NDCG()),
            ("nDCG()", NDCG()),
            ("nDCG@10", NDCG(cutoff=10)),
            ("nDCG(cutoff=10)", NDCG(cutoff=10)),
            ("nDCG(gain=exp2)@10", NDCG(gain="exp2", cutoff=10)),
            ("nDCG(gain = exp2 , base = 10) @ 10", NDCG(gain="exp2", base=10, cutoff=10)),
            ("  nDCG@10\n", NDCG(cutoff=10)),
            ("nDCG(\n  gain=exp2,\n  base=e\n)@10", NDCG(gain="exp2", base="e", cutoff=10)),
            ("nDCG(gain='exp2', discount=\"rank\")", NDCG(gain="exp2", discount="rank")),
            ("nDCG(gain=0-1-10-100)", NDCG(gain="0-1-10-100")),
            ("nDCG(gain={0:0,0.3:1,1:10}, rel=0.3)@5", NDCG(gain={0: 0, 0.3: 1, 1: 10}, rel=0.3, cutoff=5)),
            ("nDCG(gain={ 1 : 10 , 0 : 0 })", NDCG(gain={0: 0, 1: 10})),
            ("CG(level=2)@3", CG(level=2, cutoff=3)),
            ("DCG(discount=jarvelin2002, base=2.5)", DCG(discount="jarvelin2002", base=2.5)),
            ("nCG(average=ranks)@200", NCG(average="ranks", cutoff=200)),
            ("P@5", P(cutoff=5)),
            ("P@5.0", P(cutoff=5)),
            ("P(rel=+2.)@5", P(rel=2, cutoff=5)),
            ("Rprec(unjudged=condensed)", Rprec(unjudged="condensed")),
        ],
    )
    def test_texts(self, text: str, measure: Measure) -> None:
        assert parse(text) == measure

    def test_a_measure_is_returned_as_it_is(self) -> None:
        measure = NDCG(cutoff=10)
        assert parse(measure) is measure

    def test_at(self) -> None:
        assert NDCG() @ 10 == parse("nDCG@10")
        assert parse("nDCG(gain=exp2)@5") @ 10 == parse("nDCG(gain=exp2)@10")
        assert str(parse("IPrec@0.5") @ 0.25) == "IPrec@0.25"

    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("ndcg@10", "nDCG@10"),
            ("NDCG@10", "nDCG@10"),
            ("Ndcg", "nDCG"),
            ("nDCG10", "nDCG@10"),
            ("ndcg_10", "nDCG@10"),
            ("NDCG_CUT_10", "nDCG@10"),
            ("ndcg(gain=exp2)@10", "nDCG(gain=exp2)@10"),
            ("ndcg_burges@10", "nDCG(gain=exp2)@10"),
            ("recall@10", "R@10"),
            ("recall_at_10", "R@10"),
            ("r@10", "R@10"),
            ("Map", "AP"),
            ("map@10", "AP@10"),
            ("average_precision", "AP"),
            ("mrr", "RR"),
            ("mrr@10", "RR@10"),
            ("recip_rank_10", "RR@10"),
            ("p@10", "P@10"),
            ("P10", "P@10"),
            ("precision@5", "P@5"),
            ("PRECISION@5", "P@5"),
            ("hit_rate@10", "Success@10"),
            ("HitRate@10", "Success@10"),
            ("hit-ratio@10", "Success@10"),
            ("HR@10", "Success@10"),
            ("recall_any@5", "Success@5"),
            ("recall_all@5", "Complete@5"),
            ("R_cap@100", "RelP@100"),
            ("strec@10", "StRecall@10"),
            ("hole@10", "Unjudged@10"),
            ("success@1", "Success@1"),
            ("F1@10", "F@10"),
            ("f2@10", "F(beta=2)@10"),
            ("R-precision", "Rprec"),
            ("bpref", "Bpref"),
            ("err@20", "ERR@20"),
            ("iprec@0.5", "IPrec@0.5"),
            ("sdcg@10", "sDCG@10"),
        ],
    )
    def test_usual_names_in_any_case(self, text: str, canonical: str) -> None:
        assert str(parse(text)) == canonical

    def test_every_name_in_small_letters_is_itself_or_refused(self) -> None:
        """No two of our names differ only in case."""
        assert said("rbp@5").startswith("measure: 'rbp' is ambiguous: RBP or trec_eval:rbp, which is RBP(p=0.9, ")
        for name in {*ALL_MEASURES, *SHORT_NAMES} - {"RBP", "NERR8", "NERR9", "NERR10", "NERR11"}:
            at = {"cutoff": "@5", "recall": "@0.5", "multiple": "@0.5", None: ""}[find(name).measure.at_parameter()]
            assert parse(name.lower() + at) == parse(name + at)

    @pytest.mark.parametrize("text", ["accuracy@10", "hits@5", "Hits@5", "E", "Rbp@10", "SDCG@10", "nERR10"])
    def test_names_for_different_numbers_are_refused(self, text: str) -> None:
        message = said(text)
        assert message.startswith(f"measure: '{text.partition('@')[0]}' is ambiguous: ")
        assert " or " in message and message.endswith("hint: write the one you mean")

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("TopHits@10", "Success"),
            ("hitscore", "Success"),
            ("firstrank", "RR"),
            ("roc_auc", "NormRecall, the area under the ROC curve"),
            ("cumgain@5", "nDCG, DCG or CG"),
        ],
    )
    def test_suggestions_by_meaning(self, name: str, meant: str) -> None:
        assert said(name) == f"unknown measure '{name.partition('@')[0]}'\nhint: did you mean {meant}?"

    @pytest.mark.parametrize("text", ["ndcg10@5", "P_", "set_F_-1", "_ndcg", "hits@"])
    def test_names_that_only_resemble_a_usual_one(self, text: str) -> None:
        said(text)

    @pytest.mark.parametrize("name", DEFAULT_MEASURES)
    def test_defaults_are_canonical(self, name: str) -> None:
        assert str(parse(name)) == name


class TestWriting:
    @pytest.mark.parametrize(
        ("text", "canonical"),
        [
            ("nDCG(base=2, gain=linear, discount=burges2005)", "nDCG"),
            ("nDCG(gain=0,1,10,100, base=e)@10", "nDCG(gain=0-1-10-100, base=e)@10"),
            ("nDCG(gain='0, 1, 10, 100')@10", "nDCG(gain=0-1-10-100)@10"),
            ("nDCG(base=2.0, gain='exp2')@10", "nDCG(gain=exp2)@10"),
            ("nDCG(rel=2.0, base=10, gain=exp2)@1e1", "nDCG(gain=exp2, base=10, rel=2)@10"),
            ("nDCG(discount=none)", "nDCG(discount=none)"),
            ("nDCG(gain={1:10, 0.30:1, 0:0})", "nDCG(gain={0:0,0.3:1,1:10})"),
            ("nDCG(gain=0-1.50-010)", "nDCG(gain=0-1.5-10)"),
            ("CG(cutoff=7)", "CG@7"),
            ("F(beta=1.0)@5", "F@5"),
            ("F(beta=0.5, rel=1)@5", "F(rel=1, beta=0.5)@5"),
            ("IPrec@.10", "IPrec@0.1"),
            ("IPrec(recall=0)", "IPrec@0"),
            ("P(unjudged=zero)@5", "P(unjudged=zero)@5"),
        ],
    )
    def test_canonical_text(self, text: str, canonical: str) -> None:
        assert str(parse(text)) == canonical
        assert repr(parse(text)) == canonical
        assert str(parse(canonical)) == canonical

    @pytest.mark.parametrize(
        ("text", "full"),
        [
            ("nDCG@10", "nDCG(gain=linear, discount=burges2005, base=2)@10"),
            ("nDCG(discount=rank)", "nDCG(gain=linear, discount=rank)"),
            ("AnDCG(base=e)@5", "nDCG(gain=linear, discount=burges2005, base=e, average=ranks)@5"),
            ("CG", "CG(gain=linear)"),
            ("F@5", "F(beta=1)@5"),
            ("P(rel=2)@5", "P(rel=2)@5"),
            ("NumQ", "NumQ"),
        ],
    )
    def test_full_text(self, text: str, full: str) -> None:
        assert parse(text).full_text() == full
        assert parse(full) == parse(text)

    def test_equal_measures_are_one_key(self) -> None:
        assert len({parse("nDCG@10"), parse("nDCG(base=2)@10"), NDCG(cutoff=10), parse("NDCG@10")}) == 1
        # Parameters without effect make no difference: gamma applies to stop=rank.
        assert parse("NCU(gamma=0.5)") == parse("NCU") != parse("NCU(stop=rank, gamma=0.5)")

    def test_measures_differ_by_every_parameter(self) -> None:
        texts = ["nDCG", "nDCG@1", "nDCG(gain=exp2)", "nDCG(base=3)", "nDCG(rel=1)", "nDCG(level=1)", "DCG", "nCG"]
        assert len({parse(text) for text in texts}) == len(texts)


class TestShortNames:
    @pytest.mark.parametrize(
        ("short", "long"),
        [
            ("AnCG@50", "nCG(average=ranks)@50"),
            ("AnDCG@50", "nDCG(average=ranks)@50"),
            ("MSnDCG@10", "nDCG@10"),
            ("AnDCG(gain=0-1-10-100)@50", "nDCG(gain=0-1-10-100, average=ranks)@50"),
            ("MAP", "AP"),
            ("MAP(rel=2)@10", "AP(rel=2)@10"),
            ("MRR@10", "RR@10"),
            ("NDCG@10", "nDCG@10"),
            ("Precision@5", "P@5"),
            ("Recall@5", "R@5"),
        ],
    )
    def test_short_names_have_long_forms(self, short: str, long: str) -> None:
        assert parse(short) == parse(long)
        assert str(parse(short)) == long


class TestSeveral:
    def test_repetitions_are_dropped_and_the_order_kept(self) -> None:
        assert [str(m) for m in parse_all(["P@5", "AP", "MAP", NDCG(), "nDCG(base=2)", "P@5"])] == ["P@5", "AP", "nDCG"]

    @pytest.mark.parametrize("one", ["AP", parse("AP")])
    def test_one_measure_without_a_list(self, one: str | Measure) -> None:
        assert parse_all(one) == [parse("AP")]

    def test_none_is_an_error(self) -> None:
        with pytest.raises(UsageError, match=r"\Ameasures: at least one is required\Z"):
            parse_all([])


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("qqqqq", "unknown measure 'qqqqq'\nhint: `gainful measures` lists them"),
            (
                "nDCG(gian=exp2)",
                "nDCG: unknown parameter 'gian'\nhint: did you mean gain? "
                "nDCG takes gain, discount, base, average, rel, level, unjudged, cutoff",
            ),
            ("CG(zzz=1)", "CG: unknown parameter 'zzz'\nhint: CG takes gain, average, rel, level, unjudged, cutoff"),
            ("NumQ(rel=1)", "NumQ: unknown parameter 'rel'\nhint: NumQ takes no parameters"),
            (
                "nDCG(discount=jarvelin2020)",
                "nDCG: discount: expected burges2005 | jarvelin2002 | jarvelin2000 | jarvelin2008 | rank | none, "
                "found 'jarvelin2020'\nhint: did you mean jarvelin2002 or jarvelin2000 or jarvelin2008?",
            ),
            (
                "nDCG(gain=exp)",
                "nDCG: gain: expected linear | exp2 | binary | scaled, weights by level like 0-1-10-100, or a map like "
                "{0:0,0.3:1,1:10}, found exp\nhint: did you mean exp2?",
            ),
            ("RprecMult", "RprecMult: a multiple is required\nhint: write RprecMult@0.5"),
            ("RelP", "RelP: a cutoff is required\nhint: write RelP@10, or SetRelP for the whole list"),
            ("Unjudged", "Unjudged: a cutoff is required\nhint: write Unjudged@10"),
            ("RBP(p=1)", "RBP: p: expected a number of at least 0 and below 1, found 1"),
            ("RBP(scale=topic)", "RBP: scale: expected query, found 'topic'"),
            (
                "RBP(gain=scaled, scale=query)",
                "RBP: gain=scaled divides by the scale of all judgments; scale=query conflicts\n"
                "hint: write gain=linear, scale=query",
            ),
            ("IAP(points=0.5-0.5)", "IAP: points: expected distinct recall levels like 0.25-0.5-0.75, found 0.5-0.5"),
            ("IAP(points=2)", "IAP: points: expected a number from 0 to 1, found 2"),
            ("IAP(points=a-b)", "IAP: points: expected a number, found 'a'"),
            ("Utility(d=1)", "Utility: d requires N, the size of the collection\nhint: write d=1, N=100000"),
            ("Utility(a=x)", "Utility: a: expected a number, found 'x'"),
            ("Bpref@5", "Bpref takes no @ (@5)"),
            ("nDCG(average=rank)@5", "nDCG: average: expected ranks, found 'rank'\nhint: did you mean ranks?"),
            (
                "P(unjudged=condense)@5",
                "P: unjudged: expected zero | condensed, found 'condense'\nhint: did you mean condensed?",
            ),
            ("nDCG(average=ranks)", "nDCG: average=ranks requires a cutoff\nhint: write nDCG(average=ranks)@10"),
            ("nDCG(base=1)", "nDCG: base: expected a number above 1 or e, found 1"),
            ("nDCG(base=two)", "nDCG: base: expected a number, found 'two'"),
            ("nDCG(discount=none, base=3)", "nDCG: discount=none has no base (base=3)"),
            ("nDCG(rel=1, level=2)", "nDCG: rel and level cannot be combined"),
            ("P(rel=1, level=2)@5", "P: rel and level cannot be combined"),
            ("P", "P: a cutoff is required\nhint: write P@10, or SetP for the whole list"),
            ("IPrec", "IPrec: a recall is required\nhint: write IPrec@0.5"),
            ("P@0", "P: cutoff: expected a whole number from 1 to 2^53, found 0"),
            ("P@-3", "P: cutoff: expected a whole number from 1 to 2^53, found -3"),
            ("P@2.5", "P: cutoff: expected a whole number from 1 to 2^53, found 2.5"),
            ("P@ten", "P: cutoff: expected a number, found 'ten'"),
            ("P@1e999", "P: cutoff: expected a finite number, found '1e999'"),
            ("P@nan", "P: cutoff: expected a number, found 'nan'"),
            ("P(rel=1_0)@5", "P: rel: expected a number, found '1_0'"),
            ("P(rel=-1)@5", "P: rel: expected a number of at least 0, found -1"),
            ("IPrec@1.5", "IPrec: recall: expected a number from 0 to 1, found 1.5"),
            ("Rprec@5", "Rprec takes no @ (@5)"),
            ("NumQ@1", "NumQ takes no @ (@1)"),
            ("P(cutoff=5)@5", "P: cutoff is given both in parentheses and after @"),
            ("P(rel=1, rel=2)@5", "P: duplicate parameter rel"),
            ("P(rel)@5", "P: expected parameter=value, found 'rel'"),
            ("P(rel=)@5", "P: expected parameter=value, found 'rel='"),
            ("P(rel=1)(rel=2)@5", "P: rel: expected a number, found '1)(rel=2'"),
            ("P(rel=1,,level=2)@5", "P: expected parameter=value, found ',level=2'"),
        ],
    )
    def test_messages(self, text: str, message: str) -> None:
        assert said(text) == message

    @pytest.mark.parametrize("text", ["", " ", "P @ 5 @ 6", "P(rel=1", "P)@5", "@5", "P@5)", "nDCG 10", "P@(5)"])
    def test_texts_that_are_not_measures(self, text: str) -> None:
        assert said(text) == (
            f"measure: expected Name, Name@k or Name(parameter=value, ...)@k, found '{text}'\n"
            "hint: for example nDCG@10 or nDCG(gain=0-1-10-100, discount=jarvelin2002)@100"
        )

    @pytest.mark.parametrize(("wrong", "right"), [("nDGC", "nDCG"), ("Ndgc", "nDCG"), ("Rpec", "Rprec")])
    def test_the_closest_name_comes_first(self, wrong: str, right: str) -> None:
        assert said(wrong).startswith(f"unknown measure '{wrong}'\nhint: did you mean {right} or ")

    def test_at_on_a_measure_without_one(self) -> None:
        with pytest.raises(UsageError, match=r"\ARprec takes no @ \(@5\)\Z"):
            Rprec() @ 5

    def test_parameters_are_checked_in_python_too(self) -> None:
        with pytest.raises(UsageError, match=r"\AP: cutoff: expected a whole number from 1 to 2\^53, found 0\Z"):
            P(cutoff=0)
        with pytest.raises(UsageError, match=r"\AP: cutoff: expected a number, found True\Z"):
            P(cutoff=True)
        with pytest.raises(UsageError, match=r"\AP: cutoff: expected a number, found \[\]\Z"):
            P(cutoff=[])  # type: ignore[arg-type]


class TestNamesOfTrecEval:
    """Existing names are read back in test_translation.py."""

    @pytest.mark.parametrize(
        ("ours", "theirs"),
        [
            ("nDCG@10", "ndcg_cut_10"),
            ("nDCG(gain=linear, discount=burges2005, base=2)@5", "ndcg_cut_5"),
            ("IPrec@0", "iprec_at_recall_0.00"),
            ("IPrec@0.1", "iprec_at_recall_0.10"),
        ],
    )
    def test_same_measure(self, ours: str, theirs: str) -> None:
        assert trec_eval_name(parse(ours)) == theirs

    @pytest.mark.parametrize(
        "ours",
        [
            *("nDCG(gain=exp2)@10", "nDCG(rel=2)@10", "AnDCG@10", "DCG@10", "P(unjudged=condensed)@5", "AP(rel=2)"),
            *("AP(level=1)", "RR@10", "Success", "IPrec@0.125", "SetF(beta=2)", "F@10", "Judged@10", "AP@9t"),
        ],
    )
    def test_no_equivalent(self, ours: str) -> None:
        assert trec_eval_name(parse(ours)) is None
