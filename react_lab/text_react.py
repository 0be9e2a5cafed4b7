"""Text ReAct: the prompt that asks for a format, the reader of that format, and the loop over both.

The model writes its thought and its action as plain text (ReAct, arXiv 2210.03629 §2). Prompt and reader are one
contract, so they stand in one file: every format that a prompt shows is one that `parse_reply` reads.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from react_lab.agent import Agent, Turn
from react_lab.language import Language, language_of
from react_lab.messages import Message, Reply, ToolCall, ToolResult
from react_lab.models.base import Model
from react_lab.tools.base import Tool
from react_lab.tools.registry import ToolRegistry

Syntax = Literal["call", "bracket"]

# -- the prompt ----------------------------------------------------------------------------------------------

FORMAT = {
    ("call", "en"): """\
Thought: what you need next, in a sentence
Action: tool_name({"parameter": "value"})

or, when you know the answer:

Thought: why it is enough
Final Answer: the answer, with its sources""",
    ("call", "zh"): """\
思考：下一步需要什么，一句话
行动：tool_name({"parameter": "value"})

或者，已经知道答案时：

思考：为什么已经足够
最终答案：答案，并附上来源""",
    ("bracket", "en"): """\
Thought: what you need next, in a sentence
Action: tool_name[input]

or, when you know the answer:

Thought: why it is enough
Action: Finish[the answer, with its sources]""",
    ("bracket", "zh"): """\
思考：下一步需要什么，一句话
行动：tool_name[输入]

或者，已经知道答案时：

思考：为什么已经足够
行动：Finish[答案，并附上来源]""",
}
RULES = {
    "en": """\
You answer questions step by step with the help of tools. After each action you are told its observation; never
write an observation yourself. If a search finds nothing useful, try other keywords. Calculate with a tool, never
in your head. Answer from the observations, in the language of the question; if you can't find the answer, say so.""",
    "zh": """\
你借助工具一步一步地回答问题。每次行动之后，你会得到观察结果；不要自己写观察结果。搜索没有得到有用的结果时，
换关键词再试。计算一律用工具，不要心算。根据观察结果，用提问的语言作答；找不到答案就直说。""",
}
HEADINGS = {
    "en": ("Tools:", "Write each turn in this format, one action a turn:"),
    "zh": ("工具：", "每一轮都按下面的格式书写，一轮只写一个行动："),
}
EXAMPLES = {"en": "Examples:", "zh": "示例："}
OBSERVATION = {"en": "Observation: ", "zh": "观察："}
# A long conversation makes models forget the format; so it is recalled at the end of every turn.
NEXT = {
    "en": "\n\n(Next turn: a thought, then one action or the final answer, in the format above.)",
    "zh": "\n\n（下一轮：先写思考，再写一个行动或最终答案，按上面的格式。）",
}
REMINDER = {
    "en": ("Your reply could not be read: ", ". Nothing was run. Write it in this format:\n\n"),
    "zh": ("无法读取你的回复：", "。没有执行任何操作。请按这个格式书写：\n\n"),
}
CUT_OFF = {
    "en": "the reply was cut off by the token limit, so this action was not run; write it again, shorter",
    "zh": "回复因长度上限被截断，这个行动没有执行；请写得短一些，再试一次",
}
STOP = ("\nObservation:", "\n观察：")


# -- the reader ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Action:
    """A call as it was written: `argument` is a dict where the text held JSON or keywords, else the bare text."""

    name: str
    argument: str | dict[str, Any]


@dataclass(frozen=True)
class ParsedReply:
    """What a reply says: actions to run, or an answer, or an error in words that a model can act on.

    `text` is the part of the reply that counts: an invented observation and all that follows it is cut off.
    """

    thought: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None
    error: str | None = None
    text: str = ""


LABELS = {
    "thought": r"Thoughts?|Plan|思考|想法|计划",
    "input": r"Action[ \t]+Input|(?:行动|动作)输入",
    "action": r"Action|行动|动作",
    "observation": r"Observation|观察(?:结果)?",
    "answer": r"Final[ \t]+Answer|Answer|最终(?:答案|回答)|答案",
}
_ANY_LABEL = "|".join(f"(?P<{kind}>{words})" for kind, words in LABELS.items())
# A label stands at the start of a line, plain, numbered, in bold or as a heading, with either colon.
LABEL = re.compile(rf"(?im)^[ \t>#*_`]*+(?:{_ANY_LABEL})[ \t]*\d*[ \t]*[*_`]*[ \t]*[:：][ \t]*[*_]*")
INLINE_OBSERVATION = re.compile(r"(?<=[\])）】`])[ \t]+(?:Observation|观察(?:结果)?)[ \t]*\d*[ \t]*[:：]")
QUOTED = r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'"
CLOSING = {"[": "]", "(": ")", "（": "）", "【": "】", "［": "］"}
NAME = r"[^\W\d](?:[\w.-]|\\_)*"
CALL = re.compile(rf"(?P<name>{NAME})[ \t]*(?P<open>[\[(（【［])")
SEPARATOR = re.compile(rf"[`\s]*(?:[,;，；、]|and\b)?\s*(?={NAME}[ \t]*[\[(（【［])")
BARE_NAME = re.compile(rf"[`*\"'\s]*({NAME}(?:[ ]{NAME})*)[`*\"'\s.]*")
FENCE = re.compile(r"\s*`{3,}[\w-]*\s*")
FINISH = re.compile(r"(?i)finish|final[ _-]?answer|完成|结束|最终答案")
MAX_LITERAL_CHARS = 100_000  # of arguments in Python's notation; JSON has no limit
NOISE = re.compile(r"<\|[\w ]{1,40}\|>|</?s>|\r")
REASONING = re.compile(r"(?is)<think>(.*?)(?:</think>|\Z)")
STOP_REST = re.compile(r"\n[ \t*#]*(?:Observ(?:a(?:t(?:i(?:on?)?)?)?)?|观察?)[ \t*]*[:：]?\s*\Z")


class CutOff(ValueError):
    """An action that begins and does not end: it must not be run."""


def parse_reply(text: str) -> ParsedReply:
    """Read one turn of text ReAct, in any of the forms that models write.

    The first action that can be read wins, before any answer that the model wrote after it; an observation that
    the model invented ends the reply. Takes time in proportion to the text and raises nothing.

    An action that is not closed is never given back. Text after `Action Input:` has no closing mark: the loop, which
    knows whether the token limit cut the reply off, does not run it then.
    """
    reasoning = "\n".join(match.strip() for match in REASONING.findall(text))
    body = STOP_REST.sub("", NOISE.sub("", REASONING.sub("", text)).rstrip())
    labels = list(LABEL.finditer(body))
    invented = next((label.start() for label in labels if label.lastgroup == "observation"), len(body))
    thought = _thought(body[:invented], labels) or reasoning
    problem = "it holds neither an action nor a final answer"
    try:
        for label, following in zip(labels, [*labels[1:], None], strict=False):
            if label.start() >= invented:
                break
            if label.lastgroup == "action":
                actions, stop = _read_action(body, label.end(), following)
                if actions:
                    return _parsed(thought, actions, body[:stop])
                problem = f"{body[label.end() : stop].strip()[:80]!r} is no action"
            elif label.lastgroup == "answer":
                if blob := _read_blob(body[: label.start()]):
                    return _parsed(thought, blob[0], body[: blob[1]])
                return ParsedReply(thought, answer=body[label.end() : invented].strip(), text=body[:invented])
        if unlabelled := _read_blob(body[:invented]) or _read_lone_call(body[:invented]):
            return _parsed(thought, unlabelled[0], body[: unlabelled[1]])
        if not body[:invented].strip():
            problem = "it begins with an observation, which is not yours to write" if body else "it is empty"
    except CutOff as error:
        problem = str(error)
    except RecursionError:
        problem = "its arguments are nested too deeply"
    return ParsedReply(thought, error=problem, text=body[:invented])


def _parsed(thought: str, actions: Sequence[Action], text: str) -> ParsedReply:
    """Actions up to a `Finish`; a `Finish` that comes first is the answer."""
    answers = [_answer_in(action) for action in actions]
    if answers[0] is not None:
        return ParsedReply(thought, answer=answers[0].strip(), text=text)
    count = next((index for index, answer in enumerate(answers) if answer is not None), len(actions))
    return ParsedReply(thought, actions=tuple(actions[:count]), text=text)


def _answer_in(action: Action) -> str | None:
    """The text of `Finish[text]`, `Finish(answer="text")`; None where the action is a call."""
    if not FINISH.fullmatch(action.name):
        return None
    if isinstance(action.argument, str):
        return action.argument
    if len(action.argument) == 1 and (key := next(iter(action.argument))) in ("answer", "final_answer", "output"):
        return _as_text(action.argument[key])
    return None


def _thought(body: str, labels: Sequence[re.Match[str]]) -> str:
    """What stands before the first action or answer, without its label."""
    start = 0
    for label in labels:
        if label.lastgroup != "thought":
            return body[start : label.start()].strip()
        start = start or label.end()
    return body[start:].strip() if start else ""


def _read_action(text: str, start: int, following: re.Match[str] | None) -> tuple[list[Action], int]:
    """The actions after an `Action:` label, and where they end; none where it is prose.

    A bare argument ends before the next label, `following`. JSON ends where it ends: labels inside it mean nothing.
    """
    limit = following.start() if following else len(text)
    if inline := INLINE_OBSERVATION.search(text, start, limit):
        limit = inline.start()
    position = _skip_opening(text, start, limit)
    if text.startswith("{", position):
        value, stop = _read_object(text, position)
        return _from_blob(value), stop
    calls, stop = _read_calls(text, position + text.startswith("[", position), limit)
    if calls:
        return calls, stop
    name = BARE_NAME.fullmatch(text, start, limit)
    if name and following is not None and following.lastgroup == "input":
        argument, stop = _read_input(text, following.end())
        return [Action(name[1].replace("\\_", "_"), argument)], stop
    return [], limit


def _skip_opening(text: str, start: int, limit: int) -> int:
    """Past blanks, quotes and the opening of a fence."""
    fence = FENCE.match(text, start, limit)
    position = fence.end() if fence else start
    while position < limit and text[position] in " \t\n`*\"'":
        position += 1
    return position


def _read_calls(text: str, position: int, limit: int) -> tuple[list[Action], int]:
    """`a[x]`, `a({...})`, `a(k='v')`, or several of them with commas between."""
    calls: list[Action] = []
    while call := CALL.match(text, position, limit):
        argument, position = _read_argument(text, call.end() - 1, limit)
        calls.append(Action(call["name"].replace("\\_", "_"), argument))
        separator = SEPARATOR.match(text, position, limit)
        if separator is None or not separator[0].strip():
            break
        position = separator.end()
    return calls, position


def _read_argument(text: str, opening: int, limit: int) -> tuple[str | dict[str, Any], int]:
    """What stands between the bracket at `opening` and the one that closes it."""
    closing = CLOSING[text[opening]]
    position = opening + 1
    while position < limit and text[position] in " \t\n":
        position += 1
    if text.startswith("{", position):
        value, stop = _read_object(text, position)
        while stop < len(text) and text[stop] in " \t\n,":
            stop += 1
        if not text.startswith(closing, stop):
            raise CutOff(f"the action has no closing {closing}")
        return value, stop + 1
    stop = _closing_bracket(text, opening, limit)
    return _bare_argument(text[opening + 1 : stop], keywords=text[opening] in "(（"), stop + 1


def _closing_bracket(text: str, opening: int, limit: int) -> int:
    """Where the bracket at `opening` is closed; brackets inside come in pairs."""
    closing, depth = CLOSING[text[opening]], 0
    quoted = f"|{QUOTED}" if text[opening] in "(（" else ""  # in the paper's brackets a quotation mark is just text
    for match in re.compile(f"(?s)[{re.escape(text[opening] + closing)}]{quoted}").finditer(text, opening, limit):
        depth += (match[0] == text[opening]) - (match[0] == closing)
        if depth == 0:
            return match.start()
    raise CutOff(f"the action has no closing {closing}")


def _bare_argument(text: str, *, keywords: bool) -> str | dict[str, Any]:
    """`x`, `"x"`, `k="v", n=2`. In square brackets the text is taken as it is, but for quoted keywords."""
    text = _unfenced(text).strip()
    if re.match(r"\w+\s*=\s*" if keywords else r"\w+\s*=\s*[\"']", text):
        with contextlib.suppress(SyntaxError, ValueError, MemoryError):
            call = ast.parse(f"f({_as_python(text)})", mode="eval").body
            if isinstance(call, ast.Call) and not call.args:
                return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    if not keywords:
        return text
    if re.match(r"(?:\w+\s*=\s*)?[\"']", text) and not re.match(rf"(?s)(?:\w+\s*=\s*)?(?:{QUOTED})", text):
        raise CutOff("a quotation mark in the action is not closed")
    return _unquoted(text)


def _read_input(text: str, start: int) -> tuple[str | dict[str, Any], int]:
    """What stands after `Action Input:`, up to the end of its fence or to the next label."""
    fence = FENCE.match(text, start)
    position = fence.end() if fence else start
    while position < len(text) and text[position] in " \t\n`":
        position += 1
    if text.startswith("{", position):
        return _read_object(text, position)
    if fence and (closed := re.compile(r"\s*`{3,}").search(text, position)):
        return text[position : closed.start()], closed.end()
    following = LABEL.search(text, position)
    stop = following.start() if following else len(text)
    return _unquoted(_unfenced(text[start:stop]).strip()), stop


def _read_object(text: str, start: int) -> tuple[dict[str, Any], int]:
    """A JSON object, or a Python dict that was meant as one, and where it ends."""
    try:
        value, stop = json.JSONDecoder(strict=False).raw_decode(text, start)
    except ValueError:
        stop = _end_of_object(text, start)
        value = _python_literal(text[start:stop])
    return value, stop


TOKEN = re.compile(rf"(?s){QUOTED}|[{{}}\[\]]")


def _end_of_object(text: str, start: int) -> int:
    depth = 0
    for token in TOKEN.finditer(text, start):
        depth += token[0] in "{["
        depth -= token[0] in "}]"
        if depth == 0:
            return token.end()
    raise CutOff("the arguments are cut off: a { has no }")


def _python_literal(text: str) -> dict[str, Any]:
    """`{'a': True, "b": null,}`: what models write when they mean JSON."""
    try:
        value = ast.literal_eval(_as_python(text))
    except (ValueError, SyntaxError, MemoryError):
        value = None
    if not isinstance(value, dict):
        raise CutOff(f"the arguments are no JSON object: {text[:80]}")
    return value


WORDS = {"true": "True", "false": "False", "null": "None"}
BAD_ESCAPE = re.compile(r"""\\(?![\\'"abfnrtvxuUN0-7\n])""")


def _as_python(text: str) -> str:
    """JSON's words as Python spells them; in strings, line breaks escaped, and backslashes that escape nothing."""
    if len(text) > MAX_LITERAL_CHARS:
        raise ValueError("too long")

    def spelled(token: re.Match[str]) -> str:
        return WORDS.get(token[0]) or BAD_ESCAPE.sub(r"\\\\", token[0]).replace("\n", "\\n")

    return re.sub(rf"(?s){QUOTED}|\b(?:true|false|null)\b", spelled, text)


def _read_blob(text: str) -> tuple[list[Action], int] | None:
    """An action as a JSON object that stands in a fence or is the whole reply."""
    start = text.find("{")
    while start >= 0:
        if FENCE.fullmatch(text[max(0, text.rfind("`", 0, start) - 2) : start]) or not text[:start].strip():
            value, stop = _read_object(text, start)
            actions = _from_blob(value)
            return (actions, stop) if actions else None
        fence = re.compile(r"`{3,}[\w-]*\s*(?=\{)").search(text, start)
        start = fence.end() if fence else -1
    return None


def _from_blob(value: Mapping[str, Any]) -> list[Action]:
    """`{"action": name, "action_input": ...}`, also inside a single wrapping key."""
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        value = inner
    name = value.get("action") or value.get("name") or value.get("tool")
    if not isinstance(name, str):
        return []
    keys = ("action_input", "arguments", "input", "parameters", "args")
    argument = next((value[key] for key in keys if key in value), "")
    return [Action(name.strip(), argument if isinstance(argument, dict) else _as_text(argument))]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_lone_call(text: str) -> tuple[list[Action], int] | None:
    """A reply that is nothing but a call."""
    start = len(text) - len(text.lstrip())
    calls, stop = _read_calls(text, start, len(text))
    return (calls, stop) if calls and not text[stop:].strip(" \n\t`.") else None


def _unfenced(text: str) -> str:
    match = re.fullmatch(r"(?s)\s*`{3,}[\w-]*\n?(.*?)\n?`{3,}\s*", text)
    return match[1] if match else text


def _unquoted(text: str) -> str:
    """Without one pair of outer quotes."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text


# -- the loop ------------------------------------------------------------------------------------------------


class TextReActAgent(Agent):
    """ReAct as text: works with any model that writes, whether or not it has native tool calls.

    Args:
        syntax: `"call"` for `tool({"key": "value"})`, or `"bracket"` for the paper's `tool[input]`, which suits tools
            with one parameter. The reader takes both, whichever was asked for.
        examples: Turns or whole runs to show the model in the prompt (few-shot), as they are to be written.
        limits: `max_steps`, `max_chars` and `best_guess`, as for every `Agent`.
    """

    def __init__(
        self,
        model: Model,
        registry: ToolRegistry,
        *,
        syntax: Syntax = "call",
        examples: Sequence[str] = (),
        **limits: Any,
    ) -> None:
        if syntax not in ("call", "bracket"):
            raise ValueError(f"syntax {syntax!r}: use 'call' or 'bracket'")
        super().__init__(model, registry, **limits)
        self.syntax: Syntax = syntax
        self.examples = tuple(examples)

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "syntax": self.syntax}

    def system_prompt(self, question: str) -> str:
        language = language_of(question)
        tools, shape = HEADINGS[language]
        parts = [RULES[language], tools, self.registry.describe(language), shape, self.format(language)]
        if self.examples:
            parts += [EXAMPLES[language], *self.examples]
        return "\n\n".join(parts)

    def format(self, language: Language) -> str:
        """The two turns that a model may write, as the prompt shows them."""
        shown = FORMAT[self.syntax, language]
        # Claude may refuse to write out its "thoughts" as a reproduction of its reasoning; a short plan is welcome.
        plan = self.model.name.startswith("anthropic:")
        return shown.replace("Thought:", "Plan:").replace("思考：", "计划：") if plan else shown

    def ask(self, messages: Sequence[Message], *, language: Language, on_text: Callable[[str], None] | None) -> Reply:
        return self.model.reply(messages, stop=STOP, on_text=on_text)

    def read(self, reply: Reply, *, step: int, language: Language) -> Turn:
        parsed = parse_reply(reply.text)
        thought = "\n\n".join(part for part in (reply.thought, parsed.thought) if part)
        message = Message("assistant", parsed.text)  # as read: an invented observation must not come back
        if parsed.error is not None:
            head, tail = REMINDER[language]
            return Turn(message, thought, reminder=head + parsed.error + tail + self.format(language))
        calls = tuple(self._call(action, f"{step}.{number}") for number, action in enumerate(parsed.actions, start=1))
        if reply.stop_reason == "max_tokens" and not parsed.text.rstrip().endswith((*CLOSING.values(), "}", "```")):
            calls = tuple(replace(call, error=CUT_OFF[language]) for call in calls)
        return Turn(message, thought, calls=calls, answer=parsed.answer)

    def observe(self, results: Sequence[ToolResult], *, language: Language) -> Message:
        label = OBSERVATION[language]
        return Message("user", "\n".join(label + result.content for result in results) + NEXT[language])

    def _call(self, action: Action, call_id: str) -> ToolCall:
        if isinstance(action.argument, dict):
            return ToolCall(call_id, action.name, action.argument)
        if action.name not in self.registry:
            return ToolCall(call_id, action.name, {"input": action.argument} if action.argument else {})
        return fit(ToolCall(call_id, action.name), action.argument, self.registry.get(action.name))


def fit(call: ToolCall, text: str, item: Tool) -> ToolCall:
    """The call with a bare text as the argument of the tool's only parameter, or only required one."""
    properties: Mapping[str, Any] = item.parameters.get("properties", {})
    required = item.parameters.get("required", ())
    if not text and not required:
        return call
    names = required if len(required) == 1 else tuple(properties)
    if len(names) != 1:
        return replace(call, error=f"{item.name} takes {len(names)} parameters; write them as a JSON object")
    value: Any = text
    if properties.get(names[0], {}).get("type") in ("number", "integer", "boolean", "array"):
        with contextlib.suppress(ValueError):  # the registry will say what type is expected
            value = json.loads(text)
    return replace(call, arguments={names[0]: value})
