"""What every test can count on: no keys, no `.env` of the developer, an empty working directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def clean_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL", "_TOKEN", "_MODEL_ID", "_WIRE")) or (
            name.startswith("REACT_LAB_") and "BROWSER" not in name
        ):
            monkeypatch.delenv(name)
    monkeypatch.delenv("SERPAPI_KEY", raising=False)
    monkeypatch.setenv("REACT_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REACT_LAB_LANG", "en")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Material that is not part of the project: corpora and cases to measure with."""
    if not SHARED.exists():
        pytest.skip("the measuring material is not part of a clone")
    return SHARED


def json_lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
