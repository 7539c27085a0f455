"""Notices: run by run, and once if many runs share them."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import gainful
from gainful import GainfulWarning, Policy, ScoreMatrix, evaluate
from gainful.cli.main import run
from gainful.errors import at_command_line
from gainful.evaluation.notices import notices

QRELS = {"q1": {"d1": 1}, "q2": {"d1": 0}, "q3": {"d1": 1}}
WHOLE = {"q1": ["d1"], "q2": ["d1"], "q3": ["d1"]}
SHORT = {"q1": ["d1"], "q2": ["d1"]}


def said(runs: dict[str, dict[str, list[str]]], qrels: Any = QRELS) -> list[str]:
    return notices(evaluate(qrels, runs, "AP").values())


ALL = [f"i{j}" for j in range(500)]


def sampled_notice(relevant: dict[str, list[str]], ranked: dict[str, list[str]], judged: bool = False) -> str:
    """What is said of samples; those that are ranked may all be judged."""
    zeros = {user: dict.fromkeys(items if judged else [], 0) for user, items in ranked.items()}
    qrels = {user: {**zeros[user], **dict.fromkeys(items, 1)} for user, items in relevant.items()}
    return "".join(line for line in evaluate(qrels, ranked, "RR").notices if "Krichene" in line)


@pytest.mark.parametrize(("most", "drawn", "judged"), [(1, 100, False), (1, 99, True), (4, 20, False)])
def test_sampled_evaluation(most: int, drawn: int, judged: bool) -> None:
    """Candidates drawn for each user beside what is relevant, be it one item or several, judged or not."""
    rng = random.Random(drawn)
    relevant = {f"u{i}": rng.sample(ALL, rng.randint(1, most)) for i in range(200)}

    def ranking(items: list[str]) -> list[str]:
        drawn_for = rng.sample([item for item in ALL if item not in items], drawn)
        return rng.sample([*items, *drawn_for], len(items) + drawn)

    ranked = {user: ranking(items) for user, items in relevant.items()}
    assert f"every list has {drawn} documents besides all relevant documents" in sampled_notice(
        relevant, ranked, judged
    )
    # One list that lacks what is relevant, or has a document more, and it is no such sample.
    without = {**ranked, "u0": [item for item in ranked["u0"] if item not in relevant["u0"]]}
    assert not sampled_notice(relevant, without, judged)
    assert not sampled_notice(relevant, {**ranked, "u0": [*ranked["u0"], "more"]}, judged)


@pytest.mark.parametrize("in_file", [False, True])
def test_a_sample_of_a_large_catalogue(in_file: bool, tmp_path: Path) -> None:
    """More items than are judged for anybody, and a system that has all that is relevant near the top."""
    rng = random.Random(2)
    items = [f"i{j}" for j in range(6000)]
    relevant = {f"u{i}": [f"i{i}"] for i in range(60)}
    ranked = {}
    for i, (user, wanted) in enumerate(relevant.items()):
        others = rng.sample([item for item in items if item not in wanted], 100)
        ranked[user] = [*others[: i % 9], *wanted, *others[i % 9 :]]
    if not in_file:
        assert "every list has 100 documents besides all relevant documents" in sampled_notice(relevant, ranked)
        return
    path = tmp_path / "a.run"
    lines = (f"{user} Q0 {item} 1 {-i} x\n" for user, each in ranked.items() for i, item in enumerate(each))
    path.write_text("".join(lines), encoding="utf-8")
    found = evaluate({user: dict.fromkeys(each, 1) for user, each in relevant.items()}, path, "RR")
    assert any("Krichene" in line for line in found.notices)
    # Lists of the same 101 documents are rankings of a whole collection.
    whole = {user: rng.sample(items[:101], 101) for user in relevant}
    assert not sampled_notice(relevant, whole)


def test_what_is_no_sampled_evaluation() -> None:
    rng = random.Random(1)
    users = [f"u{i}" for i in range(200)]
    relevant = {user: [rng.choice(ALL)] for user in users}
    # All items ranked; the best 100 of them; 20 of which every relevant one is among the first.
    whole = {user: rng.sample(ALL, len(ALL)) for user in users}
    assert not sampled_notice(relevant, whole)
    assert not sampled_notice(relevant, {user: items[:100] for user, items in whole.items()})
    others = {user: [item for item in items if item not in relevant[user]] for user, items in whole.items()}
    assert not sampled_notice(
        relevant, {user: [*others[user][:4], *relevant[user], *others[user][4:19]] for user in users}
    )


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_samples_in_a_part_of_the_queries_are_none_of_all(order: tuple[int, int]) -> None:
    """What is so of every list of one part has to be so of the other's, and with as many documents."""
    rng = random.Random(3)

    def part(name: str, drawn: int) -> gainful.Evaluation:
        wanted = {f"{name}{i}": rng.choice(ALL) for i in range(20)}
        lists = {user: [*rng.sample([i for i in ALL if i != item], drawn), item] for user, item in wanted.items()}
        return evaluate({user: {item: 1} for user, item in wanted.items()}, lists, "RR", name="r")

    def told(*parts: gainful.Evaluation) -> str:
        first, second = (parts[i] for i in order)
        return "".join(line.partition(" beside")[0] for line in first.merge(second).notices if "Krichene" in line)

    cut = evaluate({f"c{i}": {"i0": 1} for i in range(20)}, {f"c{i}": ALL[:30] for i in range(20)}, "RR", name="r")
    assert told(part("a", 99), part("b", 99)) == "r: every list has 99 documents"
    assert told(part("a", 99), part("b", 98)) == told(part("a", 99), cut) == ""


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_part_with_documents_judged_not_relevant_makes_unjudged_ones_tell(order: tuple[int, int]) -> None:
    golden, other = ({f"q{i}": {"d1": 1}} for i in (1, 2))
    judged = {"q2": {"d1": 1, "d2": 0}}

    def told(*qrels: dict[str, dict[str, int]]) -> tuple[str, ...]:
        parts = [evaluate(each, {query: ["d1", "x"] for query in each}, "AP", name="r") for each in qrels]
        return parts[order[0]].merge(parts[order[1]]).notices

    assert told(golden, other) == ()
    assert told(golden, judged) == ("unjudged documents in the top 10: r 50.0%",)  # both x of four documents


def test_judgments_of_one_subtopic() -> None:
    for text, is_told in ((b"q 0 a 1\nq 0 b 1\n", True), (b"q 1 a 1\nq 2 b 1\n", False)):
        found = evaluate(gainful.Qrels.read(text), {"q": ["a"]}, "StRecall@5", policy=gainful.Policy(subtopics=True))
        assert any("but all judgments have the same sub-topic, '0'" in line for line in found.notices) == is_told


def test_a_few_runs_are_told_one_by_one() -> None:
    lines = said({"a": SHORT, "b": WHOLE})
    assert lines == [
        "a: 1 judged query not answered, given the worst score (missing=zero): q3",
        "a: 1 query with AP undefined, given the worst score (undefined=zero): q2",
        "b: 1 query with AP undefined, given the worst score (undefined=zero): q2",
    ]


def test_what_is_so_of_many_runs_is_said_once() -> None:
    lines = said({f"r{i}": SHORT if i < 7 else WHOLE for i in range(9)})
    assert lines == [
        "r0, r1, r2, r3, r4, 2 more: 1 judged query not answered, given the worst score (missing=zero): q3",
        "all 9 runs: 1 query with AP undefined, given the worst score (undefined=zero): q2",
    ]


def test_of_many_runs_those_with_most_unjudged_documents_are_named() -> None:
    runs = {f"r{i}": {query: ["d1", *(f"x{j}" for j in range(i))] for query in QRELS} for i in range(1, 8)}
    assert said(runs)[-1] == (
        "unjudged documents in the top 10: r7 87.5%, r6 85.7%, r5 83.3%, r4 80.0%, r3 75.0%, 2 others less"
    )
    del runs["r1"]
    assert said(runs)[-1].endswith("r3 75.0%, 1 other less")


def test_where_nothing_is_judged_ids_may_be_written_in_another_way() -> None:
    run = {query: ["D1", "D2"] for query in QRELS}
    with at_command_line():
        assert said({"r": run})[-1].endswith("; `gainful check` finds IDs that nearly match")
    assert said({"r": run})[-1] == (
        "unjudged documents in the top 10: r 100.0%; gainful.examine(qrels, runs) finds IDs that nearly match"
    )


@pytest.mark.parametrize(
    ("judged", "retrieved", "why"),
    [
        (["d1", "d2"], ["D1", "D2"], "2 of 2 documents match if case is ignored: write ids the same way in both files"),
        (["001", "002"], ["1", "3"], "1 of 2 documents match as numbers, without leading zeros and '.0': write "),
        (
            ["a.pdf[5:9]"],
            ["a.pdf[0:7]"],
            "the IDs are spans: spans=0.5 credits chunks to the spans of which they cover",
        ),
    ],
)
def test_what_would_match_is_named(core: str, judged: list[str], retrieved: list[str], why: str) -> None:
    found = said({"r": {"q1": retrieved}}, {"q1": dict.fromkeys(judged, 1)})
    assert any(line.startswith(f"r: hardly any retrieved document is judged, but {why}") for line in found)
    assert not any("hardly" in line for line in said({"r": {"q1": ["x", "y"]}}, {"q1": dict.fromkeys(judged, 1)}))


def test_documents_that_match_but_are_excluded_are_not_written_in_another_way() -> None:
    golden, exclude = {"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": ["d1"], "q2": ["d2"]}
    excluded = evaluate(golden, {"q1": ["d1", "d2"], "q2": ["d2", "d1"]}, "AP", exclude=exclude)
    assert not any("hardly" in line for line in notices([excluded]))


def test_where_only_relevant_documents_are_judged_the_others_say_nothing() -> None:
    golden, run = {"q1": {"d1": 1}, "q2": {"d1": 2}}, {"q1": ["x", "d1"], "q2": ["d1", "y"]}
    assert notices([evaluate(golden, run, "AP")]) == []
    assert notices([evaluate({**golden, "q3": {"d1": 0}}, run, "AP")])[-1].startswith(
        "unjudged documents in the top 10: "
    )
    unlike = {"q1": ["D1"], "q2": ["D1"]}
    assert notices([evaluate(golden, unlike, "AP")])[-1].endswith(
        "gainful.examine(qrels, runs) finds IDs that nearly match"
    )


def test_lists_that_are_upside_down_are_noticed() -> None:
    documents = [f"d{i}" for i in range(20)]
    qrels = {f"q{i}": {"d0": 1, "d1": 1, "d2": 1} for i in range(10)}
    last = dict.fromkeys(qrels, documents[::-1])
    assert any("relevant documents are late in their lists (on average at 95% of the length)" in line
               for line in notices([evaluate(qrels, last, "RR")]))  # fmt: skip
    for fair in (documents, ["d0", "d9", "d8", "d2", "d7", "d1"]):
        assert not any("late" in line for line in notices([evaluate(qrels, dict.fromkeys(qrels, fair), "RR")]))
    few = {"q0": last["q0"]}  # three documents prove nothing
    assert not any("late" in line for line in notices([evaluate({"q0": qrels["q0"]}, few, "RR")]))


def test_queries_that_differ_only_in_their_normal_form_are_noticed() -> None:
    qrels = {"caf\u00e9": {"d1": 1}, "q2": {"d1": 1}}
    run = {"cafe\u0301": ["d1"], "q2": ["d1"]}
    lines = notices(evaluate(qrels, {"a": run}, "AP").values())
    assert lines[2] == (
        "a: 1 query spelt differently in the judgments, different only in Unicode normal form: "
        r"cafe\u0301 (judged: caf\xe9)"
    )
    other = notices(evaluate(qrels, {"a": {"th\u00e9": ["d1"], "q2": ["d1"]}}, "AP").values())
    assert not [line for line in other if "normal form" in line]


class TestWarnings:
    QRELS: ClassVar = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    RUN: ClassVar = {"q1": ["d1", "x"]}
    MISSING = "1 judged query not answered, given the worst score (missing=zero): q2"

    def test_python_warns_of_what_the_command_line_prints(self) -> None:
        with pytest.warns(GainfulWarning) as warned:
            found = gainful.evaluate(self.QRELS, self.RUN, "AP", name="a")
        assert found.notices == (f"a: {self.MISSING}", "unjudged documents in the top 10: a 50.0%")
        [warning] = warned
        assert str(warning.message) == "\n".join(found.notices) and warning.filename == __file__

    @pytest.mark.parametrize("name", ["evaluate", "compare", "gain_curves", "recall_levels", "generalised_recall"])
    def test_once_a_call(self, name: str) -> None:
        runs = {"a": self.RUN, "b": {**self.RUN, "q2": ["d1"]}}
        with pytest.warns(GainfulWarning) as warned:
            found = getattr(gainful, name)(self.QRELS, runs)
        [warning] = warned
        assert str(warning.message) == "\n".join(found.notices) and f"a: {self.MISSING}" in found.notices

    def test_scores_of_which_some_lack(self) -> None:
        scores = ScoreMatrix.of("RR", {"a": {"q1": 1.0, "q2": 0.5, "q3": 0.2}, "b": {"q1": 0.5, "q2": 0.1}})
        expected = "RR: 1 query without a score of every system, left out: q3"
        for function in (gainful.compare, gainful.assess_power, gainful.assess_agreement):
            given = [scores, ScoreMatrix.of("AP", {"a": {"q1": 1.0}, "b": {"q1": 0.5}})]
            with pytest.warns(GainfulWarning, match=expected):
                found = function(given if function is gainful.assess_agreement else scores)
            assert expected in found.notices

    def test_nothing_to_notice_and_filters(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = gainful.evaluate({"q1": {"d1": 1}}, {"q1": ["d1"]}, "AP")
            assert found.notices == ()
            warnings.simplefilter("ignore", GainfulWarning)
            assert gainful.evaluate(self.QRELS, self.RUN, "AP").notices
        with warnings.catch_warnings(), pytest.raises(GainfulWarning, match="not answered"):
            warnings.simplefilter("error", GainfulWarning)
            gainful.evaluate(self.QRELS, self.RUN, "AP")

    def test_the_command_line_prints_and_does_not_warn(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n")
        (tmp_path / "run").write_text("q1 Q0 d1 1 1 x\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run(["curves", str(tmp_path / "qrels"), str(tmp_path / "run")]) == 0
        assert "notice: run: 1 judged query not answered" in capsys.readouterr().err


def test_a_lowest_grade_that_no_grade_reaches() -> None:
    reached, beyond = (gainful.parse(f"P(rel={rel})@1") for rel in (2, 5))
    with gainful.errors.quietly():
        found = evaluate({"q": {"a": 2, "b": 0}}, {"q": ["a", "b"]}, [reached, beyond])
    assert "no grade reaches 5; the highest is 2" in found.notices
    assert "no grade reaches 2; the highest is 2" not in found.notices


def test_holes_are_told_to_be_unjudged_documents() -> None:
    with pytest.warns(GainfulWarning, match="hole@1 is Unjudged@1 here: documents unjudged for the query; BEIR counts"):
        assert evaluate(QRELS, WHOLE, ["hole@1", "AP"]).measures[0] == gainful.parse("Unjudged@1")
    assert "BEIR" in gainful.parse("hole@3").replace(cutoff=2).note
    assert not gainful.parse("unjudged@3").note


def test_a_file_in_latin_1_is_told_with_what_converts_it() -> None:
    words = ["b\u00fcrostuhl", "lampe"]
    judgments = "".join(f"{word} 0 d1 1\n" for word in words)
    with pytest.warns(
        GainfulWarning, match=r"the judgments is not UTF-8 \(convert it with iconv -f latin1 .*: b\u00fcrostuhl$"
    ):
        evaluate(judgments.encode("latin-1"), {word: ["d1"] for word in words}, "RR")
    found = "".join(f"{word} Q0 d1 1 1 t\n" for word in words).encode("latin-1")
    with pytest.warns(GainfulWarning, match=r"file of this run is not UTF-8 .*: b\u00fcrostuhl$"):
        evaluate(judgments.encode(), found, "RR")


def test_tables_of_windows_are_read_as_what_they_show() -> None:
    words = ["b\u00fcrostuhl", "\u20ac 5"]
    judgments = "Suche;document;grade;Gr\u00f6\u00dfe\n" + "".join(f"{word};d1;1;\n" for word in words)
    found = "Suche;document;score\n" + "".join(f"{word};d1;1\n" for word in words)
    table = "query_id,Gr\u00f6\u00dfe\n" + "".join(f"{word},kl\u00e4in\n" for word in words)
    texts = (judgments, found, table)
    columns = {"query": "Suche"}
    for windows in itertools.product([False, True], repeat=3):
        given = [text.encode("cp1252" if one else "utf-8") for text, one in zip(texts, windows, strict=True)]
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            result = evaluate(given[0], given[1], "RR", queries=given[2], columns=columns)
        assert (result.queries, result.mean("RR")) == (words, 1.0)
        assert result.about is not None and list(result.about.segments("Gr\u00f6\u00dfe", words)) == ["kl\u00e4in"]
        read_so = [str(each.message) for each in heard if "Windows" in str(each.message)]
        assert len(read_so) == any(windows[:2])  # of bytes, which have one name
    with pytest.raises(gainful.InputError, match="expected UTF-8 text, found other bytes"):
        evaluate(b"query,document,grade\n\x81,d1,1\n", {"q": ["d1"]}, "RR")


def test_ratings_that_are_no_praise_count_as_relevant() -> None:
    ratings, run_of = b"user,item,rating\nu,i,0.5\nu,j,5\n", {"u": ["i", "j"]}
    hint = r"use \"R\(rel=4\)@10\" to count only ratings of 4 and above"
    with pytest.warns(GainfulWarning, match=rf"every rating counts as relevant, even 0.5 of 5 \(<bytes>\); {hint}"):
        evaluate(ratings, run_of, ["nDCG@2", "R@2"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(ratings, run_of, ["nDCG@2", "R(rel=4)@2"])
        evaluate(ratings.replace(b"0.5", b"0"), run_of, "R@2")
        evaluate(ratings.replace(b"rating", b"grade"), run_of, "R@2")


def test_lists_of_equal_scores() -> None:
    """Where most documents are tied, that is said; not of lists without scores, nor of some ties."""
    qrels, tied = {"q1": {"d1": 1}, "q2": {"d1": 1}}, {"q1": {"d1": 0, "d2": 0, "d3": 0}, "q2": {"d1": 2, "d2": 1}}

    def said(run: dict[str, Any]) -> str:
        return "\n".join(line for line in evaluate(qrels, run, "AP").notices if "with another" in line)

    line = "3 of 5 documents share their score with another in their list: their order is arbitrary (ties=docid-desc)"
    assert said(tied) == f"<dict>: {line}"
    assert said({**tied, "q2": {"d1": 3, "d2": 2, "d3": 1}}) == ""
    assert said({query: list(scores) for query, scores in tied.items()}) == ""


def test_the_range_that_ties_leave() -> None:
    """Means in the order of numbers, 9 before 12; no range if better documents at the top are not always better."""
    qrels = {"q": {**dict.fromkeys(["a", "b", "c", "d"], 3), "e": 0, "f": 0}}
    run = {"q": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 5.0, "e": 5.0, "f": 5.0}}
    found = evaluate(qrels, run, ["CG@4", "nDCG(gain={0:0,3:1})@4", "ESL"]).notices[-1]
    rest = math.fsum(1 / math.log2(rank + 1) for rank in (1, 2, 3, 4))
    assert found == (
        "<dict>: ties leave CG@4 between 9.0000 and 12.0000, "
        f"nDCG(gain={{0:0,3:1}})@4 between {1 - 1 / math.log2(5) / rest:.4f} and 1.0000"
    )
    qrels = {"q": {"a": 1, "b": 3, "c": 2, "z": 0}}
    run = {"q": dict.fromkeys("abcu", 5.0)}
    gains = [f"nDCG(gain={gain})@1" for gain in ("{0:0,1:3,2:5,3:1}", "{0:1,1:2,2:3,3:4}")]
    for measure in (*gains, "DCG(discount=jarvelin2000, base=4)@2", "R(rel=0)@1", "Leak(forbidden=1)@1"):
        assert not any("ties leave" in line for line in evaluate(qrels, run, measure).notices), measure
    del qrels["q"]["z"]  # no document has grade 0, which needs no weight
    found = evaluate(qrels, run, "CG(gain={1:1,2:2,3:3})@1").notices[1]
    assert found == "<dict>: ties leave CG(gain={1:1,2:2,3:3})@1 between 0.0000 and 3.0000"


def test_integers_that_are_one_float_are_ties_with_a_reason(core: str) -> None:
    """2^53 and 2^53 + 1 are the same 64-bit float; 2^53 - 1 and 2^53 are not."""
    qrels, most = {"q1": {"d1": 1}}, 2**53
    cases = [((most, most + 1, 1), 2), ((most - 1, most, most + 2), 0), ((-most - 1, -most, -most), 3), ((1, 1, 0), 0)]
    for scores, tied in cases:
        run = dict(zip(("d1", "d2", "d3"), scores, strict=True))
        text = "".join(f"q1 Q0 {document} 1 {score} t\n" for document, score in run.items())
        for given in ({"q1": run}, text.encode()):
            found = [line for line in evaluate(qrels, given, "AP").notices if "2^53" in line]
            assert [int(line.split()[1]) for line in found] == ([tied] if tied else [])


def test_ties_of_what_is_cut_off_are_not_counted(core: str) -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 2, "d2": 1, "d3": 1, "d4": 1}, "q2": {"d1": 1, "d2": 1}}
    for depth, counted in ((0, "5 of 6"), (2, "3 of 4"), (1, "")):
        found = evaluate(qrels, run, "AP", policy=Policy(depth=depth or None)).notices
        assert [line.split()[1:4] for line in found if "with another" in line] == ([counted.split()] if counted else [])


def test_judged_beside_the_share_of_unjudged_documents() -> None:
    """One of three documents is unjudged; Judged is the mean of 2/3 and, for the query without results, 0."""
    found = evaluate({"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}, {"q1": ["d1", "d2", "x"]}, "Judged@10")
    assert found.mean("Judged@10") == pytest.approx(1 / 3)
    assert found.notices[-1] == (
        "unjudged documents in the top 10: <dict> 33.3%; Judged@10 also counts queries without results, as 0"
    )


def test_a_table_that_no_measure_uses() -> None:
    def said(measures: list[str]) -> list[str]:
        made = evaluate(QRELS, WHOLE, measures, training={"u": ["d1"]}, items={"d1": "war", "d2": "fun"})
        return [line for line in made.notices if line.startswith("no measure uses")]

    of_training, of_items = "no measure uses training=; use exclude= to exclude items", "no measure uses items="
    assert [said(["AP"]), said(["AP", "Novelty@1"]), said(["ILD@1"]), said(["Coverage@1"])] == [
        [of_items, of_training],
        [of_items],
        [of_training],
        [],
    ]


def test_users_and_items_are_called_so() -> None:
    """Tables with users, and matrices, are no queries with documents; ids keep their words."""
    liked = b"user,item,rating\nann,tea,5\nthe query,rye,4\n"
    mine = b"user,item,score\nann,jam,0.9\nann,tea,0.9\n"
    with pytest.warns(GainfulWarning) as caught:
        gainful.evaluate(liked, mine, ["RR"])
    text = str(caught[0].message)
    assert "1 judged user not answered, given the worst score (missing=zero): the query" in text
    assert "2 of 2 items share their score" in text and "document" not in text
    with pytest.warns(GainfulWarning, match="no relevant item in the judgments"):
        gainful.evaluate_arrays(np.ones((1, 2)), np.zeros((1, 2)), ["RR"])


def test_saturated_measures_and_scores_by_chance() -> None:
    """With 9 of 10 queries at 1, RR tells little; P@6 of six documents depends on no order."""
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(10)}
    run = {f"q{i}": [*("abuvxy" if i else "xyauvw")] for i in range(10)}
    with pytest.warns(GainfulWarning):
        found = evaluate(qrels, run, ["RR", "P@2", "P@6"], chance=True).notices
    with pytest.warns(GainfulWarning, match="P@1 is below chance: 0.0000, random orders 0.5000"):
        evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "P@1", chance=True)
    assert [line for line in found if "saturated" in line or "chance" in line] == [
        "<dict>: RR is saturated: 9 of 10 queries have its best score",
        "<dict>: P@2 is saturated: 9 of 10 queries have its best score",
        "<dict>: P@6 is hardly above chance: 0.3167, random orders 0.3167",
    ]
