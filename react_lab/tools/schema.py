"""Checking a model's arguments against a tool's JSON Schema."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from react_lab.tools.base import Schema


def problems(schema: Schema, arguments: Any) -> list[str]:
    """What is wrong with the arguments, each in a few words that name the place; empty if they fit."""
    errors = sorted(_validator_class()(schema).iter_errors(arguments), key=lambda error: str(error.path))
    return [f"{error.json_path.removeprefix('$').removeprefix('.')}: {error.message}".lstrip(": ") for error in errors]


@cache
def _validator_class() -> Any:
    # JupyterLab installs a grammar of IRIs beside jsonschema, which compiles it on import for a second. No tool's
    # arguments are IRIs, so the grammar is kept out of the way: None in sys.modules means "not installed".
    grammar = "rfc3987_syntax"
    hidden = sys.modules.setdefault(grammar, None) is None  # type: ignore[arg-type]
    try:
        from jsonschema import Draft202012Validator
    finally:
        if hidden:
            sys.modules.pop(grammar, None)  # another thread may have been here too
    return Draft202012Validator
