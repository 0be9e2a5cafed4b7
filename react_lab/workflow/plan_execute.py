"""Plan and execute: a plan for the whole question, each step carried out by a ReAct agent, the plan revised on the way.

ReAct decides one step at a time; a plan looks ahead (arXiv 2305.04091, "plan-and-solve").
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

from react_lab.agent import Agent
from react_lab.models.base import Model
from react_lab.runner import Runner
from react_lab.text_react import TextReActAgent
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Step, Trace
from react_lab.workflow.asking import Form
from react_lab.workflow.prompts import PLAN, PLAN_HEADINGS, REVIEW, steps_form
from react_lab.workflow.research import numbered, section
from react_lab.workflow.state import Ended, answer_of


class PlanAndExecuteAgent(Runner):
    """Plans, carries the plan out step by step, revises it where an observation breaks it, and answers.

    Args:
        model: Who plans and acts.
        registry: What it can do.
        max_steps: Turns of the model for each step of the plan.
        max_tasks: Steps of the plan that are carried out, revised ones included.
    """

    def __init__(self, model: Model, registry: ToolRegistry, *, max_steps: int = 10, max_tasks: int = 8) -> None:
        super().__init__(model, registry)
        self.max_steps = max_steps
        self.max_tasks = max_tasks

    @property
    def executor(self) -> Agent:
        """Who carries out a step of the plan."""
        loop = ToolUseAgent if self.model.native_tools else TextReActAgent
        return loop(self.model, self.registry, max_steps=self.max_steps)

    def system_prompt(self, question: str) -> str:
        return ""  # each node has its own

    @property
    def settings(self) -> dict[str, Any]:
        return {"max_steps": self.max_steps, "max_tasks": self.max_tasks}

    def carry_on(self, trace: Trace) -> Iterator[Step]:
        done: list[str] = []
        known: list[str] = []
        try:
            tasks = yield from self._plan(trace)
            for number in range(1, self.max_tasks + 1):
                if not tasks:
                    break
                done.append(tasks[0])
                known.append((yield from self._execute(trace, number, tasks[0], known)))
                tasks = yield from self._review(trace, number, tasks[1:], known)
                tasks = [task for task in tasks if task not in done]  # what was tried is not tried again
            yield from self._answer(trace, known)
        except Ended as ended:
            if trace.outcome != ended.outcome:
                trace.end(ended.outcome, answer="\n".join(known) or None, reason=str(ended))

    def _plan(self, trace: Trace) -> Generator[Step, None, list[str]]:
        """The steps of the plan; the question itself where the model made none."""
        return (
            yield from self._ask_for_steps(trace, "planner", PLAN[trace.language], trace.question, [trace.question])
        )

    def _execute(self, trace: Trace, number: int, task: str, known: list[str]) -> Generator[Step, None, str]:
        """Carry out a task; what it found out, or that it failed, in a line."""
        text = task + section(PLAN_HEADINGS[trace.language]["known"], known)
        part = yield from self.executor.steps_within(trace, f"step-{number}", text, language=trace.language)
        found = answer_of(part) or f"({part.outcome}: {part.reason})"
        return f"- {task}: {found}"

    def _review(
        self, trace: Trace, number: int, tasks: list[str], known: list[str]
    ) -> Generator[Step, None, list[str]]:
        """The tasks that really remain. After the last one only a failure can bring new ones."""
        headings = PLAN_HEADINGS[trace.language]
        remaining = section(headings["steps"], numbered(tasks) or ["-"])
        text = trace.question + section(headings["known"], known) + remaining
        return (yield from self._ask_for_steps(trace, f"review-{number}", REVIEW[trace.language], text, tasks))

    def _answer(self, trace: Trace, known: list[str]) -> Iterator[Step]:
        text = trace.question + section(PLAN_HEADINGS[trace.language]["known"], known)
        part = yield from self.executor.steps_within(trace, "answer", text, language=trace.language)
        answer_of(part)
        if trace.outcome != part.outcome:
            trace.end(part.outcome, answer=part.answer, reason=part.reason)

    def _ask_for_steps(
        self, trace: Trace, node: str, system: str, text: str, otherwise: list[str]
    ) -> Generator[Step, None, list[str]]:
        """The steps that a model hands in, or others where it hands in none that can be read."""
        form = Form(self.model, system, steps_form(trace.language, self.max_tasks), trace.language)
        part = yield from form.steps_within(trace, node, text, language=trace.language)
        filled = answer_of(part)
        return otherwise if filled is None else [step for step in json.loads(filled)["steps"] if step.strip()]
