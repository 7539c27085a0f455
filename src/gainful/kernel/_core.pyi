"""The typed interface of the core: bytes in, arrays out. No formula is implemented here.

Two modules provide it: the compiled ``gainful.kernel._core`` and the pure-Python ``gainful.kernel.pure``, which lacks
only ``JoinJob``, ``join_file``, ``TextBlocks`` and ``hash_id`` (its ``ArrowTable`` needs pyarrow). They return equal
results for any bytes; ``tests/native`` verifies that.

Text. A line ends at LF or at the end of the data; one trailing CR is dropped. Fields are separated by runs of
spaces and tabs. Blank lines, lines whose first non-blank byte is ``#`` and a UTF-8 BOM at offset 0 are skipped.
A number matches ``[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?`` and is finite; underflow gives 0.

Faults are ``(where, code, detail)``: the first ten in order of ``where`` (the offset of the line's first byte
in text, the row in columns); ``fault_count`` counts all of them:

========= ==== ==================================================
FIELDS    1    detail: number of fields in the line
NUMBER    2    the score or grade is not a number
OVERFLOW  3    the score or grade is too large for a float64
RANK      4    the rank is needed and is not a number
DUPLICATE 5    detail: place of the same document's first occurrence
========= ==== ==================================================

A line has at most one fault, checked in this order. If a text has faults with codes 1 to 4, duplicates are not
reported.
"""

from array import array
from collections.abc import Iterator
from typing import Final, TypedDict

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | Bytes
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint32] | NDArray[np.uint64]
Fault = tuple[int, int, int]
Cells = array[int] | Ints  # two int64

#: The core in use: ``"C++"`` or ``"Python"``.
KIND: Final[str]

class JudgmentText(TypedDict):
    """Judgments in TREC text (``query subtopic document grade``) as columns, one row per line, in text order."""

    query_ids: list[bytes]  # distinct, in byte order
    query: Ints  # row -> position in query_ids
    subtopic_ids: list[bytes]  # distinct values of the second column, in byte order
    subtopic: Ints
    document_start: Ints  # the document ID is data[start : start + length]
    document_length: Ints
    grade: Floats
    line: Ints  # offset of the line's first byte
    faults: list[Fault]
    fault_count: int

class RunText(TypedDict):
    """A run in TREC text (``query Q0 document rank score tag``) as columns, with rows grouped by query.

    Queries are in byte order; rows of a query keep the order of the text.
    """

    query_ids: list[bytes]
    list_offsets: Ints  # rows of query i are list_offsets[i] : list_offsets[i + 1]
    document_start: Ints
    document_length: Ints
    score: Floats
    rank: Floats  # NaN if the field is not a number
    line: Ints
    faults: list[Fault]
    fault_count: int

class ListFacts(TypedDict):
    """Facts about every list of a run, one entry per list, in the order of the run's queries.

    Counts refer to distinct documents before the cutoff; scores are compared as float64 under any policy. ``_at``,
    ``_with`` and ``_of`` are the places of an example (offset of its line, or row), -1 if there is none.
    """

    query_ids: list[bytes]
    query: Ints  # position in the index, -1 without judgments
    rows: Ints
    first: Ints  # place of its first row, -1 if it has none
    retrieved: Ints  # after duplicates and depth
    duplicates: Ints  # rows with a document that occurs earlier in the list
    duplicate_at: Ints  # place of the first of them, and of the first occurrence of its document
    duplicate_of: Ints
    tied: Ints  # documents that share their score with another
    tied_at: Ints
    tied_with: Ints
    float32_tied: Ints  # documents in groups of scores that are equal as float32 but not as float64
    float32_at: Ints
    float32_with: Ints
    rank_conflicts: Ints  # documents ranked (by the rank column) before one with a strictly higher score
    conflict_at: Ints  # the one of them with the best score, and one ranked after it despite a higher score
    conflict_with: Ints
    unranked: Ints  # documents with a rank that is not a number
    constant: Ints  # 1: more than one document, and all scores equal
    # 1: lower scores are further up by the rank column (or, if that does not determine all positions, in the input),
    # with at least two different scores
    reversed: Ints
    self_rank: Ints  # rank of the document whose ID equals the query's; 0 if there is none
    self_at: Ints
    unjudged_at: Ints  # best-ranked unjudged document of the first ten, in a list with judgments
    lowest_rank: Floats  # in the rank column, NaN if no rank is a number
    highest_rank: Floats

class Joined(TypedDict):
    """A run's lists, ordered and joined with the judgments. One entry per judged query, in the order of the index."""

    answered: NDArray[np.bool_]  # the run has this query
    retrieved: Ints  # documents in the list, after duplicates and depth
    hit_offsets: Ints  # hits of query i are hit_offsets[i] : hit_offsets[i + 1], by rank
    hit_rank: NDArray[np.int32]  # from 1
    hit_item: NDArray[np.int32]  # number of the judged item
    tied_hit: Ints  # hits whose score another document of the list has, with the first and last rank of their group
    tied_first: NDArray[np.int32]
    tied_last: NDArray[np.int32]
    scores: Floats  # of all retrieved documents in rank order if requested, else empty
    rows: Ints  # their places (offset of the line, or row) if requested, else empty
    extra_ids: list[bytes]  # queries of the run that are not in the index, in byte order
    list_count: int  # queries in the run
    row_count: int  # rows in the run
    # These five count only judged queries, so that the parts of a job add up:
    duplicate_count: int  # rows that keep_first dropped
    rank_conflicts: int  # order score: rows ranked (by the rank column) before a row with a strictly higher score
    float32_ties: int  # order score, float32: rows in a group of equal scores that differ as float64
    tied_count: int  # order score: rows that share their score with another of the list
    inexact_ties: int  # those among them with equal scores of 2^53 or more, or -2^53 or less
    facts: ListFacts | None  # of all lists, if requested
    faults: list[Fault]
    fault_count: int

def read_judgments(data: Bytes, threads: int) -> JudgmentText: ...
def read_run(data: Bytes, threads: int) -> RunText: ...

class JudgmentIndex:
    """An index of judged documents by query and document ID. Immutable; joins may share it concurrently.

    ``query_ids`` are distinct and in byte order; ``query`` is each row's position among them; rows may be in any
    order and may repeat a document. Each distinct document of a query is an *item*; items are numbered by query,
    then by first appearance among the rows. Raises ValueError if spans exceed ``data``.
    """

    def __init__(
        self, query_ids: list[bytes], query: Ints, data: Bytes, document_start: Ints, document_length: Ints
    ) -> None: ...
    @property
    def item(self) -> Ints: ...  # row -> item
    @property
    def item_offsets(self) -> Ints: ...  # items of query i are item_offsets[i] : item_offsets[i + 1]
    def find_hits(
        self, query: Ints, list_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
    ) -> tuple[Ints, Ints, Ints, bool]:
        """Return row, list and item of the judged documents in lists, and whether a list repeats a document.

        ``query`` is the position of the query that judges each list (several lists may share one), below 0 for a
        list without judgments. Raises ValueError if queries, offsets or spans are inconsistent.
        """

def find_repeats(
    group_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
) -> NDArray[np.bool_]:
    """Return whether each ID occurs earlier in its group. Raises ValueError if offsets or spans are inconsistent."""

class JoinOptions:
    """A policy's conventions for lists, and the results that are wanted; created by ``Policy.join_options()``.

    ``order``: 0 score (descending), 1 rank (ascending), 2 input. ``ties``: 0 docid-desc, 1 docid-asc, 2 rank
    (ascending, then docid-desc), 3 input; they also break equal ranks under order 1 (2 means docid-desc there). IDs are
    compared as bytes; rows equal in everything keep the input order. Ranks are needed under order 1 or ties 2.
    ``float32`` rounds scores before comparison. Duplicates are faults, or with ``keep_first`` all but the best
    ranked are dropped. Finally, ``depth`` is the cutoff (0: none).
    """

    def __init__(
        self,
        order: int,
        ties: int,
        float32: bool,
        keep_first: bool,
        depth: int,
        want_scores: bool = False,
        want_rows: bool = False,
        want_facts: bool = False,
    ) -> None: ...

class ListColumns:
    """The lists of a run in columns. Raises ValueError if these are inconsistent."""

    def __init__(
        self,
        query_ids: list[bytes],  # distinct, in any order
        list_offsets: Ints,
        data: Bytes,
        document_start: Ints,
        document_length: Ints,
        score: Floats,
        rank: Floats,  # one per row, or empty if there is no rank column and none is needed
    ) -> None: ...

# progress[0] counts bytes (rows) done during the call; a nonzero progress[1] cancels it with RuntimeError.

def join_text(data: Bytes, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells) -> Joined: ...
def join_columns(run: ListColumns, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells) -> Joined:
    """Raises ValueError for duplicate query IDs, spans outside the data, NaN scores, or missing ranks."""

class TextBlocks:
    """The join of a text that arrives in pieces of any size, of which at most one block is held at a time.

    Only in the compiled core. If it is impossible, because the text has faults or the lines of a query are far apart,
    ``feed`` returns False and ``finish`` None, and the text must be joined as a whole. Rows and facts are unavailable.
    """

    def __init__(
        self,
        index: JudgmentIndex,
        options: JoinOptions,
        threads: int,
        progress: Cells,
        most: int = 1 << 31,  # bytes that a single list may take
        block: int = 1 << 23,
    ) -> None: ...
    def feed(self, data: bytes) -> bool: ...
    def finish(self) -> Joined | None: ...

def join_file(
    path: bytes, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells, most: int = 1 << 31
) -> Joined | None:
    """Join a regular file likewise; None also if it cannot be read or changes. Only in the compiled core."""

class JoinJob:
    """Reads judgments and joins runs with them on its own threads, while the caller continues.

    A run is the path of a regular file, or an iterator over pieces of its text, which the threads advance.

    Only in the compiled core. Judgments may be any contiguous bytes, so NumPy is not needed until a result is
    requested. Each request waits for its result and can be made once (ValueError the second time); ``judgments``
    comes first, and if it has faults there are no other results (ValueError). Deleting the job cancels it and leaves
    ``progress`` as it is.
    """

    def __init__(
        self,
        qrels: Buffer,
        runs: list[bytes | Iterator[bytes]],
        options: JoinOptions,
        threads: int,
        progress: Cells,
        most: int = 1 << 31,
    ) -> None: ...
    def judgments(self) -> JudgmentText: ...
    def index(self) -> JudgmentIndex: ...
    def joined(self, run: int) -> tuple[Joined | None, Bytes | None]:
        """Like :func:`join_file`; if facts are requested, whole files are joined and their bytes returned."""

# Tables -------------------------------------------------------------------------------------------------------------

#: IDs as spans: ID i is data[start[i] : start[i] + length[i]].
Spans = tuple[Bytes, Ints, Ints]

class TableText(TypedDict):
    """Selected fields of a delimited text as columns, one row per line, in text order."""

    ids: list[Spans]  # one per field in id_fields
    numbers: list[Floats]  # one per field in number_fields
    line: Ints  # offset of the first byte of each row's line
    faults: list[Fault]
    fault_count: int

def read_table(
    data: Bytes,
    first: int,
    separator: int,
    fields: int,
    id_fields: list[int],
    number_fields: list[int],
    optional_fields: list[int] = [],
) -> TableText:
    """Read lines of exactly ``fields`` fields, starting at offset ``first``.

    ``separator`` is a byte such as ``,``; 0 means runs of spaces and tabs. With a separator, a field that begins
    with ``"`` extends to the closing ``"``, may contain separators and line feeds, and doubles inner quotes; blanks
    around fields (spaces and tabs, unless they are the separator) are ignored. Blank lines, lines that begin with
    ``#`` and a BOM at offset 0 are skipped, as in TREC text.

    Faults are as above; ``where`` is the offset of the row's first byte. FIELDS: detail is the number of fields.
    NUMBER, OVERFLOW: detail is the field. In addition: EMPTY 6, an empty ID (detail: the field); QUOTE 7, a quoted
    field that does not end, or does not end its field (detail: the field; in the latter case the next line is a new
    row). A row has at most one fault: QUOTE, FIELDS, then by field. Rows with faults are omitted from the columns.
    Optional fields may be empty, which gives an empty ID, or NaN.

    The spans refer to ``data``, or to a copy with unescaped IDs appended if a selected ID contains doubled quotes.
    Raises ValueError if ``first`` is outside the data, a selected field is not below ``fields``, or the separator is
    a quote, CR or LF.
    """

class LetorText(TypedDict):
    """A LETOR text (``grade qid:query 1:value 2:value ... #docid = document``) as columns, one row per line."""

    query: Spans
    document: Spans  # if no line names one, the ordinal of the row within its query, from 1 (with separate data)
    grade: Floats
    value: Floats  # of the selected feature; 0 if the line lacks it, NaN if it is NULL
    feature_count: int  # the highest feature in the text
    line: Ints
    faults: list[Fault]
    fault_count: int

def read_letor(data: Bytes, feature: int) -> LetorText:
    """Read a LETOR text with the values of one feature (0: none).

    The document is the word after ``docid =`` (or ``docid=``) in the comment that ends a line, which starts at the
    first field that begins with ``#``. Lines that begin with ``#`` are skipped. The last of repeated features counts.

    Faults: FIELDS, the second field is not ``qid:`` (detail: number of fields); NUMBER and OVERFLOW with detail 0 for
    the grade, else the number of the field from 0; a field from the third on that is not ``feature:value`` with an
    integer feature of at least 1 (and at most 18 digits) is also NUMBER; EMPTY 6: ``qid:`` without a query (detail 1).
    LINE_END 8: a CR within the line. A line has at most one fault: LINE_END, FIELDS, then by field. Lines with these
    faults are omitted from the columns. UNNAMED 9: a line without document where others have one; it is kept.
    """

def hash_id(identifier: bytes) -> int:
    """Return the hash of an ID in tables, which differs between processes. Only in the compiled core."""

def pack_ids(values: list[object]) -> tuple[Bytes, Ints, Ints, int]:
    """Return IDs as spans from texts (UTF-8, with surrogateescape), bytes and integers (as decimal text), including
    NumPy integers, and the position of the first other value (such as a bool), empty ID, or text that cannot be
    encoded; -1 if there is none. Such values have empty spans."""

def pack_dicts(dicts: list[object]) -> tuple[Bytes, Ints, Ints, Floats, Ints, bool] | None:
    """Return plain dicts of IDs and numbers as columns; None if one is not plain.

    The columns are the spans of all keys, their values as float64, the offsets of the dicts, and whether all keys are
    texts. Plain dicts are of no subclass, with nonempty keys that are UTF-8 texts, bytes or ints, and values that are
    floats (or of a subclass) or ints, finite as float64; bools are neither."""

def number_ids(data: Bytes, start: Ints, length: Ints) -> tuple[list[bytes], Ints]:
    """Return the distinct IDs in byte order, and the position of every span's ID among them."""

def flipped_sums(steps: Floats, flips: Bytes, threads: int) -> Floats:
    """Return the sums of each column of ``steps`` (queries x columns) over the queries flipped in a draw, as columns x
    draws.

    ``flips`` (draws x bytes) hold eight queries per byte, the first in the lowest bit; extra bits are ignored. Steps
    are integers whose sums fit into a float64, so that sums are exact. Raises ValueError if bytes are missing."""

def count_extremes(
    sums: Floats, first: Ints, second: Ints, weight: Floats, edge: Floats, reach: Floats, threads: int
) -> tuple[Ints, Ints, Floats]:
    """For each pair of rows of ``sums`` (rows x draws), return the number of draws in which the weighted absolute
    difference is at least its edge, and in which the largest one among this and earlier pairs is at least its reach;
    and for each draw the largest one of all pairs. Raises ValueError for rows out of range."""

def random_keys(state: NDArray[np.uint64], keys: Keys) -> None:
    """Fill rows of keys: the low bits, as many as needed to number the columns, are the column; the others come from
    NumPy's SFC64, consecutively in memory order. ``state``, its four words, is advanced."""

def add_at_places(sums: Floats, values: Floats, keys: Keys) -> None:
    """Add to each row of ``sums`` the values at the positions in the low bits of its keys, 0 beyond the last value.
    Raises ValueError if the shapes differ."""

class ArrowTable:
    """The columns of an Arrow C stream, read through the PyCapsule interface (a capsule named arrow_array_stream).

    Reads all chunks. Raises ValueError with the producer's message if the stream fails or is not a stream of structs;
    ImportError without the compiled core and without pyarrow. Columns are copied on request; the stream's memory is
    released with this object.
    """

    def __init__(self, capsule: object) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def formats(self) -> list[str]: ...  # Arrow's format strings, prefixed with "dictionary of " for dictionaries
    @property
    def rows(self) -> int: ...
    def ids(self, column: int) -> tuple[Bytes, Ints, Ints, Ints]:
        """Return IDs as spans, and the first ten rows that are null or empty, ascending.

        Strings and binaries (u U vu z Z vz), integers of all widths as decimal text, and dictionaries of these.
        TypeError for any other format.
        """

    def numbers(self, column: int) -> tuple[Floats, Ints]:
        """Return float64 values (NaN where null), and the first ten rows that are null, ascending.

        Integers and floats of all widths (including half floats), booleans (0 and 1), and dictionaries of these.
        TypeError for any other format.
        """
