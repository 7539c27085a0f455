"""The options of :func:`gainful.assess_sensitivity`. Nothing here loads NumPy."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from gainful.errors import UsageError
from gainful.question import setting

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.qrels import QrelsLike
    from gainful.data.run import RunLike
    from gainful.measures.base import Measure
    from gainful.policy import Policy
    from gainful.tasks.sensitivity.scenarios import Scenario


def _read_values(texts: Sequence[str], option: str) -> list[object]:
    """Values between commas, but not those in a map's braces; the option may be repeated."""
    parts = [part.strip() for text in texts for part in re.findall(r"(?:\{[^}]*\}|[^,])+", text)]
    if not parts:
        raise UsageError(f"{option}: expected a value, found none")
    if not all(parts):
        raise UsageError(f"{option}: expected values between commas, found '{','.join(texts)}'")
    return list(parts)


def _read_varied(texts: Sequence[str], option: str) -> dict[str, list[object]]:
    """NAME=V,V,... as values by name; what has no name belongs to the one before it."""
    values: dict[str, list[object]] = {}
    name = None
    for part in map(str, _read_values(texts, option)):
        key, equals, value = part.partition("=")
        if equals:
            name = key.strip()
        if name is None or not (value.strip() if equals else part):
            raise UsageError(f"{option}: expected NAME=VALUE,VALUE,..., found '{part}'", "such as srs=rank,minmax")
        values.setdefault(name, []).append(value.strip() if equals else part)
    return values


@dataclass(frozen=True)
class SensitivityOptions:
    """What is asked of :func:`gainful.assess_sensitivity`."""

    qrels: QrelsLike | Judged
    runs: Mapping[str, RunLike]
    _: KW_ONLY
    measure: str | Measure = "nDCG"
    gains: Sequence[object] | None = setting(
        None,
        "What grades are worth: weights like 0-1-10-100, linear, exp2, binary, or flat, tenfold, top for any scale; "
        "of ADM the values of the categories (urs).",
        flag="--gain",
        metavar="G,...",
        read_all=_read_values,
        shown="0-1-1-1, 0-1-2-3, exp2, 0-1-10-100, 0-0-0-1, for as many levels as there are",
    )
    discounts: Sequence[str] | None = setting(
        None,
        "jarvelin2002, burges2005 (no base can change nDCG with it: it cancels), ...",
        flag="--discount",
        metavar="D,...",
        read_all=_read_values,
        shown="jarvelin2002, none",
    )
    bases: Sequence[object] | None = setting(
        None,
        "Bases of the discounts' logarithms.",
        flag="--base",
        metavar="B,...",
        read_all=_read_values,
        shown="2, e, 10",
    )
    depths: Sequence[object] | None = setting(
        None, "Depths.", flag="--at", metavar="K,...", read_all=_read_values, shown="10, 30, 100, 200"
    )
    vary: Mapping[str, Sequence[object]] | None = setting(
        None, "Another parameter of the measure: srs=rank,minmax.", metavar="NAME=V,...", read_all=_read_varied
    )
    scenarios: Iterable[str | Scenario] | str | os.PathLike[str] | None = setting(
        None,
        "Only this: impatient (depth 30, 0-1-10-100, base 2), patient (depth 200, 0-1-2-3, base 10), or one of "
        "--scenarios; may be repeated.",
        flag="--scenario",
        metavar="NAME",
        repeatable=True,
    )
    scenario_file: str | os.PathLike[str] | None = setting(
        None, "A TOML file that defines scenarios.", kind="file", flag="--scenarios", metavar="FILE"
    )
    policy: Policy | str | None = None
    threads: int | None = None
