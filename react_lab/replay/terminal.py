"""The player in a terminal: step through a run with the arrow keys, or print it whole."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TextIO

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.utils import get_cwidth

from react_lab.language import interface_language
from react_lab.replay.story import as_text, found_in, indented, part_lines, position, sent, story, tell
from react_lab.trace import Trace

Row = tuple[str, str]  # style and text


def replay_in_terminal(trace: Trace, *, lang: str | None = None) -> None:
    """Step through a run; where there is no terminal to step in, print it."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        application(TerminalPlayer(trace, lang=lang)).run()
    else:
        print_trace(trace, sys.stdout, lang=lang)


def print_trace(trace: Trace, file: TextIO, *, lang: str | None = None) -> None:
    """Write a run as text; characters that the file's encoding lacks become question marks."""
    text = as_text(tell(story(trace), interface_language(lang)))
    encoding = file.encoding or "utf-8"
    file.write(text.encode(encoding, errors="replace").decode(encoding))


class TerminalPlayer:
    """Where the person is in a run, and the screen that shows it. Keys come in, rows of text go out."""

    def __init__(self, trace: Trace, *, lang: str | None = None) -> None:
        self.told = tell(story(trace), interface_language(lang))
        self.words = self.told["interface"]["words"]
        self.number = 1  # of the step shown
        self.top = 0  # the first row of it that is on the screen
        self.unfolded: set[str] = set()
        self.query = ""  # what is searched
        self.typing = False  # whether keys are letters of the query

    def press(self, key: str) -> None:
        """Do what a key stands for."""
        if self.typing:
            self.type(key)
            return
        last = max(len(self.told["steps"]), 1)
        moves = {"left": self.number - 1, "right": self.number + 1, "home": 1, "end": last}
        scrolls = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}
        folds = {"p": "prompt", "r": "reply", "e": "events"}
        if key in moves:
            self.go(min(max(moves[key], 1), last))
        elif key in scrolls:
            self.top = max(self.top + scrolls[key], 0)
        elif key in folds:
            self.unfolded ^= {folds[key]}
        elif key == "/":
            self.query, self.typing = "", True
        elif key in ("n", "N") and self.found:
            beyond = [number for number in self.found if (number > self.number if key == "n" else number < self.number)]
            first, last = (beyond or self.found)[0], (beyond or self.found)[-1]
            self.go(first if key == "n" else last)

    def type(self, key: str) -> None:
        """A letter of the query; return searches from here on, escape gives up."""
        if key == "enter":
            self.typing = False
            if self.found:
                self.go(next((number for number in self.found if number >= self.number), self.found[0]))
        elif key == "escape":
            self.query, self.typing = "", False
        elif key == "backspace":
            self.query = self.query[:-1]
        elif len(key) == 1:
            self.query += key

    def go(self, number: int) -> None:
        self.number = number
        self.top = 0

    @property
    def found(self) -> list[int]:
        """The steps that hold the query."""
        return found_in(self.told["steps"], self.query) if self.query else []

    @property
    def foot(self) -> str:
        """What the keys do; while there is a query, what it found."""
        if self.typing:
            return f"/{self.query}_"
        if not self.query:
            return str(self.words["keys"])
        if not self.found:
            return f"/{self.query} · {self.words['none_found']}"
        place = self.found.index(self.number) + 1 if self.number in self.found else "–"
        return f"/{self.query} · {self.words['found'].format(n=place, count=len(self.found))} · {self.words['keys']}"

    def screen(self, columns: int, rows: int) -> list[Row]:
        """What a screen of that size shows: who was asked what, a part of the step, the keys."""
        head = [("bold", cut(self.told["question"], columns))]
        head += [("", cut(line, columns)) for line in self.told["lines"]]
        body = [row for line in self.step_lines() for row in wrapped(line, columns)]
        height = max(rows - len(head) - 3, 1)
        self.top = min(self.top, max(len(body) - height, 0))
        shown = body[self.top : self.top + height]
        place = f" {self.top + len(shown)}/{len(body)} " if len(body) > height else ""
        blank = [("", "")] * (height - len(shown))
        rule, more = ("", "-" * columns), ("", place.rjust(columns, "-"))
        return [*head, rule, *shown, *blank, more, ("reverse", cut(self.foot, columns))]

    def step_lines(self) -> Iterator[str]:
        """The current step: labels at the margin, what belongs to them indented."""
        if not self.told["steps"]:
            return
        step = self.told["steps"][self.number - 1]
        yield position(self.told, self.number)
        yield from part_lines(step)
        if "prompt" in self.unfolded:
            size = self.words["prompt_size"].format(count=step["prompt"], new=step["new"])
            yield from ("", f"{self.words['prompt']} · {size}")
            for index, message in enumerate(sent(self.told, self.number)):
                mark = f" · {self.words['new']}" if index >= step["prompt"] - step["new"] else ""
                yield from ("", f"[{message['label']}{mark}]", *indented(message["text"]))
        if "reply" in self.unfolded:
            yield from ("", self.words["reply"], *indented(step["reply"]))
        if "events" in self.unfolded:
            yield from ("", self.words["events"], *(f"  {name}: {facts}" for name, facts in step["events"]))


def application(player: TerminalPlayer) -> Application[None]:
    """The full-screen program around a player; `run()` starts it."""
    keys = KeyBindings()

    for name in ("left", "right", "home", "end", "up", "down", "pageup", "pagedown", "enter", "escape", "backspace"):

        @keys.add(name)
        def press(event: KeyPressEvent, name: str = name) -> None:
            player.press(name)

    @keys.add("<any>")
    def letter(event: KeyPressEvent) -> None:
        for character in event.data:
            player.press(character)

    @keys.add("q", filter=Condition(lambda: not player.typing))
    @keys.add("c-c")
    @keys.add("c-d")
    def leave(event: KeyPressEvent) -> None:
        event.app.exit()

    def text() -> StyleAndTextTuples:
        size = get_app().output.get_size()
        return [(style, row + "\n") for style, row in player.screen(size.columns, size.rows)]

    return Application(layout=Layout(Window(FormattedTextControl(text))), key_bindings=keys, full_screen=True)


def wrapped(line: str, columns: int) -> Iterator[Row]:
    """A line in rows that fit. Lines at the margin are labels, and bold; the others stay indented."""
    if not line.startswith("  "):
        yield "bold", cut(line, columns)
        return
    for row in wrap(line[2:].expandtabs(4), columns - 2):
        yield "", "  " + row


WORD = re.compile(r"[!-\u024f]+$")  # the end of a row, if it is a part of a word in Latin letters


def wrap(text: str, columns: int) -> Iterator[str]:
    """Break a text into rows, between words where it has some. A Chinese character takes two columns."""
    row, used = "", 0
    for character in text:
        width = get_cwidth(character)
        if row and used + width > columns:
            word = WORD.search(row) if WORD.match(character) else None
            end = word.start() if word and row[: word.start()].strip() else len(row)
            yield row[:end]
            row = row[end:]
            used = get_cwidth(row)
        row += character
        used += width
    yield row


def cut(text: str, columns: int) -> str:
    """The first row of a text."""
    return next(wrap(" ".join(text.split()), columns))
