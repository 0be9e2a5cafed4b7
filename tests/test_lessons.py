"""The lessons as they are committed: built from their sources, the same in both languages, and running."""

import ast
import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from react_lab.course.build import LESSONS, stale
from react_lab.course.source import LANGUAGES, read_source
from react_lab.course.workspace import prepare, use_own_kernel

SOURCES = sorted((LESSONS / "source").glob("*.py"))
NOTEBOOKS = [(language, source.stem) for language in LANGUAGES for source in SOURCES]
each_lesson = pytest.mark.parametrize("lesson", [source.stem for source in SOURCES])
each_notebook = pytest.mark.parametrize(("language", "lesson"), NOTEBOOKS)


def cells(language: str, lesson: str) -> list[dict]:
    return json.loads((LESSONS / language / f"{lesson}.ipynb").read_text("utf-8"))["cells"]


def code(cell: dict) -> str:
    tree = compile("".join(cell["source"]), "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return ast.dump(tree)


def assigned_strings_only(cell: dict) -> bool:
    statements = ast.parse("".join(cell["source"])).body
    return all(isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant) for item in statements)


def test_there_is_a_first_lesson():
    assert "00_start" in {source.stem for source in SOURCES}


def test_the_committed_notebooks_are_what_their_sources_make():
    assert stale() == [], "run python -m react_lab.course.build"


@each_lesson
def test_each_cell_has_its_twin_in_the_same_place(lesson):
    english, chinese = cells("en", lesson), cells("zh", lesson)
    assert [(cell["id"], cell["cell_type"]) for cell in english] == [
        (cell["id"], cell["cell_type"]) for cell in chinese
    ]
    assert [cell["metadata"] for cell in english] == [cell["metadata"] for cell in chinese]
    assert all("".join(cell["source"]).strip() for cell in english + chinese)


@each_lesson
def test_both_languages_run_the_same_code(lesson):
    """But for cells of nothing but texts, which set the same names."""
    for one, other in zip(cells("en", lesson), cells("zh", lesson), strict=True):
        if one["cell_type"] == "code" and code(one) != code(other):
            assert assigned_strings_only(one)
            assert assigned_strings_only(other)


@each_lesson
def test_the_prose_is_written_in_its_language(lesson):
    for source_cell in read_source((LESSONS / "source" / f"{lesson}.py").read_text("utf-8")):
        if source_cell.kind == "markdown":
            assert source_cell.text["en"] != source_cell.text["zh"]


@each_notebook
def test_a_notebook_is_valid_with_unique_ids_and_no_outputs(language, lesson):
    path = LESSONS / language / f"{lesson}.ipynb"
    data = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(data)
    assert (data.nbformat, data.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in data.cells}) == len(data.cells)
    assert all(not cell.outputs and cell.execution_count is None for cell in data.cells if cell.cell_type == "code")
    assert path.stat().st_size < 100_000


@pytest.mark.slow
@each_notebook
def test_every_cell_of_a_notebook_runs(language, lesson, tmp_path, monkeypatch):
    """In a workspace, on the offline model (conftest.py removes the keys), until the last cell."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    workspace = prepare(tmp_path / "workspace", language).parents[1]
    use_own_kernel(workspace)
    run_all(workspace / language / f"{lesson}.ipynb")


def run_all(path: Path) -> None:
    data = nbformat.read(path, as_version=4)
    client = NotebookClient(
        data, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    assert all(cell.execution_count for cell in data.cells if cell.cell_type == "code" and cell.source)
