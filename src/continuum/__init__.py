"""The old name of ContextSpindle's memory: ``import continuum`` gives what it always was about.

    import continuum

    memory = continuum.find_workspace().memory()
    memory.remember(continuum.Note("Staging is reset every night at two"))

Everything is the same object as in :mod:`contextspindle`, which is the name to use in new code.
"""

from contextspindle import (
    Hit,
    Memory,
    Note,
    SpindleError,
    Workspace,
    __version__,
    find_workspace,
    make_workspace,
)

__all__ = [
    "Hit",
    "Memory",
    "Note",
    "SpindleError",
    "Workspace",
    "__version__",
    "find_workspace",
    "make_workspace",
]
