"""The player in a terminal: step through a run with the arrow keys, or print it whole."""

from __future__ import annotations

import math
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
from react_lab.replay.story import Story, as_text, found_in, indented, joined, part_lines, position, sent, story, tell
from react_lab.trace import Trace

BAR = 10  # characters of a bar
SUMMARY = 30  # characters of a step in the overview
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
        self.only_errors = False
        self.query = ""  # what is searched
        self.typing = False  # whether keys are letters of the query

    def press(self, key: str) -> None:
        """Do what a key stands for."""
        if self.typing:
            self.type(key)
            return
        scrolls = {"up": -1, "down": 1, "pageup": -10, "pagedown": 10}
        folds = {"p": "prompt", "r": "reply", "e": "events", "o": "overview"}
        if key in ("left", "right", "home", "end"):
            self.move(key)
        elif key in scrolls:
            self.top = max(self.top + scrolls[key], 0)
        elif key in folds:
            self.unfolded ^= {folds[key]}
        elif key == "x":
            self.only_errors = not self.only_errors
            self.go(next((number for number in self.shown if number >= self.number), self.number))
        elif key == "/":
            self.query, self.typing = "", True
        elif key in ("n", "N") and self.found:
            beyond = [number for number in self.found if (number > self.number if key == "n" else number < self.number)]
            first, last = (beyond or self.found)[0], (beyond or self.found)[-1]
            self.go(first if key == "n" else last)

    def move(self, key: str) -> None:
        """To another of the steps that are shown, if there is one on that side."""
        before = [number for number in self.shown if number < self.number]
        after = [number for number in self.shown if number > self.number]
        targets = {"left": before[-1:], "right": after[:1], "home": self.shown[:1], "end": self.shown[-1:]}
        if targets[key]:
            self.go(targets[key][0])

    @property
    def shown(self) -> list[int]:
        """The numbers of the steps that pass the filter."""
        steps = enumerate(self.told["steps"], start=1)
        return [number for number, step in steps if step["failed"] or not self.only_errors]

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
            filtered = f"{self.words['errors']} ({len(self.shown)}) · " if self.only_errors else ""
            return filtered + str(self.words["keys"])
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
        if "overview" in self.unfolded:
            yield from (self.words["overview"], *overview(self.told, self.number), "")
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


def overview(told: Story, current: int) -> Iterator[str]:
    """A line for each step: a bar of its time and one of its prompt, against the longest, and what it is about."""
    steps = told["steps"]
    seconds = [step["model"] + max((run[0] for run in step["runs"]), default=0.0) for step in steps]
    sizes = [sum(step["context"]) for step in steps]
    words = told["interface"]["words"]
    yield f"       {words['timeline']:{BAR}} {words['growth']:{BAR}}"
    for number, (step, time, size) in enumerate(zip(steps, seconds, sizes, strict=True), start=1):
        mark = ">" if number == current else "!" if step["failed"] else " "
        bars = f"{bar(time, max(seconds))} {bar(size, max(sizes))}"
        yield f"  {mark}{number:>3} {bars} {joined([step['node'], step['summary'][:SUMMARY]])}"


def bar(value: float, longest: float) -> str:
    """In characters that every console has."""
    return ("#" * math.ceil(BAR * value / longest) if longest else "").ljust(BAR)


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
