"""Measures of sessions against plain loops, written from the definitions alone."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gainful import Policy, Qrels, Run, Sessions, evaluate_sessions, parse
from gainful.measures.catalog import ALL_MEASURES

SESSION_MEASURES = {name: kind for name, kind in ALL_MEASURES.items() if kind.unit == "session"}

GRADES = (-1, 0, 1, 2, 3)


@dataclass
class Turn:
    """A query: its ID, documents in rank order, recorded depth, and grades in the log."""

    name: str
    documents: list[str]
    scanned: int = -1
    given: list[float | None] = field(default_factory=list)


@dataclass
class Made:
    """Sessions as lists and dicts, and the same as columns."""

    turns: dict[str, list[Turn]]
    topics: dict[str, str]
    qrels: dict[str, dict[str, float]]
    judged_by: str

    def judgments(self, session: str, turn: Turn) -> dict[str, float] | None:
        key = {"topic": self.topics[session], "session": session, "query": turn.name}[self.judged_by]
        return self.qrels.get(key)

    def sessions(self) -> Sessions:
        ordered = sorted(self.turns)
        turns = [turn for session in ordered for turn in self.turns[session]]
        has_given = any(turn.given for turn in turns)
        given = [math.nan if g is None else g for turn in turns for g in turn.given] if has_given else []
        return Sessions(
            "made",
            tuple(session.encode() for session in ordered),
            np.cumsum([0, *(len(self.turns[session]) for session in ordered)]),
            Run.from_dict({turn.name: turn.documents for turn in turns}),
            tuple(self.topics[session].encode() for session in ordered),
            np.array(given, float),
            np.array([turn.scanned for turn in turns]),
        )


def make(seed: int, judged_by: str, given: bool = False, count: int = 12) -> Made:
    """Random sessions with empty lists, repeated documents, few or many judgments."""
    rng = random.Random(f"{seed} {judged_by}")
    pool = [f"d{i}" for i in range(rng.choice([8, 20, 40]))]
    topics = [f"t{i}" for i in range(3)]
    made = Made({}, {}, {}, judged_by)
    for i in range(count):
        session = f"s{i}"
        made.topics[session] = rng.choice(topics)
        made.turns[session] = []
        for q in range(1, rng.choice([1, 2, 3, 12]) + 1):
            documents = rng.sample(pool, rng.randint(0, min(len(pool), 9)))
            turn = Turn(f"{session}_{q}", documents, rng.choice([-1, 0, 1, 3, 20]))
            if given:
                turn.given = [rng.choice([None, None, 0, 1, 3]) for _ in documents]
            made.turns[session].append(turn)
    keys = {"topic": topics, "session": list(made.turns), "query": [t.name for ts in made.turns.values() for t in ts]}
    for key in keys[judged_by]:
        if judged_by != "query" or rng.random() < 0.7:
            chosen = rng.sample(pool, rng.randint(1, len(pool) if rng.random() < 0.5 else 4))
            made.qrels[key] = {document: rng.choice(GRADES) for document in chosen}
    made.qrels["never asked"] = {"d0": 3}
    return made


# ---------------------------------------------------------------------------------------------- the definitions

Seen = list[list[float]]


@dataclass
class Naive:
    """One session with the parameters of a measure."""

    made: Made
    session: str
    given: dict[str, Any]
    condensed: bool = False

    def get(self, name: str, default: Any) -> Any:
        return self.given.get(name, default)

    @property
    def turns(self) -> list[Turn]:
        return self.made.turns[self.session]

    def graded(self, turn: Turn) -> list[tuple[str, float | None]]:
        """Return documents with their grades, or None."""
        judged = self.made.judgments(self.session, turn) or {}
        pairs = []
        for i, document in enumerate(turn.documents):
            own = turn.given[i] if turn.given else None
            pairs.append((document, judged.get(document) if own is None else own))
        return [pair for pair in pairs if pair[1] is not None] if self.condensed else pairs

    def is_relevant(self, grade: float) -> bool:
        if self.get("level", None) is not None:
            return grade == self.given["level"]
        return grade >= self.given["rel"] if self.get("rel", None) is not None else grade > 0

    def gain(self, grade: float | None) -> float:
        if grade is None:
            return 0.0
        if (self.get("rel", None) is not None or self.get("level", None) is not None) and not self.is_relevant(grade):
            return 0.0
        if self.get("variant", "jarvelin2008") == "jiang2016":
            return 2.0**grade - 1.0
        grade = max(grade, 0)
        name = self.get("gain", "linear")
        if name == "exp2":
            return 2.0**grade - 1.0
        if name == "0-1-10-100":
            return [0.0, 1.0, 10.0, 100.0][int(grade)]
        if name == "scaled":
            return grade / 3.0
        return float(grade > 0) if name == "binary" else float(grade)

    def ideal_list(self, turn: Turn) -> list[float]:
        judged = self.made.judgments(self.session, turn) or {}
        gains = sorted(map(self.gain, judged.values()), reverse=True)
        if self.get("variant", "jarvelin2008") == "jarvelin2008":
            gains = [gain for gain in gains if gain > 0]
        return gains

    def depth(self, turn: Turn, whole: int) -> int:
        if self.get("scan", "k") == "recorded" and turn.scanned >= 0:
            return turn.scanned
        return self.get("cutoff", None) or whole

    def positions(self, turn: Turn, depth: int) -> int:
        shown, short = len(self.graded(turn)), self.get("short", "pad")
        if short == "pad":
            return depth
        return min(depth, max(shown, 0 if short == "asis" else int(short[4:])))

    def query_divisor(self, q: int) -> float:
        b = self.get("query_base", 4)
        if self.get("variant", "jarvelin2008") == "jiang2016":
            return math.log(q + b - 1, b)
        return 1 + math.log(q, b)

    def rank_divisor(self, r: int) -> float:
        b = self.get("base", 2)
        if self.get("variant", "jarvelin2008") == "jiang2016":
            return math.log(r + b - 1, b)
        return 1 + math.log(r, b)

    def seen_gains(self) -> list[list[float]]:
        """Return by turn the gain of each document within the depth."""
        before: set[str] = set()
        result = []
        for turn in self.turns:
            gains = []
            for document, grade in self.graded(turn)[: self.depth(turn, 10**9)]:
                again = self.get("repeats", "every") == "first" and document in before
                gains.append(0.0 if again else self.gain(grade))
                before.add(document)
            result.append(gains)
        return result

    def ideal_by_turn(self) -> tuple[list[list[float]], list[int]]:
        """Return by turn the ideal gains and their depth, perhaps for more turns than the session has."""
        lists, depths, dealt = [], [], 0
        for turn in self.turns:
            ideal = self.ideal_list(turn)
            depth = self.depth(turn, max(len(self.graded(turn)), len(ideal)))
            is_dealt = self.get("repeats", "every") == "first" and self.get("normalise", "session") == "session"
            start = dealt if is_dealt and self.made.judged_by != "query" else 0
            lists.append(ideal[start : start + depth])
            depths.append(depth)
            dealt += depth
        wanted = self.get("ideal_queries", "session")
        for _ in range(len(lists), 0 if wanted == "session" else int(wanted)):
            ideal = self.ideal_list(self.turns[-1])
            depth = self.get("cutoff", None) or len(ideal)
            start = dealt if self.get("repeats", "every") == "first" else 0
            lists.append(ideal[start : start + depth])
            depths.append(depth)
            dealt += depth
        return lists, depths

    def vectors(self) -> tuple[list[float], list[float]]:
        """Return the values of the real and the ideal session at each position."""
        seen, (ideal, depths) = self.seen_gains(), self.ideal_by_turn()
        gained, ideal_gained = [], []
        total = ideal_before = 0.0
        for q, (gains, depth) in enumerate(zip(ideal, depths, strict=True), 1):
            positions = self.positions(self.turns[q - 1], depth) if q <= len(self.turns) else depth
            within = 0.0
            for r in range(1, positions + 1):
                if q <= len(seen) and r <= len(seen[q - 1]):
                    total += seen[q - 1][r - 1] / self.rank_divisor(r) / self.query_divisor(q)
                if r <= len(gains):
                    within += gains[r - 1] / self.rank_divisor(r) / self.query_divisor(q)
                gained.append(total)
                ideal_gained.append(ideal_before + within)
            ideal_before += sum(g / self.rank_divisor(r) / self.query_divisor(q) for r, g in enumerate(gains, 1))
        return gained, ideal_gained


def ratio(gained: float, ideal: float) -> float:
    return gained / ideal if ideal > 1e-300 else math.nan


def naive_gain(one: Naive, normalised: bool) -> float:
    summary = one.get("summary", "final")
    if summary in ("best", "last") or one.get("normalise", "session") == "query":
        ideal, depths = one.ideal_by_turn()
        values = []
        for q, gains in enumerate(one.seen_gains(), 1):
            value = sum(g / one.rank_divisor(r) for r, g in enumerate(gains, 1)) / one.query_divisor(q)
            if normalised:
                cut = ideal[q - 1][: one.positions(one.turns[q - 1], depths[q - 1])]
                best = sum(g / one.rank_divisor(r) for r, g in enumerate(cut, 1)) / one.query_divisor(q)
                value = ratio(value, best)
            values.append(value)
        if summary == "last":
            return values[-1]
        if summary == "final":
            weighed = [(1 / one.query_divisor(q), v) for q, v in enumerate(values, 1) if not math.isnan(v)]
            return sum(w * v for w, v in weighed) / sum(w for w, _ in weighed) if weighed else math.nan
        exist = [value for value in values if not math.isnan(value)]
        return max(exist) if exist else math.nan
    gained, ideal = one.vectors()
    if not gained:
        return math.nan if normalised else 0.0
    if not normalised:
        return gained[-1] if summary == "final" else sum(gained) / len(gained)
    ratios = [ratio(*pair) for pair in zip(gained, ideal, strict=True)]
    if summary == "final":
        return ratios[-1]
    exist = [value for value in ratios if not math.isnan(value)]
    return sum(exist) / len(exist) if exist else math.nan


def naive_srbp(one: Naive) -> float:
    p, b = one.get("p", 0.8), one.get("b", 0.5)
    total = 0.0
    for m, turn in enumerate(one.turns, 1):
        for n, (_, grade) in enumerate(one.graded(turn)[: one.get("cutoff", None)], 1):
            total += ((p - b * p) / (1 - b * p)) ** (m - 1) * (b * p) ** (n - 1) * one.gain(grade)
    return (1 - p) * total


def naive_effort(one: Naive, counts: str, goal: str) -> float:
    before, so_far = 0, 0.0
    gains = one.seen_gains()
    for q, turn in enumerate(one.turns, 1):
        shown = one.graded(turn)
        depth = one.depth(turn, 10**9)
        for r, (_, grade) in enumerate(shown[:depth], 1):
            so_far += gains[q - 1][r - 1]
            found = grade is not None and one.is_relevant(grade) if goal == "first" else so_far >= one.get("wanted", 1)
            if found:
                return float(q if counts == "queries" else before + r)
        is_whole = depth == 10**9
        before += one.positions(turn, depth) if not is_whole or one.get("short", "pad") != "pad" else len(shown)
    return math.nan


def naive_cost(one: Naive, per_gain: bool) -> float:
    """Compute effort query by query and document by document."""
    cost = gained = 0.0
    for turn, gains in zip(one.turns, one.seen_gains(), strict=True):
        cost += one.get("cost_query", 1)
        for gain, _ in zip(gains, turn.documents, strict=False):
            cost += one.get("cost_document", 0)
            gained += gain
    if not per_gain:
        return cost
    return gained / cost if cost else math.nan


NAIVE: dict[str, Callable[[Naive], float]] = {
    "sDCG": lambda one: naive_gain(one, False),
    "nsDCG": lambda one: naive_gain(one, True),
    "sRBP": naive_srbp,
    "QueriesToFirst": lambda one: naive_effort(one, "queries", "first"),
    "DocumentsToFirst": lambda one: naive_effort(one, "documents", "first"),
    "QueriesToGain": lambda one: naive_effort(one, "queries", "gain"),
    "DocumentsToGain": lambda one: naive_effort(one, "documents", "gain"),
    "SessionCost": lambda one: naive_cost(one, False),
    "GainPerCost": lambda one: naive_cost(one, True),
}

CHOICES: dict[str, list[Any]] = {
    "gain": ["linear", "exp2", "0-1-10-100", "scaled", "binary"],
    "base": [2, 10, 1.2],
    "query_base": [4, 2, 1.01, 999],
    "repeats": ["every", "first"],
    "short": ["pad", "asis", "min:2", "min:30"],
    "ideal_queries": ["session", 12, 15],
    "normalise": ["session", "session", "query"],
    "variant": ["jarvelin2008", "jiang2016"],
    "summary": ["final", "average", "best", "last"],
    "scan": ["k", "recorded"],
    "rel": [None, 2],
    "level": [None, 1],
    "unjudged": ["zero", "condensed"],
    "cutoff": [1, 3, 10, None],
    "p": [0.0, 0.5, 0.95],
    "b": [0.0, 0.3, 1.0],
    "wanted": [1, 3, 5.5],
    "cost_query": [1, 20, 0],
    "cost_document": [0, 5, 0.5],
}


def spec(name: str, rng: random.Random, judged_by: str) -> dict[str, Any]:
    """Combine parameters."""
    known = SESSION_MEASURES[name].parameters()
    given = {parameter: rng.choice(CHOICES[parameter]) for parameter in known}
    if given.get("rel") is not None:
        given["level"] = None
    if "level" in known and given["level"] is None:
        del given["level"]
    if given.get("variant") == "jiang2016":
        given["gain"] = "linear"
    if given.get("normalise") == "query" and given["summary"] == "average":
        given["summary"] = "final"
    if judged_by == "query" or given.get("summary") in ("best", "last") or given.get("normalise") == "query":
        given.pop("ideal_queries", None)
    if name == "sRBP":
        given["gain"] = rng.choice(["binary", "scaled"])
    return {parameter: value for parameter, value in given.items() if value is not None}


@pytest.mark.parametrize("judged_by", ["topic", "session", "query"])
@pytest.mark.parametrize("name", NAIVE)
def test_measures_equal_plain_loops(name: str, judged_by: str) -> None:
    for seed in range(30 if "DCG" in name else 15):
        assert_what_plain_loops_say(name, judged_by, seed)


def assert_what_plain_loops_say(name: str, judged_by: str, seed: int) -> None:
    rng = random.Random(f"{name} {judged_by} {seed}")
    made = make(seed, judged_by, given=seed % 5 == 4)
    given = spec(name, rng, judged_by)
    measure = SESSION_MEASURES[name].from_parameters(given)
    assert parse(str(measure)) == measure
    found = evaluate_sessions(
        made.qrels, made.sessions(), measure, judged_by=judged_by, policy=Policy(undefined="skip", missing="skip")
    )
    given.pop("unjudged", None)
    condensed = getattr(measure, "unjudged", None) == "condensed"
    expected = {}
    for session in made.turns:
        one = Naive(made, session, given, condensed)
        has_judgments = any(
            made.judgments(session, turn) is not None or any(g is not None for g in turn.given) for turn in one.turns
        )
        if has_judgments:
            expected[session] = NAIVE[name](one)
    ours = {
        session: math.nan if value is None else value
        for session, value in found.by_query(measure).items()
        if session in made.turns
    }
    assert ours == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True), (str(measure), seed)


def test_all_session_measures_are_tried_here_or_need_subtopics() -> None:
    assert {*NAIVE, "InstanceRecall"} == set(SESSION_MEASURES)


@pytest.mark.parametrize("seed", range(20))
def test_instance_recall(seed: int) -> None:
    rng = random.Random(seed)
    pool = [f"d{i}" for i in range(15)]
    lines = [
        (topic, str(rng.randint(1, 5)), document, rng.choice([0, 1, 1, 2]))
        for topic in ("t1", "t2")
        for document in rng.sample(pool, 8)
        for _ in range(rng.randint(1, 2))
    ]
    once = {(topic, subtopic, document): grade for topic, subtopic, document, grade in lines}
    text = "".join(f"{t} {s} {d} {g}\n" for (t, s, d), g in once.items())
    sessions = {f"s{i}": [rng.sample(pool, rng.randint(0, 6)) for _ in range(3)] for i in range(6)}
    topics = {session: rng.choice(["t1", "t2"]) for session in sessions}
    lists = {f"{session}_{q}": turn for session in sorted(sessions) for q, turn in enumerate(sessions[session])}
    columns = Sessions(
        "made",
        tuple(s.encode() for s in sorted(sessions)),
        np.arange(0, 19, 3),
        Run.from_dict(lists),
        tuple(topics[s].encode() for s in sorted(sessions)),
    )
    rel = rng.choice([1, 2])
    measure = f"InstanceRecall(rel={rel})@4"
    found = evaluate_sessions(
        Qrels.read(text.encode()), columns, measure, policy=Policy(subtopics=True, undefined="skip")
    )
    for session, turns in sessions.items():
        covers = {key[1:]: g >= rel for key, g in once.items() if key[0] == topics[session]}
        every = {subtopic for (subtopic, _), yes in covers.items() if yes}
        seen = {document for turn in turns for document in turn[:4]}
        covered = {subtopic for (subtopic, document), yes in covers.items() if yes and document in seen}
        assert found.by_query(measure)[session] == (len(covered) / len(every) if every else None)
