"""Canonical JSON: one byte string for one value, whichever codec serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextspindle
from contextspindle.core import canon
from tests.strategies import json_values, raw_texts, texts

CODECS = {"lean": canon.lean_codec, "public": canon.public_codec}


@pytest.fixture(scope="module", params=CODECS)
def codec(request):
    return CODECS[request.param]()


def reference(value):
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@given(json_values)
def test_any_value_is_written_as_the_public_package_writes_it(codec, value):
    write, _ = codec
    assert write(value) == reference(value)


@given(json_values)
def test_any_value_comes_back(codec, value):
    write, scan = codec
    written = write(value)
    assert scan(written, 0) == (value, len(written))


@given(raw_texts)
def test_the_codecs_agree_on_any_string_even_one_that_is_not_unicode(value):
    (lean, _), (public, _) = canon.lean_codec(), canon.public_codec()
    assert lean(value) == public(value)


@given(st.text(alphabet='{}[]",:0123456789eE.-+truefalsn \n\t\\u', max_size=30))
def test_the_codecs_agree_on_what_is_json(source):
    def outcome(scan):
        try:
            return repr(scan(source, 0))
        except StopIteration:
            return "nothing"
        except ValueError:
            return "error"

    (_, lean), (_, public) = canon.lean_codec(), canon.public_codec()
    assert outcome(lean) == outcome(public)


@pytest.mark.parametrize("value", [{1}, b"x", object(), 1j, [object()], {"a": {2}}])
def test_what_json_does_not_have_is_refused(codec, value):
    write, _ = codec
    with pytest.raises(TypeError):
        write(value)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused(codec, name):
    _, scan = codec
    with pytest.raises(ValueError, match=name):
        scan(name, 0)


def test_this_interpreter_serves_the_lean_codec():
    assert canon.lean_codec()[0]([]) == "[]"


def test_the_module_writes_with_the_same_form():
    assert canon.encode({"b": "é", "a": [1, None, True]}) == '{"a":[1,null,true],"b":"é"}'.encode()
    assert canon.text({"b": 1, "a": 2}) == '{"a":2,"b":1}'


def test_keys_are_in_the_order_of_code_points():
    keys = ["z", "é", "\uffff", "😀", "A", "a", ""]
    assert [*json.loads(canon.text(dict.fromkeys(keys, 0)))] == sorted(keys)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("\n\t\r\b\f", r'"\n\t\r\b\f"'),
        ('"\\/', r'"\"\\/"'),
        ("\x00\x1f", r'"\u0000\u001f"'),
        ("\x7f\u2028é", '"\x7f\u2028é"'),
        (10**30, "1" + "0" * 30),
    ],
)
def test_only_what_must_be_escaped_is_escaped(value, written):
    assert canon.text(value) == written


def test_tuples_are_lists():
    assert canon.text({"a": (1, ("b",))}) == '{"a":[1,["b"]]}'


def test_half_a_surrogate_pair_has_no_bytes():
    with pytest.raises(UnicodeEncodeError):
        canon.encode("\ud800")


@given(json_values)
def test_bytes_and_text_decode_alike(value):
    assert canon.decode(canon.encode(value)) == value
    assert canon.decode(canon.text(value)) == value


@given(json_values)
def test_decoding_and_encoding_again_gives_the_same_bytes(value):
    stored = canon.encode(value)
    assert canon.encode(canon.decode(stored)) == stored


@given(texts, st.text(alphabet=" \t\n\r", max_size=5))
def test_blanks_around_a_value_are_passed_over(value, blanks):
    written = canon.text(value)
    assert canon.decode(blanks + written + blanks) == value
    assert canon.scan(blanks + written + "rest") == (value, len(blanks + written))


@pytest.mark.parametrize(
    "source",
    [
        *("", " ", "nothing", "{", "[1", '{"a"}', '{"a":}', "[1,]", "1 2", "[] x", '"\\x"', "'a'"),
        *("\u00a0[]", "[]\u00a0", b"\xff", b'"\xed\xa0\x80"', "[" * 100_000, '{"a":' * 100_000),
    ],
)
def test_what_is_not_one_json_value_is_a_value_error(source):
    with pytest.raises(ValueError):  # noqa: PT011 (the kind is the promise)
        canon.decode(source)


def test_scanning_goes_on_behind_a_value():
    source = '{"a":1}  [2]\n"x"'
    found, at = [], 0
    while at < len(source):
        value, at = canon.scan(source, at)
        found.append(value)
    assert found == [{"a": 1}, [2], "x"]
    with pytest.raises(ValueError, match="no JSON value"):
        canon.scan(source, len(source))


@pytest.mark.parametrize(
    "source", ['{"a":1', '{"a" 1}', '["\\x"]', '"open', "[1,]", "[NaN]", "nope"]
)
def test_a_fresh_interpreter_takes_malformed_json_for_a_value_error(source):
    # Older CPythons raise no error of their own here until `json` has been loaded.
    program = (
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "from contextspindle.core import canon\n"
        "assert 'json' not in sys.modules\n"
        "try: canon.decode(sys.argv[1])\n"
        "except ValueError: print('refused')"
    )
    place = os.path.dirname(os.path.dirname(contextspindle.__file__))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, source, place], capture_output=True, text=True
    )
    assert (ran.stdout, ran.stderr) == ("refused\n", "")


@pytest.mark.parametrize("lenient", [canon.lean_lenient(), canon.public_lenient()])
def test_what_others_wrote_is_scanned_leniently_by_either_codec(lenient):
    source = '{"a":[NaN,-Infinity,12],"b":%s,"c":"x"}' % ("9" * 6_000)
    value = {"a": [None, None, 12], "b": None, "c": "x"}
    assert lenient(source, 0) == (value, len(source))
    assert canon.scan_leniently(f"  {source}") == (value, len(source) + 2)
    for broken in ("", "{", '{"a":}'):
        with pytest.raises(ValueError, match=r"JSON|[Ee]xpecting"):
            canon.scan_leniently(broken)
