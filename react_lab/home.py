"""Where this person's files are kept: notes, cache, journals of exports."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """`REACT_LAB_HOME`, by default `~/.react-lab`; not the working directory, which may change."""
    return Path(os.environ.get("REACT_LAB_HOME") or Path.home() / ".react-lab")
