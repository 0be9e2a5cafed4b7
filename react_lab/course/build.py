"""Make the notebooks of the lessons from their sources.

    python -m react_lab.course.build            writes lessons/en/*.ipynb and lessons/zh/*.ipynb
    python -m react_lab.course.build --check    writes nothing; exits 1 and names what is not up to date
    python -m react_lab.course.build --translated 01_tool    the Chinese still fits the English that was changed

Run it from a clone, after each change in lessons/source. The notebooks are committed, so no learner needs it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from react_lab.course.exercise import all_exercises
from react_lab.course.prose import seen
from react_lab.course.source import LANGUAGES, Cell, notebook, read_source, to_json, translate_comments

LESSONS = Path(__file__).parents[2] / "lessons"


def build(source: Path) -> dict[str, str]:
    """The notebooks of a lesson by their path below `lessons/`, as the text of each file.

    Raises:
        ValueError: the source breaks a rule of the format; the message names file and line.
    """
    cells = read_lesson(source)
    return {f"{item}/{source.stem}.ipynb": to_json(notebook(source.stem, cells, item)) for item in LANGUAGES}


def read_lesson(source: Path, *, solved: bool = False) -> list[Cell]:
    """The cells of a lesson, each exercise's starter, or solution, in the cell that is tagged with its id.

    Raises:
        ValueError: the source breaks a rule of the format, or names an exercise that isn't there.
    """
    try:
        return [with_exercise(cell, solved) for cell in read_source(source.read_text(encoding="utf-8"))]
    except ValueError as error:
        raise ValueError(f"{source}, {error}") from error


def with_exercise(cell: Cell, solved: bool) -> Cell:
    """The cell tagged `exercise:ID` gets the code of that exercise; it stands in the source without any."""
    id = next((tag.removeprefix("exercise:") for tag in cell.tags if tag.startswith("exercise:")), None)
    if id is None:
        return cell
    if id not in all_exercises():
        raise ValueError(f"no exercise has the id {id!r}; there are: {', '.join(all_exercises())}")
    if cell.text["en"].strip():
        raise ValueError(f"the cell of exercise {id!r} must be empty: its code stands in react_lab/course/exercises")
    code = all_exercises()[id].solution if solved else all_exercises()[id].starter
    return replace(cell, text={item: translate_comments(code, item).strip("\n") for item in LANGUAGES})


def build_all(lessons: Path = LESSONS) -> dict[str, str]:
    """The notebooks of all lessons."""
    built: dict[str, str] = {}
    for source in sorted((lessons / "source").glob("*.py")):
        built |= build(source)
    return built


def stale(lessons: Path = LESSONS) -> list[str]:
    """The notebooks that differ from what their source makes, that are missing, or whose source is gone."""
    built = build_all(lessons)
    there = {f"{item}/{path.name}" for item in LANGUAGES for path in (lessons / item).glob("*.ipynb")}
    return sorted(name for name in there | set(built) if read(lessons / name) != built.get(name))


def read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def write(lessons: Path = LESSONS) -> list[str]:
    """Bring the notebooks up to date; gives back which ones were not."""
    names = stale(lessons)
    built = build_all(lessons)
    for name in names:
        path = lessons / name
        if name in built:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(built[name], encoding="utf-8", newline="\n")
        else:
            path.unlink()
    return names


def record_translations(lessons: Path = LESSONS, translated: str | None = None) -> None:
    """Note which prose now stands side by side (prose.py); `translated` names a lesson whose Chinese still fits."""
    for source in sorted((lessons / "source").glob("*.py")):
        record = seen(source, read_lesson(source), still_fits=source.stem == translated)
        source.with_suffix(".json").write_text(record, encoding="utf-8", newline="\n")


def main(arguments: list[str] | None = None, lessons: Path = LESSONS) -> int:
    parser = argparse.ArgumentParser(prog="python -m react_lab.course.build", description="Build the lessons.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a notebook is not up to date")
    parser.add_argument("--translated", metavar="LESSON", help="its Chinese was read again and still fits the English")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        names = stale(lessons)
        for name in names:
            print(f"lessons/{name} is not what its source makes; run python -m react_lab.course.build")
        return 1 if names else 0
    record_translations(lessons, chosen.translated)
    for name in write(lessons):
        print(f"lessons/{name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
