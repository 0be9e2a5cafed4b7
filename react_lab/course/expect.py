"""How a check says what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_lab.trace import Trace, diff

MAX_CHARS = 400  # of a value that is shown


class Difference(Exception):
    """What the learner's code did is not what it should do.

    Args:
        symptom: Which kind of difference; a known wrong answer with this symptom brings its message.
        doing: The code that was tried, such as `greet.execute(name="Ada")`.
        expected: What should have come.
        got: What came.
        trace: Of an agent exercise, the learner's run, to be opened at `step`.
    """

    def __init__(
        self, symptom: str, doing: str, expected: Any, got: Any, *, trace: Trace | None = None, step: int = 1
    ) -> None:
        super().__init__(symptom)
        self.symptom, self.doing = symptom, doing
        self.expected, self.got = shown(expected), shown(got)
        self.trace, self.step = trace, step


class Raised:
    """In place of a value: the exception that came instead."""

    def __init__(self, error: Exception | type[Exception]) -> None:
        self.kind = error if isinstance(error, type) else type(error)
        self.text = "" if isinstance(error, type) else str(error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Raised) and issubclass(other.kind, self.kind)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __repr__(self) -> str:
        return f"{self.kind.__name__}: {self.text}" if self.text else self.kind.__name__


def tried(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call gives back, or `Raised(...)`; for calls of which an exception may be the right or a known answer.

    A missing module is passed on: it is the environment's, or stands in the learner's own line.
    """
    return _outcome(ImportError, function, args, kwargs)


def on_purpose(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call gives back or raises on purpose; a slip of the pen is shown in the learner's own line instead."""
    return _outcome((ImportError, NameError, TypeError, AttributeError), function, args, kwargs)


def _outcome(passed_on: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except passed_on:
        raise
    except Exception as error:
        return Raised(error)


def expect(
    doing: str, got: Any, wanted: Any, *, known: Mapping[str, Any] | None = None, otherwise: str = "different"
) -> None:
    """Raise a `Difference` unless `got` is what was wanted, with the same type (True is not 1).

    Args:
        doing: The code that was tried, as the learner reads it.
        got: What came.
        wanted: What should come. `Raised(ToolError)` accepts each exception of that class.
        known: Symptoms of known wrong answers: by symptom, the value that comes of it, or a function that tells whether
            a value does.
        otherwise: The symptom of any other value.
    """
    if same(wanted, got):
        return
    for symptom, value in (known or {}).items():
        if value(got) if callable(value) and not isinstance(value, type) else same(value, got):
            raise Difference(symptom, doing, wanted, got)
    raise Difference(otherwise, doing, wanted, got)


def expect_run(
    doing: str, got: Trace, wanted: Trace, *, known: Mapping[str, Callable[[Trace], bool]] | None = None
) -> None:
    """Raise a `Difference` unless two runs are the same; it shows the first events at which they part.

    The symptom is that of `known` whose function is true of the learner's run, else the kind of the event: `reply`,
    `parse`, `result`, `end`, or `missing` where the run stops too early.
    """
    parted = diff(got, wanted)
    if parted is None:
        return
    mine, theirs = parted
    symptom = next((name for name, test in (known or {}).items() if test(got)), mine["event"] if mine else "missing")
    step = (mine or theirs or {}).get("step") or max((step.index for step in got.steps), default=1)
    raise Difference(symptom, doing, event_text(theirs), event_text(mine), trace=got, step=step)


ESSENCE = ("text", "thought", "name", "arguments", "content", "calls", "answer", "reminder", "outcome")


class Literal(str):
    """A text that is shown as it is, without quotes."""


def event_text(event: Mapping[str, Any] | None) -> Literal:
    """An event in a line."""
    if event is None:
        return Literal("-")
    if event["event"] == "request":
        return Literal(f"request {event['step']}: {len(event['messages'])} new messages")
    said = ", ".join(f"{name}={event[name]!r}" for name in ESSENCE if event.get(name))
    where = f" {event['step']}" if "step" in event else ""
    return Literal(f"{event['event']}{where}: {said}")


def same(wanted: Any, got: Any) -> bool:
    """Equal, and of the same type all the way down: the text "1", the number 1 and True are three things."""
    if isinstance(wanted, Raised) or isinstance(got, Raised):
        return bool(wanted == got)
    if isinstance(wanted, dict) and isinstance(got, dict):
        return wanted.keys() == got.keys() and all(same(wanted[key], got[key]) for key in wanted)
    if isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
        return type(wanted) is type(got) and len(wanted) == len(got) and all(map(same, wanted, got))
    return type(wanted) is type(got) and bool(wanted == got)


def shown(value: Any) -> str:
    text = str(value) if isinstance(value, Literal) else repr(value)
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + " …"
