"""Both cores read tables and columns of IDs as defined in ``_core.pyi``."""

from __future__ import annotations

import csv
import enum
import io
import itertools
import math
import random
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from tests.together import together

FIELDS, NUMBER, OVERFLOW, EMPTY, QUOTE = 1, 2, 3, 6, 7


def as_array(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.uint8)


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def ids_of(spans: Any) -> list[bytes]:
    data, start, length = spans[:3]
    assert (data.dtype, start.dtype, length.dtype) == (np.uint8, np.int64, np.int64)
    text = data.tobytes()
    found = [text[at : at + size] for at, size in zip(start.tolist(), length.tolist(), strict=True)]
    assert [len(each) for each in found] == length.tolist()
    return found


def read(core: Any, text: bytes, fields: int, numbers: tuple[int, ...] = (), separator: str = ",") -> Any:
    """All fields except the numbers as IDs."""
    ids = [field for field in range(fields) if field not in numbers]
    mark = ord(separator) if separator else 0
    return core.read_table(as_array(text), 0, mark, fields, ids, list(numbers))


def rows_of(found: Any) -> list[tuple[bytes, ...]]:
    return list(zip(*map(ids_of, found["ids"]), strict=True))


# -- Rows and fields ---------------------------------------------------------------------------------------------------


def test_chosen_fields_become_columns_in_the_order_of_the_choice(core: Any) -> None:
    data = as_array(b"q1,7,d1,x,2.5\nq2,8,d2,y,-1\n")
    found = core.read_table(data, 0, ord(","), 5, [2, 0, 2], [4, 1])
    assert [ids_of(spans) for spans in found["ids"]] == [[b"d1", b"d2"], [b"q1", b"q2"], [b"d1", b"d2"]]
    assert [column.tolist() for column in found["numbers"]] == [[2.5, -1], [7, 8]]
    assert {column.dtype for column in found["numbers"]} == {np.dtype(np.float64)}
    assert (found["line"].tolist(), found["line"].dtype) == ([0, 14], np.int64)
    assert (found["faults"], found["fault_count"]) == ([], 0)
    assert all(spans[0] is data for spans in found["ids"])


def test_reading_starts_at_the_given_offset(core: Any) -> None:
    text = b'"query, or\ntopic",document\nq,d\n'
    found = core.read_table(as_array(text), text.index(b"q,d"), ord(","), 2, [0, 1], [])
    assert (rows_of(found), found["line"].tolist()) == ([(b"q", b"d")], [text.index(b"q,d")])
    assert core.read_table(as_array(text), len(text), ord(","), 2, [0, 1], [])["line"].tolist() == []


def test_a_byte_order_mark_is_skipped_at_offset_0_only(core: Any) -> None:
    mark = b"\xef\xbb\xbf"
    found = read(core, mark + b'"a",b\n' + mark + b"c,d\n", 2)
    assert (rows_of(found), found["line"].tolist()) == ([(b"a", b"b"), (mark + b"c", b"d")], [3, 9])
    found = core.read_table(as_array(b"\n" + mark + b"a,b"), 1, ord(","), 2, [0, 1], [])
    assert rows_of(found) == [(mark + b"a", b"b")]


@together("separator", [",", "\t", ";", "|", "\xff", "a", "^", "]", "-", "\\", "\x00"[:0], " "])
def test_separators(core: Any, separator: str) -> None:
    mark = separator.encode("latin-1") or b" \t "
    found = read(core, b"1%b2%b3.5\n4%b5%b6\n" % ((mark,) * 4), 3, (2,), separator)
    assert (rows_of(found), found["numbers"][0].tolist()) == ([(b"1", b"2"), (b"4", b"5")], [3.5, 6])
    assert found["faults"] == []


def test_blanks_around_fields_are_not_part_of_them(core: Any) -> None:
    text = b' a b\t,\t"c" , " d " , 1 \r\n'
    found = read(core, text, 4, (3,))
    assert (rows_of(found), found["numbers"][0].tolist()) == ([(b"a b", b"c", b" d ")], [1])
    found = read(core, b' a \t "b" \t1\t2 \n', 4, (2, 3), "\t")
    assert (rows_of(found), [column.tolist() for column in found["numbers"]]) == ([(b"a", b"b")], [[1], [2]])
    assert rows_of(read(core, b'a\t b\n"c \t"\t d\n', 2, (), " ")) == [(b"a", b"b"), (b"c \t", b"d")]


def test_a_separator_that_is_blank_still_makes_empty_fields(core: Any) -> None:
    assert read(core, b"a\t\tb\n", 3, (), "\t")["faults"] == [(0, EMPTY, 1)]
    assert read(core, b"\ta\tb\n", 3, (), "\t")["faults"] == [(0, EMPTY, 0)]
    assert read(core, b"a  b\n", 3, (), " ")["faults"] == [(0, EMPTY, 1)]
    assert read(core, b"\t\t\n", 3, (), "\t")["faults"] == [(0, EMPTY, 0)]
    assert read(core, b"a\tb\t\n", 2, (), "\t")["faults"] == [(0, FIELDS, 3)]
    assert rows_of(read(core, b"\t\ta  \t b\t\n", 2, (), "")) == [(b"a", b"b")]


def test_quotes_mean_nothing_between_blanks_or_inside_a_field(core: Any) -> None:
    assert rows_of(read(core, b'"a b" c\n', 3, (), "")) == [(b'"a', b'b"', b"c")]
    data = as_array(b'a"b,c""\n')
    found = core.read_table(data, 0, ord(","), 2, [0, 1], [])
    assert rows_of(found) == [(b'a"b', b'c""')]
    assert found["ids"][0][0] is data


def test_comments_and_blank_lines_are_skipped(core: Any) -> None:
    text = b'# a,"b\n\n \t\n\r\n \t# c\n"#d",e\nf,#g\n#'
    assert rows_of(read(core, text, 2)) == [(b"#d", b"e"), (b"f", b"#g")]
    assert read(core, text, 2)["line"].tolist() == [text.index(b'"#d"'), text.index(b"f,")]
    assert rows_of(read(core, b"#a b\n \t#c d\n \t\na #b\n", 2, (), "")) == [(b"a", b"#b")]
    assert rows_of(read(core, b"\t#a\n \nb\tc\n # d\te\n", 2, (), "\t")) == [(b"b", b"c")]


@together("separator", [",", ""])
@together("end", [b"\n", b"\r\n", b" \r\n", b"\n\n"])
def test_line_ends(core: Any, end: bytes, separator: str) -> None:
    gap = separator.encode() or b" "
    text = end.join([b"a" + gap + b"b", b"c" + gap + b"d"])
    for tail in (b"", b"\r", end):
        found = read(core, text + tail, 2, (), separator)
        assert (rows_of(found), found["line"].tolist()) == ([(b"a", b"b"), (b"c", b"d")], [0, 3 + len(end)])


def test_one_carriage_return_is_dropped_behind_quotes_too(core: Any) -> None:
    assert rows_of(read(core, b'a,"b"\r\nc,"d"\r', 2)) == [(b"a", b"b"), (b"c", b"d")]
    assert rows_of(read(core, b"a,b\r\r\nc\r,d\r\n", 2)) == [(b"a", b"b\r"), (b"c\r", b"d")]
    assert read(core, b'a,"b"\r\r\n', 2)["faults"] == [(0, QUOTE, 1)]
    assert read(core, b"a,\r\n", 2)["faults"] == [(0, EMPTY, 1)]
    assert read(core, b"\r\r\n", 2)["faults"] == [(0, FIELDS, 1)]


def test_quoted_fields_hold_separators_and_line_feeds(core: Any) -> None:
    data = as_array(b'"a,b","c\nd\r\ne"\r\n\n"f","#"\n')
    found = core.read_table(data, 0, ord(","), 2, [0, 1], [])
    assert (rows_of(found), found["line"].tolist()) == ([(b"a,b", b"c\nd\r\ne"), (b"f", b"#")], [0, 17])
    assert found["ids"][0][0] is data


def test_doubled_quotes_are_single_ones(core: Any) -> None:
    text = b'"a""b",1,"""",x\n"c",2,"""d"""" """,y\n'
    found = read(core, text, 4, (1,))
    assert rows_of(found) == [(b'a"b', b'"', b"x"), (b"c", b'"d"" "', b"y")]
    data = found["ids"][0][0]
    assert data.tobytes() == text + b'a"b' + b'"' + b'"d"" "'
    assert all(spans[0] is data for spans in found["ids"])
    # Fields that nobody asked for, and rows that are left out, add nothing.
    whole = as_array(b'"a""b",c\n')
    assert core.read_table(whole, 0, ord(","), 2, [1], [])["ids"][0][0] is whole
    whole = as_array(b'"a""b",x\n')
    assert core.read_table(whole, 0, ord(","), 2, [0], [1])["ids"][0][0] is whole


def test_numbers_may_be_quoted(core: Any) -> None:
    assert read(core, b'a,"2.5"\n', 2, (1,))["numbers"][0].tolist() == [2.5]
    for text in (b'a,"1"""\n', b'a,""\n', b'a," 1"\n', b"a,\n"):
        assert read(core, text, 2, (1,))["faults"] == [(0, NUMBER, 1)]


@together("text", [b"", b"\n", b"\r", b" ", b"#", b'#"', b"\xef\xbb\xbf", b"\xef\xbb\xbf#,\n\n"])
@together("separator", [",", ""])
def test_texts_without_rows(core: Any, text: bytes, separator: str) -> None:
    found = read(core, text, 3, (1,), separator)
    assert ([ids_of(spans) for spans in found["ids"]], found["line"].size, found["faults"]) == ([[], []], 0, [])
    assert [column.size for column in found["numbers"]] == [0]


def test_rows_may_be_of_any_width(core: Any) -> None:
    for separator, width in itertools.product([",", ""], [1, 7, 40]):
        fields = [b"%d" % i for i in range(1, width + 1)]
        text = (separator.encode() or b" ").join(fields) + b"\n"
        assert rows_of(read(core, text * 2, width, (), separator)) == [tuple(fields)] * 2
        assert read(core, text, width + 1, (), separator)["faults"] == [(0, FIELDS, width)]
        assert read(core, text, max(1, width - 1), (), separator)["faults"] == ([(0, FIELDS, width)] * (width > 1))


# -- Faults ------------------------------------------------------------------------------------------------------------


@together(
    ("row", "code", "detail"),
    [
        (b"a,1,b", FIELDS, 3),
        (b"a,x,,,", FIELDS, 5),
        (b",", FIELDS, 2),
        (b",1,b,1e999", EMPTY, 0),
        (b"a,x,,1", NUMBER, 1),
        (b"a,1e999,,x", OVERFLOW, 1),
        (b'a,1,"",x', EMPTY, 2),
        (b"a,1,b,nan", NUMBER, 3),
        (b"a,1,b,-1e999", OVERFLOW, 3),
        (b'a,"1"x,b,1', QUOTE, 1),
        (b'"a"",1', QUOTE, 0),
        (b',x,"b"c,1,1,1', QUOTE, 2),
        (b'a,1,b,1,"c', QUOTE, 4),
    ],
)
def test_a_row_has_one_fault(core: Any, row: bytes, code: int, detail: int) -> None:
    found = core.read_table(as_array(b"a,1,b,2\n " + row), 0, ord(","), 4, [0, 2], [1, 3])
    assert (found["faults"], found["fault_count"]) == ([(8, code, detail)], 1)
    assert (rows_of(found), found["line"].tolist()) == ([(b"a", b"b")], [0])
    assert [column.tolist() for column in found["numbers"]] == [[1], [2]]


def test_a_field_that_is_id_and_number(core: Any) -> None:
    found = core.read_table(as_array(b"7\n,\nx\n"), 0, ord(";"), 1, [0], [0])
    assert (ids_of(found["ids"][0]), found["numbers"][0].tolist()) == ([b"7"], [7])
    assert found["faults"] == [(2, NUMBER, 0), (4, NUMBER, 0)]
    assert core.read_table(as_array(b'"";1\n'), 0, ord(";"), 2, [0], [0])["faults"] == [(0, EMPTY, 0)]


def test_optional_fields_may_be_empty(core: Any) -> None:
    text = b'a,1,b,2\na,,"", \n,3,c,4\na,x,,1\nd, ,e,5\n'
    found = core.read_table(as_array(text), 0, ord(","), 4, [0, 2], [1, 3], [1, 2, 3])
    assert rows_of(found) == [(b"a", b"b"), (b"a", b""), (b"d", b"e")]
    assert [[repr(value) for value in column.tolist()] for column in found["numbers"]] == [
        ["1.0", "nan", "nan"],
        ["2.0", "nan", "5.0"],
    ]
    assert found["faults"] == [(16, EMPTY, 0), (23, NUMBER, 1)]
    found = core.read_table(as_array(b'7\n ""\n'), 0, ord(","), 1, [0], [0], [0])
    assert (ids_of(found["ids"][0]), repr(found["numbers"][0].tolist())) == ([b"7", b""], "[7.0, nan]")


def test_after_a_fault_reading_goes_on(core: Any) -> None:
    # A field that goes on behind its closing quote spoils its line; one that never ends spoils the rest of the text.
    found = read(core, b'"a"b,"c\nd,e\n"f","g"h"\ni,j\n"k,l\nm,n\n', 2)
    assert rows_of(found) == [(b"d", b"e"), (b"i", b"j")]
    assert found["faults"] == [(0, QUOTE, 0), (12, QUOTE, 1), (26, QUOTE, 0)]


def test_the_ten_earliest_faults_are_kept_and_all_are_counted(core: Any) -> None:
    found = read(core, b"a,b\n" * 3 + b"x\n" * 12 + b"c,d", 2)
    assert (found["faults"], found["fault_count"]) == ([(12 + 2 * i, FIELDS, 1) for i in range(10)], 12)
    assert rows_of(found) == [(b"a", b"b")] * 3 + [(b"c", b"d")]


@together(
    "arguments",
    [
        (-1, 44, 2, [0], []),
        (4, 44, 2, [0], []),
        (0, 44, 2, [2], []),
        (0, 44, 2, [], [-1]),
        (0, 44, 2, [0], [], [2]),
        (0, 44, 2, [0], [], [-1]),
        (0, 34, 2, [0], []),
        (0, 10, 2, [0], []),
        (0, 13, 2, [0], []),
        (0, 256, 2, [0], []),
        (0, -1, 2, [0], []),
    ],
)
def test_impossible_tables(core: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"field|byte|outside"):
        core.read_table(as_array(b"a,b"), *arguments)


# -- Against Python's csv, and core against core -----------------------------------------------------------------------


@together("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@together("line_end", ["\n", "\r\n"])
def test_csv_texts_are_read_as_python_reads_them(core: Any, quoting: Any, line_end: str) -> None:
    chance = random.Random(3)
    alphabet = ["a", "b", '"', '""', ",", "\n", "\r\n", "é", "#", "long enough to pass sixteen bytes"]
    cells = [
        ["x" + "".join(chance.choices(alphabet, k=chance.randint(0, 5))) + "y", repr(chance.uniform(-9, 9)), "z"]
        for _ in range(400)
    ]
    text = io.StringIO(newline="")
    csv.writer(text, quoting=quoting, lineterminator=line_end).writerows(cells)
    expected = list(csv.reader(io.StringIO(text.getvalue(), newline="")))
    assert expected == cells
    found = read(core, text.getvalue().encode(), 3, (1,))
    assert [(a.decode(), b.decode()) for a, b in rows_of(found)] == [(row[0], row[2]) for row in expected]
    assert found["numbers"][0].tolist() == [float(row[1]) for row in expected]
    assert found["faults"] == []


# -- Ids ---------------------------------------------------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 7

    def __str__(self) -> str:
        return "red"


class Text(str):
    __slots__ = ()


class Whole:
    def __index__(self) -> int:
        return -5


class Angry:
    def __index__(self) -> int:
        raise OSError("not today")


GOOD_IDS: list[tuple[Any, bytes]] = [
    ("a", b"a"),
    ("é\U0001f600", "é\U0001f600".encode()),
    ("a\udcff", b"a\xff"),
    ("\x00", b"\x00"),
    (Text("t"), b"t"),
    (np.str_("n"), b"n"),
    (b"\xff\x00", b"\xff\x00"),
    (np.bytes_(b"b"), b"b"),
    (0, b"0"),
    (-12, b"-12"),
    (2**63 - 1, b"9223372036854775807"),
    (-(2**63), b"-9223372036854775808"),
    (2**63, b"9223372036854775808"),
    (-(10**30), b"-1" + b"0" * 30),
    (Colour.RED, b"7"),
    (Whole(), b"-5"),
    *((kind(5), b"5") for kind in (np.int8, np.uint8, np.int16, np.uint32, np.int64)),
    (np.uint64(2**64 - 1), b"18446744073709551615"),
]
NO_IDS: list[Any] = [
    "",
    b"",
    None,
    True,
    False,
    np.True_,
    np.False_,
    1.0,
    np.float64(2),
    1j,
    ("a",),
    bytearray(b"a"),
    "\ud800",
    10**5000,
    np.array([1, 2]),
    np.array(1.5),
    int,
]


def test_ids_are_packed(core: Any) -> None:
    values = [value for value, _ in GOOD_IDS]
    packed = core.pack_ids(values)
    assert (ids_of(packed), packed[3]) == ([expected for _, expected in GOOD_IDS], -1)
    assert packed[0].tobytes() == b"".join(expected for _, expected in GOOD_IDS)


@together("value", NO_IDS)
def test_the_first_value_that_is_not_an_id_is_returned(core: Any, value: Any) -> None:
    packed = core.pack_ids(["a", 12, value, b"b", None])
    assert (ids_of(packed), packed[3]) == ([b"a", b"12", b"", b"b", b""], 2)


def test_packing_nothing(core: Any) -> None:
    packed = core.pack_ids([])
    assert (ids_of(packed), packed[3]) == ([], -1)


def test_errors_in_the_values_own_code_are_passed_on(core: Any) -> None:
    with pytest.raises(OSError, match="not today"):
        core.pack_ids(["a", Angry()])


def test_values_that_change_the_list_while_it_is_packed() -> None:
    compiled = pytest.importorskip("gainful.kernel._core")
    values: list[Any] = []

    class Vandal:
        def __index__(self) -> int:
            values.clear()
            return 1

    values += ["a", Vandal(), "b" * 1000]
    assert ids_of(compiled.pack_ids(values)) == [b"a", b"1"]


# -- Dicts -------------------------------------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()


def columns_of(packed: Any) -> tuple[list[bytes], list[float], list[int], bool]:
    data, start, length, values, offsets, all_texts = packed
    assert (values.dtype, offsets.dtype) == (np.float64, np.int64)
    return ids_of((data, start, length)), values.tolist(), offsets.tolist(), all_texts


def test_dicts_are_packed_one_behind_the_other(core: Any) -> None:
    dicts = [{"b": 1.5, "a": -2}, {}, {"é": np.float64(0.25), Text("x\0y"): 2**60, "日": -0.0}]
    assert columns_of(core.pack_dicts(dicts)) == (
        [b"b", b"a", "é".encode(), b"x\0y", "日".encode()],
        [1.5, -2.0, 0.25, 2.0**60, 0.0],
        [0, 2, 2, 5],
        True,
    )


def test_keys_that_are_not_texts_are_flagged(core: Any) -> None:
    packed = columns_of(core.pack_dicts([{"a": 1, b"b": 2.0, 3: 3, -(10**30): 4, b"\xff": 5}]))
    assert packed == ([b"a", b"b", b"3", b"-1" + b"0" * 30, b"\xff"], [1, 2, 3, 4, 5], [0, 5], False)


def test_no_dicts_and_empty_ones(core: Any) -> None:
    assert columns_of(core.pack_dicts([])) == ([], [], [0], True)
    assert columns_of(core.pack_dicts([{}, {}])) == ([], [], [0, 0, 0], True)


@together(
    "odd",
    [
        OrderedDict(a=1.0),
        [("a", 1.0)],
        None,
        {"": 1.0},
        {b"": 1.0},
        {"\ud800": 1.0},
        {"\udc80": 1.0},
        {True: 1.0},
        {1.5: 1.0},
        {None: 1.0},
        {np.int64(3): 1.0},
        {10**5000: 1.0},
        {"a": True},
        {"a": None},
        {"a": "1"},
        {"a": math.nan},
        {"a": -math.inf},
        {"a": 10**400},
        {"a": np.float32(1)},
        {"a": np.array([1.0])},
    ],
)
def test_other_values_return_none(core: Any, odd: object) -> None:
    assert core.pack_dicts([{"fine": 1.0}, odd]) is None


#: Of one to four bytes each in UTF-8, and one that no UTF-8 has.
LETTERS = "ab0 \x00\x7f\x80éß日\uffff😀\udc80"


def any_id(rng: random.Random) -> Any:
    """Values that are IDs, and others."""
    text = "".join(rng.choices(LETTERS[: None if rng.random() < 0.1 else -1], k=rng.randint(0, 4)))
    whole = rng.randint(-(2 ** rng.choice([2, 31, 63, 64, 200])), 2 ** rng.choice([2, 31, 63, 64, 200]))
    return rng.choice([text, text, rng.randbytes(rng.randint(0, 4)), whole, rng.random() < 0.5])


def test_the_cores_agree_on_dicts(cores: Any) -> None:
    rng, refused = random.Random(0), 0
    for _ in range(1000):
        others = [rng.uniform(-9, 9), rng.randint(-(2**70), 2**70), *([math.inf, None, 2**2000] * (rng.random() < 0.1))]
        dicts = [{any_id(rng): rng.choice(others) for _ in range(rng.randint(0, 4))} for _ in range(rng.randint(0, 3))]
        found, same = (core.pack_dicts(dicts) for core in cores)
        assert (found is None) == (same is None), dicts
        refused += found is None
        if found is not None:
            assert columns_of(found) == columns_of(same), dicts
            assert found[0].tobytes() == same[0].tobytes(), dicts
    assert 50 < refused < 900


def test_ids_are_numbered_in_byte_order(core: Any) -> None:
    text = b"bb\xffa"
    ids, numbers = core.number_ids(as_array(text), ints(0, 1, 2, 3, 3, 0, 0), ints(1, 1, 1, 1, 0, 2, 1))
    assert ids == [b"", b"a", b"b", b"bb", b"\xff"]
    assert (numbers.tolist(), numbers.dtype) == ([2, 2, 4, 1, 0, 3, 2], np.int64)
    ids, numbers = core.number_ids(as_array(b""), ints(), ints())
    assert (ids, numbers.tolist(), numbers.dtype) == ([], [], np.int64)


@together(
    ("start", "length"),
    [([-1], [1]), ([0], [4]), ([4], [0]), ([0], [-1]), ([2**62], [2**62]), ([1], [2**63 - 1]), ([0], [1, 1])],
)
def test_spans_must_lie_in_the_data(core: Any, start: list[int], length: list[int]) -> None:
    with pytest.raises(ValueError, match=r"data|length"):
        core.number_ids(as_array(b"abc"), ints(*start), ints(*length))


def test_ids_that_ascend_for_a_while(core: Any) -> None:
    """Numbers, texts and other values, some repeated."""
    numbers = [b"%d" % i for i in range(5, 130)]
    for ids in (numbers, sorted(numbers), numbers[::-1], [b"9", b"10", b"1000", b"99"]):
        given = [each for each in [*ids, ids[1], *ids[-3:], b"7", ids[0]] for _ in range(2)]
        length = [len(each) for each in given]
        start = [sum(length[:i]) for i in range(len(length))]
        found, places = core.number_ids(as_array(b"".join(given)), ints(*start), ints(*length))
        assert found == sorted(set(given))
        assert [found[place] for place in places.tolist()] == given


def test_the_cores_agree_on_ids(cores: Any) -> None:
    rng, faults = random.Random(1), 0
    for _ in range(1000):
        values = [None if rng.random() < 0.02 else any_id(rng) for _ in range(rng.randint(0, 9))]
        (data, *spans, fault), (same_data, *same_spans, same_fault) = (core.pack_ids(values) for core in cores)
        assert (data.tobytes(), fault) == (same_data.tobytes(), same_fault), values
        np.testing.assert_array_equal(spans, same_spans)
        (ids, numbers), (same_ids, same_numbers) = (core.number_ids(data, *spans) for core in cores)
        assert ids == same_ids, values
        np.testing.assert_array_equal(numbers, same_numbers)
        faults += fault >= 0
    assert 50 < faults < 900
