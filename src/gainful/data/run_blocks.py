"""A run that comes block by block, and the join of its blocks: more rows than memory has room for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.data.lists import gather
from gainful.data.run import Run, empty_run, not_together
from gainful.io.batches import read_batches, whole_queries
from gainful.io.formats import FORMATS, Reading, RunFile, format_of
from gainful.io.sources import open_source
from gainful.kernel.arrays import Ints

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.io.rows import Rows
    from gainful.kernel.core import Joined

#: So many rows at least are worth the core's while.
BLOCK = 1 << 19
#: A file of so many bytes is read piece by piece, if it can be.
LARGE = 1 << 26


@dataclass(frozen=True, eq=False)
class RunBlocks:
    """A run in blocks of whole queries, of which no more than one is held at a time."""

    name: str
    runs: Callable[[int], Iterable[Run]]  # by how many rows at least are wanted at a time
    is_kept: bool = False  # whether it can be read again
    change: Callable[[Run], Run] | None = None  # what is done to every block

    @classmethod
    def of_batches(cls, batches: object, columns: Mapping[str, str], name: str) -> RunBlocks:
        """A run in Arrow batches in which the results of a query stand together."""
        return cls(name, lambda least: runs_of(read_batches(batches, columns, name, least), name, least))

    @classmethod
    def of_file(cls, run: object) -> RunBlocks | None:
        """A run in a large file of a format that can be read piece by piece; None for anything else."""
        if not isinstance(run, (str, os.PathLike, RunFile)):
            return None
        source, how = (run.source, run.how) if isinstance(run, RunFile) else (run, Reading())
        if not isinstance(source, (str, os.PathLike)) or not os.path.isfile(source) or os.path.getsize(source) < LARGE:
            return None
        text = open_source(source)
        format_ = FORMATS[format_of(text, how, run=True)]
        if not format_.piece_reader:
            return None
        return cls(text.name, lambda least: runs_of(format_.pieces(text, how), text.name, least))

    def blocks(self, queries: int) -> Iterator[Run]:
        """Runs of some queries each. A join has something for each of the judged ``queries``: it should not be more
        than what there is to join."""
        runs = self.runs(max(BLOCK, queries))
        yield from runs if self.change is None else map(self.change, runs)

    def read_unseen(self) -> Run:
        """All of it at once."""
        (run,) = self.runs(sys.maxsize)
        return run if self.change is None else self.change(run)


def runs_of(pieces: Iterable[Rows], name: str, least: int) -> Iterator[Run]:
    """Runs of whole queries from rows in pieces, in which the results of a query stand together."""
    return (Run.from_rows(rows, name, together=True) for rows in whole_queries(pieces, least))


def joined_blocks(judged: Judged, name: str, parts: Iterable[tuple[Run, Joined]]) -> Joined:
    """The joins of several blocks of a run, of different queries each, as one."""
    judged_ids = judged.qrels.query_ids
    answered, retrieved, hits = np.zeros(len(judged_ids), bool), *np.zeros((2, len(judged_ids)), np.int64)
    extra: set[bytes] = set()
    order: list[Ints] = []  # the judged queries as they came
    kept: list[Joined] = []
    for run, joined in parts:
        again = answered & joined["answered"]
        if again.any() or not extra.isdisjoint(joined["extra_ids"]):
            _refuse(run, extra.union(judged_ids[at] for at in np.flatnonzero(again).tolist()))
        order.append(np.flatnonzero(joined["answered"]))
        answered |= joined["answered"]
        retrieved += joined["retrieved"]
        hits += np.diff(joined["hit_offsets"])
        extra.update(joined["extra_ids"])
        # Nothing of the size of all judgments is kept of a block.
        kept.append({**joined, "answered": answered, "retrieved": retrieved, "hit_offsets": hits, "extra_ids": []})
    if not kept:
        raise empty_run(name)
    came = np.concatenate(order)

    def together(column: str, counts: Ints) -> Any:
        """A column of all blocks, by the judged queries."""
        values = np.concatenate([joined[column] for joined in kept])  # type: ignore[literal-required]
        if not values.size or np.all(came[1:] > came[:-1]):
            return values
        offsets = np.concatenate(([0], np.cumsum(counts[came])))
        return values[gather(offsets, np.argsort(came))[1]]

    whole: Joined = {
        **kept[0],
        "hit_offsets": np.concatenate(([0], np.cumsum(hits))),
        "hit_rank": together("hit_rank", hits),
        "hit_item": together("hit_item", hits),
        "scores": together("scores", retrieved),
        "extra_ids": sorted(extra),
    }
    for count in ("list_count", "row_count", "duplicate_count", "rank_conflicts", "float32_ties", "tied_count"):
        whole[count] = sum(joined[count] for joined in kept)
    return whole


def _refuse(run: Run, finished: set[bytes]) -> None:
    """Refuses a run with a query that an earlier block has finished."""
    place, query = next((i, query) for i, query in enumerate(run.query_ids) if query in finished)
    assert run.origin is not None
    raise not_together(run.origin.where(int(run.list_offsets[place])), query)
