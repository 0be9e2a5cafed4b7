"""The runs within a run: what each node of a workflow did, in a trace of its own that is part of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from react_lab.trace import Event, Step, Trace, now


class NodeTrace(Trace):
    """The part of a trace that one node records. An agent writes it like any other: the steps count from 1.

    In the whole, the events carry the node's name and the numbers of the whole's steps.
    """

    def __init__(self, whole: Trace, name: str) -> None:
        super().__init__()
        self.whole = whole
        self.name = name
        self._numbers: list[int] = []  # of its steps, in the whole
        for event in whole.events:
            if event.get("node") == name:
                self._keep(self._numbered(event))

    def append(self, event: str, **fields: Any) -> Event:
        with self.whole.lock:
            if "step" in fields:
                fields["step"] = self._number(fields["step"])
            own = self._numbered(self.whole.append(event, **fields, node=self.name))
            self._keep(own)
        return own

    def text_listener(self, step: int) -> Callable[[str], None] | None:
        return self.whole.text_listener(self._number(step))

    def node(self, name: str, **fields: Any) -> Trace:
        return self.whole.node(f"{self.name}/{name}", **fields)

    def in_whole(self, step: Step) -> Step:
        """A step of this node as one of the whole."""
        return replace(step, index=self._number(step.index))

    def _number(self, step: int) -> int:
        """The number that a step of this node has, or is to have, in the whole."""
        return self._numbers[step - 1] if step <= len(self._numbers) else self.whole.next_number

    def _numbered(self, event: Event) -> Event:
        """An event of the whole as one of this node."""
        if "step" not in event:
            return event
        if event["step"] not in self._numbers:
            self._numbers.append(event["step"])
        return {**event, "step": self._numbers.index(event["step"]) + 1}


def open_node(whole: Trace, name: str, fields: Mapping[str, Any]) -> NodeTrace:
    """The recorded run of that node, or a new one with `fields` in its `run` event."""
    part = NodeTrace(whole, name)
    if not part.events:
        part.append("run", id=f"{whole.id}/{name}", **fields, started_at=now())
    return part
