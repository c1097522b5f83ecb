"""Progress: the state of the work, followed from turn to turn.

Prose claims; calls and their results show.  Here only the latter count: steps as the list's own
tools report them, commits as the version control printed them, a test run by its outcome, a file
as changed when the change was answered, a call as unfinished while nothing answered it.
"""

from __future__ import annotations

from .draft import FAILED, NOTE, RUNNING, STATE, STEP, UNCOMMITTED, Item
from .redaction import mask, mask_start
from .text import folded, shortened
from .transcript import (
    CALL,
    COMMAND_LINE,
    DETAIL,
    EDIT,
    LAUNCH,
    PLACE,
    PULL,
    RESULT,
    TODO,
    TODOS,
    Step,
    Turn,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TEST = "last test run"
GAVE = " -> "
"""Between a test run and the row that tells how it went."""

_OPEN_CALLS = 60
_COMMITS = 12
_FILES = 300
_STEPS = 500
_SUBJECT = 300  # characters of what git prints of a commit
_CLOSED = ("completed", "done", "cancelled", "deleted", "gone")
_TESTS = frozenset("check checks build tsc vet mypy clippy jest spec specs rspec".split())
_TEST_ENDS = ("test", "tests", "lint")
# Programs that look at things or move them: a word behind them names what they look at.
_LOOKS = frozenset(
    "cat head tail less grep rg ag ls find sed awk wc diff git cd echo printf rm mkdir cp mv touch"
    " chmod ln tree stat jq which type export source sleep kill ps open code vim nano curl"
    " wget".split()
)
_WENT_WRONG = frozenset(
    "fail fails failed failing failure failures error errors ✗ ✘ ❌ panic".split()
)
_WENT = _WENT_WRONG | frozenset(
    "pass passed passes passing ok issue issues warning warnings built ✓ ✔ ✅".split()
)
_NOTICES = ("npm notice", "npm warn")


class Progress:
    """Feed it every turn in order; then ask for the items of state."""

    def __init__(self) -> None:
        self.branch: Turn | None = None
        self.folder = ""
        self.pull: Turn | None = None
        self.commits: dict[str, Turn] = {}
        self.files: dict[str, Turn] = {}
        self.committed = 0  # the line of the last commit, whatever it printed
        self.tree: Turn | None = None  # what the version control last said of the working tree
        self.test: tuple[Turn, Turn] | None = None
        self.steps: dict[str, tuple[Step, Turn]] = {}
        self.done: list[str] = []
        self.calls: dict[str, Turn] = {}
        self.launched: dict[str, Turn] = {}

    def feed(self, turn: Turn) -> None:
        """Take note of one turn."""
        kind = turn.kind
        if kind == CALL:
            self.calls[turn.call] = turn
            if len(self.calls) > _OPEN_CALLS:
                del self.calls[next(iter(self.calls))]
        elif kind == LAUNCH:
            # What was started stands in the call; that it was, in the result.
            made = self.calls.pop(turn.call) if turn.call in self.calls else turn
            self.launched[turn.call] = turn._replace(line=made.line, seal=made.seal)
            if len(self.launched) > _OPEN_CALLS:
                del self.launched[next(iter(self.launched))]
        elif kind == PLACE and turn.about == "branch":
            self.branch = turn
        elif kind == PLACE:
            self.folder = turn.text
        elif kind == PULL:
            self.pull = turn
        elif kind == TODOS:
            self.calls.pop(turn.call, None)
            self._replace_steps(turn)
        elif kind == TODO:
            # The step's own words stand in the call, where there is one.
            made = self.calls.pop(turn.call) if turn.call in self.calls else turn
            if turn.steps:
                self._change_step(turn.steps[0], turn._replace(line=made.line, seal=made.seal))
        elif turn.call and kind != DETAIL:  # beside a call, which still waits for its result
            self.launched.pop(turn.call, None)
            call = self.calls.pop(turn.call, None)
            if kind == RESULT and call is not None:
                self._learn(call, turn)

    def forget(self, first: int) -> None:
        """Nothing waits any longer for what was called or sent off from line ``first`` on.

        What it changed is changed all the same.
        """
        for waiting in (self.calls, self.launched):
            for key in [key for key, turn in waiting.items() if turn.line >= first]:
                del waiting[key]

    # ---- steps ----

    def _replace_steps(self, turn: Turn) -> None:
        known = {step.key: step for step, _ in self.steps.values()}
        self.steps = {}
        for step in turn.steps[:_STEPS]:
            before = known.get(step.key)
            if before is not None and not step.title:
                step = step._replace(title=before.title)
            self.steps[step.key] = (step, turn)

    def _change_step(self, step: Step, turn: Turn) -> None:
        before = self.steps.get(step.key)
        if turn.failed:
            # A step that we know and the list does not: the list was emptied behind our back,
            # and what it held is neither open nor done.
            if step.status == "gone" and before is not None:
                self.steps = {}
            return
        if before is None and not step.title:
            return
        if before is not None and step.title and step.status == "pending" and self._all_closed():
            before = None
        if before is None:
            if self.steps and self._all_closed():
                self.steps = {}
            self.steps[step.key] = (step, turn)
            return
        old, named = before
        status = step.status or old.status
        # What was to be done is no news of a step that is done; what was said on closing it is.
        note = step.note or ("" if status in _CLOSED else old.note)
        # It is quoted from where its title stands, not from where its status changed.
        told = turn if step.title else named
        self.steps[step.key] = (Step(step.key, step.title or old.title, status, note), told)

    def _all_closed(self) -> bool:
        return all(step.status in _CLOSED for step, _ in self.steps.values())

    # ---- what results show ----

    def _learn(self, call: Turn, result: Turn) -> None:
        if call.via == EDIT:
            if not result.failed and call.about:
                self.files.pop(call.about, None)
                self.files[call.about] = result
                if len(self.files) > _FILES:
                    del self.files[next(iter(self.files))]
            return
        if call.via != COMMAND_LINE:
            return
        command = call.text or call.about
        if "commit" in command or "cherry-pick" in command:
            self._learn_commit(command, result)
        if "git" in command and not result.failed:
            for words in _commands(command):
                self._learn_git(words, result)
        if "git status" in command and not result.failed:
            self.tree = result
        if " create" in command and not result.failed:
            self._learn_pull(result)
        if _is_test_run(command):
            self.test = (call, result)

    def _learn_git(self, words: list[str], result: Turn) -> None:
        """What a command of the version control did to commits and files."""
        verb, rest = _git(words)
        named = [word for word in rest if not word.startswith("-")]
        if verb == "commit":
            self.committed = result.line
        elif verb == "reset":
            self._take_back(named[0] if named else "HEAD")
            if "--hard" in rest:
                self._restore(["."])
        elif verb == "restore" and "--staged" not in rest:
            self._restore(named)
        elif verb == "checkout" and ("--" in rest or "." in rest):
            self._restore(rest[rest.index("--") + 1 :] if "--" in rest else ["."])

    def _take_back(self, target: str) -> None:
        """Commits that a reset to ``target`` leaves behind are told no more."""
        known = list(self.commits)
        head, mark, count = target.partition("~")
        if target.strip("^") == "HEAD":
            gone = len(target) - len("HEAD")
        elif head == "HEAD" and mark and (count or "1").isdigit():
            gone = int(count or "1")
        else:
            at = next((at for at, one in enumerate(known) if target.startswith(one)), -1)
            gone = len(known) - at - 1  # all of them, for one that was never told here
        for digest in known[max(len(known) - gone, 0) :]:
            del self.commits[digest]

    def _restore(self, paths: list[str]) -> None:
        """Files whose changes were thrown away are told no more."""
        for path, turn in list(self.files.items()):
            lost = any(
                one in (".", ":/") or path.endswith(f"/{one}") or path == one for one in paths
            )
            if lost and turn.line > self.committed:
                del self.files[path]

    def _learn_commit(self, command: str, result: Turn) -> None:
        """Commits as git prints them: ``[branch 1a2b3c4] Subject``, one for each that was made."""
        made = iter(_without_quotations(command).split(" commit")[1:])
        at = result.text.find("[")
        while at >= 0:
            end = result.text.find("\n", at)
            row = result.text[at + 1 : end if end >= 0 else None]
            place, closed, subject = row.partition("] ")
            digest = place.rpartition(" ")[2]
            if closed and " " in place and 7 <= len(digest) <= 40 and _is_hex(digest):
                if "--amend" in next(made, "") and self.commits:
                    self.commits.popitem()  # it stands in the place of the one before it
                subject = mask_start(subject, _SUBJECT)
                self.commits[digest] = result._replace(text=folded(f"{digest} {subject}"))
                if len(self.commits) > _COMMITS:
                    del self.commits[next(iter(self.commits))]
            at = result.text.find("\n[", at + 1)
            at = at + 1 if at >= 0 else at

    def _learn_pull(self, result: Turn) -> None:
        """A pull request as its tool prints it: its address, alone on the last row."""
        row = result.text.rstrip().rpartition("\n")[2].strip()
        if row.startswith("https://") and " " not in row and row.rpartition("/")[2].isdigit():
            self.pull = result._replace(text=row)

    # ---- items ----

    def items(self) -> list[Item]:
        """Open steps, what is running, and where the work stands."""
        return [*self._step_items(), *self._running_items(), *self._state_items()]

    def _step_items(self) -> list[Item]:
        ranked = sorted(
            (entry for entry in self.steps.values() if entry[0].status not in _CLOSED),
            key=lambda entry: entry[0].status != "in_progress",
        )
        items = []
        for step, turn in ranked[:60]:
            note = folded(mask(step.note))
            title = folded(mask(step.title)) or "(no title)"
            text = f"{title}{NOTE}{shortened(note, 200)}" if note else title
            about = f"#{step.key} {step.status}"
            items.append(Item(STEP, shortened(text, 400), turn.line, turn.seal, about))
        return items

    def _running_items(self) -> list[Item]:
        items = []
        for turn in list(self.launched.values())[-12:]:
            text = shortened(folded(mask(turn.about or turn.text)), 300)
            # What the harness calls it, by which its output is asked for and it is stopped.
            name = f" as {shortened(folded(turn.via), 40)}" if turn.via else ""
            about = f"{turn.tool or 'agent'} sent{name}"
            items.append(Item(RUNNING, text, turn.line, turn.seal, about))
        for turn in list(self.calls.values())[-6:]:
            text = shortened(folded(mask(turn.about or turn.text)), 300)
            items.append(Item(RUNNING, text, turn.line, turn.seal, f"{turn.tool} called"))
        return items

    def _state_items(self) -> list[Item]:
        items = []
        if self.branch is not None:
            items.append(_state("branch", self.branch.text, self.branch))
        if self.pull is not None:
            items.append(_state("pull request", self.pull.text, self.pull))
        for turn in reversed(self.commits.values()):
            items.append(_state("commit", turn.text, turn))
        if self.test is not None:
            call, result = self.test
            ran = shortened(folded(mask(call.about or call.text)), 120)
            item = _state(TEST, f"{ran}{GAVE}{_verdict(result)}", result)
            items.insert(min(len(items), 2), item._replace(mark=FAILED if result.failed else ""))
        if self.tree is not None and self.tree.line > self.committed:
            rows = [row for row in map(folded, self.tree.text.split("\n")) if row][:2]
            if rows:
                items.append(_state("git status", " ".join(rows), self.tree))
        for path, turn in list(reversed(self.files.items()))[:40]:
            mark = UNCOMMITTED if turn.line > self.committed else ""
            items.append(_state("file", self._short(path), turn)._replace(mark=mark))
        closed = [step for step, _ in self.steps.values() if step.status in ("completed", "done")]
        for step in closed[-30:]:
            turn = self.steps[step.key][1]
            note = f": {step.note}" if step.note else ""
            items.append(_state("step done", f"#{step.key} {step.title}{note}", turn))
        return items

    def _short(self, path: str) -> str:
        return path.removeprefix(self.folder.rstrip("/") + "/") if self.folder else path


def _state(about: str, text: str, turn: Turn) -> Item:
    return Item(STATE, shortened(folded(mask(text)), 400), turn.line, turn.seal, about)


def _is_test_run(command: str) -> bool:
    """Whether one of the commands runs tests, checks or a build: by its program, or by what that
    is told to do.  Neither what stands in quotation marks nor a path says so."""
    for words in _commands(command):
        if words[0].rpartition("/")[2] in _LOOKS:
            continue
        named = [words[0].rpartition("/")[2], *(word for word in words[1:8] if "/" not in word)]
        for word in named:
            stem = word.partition(".")[0]
            for part in stem.replace(":", " ").replace("-", " ").replace("_", " ").split():
                if part in _TESTS or part.startswith("test") or part.endswith(_TEST_ENDS):
                    return True
    return False


def _commands(command: str) -> Iterator[list[str]]:
    """The words of each command of a line, without what is quoted, set before it, or a comment."""
    bare = _without_quotations(command[:600])
    for mark in ("&&", "||", ";", "|", "$("):
        bare = bare.replace(mark, "\n")
    for row in bare.split("\n"):
        words = row.split()
        if words and words[0].startswith("#"):
            continue
        while words and "=" in words[0]:
            del words[0]
        if words:
            yield words


def _git(words: list[str]) -> tuple[str, list[str]]:
    """What git is told to do, and what stands behind it; two times nothing for another program."""
    if words[0].rpartition("/")[2] != "git":
        return "", []
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 1 + (words[at] in ("-C", "-c"))
    return (words[at], words[at + 1 :]) if at < len(words) else ("", [])


def _without_quotations(command: str) -> str:
    """``command`` up to a text that it holds as a whole, without what is in quotation marks."""
    bare = command.partition("<<")[0].replace('\\"', "")
    for mark in "\"'":
        bare = " ".join(bare.split(mark)[::2])
    return bare


def _verdict(result: Turn) -> str:
    """The line of a test run's output that tells most: the last that tells of a failure, else the
    last with a number and a word of how it went, else the last one with a number in it."""
    last = mask("\n".join(result.text.split("\n")[-40:]))
    rows = [row for row in map(folded, last.split("\n")) if row]
    rows = [row for row in rows if not row.startswith(_NOTICES)] or rows
    if not rows:
        return "failed, no output" if result.failed else "no output"
    telling = [row for row in rows if any(map(str.isdigit, row)) and any(map(str.isalpha, row))]
    went = [row for row in telling if not _WENT.isdisjoint(_plain_words(row))]
    wrong = [row for row in went if _tells_of_failure(row)]
    return shortened((wrong or went or telling or rows)[-1], 200)


def _plain_words(row: str) -> list[str]:
    return [word.strip(".,:;!()[]=-*") for word in row.lower().split()]


def _tells_of_failure(row: str) -> bool:
    words = _plain_words(row)
    return any(
        word in _WENT_WRONG and before not in ("0", "no")
        for before, word in zip(["", *words], words)
    )


def _is_hex(word: str) -> bool:
    return all(c in "0123456789abcdef" for c in word)
