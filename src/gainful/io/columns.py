"""What the columns of a table with a header mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gainful.errors import InputError, UsageError
from gainful.notation import choose, nearest

#: The names that each role is known by, best first: an id beats a column that may hold the query's text.
NAMES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "query-id", "qid", "q_id", "topic", "topic_id"), ("query",)),
    "document": (
        ("docno",),
        ("doc_id", "doc-id", "document_id", "document-id", "docid", "corpus-id", "corpus_id", "pid"),
        ("document", "doc"),
    ),
    "grade": (("grade", "relevance", "rel", "label"), ("score",)),
    "score": (("score",),),
    "rank": (("rank",),),
    "subtopic": (("subtopic", "sub-topic", "subtopic_id", "iteration"),),
}
SIDES = ("qrels", "run")
_JUDGMENT_ROLES = ("query", "document", "grade", "subtopic")
_RUN_ROLES = ("query", "document", "score", "rank")
_NEEDED = ("query", "document", "grade")
_KNOWN = {name for tiers in NAMES.values() for tier in tiers for name in tier}


def read_mapping(text: str, side: str) -> dict[str, str]:
    """The roles and names that a text gives to one side; ``qrels.`` or ``run.`` before a role is for that side alone.

    >>> read_mapping("query=SessionID,doc=URL,run.score=similarity", "qrels")
    {'query': 'SessionID', 'document': 'URL'}
    """
    mapping: dict[str, str] = {}
    for part in filter(str.strip, text.split(",")):
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise UsageError(f"--columns: expected role=name, found '{part}'", f"the roles are {', '.join(NAMES)}")
        of_side, dot, of_role = role.rpartition(".")
        if dot:
            choose(of_side, SIDES, "--columns")
        known = _role(of_role, "--columns")
        if not dot or of_side == side:
            mapping[known] = name
    return mapping


def checked_columns(columns: Mapping[str, object] | None) -> dict[str, str]:
    """The roles and names that a caller gives, if they are roles.

    >>> checked_columns({"doc": "URL"})
    {'document': 'URL'}
    """
    return {_role(role, "columns"): str(name) for role, name in (columns or {}).items()}


def _role(text: str, what: str) -> str:
    return choose({"doc": "document"}.get(text, text), NAMES, what)


def find_roles(names: Sequence[str], given: Mapping[str, str], *, run: bool, where: str) -> dict[str, int]:
    """Which column is what. A role that judgments or runs need and that no column has is an error.

    >>> find_roles(["qid", "query", "docno", "score"], {}, run=True, where="run.csv")
    {'query': 0, 'document': 2, 'score': 3}
    """
    roles: dict[str, int] = {}
    for role in _RUN_ROLES if run else _JUDGMENT_ROLES:
        found = find_role(role, names, given, where)
        if found is not None:
            roles[role] = found
        elif role in _NEEDED:
            raise _missing(role, names, where)
    if run and "score" not in roles and "rank" not in roles:
        _refuse_unknown(names, roles, where)
    return roles


def find_role(role: str, names: Sequence[str], given: Mapping[str, str], where: str) -> int | None:
    """The column of a role, given or known by its name; None if there is none."""
    return _given(role, given[role], names, where) if role in given else _known(role, names, given, where)


def has_header(names: Sequence[str], given: Mapping[str, str]) -> bool:
    """Whether names look like a header: one of them is the query, another the document."""
    folded = {_folded(name) for name in names}
    return all(
        given[role] in names if role in given else any(name in folded for tier in NAMES[role] for name in tier)
        for role in ("query", "document")
    )


def _folded(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _given(role: str, name: str, names: Sequence[str], where: str) -> int:
    found = [i for i, each in enumerate(names) if each == name]
    if len(found) > 1:
        raise InputError(
            f"{where}: expected one column '{name}', found {len(found)} of that name", "rename all but one"
        )
    if not found:
        close = nearest(name, names)
        raise InputError(f"{where}: expected a column '{name}' for {role}, found {', '.join(names)}", close)
    return found[0]


def _known(role: str, names: Sequence[str], given: Mapping[str, str], where: str) -> int | None:
    taken = set(given.values())
    for tier in NAMES[role]:
        found = [i for i, name in enumerate(names) if _folded(name) in tier and name not in taken]
        if len(found) > 1:
            listed = [names[i] for i in found]
            choose_one = f"--columns {role}={listed[0]} (columns= in Python) chooses one"
            raise InputError(
                f"{where}: expected one column for {role}, found {' and '.join(listed)}",
                choose_one if len(set(listed)) == len(listed) else "rename all but one",
            )
        if found:
            return found[0]
    return None


def _missing(role: str, names: Sequence[str], where: str) -> InputError:
    known = ", ".join(name for tier in NAMES[role] for name in tier)
    return InputError(
        f"{where}: expected a column for {role} ({known}), found {', '.join(names) or 'none'}",
        f"--columns {role}=NAME (columns= in Python) names it",
    )


def _refuse_unknown(names: Sequence[str], roles: Mapping[str, int], where: str) -> None:
    """A run may come without scores, but then no other column should be left that could hold them."""
    others = [name for i, name in enumerate(names) if i not in roles.values() and _folded(name) not in _KNOWN]
    if any(others):
        raise InputError(
            f"{where}: expected a column for score or rank, found {', '.join(names)}",
            f"--columns score={next(filter(None, others))} (columns= in Python) names it; lists in rank order have no "
            "other columns",
        )
