"""The ways to answer a question, by name, so that the same question can be given to each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.hardening.approval import with_approval
from react_lab.hardening.budget import with_budget
from react_lab.hardening.cache import with_cache
from react_lab.hardening.compaction import with_compaction
from react_lab.hardening.retry import with_retry
from react_lab.home import home
from react_lab.language import language_of
from react_lab.messages import ToolCall
from react_lab.models.base import Model
from react_lab.models.catalogue import load_model
from react_lab.runner import Runner
from react_lab.text_react import TextReActAgent
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.standard import tools_named
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


TOOL_SECONDS = 60  # that one call of a tool may take


def make_runner(
    model: str | Model | None = None,
    mode: str | None = None,
    *,
    search: str | None = None,
    tools: ToolRegistry | Sequence[str] = ("standard",),
    ask: Callable[[ToolCall], bool] | None = None,
    **options: Any,
) -> Runner:
    """What answers in a mode; without one, native tool calls where the model has them, else text.

    Args:
        model: A model, or the name of one as `load_model` takes it.
        mode: One of `MODES`.
        search: The backend of the tool `search`; by default the almanac for a stand-in, the web for a real model.
        tools: What it can do: a registry, or names as `tools_named` takes them.
        ask: Shows a call of a tool with effects to the person and tells whether it may run; None lets all run.
        options: Those of the runner, such as `max_steps`.
    """
    answering = model if isinstance(model, Model) else hardened(load_model(model))
    name = mode or ("native" if answering.native_tools else "text")
    if not isinstance(tools, ToolRegistry):
        tools = working_tools(tools, search, live=is_live(answering))
    return MODES[name](answering, with_approval(tools, ask) if ask else tools, **options)


def hardened(
    model: Model,
    *,
    compact: int | None = None,
    on_warning: Callable[[str], None] | None = None,
    **limits: float | None,
) -> Model:
    """The same model, asked again when its provider fails, and kept within limits.

    Args:
        model: Who answers.
        compact: Tokens of a conversation above which its middle is summarized.
        on_warning: Told when a limit is near.
        limits: Those of `with_budget`: `max_tokens`, `max_cost_usd`, `max_seconds`.
    """
    if is_live(model):
        model = with_retry(model)
    if compact:
        model = with_compaction(model, max_tokens=compact)
    set_limits: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    return with_budget(model, on_warning=on_warning, **set_limits) if set_limits else model


def working_tools(names: Sequence[str], search: str | None, *, live: bool) -> ToolRegistry:
    """The tools of those names; for a live model tried again, bounded in time, and cached."""
    tools = tools_named(names, search=search, live=live)
    if not live:
        return tools
    sturdy = with_retry(ToolRegistry(tools, timeout_s=TOOL_SECONDS))
    try:
        return with_cache(sturdy, folder=home() / "cache")
    except ConfigurationError:  # a home that can't be written is no reason not to answer
        return with_cache(sturdy)


def is_live(model: Model) -> bool:
    """Whether a real model answers, to whom the real world can be given."""
    return not model.name.startswith(("offline", "scripted"))


def mode_of(trace: Trace) -> str:
    """The mode in which a run was made."""
    return next((name for name, kind in MODES.items() if kind.__name__ == trace.run.get("agent")), "text")
