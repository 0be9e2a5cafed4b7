"""What a run says twice is written once: in the file, what was said before is a reference to it.

An observation stands in its `result` and again in the next `request`, a thought in its `reply` and again in `parse`,
a call in all of them. In the file, the second is `{"said": NAME}`: the step's `reply`, its `calls`, its `results`, its
`native` blocks, or what a single call gave, by its id. Within a text, a reference is a piece of a list; `from` and `to`
cut a part out of what was said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from react_lab.messages import READ

WORTHWHILE = 50  # characters; what is shorter is easier to read where it stands
TEXTS = ("text", "thought", "content")  # fields that may hold pieces
# Fields that are repeated as they are, and what each repeats.
WHOLES = {"native": "native", "tool_calls": "calls", "calls": "calls", "tool_results": "results"}

Said = Mapping[str, Any]
Rewrite = Callable[[str, Any, Said], Any]


class Repeats:
    """Reads or writes the events of one file, in order, and remembers what the last step of each node said."""

    def __init__(self) -> None:
        self._said: defaultdict[str | None, dict[str, Any]] = defaultdict(dict)

    def shrink(self, event: dict[str, Any]) -> dict[str, Any]:
        """An event as the file holds it."""
        shrunk = self._rewritten(event, _shrunk)
        self._remember(event)
        return shrunk

    def expand(self, event: dict[str, Any]) -> dict[str, Any]:
        """The inverse of `shrink`.

        Raises:
            KeyError: the event refers to something that was not said.
        """
        expanded = self._rewritten(event, _expanded)
        self._remember(expanded)
        return expanded

    def _rewritten(self, event: dict[str, Any], rewrite: Rewrite) -> dict[str, Any]:
        said = self._said[event.get("node")]
        match event["event"]:
            case "parse":
                return _with_fields(event, said, rewrite)
            case "request":
                messages = [_with_fields(message, said, rewrite) for message in event.get("messages", ())]
                return {**event, "messages": messages}
        return event

    def _remember(self, event: dict[str, Any]) -> None:
        said = self._said[event.get("node")]
        match event["event"]:
            case "reply":
                said.clear()
                said |= {"reply": event.get("text"), "native": event.get("native"), "calls": event.get("tool_calls")}
            case "parse":
                said["calls"] = event.get("calls")
            case "result":
                said[event.get("call_id", "")] = event.get("content")
                said.setdefault("results", []).append({name: event[name] for name in READ if event.get(name)})


def _with_fields(data: dict[str, Any], said: Said, rewrite: Rewrite) -> dict[str, Any]:
    """The same `parse` event, message or result of a message with each field rewritten that may repeat something."""
    changed = {name: rewrite(name, data[name], said) for name in (*TEXTS, *WHOLES) if name in data}
    match changed.get("tool_results"):
        case [*results]:  # not what the tools gave, letter by letter; yet a part of it may be
            changed["tool_results"] = [_with_fields(result, said, rewrite) for result in results]
    return {**data, **changed}


def _shrunk(name: str, value: Any, said: Said) -> Any:
    if name in WHOLES:
        again = value == said.get(WHOLES[name]) and len(repr(value)) >= WORTHWHILE
        return {"said": WHOLES[name]} if again else value
    if not isinstance(value, str):
        return value
    pieces = [piece for piece in _pieces(value, list(said.items())) if piece]
    return pieces if any(isinstance(piece, dict) for piece in pieces) else value


def _pieces(text: str, said: Sequence[tuple[str, Any]]) -> list[Any]:
    """A text cut at the first place where each of the others stands in it, or found whole in one of them."""
    for place, (name, known) in enumerate(said):
        if len(text) < WORTHWHILE or not isinstance(known, str) or len(known) < WORTHWHILE:
            continue
        if known in text:
            before, _, after = text.partition(known)
            others = said[place + 1 :]
            return [*_pieces(before, others), {"said": name}, *_pieces(after, others)]
        if (start := known.find(text)) >= 0:
            return [{"said": name, "from": start, "to": start + len(text)}]
    return [text]


def _expanded(name: str, value: Any, said: Said) -> Any:
    match value:
        case {"said": str(whole)} if name in WHOLES:
            return said[whole]
        case [*pieces] if name in TEXTS:
            return "".join(piece if isinstance(piece, str) else _quoted(piece, said) for piece in pieces)
    return value


def _quoted(reference: Mapping[str, Any], said: Said) -> str:
    text: str = said[reference["said"]]
    return text[reference.get("from", 0) : reference.get("to", len(text))]
