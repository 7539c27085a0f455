"""Grouped test cases: all run, and no failure is lost."""

from __future__ import annotations

import pytest

from tests.together import together


def test_every_failure_is_told_even_if_a_case_skips() -> None:
    asked = []

    @together("case", ["good", "bad", "skips", "fails"])
    def ask(case: str) -> None:
        asked.append(case)
        assert case != "bad"
        if case == "skips":
            pytest.skip("no such thing here")
        if case == "fails":
            pytest.fail("as it says")

    with pytest.raises(BaseExceptionGroup, match="3 of 4 cases") as found:
        ask()
    assert asked == ["good", "bad", "skips", "fails"]
    assert [each.__notes__ for each in found.value.exceptions] == [
        [f"case: {{'case': '{each}'}}"] for each in asked[1:]
    ]
    assert str(found.value.exceptions[1]) == "cases that share a test cannot skip: no such thing here"
