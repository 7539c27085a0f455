"""Scores of several files put together: the systems of a measure by query id, the measures that are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from gainful.errors import InputError, UsageError
from gainful.io.sources import Source
from gainful.notation import printable
from gainful.stats.score_files import read_matrices
from gainful.stats.scores import Better, ScoreMatrix


def read_all(
    sources: Sequence[Source],
    *,
    measures: Sequence[str] = (),
    rows: str | None = None,
    better: Better | None = None,
) -> dict[str, ScoreMatrix]:
    """The matrices of several files by their measures: those named, in that order, or all as they come.

    Systems of one measure may be spread over files; they are paired by query id. A single table is of the measure that
    is named. Ids of queries in earlier files help to tell rows from columns in later ones.

    >>> one = b"query,a\\nq1,0.5\\nq2,1\\n"
    >>> other = b"query,b\\nq2,0\\nq1,1\\n"
    >>> [matrix] = read_all([one, other], measures=["RR"]).values()
    >>> matrix.systems, matrix.values.tolist()
    (('a', 'b'), [[0.5, 1.0], [1.0, 0.0]])
    """
    only = measures[0] if len(measures) == 1 else None
    found: dict[str, list[ScoreMatrix]] = {}
    known: set[str] = set()
    for source in sources:
        for name, matrix in read_matrices(source, rows=rows, better=better, queries=known or None, label=only).items():
            found.setdefault(name, []).append(matrix)
            known.update(() if matrix.is_numbered else matrix.queries)
    joined = {name: _joined(parts) for name, parts in found.items()}
    return {name: joined[name] for name in _chosen(measures, list(joined))} if measures else joined


def _joined(parts: Sequence[ScoreMatrix]) -> ScoreMatrix:
    """One matrix of all systems of a measure, paired by query id."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    scores: dict[str, dict[str, float | None]] = {}
    for part in parts:
        if part.is_numbered:
            raise InputError(
                f"{part.origin}: expected query ids to put its systems beside those of {first.origin}, found none: "
                "scores are never paired by their place"
            )
        for system in part.systems:
            if system in scores:
                raise InputError(
                    f"{part.origin}: expected systems that earlier files do not have, "
                    f"found '{printable(system)}' twice with {part.measure}"
                )
            # A query that another system of the part lacks has no score here, either, and is left out for all.
            scores[system] = dict.fromkeys(part.left_out, None)
            scores[system] |= dict(zip(part.queries, part.column(system).tolist(), strict=True))
    matrix = ScoreMatrix.of(first.measure, scores, better=first.better, source=", ".join(p.source for p in parts))
    return replace(matrix, reading="\n".join(part.reading for part in parts if part.reading))


def _chosen(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    """The names of the measures wanted as the files have them: as they stand, or as the catalogue writes them."""
    from gainful.measures.grammar import parse

    chosen = []
    for text in wanted:
        names = [text]
        with suppress(UsageError):
            names.append(str(parse(text)))
        found = next((name for name in names if name in there), None)
        if found is None:
            raise UsageError(f"scores: expected the measure '{text}', found none such", f"there are {', '.join(there)}")
        chosen.append(found)
    return list(dict.fromkeys(chosen))
