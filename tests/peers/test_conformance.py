"""Other tools give the values that the conformance vectors list for them."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ir_measures
import pyndeval
import pyNTCIREVAL.metrics as ntcireval
import pytest
import pytrec_eval

FOLDER = Path(__file__).parents[2] / "conformance"
Json = dict[str, Any]
Values = dict[str, float]


def judgments(vector: Json) -> dict[str, dict[str, int]]:
    return {query: {row[0]: int(row[1]) for row in rows} for query, rows in vector["judgments"].items()}


def lists(vector: Json) -> dict[str, dict[str, float]]:
    """Lists of no documents are left out: there these tools fail."""
    return {query: {row[0]: row[1] for row in rows} for query, rows in vector["run"].items() if rows}


def of_pytrec_eval(name: str, vector: Json) -> Values:
    wanted = re.sub(r"_(\d+(?:\.\d+)?)$", r".\1", name)
    found = pytrec_eval.RelevanceEvaluator(judgments(vector), {wanted}).evaluate(lists(vector))
    return {query: values[name] for query, values in found.items()}


def of_ir_measures(name: str, vector: Json) -> Values:
    measure = ir_measures.parse_measure(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(ir_measures.iter_calc([measure], judgments(vector), lists(vector)))
    return {each.query_id: each.value for each in found if each.query_id in vector["run"]}


def of_pyndeval(name: str, vector: Json) -> Values:
    rows = [(q, str(row[2]), row[0], int(row[1] > 0)) for q, of in vector["judgments"].items() for row in of]
    scored = [(query, document, score) for query, of in lists(vector).items() for document, score in of.items()]
    alpha = re.search(r"\(alpha=(.+)\)", name)
    wanted = name.replace(alpha[0], "") if alpha else name
    found = pyndeval.ndeval(rows, scored, measures=[wanted], alpha=float(alpha[1]) if alpha else 0.5)
    values = {query: scores[wanted] for query, scores in found.items()}
    return {query: value for query, value in values.items() if not math.isnan(value)}  # where nothing is relevant


#: pyNTCIREVAL's measures of how many documents each level has, by the text that the vectors have for them.
NTCIREVAL: dict[str, Callable[[list[int]], Any]] = {
    "AP": lambda levels: ntcireval.AP(levels, [1, 2, 3]),
    "ERR(gains=1:3:7)": lambda levels: ntcireval.ERR(levels, [1, 3, 7]),
    "nERR(gains=1:3:7)@5": lambda levels: ntcireval.nERR(levels, [1, 3, 7], 5),
    "MSnDCG(gains=1:2:3)@5": lambda levels: ntcireval.MSnDCG(levels, [1, 2, 3], 5),
    "QMeasure(beta=1)": lambda levels: ntcireval.QMeasure(levels, [1, 2, 3], 1.0),
    "QMeasure(beta=10)": lambda levels: ntcireval.QMeasure(levels, [1, 2, 3], 10.0),
    "QMeasure(beta=1)@5": lambda levels: ntcireval.QMeasure(levels, [1, 2, 3], 1.0, 5),
    "OMeasure(beta=1)": lambda levels: ntcireval.OMeasure(levels, [1, 2, 3], 1.0),
    "OMeasure(beta=10)": lambda levels: ntcireval.OMeasure(levels, [1, 2, 3], 10.0),
    "PMeasure(beta=1)": lambda levels: ntcireval.PMeasure(levels, [1, 2, 3], 1.0),
    "PMeasure(beta=10)": lambda levels: ntcireval.PMeasure(levels, [1, 2, 3], 10.0),
    "PPlusMeasure(beta=1)": lambda levels: ntcireval.PPlusMeasure(levels, [1, 2, 3], 1.0),
    "PPlusMeasure(beta=10)": lambda levels: ntcireval.PPlusMeasure(levels, [1, 2, 3], 10.0),
    "NCUguBR(stops=1:2:3)": lambda levels: ntcireval.NCUguBR(levels, [1, 2, 3], [1, 2, 3], 1.0),
    "NCUguBR(stops=1:10:100)": lambda levels: ntcireval.NCUguBR(levels, [1, 2, 3], [1, 10, 100], 1.0),
    "NCUguP(stops=1:2:3)": lambda levels: ntcireval.NCUguP(levels, [1, 2, 3], [1, 2, 3]),
    "NCUrbBR(gamma=0.95)": lambda levels: ntcireval.NCUrbBR(levels, [1, 2, 3], 0.95, 1.0),
    "NCUrbP(gamma=0.99)": lambda levels: ntcireval.NCUrbP(levels, [1, 2, 3], 0.99),
}


def of_ntcireval(name: str, vector: Json) -> Values:
    """Queries of which it finds nothing relevant, where it fails, or with grades that it does not know are left out."""
    found = {}
    for query, grades in judgments(vector).items():
        scores = lists(vector).get(query, {})
        ranked = sorted(sorted(scores, reverse=True), key=lambda document: -scores[document])
        if vector.get("dialect") == "ntcireval":
            ranked = list(scores)
        levels = [list(grades.values()).count(level) for level in range(4)]
        if min(grades.values()) >= 0 and any(grades.get(document, 0) > 0 for document in ranked):
            found[query] = NTCIREVAL[name](levels).compute([(document, grades.get(document)) for document in ranked])
    return found


PEERS: dict[str, Callable[[str, Json], Values]] = {
    "pytrec_eval-terrier": of_pytrec_eval,
    "ir_measures": of_ir_measures,
    "pyndeval": of_pyndeval,
    "pyNTCIREVAL": of_ntcireval,
}


def close(one: float, other: float | None) -> bool:
    return other is not None and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def claims(path: Path) -> Iterator[tuple[Json, str, str, Json]]:
    for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]:
        for text, told in vector["answers"].items():
            for peer, said in told.get("peers", {}).items():
                yield vector, text, peer, said


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_peers_give_what_is_said_of_them(path: Path) -> None:
    if path.name == "schema.json":
        return
    for vector, text, peer, said in claims(path):
        package, _, release = peer.partition(" ")
        assert version(package) == release, f"{peer} is named in {path.name}"
        differs = said.get("differs", {})
        expected = {**vector["answers"][text]["queries"], **differs}
        found = PEERS[package](said["name"], vector)
        assert {*differs} <= {*found}, (vector["id"], text, peer)
        for query, value in found.items():
            where = (vector["id"], text, peer, query, value)
            if query in vector["judgments"]:
                assert close(value, expected[query]), where
        same = {query for query in found if query in differs and close(found[query], told(vector, text, query))}
        assert not same, f"{same} agree, {vector['id']}, {text}, {peer}"


def told(vector: Json, text: str, query: str) -> float | None:
    value: float | None = vector["answers"][text]["queries"][query]
    return value
