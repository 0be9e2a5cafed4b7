"""The panel that publishes a run from a notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from react_lab.replay.panels import Publish
from tests.browser.runs import lighthouse, lighthouse_in_chinese, run
from tests.payloads import PAYLOADS


@pytest.fixture(autouse=True)
def nothing_is_set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_LAB_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))


def test_every_exporter_and_both_layouts_are_offered() -> None:
    panel = Publish(lighthouse(), lang="en")
    assert {"markdown", "html", "notion"} <= set(panel.target.options)
    assert [value for _, value in panel.template.options] == ["research", "experiment"]


@pytest.mark.parametrize(("target", "file"), [("markdown", "*.md"), ("html", "*.html")])
def test_the_chosen_layout_is_written_to_the_chosen_place(tmp_path: Path, target: str, file: str) -> None:
    panel = Publish(lighthouse(), lang="en")
    panel.target.value, panel.template.value, panel.place.value = target, "experiment", str(tmp_path / "notes")
    panel.button.click()
    assert panel.status.value.startswith("created: ")
    (note,) = (tmp_path / "notes").glob(file)
    assert "What do I want to find out" in note.read_text(encoding="utf-8")
    assert not panel.button.disabled


def test_a_dry_run_for_notion_shows_requests_and_the_page() -> None:
    panel = Publish(lighthouse_in_chinese(), lang="zh")
    panel.target.value, panel.dry_run.value = "notion", True
    panel.button.click()
    assert panel.status.value.startswith("将创建或更新：热那亚的灯塔有多高？<br>POST /v1/file_uploads")
    assert panel.preview.value.startswith('<iframe title="页面将是这个样子" sandbox="allow-popups')
    assert "热那亚灯塔高 77 米" in panel.preview.value
    panel.target.value = "markdown"
    panel.button.click()
    assert panel.preview.value == ""


def test_what_is_missing_is_told_with_its_address_as_a_link() -> None:
    panel = Publish(lighthouse(), lang="en")
    panel.target.value = "notion"
    panel.button.click()
    assert "set NOTION_TOKEN" in panel.status.value
    assert '<a href="https://www.notion.so/profile/integrations" target="_blank"' in panel.status.value


def test_progress_is_shown_while_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        def publish(self, traces, **options):
            self.on_progress("1/2")
            shown.append(panel.status.value)
            return iter(())

        on_progress = print

    class Entry:
        name = "slow"
        load = staticmethod(lambda: Slow)

    monkeypatch.setattr("react_lab.replay.panels.entry_points", lambda group: [Entry])
    shown: list[str] = []
    panel = Publish(lighthouse(), lang="en")
    panel.button.click()
    assert shown == ["publishing … 1/2"]


def test_a_hostile_run_stays_text_in_the_panel() -> None:
    everything = "\n".join(PAYLOADS)
    panel = Publish(run(everything, [everything]), lang="en")
    panel.target.value, panel.dry_run.value = "notion", True
    panel.button.click()
    for shown in (panel.status.value, panel.preview.value.removesuffix("></iframe>")):
        assert "<script" not in shown
        assert "<img" not in shown
