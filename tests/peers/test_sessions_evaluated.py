"""Real sessions through `gainful sessions`, against computations written here from the published definitions.

36 sessions of a user study, judged by session and rated by their users, and the conversations of CAsT 2021, judged by
turn, of five systems.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from gainful.cli.main import run

Pages = dict[str, list[list[str]]]
Grades = dict[str, dict[str, float]]
Discounted = Callable[[float, int, int], float]


def jarvelin(grade: float, r: int, q: int) -> float:
    """b = 2, bq = 4; a grade below 0 gains nothing."""
    return max(grade, 0) / (1 + math.log2(r)) / (1 + math.log(q, 4))


def jiang(grade: float, r: int, q: int) -> float:
    """2^g - 1, discounted by log2(r + 1) and log4(q + 3)."""
    return (2**grade - 1) / math.log2(r + 1) / math.log(q + 3, 4)


VARIANTS = {"jarvelin2008": jarvelin, "jiang2016": jiang}


def vector(pages: list[list[str]], grades: list[dict[str, float]], k: int, worth: Discounted) -> list[float]:
    """What a session has gained at every position, k for every query; ``grades`` are those of each query."""
    total, found = 0.0, []
    for q, (page, judged) in enumerate(zip(pages, grades, strict=True), 1):
        for r in range(1, k + 1):
            if r <= len(page) and page[r - 1] in judged:
                total += worth(judged[page[r - 1]], r, q)
            found.append(total)
    return found


def ideal(grades: list[dict[str, float]], k: int, worth: Discounted) -> list[float]:
    best = [sorted(judged, key=lambda document, of=judged: -of[document]) for judged in grades]  # type: ignore[misc]
    return vector(best, grades, k, worth)


def held(values: list[float], width: int) -> list[float]:
    return (values + [values[-1]] * width)[:width]


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    """The JSON lines of a command that works."""

    def call(*arguments: object) -> list[dict[str, Any]]:
        capsys.readouterr()
        code = run(["sessions", *map(str, arguments), "--format", "jsonl"])
        out, err = capsys.readouterr()
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()[:-1]]

    return call


def table(lines: list[dict[str, Any]], title: str) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("table") == title and "note" not in line]


def scores(lines: list[dict[str, Any]]) -> dict[tuple[str, str, str | None], float]:
    found = [line for line in lines[1:] if "table" not in line and "measure" in line]
    return {(line["run"], line["measure"], line["session"]): line["value"] for line in found}


# -- a user study ------------------------------------------------------------------------------------------------------


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


@cache
def _study(folder: Path) -> tuple[Pages, Grades, dict[str, dict[str, str]]]:
    by_rank: dict[str, dict[int, dict[int, str]]] = {}
    for row in _rows(folder / "results.tsv"):
        page = by_rank.setdefault(row["SessionID"], {}).setdefault(int(row["Qno"]), {})
        if row["rank"] != "0":
            page[int(row["rank"])] = row["URL"]
    grades: Grades = {}
    for row in _rows(folder / "qrels.tsv"):
        grades.setdefault(row["SessionID"], {})[row["URL"]] = float(row["Relevance"])
    pages = {
        session: [[page[rank] for rank in sorted(page)] for _, page in sorted(found.items())]
        for session, found in by_rank.items()
    }
    return pages, grades, {row["SessionID"]: row for row in _rows(folder / "session.tsv")}


@pytest.fixture
def folder(shared_data: Path) -> Path:
    return shared_data / "sessions"


@pytest.fixture
def study(folder: Path) -> tuple[Pages, Grades, dict[str, dict[str, str]]]:
    return _study(folder)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_session_of_the_study(study: Any, folder: Path, command: Any, variant: str) -> None:
    pages, grades, _ = study
    worth = VARIANTS[variant]
    names = [f"{name}({'' if variant == 'jarvelin2008' else f'variant={variant}'})@10" for name in ("sDCG", "nsDCG")]
    names = [name.replace("()", "") for name in names]
    lines = command(
        folder / "qrels.tsv", folder / "results.tsv", *(f for name in names for f in ("-m", name)), "--by-session"
    )
    assert "judged-by:session|sessions:36|" in lines[0]["signature"]
    found = scores(lines)
    assert len(found) == 2 * 37
    for session, lists in pages.items():
        judged = [grades[session]] * len(lists)
        gained, best = vector(lists, judged, 10, worth)[-1], ideal(judged, 10, worth)[-1]
        assert found["results", names[0], session] == pytest.approx(gained, rel=1e-12, abs=1e-12)
        assert found["results", names[1], session] == pytest.approx(gained / best, rel=1e-12, abs=1e-12)
    for name in names:
        assert found["results", name, None] == pytest.approx(mean([found["results", name, s] for s in pages]))


def test_the_study_by_number_of_queries(study: Any, folder: Path, command: Any) -> None:
    pages, grades, _ = study
    lines = command(folder / "qrels.tsv", folder / "results.tsv")
    lengths = Counter(map(len, pages.values()))
    found = {row["queries"]: row["sessions"] for row in table(lines, "Sessions by number of queries")}
    assert found == {q: lengths[q] for q in range(1, max(lengths) + 1)}
    gained = {
        session: [
            vector([[]] * (q - 1) + [page], [grades[session]] * q, 10, jarvelin)[-1] for q, page in enumerate(lists, 1)
        ]
        for session, lists in pages.items()
    }
    for row in table(lines, "Queries by position"):
        values = [each[row["query"] - 1] for each in gained.values() if len(each) >= row["query"]]
        assert (row["sessions"], row["value"]) == (len(values), pytest.approx(mean(values)))
    [last] = table(lines, "sDCG@10 of last queries and of earlier ones")
    assert last["mean of last"] == pytest.approx(mean([each[-1] for each in gained.values()]))
    assert last["mean of earlier"] == pytest.approx(mean([value for each in gained.values() for value in each[:-1]]))
    assert last["earlier queries"] == sum(map(len, pages.values())) - 36


@pytest.mark.parametrize("rating", ["Performance", "Difficulty"])
def test_what_users_said(study: Any, folder: Path, command: Any, rating: str) -> None:
    _, _, rated = study
    lines = command(
        folder / "qrels.tsv", folder / "results.tsv", "--ratings", folder / "session.tsv", "--rating", rating,
        "--by-session",
    )  # fmt: skip
    values = scores(lines)
    theirs = {"Pearson": stats.pearsonr, "Spearman": stats.spearmanr, "Kendall": stats.kendalltau}
    found = table(lines, f"Correlation with {rating}")
    assert len(found) == 6
    for row in found:
        pairs = [(values["results", row["measure"], s], float(rated[s][rating])) for s in rated]
        expected = theirs[row["coefficient"]](*zip(*pairs, strict=True))
        assert (row["value"], row["sessions"]) == (pytest.approx(expected.statistic, abs=1e-12), 36)
        if row["coefficient"] == "Pearson":
            assert (row["low"], row["high"]) == pytest.approx(tuple(expected.confidence_interval()))


@pytest.mark.parametrize("variant", VARIANTS)
def test_curves_of_the_study(study: Any, folder: Path, command: Any, variant: str) -> None:
    pages, grades, _ = study
    worth = VARIANTS[variant]
    lines = command(
        folder / "qrels.tsv", folder / "results.tsv", "-m", f"nsDCG(variant={variant})@10", "--curves", "--average",
        "both", "--draws", 0,
    )  # fmt: skip
    width = 10 * max(map(len, pages.values()))
    judged = {session: [grades[session]] * len(lists) for session, lists in pages.items()}
    gained = [held(vector(lists, judged[session], 10, worth), width) for session, lists in pages.items()]
    best = [held(ideal(judged[session], 10, worth), width) for session in pages]
    found = table(lines, "Curves")
    ratios = [row["value"] for row in found if row["average"] == "mean of ratios"]
    means = [row["value"] for row in found if row["average"] == "ratio of means"]
    assert len(ratios) == len(means) == width == 170
    assert ratios == pytest.approx(
        [mean([a[i] / b[i] for a, b in zip(gained, best, strict=True)]) for i in range(width)], abs=1e-12
    )
    expected = [sum(a[i] for a in gained) / sum(b[i] for b in best) for i in range(width)]
    assert means == pytest.approx(expected, abs=1e-12)


def test_topics_of_the_study(study: Any, folder: Path, command: Any, tmp_path: Path) -> None:
    """As the article has it in Figures 3 and 4: one topic, all sessions, and those with at least four queries."""
    pages, grades, rated = study
    path = tmp_path / "study.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for session, lists in pages.items():
            queries = [{"results": page} for page in lists]
            file.write(json.dumps({"session": session, "topic": rated[session]["Topic"], "queries": queries}) + "\n")
    several = Counter(row["Topic"] for row in rated.values() if len(pages[row["SessionID"]]) >= 4).most_common(1)[0][0]
    chosen = [s for s in pages if rated[s]["Topic"] == several]
    base = (folder / "qrels.tsv", path, "-m", "sDCG@10", "--judged-by", "session", "--topic", several, "--queries", 6)
    vectors = {s: held(vector(pages[s], [grades[s]] * len(pages[s]), 10, jarvelin), 60) for s in chosen}
    single = table(command(*base, "--curves", "individual"), "Curves")
    for session, values in vectors.items():
        assert [row["value"] for row in single if row["session"] == session] == pytest.approx(values, abs=1e-12)
    subset = table(command(*base, "--curves", "subset"), "Curves")
    long = [s for s in chosen if len(pages[s]) >= 4]
    for of, sessions in (("all sessions", chosen), ("at least 4 queries", long)):
        expected = [mean([vectors[s][i] for s in sessions]) for i in range(60)]
        assert [row["value"] for row in subset if row["of"] == of] == pytest.approx(expected, abs=1e-12)
        assert {row["sessions"] for row in subset if row["of"] == of} == {len(sessions)}


# -- conversations -----------------------------------------------------------------------------------------------------


@cache
def _cast_grades(path: Path) -> Grades:
    grades: Grades = {}
    for line in path.read_text().splitlines():
        turn, _, document, grade = line.split()
        grades.setdefault(turn, {})[document] = float(grade)
    return grades


@cache
def _conversations(path: Path) -> dict[str, dict[str, list[str]]]:
    """By conversation and turn; each list by score, ties by descending id."""
    turns: dict[str, dict[str, float]] = {}
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        turn, _, document, _, score, _ = line.split()
        turns.setdefault(turn, {})[document] = float(score)
    found: dict[str, dict[str, list[str]]] = {}
    for turn in sorted(turns, key=lambda name: (name.split("_")[0], int(name.split("_")[1]))):
        by_id = sorted(turns[turn], key=str.encode, reverse=True)
        ranked = sorted(by_id, key=lambda document, of=turns[turn]: -of[document])  # type: ignore[misc]
        found.setdefault(turn.split("_")[0], {})[turn] = ranked
    return found


def test_conversations_of_five_systems(shared_data: Path, command: Any) -> None:
    qrels = shared_data / "cast2021" / "qrels.cast2021-docs.txt"
    runs = sorted((shared_data / "cast2021" / "runs").glob("*.gz"))
    grades = _cast_grades(qrels)
    lines = command(qrels, *runs, "--by-session", "--curves", "--draws", 0)
    assert len(lines[0]["runs"]) == 5
    assert "judged-by:query|sessions:19|" in lines[0]["signature"]
    found, curves = scores(lines), table(lines, "Curves")
    lengths = table(lines, "Sessions by number of queries")
    for described, path in zip(lines[0]["runs"], runs, strict=True):
        name = described["run"]
        judged = {c: turns for c, turns in _conversations(path).items() if any(turn in grades for turn in turns)}
        assert len(judged) == 19 and described["extra"] == 7
        counts = Counter(map(len, judged.values()))
        of_run = {row["queries"]: row["sessions"] for row in lengths if row["run"] == name and row["sessions"]}
        assert of_run == dict(counts)
        width = 10 * max(counts)
        gained = {c: vector(list(t.values()), [grades.get(q, {}) for q in t], 10, jarvelin) for c, t in judged.items()}
        best = {c: ideal([grades.get(q, {}) for q in turns], 10, jarvelin) for c, turns in judged.items()}
        for conversation in judged:
            value = gained[conversation][-1]
            assert found[name, "sDCG@10", conversation] == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert found[name, "nsDCG@10", conversation] == pytest.approx(value / best[conversation][-1], rel=1e-12)
        ratios = {
            c: [a / b if b else 0.0 for a, b in zip(held(gained[c], width), held(best[c], width), strict=True)]
            for c in judged
        }
        drawn = [row["value"] for row in curves if (row["run"], row["measure"]) == (name, "nsDCG@10")]
        assert drawn == pytest.approx([mean([each[i] for each in ratios.values()]) for i in range(width)], abs=1e-12)
