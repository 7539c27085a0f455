"""The catalogues of tests, intervals, corrections and procedures: help and refusals name the members."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gainful import UsageError
from gainful.cli.main import cli
from gainful.stats.catalogues import ASKED_AS_TESTS, COEFFICIENTS, CORRECTIONS, INTERVALS, PROCEDURES, TESTS, Late
from gainful.stats.families import SystemsPlan
from gainful.stats.findings import Finding
from tests.stats.two_systems import compare_family, compare_pair, two_systems
from tests.together import together

CATALOGUES: dict[str, Mapping[str, Any]] = {
    "test": ASKED_AS_TESTS,
    "interval": INTERVALS,
    "correction": CORRECTIONS,
    "procedure": PROCEDURES,
}


@together("test", TESTS)
def test_a_test_is_tested(test: str) -> None:
    tests = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    assert any(f'"{test}"' in text for text in tests), f"no file of tests/stats names the test {test}"


@together("flag", CATALOGUES)
def test_the_help(flag: str) -> None:
    help_text = " ".join(CliRunner().invoke(cli, ["compare", "--help-all"], terminal_width=200).output.split())
    assert f"--{flag} [{'|'.join(CATALOGUES[flag])}]" in help_text
    assert all(member.title in help_text for member in CATALOGUES[flag].values())


@together("flag", CATALOGUES)
def test_members_are_called_as_they_call_themselves(flag: str) -> None:
    assert all(name == member.name and member.title and member.about for name, member in CATALOGUES[flag].items())


def test_refusals_name_what_there_is() -> None:
    with pytest.raises(UsageError, match=f"test: expected {' . '.join(TESTS)}, found 'u'"):
        compare_pair([1.0], [2.0], test="u")
    with pytest.raises(UsageError, match=f"interval: expected {' . '.join(INTERVALS)}, found 'u'"):
        compare_pair([1.0], [2.0], interval="u")
    with pytest.raises(UsageError, match=f"correction: expected {' . '.join(CORRECTIONS)}, found 'u'"):
        SystemsPlan(correction="u")
    with pytest.raises(UsageError, match=f"procedure: expected {' . '.join(PROCEDURES)}, found 'u'"):
        SystemsPlan("u")


def test_formulas_are_where_the_catalogues_say() -> None:
    members = [member for catalogue in CATALOGUES.values() for member in catalogue.values()]
    late = [value for member in members for value in vars(member).values() if isinstance(value, Late)]
    late += [coefficient.formula for coefficient in COEFFICIENTS.values()]
    assert len(late) > 15
    assert all(callable(getattr(import_module(f"gainful.stats.{each.module}"), each.name)) for each in late)


def test_every_test_has_an_interval() -> None:
    assert {test.interval for test in TESTS.values()} <= set(INTERVALS)


@together("test", TESTS)
def test_the_effect_of_a_test_is_what_it_says_to_go_by(test: str) -> None:
    """A finding has no p without an effect; the effect turns round with the systems, and is the mean difference of
    tests that go by means, and no other."""
    with pytest.raises(TypeError, match="effect"):
        Finding(0.5)  # type: ignore[call-arg]
    rng = np.random.default_rng(1)
    a, b = rng.random(20), rng.random(20)
    found, turned = compare_pair(a, b, test=test, draws=99), compare_pair(b, a, test=test, draws=99)
    assert found.test.effect == found.direction == pytest.approx(-turned.direction) != 0
    assert compare_pair(a, a, test=test, draws=99).direction == 0
    is_of_mean = TESTS[test].of == "mean"
    assert (found.direction == found.difference) == is_of_mean == (TESTS[test].statistic == "mean difference")
    family = compare_family(two_systems(a, b), test=test, draws=99) if TESTS[test].draws != "sample" else None
    assert family is None or family.directions.tolist() == [found.direction]


@together("test", TESTS)
def test_a_result_can_be_sent_to_another_process(test: str) -> None:
    found = compare_pair([0.5, 0.7, 0.4], [0.4, 0.5, 0.1], test=test, draws=99)
    again = pickle.loads(pickle.dumps(found))
    assert again.test == found.test and again.test.test is not None and f"<PairedTest {test}>" in repr(again)
