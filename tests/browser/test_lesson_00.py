"""The first lesson as a learner sees it: in JupyterLab, all cells run, the player stepped forward and back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
STEP = {"en": "Step {} of 3", "zh": "第 {} 步，共 3 步"}
CHANGED = {"en": "changed by hand", "zh": "人工改动"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_lesson_runs_and_its_player_steps(
    language: str, open_lab: Callable[[Path], Notebook], screenshot: Callable[[Page, str], Path], tmp_path: Path
) -> None:
    lesson = tmp_path / f"00_{language}.ipynb"
    shutil.copy(LESSONS / language / "00_start.ipynb", lesson)
    notebook = open_lab(lesson)
    page = notebook.page
    notebook.theme("JupyterLab Light")
    screenshot(page, f"lesson-00-{language}-start")
    notebook.run_all()

    first = notebook.show("replay(trace").locator(".react-lab-player")
    first.locator(".question").click()
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(first.get_by_role("status")).to_have_text(STEP[language].format(step))
    expect(first).to_contain_text("(2024 - 1933) + (2024 - 1947)")
    screenshot(page, f"lesson-00-{language}-light")

    notebook.theme("JupyterLab Dark")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    forked = notebook.show("replay(changed").locator(".react-lab-player")
    expect(forked).to_contain_text(CHANGED[language])
    screenshot(page, f"lesson-00-{language}-dark")
    notebook.show("from pathlib")
    screenshot(page, f"lesson-00-{language}-note")
