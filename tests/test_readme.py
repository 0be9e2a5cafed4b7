"""What the READMEs show works as shown, and both say the same."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from react_lab import Trace
from react_lab.cli import app

ROOT = Path(__file__).resolve().parents[1]
READMES = ["README.md", "README.zh-CN.md"]
TEST_COMMAND = "python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e '.[test]' && .venv/bin/pytest"


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", READMES)
def test_the_example_prints_what_it_says(name: str) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", text(name), re.S)
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    names: dict[str, object] = {}
    exec(example, names)
    (told,) = re.findall(r'trace\.answer +# "(.*)"', example)
    assert Trace.load("runs/42.jsonl").answer == told == "42"


@pytest.mark.parametrize("name", READMES)
def test_the_first_example_comes_early(name: str) -> None:
    assert text(name).splitlines().index("```python") < 35


@pytest.mark.parametrize("name", READMES)
def test_every_path_and_command_exists(name: str) -> None:
    for path in re.findall(r"(?m)^\| `([\w./-]+)` \|", text(name)):
        if "/" in path:
            assert (ROOT / path).exists(), path
    known = {command.name or command.callback.__name__ for command in app.registered_commands if command.callback}
    known |= {group.name for group in app.registered_groups if group.name}
    known |= {entry.name for entry in entry_points(group="react_lab.commands")}
    assert set(re.findall(r"(?m)^react-lab (\w+)", text(name))) <= known


def test_both_readmes_show_the_same_commands_and_figures() -> None:
    def facts(name: str) -> set[str]:
        return set(re.findall(r"`([\w.]+/[\w./-]*)`|`(--[\w-]+)|\b(\d+) (?:ms|毫秒|kB)", text(name)))

    assert facts(READMES[0]) == facts(READMES[1])


@pytest.mark.parametrize("name", READMES)
def test_the_test_command_is_the_one_that_ci_runs(name: str) -> None:
    assert TEST_COMMAND in text(name).splitlines()


def test_every_dependency_is_pinned_in_the_constraints() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [*project["dependencies"], *(item for extra in extras for item in extra)]
    names = {normal(re.split(r"[<>=\[]", item)[0]) for item in wanted} - {"react-lab"}
    pinned = {normal(line.split("==")[0]) for line in text("constraints.txt").splitlines()}
    assert names - pinned == set()
    assert "://" not in text("constraints.txt")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
