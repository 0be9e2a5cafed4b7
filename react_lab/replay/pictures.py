"""Drawings that the tool `table` made, as data that a page may show without fetching anything.

A trace may come from a stranger: a drawing is shown only if it is a PNG that lies where our own are kept, beside the
trace's file.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

from react_lab.trace import Event, Trace

PLOT = re.compile(r"(?:Plot: |图：)(\S+\.png)")
PNG = b"\x89PNG\r\n\x1a\n"
MAX_BYTES = 2_000_000


def picture_of(trace: Trace, result: Event) -> str | None:
    """The drawing that a result names, as a `data:` address."""
    named = PLOT.search(str(result["content"])) if result["name"] == "table" else None
    if named is None:
        return None
    runs = trace.path.parent if trace.path else Path("runs")
    path = runs / "plots" / Path(named[1]).name
    try:
        image = path.read_bytes() if not path.is_symlink() and path.stat().st_size <= MAX_BYTES else b""
    except OSError:
        return None
    return f"data:image/png;base64,{base64.b64encode(image).decode()}" if image.startswith(PNG) else None
