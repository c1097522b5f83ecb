"""What users of other programs wished for, tried on this one: one test a wish."""

from __future__ import annotations


def test_wi01_a_handoff_can_be_read_by_any_agent_without_our_tool(project, create):
    need = create("first migrate the tables")
    task = create(
        "Ship the login page",
        *("--criterion", "the tests pass", "--criterion", "no new dependency"),
        *("--decision", "sessions in the database: cookies were too large"),
        *("--note", "tried JWT, failed: clock skew"),
        *("--note", "the form is written"),
        *("--next", "write the logout", "--depends-on", need, "--status", "active"),
    )
    project("task", "prove", task, "--for", "1", "--", "sh", "-c", "echo 3 failed; exit 1")
    project("task", "claim", task)
    text = project("task", "context", task, "4000").out.decode()
    for part in (
        "goal: Ship the login page",
        "criterion 1: the tests pass",
        "criterion 2: no new dependency",
        "sessions in the database: cookies were too large",
        "tried JWT, failed: clock skew",
        "the form is written",
        "next: write the logout",
        "status: active",
        f"depends on: {need}",
        "[open] first migrate the tables",
        "claim: tester until",
        "failed with status 1",
    ):
        assert part in text, part
    assert text.isprintable() or set(text) <= {c for c in text if c.isprintable() or c == "\n"}
    assert not {"<", "{", "```", "\x1b"} & set(text)
    assert "claude" not in text.lower()


def test_wi01_the_handoff_of_a_session_is_plain_text_too(project, create, payload):
    create("Ship the login page", "--next", "write the logout")
    project(
        "fuse", "save", input=payload("PreCompact", said="Never use tabs. Ship the login page.")
    )
    text = project("fuse", "restore", "--plain").out.decode()
    for part in ("Never use tabs", "Ship the login page", "write the logout"):
        assert part in text
    assert not {"<", "{", "\x1b"} & set(text)
