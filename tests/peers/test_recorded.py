"""Numbers of peers that are too heavy to install for a test, recorded from running them on small cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gainful import evaluate, parse

#: Four documents are judged 2, 0, 1, 1; the list has grades 1, 0, none and 2, and misses a document of grade 1.
RANKED, MISSED = [1, 0, None, 2], [1]

RECORDED = {
    "ir_measures RBP(rel=1,p=.95)": ("RBP(p=0.95)", 2, "0.092869"),
    "pyNTCIREVAL RBP": ("RBP(p=0.95, gain=scaled)", 2, "0.067869"),
    "trec_eval 10 rbp, by its comments": ("RBP(p=0.95, gain=linear, scale=query)", 2, "0.067869"),
    "gdeval err@5": ("ERR@5", 4, "0.10645"),
    "NTCIREVAL ERR": ("ERR(gain=linear)", 2, "0.444444"),
}


@pytest.mark.parametrize(("measure", "scale", "printed"), RECORDED.values(), ids=RECORDED.keys())
def test_small_case(
    measure: str, scale: float, printed: str, is_printed_as: Callable[[float | None, str], bool]
) -> None:
    assert is_printed_as(parse(measure).score(RANKED, MISSED, scale=scale), printed)


#: cwl-eval with p = 0.9 on the files that come with ir_measures' tests.
CWL_RBP = {"T1": "0.3501", "T2": "0.3996", "T3": "0.1988"}


def test_cwl(shared_data: Path, is_printed_as: Callable[[float | None, str], bool]) -> None:
    folder = shared_data / "ir_measures-tests"
    ours = evaluate(folder / "cwl.qrels", folder / "cwl.run", "RBP(p=0.9)").by_query("RBP(p=0.9)")
    assert ours.keys() == CWL_RBP.keys()
    assert all(is_printed_as(ours[query], printed) for query, printed in CWL_RBP.items())
