"""A run as one HTML file that steps anywhere: no server, no network, no notebook."""

from __future__ import annotations

import html
import json
from pathlib import Path

from react_lab.language import interface_language
from react_lab.replay.story import story, tell
from react_lab.trace import Trace

HERE = Path(__file__).parent
PLAYER_JS = HERE / "player.js"
PLAYER_CSS = HERE / "player.css"

# Nothing may be fetched, not even by what a model wrote.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"

# The part of a widget model that the player needs; here the story never changes.
SHIM = """\
const story = document.getElementById("story").textContent;
const model = { get: () => story, on() {}, off() {} };
render({ model, el: document.querySelector("main") });
"""


def to_page(trace: Trace, lang: str | None = None) -> str:
    """The player and the run in one HTML document, to save, send or open without a network."""
    language = interface_language(lang)
    told = tell(story(trace), language)
    # "<" spelled as JSON may spell it, so that no text of a run can end the data block.
    data = json.dumps(told, ensure_ascii=False).replace("<", "\\u003c")
    return f"""\
<!doctype html>
<html lang="{"zh-CN" if language == "zh" else "en"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(told["question"])}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; }}
main > section.react-lab-player {{ margin: auto; }}
{PLAYER_CSS.read_text(encoding="utf-8")}</style>
</head>
<body>
<main></main>
<script id="story" type="application/json">{data}</script>
<script type="module">
{PLAYER_JS.read_text(encoding="utf-8")}
{SHIM}</script>
</body>
</html>
"""
