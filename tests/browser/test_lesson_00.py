"""The first lesson as a learner sees it: in JupyterLab, all cells run, the player stepped forward and back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.lab import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LESSONS = Path(__file__).resolve().parents[2] / "lessons"
STEP = {"en": "Step {} of 3", "zh": "第 {} 步，共 3 步"}
CHANGED = {"en": "changed by hand", "zh": "人工改动"}

# JupyterLab keeps only the cells in the document that are near the window; so it is asked for what it knows of all.
COUNTS = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter((cell) => cell.model.type === "code").map((cell) => cell.model.executionCount)"""
SHOW = """async (text) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  const index = notebook.widgets.findIndex((cell) => cell.model.sharedModel.getSource().startsWith(text));
  notebook.activeCellIndex = index;
  await notebook.scrollToItem(index, "start");
}"""


def player_below(page: Page, code: str) -> Locator:
    """The player under the cell that begins with this code, in view."""
    page.evaluate(SHOW, code)
    player = page.locator(".jp-Cell.jp-mod-active .react-lab-player")
    expect(player).to_be_visible()
    return player


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_lesson_runs_and_its_player_steps(
    language: str, open_lab: Callable[[Path], Notebook], screenshot: Callable[[Page, str], Path], tmp_path: Path
) -> None:
    lesson = shutil.copy(LESSONS / language / "00_start.ipynb", tmp_path / f"00_{language}.ipynb")
    notebook = open_lab(lesson)
    page = notebook.page
    notebook.theme("JupyterLab Light")
    screenshot(page, f"lesson-00-{language}-start")
    notebook.command("notebook:run-all-cells")
    notebook.wait_for_kernel()
    counts = page.evaluate(COUNTS)
    assert counts == list(range(1, len(counts) + 1))

    first = player_below(page, "replay(trace")
    first.locator(".question").click()
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(first.get_by_role("status")).to_have_text(STEP[language].format(step))
    expect(first).to_contain_text("(2024 - 1933) + (2024 - 1947)")
    screenshot(page, f"lesson-00-{language}-light")

    notebook.theme("JupyterLab Dark")
    expect(page.locator("#jupyterlab-splash")).to_have_count(0)
    forked = player_below(page, "replay(changed")
    expect(forked).to_contain_text(CHANGED[language])
    screenshot(page, f"lesson-00-{language}-dark")
    page.evaluate(SHOW, "from pathlib")
    screenshot(page, f"lesson-00-{language}-note")
