"""Masking: secrets go, what merely looks random stays, and masking twice is masking once."""

from __future__ import annotations

import sys

import pytest

from contextspindle.core.redaction import MASK, mask, mask_ends, mask_start, mask_words
from tests import credentials, lookalikes

FORMS = credentials.by_form()
PLACES = credentials.by_place()
HARMLESS = lookalikes.harmless()


def test_the_lists_are_as_long_as_was_promised():
    assert len(FORMS) + len(PLACES) >= 60
    assert len(set(HARMLESS)) >= 200


@pytest.mark.parametrize("secret", FORMS.values(), ids=FORMS)
def test_a_secret_is_known_by_its_form(secret):
    for around in (
        "use {} for now",
        "{}",
        "x = '{}'",
        '{{"a":"{}"}}',
        "({})",
        "a\n{}\nb c",
        "a\\n{}\\nb c",
    ):
        assert mask(around.format(secret)) == around.format(MASK)


@pytest.mark.parametrize(("text", "secret"), PLACES.values(), ids=PLACES)
def test_a_secret_is_known_by_its_place(text, secret):
    for around in ("{}", "before it\n{}\nand behind", "İ\n{}", "a\\n{}\\nb c"):
        masked = mask(around.format(text))
        assert secret not in masked
        assert MASK in masked
        assert masked.startswith(around.partition("{")[0])


@pytest.mark.parametrize("text", HARMLESS)
def test_what_merely_looks_like_a_secret_stays(text):
    assert mask(text) == text
    assert mask(f"It says:\n{text}\nand no more.") == f"It says:\n{text}\nand no more."


@pytest.mark.parametrize("secret", ["GitHub", "Anthropic", "web token", "PKCS8 key"])
def test_what_is_cut_off_takes_no_half_of_a_secret_with_it(secret):
    whole = FORMS[secret]
    for before in range(900, 1_010, 7):
        text = f"{'ab ' * (before // 3)}\n{whole}\n{'cd ' * 4_000}"
        turned = f"{'cd ' * 4_000}\n{whole}\n{'ab ' * (before // 3)}"
        for shown in (mask_start(text, 1_000), mask_ends(text, 2_000), mask_ends(turned, 2_000)):
            assert not any(row[4:12] in shown for row in whole.split("\n") if "-----" not in row)
        assert len(mask_start(text, 1_000)) <= 1_000
        assert len(mask_ends(text, 2_000)) <= 2_003


def test_the_words_around_a_secret_keep_every_character():
    text = f"a\n  b\t{FORMS['GitHub']}\n\nc: d "
    assert mask(text) == f"a\n  b\t{MASK}\n\nc: d "


@pytest.mark.parametrize(("text", "secret"), PLACES.values(), ids=PLACES)
def test_only_the_secret_goes(text, secret):
    before, _, behind = mask(text).partition(MASK)
    assert text.startswith(before)
    assert text.endswith(behind)
    assert len(text) - len(before) - len(behind) < len(secret) + 240


@pytest.mark.parametrize("key", credentials.shown_keys().values(), ids=credentials.shown_keys())
def test_a_key_goes_whatever_a_program_puts_before_its_lines(key):
    for text in (key, f"It says:\n{key}\nThen go on with the work.", key.replace("\n", "\\n")):
        masked = mask(text)
        assert MASK in masked
        for part in credentials._pem("RSA ").split("\n")[1:-1]:
            assert part not in masked
        assert ("Then go on with the work." in masked) == ("Then go on" in text)
        assert mask(masked) == masked


def test_a_key_without_its_start_goes_also_before_a_whole_one():
    whole = FORMS["RSA key"]
    assert mask(f"{whole.partition(chr(10))[2]}\n{whole}") == f"{MASK}\n{MASK}"


def test_the_rest_of_a_key_goes_even_if_its_start_was_cut_away():
    for key in ("RSA key", "key in JSON", "indented key"):
        rest = FORMS[key].partition("\n" if "\n" in FORMS[key] else "\\n")[2].lstrip()
        assert mask(f"some words\n{rest}\nmore words") == f"some words\n{MASK}\nmore words"


def test_what_stands_behind_a_key_without_its_end_stays():
    cut = FORMS["key, its end cut away"]
    assert mask(f"{cut}\nThen do it again.\nPlease") == f"{MASK}\nThen do it again.\nPlease"


def test_every_secret_of_a_text_goes():
    text = "\n".join([*FORMS.values(), *(text for text, _ in PLACES.values())])
    masked = mask(text)
    for secret in (*FORMS.values(), *(secret for _, secret in PLACES.values())):
        for part in secret.replace("\\n", "\n").split("\n"):
            if len(part) >= 16 and "PRIVATE" not in part:
                assert part not in masked


@pytest.mark.parametrize(
    ("words", "masked"),
    [
        (("deploy", "--password", "hunter2hunter2"), ("deploy", "--password", MASK)),
        (("deploy", "--password", credentials.PHRASE), ("deploy", "--password", MASK)),
        (("sshpass", "-p", "hunter2", "ssh", "host"), ("sshpass", "-p", MASK, "ssh", "host")),
        (("curl", "-u", "ada:hunter2", "x"), ("curl", "-u", f"ada:{MASK}", "x")),
        (("env", "API_TOKEN=correcthorse", "make"), ("env", f"API_TOKEN={MASK}", "make")),
        (("sh", "-c", "X_TOKEN=correcthorse make"), ("sh", "-c", f"X_TOKEN={MASK} make")),
        (("pytest", "-k", "not token"), ("pytest", "-k", "not token")),
        (("login", "--token-file", "a b", ""), ("login", "--token-file", "a b", "")),
        ((), ()),
    ],
)
def test_the_words_of_a_command_are_masked_one_by_one_and_together(words, masked):
    assert mask_words(words) == masked
    assert mask_words(masked) == masked


@pytest.mark.parametrize("text", [*FORMS.values(), *(text for text, _ in PLACES.values())])
def test_masking_twice_is_masking_once(text):
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a-",
        "x=",
        "://a:",
        "://a:b@",
        "token",
        "token=",
        "token='",
        'password="',
        "password is ",
        "eyJ-",
        "eyJ.",
        "sk-",
        "xai-",
        "SG.",
        ":AA",
        " -u a:",
        "cookie:a=",
        "basic ",
        "authorization:",
        "\\",
        "A" * 64 + "\n",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        '"kty"',
        ":5432:",
        "密码：",
        "| password | a",
        "password:\n",
        "echo a | sudo -S ",
        "curl -b a=",
        "auth=('a','",
        "$6$a$",
        "Signature=",
        "-----BEGIN PRIVATE KEY-----\n2:" + "Aa1" * 20 + "\n",
        "2:" + "Aa1" * 20 + "\n-----END PRIVATE KEY-----\n",
    ],
)
def test_twice_as_long_a_text_of_any_make_takes_twice_the_work(piece):
    def work(length: int) -> int:
        """The calls that masking such a text makes: a measure that no load of a machine moves."""
        calls = 0

        def count(*_: object) -> None:
            nonlocal calls
            calls += 1

        text = "PRIVATE KEY\n" + piece * (length // len(piece))
        sys.setprofile(count)
        try:
            mask(text)
        finally:
            sys.setprofile(None)
        return calls

    assert work(40_000) <= 2.2 * work(20_000) + 200
