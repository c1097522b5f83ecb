"""``python -m contextspindle``: the same as the installed command, only slower to start."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
