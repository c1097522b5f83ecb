"""Learn what each sign of a quotation is worth: writes ``core/weights.py``.

    pip install --group train
    python benchmarks/train_ranking.py --probes DIR --transcripts DIR [--write]

The data are those of ``handoff_recall.py``: recorded sessions, each cut at a line, and facts that
the work after that line needs.  A candidate quotation counts as right if it holds a spelling of
such a fact.  Two things are learned from that:

1.  ``SIGNS`` and ``BASE``, a logistic regression over all candidates of all sessions.  A fact that
    many candidates hold is still one fact, so each of them counts for less; a fact that the fixed
    parts of the handoff show (goal, last words, where the agent left off) has nothing to teach;
2.  ``WORTH``, a factor for each of a few groups of kinds, by trying others, one after the other,
    and keeping what puts more of the facts into handoffs of several lengths, by more than sessions
    differ in that.

Before anything is written, the same is done once for each session without that session, and the
handoff of the session that was left out is measured: that figure, and not the one on the data
learned from, says what to expect elsewhere.  The same data give the same file.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from contextspindle.core import ranking
from contextspindle.core.draft import Draft
from contextspindle.core.extract import Extractor
from contextspindle.core.restoration import Header, assemble
from contextspindle.harness import detect

WEIGHTS = Path(__file__).resolve().parent.parent / "src/contextspindle/core/weights.py"
HEADER = Header(
    "5e551011-0000-4000-8000-000000000000",
    1,
    "2026-01-01T00:00:00.000Z",
    source="contextspindle fuse source --session 5e551011-0000-4000-8000-000000000000",
    more="contextspindle fuse restore --plain --session 5e551011-0000-4000-8000-000000000000",
)
RIDGE = 3.0
"""How strongly the regression is held back."""
ONE_FACT = 0.5
"""How far the candidates that hold one fact share its weight: 0, each counts whole; 1, all of them
together count as one."""

STEPS = (0.5, 2.0)
"""What the worth of a kind is multiplied by to look for a better one."""
PASSES = 2
HELD = 0.5
"""How much of what a change gains and loses by single sessions it must gain over all."""
LONG = tuple(range(5_000, 7_001, 250))
SHORT = tuple(range(1_600, 2_601, 200))
AIMS = {
    **dict.fromkeys(LONG, 2.5 / len(LONG)),
    **dict.fromkeys(SHORT, 1.5 / len(SHORT)),
}
"""Budgets, and how much the recall at each counts: many, so that a fact that just does or does
not fit at one of them weighs little."""
SHOWN = (6_000, 2_000)
ENOUGH = 8_000
"""Bytes of choice that no such budget exhausts."""


PINNED = (("rule",), ("unread",))
"""Kinds that stay as they begin: what the human wants always is not traded for a score, and of the
recorded sessions a single one has a report that nobody had taken up yet, from which nothing can be
learned.  Such a report was paid for and stands nowhere else, so it counts like the human's words.
"""

ALIKE = {
    ("rule",): 8.0,
    ("file", "step"): 8.0,
    ("asked", "decided"): 4.0,
    ("running", "state", "step done"): 4.0,
    ("called", "shown"): 0.25,
    ("unread",): 4.0,
}
"""Kinds that share one factor, and where the search for it begins: what the human wants, open
steps and changed files, what the human said, what is on record of the work, what went in and out
of tools, reports that nobody took up.  All others are prose and have the factor 1.  A few factors
can be learned from so few facts; one for each kind did worse on sessions left out."""


class Session:
    """A cut session: its candidates, what is seen of them, and the facts that are needed."""

    def __init__(self, name: str, probe: dict[str, Any], transcript: Path) -> None:
        self.name = name
        lines = transcript.read_bytes().split(b"\n")[: probe["cut_line"]]
        with tempfile.TemporaryDirectory(prefix="spindle-train-") as folder:
            path = Path(folder) / "session.jsonl"
            path.write_bytes(b"\n".join(lines) + b"\n")
            self.extractor = Extractor()
            for turn in detect(str(path)).read(str(path)):
                self.extractor.feed(turn)
        facts = [(one["needle"], one.get("importance", 2)) for one in probe["probes"]]
        self.facts = [([_folded(needle) for needle in needles], w) for needles, w in facts]
        terms = self.extractor.terms
        self.weight = terms.weights()
        self.fixed, self.passages, self.covered = self.extractor.candidates(self.weight)
        judge = ranking.Judge(self.passages, terms, self.weight)
        self.signs = [judge.signs(passage) for passage in self.passages]
        texts = [_folded(f"{p.item.text} {p.item.about}") for p in self.passages]
        held = [self._facts_in(text) for text in texts]
        self.right = np.array([bool(found) for found in held], float)
        self.counts = self._counts(held)

    def _facts_in(self, text: str) -> set[int]:
        """The numbers of the facts that a folded text holds."""
        return {at for at, (needles, _) in enumerate(self.facts) if any(n in text for n in needles)}

    def _counts(self, held: list[set[int]]) -> np.ndarray:
        """How much each candidate counts in the regression, from the facts it holds."""
        frame = Draft(tuple(self.fixed), 1, 0, 1)
        shown = self._facts_in(_folded(assemble(frame, HEADER, (), SHOWN[0])))
        times = Counter(at for found in held for at in found)
        return np.array(
            [
                max((times[at] ** -ONE_FACT for at in found - shown), default=0.0) if found else 1.0
                for found in held
            ]
        )

    def matrix(self, names: list[str]) -> np.ndarray:
        """What is seen of each candidate, a row each."""
        return np.array([[found.get(name, 0.0) for name in names] for found in self.signs])

    def chosen(self, promise: np.ndarray, worth: dict[str, float]) -> list[int]:
        """The candidates in the order that these values give."""
        values = [
            float(value) * worth.get(passage.kind, 1.0)
            for value, passage in zip(promise, self.passages)
        ]
        return ranking.choice(self.passages, values, self.weight, ENOUGH, self.covered)

    def draft(self, promise: np.ndarray, worth: dict[str, float]) -> Draft:
        """The draft that a ranking with these values gives."""
        picks = (self.passages[at].item for at in self.chosen(promise, worth))
        return Draft((*self.fixed, *picks), 1, 0, 1)

    def held(self, draft: Draft, budget: int) -> tuple[float, float]:
        """The facts in the handoff: their number, and weighted by importance."""
        text = _folded(assemble(draft, HEADER, (), budget))
        found = [(1, w) for needles, w in self.facts if any(n in text for n in needles)]
        return float(len(found)), float(sum(w for _, w in found))

    def important(self, draft: Draft, budget: int) -> int:
        """The facts of the highest importance in the handoff."""
        text = _folded(assemble(draft, HEADER, (), budget))
        return sum(w == 3 and any(n in text for n in needles) for needles, w in self.facts)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def sessions(probes: Path, transcripts: Path) -> list[Session]:
    """The sessions whose transcripts are there and can be read."""
    found = []
    for path in sorted(probes.glob("*.json")):
        probe = json.loads(path.read_text(encoding="utf-8"))
        for place in (transcripts / probe["transcript"], transcripts.parent / probe["transcript"]):
            if place.is_file():
                try:
                    found.append(Session(path.stem, probe, place))
                except Exception as error:
                    print(f"{path.stem} left out: {error}")
                break
    return found


def regression(
    matrix: np.ndarray, right: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, float]:
    """A logistic regression: the worth of each sign, and the base.

    ``counts`` says how much each row counts.
    """
    mean, spread = matrix.mean(0), matrix.std(0)
    spread[spread < 1e-6] = 1.0
    known = np.hstack([(matrix - mean) / spread, np.ones((len(matrix), 1))])
    held = RIDGE * np.diag(np.r_[np.ones(matrix.shape[1]), 1e-9])
    found = np.zeros(known.shape[1])
    for _ in range(40):
        likely = 1 / (1 + np.exp(-known @ found))
        slope = known.T @ (counts * (likely - right)) + held @ found
        bend = (known * (counts * likely * (1 - likely) + 1e-9)[:, None]).T @ known + held
        step = np.linalg.solve(bend, slope)
        found -= step
        if np.abs(step).max() < 1e-8:
            break
    worth = found[:-1] / spread
    return worth, float(found[-1] - worth @ mean)


class Tuning:
    """The choice of WORTH, given what each candidate promises."""

    def __init__(self, data: list[Session], promises: list[np.ndarray], kinds: list[str]) -> None:
        self.data = data
        self.promises = promises
        self.kinds = kinds
        self.known: dict[tuple[Any, ...], float] = {}

    def score(self, at: int, setting: tuple[float, ...]) -> float:
        """How good the choice from a session is."""
        key = (at, *setting)
        if key not in self.known:
            worth = dict(zip(self.kinds, setting))
            draft = self.data[at].draft(self.promises[at], worth)
            self.known[key] = 0.0
            for budget, share in AIMS.items():
                count, weighted = self.data[at].held(draft, budget)
                self.known[key] += share * (count + weighted / 2)
        return self.known[key]

    def best(self, some: list[int]) -> tuple[float, ...]:
        """The best setting for these sessions, kind after kind.

        A change must gain more over all than it gains and loses by the single session: what helps
        one session alone is not learned.
        """
        begin = {kind: factor for alike, factor in ALIKE.items() for kind in alike}
        setting = tuple(begin.get(kind, 1.0) for kind in self.kinds)
        for _ in range(PASSES):
            for alike in ALIKE:
                if alike in PINNED:
                    continue
                most, better = 0.0, setting
                for step in STEPS:
                    other = tuple(
                        value * step if kind in alike else value
                        for kind, value in zip(self.kinds, setting)
                    )
                    gains = [self.score(at, other) - self.score(at, setting) for at in some]
                    gain = sum(gains) - HELD * sum(one * one for one in gains) ** 0.5
                    if gain > most:
                        most, better = gain, other
                setting = better
        return setting


def main() -> None:
    """Learn, measure on what was left out, and write if that was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--probes", type=Path, required=True, metavar="DIR")
    parser.add_argument("--transcripts", type=Path, required=True, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="write core/weights.py")
    parser.add_argument("--quick", action="store_true", help="do not leave sessions out")
    arguments = parser.parse_args()
    data = sessions(arguments.probes, arguments.transcripts)
    names = sorted({name for session in data for found in session.signs for name in found})
    kinds = sorted({passage.kind for session in data for passage in session.passages})
    matrices = [session.matrix(names) for session in data]
    everything = list(range(len(data)))

    def learned(some: list[int]) -> tuple[np.ndarray, float]:
        return regression(
            np.vstack([matrices[at] for at in some]),
            np.concatenate([data[at].right for at in some]),
            np.concatenate([data[at].counts for at in some]),
        )

    def promised(at: int, found: tuple[np.ndarray, float]) -> np.ndarray:
        return 1 / (1 + np.exp(-(matrices[at] @ found[0] + found[1])))

    without = [promised(at, learned([n for n in everything if n != at])) for at in everything]
    tuning = Tuning(data, without, kinds)
    whole = tuning.best(everything)
    print("worth:", dict(zip(kinds, whole)), flush=True)
    if not arguments.quick:
        report(
            "left out",
            data,
            [tuning.best([n for n in everything if n != at]) for at in everything],
            tuning,
        )
    report("regression left out, worth of all", data, [whole] * len(data), tuning)
    found = learned(everything)
    report(
        "all learned from",
        data,
        [whole] * len(data),
        Tuning(data, [promised(at, found) for at in everything], kinds),
    )
    if arguments.write:
        write(names, kinds, found, whole, len(data), sum(len(one.facts) for one in data))


def report(
    title: str, data: list[Session], settings: list[tuple[float, ...]], tuning: Tuning
) -> None:
    """The recall at each budget, and the mean over many of them."""
    facts = sum(len(session.facts) for session in data)
    shares = []
    for budget in SHOWN:
        held = important = most = 0.0
        for at, session in enumerate(data):
            setting = settings[at]
            draft = session.draft(tuning.promises[at], dict(zip(tuning.kinds, setting)))
            held += session.held(draft, budget)[0]
            important += session.important(draft, budget)
            most += sum(w == 3 for _, w in session.facts)
        shares.append(f"{budget:,} bytes {held / facts:.3f} (importance 3: {important / most:.3f})")
    for budgets in (LONG, SHORT):
        held = 0.0
        for at, session in enumerate(data):
            draft = session.draft(tuning.promises[at], dict(zip(tuning.kinds, settings[at])))
            held += sum(session.held(draft, budget)[0] for budget in budgets)
        mean = held / facts / len(budgets)
        shares.append(f"mean of {budgets[0]:,} to {budgets[-1]:,} bytes {mean:.3f}")
    print(f"{title}: {', '.join(shares)}", flush=True)


def write(
    names: list[str],
    kinds: list[str],
    found: tuple[np.ndarray, float],
    setting: tuple[float, ...],
    count: int,
    facts: int,
) -> None:
    """The file of weights, in its one form."""
    rows = [
        '"""What each sign of a candidate is worth.  Written by a script: do not edit.',
        "",
        "``benchmarks/train_ranking.py`` learned it from recorded sessions, of which nothing else",
        f"is here: {count} sessions cut at a line, {facts} facts that the work after it needed.",
        '"""',
        "",
        f"BASE = {found[1]:.3f}",
        "SIGNS: dict[str, float] = {",
        *(f'    "{name}": {value:.3f},' for name, value in zip(names, found[0])),
        "}",
        "WORTH: dict[str, float] = {",
        *(f'    "{kind}": {value},' for kind, value in zip(kinds, setting)),
        "}",
    ]
    WEIGHTS.write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
