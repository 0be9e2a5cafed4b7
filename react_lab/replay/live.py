"""A run as it happens: the player grows with it, and a person may hold it, step it, and decide about every call."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets  # type: ignore[import-untyped]

from react_lab.errors import ModelError
from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.replay.story import story, tell
from react_lab.replay.widget import Player, Shown
from react_lab.replay.words import WORDS
from react_lab.runner import Runner
from react_lab.tools.registry import ToolRegistry, Wrapper
from react_lab.trace import Event


@dataclass(frozen=True)
class Decision:
    """What a person says to a call: run it, run it with other arguments, or not at all."""

    arguments: Mapping[str, Any] | None = None
    refusal: str | None = None


APPROVED = Decision()


class Gate(Wrapper):
    """A registry that asks before it runs a call. The model is told of what was changed or refused."""

    def __init__(self, registry: ToolRegistry, decide: Callable[[ToolCall], Decision]) -> None:
        super().__init__(registry)
        self.decide = decide

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        decisions = {call.id: APPROVED if call.error else self.decide(call) for call in calls}
        todo = [_changed(call, decisions[call.id]) for call in calls if decisions[call.id].refusal is None]
        results = {result.call_id: result for result in self.inner.run_all(todo, max_chars=max_chars)}
        return tuple(_told(call, decisions[call.id], results.get(call.id)) for call in calls)


def _changed(call: ToolCall, decision: Decision) -> ToolCall:
    return call if decision.arguments is None else replace(call, arguments=decision.arguments)


def _told(call: ToolCall, decision: Decision, result: ToolResult | None) -> ToolResult:
    """What the model reads: it must know what the person did."""
    if result is None:
        refused = f"Error: the person refused this call. {decision.refusal}"
        return ToolResult(call.id, call.name, refused.strip(), is_error=True)
    if decision.arguments is None:
        return result
    note = f"(The person changed the arguments to {json.dumps(decision.arguments, ensure_ascii=False)}.)"
    return replace(result, content=f"{note}\n{result.content}", arguments=decision.arguments)


class Stopped(Exception):
    """The person stopped the run."""


class Watch(ipywidgets.VBox):  # type: ignore[misc]
    """The player of a run that goes on in a thread, and what a person can do to it.

    `trace` is the run. `wait()` returns when it has ended.
    """

    def __init__(
        self, agent: Runner, question: str, language: Language, *, paused: bool, ask: bool, **options: Any
    ) -> None:
        self.language = language
        self.words = WORDS[language]
        self._state = threading.Condition()  # guards the four below
        self._running = not paused
        self._steps = 0  # that may be made although the run is held
        self._stopped = False
        self._decision: Decision | None = None  # to the call that waits
        self._shown: Shown | None = None
        self._asked: Mapping[str, Any] = {}  # its arguments as the model wrote them
        self.trace = agent.start(question, listener=self._recorded, **options)
        self.agent = copy(agent)
        self.agent.registry = Gate(agent.registry, self._decide)
        self.player = Player(tell(story(self.trace, running=True), self.language), self.trace)

        self.hold = self._button("pause", lambda: self._set("_running", not self._running))
        self.one = self._button("step", lambda: self._set("_steps", self._steps + 1))
        self.stop = self._button("stop", lambda: self._set("_stopped", True))
        self.ask = ipywidgets.Checkbox(ask, description=self.words["live.ask"], indent=False)
        self.status = ipywidgets.Label()
        self.arguments = ipywidgets.Textarea(description=self.words["live.arguments"], rows=5, layout={"width": "99%"})
        self.reason = ipywidgets.Text(description=self.words["live.reason"])
        approve = self._button("approve", self.approve)
        refuse = self._button("refuse", lambda: self._set("_decision", Decision(refusal=self.reason.value)))
        choice = ipywidgets.HBox([approve, refuse, self.reason], layout={"flex_flow": "row wrap"})
        self.question = ipywidgets.VBox([self.arguments, choice], layout={"display": "none"})
        controls = [self.hold, self.one, self.stop, self.ask, self.status]
        bar = ipywidgets.HBox(controls, layout={"flex_flow": "row wrap"})
        super().__init__([bar, self.question, self.player])
        self._label()
        self.thread = threading.Thread(target=self._run, name=f"run {self.trace.id}", daemon=True)
        self.thread.start()

    def _ipython_display_(self) -> None:
        self._shown = Shown(self._repr_mimebundle_(), self.player)

    @property
    def is_over(self) -> bool:
        return "finished_at" in self.trace.finish

    def wait(self, timeout_s: float | None = None) -> None:
        self.thread.join(timeout_s)

    # -- the person ------------------------------------------------------------------------------------------

    def approve(self) -> None:
        """Run the call that waits, with the arguments as they stand."""
        try:
            arguments = dict(json.loads(self.arguments.value))
        except (ValueError, TypeError) as error:
            self.status.value = str(error)
            return
        self._set("_decision", APPROVED if arguments == self._asked else Decision(arguments))

    def _set(self, name: str, value: object) -> None:
        with self._state:
            setattr(self, name, value)
            self._state.notify_all()
        self._label()

    def _button(self, name: str, action: Callable[[], None]) -> ipywidgets.Button:
        button = ipywidgets.Button(description=self.words[f"live.{name}"], layout={"width": "auto"})
        button.on_click(lambda _: action())
        return button

    def _label(self) -> None:
        self.hold.description = self.words["live.pause" if self._running else "live.run"]
        self.one.disabled = self._running

    # -- the run, in its thread ------------------------------------------------------------------------------

    def _run(self) -> None:
        said = "live.done"
        try:
            self._wait_for_turn()
            for _ in self.agent.steps(self.trace):
                if not self.is_over:
                    self._wait_for_turn()
        except Stopped:
            said = "live.stopped"
            if not self.is_over:
                self.trace.end("interrupted", reason=self.words[said])
        except ModelError:
            pass  # the trace says why
        finally:
            self._show()
            if self._shown:
                self._shown.update(self.player.told)
            self.status.value = self.words[said]
            for control in (self.hold, self.one, self.stop, self.ask):
                control.disabled = True

    def _wait_for_turn(self) -> None:
        if not self._running and not self._steps:
            self.status.value = self.words["live.paused"]
        self._wait(lambda: self._running or self._steps > 0)
        self._steps = max(self._steps - 1, 0)
        self.status.value = self.words["live.working"]

    def _decide(self, call: ToolCall) -> Decision:
        """Ask the person, if the person wants to be asked."""
        if not self.ask.value:
            return APPROVED
        self._asked = dict(call.arguments)
        self._decision = None
        self.arguments.value = json.dumps(self._asked, ensure_ascii=False, indent=2)
        self.reason.value = ""
        self.status.value = self.words["live.wants"].format(name=call.name)
        self.question.layout.display = ""
        try:
            self._wait(lambda: self._decision is not None)
        finally:
            self.question.layout.display = "none"
        self.status.value = self.words["live.working"]
        return self._decision or APPROVED

    def _wait(self, ready: Callable[[], bool]) -> None:
        with self._state:
            self._state.wait_for(lambda: self._stopped or ready())
        if self._stopped:
            raise Stopped

    def _recorded(self, event: Event) -> None:
        if event["event"] != "run":
            self._show()

    def _show(self) -> None:
        self.player.tell(tell(story(self.trace, running=not self.is_over), self.language))
