"""Z-scores: how many deviations a value is away from the mean of other runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gainful.arrays import Floats
from gainful.compat.trec_eval.faults import FILE, RefusedError
from gainful.compat.trec_eval.numbers import leading_real
from gainful.io.sources import open_source
from gainful.notation import text_of_id

#: What stands for a Z-score that there is none of.
_NONE = -1000000.0


@dataclass(frozen=True)
class ZScores:
    """Means and deviations by topic and name of a measure."""

    known: dict[tuple[str, str], tuple[float, float]]

    @classmethod
    def read(cls, path: str) -> ZScores:
        """From a file of lines ``topic measure mean deviation``."""
        known: dict[tuple[str, str], tuple[float, float]] = {}
        for number, line in enumerate(open_source(path).data.tobytes().splitlines(), 1):
            fields = [text_of_id(field) for field in line.split()]
            if len(fields) != 4:
                raise RefusedError(
                    FILE, f"{path}:{number}: expected topic measure mean deviation, found {len(fields)} fields"
                )
            known.setdefault((fields[0], fields[1]), (leading_real(fields[2]), leading_real(fields[3])))
        return cls(known)

    def of(self, measure: str, topics: list[str], values: Floats) -> Floats:
        """The Z-scores of a measure's values.

        >>> ZScores({("301", "map"): (0.25, 0.5)}).of("map", ["301", "302"], np.array([0.5, 0.5])).tolist()
        [0.5, -1000000.0]
        """
        return np.array(
            [self._one(topic, measure, value) for topic, value in zip(topics, values.tolist(), strict=True)]
        )

    def _one(self, topic: str, measure: str, value: float) -> float:
        mean, deviation = self.known.get((topic, measure), (0.0, 0.0))
        if (topic, measure) not in self.known or (deviation == 0 and value != mean):
            return _NONE
        return (value - mean) / deviation if deviation else 0.0
