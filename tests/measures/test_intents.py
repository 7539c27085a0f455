"""Diversity measures with probabilities of intents."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from gainful import GainfulWarning, InputError, Policy, Qrels, compare, evaluate
from gainful.cli.main import run as run_command

Judgments = dict[str, dict[str, int]]
SUBTOPICS = Policy(subtopics=True)

#: Topic 0001 of NTCIREVAL's own example, as far as ten ranks see it: the intents of relevant documents in the list, by
#: rank, and those of the best other documents. All grades are 1.
PROBABILITIES = {"1": 0.5714, "2": 0.2857, "3": 0.1429}
RANKED = {3: "23", 4: "2", 5: "23"}
OTHERS = ["13", "13", *["23"] * 8]
#: NTCIREVAL's output with a cutoff of 10 (README.diversity; D-Q and D-nDCG are printed as Q and MSnDCG).
PRINTED = {"D-nDCG@10": 0.2085, "D-Q@10": 0.1263, "StRecall@10": 0.6667, "D#-nDCG@10": 0.4376, "D#-Q@10": 0.3965}


def text_of(judgments: Judgments) -> bytes:
    """Judgments of one query, by document and sub-topic."""
    return "".join(f"q {i} {document} {g}\n" for document, of in judgments.items() for i, g in of.items()).encode()


def of_ntcireval() -> tuple[bytes, dict[str, list[str]]]:
    judged = {f"r{rank}": dict.fromkeys(intents, 1) for rank, intents in RANKED.items()}
    judged |= {f"o{place}": dict.fromkeys(intents, 1) for place, intents in enumerate(OTHERS)}
    return text_of(judged), {"q": [f"r{rank}" for rank in range(1, 11)]}


def test_the_values_that_ntcireval_prints() -> None:
    qrels, run = of_ntcireval()
    result = evaluate(qrels, run, list(PRINTED), policy=SUBTOPICS, intents={"q": PROBABILITIES})
    assert {name: round(result.mean(name), 4) for name in PRINTED} == PRINTED
    assert result.signature().intents == 3
    assert "|intents:3|" in str(result.signature("D-Q@10"))
    assert type(result.signature()).parse(str(result.signature("D-Q@10"))) == result.signature("D-Q@10")
    alike = evaluate(qrels, run, list(PRINTED), policy=SUBTOPICS)
    assert alike.mean("D-nDCG@10") != pytest.approx(PRINTED["D-nDCG@10"], abs=1e-3)
    assert alike.signature().intents is None


def naive(judged: Judgments, run: list[str], probabilities: dict[str, float], k: int) -> dict[str, float]:
    """Each measure as the sum over intents of probability times value."""
    intents = sorted({i for of in judged.values() for i, grade in of.items() if grade})

    def is_relevant(document: str, intent: str) -> bool:
        return judged.get(document, {}).get(intent, 0) > 0

    def precision(intent: str) -> float:
        return sum(is_relevant(each, intent) for each in run[:k]) / k

    def average_precision(intent: str) -> float:
        found, total = 0, 0.0
        for rank, document in enumerate(run, 1):
            if is_relevant(document, intent):
                found += 1
                total += found / rank
        return total / sum(is_relevant(document, intent) for document in judged)

    def novel(ranking: list[str], intent: str, weight: Any) -> float:
        seen, total = 0, 0.0
        for rank, document in enumerate(ranking, 1):
            if is_relevant(document, intent):
                total += 0.5**seen * weight(rank)
                seen += 1
        return total

    def reciprocal(rank: int) -> float:
        return 1 / rank

    def logarithmic(rank: int) -> float:
        return 1 / math.log2(rank + 1)

    def expected(of_intent: Any) -> float:
        return sum(probabilities[intent] * of_intent(intent) for intent in intents)

    best: list[str] = []
    while len(best) < min(k, len(judged)):
        left = [document for document in sorted(judged, reverse=True) if document not in best]
        best.append(max(left, key=lambda each: round(expected(lambda i: novel([*best, each], i, lambda _: 1)), 12)))
    most = sum(0.5 ** (rank - 1) * reciprocal(rank) for rank in range(1, k + 1))
    return {
        f"P-IA@{k}": expected(precision),
        "AP-IA": expected(average_precision),
        f"ERR-IA@{k}": expected(lambda intent: novel(run[:k], intent, reciprocal)) / most,
        f"alpha-nDCG@{k}": expected(lambda i: novel(run[:k], i, logarithmic))
        / expected(lambda i: novel(best, i, logarithmic)),
    }


def test_intent_aware_measures_one_intent_at_a_time() -> None:
    rng = random.Random(11)
    for _ in range(30):
        documents = [f"d{place}" for place in range(8)]
        judged: Judgments = {each: {i: rng.choice([0, 0, 1, 2]) for i in "123"} for each in documents[:6]}
        judged["d0"] = dict.fromkeys("123", 1)
        shares = [rng.randint(1, 9) for _ in "123"]
        probabilities = {i: share / sum(shares) for i, share in zip("123", shares, strict=True)}
        run = rng.sample(documents, 6)
        expected = naive(judged, run, probabilities, 4)
        names = list(expected)
        result = evaluate(text_of(judged), {"q": run}, names, policy=SUBTOPICS, intents={"q": probabilities})
        assert {name: result.mean(name) for name in names} == pytest.approx(expected)


def test_equal_probabilities_change_nothing() -> None:
    qrels, run = of_ntcireval()
    names = ["D-Q@10", "D-nDCG@10", "P-IA@10", "AP-IA", "ERR-IA@10", "alpha-nDCG@10", "NRBP", "nNRBP", "alpha-DCG@10"]
    alike = evaluate(qrels, run, names, policy=SUBTOPICS)
    known = evaluate(qrels, run, names, policy=SUBTOPICS, intents={"q": dict.fromkeys("123", 1 / 3)})
    for name in names:
        assert known.mean(name) == pytest.approx(alike.mean(name), abs=1e-14)


def test_every_way_to_write_them(tmp_path: Path) -> None:
    qrels, run = of_ntcireval()
    lines = [f"q {intent} {probability}" for intent, probability in PROBABILITIES.items()]
    texts = {
        "Iprob": "\n".join(lines),
        "DINprob": "\n".join(f"{line} nav" for line in lines),
        "table.csv": "query,subtopic,probability\n" + "\n".join(line.replace(" ", ",") for line in lines),
        "intents.tsv": "qid\tintent\tprob\n" + "\n".join(line.replace(" ", "\t") for line in lines),
        "intents.json": '{"q": {"1": 0.5714, "2": 0.2857, "3": 0.1429}}',
        # The judgments themselves with another column, in which probabilities are repeated.
        "judgments.csv": "query,subtopic,document,grade,probability\n"
        + "\n".join(
            f"{q},{i},{document},{grade},{PROBABILITIES[i]}"
            for q, i, document, grade in (line.split() for line in qrels.decode().splitlines())
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text + "\n")
        judgments: Any = tmp_path / name if name == "judgments.csv" else qrels
        result = evaluate(judgments, run, "D-Q@10", policy=SUBTOPICS, intents=tmp_path / name)
        assert round(result.mean("D-Q@10"), 4) == PRINTED["D-Q@10"], name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 1 0.5\nq 2 0.25\n", "intents: sub-topic '3' of query 'q' has no probability"),
        (
            "q 1 0.5\nq 2 0.25\nq 3 0.5\n",
            "intents:3: expected one probability .* in total, found 0.5 for sub-topic '3'",
        ),
        ("q 1 0.5\nq 1 0.25\n", "intents:2: expected one probability above 0 per sub-topic, .*found 0.25"),
        ("q 1 0\n", "intents:1: expected one probability above 0"),
        ("q 1\n", "intents:1: .*expected a number, found ''"),
    ],
)
def test_errors(text: str, message: str) -> None:
    qrels, run = of_ntcireval()
    with pytest.raises(InputError, match=message):
        evaluate(qrels, run, "D-Q@10", policy=SUBTOPICS, intents=text.encode())


def test_they_are_for_measures_of_diversity() -> None:
    qrels, run = of_ntcireval()
    for measure in ("AP", "StRecall@10"):
        with pytest.warns(GainfulWarning, match="no measure uses intents"):
            evaluate(qrels, run, measure, policy=SUBTOPICS, intents={"q": PROBABILITIES})
    known = Qrels.read(qrels).with_items(intents={"q": PROBABILITIES})
    assert (
        evaluate(known, run, "D-Q", policy=SUBTOPICS).notices == evaluate(qrels, run, "D-Q", policy=SUBTOPICS).notices
    )
    other = {"q": ["o0", *run["q"]]}
    compared = compare(qrels, {"a": run, "b": other}, "D-Q@10", policy=SUBTOPICS, intents={"q": PROBABILITIES})
    assert "intents:3" in str(compared.page().notes)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run = of_ntcireval()
    (tmp_path / "qrels").write_bytes(qrels)
    (tmp_path / "Iprob").write_text("".join(f"q {i} {p}\n" for i, p in PROBABILITIES.items()))
    (tmp_path / "a.run").write_text("".join(f"q Q0 {d} 1 {9 - place} a\n" for place, d in enumerate(run["q"])))
    paths = [str(tmp_path / name) for name in ("qrels", "a.run", "Iprob")]
    named = ["-m", "ntcireval:D-Q@0010", "-m", "ntcireval:D#-nDCG@0010"]
    assert run_command(["eval", *paths[:2], "--subtopics", "--intents", paths[2], *named]) == 0
    out = capsys.readouterr().out
    assert "0.1263" in out and "0.4376" in out and "intents:3" in out
