"""The loop over native tool calls: the provider's API says what is text and what is a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from react_lab.agent import Agent, Turn
from react_lab.language import Language, language_of
from react_lab.messages import Message, Reply, ToolResult

PROMPT = {
    "en": """\
You answer questions with the help of tools.

- Think about what you need before you call a tool. Calls that do not depend on each other can go in one turn.
- If a search finds nothing useful, try other keywords.
- Calculate with a tool, never in your head.
- Answer from what the tools returned, in the language of the question, and name the sources (their addresses).
- If you can't find the answer, say so plainly; invent nothing.""",
    "zh": """\
你借助工具回答问题。

- 调用工具之前，先想清楚需要什么。互不依赖的调用可以在一轮里一起发出。
- 搜索没有得到有用的结果时，换关键词再试。
- 计算一律用工具，不要心算。
- 根据工具返回的内容，用提问的语言作答，并给出来源（网址）。
- 找不到答案就直说，不要编造。""",
}
EMPTY = {
    "en": "Your reply was empty. Call a tool, or write the answer.",
    "zh": "你的回复是空的。请调用工具，或者写出答案。",
}
CUT_OFF = {
    "en": "the reply was cut off by the token limit, so this call was not run; send it again, shorter",
    "zh": "回复因长度上限被截断，这个调用没有执行；请写得短一些，再试一次",
}


class ToolUseAgent(Agent):
    """ReAct over native tool calls: every call of a turn is run, and all results go back in one message."""

    def system_prompt(self, question: str) -> str:
        return PROMPT[language_of(question)]

    def ask(self, messages: Sequence[Message], *, language: Language, on_text: Callable[[str], None] | None) -> Reply:
        return self.model.reply(messages, tools=self.registry.told_in(language), on_text=on_text)

    def read(self, reply: Reply, *, step: int, language: Language) -> Turn:
        calls = reply.tool_calls
        if reply.stop_reason == "max_tokens":
            calls = tuple(replace(call, error=call.error or CUT_OFF[language]) for call in calls)
        message = Message("assistant", reply.text, tool_calls=calls, native=reply.native)
        thought = "\n\n".join(part for part in (reply.thought, reply.text if calls else "") if part)
        if calls:
            return Turn(message, thought, calls=calls)
        if reply.text.strip():
            return Turn(message, thought, answer=reply.text.strip())
        return Turn(message, thought, reminder=EMPTY[language])

    def observe(self, results: Sequence[ToolResult], *, language: Language) -> Message:
        return Message("tool", tool_results=tuple(results))
