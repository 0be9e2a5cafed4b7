"""Agents of one turn, of which workflows are made: one answers in words, the other fills in a form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from react_lab.agent import Agent, Turn
from react_lab.language import Language
from react_lab.messages import Message, Reply, ToolResult
from react_lab.models.base import Model
from react_lab.tools.base import Schema, Tool
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.schema import problems

FILL_IN = {
    "en": "Answer with one JSON object and nothing else. Its JSON Schema: {}",
    "zh": "只用一个 JSON 对象作答，不要写别的内容。它的 JSON Schema：{}",
}
DOES_NOT_FIT = {
    "en": "Your reply does not fit: {}. ",
    "zh": "你的回复不符合要求：{}。",
}
NO_OBJECT = {"en": "it holds no JSON object", "zh": "其中没有 JSON 对象"}
EMPTY = {"en": "Your reply was empty. Write the answer.", "zh": "你的回复是空的。请写出答案。"}
OBJECT = re.compile(r"\{.*\}", re.S)


class Writer(Agent):
    """Has the model answer in words, without tools.

    Args:
        system: What the model is told before the question.
    """

    def __init__(self, model: Model, system: str, *, max_steps: int = 2) -> None:
        super().__init__(model, ToolRegistry(), max_steps=max_steps)
        self.system = system

    def system_prompt(self, question: str) -> str:
        return self.system

    def ask(self, messages: Sequence[Message], *, language: Language, on_text: Callable[[str], None] | None) -> Reply:
        return self.model.reply(messages, on_text=on_text)

    def read(self, reply: Reply, *, step: int, language: Language) -> Turn:
        message = Message("assistant", reply.text, native=reply.native)
        text = reply.text.strip()
        return Turn(message, reply.thought, answer=text or None, reminder=None if text else EMPTY[language])

    def observe(self, results: Sequence[ToolResult], *, language: Language) -> Message:
        raise NotImplementedError("there are no tools, so nothing is observed")


class Form(Writer):
    """Has the model fill in a form: the parameters of a tool that it is made to call and that nobody runs.

    The trace's answer is the filled form as JSON text. A model without native tool calls, or one that does not call,
    may write the object as text.
    """

    def __init__(self, model: Model, system: str, form: Tool, language: Language, *, max_steps: int = 3) -> None:
        schema = json.dumps(form.parameters, ensure_ascii=False)
        in_words = "" if model.native_tools else "\n\n" + FILL_IN[language].replace("{}", schema)
        super().__init__(model, system + in_words, max_steps=max_steps)
        self.form = form

    def ask(self, messages: Sequence[Message], *, language: Language, on_text: Callable[[str], None] | None) -> Reply:
        if not self.model.native_tools:
            return self.model.reply(messages, on_text=on_text)
        return self.model.reply(messages, tools=(self.form,), tool_choice=self.form.name, on_text=on_text)

    def read(self, reply: Reply, *, step: int, language: Language) -> Turn:
        filled = self._filled(reply)
        wrong = [NO_OBJECT[language]] if filled is None else problems(self.form.parameters, filled)
        text = reply.text if filled is None else json.dumps(filled, ensure_ascii=False)
        message = Message("assistant", text)  # the call stays unanswered, so it must not come back as one
        if not wrong:
            return Turn(message, reply.thought, answer=text)
        schema = json.dumps(self.form.parameters, ensure_ascii=False)
        told = DOES_NOT_FIT[language].replace("{}", "; ".join(wrong)) + FILL_IN[language].replace("{}", schema)
        return Turn(message, reply.thought, reminder=told)

    def _filled(self, reply: Reply) -> Any:
        """What stands in the form, or None where there is nothing that could be one."""
        called = [call.arguments for call in reply.tool_calls if call.name == self.form.name and not call.error]
        if called:
            return dict(called[0])
        try:
            return json.loads(OBJECT.findall(reply.text)[0])
        except (IndexError, ValueError, RecursionError):
            return None


class Paper(Tool):
    """The form itself: a tool that is only called, never run."""

    def __init__(self, name: str, description: str, parameters: Schema) -> None:
        self.name = name
        self.description = description
        self.parameters = parameters

    def execute(self, **arguments: Any) -> str:
        raise NotImplementedError(f"{self.name} is a form: what it is called with is the answer")


def paper(name: str, description: str, **fields: Schema) -> Paper:
    """A form whose fields are all required."""
    schema = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    return Paper(name, description, schema)
