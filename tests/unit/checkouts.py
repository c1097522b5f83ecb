"""What tests of the files that evidence is bound to share: how to look, and edits that show."""

from __future__ import annotations

from pathlib import Path

from contextspindle.checkout import Checkout
from contextspindle.core.evidence import Record
from contextspindle.core.redaction import mask


def ran(root, *argv, covers=()):
    """How a command ended."""
    return Checkout(str(root), mask).run(argv or ("true",), covers, bytes)[0]


def moved(root, mark):
    record = Record("t-one", "0" * 64, "", command=mark)
    return Checkout(str(root), mask).moved(record)


def everything(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Each file below ``folder``: its mode, when it was written, its bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        # Whenever git reads a shared index, it marks it as in use.
        written = 0 if path.name.startswith("sharedindex.") else info.st_mtime_ns
        found[str(path)] = (info.st_mode, written, content)
    return found


EDITS = {
    "an edit": lambda root: (root / "src" / "main.c").write_text("int main(void);\n"),
    "a new file": lambda root: (root / "src" / "new.c").write_text(""),
    "a deletion": lambda root: (root / "src" / "main.c").unlink(),
    "a mode": lambda root: (root / "src" / "main.c").chmod(0o755),
    "a new name": lambda root: (root / "src" / "main.c").rename(root / "src" / "other.c"),
    "a link": lambda root: (root / "src" / "link").symlink_to("main.c"),
}
