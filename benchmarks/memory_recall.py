"""How well the memory finds what was said, whole and bounded, and what it costs.

    python benchmarks/memory_recall.py benchmarks/memory_sample.json
    python benchmarks/memory_recall.py locomo10.json --json figures.json

A data set is conversations with questions.  Two forms are read:

- LoCoMo's (a list of objects with ``conversation`` and ``qa``), each turn an item, the caption of a
  photo behind its text.  Its data is not in this repository: it may not be used commercially.
- A plain one: an object, or a list of them, each one conversation:

      {"name": "...",
       "items": [{"id": "a1", "session": "s1", "speaker": "Ann", "date": "2026-01-31",
                  "text": "..."}, ...],
       "questions": [{"question": "...", "evidence": ["a1"], "kind": "fact"}, ...]}

  ``session``, ``speaker``, ``date`` and ``kind`` may be left out.

Each conversation is remembered from its beginning in a memory of its own, by the actions that every
surface calls; then all its questions are asked, word for word.  Recall@k is the share of a
question's evidence among the first k hits, a session is hit if one of its items is evidence, and
sessions rank by their best item.  Times are of a recall of ten.  Bounded to a share of its items,
or of the bytes of their texts, a memory lets go as it fills; evidence that has gone is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from common import arguments_of, keep, load, quantile

from contextspindle.actions.memory import Memory
from contextspindle.core.instant import from_iso
from contextspindle.core.memory import Limits, Note
from contextspindle.store.memory import MemoryStore

AT = (1, 5, 10, 20)
HITS = 100
LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
MONTHS = (
    "january february march april may june july august september october november december".split()
)
CLOCK = 1_767_225_600_000


def main() -> None:
    """Remember, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("dataset", help="a file in one of the forms above")
    parser.add_argument("--capacities", type=int, nargs="+", default=[10, 25, 50, 100], metavar="%")
    parser.add_argument("--by", nargs="+", default=["items", "bytes"], choices=["items", "bytes"])
    parser.add_argument("--folder", help="where the memories are made; else a temporary folder")
    arguments = arguments_of(None, parser)
    before = load()
    sets = list(conversations(arguments.dataset))
    results = []
    for by in arguments.by:
        for share in sorted(set(arguments.capacities), reverse=True):
            if share >= 100 and results:
                continue  # the same without a bound, whatever it would be by
            with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
                found = evaluate(sets, by, share, folder)
            results.append(found)
            show(found)
    keep(
        arguments,
        before,
        dataset=os.path.basename(arguments.dataset),
        items=sum(len(one["items"]) for one in sets),
        questions=sum(len(one["questions"]) for one in sets),
        results=results,
    )


def conversations(path: str) -> Iterator[dict[str, Any]]:
    """The conversations of a file; questions without evidence that is there are left out."""
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    for one in found if isinstance(found, list) else [found]:
        plain = from_locomo(one) if "conversation" in one else one
        ids = {item["id"] for item in plain["items"]}
        questions = []
        for asked in plain["questions"]:
            evidence = [one for one in dict.fromkeys(asked["evidence"]) if one in ids]
            if evidence:
                questions.append({**asked, "evidence": evidence})
        yield {**plain, "questions": questions}


def from_locomo(one: dict[str, Any]) -> dict[str, Any]:
    """A conversation of LoCoMo in the plain form, its malformed evidence mended."""
    talk = one["conversation"]
    items = []
    names = [name for name in talk if re.fullmatch(r"session_\d+", name)]
    for name in sorted(names, key=lambda name: int(name.split("_")[1])):
        for turn in talk[name]:
            caption = turn.get("blip_caption")
            items.append(
                {
                    "id": turn["dia_id"],
                    "session": name,
                    "speaker": turn["speaker"],
                    "date": talk.get(f"{name}_date_time", ""),
                    "text": turn["text"] + (f" [photo: {caption}]" if caption else ""),
                }
            )
    questions = [
        {
            "question": asked["question"],
            "kind": LOCOMO_KINDS.get(asked.get("category"), "other"),
            "evidence": [
                f"D{int(session)}:{int(turn)}"
                for text in asked.get("evidence", ())
                for session, turn in re.findall(r"D\s*(\d+)\s*:\s*(\d+)", text)
            ],
        }
        for asked in one["qa"]
    ]
    return {"name": one.get("sample_id", ""), "items": items, "questions": questions}


def instant(date: str) -> int | None:
    """The instant of a date as data sets write them; None if it is none."""
    try:
        return from_iso(date)
    except ValueError:
        pass
    day = re.search(r"(\d{1,2}) ([A-Za-z]+),? (\d{4})", date)
    turned = re.search(r"([A-Za-z]+) (\d{1,2}),? (\d{4})", date)
    if day:
        number, month, year = day.groups()
    elif turned:
        month, number, year = turned.groups()
    else:
        return None
    if month.lower() not in MONTHS:
        return None
    return from_iso(f"{year}-{MONTHS.index(month.lower()) + 1:02d}-{int(number):02d}")


def evaluate(sets: list[dict[str, Any]], by: str, share: int, folder: str) -> dict[str, Any]:
    """The figures of all conversations at one capacity."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    queries: list[float] = []
    writes: list[float] = []
    on_disk = logs = texts = items = gists = 0
    for number, one in enumerate(sets):
        memory, ids = remembered(one, by, share, os.path.join(folder, str(number)), writes)
        sessions = {ids[item["id"]]: item.get("session", "") for item in one["items"]}
        for asked in one["questions"]:
            start = time.process_time()
            memory.recall(asked["question"])
            queries.append(time.process_time() - start)
            hits = memory.recall(asked["question"], HITS)
            evidence = list(dict.fromkeys(ids[one] for one in asked["evidence"]))
            found = scores([hit.item.id for hit in hits], evidence, sessions)
            for kind in ("all", asked.get("kind", "other")):
                sums[kind]["questions"] += 1
                for name, value in found.items():
                    sums[kind][name] += value
        counts, _ = memory.stats()
        items, gists, texts = items + counts.items, gists + counts.gists, texts + counts.bytes
        path = os.path.join(folder, str(number), ".continuum", "memory.sqlite3")
        on_disk += os.path.getsize(path)
        logs += os.path.getsize(path + "-wal") if os.path.exists(path + "-wal") else 0
    kinds = {
        kind: {
            name: int(value) if name == "questions" else round(value / held["questions"], 4)
            for name, value in held.items()
        }
        for kind, held in sorted(sums.items())
    }
    return {
        "by": by,
        "share": share,
        "kinds": kinds,
        "items": items,
        "gists": gists,
        "text_bytes": texts,
        "file_bytes": on_disk,
        "log_bytes": logs,
        "query_ms": spread(queries),
        "write_ms": spread(writes),
    }


def remembered(
    one: dict[str, Any], by: str, share: int, folder: str, writes: list[float]
) -> tuple[Memory, dict[str, str]]:
    """A conversation in a memory of its own; the id of the item that each of its items became."""
    whole = len(one["items"])
    if by == "bytes":
        whole = sum(len(item["text"].encode()) for item in one["items"])
    limits = Limits() if share >= 100 else Limits(**{by: max(whole * share // 100, 1)})
    store = MemoryStore(os.path.join(folder, ".continuum", "memory.sqlite3"))
    memory = Memory(store, limits, clock=lambda: CLOCK)
    os.makedirs(folder)
    store.create()
    ids = {}
    for item in one["items"]:
        note = Note(
            item["text"],
            by=item.get("speaker", ""),
            at=instant(item.get("date", "")),
            session=item.get("session", ""),
        )
        start = time.process_time()
        kept = memory.remember(note)
        writes.append(time.process_time() - start)
        ids[item["id"]] = kept.item.id
    return memory, ids


def scores(hits: list[str], evidence: list[str], sessions: dict[str, str]) -> dict[str, float]:
    """What one answer is worth."""
    found = {f"recall@{k}": sum(one in hits[:k] for one in evidence) / len(evidence) for k in AT}
    ranks = [hits.index(one) for one in evidence if one in hits]
    found["mrr"] = 1 / (min(ranks) + 1) if ranks else 0.0
    wanted = {sessions[one] for one in evidence}
    ranked = list(dict.fromkeys(sessions[hit] for hit in hits))
    for k in (1, 5, 10):
        found[f"session@{k}"] = float(any(one in wanted for one in ranked[:k]))
    return found


def spread(values: list[float]) -> dict[str, float]:
    """The middle and the slow end, in milliseconds of processor time."""
    return {
        "p50": round(1_000 * quantile(values, 0.5), 3),
        "p95": round(1_000 * quantile(values, 0.95), 3),
    }


def show(found: dict[str, Any]) -> None:
    """One capacity as a table."""
    bound = "whole" if found["share"] >= 100 else f"{found['share']} % by {found['by']}"
    print(
        f"\n{bound}: {found['items']:,} items ({found['gists']:,} gists),"
        f" {found['text_bytes']:,} bytes of text, {found['file_bytes']:,} in the files"
        f" and {found['log_bytes']:,} in their logs;"
        f" query {found['query_ms']['p50']} ms (p95 {found['query_ms']['p95']}),"
        f" write {found['write_ms']['p50']} ms (p95 {found['write_ms']['p95']}), of processor time"
    )
    names = [*(f"recall@{k}" for k in AT), "mrr", "session@1", "session@5", "session@10"]
    print(f"{'kind':14}{'n':>6}" + "".join(f"{name:>12}" for name in names))
    for kind, held in found["kinds"].items():
        row = "".join(f"{100 * held[name]:>12.1f}" for name in names)
        print(f"{kind:14}{held['questions']:>6}{row}")


if __name__ == "__main__":
    main()
