"""The player in a notebook: step through a run forward and back, without the kernel."""

from __future__ import annotations

import html
import json
import uuid
from typing import Any

import anywidget
import traitlets
from IPython.display import display

from react_lab.language import Language, interface_language
from react_lab.replay.page import PLAYER_CSS, PLAYER_JS, to_page
from react_lab.replay.story import Story, as_text, story, tell
from react_lab.trace import Trace

# In a reopened notebook: the output of JupyterLab that says "Error displaying widget: model not found".
LOST_PLAYER = ".jp-OutputArea-child:has(> .jp-OutputArea-output:not([data-mime-type])):not(:has(.react-lab-player))"


def replay(trace: Trace, *, lang: str | None = None) -> Player:
    """Show a run in the notebook.

    Args:
        trace: The run; what is added to it later is not shown.
        lang: Language of the controls, `en` or `zh`; by default that of the person's settings.
    """
    return Player(trace, interface_language(lang))


class Player(anywidget.AnyWidget):
    """The widget: a story as JSON, laid out and stepped by player.js.

    A widget lives as long as its kernel, and notebooks are saved without the state of their widgets. So the cell
    gets a copy that needs neither: folded while the player is there, in its place where there are no widgets.
    """

    _esm = PLAYER_JS
    _css = PLAYER_CSS
    story = traitlets.Unicode().tag(sync=True)

    def __init__(self, trace: Trace, language: Language) -> None:
        told = tell(story(trace), language)
        super().__init__(story=json.dumps(told, ensure_ascii=False))
        self._text = as_text(told)
        self._copy = static_copy(trace, told)
        self._words = told["interface"]["words"]

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        return {**data, "text/html": self._copy, "text/plain": self._text}, metadata

    def _ipython_display_(self) -> None:
        """Two outputs, of which a person sees one: the player, or what takes its place, and the folded copy."""
        name, summary = f"copy-{uuid.uuid4().hex}", html.escape(self._words["copy"])
        live, _ = self._repr_mimebundle_()
        # This HTML is shown only where the widget is not, and then the folded copy would be one too many.
        live["text/html"] = f"<style>#{name} {{ display: none }}</style>{self._copy}"
        hide = f"<style>{LOST_PLAYER}:has(+ * #{name}) {{ display: none }}</style>"
        folded = f'{hide}<details id="{name}"><summary>{summary}</summary>{self._copy}</details>'
        for output in (live, {"text/html": folded, "text/plain": self._words["copy"]}):
            display(output, raw=True)  # type: ignore[no-untyped-call]


def static_copy(trace: Trace, told: Story) -> str:
    """HTML that steps where scripts may run, and can be read where a host strips frames and scripts."""
    interface = told["interface"]
    words = {key: html.escape(word) for key, word in interface["words"].items()}
    page, text = html.escape(to_page(trace, interface["language"])), html.escape(as_text(told))
    # The frame has no origin, so it reaches neither the notebook nor its server. Sources open in new windows.
    sandbox = "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    style = "width: 100%; height: 36em; border: 0; resize: vertical"
    return (
        f'<iframe title="{words["player"]}" sandbox="{sandbox}" srcdoc="{page}" style="{style}"></iframe>'
        f'<details><summary>{words["transcript"]}</summary><pre style="white-space: pre-wrap">{text}</pre></details>'
    )
