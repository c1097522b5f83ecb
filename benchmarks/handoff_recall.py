"""How much of what the work needs is in the handoff after compaction.

    python benchmarks/handoff_recall.py --probes DIR --transcripts DIR [--budget 6000]

Each probe file names a transcript, the line at which it is cut, and facts that somebody who resumes
the work there needs, each by alternative spellings.  The transcript is truncated after that line,
the installed command saves and restores, and the facts are looked for in the text.  *Weighted*
counts a fact by its importance (2 where none is given).  Where the file names the line of the
harness's own summary, the handoff is restored once more with the transcript cut after that line,
as a harness would have it, and the facts are looked for in both texts together.  *Repeated* is the
share of that handoff's bytes in lines whose words the summary holds (four of five of those that
have four letters or a digit), the sections that always stay left out.  A transcript of a form that
the command does not know is named and left out.

It does not show: whether an agent understands the text, nor that a fact is stated rather than
mentioned.  A spelling that nobody listed counts as missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

UNREADABLE = 6
"""The status of a save that found no line of a known form."""


def main() -> None:
    """Cut, save, restore and look; a line a file, then the whole and the kinds."""
    arguments = _arguments()
    rows = []
    for path in sorted(arguments.probes.glob("*.json")):
        probe = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(probe, dict) and "probes" in probe:
            transcript = _transcript(arguments.transcripts, probe["transcript"])
            row = measured(path.stem, probe, transcript, arguments) if transcript else None
            if row is None:
                print(f"{path.stem:44} left out: the transcript is not there or of another form")
            else:
                rows.append(row)
    if not rows:
        raise SystemExit("no probe file whose transcript is there")
    result = summed(rows)
    print_table(rows, result)
    if arguments.json:
        document = {"budget": arguments.budget, "files": rows, "all": result}
        Path(arguments.json).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--probes", type=Path, required=True, metavar="DIR")
    parser.add_argument("--transcripts", type=Path, required=True, metavar="DIR")
    parser.add_argument("--budget", type=int, default=6_000)
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    beside = os.path.join(os.path.dirname(sys.executable), "contextspindle")
    parser.add_argument("--command", default=beside, help="the installed command")
    return parser.parse_args()


def _transcript(folder: Path, named: str) -> Path | None:
    """The transcript of a probe file: as it is named from the folder, or from the one above."""
    for place in (folder / named, folder.parent / named, folder / Path(named).name):
        if place.is_file():
            return place
    return None


def measured(
    name: str, probe: dict[str, Any], transcript: Path, arguments: argparse.Namespace
) -> dict[str, Any] | None:
    """What one file's handoff holds; None if the command does not know the transcript's form."""
    lines = transcript.read_bytes().split(b"\n")
    with tempfile.TemporaryDirectory(prefix="spindle-recall-") as folder:
        cut = Path(folder) / "session.jsonl"
        cut.write_bytes(b"\n".join(lines[: probe["cut_line"]]) + b"\n")
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        environment["CONTEXTSPINDLE_WORKSPACE"] = folder
        command = [arguments.command, "fuse"]
        started = time.perf_counter()
        saving = [*command, "save", "--transcript", str(cut), "--session", "probe"]
        if subprocess.run(saving, env=environment, capture_output=True).returncode == UNREADABLE:
            return None
        restoring = [*command, "restore", "--plain", "--budget", str(arguments.budget)]
        ran = subprocess.run(restoring, env=environment, check=True, capture_output=True)
        took = time.perf_counter() - started
        at = probe.get("reference_summary_line")
        beside = ""
        if at:
            cut.write_bytes(b"\n".join(lines[:at]) + b"\n")
            again = subprocess.run(restoring, env=environment, check=True, capture_output=True)
            beside = again.stdout.decode("utf-8")
    text = ran.stdout.decode("utf-8")
    summary = _summary(lines, at)
    facts = [
        {
            "kind": one.get("kind", ""),
            "importance": one.get("importance", 2),
            "here": _holds(text, one["needle"]),
            "either": _holds(beside, one["needle"]) or _holds(summary, one["needle"]),
        }
        for one in probe["probes"]
    ]
    return {
        "file": name,
        "bytes": len(ran.stdout),
        "seconds": round(took, 3),
        "summary": bool(summary),
        "repeated": _repeated(beside, summary) if summary else None,
        "facts": facts,
    }


def _holds(text: str, spellings: list[str]) -> bool:
    folded = " ".join(text.casefold().split())
    return any(" ".join(one.casefold().split()) in folded for one in spellings)


STAY = ("Goal", "Rules", "The user's last words", "Where the agent left off", "Open steps")
"""Headings of the sections that a summary does not shorten."""


def _repeated(text: str, summary: str) -> float:
    """The share of a handoff's bytes in lines that the summary says."""
    known = _words(summary)
    repeated, stays = 0, True
    for line in text.split("\n"):
        if line.startswith("## "):
            stays = line[3:].partition(":")[0].startswith(STAY)
            continue
        found = _words(line)
        if not stays and found and len(found & known) >= 0.8 * len(found):
            repeated += len(line.encode()) + 1
    return round(repeated / max(len(text.encode()), 1), 3)


def _words(text: str) -> set[str]:
    words = (word.strip(".,;:!?()[]{}\"'`*<>…") for word in text.casefold().split())
    return {word for word in words if len(word) >= 4 or any(c.isdigit() for c in word)}


def _summary(lines: list[bytes], number: int | None) -> str:
    """The harness's own summary, from its line."""
    if not number:
        return ""
    content = json.loads(lines[number - 1])["message"]["content"]
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def summed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures over all files together."""
    facts = [fact for row in rows for fact in row["facts"]]
    either = [fact for row in rows if row["summary"] for fact in row["facts"]]
    kinds = sorted({fact["kind"] for fact in facts})
    return {
        "facts": len(facts),
        "recall": _share(facts, "here"),
        "weighted": _share(facts, "here", weighted=True),
        "importance_3": _share([one for one in facts if one["importance"] == 3], "here"),
        "union_with_summary": _share(either, "either") if either else None,
        "repeated_bytes": round(
            statistics.mean(row["repeated"] for row in rows if row["summary"]), 3
        )
        if either
        else None,
        "kinds": {
            kind: [_share(some, "here"), len(some)]
            for kind in kinds
            if (some := [one for one in facts if one["kind"] == kind])
        },
        "bytes_median": statistics.median(row["bytes"] for row in rows),
        "seconds_median": round(statistics.median(row["seconds"] for row in rows), 3),
    }


def _share(facts: list[dict[str, Any]], key: str, *, weighted: bool = False) -> float:
    weights = [fact["importance"] if weighted else 1 for fact in facts]
    found = sum(weight for weight, fact in zip(weights, facts) if fact[key])
    return round(found / sum(weights), 3) if facts else 0.0


def print_table(rows: list[dict[str, Any]], result: dict[str, Any]) -> None:
    """The figures for a reader."""
    for row in rows:
        here = sum(fact["here"] for fact in row["facts"])
        print(f"{row['file']:44} {here:3} of {len(row['facts']):3}  {row['bytes']:6} bytes")
    print(f"\n{result['facts']} facts: recall {result['recall']:.3f},", end=" ")
    print(f"weighted {result['weighted']:.3f}, importance 3 {result['importance_3']:.3f}", end="")
    if result["union_with_summary"] is not None:
        print(f", with the harness's summary {result['union_with_summary']:.3f}", end="")
        print(f" and {result['repeated_bytes']:.1%} of the bytes repeated", end="")
    print(f"; median {result['bytes_median']:.0f} bytes, {result['seconds_median']:.2f} s")
    for kind, (share, count) in result["kinds"].items():
        print(f"  {kind:16} {share:.2f} of {count}")


if __name__ == "__main__":
    main()
