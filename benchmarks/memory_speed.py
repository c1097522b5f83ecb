"""What the memory costs: in a process that stays, and by the command against the bare interpreter.

    python benchmarks/memory_speed.py --sizes 750 10000 --json figures.json

Texts are made up of words as often as the words of a language are: the n-th word is used about a
n-th as often as the first.  ``--data`` takes the turns of a data set that ``memory_recall.py``
reads instead, again and again with a number behind them until there are enough.  A write is timed
in turn with one ``fdatasync`` of a page written to a file in the same folder, the least that any
durable write costs there; what it costs beside its sync is its processor time.  "Full" is a memory
whose limit is what it holds, so that each write has to let go of something.  The handoff of a task
is asked for beside the memory and where there is none: the difference is what its hints cost.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from typing import Any

from common import arguments_of, keep, load, quantile, ratio, run, spread, workspace
from memory_recall import conversations, instant

from contextspindle.actions.memory import Memory
from contextspindle.core.change import Request
from contextspindle.core.memory import Limits, Note
from contextspindle.store.memory import MemoryStore

VOCABULARY = 20_000
CLOCK = 1_767_225_600_000
RARE = "rare"
SYLLABLES = "ka lo mi ter vel no ra shi pon du gar est bri cho fen ul wex yor zan qui".split()


def main() -> None:
    """Fill, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[750, 10_000], metavar="N")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=30, help="calls of the command")
    parser.add_argument("--data", metavar="FILE", help="a data set, instead of made-up texts")
    arguments = arguments_of(None, parser)
    before = load()
    source = list(turns(arguments.data)) if arguments.data else []
    results = []
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory(prefix="spindle-bench-") as folder:
            found = measured(folder, size, source, arguments)
        results.append(found)
        show(found)
    data = os.path.basename(arguments.data) if arguments.data else ""
    keep(arguments, before, rounds=arguments.rounds, data=data, results=results)


def turns(path: str) -> list[tuple[Note, str]]:
    """The turns of a data set, and a question for as many of them as there are."""
    found = []
    for number, one in enumerate(conversations(path)):
        asked = [question["question"] for question in one["questions"]] or [""]
        for at, item in enumerate(one["items"]):
            note = Note(
                item["text"],
                by=item.get("speaker", ""),
                at=instant(item.get("date", "")),
                session=f"{number}/{item.get('session', '')}",
            )
            found.append((note, asked[at % len(asked)]))
    return found


class Texts:
    """Notes and questions without end, the same in every run."""

    def __init__(self, source: list[tuple[Note, str]]) -> None:
        self._source = source
        self._chance = random.Random(5)
        self._words = ["".join(self._chance.choices(SYLLABLES, k=3)) for _ in range(VOCABULARY)]
        self._often = [1 / (1 + number) for number in range(VOCABULARY)]
        self._given = 0

    def next(self) -> tuple[Note, str]:
        """One note, and one question."""
        number = self._given
        self._given += 1
        if self._source:
            note, question = self._source[number % len(self._source)]
            again = number // len(self._source)
            return (note._replace(text=f"{note.text} ({again})") if again else note), question
        drawn = self._chance.choices(self._words, self._often, k=self._chance.randrange(8, 40))
        note = Note(
            " ".join((*drawn, str(number))),
            by=f"speaker{number % 2}",
            at=CLOCK + number,
            session=f"s{number // 25}",
        )
        return note, "what of " + " ".join(self._chance.choices(self._words, self._often, k=6))


def measured(
    folder: str, size: int, source: list[tuple[Note, str]], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Everything that is measured of a memory of ``size`` items."""
    space = workspace(folder)
    space.make()
    texts = Texts(source)
    memory = Memory(
        MemoryStore(space.memory_path), Limits(items=2 * size + 10_000, bytes=1 << 30),
        clock=lambda: CLOCK,
    )  # fmt: skip
    questions = []
    fill: list[Note] = []
    for number in range(size):
        note, question = texts.next()
        fill.append(note._replace(labels=(RARE,)) if number % 100 == 0 else note)
        questions.append(question)
    memory.take_in(fill, "benchmark")
    random.Random(1).shuffle(questions)
    queries: dict[str, list[float]] = {"": [], RARE: []}
    for question in questions[: arguments.rounds]:
        for label, took in queries.items():
            start = time.process_time()
            memory.recall(question, label=label)
            took.append((time.process_time() - start) * 1_000)
    counts, _ = memory.stats()
    found: dict[str, Any] = {
        "items": counts.items,
        "bytes": counts.bytes,
        "query": spread_of(queries[""]),
        "query_by_label": spread_of(queries[RARE]),
        "command": commands(folder, questions, arguments),
        "writes": {},
    }
    for name, limits in (
        ("with room", Limits(items=2 * size + 10_000, bytes=1 << 30)),
        ("full by items", Limits(items=counts.items + arguments.rounds, bytes=1 << 30)),
        ("full by bytes", Limits(items=2 * size + 10_000, bytes=0)),
    ):
        if not limits.bytes:
            now, _ = memory.stats()
            limits = limits._replace(bytes=now.bytes)
        found["writes"][name] = writes(space.memory_path, limits, texts, arguments.rounds)
    return found


def spread_of(took: list[float]) -> dict[str, float]:
    """The middle and the slow end of milliseconds."""
    return {"p50": round(quantile(took, 0.5), 2), "p95": round(quantile(took, 0.95), 2)}


def writes(path: str, limits: Limits, texts: Texts, rounds: int) -> dict[str, float]:
    """One more item, again and again."""
    memory = Memory(MemoryStore(path), limits, clock=lambda: CLOCK)
    beside = os.open(path + ".sync", os.O_CREAT | os.O_WRONLY, 0o600)
    whole, synced, worked = [], [], []
    for turn in range(rounds + 5):
        note, _ = texts.next()
        start, cpu = time.perf_counter(), time.process_time()
        memory.remember(note)
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        start = time.perf_counter()
        os.pwrite(beside, b"x" * 4_096, 0)
        os.fdatasync(beside)
        if turn >= 5:
            whole.append(took * 1_000)
            worked.append(cpu * 1_000)
            synced.append((time.perf_counter() - start) * 1_000)
    os.close(beside)
    return {
        "p50_ms": round(quantile(whole, 0.5), 2),
        "sync_p50_ms": round(quantile(synced, 0.5), 2),
        "processor_p50_ms": round(quantile(worked, 0.5), 2),
        "processor_p95_ms": round(quantile(worked, 0.95), 2),
    }


def commands(
    folder: str, questions: list[str], arguments: argparse.Namespace
) -> dict[str, dict[str, float]]:
    """The command as installed, in turn with the bare interpreter: its processor time."""
    bare: list[float] = []
    names = ("recall", "remember", "stats", "context", "context without a memory")
    took: dict[str, list[float]] = {name: [] for name in names}
    without = os.path.join(folder, "without")
    os.mkdir(without)
    workspace(without).make()
    tasks = {
        place: workspace(place).ledger().create(Request({"goal": questions[0]})).task.id
        for place in (folder, without)
    }
    for number in range(arguments.calls):
        bare.append(run([sys.executable, "-I", "-c", "pass"], folder)[0])
        call = [arguments.command, "--workspace", folder]
        question = questions[number % len(questions)].lstrip("-") or "x"
        took["recall"].append(run([*call, "recall", question], folder)[0])
        took["remember"].append(
            run([*call, "remember", f"number {number} of {question}"], folder)[0]
        )
        took["stats"].append(run([*call, "stats"], folder)[0])
        for name, place in (("context", folder), ("context without a memory", without)):
            handoff = [arguments.command, "--workspace", place, "task", "context", tasks[place]]
            took[name].append(run(handoff, folder)[0])
    found = {
        name: {**spread(values), "ratio": ratio(values, bare)} for name, values in took.items()
    }
    return {"bare": spread(bare), **found}


def show(found: dict[str, Any]) -> None:
    """One size."""
    query = found["query"]
    print(f"\n{found['items']:,} items, {found['bytes']:,} bytes of text")
    print(f"query, of processor time: {query['p50']} ms (p95 {query['p95']})")
    query = found["query_by_label"]
    print(f"the same by a label of one in a hundred: {query['p50']} ms (p95 {query['p95']})")
    for name, held in found["command"].items():
        print(f"{name}: {held['median']} ms of processor time, {held.get('ratio', 1)} times bare")
    for name, held in found["writes"].items():
        print(
            f"write, {name}: {held['p50_ms']} ms, a sync {held['sync_p50_ms']};"
            f" of processor time {held['processor_p50_ms']} (p95 {held['processor_p95_ms']})"
        )


if __name__ == "__main__":
    main()
