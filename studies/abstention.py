"""False answers to new queries at the threshold that was chosen on some queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matrices import markdown

from gainful.tasks.curves.abstention import answers_by_threshold
from gainful.tasks.curves.averages import Resampling

_NO_BANDS = Resampling(0, 0, 0.95)


def abstention(folder: Path, samples: int = 4000) -> str:
    """Measure false answers to new queries for thresholds with the guarantee, and for the lowest without it."""
    rng = np.random.default_rng(37)
    # Of all answers 40% are false; the top score tells some of them.
    every = np.sort(rng.normal(size=200_000))
    is_wrong = rng.random(every.size) < 1 / (1 + np.exp(0.5 + 1.5 * every))
    false_above, answers_above = (np.append(np.cumsum(each[::-1])[::-1], 0) for each in (is_wrong, is_wrong | True))
    rows = []
    for n in (20, 40, 100, 400):
        cells = []
        for level in (0.05, 0.1, 0.2):
            guaranteed, naive, answered, silent = 0.0, 0.0, 0.0, 0
            for _ in range(samples):
                drawn = rng.integers(0, every.size, n)
                top, wrong = every[drawn], is_wrong[drawn]
                found = answers_by_threshold(top, 1.0 - wrong, wrong, wrong & False, level, _NO_BANDS)
                places = np.searchsorted(every, found.thresholds, side="right")
                if found.lowest is None:
                    silent += 1
                else:
                    guaranteed += false_above[places[found.lowest]] / every.size
                    answered += answers_above[places[found.lowest]] / every.size
                naive += false_above[places[np.argmax(found.of("false")[0] <= level)]] / every.size
            rates = f"{100 * guaranteed / samples:.1f}% / {100 * naive / samples:.1f}%"
            cells.append(f"none / {100 * naive / samples:.1f}%" if silent else rates)
            cells.append("0%" if silent else f"{100 * answered / samples:.0f}%")
        rows.append([str(n), *cells])
    levels = [each for level in (5, 10, 20) for each in (f"at most {level}%", "answered")]
    return markdown(["queries", *levels], rows)
