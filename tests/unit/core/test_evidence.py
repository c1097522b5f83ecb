"""Evidence records: bound to one task and its criteria as they read, and judged by that alone."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextspindle.core import evidence
from contextspindle.core.evidence import (
    FRESH,
    MISMATCH,
    PREFIX,
    STALE,
    CommandMark,
    FileMark,
    Record,
)
from contextspindle.core.task import Entry
from contextspindle.errors import InvalidInput
from tests.strategies import PLAIN, field_texts, json_values, raw_texts

TWO = ("it builds", "it is fast")


def bound(text, criterion=0, task_id="t-one", criteria=TWO):
    return evidence.bind(text, criterion, task_id, criteria)


def task_with(*records, criteria=TWO):
    entries = tuple(Entry(1, "ada", 1, record) for record in records)
    return PLAIN._replace(criteria=criteria, evidence=entries)


# -- the form


def test_the_stored_form_is_pinned():
    digest = hashlib.sha256(b"it builds\nit is fast").hexdigest()
    assert bound('say "é"\n') == (
        'evidence://v1/{"criteria_hash":"'
        + digest
        + '","payload":"say \\"é\\"\\n","task_id":"t-one"}'
    )
    assert bound("x", 2) == (
        'evidence://v1/{"criteria_hash":"' + digest + '","for":2,"payload":"x","task_id":"t-one"}'
    )


def test_the_criteria_hash_is_of_the_items_joined_by_line_feeds():
    assert evidence.criteria_hash(("é",)) == hashlib.sha256("é".encode()).hexdigest()
    assert evidence.criteria_hash(TWO) == hashlib.sha256("\n".join(TWO).encode()).hexdigest()


@given(field_texts, st.integers(0, 9))
def test_a_record_is_read_as_it_was_written(payload, criterion):
    record = Record("t-one", evidence.criteria_hash(TWO), payload, criterion)
    assert evidence.read(evidence.write(record)) == record


@pytest.mark.parametrize(
    "stored",
    [
        *("", "text", PREFIX, PREFIX + "{}", PREFIX + "[]", PREFIX + "3", PREFIX + '"x"'),
        PREFIX + json.dumps({"task_id": "t-a", "criteria_hash": "0" * 64}),
        PREFIX + json.dumps({"task_id": 3, "criteria_hash": "0" * 64, "payload": "x"}),
        PREFIX + json.dumps({"task_id": "t-a", "criteria_hash": "0" * 63, "payload": "x"}),
        PREFIX + json.dumps({"task_id": "t-a", "criteria_hash": "0" * 64, "payload": None}),
        *(
            PREFIX
            + json.dumps(
                {"task_id": "t-a", "criteria_hash": "0" * 64, "payload": "x", "for": number}
            )
            for number in (-1, 1.0, "1", True, None, [1])
        ),
        PREFIX + json.dumps({"task_id": "t-a", "criteria_hash": "0" * 64, "payload": "x"}) + "x",
        json.dumps({"task_id": "t-a", "criteria_hash": "0" * 64, "payload": "x"}),
        PREFIX + "[" * 100_000,
    ],
)
def test_a_malformed_record_is_refused(stored):
    with pytest.raises(InvalidInput, match="malformed"):
        evidence.read(stored)


@given(json_values | st.dictionaries(st.sampled_from(["task_id", "payload", "for"]), json_values))
def test_whatever_follows_the_prefix_is_a_record_or_is_refused(value):
    try:
        evidence.read(PREFIX + json.dumps(value))
    except InvalidInput:
        pass


# -- binding


@given(field_texts)
def test_plain_text_is_bound_to_this_task_and_its_criteria(text):
    record = evidence.read(bound(text, 1))
    assert record == Record("t-one", evidence.criteria_hash(TWO), text, 1)


def test_a_record_copied_from_another_task_keeps_its_claim():
    stored = bound("x", task_id="t-other")
    assert bound(stored) == stored


def test_what_a_pasted_record_says_beside_its_claim_is_dropped():
    claim = json.loads(bound("x").removeprefix(PREFIX))
    pasted = PREFIX + json.dumps({**claim, "kind": "command", "status": 0})
    assert bound(pasted) == bound("x")


@given(raw_texts.filter(str.strip))
def test_a_pasted_record_can_always_be_stored(payload):
    claim = {"task_id": "t-a", "criteria_hash": "0" * 64, "payload": payload}
    bound(PREFIX + json.dumps(claim)).encode()


def test_a_malformed_record_is_not_taken_for_plain_text():
    with pytest.raises(InvalidInput):
        bound(PREFIX + "rubbish")


@pytest.mark.parametrize(
    "claim",
    [
        {"task_id": "topsecretvalue"},
        {"task_id": ""},
        {"criteria_hash": "topsecretvalue".ljust(64)},
        {"criteria_hash": "A" * 64},
        {"payload": ""},
        {"payload": " \n"},
        {"for": 10**20},
    ],
)
def test_a_pasted_record_of_no_task_no_criteria_or_without_a_word_is_refused(claim):
    whole = {"task_id": "t-one", "criteria_hash": "0" * 64, "payload": "x"}
    assert bound(PREFIX + json.dumps(whole))
    with pytest.raises(InvalidInput):
        bound(PREFIX + json.dumps({**whole, **claim}))


def test_text_that_only_mentions_the_prefix_is_plain_text():
    assert evidence.read(bound("see " + PREFIX)).payload == "see " + PREFIX


@pytest.mark.parametrize(("criterion", "criteria"), [(3, TWO), (1, ()), (2, ("one",))])
def test_a_criterion_that_is_not_there_is_refused(criterion, criteria):
    with pytest.raises(InvalidInput, match=f"no criterion {criterion}"):
        bound("x", criterion, criteria=criteria)


def test_a_pasted_record_keeps_its_own_criterion():
    stored = bound("x", 1)
    assert bound(stored, 1) == stored
    with pytest.raises(InvalidInput, match="keeps its own criterion"):
        bound(stored, 2)
    with pytest.raises(InvalidInput, match="keeps its own criterion"):
        bound(bound("x"), 2)


# -- standing


def standing(record, task_id="t-one", criteria=TWO):
    return evidence.standing(record, task_id, criteria)


def test_a_record_counts_for_its_task_under_its_criteria_only():
    record = evidence.read(bound("x"))
    assert standing(record) == FRESH
    assert standing(record, task_id="t-two") == MISMATCH
    assert standing(record, criteria=(*TWO, "more")) == "stale"
    assert standing(record, criteria=TWO[::-1]) == "stale"
    assert standing(record, criteria=()) == "stale"


def test_evidence_logged_under_no_criteria_does_not_count_under_some():
    assert standing(evidence.read(bound("x", criteria=()))) == "stale"


def test_a_record_for_a_criterion_that_is_gone_is_stale():
    record = evidence.read(bound("x", 2))
    assert standing(record._replace(criterion=3)) == "stale"


def test_evidence_for_one_line_does_not_vouch_for_a_text_of_several():
    # Both read the same, and so have the same hash: a list of two, and one text of two lines.
    record = evidence.read(bound("x", 1))
    assert standing(record, criteria=("\n".join(TWO),)) == "stale"
    assert standing(evidence.read(bound("x")), criteria=("\n".join(TWO),)) == FRESH


def test_evidence_for_the_only_criterion_is_for_all():
    for criteria in (("one",), ("one\ntwo",)):
        assert evidence.gaps(task_with(bound("x", 1, criteria=criteria), criteria=criteria)) == []


# -- gaps


def test_one_record_may_attest_the_whole():
    assert evidence.gaps(task_with(bound("x"))) == []


def test_every_criterion_needs_a_record_of_its_own_otherwise():
    assert evidence.gaps(task_with(bound("x", 1), bound("y", 2))) == []
    (reason,) = evidence.gaps(task_with(bound("x", 2)))
    assert reason.startswith(STALE)
    assert "(criterion 1)" in reason
    (reason,) = evidence.gaps(task_with())
    assert "(criterion 1, 2)" in reason


def test_evidence_of_another_task_is_named_beside_what_is_missing():
    reasons = evidence.gaps(task_with(bound("x", task_id="t-other")))
    assert [reason.split(" (")[0].split(":")[0] for reason in reasons] == [STALE, MISMATCH]


def test_evidence_of_another_task_does_no_harm_where_nothing_is_missing():
    assert evidence.gaps(task_with(bound("x", task_id="t-other"), bound("y"))) == []


def test_a_task_without_criteria_has_no_gaps_of_evidence():
    assert evidence.gaps(task_with(criteria=())) == []


# -- files and commands

FILE = FileMark("build/report.txt", 12, "a" * 64)
RAN = CommandMark(
    argv=("npm", "test"),
    folder="web",
    status=0,
    milliseconds=1_200,
    output="b" * 64,
    tail="214 passed",
    commit="c" * 40,
    covers=("web/src",),
    tree="d" * 64,
)


def seen(criterion=0, *, file=None, command=None, task_id="t-one", criteria=TWO):
    bound_to = evidence.criteria_hash(criteria)
    return Record(task_id, bound_to, "what was seen", criterion, file, command)


@pytest.mark.parametrize("record", [seen(file=FILE), seen(2, command=RAN)])
def test_a_record_of_a_file_or_a_command_is_read_as_it_was_written(record):
    assert evidence.read(evidence.write(record)) == record


def test_the_stored_form_of_a_file_and_of_a_command_is_pinned():
    kept = json.loads(evidence.write(seen(file=FILE)).removeprefix(PREFIX))
    assert kept["file"] == {"path": "build/report.txt", "size": 12, "sha256": "a" * 64}
    kept = json.loads(evidence.write(seen(command=RAN)).removeprefix(PREFIX))
    assert kept["command"] == {**RAN._asdict(), "argv": ["npm", "test"], "covers": ["web/src"]}


@pytest.mark.parametrize("kind", ["file", "command"])
def test_a_pasted_record_of_a_file_or_a_command_counts_as_text(kind):
    pasted = evidence.write(seen(file=FILE) if kind == "file" else seen(command=RAN))
    kept = evidence.read(bound(pasted))
    assert (kept.file, kept.command, kept.payload) == (None, None, "what was seen")


def test_a_pasted_record_of_a_failed_command_is_no_failure_and_no_success_of_ours():
    failed = evidence.write(seen(command=RAN._replace(status=1)))
    assert standing(evidence.read(bound(failed))) == FRESH  # as the text that it now is


def malformed():
    good = json.loads(evidence.write(seen(file=FILE, command=RAN)).removeprefix(PREFIX))
    for part in ("file", "command"):
        yield {**good, part: None}
        yield {**good, part: []}
        yield {**good, part: {}}
        for name, value in good[part].items():
            yield {**good, part: {key: one for key, one in good[part].items() if key != name}}
            yield {**good, part: {**good[part], name: None}}
            yield {**good, part: {**good[part], name: 1.5 if isinstance(value, int) else 3}}
    yield {**good, "command": {**good["command"], "argv": ["npm", 3]}}
    yield {**good, "command": {**good["command"], "status": True}}


@pytest.mark.parametrize("found", list(malformed()), ids=lambda found: json.dumps(found)[80:160])
def test_a_malformed_record_of_a_file_or_a_command_is_refused(found):
    with pytest.raises(InvalidInput, match="malformed"):
        evidence.read(PREFIX + json.dumps(found))
    with pytest.raises(InvalidInput, match="malformed"):
        bound(PREFIX + json.dumps(found))


def test_the_number_of_the_only_criterion_stands_for_all_of_them():
    assert evidence.numbered(1, ("one",)) == evidence.numbered(0, ("one",)) == 0
    assert [evidence.numbered(n, TWO) for n in (0, 1, 2)] == [0, 1, 2]
    for number, criteria in ((3, TWO), (1, ()), (-1, TWO)):
        with pytest.raises(InvalidInput, match="no criterion"):
            evidence.numbered(number, criteria)


def test_the_world_is_asked_of_files_and_commands_only_and_its_word_is_the_reason():
    asked = []

    def moved(record):
        asked.append(record)
        return "report.txt is gone"

    assert evidence.standing(seen(), "t-one", TWO, moved) == FRESH
    for record in (seen(file=FILE), seen(command=RAN)):
        assert evidence.standing(record, "t-one", TWO, moved) == "stale: report.txt is gone"
    assert asked == [seen(file=FILE), seen(command=RAN)]


def test_the_world_is_not_asked_where_the_record_counts_for_nothing_anyway():
    def never(record):
        raise AssertionError(record)

    assert evidence.standing(seen(file=FILE), "t-two", TWO, never) == MISMATCH
    assert evidence.standing(seen(file=FILE), "t-one", ("other",), never) == "stale"
    failed = seen(command=RAN._replace(status=3))
    assert evidence.standing(failed, "t-one", TWO, never) == "failed with status 3"


def test_a_failed_command_is_named_beside_what_is_missing_and_never_fills_the_gap():
    failed = seen(command=RAN._replace(status=3))
    missing, reason = evidence.gaps(task_with(evidence.write(failed)))
    assert missing.startswith(STALE)
    assert reason.startswith("Record 1 is of a command that failed with status 3 (")
    assert reason.endswith("run it again with 'contextspindle task prove'")


def test_what_went_stale_by_itself_is_named_with_its_reason():
    task = task_with(evidence.write(seen(1, file=FILE)), bound("x", 2))
    assert evidence.gaps(task) == []
    missing, reason = evidence.gaps(task, lambda _: "report.txt has changed")
    assert "(criterion 1)" in missing
    assert reason.startswith("Record 1 no longer counts, because report.txt has changed: ")


def test_records_that_count_for_nothing_for_one_reason_are_named_together():
    failed = evidence.write(seen(command=RAN._replace(status=3)))
    _, reason = evidence.gaps(task_with(*[failed] * 7))
    assert reason.startswith("Record 1, 2, 3, 4, 5, ... is of a command that failed")


def test_a_record_for_a_criterion_that_is_shown_otherwise_is_no_reason():
    failed = evidence.write(seen(1, command=RAN._replace(status=3)))
    (missing,) = evidence.gaps(task_with(failed, bound("x", 1)))
    assert "(criterion 2)" in missing


def test_what_was_recorded_under_other_criteria_is_named():
    other = evidence.write(seen(criteria=("something else",)))
    _, reason = evidence.gaps(task_with(other))
    assert reason.startswith("Record 1 was made under other criteria: ")
