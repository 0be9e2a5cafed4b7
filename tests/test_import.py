"""Importing the package costs nothing, and its public names are those that are documented."""

from __future__ import annotations

import subprocess
import sys

import react_lab


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; before = set(sys.modules); {statement}; print(*(set(sys.modules) - before))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.partition(".")[0] for name in output.split()}


def test_importing_loads_the_standard_library_only() -> None:
    assert loaded_by("import react_lab") - sys.stdlib_module_names == {"react_lab"}


def test_an_agent_with_the_offline_model_needs_no_provider() -> None:
    code = "from react_lab import OfflineModel, TextReActAgent, ToolRegistry as R; "
    code += "TextReActAgent(OfflineModel(), R()).run('hi')"
    assert not loaded_by(code) & {
        "anthropic",
        "openai",
        "httpx2",
        "ipywidgets",
        "anywidget",
        "IPython",
        "rich",
        "typer",
    }


def test_every_public_name_can_be_imported() -> None:
    for name in react_lab.__all__:
        assert getattr(react_lab, name) is not None
    assert set(react_lab.__all__) <= set(dir(react_lab))
