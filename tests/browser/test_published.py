"""Hostile text in what is published: the web page and the preview of Notion show it, and do nothing of what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from react_lab import Reply, Trace
from react_lab_exporters.document import Template
from react_lab_exporters.html import HtmlExporter
from react_lab_exporters.note import note_from_trace
from react_lab_exporters.notion.attachment import trace_file
from react_lab_exporters.notion.preview import Preview
from tests.browser.runs import calling, run
from tests.payloads import PAYLOADS

pytestmark = pytest.mark.browser

EVERYTHING = "\n".join(PAYLOADS)


def hostile() -> Trace:
    """A run in which whatever may be written by others is hostile."""
    replies: list[Reply | str] = [calling(EVERYTHING, ("echo", {"text": EVERYTHING})), Reply(EVERYTHING)]
    trace = run(EVERYTHING, replies, model=EVERYTHING)
    trace.run.update(agent=EVERYTHING, settings={EVERYTHING: EVERYTHING})
    trace.run["tools"][0]["name"] = EVERYTHING
    node = {"node": EVERYTHING}
    trace = Trace(
        [trace.run, {**trace.run, **node}, *({**event, **node} for event in trace.events[1:-1]), trace.finish]
    )
    findings = [{"text": EVERYTHING, "sources": PAYLOADS}]
    trace.events[-1].update(findings=findings, sources=PAYLOADS, notes=PAYLOADS, reason=EVERYTHING)
    return trace


def html_note(folder: Path, template: Template) -> Path:
    (published,) = HtmlExporter().publish([hostile()], to=folder, template=template)
    return Path(published.target)


def notion_preview(folder: Path, template: Template) -> Path:
    trace = hostile()
    file = folder / "preview.html"
    page = Preview(note_from_trace(trace), template, trace_file(trace)).page()
    file.write_text(page, encoding="utf-8", errors="replace")
    return file


def notion_preview_in_a_notebook(folder: Path, template: Template) -> Path:
    """Where no policy of our own keeps scripts from running."""
    file = folder / "cell.html"
    shown = Preview(note_from_trace(hostile()), template)._repr_html_()
    file.write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8", errors="replace")
    return file


@pytest.mark.parametrize("template", ["research", "experiment"])
@pytest.mark.parametrize("written", [html_note, notion_preview, notion_preview_in_a_notebook])
def test_hostile_text_is_only_text_in_what_is_published(
    page: Page, tmp_path: Path, written: Callable[[Path, Template], Path], template: Template
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written(tmp_path, template).as_uri())
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true })")
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.owned") is None
    assert [url for url in asked if not url.startswith(("file:", "about:", "blob:"))] == []
    shown = "".join(page.locator("article").inner_text().split())
    assert [payload for payload in PAYLOADS if "".join(payload.split()) not in shown] == []
