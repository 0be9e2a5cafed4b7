"""The course: lessons, exercises and their checks; what a notebook calls is loaded on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from react_lab.course.desk import check as check
    from react_lab.course.desk import explain as explain
    from react_lab.course.desk import hint as hint
    from react_lab.course.desk import predict as predict
    from react_lab.course.desk import progress as progress
    from react_lab.course.desk import quiz as quiz
    from react_lab.course.desk import show as show
    from react_lab.course.desk import solution as solution
    from react_lab.course.parts import mine_or_ours as mine_or_ours

_PUBLIC = dict.fromkeys(("check", "explain", "hint", "predict", "progress", "quiz", "show", "solution"), "desk")
_PUBLIC["mine_or_ours"] = "parts"

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'react_lab.course' has no attribute {name!r}")
    return getattr(importlib.import_module(f"react_lab.course.{_PUBLIC[name]}"), name)
