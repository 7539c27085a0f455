"""The keys of a session's objects: which role each has, and which was probably meant to have one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.errors import InputError
from gainful.io.columns import Names, find_role
from gainful.notation import nearest

#: What others call the keys of a query.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("query_id", "query-id", "qid", "turn_id"),
    "results": ("docs", "documents", "hits", "ranking"),
    "number": ("query_number", "turn_number", "qno"),
    "time": ("timestamp", "start_time", "starttime"),
    "scanned": ("scanning_depth", "scan_depth"),
}
#: What objects are refused without anyway.
_NEEDED = ("session", "queries", "results")
_CLOSE = 0.81


class Keys:
    """Which keys of objects have which roles, found once for all objects with the same keys.

    Keys without a role are left alone, unless one is nearly what a role that is not there is called.
    """

    def __init__(self, given: Mapping[str, str], known: Names, roles: Sequence[str], others: Sequence[str]) -> None:
        self._given, self._known, self._roles, self._others = given, known, roles, others
        self._found: dict[tuple[object, ...], dict[str, str]] = {}

    def of(self, value: Mapping[Any, Any], where: str) -> dict[str, str]:
        """The key of every role that has one."""
        keys = tuple(value)
        found = self._found.get(keys)
        if found is None:
            names = [key for key in keys if isinstance(key, str)]
            # What is given for another level of the object is not looked for here.
            given = {role: name for role, name in self._given.items() if name in names}
            places = {role: find_role(role, names, given, where, self._known) for role in self._roles}
            found = {role: names[place] for role, place in places.items() if place is not None}
            if self._others:
                refuse_nearly(names, {**{role: role for role in self._others if role in names}, **found}, self, where)
            self._found[keys] = found
        return found

    @property
    def wanted(self) -> tuple[str, ...]:
        """All keys that mean something."""
        return (*self._roles, *self._others)


class TurnKeys:
    """The keys of queries, checked once for all objects with the same keys."""

    wanted = ("query", "id", "number", "time", "scanned", "results")

    def __init__(self) -> None:
        self._seen: set[tuple[object, ...]] = set()

    def check(self, value: Mapping[Any, Any], where: str) -> None:
        """Refuses a query without results, or with a key that nearly is one that it lacks."""
        keys = tuple(value)
        if keys not in self._seen:
            if "results" not in value:
                error = missing_key("results", value, self.wanted, where, None)
                raise InputError(error.message, error.hint or 'an empty result page is "results": []')
            names = [key for key in keys if isinstance(key, str)]
            refuse_nearly(names, {name: name for name in names if name in self.wanted}, self, where)
            self._seen.add(keys)


def refuse_nearly(names: Sequence[str], found: Mapping[str, str], keys: Keys | TurnKeys, where: str) -> None:
    """Refuses names that nearly are those of roles that are not found."""
    lacking = [role for role in keys.wanted if role not in found and role not in _NEEDED]
    for name in names:
        if name not in found.values():
            meant = next((role for role in lacking if _is_nearly(name, role)), None)
            if meant is not None:
                raise InputError(
                    f"{where}: expected {', '.join(keys.wanted)} as far as they are known, found {name}",
                    f"is {name} meant to be {meant}? Other keys may be anything",
                )


def _is_nearly(name: str, role: str) -> bool:
    folded = name.casefold()
    if folded in _OTHER_NAMES.get(role, ()):
        return True
    import difflib

    return difflib.SequenceMatcher(None, folded, role).ratio() >= _CLOSE


def missing_key(
    key: str, value: Mapping[Any, Any], known: Sequence[str], where: str, example: str | None
) -> InputError:
    """What is said of an object without a key that it needs, and of one that may have been meant."""
    names = [str(name) for name in value]
    others = [name for name in names if name not in known]
    meant = next((name for name in others if nearest(name, [key]) or name in _OTHER_NAMES.get(key, ())), None)
    return InputError(
        f"{where}: expected {key} in an object, found {', '.join(names) or 'nothing'}",
        f"is {meant} meant to be {key}?" if meant else None if example is None else f"a line is {example}",
    )
