"""Judgments of collections that the package ir_datasets knows, by their ids."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from gainful.core import core
from gainful.errors import InputError, MissingExtraError
from gainful.io.origin import FrameRows
from gainful.io.rows import Rows, Spans

PREFIX = "irds:"


def is_dataset(source: str) -> bool:
    """Whether a source that is no file is the id of a collection: marked by ``irds:``, or known to ir_datasets."""
    if source.startswith(PREFIX):
        return True
    if find_spec("ir_datasets") is None:
        return False
    import ir_datasets

    return source in ir_datasets.registry


def read_judgments(source: str) -> Rows:
    """The judgments of a collection."""
    dataset = _dataset(source)
    if not dataset.has_qrels():
        raise InputError(f"{source}: expected a collection with judgments, found one without")
    judgments = list(dataset.qrels_iter())
    subtopics = [
        getattr(judgment, "subtopic_id", None) or getattr(judgment, "iteration", "0") for judgment in judgments
    ]
    return Rows(
        _spans([judgment.query_id for judgment in judgments]),
        _spans([judgment.doc_id for judgment in judgments]),
        np.array([judgment.relevance for judgment in judgments], np.float64),
        FrameRows(source),
        subtopic=_spans(subtopics),
    )


def _spans(ids: list[object]) -> Spans:
    data, start, length, _ = core.pack_ids(ids)
    return data, start, length


def _dataset(source: str) -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise MissingExtraError(
            f"{source}: reading it needs the package ir_datasets", "install it with: pip install 'gainful[datasets]'"
        ) from error
    try:
        return ir_datasets.load(source.removeprefix(PREFIX))
    except KeyError as error:
        raise InputError(f"{source}: expected the id of a collection, found none that ir_datasets knows") from error
