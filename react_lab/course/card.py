"""What the course puts below a cell: a few lines, as HTML where there is a browser and as text where there is none."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["good", "bad", "plain"]
COLOURS: dict[Kind, str] = {"good": "#2e8b57", "bad": "#c77700", "plain": "#7a7a8c"}  # readable on white and on black
MARKS: dict[Kind, str] = {"good": "+", "bad": "-", "plain": "·"}


@dataclass(frozen=True)
class Card:
    """A title, rows of a label and a value (code), and paragraphs."""

    title: str
    kind: Kind = "plain"
    rows: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    compared: bool = False  # whether the last two rows are marked where they differ

    def __repr__(self) -> str:
        width = max((columns(label) for label, _ in self.rows), default=0)
        rows = [
            f"  {label}{' ' * (width - columns(label))}  {indented(value, width + 4)}" for label, value in self.rows
        ]
        return "\n".join(
            [f"{MARKS[self.kind]} {self.title}", *rows, *(f"  {indented(note, 2)}" for note in self.notes)]
        )

    def _repr_html_(self) -> str:
        values = [html.escape(value) for _, value in self.rows]
        if self.compared:
            values[-2:] = marked(self.rows[-2][1], self.rows[-1][1])
        rows = "".join(
            f'<tr style="background: none"><td style="{LABEL}">{html.escape(label)}</td>'
            f'<td style="text-align: left"><code style="white-space: pre-wrap">{value}</code></td></tr>'
            for (label, _), value in zip(self.rows, values, strict=True)
        )
        table = f'<table style="margin: .3em 0">{rows}</table>' if rows else ""
        notes = "".join(f'<p style="{NOTE}">{html.escape(note)}</p>' for note in self.notes)
        return (
            f'<div class="react-lab-card" style="border-left: 4px solid {COLOURS[self.kind]}; padding: .1em .9em; '
            f'max-width: 60em"><strong>{html.escape(self.title)}</strong>{table}{notes}</div>'
        )


LABEL = "text-align: left; vertical-align: top; white-space: nowrap; opacity: .75"
NOTE = "margin: .3em 0; white-space: pre-wrap"
WORD = re.compile(r"\w+|\s+|.")
MARK = '<mark style="background: #ffd54a; color: #000">{}</mark>'


def marked(one: str, other: str) -> tuple[str, str]:
    """Two texts as HTML, marked where they differ; not at all if they have little in common."""
    words = WORD.findall(one), WORD.findall(other)
    matcher = SequenceMatcher(None, *words, autojunk=False)
    if matcher.ratio() < 0.5:
        return html.escape(one), html.escape(other)
    texts = ["", ""]
    for kind, a, b, x, y in matcher.get_opcodes():
        for side, part in enumerate(("".join(words[0][a:b]), "".join(words[1][x:y]))):
            texts[side] += html.escape(part) if kind == "equal" or not part else MARK.format(html.escape(part))
    return texts[0], texts[1]


@dataclass(frozen=True)
class Source:
    """Python in colour, a line on a line."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from IPython.display import Code

        page: str = Code(self.text, language="python")._repr_html_()  # type: ignore[no-untyped-call]
        return page.replace("<pre>", '<pre style="white-space: pre; overflow-x: auto">')


def columns(text: str) -> int:
    """The width of a text in a terminal, where a Chinese character takes two columns."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def indented(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width)


def put(*items: object) -> None:
    """Show below the cell, or print where there is no notebook."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    for item in items:
        if get_ipython() is None:
            print(item)
        else:
            display(item)  # type: ignore[no-untyped-call]
