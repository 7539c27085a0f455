"""Conventions: values, defaults, effects on tiny examples, and errors."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import pytest

from gainful import InputError, Policy, Qrels, UsageError, evaluate, parse
from gainful.policy import CHOICES, DIALECTS
from tests.together import together

VALUES = {
    "order": ("score", "rank", "input"),
    "ties": ("docid-desc", "docid-asc", "rank", "input", "expected", "best", "worst"),
    "scores": ("float64", "float32"),
    "duplicates": ("error", "first"),
    "parent": ("none",),
    "parent-of": ("run", "both"),
    "spans": ("none",),
    "depth": ("all",),
    "unjudged": ("zero", "condensed"),
    "negative": ("judged", "unjudged"),
    "grade-zero": ("0",),
    "judges": ("error", "mean", "median", "max", "min", "turn"),
    "subtopics": ("no", "yes"),
    "missing": ("zero", "skip", "error"),
    "undefined": ("zero", "skip", "error"),
    "extra": ("ignore", "error"),
    "recall-cut": ("exact", "round", "ceil0.9"),
}


def value(measure: str, qrels: Any, run: Any, **choices: Any) -> float:
    return evaluate(qrels, run, measure, policy=Policy(**choices)).mean(measure)


class TestChoices:
    def test_names_and_values(self) -> None:
        assert {choice.name: choice.values for choice in CHOICES} == VALUES

    @together("choice", CHOICES)
    def test_the_first_value_is_the_default(self, choice: Any) -> None:
        assert Policy().texts()[choice.name] == choice.default == VALUES[choice.name][0]
        assert choice.about

    @together("name", VALUES)
    def test_every_value_is_taken_and_written(self, name: str) -> None:
        field = name.replace("-", "_")
        for text in VALUES[name]:
            policy = Policy(**{field: text})
            assert policy.texts()[name] == text
            assert policy.differences() == ({} if text == VALUES[name][0] else {name: text})
            assert Policy.from_texts({name: text}) == policy
            assert Policy().replace(**{field: text}) == policy

    def test_numbers(self) -> None:
        assert Policy(depth=100).texts()["depth"] == "100"
        assert Policy(depth="1e2") == Policy(depth=100.0) == Policy(depth=100)
        assert Policy(depth="all") == Policy(depth=None) == Policy()
        assert Policy(grade_zero="2.50").texts()["grade-zero"] == "2.5"
        assert Policy(grade_zero=1).grade_zero == 1.0

    def test_subtopics_is_true_or_a_word(self) -> None:
        assert Policy(subtopics=True) == Policy(subtopics="yes")
        assert Policy(subtopics=False) == Policy()

    def test_all_texts_read_back(self) -> None:
        policy = Policy(order="input", ties="rank", depth=7, grade_zero=0.5, subtopics=True, recall_cut="ceil0.9")
        assert Policy.from_texts(policy.texts()) == policy
        assert str(policy) == "|".join(f"{name}:{text}" for name, text in policy.texts().items())
        assert list(policy.texts()) == list(VALUES)

    def test_policies_are_values(self) -> None:
        assert hash(Policy(depth=3)) == hash(Policy(depth=3.0))
        with pytest.raises(dataclasses.FrozenInstanceError):
            Policy().depth = 3  # type: ignore[misc]

    @together(
        ("choices", "message"),
        [
            ({"order": "scores"}, "order: expected score | rank | input, found 'scores'\nhint: did you mean score?"),
            (
                {"ties": "docid"},
                "ties: expected docid-desc | docid-asc | rank | input | expected | best | worst, found 'docid'\n"
                "hint: did you mean docid-asc or docid-desc?",
            ),
            ({"scores": 32}, "scores: expected float64 | float32, found 32"),
            ({"duplicates": "last"}, "duplicates: expected error | first, found 'last'"),
            ({"missing": "skipp"}, "missing: expected zero | skip | error, found 'skipp'\nhint: did you mean skip?"),
            (
                {"recall_cut": "ceil"},
                "recall-cut: expected exact | round | ceil0.9, found 'ceil'\nhint: did you mean ceil0.9?",
            ),
            ({"depth": 0}, "depth: expected 'all' or a whole number of at least 1, found 0"),
            ({"depth": "2.5"}, "depth: expected 'all' or a whole number of at least 1, found '2.5'"),
            ({"depth": "deep"}, "depth: expected a number, found 'deep'"),
            ({"grade_zero": -1}, "grade-zero: expected a number of at least 0, found -1"),
            ({"grade_zero": "x"}, "grade-zero: expected a number, found 'x'"),
            ({"subtopics": "both"}, "subtopics: expected no | yes, found 'both'"),
            ({"subtopics": 1}, "subtopics: expected no | yes, found 1"),
        ],
    )
    def test_mistakes(self, choices: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError) as caught:
            Policy(**choices)
        assert str(caught.value) == message

    def test_a_value_is_not_a_policy(self) -> None:
        with pytest.raises(UsageError, match=r"policy: 'condensed' is a value of unjudged\nhint: unjudged='condensed'"):
            evaluate({"q": {"d": 1}}, {"q": ["d"]}, "RR", policy="condensed")

    def test_unknown_choice(self) -> None:
        with pytest.raises(UsageError) as caught:
            Policy.from_texts({"unjudge": "zero"})
        assert (
            str(caught.value) == "policy: unknown choice 'unjudge'\nhint: did you mean unjudged or judges or undefined?"
        )


class TestDialects:
    def test_trec_eval_9(self) -> None:
        assert Policy.like("trec_eval-9").differences() == {
            "scores": "float32",
            "negative": "unjudged",
            "missing": "skip",
            "recall-cut": "ceil0.9",
        }

    def test_trec_eval_10(self) -> None:
        policy = Policy.like("trec_eval-10")
        assert policy.differences() == {"negative": "unjudged", "missing": "error", "recall-cut": "round"}
        assert (policy.scores, policy.recall_cut) == ("float64", "round")

    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_what_is_explicit_wins(self, dialect: str) -> None:
        policy = Policy.like(dialect, missing="zero", negative="judged", depth=5)
        assert (policy.missing, policy.negative, policy.depth) == ("zero", "judged", 5)
        assert policy.scores == Policy.like(dialect).scores

    def test_by_name_in_evaluate(self) -> None:
        qrels, run = {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}
        assert evaluate(qrels, run, "AP").mean("AP") == 0.5
        assert evaluate(qrels, run, "AP", policy="trec_eval-9").mean("AP") == 1.0
        with pytest.raises(InputError, match="missing=error"):
            evaluate(qrels, run, "AP", policy="trec_eval-10")

    def test_unknown(self) -> None:
        with pytest.raises(UsageError) as caught:
            Policy.like("trec_eval")
        assert caught.value.message == "like: expected trec_eval-9 | trec_eval-10 | ntcireval, found 'trec_eval'"


# By score a comes last, by rank first, in the input second.
ORDER = ("RR", {"q": {"a": 1}}, b"q Q0 b 3 9 t\nq Q0 a 1 2 t\nq Q0 c 2 5 t\n")
TIES = ("RR", {"q": {"b": 1}}, b"q Q0 a 2 1 t\nq Q0 c 4 1 t\nq Q0 b 1 1 t\nq Q0 d 3 1 t\n")
# As bytes é is above z; by letters it would stand before f.
BYTES = ("RR", {"q": {"é": 1}}, {"q": {"z": 1.0, "é": 1.0, "a": 1.0}})
PREFIX = ("RR", {"q": {"d1": 1}}, {"q": {"d1": 1.0, "d10": 1.0}})
# 16777217 = 2^24 + 1 is no float32; it rounds to 16777216, where a has its score.
FLOAT32 = ("RR", {"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}})
# Parsed as float64, then rounded: 1 + 2^-24 + 2^-60 becomes 1 + 2^-24 and then 1, not 1 + 2^-23.
TWO_STEPS = ("RR", {"q": {"a": 1}}, b"q Q0 a 1 1.00000005960464477626 t\nq Q0 b 2 1 t\n")
TWO = {"q": {"a": 1, "b": 1}}
TWICE = b"q Q0 x 1 4 t\nq Q0 a 2 1 t\nq Q0 b 3 2 t\nq Q0 a 4 3 t\n"
LATE = {"q": {"b": 1.0, "x": 3.0, "a": 2.0}}
HOLES = ({"q": {"a": 1, "b": 0}}, {"q": ["x", "b", "y", "a"]})
NEGATIVE = ({"q": {"bad": -1, "a": 1}}, {"q": ["bad", "a"]})
STARS = ({"q": {"a": 5, "b": 3, "c": 1}}, {"q": ["c", "b", "a"]})
JUDGES = ("CG", b"q 0 a 0\nq 0 a 1\nq 0 a 3\nq 0 a 4\nq 0 b 1\nq 0 b 1\n", {"q": ["a"]})
ODD_JUDGES = ("CG", b"q 0 a 0\nq 0 a 1\nq 0 a 5\n", {"q": ["a"]})
SUBTOPICS = (b"q 1 a 1\nq 2 a 3\nq 1 b 1\n", {"q": ["a"]})
# The means are 2 for sub-topic 1 and 1 for sub-topic 2; over all judgments it would be 5/3.
JUDGED_SUBTOPICS = ("CG", b"q 1 a 0\nq 1 a 4\nq 2 a 1\n", {"q": ["a"]})

#: What a choice does: measure, judgments, run, choices, and the value.
EFFECTS: list[tuple[tuple[str, Any, Any], dict[str, Any], float]] = [
    (ORDER, {}, 1 / 3),
    (ORDER, {"order": "score"}, 1 / 3),
    (ORDER, {"order": "rank"}, 1),
    (ORDER, {"order": "input"}, 1 / 2),
    (TIES, {}, 1 / 3),
    (TIES, {"ties": "docid-desc"}, 1 / 3),
    (TIES, {"ties": "docid-asc"}, 1 / 2),
    (TIES, {"ties": "rank"}, 1),
    (TIES, {"ties": "input"}, 1 / 3),
    (("RR", {"q": {"b": 1}}, {"q": {"z": 1.0, "b": 1.5}}), {}, 1),  # only equal scores are ties
    (BYTES, {"ties": "docid-desc"}, 1),
    (BYTES, {"ties": "docid-asc"}, 1 / 3),
    (PREFIX, {"ties": "docid-asc"}, 1),
    (PREFIX, {}, 1 / 2),
    (("RR", {"q": {9: 1}}, {"q": {10: 1.0, 9: 1.0}}), {}, 1),  # numbers compare as text
    (FLOAT32, {}, 1),
    (FLOAT32, {"scores": "float32"}, 1 / 2),
    (FLOAT32, {"scores": "float32", "ties": "docid-asc"}, 1),
    (TWO_STEPS, {"scores": "float32"}, 1 / 2),
    (("AP", TWO, TWICE), {"duplicates": "first"}, (1 / 2 + 2 / 3) / 2),  # x, a (3), b, and the other a is gone
    (("NumRet", TWO, TWICE), {"duplicates": "first"}, 3),
    (("P@1", {"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": ["a"]}), {}, 1),  # of two queries, no duplicates
    (("NumRelRet", TWO, {"q": ["a", "a", "b"]}), {"duplicates": "first", "depth": 2}, 2),  # they go before depth counts
    *((("NumRelRet", TWO, LATE), {"depth": depth}, n) for depth, n in {None: 2, "all": 2, 1: 0, 2: 1, 3: 2}.items()),
    (("NumRet", TWO, LATE), {"depth": 2, "unjudged": "condensed"}, 1),  # cut before condensing
    (("SetR", TWO, LATE), {"depth": 2}, 1 / 2),  # the recall base is not cut
    (("RR", *HOLES), {}, 1 / 4),
    (("RR", *HOLES), {"unjudged": "condensed"}, 1 / 2),
    (("P@2", *HOLES), {"unjudged": "condensed"}, 1 / 2),
    (("RR(unjudged=condensed)", *HOLES), {}, 1 / 2),  # a measure has its own
    (("RR(unjudged=zero)", *HOLES), {"unjudged": "condensed"}, 1 / 4),
    (("Judged@2", *HOLES), {"unjudged": "condensed"}, 1 / 2),  # looks at the whole list
    (("Judged", *NEGATIVE), {}, 1),
    (("Judged", *NEGATIVE), {"negative": "unjudged"}, 1 / 2),
    (("RR(unjudged=condensed)", *NEGATIVE), {"negative": "judged"}, 1 / 2),
    (("RR(unjudged=condensed)", *NEGATIVE), {"negative": "unjudged"}, 1),
    *((("CG", *NEGATIVE), {"negative": each}, 1) for each in ("judged", "unjudged")),  # the gain is 0 either way
    *((("nDCG", *NEGATIVE), {"negative": each}, 1 / math.log2(3)) for each in ("judged", "unjudged")),
    # Five stars with 3 meaning "not relevant": the gains are 2, 0, 0; what falls below stays judged.
    (("CG", *STARS), {"grade_zero": 3}, 2),
    (("CG", *STARS), {"grade_zero": 2.5}, 3),
    (("NumRel", *STARS), {"grade_zero": 3}, 1),
    (("NumRel", *STARS), {}, 3),
    (("NumRel(rel=2)", *STARS), {"grade_zero": 1}, 2),
    (("CG(gain=scaled)", *STARS), {"grade_zero": 1}, 1.5),  # (5 - 1) / (5 - 1), (3 - 1) / (5 - 1) and 0
    (("Judged", *STARS), {"grade_zero": 3, "negative": "unjudged"}, 1),
    *((JUDGES, {"judges": how}, grade) for how, grade in {"mean": 2, "median": 2, "max": 4, "min": 0}.items()),
    *((ODD_JUDGES, {"judges": how}, grade) for how, grade in {"mean": 2, "median": 1}.items()),
    (("NumRel", b"q 0 b 1\nq 0 b 1.0\n", {"q": ["b"]}), {}, 1),  # equal repeats are one
    (JUDGES, {"judges": "mean", "grade_zero": 1}, 1),  # what they agree on, less 1; clipped one by one it would be 5/4
    (("RR", {"q": {"b": 1}}, {"q": ["a#1", "a#2", "b#1"]}), {"parent": "(.+)#.*"}, 1 / 2),
    (("R@2", {"q": ["a#5", "b#6"]}, {"q": ["a#1", "a#2", "b#1"]}), {"parent": "(.+)#.*", "parent_of": "both"}, 1),
    (("P@1", {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}), {"ties": "expected"}, 1 / 2),
    (("P@1", {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}), {"ties": "best"}, 1),
    (("P@1", {"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}}), {"ties": "worst"}, 0),
    (("R@1", {"q": {"a[0:9]": 1}}, {"q": ["a[3:12]"]}), {"spans": "0.6"}, 1),
    (("CG", *SUBTOPICS), {"subtopics": True}, 3),
    (("CG", *SUBTOPICS), {"subtopics": "no", "judges": "min"}, 1),
    (("NumRel", *SUBTOPICS), {"subtopics": "yes"}, 2),
    (JUDGED_SUBTOPICS, {"subtopics": True, "judges": "mean"}, 2),
    (JUDGED_SUBTOPICS, {"judges": "mean"}, 5 / 3),
]


@together(("texts", "choices", "expected"), EFFECTS)
def test_effects(core: str, texts: tuple[str, Any, Any], choices: dict[str, Any], expected: float) -> None:
    assert value(*texts, **choices) == pytest.approx(expected, abs=1e-15)


def test_every_choice_has_an_effect_here() -> None:
    """Those about queries and recall have tests of their own below."""
    tried = {name.replace("_", "-") for _, choices, _ in EFFECTS for name in choices}
    assert {*VALUES} - tried == {"missing", "undefined", "extra", "recall-cut"}


def test_lists_without_scores_are_in_their_own_order() -> None:
    result = evaluate({"q": {"a": 1}}, {"q": ["b", "a", "c"]}, "RR")
    assert (result.mean("RR"), result.policy.order) == (1 / 2, "input")


@pytest.mark.parametrize("negative", ["judged", "unjudged"])
def test_a_query_with_nothing_else_is_still_judged(negative: str) -> None:
    qrels, run = {"q": {"a": -1}, "r": {"a": 1}}, {"q": ["a"], "r": ["a"]}
    assert evaluate(qrels, run, "AP", policy=Policy(negative=negative)).by_query("AP") == {"q": 0.0, "r": 1.0}


@together("seed", range(4))
def test_each_judge_in_turn(seed: int) -> None:
    """Two judges, who are in column 2; where they differ, the first, the second, the first, ... by document id."""
    chance = random.Random(seed)
    judges = {"anna": [chance.randint(0, 3) for _ in range(12)], "bo": [chance.randint(0, 3) for _ in range(12)]}
    expected, turn = [], 0
    for one, other in zip(*judges.values(), strict=True):
        expected.append((one, other)[turn % 2])
        turn += one != other
    assert turn > 2
    lines = [f"q {judge} d{i:02d} {grade}\n" for judge, grades in judges.items() for i, grade in enumerate(grades)]
    for _ in range(2):  # in any order of the lines
        for i, grade in enumerate(expected):
            assert value("CG", "".join(lines).encode(), {"q": [f"d{i:02d}"]}, judges="turn") == grade
        chance.shuffle(lines)


FIRST = "use duplicates='first' to keep the best-ranked occurrence"
SEVERAL = "combine them with judges='mean', median, max, min or turn"
SIX = {f"q{i}": {"a": 1} for i in range(7)}
ZERO = {"q1": {"a": 1}, "q2": {"a": 0}}


@together(
    ("qrels", "run", "choices", "message"),
    [
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"order": "rank"}, "<dict>: order=rank needs a rank column"),
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"ties": "rank"}, "<dict>: ties=rank needs a rank column"),
        (
            TWO,
            {"q": ["a", "b", "a"]},
            {},
            f"<dict>['q']: item 3: duplicate document 'a' for query 'q' (first: item 1)\nhint: {FIRST}",
        ),
        (
            {"q": {1: 1, "1": 2}},  # the same text
            {"q": ["1"]},
            {},
            "<dict>['q']: item 2: conflicting grades for query 'q' and document '1': 2 after 1 (item 1)\n"
            f"hint: {SEVERAL}",
        ),
        (
            SIX,
            {"q0": ["a"]},
            {"missing": "error"},
            "<dict>: 6 queries ('q1', 'q2', 'q3', 'q4', 'q5', ...) not answered, and missing=error forbids it\n"
            "hint: missing='zero' scores them 0, skip leaves them out",
        ),
        (
            ZERO,
            {"q1": ["a"], "q2": ["a"]},
            {"undefined": "error"},
            "<dict>: AP is undefined for 1 query ('q2'), and undefined=error forbids it\n"
            "hint: undefined='zero' scores them 0, skip leaves them out",
        ),
        (
            {"q1": {"a": 1}},
            {"q1": ["a"], "q9": ["a"], "q8": ["a"]},
            {"extra": "error"},
            "<dict>: 2 queries ('q8', 'q9') without judgments, and extra=error forbids it\n"
            "hint: extra='ignore' ignores them",
        ),
        (
            {"q1": {"a": 1}},
            {"x": ["a"]},
            {},
            "<dict>: none of its queries is judged: the run has 'x', <dict> has 'q1'\n"
            "hint: do the judgments and the run belong to the same collection?",
        ),
    ],
)
def test_what_is_refused(qrels: Any, run: Any, choices: dict[str, Any], message: str) -> None:
    """Of what has no lines; those of files are in tests/cli/test_messages.py."""
    with pytest.raises(InputError) as caught:
        evaluate(qrels, run, "AP", policy=Policy(**choices))
    assert str(caught.value) == message


class TestUndefined:
    QRELS = {"q1": {"a": 1}, "q2": {"a": 0}}
    RUN = {"q1": ["a"], "q2": ["a"]}

    @together("measure", ["AP", "nDCG", "nCG@3", "R@3", "Rprec", "F@3", "SetR", "SetF", "IPrec@0.5"])
    def test_an_empty_recall_base(self, measure: str) -> None:
        zero, skip = (evaluate(self.QRELS, self.RUN, measure, policy=Policy(undefined=u)) for u in ("zero", "skip"))
        assert zero.by_query(measure)["q2"] == 0.0
        assert skip.by_query(measure)["q2"] is None
        assert zero.undefined(measure) == skip.undefined(measure) == ["q2"]
        assert zero.mean(measure) == skip.mean(measure) / 2

    @together("measure", ["P@3", "RR", "Success@3", "CG", "DCG", "NumRel"])
    def test_what_is_simply_0_there(self, measure: str) -> None:
        result = evaluate(self.QRELS, self.RUN, measure, policy=Policy(undefined="skip"))
        assert result.by_query(measure)["q2"] == 0.0
        assert result.undefined(measure) == []

    def test_what_is_simply_0_is_no_error(self) -> None:
        evaluate(self.QRELS, self.RUN, "P@5", policy=Policy(undefined="error"))


def test_extra_queries_are_ignored() -> None:
    result = evaluate({"q1": {"a": 1}}, {"q1": ["a"], "q9": ["a"], "q8": ["a"]}, ["AP", "NumQ"])
    assert result.by_query("AP") == {"q1": 1.0}
    assert (result.aggregate("NumQ"), result.facts.extra_ids) == (1, (b"q8", b"q9"))


class TestRecallCut:
    # Three relevant documents at ranks 1, 3 and 6: the precisions there are 1, 2/3 and 1/2.
    QRELS = {"q": {"a": 1, "b": 1, "c": 1}}
    RUN = {"q": ["a", "x", "b", "y", "z", "c"]}

    @together(
        ("recall", "exact", "rounded", "raised"),
        [
            ("0", 1, 1, 1),  # 0 documents in any case
            ("0.1", 1, 1, 1),  # 0.3: 1, 0 or 1
            ("0.35", 2 / 3, 1, 1),  # 1.05: 2, 1 or 1
            ("0.4", 2 / 3, 1, 2 / 3),  # 1.2: 2, 1 or 2
            ("0.5", 2 / 3, 2 / 3, 2 / 3),  # 1.5: 2, 2 or 2
            ("0.8", 1 / 2, 2 / 3, 1 / 2),  # 2.4: 3, 2 or 3
            ("1", 1 / 2, 1 / 2, 1 / 2),
        ],
    )
    def test_values(self, recall: str, exact: float, rounded: float, raised: float) -> None:
        assert value(f"IPrec@{recall}", self.QRELS, self.RUN) == exact
        assert value(f"IPrec@{recall}", self.QRELS, self.RUN, recall_cut="round") == rounded
        assert value(f"IPrec@{recall}", self.QRELS, self.RUN, recall_cut="ceil0.9") == raised

    def test_two_of_seven_are_no_recall_of_three_tenths(self) -> None:
        qrels, run = {"q": {f"d{i}": 1 for i in range(7)}}, {"q": ["d0", "d1"]}
        assert value("IPrec@0.3", qrels, run) == value("gIPrec(gain=binary)@0.3", qrels, run) == 0
        assert value("IPrec@0.3", qrels, run, recall_cut="round") == 1

    @together("base", [3, 7, 10, 100])
    def test_a_recall_that_is_written_is_reached(self, base: int) -> None:
        """3 of 10 reach 0.3, and 29 of 100 reach 0.29, although 0.29 * 100 is not 29 in binary."""
        for percent in range(101):
            needed = -(-percent * base // 100)
            measure = parse(f"IPrec@{percent / 100}")
            for found in {max(needed - 1, 0), needed}:
                scored = measure.score([1] * found + [0], unretrieved=[1] * (base - found))
                assert scored == (1.0 if found and found >= needed else 0.0)

    def test_a_recall_never_reached_is_0(self) -> None:
        assert value("IPrec@1", self.QRELS, {"q": ["a", "b"]}) == 0


class TestScale:
    """Not a choice but a fact that the signature has: the highest grade in the whole file, or given."""

    def test_survives_a_selection(self) -> None:
        qrels = Qrels.from_dict({"q1": {"a": 1}, "q2": {"a": 4}})
        result = evaluate(qrels.select(["q1"]), {"q1": ["a"]}, "CG(gain=scaled)")
        assert result.mean("CG(gain=scaled)") == 1 / 4
        assert result.scale == 4

    def test_given(self) -> None:
        qrels = Qrels.from_dict({"q1": {"a": 1}}, scale=5)
        assert evaluate(qrels, {"q1": ["a"]}, "CG(gain=scaled)").mean("CG(gain=scaled)") == 1 / 5

    def test_too_low(self) -> None:
        with pytest.raises(InputError) as caught:
            Qrels.from_dict({"q1": {"a": 3}}, scale=2)
        assert str(caught.value) == "<dict>: expected grades up to the scale 2, found 3"
