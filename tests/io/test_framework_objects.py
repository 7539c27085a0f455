"""Documents of frameworks: objects with the same attributes, and their JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gainful import InputError, compare, evaluate
from gainful.cli.main import run as run_command
from gainful.io.json_text import value_at
from tests.io.frameworks import GOLD, check_documents, lists_of


@dataclass
class LangChain:
    id: str | None
    metadata: dict[str, Any]
    page_content: str = "text"


@dataclass
class Node:
    node_id: str
    metadata: dict[str, Any]


@dataclass
class NodeWithScore:
    node: Node
    score: float | None

    @property
    def metadata(self) -> dict[str, Any]:
        return self.node.metadata


@dataclass
class Haystack:
    id: str
    score: float | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    content: str = "text"


WHICH = "no unique id for this document; it has"


def langchain(own: str | None, score: float | None, about: dict[str, Any]) -> LangChain:
    return LangChain(own, about)


def test_langchain(core: str) -> None:
    check_documents(langchain, "metadata", False)
    check_documents(lambda own, score, about: (LangChain(own, about), score), "metadata", False)


def test_llama_index(core: str) -> None:
    made = iter(range(1000))
    check_documents(
        lambda own, score, about: NodeWithScore(Node(own or f"{next(made)}", about), score), "node.metadata", True
    )
    check_documents(lambda own, score, about: Node(own or f"{next(made)}", about), "metadata", True)


def test_json_of_llama_index(core: str) -> None:
    """Nodes have the property node_id, and id_ in their JSON."""
    nodes = [{"id_": each, "metadata": {"file_name": "a.pdf"}, "text": "x"} for each in ("c2", "c1")]
    scored = [{"node": node, "score": score} for node, score in zip(nodes, (0.9, 0.4), strict=True)]
    for lists in (nodes, scored):
        assert evaluate({"q1": ["c1"]}, {"q1": lists}, "RR").mean("RR") == 1 / 2


def test_haystack(core: str) -> None:
    made = iter(range(1000))
    check_documents(lambda own, score, about: Haystack(own or f"{next(made)}", score, about), "meta", True)


def test_a_list_is_the_ranking_whatever_its_scores_are() -> None:
    """Some vector stores return distances, of which the smallest is best."""
    run = {"q1": [(LangChain("c2", {}), 0.1), (LangChain("c1", {}), 0.7)]}
    assert evaluate({"q1": ["c1"]}, run, "RR").mean("RR") == 1 / 2


def test_functions_give_ids() -> None:
    run = lists_of(langchain, False)
    assert evaluate(GOLD, run, "RR", id=lambda document: document.metadata["chunk_id"]).mean("RR") == 3 / 4
    columns = {"run.document": lambda document: document.metadata["chunk_id"]}
    assert (
        compare(GOLD, {"a": run, "b": {"q1": ["c1"], "q2": ["c3"]}}, "RR", columns=columns).pairs["RR"].difference
        == 1 / 4
    )


def test_an_id_that_is_also_in_the_metadata_is_one() -> None:
    assert evaluate({"q": ["c1"]}, {"q": [LangChain("c1", {"chunk_id": "c1"})]}, "RR").mean("RR") == 1


@pytest.mark.parametrize(
    ("document", "given", "message", "takes"),
    [
        (
            LangChain(None, {"source": "a", "page": 3}),
            None,
            f"{WHICH} metadata.source, metadata.page",
            "metadata.source",
        ),
        (
            LangChain("u", {"doc_id": "d", "chunk_id": "c"}),
            None,
            f"{WHICH} id, metadata.doc_id, metadata.chunk_id",
            "metadata.chunk_id",
        ),
        (
            LangChain("u", {"chunk_id": "c"}),
            "metadata.chunkid",
            "no 'metadata.chunkid' in this document; it has id, metadata.chunk_id",
            "metadata.chunk_id",
        ),
        (LangChain(None, {}), None, f"{WHICH} none", "NAME"),
    ],
)
def test_a_choice_has_to_be_made(document: Any, given: Any, message: str, takes: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate({"q": ["c"]}, {"q": [document]}, "RR", id=given)
    assert error.value.message == f"<dict>['q'][0]: {message}"
    assert error.value.hint == f"use id='{takes}'; id= may also be a function of the document"


def serialised() -> dict[str, str]:
    """The lists as one value, as one line per list, and as one line per document."""
    lists = {query: [each.metadata for each in found] for query, found in lists_of(langchain, False).items()}
    whole = {q: [{"id": None, "metadata": each, "page_content": ""} for each in found] for q, found in lists.items()}
    scored = {q: [{"metadata": each, "score": 9 - i} for i, each in enumerate(found)] for q, found in lists.items()}
    lines = [{"query": query, "results": found} for query, found in scored.items()]
    rows = [{"query": query, **each} for query, found in scored.items() for each in found]
    return {
        "by query": json.dumps(whole),
        "lines": "".join(json.dumps(each) + "\n" for each in lines),
        "rows": "".join(json.dumps(each) + "\n" for each in rows),
    }


SERIALISED = serialised()


@pytest.mark.parametrize("text", SERIALISED.values(), ids=SERIALISED)
def test_paths_in_json(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "run.json").write_text(text)
    files = [str(tmp_path / "gold.json"), str(tmp_path / "run.json")]
    assert run_command(["eval", *files, "-m", "RR", "--columns", "document=metadata.chunk_id"]) == 0
    assert "0.7500" in capsys.readouterr().out
    assert run_command(["eval", *files, "-m", "RR", "--columns", "document=metadata.chunkid"]) != 0
    assert "metadata" in capsys.readouterr().err


def test_scores_in_json_order_documents() -> None:
    """Lines of a file may be in any order, as elsewhere in JSON."""
    documents = [{"meta": {"chunk_id": "c1"}, "score": 0.1}, {"meta": {"chunk_id": "c2"}, "score": 0.9}]
    assert evaluate({"q": ["c1"]}, [{"query": "q", "results": documents}], "RR").mean("RR") == 1 / 2


def test_paths() -> None:
    assert value_at({"a": {"b": 0}}, "a.b") == 0
    assert value_at(NodeWithScore(Node("n", {"x": {"y": 1}}), None), "node.metadata.x.y") == 1
    assert value_at({"a": 3}, "a.b.c") is None
