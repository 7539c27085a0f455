"""Where another tool's number is not ours, on purpose or by its fault: data, which the tests hold to be true."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Difference(NamedTuple):
    """A difference to a tool: what it calls the measure, which of ours it concerns, and the reason.

    ``recorded`` says where it was read, for tools that are not there when the tests run; None where a test shows the
    difference. ``told`` are those of ours whose docstring says it already.
    """

    tool: str
    measure: str
    ours: tuple[str, ...]
    why: str
    recorded: str | None = None
    told: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The reason, with where it was read."""
        return self.why + (f" (read in {self.recorded})" if self.recorded else "")


@cache
def differences() -> tuple[Difference, ...]:
    """All known differences, tool by tool."""
    import tomllib

    text = files("gainful.measures").joinpath("differences.toml").read_text(encoding="utf-8")
    return tuple(
        Difference(
            entry["tool"],
            entry["measure"],
            tuple(entry["ours"]),
            entry["why"],
            entry.get("recorded"),
            tuple(entry.get("told", ())),
        )
        for entry in tomllib.loads(text)["difference"]
    )


def differences_of(name: str) -> tuple[Difference, ...]:
    """Those that concern one of our measures and that its docstring does not tell.

    >>> [difference.tool for difference in differences_of("IPrec")][:1]
    ['pytrec_eval']
    """
    return tuple(each for each in differences() if name in each.ours and name not in each.told)
