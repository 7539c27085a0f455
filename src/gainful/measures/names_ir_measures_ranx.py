"""Names in ir_measures, ``Name(parameter=value, ...)@x``, ranx, ``metric@k-lN``, and NTCIREVAL."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gainful.errors import UsageError
from gainful.gains import Gain
from gainful.measures.names_trec_eval import TIES, NoEqual, Setting, Translation, build, table_of_gains, unknown

#: Converts the value of one of their parameters into ours.
_Reader = Callable[[str, object], Mapping[str, object]]


def _number(what: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{what}: expected a number, found {value!r}")
    return value


def _whole(what: str, value: object) -> int:
    if type(value) is not int:
        raise UsageError(f"{what}: expected a whole number, found {value!r}")
    return value


def _word(what: str, value: object, words: Mapping[object, Mapping[str, object]]) -> Mapping[str, object]:
    # True == 1 in Python, but not in ir_measures.
    found = [given for word, given in words.items() if word == value and type(word) is type(value)]
    if not found:
        raise UsageError(f"{what}: expected {' | '.join(map(repr, words))}, found {value!r}")
    return found[0]


def _gains(what: str, value: object) -> Mapping[str, object]:
    """Read a gain map; omitted grades keep their own value."""
    pairs = list(value.items()) if isinstance(value, dict) else []
    if not pairs or any(type(part) is not int for pair in pairs for part in pair):
        raise UsageError(f"{what}: expected integer gains for integer grades, as in {{1:1,2:10}}, found {value!r}")
    gains = dict(pairs)
    if min(gains) < 0:
        raise UsageError(f"{what}: expected grades of at least 0, found {min(gains)}")
    return {"gain": table_of_gains(gains)}


def _beta(what: str, value: object) -> Mapping[str, object]:
    """Read beta; ir_measures passes it to trec_eval, whose parameter is beta^2."""
    squared = _number(what, value)
    if squared < 0:
        raise UsageError(f"{what}: expected a number of at least 0, found {squared}")
    return {"beta": math.sqrt(squared)}


def _recall(what: str, value: object) -> Mapping[str, object]:
    """Read a recall level; ir_measures passes it to trec_eval with two decimal places."""
    return {"recall": float(f"{_number(what, value):.2f}")}


def _as_number(ours: str) -> _Reader:
    return lambda what, value: {ours: _number(what, value)}


def _as_whole(ours: str) -> _Reader:
    return lambda what, value: {ours: _whole(what, value)}


def _one_of(words: Mapping[object, Mapping[str, object]]) -> _Reader:
    return lambda what, value: _word(what, value, words)


_judged_only = _one_of({False: {}, True: {"unjudged": "condensed"}})
_dcg = _one_of({"log2": {}, "exp-log2": {"gain": "exp2"}})
_log2 = _one_of({"log2": {}})
_normalize = _one_of({True: {}, False: {"normalize": False}})
_persistence = _as_number("p")

_CUTOFF: Mapping[str, _Reader] = {"cutoff": _as_whole("cutoff")}
#: Its default there is 1, which for integer grades is the same as no ``rel`` here.
_REL: Mapping[str, _Reader] = {"rel": lambda what, value: {} if _whole(what, value) == 1 else {"rel": value}}
_BINARY: Mapping[str, _Reader] = {**_REL, "judged_only": _judged_only}

#: Parameters that together make a gain map.
_GRADED: Mapping[str, _Reader] = {name: _as_whole(name) for name in ("min_rel", "max_rel")}

_THROUGH_PYTREC_EVAL = Setting("ir_measures, which uses pytrec_eval", "trec_eval-9", {"missing": "zero"}, TIES)
_COUNTS = Setting("ir_measures, which uses pytrec_eval and counts only answered queries", "trec_eval-9", note=TIES)
_MS_MARCO = Setting("ir_measures, which follows MS MARCO", choices={"ties": "docid-asc"})
_JUDGED = Setting("ir_measures", choices={"ties": "docid-asc"})
_GDEVAL = Setting("ir_measures, which uses gdeval", note="gdeval rounds to five decimal places")
_GDEVAL_ERR = _GDEVAL._replace(note="the highest grade in gdeval is 4, and it rounds to five decimal places", scale=4)
_CWL = Setting(
    "ir_measures, which uses cwl-eval",
    choices={"ties": "input", "depth": "1000"},
    note="cwl-eval leaves ties in input order and reads 1,000 documents",
)
_CWL_GRADED = _CWL._replace(note="cwl-eval leaves ties in input order; grades count from min_rel to max_rel")
_NDEVAL_WHOLE = Setting("ir_measures, which uses pyndeval", choices={"ties": "docid-asc", "subtopics": "yes"})
_NDEVAL = _NDEVAL_WHOLE._replace(note="ndeval stops at rank 20")
_COMPAT = Setting(
    "ir_measures",
    choices={"ties": "docid-asc"},
    note="its ideal list has equal scores in the order of the judgments, and score 0 for documents not retrieved",
)
_PAIRS = Setting("ir_measures", choices={"ties": "input", "undefined": "skip", "missing": "skip"})


class _Name(NamedTuple):
    """One of our measures, readers of their parameters, the required one, the setting, and the parameter of ``@``.

    ``fixed`` are our parameters that are constant there.
    """

    ours: str
    parameters: Mapping[str, _Reader] = {}
    needed: str | None = None
    setting: Setting = _THROUGH_PYTREC_EVAL
    at: str = "cutoff"
    fixed: Mapping[str, object] = {}


NAMES: Mapping[str, _Name] = {
    "AP": _Name("AP", {**_CUTOFF, **_BINARY}),
    "Bpref": _Name("Bpref", _REL),
    "ERR": _Name("ERR", _CUTOFF, setting=_GDEVAL_ERR),
    "IPrec": _Name("IPrec", {"recall": _recall, **_BINARY}, "recall", at="recall"),
    "Judged": _Name("Judged", _CUTOFF, setting=_JUDGED),
    "NumQ": _Name("NumQ", setting=_COUNTS),
    "NumRel": _Name("NumRel", _REL, setting=_COUNTS),
    "NumRelRet": _Name("NumRelRet", _REL, setting=_COUNTS),
    "NumRet": _Name("NumRet", _REL, setting=_COUNTS),
    "P": _Name("P", {**_CUTOFF, **_BINARY}, "cutoff"),
    "R": _Name("R", {**_CUTOFF, **_BINARY}, "cutoff"),
    # For cwl-eval, rel=1 differs from above 0, because grades can be real numbers.
    "RBP": _Name("RBP", {"p": _persistence, "rel": _as_whole("rel"), **_CUTOFF}, "rel", _CWL),
    "RR": _Name("RR", {**_CUTOFF, **_BINARY}),
    "Rprec": _Name("Rprec", _BINARY),
    "SetAP": _Name("SetAP", _BINARY),
    "SetF": _Name("SetF", {**_BINARY, "beta": _beta}),
    "SetP": _Name("SetP", _BINARY),
    "SetR": _Name("SetR", _REL),
    "SetRelP": _Name("SetRelP", _BINARY),
    "Success": _Name("Success", {**_CUTOFF, **_BINARY}, "cutoff"),
    "Accuracy": _Name("PairAccuracy", {**_CUTOFF, **_REL}, setting=_PAIRS),
    "BPM": _Name("BPM", {**_GRADED, "T": _as_number("T"), "cutoff": _as_number("K")}, "max_rel", _CWL_GRADED),
    "Compat": _Name("Compat", {"p": _persistence, "normalize": _normalize}, setting=_COMPAT, fixed={"depth": "lists"}),
    "INSQ": _Name("INSQ", {**_GRADED, "T": _as_number("T")}, "max_rel", _CWL_GRADED),
    "INST": _Name("INST", {**_GRADED, "T": _as_number("T")}, "max_rel", _CWL_GRADED),
    "NERR8": _Name("NERR8", {**_GRADED, **_CUTOFF}, "max_rel", _CWL_GRADED),
    "NERR9": _Name("NERR9", {**_GRADED, **_CUTOFF}, "max_rel", _CWL_GRADED),
    "NERR10": _Name("NERR10", {**_GRADED, "p": _persistence}, "max_rel", _CWL_GRADED),
    "NERR11": _Name("NERR11", {**_GRADED, "T": _as_number("T")}, "max_rel", _CWL_GRADED),
    "SDCG": _Name("ScaledDCG", {**_GRADED, **_CUTOFF, "dcg": _log2}, "max_rel", _CWL_GRADED),
    "AP_IA": _Name("AP-IA", _BINARY, setting=_NDEVAL_WHOLE),
    "ERR_IA": _Name("ERR-IA", {**_CUTOFF, **_BINARY}, "cutoff", _NDEVAL),
    "NRBP": _Name("NRBP", {**_REL, "alpha": _as_number("alpha"), "beta": _as_number("beta")}, setting=_NDEVAL),
    "P_IA": _Name("P-IA", {**_CUTOFF, **_BINARY}, "cutoff", _NDEVAL),
    "StRecall": _Name("StRecall", {**_CUTOFF, **_REL}, "cutoff", _NDEVAL),
    "alpha_DCG": _Name("alpha-DCG", {**_CUTOFF, **_BINARY, "alpha": _as_number("alpha")}, "cutoff", _NDEVAL),
    "alpha_nDCG": _Name("alpha-nDCG", {**_CUTOFF, **_BINARY, "alpha": _as_number("alpha")}, "cutoff", _NDEVAL),
    "nERR_IA": _Name("nERR-IA", {**_CUTOFF, **_BINARY}, "cutoff", _NDEVAL),
    "nNRBP": _Name("nNRBP", {**_REL, "alpha": _as_number("alpha"), "beta": _as_number("beta")}, setting=_NDEVAL),
    "infAP": _Name("InfAP", _REL),
    "nDCG": _Name("nDCG", {**_CUTOFF, "dcg": _dcg, "gains": _gains, "judged_only": _judged_only}),
}

OTHER_NAMES: Mapping[str, str] = {
    "BPref": "Bpref",
    "MAP": "AP",
    "MAP_IA": "AP_IA",
    "MRR": "RR",
    "NDCG": "nDCG",
    "Precision": "P",
    "RPrec": "Rprec",
    "Recall": "R",
    "α_DCG": "alpha_DCG",
    "α_nDCG": "alpha_nDCG",
}


def translate(name: str, text: str) -> Translation:
    """Translate a name after ``ir_measures:``.

    >>> translate("nDCG(dcg='exp-log2')@10", "ir_measures:nDCG(dcg='exp-log2')@10").measures
    (nDCG(gain=exp2)@10,)
    """
    theirs, given, at = _split_text(name, text)
    theirs = OTHER_NAMES.get(theirs, theirs)
    if theirs not in NAMES:
        raise unknown("ir_measures", theirs, [*NAMES, *OTHER_NAMES], text)
    known = NAMES[theirs]
    if at is not None:
        given[known.at] = at  # overrides the parameter
    measure, given = _special(theirs, known, given, text)
    ours = dict(known.fixed)
    for parameter, value in given.items():
        if parameter not in known.parameters:
            hint = f"it takes {', '.join(known.parameters)}" if known.parameters else "it takes none"
            raise UsageError(f"{text}: {theirs} of ir_measures has no parameter '{parameter}'", hint)
        ours.update(known.parameters[parameter](f"{text}: {parameter}", value))
    if known.needed and known.needed not in given:
        raise UsageError(f"{text}: {theirs} of ir_measures requires {known.needed}")
    if "max_rel" in ours:
        low, high = ours.pop("min_rel", 0), ours.pop("max_rel")
        ours["gain"] = Gain.of(f"{low}..{high}", f"{text}: grades from min_rel to max_rel")
    setting = _GDEVAL if given.get("dcg") == "exp-log2" else known.setting
    if theirs == "RR" and "cutoff" in given:
        setting = _MS_MARCO
    return Translation(text, "ir_measures", (build(measure, ours),), (setting,))


def _special(theirs: str, known: _Name, given: dict[str, object], text: str) -> tuple[str, dict[str, object]]:
    """Return our measure and the remaining parameters, for parameters that select another measure."""
    if theirs == "NumRet" and "rel" in given:
        return "NumRelRet", given
    if theirs in ("SetP", "SetRelP") and "relative" in given:
        rest = {parameter: value for parameter, value in given.items() if parameter != "relative"}
        relative = _word(f"{text}: relative", given["relative"], {False: {}, True: {"relative": True}})
        return ("SetRelP" if relative else "SetP"), rest
    if "gains" in given and given.get("dcg", "log2") != "log2":
        raise UsageError(f"{text}: gains and dcg cannot be combined in ir_measures", "leave one of them out")
    return known.ours, given


def _split_text(name: str, text: str) -> tuple[str, dict[str, object], object]:
    """Return the name, the parameters and the value after ``@``."""
    try:
        node: ast.expr = ast.parse(name, mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        given: dict[str, object] = {}
        if isinstance(node, ast.Call) and not node.args and all(word.arg for word in node.keywords):
            given = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            return node.id, given, at
    except (SyntaxError, ValueError):
        pass
    hint = "words need quotes: ir_measures:nDCG(dcg='exp-log2')@10"
    raise UsageError(f"{text}: expected Name(parameter=value, ...)@x as in ir_measures, found '{name}'", hint)


class _RanxName(NamedTuple):
    """Our measure of the whole list, our measure with a cutoff if there is one, and parameters of both."""

    whole: str
    cut: str | None = None
    parameters: Mapping[str, object] = {}


_EXPONENTIAL = {"gain": "exp2"}

RANX_NAMES: Mapping[str, _RanxName] = {
    "hit_rate": _RanxName("Success", "Success"),
    "precision": _RanxName("SetP", "P"),
    "recall": _RanxName("SetR", "R"),
    "f1": _RanxName("SetF", "F"),
    "r-precision": _RanxName("Rprec"),
    "mrr": _RanxName("RR", "RR"),
    "map": _RanxName("AP", "AP"),
    "dcg": _RanxName("DCG", "DCG"),
    "dcg_burges": _RanxName("DCG", "DCG", _EXPONENTIAL),
    "ndcg": _RanxName("nDCG", "nDCG"),
    "ndcg_burges": _RanxName("nDCG", "nDCG", _EXPONENTIAL),
    "bpref": _RanxName("Bpref"),
    "rbp": _RanxName("RBP", None, {"gain": "linear"}),
}

#: ranx measures without an equivalent here.
RANX_WITHOUT_EQUAL: Mapping[str, NoEqual] = {
    "hits": NoEqual("ranx averages this count", "NumRelRet, which sums it over queries"),
}

_SETTING = Setting(
    "ranx",
    choices={"ties": "input"},
    note="ranx leaves ties in input order; an unanswered query is an error there unless make_comparable=True",
)
_RBP = _SETTING._replace(
    note="gains in ranx are grades; with grades above 1, its value is gain=scaled times the highest grade"
)
_TEXT = re.compile(r"(?P<name>[a-z][\w-]*?)(?P<by>[@.](?P<number>\d+))?(-l(?P<level>\d+))?", re.ASCII)


def translate_ranx(name: str, text: str) -> Translation:
    """Translate a name after ``ranx:``. ``-lN`` is the lowest grade that counts, also for gains.

    >>> [translate_ranx(name, f"ranx:{name}").measures for name in ("ndcg_burges@10", "map-l2")]
    [(nDCG(gain=exp2)@10,), (AP(rel=2),)]
    """
    match = _TEXT.fullmatch(name)
    if not match:
        raise UsageError(f"{text}: expected metric@k-lN as in ranx, found '{name}'", "for example ranx:ndcg@10-l2")
    theirs, number = match["name"], match["number"]
    if theirs in RANX_WITHOUT_EQUAL:
        RANX_WITHOUT_EQUAL[theirs].refuse(text)
    if theirs not in RANX_NAMES or (match["by"] or "").startswith(".") != (theirs == "rbp" and "." in name):
        raise unknown("ranx", theirs, RANX_NAMES, text)
    ours, given = _cut(theirs, number, text)
    if match["level"] not in (None, "1"):
        given = {**given, "rel": match["level"]}
    return Translation(text, "ranx", (build(ours, given),), (_RBP if theirs == "rbp" else _SETTING,))


def _cut(theirs: str, number: str | None, text: str) -> tuple[str, Mapping[str, object]]:
    """Return our measure, with the parameter set by ``@`` or ``.``; a cutoff of 0 means the whole list in ranx."""
    known = RANX_NAMES[theirs]
    if theirs == "rbp":
        if number is None:
            raise UsageError(f"{text}: a persistence is required", "write ranx:rbp.95")
        return known.whole, {**known.parameters, "p": f"0.{number}"}
    if number is None or int(number) == 0:
        return known.whole, known.parameters
    if known.cut is None:
        raise UsageError(f"{text}: {theirs} has no cutoff in ranx", f"write ranx:{theirs}")
    return known.cut, {**known.parameters, "cutoff": number}


_RANK_BIASED: Mapping[str, object] = {"stop": "rank", "gamma": 0.95}
#: NTCIREVAL's labels; its gains are an option there, and the parameter gain here.
NTCIREVAL_NAMES: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "RR": ("RR", {}),
    "O-measure": ("O", {}),
    "P-measure": ("P-measure", {}),
    "P-plus": ("P+", {}),
    "AP": ("AP", {}),
    "Q-measure": ("Q", {}),
    "Q": ("Q", {}),
    "NCUgu,P": ("NCU", {"beta": 0}),
    "NCUgu,BR": ("NCU", {}),
    "NCUrb,P": ("NCU", {"beta": 0, **_RANK_BIASED}),
    "NCUrb,BR": ("NCU", _RANK_BIASED),
    "RBP": ("RBP", {"p": 0.95, "gain": "scaled"}),
    "ERR": ("ERR", {"gain": "linear"}),
    "nERR": ("nERR", {"gain": "linear"}),
    "EBR": ("EBR", {}),
    "iRBU": ("iRBU", {}),
    "nDCG": ("nDCG", {"discount": "jarvelin2002"}),
    "MSnDCG": ("nDCG", {}),
    "GAP": ("GAP", {"gain": "0-2-6-12-20-30-42-56-72"}),  # level l has gain l (l + 1)
    "bpref": ("Bpref", {}),
    "P": ("P", {}),
    "Prec": ("P", {}),
    "Hit": ("Success", {}),
    "I-rec": ("StRecall", {}),
    "D-nDCG": ("D-nDCG", {}),
    "D#-nDCG": ("D-nDCG", {"gamma": 0.5}),
    "D-Q": ("D-Q", {}),
    "D#-Q": ("D-Q", {"gamma": 0.5}),
}
#: Measures found only in NTCIREVAL, with the nearest ones here.
NTCIREVAL_ONLY: Mapping[str, NoEqual] = {
    "NCUrb,IE": NoEqual("its utility is 0.99^rank, not precision", "NCUrbP(gamma=0.95)"),
    **{
        f"n{name}": NoEqual(f"it divides {name} by its ideal value", f"ntcireval:{name}, which is not normalised")
        for name in ("RBP", "EBR", "iRBU")
    },
    **{
        f"bpref_{suffix}": NoEqual("it divides the count of non-relevant documents above by another number", "Bpref")
        for suffix in ("R", "N", "relative")
    },
    **{
        f"rpref_{suffix}": NoEqual("it is a graded bpref", "Bpref (binary) or Q(unjudged=condensed)")
        for suffix in ("N", "relative", "relative2")
    },
}
_NTCIREVAL = Setting(
    "NTCIREVAL", "ntcireval", note="set gain= to its -g; topics without relevant documents count as 0 in its means"
)
_LABEL = re.compile(r"(?P<name>[\w#,-]+?)(@(?P<k>\d+))?", re.ASCII)


def translate_ntcireval(name: str, text: str) -> Translation:
    """Translate a label after ``ntcireval:``, where cutoffs have four digits.

    >>> translate_ntcireval("MSnDCG@0010", "ntcireval:MSnDCG@0010").measures
    (nDCG@10,)
    """
    match = _LABEL.fullmatch(name)
    if not match or match["name"] not in {**NTCIREVAL_NAMES, **NTCIREVAL_ONLY}:
        raise unknown("ntcireval", name, NTCIREVAL_NAMES, text)
    name, cutoff = match["name"], match["k"]
    if name in NTCIREVAL_ONLY:
        NTCIREVAL_ONLY[name].refuse(text)
    ours, given = NTCIREVAL_NAMES[name]
    measure = build(ours, {**given, **({"cutoff": int(cutoff)} if cutoff else {})})
    if cutoff and ours in ("AP", "NCU", "GAP"):
        best = "the gains of the ideal top k" if ours == "GAP" else "the smaller of k and all relevant documents"
        NoEqual(f"NTCIREVAL divides by {best}", f"{measure}, which divides by the whole ideal list").refuse(text)
    return Translation(text, "ntcireval", (measure,), (_NTCIREVAL,))
