"""Claims over MCP, and a session that lost its context with one."""

from __future__ import annotations

import pytest

from tests.transcripts import SESSION, calls, returns, says, user, written


@pytest.mark.parametrize("claims", [True, False])
def test_a_claim_over_mcp_is_had_back_after_a_compaction(spoken, project, tmp_path, claims):
    task = project("task", "create", "Mend the mast", "--quiet").out.decode().strip()

    async def talk(call):
        return (await call("task_claim", action="next")).text

    answer = spoken(talk)
    token = answer.rpartition(" ")[2].strip()
    if not claims:  # as a server says it that keeps no claims
        answer = answer.replace("updates from here carry it", "give it as claim in updates")
    entries = [
        user("Go on."),
        calls("c1", "mcp__contextspindle__contextspindle_task_claim", action="next"),
        returns("c1", answer),
        says("I have it."),
    ]
    path = written(tmp_path / "a.jsonl", entries)
    saved = project("fuse", "save", "--transcript", path, "--session", SESSION)
    assert saved.status == 0, saved.err
    told = project("fuse", "restore", "--plain", "--session", SESSION).out.decode()
    assert f"carry --claim {token}): {task} [" in told
