"""The ways to answer a question, by name, so that the same question can be given to each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_lab.language import language_of
from react_lab.models.base import Model
from react_lab.models.catalogue import load_model
from react_lab.runner import Runner
from react_lab.text_react import TextReActAgent
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.standard import standard_tools
from react_lab.trace import Trace
from react_lab.workflow.asking import Writer
from react_lab.workflow.plan_execute import PlanAndExecuteAgent
from react_lab.workflow.research import ResearchWorkflow

DIRECT = {"en": "Answer the question in a sentence.", "zh": "用一句话回答问题。"}
STEP_BY_STEP = {
    "en": "Think step by step, then answer the question in the last line.",
    "zh": "一步一步地思考，最后一行写出问题的答案。",
}


class DirectAnswer(Writer):
    """The model alone, in one turn: no tools, no thinking aloud."""

    words: Mapping[str, str] = DIRECT

    def __init__(self, model: Model, registry: ToolRegistry, *, max_steps: int = 2) -> None:
        super().__init__(model, "", max_steps=max_steps)

    def system_prompt(self, question: str) -> str:
        return self.words[language_of(question)]


class ChainOfThought(DirectAnswer):
    """The model alone, asked to think step by step (arXiv 2201.11903, 2205.11916)."""

    words = STEP_BY_STEP


MODES: dict[str, Callable[..., Runner]] = {
    "direct": DirectAnswer,
    "thought": ChainOfThought,
    "text": TextReActAgent,
    "native": ToolUseAgent,
    "plan": PlanAndExecuteAgent,
    "research": ResearchWorkflow,
}


def make_runner(
    model: str | Model | None = None, mode: str | None = None, *, tools: ToolRegistry | None = None, **options: Any
) -> Runner:
    """What answers in a mode; without one, native tool calls where the model has them, else text.

    Args:
        model: A model, or the name of one as `load_model` takes it.
        mode: One of `MODES`.
        tools: What it can do; the standard tools by default.
        options: Those of the runner, such as `max_steps`.
    """
    answering = model if isinstance(model, Model) else load_model(model)
    name = mode or ("native" if answering.native_tools else "text")
    return MODES[name](answering, standard_tools() if tools is None else tools, **options)


def mode_of(trace: Trace) -> str:
    """The mode in which a run was made."""
    return next((name for name, kind in MODES.items() if kind.__name__ == trace.run.get("agent")), "text")
