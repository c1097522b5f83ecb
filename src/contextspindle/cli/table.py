"""Every command, declared once: the parsers, the help, the docs and the tests read this table.

A call needs one of its parts alone, and :func:`.parse.find` loads no other.
"""

from __future__ import annotations

from . import fuse_table, ledger_table, memory_table, task_table
from .shape import GLOBAL_OPTIONS, KINDS, Command, Option, Positional, values_of

__all__ = ["COMMANDS", "GLOBAL_OPTIONS", "KINDS", "Command", "Option", "Positional", "values_of"]

COMMANDS = (
    *task_table.COMMANDS,
    *ledger_table.COMMANDS,
    *fuse_table.COMMANDS,
    *memory_table.COMMANDS,
)
