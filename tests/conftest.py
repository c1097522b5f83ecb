"""What every test may lean on: guards, frozen time, counted ids, ledgers, the command."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(
        0, str(ROOT)
    )  # so that tests find `tests.strategies` however pytest was started

from contextspindle.actions.ledger import Ledger  # noqa: E402
from contextspindle.core.change import Request  # noqa: E402
from contextspindle.core.task import ID_ALPHABET  # noqa: E402
from contextspindle.store.ephemeral import EphemeralStore  # noqa: E402
from contextspindle.store.sqlite import SqliteStore  # noqa: E402

LONG = os.environ.get("CONTEXTSPINDLE_LONG", "") not in ("", "0")
COMMAND = os.environ.get("CONTEXTSPINDLE_COMMAND", "")
DATA = os.environ.get("CONTEXTSPINDLE_TEST_DATA", "")

START = 1_767_225_600_000  # 2026-01-01T00:00:00.000Z

settings.register_profile(
    "contextspindle",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=1_000 if LONG else 40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("contextspindle")


# -- guards


class OutOfBounds(AssertionError):
    """A test reached for something that tests must not touch."""


def _is_near(host: object) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    shown = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(shown.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _stay_near(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: no socket of this process leads off this machine."""
    if not event.startswith("socket."):
        return
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        # The address of a Unix socket is a path; an internet address is a tuple.
        if isinstance(address, tuple) and address and not _is_near(address[0]):
            raise OutOfBounds(f"{event} to {address!r}: tests use no network")
    looks_up = event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
    if looks_up and not _is_near(arguments[0]):
        raise OutOfBounds(f"{event} of {arguments[0]!r}: tests use no network")


def _is_foreign_setting(name: str) -> bool:
    return name.startswith(("CONTEXTSPINDLE_", "GIT_"))


def pytest_configure(config: pytest.Config) -> None:
    sys.addaudithook(_stay_near)
    # Workers read the settings of the tests from the environment that they are started with: the
    # process that starts them keeps it, and runs no test.
    if not getattr(config.option, "numprocesses", None):
        for name in [name for name in os.environ if _is_foreign_setting(name)]:
            del os.environ[name]
    # What Hypothesis keeps between runs would make one run depend on another.
    kept = tempfile.TemporaryDirectory(prefix="contextspindle-hypothesis-")
    set_hypothesis_home_dir(kept.name)
    config.add_cleanup(kept.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if _data() is None:
        skip = pytest.mark.skip(reason=_NO_DATA)
        for item in items:
            if item.get_closest_marker("real_data"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.mktemp("homes")
    return (base / str(number) for number in range(sys.maxsize))


@pytest.fixture(autouse=True)
def home(_homes: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of this test's own; nobody's real one is ever seen, nor anybody's settings."""
    folder: Path = next(_homes)
    folder.mkdir()
    for name in [name for name in os.environ if _is_foreign_setting(name)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    monkeypatch.setenv("USER", "tester")
    monkeypatch.setenv("TZ", "UTC")
    return folder


# -- recorded material

_NO_DATA = "needs the recorded transcripts: set CONTEXTSPINDLE_TEST_DATA to their folder"


def _data() -> Path | None:
    folder = Path(DATA) if DATA else ROOT.parent / "shared"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of recorded material; the test is skipped where there is none."""
    folder = _data()
    if folder is None:
        pytest.skip(_NO_DATA)
    return folder


@pytest.fixture(scope="session")
def long_run() -> bool:
    """Whether full counts are wanted where tests sample (CONTEXTSPINDLE_LONG=1)."""
    return LONG


# -- a world that does not move by itself


class Clock:
    """Milliseconds that stand still until somebody moves them."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def forward(self, ms: int) -> None:
        self.now += ms


class CountedIds:
    """Task ids in a known order: t-00000001, t-00000002, ..."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        digits, rest = "", self.count
        while rest:
            digits, rest = ID_ALPHABET[rest % 32] + digits, rest // 32
        return "t-" + digits.rjust(8, "0")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ids() -> CountedIds:
    return CountedIds()


@pytest.fixture(scope="session")
def make_ledger() -> Any:
    """A function that gives a ledger: on ``store`` (else in memory), with its own clock and ids."""

    def make(
        store: Any = None, *, actor: str = "ada", clock: Any = None, ids: Any = None
    ) -> Ledger:
        return Ledger(
            EphemeralStore() if store is None else store,
            actor=actor,
            clock=clock or Clock(),
            new_id=ids or CountedIds(),
        )

    return make


@pytest.fixture
def ledger(make_ledger: Any, clock: Clock, ids: CountedIds) -> Ledger:
    """A ledger in memory."""
    made: Ledger = make_ledger(clock=clock, ids=ids)
    return made


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Any:
    """An empty ledger in a file."""
    store = SqliteStore(str(tmp_path / "tasks" / "ledger.sqlite3"))
    store.create()
    yield store
    store.close()


@pytest.fixture(scope="session")
def ask() -> Any:
    """A request: the words that are fields are set, the others are passed as they are."""

    def made(**words: Any) -> Request:
        parts = {name: words.pop(name) for name in Request._fields if name in words}
        return Request(**{"set": words, **parts})

    return made


# -- the command as installed


class Result(NamedTuple):
    """How a command ended."""

    status: int
    out: bytes
    err: bytes

    @property
    def data(self) -> Any:
        """What a command with ``--json`` answered."""
        document = json.loads(self.out)
        assert document["schema_version"] == 1
        return document["data"]

    @property
    def error(self) -> Any:
        """What a command with ``--json`` complained of."""
        return json.loads(self.err.splitlines()[-1])["error"]


class Command:
    """Runs the installed command in one folder, with a minimal environment."""

    def __init__(self, path: str, folder: Path, home: Path) -> None:
        self.path = path
        self.folder = folder
        self.environment = {
            "PATH": os.defpath,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "TMPDIR": str(home),
            "USER": "tester",
        }

    def __call__(
        self,
        *words: str | bytes,
        input: bytes = b"",  # noqa: A002 (the word of subprocess)
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 60,
    ) -> Result:
        done = subprocess.run(
            [self.path, *words],
            input=input,
            capture_output=True,
            cwd=cwd or self.folder,
            env={**self.environment, **(env or {})},
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """The command, running."""
        return subprocess.Popen(
            [self.path, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env={**self.environment, **(env or {})},
        )


@pytest.fixture(scope="session")
def command_path() -> str:
    """Where the installed command is: CONTEXTSPINDLE_COMMAND, else beside this interpreter."""
    path = COMMAND or os.path.join(os.path.dirname(sys.executable), "contextspindle")
    if not os.access(path, os.X_OK):
        pytest.skip(
            f"the command is not installed at {path}: install the package, or set"
            " CONTEXTSPINDLE_COMMAND"
        )
    return path


@pytest.fixture
def command(command_path: str, tmp_path: Path, home: Path) -> Command:
    """The installed command, run in an empty project folder below ``tmp_path``."""
    folder = tmp_path / "project"
    folder.mkdir(exist_ok=True)
    return Command(command_path, folder, home)
