"""Measures by the names of other tools, and trec_eval's names.

Our own names always have our definition. Other names are read as trec_eval's (``ndcg_cut_10``, ``P.5,10``,
``set_F_2``, ``official``) or, with a prefix (``ranx:ndcg@10-l2``), as that tool's. The result is one or more of our
measures, with the settings that reproduce the numbers. Our own names do not load this module, and it does not load
NumPy before a name is translated, because the command trec_eval reads its options first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn

from gainful.errors import UsageError
from gainful.measures.measure_families import MEASURES, is_ours
from gainful.notation import nearest, number_text, read_number
from gainful.policy import DIALECTS, Policy

if TYPE_CHECKING:
    from gainful.measures.base import Measure


class Setting(NamedTuple):
    """The policy that reproduces a tool's numbers, with notes.

    >>> Setting("trec_eval 9.0.8 -c", "trec_eval-9", {"missing": "zero"}).flags
    '--like trec_eval-9 --missing zero'
    """

    tool: str
    like: str | None = None
    choices: Mapping[str, str] = {}
    note: str = ""
    scale: float | None = None

    @property
    def policy(self) -> Policy:
        """The policy, for Python."""
        given = {name.replace("-", "_"): value for name, value in self.choices.items()}
        return Policy.like(self.like, **given) if self.like else Policy.from_texts(self.choices)

    @property
    def flags(self) -> str:
        """The policy, for the command line; empty for the default."""
        flags = [f"--like {self.like}"] if self.like else []
        flags += [f"--{name} {value}" for name, value in self.choices.items()]
        return " ".join([*flags, *([f"--scale {number_text(self.scale)}"] if self.scale is not None else [])])

    def __str__(self) -> str:
        """Describe how to reproduce the tool's value."""
        changed = {**DIALECTS[self.like], **self.choices} if self.like else {}
        listed = ", ".join(f"{name.replace('_', '-')}={value}" for name, value in changed.items())
        how = (self.flags or "the defaults") + (f" ({listed})" if listed else "")
        return f"To reproduce {self.tool}: {how}{'; ' if self.note else ''}{self.note}."


class Translation(NamedTuple):
    """Another tool's name, our measures that it denotes, and the settings that reproduce the tool's numbers."""

    text: str
    tool: str
    measures: tuple[Measure, ...]
    settings: tuple[Setting, ...]

    @property
    def claim(self) -> str:
        """The translation as a sentence."""
        names = [str(measure) for measure in self.measures]
        theirs = self.text if self.text.startswith(f"{self.tool}:") else f"{self.tool}'s {self.text}"
        ours = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{theirs} is {ours} here."


class NoEqual(NamedTuple):
    """The reason why another tool's name has no equivalent here, and the nearest measure."""

    why: str
    nearest: str

    def refuse(self, text: str) -> NoReturn:
        """Raise UsageError with the reason."""
        raise UsageError(f"{text}: no equivalent here: {self.why}", f"the nearest is {self.nearest}")


def unknown(tool: str, name: str, known: Iterable[str], text: str) -> UsageError:
    """Return the error for a name that the tool does not have."""
    word = re.match(r"[\w+#-]*", name)
    hint = f"without the prefix, {name} is ours" if word and is_ours(word[0]) else nearest(name, known)
    return UsageError(f"{text}: {tool} has no such measure", hint)


def build(name: str, parameters: Mapping[str, object] = {}) -> Measure:
    """Create one of our measures; the key ``@`` is the parameter that ``@`` sets."""
    measure = MEASURES[name]
    at = measure.at_parameter()
    return measure.from_parameters({(at if key == "@" and at else key): value for key, value in parameters.items()})


def table_of_gains(pairs: Mapping[int, float]) -> str:
    """Write a table as a gain map; omitted grades keep their own value, up to the highest in the table.

    >>> table_of_gains({1: 3, 3: 9})
    '{0:0,1:3,2:2,3:9}'
    """
    gains = [(grade, pairs.get(grade, grade)) for grade in range(max(pairs) + 1)]
    return "{" + ",".join(f"{grade}:{number_text(gain)}" for grade, gain in gains) + "}"


#: The known tools, and the functions that translate (name, text as given).
TOOLS: Mapping[str, str] = {
    "trec_eval": "names_trec_eval.translate_trec_eval",
    "pytrec_eval": "names_trec_eval.translate_as_pytrec_eval",
    "ir_measures": "names_ir_measures_ranx.translate",
    "ranx": "names_ir_measures_ranx.translate_ranx",
    "ntcireval": "names_ir_measures_ranx.translate_ntcireval",
}

_PREFIXED = re.compile(r"\s*(?P<tool>[A-Za-z][\w.+-]*)\s*:\s*(?P<name>.*?)\s*", re.DOTALL)


def translate(text: str) -> Translation | None:
    """Translate another tool's name; None for a text without prefix that is not a trec_eval name.

    >>> translate("ranx:ndcg@10-l2").measures, translate("P.5,10").measures
    ((nDCG(rel=2)@10,), (P@5, P@10))
    """
    match = _PREFIXED.fullmatch(text)
    if match is None:
        name = text.strip()
        found = re.match(r"([\w.,=+-]+?)\s*([@(].*)", name)
        if found and not is_ours(found[1]) and (family := _family(found[1])) in NAMES:
            hint = f"did you mean {NAMES[family].ours}{found[2]}?" if family == found[1] else None
            raise UsageError(f"{name}: names of trec_eval take no {found[2][0]}", hint)
        return _translated(name, name)
    if match["tool"] not in TOOLS:
        message = f"measure: expected {': | '.join(TOOLS)}: before another tool's name, found '{text.strip()}'"
        raise UsageError(message, nearest(match["tool"], TOOLS))
    if not match["name"]:
        raise UsageError(f"{match['tool']}: expected the name of a measure after the colon")
    module, _, function = TOOLS[match["tool"]].partition(".")
    read: Callable[[str, str], Translation] = getattr(import_module(f"gainful.measures.{module}"), function)
    return read(match["name"], text.strip())


Takes = Literal["nothing", "cutoffs", "levels", "length", "utility", "weight", "points", "gains", "patience"]
Summary = Literal["mean", "sum", "geometric", "topics", "none"]
#: The judgments that a measure uses: grades, preferences between documents, or grades by several judges.
Reads = Literal["any", "grades", "preferences", "judges"]


class Family(NamedTuple):
    """A measure of trec_eval: our measure, its parameters with defaults, and its output."""

    ours: str  # empty if it is not a number
    takes: Takes = "nothing"
    defaults: tuple[float, ...] = ()
    summary: Summary = "mean"
    has_level: bool = True  # whether -l applies
    by_topic: bool = True
    is_new: bool = False  # only in trec_eval 10
    reads: Reads = "grades"

    @property
    def of_topic(self) -> str:
        """Our measure of a single topic, without a geometric mean."""
        return self.ours.removeprefix("GM") if self.summary == "geometric" else self.ours


_RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_TENTHS = tuple(i / 10 for i in range(11))
_FIFTHS = tuple(i / 5 for i in range(1, 11))

_COUNTS_OF_PREFERENCES = ("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret")
_PREFERENCE_RATIOS = ("prefs_simp", "prefs_pair", "prefs_avgjg")
_MORE_PREFERENCE_RATIOS = (
    "prefs_avgjg_Rnonrel",
    *(f"{name}_ret" for name in (*_PREFERENCE_RATIOS, "prefs_avgjg_Rnonrel")),
    *(f"{name}_imp" for name in _PREFERENCE_RATIOS),
)

#: trec_eval's measures in its output order, which is independent of the order of options.
FAMILIES: Mapping[str, Family] = {
    "runid": Family("", summary="none", by_topic=False, reads="any"),
    "num_q": Family("NumQ", summary="topics", by_topic=False, reads="any"),
    "num_ret": Family("NumRet", summary="sum"),
    "num_rel": Family("NumRel", summary="sum"),
    "num_rel_ret": Family("NumRelRet", summary="sum"),
    "map": Family("AP"),
    "gm_map": Family("GMAP", summary="geometric", by_topic=False),
    "Rprec": Family("Rprec"),
    "bpref": Family("Bpref"),
    "recip_rank": Family("RR"),
    "iprec_at_recall": Family("IPrec", "levels", _TENTHS),
    "P": Family("P", "cutoffs", _RANKS),
    "relstring": Family("", "length", (10,), summary="none"),
    "recall": Family("R", "cutoffs", _RANKS),
    "infAP": Family("InfAP"),
    "gm_bpref": Family("GMBpref", summary="geometric", by_topic=False),
    "Rprec_mult": Family("RprecMult", "levels", _FIFTHS),
    "utility": Family("Utility", "utility"),
    "11pt_avg": Family("IAP", "points"),
    "binG": Family("binG"),
    "G": Family("G", "gains", has_level=False),
    "dcg": Family("DCG", "gains", has_level=False, is_new=True),
    "ideal_dcg": Family("idealDCG", "gains", has_level=False, is_new=True),
    "ndcg": Family("nDCG", "gains", has_level=False),
    "ndcg_rel": Family("nDCGrel", "gains", has_level=False),
    "Rndcg": Family("RnDCG", "gains", has_level=False),
    "ndcg_cut": Family("nDCG", "cutoffs", _RANKS, has_level=False),
    "map_cut": Family("AP", "cutoffs", _RANKS),
    "relative_P": Family("RelP", "cutoffs", _RANKS),
    "success": Family("Success", "cutoffs", (1, 5, 10)),
    "set_P": Family("SetP"),
    "set_relative_P": Family("SetRelP"),
    "set_recall": Family("SetR"),
    "set_map": Family("SetAP"),
    "set_F": Family("SetF", "weight"),
    "num_nonrel_judged_ret": Family("NumNonRelJudgedRet", summary="sum"),
    **{name: Family("", summary="sum", reads="preferences") for name in _COUNTS_OF_PREFERENCES},
    **{name: Family("", reads="preferences") for name in (*_PREFERENCE_RATIOS, *_MORE_PREFERENCE_RATIOS)},
    "map_avgjg": Family("AP", reads="judges"),
    "P_avgjg": Family("P", "cutoffs", _RANKS, reads="judges"),
    "Rprec_mult_avgjg": Family("RprecMult", "levels", _FIFTHS, reads="judges"),
    "yaap": Family("AP"),
    "rbp": Family("RBP", "patience", has_level=False, is_new=True),
    "rbp_resid": Family("RBPResidual", "patience", is_new=True),
    "unj": Family("Unjudged", "cutoffs", (5, 10, 20), is_new=True),
}

_PREFERENCES = NoEqual("it requires judgments of pairs, not grades", "NDPM")
_SEVERAL_JUDGES = NoEqual("it averages over several judgments of a document", "--judges mean")

#: trec_eval measures without an equivalent; the command trec_eval supports all but ndcg_p.
WITHOUT_EQUAL: Mapping[str, NoEqual] = {
    "runid": NoEqual("it is the name of the run, not a number", "the first column of every table"),
    "relstring": NoEqual("it is a string of grades, not a number", "`gainful explain` with a query"),
    "yaap": NoEqual("trec_eval takes the logit of smoothed average precision", "AP"),
    "ndcg_p": NoEqual("trec_eval does not register it", "nDCG(discount=jarvelin2002)"),
    "prefs": _PREFERENCES,
    "all_prefs": _PREFERENCES,
    "qrels_jg": _SEVERAL_JUDGES,
    **{name: _PREFERENCES for name, family in FAMILIES.items() if family.reads == "preferences"},
    **{name: _SEVERAL_JUDGES for name, family in FAMILIES.items() if family.reads == "judges"},
}

#: trec_eval measures with an equivalent.
NAMES: Mapping[str, Family] = {name: family for name, family in FAMILIES.items() if name not in WITHOUT_EQUAL}


@cache
def trec_eval_forms() -> Mapping[str, tuple[str | None, str | None]]:
    """Return trec_eval's names of our measures with default parameters, and with ``@``, whose value is ``{}``.

    >>> trec_eval_forms()["nDCG"]
    ('ndcg', 'ndcg_cut_{}')
    """
    forms: dict[str, tuple[str | None, str | None]] = {}
    for name, family in NAMES.items():
        whole, with_at = forms.get(family.ours, (None, None))
        if family.takes in ("cutoffs", "levels"):
            with_at = name + ("_{}" if family.takes == "cutoffs" else "_{:.2f}")
        elif family.takes != "patience":  # its defaults differ from ours
            whole = name
        forms[family.ours] = whole, with_at
    return forms


def trec_eval_name(measure: Measure) -> str | None:
    """Return trec_eval's name of exactly this measure, or the name declared by a user's own measure; else None.

    >>> trec_eval_name(build("nDCG", {"@": 10})), trec_eval_name(build("nDCG", {"gain": "exp2"}))
    ('ndcg_cut_10', None)
    """
    name = measure.at_parameter()
    at = getattr(measure, name) if name else None
    if measure.budget is not None:
        return None
    if any(getattr(measure, each) != default for each, default in measure.parameters().items() if each != name):
        return None
    whole, with_at = trec_eval_forms().get(measure.name, (measure.trec_eval, measure.trec_eval_at))
    if at is None or with_at is None:
        return whole if at is None else None
    # trec_eval cannot have a value that its name would round.
    digits = with_at[with_at.index("{") :].format(at)
    return with_at.format(at) if float(digits) == at else None


_OF_RUN = ("runid", "num_q")
_COUNTS = (*_OF_RUN, "num_ret", "num_rel", "num_rel_ret")

#: The names of several measures at once.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "official": (*_COUNTS, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    "set": (*_COUNTS, "utility", "set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "all_trec": tuple(name for name in ("runid", "relstring", *NAMES) if name not in ("dcg", "ideal_dcg")),
    "prefs": (*_OF_RUN, *_COUNTS_OF_PREFERENCES, *_PREFERENCE_RATIOS),
    "all_prefs": (*_OF_RUN, *_COUNTS_OF_PREFERENCES, *_PREFERENCE_RATIOS, *_MORE_PREFERENCE_RATIOS),
    "qrels_jg": (*_OF_RUN, *(name for name, family in FAMILIES.items() if family.reads == "judges")),
}

#: Reads a name and the text of its parameters (may be empty) into the parameters of one or several measures.
_Reader = Callable[[str, str], Sequence[Mapping[str, object]]]


def _numbers(name: str, text: str) -> list[float]:
    return [read_number(part, name) for part in text.split(",")]


def _nothing(name: str, text: str) -> Sequence[Mapping[str, object]]:
    if text:
        cut = f"{name}_cut"
        hint = f"did you mean {cut}_{text}?" if cut in NAMES else None
        raise UsageError(f"{name}: has no parameters in trec_eval, found '{text}'", hint)
    return [{}]


def _each(name: str, text: str) -> Sequence[Mapping[str, object]]:
    numbers = _numbers(name, text) if text else NAMES[name].defaults
    return [{"@": number_text(number)} for number in numbers]


def _cutoffs(name: str, text: str) -> Sequence[Mapping[str, object]]:
    for number in _numbers(name, text) if text else ():
        if number != int(number):
            hint = f"trec_eval truncates it to {int(number)}: write {name}_{int(number)}"
            raise UsageError(f"{name}: expected integer cutoffs, found {number_text(number)}", hint)
    return _each(name, text)


def _f(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """Read the parameter of set_F, which is beta^2."""
    if not text:
        return [{}]
    squared = read_number(text, name)
    if squared < 0:
        raise UsageError(f"{name}: expected a number of at least 0, found {number_text(squared)}")
    return [{"beta": math.sqrt(squared)}]


def _weights(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """Read the weights of the four cells of the contingency table."""
    if not text:
        return [{}]
    weights = _numbers(name, text)
    if len(weights) != 4:
        raise UsageError(f"{name}: expected four weights, found {len(weights)}", "for example utility_2,-1,0,0")
    given = dict(zip("abcd", weights, strict=True))
    if weights[3]:
        written = ", ".join(f"{letter}={number_text(weight)}" for letter, weight in given.items())
        message = f"{name}: the fourth weight requires the size of the collection, set by -N in trec_eval"
        raise UsageError(message, f"write Utility({written}, N=100000)")
    return [given]


def _pairs(name: str, text: str) -> Iterator[tuple[str, float]]:
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{name}: expected grade=gain pairs, found '{part}'", f"for example {name}_1=3,2=9")
        yield key.strip(), read_number(value, f"{name}: {key}")


def _gains(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """Read a table of gains; omitted grades keep their own value."""
    if not text:
        return [{}]
    pairs = dict(_pairs(name, text))
    for grade in pairs:
        if not re.fullmatch(r"\d+", grade):
            raise UsageError(f"{name}: expected integer grades of at least 0, found '{grade}'")
    return [{"gain": table_of_gains({int(grade): gain for grade, gain in pairs.items()})}]


def _persistence(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """Read ``p=``, 0.9 by default."""
    pairs = dict(_pairs(name, text)) if text else {}
    if set(pairs) - {"p"}:
        why = "trec_eval scales gains by the highest in the table, even if no document has it"
        NoEqual(why, f"{name}_p=0.9 without a table").refuse(f"{name}_{text}")
    gains = {"gain": "linear", "scale": "query"} if name == "rbp" else {}
    return [{"p": pairs.get("p", 0.9), **gains}]


_READERS: Mapping[Takes, _Reader] = {
    "nothing": _nothing,
    "cutoffs": _cutoffs,
    "levels": _each,
    "utility": _weights,
    "weight": _f,
    "points": lambda name, text: [{"points": "-".join(map(number_text, _numbers(name, text)))}] if text else [{}],
    "gains": _gains,
    "patience": _persistence,
}

TIES = "ties are ordered by descending document ID, the default here"
_OLD = Setting("trec_eval 9.0.8", "trec_eval-9", note=TIES)
_NEW = Setting("trec_eval 10.0", "trec_eval-10", note=TIES)
_PYTREC_EVAL = Setting("pytrec_eval", "trec_eval-9", note=TIES)

#: Parameters that pytrec_eval recognises; it silently drops all others.
_READ_BY_PYTREC_EVAL = re.compile(r"\d+(\.\d+)?(,\d+(\.\d+)?)*")


def translate_trec_eval(name: str, text: str) -> Translation:
    """Translate a name after ``trec_eval:``.

    >>> translate_trec_eval("set_F_4", "trec_eval:set_F_4").claim
    'trec_eval:set_F_4 is SetF(beta=2) here.'
    """
    translation = _translated(name, text)
    if translation is None:
        raise unknown("trec_eval", name, [*NAMES, *GROUPS], text)
    return translation


def translate_in_any_case(name: str) -> Translation | None:
    """Translate a trec_eval name in another case; else None."""
    if re.search(r"[@(:]", name) or _family(name):
        return None
    known = {each.casefold(): each for each in (*NAMES, *GROUPS)}
    beginnings = [name[: m.start()].casefold() for m in re.finditer(r"[._]|$", name)]
    family = next((known[text] for text in reversed(beginnings) if text in known), "")
    return _translated(family + name[len(family) :], name) if family else None


def translate_as_pytrec_eval(name: str, text: str) -> Translation:
    """Translate a name after ``pytrec_eval:``: names of trec_eval 9.0.8, with only numbers as parameters."""
    family = _family(name)
    parameters = name[len(family) + 1 :]
    if family in NAMES and NAMES[family].is_new:
        raise UsageError(f"{text}: pytrec_eval has no such measure", f"trec_eval 10 has it: trec_eval:{name}")
    if parameters and (family == "utility" or not _READ_BY_PYTREC_EVAL.fullmatch(parameters)):
        hint = f"trec_eval does: trec_eval:{name}"
        raise UsageError(f"{text}: pytrec_eval does not support parameters '{parameters}'", hint)
    names = [of for of in GROUPS.get(name, ()) if not FAMILIES[of].is_new]
    translation = translate_trec_eval(name, text)
    measures = tuple(_expanded(names)) if names else translation.measures
    return translation._replace(tool="pytrec_eval", measures=measures, settings=(_PYTREC_EVAL,))


def _family(name: str) -> str:
    """Return the longest trec_eval name with which a text begins; empty if there is none."""
    beginnings = [name[: m.start()] for m in re.finditer(r"[._]|$", name)]
    known = [text for text in beginnings if text in NAMES or text in WITHOUT_EQUAL or text in GROUPS]
    return known[-1] if known else ""


def _translated(name: str, text: str) -> Translation | None:
    family = _family(name)
    if not family:
        return None
    if family in WITHOUT_EQUAL:
        WITHOUT_EQUAL[family].refuse(text)
    parameters = name[len(family) + 1 :]
    if family in GROUPS:
        if parameters:
            return None
        return Translation(text, "trec_eval", tuple(_expanded(GROUPS[family])), (_NEW,))
    if len(name) > len(family) and not parameters:
        raise UsageError(f"{text}: expected parameters after '{name[-1]}'")
    settings = (_NEW,) if NAMES[family].is_new else (_NEW, _OLD)
    return Translation(text, "trec_eval", tuple(_measures(family, parameters)), settings)


def _measures(name: str, parameters: str = "") -> Iterator[Measure]:
    family = NAMES[name]
    return (build(family.ours, each) for each in _READERS[family.takes](name, parameters))


def _expanded(names: Sequence[str]) -> Iterator[Measure]:
    """Return the measures of a group, without the run's name and the string of grades, which are not numbers."""
    return (measure for name in names if name in NAMES for measure in _measures(name))
