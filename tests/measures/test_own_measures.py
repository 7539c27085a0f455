"""User-defined measures are parsed, printed, evaluated and rejected like ours."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

import gainful
from gainful import Block, InputError, Measure, UsageError
from gainful.kernel.arrays import Floats

QRELS = {"q1": {"a": 3, "b": 1, "c": 0}, "q2": {"a": 1}}
RUN = {"q1": {"a": 1.0, "b": 2.0, "x": 3.0}, "q2": {"z": 1}}


@dataclass(frozen=True)
class Total(Measure):
    """The gain of the whole list; no parameters at all."""

    name = "Total"
    bounds = (0.0, float("inf"))

    def compute(self, block: Block) -> Floats:
        return block.gains("linear").sum(axis=1)


@dataclass(frozen=True)
class Shifted(Measure):
    """Parameters of several kinds."""

    name = "Shifted"
    shift: int = 0
    factor: float = 1.0
    window: int | None = None
    word: str = "plain"

    def compute(self, block: Block) -> Floats:
        return block.retrieved * self.factor + self.shift


@dataclass(frozen=True)
class TopScore(Measure):
    """A measure of the system's scores."""

    name = "TopScore"
    needs: ClassVar[frozenset[str]] = frozenset({"scores"})

    def compute(self, block: Block) -> Floats:
        return np.nan_to_num(block.scores(1)[:, 0])


def test_a_measure_without_parameters() -> None:
    result = gainful.evaluate(QRELS, RUN, [Total()])
    assert result.by_query(Total()) == {"q1": 4.0, "q2": 0.0}
    assert result.by_query("Total") == result.by_query(Total())
    assert repr(result) == "<Evaluation of <dict>, 2 queries: Total: 2.0000>"
    assert str(result.signature("Total")).startswith("Total|order:score|")
    with pytest.raises(UsageError, match="Total takes no @"):
        Total() @ 5


def test_parameters_from_texts() -> None:
    given = {"shift": "-2", "factor": "0.5", "window": "3", "word": "7"}
    measure = Shifted.from_parameters(given)
    assert measure == Shifted(shift=-2, factor=0.5, window=3, word="7")
    assert str(measure) == "Shifted(shift=-2, factor=0.5, window=3, word=7)"
    assert Shifted() != measure


@pytest.mark.parametrize("options", [None, {}, {"eq": False, "repr": False}, {"slots": True}])
def test_a_class_may_be_decorated_as_a_frozen_dataclass(options: dict[str, bool] | None) -> None:
    class Own(Measure):
        name = "Own"
        factor: float = 2.0

        def compute(self, block: Block) -> Floats:
            return block.retrieved * self.factor

    kind: Any = Own if options is None else dataclass(frozen=True, **options)(Own)
    assert kind(factor=3) == kind.from_parameters({"factor": "3"}) != kind()
    assert gainful.evaluate(QRELS, RUN, kind(3.0)).mean(kind(3.0)) == 6.0  # lists of three documents and of one
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'factor'"):
        kind().factor = 1.0


def test_a_decorator_of_the_class_decides_about_its_fields() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Own(Measure):
        name = "Own"
        factor: float = 2.0
        wanted: float
        fixed: float = field(default=2.0, init=False)
        cutoff: int | None = None

        def compute(self, block: Block) -> Floats:
            return block.retrieved * self.factor

    assert str(Own(wanted=1.0) @ 5) == "Own(wanted=1)@5"
    with pytest.raises(TypeError, match="positional"):
        Own(1.0)  # type: ignore[call-arg]

    class Loose(Own):
        def __init__(self) -> None:
            self.anything = 1

    assert Loose().anything == 1
    with pytest.raises(TypeError, match="non-frozen"):
        dataclass(type("Thawed", (Own,), {"__annotations__": {"more": "float"}, "more": 1.0}))


class Answer(Measure):
    """Returns a given answer for its only query."""

    name = "Answer"
    answer: ClassVar[Any] = None

    def compute(self, block: Block) -> Any:
        return self.answer


def test_scores_are_real_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy would drop imaginary parts, parse strings and count days."""
    masked = np.ma.array([1], mask=[True])
    answers = (
        ([0.5], 0.5),
        (np.array([True]), 1.0),
        ([None], 0.0),
        (masked, 0.0),
        (np.array([0.25], np.float32), 0.25),
    )
    for answer, score in answers:
        monkeypatch.setattr(Answer, "answer", answer)
        assert gainful.evaluate({"q": {"a": 1}}, {"q": ["a"]}, Answer()).mean("Answer") == score
    days = np.array(["2024-05-01"], "datetime64[D]")
    for answer in (
        np.array([0.5 + 1j]),
        [0.5 + 0j],
        ["half"],
        ["0.5"],
        days,
        [[1], [2, 3]],
        None,
        {},
        [0.5, 0.5],
        [np.inf],
    ):
        monkeypatch.setattr(Answer, "answer", answer)
        with pytest.raises(UsageError, match="Answer: expected compute to return one finite score"):
            gainful.evaluate({"q": {"a": 1}}, {"q": ["a"]}, Answer())


def test_scores_on_request() -> None:
    assert gainful.evaluate(QRELS, RUN, [TopScore(), "P@1"]).by_query("TopScore") == {"q1": 3.0, "q2": 1.0}

    class Greedy(TopScore):
        needs = frozenset()

    with pytest.raises(UsageError, match='scores are available only to measures with "scores" in needs'):
        gainful.evaluate(QRELS, RUN, [Greedy()])


def test_a_geometric_mean_has_a_floor() -> None:
    class Factor(Total):
        aggregate = "geometric"

    result = gainful.evaluate({"q1": {"a": 4}, "q2": {"a": 9}, "q3": {"a": 0}}, {"q1": ["a"], "q2": ["a"]}, [Factor()])
    assert result.aggregate("Total") == pytest.approx((4 * 9 * 1e-5) ** (1 / 3), rel=1e-12)
    assert result.mean("Total") == pytest.approx(13 / 3)


def test_unknown_needs() -> None:
    class Typo(TopScore):
        needs = frozenset({"score"})

    with pytest.raises(UsageError, match="TopScore: can need scores, ties or documents, found score"):
        gainful.evaluate(QRELS, RUN, [Typo()])


@pytest.mark.parametrize("answer", [1.0, [1.0], [np.inf, 0.0]])
def test_answers_that_are_not_scores(answer: object) -> None:
    class Wrong(Total):
        def compute(self, block: Block) -> Floats:
            return answer  # type: ignore[return-value]

    with pytest.raises(UsageError, match=r"Total: expected compute to return one finite score \(or NaN\) per query"):
        gainful.evaluate(QRELS, RUN, [Wrong()])


def test_grades_without_a_weight_are_refused_inside_a_formula() -> None:
    class Weighted(Total):
        def compute(self, block: Block) -> Floats:
            return block.gains("0-1").sum(axis=1)

    with pytest.raises(InputError, match="gain=0-1: no weight for these grades in the judgments: 3"):
        gainful.evaluate(QRELS, RUN, [Weighted()])


def test_measures_with_the_same_text_conflict() -> None:
    class Other(Total):
        pass

    with pytest.raises(UsageError, match="duplicate measure 'Total'"):
        gainful.evaluate(QRELS, RUN, [Total(), Other()])


def test_arrays_are_as_wide_as_the_lists() -> None:
    seen: list[tuple[int, ...]] = []

    class Wide(Total):
        def compute(self, block: Block) -> Floats:
            seen.append(block.gains("linear", depth=10**6).shape)
            return np.zeros(block.size)

    gainful.evaluate(QRELS, RUN, [Wide()])
    assert seen == [(2, 3)]


def test_gains_by_text() -> None:
    measure = gainful.parse("CG")
    assert measure.replace(gain=gainful.Gain("0-1-10-100")).score([1, 2, 3]) == 111.0
    with pytest.raises(UsageError, match="gain: expected linear"):
        gainful.Gain("exp")


def test_unordered_containers_are_not_rankings() -> None:
    with pytest.raises(InputError, match="expected a dict of documents and scores or a list of documents"):
        gainful.evaluate(QRELS, {"q1": {"a", "b"}})


def test_immutable_means_immutable() -> None:
    qrels = gainful.Qrels.from_dict(QRELS)
    result = gainful.evaluate(qrels, RUN, "P@1")
    for array in (qrels.grade, result.raw):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 9


def test_facts_of_parts_add_up() -> None:
    policy = gainful.Policy(duplicates="first")
    run = b"q1 0 a 1 2 t\nq1 0 a 2 1 t\nq2 0 a 1 2 t\nq2 0 a 2 1 t\n"
    qrels = gainful.Qrels.from_dict(QRELS)
    first, second = (gainful.evaluate(qrels.select([query]), run, "P@1", policy=policy) for query in ("q1", "q2"))
    assert first.merge(second).facts == gainful.evaluate(qrels, run, "P@1", policy=policy).facts


@pytest.mark.parametrize("threads", [0, -1, 1.5, "x", 2**16 + 1, 2**31, 2**63, 10**400])
def test_threads_are_a_whole_number(threads: Any) -> None:
    with pytest.raises(UsageError, match="threads: expected"):
        gainful.evaluate(QRELS, RUN, threads=threads)
    for read in (gainful.Qrels.read, gainful.Run.read, gainful.Sessions.read):
        with pytest.raises(UsageError, match="threads: expected"):
            read(b"q1_1 Q0 a 1 2 t\n" if read != gainful.Qrels.read else b"q1 0 a 1\n", threads=threads)


@pytest.mark.parametrize("measures", [None, 5])
def test_measures_are_one_or_several(measures: Any) -> None:
    with pytest.raises(UsageError, match=rf"\Ameasures: expected one or several, found {measures}\nhint: such as"):
        gainful.evaluate(QRELS, RUN, measures)


@pytest.mark.parametrize("grades", [None, 5, "210", {"d1": 2}, (grade for grade in [2, 1])])
def test_scored_lists_are_lists(grades: Any) -> None:
    with pytest.raises(UsageError, match="grades: expected a list of numbers, found "):
        gainful.parse("nDCG@10").score(grades)
    with pytest.raises(UsageError, match="unretrieved: expected a list of numbers, found "):
        gainful.parse("nDCG@10").score([1], grades)
    with pytest.raises(UsageError, match="lists: expected a list of numbers, found "):
        gainful.parse("QueriesToFirst").score_session([[1], grades])  # type: ignore[attr-defined]
    assert gainful.parse("P@2").score(np.array([2, 0])) == 0.5  # type: ignore[arg-type]
