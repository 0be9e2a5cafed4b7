"""What there is to show of a trace, as plain data: one decoding for notebook, page and terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from react_lab.language import Language, language_of
from react_lab.messages import Message, ToolCall, Usage
from react_lab.trace import Event, Step, Trace

Story = dict[str, Any]


def story(trace: Trace) -> Story:
    """A run as JSON data, every text of it fit to be shown.

    Messages are stored once. A step says how many of them, counted from the first, were its prompt, and how
    many of those were new: data grows with the length of a run, not with its square.
    """
    steps = trace.steps
    messages = trace.prompt_at(steps[-1].index) if steps else ()
    data = {
        "id": trace.id,
        "question": trace.question,
        "language": language_of(trace.question),
        "agent": trace.run.get("agent", ""),
        "model": trace.model,
        "stand_in": trace.model.startswith("offline"),
        "parent": trace.parent and {"id": trace.parent["id"], "step": trace.parent["step"]},
        "outcome": trace.outcome,
        "answer": trace.answer,
        "reason": trace.reason,
        "sources": list(trace.sources),
        "usage": _usage(trace.usage),
        "seconds": trace.seconds,
        "messages": [_message(message) for message in messages],
        "steps": list(_steps(trace, steps)),
    }
    shown: Story = _readable(data)
    return shown


def _steps(trace: Trace, steps: tuple[Step, ...]) -> Iterator[Story]:
    prompt = 1 + len(trace.run.get("history", ()))  # the system prompt and what was said before
    for number, step in enumerate(steps, start=1):
        request = trace.find("request", step.index) or {}
        added = len(request.get("messages", ()))
        prompt += added
        results = {event["call_id"]: event for event in trace.find_all("result", step.index)}
        yield {
            "number": number,
            "thought": step.thought,
            "reply": step.text,
            "calls": [{**_call(call), "result": _result(results.get(call.id))} for call in step.calls],
            "reminder": step.reminder,
            "answer": step.answer,
            "usage": _usage(step.usage),
            "seconds": round(step.seconds, 6),
            "prompt": prompt,
            "new": added if number > 1 else prompt,
        }


def _call(call: ToolCall) -> Story:
    """A call, its arguments as JSON text: on one line if that is short."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    if len(arguments) > 60:
        arguments = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return {"name": call.name, "arguments": arguments}


def _result(event: Event | None) -> Story | None:
    """What came back, or None for a call that was not run."""
    return event and {
        "content": event["content"],
        "is_error": event.get("is_error", False),
        "traceback": event.get("traceback"),
        "cached": event.get("cached", False),
        "changed": event.get("changed", False),
        "attempts": event.get("attempts", 1),
        "seconds": event.get("seconds", 0.0),
    }


def _message(message: Message) -> Story:
    return {
        "role": message.role,
        "text": message.text,
        "calls": [_call(call) for call in message.tool_calls],
        "results": [{"name": result.name, "content": result.content} for result in message.tool_results],
    }


def _usage(usage: Usage | None) -> Story | None:
    if usage is None:
        return None
    return {"input": usage.input_tokens, "output": usage.output_tokens, "cached": usage.cached_tokens}


# Controls of a terminal, halves of a character, and marks that turn the direction of writing (with them a text
# can read as what it is not, https://trojansource.codes).
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    r"""The text with its control characters spelled out, so that it can be shown anywhere.

    >>> readable("\x1b[2Jgone?\r\n")
    '\\x1b[2Jgone?\n'
    """
    return UNSAFE.sub(lambda match: ascii(match[0])[1:-1], text.replace("\r\n", "\n"))


def _readable(value: Any) -> Any:
    match value:
        case str():
            return readable(value)
        case list():
            return [_readable(item) for item in value]
        case dict():
            return {key: _readable(item) for key, item in value.items()}
    return value


def tell(facts: Story, language: Language) -> Story:
    """A story in words: what every view shows, so that no view decides it again.

    `lines` head the run. Each step has a line of its own and `parts`, in the order in which they are read. A
    part has `kind` (for its looks), `label`, `title` (may be empty), `text` and `notes` (may be empty).
    """
    words = WORDS[language]
    return {
        "id": facts["id"],
        "question": facts["question"],
        "language": facts["language"],
        "lines": _lines(facts, language),
        "messages": [_told_message(message, language) for message in facts["messages"]],
        "steps": [
            {
                "line": _joined(_costs(step, language)),
                "parts": list(_parts(facts, step, language)),
                "reply": step["reply"],
                "prompt": step["prompt"],
                "new": step["new"],
            }
            for step in facts["steps"]
        ],
        "interface": {"language": language, "words": words},
    }


def _lines(facts: Story, language: Language) -> list[str]:
    """Who was asked, how it ended, what it took; then what a reader must know about the run."""
    words = WORDS[language]
    outcome = words.get(f"outcome.{facts['outcome']}") or str(facts["outcome"])
    lines = [_joined([facts["agent"], facts["model"], outcome, *_costs(facts, language)])]
    if facts["stand_in"]:
        lines.append(words["stand_in"])
    if facts["parent"]:
        lines.append(words["fork"].format(**facts["parent"]))
    if facts["reason"]:
        lines.append(facts["reason"])
    if not facts["steps"]:
        lines.append(words["no_steps"])
    return lines


def _parts(facts: Story, step: Story, language: Language) -> Iterator[Story]:
    words = WORDS[language]

    def part(kind: str, text: str, *, title: str = "", notes: str = "") -> Story:
        return {"kind": kind, "label": words[kind], "title": title, "text": text, "notes": notes}

    if step["thought"]:
        yield part("thought", step["thought"])
    for call in step["calls"]:
        yield part("action", call["arguments"], title=call["name"])
        result = call["result"]
        if result is None:
            yield part("observation", "", notes=words["not_run"])
            continue
        yield part(
            "error" if result["is_error"] else "observation",
            result["content"],
            notes=_notes(result, language),
        )
        if result["traceback"]:
            yield part("traceback", result["traceback"])
    if step["reminder"]:
        yield part("reminder", step["reminder"])
    if step["answer"] is not None:
        yield part("answer", step["answer"])
        if facts["sources"]:
            yield part("sources", "\n".join(facts["sources"]))


def _notes(result: Story, language: Language) -> str:
    words = WORDS[language]
    notes = [words[note] for note in ("changed", "cached") if result[note]]
    if result["attempts"] > 1:
        notes.append(words["attempts"].format(**result))
    if result["seconds"] >= 0.01:
        notes.append(words["seconds"].format(**result))
    return _joined(notes)


def _costs(item: Story, language: Language) -> list[str]:
    """Tokens and time of a step or of the run; tokens only where they were counted."""
    words, usage = WORDS[language], item["usage"]
    seconds = words["seconds"].format(**item)
    if not usage:
        return [seconds]
    return [words["tokens_cached" if usage["cached"] else "tokens"].format(**usage), seconds]


def _told_message(message: Story, language: Language) -> Story:
    """A message as one text: what was written, then calls or results."""
    calls = [f"{call['name']} {call['arguments']}" for call in message["calls"]]
    results = [f"{result['name']}: {result['content']}" for result in message["results"]]
    text = "\n".join(part for part in [message["text"], *calls, *results] if part)
    return {"label": WORDS[language]["role." + message["role"]], "text": text}


def _joined(facts: Iterable[str]) -> str:
    return " · ".join(fact for fact in facts if fact)


def as_text(told: Story) -> str:
    """A told story as plain text: each label on a line, what belongs to it indented below."""
    lines = [told["question"], *told["lines"]]
    for number, step in enumerate(told["steps"], start=1):
        lines += ["", f"=== {position(told, number)}", *part_lines(step)]
    return "\n".join(lines) + "\n"


def position(told: Story, number: int) -> str:
    """Which step of how many, and what it took."""
    words = told["interface"]["words"]
    return _joined([words["position"].format(n=number, count=len(told["steps"])), told["steps"][number - 1]["line"]])


def part_lines(step: Story) -> Iterator[str]:
    for part in step["parts"]:
        yield ""
        yield _joined((part["label"], part["notes"]))
        yield from indented(f"{part['title']} {part['text']}".strip())


def indented(text: str) -> list[str]:
    return ["  " + line for line in text.split("\n")]


# Every word of the interface. Braces are filled with numbers and ids, here and in player.js.
WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "player": "Player: step through a run",
        "controls": "Controls",
        "first": "First step",
        "back": "Step back",
        "play": "Play",
        "pause": "Pause",
        "forward": "Step forward",
        "last": "Last step",
        "jump": "Go to step",
        "position": "Step {n} of {count}",
        "thought": "Thought",
        "action": "Action",
        "observation": "Observation",
        "error": "Error",
        "traceback": "Traceback",
        "reminder": "Reminder",
        "answer": "Answer",
        "sources": "Sources",
        "prompt": "Prompt as sent",
        "prompt_size": "{count} messages, {new} new",
        "earlier": "{count} earlier messages",
        "new": "new",
        "reply": "Raw reply",
        "reply_size": "{count} characters",
        "role.system": "system",
        "role.user": "user",
        "role.assistant": "assistant",
        "role.tool": "tool",
        "tokens": "{input:,} tokens in, {output:,} out",
        "tokens_cached": "{input:,} tokens in ({cached:,} from cache), {output:,} out",
        "seconds": "{seconds:.2f} s",
        "cached": "from cache",
        "changed": "changed by hand",
        "attempts": "{attempts} attempts",
        "not_run": "not run",
        "outcome.answered": "answered",
        "outcome.max_steps": "out of steps",
        "outcome.budget": "out of budget",
        "outcome.refused": "refused",
        "outcome.truncated": "cut off",
        "outcome.interrupted": "interrupted",
        "outcome.error": "failed",
        "stand_in": "Answered by the offline stand-in: a few rules, not a language model.",
        "fork": "A fork of run {id} at step {step}.",
        "no_steps": "The run ended before the model replied.",
        "transcript": "Read it as text",
        "copy": "A copy of this run that needs no kernel",
        "keys": "left/right: step   up/down: scroll   p: prompt   r: raw reply   q: quit",
    },
    "zh": {
        "player": "播放器：逐步回放一次运行",
        "controls": "控制",
        "first": "第一步",
        "back": "后退一步",
        "play": "播放",
        "pause": "暂停",
        "forward": "前进一步",
        "last": "最后一步",
        "jump": "跳到某一步",
        "position": "第 {n} 步，共 {count} 步",
        "thought": "思考",
        "action": "行动",
        "observation": "观察",
        "error": "错误",
        "traceback": "错误追踪",
        "reminder": "提醒",
        "answer": "回答",
        "sources": "来源",
        "prompt": "实际发送的提示词",
        "prompt_size": "{count} 条消息，{new} 条新增",
        "earlier": "之前的 {count} 条消息",
        "new": "新增",
        "reply": "原始回复",
        "reply_size": "{count} 个字符",
        "role.system": "系统",
        "role.user": "用户",
        "role.assistant": "助手",
        "role.tool": "工具",
        "tokens": "输入 {input:,} 词元，输出 {output:,}",
        "tokens_cached": "输入 {input:,} 词元（缓存 {cached:,}），输出 {output:,}",
        "seconds": "{seconds:.2f} 秒",
        "cached": "来自缓存",
        "changed": "人工改动",
        "attempts": "尝试 {attempts} 次",
        "not_run": "未执行",
        "outcome.answered": "已回答",
        "outcome.max_steps": "步数用尽",
        "outcome.budget": "预算用尽",
        "outcome.refused": "拒绝回答",
        "outcome.truncated": "被截断",
        "outcome.interrupted": "中断",
        "outcome.error": "失败",
        "stand_in": "由离线替身作答：它只有几条规则，不是语言模型。",
        "fork": "从运行 {id} 的第 {step} 步分出的分支。",
        "no_steps": "模型还没有回复，运行就结束了。",
        "transcript": "以文字阅读",
        "copy": "这次运行的副本，无需内核",
        "keys": "左/右：步进   上/下：滚动   p：提示词   r：原始回复   q：退出",
    },
}
