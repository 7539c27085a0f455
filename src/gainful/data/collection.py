"""Input files of a command: names of runs, standard input, and judgments and runs that are read ahead.

Importing NumPy takes longer than reading a collection of ordinary size, so the core reads files on its own threads
meanwhile. Nothing in this module imports NumPy before the core has started.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from gainful.errors import UsageError, for_asker, option
from gainful.io.columns import OfEitherSide, concerning, text_of_header
from gainful.io.formats import ENDINGS, FORMATS, PER_QUERY, Reading, first_line, format_of
from gainful.io.sources import COMPRESSED_ENDINGS, HEAD, Text, file_text, hash_ahead, max_list_bytes, open_source
from gainful.kernel import core
from gainful.kernel.core import default_threads
from gainful.kernel.parallel import Progress, current_progress
from gainful.notation import count_of, nearest, printable, text_of_id
from gainful.policy import Policy

if TYPE_CHECKING:
    from gainful.data.judged import Judged
    from gainful.data.qrels import Qrels
    from gainful.data.run import RunSource
    from gainful.kernel.core import Joined, JoinJob


def require_runs(runs: object, *, at_least_one: bool = True) -> None:
    """Reject anything but a nonempty dict of runs by name."""
    if not isinstance(runs, Mapping):
        hint = 'give it a name: {"bm25": run}'
        raise UsageError(f"runs: expected a dict of names and runs, found {type(runs).__name__}", hint)
    if at_least_one and not runs:
        raise UsageError("runs: at least one run is required", 'give each a name: {"bm25": "bm25.run"}')


def no_such_run(name: str, names: Iterable[str], what: str = "") -> UsageError:
    """Return the error for a name that no run has; ``what`` is the option that was used.

    >>> print(no_such_run("bm52", ["bm25", "dense"], "baseline"))
    baseline: no run is called 'bm52'; runs: bm25, dense
    hint: did you mean bm25?
    """
    names = list(names)
    where, listed = f"{for_asker(f'--{what}', what)}: " if what else "", ", ".join(map(printable, names))
    return UsageError(f"{where}no run is called '{printable(name)}'; runs: {listed}", nearest(name, names))


def require_columns(columns: Mapping[str, str], sources: Iterable[object]) -> None:
    """Reject a column name without a prefix such as ``run.`` that no header has."""
    either = {role: name for role, name in columns.items() if isinstance(name, OfEitherSide)}
    headers = [_names_in_header(source) for source in sources] if either else []
    for role, name in either.items():
        first = re.split("[.[]", name, maxsplit=1)[0]  # of a dotted path, or of a span built from several columns
        if all(h is not None and first not in h and not concerning({role: name}, h) for h in headers):
            there = dict.fromkeys(printable(", ".join(header or ()), 100) for header in headers)
            raise UsageError(f"{option('columns')}: no header has a column '{name}' for {role}: {'; '.join(there)}")


def _names_in_header(source: object) -> list[str] | None:
    """Return the column names at the beginning of a source; None if they are unknown without reading more."""
    if isinstance(source, (str, os.PathLike)):
        text = file_text(os.fspath(source))
        line = b"" if text is None or text.head[:4] == b"PAR1" else first_line(text.head)
        if text is None or not line or len(line) == HEAD:
            return None
        if line[:1] in b"{[":
            return list(dict.fromkeys(map(text_of_id, _KEY.findall(text.head))))
        return [name.strip(' "') for name in re.split("[\t,;]", text_of_header(line))]
    if isinstance(source, (list, dict)):
        return list(dict.fromkeys(_keys(source)))
    names = getattr(source, "column_names", getattr(source, "columns", None))
    return list(map(str, names)) if isinstance(names, Iterable) else None


_KEY, _SOME = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:'), 100


def _keys(value: list[Any] | dict[Any, Any]) -> Iterator[str]:
    """Yield the keys of objects and nested objects, sampling long lists."""
    yield from map(str, value) if isinstance(value, dict) else ()
    for each in islice(value.values() if isinstance(value, dict) else value, _SOME):
        if isinstance(each, (list, dict)):
            yield from _keys(each)


def read_once(*paths: str | None) -> None:
    """Reject standard input as more than one file."""
    if paths.count("-") > 1:
        raise UsageError("standard input (-) is given twice, but can be read only once")


def named_runs(paths: Sequence[str], given: Sequence[str] = ()) -> dict[str, str]:
    """Return the files of runs by name: the given one, or the file name without directory, compression and format.

    >>> list(named_runs(["a/bm25.run.gz", "b/bm25.run", "dense.0.5.res", "log.xml"]))
    ['a/bm25', 'b/bm25', 'dense.0.5', 'log']
    >>> list(named_runs(["1/a/bm25.run", "2/a/bm25.run"]))
    ['1/a/bm25.run', '2/a/bm25.run']
    """
    if given and len(given) != len(paths):
        raise UsageError(f"--name: expected one for each of {count_of(len(paths), 'run')}, found {len(given)}")
    names = list(given)
    if not names:
        names = short = [_short_name(path) for path in paths]
        if len(set(short)) < len(short):  # add folders, or use whole paths if that is not enough
            folders = [os.path.basename(os.path.dirname(os.path.abspath(path))) for path in paths]
            both = zip(folders, short, strict=True)
            names = [f"{folder}/{name}" if short.count(name) > 1 else name for folder, name in both]
            names = names if len(set(names)) == len(names) else list(paths)
    if "" in names:
        raise UsageError("--name: expected a name, found an empty one")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"duplicate run name '{name}'", "use --name to choose names")
    return dict(zip(names, paths, strict=True))


def named_systems(arguments: Sequence[str], given: Sequence[str] = ()) -> dict[str, str | list[str]]:
    """Return the files of runs by name, like :func:`named_runs`; NAME=FILE,FILE means repeated runs of one system.

    >>> named_systems(["bm25.run", "llm=seeds/1.run,seeds/2.run"])
    {'bm25': 'bm25.run', 'llm': ['seeds/1.run', 'seeds/2.run']}
    """
    repeated = {each for each in arguments if "=" in each and not os.path.lexists(each)}
    names = iter(named_runs([each for each in arguments if each not in repeated], given).items())
    found: dict[str, str | list[str]] = {}
    for each in arguments:
        name, _, files = each.partition("=")
        system, runs = (name, files.split(",")) if each in repeated else next(names)
        if not system or system in found or (each in repeated and "" in runs):
            raise UsageError(f"{each}: expected NAME=RUN,RUN with a unique system name")
        found[system] = runs
    return found


def runs_apart(systems: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return every run under its own name, and the names of each system's runs; a list means repeated runs.

    >>> runs_apart({"bm25": "bm25.run", "llm": ["1.run", "2.run"]})
    ({'bm25': 'bm25.run', 'llm (1)': '1.run', 'llm (2)': '2.run'}, {'bm25': ['bm25'], 'llm': ['llm (1)', 'llm (2)']})
    """
    runs: dict[str, Any] = {}
    names: dict[str, list[str]] = {}
    for system, given in systems.items():
        several = list(given) if isinstance(given, (list, tuple)) else [given]
        if several and several[0] is not given and isinstance(several[0], dict):
            from gainful.data.run import holds_objects

            several = [given] if holds_objects(given) else several
        names[system] = [f"{system} ({i})" for i in range(1, len(several) + 1)] if len(several) > 1 else [system]
        if not several or not runs.keys().isdisjoint(names[system]):
            raise UsageError(f"{system}: no runs, or a duplicate run name")
        runs |= dict(zip(names[system], several, strict=True))
    return runs, names


def _short_name(path: str) -> str:
    if path == "-":
        return "stdin"
    name = os.path.basename(path)
    for endings in (COMPRESSED_ENDINGS, ENDINGS):
        stem, ending = os.path.splitext(name)
        if ending.lower() in endings:
            name = stem
    return name


class Inputs(NamedTuple):
    """Settings for reading judgments and runs, and further files: ``exclude`` (documents to remove from runs),
    ``items`` and ``training`` (items and past interactions), ``intents`` (probabilities of sub-topics), with
    ``columns`` for their headers. ``features`` selects LETOR features as runs: numbers such as 1,5,9, or all."""

    qrels: Reading = Reading()
    run: Reading = Reading()
    features: str | None = None
    exclude: str | None = None
    items: str | None = None
    training: str | None = None
    intents: str | None = None
    columns: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def is_trec(self, text: Text, run: bool) -> bool:
        how = self.run if run else self.qrels
        return not how.grades and format_of(text, how, run=run) == "trec"

    def read_qrels(
        self, source: str, *, scale: float | None = None, threads: int | None = None, policy: Policy | None = None
    ) -> Qrels:
        """Read judgments, or a run in their place, ordered by the policy."""
        from gainful.data.qrels import Qrels
        from gainful.data.run import RunSource

        how = self.qrels
        if how.format == "run":
            return replace(Qrels.from_run(RunSource(source, how._replace(format=None)), policy), name=source)
        qrels = Qrels.read(
            source, format=how.format, columns=how.columns, grades=how.grades, scale=scale, threads=threads
        )
        known = self.items, self.training, self.columns, self.intents
        return qrels.with_items(*known) if self.items or self.training or self.intents else qrels

    def runs(self, runs: Mapping[str, str]) -> Mapping[str, RunSource]:
        from gainful.data.exclusion import Exclusion
        from gainful.data.run import RunSource

        exclusion = None if self.exclude is None else Exclusion.of(self.exclude, self.columns.get("exclude"))
        if self.features is None:
            return {name: RunSource(path, self.run, exclusion=exclusion) for name, path in runs.items()}
        from gainful.io.delimited import feature_count

        found: dict[str, RunSource] = {}
        for name, path in runs.items():
            text = open_source(path)
            if format_of(text, self.run, run=True) != "letor":
                raise UsageError(f"--feature: {text.name} is not a LETOR run")
            parts = [part.strip() for part in self.features.split(",")]
            features = [int(part) for part in parts if part.isdecimal() and len(part) < _MOST_DIGITS and int(part) > 0]
            if self.features == "all":
                features = list(range(1, feature_count(text) + 1))
            elif len(set(features)) < len(parts):
                raise UsageError(f"--feature: expected a number, several as in 1,5,9, or all, found '{self.features}'")
            for feature in features:
                how = self.run._replace(format="letor", feature=feature)
                key = name if len(features) == 1 else f"{name}:{feature}"
                found[key] = RunSource(text, how, exclusion=exclusion)
        return found

    def single_run(self, path: str) -> RunSource:
        [file, *others] = self.runs({path: path}).values()
        if others:
            raise UsageError(f"--feature: expected one feature, found {len(others) + 1}")
        return file


_MOST_DIGITS = 16  # of a feature number


class Collection:
    """Judgments, prepared under a policy, and runs by name. Files of TREC text are read ahead from the start, unless
    ``ahead`` is False because runs are joined differently or repeatedly; other inputs are read on first use."""

    def __init__(
        self,
        qrels: str,
        runs: Mapping[str, str],
        policy: Policy,
        inputs: Inputs,
        *,
        scale: float | None = None,
        threads: int | None = None,
        want_facts: bool = False,
        ahead: bool = True,
        hashed: bool = False,
    ) -> None:
        self.threads = threads or default_threads()
        self._qrels, self._paths, self._policy, self._inputs, self._scale = qrels, runs, policy, inputs, scale
        self._ahead = None
        others = list(filter(None, (inputs.exclude, inputs.items, inputs.training, inputs.intents)))
        require_columns(inputs.run.columns, [qrels, *runs.values(), *others])
        if ahead and not others and inputs.features is None and not policy.credits_chunks:
            self._ahead = ReadAhead.start(
                qrels,
                list(runs.values()),
                policy,
                self.threads,
                current_progress(),
                inputs.is_trec,
                want_facts=want_facts,
                hashed=hashed,
            )

    @cached_property
    def judged(self) -> Judged:
        if self._ahead:
            return self._ahead.judged(self._scale)
        from gainful.data.judged import Judged

        qrels = self._inputs.read_qrels(self._qrels, scale=self._scale, threads=self.threads, policy=self._policy)
        return Judged(qrels, self._policy)

    @cached_property
    def runs(self) -> Mapping[str, RunSource]:
        if self._ahead:
            return dict(zip(self._paths, self._ahead.runs(), strict=True))
        return self._inputs.runs(self._paths)

    def opened(self) -> Self:
        """Read the judgments, list the runs, and return ``self``."""
        _ = self.judged, self.runs
        return self

    def of_queries(self, queries: Sequence[str]) -> Self:
        """Return the collection with judgments of the given queries only, or unchanged if none is given."""
        if not queries:
            return self
        from gainful.data.judged import Judged

        part = copy.copy(self)
        part.__dict__["judged"] = Judged(self.judged.qrels.select(queries), self._policy)
        return part


class ReadAhead:
    """Judgments and runs in TREC text that the core is reading, compressed or not."""

    def __init__(self, texts: Sequence[Text], policy: Policy, progress: Progress, job: JoinJob) -> None:
        self.policy, self.progress, self.job = policy, progress, job
        self.qrels, *self.texts = texts
        self.prepared: Judged | None = None

    @classmethod
    def start(
        cls,
        qrels: str,
        runs: Sequence[str],
        policy: Policy,
        threads: int,
        progress: Progress,
        is_trec: Callable[[Text, bool], bool],
        *,
        want_facts: bool = False,
        hashed: bool = False,
    ) -> ReadAhead | None:
        """Start reading if the core supports it and all files are TREC text; otherwise return None.

        ``is_trec`` decides on a text and whether it is a run. ``hashed``: also hash the files at the same time.
        """
        texts = [text for path in (qrels, *runs) if (text := file_text(path)) is not None]
        most = max_list_bytes()
        if want_facts and any(text.path is None or 4 * text.file_size > most for text in texts):
            return None  # read whole instead, which may raise an error
        if not hasattr(core, "JoinJob") or not (
            len(texts) == 1 + len(runs) and all(is_trec(text, i > 0) for i, text in enumerate(texts))
        ):
            return None
        texts[0].require_memory(FORMATS["trec"].per_line)
        progress.total += sum(text.file_size for text in texts[1:])
        read = [_pieces(text, progress) if text.path is None else os.fsencode(text.path) for text in texts[1:]]
        options = policy.join_options(want_facts=want_facts)
        job = core.JoinJob(texts[0].buffer, read, options, threads, progress.cells, most)
        if hashed:
            hash_ahead(text.name for text in texts)
        return cls(texts, policy, progress, job)

    def judged(self, scale: float | None = None) -> Judged:
        from gainful.data.judged import Judged
        from gainful.data.qrels import Qrels
        from gainful.io.rows import judgment_rows

        rows = judgment_rows(self.qrels, self.job.judgments())
        self.qrels.require_memory(FORMATS["trec"].per_line, PER_QUERY * len(rows.query_ids))
        qrels = Qrels.from_rows(rows, scale=scale)
        self.prepared = Judged(qrels.read_from(qrels.name), self.policy, self.job.index())
        return self.prepared

    def runs(self) -> list[RunSource]:
        from gainful.data.run import RunSource

        return [RunSource(text, Reading("trec"), ahead=_RunAhead(self, i)) for i, text in enumerate(self.texts)]


def _pieces(text: Text, progress: Progress) -> Iterator[bytes]:
    """Yield the text at the pace of the core's thread."""
    for piece in text.pieces():
        progress.total += len(piece)
        yield piece


class _RunAhead:
    """A run that is read ahead: a :class:`gainful.data.run.JoinedAhead`, whose join can be taken once."""

    def __init__(self, reading: ReadAhead, position: int) -> None:
        self._reading, self._position, self._is_taken = reading, position, False
        self.progress = reading.progress

    def serves(self, judged: object, policy: Policy) -> bool:
        return judged is self._reading.prepared and policy == self._reading.policy and not self._is_taken

    def take(self, judged: object, policy: Policy) -> Joined | None:
        if not self.serves(judged, policy):
            return None
        self._is_taken = True
        joined, content = self._reading.job.joined(self._position)
        text = self._reading.texts[self._position]
        if joined is not None:
            text.refuse_changed()
        if content is not None:
            text.hold(content)
        return joined
