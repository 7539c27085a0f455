"""Documents of the frameworks themselves: `make test-frameworks` installs them into an environment of its own."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

import pytest

from tests.io.frameworks import check_documents


def documents_of(module: str) -> Any:
    if find_spec(module.partition(".")[0]) is None and os.environ.get("GAINFUL_REQUIRE_FRAMEWORKS") != "1":
        pytest.skip(f"{module} is not installed: make test-frameworks")
    return __import__(module, fromlist=["Document"])


def test_langchain() -> None:
    found = documents_of("langchain_core.documents")

    def make(own: str | None, score: float | None, about: dict[str, Any]) -> Any:
        return found.Document("text", id=own, metadata=about)

    check_documents(make, "metadata", False)
    check_documents(lambda *given: (make(*given), given[1]), "metadata", False)


def test_llama_index() -> None:
    found = documents_of("llama_index.core.schema")

    def make(own: str | None, score: float | None, about: dict[str, Any]) -> Any:
        named = {} if own is None else {"id_": own}
        return found.NodeWithScore(node=found.TextNode(text="text", metadata=about, **named), score=score)

    check_documents(make, "node.metadata", True)


def test_haystack() -> None:
    found = documents_of("haystack")

    def make(own: str | None, score: float | None, about: dict[str, Any]) -> Any:
        return found.Document(content="text", meta=about, score=score, **({} if own is None else {"id": own}))

    check_documents(make, "meta", True)
