"""Meanings of columns and keys: the names of each role in headers, frames and JSON objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from gainful.errors import InputError, UsageError, option
from gainful.notation import NUMBER, choose, nearest, some_of

#: The names of each role, in tiers of blank-separated names, best first: an ID beats a column that may hold the query's
#: text. Names are compared without case, blanks, ``_`` and ``-``; ``_WORDS`` lists the words of placeholders.
Names: TypeAlias = Mapping[str, tuple[str, ...]]
_THING = "doc document chunk passage item context product article"
_WORDS = {
    "<thing>": _THING,
    "<things>": " ".join(f"{thing}s {thing}_ids" for thing in _THING.split()),
    "<judged>": "relevant expected gold golden positive correct ground_truth reference",
    "<found>": "retrieved returned ranked recommended predicted",
}
NAMES: Names = {
    "query": ("query_id qid topic topic_id question_id", "query"),
    "document": (
        "docno",
        "doc_id document_id corpus_id pid passage_id chunk_id item_id movie_id product_id sku asin",
        "document doc item",
        "url product",
    ),
    "grade": ("grade relevance rel label rating judgment judgement gain", "score"),
    "score": ("score", "similarity sim prediction pred est weight"),
    "rank": ("rank", "position pos"),
    "subtopic": ("subtopic subtopic_id iteration",),
}
#: Keys and columns that hold all documents of a query, in judgments and runs.
LISTS: Names = {
    "judgments": (
        "judgments judgements qrels <judged> positives answer_ids answers_ids <judged>_ids <judged>_<things>",
        "<things>",
    ),
    "results": ("results <found> hits ranking recommendations predictions <found>_ids <found>_<things>", "<things>"),
}
#: Names in runs, in which users or sessions may serve as queries, and queries may have only a text.
LIST_NAMES: Names = {
    **NAMES,
    "query": (*NAMES["query"], "user_id user session_id session", "question question_text"),
    "document": (*NAMES["document"], *LISTS["results"], "<found>_id <found>_<thing> <found>_<thing>_id"),
}
#: Names in judgments.
JUDGMENT_NAMES: Names = {
    **NAMES,
    "query": (*LIST_NAMES["query"], "query_text search_term search_query"),
    "document": (*NAMES["document"], *LISTS["judgments"], "<judged>_id <judged>_<thing> <judged>_<thing>_id"),
}
_ID = "id _id"
#: Next to a list of documents, a lone ID column is the query's.
_OF_LISTS: Names = {"query": (*NAMES["query"], _ID, *JUDGMENT_NAMES["query"][len(NAMES["query"]) :])}
#: Columns of session tables that hold all documents of a query in one cell; "hits" may also be their number.
LISTINGS = ("results documents docs items shown ranking", "hits")
#: Names in sessions. The role ``query`` is the query's number in its session, ``query_id`` its ID in judgments by
#: query, ``text`` its text. Logs use ``query`` for the text.
SESSION_NAMES: Names = {
    "session": ("session_id session_num", "session", "sid"),
    "query": ("qno query_number query_no query_num turn_number turn_no turn", "query interaction"),
    "query_id": ("query_id", "turn_id"),
    "text": ("query_text search_query search_term", "keywords search text q"),
    "rank": (*NAMES["rank"], "item_rank"),
    "document": (
        *NAMES["document"],
        LISTINGS[0],
        "clicked click clicked_document clicked_doc clicked_url clickurl",
        LISTINGS[1],
    ),
    "topic": ("topic_id topic_num", "topic"),
    "user": ("user_id", "user", "uid anonid"),
    "system": ("system_id", "system"),
    "score": NAMES["score"],
    "grade": ("grade relevance rel label",),
    "scanned": ("scanned",),
    "cost": ("cost",),
    "time": ("time timestamp ts start_time", "datetime date_time query_time", "date"),
    "event": ("event event_type event_name", "action action_type", "type"),
}
#: Other names of a log's system, accepted if the column's values vary in the log but not within a session.
GUESSED_SYSTEMS = ("variant arm bucket experiment algorithm model engine run",)
#: Upper limit on the length of a header, in bytes.
LONGEST_HEADER = 1 << 22
#: The encoding of tables that are not UTF-8.
WINDOWS = "cp1252"
#: Longer lines are not treated as headers with unknown names.
_LONGEST_UNKNOWN = 1 << 14
_JUDGMENT_ROLES = ("query", "document", "grade", "subtopic")
_RUN_ROLES = ("query", "document", "score", "rank")
LOOKS_LIKE_JUDGMENTS = "this looks like judgments; give judgments first, then runs"
LOOKS_LIKE_A_RUN = "this looks like a run; give judgments first, then runs"
#: A log has at least one of these roles.
_LOG_NEEDED = ("time", "text", "query")
#: The names of queries that are users, whose documents are items.
USERS = ("user_id user customer_id customer visitor_id",)
#: A column name for spans built from three columns: document, start and end.
SPAN = re.compile(r"(.+)\[(.+):(.+)\]")
PARENT_PATTERN = "a pattern has parentheses around the document: '(.+)#[0-9]+' reads doc12 in doc12#3"
#: Names of distances, of which the smallest ranks first.
NEAREST_FIRST = ("distance distances dist cosine_distance l2_distance l2",)
_VALUE = {"grade": "grade", "score": "score or rank"}

#: Names in tables of sub-topic probabilities.
INTENT_NAMES: Names = {
    "query": NAMES["query"],
    "subtopic": (*NAMES["subtopic"], "intent intent_id intent_number"),
    "probability": ("probability prob",),
}
#: Roles that ``--columns`` accepts for each side; document titles also have a text.
_SIDES: Mapping[str, Names] = {
    **dict.fromkeys(("qrels", "run", "exclude", "training", "items"), NAMES),
    "documents": {**NAMES, "text": ()},
    "intents": {**NAMES, **INTENT_NAMES},
    "sessions": SESSION_NAMES,
}
#: Sides of commands that take judgments and runs, and of those that take sessions.
RUN_SIDES = ("qrels", "run", "exclude", "training", "items", "documents", "intents")
SESSION_SIDES = ("qrels", "sessions")


def columns_by_side(
    columns: str | Mapping[str, object] | None, sides: Sequence[str] = ("qrels", "run")
) -> dict[str, dict[str, str]]:
    """Return column names by side and role, from the text of ``--columns`` or a dict.

    A prefix such as ``qrels.`` or ``run.`` limits a role to one side. Without a prefix, a role applies to sessions if
    there are any, and otherwise to all sides.

    >>> columns_by_side({"query": "user", "run.score": "stars"})
    {'qrels': {'query': 'user'}, 'run': {'query': 'user', 'score': 'stars'}}
    >>> columns_by_side("session=SessionID,query=Qno,doc=URL,qrels.query=SessionID", SESSION_SIDES)
    {'qrels': {'query': 'SessionID'}, 'sessions': {'session': 'SessionID', 'query': 'Qno', 'document': 'URL'}}
    """
    known, default = {side: _SIDES[side] for side in sides}, ("sessions",) if "sessions" in sides else tuple(sides)
    what, given = "columns", {} if columns is None else columns
    if isinstance(columns, str):
        what, given = "--columns", {}
        for part in filter(str.strip, columns.split(",")):
            role, _, name = (piece.strip() for piece in part.partition("="))
            if not name:
                listed = ", ".join(known[default[0]])
                raise UsageError(f"--columns: expected role=name, found '{part}'", f"roles: {listed}")
            given[role] = name
    if not isinstance(given, Mapping):
        example = f'such as {{"{next(iter(known[default[0]]))}": "the name in the header"}}'
        raise UsageError(f"columns: expected a dict of roles and names, found {type(given).__name__}", example)
    found: dict[str, dict[str, str]] = {side: {} for side in sides}
    for role, called in given.items():
        of_side, dot, of_role = str(role).rpartition(".")
        # "doc" is short for "document"; the names of lists also mean their documents.
        of_role = "document" if of_role in ("doc", "docs", "documents", *LISTS) else of_role
        named: Any = called if isinstance(called, str) or callable(called) else str(called)
        if isinstance(named, str) and role in ("query", "document", "doc") and len(default) > 1:
            named = OfEitherSide(named)
        for side in (choose(of_side, known, what),) if dot else default:
            found[side][choose(of_role, known[side], what)] = named
    return found


class OfEitherSide(str):
    """The name of a column in judgments or runs; the other side may use default names."""

    __slots__ = ()


class ParentColumn(str):
    """The name of the column of parent documents, which a run of chunks must have."""

    __slots__ = ()


def concerning(given: Mapping[str, str], names: Sequence[str]) -> Mapping[str, str]:
    """Return the given names without those that only the other side has; near misses are kept, to be reported."""
    return {
        role: name
        for role, name in given.items()
        if not isinstance(name, OfEitherSide)
        or name in names
        or any(_is_nearly(folded(each), folded(name)) for each in names)
    }


def find_roles(
    names: Sequence[str],
    given: Mapping[str, str],
    *,
    run: bool,
    where: str,
    pairs_only: bool = False,
    values: Callable[[int], Iterable[object]] = lambda _: (),
) -> dict[str, int]:
    """Return the column of each role. If a required role has no column, the error proposes candidates based on their
    ``values``. ``pairs_only`` considers only queries and documents.

    >>> find_roles(["qid", "query", "docno", "score"], {}, run=True, where="run.csv")
    {'query': 0, 'document': 2, 'score': 3}
    """
    known = names_of(run)
    if pairs_only:
        return find_all({role: known[role] for role in ("query", "document")}, names, given, where)
    wanted = _RUN_ROLES if run else _JUDGMENT_ROLES
    found = {role: find_role(role, names, given, where, known) for role in wanted}
    has_lists = found["document"] is not None and is_list_name(names[found["document"]], run=run)
    if has_lists:
        found["query"] = query_of_lists(names, given, where, values)
        some = [] if found["query"] is None else list(values(found["query"]))
        has_lists = len(set(map(str, some))) == len(some)  # repeated queries imply one document per row
    roles = {role: column for role, column in found.items() if column is not None}
    shared = [role for role, column in roles.items() if list(roles.values()).count(column) > 1]
    if shared:
        named = names[roles[shared[0]]]
        raise UsageError(f"{where}: column '{named}' is used for {' and '.join(shared)}")
    _refuse_other_side(names, given, roles, run, where)
    value = "score" if run else "grade"
    lacking = next((role for role in ("query", "document") if role not in roles), None)
    # Scores and grades are optional only if no column is left that could hold them, or if cells hold lists.
    if lacking is None and not has_lists and not {"grade", "score", "rank"} & roles.keys() and _others(names, roles):
        lacking = value
    if run and lacking is not None and not given and is_log_header(names, given):
        message = f"{where}: expected one list per query, found what looks like a click log: {', '.join(names)}"
        raise InputError(message, "use `gainful sessions`")
    if lacking is not None:
        raise _ask_for(lacking, names, roles, where, value, values)
    has_numbers = any(is_called(name, SESSION_NAMES["query"][:1]) for name in names)
    # Sessions with query numbers: results of different queries must not be mixed.
    if run and "query" not in given and has_numbers and is_called(names[roles["query"]], SESSION_NAMES["session"]):
        hint = f"use `gainful sessions`, or {option('columns', {'query': 'NAME'})} for the query"
        message = f"{where}: expected one list per query, found sessions of several queries: {', '.join(names)}"
        raise InputError(message, hint)
    return roles


def names_of(run: bool) -> Names:
    """Return the names of the roles in runs or in judgments."""
    return LIST_NAMES if run else JUDGMENT_NAMES


def is_list_name(name: str, *, run: bool) -> bool:
    """Return whether a column or key of this name holds all documents of a query.

    >>> is_list_name("Expected Chunks", run=False), is_list_name("doc_id", run=False)
    (True, False)
    """
    return is_called(name, LISTS["results" if run else "judgments"])


def query_of_lists(
    names: Sequence[str], given: Mapping[str, str], where: str, values: Callable[[int], Iterable[object]]
) -> int | None:
    """Return the column or key of the query in a table of lists: an ID beats the text of queries."""
    found = find_role("query", names, given, where, _OF_LISTS)
    if found is None or "query" in concerning(given, names):
        return found
    identifier = find_role("query", names, {}, where, {"query": (_ID,)})
    is_text = identifier is not None and any(" " in str(value).strip() for value in values(found))
    return identifier if is_text else found


def _others(names: Sequence[str], roles: Mapping[str, int]) -> list[str]:
    """Return the columns without a role, except those known to be irrelevant here."""
    idle = [tier for role in ("query", "document", "subtopic") for tier in LIST_NAMES[role]]
    return [name for i, name in enumerate(names) if name and i not in roles.values() and not is_called(name, idle)]


def _refuse_other_side(
    names: Sequence[str], given: Mapping[str, str], roles: Mapping[str, int], run: bool, where: str
) -> None:
    """Raise InputError for judgments in place of a run, or a run in place of judgments."""
    # In judgments, "score" may be the grade.
    grade, rank, score = (
        next((name for name in names if is_called(name, [tier])), None)
        for tier in (NAMES["grade"][0], NAMES["rank"][0], NAMES["score"][1])
    )
    if run and grade and not {"score", "rank"} & roles.keys():
        found, hint, meant = "a run, found grades and no scores", LOOKS_LIKE_JUDGMENTS, {"run.score": grade}
    elif not run and rank and not grade and "grade" not in given:
        found, hint, meant = "judgments, found ranks and no grades", LOOKS_LIKE_A_RUN, {"qrels.grade": "NAME"}
    elif not run and score and "grade" not in roles:
        found, hint, meant = "judgments, found scores and no grades", LOOKS_LIKE_A_RUN, {"qrels.grade": "NAME"}
    elif "document" not in roles and (other := listed_for_other_side(names, run)):
        what, hint = ("a run", LOOKS_LIKE_JUDGMENTS) if run else ("judgments", LOOKS_LIKE_A_RUN)
        found, meant = f"{what}, found {other}", {f"{'run' if run else 'qrels'}.document": other}
    else:
        return
    raise InputError(f"{where}: expected {found}: {', '.join(names)}", f"{hint} (if not: {option('columns', meant)})")


def listed_for_other_side(names: Iterable[str], run: bool) -> str | None:
    """Return a name that only lists of the other side have: judged documents in a run, retrieved ones in judgments."""
    certain = LISTS["judgments" if run else "results"][:1]
    return next((name for name in names if is_called(name, certain)), None)


def _ask_for(
    lacking: str,
    names: Sequence[str],
    roles: Mapping[str, int],
    where: str,
    value: str,
    values: Callable[[int], Iterable[object]],
) -> InputError:
    """Return the error for a missing column, with candidates among the columns without a role."""
    each = [str(cell) for cell in values(roles["query"])] if "query" in roles else []
    texts = [i for i, name in enumerate(names) if is_called(name, SESSION_NAMES["text"])]
    has_texts = any(" " in str(cell).strip() for i in texts for cell in values(i))
    if lacking == "document" and (value == "score" or has_texts) and len({*each}) == len(each) > 1:
        return InputError(
            f"{where}: no column for the document among {some_of(names, 12)}, and one row per query",
            f"for a table about queries, use {option('queries')}; "
            f"otherwise name the documents: {option('columns', {'document': 'NAME'})}",
        )
    in_logs = {role: SESSION_NAMES[role] for role in ("document", "rank", "time")}
    roles = {**{role: i for i, name in enumerate(names) for role in in_logs if is_called(name, in_logs[role])}, **roles}
    free = {name: list(values(names.index(name))) for name in _others(names, roles)}
    free = {name: cells for name, cells in free.items() if not cells or any(str(cell).strip() for cell in cells)}
    value = "rank" if value == "score" and "rank" in roles else value
    if value == "grade" and "document" in roles and {"start", "end"} <= {*free}:
        span = option("columns", {"document": f"{names[roles['document']]}[start:end]"})
        lacks = f"{where}: no column for the grade among {some_of(names, 12)}"
        return InputError(lacks, f"for passages, use {span} with {option('spans', 0.5)}")
    needed = [role for role in ("query", "document", value) if role not in roles]
    guessed = {**{role: names[column] for role, column in roles.items()}, **_guessed(needed, free)}
    meant = {role: guessed.get(role, "NAME") for role in ("query", "document", value) if role != "grade" or free}
    # Reading a position or a distance as a score would reverse the list.
    name = meant.get(value, "")
    is_rank = value == "score" and (is_called(name, NEAREST_FIRST) or _are_ranks(free.get(name, [])))
    if is_rank:
        meant["rank"] = meant.pop("score")
    return InputError(
        f"{where}: no column for the {_VALUE.get(lacking, lacking)} among {some_of(names, 12) or 'none'}; use "
        + option("columns", meant)
        + (f", or rank={meant['score']} if 1 is best" if value == "score" and not is_rank else "")
    )


def _guessed(needed: Sequence[str], free: Mapping[str, Sequence[object]]) -> dict[str, str]:
    """Guess roles: numbers are grades or scores, IDs that repeat in consecutive rows queries, other columns documents.

    >>> _guessed(["query", "document", "grade"], {"film": ["a", "b", "c"], "stars": ["1", "5", "4"], "who": ["x"] * 3})
    {'query': 'who', 'grade': 'stars', 'document': 'film'}
    >>> _guessed(["query", "document"], {"device": ["x"] * 4, "who": list("aabb"), "film": list("cdef")})
    {'query': 'who', 'document': 'film'}
    """
    numbers = {name for name, values in free.items() if values and not _are_texts(values)}
    rest = sorted(free, key=numbers.__contains__)
    found: dict[str, str] = {}

    def assign(role: str, candidates: Sequence[str], key: Callable[[str], int]) -> None:
        if role in needed and role not in found and candidates:
            found[role] = min(candidates, key=key)
            rest.remove(found[role])

    def distinct(name: str) -> int:
        return len(set(map(str, free[name])))

    def repeats(name: str) -> int:
        return sum(str(one) == str(other) for one, other in pairwise(free[name]))

    texts = rest[: len(free) - len(numbers)]  # if there are not enough, numbers may be IDs
    are_enough = len(texts) >= len({"query", "document"}.intersection(needed))
    candidates = texts if are_enough else rest
    # Grouping columns have longer runs of repeats than queries, but fewer values.
    on_end = [name for name in candidates if 3 * repeats(name) >= len(free[name]) > 0]
    assign("query", on_end or candidates, lambda name: -distinct(name) if on_end else -repeats(name))
    last_first = [name for name in reversed(rest) if name in numbers]
    assign("grade", last_first, distinct)
    assign("score", last_first, lambda name: -distinct(name))
    for role in needed:
        assign(role, rest, lambda name: -distinct(name) if name not in numbers else 0)
    return found


def _are_ranks(values: Sequence[object]) -> bool:
    """Return whether numbers count 1, 2, 3, ... repeatedly."""
    texts = [str(value).strip() for value in values]
    if len(texts) < 2 or texts[0] != "1" or not all(text.isdecimal() for text in texts):
        return False
    return all(int(two) in (1, int(one) + 1) for one, two in pairwise(texts))


def is_session_header(names: Sequence[str], given: Mapping[str, str]) -> bool:
    """Return whether names look like the header of a table of sessions.

    >>> is_session_header(["SessionID", "Qno", "rank", "URL"], {}), is_session_header(["qid", "docno", "score"], {})
    (True, False)
    """
    return has_header(names, given, ("session", "document"), SESSION_NAMES) or is_log_header(names, given)


def is_log_header(names: Sequence[str], given: Mapping[str, str]) -> bool:
    """Return whether names look like a log: a session or user, a document, and a time or query."""
    return any(
        has_header(names, given, (who, "document", what), SESSION_NAMES)
        for who in ("session", "user")
        for what in _LOG_NEEDED
    )


def find_session_roles(
    names: Sequence[str],
    given: Mapping[str, str],
    where: str,
    values: Callable[[int], Iterable[object]],
    *,
    by_gap: bool,
) -> dict[str, int]:
    """Return the column of each role. Tables with query numbers need a rank or a score, because rows may be unordered.

    ``values`` samples a column: if the query column holds text, the table is a log, without query numbers and without
    the role ``query``. ``by_gap``: whether sessions are formed by gaps in time.
    """
    found = {role: find_role(role, names, given, where, SESSION_NAMES) for role in SESSION_NAMES}
    roles = {role: column for role, column in found.items() if column is not None}
    if "query" in roles and _are_texts(values(roles["query"])):
        roles.setdefault("query_id" if "text" in roles else "text", roles.pop("query"))
    if "event" in roles and "event" not in given and not _are_texts(values(roles["event"])):
        del roles["event"]
    is_log = "query" not in roles and any(role in roles for role in ("query_id", *_LOG_NEEDED))
    by_user = is_log and "session" not in roles and "user" in roles
    needed = ("session", "query", "document")
    if is_log:
        needed = (*(() if by_user else ("session",)), "document", *(("time",) if by_gap or by_user else ()))
    for role in needed:
        if role not in roles:
            raise missing_column(role, names, where, SESSION_NAMES)
    if is_log:
        guesses = [i for i, name in enumerate(names) if i not in roles.values() and is_called(name, GUESSED_SYSTEMS)]
        return roles | ({"system": guesses[0]} if len(guesses) == 1 and "system" not in roles else {})
    roles.pop("event", None)
    if by_gap:
        raise UsageError(f"{where}: {option('session_gap')} applies only to logs, but this table has query numbers")
    if "rank" not in roles and "score" not in roles:
        raise missing_column("rank", names, where, SESSION_NAMES)
    return roles


#: Seconds without a query that end a session, in logs that have only users.
DEFAULT_GAP = 1800.0


def log_notes(roles: Mapping[str, int], names: Sequence[str], *, by_gap: bool) -> tuple[str, ...]:
    """Return notes on assumptions about a log: how sessions were formed, and that query texts are missing."""
    notes = []
    if "session" not in roles and not by_gap:
        ends = f"ends after 30 minutes without a query (change with {option('session_gap', '1h')})"
        notes.append(f"no session column: a user's session {ends}")
    unused = [name for i, name in enumerate(names) if name and i not in roles.values()]
    if not {"text", "query_id"} & roles.keys() and unused:
        named = option("columns", {"text": unused[0]})
        notes.append(f"no column for the text of queries; unused columns: {some_of(unused, 12)}; use {named}")
    return tuple(notes)


def _are_texts(values: Iterable[object]) -> bool:
    """Return whether most values are not numbers, with decimal points or commas."""
    found = [not NUMBER.fullmatch(str(value).strip().replace(",", ".")) for value in values if str(value).strip()]
    return 2 * sum(found) > len(found)


def find_all(known: Names, names: Sequence[str], given: Mapping[str, str], where: str) -> dict[str, int]:
    """Return the column of every role, given or recognised by name; a missing one is an error."""
    roles: dict[str, int] = {}
    for role in known:
        found = find_role(role, names, given, where, known)
        if found is None:
            raise missing_column(role, names, where, known)
        roles[role] = found
    return roles


def find_role(
    role: str, names: Sequence[str], given: Mapping[str, str], where: str, known: Names = NAMES
) -> int | None:
    """Return the column of a role, given or recognised by name; None if there is none."""
    given = concerning(given, names)
    if role in given:
        name = given[role]
        found = [i for i, each in enumerate(names) if each == name]
        if len(found) > 1:
            raise InputError(f"{where}: {len(found)} columns are named '{name}'", "rename all but one")
        if not found:
            message = f"{where}: no column '{name}' for {role}; columns: {', '.join(names)}"
            raise InputError(message, PARENT_PATTERN if isinstance(name, ParentColumn) else nearest(name, names))
        return found[0]
    for tier in known[role]:
        found = [i for i, name in enumerate(names) if is_called(name, [tier]) and name not in given.values()]
        if len(found) > 1:
            listed = [names[i] for i in found]
            is_choice = len(set(listed)) == len(listed)
            hint = f"choose one with {option('columns', {role: listed[0]})}" if is_choice else "rename all but one"
            raise InputError(f"{where}: several columns for {role}: {' and '.join(listed)}", hint)
        if found:
            return found[0]
    return None


def has_header(
    names: Sequence[str],
    given: Mapping[str, str],
    needed: Sequence[str] = ("query", "document"),
    known: Names = LIST_NAMES,
) -> bool:
    """Return whether names look like a header, with columns for all ``needed`` roles."""
    given = concerning(given, names)
    return all(
        given[role] in names if role in given else any(is_called(name, known[role]) for name in names)
        for role in needed
    )


def is_called(name: str, tiers: Iterable[str]) -> bool:
    """Return whether a name matches one of the tiers, ignoring case and punctuation.

    >>> is_called("Expected Chunk-IDs", LISTS["judgments"]), is_called("expected_answers", LISTS["judgments"])
    (True, False)
    """
    return any(_tier_pattern(tier).fullmatch(folded(name)) for tier in tiers)


@cache
def _tier_pattern(tier: str) -> re.Pattern[str]:
    pattern = "|".join(re.escape(folded(name)) for name in tier.split())
    for word, forms in _WORDS.items():
        pattern = pattern.replace(word, f"(?:{'|'.join(map(folded, forms.split()))})")
    return re.compile(pattern)


def listed_names(tiers: Iterable[str]) -> list[str]:
    """Return the names in tiers for messages, without those built from placeholders."""
    return [name for tier in tiers for name in tier.split() if "<" not in name]


@lru_cache
def folded(name: str) -> str:
    """Return a name in lower case without blanks, ``_`` and ``-``."""
    return re.sub(r"[\s_-]", "", name.casefold())


def missing_column(role: str, names: Sequence[str], where: str, known: Names = NAMES) -> InputError:
    """Return the error for a header without a required column."""
    listed = ", ".join(listed_names(known[role]))
    return InputError(
        f"{where}: no column for {role} ({listed}); columns: {', '.join(names) or 'none'}",
        f"use {option('columns', {role: 'NAME'})}",
    )


def text_of_header(line: bytes) -> str:
    """Decode a header as UTF-8, or else as Windows-1252."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode(WINDOWS, "replace")


def header_separator(line: bytes, is_header: Callable[[Sequence[str]], bool]) -> str | None:
    """Return the separator of a header; None if the line is not a header."""
    text = text_of_header(line[:LONGEST_HEADER])
    for separator in "\t,;":
        names = [field.strip().strip('"') for field in text.split(separator)]
        if len(names) > 1 and is_header(names):
            return separator
    return None


def unknown_separator(line: bytes) -> str | None:
    """Return the separator of a line that can only be a header with unknown names; else None.

    >>> unknown_separator(b"userID,film,stars"), unknown_separator(b"q1 0 d1,b 2"), unknown_separator(b"q1,d1,2")
    (',', None, None)
    """
    if len(line) > _LONGEST_UNKNOWN:
        return None
    text = line.decode("utf-8", "replace")
    separator = next((mark for mark in "\t,;" if mark in text), None)
    is_number = any(NUMBER.fullmatch(field.strip('"')) for field in re.split(r"[\s,;]+", text))
    return None if is_number else separator


def is_run_header(line: bytes, columns: Mapping[str, str]) -> bool:
    """Return whether a header has queries and documents but no sessions."""
    if "session" in columns or header_separator(line, lambda names: is_session_header(names, columns)):
        return False

    def is_run(names: Sequence[str]) -> bool:
        # A log without sessions and users has times, but no rank or score.
        is_ordered = any(has_header(names, columns, (role,), NAMES) for role in ("score", "rank"))
        is_log = not is_ordered and has_header(names, columns, ("time",), SESSION_NAMES)
        return has_header(names, columns, known=NAMES) and not is_log

    return header_separator(line, is_run) is not None


#: Names that other tools use for the keys of a query.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("query_id", "query-id", "qid", "turn_id"),
    "results": ("docs", "documents", "hits", "ranking"),
    "number": ("query_number", "turn_number", "qno"),
    "time": ("timestamp", "start_time", "starttime"),
    "scanned": ("scanning_depth", "scan_depth"),
}
#: Required keys, whose absence is reported elsewhere.
_KEYS_NEEDED = ("session", "queries", "results")
_CLOSE = 0.81


class Keys:
    """The keys of objects by role, computed once for all objects with the same keys.

    Other keys are ignored, unless one resembles the name of a missing role.
    """

    def __init__(self, given: Mapping[str, str], known: Names, roles: Sequence[str], others: Sequence[str]) -> None:
        self._given, self._known, self._roles, self._others = given, known, roles, others
        self._found: dict[tuple[object, ...], dict[str, str]] = {}

    def of(self, value: Mapping[Any, Any], where: str) -> dict[str, str]:
        """Return the key of every role that has one."""
        keys = tuple(value)
        found = self._found.get(keys)
        if found is None:
            names = [key for key in keys if isinstance(key, str)]
            # Names given for another level of the object are ignored here.
            given = {role: name for role, name in self._given.items() if name in names}
            places = {role: find_role(role, names, given, where, self._known) for role in self._roles}
            found = {role: names[place] for role, place in places.items() if place is not None}
            wanted, others = (*self._roles, *self._others), [key for key in self._others if key in names]
            lacking = [role for role in wanted if role not in {*found, *others, *_KEYS_NEEDED}]
            unused = [name for name in names if name not in {*found.values(), *others}]
            for name in unused if self._others else ():
                meant = next((role for role in lacking if _is_nearly(name, role)), None)
                if meant is not None:
                    hint = f"did you mean {meant}? Keys that resemble none of these are ignored"
                    raise InputError(f"{where}: unknown key {name}; known keys: {', '.join(wanted)}", hint)
            self._found[keys] = found
        return found


def _is_nearly(name: str, role: str) -> bool:
    lower = name.casefold()
    if lower in _OTHER_NAMES.get(role, ()):
        return True
    import difflib

    return difflib.SequenceMatcher(None, lower, role).ratio() >= _CLOSE


def missing_key(
    key: str, value: Mapping[Any, Any], known: Sequence[str], where: str, example: str | None
) -> InputError:
    """Return the error for an object without a required key, with a hint at a similar one."""
    names = [str(name) for name in value]
    others = [name for name in names if name not in known]
    meant = next((name for name in others if nearest(name, [key]) or name in _OTHER_NAMES.get(key, ())), None)
    return InputError(
        f"{where}: missing key {key}; keys: {', '.join(names) or 'none'}",
        f"is {meant} meant to be {key}?" if meant else None if example is None else f"a line is {example}",
    )
