"""How much memory may be used for what is read, and what is said where that is not enough."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

from gainful.errors import InputError, UsageError

#: In the environment: the most memory to use, such as 8GB.
SETTING = "GAINFUL_MAX_MEMORY"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)b?", re.IGNORECASE | re.ASCII)
HINT = f"--max-memory ({SETTING}) sets the limit; runs in TREC text, query after query, need least"


def read_size(text: str, what: str) -> int:
    """A number of bytes: 500MB, 8GB, 1.5g.

    >>> read_size("1.5GB", "--max-memory")
    1500000000
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
    if size <= 0:
        raise UsageError(f"{what}: expected a size such as 500MB or 8GB, found '{text}'")
    return size


def size_text(size: float) -> str:
    """A number of bytes for people.

    >>> size_text(17_580_000_000), size_text(512)
    ('17.6 GB', '512 bytes')
    """
    unit = next((unit for unit in "tgmk" if size >= _UNITS[unit]), "")
    return f"{size / _UNITS[unit]:.3g} {unit.upper()}B" if unit else f"{size:g} bytes"


def most_memory() -> int | None:
    """The most memory to use for a source; None where nobody knows how much there is."""
    setting = os.environ.get(SETTING)
    return read_size(setting, SETTING) if setting else _three_quarters()


@cache
def _three_quarters() -> int | None:
    """Three quarters of the memory that was free at first: of the machine, and of what this process is given of it."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/meminfo", encoding="ascii") as file:
            lines = dict(line.split(":", 1) for line in file)
        found.append(int(lines["MemAvailable"].split()[0]) * 1024)
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            found.append(int(file.read()))
    if not found and hasattr(os, "sysconf"):
        with suppress(OSError, ValueError):
            found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(found) * 3 // 4 if found else None


def refuse_more_than_fits(size: int, name: str) -> None:
    """Refuses a source of so many bytes, or more, if that is more than may be used."""
    most = most_memory()
    if most is not None and size > most:
        raise InputError(f"{name}: takes {size_text(size)} of memory or more, and {size_text(most)} may be used", HINT)


def most_for_a_list() -> int:
    """How much of a text may be held at a time because one list has so much of it."""
    most = most_memory()
    return 1 << 31 if most is None else min(most, 1 << 31)


@contextmanager
def running_out(name: str) -> Iterator[None]:
    """Says of which source the memory was not enough for."""
    try:
        yield
    except MemoryError as error:
        raise InputError(f"{name}: takes more memory than there is", HINT) from error
