"""Stepping through a recorded run: in a notebook, in a page of its own, in a terminal.

`from react_lab import replay` means the function of `player.py`. Once a module of this package is loaded, Python
finds the package under that name instead; so calling the package calls the function.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return importlib.import_module("react_lab.replay.player").replay(*arguments, **options)


sys.modules[__name__].__class__ = CallablePackage
