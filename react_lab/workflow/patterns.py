"""The basic workflow patterns, each a function over steps: text in, text out.

The names are those of Anthropic's "Building effective agents" (2024).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from react_lab.models.base import Model
from react_lab.runner import Runner
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Step, Trace
from react_lab.workflow.asking import Writer
from react_lab.workflow.state import Ended, answer_of

TextStep = Callable[[str], str]
MAX_THREADS = 8


def chain(text: str, *steps: TextStep) -> str:
    """One step after the other, each on what the last one wrote."""
    for step in steps:
        text = step(text)
    return text


def route(text: str, choose: TextStep, routes: Mapping[str, TextStep]) -> str:
    """One of several steps, chosen by the first.

    Raises:
        KeyError: the choice is none of the routes.
    """
    return routes[choose(text).strip()](text)


def parallel(text: str, *steps: TextStep) -> list[str]:
    """Several steps on the same text, side by side; what they wrote, in the order of the steps."""
    with ThreadPoolExecutor(MAX_THREADS) as threads:
        return list(threads.map(lambda step: step(text), steps))


def evaluate_and_improve(text: str, write: TextStep, judge: Callable[[str], str | None], *, rounds: int = 3) -> str:
    """Write, have it judged, write again with the criticism; None from the judge ends it."""
    draft = write(text)
    for _ in range(rounds - 1):
        criticism = judge(draft)
        if criticism is None:
            break
        draft = write(f"{text}\n\n{draft}\n\n{criticism}")
    return draft


def orchestrate(text: str, split: Callable[[str], Sequence[str]], work: TextStep, join: Callable[[str], str]) -> str:
    """Split a task into parts, work on them side by side, and join what came of them."""
    parts = split(text)
    with ThreadPoolExecutor(MAX_THREADS) as threads:
        return join("\n\n".join(threads.map(work, parts)))


class FunctionWorkflow(Runner):
    """A workflow written as a function of the question and of `ask`, whose steps are recorded as nodes.

    >>> def summary(question, ask):
    ...     return chain(question, ask("outline", "Write an outline."), ask("text", "Write the text."))
    >>> trace = FunctionWorkflow(model, summary).run("What is ReAct?")  # doctest: +SKIP

    `ask(name, instruction)` is a step that has the model follow the instruction. A name is used once, or, where it is
    called again, counted: `text`, `text-2`.
    """

    def __init__(self, model: Model, function: Callable[[str, Callable[[str, str], TextStep]], str]) -> None:
        super().__init__(model, ToolRegistry())
        self.function = function

    def system_prompt(self, question: str) -> str:
        return ""

    @property
    def settings(self) -> dict[str, Any]:
        return {"function": getattr(self.function, "__name__", "")}

    def carry_on(self, trace: Trace) -> Iterator[Step]:
        used: dict[str, int] = {}

        def ask(name: str, instruction: str) -> TextStep:
            return lambda text: self._ask(trace, _counted(name, used), instruction, text)

        try:
            answer = self.function(trace.question, ask)
        except Ended as ended:
            trace.end(ended.outcome, reason=str(ended))
        else:
            if not trace.is_over:
                trace.end("answered", answer=answer)
        yield from trace.steps

    def _ask(self, trace: Trace, node: str, instruction: str, text: str) -> str:
        part = Writer(self.model, instruction).run_within(trace, node, text)
        answer = answer_of(part)
        if answer is None:
            raise Ended(part.outcome, f"{node}: {part.reason}")
        return answer


def _counted(name: str, used: dict[str, int]) -> str:
    used[name] = used.get(name, 0) + 1
    return name if used[name] == 1 else f"{name}-{used[name]}"
