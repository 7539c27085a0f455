"""Frozen dataclasses whose methods are shared, or compiled on first use.

The standard library compiles six methods per class: a quarter of the start-up time for the sixty classes of a small
command. Everything else, and what type checkers see, comes from the standard library.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import KW_ONLY, MISSING, Field, asdict, field, fields, is_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["KW_ONLY", "MISSING", "Field", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Any:  # noqa: A002
        """Make frozen classes like ``dataclasses.dataclass``."""

        def decorate(kind: type) -> type:
            kind.__doc__ = kind.__doc__ or kind.__name__  # avoids generating a signature for it
            _set_frozen(kind.__mro__[1:], False)
            dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(kind)
            _set_frozen(kind.__mro__, True)
            values = attrgetter("__class__", *(each.name for each in fields(kind) if each.compare))
            methods = {"__init__": _Init(kind), "__setattr__": _refuse, "__delattr__": _refuse}
            if eq:
                methods["__eq__"] = lambda a, b: (
                    values(a) == values(b) if a.__class__ is b.__class__ else NotImplemented
                )
                methods["__hash__"] = lambda self: hash(values(self))
            if repr:
                methods["__repr__"] = _described
            for name in methods.keys() - {name for name, value in vars(kind).items() if value is not None}:
                setattr(kind, name, methods[name])
            return kind

        return decorate


def _set_frozen(kinds: Iterable[Any], is_frozen: bool) -> None:
    """Mark classes as frozen or not: the standard library refuses to mix them, and compiles methods of frozen ones."""
    for kind in kinds:
        if "__dataclass_params__" in vars(kind):
            kind.__dataclass_params__.frozen = is_frozen


class _Init:
    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __get__(self, instance: object, owner: type) -> Any:
        kind, known, body = self._kind, dict[str, Any](set_=object.__setattr__, unset_=MISSING), []
        texts: dict[bool, list[str]] = {False: ["self"], True: []}
        for each in fields(kind):
            name, default, value = each.name, f"default_{each.name}", each.name
            known[default] = each.default
            if each.default_factory is not MISSING:
                known[default], default = each.default_factory, "unset_"
                value = f"default_{name}() if {name} is unset_ else {name}"
            texts[bool(each.kw_only)].append(name if known[f"default_{name}"] is MISSING else f"{name}={default}")
            body.append(f"set_(self, {name!r}, {value})")
        body.append("self.__post_init__()" if hasattr(kind, "__post_init__") else "pass")
        parameters = ", ".join([*texts[False], *["*"][: len(texts[True])], *texts[True]])
        exec(f"def __init__({parameters}): {'; '.join(body)}", known)  # contains only field names
        init = known["__init__"]
        init.__annotations__ = {each.name: each.type for each in fields(kind)} | {"return": None}
        init.__qualname__, init.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
        type.__setattr__(kind, "__init__", init)
        return init.__get__(instance, owner)


def _refuse(self: object, name: str, *value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _described(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
