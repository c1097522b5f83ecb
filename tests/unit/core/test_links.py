"""Parents and dependencies exist, lead nowhere back, and the refusal shows the way round."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import links
from contextspindle.core.task import Brief
from contextspindle.errors import RingRefused, TaskNotFound
from tests.strategies import PLAIN


class World:
    """Tasks known by their links: ``parents`` child to parent, ``needs`` task to dependencies."""

    def __init__(self, names, parents=None, needs=None):
        self.names = set(names)
        self.parents = dict(parents or {})
        self.needs = {name: tuple(found) for name, found in (needs or {}).items()}

    def look(self, name):
        if name not in self.names:
            return None
        return Brief(name, "open", name, self.parents.get(name, ""), self.needs.get(name, ()))

    def task(self, name):
        return PLAIN._replace(
            id=name, parent=self.parents.get(name, ""), dependencies=self.needs.get(name, ())
        )

    def link(self, name, **changed):
        before = self.task(name)
        after = before._replace(**changed)
        links.check(before, after, self.look)
        self.parents[name] = after.parent
        self.needs[name] = after.dependencies


def refused(world, name, **changed):
    with pytest.raises(RingRefused) as caught:
        world.link(name, **changed)
    return caught.value


def test_links_to_tasks_that_exist_are_kept():
    World("abc").link("a", parent="b", dependencies=("c",))


def test_a_link_to_nothing_names_what_is_missing():
    with pytest.raises(TaskNotFound, match="parent x does not exist"):
        World("a").link("a", parent="x")
    with pytest.raises(TaskNotFound, match="dependency x does not exist"):
        World("ab").link("a", dependencies=("b", "x"))


def test_a_task_is_not_its_own_parent_nor_dependency():
    assert refused(World("a"), "a", parent="a").details["ring"] == ["a", "a"]
    assert refused(World("a"), "a", dependencies=("a",)).details["ring"] == ["a", "a"]


def test_a_ring_of_parents_is_shown_whole():
    world = World("abcd", parents={"a": "b", "b": "c", "c": "d"})
    error = refused(world, "d", parent="a")
    assert error.details["ring"] == ["d", "a", "b", "c", "d"]
    assert "d -> a -> b -> c -> d" in error.message


def test_a_ring_of_dependencies_is_shown_whole_without_the_ways_beside_it():
    world = World("abcdx", needs={"a": "xb", "b": "xc", "c": "d"})
    error = refused(world, "d", dependencies=("x", "a"))
    assert error.details["ring"] == ["d", "a", "b", "c", "d"]


def test_two_ways_to_one_task_are_no_ring():
    world = World("abcd", needs={"b": "d", "c": "d"})
    world.link("a", dependencies=("b", "c", "d"))


def test_an_old_link_is_not_judged_again():
    world = World("ab", parents={"a": "gone"}, needs={"a": ("gone",)})
    world.link("a")
    world.link("a", dependencies=("gone", "b"))


def test_links_can_be_removed():
    world = World("ab", parents={"a": "b"}, needs={"a": "b"})
    world.link("a", parent="", dependencies=())
    world.link("b", parent="a", dependencies=())


def test_a_task_does_not_wait_for_its_own_part():
    world = World("abc", parents={"b": "a", "c": "b"})
    for part in "bc":
        error = refused(world, "a", dependencies=(part,))
        assert error.details["ring"][0] == "a"
        assert error.details["ring"][-1] == "a"
        assert "part of" in error.message


@pytest.mark.parametrize("waits_for", ["part", "below"])
def test_what_a_task_waits_for_does_not_become_its_part(waits_for):
    world = World(["whole", "part", "below"], parents={"below": "part"})
    world.link("whole", dependencies=(waits_for,))
    assert "waits for" in refused(world, "part", parent="whole").message


def test_what_an_ancestor_waits_for_does_not_become_its_part():
    world = World("abcd", parents={"b": "a", "c": "b"}, needs={"a": "d"})
    assert "a waits for d" in refused(world, "d", parent="c").message


def test_a_part_may_wait_for_its_sibling_and_for_what_the_whole_waits_for():
    world = World("abcd", parents={"b": "a", "c": "a"}, needs={"a": "d"})
    world.link("b", dependencies=("c", "d"))


def test_both_links_of_one_change_are_judged_together():
    world = World("abc", parents={"c": "b"}, needs={})
    error = refused(world, "b", parent="a", dependencies=("c",))
    assert error.details["ring"][0] == "b"


def _has_ring(follow):
    done, open_ = set(), set()

    def visit(name):
        if name in open_:
            return True
        if name in done:
            return False
        open_.add(name)
        found = any(visit(other) for other in follow(name))
        open_.discard(name)
        done.add(name)
        return found

    return visit


steps = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from(["parent", "dependency"]),
        st.sampled_from("abcdef"),
    ),
    max_size=25,
)


@given(steps)
def test_whatever_is_linked_step_by_step_holds_no_ring(wanted):
    world = World("abcdef")
    rings = []
    for name, kind, other in wanted:
        try:
            if kind == "parent":
                world.link(name, parent=other)
            else:
                world.link(name, dependencies=(*world.needs.get(name, ()), other))
        except RingRefused as error:
            rings.append(error.details["ring"])
    assert all(ring[0] == ring[-1] for ring in rings)
    up = _has_ring(lambda name: [world.parents[name]] if world.parents.get(name) else [])
    needs = _has_ring(lambda name: world.needs.get(name, ()))
    for name in world.names:
        assert not up(name)
        assert not needs(name)
        for other in world.needs.get(name, ()):
            line = other
            while line:
                assert line != name, f"{name} waits for its own part {other}"
                line = world.parents.get(line, "")


def test_a_ring_that_is_in_the_store_already_does_not_hang_the_check():
    world = World("abcx", parents={"a": "b", "b": "a"}, needs={"a": "b", "b": "a"})
    world.link("x", parent="a", dependencies=("b",))


# -- rings among many, as a merge can make them


def test_a_ring_anywhere_on_the_way_is_found_and_shown():
    world = World("abcde", needs={"a": "b", "b": "c", "c": "d", "d": "b", "e": ""})
    with pytest.raises(RingRefused) as caught:
        links.check_rings(["e", "a"], world.look)
    assert caught.value.details["ring"] == ["b", "c", "d", "b"]
    world = World("abc", parents={"a": "b", "b": "c", "c": "a"})
    with pytest.raises(RingRefused, match="parent") as caught:
        links.check_rings(["b"], world.look)
    assert caught.value.details["ring"] == ["b", "c", "a", "b"]


@pytest.mark.parametrize("start", ["whole", "middle", "part"])
def test_a_task_that_waits_for_its_own_part_is_found_from_every_task_between(start):
    names = ["whole", "middle", "part"]
    world = World(names, {"middle": "whole", "part": "middle"}, {"whole": ("part",)})
    with pytest.raises(RingRefused) as caught:
        links.check_rings([start], world.look)
    assert caught.value.details["ring"] == ["whole", "part", "middle", "whole"]


def test_a_part_that_waits_for_its_whole_or_for_a_part_beside_it_is_no_ring():
    names = ["whole", "one", "other"]
    world = World(names, {"one": "whole", "other": "whole"}, {"one": ("whole", "other")})
    links.check_rings(names, world.look)


def test_many_ways_to_one_task_are_no_ring():
    world = World("abcd", {"a": "d", "b": "d"}, {"a": "bc", "b": "d", "c": "d"})
    links.check_rings("abcd", world.look)


def test_a_line_of_thousands_is_walked_once():
    names = [f"t{number}" for number in range(5_000)]
    looked = []
    world = World(names, needs={a: (b,) for a, b in pairwise(names)})

    def look(name):
        looked.append(name)
        return world.look(name)

    links.check_rings(reversed(names), look)
    links.check_rings(names, look)
    assert len(looked) <= 4 * len(names)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_a_ring_is_found_if_and_only_if_there_is_one(pairs):
    needs = {}
    for a, b in pairs:
        needs.setdefault(str(a), set()).add(str(b))
    names = [str(number) for number in range(7)]

    def leads_back(start, here, seen=()):
        onward = needs.get(here, ())
        return start in onward or any(
            leads_back(start, there, (*seen, there)) for there in onward if there not in seen
        )

    world = World(names, needs={name: sorted(found) for name, found in needs.items()})
    if any(leads_back(name, name) for name in names):
        with pytest.raises(RingRefused):
            links.check_rings(names, world.look)
    else:
        links.check_rings(names, world.look)


def test_a_task_that_is_only_now_made_is_not_searched_for_rings():
    looked = []
    world = World("ab", needs={"a": "b"})
    new = PLAIN._replace(id="new", version=0)
    links.check(
        new,
        new._replace(version=1, dependencies=("a",)),
        lambda one: looked.append(one) or world.look(one),
    )
    assert looked == ["a"]


def test_each_task_above_is_looked_at_once_however_many_are_waited_for():
    depth, count = 200, 50
    names = ["t-new", *(f"t-{n}" for n in range(depth)), *(f"t-leaf-{n}" for n in range(count))]
    parents = {f"t-{n}": f"t-{n + 1}" for n in range(depth - 1)}
    parents |= {f"t-leaf-{n}": "t-0" for n in range(count)}
    world = World(names, parents)
    looks = []

    def look(name):
        looks.append(name)
        return world.look(name)

    before = world.task("t-new")
    links.check(
        before, before._replace(dependencies=tuple(f"t-leaf-{n}" for n in range(count))), look
    )
    assert len(looks) <= 3 * count + depth
