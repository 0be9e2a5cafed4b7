"""What there is to show of a trace, as plain data: one decoding for notebook, page and terminal."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from react_lab.language import Language, language_of
from react_lab.messages import Message, ToolCall, Usage
from react_lab.replay.pictures import picture_of
from react_lab.replay.words import WORDS
from react_lab.trace import Event, Trace

Story = dict[str, Any]

SHORT = 60  # characters of arguments that stay on one line
SUMMARY = 100  # characters of a step in the list of steps
ROLES = ("system", "user", "assistant", "tool")


# -- the facts -----------------------------------------------------------------------------------------------


def story(trace: Trace, *, running: bool = False) -> Story:
    """A run as JSON data, every text of it fit to be shown.

    Messages are stored once, with the step whose prompt they were new in: data grows with the length of a run, not
    with its square.
    """
    steps = list(_steps(trace))
    data = {
        "id": trace.id,
        "question": trace.question,
        "language": language_of(trace.question),
        "agent": trace.run.get("agent", ""),
        "model": trace.model,
        "stand_in": trace.model.startswith("offline"),
        "parent": trace.parent and {"id": trace.parent["id"], "step": trace.parent["step"]},
        "outcome": "running" if running else trace.outcome,
        "answer": trace.answer,
        "reason": trace.reason,
        "sources": list(trace.sources),
        "usage": _usage(trace.usage),
        "cost": trace.cost_usd,
        "model_seconds": sum(step["model_seconds"] for step in steps),
        "tool_seconds": sum(step["tool_seconds"] for step in steps),
        "seconds": round(sum(step["seconds"] for step in steps), 6),
        "steps": steps,
    }
    shown: Story = _readable(data)
    return shown


def _steps(trace: Trace) -> Iterator[Story]:
    start = 0.0
    prompts: dict[str, Prompt] = {}  # of each node
    changes = {event["node"]: event["changes"] for event in trace.events if event["event"] == "state"}
    steps = trace.steps
    last = {step.node: step.index for step in steps}
    for number, step in enumerate(steps, start=1):
        reply = trace.find("reply", step.index) or {}
        opens = step.node not in prompts and trace.find("request", step.index) is not None
        added = trace.conversation_at(step.index) if opens else trace.added_at(step.index)
        prompt = prompts.setdefault(step.node, Prompt())
        results = {event["call_id"]: event for event in trace.find_all("result", step.index)}
        yield {
            "number": number,
            "node": step.node,
            "state": list(changes.get(step.node, ())) if last[step.node] == step.index else [],
            "thought": step.thought,
            "reply": step.text,
            "stop_reason": reply.get("stop_reason", ""),
            "attempts": reply.get("attempts", 1),
            "waited_s": reply.get("waited_s", 0.0),
            "changed": reply.get("changed", False),
            "calls": [{**_call(call), "result": _result(trace, results.get(call.id))} for call in step.calls],
            "reminder": step.reminder,
            "answer": step.answer,
            "usage": _usage(step.usage),
            "cost": step.cost_usd,
            "start": round(start, 6),
            "model_seconds": step.model_seconds,
            "tool_seconds": round(step.seconds - step.model_seconds, 6),
            "seconds": round(step.seconds, 6),
            **prompt.grown(added, reply.get("replaced"), acted=bool(step.calls)),
        }
        start += step.seconds


class Prompt:
    """What the model of a node reads: it grows from step to step."""

    def __init__(self) -> None:
        self.sizes: list[tuple[str, int]] = []  # role and characters of each message
        self.context = Counter(dict.fromkeys(ROLES, 0))
        self.observes = False  # whether the next message of a user tells what tools said, as in text ReAct

    def grown(self, added: Sequence[Message], replaced: Mapping[str, Any] | None, *, acted: bool) -> Story:
        """The messages that are new, what was sent instead of old ones, and the characters of each role."""
        messages = [_message(message) for message in added]
        sizes = [(self._role(message), _size(message)) for message in messages]
        self.sizes += sizes
        self._count(sizes)
        self.observes = acted
        grown = {"messages": messages, "prompt": len(self.sizes), "replaced": None, "context": dict(self.context)}
        return grown if replaced is None else {**grown, **self._shortened(replaced)}

    def _shortened(self, replaced: Mapping[str, Any]) -> Story:
        first, last = replaced["from"], replaced["to"]
        instead = [_message(Message.from_dict(message)) for message in replaced["messages"]]
        context = Counter(self.context)
        for role, size in self.sizes[first:last]:
            context[role] -= size
        for message in instead:
            context[message["role"]] += _size(message)
        count = len(self.sizes) - (last - first) + len(instead)
        return {
            "replaced": {"from": first, "to": last, "messages": instead},
            "prompt": count,
            "context": dict(context),
        }

    def _role(self, message: Story) -> str:
        return "tool" if self.observes and message["role"] == "user" else str(message["role"])

    def _count(self, sizes: Sequence[tuple[str, int]]) -> None:
        for role, size in sizes:
            self.context[role] += size


def _call(call: ToolCall) -> Story:
    """A call, its arguments as JSON text: on one line if that is short."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    if len(arguments) > SHORT:
        arguments = json.dumps(call.arguments, ensure_ascii=False, indent=2)
    return {"name": call.name, "arguments": arguments, "written": _written(call)}


def _written(call: ToolCall) -> list[str]:
    """How a model may have written the arguments' values: as JSON or bare."""
    values = call.arguments.values()
    bare = [value for value in values if isinstance(value, str)]
    return [*(json.dumps(value, ensure_ascii=False) for value in values), *bare]


def _result(trace: Trace, event: Event | None) -> Story | None:
    """What came back, or None for a call that was not run."""
    return event and {
        "content": event["content"],
        "picture": picture_of(trace, event),
        "is_error": event.get("is_error", False),
        "traceback": event.get("traceback"),
        "cached": event.get("cached", False),
        "changed": event.get("changed", False),
        "attempts": event.get("attempts", 1),
        "waited_s": event.get("waited_s", 0.0),
        "seconds": event.get("seconds", 0.0),
    }


def _message(message: Message) -> Story:
    return {
        "role": message.role,
        "text": message.text,
        "calls": [_call(call) for call in message.tool_calls],
        "results": [{"name": result.name, "content": result.content} for result in message.tool_results],
    }


def _size(message: Story) -> int:
    """Characters that a model has to read."""
    calls = sum(len(call["name"]) + len(call["arguments"]) for call in message["calls"])
    return len(message["text"]) + calls + sum(len(result["content"]) for result in message["results"])


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


# -- the facts in words --------------------------------------------------------------------------------------


def tell(facts: Story, language: Language) -> Story:
    """A story in words: what every view shows, so that no view decides it again.

    `lines` head the run. Each step has a line of its own and `parts`, in the order in which they are read. A
    part has `kind` (for its looks), `label`, `title` (may be empty), `text`, `notes` (may be empty), and where a tool
    drew something its `picture`, a `data:` address.
    """
    words = WORDS[language]
    return {
        "id": facts["id"],
        "question": facts["question"],
        "language": facts["language"],
        "lines": _lines(facts, language),
        "timeline": words["timeline_facts"].format(model=facts["model_seconds"], tools=facts["tool_seconds"]),
        "steps": [_told_step(facts, step, language) for step in facts["steps"]],
        "interface": {"language": language, "words": words},
    }


def _told_step(facts: Story, step: Story, language: Language) -> Story:
    words = WORDS[language]
    results = [call["result"] for call in step["calls"] if call["result"]]
    return {
        "node": step["node"],
        "line": joined([step["node"], *_costs(step, language)]),
        "summary": _summary(step),
        "parts": list(_parts(facts, step, language)),
        "events": list(_events(step, language)),
        "reply": step["reply"],
        "reply_size": words["reply_size"].format(count=len(step["reply"])),
        "pieces": [[piece, start, end] for start, end, piece in sorted(_pieces(step))],
        "messages": [_told_message(message, language) for message in step["messages"]],
        "prompt": step["prompt"],
        "new": len(step["messages"]),
        "replaced": _told_replacement(step, language),
        "tools": list(dict.fromkeys(call["name"] for call in step["calls"])),
        "failed": step["reminder"] is not None or any(result["is_error"] for result in results),
        "start": step["start"],
        "model": step["model_seconds"],
        "runs": [[result["seconds"], result["is_error"]] for result in results],
        "context": [step["context"][role] for role in ROLES],
        "growth": words["growth_facts"].format(size=sum(step["context"].values())),
    }


def _told_replacement(step: Story, language: Language) -> Story | None:
    replaced = step["replaced"]
    if replaced is None:
        return None
    count = replaced["to"] - replaced["from"]
    messages = [_told_message(message, language) for message in replaced["messages"]]
    notes = WORDS[language]["compacted"].format(count=count, instead=len(messages))
    return {"from": replaced["from"], "count": count, "messages": messages, "notes": notes}


def _lines(facts: Story, language: Language) -> list[str]:
    """Who was asked, how it ended, what it took; then what a reader must know about the run."""
    words = WORDS[language]
    outcome = words.get(f"outcome.{facts['outcome']}") or str(facts["outcome"])
    lines = [joined([facts["agent"], facts["model"], outcome, *_costs(facts, language)])]
    if facts["stand_in"]:
        lines.append(words["stand_in"])
    if facts["parent"]:
        lines.append(words["fork"].format(**facts["parent"]))
    if facts["reason"]:
        lines.append(facts["reason"])
    if not facts["steps"]:
        lines.append(words["no_steps_yet" if facts["outcome"] == "running" else "no_steps"])
    return lines


def _parts(facts: Story, step: Story, language: Language) -> Iterator[Story]:
    words = WORDS[language]

    def part(kind: str, text: str, *, title: str = "", notes: str = "") -> Story:
        return {"kind": kind, "label": words[kind], "title": title, "text": text, "notes": notes}

    if step["thought"]:
        yield part("thought", step["thought"], notes=words["changed"] if step["changed"] else "")
    for call in step["calls"]:
        yield part("action", call["arguments"], title=call["name"])
        result = call["result"]
        if result is None:
            yield part("observation", "", notes=words["waiting" if facts["outcome"] == "running" else "not_run"])
            continue
        kind, notes = "error" if result["is_error"] else "observation", _notes(result, language)
        observed = part(kind, indented_json(result["content"]), notes=notes)
        yield {**observed, "picture": result["picture"]} if result["picture"] else observed
        if result["traceback"]:
            yield part("traceback", result["traceback"])
    if step["reminder"]:
        yield part("reminder", step["reminder"])
    if step["answer"] is not None:
        yield part("answer", indented_json(step["answer"]))
        if facts["sources"] and step["number"] == len(facts["steps"]):
            yield part("sources", "\n".join(facts["sources"]))


def indented_json(text: str) -> str:
    """Data of a tool on several lines, so that it can be read; any other text as it is."""
    if len(text) <= SHORT or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _events(step: Story, language: Language) -> Iterator[list[str]]:
    """The events of a step, each in a line: what was sent, what came, how it was read, what was run."""
    words = WORDS[language]

    def event(kind: str, *facts: str) -> list[str]:
        return [words[f"event.{kind}"], joined(facts)]

    sizes = {"new": len(step["messages"]), "size": sum(map(_size, step["messages"]))}
    if step["prompt"]:
        yield event("request", words["messages_added"].format(**sizes))
        model_costs = _costs({**step, "seconds": step["model_seconds"], "tool_seconds": 0}, language)
        size = words["reply_size"].format(count=len(step["reply"]))
        yield event("reply", size, step["stop_reason"], *_attempts(step, language), *model_costs)
    found = [words[kind] for kind in ("thought", "answer", "reminder") if step[kind]]
    calls = [words["calls"].format(name=call["name"]) for call in step["calls"]]
    yield event("parse", *found, *(calls or [words["no_calls"]]))
    for call in step["calls"]:
        if result := call["result"]:
            failed = words["error"] if result["is_error"] else ""
            size = words["reply_size"].format(count=len(result["content"]))
            yield event("result", call["name"], failed, size, _notes(result, language))
    if step["state"]:
        yield event("state", ", ".join(step["state"]))


def _pieces(step: Story) -> Iterator[tuple[int, int, str]]:
    """Where in the raw reply the reader found what it used: the kind of the piece and its place."""
    text: str = step["reply"]
    end = 0
    for kind in ("thought", "action", "answer"):
        wanted = [step[kind]] if kind != "action" else [call["name"] for call in step["calls"]]
        for index, piece in enumerate(filter(None, wanted)):
            start = text.find(piece, end)
            if start < 0:
                continue
            end = start + len(piece)
            if kind == "action":
                end = _end_of_call(text, end, step["calls"][index]["written"])
            yield start, end, kind


CLOSING = re.compile(r"[\"'”’]*+\s*+[\])}）】］]*+")


def _end_of_call(text: str, end: int, written: list[str]) -> int:
    """Behind the last of a call's arguments that stands in the text, and the brackets that close it."""
    ends = [place + len(value) for value in written if value and (place := text.find(value, end)) >= 0]
    closing = CLOSING.match(text, max(ends)) if ends else None
    return closing.end() if closing else end


def _summary(step: Story) -> str:
    """A step in a line."""
    text = step["thought"] or step["answer"] or step["reminder"] or step["reply"]
    return " ".join(text[: 4 * SUMMARY].split())[:SUMMARY]


def _notes(result: Story, language: Language) -> str:
    words = WORDS[language]
    notes = [words[note] for note in ("changed", "cached") if result[note]]
    notes += _attempts(result, language)
    if result["seconds"] >= 0.01:
        notes.append(words["seconds"].format(**result))
    return joined(notes)


def _attempts(item: Story, language: Language) -> list[str]:
    """How often something was tried, and how long was waited in between; nothing where once was enough."""
    words = WORDS[language]
    if item["attempts"] < 2:
        return []
    waited = [words["waited"].format(**item)] if item["waited_s"] else []
    return [words["attempts"].format(**item), *waited]


def _costs(item: Story, language: Language) -> list[str]:
    """Tokens, dollars and time of a step or of the run; tokens and dollars only where they are known."""
    words, usage = WORDS[language], item["usage"]
    costs = []
    if usage:
        costs.append(words["tokens_cached" if usage["cached"] else "tokens"].format(**usage))
    if item["cost"] is not None:
        costs.append(words["cost"].format(**item))
    with_tools = item["tool_seconds"] >= 0.005
    return [*costs, words["model_and_tools" if with_tools else "seconds"].format(**item)]


def _told_message(message: Story, language: Language) -> Story:
    """A message as one text: what was written, then calls or results."""
    calls = [f"{call['name']} {call['arguments']}" for call in message["calls"]]
    results = [f"{result['name']}: {result['content']}" for result in message["results"]]
    text = "\n".join(part for part in [message["text"], *calls, *results] if part)
    return {"label": WORDS[language]["role." + message["role"]], "text": text}


def joined(facts: Iterable[str]) -> str:
    return " · ".join(fact for fact in facts if fact)


# -- the words as text ---------------------------------------------------------------------------------------


def as_text(told: Story) -> str:
    """A told story, or two of them side by side, as plain text: labels on a line, what belongs to them indented."""
    lines = [told["question"], *told["lines"]]
    for number in range(1, len(rows(told)) + 1):
        lines += ["", f"=== {position(told, number)}", *row_lines(told, number)]
    return "\n".join(lines) + "\n"


def rows(told: Story) -> list[Story]:
    """What is stepped through: steps, or of two runs rows with `sides`."""
    found: list[Story] = told.get("rows") or told.get("steps", [])
    return found


def row_lines(told: Story, number: int) -> Iterator[str]:
    if "rows" not in told:
        yield from part_lines(told["steps"][number - 1])
        return
    for side, step in zip(told["sides"], told["rows"][number - 1]["sides"], strict=True):
        if step:
            yield from ("", f"--- {side['name']}", *part_lines(step))


def position(told: Story, number: int) -> str:
    """Which step of how many, and what it took."""
    words = told["interface"]["words"]
    row = rows(told)[number - 1]
    return joined([words["position"].format(n=number, count=len(rows(told))), row["line"]])


def part_lines(step: Story) -> Iterator[str]:
    for part in step["parts"]:
        yield ""
        differs = part.get("differs", "")
        yield joined((part["label"], differs, part["notes"]))
        yield from indented(f"{part['title']} {part['text']}" if part["title"] else part["text"])


def indented(text: str) -> list[str]:
    return ["  " + line for line in text.split("\n")]


def sent(told: Story, number: int) -> list[Story]:
    """The messages of a step's prompt: those of its node, with what was sent instead of some; as in player.js."""
    step = told["steps"][number - 1]
    messages = [message for one in told["steps"][:number] if one["node"] == step["node"] for message in one["messages"]]
    if replaced := step["replaced"]:
        messages[replaced["from"] : replaced["from"] + replaced["count"]] = replaced["messages"]
    return messages


def found_in(steps: Sequence[Story], text: str) -> list[int]:
    """The numbers of the steps that hold a text, in large or small letters; the same rule as in player.js."""
    wanted = text.lower()
    return [number for number, step in enumerate(steps, start=1) if wanted in searchable(step, number)]


def searchable(step: Story, number: int) -> str:
    """All that a step shows. Of its messages only those of the first prompt: later ones repeat what was shown."""
    parts = [text for part in step["parts"] for text in (part["title"], part["text"], part["notes"])]
    opening = [message["text"] for message in step["messages"]] if number == 1 else []
    return "\n".join([*parts, step["reply"], *opening]).lower()
