"""Grouped cases in one test, because starting a test takes longer than most cases."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def together(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As ``pytest.mark.parametrize``, but one test for all cases, which share its fixtures; it tells every case that
    fails. A case cannot skip: the others would be skipped with it."""
    listed = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    given = [dict(zip(listed, [case] if len(listed) == 1 else case, strict=True)) for case in cases]
    assert given, "no cases"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def ask_all(*fixed: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for case in given:
                try:
                    test(*fixed, **fixtures, **case)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as failure:
                    failure.add_note(f"case: {case!r}"[:2000])
                    failures.append(failure)
                except pytest.skip.Exception as skip:
                    refused = AssertionError(f"cases that share a test cannot skip: {skip}")
                    refused.add_note(f"case: {case!r}"[:2000])
                    failures.append(refused)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(given)} cases", failures)

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in listed]
        assert len(left) == len(signature.parameters) - len(listed), f"expected {listed} as parameters of {test}"
        ask_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return ask_all

    return decorate
