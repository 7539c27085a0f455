"""The core's join of runs in columns with an index of judged documents, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from gainful.data.lists import gather
from gainful.data.run import Run, empty_run, not_together
from gainful.errors import InputError
from gainful.io.rows import RANK, duplicate_message, hint_for, input_error
from gainful.kernel import core
from gainful.kernel.arrays import Bools, Ints
from gainful.kernel.parallel import Progress
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.kernel.core import Joined, JudgmentIndex


def fitting_policy(run: Run, policy: Policy) -> Policy:
    """The policy as this run can carry it: without scores, its ranks order it or, without those, the order it has."""
    if not run.has_scores and policy.order == "score":
        policy = policy.replace(order="rank" if run.has_ranks else "input")
    if policy.needs_rank and not run.has_ranks:
        choice = "order" if policy.order == "rank" else "ties"
        raise InputError(f"{run.name}: {choice}=rank needs a rank column, found none")
    return policy


def join_columns(
    index: JudgmentIndex,
    judged_ids: Sequence[bytes],
    run: Run,
    policy: Policy,
    threads: int,
    progress: Progress,
    *,
    want_scores: bool = False,
    want_rows: bool = False,
    want_facts: bool = False,
) -> Joined:
    """What the core makes of a run in columns under a policy that fits it."""
    if want_scores and not run.has_scores:
        raise InputError(f"{run.name}: expected scores, found a run without them")
    columns = core.ListColumns(
        list(run.query_ids),
        run.list_offsets,
        *run.document_spans,
        run.score if run.has_scores else np.zeros(len(run)),
        run.rank if run.has_ranks else np.zeros(0),
    )
    options = policy.join_options(want_scores=want_scores, want_rows=want_rows, want_facts=want_facts)
    joined = core.join_columns(columns, index, options, threads, progress.cells)
    if joined["fault_count"]:
        messages = [_row_message(run, *fault) for fault in joined["faults"]]
        raise input_error(messages, joined["fault_count"], hint_for(joined["faults"][0][1], run=True))
    if policy.order == "input" and run.has_ranks:
        joined["rank_conflicts"] = int(np.count_nonzero(falling_ranks(run, set(judged_ids))))
    return joined


def falling_ranks(run: Run, judged_ids: Set[bytes]) -> Bools:
    """Which rows of judged queries have a lower rank than the row before them."""
    falls = np.diff(run.rank, prepend=-np.inf) < 0
    falls[run.list_offsets[:-1][np.diff(run.list_offsets) > 0]] = False
    judged = np.array([query in judged_ids for query in run.query_ids], bool)
    return np.asarray(falls & np.repeat(judged, np.diff(run.list_offsets)))


def _row_message(run: Run, row: int, code: int, detail: int) -> str:
    origin = run.origin
    if code == RANK:
        where = run.name if origin is None else origin.where(row)
        return f"{where}: expected a number as rank, found none" + ("" if origin is None else origin.shown(row))
    document, query = run.document(row), run.query_of(row)
    if origin is None:
        return f"{run.name}: " + duplicate_message(document, query, f"document {detail + 1} of the run")
    return f"{origin.where(row)}: " + duplicate_message(document, query, origin.place(detail)) + origin.shown(row)


def joined_blocks(judged_ids: Sequence[bytes], name: str, parts: Iterable[tuple[Run, Joined]]) -> Joined:
    """The joins of several blocks of a run, of different queries each, as one."""
    answered, retrieved, hits = np.zeros(len(judged_ids), bool), *np.zeros((2, len(judged_ids)), np.int64)
    extra: set[bytes] = set()
    order: list[Ints] = []  # the judged queries as they came
    kept: list[Joined] = []
    for run, joined in parts:
        first = joined
        again = answered & joined["answered"]
        if again.any() or not extra.isdisjoint(joined["extra_ids"]):
            finished = extra.union(judged_ids[at] for at in np.flatnonzero(again).tolist())
            place, query = next((i, query) for i, query in enumerate(run.query_ids) if query in finished)
            assert run.origin is not None
            raise not_together(run.origin.where(int(run.list_offsets[place])), query)
        order.append(np.flatnonzero(joined["answered"]))
        answered |= joined["answered"]
        retrieved += joined["retrieved"]
        hits += np.diff(joined["hit_offsets"])
        extra.update(joined["extra_ids"])
        # Nothing of the size of all judgments is kept of a block.
        kept.append({**joined, "answered": answered, "retrieved": retrieved, "hit_offsets": hits, "extra_ids": []})
    if not kept:
        raise empty_run(name)
    if len(kept) == 1:
        return first
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
