"""Existing scores: tables of queries and systems, and the output of ``gainful eval --by-query``."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from gainful.errors import InputError, UsageError, option
from gainful.evaluation.results import QUERIES, chosen_measures
from gainful.io.sources import BLANKS, COMPRESSED_ENDINGS, Source, Text, open_source, text_lines
from gainful.notation import NUMBER, choose, count_of, load_json, numbered, printable, text_of_cell

#: Corner cells of tables, and the kind of rows that they announce.
_ROWS = {"query": "queries", "queries": "queries", "qid": "queries", "query_id": "queries", "topic": "queries"}
_ROWS |= {"system": "systems", "systems": "systems", "run": "systems", "run_id": "systems", "runid": "systems"}
#: Cells without a score.
_NO_SCORE = frozenset({"", "na", "nan", "none", "null", "-"})
#: Keys that mark a JSON line as something other than a score.
_OTHERS, _OF_TABLES = frozenset({"gainful", "complete"}), frozenset({"table", "note", "text"})
#: The beginning of session scores, as JSON lines or tables.
_SESSIONS = re.compile(r'\s*(\{"gainful".*\n)?\{"run": .*"session": |(#.*\n)*\s*run[,\t;]session[,\t;]')
#: Possible facts about sessions besides scores, and the table that has them.
FACTORS, SESSIONS_TABLE = ("topic", "user", QUERIES), "Sessions"
#: Values of each factor, keyed by (system, session).
Factors: TypeAlias = Mapping[str, Mapping[tuple[str, str], str]]

#: Scores by system and query; None without a score.
Scores: TypeAlias = Mapping[str, Mapping[str, float | None]]


class FileScores(NamedTuple):
    """The scores of one measure in a file."""

    measure: str
    scores: Scores
    source: str
    is_numbered: bool = False  # whether queries have positions instead of IDs
    reading: str = ""  # how an ambiguous file was interpreted, in words
    unit: str = "query"  # the unit of scores: query or session
    factors: Factors = MappingProxyType({})  # facts about sessions
    missing: frozenset[tuple[str, str]] = frozenset()  # systems and sessions whose scores stand for missing answers

    def joined(self, other: FileScores) -> FileScores:
        """Add the scores of another file: other systems, or other sessions paired by ID."""
        for part, other_part in ((self, other), (other, self)):
            if part.is_numbered:
                raise InputError(
                    f"{part.source}: no query IDs to match with {other_part.source}; "
                    "scores are never paired by position"
                )
        scores = {system: dict(values) for system, values in self.scores.items()}
        for system, values in other.scores.items():
            again = sorted(scores.get(system, {}).keys() & values.keys())
            if self.unit == "query" and system in scores:
                raise InputError(
                    f"{other.source}: duplicate system '{printable(system)}' for {self.measure}, as in an earlier file"
                )
            if again:
                sessions = f"{count_of(len(again), 'session')} of '{printable(system)}'"
                raise InputError(f"{other.source}: {sessions} also in an earlier file, first '{printable(again[0])}'")
            scores.setdefault(system, {}).update(values)
        names = dict.fromkeys([*self.factors, *other.factors])
        return self._replace(
            scores=scores,
            source=f"{self.source}, {other.source}",
            reading="\n".join(filter(None, (self.reading, other.reading))),
            factors={name: {**self.factors.get(name, {}), **other.factors.get(name, {})} for name in names},
            missing=self.missing | other.missing,
        )


def read_files(
    sources: Iterable[Source | Text],
    measures: Sequence[str] = (),
    *,
    rows: str | None = None,
    any_measure: bool = False,
    queries: Iterable[str] = (),
) -> dict[str, FileScores]:
    """Read the scores of several files by measure: the named ones in that order, or all as found.

    The systems of a measure, and the sessions of a system, may be spread over files. A single table has the measure
    that is named. IDs in ``queries`` and in earlier files help to tell rows from columns in later ones.

    >>> read_files([b"query,a\\nq1,0.5\\nq2,1\\n", b"query,b\\nq2,0\\nq1,1\\n"], ["RR"])["RR"].scores
    {'a': {'q1': 0.5, 'q2': 1.0}, 'b': {'q2': 0.0, 'q1': 1.0}}
    """
    found: dict[str, FileScores] = {}
    known, unit = set(queries), None
    for source in sources:
        for each in read_scores(
            source, rows, measures[0] if len(measures) == 1 else None, known, any_measure=any_measure
        ):
            if unit not in (None, each.unit):
                raise InputError(f"{each.source}: scores per {each.unit}, but other files have scores per {unit}")
            unit = each.unit
            found[each.measure] = found[each.measure].joined(each) if each.measure in found else each
            known.update(query for values in each.scores.values() for query in values if not each.is_numbered)
    return {name: found[name] for name in chosen_measures(measures, list(found))} if measures else found


#: The weights in a signature, and how far from the beginning of a file to look for it.
_WEIGHTED, _BEGINNING = re.compile(r"\|weights:([^|\"\n]+)"), 1 << 14


def read_scores(
    source: Source | Text, rows: str | None, label: str | None, known: set[str], *, any_measure: bool
) -> list[FileScores]:
    """Read the scores of a file, by measure; a table has one measure, named by ``label``. Measures whose mean cannot
    order systems are dropped unless ``any_measure``. ``known`` are query IDs from elsewhere."""
    if rows is not None:
        choose(rows, ("queries", "systems"), "rows")
    opened = open_source(source)
    opened.require_table_memory()
    text = bytes(opened.data).decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    weighted = _WEIGHTED.search(text[:_BEGINNING])
    text = re.sub(r"\A(# order:.*\n)+", lambda found: "\n" * found[0].count("\n"), text)  # the conventions
    unit = "session" if _SESSIONS.match(text) else "query"
    missing: frozenset[tuple[str, str]] = frozenset()
    if text.lstrip().startswith("{"):
        scores, factors, missing = _read_lines(text, opened.name, unit)
    elif unit == "session":
        # Tables follow one another, each under its title; the first has the scores.
        first, *others = re.split(r"\n\s*\n", re.sub(r"\A(#.*\n)+", "", text))
        scores = _read_long(first, opened.name)
        about = next((other for other in others if other.startswith(f"# {SESSIONS_TABLE}\n")), "")
        factors = _factors(csv.DictReader(text_lines(about.partition("\n")[2])))
    elif re.match(r"\s*run[,\t;]query[,\t;]", text):
        scores, factors = _read_long(text, opened.name), {}
    else:
        return [_read_table(text, opened.name, rows, label, known)]
    found = _comparable(scores, opened.name, any_measure)
    if weighted is not None:
        note = (
            f"weighted by {weighted[1]} when computed; use --queries FILE --weights {weighted[1]} to weight them here"
        )
        found[0] = found[0]._replace(reading="\n".join(filter(None, (found[0].reading, note))))
    return [each._replace(unit=unit, factors=factors, missing=missing) for each in found]


def _factors(rows: Iterable[Mapping[str, Any]]) -> Factors:
    found: dict[str, dict[tuple[str, str], str]] = {}
    for row in rows:
        for name in FACTORS:
            if row.get(name):
                found.setdefault(name, {})[str(row["run"]), str(row["session"])] = str(row[name])
    return found


def _read_long(text: str, name: str) -> dict[str, Scores]:
    """Read the CSV output of ``gainful eval --by-query``: run, query, a column per measure; means have no query."""
    (_, header), *body = _table_lines(text, name)
    _check_width(body, len(header), name)
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    for line, fields in body:
        run, query = fields[:2]
        for place, (measure, cell) in enumerate(zip(header[2:], fields[2:], strict=True), 3):
            if not query or measure.endswith(" difference") or measure == "text":
                continue
            by_query = scores.setdefault(measure, {}).setdefault(run, {})
            if query in by_query:
                raise InputError(
                    f"{name}:{line}: duplicate scores of run '{printable(run)}' and query '{printable(query)}'"
                )
            by_query[query] = _score(cell, f"{name}:{line}", place, measure)
    return dict(scores)


def _comparable(scores: Mapping[str, Scores], name: str, any_measure: bool) -> list[FileScores]:
    """Return the measures whose mean can order systems; name the others."""
    if not scores:
        raise InputError(f"{name}: no per-query scores", "use gainful eval --by-query to write them")
    from gainful.measures.catalog import parse

    unfit = []
    for measure in () if any_measure else scores:
        with suppress(UsageError):  # assume that unknown measures order systems
            unfit += [] if parse(measure).orders_by_mean else [measure]
    fit = [measure for measure in scores if measure not in unfit]
    if not fit:
        raise InputError(f"{name}: no measure whose mean can order systems, only {', '.join(unfit)}")
    reading = f"left out, because their means cannot order systems: {', '.join(unfit)}" if unfit else ""
    return [FileScores(each, scores[each], name, reading=reading if each == fit[0] else "") for each in fit]


def _read_lines(text: str, name: str, unit: str) -> tuple[dict[str, Scores], Factors, frozenset[tuple[str, str]]]:
    """Read JSON lines with one score each, of a run, query (or session) and measure; from other lines, keep only facts
    about sessions."""
    scores: dict[str, dict[str, dict[str, float | None]]] = {}
    about: list[dict[str, Any]] = []
    missing: set[tuple[str, str]] = set()
    for where, row in _whole_parts(text, name, unit):
        if "measure" not in row or "value" not in row or "table" in row:
            about += [row] if row.get("table") == SESSIONS_TABLE else []
            continue
        run, query, measure, value = (row[field] for field in ("run", unit, "measure", "value"))
        if query is None:
            continue  # a mean
        by_query = scores.setdefault(str(measure), {}).setdefault(str(run), {})
        if str(query) in by_query:
            raise InputError(
                f"{where}: duplicate {measure} of '{printable(str(run))}' for {unit} '{printable(str(query))}'"
            )
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and (not is_number or abs(value) > sys.float_info.max):
            raise InputError(f"{where}: expected a number or null as value, found {printable(json.dumps(value))}")
        by_query[str(query)] = value
        if row.get("status") == "missing":
            missing.add((str(run), str(query)))
    return dict(scores), _factors(about), frozenset(missing)


def _whole_parts(text: str, name: str, unit: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield JSON objects with their positions, and check that parts with a header or a line count are complete. Only
    the first line may be something other than a score."""
    fields = ("run", unit, "measure", "value")
    others = _OTHERS | _OF_TABLES if unit == "session" else _OTHERS
    begun: str | None = None  # start of a part with a header, or after a completed part
    has_ends, count, broken = False, 0, None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            row = load_json(line)
        except ValueError as error:
            raise InputError(f"{where}: expected JSON, found '{printable(line.strip(), 80)}'") from error
        if not isinstance(row, dict) or (others.isdisjoint(row) and not set(fields) <= row.keys()):
            if number > 1:
                raise InputError(
                    f"{where}: expected {', '.join(fields)}, found '{printable(line.strip(), 80)}'",
                    "gainful eval --by-query --format jsonl writes scores in this format",
                )
        elif "complete" in row:
            broken = where if row["complete"] is not True or row.get("lines") != count else None
            begun, has_ends, count = None, True, 0
        elif "gainful" in row:
            broken, begun, count = begun, where, count + 1
        else:
            begun, count = begun or (where if has_ends else None), count + 1
            yield where, row
        if broken is not None:
            break
    broken = broken or begun
    if broken is not None:
        hint = "write it again: gainful eval --by-query --format jsonl"
        raise InputError(f"{broken}: the file is incomplete: lines or their final count are missing", hint)


def _read_table(text: str, name: str, rows: str | None, measure: str | None, known: set[str]) -> FileScores:
    """Read a table of queries and systems, with or without row names in the first column."""
    lines = list(_table_lines(text, name))
    if len(lines) < 2:
        raise InputError(f"{name}: expected a header and rows of scores, found {count_of(len(lines), 'line')}")
    (top, header), body = lines[0], lines[1:]
    width = len(body[0][1])
    # R omits the corner cell of a table with row names.
    has_corner = len(header) == width
    if not has_corner and len(header) != width - 1:
        raise InputError(
            f"{name}:{body[0][0]}: expected {count_of(len(header), 'field')} as in line {top}, found {width}"
        )
    _check_width(body, width, name)
    has_names = not has_corner or _are_names(header[0], [fields[0] for _, fields in body])
    corner, columns = (header[0], header[1:]) if has_corner and has_names else ("", header)
    if len(set(columns)) < len(columns):
        twice = next(column for i, column in enumerate(columns) if column in columns[:i])
        raise InputError(f"{name}:{top}: duplicate column '{printable(twice)}'")
    row_names = [fields[0] for _, fields in body] if has_names else numbered(len(body))
    rows_are, reading = _orientation(name, rows, corner, row_names if has_names else None, columns, known)
    first = 1 if has_names else 0
    scores: dict[str, dict[str, float | None]] = {}
    for row_name, (line, fields) in zip(row_names, body, strict=True):
        if row_name in scores:
            raise InputError(f"{name}:{line}: duplicate row '{printable(row_name)}'")
        cells = enumerate(zip(columns, fields[first:], strict=True), first + 1)
        scores[row_name] = {column: _score(cell, f"{name}:{line}", place, column) for place, (column, cell) in cells}
    if rows_are == "queries":
        scores = {column: {row: scores[row][column] for row in scores} for column in columns}
    label = "" if corner.casefold() in _ROWS else corner
    stem = PurePath(name).name  # without extensions, the name of an unnamed measure
    for ending in (*COMPRESSED_ENDINGS, ".csv", ".tsv", ".txt"):
        stem = stem.removesuffix(ending)
    return FileScores(measure or label or stem, scores, name, not has_names, reading)


def _check_width(lines: Iterable[tuple[int, list[str]]], width: int, name: str) -> None:
    for line, fields in lines:
        if len(fields) != width:
            raise InputError(f"{name}:{line}: expected {count_of(width, 'field')}, found {len(fields)}")


def _table_lines(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and fields, split at the most frequent separator of the first line (comma, tab, semicolon)."""
    start = text.lstrip("\r\n").split("\n", 1)[0]
    separator = max(",\t;", key=start.count)
    reader = csv.reader(text_lines(text), delimiter=separator)
    try:
        for fields in reader:
            if any(field.strip(BLANKS) for field in fields):
                yield reader.line_num, [text_of_cell(field.strip(" \t")) for field in fields]
    except csv.Error as error:
        raise InputError(f"{name}:{reader.line_num}: expected a table, found a broken line ({error})") from error


def _are_names(corner: str, column: Sequence[str]) -> bool:
    """Whether the first column has row names: its header or a cell shows it, or it has distinct whole numbers."""
    if not corner or corner.casefold() in _ROWS or any(not NUMBER.fullmatch(cell) for cell in column if cell):
        return True
    return all(re.fullmatch(r"\d+", cell) for cell in column) and len(set(column)) == len(column) > 1


def _orientation(
    name: str, rows: str | None, corner: str, row_names: Sequence[str] | None, columns: Sequence[str], known: set[str]
) -> tuple[str, str]:
    """Decide whether rows are queries or systems; also return a note if that was inferred."""
    if rows is not None:
        if row_names is None and rows == "systems":
            raise UsageError(f"{name}: rows without names cannot be systems")
        return rows, ""
    if corner.casefold() in _ROWS:
        return _ROWS[corner.casefold()], ""
    if row_names is None:
        return "queries", "rows are treated as queries, numbered in order, because they have no IDs"
    by_ids = [not known.isdisjoint(names) for names in (row_names, columns)]
    are_numbers = [all(each.isdecimal() for each in names) for names in (row_names, columns)]
    for is_query, why in (
        (by_ids, "the other input has the IDs of the {}"),
        (are_numbers, "the names of the {} are numbers, like query IDs"),
    ):
        if is_query[0] != is_query[1] and (is_query is by_ids or len(row_names) != len(columns)):
            found, side = ("queries", "rows") if is_query[0] else ("systems", "columns")
            return found, f"rows are treated as {found}: {why.format(side)}"
    why = "as many rows as columns" if len(row_names) == len(columns) else "names that could be either"
    hint = f"set {option('rows', 'queries')} or {option('rows', 'systems')}"
    raise InputError(f"{name}: could not infer whether rows are queries or systems: {why}", hint)


def _score(cell: str, where: str, place: int, column: str) -> float | None:
    if cell.casefold() in _NO_SCORE:
        return None
    if not NUMBER.fullmatch(cell):
        raise InputError(
            f"{where}: expected a number in column {place} ('{printable(column)}'), found '{printable(cell)}'"
        )
    return float(cell)
