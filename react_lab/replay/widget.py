"""The player as a widget: it steps forward and back without the kernel, and leaves a copy that needs none."""

from __future__ import annotations

import html
import json
import uuid
from collections.abc import Mapping
from typing import Any

import anywidget
import traitlets
from IPython.display import display

from react_lab.replay.page import PLAYER_CSS, PLAYER_JS, packed, page_of
from react_lab.replay.story import Story, as_text
from react_lab.tools.registry import shorten
from react_lab.trace import Trace

OPENING = 20  # steps; of a longer run, the texts of the others follow when the player is there
OUTLINE = ("node", "line", "summary", "tools", "failed", "start", "model", "runs", "context", "growth")  # come at once
LONG_TEXT = 200_000  # characters; of a longer transcript only an excerpt stands in place of the player
EXCERPT = 20_000  # the folded copy has all of it
# In a reopened notebook: the output of JupyterLab that says "Error displaying widget: model not found".
LOST_PLAYER = ".jp-OutputArea-child:has(> .jp-OutputArea-output:not([data-mime-type])):not(:has(.react-lab-player))"


class Player(anywidget.AnyWidget):
    """The widget: a story as JSON, laid out and stepped by player.js.

    A widget lives as long as its kernel, and notebooks are saved without the state of their widgets. So the cell
    gets a copy that needs neither: folded while the player is there, in its place where there are no widgets.

    `player.step = 4` moves it. It tells the kernel where it is only when the person asks for something that the
    kernel does, such as a file.
    """

    _esm = PLAYER_JS
    _css = PLAYER_CSS
    story = traitlets.Union([traitlets.Unicode(), traitlets.Bytes()]).tag(sync=True)  # packed if it is long
    step = traitlets.Int(1).tag(sync=True)

    def __init__(self, told: Story, trace: Trace | None = None, **interface: Any) -> None:
        self.told = told
        self.trace = trace
        self._interface = {"files": ["page", "trace"] if trace else ["page"], **interface}
        first = opening(told)
        self._to_come = first is not told
        super().__init__(story=self._json(first))
        self.on_msg(self._asked)

    def tell(self, told: Story) -> None:
        """Show another story, or more of the same one."""
        self.told = told
        self._to_come = False
        self.story = self._json(told)

    def tell_rest(self) -> None:
        """Show all of a long run, once its opening is shown."""
        if self._to_come:
            self.tell(self.told)

    def _json(self, told: Story) -> str | bytes:
        interface = {**told["interface"], **self._interface}
        return packed(json.dumps({**told, "interface": interface}, ensure_ascii=False))

    def _asked(self, player: Player, message: Mapping[str, Any], buffers: Any) -> None:
        """The player wants the rest of the run, or the person a file that only the kernel can make."""
        if message.get("rest"):
            self.tell_rest()
        elif message.get("save") == "page":
            self.send({"file": {"name": "run.html", "text": page_of(self.told)}})
        elif message.get("save") == "trace" and self.trace is not None:
            self.send({"file": {"name": "run.jsonl", "text": self.trace.to_jsonl()}})

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**data, "text/html": static_copy(self.told), "text/plain": as_text(self.told)}, metadata

    def _ipython_display_(self) -> None:
        Shown((super()._repr_mimebundle_() or ({}, {}))[0], self)


def opening(told: Story) -> Story:
    """What the player needs to be there at once: all of a run but the long texts of its later steps."""
    steps = told.get("steps", [])
    if len(steps) <= OPENING:
        return told
    part = {"kind": "to_come", "label": told["interface"]["words"]["to_come"], "title": "", "text": "", "notes": ""}
    blank = {"parts": [part], "prompt": 0, "messages": [], "events": []}
    later = [{**{name: step[name] for name in OUTLINE}, **blank} for step in steps[OPENING:]]
    return {**told, "steps": [*steps[:OPENING], *later], "rest": True}


class Shown:
    """Two outputs, of which a person sees one: the player, or what takes its place, and the folded copy."""

    def __init__(self, live: Mapping[str, Any], player: Player) -> None:
        self.name = f"copy-{uuid.uuid4().hex}"
        told = player.told
        text = as_text(told)
        if len(text) > LONG_TEXT:  # the browser would read all of it before it shows the player
            text = shorten(text, EXCERPT)
            instead = f'<pre style="white-space: pre-wrap">{html.escape(text)}</pre>'
        else:  # shown only where the widget is not, and then the folded copy would be one too many
            instead = f"<style>#{self.name} {{ display: none }}</style>{static_copy(told)}"
        display({**live, "text/html": instead, "text/plain": text}, raw=True)  # type: ignore[no-untyped-call]
        player.tell_rest()
        folded = self._folded(told, static_copy(told))
        self.handle = display(folded, raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def update(self, told: Story) -> None:
        """Bring the folded copy up to date with a run that has gone on."""
        self.handle.update(self._folded(told, static_copy(told)), raw=True)

    def _folded(self, told: Story, copy: str) -> dict[str, str]:
        words = told["interface"]["words"]
        hide = f"<style>{LOST_PLAYER}:has(+ * #{self.name}) {{ display: none }}</style>"
        summary = f"<summary>{html.escape(words['copy'])}</summary>"
        folded = f'{hide}<details id="{self.name}">{summary}{copy}</details>'
        return {"text/html": folded, "text/plain": words["copy"]}


def static_copy(told: Story) -> str:
    """HTML that steps where scripts may run, and can be read where a host strips frames and scripts."""
    words = {key: html.escape(word) for key, word in told["interface"]["words"].items()}
    page, text = html.escape(page_of(told)), html.escape(as_text(told))
    # The frame has no origin, so it reaches neither the notebook nor its server. Sources open in new windows.
    sandbox = "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"
    style = "width: 100%; height: 44em; border: 0; resize: vertical"
    return (
        f'<iframe title="{words["player"]}" sandbox="{sandbox}" srcdoc="{page}" style="{style}"></iframe>'
        f'<details><summary>{words["transcript"]}</summary><pre style="white-space: pre-wrap">{text}</pre></details>'
    )
