"""The player in a notebook that was exported to HTML, opened without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.runs import lighthouse, replaying, run, save_notebook

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAYLOAD = "</script><img src=x onerror='top.owned = 1'><style>body { display: none }</style>"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook that has been run; it holds no state of widgets, as JupyterLab saves it."""
    folder = tmp_path_factory.mktemp("export")
    hostile = run(PAYLOAD, [PAYLOAD])
    cells = [replaying(lighthouse(), folder / "a.jsonl", "en"), replaying(hostile, folder / "b.jsonl", "en")]
    path = save_notebook(folder / "run.ipynb", *cells)
    nbconvert("--to=notebook", "--inplace", "--execute", "--ExecutePreprocessor.store_widget_state=False", path)
    return path


@pytest.fixture
def exported(browser: Browser, notebook: Path) -> Page:
    nbconvert("--to=html", notebook)
    page = browser.new_context(offline=True).new_page()
    page.goto(notebook.with_suffix(".html").as_uri())
    return page


def nbconvert(*arguments: object) -> None:
    command = [sys.executable, "-m", "nbconvert", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)


def test_a_cell_has_the_player_and_a_folded_copy(notebook: Path) -> None:
    outputs = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["outputs"]
    live, copy = (output["data"] for output in outputs)
    assert live.keys() == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert copy.keys() == {"text/html", "text/plain"}
    html = "".join(copy["text/html"])
    assert "<details id=" in html
    assert "Lighthouse of Genoa\n  77 m tall" in html


def test_an_exported_notebook_shows_one_player_a_cell_and_it_steps(exported: Page) -> None:
    frames = exported.locator("iframe:visible")
    expect(frames).to_have_count(2)
    player = frames.first.content_frame
    player.locator(".question").click()
    exported.keyboard.press("ArrowRight")
    expect(player.get_by_role("status")).to_have_text("Step 2 of 3")
    exported.keyboard.press("Home")
    expect(player.get_by_role("status")).to_have_text("Step 1 of 3")
    exported.get_by_text("Read it as text").first.click()
    expect(exported.get_by_text("=== Step 3 of 3").first).to_be_visible()


def test_hostile_text_in_an_exported_notebook_is_only_text(exported: Page) -> None:
    hostile = exported.locator("iframe:visible").last.content_frame
    expect(hostile.locator(".question")).to_have_text(PAYLOAD)
    exported.locator("summary:visible").last.click()
    expect(exported.locator("pre", has_text=PAYLOAD).locator("visible=true")).to_have_count(1)
    assert exported.evaluate("() => window.owned") is None
    expect(exported.locator("img")).to_have_count(0)
