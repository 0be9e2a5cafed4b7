"""What needs a kernel, in JupyterLab: a run as it happens, a fork beside its parent, two runs compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import Notebook
from tests.browser.runs import lighthouse, lighthouse_in_chinese, save_notebook
from tests.notion_server.lab import notion_lab
from tests.notion_server.server import TOKEN

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# The kernel of a test has only the package, so the cells bring their own tool.
AGENT = """\
from react_lab import Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, Trace, tool
from react_lab.replay.player import compare, replay, watch

@tool
def multiply(a: float, b: float) -> float:
    "Multiply two numbers."
    return a * b

call = Reply("I convert it to feet.", tool_calls=(ToolCall("c1", "multiply", {"a": 77, "b": 3.28084}),))
agent = ToolUseAgent(ScriptedModel([call, "About 253 feet."]), ToolRegistry([multiply]))"""
FORKING = """\
parent = Trace.load(%r)
replay(parent, agent=ToolUseAgent(ScriptedModel(["80 m, about 262 feet."]), ToolRegistry([multiply])), lang="en")"""
COMPARING = """\
compare(parent, parent.fork(1, observation="nothing"), lang="zh")"""


def test_a_run_is_watched_and_a_fork_stands_beside_its_parent(
    open_lab: Callable[[Path], Notebook], tmp_path: Path, screenshot: Callable[[Page, str], Path]
) -> None:
    path = lighthouse().save(tmp_path / "parent.jsonl")
    before = path.read_bytes()
    cells = [AGENT, 'watch(agent, "How tall is 77 m in feet?", ask=True, lang="en")', FORKING % str(path), COMPARING]
    notebook = open_lab(save_notebook(tmp_path / "panels.ipynb", *cells))
    page = notebook.page
    notebook.run_all()

    live = notebook.show("watch(")
    expect(live.get_by_text("multiply waits for you")).to_be_visible()
    expect(live.get_by_role("textbox", name="Arguments")).to_have_value('{\n  "a": 77,\n  "b": 3.28084\n}')
    expect(live.locator(".react-lab-player")).to_contain_text("running")
    screenshot(page, "lab-live")
    live.get_by_role("button", name="Approve").click()
    expect(live.get_by_text("done", exact=True)).to_be_visible()
    expect(live.get_by_role("status")).to_have_text("Step 2 of 2")
    expect(live.locator(".react-lab-player")).to_contain_text("About 253 feet.")

    live.get_by_text("A copy of this run that needs no kernel").click()
    live.get_by_text("Read it as text").click()
    expect(live.locator("pre", has_text="=== Step 2 of 2")).to_contain_text("Answer\n  About 253 feet.")

    fork = notebook.show("parent = Trace.load")
    fork.locator(".question").click()
    page.keyboard.press("ArrowRight")
    fork.locator("footer").get_by_role("button", name="Edit and run from here").click()
    fork.get_by_role("textbox", name="To").fill("80 m tall, built in 1543.")
    fork.get_by_role("button", name="Run from here", exact=True).click()
    beside = fork.locator(".react-lab-player").nth(1)
    expect(beside).to_contain_text("They part at row 2")
    expect(beside.get_by_role("status")).to_have_text("Step 2 of 3")
    expect(beside.locator(".panel.different").last).to_contain_text("changed by hand")
    beside.locator(".question").scroll_into_view_if_needed()
    screenshot(page, "lab-fork")
    assert path.read_bytes() == before
    assert path.with_name("parent-fork-1.jsonl").exists()

    notebook.theme("JupyterLab Dark High Contrast")
    two = notebook.show("compare(parent")
    expect(two.locator(".react-lab-player")).to_contain_text("从第 1 行开始不同")
    screenshot(page, "lab-compare-contrast")


PUBLISHING = """\
import os
from react_lab.replay.panels import Publish
from react_lab.trace import Trace
os.environ.update(%r)"""


def test_a_run_is_tried_out_and_then_published_to_notion(
    open_lab: Callable[[Path], Notebook], tmp_path: Path, screenshot: Callable[[Page, str], Path]
) -> None:
    english, chinese = lighthouse(), lighthouse_in_chinese()
    cells = [
        f'Publish(Trace.load({str(trace.save(tmp_path / name))!r}), lang="{lang}")'
        for trace, name, lang in ((english, "en.jsonl", "en"), (chinese, "zh.jsonl", "zh"))
    ]
    with notion_lab(tmp_path / "state") as notion:
        settings = {
            "NOTION_TOKEN": TOKEN,
            "NOTION_BASE_URL": notion.server.address,
            "NOTION_DATABASE": notion.source.id,
            "REACT_LAB_HOME": str(tmp_path),
        }
        notebook = open_lab(save_notebook(tmp_path / "publishing.ipynb", PUBLISHING % settings, *cells))
        page = notebook.page
        notebook.run_all()

        panel = notebook.show(cells[0])
        panel.get_by_role("combobox", name="Publish").select_option("notion")
        panel.get_by_role("combobox", name="Layout").select_option("experiment: a sheet to fill in")
        panel.get_by_role("checkbox").check()
        panel.get_by_role("button", name="Publish").click()
        expect(panel.get_by_text("would create or update: How tall is the Lighthouse")).to_be_visible()
        preview = panel.frame_locator("iframe")
        expect(preview.get_by_text("What do I want to find out")).to_be_visible()
        screenshot(page, "publish-try")
        panel.get_by_role("checkbox").uncheck()
        panel.get_by_role("button", name="Publish").click()
        expect(panel.get_by_text("created: ")).to_be_visible()
        expect(panel.get_by_role("link")).to_have_attribute("href", notion.server.store.show(notion.row)["url"])
        screenshot(page, "publish-done")

        notebook.theme("JupyterLab Dark")
        panel = notebook.show(cells[1])
        panel.get_by_role("combobox", name="发布").select_option("notion")
        panel.get_by_role("checkbox").check()
        panel.get_by_role("button", name="发布").click()
        expect(panel.get_by_text("将创建或更新：热那亚的灯塔有多高？")).to_be_visible()
        expect(panel.frame_locator("iframe").get_by_role("paragraph").first).to_contain_text("替身")
        screenshot(page, "publish-try-dark")
