"""A lesson with exercises as a learner sees it: a right answer, a wrong one, and the player where their runs part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from react_lab.course.exercise import all_exercises
from tests.browser.lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RIGHT = {"en": "Right.", "zh": "正确。"}
PARTED = {"en": "Step 4 of", "zh": "第 4 步"}
LESSONS = Path(__file__).resolve().parents[2] / "lessons"


def answered(language: str, answers: dict[str, str], target: Path) -> Path:
    """A copy of the lesson with answers in its exercise cells."""
    notebook = json.loads((LESSONS / language / "04_loop.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for tag in cell["metadata"].get("tags", []):
            if tag.startswith("exercise:"):
                cell["source"] = answers[tag.partition(":")[2]]
    target.write_text(json.dumps(notebook), encoding="utf-8")
    return target


@pytest.mark.parametrize("theme", ["Light", "Dark"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_right_answer_is_told_and_a_wrong_one_is_explained_with_its_run(
    language: str,
    theme: str,
    open_lab: Callable[[Path], Notebook],
    screenshot: Callable[[Page, str], Path],
    tmp_path: Path,
) -> None:
    exercises = {item.id: item for item in all_exercises().values() if item.lesson == "04_loop"}
    wrong = next(item for item in exercises["loop-agent"].wrong if item.symptom == "goes-on")
    answers = {id: item.solution for id, item in exercises.items()} | {"loop-agent": wrong.code}
    notebook = open_lab(answered(language, answers, tmp_path / f"04_{language}_{theme}.ipynb"))
    page = notebook.page
    notebook.theme(f"JupyterLab {theme}")
    looks = f"{language}-{theme.lower()}"
    screenshot(page, f"lesson-04-{looks}-start")
    notebook.run_all()

    right = notebook.show('check("loop-prompt")')
    expect(right.locator(".react-lab-card")).to_contain_text(RIGHT[language])
    screenshot(page, f"lesson-04-{looks}-right")
    cell = notebook.show('check("loop-agent")')
    expect(cell.locator(".react-lab-card").first).to_contain_text(wrong.say[language][:30])
    expect(cell.locator(".react-lab-player").get_by_role("status")).to_contain_text(PARTED[language])
    screenshot(page, f"lesson-04-{looks}-wrong")
    notebook.show("TextReActAgent = mine_or_ours")
    screenshot(page, f"lesson-04-{looks}-player")
