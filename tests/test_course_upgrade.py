"""Newer lessons in a workspace that has been worked in."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab.course.upgrade import is_lesson, merge, reset, upgrade
from react_lab.course.workspace import copy_lessons
from react_lab.errors import ConfigurationError

NAME = "en/01_tool.ipynb"


def cell(id: str, source: str, kind: str = "code") -> dict[str, Any]:
    data = {"id": id, "cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    return data | {"outputs": [], "execution_count": None} if kind == "code" else data


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {"react_lab": {}}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    folder = tmp_path / "lessons"
    ship(folder, notebook(cell("a", "# Title", "markdown"), cell("b", "x = 1\ny = 2"), cell("c", "check()")))
    return folder


@pytest.fixture
def workspace(tmp_path: Path, lessons: Path) -> Path:
    copy_lessons(lessons, tmp_path / "workspace")
    return tmp_path / "workspace"


def ship(lessons: Path, data: dict[str, Any]) -> None:
    (lessons / "en").mkdir(parents=True, exist_ok=True)
    (lessons / NAME).write_text(json.dumps(data), encoding="utf-8")


def sources(workspace: Path) -> list[str]:
    data = nbformat.read(workspace / NAME, as_version=4)
    nbformat.validate(data)
    return [item.source for item in data.cells]


def edit(workspace: Path, *, where: str, source: str) -> None:
    data = nbformat.read(workspace / NAME, as_version=4)
    next(item for item in data.cells if item.id == where).source = source
    nbformat.write(data, workspace / NAME)


NEW = notebook(
    cell("a", "# A better title", "markdown"),
    cell("n", "# An added part", "markdown"),
    cell("b", "x = 10\ny = 2"),
    cell("c", "check()"),
)


def test_a_lesson_that_was_only_run_and_saved_is_brought_up_to_date(workspace: Path, lessons: Path) -> None:
    data = nbformat.read(workspace / NAME, as_version=4)
    data.cells[1].outputs = [nbformat.v4.new_output("stream", text="1")]
    data.cells[1].metadata["scrolled"] = True
    data.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(data, workspace / NAME)
    ship(lessons, NEW)
    [change] = upgrade(workspace, lessons)
    assert (change.new, change.own) == (3, 0)
    assert sources(workspace) == ["# A better title", "# An added part", "x = 10\ny = 2", "check()"]
    assert nbformat.read(workspace / NAME, as_version=4).metadata.kernelspec.name == "python3"


def test_outputs_of_cells_that_stay_the_same_stay(workspace: Path, lessons: Path) -> None:
    data = nbformat.read(workspace / NAME, as_version=4)
    data.cells[2].outputs = [nbformat.v4.new_output("stream", text="Right.")]
    nbformat.write(data, workspace / NAME)
    ship(lessons, NEW)
    upgrade(workspace, lessons)
    assert nbformat.read(workspace / NAME, as_version=4).cells[3].outputs[0].text == "Right."


def test_what_the_learner_wrote_stays_in_its_place_and_a_copy_is_kept(workspace: Path, lessons: Path) -> None:
    edit(workspace, where="b", source="x = 'mine'")
    data = nbformat.read(workspace / NAME, as_version=4)
    data.cells.insert(2, nbformat.v4.new_code_cell("my own cell"))
    nbformat.write(data, workspace / NAME)
    before = (workspace / NAME).read_bytes()
    ship(lessons, NEW)
    [change] = upgrade(workspace, lessons)
    assert sources(workspace) == ["# A better title", "# An added part", "x = 'mine'", "my own cell", "check()"]
    assert (change.new, change.own) == (2, 2)
    assert change.backup is not None
    assert change.backup.read_bytes() == before


def test_upgrading_again_changes_nothing(workspace: Path, lessons: Path) -> None:
    edit(workspace, where="b", source="x = 'mine'")
    ship(lessons, NEW)
    upgrade(workspace, lessons)
    before = (workspace / NAME).read_bytes()
    assert upgrade(workspace, lessons) == []
    assert (workspace / NAME).read_bytes() == before


def test_a_cell_that_the_learner_deleted_stays_deleted(workspace: Path, lessons: Path) -> None:
    data = nbformat.read(workspace / NAME, as_version=4)
    del data.cells[1]
    nbformat.write(data, workspace / NAME)
    ship(lessons, NEW)
    upgrade(workspace, lessons)
    assert sources(workspace) == ["# A better title", "# An added part", "check()"]


def test_an_edited_cell_that_the_course_dropped_is_kept(workspace: Path, lessons: Path) -> None:
    edit(workspace, where="b", source="mine")
    ship(lessons, notebook(cell("c", "check()"), cell("z", "new")))
    upgrade(workspace, lessons)
    assert sorted(sources(workspace)) == ["check()", "mine", "new"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cells": 3}', '{"cells": [1]}'])
def test_a_file_that_is_no_notebook_is_left_alone(workspace: Path, lessons: Path, damage: str) -> None:
    (workspace / NAME).write_text(damage, encoding="utf-8")
    ship(lessons, NEW)
    [change] = upgrade(workspace, lessons)
    assert change.new is None
    assert (workspace / NAME).read_text("utf-8") == damage


def test_new_lessons_come_without_asking(workspace: Path, lessons: Path) -> None:
    (lessons / "en" / "02_registry.ipynb").write_text("{}", encoding="utf-8")
    assert upgrade(workspace, lessons) == []
    assert (workspace / "en" / "02_registry.ipynb").exists()


# -- nothing is lost -----------------------------------------------------------------------------------------

ids = st.sampled_from("abcdefg")
texts = st.sampled_from(["x = 1", "y = 2", "z = 3", "", "print(1)\n"])
lesson_cells = st.lists(ids, unique=True, max_size=6).flatmap(
    lambda chosen: st.tuples(
        *(st.builds(cell, st.just(id), texts, st.sampled_from(["code", "markdown"])) for id in chosen)
    )
)
edits = st.lists(
    st.tuples(
        st.sampled_from(["edit", "add", "delete", "move", "run", "twin", "no id"]), st.integers(0, 9), st.integers(0, 9)
    ),
    max_size=8,
)


def work_in(data: dict[str, Any], changes: list[tuple[str, int, int]], first: int = 0) -> set[str]:
    """Do to a notebook what people and editors do; gives back the texts that were written and not deleted."""
    cells = data["cells"]
    for number, (kind, where, other) in enumerate(changes, start=first):
        written = f"# mine {number}"
        if kind == "add":
            cells.insert(where % (len(cells) + 1), cell(f"own{number}", written))
        elif cells:
            place = where % len(cells)
            match kind:
                case "edit":
                    cells[place]["source"] = written  # an editor may keep one text instead of lines
                case "delete":
                    del cells[place]
                case "move":
                    cells.insert(other % len(cells), cells.pop(place))
                case "run":
                    cells[place]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "1"}]
                case "twin":
                    cells.append(copy.deepcopy(cells[place]) | {"source": written})
                case "no id":
                    cells[place].pop("id", None)
    return {"".join(item["source"]) for item in cells if "".join(item["source"]).startswith("# mine")}


@settings(max_examples=100, deadline=None)
@given(lesson_cells, lesson_cells, lesson_cells, edits, edits)
def test_nothing_that_a_learner_wrote_is_ever_lost(first, second, third, early, late) -> None:
    """Over two upgrades with work before each; and a cell that nobody touched is as it ships."""
    with TemporaryDirectory() as folder:
        lessons, workspace = Path(folder, "lessons"), Path(folder, "workspace")
        ship(lessons, notebook(*first))
        copy_lessons(lessons, workspace)
        for round, (changes, shipped) in enumerate(((early, second), (late, third))):
            mine = json.loads((workspace / NAME).read_text("utf-8"))
            written = work_in(mine, changes, first=100 * round)
            (workspace / NAME).write_text(json.dumps(mine, indent=2), encoding="utf-8")
            ship(lessons, notebook(*shipped))
            upgrade(workspace, lessons)
            there = json.loads((workspace / NAME).read_text("utf-8"))["cells"]
            texts = ["".join(item["source"]) for item in there]
            assert written <= set(texts)
            assert all(texts.count(text) == 1 for text in written)
        if not early and not late:
            assert [(item["id"], "".join(item["source"])) for item in there] == [
                (item["id"], "".join(item["source"])) for item in third
            ]


def test_merging_keeps_each_of_two_cells_with_one_id() -> None:
    base = notebook(cell("a", "given"))
    mine = notebook(cell("a", "one"), cell("a", "two"))
    merged, (new, own) = merge(base, mine, notebook(cell("a", "given anew")))
    assert sorted("".join(item["source"]) for item in merged["cells"]) == ["one", "two"]
    assert (new, own) == (0, 2)


# -- reset ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["01", "1", "tool", "01_tool"])
def test_a_lesson_is_put_back_and_what_was_there_is_kept(workspace: Path, lessons: Path, wanted: str) -> None:
    edit(workspace, where="b", source="mine")
    before = (workspace / NAME).read_bytes()
    [backup] = reset(workspace, wanted, lessons)
    assert backup.read_bytes() == before
    assert (workspace / NAME).read_bytes() == (lessons / NAME).read_bytes()
    assert reset(workspace, wanted, lessons) == []


def test_a_lesson_that_is_not_there_is_named(workspace: Path, lessons: Path) -> None:
    with pytest.raises(ConfigurationError, match="no lesson '7'; there are: 01_tool"):
        reset(workspace, "7", lessons)


def test_the_first_lesson_is_called_0() -> None:
    assert is_lesson("00_start", "0")
    assert not is_lesson("00_start", "")
