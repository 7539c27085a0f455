"""The conformance vectors: gainful has every answer, and every answer is the naive script's, not gainful's."""

from __future__ import annotations

import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from decimal import Decimal
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gainful import InputError, Policy, Qrels, Sessions, UsageError, evaluate, evaluate_sessions, parse
from gainful.errors import GainfulError
from gainful.measures.catalog import ALL_MEASURES
from gainful.policy import CHOICES, DIALECTS

FOLDER = Path(__file__).parents[2] / "conformance"
FILES = sorted(path.name for path in FOLDER.glob("*.json") if path.name != "schema.json")
Json = dict[str, Any]


@cache
def read(name: str) -> Json:
    document: Json = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return document


def vectors() -> Iterator[Json]:
    for name in FILES:
        yield from read(name)["vectors"]


@cache
def naive() -> Any:
    spec = importlib.util.spec_from_file_location("conformance_naive", FOLDER / "naive.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- gainful against the vectors ------------------------------------------------------------------------------------


def policy_of(vector: Json) -> Policy:
    given = {name.replace("-", "_"): value for name, value in vector.get("policy", {}).items()}
    return Policy.like(vector["dialect"], **given) if "dialect" in vector else Policy(**given)


def evaluated(vector: Json, measures: list[str]) -> Any:
    judgments = "".join(
        f"{query} {group[0] if group else 0} {document} {grade!r}\n"
        for query, rows in vector["judgments"].items()
        for document, grade, *group in rows
    )
    qrels, policy = Qrels.read(judgments.encode()), policy_of(vector)
    if "sessions" in vector:
        log = "".join(json.dumps({"session": name, **of}) + "\n" for name, of in vector["sessions"].items())
        return evaluate_sessions(qrels, Sessions.read(log.encode()), measures, policy=policy)
    run: Any = vector["run"]
    if any(len(row) > 2 for rows in run.values() for row in rows):
        text = (
            f"{q} Q0 {document} {rank} {score!r} tag\n" for q, rows in run.items() for document, score, rank in rows
        )
        run = "".join(text).encode()
    elif any(len(row) == 1 for rows in run.values() for row in rows):
        run = {query: [document for (document,) in rows] for query, rows in run.items()}
    tables = {name: vector[name] for name in ("items", "training", "intents") if name in vector}
    return evaluate(qrels, run, measures, policy=policy, **tables)


def agree(found: float | None, expected: float | None, tolerance: float) -> bool:
    if found is None or expected is None or math.isnan(found):
        return expected is None and (found is None or math.isnan(found))
    return math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)


#: Messages of errors, by their name in the vectors.
ERRORS: dict[str, tuple[type[GainfulError], str]] = {
    "duplicates": (InputError, "twice|again|more than once|duplicate"),
    "judges": (InputError, "conflicting grades"),
    "missing": (InputError, "missing=error"),
    "undefined": (InputError, "undefined=error"),
    "extra": (InputError, "extra=error"),
    "gain-without-weight": (InputError, "no weight for these grades"),
    "gain-above-1": (InputError, "expected gains from 0 to 1"),
    "grade-above-1": (InputError, "expected grades up to 1"),
    "score-outside-0-1": (InputError, "from 0 to 1"),
    "collection-too-small": (GainfulError, "N is |N=|more than the collection"),
    "no-subtopics": (UsageError, "judgments with sub-topics are required"),
}


@pytest.mark.parametrize("name", FILES)
def test_gainful_has_the_answers(name: str) -> None:
    wrong = []
    for vector in read(name)["vectors"]:
        values = {text: told for text, told in vector["answers"].items() if "error" not in told}
        tolerance = vector.get("tolerance", read(name)["tolerance"])
        result = evaluated(vector, list(values)) if values else None
        for text, told in values.items():
            found = {**result.by_query(text), None: result.aggregate(text)}
            for query, expected in {**told["queries"], None: told["aggregate"]}.items():
                if not agree(found.pop(query, math.inf), expected, tolerance):
                    ours = {**result.by_query(text), None: result.aggregate(text)}.get(query)
                    wrong.append(f"{vector['id']}, {text}, {query or 'aggregate'}: {expected}, here {ours}")
            wrong += [f"{vector['id']}, {text}: {query} is too many" for query in found]
        for text, told in vector["answers"].items():
            if "error" in told:
                kind, says = ERRORS[told["error"]]
                with pytest.raises(kind, match=says):
                    evaluated(vector, [text])
    assert wrong == []


# --- The vectors themselves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_no_answer_is_our_own(name: str) -> None:
    """The naive script, which imports nothing of gainful, works out every value that is committed."""
    worked_out = naive().answered(read(name))
    assert naive().written(read(name)) + "\n" == (FOLDER / name).read_text(encoding="utf-8")
    for before, after in zip(read(name)["vectors"], worked_out["vectors"], strict=True):
        for kind in ("answers", "mistakes"):
            for text, told in before.get(kind, {}).items():
                again = after[kind][text]
                assert {key: told[key] for key in told if key not in ("aggregate", "queries")} == {
                    key: again[key] for key in again if key not in ("aggregate", "queries")
                }
                # Another machine's logarithm may end in another digit.
                for query, value in {**told.get("queries", {}), None: told.get("aggregate")}.items():
                    found = {**again.get("queries", {}), None: again.get("aggregate")}[query]
                    assert agree(found, value, 1e-14), (before["id"], text, query)


def test_the_script_imports_nothing_of_gainful() -> None:
    lines = (FOLDER / "naive.py").read_text(encoding="utf-8").splitlines()
    modules = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert modules <= sys.stdlib_module_names


def test_files_keep_to_the_schema() -> None:
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in FILES:
        jsonschema.Draft202012Validator(schema).validate(read(name))
    ids = [vector["id"] for vector in vectors()]
    assert len(set(ids)) == len(ids)
    assert set(ERRORS) == set(schema["$defs"]["answer"]["properties"]["error"]["enum"])
    assert set(DIALECTS) == set(schema["$defs"]["vector"]["properties"]["dialect"]["enum"])


def test_every_parameter_occurs() -> None:
    given: dict[str, set[str]] = {}
    for text in {text for vector in vectors() for text in vector["answers"]}:
        measure = parse(text)
        defaults = {field.name: field.default for field in fields(measure)}
        set_here = {name for name, default in defaults.items() if getattr(measure, name) != default}
        given.setdefault(measure.name, set()).update(set_here)
    assert len(given) > 110  # a new measure may be without vectors: tests/measures/test_naive.py has it anyway
    for name, measure in ((name, ALL_MEASURES[name]) for name in given):
        assert set(measure.parameters()) - given[name] <= NOT_SET.get(name, set()), name


#: It takes none: its lists have no end.
NOT_SET = {"NRBP": {"cutoff"}, "nNRBP": {"cutoff"}}


def test_every_choice_and_every_dialect_occurs() -> None:
    texts = [(name, text) for vector in vectors() for name, text in policy_of(vector).texts().items()]
    named = {(choice.name, value) for choice in CHOICES for value in choice.values}
    assert named <= set(texts)
    assert {name for name, text in texts if text != {c.name: c.default for c in CHOICES}[name]} == {
        choice.name for choice in CHOICES
    }
    assert {vector["dialect"] for vector in vectors() if "dialect" in vector} == set(DIALECTS)


def test_a_choice_changes_a_number() -> None:
    """Vectors with the same judgments and run and another policy differ in at least one answer."""
    groups: dict[str, list[Json]] = {}
    for vector in read("policy.json")["vectors"]:
        groups.setdefault(json.dumps([vector["judgments"], vector["run"]]), []).append(vector)
    for group in groups.values():
        for one, other in combinations(group, 2):
            shared = one["answers"].keys() & other["answers"].keys()
            differ = any(one["answers"][text] != other["answers"][text] for text in shared)
            assert differ or one.get("policy") == other.get("policy"), (one["id"], other["id"])


def test_what_papers_print() -> None:
    """Rounded or truncated, it is the value; an erratum is none."""
    found = 0
    for vector in vectors():
        for text, told in vector["answers"].items():
            if "paper" in told:
                prints = Decimal(told["paper"]["prints"])
                last_digit = Decimal(1).scaleb(
                    min(int(prints.as_tuple().exponent), -2)
                )  # zeros at the end are left out
                is_printed = abs(Decimal(told["aggregate"]) - prints) < last_digit
                assert is_printed != ("erratum" in told["paper"]), (vector["id"], text)
                found += 1
    assert found > 60


def test_one_ranking_with_five_ndcgs() -> None:
    (vector,) = (vector for vector in vectors() if vector["id"] == "cumulated-gain/five-ndcgs")
    values = [told["aggregate"] for told in [*vector["answers"].values(), *vector["mistakes"].values()]]
    assert [round(value, 3) for value in values] == [0.785, 0.751, 0.769, 0.961, 0.949]


# --- What the page tells other projects -----------------------------------------------------------------------------

PAGE = FOLDER.parent / "docs" / "reference" / "conformance.md"


@pytest.mark.parametrize(("language", "program"), [("python", sys.executable), ("javascript", "node")])
def test_runners(language: str, program: str, tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    page = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "runner").write_text(code)
    found = subprocess.run([program, tmp_path / "runner", FOLDER], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] in page
    # A tool that forgets something is found out.
    (tmp_path / "broken").write_text(code.replace("log2(", "sqrt("))
    found = subprocess.run([program, tmp_path / "broken", FOLDER], capture_output=True, text=True, check=False)
    assert found.returncode == 1 and not found.stdout.endswith(" 0 differ\n")


def test_the_page_explains_every_field_and_error() -> None:
    schema = json.loads((FOLDER / "schema.json").read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    vector, answer = (schema["$defs"][name]["properties"] for name in ("vector", "answer"))
    names = [*schema["properties"], *vector, *answer, *answer["error"]["enum"], *(choice.name for choice in CHOICES)]
    assert [name for name in names if f"`{name}`" not in page and name != "$schema"] == []
