"""The small typed kernel: bytes in, arrays out. No formula lives here.

Two modules offer these names: the compiled ``gainful.kernel._core`` and the pure-Python ``gainful.kernel.pure``, which
only lacks ``JoinJob``, ``join_file``, ``TextBlocks`` and ``hash_id`` (its ``ArrowTable`` needs pyarrow). They
give equal answers on any bytes; ``tests/native`` holds them to that.

Text. A line ends at LF or at the end of the data; one trailing CR is dropped. Fields are separated by runs of
spaces and tabs. Blank lines, lines whose first non-blank byte is ``#`` and a UTF-8 BOM at offset 0 are skipped.
A number matches ``[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?`` and is finite; underflow gives 0.

Faults are ``(where, code, detail)``, the ten earliest in order of ``where`` (the offset of the line's first byte
in text, the row in columns), with ``fault_count`` counting all of them:

========= ==== ==================================================
FIELDS    1    detail: how many fields the line has
NUMBER    2    the score or grade is not a number
OVERFLOW  3    the score or grade is too large for a float64
RANK      4    the rank is needed and is not a number
DUPLICATE 5    detail: where the same document stands first
========= ==== ==================================================

A line has at most one fault, looked for in that order. When a text has faults of codes 1 to 4, only those are
reported, not duplicates.
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

#: Which of the two cores this is: ``"C++"`` or ``"Python"``.
KIND: Final[str]

class JudgmentText(TypedDict):
    """A qrels text (``query subtopic document grade``) as columns, one row a line, in the order of the text."""

    query_ids: list[bytes]  # distinct, in byte order
    query: Ints  # row -> position in query_ids
    subtopic_ids: list[bytes]  # distinct values of the second column, in byte order
    subtopic: Ints
    document_start: Ints  # the document id is data[start : start + length]
    document_length: Ints
    grade: Floats
    line: Ints  # offset of the line's first byte
    faults: list[Fault]
    fault_count: int

class RunText(TypedDict):
    """A run text (``query Q0 document rank score tag``) as columns, its rows grouped by query.

    Queries stand in byte order; within a query rows keep the order of the text, wherever its lines stood.
    """

    query_ids: list[bytes]
    list_offsets: Ints  # rows of query i are list_offsets[i] : list_offsets[i + 1]
    document_start: Ints
    document_length: Ints
    score: Floats
    rank: Floats  # NaN where the field is not a number
    line: Ints
    faults: list[Fault]
    fault_count: int

class ListFacts(TypedDict):
    """What is remarkable about every list of a run: one entry a list, in the order of the run's queries.

    Counts are over distinct documents, before depth; scores are compared as float64 whatever the policy says. ``_at``,
    ``_with`` and ``_of`` are the places of an example (offset of its line, or row), -1 when there is none.
    """

    query_ids: list[bytes]
    query: Ints  # position in the index, -1 without judgments
    rows: Ints
    first: Ints  # where its first row stands, -1 when it has none
    retrieved: Ints  # after duplicates and depth
    duplicates: Ints  # rows whose document stands in the list before
    duplicate_at: Ints  # the first of them, and where the same document stands first
    duplicate_of: Ints
    tied: Ints  # documents with the score of another
    tied_at: Ints
    tied_with: Ints
    float32_tied: Ints  # documents in groups of equal scores as float32 that float64 tells apart
    float32_at: Ints
    float32_with: Ints
    rank_conflicts: Ints  # documents ranked (by the rank column) before one with a strictly higher score
    conflict_at: Ints  # the best scored of them, and one that stands behind it by rank in spite of a higher score
    conflict_with: Ints
    unranked: Ints  # documents whose rank is not a number
    constant: Ints  # 1: more than one document and all of the same score
    # 1: the lower the score, the further up a document stands by the rank column (or, where that does not tell all
    # documents' places, in the input), with at least two different scores
    reversed: Ints
    self_rank: Ints  # the place, from 1, of the document with the id of the query; 0 when there is none
    self_at: Ints
    unjudged_at: Ints  # the best ranked unjudged document of the first ten, in a list with judgments
    lowest_rank: Floats  # in the rank column, NaN when no rank is a number
    highest_rank: Floats

class Joined(TypedDict):
    """A run's lists, ordered and met with the judgments. One entry a judged query, in the index's order."""

    answered: NDArray[np.bool_]  # the run has this query
    retrieved: Ints  # documents in the list, after duplicates and depth
    hit_offsets: Ints  # hits of query i are hit_offsets[i] : hit_offsets[i + 1], by rank
    hit_rank: NDArray[np.int32]  # from 1
    hit_item: NDArray[np.int32]  # which judged item was found there
    hit_first: NDArray[np.int32]  # first and last rank of its group of equal scores; empty if no documents are tied
    hit_last: NDArray[np.int32]
    scores: Floats  # of all retrieved documents in rank order, where they were asked for, else empty
    rows: Ints  # where each of them stands (offset of its line, or row), where that was asked for, else empty
    extra_ids: list[bytes]  # queries of the run that the index does not have, in byte order
    list_count: int  # queries in the run
    row_count: int  # rows in the run
    # These five count in judged queries only, so that the parts of a job add up:
    duplicate_count: int  # rows that keep_first dropped
    rank_conflicts: int  # order score: rows ranked (by the rank column) before a row with a strictly higher score
    float32_ties: int  # order score, float32: rows in a group of equal scores that float64 tells apart
    tied_count: int  # order score: rows with the score of another of their list
    inexact_ties: int  # those of them whose equal scores are 2^53 or more, or -2^53 or less
    facts: ListFacts | None  # of all lists, where they were asked for
    faults: list[Fault]
    fault_count: int

def read_judgments(data: Bytes, threads: int) -> JudgmentText: ...
def read_run(data: Bytes, threads: int) -> RunText: ...

class JudgmentIndex:
    """Looks up judged documents by query and document id. Immutable; many joins may share it at once.

    ``query_ids`` are distinct and in byte order; ``query`` gives each row's position among them; rows may be in any
    order and may repeat a document. Each distinct document of a query is an *item*; items are numbered query by query
    and within a query by first appearance among the rows. Raises ValueError when spans leave ``data``.
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
        """The judged documents of some lists: row, list and item; and whether a list has a document twice.

        ``query`` has for every list the position of the query that judges it (several lists may share one), below 0
        for a list without judgments. ValueError when these, the offsets or spans do not fit.
        """

def find_repeats(
    group_offsets: Ints, data: Bytes, document_start: Ints, document_length: Ints, threads: int
) -> NDArray[np.bool_]:
    """Whether each id stands before in its group. ValueError when offsets or spans do not fit."""

class JoinOptions:
    """What a policy says about lists, and what is wanted of them; ``Policy.join_options()`` makes it.

    ``order``: 0 score (descending), 1 rank (ascending), 2 input. ``ties``: 0 docid-desc, 1 docid-asc, 2 rank
    (ascending, then docid-desc), 3 input; they also break equal ranks under order 1 (2 means docid-desc there). Ids are
    compared as bytes; rows equal in everything keep the order of the input. The rank is needed under order 1 or ties 2.
    ``float32`` rounds scores before they are compared. Duplicates are a fault, or with ``keep_first`` all but the best
    ranked are dropped. Then ``depth`` cuts (0: nothing).
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
    """The lists of a run in columns. ValueError when they do not fit each other."""

    def __init__(
        self,
        query_ids: list[bytes],  # distinct, in any order
        list_offsets: Ints,
        data: Bytes,
        document_start: Ints,
        document_length: Ints,
        score: Floats,
        rank: Floats,  # one a row, or empty when there is no rank column and none is needed
    ) -> None: ...

# progress[0] counts bytes (rows) done while the call runs; setting progress[1] non-zero makes it give up with
# RuntimeError.

def join_text(data: Bytes, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells) -> Joined: ...
def join_columns(run: ListColumns, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells) -> Joined:
    """ValueError when query ids are not distinct, spans leave the data, a score is NaN, or needed ranks are missing."""

class TextBlocks:
    """The join of a text that comes in pieces of any size, of which no more than a block is held at a time.

    Only in the compiled core. Where it cannot be done, because the text has faults or the lines of a query stand far
    apart, ``feed`` is False and ``finish`` None: the text has to be joined whole. Rows and facts cannot be asked for.
    """

    def __init__(
        self,
        index: JudgmentIndex,
        options: JoinOptions,
        threads: int,
        progress: Cells,
        most: int = 1 << 31,  # how many bytes a list may make it hold
        block: int = 1 << 23,
    ) -> None: ...
    def feed(self, data: bytes) -> bool: ...
    def finish(self) -> Joined | None: ...

def join_file(
    path: bytes, index: JudgmentIndex, options: JoinOptions, threads: int, progress: Cells, most: int = 1 << 31
) -> Joined | None:
    """The same of a plain file; None also where it cannot be read or changes. Only in the compiled core."""

class JoinJob:
    """Reads judgments and joins runs with them on threads of its own, while the caller goes on.

    A run is the path of a plain file, or an iterator of its text in pieces, which the threads ask for the next one.

    Only in the compiled core. Judgments may be any contiguous bytes, so that nothing here needs NumPy until a result is
    asked for. Each result waits for its part of the work and is to be asked for once (ValueError the second time);
    ``judgments`` comes first, and if it has faults there are no other results (ValueError). Dropping the job makes it
    give up and leaves ``progress`` as it is.
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
        """As :func:`join_file`; where facts are asked for, whole files are joined, and their bytes come along."""

# Tables -------------------------------------------------------------------------------------------------------------

#: Ids as spans: id i is data[start[i] : start[i] + length[i]].
Spans = tuple[Bytes, Ints, Ints]

class TableText(TypedDict):
    """Chosen fields of a delimited text as columns, one row a line, in the order of the text."""

    ids: list[Spans]  # one for each of id_fields
    numbers: list[Floats]  # one for each of number_fields
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
    """Reads lines of exactly ``fields`` fields, from offset ``first`` on.

    ``separator`` is a byte such as ``,``; 0 stands for runs of spaces and tabs. With a separator, a field that begins
    with ``"`` runs to the closing ``"``, may hold separators and line feeds, and doubles every ``"`` of its own; blanks
    around fields (spaces and tabs, unless they are the separator) are not part of them. Blank lines, lines that
    begin with ``#`` and a BOM at offset 0 are skipped, as in TREC text.

    Faults as above; ``where`` is the offset of the row's first byte. FIELDS: detail is how many there are. NUMBER,
    OVERFLOW: detail is the field. Further: EMPTY 6, an id without a byte (detail: the field); QUOTE 7, a quoted field
    that does not end, or does not end its field (detail: the field; after the latter, the next line is a new row).
    A row has at most one fault: QUOTE, FIELDS, then by field. Rows with faults are left out of the columns. An optional
    field may be empty: then it is an id without a byte, and NaN as number.

    The spans' data is ``data`` itself, or, where a wanted id doubles quotes, ``data`` with such ids at its end. Raises
    ValueError when ``first`` is outside of the data, a wanted field is not one of ``fields``, or the separator is a
    quote, CR or LF.
    """

class LetorText(TypedDict):
    """A LETOR text (``grade qid:query 1:value 2:value ... #docid = document``) as columns, one row a line."""

    query: Spans
    document: Spans  # where no line names one, the ordinal of the row within its query, from 1 (and data of its own)
    grade: Floats
    value: Floats  # of the wanted feature; 0 where the line does not have it, NaN where it is NULL
    feature_count: int  # the highest feature in the text
    line: Ints
    faults: list[Fault]
    fault_count: int

def read_letor(data: Bytes, feature: int) -> LetorText:
    """Reads a LETOR text with the values of one feature (0: none).

    The document is the word after ``docid =`` (or ``docid=``) in the comment that ends a line: all from the first field
    on that begins with ``#``. A line that begins with ``#`` is skipped. The last counts where a feature stands twice.

    Faults: FIELDS, the line has no ``qid:`` second (detail: how many fields it has); NUMBER and OVERFLOW with detail 0
    for the grade, else the field's number from 0; a field from the third on that is not ``feature:value`` with a whole
    feature of at least 1 (and at most 18 digits) is NUMBER, too; EMPTY 6: ``qid:`` with nothing behind (detail 1).
    LINE_END 8: a CR within the line. A line has at most one fault: LINE_END, FIELDS, then by field. Lines with these
    faults are left out of the columns. UNNAMED 9: a line without document where others have one; it is in the columns.
    """

def hash_id(identifier: bytes) -> int:
    """What tables place ids by: another number in every process. Only in the compiled core."""

def pack_ids(values: list[object]) -> tuple[Bytes, Ints, Ints, int]:
    """Ids as spans from texts (UTF-8, with surrogateescape), bytes and integers (as decimal text), and the position of
    the first value that is none of these, or empty, or a text that cannot be encoded; -1 when all are fine.
    A bool is none of these. NumPy integers are integers. The span of a value that is no id is empty."""

def pack_dicts(dicts: list[object]) -> tuple[Bytes, Ints, Ints, Floats, Ints, bool] | None:
    """Plain dicts of ids and numbers as columns; None where one is not plain, and a closer look has to be taken.

    The spans of all keys, their values as float64, where each dict's entries begin (and the last one's end), and
    whether all keys are texts. Plain is a dict of no subclass, its keys texts that UTF-8 can write, bytes or ints, not
    empty, its values floats (or of a subclass) and ints, finite as float64; a bool is neither key nor value."""

def number_ids(data: Bytes, start: Ints, length: Ints) -> tuple[list[bytes], Ints]:
    """The distinct ids in byte order, and for every span its place among them. ValueError when spans leave data."""

def flipped_sums(steps: Floats, flips: Bytes, threads: int) -> Floats:
    """Columns x draws: the sum of each column of ``steps`` (queries x columns) over the queries that a draw flips.

    ``flips`` (draws x bytes) have eight queries a byte, the first in the lowest bit; those beyond the last query change
    nothing. Steps are whole numbers whose sums a float64 holds, so that sums are exact. ValueError when bytes are
    missing."""

def count_extremes(
    sums: Floats, first: Ints, second: Ints, weight: Floats, edge: Floats, reach: Floats, threads: int
) -> tuple[Ints, Ints, Floats]:
    """Pairs of rows of ``sums`` (rows x draws), one after the other: in how many draws the absolute difference times
    its weight is at least its edge; in how many the largest of these among the pair and those before it is at least its
    reach; and the largest of all pairs in each draw. ValueError when there is no such row."""

def random_keys(state: NDArray[np.uint64], keys: Keys) -> None:
    """Fills rows of keys: the low bits, as few as number the columns, say in which column a key stands; the others are
    those of NumPy's SFC64, word after word as they lie in memory. ``state``, its four words, moves on."""

def add_at_places(sums: Floats, values: Floats, keys: Keys) -> None:
    """Adds to each row of ``sums`` the values at the places that the low bits of its keys say, beyond the last one 0.
    ValueError when the shapes differ."""

class ArrowTable:
    """The columns of an Arrow C stream, read through the PyCapsule interface (a capsule named arrow_array_stream).

    Reads all chunks. Raises ValueError with the producer's message when the stream fails, or when it is not a stream of
    structs; ImportError without the compiled core and without pyarrow. Columns are copied when they are asked for; the
    stream's memory is released with this object.
    """

    def __init__(self, capsule: object) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def formats(self) -> list[str]: ...  # Arrow's format strings; of a dictionary, "dictionary of " and the values'
    @property
    def rows(self) -> int: ...
    def ids(self, column: int) -> tuple[Bytes, Ints, Ints, Ints]:
        """Ids as spans, and the first ten rows that are null, or empty, ascending.

        Strings and binaries (u U vu z Z vz), integers of all widths as decimal text, and dictionaries of these.
        TypeError for any other format.
        """

    def numbers(self, column: int) -> tuple[Floats, Ints]:
        """Float64 values (NaN where null), and the first ten rows that are null, ascending.

        Integers and floats of all widths (half floats too), booleans (0 and 1), and dictionaries of these.
        TypeError for any other format.
        """
