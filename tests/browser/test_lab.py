"""The player in JupyterLab: run, stepped, and found again later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Frame, Page, expect

from tests.browser.lab import Lab, Notebook
from tests.browser.runs import lighthouse, lighthouse_in_chinese, long_run, replaying, save_notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OpenLab = Callable[[Path], Notebook]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A notebook with a player in English and one in Chinese."""
    return save_notebook(
        tmp_path / "players.ipynb",
        replaying(lighthouse(), tmp_path / "en.jsonl", "en"),
        replaying(lighthouse_in_chinese(), tmp_path / "zh.jsonl", "zh"),
    )


def frame_of(page: Page, question: str) -> Frame:
    """The copy of a run that stands in a frame."""
    shown = page.locator(f'iframe[srcdoc*="{question}"]').first
    expect(shown).to_be_visible()
    frame = shown.element_handle().content_frame()
    assert frame is not None
    return frame


def test_the_player_steps_in_a_running_notebook(
    open_lab: OpenLab, path: Path, screenshot: Callable[[Page, str], Path]
) -> None:
    notebook = open_lab(path)
    page = notebook.page
    notebook.run_all()
    expect(notebook.players).to_have_count(2)
    expect(page.locator("iframe:visible")).to_have_count(0)

    english, chinese = notebook.players.all()
    sent, cells = notebook.messages, notebook.cells.count()
    assert sent > 0
    english.locator(".question").click()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(english.get_by_role("status")).to_have_text("Step 2 of 3")
    expect(english).to_contain_text("The search failed.")
    expect(chinese.get_by_role("status")).to_have_text("第 1 步，共 2 步")
    assert notebook.messages == sent

    english.locator("details.reply > summary").click()
    page.keyboard.press("ArrowLeft")
    for key in "abxddy":  # commands of the notebook, were they not kept from it
        page.keyboard.press(key)
    expect(english.get_by_role("status")).to_have_text("Step 1 of 3")
    assert notebook.cells.count() == cells

    english.get_by_role("combobox", name="Speed").select_option("16×")
    english.get_by_role("button", name="Play").click()
    expect(english.get_by_role("status")).to_have_text("Step 3 of 3")
    assert notebook.messages == sent

    screenshot(page, "lab-light")
    notebook.theme("JupyterLab Dark")
    screenshot(page, "lab-dark")
    notebook.command("kernelmenu:shutdown")
    english.locator(".question").click()
    page.keyboard.press("End")
    expect(english.get_by_role("status")).to_have_text("Step 3 of 3")


def test_a_long_run_arrives_to_its_last_step(open_lab: OpenLab, tmp_path: Path) -> None:
    long = replaying(long_run(300), tmp_path / "long.jsonl", "en")
    notebook = open_lab(
        save_notebook(tmp_path / "long.ipynb", long, f"import ipywidgets\nipywidgets.VBox([{long.splitlines()[-1]}])")
    )
    notebook.run_all()
    expect(notebook.players).to_have_count(2)
    for player in notebook.players.all():
        player.locator(".question").click()
        notebook.page.keyboard.press("End")
        notebook.page.keyboard.press("ArrowLeft")
        expect(player.locator(".panel.thought")).to_contain_text("Thought 299.")
        expect(player).to_have_attribute("aria-busy", "false")


def test_a_reopened_notebook_steps_without_running_it(
    open_lab: OpenLab, lab: Lab, context: BrowserContext, path: Path, screenshot: Callable[[Page, str], Path]
) -> None:
    notebook = open_lab(path)
    notebook.run_all()
    expect(notebook.players).to_have_count(2)
    notebook.save()
    notebook.page.close()
    lab.stop_kernels()

    notebook = open_lab(notebook.path)
    page = notebook.page
    expect(page.get_by_text("Error displaying widget")).to_be_hidden()
    page.get_by_text("A copy of this run that needs no kernel").click()
    frame = frame_of(page, "Lighthouse of Genoa")
    frame.locator(".question").click()
    page.keyboard.press("ArrowRight")
    expect(frame.get_by_role("status")).to_have_text("Step 2 of 3")
    screenshot(page, "lab-reopened")


def test_a_notebook_that_is_not_trusted_can_be_read(open_lab: OpenLab, lab: Lab, path: Path) -> None:
    notebook = open_lab(path)
    notebook.run_all()
    notebook.save()
    stranger = json.loads(notebook.path.read_text(encoding="utf-8"))
    stranger["metadata"]["kernelspec"]["display_name"] = "changed by another person"
    received = lab.notebooks / "received.ipynb"
    received.write_text(json.dumps(stranger), encoding="utf-8")

    page = open_lab(received).page
    page.get_by_text("Read it as text", exact=True).first.click()
    expect(page.get_by_text("Step 2 of 3").first).to_be_visible()
    expect(page.get_by_text("77 m, about 253 feet.").first).to_be_visible()
