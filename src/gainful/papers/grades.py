"""The grade levels of judgments, for papers that need several."""

from __future__ import annotations

from gainful.data.judged import Judged
from gainful.errors import InputError
from gainful.notation import count_of, number_text
from gainful.sensitivity.levels import GradeLevels

#: More levels than these have no place in a paper's tables.
_MOST_LEVELS = 9


def graded_levels(judged: Judged, paper: str) -> GradeLevels:
    """The grade levels above 0 of whole grades 1, 2, ..., at least two; judgments of another kind are refused.

    The papers weigh four levels, 0 to 3. On another scale ``named("flat")`` is what 0-1-1-1 is there,
    ``named("tenfold")`` what 0-1-10-100 is, and ``named("top")`` what 0-0-0-1 is.
    """
    name = judged.qrels.name
    levels = GradeLevels.of(judged)
    if not levels.is_whole and levels.levels:
        strange = next((level for level in levels.levels if not level.is_integer()), levels.levels[-1])
        raise InputError(
            f"{name}: {paper} expects grades 0, 1, 2 and so on, found {number_text(strange)}",
            "its weights are by level: 0-1-10-100; gainful curves takes any grades",
        )
    if not 2 <= len(levels.levels) <= _MOST_LEVELS:
        raise InputError(
            f"{name}: {paper} expects 2 to {_MOST_LEVELS} grade levels above 0, "
            f"found {count_of(len(levels.levels), 'level')}",
            "the paper's judgments have the grades 0, 1, 2 and 3",
        )
    return levels
