"""Chromium and JupyterLab for the tests of this folder.

`REACT_LAB_CHROMIUM` names a Chromium; `REACT_LAB_REQUIRE_BROWSER=1` makes a missing one a failure instead of a skip;
`REACT_LAB_SCREENSHOTS` names a folder to keep screenshots in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.lab import Lab, Notebook

SETTINGS = dict(os.environ)  # as the person has set them; a test sees none of the project's own


def find_chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return SETTINGS.get("REACT_LAB_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Of one module: while Playwright runs, no other test could run an event loop."""
    chromium = find_chromium()
    if chromium is None:
        message = "no Chromium found: install one, or name it in REACT_LAB_CHROMIUM"
        if SETTINGS.get("REACT_LAB_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if is_root else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A window of its own."""
    context = browser.new_context(viewport={"width": 1000, "height": 800}, color_scheme="light", locale="en-US")
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """An empty tab; a script that fails in it fails the test."""
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    assert errors == []


@pytest.fixture
def screenshot(tmp_path: Path) -> Callable[[Page, str], Path]:
    """Keep what a tab shows, for a person to look at."""
    folder = Path(SETTINGS.get("REACT_LAB_SCREENSHOTS") or tmp_path)

    def keep(page: Page, name: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        page.evaluate("() => window.scrollTo(0, 0)")
        page.screenshot(path=path, full_page=True)
        return path

    return keep


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab on this machine with settings, runtime files and notebooks in a folder of its own."""
    with Lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


@pytest.fixture
def open_lab(lab: Lab, context: BrowserContext) -> Callable[[Path], Notebook]:
    """Open a copy of a notebook in JupyterLab, in a tab of its own, with its kernel ready."""
    return lambda path: lab.open(path, context.new_page())
