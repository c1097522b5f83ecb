"""Masking: secrets go, what merely looks random stays, and masking twice is masking once."""

from __future__ import annotations

import time

import pytest

from contextspindle.core.redaction import MASK, mask

# Put together here, so that no scanner takes this file for a leak.
_BODY = "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8"
_PEM = "-----{} RSA PRIVATE" + " KEY-----"

SECRETS = {
    "Amazon": "AKIA" + "ABCDEFGH12345678",
    "GitHub": "ghp_" + _BODY,
    "GitHub fine-grained": "github_pat_" + _BODY,
    "GitLab": "glpat-" + _BODY[:20],
    "Anthropic": "sk-ant-" + "api03-" + _BODY,
    "OpenAI": "sk-proj-" + _BODY,
    "Stripe": "sk_live_" + _BODY,
    "Slack": "xoxb-" + "123456789012-" + _BODY,
    "Google": "AIza" + _BODY,
    "npm": "npm_" + _BODY + "A1",
    "Hugging Face": "hf_" + _BODY,
    "SendGrid": "SG." + _BODY[:22] + "." + _BODY,
    "token of three parts": "eyJ" + _BODY + "." + "eyJ" + _BODY + "." + _BODY,
    "key block": _PEM.format("BEGIN") + "\nMIIEow\nIBAAKC\n" + _PEM.format("END"),
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_known_by_its_form(secret):
    assert mask(f"use {secret} for now") == f"use {MASK} for now"


NAMED = [
    ("GITLAB_TOKEN={}", "a1b2c3d4e5f6"),
    ("export DB_PASSWORD={}", "correcthorse"),
    ("SMTP_PASS={}", "correcthorse"),
    ("İ{{'Api-Key': '{}'}}", "4f5a6b7c8d9e0f1a"),
    ("password: {}", "hunter2"),
    ('"password": "{}"', "battery staple"[:7] + "9"),
    ("client_secret={}&x=1", "abcd1234efgh"),
    ("--password {}", "hunter22"),
    ("--api-key {} --port 80", "ab12cd34ef56"),
    ("the password is {}", "hunter2"),
    ("postgres://ada:{}@db.example:5432/tides", "s3cr3t"),
    ("redis://:{}@cache:6379/0", "s3cr3t"),
    ("AccountName=ada;AccountKey={};", "Zm9vYmFyYmF6MTIz=="),
    ("Authorization: Bearer {}", "abcdef1234567890abcd"),
    ("Cookie: {}", "sid=4f5a6b; theme=dark"),
    ("X-Api-Key: {}", "4f5a6b7c8d9e0f1a"),
    ("curl -u ada:{} https://example.org", "pa55word"),
    ('{{\\"password\\":\\"{}\\"}}', "hunter22"),
]


@pytest.mark.parametrize(("shape", "secret"), NAMED, ids=[shape for shape, _ in NAMED])
def test_a_secret_is_known_by_its_name(shape, secret):
    masked = mask(shape.format(secret))
    assert secret not in masked
    assert MASK in masked


@pytest.mark.parametrize(
    "text",
    [
        "commit 36962701234567890abcdef1234567890abcdef0",
        "session 550e8400-e29b-41d4-a716-446655440000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token: string",
        "const token = getToken()",
        "password = os.environ['PASSWORD']",
        "PASSWORD=$DB_PASSWORD",
        "DATABASE_URL=postgres://localhost:5432/tides",
        "max_tokens: 4096",
        "the token is invalid",
        "secretName: my-app",
        "TOKEN_FILE=/run/secrets/token",
        "the task-runner reads sk-learn-models-and-more-of-them",
        "password: <your password>",
        "see the tokenizer: it splits at blanks",
        "import keyboard; key = 'Enter'",
        "--- PASS: TestCondense (0.00s)",
        "git commit --author ada --no-token-check",
    ],
)
def test_what_merely_looks_like_a_secret_stays(text):
    assert mask(text) == text


def test_the_whole_key_block_goes_even_if_its_end_was_cut_away():
    cut_off = _PEM.format("BEGIN") + "\nMIIEowIBAAKCAQEA\nabc"
    assert mask(f"key:\n{cut_off}") == f"key:\n{MASK}"


def test_the_rest_of_a_key_block_goes_even_if_its_start_was_cut_away():
    rest = "MIIEowIBAAKCAQEA1234\nMIIEowIBAAKCAQEA1234\n" + _PEM.format("END")
    assert mask(rest) == MASK


def test_the_text_around_a_secret_keeps_every_character():
    text = f"a\n  b\t{SECRETS['GitHub']}\n\nc: d "
    assert mask(text) == f"a\n  b\t{MASK}\n\nc: d "


@pytest.mark.parametrize("text", [shape.format(secret) for shape, secret in NAMED])
def test_masking_twice_is_masking_once(text):
    assert mask(mask(text)) == mask(text)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a-",
        "x=",
        "://a:",
        "token",
        "token=",
        "token='",
        "eyJ-",
        "sk-",
        "xai-",
        " -u a:",
        "A" * 64 + "\n",
    ],
)
def test_long_text_of_any_make_takes_time_in_proportion(piece):
    text = "PRIVATE KEY\n" + piece * (400_000 // len(piece))
    begun = time.process_time()
    mask(text)
    assert time.process_time() - begun < 2.0
