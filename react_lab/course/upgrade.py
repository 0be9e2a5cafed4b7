"""Newer lessons in a workspace that has been worked in: what the learner wrote stays, and a copy is kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from react_lab.course.workspace import as_copied, content, copy_lessons, hand_out, lessons_folder, write
from react_lab.errors import ConfigurationError

Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """What became of one notebook: how many cells are new, and how many the learner's own; None if it can't be read."""

    name: str
    new: int | None
    own: int | None
    backup: Path | None = None


def upgrade(workspace: Path, lessons: Path | None = None) -> list[Change]:
    """Bring new lessons, and replace in the others only cells that the learner hasn't touched.

    A cell is touched if its text is another than when it was copied; outputs and metadata don't count. A cell that the
    learner deleted stays deleted. Each notebook that is changed is first copied to `.react-lab/backup`.
    """
    folder = lessons or lessons_folder()
    copy_lessons(folder, workspace)
    changes = []
    for lesson in sorted(folder.glob("[ez][nh]/*.ipynb")):
        name, new = lesson.relative_to(folder).as_posix(), lesson.read_bytes()
        base = content(as_copied(workspace, name))
        if base == new:
            continue
        mine = content(workspace / name) or b""
        try:
            merged, counts = merge(json.loads(base or b'{"cells": []}'), json.loads(mine), json.loads(new))
        except (ValueError, TypeError, KeyError, AttributeError):
            changes.append(Change(name, None, None))
            continue
        backup = back_up(workspace, name)
        write(workspace / name, (json.dumps(merged, ensure_ascii=False, indent=1) + "\n").encode())
        write(as_copied(workspace, name), new)
        changes.append(Change(name, *counts, backup))
    return changes


def merge(base: Any, mine: Any, new: Any) -> tuple[dict[str, Any], tuple[int, int]]:
    """The new notebook with the learner's cells in it; and how many cells are new, and how many the learner's own.

    Args:
        base: The notebook as it was copied.
        mine: As the learner left it.
        new: As it ships now.
    """
    was = {cell["id"]: text(cell) for cell in base["cells"]}
    ships = {cell["id"]: cell for cell in new["cells"]}
    own = [place for place, cell in enumerate(mine["cells"]) if is_touched(cell, was)]
    place_of = {cell.get("id"): place for place, cell in enumerate(mine["cells"])}
    placed: set[int] = set()
    cells: list[Cell] = extras(mine["cells"], -1, own, ships, placed)
    count = 0
    for id, cell in ships.items():
        place = place_of.get(id)
        if place is None:
            if id not in was:  # else the learner deleted it
                cells.append(cell)
                count += 1
            continue
        there = mine["cells"][place]
        if place in own or text(there) == text(cell):
            cells.append(there)
            placed.add(place)
        else:
            cells.append(cell)
            count += 1
        cells += extras(mine["cells"], place, own, ships, placed)
    cells += [mine["cells"][place] for place in own if place not in placed]
    metadata = {**mine.get("metadata", {}), **new["metadata"]}
    return {**mine, "metadata": metadata, "cells": cells}, (count, len(own))


def is_touched(cell: Cell, was: Mapping[str, str]) -> bool:
    return was.get(cell.get("id", "")) != text(cell)


def extras(
    cells: Sequence[Cell], place: int, own: Iterable[int], ships: Mapping[str, Cell], placed: set[int]
) -> list[Cell]:
    """The learner's own cells that follow a place, up to the next cell of the lesson."""
    found: list[Cell] = []
    for number in range(place + 1, len(cells)):
        if cells[number].get("id") in ships:
            break
        if number in own and number not in placed:
            found.append(cells[number])
            placed.add(number)
    return found


def text(cell: Cell) -> str:
    """The kind and the source of a cell; a notebook may hold it as lines or as one text."""
    return f"{cell['cell_type']}\n{''.join(cell['source'])}"


def back_up(workspace: Path, name: str) -> Path:
    """Copy a notebook to `.react-lab/backup`; no copy replaces another."""
    stamp = f"{datetime.now():%Y%m%d-%H%M%S-%f}"
    path = workspace / ".react-lab" / "backup" / stamp / name
    write(path, (workspace / name).read_bytes())
    return path


def reset(workspace: Path, lesson: str, lessons: Path | None = None) -> list[Path]:
    """Put a lesson back as it ships, in both languages; gives back the copies of what was there and differed.

    Args:
        lesson: Its number or name: `04`, `4`, `loop`, `04_loop`.
    Raises:
        ConfigurationError: there is no such lesson.
    """
    folder = lessons or lessons_folder()
    chosen = [path for path in sorted(folder.glob("[ez][nh]/*.ipynb")) if is_lesson(path.stem, lesson)]
    if not chosen:
        names = ", ".join(sorted({path.stem for path in folder.glob("[ez][nh]/*.ipynb")}))
        raise ConfigurationError(f"no lesson {lesson!r}; there are: {names}")
    kept = []
    for path in chosen:
        name = path.relative_to(folder).as_posix()
        if content(workspace / name) not in (None, path.read_bytes()):
            kept.append(back_up(workspace, name))
        hand_out(workspace, name, path.read_bytes())
    return kept


def is_lesson(stem: str, wanted: str) -> bool:
    """Whether `04_loop` is what a person means by `04`, `4`, `loop` or `04_loop`."""
    number, _, name = stem.partition("_")
    return wanted in (stem, number, name, number.lstrip("0") or "0")
