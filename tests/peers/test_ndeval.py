"""Values of ndeval, through pyndeval: binary judgments of sub-topics, and cutoffs up to 20."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gainful import Policy, Qrels, evaluate

pyndeval = pytest.importorskip("pyndeval")

#: ndeval's names, and ours.
MEASURES = {
    **{f"{name}@{k}": f"{ours}@{k}" for k in (5, 10, 20) for name, ours in [("strec", "StRecall")]},
    **{
        f"{name}@{k}": f"{name}@{k}"
        for k in (5, 20)
        for name in ("alpha-DCG", "alpha-nDCG", "ERR-IA", "nERR-IA", "P-IA")
    },
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP-IA",
}
Lines = list[tuple[str, str, str, int]]


def compare(lines: Lines, run: dict[str, list[str]], alpha: float = 0.5, beta: float = 0.5) -> None:
    text = "\n".join(f"{query} {subtopic} {document} {grade}" for query, subtopic, document, grade in lines)
    scored = [(query, document, float(-rank)) for query, ranked in run.items() for rank, document in enumerate(ranked)]
    theirs = pyndeval.ndeval(lines, scored, measures=list(MEASURES), alpha=alpha, beta=beta)

    def with_parameters(name: str, ours: str) -> str:
        head, at, k = ours.partition("@")
        given = {"alpha": alpha} if head.startswith(("alpha", "ERR", "nERR")) else {}
        given |= {"alpha": alpha, "beta": beta} if head in ("NRBP", "nNRBP") else {}
        return head + (f"({', '.join(f'{key}={value}' for key, value in given.items())})" if given else "") + at + k

    texts = {name: with_parameters(name, ours) for name, ours in MEASURES.items()}
    found = evaluate(Qrels.read(text.encode()), run, list(texts.values()), policy=Policy(subtopics=True))
    for name, ours in texts.items():
        values = found.by_query(ours)
        for query, scores in theirs.items():
            assert values[query] == pytest.approx(scores[name], abs=1e-9), (name, query)


def test_the_web_track(shared_data: Path) -> None:
    """Its sub-topic judgments of 2013, and lists of judged documents in a random order."""
    judgments = Qrels.read(shared_data / "qrels" / "qrels.web.201-250.ndeval.txt.gz")
    lines = [
        (
            judgments.query_ids[int(judgments.query[row])].decode(),
            judgments.subtopic_ids[int(judgments.subtopic[row])].decode(),
            judgments.document(row).decode(),
            int(judgments.grade[row] > 0),
        )
        for row in range(len(judgments))
    ]
    rng = random.Random(1)
    by_query: dict[str, set[str]] = {}
    for query, _, document, _ in lines:
        by_query.setdefault(query, set()).add(document)
    compare(
        lines, {query: rng.sample(sorted(documents), min(60, len(documents))) for query, documents in by_query.items()}
    )
