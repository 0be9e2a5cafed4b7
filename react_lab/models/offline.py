"""The offline stand-in for a language model: rules instead of a network, so that everything runs without a key.

It sees only what a model sees (messages, system prompt, tool schemas) and answers in the same shape, as text ReAct
or as native tool calls. It knows words, not facts: every fact comes from an observation. Where its rules do not
reach, it says that it doesn't know.

The question is read (`offline_reading.py`) and becomes a plan (`offline_plans.py`) that uses the tools at hand
(`offline_kit.py`). The model keeps no state. On every turn the plan starts anew and is fed the observations that stand
in the conversation; its first wish without an observation is the next action.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import reduce

from react_lab.language import Language, language_of, words
from react_lab.messages import Message, Reply, ToolCall, Usage
from react_lab.models.offline_desk import fill_in, material_of, without_material, write_from
from react_lab.models.offline_kit import Card, Kit, Wish
from react_lab.models.offline_plans import SAYINGS, Observation, Plan, answer_question
from react_lab.models.offline_reading import in_context, read_question
from react_lab.tools.base import Tool


class OfflineModel:
    """Answers by rules, without network or key: for learning and for tests, not for answers that matter."""

    name = "offline"
    native_tools = True

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        reply = _at_the_desk(messages, tools, tool_choice) or _with_tools(messages, tools, tool_choice)
        if on_text:
            on_text(reply.text)
        return Reply(
            reply.text, tool_calls=reply.tool_calls, stop_reason=reply.stop_reason, usage=_usage(messages, reply)
        )


def _at_the_desk(messages: Sequence[Message], tools: Sequence[Tool], tool_choice: str | None) -> Reply | None:
    """Work that takes no tools: a form to fill in, or an answer to write from notes; None for other work."""
    asked = next((message.text for message in messages if message.role == "user"), "")
    form = next((item for item in tools if item.name == tool_choice), None)
    if form and (material_of(asked) or _asks_for_lists(form)):
        call = ToolCall(f"offline_{len(messages)}_1", form.name, fill_in(form.parameters, asked))
        thought = SAYINGS[language_of(asked)]["forced"]
        return Reply(thought, tool_calls=(call,), stop_reason="tool_calls")
    if not tools and not ACTS.search(messages[0].text):
        return Reply(write_from(asked))
    return None


ACTS = re.compile(r"(?m)^(?:Action|行动)[:：]")  # a prompt of text ReAct


def _asks_for_lists(form: Tool) -> bool:
    fields = form.parameters.get("properties", {}).values()
    return all(field.get("type") == "array" for field in fields)


def _with_tools(messages: Sequence[Message], tools: Sequence[Tool], tool_choice: str | None) -> Reply:
    protocol = Native(messages, tools) if tools else Text(messages)
    kit = Kit(protocol.tools)
    question = read_question(protocol.question)
    if tool_choice is not None and not protocol.observed:
        chosen = [Wish(tool_choice, kit.arguments(tool_choice, question))]
        return protocol.act(SAYINGS[question.language]["forced"], chosen)
    return _next_turn(answer_question(question, kit), protocol, question.language)


def _next_turn(plan: Plan, protocol: Native | Text, language: Language) -> Reply:
    """Feed a plan what was observed already; its first wish that was not is the next action."""
    try:
        thought, wishes = next(plan)
        while all(wish.key in protocol.observed for wish in wishes):
            thought, wishes = plan.send([protocol.observed[wish.key] for wish in wishes])
    except StopIteration as end:
        return protocol.answer(SAYINGS[language]["enough"], end.value)
    return protocol.act(thought, [wish for wish in wishes if wish.key not in protocol.observed])


def _usage(messages: Sequence[Message], reply: Reply) -> Usage:
    """Its tokens are words and single Chinese characters."""
    prompt = "\n".join(m.text + "".join(r.content for r in m.tool_results) for m in messages)
    written = reply.text + "".join(json.dumps(call.arguments, ensure_ascii=False) for call in reply.tool_calls)
    return Usage(len(words(prompt)), len(words(written)))


# -- the two protocols -------------------------------------------------------------------------------------------


class Native:
    """Native tool use: calls and results are data."""

    def __init__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        roles = [None, *(message.role for message in messages)]
        asked = [i for i, before in enumerate(roles[:-1]) if roles[i + 1] == "user" and before != "tool"]
        start = asked[-1]
        self.question = reduce(in_context, (without_material(messages[i].text) for i in asked))
        self.tools = [_card(item) for item in tools]
        calls = {call.id: call for message in messages[start:] for call in message.tool_calls}
        self.observed = {
            Wish(result.name, calls[result.call_id].arguments).key: Observation(result.content, result.is_error)
            for message in messages[start:]
            for result in message.tool_results
        }
        self.turn = len(messages)

    def act(self, thought: str, wishes: Sequence[Wish]) -> Reply:
        calls = tuple(ToolCall(f"offline_{self.turn}_{i}", w.name, w.arguments) for i, w in enumerate(wishes, start=1))
        return Reply(thought, tool_calls=calls, stop_reason="tool_calls")

    def answer(self, thought: str, text: str) -> Reply:
        return Reply(text)


def _card(item: Tool) -> Card:
    required = item.parameters.get("required", ())
    return Card(
        item.name,
        item.description,
        {
            name: (schema.get("type", "string"), name in required, tuple(schema.get("enum", ())))
            for name, schema in item.parameters.get("properties", {}).items()
        },
    )


class Text:
    """Text ReAct: tools, format and language are read from the system prompt, observations from the conversation."""

    TOOL = re.compile(r"(?m)^- ([\w-]+)\((.*?)\): (.*)$")
    PARAMETER = re.compile(r"(\w+): ([\w\"| \[\]-]+)( = [^,]+)?")
    NOTE = re.compile(r"^(?:Observation: |观察：)")
    RECALL = re.compile(r"\n\n[(（](?:Next turn|下一轮)[^\n]*\Z")  # the format, recalled after an observation
    ACTION = re.compile(r"(?ms)^(?:Action: |行动：)([\w-]+)[\[(](.*)[\])]\s*\Z")

    def __init__(self, messages: Sequence[Message]) -> None:
        system = messages[0].text if messages and messages[0].role == "system" else ""
        asked = [i for i, message in enumerate(messages) if message.role == "user" and not self._is_note(messages, i)]
        self.question = reduce(in_context, (without_material(messages[i].text) for i in asked))
        self.tools = [self._card(match) for match in self.TOOL.finditer(system)]
        self.chinese = "行动：" in system
        self.brackets = bool(re.search(r"(?m)^(?:Action: |行动：)\w+\[", system))
        self.observed: dict[str, Observation] = {}
        for wrote, told in zip(messages[asked[-1] :], messages[asked[-1] + 1 :], strict=False):
            action = self.ACTION.search(wrote.text)
            if wrote.role == "assistant" and action and self.NOTE.match(told.text):  # else a reminder
                note = self.NOTE.sub("", self.RECALL.sub("", told.text))
                self.observed[f"{action[1]} {self._plain(action[2])}"] = Observation(note, note.startswith("Error:"))

    def _is_note(self, messages: Sequence[Message], index: int) -> bool:
        """What the loop says, not the person: an observation, what follows one, or a reminder of the format."""
        text, follows_note = messages[index].text, index > 0 and messages[index - 1].role == "user"
        return follows_note or bool(self.NOTE.match(text)) or "tool_name" in text

    def _card(self, match: re.Match[str]) -> Card:
        parameters = {}
        for name, kind, default in self.PARAMETER.findall(match[2]):
            choices = tuple(json.loads(choice) for choice in re.findall(r"\"[^\"]*\"", kind))
            parameters[name] = ("array" if kind.endswith("[]") else kind.strip(), not default, choices)
        return Card(match[1], match[3], parameters)

    def _plain(self, argument: str) -> str:
        try:
            return " ".join(str(value) for value in json.loads(argument).values())
        except (ValueError, AttributeError):
            return argument

    def act(self, thought: str, wishes: Sequence[Wish]) -> Reply:
        wish = wishes[0]  # the format asks for one action a turn
        values = list(wish.arguments.values())
        bare = self.brackets and len(values) == 1 and isinstance(values[0], str) and "{" not in values[0]
        argument = values[0] if bare else json.dumps(wish.arguments, ensure_ascii=False)
        written = f"{wish.name}[{argument}]" if self.brackets else f"{wish.name}({argument})"
        return Reply(f"{self._label('Thought', '思考')}{thought}\n{self._label('Action', '行动')}{written}")

    def answer(self, thought: str, text: str) -> Reply:
        label = self._label("Final Answer", "最终答案")
        final = f"{self._label('Action', '行动')}Finish[{text}]" if self.brackets else label + text
        return Reply(f"{self._label('Thought', '思考')}{thought}\n{final}")

    def _label(self, english: str, chinese: str) -> str:
        return f"{chinese}：" if self.chinese else f"{english}: "
