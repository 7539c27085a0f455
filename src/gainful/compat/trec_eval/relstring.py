"""The grades at the top of a list, one character each."""

from __future__ import annotations

import numpy as np

from gainful.arrays import Ints
from gainful.data.graded import GradedRun
from gainful.data.lists import gather

_UNJUDGED, _POOLED, _MORE = ord("-"), ord("."), ord(">")


def grade_strings(graded: GradedRun, length: int, topics: Ints) -> list[str]:
    """For each of some topics the grades of its first documents.

    0 to 9 are themselves, more is ``>``; a document that was not judged is ``-``, or ``.`` if its grade is below 0.
    """
    length = max(0, min(length, int(graded.retrieved[topics].max(initial=0))))
    characters = np.full((topics.size, length), _UNJUDGED, np.uint8)
    row, place = gather(graded.hit_offsets, topics)
    grade = graded.hit_grade[place]
    _put(characters, row, graded.hit_rank[place], np.where(grade > 9, _MORE, ord("0") + np.minimum(grade, 9)))
    if graded.pooled is not None:
        offsets, ranks = graded.pooled
        row, place = gather(offsets, topics)
        _put(characters, row, ranks[place], np.full(row.size, _POOLED))
    shown = graded.retrieved[topics].tolist()
    return [line.tobytes()[:count].decode() for line, count in zip(characters, shown, strict=True)]


def _put(characters: np.ndarray[tuple[int, int], np.dtype[np.uint8]], row: Ints, rank: Ints, codes: np.ndarray) -> None:
    fits = rank <= characters.shape[1]
    characters[row[fits], rank[fits] - 1] = codes[fits]
