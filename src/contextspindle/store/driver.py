"""The database driver, loaded lean.

``sqlite3`` adds converters that are not used here, and loads ``datetime`` for them; its C part is
enough.  That part in turn asks ``functools`` for ``lru_cache`` when it is loaded, and ``functools``
brings ``collections`` with it: together more than the database itself.  So while it loads, a
stand-in offers the same cache from the C module beneath ``functools``; it is gone before anybody
else looks.  Where any of this is not as CPython has it, the public module serves.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _sqlite3 as driver
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    __all__ = ["driver"]


class _LeanFunctools:
    """What the driver takes from ``functools``: nothing but a cache of prepared statements."""

    @staticmethod
    def lru_cache(maxsize: int) -> Callable[[Any], Any]:
        wrapper = __import__("_functools")._lru_cache_wrapper  # noqa: SLF001 (the part it wraps)
        return lambda function: wrapper(function, maxsize, False, tuple)


def load() -> ModuleType:
    """The driver module; lean if this interpreter allows it."""
    if "functools" in sys.modules or "_sqlite3" in sys.modules:
        return __import__("_sqlite3")
    sys.modules["functools"] = _LeanFunctools  # type: ignore[assignment]
    try:
        found = __import__("_sqlite3")
        found.connect(":memory:").execute("SELECT 1").fetchone()
    except Exception:  # pragma: no cover (another implementation)
        sys.modules.pop("_sqlite3", None)
        del sys.modules["functools"]
        return __import__("sqlite3")
    del sys.modules["functools"]
    return found


if not TYPE_CHECKING:
    driver = load()
