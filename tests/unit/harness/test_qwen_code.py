"""Qwen Code: what its lines are known by, however long what stands before it is."""

from __future__ import annotations

import json

from contextspindle.harness import qwen_code


def compact(entry: dict) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode()


def test_a_compression_is_seen_behind_a_folder_of_any_length():
    line = {"uuid": "u", "type": "system", "cwd": "/" + "long/" * 200}
    assert qwen_code.worth(compact({**line, "subtype": "chat_compression"}), False)
    assert not qwen_code.worth(compact({**line, "subtype": "ui_telemetry"}), False)
