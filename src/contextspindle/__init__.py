"""ContextSpindle: durable task continuity for AI coding agents.

The Python interface is small; the promise to keep is the command line and its JSON documents.

    import contextspindle

    workspace = contextspindle.make_workspace("/path/to/project")
    ledger = workspace.ledger()
    task = ledger.create(contextspindle.Request(set={"goal": "Ship the login page"})).task
    print(ledger.context(task.id, 2048).text)

    memory = workspace.memory()
    memory.remember(contextspindle.Note("Staging is reset every night at two"))
    print(memory.recall("when is staging reset?", 3)[0].item.text)

Everything is loaded when it is first asked for: a command that needs none of it must not pay for
it.
"""

__version__ = "0.1.0"

__all__ = [
    "Handoff",
    "History",
    "Hit",
    "Ledger",
    "Memory",
    "Note",
    "Outcome",
    "Page",
    "Request",
    "SpindleError",
    "Task",
    "Workspace",
    "__version__",
    "find_workspace",
    "make_workspace",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .actions.answers import History, Outcome
    from .actions.ledger import Ledger
    from .actions.memory import Memory
    from .core.change import Request
    from .core.handoff import Handoff
    from .core.memory import Hit, Note
    from .core.task import Page, Task
    from .errors import SpindleError
    from .workspace import Workspace

_HOMES = {
    "Handoff": "core.handoff",
    "History": "actions.answers",
    "Hit": "core.memory",
    "Ledger": "actions.ledger",
    "Memory": "actions.memory",
    "Note": "core.memory",
    "Outcome": "actions.answers",
    "Page": "core.task",
    "Request": "core.change",
    "SpindleError": "errors",
    "Task": "core.task",
    "Workspace": "workspace",
}


def find_workspace(folder: str = "") -> "Workspace":
    """The workspace in ``folder``, or the nearest one above the current folder.

    WorkspaceNotFound; WorkspaceRefused if it is not safe to use.
    """
    from .workspace import find

    return find(folder)


def make_workspace(folder: str = "") -> "Workspace":
    """The workspace in ``folder`` (the top of the checkout if left out), made if it is missing."""
    from .workspace import place_to_make

    workspace = place_to_make(folder)
    workspace.make()
    return workspace


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return list(__all__)
