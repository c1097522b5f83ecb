"""Nothing is lost: every text of any source is in the tasks, or in the report, or refused."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from contextspindle.trackers import backlog, beads, original, task_master
from tests.conftest import Clock, CountedIds
from tests.strategies import texts
from tests.trackers import Importing, lost, said, version_file

_numbers = st.integers(100, 999)
marked = st.builds(lambda number, inner: f"<{number}|{inner}|{number}>", _numbers, texts)
"""A text that stands nowhere by chance: blanks and limits are the business of other tests."""
_plain = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=12)
lines = st.builds(lambda number, inner: f"<{number}|{inner}|{number}>", _numbers, _plain)
"""One line that can be shown as it is, as an id has to be."""
keys = _numbers.map(lambda number: f"key_{number}")
values = st.recursive(
    marked | st.integers(-9, 9) | st.booleans() | st.floats(-1, 1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


def maybe(*pairs: tuple[str, st.SearchStrategy]) -> st.SearchStrategy[dict]:
    """Objects that have some of the fields, and fields that nobody knows."""
    known = st.fixed_dictionaries({}, optional=dict(pairs))
    return st.builds(lambda a, b: {**b, **a}, known, st.dictionaries(keys, values, max_size=2))


def listed(one: st.SearchStrategy) -> st.SearchStrategy[list]:
    return st.lists(one, max_size=3)


ids = st.sampled_from(["a-1", "a-2", "a-3", "a-9"]) | lines

issues = st.builds(
    lambda name, title, more: {**more, "id": name, "title": title},
    st.sampled_from(["a-1", "a-2", "a-3"]),
    marked,
    maybe(
        *((name, marked) for name in "description design notes acceptance_criteria".split()),
        *((name, marked | values) for name in "status issue_type assignee priority".split()),
        *((name, marked | values) for name in "created_at close_reason metadata parent".split()),
        ("labels", listed(marked | values)),
        (
            "dependencies",
            listed(
                maybe(
                    ("issue_id", ids),
                    ("depends_on_id", ids),
                    ("type", st.sampled_from(["blocks", "parent-child", "related"]) | marked),
                    ("created_by", marked),
                )
                | values
            ),
        ),
        ("comments", listed(maybe(("id", marked), ("author", marked), ("text", marked)) | values)),
    ),
)

KNOWN = {
    *"id title description design notes acceptance_criteria status issue_type assignee".split(),
    *"priority created_at close_reason metadata parent labels dependencies comments".split(),
    *"issue_id depends_on_id type created_by author text blocks parent-child".split(),
}


def none_lost(source, gathered, known):
    importing = Importing(Clock(), CountedIds())
    report = importing(gathered)
    found = said(importing.tasks(), report)
    assert [one for one in lost(source, found) if one not in known] == []
    assert importing(gathered).created == 0
    before = importing.state()
    assert importing(gathered).updated == 0
    assert importing.state() == before


def once(items):
    """Each id once: what stands twice is listed and not taken."""
    return list({one["id"]: one for one in items}.values())


@given(st.lists(issues, max_size=3).map(once))
def test_nothing_of_beads_is_lost(source):
    content = "\n".join(json.dumps(one) for one in source).encode()
    none_lost(source, beads.parse(content), KNOWN)


tm_fields = (
    *((name, marked) for name in "description details testStrategy".split()),
    *((name, marked | values) for name in "status priority assignee createdAt category".split()),
    ("acceptanceCriteria", listed(marked)),
    ("tags", listed(marked) | values),
    ("dependencies", listed(st.integers(1, 4) | lines | values)),
)


def tm_tasks(more: st.SearchStrategy[dict]) -> st.SearchStrategy[list]:
    one = st.builds(
        lambda name, title, rest: {**rest, "id": name, "title": title},
        st.integers(1, 4),
        marked,
        more,
    )
    return st.lists(one, max_size=3).map(once)


tm_files = st.dictionaries(
    lines,
    st.fixed_dictionaries(
        {"tasks": tm_tasks(maybe(*tm_fields, ("subtasks", tm_tasks(maybe(*tm_fields)) | values)))},
        optional={"metadata": maybe(("description", marked))},
    )
    | values,
    max_size=2,
)
TM_KNOWN = {
    *"id title description details testStrategy status priority assignee createdAt".split(),
    *"category acceptanceCriteria tags dependencies subtasks tasks metadata".split(),
}


@given(tm_files)
def test_nothing_of_task_master_is_lost(source):
    none_lost(source, task_master.parse(json.dumps(source).encode()), TM_KNOWN)


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@st.composite
def pages(draw):
    """A task file, and the texts in it."""
    name = draw(st.integers(1, 3))
    held = []

    def text() -> str:
        held.append(draw(lines))
        return held[-1]

    front = ["---", f"id: TASK-{name}", f"title: {quoted(text())}"]
    for key in draw(st.lists(keys | st.sampled_from(["status", "priority", "type"]), max_size=4)):
        front.append(f"{key}: {quoted(text())}")
    for key in draw(st.lists(st.sampled_from(["labels", "assignee", "references"]), max_size=2)):
        front.append(f"{key}: [{quoted(text())}, {quoted(text())}]")
    for start in draw(st.sampled_from([(), ("odd { ",), ("map: {x: ", "plain: ")])):
        front.append(start + text())
    body = []
    headings = ["Description", "Acceptance Criteria", "Notes", "Comments", "Unheard Of"]
    for heading in draw(st.lists(st.sampled_from(headings), max_size=5)):
        body += [f"## {heading}", *(draw(st.sampled_from(["", "- ", "- [x] #1 ", "> "])) + text()
                                    for _ in range(draw(st.integers(0, 3))))]  # fmt: skip
    return name, "\n".join([*front, "---", *body]), held


@given(st.lists(pages(), max_size=3, unique_by=lambda one: one[0]))
def test_nothing_of_backlog_is_lost(source):
    found = [backlog.Page(f"tasks/{name}.md", content.encode()) for name, content, _ in source]
    none_lost([held for _, _, held in source], backlog.parse(found), set())


pairs = st.fixed_dictionaries(
    {
        "key": st.sampled_from("goal criteria status owner blocker next decision note".split())
        | st.sampled_from(["evidence", "dependency"])
        | keys,
        "value": marked,
    }
)
ENTRIES = listed(marked)
firsts = st.builds(
    lambda fixed, rest: {**rest, **fixed},
    st.fixed_dictionaries(
        {
            "goal": marked,
            "criteria": marked,
            "owner": marked,
            "decisions": ENTRIES,
            "evidence": ENTRIES,
            "notes": ENTRIES,
        }
    ),
    maybe(("status", marked), ("parent", marked), ("created_ms", marked)),
)


@given(firsts, st.lists(st.lists(pairs, min_size=1, max_size=4), max_size=4))
def test_nothing_of_the_original_is_lost(first, later):
    files = [{"schema": 1, "id": "t-one", "version": 1, **first}]
    for version, changes in enumerate(later, 2):
        body = {"schema": 2, "id": "t-one", "version": version, "actor": "x", "changes": changes}
        files.append(body)
    found = [original.File(one["version"], version_file(one)) for one in files]
    chronicle, problems = original.parse("t-one", found)
    gathered = original.Gathered("original", (), (chronicle,), tuple(problems))
    importing = Importing(Clock(), CountedIds())
    report = importing(gathered)
    tasks = importing.tasks()
    with importing.store.read() as txn:
        steps = txn.changes("t-one", 1, 1_000)
    assert len(steps) == len(files)
    told = json.dumps([step.set for step in steps], ensure_ascii=False)
    kept = said(tasks, report) + "\n" + told
    known = {*first, *"key value goal criteria status owner blocker next decision note".split()}
    known |= {"evidence", "dependency", "parent", "created_ms"}
    assert [one for one in lost([first, later], kept) if one not in known] == []
