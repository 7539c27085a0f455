"""JavaScript equals Python: what the page shows for any controls is what gainful computes."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gainful import Policy, Qrels, Run, evaluate, evaluate_sessions, gain_curves, session_curves
from gainful.data.sessions import sessions_from_lists

Show = Callable[..., Any]

DATA = Path(__file__).parents[2].parent / "shared" / "data"
COLLECTIONS = {
    "robust2005": (
        "robust2005/qrels.robust2005.txt",
        "robust2005/runs",
        ("ICT05qerfT", "CKSEonD", "aq.trec.bm25.0.50.res"),
    ),
    "dl-hard": ("dl-hard/dl_hard-passage.qrels", "dl-hard/passage", ("bm25.run", "bm25+rm3+t5(zs).run")),
}
DISCOUNTS = ("burges2005", "jarvelin2002", "jarvelin2000", "jarvelin2008", "rank", "none")
DEPTH = 60


def controls(rng: random.Random, levels: list[float], depth: int) -> tuple[dict[str, Any], str]:
    """Random controls, and the measure that they are."""
    name = rng.choice(["CG", "DCG", "nCG", "nDCG", "nDCG"])
    discount = rng.choice(DISCOUNTS)
    base: float | str = rng.choice([2, 10, "e", 3, round(rng.uniform(1.2, 12), 3)])
    gains = [0.0 if level < 0 else rng.choice([0.0, 1.0, round(rng.uniform(0, 20), 4), 2.0**level]) for level in levels]
    if not any(gains):
        gains[-1] = 1.0
    state = {
        "measure": name,
        "discount": discount,
        "base": base,
        "depth": rng.randint(1, depth),
        "average": rng.choice(["ratios", "means"]),
        "gains": gains,
    }
    pairs = ",".join(f"{level!r}:{gain!r}" for level, gain in zip(levels, gains, strict=True) if level >= 0)
    parts = [f"gain={{{pairs}}}"]
    if name.endswith("DCG"):
        parts.append(f"discount={discount}")
        if discount not in ("rank", "none"):
            parts.append(f"base={base}")
    return state, f"{name}({','.join(parts)})"


def close(found: list[float | None], expected: list[float]) -> bool:
    assert len(found) == len(expected)
    return all(
        (math.isnan(b) if a is None or math.isnan(a) else math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12))
        for a, b in zip(found, expected, strict=True)
    )


def compare(show: Show, qrels: Any, runs: dict[str, Any], seed: int, rounds: int, **policy: Any) -> None:
    opened = show(qrels, runs, "nDCG@10", ranks=DEPTH, **policy)
    levels = opened.page.evaluate("gainfulReport.levels")
    rng = random.Random(seed)
    depth = int(opened.page.evaluate("gainfulReport.values().ideal.length"))
    for _ in range(rounds):
        state, measure = controls(rng, levels, depth)
        opened.set(**state)
        found = opened.values()
        k, normalised = state["depth"], measure.startswith("n")
        average = state["average"] if normalised else "ratios"
        curves = gain_curves(qrels, runs, f"{measure}@{depth}", average=average, draws=0, **policy)
        for s, run in enumerate(runs):
            scores = evaluate(qrels, runs[run], f"{measure}@{k}", **policy)
            by_query = [math.nan if score is None else score for score in scores.by_query(f"{measure}@{k}").values()]
            assert close(found["scores"][s], by_query), (measure, k, run)
            curve = [float(value) for value in curves.curve(run).values]
            curve += curve[-1:] * (depth - len(curve))
            assert close(found["curves"][s], curve), (measure, average, run)
            mean = curve[k - 1] if normalised and average == "means" else scores.aggregate(f"{measure}@{k}")
            assert close([found["means"][s]], [mean]), (measure, average, run)
        if not normalised:
            ideal = [float(value) for value in curves.curve(None).values]
            assert close(found["ideal"], ideal + ideal[-1:] * (depth - len(ideal)))
            opened.page.locator("#curves").scroll_into_view_if_needed()


@pytest.mark.parametrize("name", COLLECTIONS)
def test_real_collections(show: Show, name: str) -> None:
    qrels, folder, names = COLLECTIONS[name]
    if not (DATA / folder).is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")
    runs = {each: Run.read(DATA / folder / f"{each}.gz") for each in names}
    compare(show, Qrels.read(DATA / qrels), runs, seed=1, rounds=8)


@pytest.mark.parametrize(
    "policy", [{}, {"missing": "skip", "undefined": "skip"}, {"unjudged": "condensed", "negative": "unjudged"}]
)
def test_missing_undefined_and_negative(show: Show, policy: dict[str, str]) -> None:
    """Queries that are not answered or have nothing to gain, negative and real-valued grades, short lists."""
    levels = [-1.0, 0.0, 0.5, 1.0, 2.5]
    rng = random.Random(3)
    qrels = {f"q{i}": {f"d{j}": rng.choice(levels) for j in range(rng.randint(2, 12))} for i in range(8)}
    qrels["q0"] = dict(zip(("d0", "d1", "d2", "d3", "d4"), levels, strict=True))
    qrels["q6"] = {"d1": 0.0, "d2": -1.0}
    runs = {
        name: {q: rng.sample([f"d{j}" for j in range(15)], rng.randint(1, 15)) for q in qrels if q not in left}
        for name, left in (("whole", ()), ("some", ("q2", "q6")))
    }
    compare(show, qrels, runs, seed=4, rounds=10, policy=Policy(**policy))


def test_sessions(show: Show) -> None:
    """Sessions of one to four queries on two topics, one of which has a judgment of nothing."""
    rng = random.Random(8)
    documents = [f"d{i}" for i in range(12)]
    qrels = {"t1": {d: rng.randint(0, 3) for d in documents[:8]}, "t2": {d: rng.randint(0, 3) for d in documents[4:]}}
    topics = {f"s{i}": rng.choice(["t1", "t2"]) for i in range(9)}
    systems = {
        name: sessions_from_lists(
            {s: [rng.sample(documents, rng.randint(1, 12)) for _ in range(rng.randint(1, 4))] for s in topics}, topics
        )
        for name in ("one", "two")
    }
    opened = show(qrels, systems, sessions=True, state="sort=judged@10&by=system9")
    assert (opened.state()["sort"], opened.state()["order"]) == ("live", "query")
    for _ in range(8):
        name, k = rng.choice(["sDCG", "nsDCG"]), rng.randint(1, 10)
        bases = [rng.choice([2, "e", 10, round(rng.uniform(1.2, 9), 3)]) for _ in range(2)]
        gains = [0.0, *(round(rng.uniform(0, 9), 3) for _ in range(3))]
        opened.set(measure=name, depth=k, base=bases[0], queryBase=bases[1], gains=gains)
        pairs = ",".join(f"{grade}:{gain!r}" for grade, gain in enumerate(gains))
        measure = f"{name}(gain={{{pairs}}},base={bases[0]},query_base={bases[1]})@{k}"
        found = opened.values()
        curves = session_curves(qrels, systems, measure, draws=0)
        for s, system in enumerate(systems):
            scores = evaluate_sessions(qrels, systems[system], measure)
            assert close(found["scores"][s], list(scores.by_query(measure).values()))
            assert close([found["means"][s]], [scores.aggregate(measure)])
            reach = 2.306004135 * statistics.stdev(scores.by_query(measure).values()) / 3  # t with 8 degrees of freedom
            ends = opened.page.locator("#leaderboard tbody tr", has_text=system).locator(".ends").inner_text()
            low, high = (float(end) for end in ends.split(" to "))
            most = 1.0 if name == "nsDCG" else math.inf
            assert low == pytest.approx(max(0.0, scores.aggregate(measure) - reach), abs=1e-4)
            assert high == pytest.approx(min(most, scores.aggregate(measure) + reach), abs=1e-4)
            # Python has a value for every document; the page those after the last one of each query.
            assert close(found["curves"][s], [float(value) for value in curves.curve(system).values[k - 1 :: k]])
    opened.page.get_by_label("Base bq, slider").focus()
    opened.page.keyboard.press("Home")
    assert opened.state()["queryBase"] == 1.1
    opened.page.locator("#sessions").scroll_into_view_if_needed()
    opened.settle()
    opened.page.locator("#sessions").get_by_role("button", name="two").click()
    opened.settle()
    shown = [float(row.split("\t")[-1]) for row in opened.texts("#sessions tbody tr")]
    assert shown == sorted(shown, reverse=True) and len(shown) == 9
