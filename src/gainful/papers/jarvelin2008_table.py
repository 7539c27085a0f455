"""Table 2 of Järvelin et al. 2008 as it is printed: how many queries its sessions have."""

from __future__ import annotations

import math

import numpy as np

from gainful.sessions.positions import ByPosition, Queries
from gainful.sessions.study import SystemQueries

#: Sessions with exactly 1 to 11 queries, by system.
_COUNTS = {
    "System 1": (28, 7, 10, 4, 5, 4, 1, 1, 0, 0, 0),
    "System 2": (21, 7, 9, 11, 2, 4, 2, 2, 0, 1, 1),
}
#: What is printed beside them: queries per session, sessions of each system, and queries in all.
PAPER_AVERAGES = (2.53, 3.18)
PAPER_SESSIONS = 60
PAPER_QUERIES = 343


def paper_systems(prefix: str = "") -> dict[str, SystemQueries]:
    """The paper's systems, of which only the lengths of sessions are known.

    >>> {name: round(found.average, 2) for name, found in paper_systems().items()}
    {'System 1': 2.53, 'System 2': 3.18}
    """
    nothing = ByPosition(np.zeros(0, np.int64), np.zeros(0))
    unknown = Queries(0, math.nan)
    return {
        prefix + name: SystemQueries(np.array(counts, np.int64), nothing, unknown, unknown)
        for name, counts in _COUNTS.items()
    }
