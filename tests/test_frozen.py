"""Our frozen dataclasses compared with the standard library's."""

import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError

import pytest

from gainful.frozen import KW_ONLY, dataclass, field, replace


def made_by(decorator):
    @decorator(frozen=True)
    class Base:
        one: int
        two: list = field(default_factory=list, compare=False)
        three: str = field(default="c", repr=False)
        _: KW_ONLY
        four: float = 4.0

    @decorator(frozen=True, kw_only=True)
    class Kind(Base):
        five: int
        one: int = 1

        def __post_init__(self):
            object.__setattr__(self, "five", self.five + 1)

    return Base, Kind


@pytest.mark.parametrize("which", [0, 1])
def test_they_are_those_of_the_standard_library(which):
    ours, theirs = made_by(dataclass)[which], made_by(dataclasses.dataclass)[which]
    arguments = [
        {"one": 1, "five": 5},
        {"one": 2, "five": 5, "two": [3], "three": "x"},
        {"one": 1, "five": 5, "two": [3]},
    ]
    if which == 0:
        arguments = [{name: value for name, value in each.items() if name != "five"} for each in arguments]
    names = [(each.name, each.kw_only, each.default) for each in dataclasses.fields(theirs)]
    assert [(each.name, each.kw_only, each.default) for each in dataclasses.fields(ours)] == names
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    kinds = [each.kind for each in inspect.signature(theirs).parameters.values()]
    assert [each.kind for each in inspect.signature(ours).parameters.values()] == kinds
    assert ours.__match_args__ == theirs.__match_args__
    a, b = ([kind(**each) for each in arguments] for kind in (ours, theirs))
    assert list(map(repr, a)) == list(map(repr, b))
    assert [[x == y for x in a] for y in a] == [[x == y for x in b] for y in b]
    assert len(set(a)) == len(set(b)) == 2
    assert a[0] != b[0]
    assert replace(a[0], four=5.0).four == 5.0
    assert a[0].two is not ours(**arguments[0]).two


def test_what_is_frozen_stays_so():
    base, kind = made_by(dataclass)
    for each in (base(1), kind(five=5)):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'one'"):
            each.one = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'one'"):
            del each.one
    with pytest.raises(TypeError, match="missing 1 required"):
        base()
    with pytest.raises(TypeError, match="positional"):
        base(1, [], "c", 4.0)


def test_a_class_of_the_standard_library_can_be_made_from_one_of_ours():
    base, _ = made_by(dataclass)

    @dataclasses.dataclass(frozen=True)
    class Other(base):
        six: int = 6

    assert repr(Other(1, four=2.0)).endswith("Other(one=1, two=[], four=2.0, six=6)")
    with pytest.raises(FrozenInstanceError):
        Other(1).six = 7


@dataclass(frozen=True)
class Own:
    one: int

    def __repr__(self):
        return "own"

    def __hash__(self):
        return 7


def test_own_methods_stay():
    assert repr(Own(1)) == "own"
    assert hash(Own(1)) == 7
    assert Own(1) == pickle.loads(pickle.dumps(Own(1)))
