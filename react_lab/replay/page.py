"""A run as one HTML file that steps anywhere: no server, no network, no notebook."""

from __future__ import annotations

import base64
import html
import json
import zlib
from pathlib import Path

from react_lab.language import interface_language
from react_lab.replay.story import Story, story, tell
from react_lab.trace import Trace

HERE = Path(__file__).parent
# One module in several files, so that each can be read in one go.
SCRIPTS = ("dom.js", "charts.js", "list.js", "step.js", "takeaway.js", "player.js")
PLAYER_JS = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
PLAYER_CSS = (HERE / "player.css").read_text(encoding="utf-8")

# Nothing may be fetched, not even by what a model wrote. Drawings of tools come as data.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
PACKED_FROM = 1_000_000  # characters; below, the story can be read in the page's source

# The part of a widget model that the player needs; here the story never changes, and `#step-4` is a link to a step.
SHIM = """\
const block = document.getElementById("story");
const isText = block.type === "application/json";
const story = isText ? block.textContent : bytes(atob(block.textContent));
const step = () => Number(/^#step-(\\d+)$/.exec(location.hash)?.[1] ?? 1);
const model = {
  get: (name) => (name === "story" ? story : step()),
  set: (name, value) => link(value),
  on: (event, listener) => event === "change:step" && addEventListener("hashchange", listener),
  off() {},
};
function bytes(letters) {
  const array = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) array[i] = letters.charCodeAt(i); // 20 times as fast as Uint8Array.from
  return array;
}

let waiting; // browsers refuse an address that changes too often
render({ model, el: document.querySelector("main") });

function link(number) {
  clearTimeout(waiting);
  if (location.protocol === "about:" || number === step()) return;
  waiting = setTimeout(() => history.replaceState(null, "", `#step-${number}`), 300);
}
"""


def to_page(trace: Trace, lang: str | None = None, *, head: str = "", above: str = "") -> str:
    """The player and the run in one HTML document, to save, send or open without a network.

    Args:
        trace: The run.
        lang: Of the player's own words; that of the person by default.
        head: HTML for the end of the head.
        above: HTML to stand above the player.
    """
    return page_of(tell(story(trace), interface_language(lang)), head=head, above=above)


def page_of(told: Story, *, head: str = "", above: str = "") -> str:
    """The player and what it shows in one HTML document."""
    return f"""\
<!doctype html>
<html lang="{"zh-CN" if told["interface"]["language"] == "zh" else "en"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(told["question"])}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem; }}
main > section.react-lab-player {{ margin: auto; }}
{PLAYER_CSS}</style>
{head}</head>
<body>
{above}<main></main>
{data_block(told)}
<script type="module">
{PLAYER_JS}
{SHIM}</script>
</body>
</html>
"""


def data_block(told: Story) -> str:
    """The story for the script: as JSON, or packed where that is long."""
    data = packed(json.dumps(told, ensure_ascii=False))
    if isinstance(data, bytes):
        return f'<script id="story" type="application/zlib">{base64.b64encode(data).decode()}</script>'
    data = data.replace("<", "\\u003c")  # as JSON may spell it, so that no text of a run can end the data block
    return f'<script id="story" type="application/json">{data}</script>'


def packed(text: str) -> str | bytes:
    """A long text as zlib packs it, a short one as it is; player.js reads both."""
    return text if len(text) < PACKED_FROM else zlib.compress(text.encode(), level=1)
