"""Random streams that are told apart by a seed and a number, so that blocks of draws do not depend on each other."""

from __future__ import annotations

import numpy as np

from gainful.errors import UsageError

#: Draws of one random stream: any block can be made without the ones before it, and threads may take them in any order.
BLOCK = 1_000
MOST_DRAWS = 10_000_000


def stream(seed: int, number: int = 0) -> np.random.Generator:
    """The random numbers of a seed and a block or draw: Philox with both as its key.

    >>> bool(stream(1, 2).integers(10) == stream(1, 2).integers(10))
    True
    """
    return np.random.Generator(np.random.Philox(key=np.array([seed, number], np.uint64)))


def check_draws(draws: int, seed: int, least: int = 1) -> None:
    """Refuses a number of draws or a seed that is none, and more draws than memory and patience last for."""
    if draws < least:
        raise UsageError(f"draws: expected at least {least}, found {draws}")
    if draws > MOST_DRAWS:
        raise UsageError(f"draws: expected at most {MOST_DRAWS:,}, found {draws:,}")
    check_seed(seed)


def check_seed(seed: int) -> None:
    """Refuses a seed that is none.

    >>> check_seed(0), check_seed(2**63 - 1)
    (None, None)
    """
    if not isinstance(seed, (int, np.integer)) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        raise UsageError(f"seed: expected a whole number from 0 to 2^63 - 1, found {seed}")
