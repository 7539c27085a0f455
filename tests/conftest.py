"""What all tests share: a choice of the two cores; judgments and lists for naive computations.

The lists are random ones with everything at once, and real ones where there are any. They are ordered, cut and
condensed here, by plain Python that knows nothing of the package.
"""

from __future__ import annotations

import gc
import gzip
import os
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

from gainful.cli.main import run as run_command
from gainful.kernel import core as active

# Whoever runs the tests may have a terminal of some width; what is shown must not depend on that.
os.environ.pop("COLUMNS", None)

SHARED_DATA = Path(__file__).parents[1].parent / "shared" / "data"

#: Judgments and runs of real collections: with negative grades, with ties, with scores from 0 to 1, with short lists.
REAL = {
    "web": ("trec-web-2012/qrels.web.151-200.txt", "trec-web-2012/runs/cedr-bm25-wt12.gz"),
    "covid": ("trec-covid/round1/qrels.covid-round1.txt", "trec-covid/round1/runs/run1.gz"),
    "robust": ("robust2005/qrels.robust2005.txt", "robust2005/runs/ICT05qerfT.gz"),
}

INTEGERS = [-2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0]
REALS = [-0.5, 0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0]


class Lists(NamedTuple):
    """Judgments and a run as they are given to gainful, and what they come to under a policy."""

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    policy: dict[str, Any]

    @property
    def zero(self) -> float:
        return float(self.policy.get("grade_zero", 0))

    @property
    def scale(self) -> float:
        highest = max(grade for documents in self.qrels.values() for grade in documents.values())
        return max(highest - self.zero, 0) if self.zero else highest

    def grades(self, query: str) -> dict[str, float]:
        """What counts as judged."""
        settled = {
            document: max(grade - self.zero, 0) if self.zero else grade for document, grade in self.qrels[query].items()
        }
        drops = self.policy.get("negative") == "unjudged"
        return {document: grade for document, grade in settled.items() if grade >= 0 or not drops}

    def ranked(self, query: str, condensed: bool | None = None) -> list[str] | None:
        """The documents of a query in rank order, None where the run does not answer it."""
        if query not in self.run:
            return None
        scores, upwards = self.run[query], self.policy.get("ties") == "docid-asc"
        by_id = sorted(scores, key=str.encode, reverse=not upwards)
        ordered = sorted(by_id, key=lambda document: -scores[document])[: self.policy.get("depth")]
        removes = self.policy.get("unjudged") == "condensed" if condensed is None else condensed
        judged = self.grades(query)
        return [document for document in ordered if document in judged or not removes]


# What is loaded stays: nobody need look for garbage among it, again and again.
gc.disable()


def pytest_collection_finish() -> None:
    """All that is loaded is kept apart; what tests leave behind is garbage."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[None]:
    """Examples are in src; to look for some in every function of the tests would take long."""
    collectors = yield
    return [each for each in collectors if not type(each).__name__.startswith("Doctest")]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker tells what a test came to, and of what is before and after it only what fails: most of what it would
    send takes longer to send than the test takes."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.fixture(scope="session")
def random_lists() -> Callable[[int], Lists]:
    """Small random judgments and lists: ties, unjudged documents, negative and real grades, missing queries."""

    def draw(seed: int) -> Lists:
        rng = random.Random(seed)
        tenths = [float(rng.randint(0, 10)) / 10 for _ in range(8)]
        grades = rng.choice([INTEGERS, REALS, tenths, [0.0, 1.0]])
        documents = [f"{rng.choice(['D', 'd', 'é', '-'])}{i}" for i in range(25)]
        qrels: dict[str, dict[str, float]] = {}
        run: dict[str, dict[str, float]] = {"unjudged": {"d1": 1.0}}
        for query in (f"q{i}" for i in range(7)):
            pool = [0.0, -1.0] if query == "q3" else grades  # a query without anything relevant
            qrels[query] = {document: rng.choice(pool) for document in rng.sample(documents, rng.randint(1, 12))}
            if rng.random() < 0.85 or query == "q0":
                found = rng.sample(documents, rng.randint(0, 20))
                run[query] = {d: rng.choice([0.5, 0.25, 1.0, 0.0, rng.random()]) for d in found}
        qrels["q0"][documents[0]] = 1.0
        policy: dict[str, Any] = {
            "ties": rng.choice(["docid-desc", "docid-asc"]),
            "depth": rng.choice([None, None, 5, 12]),
            "unjudged": rng.choice(["zero", "zero", "condensed"]),
            "negative": rng.choice(["judged", "unjudged"]),
            "grade_zero": rng.choice([0, 0, 0, 0.5]),
        }
        return Lists(qrels, run, policy)

    return draw


@pytest.fixture(scope="session")
def real_lists() -> Callable[[str], Lists]:
    """The judgments and a run of a real collection, read by code that is not ours; skipped where there is none."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no real collections beside the checkout (../shared/data)")

    @cache
    def read(name: str) -> Lists:
        qrels_path, run_path = (SHARED_DATA / path for path in REAL[name])
        qrels: dict[str, dict[str, float]] = {}
        for line in qrels_path.read_text().splitlines():
            query, _, document, grade = line.split()
            qrels.setdefault(query, {})[document] = float(grade)
        run: dict[str, dict[str, float]] = {}
        for line in gzip.decompress(run_path.read_bytes()).decode().splitlines():
            query, _, document, _, score, _ = line.split()
            run.setdefault(query, {})[document] = float(score)
        return Lists(qrels, run, {})

    return read


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `gainful demo` writes; who changes something copies it first."""
    folder = tmp_path_factory.mktemp("demo") / "gainful-demo"
    assert run_command(["demo", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def use_core() -> Iterator[Callable[[str], None]]:
    """Makes this process use one of the two cores, until the test ends."""
    before = "c++" if active.KIND == "C++" else "python"

    def use(name: str) -> None:
        try:
            active.use(name)
        except ImportError:
            if os.environ.get("GAINFUL_REQUIRE_CORE") == "1":
                raise
            pytest.skip("the compiled core is not built")

    yield use
    active.use(before)


@pytest.fixture(params=["c++", "python"])
def core(request: pytest.FixtureRequest, use_core: Callable[[str], None]) -> str:
    """Runs a test over both cores."""
    use_core(request.param)
    return str(request.param)
