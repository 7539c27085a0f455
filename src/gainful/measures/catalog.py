"""Parse measures from text, ``Name(key=value, ...)@k``: our names, other tools' names, and common spellings."""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gainful.errors import UsageError, for_asker
from gainful.measures.measure_families import ALL_FAMILIES, ALL_MEASURES, FAMILIES, MEASURES, SHORT_NAMES, is_ours
from gainful.notation import nearest, printable

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from gainful.measures.base import Measure
    from gainful.measures.names_trec_eval import Translation


_T = TypeVar("_T")

__all__ = ["ALL_FAMILIES", "ALL_MEASURES", "FAMILIES", "MEASURES", "SHORT_NAMES"]


class Entry(NamedTuple):
    """A measure and the parameters that its name presets."""

    measure: type[Measure]
    preset: Mapping[str, object] = {}


#: The default measures of ``gainful eval``.
DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")

#: The default measures of sessions.
DEFAULT_SESSION_MEASURES = ("sDCG@10", "nsDCG@10")


def long_text(short_name: str) -> str:
    """Return the long form of a short name."""
    name, preset = SHORT_NAMES[short_name]
    parameters = ", ".join(f"{key}={value}" for key, value in preset.items())
    return f"{name}({parameters})" if parameters else name


def find(name: str) -> Entry:
    """Find the entry of a name: ours, a short name, or a measure of an installed package."""
    if name in ALL_MEASURES:
        return Entry(ALL_MEASURES[name])
    if name in SHORT_NAMES:
        long_name, preset = SHORT_NAMES[name]
        return Entry(MEASURES[long_name], preset)
    offered = _offered(name)
    if offered is not None:
        return Entry(offered)
    from gainful.measures.names_usual import meant_by

    close = meant_by(name) or nearest(name, [*ALL_MEASURES, *SHORT_NAMES, *offered_names()])
    raise UsageError(f"unknown measure '{name}'", close or "`gainful measures` lists them")


def offered_names() -> list[str]:
    """Return the names of measures in installed packages."""
    return sorted({point.name for point in _offers(tuple(sys.path))})


@cache
def _offers(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points ``gainful.measures`` on a path; cached, because this opens each package's metadata."""
    from importlib.metadata import entry_points

    return entry_points(group="gainful.measures")


def _offered(name: str) -> type[Measure] | None:
    """Load a measure from an installed package."""
    from gainful.measures.base import Measure

    for point in _offers(tuple(sys.path)).select(name=name):
        try:
            measure = point.load()
        except Exception as error:  # the other package may raise anything
            raise UsageError(f"measure '{name}': {point.value} cannot be loaded ({error})") from error
        if not (isinstance(measure, type) and issubclass(measure, Measure)):
            raise UsageError(f"measure '{name}': expected {point.value} to be a subclass of gainful.Measure")
        if measure.name != name:
            raise UsageError(f"measure '{name}': the name of {point.value} is '{measure.name}'")
        return measure
    return None


_MEASURE = re.compile(r"\s*(?P<name>[\w+#-]+)\s*(\((?P<parameters>.*)\))?\s*(@\s*(?P<at>[^\s()@]+))?\s*", re.DOTALL)
_PARAMETER = re.compile(
    r"""\s*(?P<key>\w+)\s*=\s*(?P<value>"[^"]*"|'[^']*'|\{[^}]*\}|[\d.]+(,\s*[\d.]+)+|[^,"'{}]*?)\s*(,|$)"""
)


def parse(text: str | Measure) -> Measure:
    """Return the measure that a text names; a measure is returned unchanged.

    >>> parse("nDCG(base = 2.0, gain='exp2')@10")
    nDCG(gain=exp2)@10
    >>> str(parse("AnDCG(gain=0-1-10-100)@50"))
    'nDCG(gain=0-1-10-100, average=ranks)@50'

    Names of other tools are also read: trec_eval's directly, others with the tool's name as a prefix.

    >>> parse("ndcg_cut_10"), parse("ranx:ndcg@10-l2")
    (nDCG@10, nDCG(rel=2)@10)

    Common spellings are accepted, in any case.

    >>> parse("Ndcg@10"), parse("hit_rate@10"), parse("precision_at_5"), parse("F1@10")
    (nDCG@10, Success@10, P@5, F@10)
    """
    measures = _measures_of(text)
    if len(measures) != 1:
        raise UsageError(f"measure: '{text}' denotes {len(measures)} measures, not one", f"the first is {measures[0]}")
    return measures[0]


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Return one or several measures in order, without duplicates.

    >>> parse_all(["AP", "P.5,10", "map"])
    [AP, P@5, P@10]
    >>> parse_all("{ndcg,recall}@{1,3}")
    [nDCG@1, nDCG@3, R@1, R@3]
    """
    from gainful.measures.base import Measure  # imported late, because it imports NumPy

    measures = _text_of_ir_measures(measures)
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    if not isinstance(measures, Iterable) or isinstance(measures, (bytes, bytearray)):
        found = printable(repr(measures), 80)
        raise UsageError(f"measures: expected one or several, found {found}", 'such as ["nDCG@10", "AP"]')
    parsed = list(dict.fromkeys(measure for text in measures for measure in _measures_of(text)))
    if not parsed:
        raise UsageError("measures: at least one is required")
    return parsed


def asked_names(texts: Iterable[str]) -> dict[str, str]:
    """Map our names of measures to the requested names, if they differ.

    >>> asked_names(["MRR", "map", "nDCG(gain=linear)@10", "P.5,10"])
    {'RR': 'MRR', 'AP': 'map'}
    """
    names: dict[str, str] = {}
    for text in chain.from_iterable(map(_alternatives, texts)):
        match = _MEASURE.fullmatch(text)
        measures: list[Measure] = []
        with contextlib.suppress(UsageError):  # existing scores may have other names
            measures += _measures_of(text)
        if len(measures) == 1:
            is_named = match is not None and match["name"] in ALL_MEASURES
            names.setdefault(str(measures[0]), str(measures[0]) if is_named else text.strip())
    return {ours: asked for ours, asked in names.items() if ours != asked}


def _text_of_ir_measures(value: _T) -> _T | str:
    """Return the name of an object of the package ir_measures; anything else unchanged."""
    return f"ir_measures:{value}" if type(value).__module__.startswith("ir_measures.") else value


#: Brace expansion as in shells; a mapping such as {1:0.5} is a value.
_BRACES = re.compile(r"\{([^{}:]*,[^{}:]*)\}")


def _alternatives(text: str) -> list[str]:
    """Expand alternatives in braces.

    >>> _alternatives("P(rel={1,2})@{5, 10}")
    ['P(rel=1)@5', 'P(rel=1)@10', 'P(rel=2)@5', 'P(rel=2)@10']
    """
    if (found := _BRACES.search(text)) is None:
        return [text]
    before, after = text[: found.start()], _alternatives(text[found.end() :])
    return [f"{before}{one.strip()}{rest}" for one in found[1].split(",") for rest in after]


def _measures_of(text: str | Measure) -> Sequence[Measure]:
    """Return the measures that a text denotes: several for braces and for trec_eval's lists."""
    from gainful.measures.base import Measure

    if isinstance(text, Measure):
        return [text]
    text = _text_of_ir_measures(text)
    if not isinstance(text, str):
        raise UsageError(f"measure: expected a text or a Measure, found {printable(repr(text), 80)}")
    if len(each := _alternatives(text)) > 1:
        return [measure for one in each for measure in _measures_of(one)]
    found = _read(text)
    return [found] if isinstance(found, Measure) else found.measures


#: Syntax found only in ir_measures and ranx.
_ELSEWHERE = re.compile(r"(dcg|gains|judged_only)\s*=|^\s*rbp\.\d|-l\d+\s*$")


def _read(text: str) -> Measure | Translation:
    """Parse a text; for syntax of ir_measures or ranx, the error's hint gives their meaning."""
    try:
        return _parse_text(text)
    except UsageError as refusal:
        if meant := _spelling_hint(text):
            raise UsageError(refusal.message, meant) from None
        if not _ELSEWHERE.search(text):
            raise
        from gainful.measures.names_trec_eval import translate

        hint = refusal.hint
        for tool in ("ir_measures", "ranx"):
            with contextlib.suppress(UsageError):
                if translation := translate(f"{tool}:{text.strip()}"):
                    hint, measure = translation.claim.removesuffix("."), translation.measures[0]
                    if measure.name == "RBP":
                        hint += f"; with grades above 1 write {measure.replace(gain='scaled')}"
        raise UsageError(refusal.message, hint) from None


def _parse_text(text: str) -> Measure | Translation:
    """Parse a text as our own name, another tool's name, or a common spelling, in this order."""
    match = _MEASURE.fullmatch(text)
    if match and is_ours(match["name"]):
        return _from_match(match)
    # Imported late, because our own names do not need it.
    from gainful.measures.names_trec_eval import translate, translate_in_any_case

    refusal: UsageError | None = None
    try:
        foreign = translate(text)
        if foreign is not None:
            return foreign
    except UsageError as error:
        refusal = error
    if match and _offered(match["name"]) is not None:
        return _from_match(match)  # it only resembles a name of another tool
    usual = _by_common_spelling(match) if match else None
    if usual is not None:
        return usual
    foreign = translate_in_any_case(text.strip())
    if foreign is not None:
        return foreign
    if refusal is not None:
        raise refusal
    if not match:
        raise UsageError(
            f"measure: expected Name, Name@k or Name(parameter=value, ...)@k, found '{text}'",
            "for example nDCG@10 or nDCG(gain=0-1-10-100, discount=jarvelin2002)@100",
        )
    return _from_match(match)


_IN_WORDS = re.compile(r"\s*(?:@|\bat\b|\bk\s*=)\s*")


def _spelling_hint(text: str) -> str | None:
    """Return a hint for a list of measures, a measure in words, or one without its cutoff.

    >>> _spelling_hint("map,ndcg"), _spelling_hint("ndcg at 10"), _spelling_hint("ndcg@")
    ("give several measures separately: ['map', 'ndcg']", 'did you mean nDCG@10?', 'did you mean nDCG@10?')
    """
    in_signs, names = _IN_WORDS.sub("@", text.strip()), re.split(r"[,;\s]+", text.strip(" ,;"))
    with contextlib.suppress(UsageError):
        if in_signs.endswith("@"):
            meant = parse_all(in_signs[:-1])[0]
            usual = next((each.rank_cutoff for each in map(parse, DEFAULT_MEASURES) if each.name == meant.name), None)
            return f"did you mean {meant.replace(cutoff=usual) if usual and not meant.rank_cutoff else meant}?"
    in_signs += "10" if in_signs.endswith("@") else ""
    with contextlib.suppress(UsageError):
        if in_signs != text:
            return f"did you mean {parse(in_signs)}?"
    with contextlib.suppress(UsageError):
        if len(names) > 1 and parse_all(names):
            separately = for_asker(" ".join(f"-m {shlex.quote(name)}" for name in names), str(names))
            return f"give several measures separately: {separately}"
    return None


def _by_common_spelling(match: re.Match[str]) -> Measure | None:
    """Return the measure that a text names by a common spelling."""
    from gainful.measures.names_usual import usual_name

    known: dict[str, tuple[str, Mapping[str, str]]] = {**{name: (name, {}) for name in ALL_MEASURES}, **SHORT_NAMES}
    usual = usual_name(match["name"], known)
    if usual is None or (usual.at and match["at"]):
        return None
    entry = Entry(ALL_MEASURES[usual.name], usual.preset)
    return _with_note(_of_entry(entry, match["name"], match["parameters"], usual.at or match["at"]), match)


def _with_note(measure: Measure, match: re.Match[str]) -> Measure:
    """Attach a note on the name used, if there is one."""
    from gainful.measures.names_usual import NOTES, folded

    note = NOTES.get(folded(match["name"]))
    return measure.noted(f"{match[0].strip()} is {measure} here: {note}") if note else measure


def translation_of(text: str | Measure) -> Translation | None:
    """Return the translation of another tool's name; None for our own names.

    >>> translation_of("map").claim, translation_of("AP")
    ("trec_eval's map is AP here.", None)
    """
    match = _MEASURE.fullmatch(text) if isinstance(text, str) else None
    if not isinstance(text, str) or (match and is_ours(match["name"])):
        return None
    from gainful.measures.names_trec_eval import Translation

    found = _read(text)
    return found if isinstance(found, Translation) else None


def _from_match(match: re.Match[str]) -> Measure:
    measure = _of_entry(find(match["name"]), match["name"], match["parameters"], match["at"])
    return _with_note(measure, match) if match["name"] in SHORT_NAMES else measure


def _of_entry(entry: Entry, name: str, parameters: str | None, at_text: str | None) -> Measure:
    given: dict[str, object] = {**entry.preset, **_parameters(parameters or "", name)}
    if at_text is not None:
        at = entry.measure.at_parameter()
        if at is None:
            raise UsageError(f"{name} takes no @ (@{at_text})")
        if at in given:
            raise UsageError(f"{name}: {at} is given both in parentheses and after @")
        given[at] = at_text
    return entry.measure.from_parameters(given)


def _parameters(text: str, name: str) -> dict[str, str]:
    given: dict[str, str] = {}
    at = 0
    text = text.strip()
    while at < len(text) or text.endswith(","):
        match = _PARAMETER.match(text, at)
        if not match or not match["value"]:
            raise UsageError(f"{name}: expected parameter=value, found '{text[at:].strip()}'")
        if match["key"] in given:
            raise UsageError(f"{name}: duplicate parameter {match['key']}")
        given[match["key"]] = match["value"].strip("\"'")
        at = match.end()
    return given
