"""The widget and the page, as far as they can be seen without a browser."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import ipywidgets  # type: ignore[import-untyped]
import pytest

from react_lab.replay.page import PLAYER_CSS, PLAYER_JS, to_page
from react_lab.replay.player import replay
from react_lab.replay.words import WORDS
from tests.browser.runs import lighthouse, lighthouse_in_chinese, long_run, run


def data_block(page: str) -> str:
    match = re.search(r'<script id="story" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert match
    return match[1]


def test_the_player_is_a_widget_that_holds_the_whole_story() -> None:
    player = replay(lighthouse())
    assert isinstance(player, ipywidgets.DOMWidget)
    told = json.loads(player.story)
    assert told["question"] == "How tall is the Lighthouse of Genoa in feet?"
    assert len(told["steps"]) == 3
    assert ipywidgets.VBox([player]).children == (player,)


def test_behind_the_widget_stands_the_run_as_text_and_html() -> None:
    data, _ = replay(lighthouse())._repr_mimebundle_()
    assert data.keys() == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    transcript = data["text/html"].partition("<pre")[2]
    for text in (data["text/plain"], html.unescape(transcript)):
        assert "How tall is the Lighthouse of Genoa in feet?" in text
        assert 'search {"query": "Lanterna of Genoa"}' in text
        assert "Answer\n  77 m, about 253 feet." in text


def test_the_controls_are_in_the_language_of_the_person_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def language(player_story: str) -> str:
        return str(json.loads(player_story)["interface"]["language"])

    monkeypatch.setenv("REACT_LAB_LANG", "zh")
    assert language(replay(lighthouse()).story) == "zh"
    assert language(replay(lighthouse(), lang="en").story) == "en"
    assert language(data_block(to_page(lighthouse()))) == "zh"
    with pytest.raises(ValueError, match="use en or zh"):
        replay(lighthouse(), lang="fr")


def test_a_page_fetches_nothing() -> None:
    page = to_page(lighthouse_in_chinese(), "zh")
    policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert '<html lang="zh-CN">' in page
    assert not re.search(r"(src|href)=|@import|url\(", page)


def test_no_text_of_a_run_can_leave_the_data_block() -> None:
    bad = "</script><script>alert(1)</script><!-- <title>"
    page = to_page(run(bad, [bad]), "en")
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page
    assert json.loads(data_block(page))["question"] == bad


def test_a_page_can_always_be_written() -> None:
    to_page(run("half \ud83d", ["of a character \ud83d"]), "en").encode()


def test_messages_are_sent_once_however_long_the_run_is() -> None:
    trace = long_run(300)
    player = replay(trace)
    player.tell_rest()
    told = player.story
    assert len(told) < 5 * len("".join(json.dumps(event) for event in trace.events))
    assert len(told) < 3_500_000  # 300 observations of 2,000 characters: told, sent, and as arguments twice


def test_of_a_long_run_the_opening_comes_first_and_the_rest_when_the_player_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def story() -> dict[str, Any]:
        text = player.story if isinstance(player.story, str) else zlib.decompress(player.story)
        told: dict[str, Any] = json.loads(text)
        return told

    def holds_last_text() -> bool:
        return "Thought 299." in json.dumps(story()["steps"][298]["parts"])

    shown: list[bool] = []
    monkeypatch.setattr("react_lab.replay.widget.display", lambda *_, **__: shown.append(holds_last_text()))
    player = replay(long_run(300))
    assert (len(story()["steps"]), story()["rest"], holds_last_text()) == (300, True, False)
    assert "Thought 20." in json.dumps(story()["steps"][19]["parts"])
    player._ipython_display_()
    assert shown == [False, True]  # the player, and then its copy
    assert story()["steps"] == player.told["steps"]


def test_a_player_within_another_widget_asks_for_the_rest() -> None:
    player = replay(long_run(300))
    player._handle_custom_msg({"rest": True}, [])
    assert b"Thought 299." in zlib.decompress(player.story)


def test_the_script_uses_no_html_of_the_run_and_only_words_that_exist() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(|import ", PLAYER_JS)
    used = set(re.findall(r"words\.(\w+)", PLAYER_JS)) | set(re.findall(r'words\["([^"]+)"\]', PLAYER_JS))
    assert used <= WORDS["en"].keys()
    assert "url(" not in PLAYER_CSS


@pytest.mark.parametrize(
    "imports",
    [
        "from react_lab import replay",
        "import react_lab.replay.story; from react_lab import replay",
        "from react_lab import replay; import react_lab.replay.terminal; from react_lab import replay",
    ],
)
def test_replay_is_the_function_whatever_was_imported_before(imports: str) -> None:
    code = (
        f"{imports}\nfrom tests.browser.runs import lighthouse\nprint(type(replay(lighthouse(), lang='en')).__name__)"
    )
    root = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, encoding="utf-8")
    assert (done.stdout.strip(), done.stderr) == ("Player", "")
