"""The loop guard: tells a model that goes round in circles, and stops the third round.

Measured on real runs: the same action with the same observation twice running marks one failed run in twenty and
almost no good one, while a repeated call that brings something new (the next passage of a page) is progress.
"""

from __future__ import annotations

from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.trace import Trace

AGAIN = {
    "en": "\n\n(The same call gave the same result before. Do something else, or answer with what you have.)",
    "zh": "\n\n（同样的调用之前已经得到同样的结果。请换个做法，或者根据已有的内容作答。）",
}
STILL_UNKNOWN = {
    "en": "\n\n(You were told that {} does not exist. Write one of the names above, letter by letter, or answer.)",
    "zh": "\n\n（之前已经告诉过你，{} 不存在。请逐字写出上面的某个名称，或者直接作答。）",
}
NOT_RUN = {
    "en": "this call was made twice with the same result, so it was not run a third time; do something else, or answer",
    "zh": "这个调用已经做过两次，结果相同，所以没有第三次执行；请换个做法，或者直接作答",
}


def goes_in_circles(trace: Trace, step: int, call: ToolCall) -> bool:
    """Whether the two steps before made this very call and saw the same, or it was refused just before."""
    last, before = (_observed(trace, earlier, call) for earlier in (step - 1, step - 2))
    return last is not None and (last == before or last.endswith(tuple(NOT_RUN.values())))


def remark(trace: Trace, step: int, call: ToolCall, result: ToolResult, *, known: bool, language: Language) -> str:
    """What the model is told beside a result: nothing, unless it made this mistake before.

    `known` tells whether there is a tool of that name.
    """
    if known:
        return AGAIN[language] if _observed(trace, step - 1, call) == result.content else ""
    before = any(event["name"] == call.name for i in range(1, step) for event in trace.find_all("result", i))
    return STILL_UNKNOWN[language].replace("{}", call.name) if before else ""


def _observed(trace: Trace, step: int, call: ToolCall) -> str | None:
    """What a step saw of the same call."""
    for event in trace.find_all("result", step):
        if event["name"] == call.name and event.get("arguments", {}) == call.arguments:
            return str(event["content"])
    return None
