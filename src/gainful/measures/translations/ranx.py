"""ranx's names: ``metric@k-lN``, and ``rbp.95``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gainful.errors import UsageError
from gainful.measures.translations.translation import NoEqual, Setting, Translation, build, unknown


class _Name(NamedTuple):
    """Our measure of the whole list, that of the first k documents if there is one, and parameters of both."""

    whole: str
    cut: str | None = None
    parameters: Mapping[str, object] = {}


_EXPONENTIAL = {"gain": "exp2"}

NAMES: Mapping[str, _Name] = {
    "hit_rate": _Name("Success", "Success"),
    "precision": _Name("SetP", "P"),
    "recall": _Name("SetR", "R"),
    "f1": _Name("SetF", "F"),
    "r-precision": _Name("Rprec"),
    "mrr": _Name("RR", "RR"),
    "map": _Name("AP", "AP"),
    "dcg": _Name("DCG", "DCG"),
    "dcg_burges": _Name("DCG", "DCG", _EXPONENTIAL),
    "ndcg": _Name("nDCG", "nDCG"),
    "ndcg_burges": _Name("nDCG", "nDCG", _EXPONENTIAL),
    "bpref": _Name("Bpref"),
    "rbp": _Name("RBP", None, {"gain": "linear"}),
}

#: What ranx has and we have not.
WITHOUT_EQUAL: Mapping[str, NoEqual] = {
    "hits": NoEqual("ranx takes the mean of this count", "NumRelRet, which adds it up over queries"),
}

_SETTING = Setting(
    "ranx",
    choices={"ties": "input"},
    note="ranx leaves ties as they come; a query that is not answered is an error there unless make_comparable=True",
)
_RBP = _SETTING._replace(
    note="ranx's gains are the grades; above 1, its number is that of gain=scaled times the highest grade"
)
_TEXT = re.compile(r"(?P<name>[a-z][\w-]*?)(?P<by>[@.](?P<number>\d+))?(-l(?P<level>\d+))?", re.ASCII)


def translate(name: str, text: str) -> Translation:
    """A text after ``ranx:``. ``-lN`` is the lowest grade that counts, of gains, too.

    >>> translate("ndcg_burges@10", "ranx:ndcg_burges@10").measures, translate("map-l2", "ranx:map-l2").measures
    ((nDCG(gain=exp2)@10,), (AP(rel=2),))
    """
    match = _TEXT.fullmatch(name)
    if not match:
        raise UsageError(
            f"{text}: expected metric@k-lN as ranx reads it, found '{name}'", "for example ranx:ndcg@10-l2"
        )
    theirs, number = match["name"], match["number"]
    if theirs in WITHOUT_EQUAL:
        WITHOUT_EQUAL[theirs].refuse(text)
    if theirs not in NAMES or (match["by"] or "").startswith(".") != (theirs == "rbp" and "." in name):
        raise unknown("ranx", theirs, NAMES, text)
    ours, given = _cut(theirs, number, text)
    if match["level"] not in (None, "1"):
        given = {**given, "rel": match["level"]}
    return Translation(text, "ranx", (build(ours, given),), (_RBP if theirs == "rbp" else _SETTING,))


def _cut(theirs: str, number: str | None, text: str) -> tuple[str, Mapping[str, object]]:
    """Our measure, with what ``@`` or ``.`` sets; 0 is the whole list in ranx."""
    known = NAMES[theirs]
    if theirs == "rbp":
        if number is None:
            raise UsageError(f"{text}: ranx wants a persistence, found none", "write ranx:rbp.95")
        return known.whole, {**known.parameters, "p": f"0.{number}"}
    if number is None or int(number) == 0:
        return known.whole, known.parameters
    if known.cut is None:
        raise UsageError(f"{text}: ranx computes {theirs} of whole lists, whatever the cutoff", f"write ranx:{theirs}")
    return known.cut, {**known.parameters, "cutoff": number}
