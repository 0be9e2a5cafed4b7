"""Run all cells of a lesson in a kernel and print what came: for authors and for tests.

python -m react_lab.course.run 01_tool zh solved
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from react_lab.course.build import LESSONS, read_lesson
from react_lab.course.source import LANGUAGES, notebook, to_json
from react_lab.course.workspace import prepare, use_own_kernel
from react_lab.language import Language

TIMEOUT_S = 120  # of a cell


def run(lesson: str, language: Language, workspace: Path, *, solved: bool = False) -> Any:
    """The notebook with its outputs, run in a workspace; every exercise is untouched, or solved.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    import nbformat
    from nbclient import NotebookClient

    folder = prepare(workspace, language).parent
    use_own_kernel(workspace)
    cells = read_lesson(LESSONS / "source" / f"{lesson}.py", solved=solved)
    data = nbformat.reads(to_json(notebook(lesson, cells, language)), as_version=4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(data, timeout=TIMEOUT_S, kernel_name="python3", resources=place).execute()
    return data


def as_text(data: Any) -> str:
    """Each code cell's last line, and its outputs as text."""
    lines = []
    for cell in data.cells:
        if cell.cell_type == "code":
            lines.append(f">>> {cell.source.splitlines()[-1]}")
            lines += [out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m react_lab.course.run", description="Run a lesson.")
    parser.add_argument("lesson")
    parser.add_argument("language", choices=LANGUAGES, nargs="?", default="en")
    parser.add_argument("solved", choices=["solved"], nargs="?")
    chosen = parser.parse_args()
    os.environ["JUPYTER_PATH"] = ""
    with TemporaryDirectory() as folder:
        print(as_text(run(chosen.lesson, chosen.language, Path(folder), solved=chosen.solved == "solved")))


if __name__ == "__main__":
    main()
