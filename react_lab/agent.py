"""The loop that every agent shares: ask the model, run what it asks for, tell it what came back."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from react_lab import guard
from react_lab.language import Language
from react_lab.messages import Message, Reply, ToolCall, ToolResult, set_fields
from react_lab.models.base import Model
from react_lab.runner import Runner
from react_lab.tools.registry import ToolRegistry, shorten
from react_lab.trace import Step, Trace, reply_fields, result_fields

MAX_RECORDED_CHARS = 100_000  # of an observation, in the trace
MAX_UNREADABLE = 3  # replies in a row
BEST_GUESS = {
    "en": "There are no steps left. Without using a tool, give the best answer that you can from what you have seen.",
    "zh": "步数已经用完。不要再使用工具，根据目前看到的内容给出你能给出的最好答案。",
}


@dataclass(frozen=True)
class Turn:
    """A reply as an agent understands it: calls to run, or an answer, or a reminder of what a reply must be."""

    message: Message  # the reply as it enters the conversation
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    answer: str | None = None
    reminder: str | None = None


class Agent(Runner):
    """A loop of thought, action and observation until there is an answer or a limit is reached.

    Args:
        model: Who thinks.
        registry: What it can do.
        max_steps: Turns of the model before the run ends as `max_steps`.
        max_chars: Characters of an observation that the model gets to read; the trace keeps more.
        best_guess: Whether a model that is out of steps is asked once more for the best answer it has, without using a
            tool. The outcome stays `max_steps`.
    """

    def __init__(
        self,
        model: Model,
        registry: ToolRegistry,
        *,
        max_steps: int = 10,
        max_chars: int = 4000,
        best_guess: bool = False,
    ) -> None:
        if max_steps < 1:
            raise ValueError(f"max_steps must be at least 1, not {max_steps}")
        super().__init__(model, registry)
        self.max_steps = max_steps
        self.max_chars = max_chars
        self.best_guess = best_guess

    @abstractmethod
    def ask(self, messages: Sequence[Message], *, language: Language, on_text: Callable[[str], None] | None) -> Reply:
        """Have the model continue the conversation; `on_text` gets its text as it arrives."""

    @abstractmethod
    def read(self, reply: Reply, *, step: int, language: Language) -> Turn:
        """Make out what the model wants; a reminder is written in `language`."""

    @abstractmethod
    def observe(self, results: Sequence[ToolResult], *, language: Language) -> Message:
        """Tell the model what came back."""

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_steps": self.max_steps, "max_chars": self.max_chars}

    def carry_on(self, trace: Trace) -> Iterator[Step]:
        history = tuple(Message.from_dict(message) for message in trace.run.get("history", ()))
        messages = [Message("system", trace.run["system"]), *history]
        added = [Message("user", trace.question)]
        language = trace.language
        unreadable = 0
        for step in range(1, self.max_steps + 1):
            messages += added
            reply = self._reply(trace, step, messages, added)
            if reply.stop_reason == "budget":  # the model was not asked: there is no step
                trace.end("budget", answer=reply.text or None, reason=reply.thought)
                return
            turn = self._read(trace, step, reply, language)
            if turn.calls:
                unreadable = 0
                results = self._act(trace, step, turn.calls, language)
                added = [turn.message, self.observe(results, language=language)]
            else:
                unreadable += 1
                added = [turn.message, Message("user", turn.reminder or "")]
            ended = self._ending(step, reply, turn, unreadable)
            if ended and trace.outcome != ended["outcome"]:  # the same: a finished run that is gone through again
                if ended["outcome"] == "max_steps" and self.best_guess:
                    ended["answer"] = self._guess(trace, step + 1, [*messages, *added], added, language)
                trace.end(**ended)
            yield trace.step(step)
            if ended:
                return

    def _reply(self, trace: Trace, step: int, messages: Sequence[Message], added: Sequence[Message]) -> Reply:
        if recorded := trace.reply_at(step):
            return recorded
        if trace.find("request", step) is None:
            trace.append("request", step=step, messages=[message.to_dict() for message in added])
        started = time.perf_counter()
        reply = self.ask(messages, language=trace.language, on_text=trace.text_listener(step))
        if reply.stop_reason == "budget":
            return reply
        seconds = round(time.perf_counter() - started, 6)
        trace.append("reply", step=step, **reply_fields(reply), seconds=seconds)
        return reply

    def _read(self, trace: Trace, step: int, reply: Reply, language: Language) -> Turn:
        turn = self.read(reply, step=step, language=language)
        if trace.find("parse", step) is None:
            calls = [set_fields(call) for call in turn.calls]
            trace.append(
                "parse", step=step, thought=turn.thought, calls=calls, answer=turn.answer, reminder=turn.reminder
            )
        return turn

    def _act(self, trace: Trace, step: int, calls: Sequence[ToolCall], language: Language) -> list[ToolResult]:
        """Run what is not recorded yet; give back what the model is told, with the guard's remarks."""
        done = {result.call_id: result for result in trace.results_at(step)}
        todo = [
            replace(call, error=guard.NOT_RUN[language]) if guard.goes_in_circles(trace, step, call) else call
            for call in calls
            if call.id not in done
        ]
        for call, result in zip(todo, self.registry.run_all(todo, max_chars=MAX_RECORDED_CHARS), strict=True):
            trace.append("result", step=step, **result_fields(call, result))
            done[result.call_id] = result
        return [self._remarked(trace, step, call, done[call.id], language) for call in calls]

    def _remarked(self, trace: Trace, step: int, call: ToolCall, result: ToolResult, language: Language) -> ToolResult:
        remark = guard.remark(trace, step, call, result, known=call.name in self.registry, language=language)
        content = shorten(result.content, self.max_chars) + remark
        return ToolResult(result.call_id, result.name, content, result.is_error)

    def _guess(
        self, trace: Trace, step: int, messages: list[Message], added: list[Message], language: Language
    ) -> str | None:
        """One more turn for the best answer that there is; what it calls is not run."""
        plea = Message("user", BEST_GUESS[language])
        reply = self._reply(trace, step, [*messages, plea], [*added, plea])
        if reply.stop_reason == "budget":
            return reply.text or None
        return self._read(trace, step, reply, language).answer or reply.text.strip() or None

    def _ending(self, step: int, reply: Reply, turn: Turn, unreadable: int) -> dict[str, Any] | None:
        """How the run ends with this turn, or None if it goes on."""
        if reply.stop_reason == "refusal":
            return {"outcome": "refused", "reason": reply.text or "the model refused to answer"}
        if turn.answer is not None:
            cut_off = reply.stop_reason == "max_tokens"
            return {"outcome": "truncated" if cut_off else "answered", "answer": turn.answer}
        if unreadable == MAX_UNREADABLE:
            return {"outcome": "error", "reason": f"{unreadable} replies in a row could not be read"}
        if step == self.max_steps:
            return {"outcome": "max_steps", "reason": f"no answer after {step} steps"}
        return None
