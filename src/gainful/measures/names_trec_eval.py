"""What a translation is: one of our measures, or several, and what makes the numbers the same.

Measures under the names that other tools have for them.

A text of ours always has our definition. What is not ours is read as trec_eval's name if it is one; with a prefix
(``ranx:ndcg@10-l2``) it is read as that tool reads it. Either way one of our measures comes out. None of this is loaded
for our own names.
trec_eval's names, as trec_eval and pytrec_eval read them: ``ndcg_cut_10``, ``P.5,10``, ``set_F_2``, ``official``.

On trec_eval's command line parameters follow a dot, separated by commas; in its output they follow an underscore. Both
are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

from gainful.errors import UsageError
from gainful.measures.base import Measure
from gainful.measures.catalog import MEASURES, is_ours
from gainful.notation import nearest, number_text, read_number
from gainful.policy import DIALECTS, Policy


class Setting(NamedTuple):
    """The policy under which a tool's numbers come out, and what else there is to know about them.

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
        """The policy, for the command line; empty where it is the default."""
        flags = [f"--like {self.like}"] if self.like else []
        flags += [f"--{name} {value}" for name, value in self.choices.items()]
        return " ".join([*flags, *([f"--scale {number_text(self.scale)}"] if self.scale is not None else [])])

    def __str__(self) -> str:
        """In words: what gives the tool's number."""
        changed = {**DIALECTS[self.like], **self.choices} if self.like else {}
        listed = ", ".join(f"{name.replace('_', '-')}={value}" for name, value in changed.items())
        how = (self.flags or "the defaults") + (f" ({listed})" if listed else "")
        return f"The number of {self.tool}: {how}{'; ' if self.note else ''}{self.note}."


class Translation(NamedTuple):
    """Another tool's name, the measures of ours that it stands for, and how to get that tool's numbers."""

    text: str
    tool: str
    measures: tuple[Measure, ...]
    settings: tuple[Setting, ...]

    @property
    def claim(self) -> str:
        """What stands for what, in a sentence."""
        names = [str(measure) for measure in self.measures]
        theirs = self.text if self.text.startswith(f"{self.tool}:") else f"{self.tool}'s {self.text}"
        ours = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{theirs} is {ours} here."


class NoEqual(NamedTuple):
    """Why a name of another tool has no equal here, and what comes nearest."""

    why: str
    nearest: str

    def refuse(self, text: str) -> NoReturn:
        """Says so."""
        raise UsageError(f"{text}: has no equal here: {self.why}", f"what comes nearest is {self.nearest}")


def unknown(tool: str, name: str, known: Iterable[str], text: str) -> UsageError:
    """What to say about a name that the tool does not have."""
    word = re.match(r"[\w+#-]*", name)
    hint = f"without the prefix, {name} is ours" if word and is_ours(word[0]) else nearest(name, known)
    return UsageError(f"{text}: {tool} has no such measure", hint)


def build(name: str, parameters: Mapping[str, object] = {}) -> Measure:
    """One of our measures from its name and parameters; ``@`` is what ``@`` sets."""
    measure = MEASURES[name]
    at = measure.at_parameter()
    return measure.from_parameters({(at if key == "@" and at else key): value for key, value in parameters.items()})


def table_of_gains(pairs: Mapping[int, float]) -> str:
    """A gain map from a table that leaves grades out which keep their own value, as far as the table goes.

    >>> table_of_gains({1: 3, 3: 9})
    '{0:0,1:3,2:2,3:9}'
    """
    gains = [(grade, pairs.get(grade, grade)) for grade in range(max(pairs) + 1)]
    return "{" + ",".join(f"{grade}:{number_text(gain)}" for grade, gain in gains) + "}"


#: The tools whose names are known, and the function that reads them: (the name, the text as it was given).
TOOLS: Mapping[str, str] = {
    "trec_eval": "names_trec_eval.translate_trec_eval",
    "pytrec_eval": "names_trec_eval.translate_as_pytrec_eval",
    "ir_measures": "names_ir_measures.translate",
    "ranx": "names_ir_measures.translate_ranx",
}

_PREFIXED = re.compile(r"\s*(?P<tool>[A-Za-z][\w.+-]*)\s*:\s*(?P<name>.*?)\s*", re.DOTALL)


def translate(text: str) -> Translation | None:
    """What another tool's name means here; None for a text without prefix that is no name of trec_eval's.

    >>> translate("ranx:ndcg@10-l2").measures, translate("P.5,10").measures
    ((nDCG(rel=2)@10,), (P@5, P@10))
    """
    match = _PREFIXED.fullmatch(text)
    if match is None:
        return translate_without_prefix(text.strip())
    if match["tool"] not in TOOLS:
        raise UsageError(
            f"measure: expected {': | '.join(TOOLS)}: before another tool's name, found '{text.strip()}'",
            nearest(match["tool"], TOOLS),
        )
    if not match["name"]:
        raise UsageError(f"{match['tool']}: expected a name of a measure after the colon, found nothing")
    module, _, function = TOOLS[match["tool"]].partition(".")
    read: Callable[[str, str], Translation] = getattr(import_module(f"gainful.measures.{module}"), function)
    return read(match["name"], text.strip())


#: Reads the text of parameters (empty where there is none) of a name: the parameters of one or several measures.
_Reader = Callable[[str, str], Sequence[Mapping[str, object]]]


def _numbers(name: str, text: str) -> list[float]:
    return [read_number(part, name) for part in text.split(",")]


def _nothing(name: str, text: str) -> Sequence[Mapping[str, object]]:
    if text:
        cut = f"{name}_cut"
        hint = f"did you mean {cut}_{text}?" if cut in NAMES else None
        raise UsageError(f"{name}: trec_eval gives it no parameters, found '{text}'", hint)
    return [{}]


def _each(default: str, whole: bool = False) -> _Reader:
    """A measure for every number."""

    def read(name: str, text: str) -> Sequence[Mapping[str, object]]:
        numbers = _numbers(name, text or default)
        for number in numbers:
            if whole and number != int(number):
                raise UsageError(
                    f"{name}: expected whole cutoffs, found {number_text(number)}",
                    f"trec_eval cuts it to {int(number)}: write {name}_{int(number)}",
                )
        return [{"@": number_text(number)} for number in numbers]

    return read


def _f(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """The parameter stands where the formula has beta^2."""
    if not text:
        return [{}]
    squared = read_number(text, name)
    if squared < 0:
        raise UsageError(f"{name}: expected a number of at least 0, found {number_text(squared)}")
    return [{"beta": math.sqrt(squared)}]


def _weights(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """What the four cells of the table of retrieved and relevant are worth."""
    if not text:
        return [{}]
    weights = _numbers(name, text)
    if len(weights) != 4:
        raise UsageError(f"{name}: expected four weights, found {len(weights)}", "for example utility_2,-1,0,0")
    given = dict(zip("abcd", weights, strict=True))
    if weights[3]:
        written = ", ".join(f"{letter}={number_text(weight)}" for letter, weight in given.items())
        raise UsageError(
            f"{name}: its fourth weight needs the size of the collection, of which trec_eval hears by -N",
            f"write Utility({written}, N=100000)",
        )
    return [given]


def _points(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """All recall levels belong to one measure."""
    return [{"points": "-".join(map(number_text, _numbers(name, text)))}] if text else [{}]


def _pairs(name: str, text: str) -> Iterator[tuple[str, float]]:
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{name}: expected grade=gain pairs, found '{part}'", f"for example {name}_1=3,2=9")
        yield key.strip(), read_number(value, f"{name}: {key}")


def _gains(name: str, text: str) -> Sequence[Mapping[str, object]]:
    """A table of gains; grades that it leaves out keep their own value."""
    if not text:
        return [{}]
    pairs = dict(_pairs(name, text))
    for grade in pairs:
        if not re.fullmatch(r"\d+", grade):
            raise UsageError(f"{name}: expected whole grades from 0 on, found '{grade}'")
    return [{"gain": table_of_gains({int(grade): gain for grade, gain in pairs.items()})}]


def _persistence(**more: str) -> _Reader:
    """``p=``, which is 0.9 where it is not given."""

    def read(name: str, text: str) -> Sequence[Mapping[str, object]]:
        pairs = dict(_pairs(name, text)) if text else {}
        if set(pairs) - {"p"}:
            why = "trec_eval scales gains by the highest of the table, whether a document has it or not"
            NoEqual(why, f"{name}_p=0.9 without a table").refuse(f"{name}_{text}")
        return [{"p": pairs.get("p", 0.9), **more}]

    return read


class _Name(NamedTuple):
    """One of our measures, how its parameters are read, and whether only trec_eval 10 has it."""

    ours: str
    read: _Reader = _nothing
    is_new: bool = False


_DEPTHS = "5,10,15,20,30,100,200,500,1000"
_CUTOFFS = _each(_DEPTHS, whole=True)

#: trec_eval's measures, in the order in which it prints them.
NAMES: Mapping[str, _Name] = {
    "num_q": _Name("NumQ"),
    "num_ret": _Name("NumRet"),
    "num_rel": _Name("NumRel"),
    "num_rel_ret": _Name("NumRelRet"),
    "map": _Name("AP"),
    "gm_map": _Name("GMAP"),
    "Rprec": _Name("Rprec"),
    "bpref": _Name("Bpref"),
    "recip_rank": _Name("RR"),
    "iprec_at_recall": _Name("IPrec", _each("0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1")),
    "P": _Name("P", _CUTOFFS),
    "recall": _Name("R", _CUTOFFS),
    "infAP": _Name("InfAP"),
    "gm_bpref": _Name("GMBpref"),
    "Rprec_mult": _Name("RprecMult", _each("0.2,0.4,0.6,0.8,1,1.2,1.4,1.6,1.8,2")),
    "utility": _Name("Utility", _weights),
    "11pt_avg": _Name("IAP", _points),
    "binG": _Name("binG"),
    "G": _Name("G", _gains),
    "dcg": _Name("DCG", _gains, is_new=True),
    "ideal_dcg": _Name("idealDCG", _gains, is_new=True),
    "ndcg": _Name("nDCG", _gains),
    "ndcg_rel": _Name("nDCGrel", _gains),
    "Rndcg": _Name("RnDCG", _gains),
    "ndcg_cut": _Name("nDCG", _CUTOFFS),
    "map_cut": _Name("AP", _CUTOFFS),
    "relative_P": _Name("RelP", _CUTOFFS),
    "success": _Name("Success", _each("1,5,10", whole=True)),
    "set_P": _Name("SetP"),
    "set_relative_P": _Name("SetRelP"),
    "set_recall": _Name("SetR"),
    "set_map": _Name("SetAP"),
    "set_F": _Name("SetF", _f),
    "num_nonrel_judged_ret": _Name("NumNonRelJudgedRet"),
    "rbp": _Name("RBP", _persistence(gain="linear", scale="query"), is_new=True),
    "rbp_resid": _Name("RBPResidual", _persistence(), is_new=True),
    "unj": _Name("Unjudged", _each("5,10,20", whole=True), is_new=True),
}

_PREFERENCES = NoEqual("it needs judgments of pairs, not grades", "NDPM")
_SEVERAL_JUDGES = NoEqual("it averages over several judgments of a document", "the policy's --judges mean")

#: What trec_eval has and we have not.
WITHOUT_EQUAL: Mapping[str, NoEqual] = {
    "runid": NoEqual("it is the run's name, no number", "the first column of every table"),
    "relstring": NoEqual("it is a text of grades, no number", "`gainful explain` with a query, which shows all grades"),
    "yaap": NoEqual("trec_eval smooths average precision and takes its logit", "AP"),
    "ndcg_p": NoEqual("trec_eval does not register it", "nDCG(discount=jarvelin2002)"),
    "prefs": _PREFERENCES,
    "all_prefs": _PREFERENCES,
    "qrels_jg": _SEVERAL_JUDGES,
    "map_avgjg": _SEVERAL_JUDGES,
    "P_avgjg": _SEVERAL_JUDGES,
    "Rprec_mult_avgjg": _SEVERAL_JUDGES,
}

_OFFICIAL = "num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
_SET = "num_q num_ret num_rel num_rel_ret utility set_P set_relative_P set_recall set_map set_F"
#: The names of several measures at once; the run's name and the text of grades, which are no numbers, are left out.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SET.split()),
    "all_trec": tuple(name for name in NAMES if name not in ("dcg", "ideal_dcg")),
}

_TIES = "ties go by descending document id, as they do here by themselves"
_OLD = Setting("trec_eval 9.0.8", "trec_eval-9", note=_TIES)
_NEW = Setting("trec_eval 10.0", "trec_eval-10", note=_TIES)
_PYTREC_EVAL = Setting("pytrec_eval", "trec_eval-9", note=_TIES)

#: What pytrec_eval recognises as parameters; the rest it drops without a word.
_READ_BY_PYTREC_EVAL = re.compile(r"\d+(\.\d+)?(,\d+(\.\d+)?)*")


def translate_trec_eval(name: str, text: str) -> Translation:
    """A name after ``trec_eval:``.

    >>> translate_trec_eval("set_F_4", "trec_eval:set_F_4").claim
    'trec_eval:set_F_4 is SetF(beta=2) here.'
    """
    translation = _translated(name, text)
    if translation is None:
        raise unknown("trec_eval", name, [*NAMES, *GROUPS], text)
    return translation


def translate_without_prefix(name: str) -> Translation | None:
    """A name that is not ours: trec_eval's, or None."""
    found = re.match(r"([\w.,=+-]+?)\s*([@(].*)", name)
    if found and not is_ours(found[1]) and (family := _family(found[1])) in NAMES:
        raise UsageError(
            f"{name}: trec_eval's names take no {found[2][0]}",
            f"did you mean {NAMES[family].ours}{found[2]}?" if family == found[1] else None,
        )
    return _translated(name, name)


def translate_as_pytrec_eval(name: str, text: str) -> Translation:
    """A name after ``pytrec_eval:``: those of trec_eval 9.0.8, with plain numbers for parameters."""
    family = _family(name)
    parameters = name[len(family) + 1 :]
    if family in NAMES and NAMES[family].is_new:
        raise UsageError(f"{text}: pytrec_eval has no such measure", f"trec_eval 10 has it: trec_eval:{name}")
    if parameters and (family == "utility" or not _READ_BY_PYTREC_EVAL.fullmatch(parameters)):
        raise UsageError(
            f"{text}: pytrec_eval reads no such parameters, found '{parameters}'", f"trec_eval does: trec_eval:{name}"
        )
    names = [of for of in GROUPS.get(name, ()) if not NAMES[of].is_new]
    translation = translate_trec_eval(name, text)
    measures = tuple(_expanded(names)) if names else translation.measures
    return translation._replace(tool="pytrec_eval", measures=measures, settings=(_PYTREC_EVAL,))


def _family(name: str) -> str:
    """The longest name of trec_eval's that a text begins with; empty where there is none."""
    for length in (m.start() for m in reversed([*re.finditer(r"[._]|$", name)])):
        if name[:length] in NAMES or name[:length] in WITHOUT_EQUAL or name[:length] in GROUPS:
            return name[:length]
    return ""


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
        raise UsageError(f"{text}: expected parameters after '{name[-1]}', found nothing")
    known = NAMES[family]
    measures = tuple(build(known.ours, each) for each in known.read(family, parameters))
    return Translation(text, "trec_eval", measures, (_NEW,) if known.is_new else (_NEW, _OLD))


def _expanded(names: Sequence[str]) -> Iterator[Measure]:
    for name in names:
        yield from (build(NAMES[name].ours, each) for each in NAMES[name].read(name, ""))
