"""The first lesson as a learner sees it: in JupyterLab, all cells run, the player stepped forward and back."""

from __future__ import annotations

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
    language: str, open_lab: Callable[[Path], Notebook], screenshot: Callable[[Page, str], Path]
) -> None:
    notebook = open_lab(LESSONS / language / "00_start.ipynb")
    notebook.run_all()
    expect(notebook.players).to_have_count(3)

    first, forked, _ = notebook.players.all()
    first.scroll_into_view_if_needed()
    first.locator(".question").click()
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        notebook.page.keyboard.press(key)
        expect(first.get_by_role("status")).to_have_text(STEP[language].format(step))
    expect(first).to_contain_text("(2024 - 1933) + (2024 - 1947)")
    expect(forked).to_contain_text(CHANGED[language])
    expect(notebook.page.locator(".jp-RenderedText[data-mime-type*=error]")).to_have_count(0)

    screenshot(notebook.page, f"lesson-00-{language}-light")
    notebook.theme("JupyterLab Dark")
    forked.scroll_into_view_if_needed()
    screenshot(notebook.page, f"lesson-00-{language}-dark")
