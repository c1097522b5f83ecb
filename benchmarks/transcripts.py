"""What the fuse costs as a fresh process, on transcripts of every size.

    python benchmarks/transcripts.py --transcripts DIR
    python benchmarks/transcripts.py --transcripts DIR --sizes 200 1500 --rounds 5

DIR holds recorded sessions.  Three things are measured, each through the installed command.  A
session cut to 185 KB with ten secrets in it, in a workspace that is there: ``save``, ``restore``,
and ``look``, the hook at a tool's end in a harness that tells of no compaction, where none is owed,
in rounds with the bare interpreter (``python -I -c pass``), the ratio of processor time being the
median of the ratios within the rounds.  Each recorded session: the processor time of one save, the
best of the rounds.  Files of many megabytes, made of the recorded sessions one after the other
under one session id: a save by hand, and one as a hook, which must be done before its deadline;
with the peak of memory and how much of the file was looked at.  All files are made in a temporary
folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import arguments_of, keep, load, ratio, run, spread

SESSION = "11111111-1111-4111-8111-111111111111"
SMALL = 185_000
BODY = "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8"
# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "ghp" + "_" + BODY: BODY,
    "AKIA" + "ABCDEFGH12345678": "ABCDEFGH12345678",
    "sk-" + "ant-api03-" + BODY: BODY,
    "xox" + "b-123456789012-" + BODY: BODY,
    "AIza" + BODY: BODY,
    "postgres://ada:" + "s3cr3t@db.example/tides": "s3cr3t",
    "Authorization: Bearer " + BODY: BODY,
    'password = "correct horse battery"': "correct horse battery",
    "export NPM_TOKEN=npm" + "_" + BODY + "A1": BODY,
    "eyJ" + BODY + ".eyJ" + BODY + "." + BODY: BODY,
}
"""Texts with a secret in each, and what of them must not be kept."""


def main() -> None:
    """Make, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--transcripts", type=Path, required=True, metavar="DIR")
    parser.add_argument("--sizes", type=int, nargs="+", default=[200], metavar="MB")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = arguments_of(None, parser)
    before = load()
    recorded = sorted(arguments.transcripts.rglob("*.jsonl"))
    if not recorded:
        parser.error(f"there is no session in {arguments.transcripts}")
    with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
        found = {
            "small": small(recorded, folder, arguments),
            "recorded": each(recorded, folder, arguments),
            "sizes": [large(recorded, folder, size, arguments.command) for size in arguments.sizes],
        }
    show(found)
    keep(arguments, before, rounds=arguments.rounds, **found)


def small(recorded: list[Path], folder: str, arguments: Any) -> dict[str, Any]:
    """A session of 185 KB with ten secrets, against the bare interpreter."""
    session = Path(folder) / "small.jsonl"
    room = SMALL
    with session.open("wb") as file:
        said = {"role": "user", "content": "Use these for now:\n" + "\n".join(SECRETS)}
        entry = {"type": "user", "sessionId": SESSION, "uuid": "u", "message": said}
        file.write(json.dumps(entry).encode() + b"\n")
        for line in _as_one_session(max(recorded, key=lambda path: path.stat().st_size)):
            if len(line) < room:
                file.write(line)
                room -= len(line)
            if room < 1_000:
                break
    measured = ("bare", "save", "restore", "look")
    times: dict[str, list[float]] = {name: [] for name in measured}
    ended = Path(folder) / "tool-ended.json"
    head = {"session_id": SESSION, "transcript_path": str(session), "cwd": folder}
    ended.write_text(json.dumps({**head, "hook_event_name": "AfterTool", "tool_response": {}}))
    for number in range(arguments.rounds + 1):
        place = Path(folder) / f"small-{number}"
        place.mkdir()
        run([arguments.command, "init", str(place)], str(place))
        words = [arguments.command, "fuse"]
        where = ["--workspace", str(place)]
        calls = {
            "bare": [sys.executable, "-I", "-c", "pass"],
            "save": [*_saving(arguments.command, place, session), "--harness", "claude-code"],
            "restore": [*words, "restore", "--plain", *where],
            "look": [*words, "restore", "--harness", "gemini"],
        }
        for name, call in calls.items():
            took = run(call, str(place), str(ended) if name == "look" else os.devnull)[0]
            if number:  # the first round warms up
                times[name].append(took)
    kept = (Path(folder) / "small-1" / ".contextspindle" / "fuse" / "ledger.jsonl").read_bytes()
    return {
        "bytes": session.stat().st_size,
        "secrets_left": sum(secret.encode() in kept for secret in SECRETS.values()),
        "bare_ms": spread(times["bare"]),
        **{
            name: {"cpu_ratio": ratio(times[name], times["bare"]), "cpu_ms": spread(times[name])}
            for name in measured[1:]
        },
    }


def each(recorded: list[Path], folder: str, arguments: Any) -> list[dict[str, Any]]:
    """One save of each recorded session."""
    rows = []
    for path in recorded:
        best: dict[str, Any] = {}
        for number in range(max(1, arguments.rounds // 3)):
            place = Path(folder) / f"each-{path.stem}-{number}"
            place.mkdir()
            took = child(_saving(arguments.command, place, path), str(place))
            if took["status"] == 0 and (not best or took["cpu"] < best["cpu"]):
                best = took
        if best:  # else a form that the command does not know
            rows.append({"file": path.name, "bytes": path.stat().st_size, **best})
    return rows


def large(recorded: list[Path], folder: str, size: int, command: str) -> dict[str, Any]:
    """A file of ``size`` megabytes, saved by hand and as a hook."""
    path = Path(folder) / f"{size}.jsonl"
    left = size * 1_000_000
    with path.open("wb") as file:
        while left > 0:
            for one in recorded:
                for line in _as_one_session(one):
                    file.write(line)
                    left -= len(line)
                if left <= 0:
                    break
    by_hand, hooked = Path(folder) / f"hand-{size}", Path(folder) / f"hook-{size}"
    by_hand.mkdir()
    hooked.mkdir()
    payload = {
        "hook_event_name": "PreCompact",
        "session_id": SESSION,
        "transcript_path": str(path),
        "cwd": str(hooked),
        "trigger": "auto",
    }
    found = {
        "megabytes": size,
        "by_hand": child(_saving(command, by_hand, path), folder),
        "hook": child(
            [command, "fuse", "save", "--workspace", str(hooked)], folder, json.dumps(payload)
        ),
    }
    for name, place in (("by_hand", by_hand), ("hook", hooked)):
        log = place / ".contextspindle" / "fuse" / "ledger.jsonl"
        reading = json.loads(log.read_bytes().split(b"\n")[0])["snapshot"]["reading"]
        found[name]["not_looked_at"] = reading["skipped"]
        found[name]["lines"] = reading["lines"]
    path.unlink()
    return found


def _saving(command: str, place: Path, transcript: Path) -> list[str]:
    words = ["--workspace", str(place), "--transcript", str(transcript), "--session", SESSION]
    return [command, "fuse", "save", *words]


def _as_one_session(path: Path) -> list[bytes]:
    """The lines of a recorded session, under the session id of ours."""
    own = b'"sessionId":"%s"' % SESSION.encode()
    rows = re.sub(rb'"sessionId":"[^"]*"', own, path.read_bytes()).splitlines(keepends=True)
    return [row if row.endswith(b"\n") else row + b"\n" for row in rows]


def child(call: list[str], folder: str, payload: str = "") -> dict[str, Any]:
    """Status, seconds of processor and by the clock, and the peak of memory of one child."""
    source = Path(folder) / "payload"
    source.write_text(payload, encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
    given, nowhere = os.open(source, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
    actions = [(os.POSIX_SPAWN_DUP2, end, to) for end, to in ((given, 0), (nowhere, 1))]
    started = time.perf_counter()
    process = os.posix_spawn(call[0], call, environment, file_actions=actions)
    _, status, usage = os.wait4(process, 0)
    took = time.perf_counter() - started
    os.close(given)
    os.close(nowhere)
    return {
        "status": os.waitstatus_to_exitcode(status),
        "cpu": round(usage.ru_utime + usage.ru_stime, 3),
        "wall": round(took, 3),
        "peak_mb": round(usage.ru_maxrss / 1_000, 1),
    }


def show(found: dict[str, Any]) -> None:
    """The figures for a reader."""
    one = found["small"]
    print(f"{one['bytes']:,} bytes with ten secrets, {one['secrets_left']} of them left:")
    for name in ("save", "restore", "look"):
        row = one[name]
        print(f"  {name:8} {row['cpu_ratio']:.2f} times bare, {row['cpu_ms']['median']:.1f} ms")
    for row in found["recorded"]:
        print(f"{row['file']:40} {row['cpu']:.2f} s of processor, {row['peak_mb']:.0f} MB")
    for row in found["sizes"]:
        for name in ("by_hand", "hook"):
            took = row[name]
            print(
                f"{row['megabytes']:,} MB {name:8} {took['cpu']:.2f} s of processor,"
                f" {took['wall']:.2f} s, {took['peak_mb']:.0f} MB,"
                f" {took['not_looked_at']:,} bytes not looked at"
            )


if __name__ == "__main__":
    main()
