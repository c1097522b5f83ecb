"""Our words in a file of instructions that agents read, such as AGENTS.md or CLAUDE.md."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .harness.install import Setup
    from .harness.sections import Section


def _section(path: str = "") -> Section:
    from .harness.sections import Section, text_of

    return Section(text_of("onboard.md"), by="onboard", exists=os.path.lexists(path))


def text() -> str:
    """The section as it is written, with its marks."""
    return _section().with_ours("")


def bring(path: str, action: str) -> Setup:
    """Bring the section into the file ``path``, take it out, preview or check it.

    Every other byte stays.  SettingsDamaged if our marks in it do not fit together, or if it is no
    UTF-8: then it is not touched.
    InvalidInput if there is no folder to put it into.
    """
    from .errors import InvalidInput, SettingsDamaged
    from .harness.install import carry_out, text_in

    folder = os.path.dirname(os.path.abspath(path))
    if action in ("preview", "write") and not os.path.isdir(folder):
        raise InvalidInput(
            f"There is no folder {folder}", hint="Name a file in a folder that exists, or make it."
        )
    section = _section(path)
    try:
        rest = "" if section.was_empty(text_in(path) or "") else None
    except ValueError as error:
        raise SettingsDamaged(
            f"{path}: {error}; it was not touched",
            hint="Take the lines of our section out by hand, marks included, and try again.",
        ) from error
    return carry_out(os.path.abspath(path), section, action, keep=False, rest=rest)
