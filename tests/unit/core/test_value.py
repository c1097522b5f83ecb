"""Values behave like ``typing.NamedTuple``, which the type checker takes them for."""

from __future__ import annotations

import copy
import pickle
from typing import NamedTuple

import pytest

from contextspindle.core.value import Value


class Point(Value):
    x: int
    y: int = 2
    name: str = ""

    def total(self) -> int:
        return self.x + self.y


class Reference(NamedTuple):
    x: int
    y: int = 2
    name: str = ""


ARGUMENTS = [
    ((1,), {}),
    ((1, 3), {}),
    ((1, 3, "n"), {}),
    ((), {"x": 1}),
    ((1,), {"name": "n"}),
    ((), {"name": "n", "x": 0}),
]
MISTAKES = [
    ((), {}),
    ((), {"y": 1}),
    ((1, 2, "n", 4), {}),
    ((1,), {"x": 1}),
    ((1,), {"nothing": 1}),
    ((1, 2, "n"), {"name": "n"}),
]


@pytest.mark.parametrize(("positional", "named"), ARGUMENTS)
def test_a_value_is_made_like_a_named_tuple(positional, named):
    made, reference = Point(*positional, **named), Reference(*positional, **named)
    assert tuple(made) == tuple(reference)
    assert (made.x, made.y, made.name) == (reference.x, reference.y, reference.name)
    assert made._asdict() == reference._asdict()
    assert hash(made) == hash(reference)
    assert repr(made) == repr(reference).replace("Reference", "Point")


@pytest.mark.parametrize(("positional", "named"), MISTAKES)
def test_a_value_refuses_what_a_named_tuple_refuses(positional, named):
    with pytest.raises(TypeError):
        Reference(*positional, **named)
    with pytest.raises(TypeError):
        Point(*positional, **named)


def test_fields_are_in_the_order_of_their_annotations():
    assert Point._fields == Reference._fields
    assert Point._field_defaults == Reference._field_defaults


def test_a_value_cannot_be_changed():
    made = Point(1)
    with pytest.raises(AttributeError):
        made.x = 2
    with pytest.raises(AttributeError):
        made.other = 2


def test_replace_gives_another_value():
    made = Point(1, 3, "n")
    assert made._replace(y=4) == Point(1, 4, "n")
    assert made == Point(1, 3, "n")
    with pytest.raises(TypeError, match="nothing"):
        made._replace(nothing=1)


def test_a_value_unpacks_compares_and_sorts_as_a_tuple():
    x, y, name = Point(1, 3, "n")
    assert (x, y, name) == Point(1, 3, "n") == (1, 3, "n")
    assert sorted([Point(2), Point(1)]) == [Point(1), Point(2)]


def test_a_value_has_methods():
    assert Point(1, 3).total() == 4


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_survives_copying(protocol):
    made = Point(1, 3, "n")
    assert copy.deepcopy(made) == made
    again = pickle.loads(pickle.dumps(made, protocol))
    assert again == made
    assert type(again) is Point
