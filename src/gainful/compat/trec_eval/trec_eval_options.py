"""trec_eval's command line, return codes and number syntax. Nothing here loads NumPy."""

from __future__ import annotations

import getopt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gainful._version import __version__
from gainful.errors import GainfulError
from gainful.measures.names_trec_eval import FAMILIES, GROUPS, Reads
from gainful.notation import choose, nearest
from gainful.policy import Policy

USAGE, FILE, CALCULATION, NOTHING_SHARED, ZSCORES = 1, 2, 4, 7, 255


class RefusedError(GainfulError):
    """An error with the return code that trec_eval has for it."""

    def __init__(self, code: int, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.code = code


_WHOLE = re.compile(r"\s*([+-]?\d+)", re.ASCII)
_HEX = r"0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?\d+)?"
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_REAL = re.compile(rf"\s*([+-]?(?:{_HEX}|{_DECIMAL}|inf(?:inity)?|nan))", re.ASCII | re.IGNORECASE)


def leading_whole(text: str) -> int:
    """Return the whole number at the beginning of a text.

    >>> leading_whole("2.7"), leading_whole("1e2"), leading_whole("x"), leading_whole("-0.5")
    (2, 1, 0, 0)
    """
    match = _WHOLE.match(text)
    return int(match[1]) if match else 0


def leading_real(text: str) -> float:
    """Return the number at the beginning of a text, like C's atof.

    >>> leading_real(".25"), leading_real("2,5"), leading_real("x"), leading_real("0x1.8p3"), leading_real("-0x1p9999")
    (0.25, 2.0, 0.0, 12.0, -inf)
    """
    match = _REAL.match(text)
    if match is None:
        return 0.0
    try:
        return float.fromhex(match[1]) if "x" in match[1].lower() else float(match[1])
    except OverflowError:  # infinite in C
        return -math.inf if match[1].startswith("-") else math.inf


VERSIONS = ("9.0.8", "10.0")

#: The formats of judgments, and the kind of judgments that measures see.
FORMATS: Mapping[str, Reads] = {
    "qrels": "grades",
    "qrels_jg": "judges",
    "prefs": "preferences",
    "qrels_prefs": "preferences",
}


def members(name: str, compat: str) -> tuple[str, ...]:
    """Return the measures that a name means in a version; raise RefusedError if there are none."""
    known = [of for of in FAMILIES if compat != "9.0.8" or not FAMILIES[of].is_new]
    if name in GROUPS:
        return tuple(of for of in GROUPS[name] if of in known)
    if name in known:
        return (name,)
    if name in FAMILIES:
        raise RefusedError(USAGE, f"illegal measure '{name}': trec_eval {compat} does not have it")
    # trec_eval's output joins name and parameter with _, its options with a dot.
    family, _, parameter = name.rpartition("_")
    pointed = f"did you mean {family}.{parameter}?" if family in known and parameter[:1].isdigit() else None
    raise RefusedError(USAGE, f"illegal measure '{name}'", pointed or nearest(name, [*FAMILIES, *GROUPS]))


_SHORT = "hvqm:cl:nD:JN:M:R:T:oZ:"
#: Long options (``=``: with a value) and their short equivalents.
_LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",  # takes a value that is ignored
    "Zscore=": "-Z",
    "compat=": "--compat",
}

USAGE_TEXT = """\
Usage: trec_eval [-h] [-q] [-m measure[.parameters]]... [-c] [-n] [-l N] [-M N] [-J] [-N N] [-R format]
                 [-Z file] [--compat 9.0.8|10.0] qrels run
"""

HELP_TEXT = f"""\
{USAGE_TEXT}
Evaluates the run against the judgments qrels and prints a line for every measure: name, topic and value.
The run - is standard input. This is gainful {__version__} with trec_eval's options, names and output.

 -q, --query_eval_wanted            also print the values of every topic
 -m, --measure name[.parameters]    a measure, or one of the groups official (the default), all_trec, set, prefs,
                                    all_prefs and qrels_jg (repeatable): -m map -m ndcg_cut.10,20 -m set_F.2
 -c, --complete_rel_info_wanted     average over all judged topics; missing ones count 0
 -n, --nosummary                    omit the values over all topics
 -l, --level_for_rel N              lowest grade that counts as relevant (default 1)
 -M, --Max_retrieved_per_topic N    use only the first N documents of every topic
 -J, --Judged_docs_only             remove unjudged documents
 -N, --Number_docs_in_coll N        number of documents in the collection (for utility)
 -R, --Rel_info_format format       format of the judgments: qrels (the default); for preferences prefs (lines of topic
                                    judge part document level) or qrels_prefs; qrels_jg for several judges (in
                                    column 2)
 -Z, --Zscore file                  Z-scores; lines of the file: topic measure mean deviation
 -o                                 has no effect, as in trec_eval
 -h, --help and -v, --version       this text, and the version
     --compat 9.0.8|10.0            the version to reproduce (default 10.0)
     --link DIR                     alone: write an executable trec_eval that runs this program to DIR

Measures have trec_eval's names. `gainful measures` lists the many others that `gainful eval` has.
"""


@dataclass(frozen=True)
class Ended:
    """The answer to a command line that asks for no evaluation, and the return code."""

    text: str
    code: int
    to_stdout: bool = False


@dataclass
class Options:
    """The options of an evaluation."""

    qrels: str = ""
    run: str = ""
    compat: str = "10.0"
    by_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: float = 1
    depth: int | None = None
    documents: int = 0
    format: str = "qrels"
    zscores: str | None = None
    #: Names of the requested measures, and the parameters of those given with some.
    names: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def is_old(self) -> bool:
        return self.compat == "9.0.8"

    @property
    def scores_missing_topics(self) -> bool:
        """Whether topics missing from the run get scores: with -c, trec_eval 10 makes up a list."""
        return self.complete and not self.is_old

    @property
    def reads(self) -> Reads:
        return FORMATS[self.format]

    @property
    def policy(self) -> Policy:
        """The version's conventions. Its errors are detected later, topic by topic."""
        dialect = "trec_eval-9" if self.is_old else "trec_eval-10"
        # Equal scores are ordered by ascending document ID only for preferences.
        ties = "docid-asc" if self.reads == "preferences" else "docid-desc"
        return Policy.like(dialect, depth=self.depth, missing="zero", duplicates="first", judges="max", ties=ties)

    def set_option(self, name: str, value: str) -> None:
        flags = {"-q": "by_query", "-c": "complete", "-n": "summary", "-J": "judged_only"}
        numbers = {"-l": ("level", 0), "-M": ("depth", 1), "-N": ("documents", 0)}
        if name in flags:
            setattr(self, flags[name], name != "-n")
        elif name in numbers:
            attribute, lowest = numbers[name]
            number = leading_whole(value)
            if number < lowest:
                raise RefusedError(USAGE, f"{name}: expected a whole number of at least {lowest}, found '{value}'")
            setattr(self, attribute, number)
        elif name == "-m":
            measure, dot, parameters = value.partition(".")
            if dot and not parameters:
                raise RefusedError(USAGE, f"illegal measure '{value}': no parameters after the dot")
            self.names.update(members(measure, self.compat))
            if dot and measure not in GROUPS:
                # If a measure is given twice, only the first counts.
                self.parameters.setdefault(measure, parameters)
        elif name == "-Z":
            self.zscores = value
        elif name == "-D" and value != "0":
            hint = "`gainful explain` shows the arithmetic"
            raise RefusedError(USAGE, f"-D {value}: gainful has no debug output", hint)
        elif name == "-R":
            if value not in FORMATS:
                text = f"-R: expected {' | '.join(FORMATS)}, found '{value}'"
                raise RefusedError(FILE, text, nearest(value, FORMATS))
            self.format = value
        elif name == "-T" and value != "trec_results":
            raise RefusedError(FILE, f"-T: expected trec_results, found '{value}'")


def parse_options(arguments: Sequence[str]) -> Options | Ended:
    """Parse a command line into options, or into the answer that replaces the evaluation.

    >>> options = parse_options(["-qc", "-l2", "-mmap", "-m", "P.5,10", "qrels", "run"])
    >>> options.by_query, options.complete, options.level, sorted(options.names), options.parameters
    (True, True, 2, ['P', 'map'], {'P': '5,10'})
    """
    try:
        given, files = getopt.gnu_getopt(list(arguments), _SHORT, list(_LONG))
    except getopt.GetoptError as error:
        return Ended(f"trec_eval: {error.msg}\n{USAGE_TEXT}", USAGE)
    short = {f"--{name.rstrip('=')}": letter for name, letter in _LONG.items()}
    pairs = [(short.get(name, name), value) for name, value in given]
    # The version decides which measures exist, wherever it is given.
    options = Options(compat=choose(dict(pairs).get("--compat", "10.0"), VERSIONS, "--compat"))
    for name, value in pairs:
        if name == "-v":
            return Ended(f"trec_eval version {options.compat} (gainful {__version__})\n", 0)
        options.set_option(name, value)
    if ("-h", "") in pairs:
        return Ended(HELP_TEXT, 0, to_stdout=True)
    if len(files) != 2:
        return Ended(USAGE_TEXT, USAGE)
    options.qrels, options.run = files
    if not options.names:
        options.names.update(members("official", options.compat))
    return options
