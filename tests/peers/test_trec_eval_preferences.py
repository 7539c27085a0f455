"""`gainful trec_eval -R prefs | qrels_prefs | qrels_jg`: preferences counted pair by pair, and judges one by one."""

from __future__ import annotations

import io
import random
from itertools import product
from pathlib import Path

import pytest
import pytrec_eval

from gainful.compat.trec_eval import main

#: topic, judge, part, document, level
Lines = list[tuple[str, str, str, str, float]]
Scores = dict[str, dict[str, float]]
Table = dict[tuple[str, str], str]


@pytest.fixture
def trec_eval(tmp_path, monkeypatch):
    """The command on judgments and a run: return code, the lines printed, what was said."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, judgments: str, run: str) -> tuple[int, Table, str]:
        Path("judgments").write_text(judgments)
        Path("run").write_text(run)
        out, errors = io.StringIO(), io.StringIO()
        code = main([*arguments, "judgments", "run"], out, errors)
        rows = (line.split("\t") for line in out.getvalue().splitlines())
        return code, {(name.strip(), topic): value for name, topic, value in rows}, errors.getvalue()

    return run


def run_text(scores: Scores) -> str:
    return "".join(f"{topic} Q0 {d} 0 {score} tag\n" for topic in scores for d, score in scores[topic].items())


def prefs_text(lines: Lines) -> str:
    return "".join(f"{' '.join(map(str, line))}\n" for line in lines)


ALL = ("-q", "-m", "all_prefs", "-R", "prefs")

#: The examples in trec_eval's description of the format, with the number of preferences that they express.
EXAMPLES = (
    (13, ("1 1 1 3", "1 1 2 2", "1 1 3 0", "1 1 4 6", "1 1 5 0", "1 1 6 2")),
    # There it says 5, and leaves out that 4 is preferred to 3 by way of 1; its code does not.
    (6, ("1 1 1 3", "1 1 2 2", "1 1 3 1", "1 2 1 2", "1 2 2 1", "1 2 4 3")),
    (5, ("1 1 1 3", "1 1 2 2", "2 1 1 0", "2 1 3 6", "2 1 4 2", "2 2 1 0", "2 2 2 8")),
    (5, ("1 1 1 3", "1 1 2 2", "1 1 3 1", "1 2 2 5", "1 2 4 4")),
)


def test_examples_of_the_format(trec_eval):
    judgments = "".join(f"q{i} {line}\n" for i, (_, lines) in enumerate(EXAMPLES) for line in lines)
    code, found, _ = trec_eval(*ALL, "-c", judgments=judgments, run="q1 Q0 9 1 1 t\n")
    assert code == 0
    assert [found["prefs_num_prefs_poss", f"q{i}"] for i in range(4)] == [str(count) for count, _ in EXAMPLES]


# -- Pair by pair ------------------------------------------------------------------------------------------------------


def closed(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """With all that follows."""
    while True:
        more = {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - pairs
        if not more:
            return pairs
        pairs = pairs | more


def naive(lines: Lines, scores: dict[str, float], depth: int) -> dict[str, float]:
    """All measures of a topic, one pair of documents after the other."""
    # For preferences, and for nothing else, equal scores are in ascending order of ids.
    listed = sorted(scores, key=lambda document: (-scores[document], document))[:depth]
    judged = sorted({line[3] for line in lines})
    order = [d for d in listed if d in judged] + [d for d in judged if d not in listed]
    place = {document: i for i, document in enumerate(order)}
    retrieved = len([d for d in listed if d in judged])

    def count(pairs, scope):
        ends = [(place[a], place[b]) for a, b in pairs]
        if scope == "_ret":
            ends = [(a, b) for a, b in ends if a < retrieved and b < retrieved]
        if scope == "_imp":
            ends = [(a, b) for a, b in ends if a < retrieved or b < retrieved]
        return sum(a < b and a < retrieved for a, b in ends), len(ends)

    by_judge = []
    for judge in sorted({line[1] for line in lines}):
        rows = [line[2:] for line in lines if line[1] == judge]
        pairs = {(a, b) for (part, a, one), (other, b, two) in product(rows, rows) if part == other and one > two}
        by_judge.append((closed(pairs), {d: level for _, d, level in rows}, len({part for part, _, _ in rows})))

    def balanced(pairs, levels, parts, scope):
        seen = order[:retrieved] if scope == "_ret" else order
        relevant = [d for d in seen if levels.get(d, 0) > 0]
        others = [d for d in seen if levels.get(d, 1) == 0]
        every = [d for d in order if levels.get(d, 0) > 0]
        if len(relevant) >= len(others):
            more = len(relevant) - len(others)
            fulfilled, possible = count(pairs, scope)
            fulfilled += more * len([d for d in every if place[d] < retrieved])
            possible += more * len(every)
        elif parts == 1:
            lowest = [d for d in order if levels.get(d, 1) == 0]
            left = [(a, b) for a, b in pairs if b not in lowest]
            fulfilled, possible = count([*left, *product(levels, lowest[: len(relevant)])], scope)
        else:
            dropped = [d for d in order if levels.get(d, 1) == 0][len(every) :]
            fulfilled, possible = count([(a, b) for a, b in pairs if not {a, b} & set(dropped)], scope)
        return fulfilled / possible if possible else None

    found: dict[str, float] = {}
    for scope in ("", "_ret", "_imp"):
        counts = [count(pairs, scope) for pairs, _, _ in by_judge]
        fulfilled, possible = map(sum, zip(*counts, strict=True))
        found[f"prefs_num_prefs_ful{scope}"], found[f"prefs_num_prefs_poss{scope}"] = fulfilled, possible
        found[f"prefs_simp{scope}"] = fulfilled / possible if possible else 0
        found[f"prefs_avgjg{scope}"] = sum(f / p if p else 0 for f, p in counts) / len(counts)
        ratios = [balanced(*judge, scope) for judge in by_judge]
        found[f"prefs_avgjg_Rnonrel{scope}"] = 0 if None in ratios else sum(ratios) / len(ratios)
        shares = []
        for a, b in product(order, order):
            votes = [count({pair} & pairs, scope) for pair in ((a, b), (b, a)) for pairs, _, _ in by_judge]
            if a < b and sum(p for _, p in votes):
                shares.append(sum(f for f, _ in votes) / sum(p for _, p in votes))
        found[f"prefs_pair{scope}"] = sum(shares) / len(shares) if shares else 0
    return found


def generated(rng: random.Random) -> tuple[Lines, Scores]:
    """Judges of one part or several, who agree with themselves; equal scores, documents that one side lacks."""
    lines: Lines = []
    scores: Scores = {}
    for topic in ("q1", "q10", "q2"):
        documents = [f"d{i}" for i in range(rng.choice([2, 6, 9]))]
        scores[topic] = {d: rng.randint(1, 4) for d in rng.sample([*documents, "x", "y"], rng.randint(1, 2 + 1))}
        scores[topic] |= {d: rng.randint(1, 4) for d in documents if rng.random() < 0.6}
        for judge in rng.sample(["a", "b", "c"], rng.randint(1, 3)):
            level = {d: rng.choice([0, 0, 0, 1, 2, 2.5]) for d in documents}
            for part in range(rng.choice([1, 1, 2, 3])):
                for d in rng.sample(documents, rng.randint(1, len(documents))):
                    lines.append((topic, judge, str(part), d, level[d]))
    rng.shuffle(lines)
    return lines, scores


def test_every_measure_pair_by_pair(trec_eval):
    rng = random.Random(5)
    for _ in range(12):
        lines, scores = generated(rng)
        depth = rng.choice([3, 100])
        code, found, errors = trec_eval(*ALL, f"-M{depth}", judgments=prefs_text(lines), run=run_text(scores))
        assert (code, errors) == (0, "")
        names = {name for name, topic in found if topic == "q1"}
        assert len(names) == 14
        for topic in scores:
            expected = naive([line for line in lines if line[0] == topic], scores[topic], depth)
            for name in names:
                form = "{:d}" if "_num_" in name else "{:.4f}"
                assert found[name, topic] == form.format(expected[name]), (name, topic, lines, scores)


def test_topics_that_the_run_lacks(trec_eval):
    judgments, run = "q1 j 0 a 1\nq1 j 0 b 0\nq2 j 0 a 2\nq2 j 0 b 1\n", "q1 Q0 a 1 1 t\n"
    assert trec_eval(*ALL, judgments=judgments, run=run)[0] == 4
    _, new, _ = trec_eval(*ALL, "-c", judgments=judgments, run=run)
    assert (new["prefs_num_prefs_poss", "q2"], new["prefs_simp", "q2"], new["num_q", "all"]) == ("1", "0.0000", "2")
    _, old, _ = trec_eval(*ALL, "-c", "--compat", "9.0.8", judgments=judgments, run=run)
    assert (old["num_q", "all"], old["prefs_num_prefs_poss", "all"], old["prefs_simp", "all"]) == ("2", "1", "0.5000")
    assert ("prefs_simp", "q2") not in old


# -- What judgments must be --------------------------------------------------------------------------------------------

RUN = "q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\n"
FIRST = "q1 j 0 a 1\nq1 j 0 b 0\n"


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        ("q2 j 0 a 1\nq2 j 0 b 2\nq2 j 1 a 2\nq2 j 1 b 1\n", 4, "topic 'q2': judge 'j' prefers a document to another"),
        ("q2 j 0 a 1\nq2 j 0 b 2\nq2 j 1 a 0\n", 4, "judge 'j' gives a document level 0 in one part and more in"),
        ("q2 j 0 a 1\nq2 j 0 a 1\n", 2, "judgments: topic 'q2' has duplicate document 'a' by judge 'j'"),
        ("q2 0 a 1\n", 2, "judgments:3: expected 5 fields, found 4"),
        ("q2 j 0 a nan\n", 2, "judgments:3: expected a number as level, found 'nan'"),
    ],
)
def test_what_is_refused(trec_eval, more, code, words):
    found, printed, errors = trec_eval(*ALL, judgments=FIRST + more, run=RUN)
    assert found == code
    assert words in errors
    assert (("prefs_simp", "q1") in printed, ("prefs_simp", "all") in printed) == (code == 4, False)


def test_levels_are_read_as_c_does(trec_eval):
    code, found, errors = trec_eval(*ALL, judgments="\ufeffq1 j 0 a 0x1p-1\nq1 j 0 b x\n", run=RUN)
    assert (code, found["prefs_num_prefs_ful", "all"]) == (0, "1")
    assert errors == "trec_eval: judgments: 2 levels not written as numbers, read as trec_eval does: '0x1p-1' as 0.5\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("-R qrels_prefs", "measure 'num_ret': needs -R qrels, found -R qrels_prefs"),
        ("-R qrels_jg -m prefs_simp", "measure 'prefs_simp': needs -R prefs or -R qrels_prefs, found -R qrels_jg"),
        ("-m P_avgjg", "measure 'P_avgjg': needs -R qrels_jg, found -R qrels"),
    ],
)
def test_measures_that_need_other_judgments(trec_eval, options, words):
    code, printed, errors = trec_eval("-q", *options.split(), judgments="q1 0 a 1\n", run=RUN)
    assert (code, printed) == (4, {})
    assert words in errors


# -- Several judges ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", ["", "-l2", "-J", "-M3"])
def test_means_over_judges(trec_eval, options):
    """Each judge alone, by the code of trec_eval 9.0.8."""
    rng = random.Random(options)
    documents = [f"d{i}" for i in range(12)]
    for _ in range(5):
        scores = {topic: {d: rng.random() for d in rng.sample(documents, 8)} for topic in ("q1", "q10", "q2")}
        judges = {
            topic: {
                judge: {d: rng.choice([-1, 0, 1, 2]) for d in rng.sample(documents, rng.randint(2, 12))} | {"d0": 1}
                for judge in rng.sample("abc", rng.randint(1, 3))
            }
            for topic in scores
        }
        judgments = "".join(
            f"{topic} {judge} {document} {grade}\n"
            for topic in judges
            for judge in judges[topic]
            for document, grade in judges[topic][judge].items()
        )
        arguments = ("-q", "-m", "qrels_jg", "-R", "qrels_jg", "--compat", "9.0.8", *options.split())
        code, found, _ = trec_eval(*arguments, judgments=judgments, run=run_text(scores))
        assert code == 0
        for topic in scores:
            listed = sorted(scores[topic].items(), key=lambda each: -each[1])[: 3 if "M" in options else 99]
            alone = [
                pytrec_eval.RelevanceEvaluator(
                    {topic: grades},
                    {"map", "P", "Rprec_mult"},
                    relevance_level=2 if "l" in options else 1,
                    judged_docs_only_flag="J" in options,
                ).evaluate({topic: dict(listed)})[topic]
                for grades in judges[topic].values()
            ]
            for name, text in ((name, text) for (name, of), text in found.items() if of == topic):
                values = [each[name.replace("_avgjg", "")] for each in alone]
                assert text == f"{sum(values) / len(values):.4f}", name


def test_a_document_twice_from_one_judge(trec_eval):
    judgments = "q1 1 a 1\nq1 2 a 1\nq1 2 a 0\n"
    code, printed, errors = trec_eval("-R", "qrels_jg", "-m", "qrels_jg", judgments=judgments, run=RUN)
    assert (code, printed) == (2, {})
    assert "topic 'q1' has duplicate document 'a' by judge '2'" in errors


def test_levels_below_zero(trec_eval):
    """trec_eval reads past the end of the lowest level's documents, which are fewer than the relevant ones."""
    levels = {"a": 1, "b": 0, "c": 1, "d": -1, "e": 0}
    judgments = prefs_text([("q", "1", "1", document, level) for document, level in levels.items()])
    run = run_text({"q": {document: 9 - place for place, document in enumerate(levels)}})
    _, found, _ = trec_eval(*ALL, judgments=judgments, run=run)
    # 3 of 4 preferences over level 0; a, b and c stand before d, as d itself and e do not.
    assert found["prefs_avgjg_Rnonrel", "q"] == f"{(3 + 3) / (4 + 5):.4f}"
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "drop-in.md").read_text()
    assert "| `prefs_avgjg_Rnonrel` where a judge has levels below 0" in page
    assert "byte for byte" not in page
