"""The record of a run: events as they happen, on disk as JSON Lines, and the steps they make up."""

from __future__ import annotations

import importlib
import json
import logging
import os
import re
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, Literal, Self

from react_lab.errors import ConfigurationError
from react_lab.language import Language, language_of
from react_lab.messages import Message, Reply, ToolCall, ToolResult, Usage, known_fields, set_fields
from react_lab.repeats import Repeats

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
HALF_CHARACTERS = "backslashreplace"  # half an emoji, cut by a token limit, is written as JSON's own escape \\ud83d
KINDS = ("run", "request", "reply", "parse", "result", "end")

Event = dict[str, Any]
Listener = Callable[[Event], None]
Outcome = Literal["answered", "max_steps", "budget", "refused", "truncated", "error", "interrupted"]


@dataclass(frozen=True)
class Step:
    """One turn of a run: what the model wrote, what was made of it, what came back.

    `results` are in the order of `calls`. `reminder` is what the model was told when its reply could not be read.
    `node` is the part of a workflow that the step belongs to; a node that only runs tools has steps without a reply.
    """

    index: int
    text: str
    thought: str
    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    answer: str | None
    reminder: str | None
    usage: Usage | None
    model_seconds: float
    node: str = ""
    cost_usd: float | None = None

    @property
    def seconds(self) -> float:
        """Time of the model and, since calls run side by side, of the slowest tool."""
        return self.model_seconds + max((result.seconds for result in self.results), default=0.0)


class Trace:
    """The events of one run, oldest first.

    Events of other kinds than `KINDS` are kept and ignored. Everything else that a trace tells (steps, answer,
    outcome, usage) is read from the events. The nodes of a workflow are runs within the run: their events, `run` and
    `end` among them, say which `node` they belong to, and steps are numbered through.
    """

    def __init__(self, events: Iterable[Event] = (), *, listener: Listener | None = None) -> None:
        self.events: list[Event] = []
        self.path: Path | None = None
        self.listener = listener
        self._by_step: dict[int, list[Event]] = {}
        self._repeats = Repeats()
        self.lock = threading.RLock()  # calls of a workflow's node may end in any thread
        self._file: IO[str] | None = None
        self._is_ragged = False  # the last line of the file has no end, and the next one would run into it
        self._secrets = known_secrets()
        for event in events:
            self._keep(event)

    # -- writing ---------------------------------------------------------------------------------------------

    @classmethod
    def start(cls, *, save: str | Path | None = None, listener: Listener | None = None, **fields: Any) -> Self:
        """A new trace with its `run` event.

        Raises:
            ConfigurationError: `save` exists already, or can't be written.
        """
        trace = cls(listener=listener)
        if save is not None:
            trace._open(Path(save), "x")
        trace.append("run", version=FORMAT_VERSION, id=uuid.uuid4().hex[:12], **fields, started_at=now())
        return trace

    def append(self, event: str, **fields: Any) -> Event:
        """Record an event, and give it back: in memory, in the file if there is one, and with the listener."""
        line = redact(to_json({"event": event, **fields}), self._secrets)
        recorded: Event = json.loads(line)
        with self.lock:
            shrunk = self._keep(recorded)
            self._write(line if shrunk == recorded else to_json(shrunk))
            if event == "end" and "node" not in fields:
                self._close()
            log.debug("%s", line)
            if self.listener is not None:
                self.listener(recorded)
        return recorded

    def _write(self, line: str) -> None:
        if self._is_ragged and self.path is not None:
            self._is_ragged = False
            self.save(self.path)  # which holds the event of this line, too
            return
        if self._file is None and self.path is not None:
            self._open(self.path, "a")
        if self._file is not None:
            self._file.write(line + "\n")
            self._file.flush()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def text_listener(self, step: int) -> Callable[[str], None] | None:
        """For a model that streams: tells the listener of pieces of text, which are not recorded. None without one."""
        listener = self.listener
        return None if listener is None else lambda text: listener({"event": "text", "step": step, "text": text})

    def end(self, outcome: Outcome, *, answer: str | None = None, reason: str | None = None, **findings: Any) -> None:
        """Record how the run ended, with its totals; `findings` are what else there is to keep of it."""
        steps = self.steps
        totals = {
            "steps": len(self._by_step),
            "usage": set_fields(self.usage or Usage()),
            "cost_usd": self.cost_usd,
            "seconds": time_of(steps),
        }
        fields = {"sources": find_sources(answer, steps), **findings}
        self.append("end", outcome=outcome, answer=answer, reason=reason, **fields, totals=totals, finished_at=now())

    def node(self, name: str, **fields: Any) -> Trace:
        """The run of a workflow's node: its own steps, from 1, recorded here under its name.

        A node that is recorded already is given back as it is; else `fields` go into its `run` event.
        """
        part: Trace = _function("nodes", "open_node")(self, name, fields)
        return part

    def to_jsonl(self) -> str:
        """The text of the trace file."""
        repeats = Repeats()
        return "".join(to_json(repeats.shrink(event)) + "\n" for event in self.events)

    def save(self, path: str | Path) -> Path:
        """Write the whole trace, replacing a file that is there; a failure leaves that file as it was."""
        target = Path(path)
        part = target.with_name(target.name + ".part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(self.to_jsonl(), encoding="utf-8", errors=HALF_CHARACTERS, newline="\n")
            part.replace(target)
        except OSError as error:
            raise ConfigurationError(f"can't write {target}: {error.strerror}") from error
        return target

    def _open(self, path: Path, mode: Literal["x", "a"]) -> None:
        if mode == "x" and path.exists():
            raise ConfigurationError(f"{path} exists already; choose another name")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open(mode, encoding="utf-8", errors=HALF_CHARACTERS, newline="\n")
        except OSError as error:
            raise ConfigurationError(f"can't write {path}: {error.strerror}") from error
        self.path = path

    def _keep(self, event: Event) -> Event:
        """Take in an event, and give it back as the file holds it."""
        self.events.append(event)
        if isinstance(event.get("step"), int):
            self._by_step.setdefault(event["step"], []).append(event)
        return self._repeats.shrink(event)

    # -- reading ---------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a trace file. A last line that was cut off is passed over: the trace then is `interrupted`.

        Raises:
            ConfigurationError: there is no such file, or it is not a trace; the message names the line.
        """
        source = Path(path)
        try:
            data = source.read_bytes()
        except OSError as error:
            raise ConfigurationError(f"can't read {source}: {error.strerror}") from error
        lines, _, last = data.rpartition(b"\n")
        trace = cls.from_jsonl(data if _is_json(last) else lines, name=str(source))
        trace.path = source
        trace._is_ragged = last != b""
        return trace

    @classmethod
    def from_jsonl(cls, text: str | bytes, *, name: str = "the text") -> Self:
        """The inverse of `to_jsonl`; `name` is what an error calls the text.

        Raises:
            ConfigurationError: the text is not a trace; the message names the line.
        """
        data = text.encode("utf-8", errors=HALF_CHARACTERS) if isinstance(text, str) else text
        repeats, lines = Repeats(), enumerate(data.split(b"\n"), start=1)
        events = [_event(name, number, line, repeats) for number, line in lines if line.strip()]
        if not events or events[0]["event"] != "run":
            raise ConfigurationError(f"{name} is not a trace: its first line is no `run` event")
        if events[0].get("version", 0) > FORMAT_VERSION:
            raise ConfigurationError(f"{name} was written by a newer react-lab (format {events[0]['version']})")
        return cls(events)

    @property
    def run(self) -> Event:
        """The first event: question, agent, model, settings, system prompt, tools."""
        return self.events[0]

    @property
    def id(self) -> str:
        return str(self.run["id"])

    @property
    def question(self) -> str:
        return str(self.run["question"])

    @property
    def language(self) -> Language:
        """What the run speaks: the language of the question, unless it was settled otherwise."""
        language: Language = self.run.get("language") or language_of(self.question)
        return language

    @property
    def model(self) -> str:
        return str(self.run["model"])

    @property
    def parent(self) -> Mapping[str, Any] | None:
        """Of a fork: `{"id", "step", "change"}` of the run that it branched from."""
        return self.run.get("parent")

    @property
    def finish(self) -> Event:
        """The `end` event, or an empty one while there is none."""
        last = next(event for event in reversed(self.events) if event["event"] in KINDS)
        is_end = last["event"] == "end" and last.get("node") == self.run.get("node")
        return last if is_end else {"event": "end", "outcome": "interrupted"}

    @property
    def is_over(self) -> bool:
        return self.outcome != "interrupted"

    @property
    def outcome(self) -> Outcome:
        outcome: Outcome = self.finish["outcome"]
        return outcome

    @property
    def answer(self) -> str | None:
        return self.finish.get("answer")

    @property
    def reason(self) -> str | None:
        """Why there is no answer, in a sentence."""
        return self.finish.get("reason")

    @property
    def sources(self) -> tuple[str, ...]:
        """URLs behind the answer; every one stood in an observation."""
        return tuple(self.finish.get("sources", ()))

    @property
    def next_number(self) -> int:
        """Of a step that has not begun."""
        return max(self._by_step, default=0) + 1

    @property
    def steps(self) -> tuple[Step, ...]:
        begun = (index for index in sorted(self._by_step) if self.find("reply", index) or self.find("result", index))
        return tuple(self.step(index) for index in begun)

    @property
    def usage(self) -> Usage | None:
        """Tokens of all replies; None where no reply was counted."""
        counted = [event["usage"] for event in self.events if event["event"] == "reply" and event.get("usage")]
        return sum((known_fields(Usage, usage) for usage in counted), start=Usage()) if counted else None

    @property
    def cost_usd(self) -> float | None:
        """Dollars of all replies; None where no price is known."""
        known = [event["cost_usd"] for event in self.events if event["event"] == "reply" and "cost_usd" in event]
        return sum(known) if known else None

    @property
    def seconds(self) -> float:
        """Time spent waiting for the model and for tools."""
        return time_of(self.steps)

    def find(self, kind: str, step: int) -> Event | None:
        """The first event of that kind in a step."""
        return next(self.find_all(kind, step), None)

    def find_all(self, kind: str, step: int) -> Iterator[Event]:
        return (event for event in self._by_step.get(step, ()) if event["event"] == kind)

    def step(self, index: int) -> Step:
        """One step, of which a reply or a result must be recorded."""
        reply, parse = self.reply_at(index) or Reply(), self.find("parse", index) or {}
        results = {result.call_id: result for result in self.results_at(index)}
        calls = tuple(known_fields(ToolCall, call) for call in parse.get("calls", ()))
        return Step(
            index=index,
            text=reply.text,
            thought=parse.get("thought", reply.thought),
            calls=calls,
            results=tuple(results[call.id] for call in calls if call.id in results),
            answer=parse.get("answer"),
            reminder=parse.get("reminder"),
            usage=reply.usage,
            model_seconds=(self.find("reply", index) or {}).get("seconds", 0.0),
            node=self.node_at(index),
            cost_usd=reply.cost_usd,
        )

    def node_at(self, step: int) -> str:
        """The node that a step belongs to; "" of an agent's run."""
        return str(self._by_step[step][0].get("node", ""))

    def reply_at(self, step: int) -> Reply | None:
        """The model's reply as it was recorded."""
        event = self.find("reply", step)
        if event is None:
            return None
        calls = tuple(known_fields(ToolCall, call) for call in event.get("tool_calls", ()))
        usage = known_fields(Usage, event["usage"]) if event.get("usage") else None
        return known_fields(Reply, {**event, "tool_calls": calls, "usage": usage})

    def results_at(self, step: int) -> tuple[ToolResult, ...]:
        return tuple(known_fields(ToolResult, event) for event in self.find_all("result", step))

    def added_at(self, step: int) -> tuple[Message, ...]:
        """The messages that were new in a step's request."""
        return tuple(Message.from_dict(message) for message in (self.find("request", step) or {}).get("messages", ()))

    def prompt_at(self, step: int) -> tuple[Message, ...]:
        """The messages of a step's request, exactly as sent.

        Raises:
            IndexError: there is no such step, or it asks no model.
        """
        reply = self.reply_at(step)
        return tuple(as_sent(self.conversation_at(step), reply.replaced if reply else None))

    def conversation_at(self, step: int) -> tuple[Message, ...]:
        """The messages of a step's request as the loop keeps them, before a model made them shorter.

        Raises:
            IndexError: there is no such step, or it asks no model.
        """
        if self.find("request", step) is None:
            raise IndexError(f"no step {step}; this run has {len(self.steps)}, and not all of them ask a model")
        node = self.node_at(step)
        run = self._run_of(node) if node else self.run
        kept = [Message("system", run["system"]), *(Message.from_dict(message) for message in run.get("history", ()))]
        for index in sorted(self._by_step):
            if index <= step and self.node_at(index) == node:
                kept += self.added_at(index)
        return tuple(kept)

    def _run_of(self, node: str) -> Event:
        return next(event for event in self.events if event["event"] == "run" and event.get("node") == node)

    # -- branching -------------------------------------------------------------------------------------------

    def fork(
        self,
        step: int,
        *,
        observation: str | None = None,
        call: int = 0,
        reply: Reply | str | None = None,
        question: str | None = None,
        prompt: str | None = None,
        model: str | None = None,
    ) -> Trace:
        """A new, unfinished run that is this one up to a step, but for one change; this one stays as it is.

        `agent.resume(trace.fork(2, observation="..."))` runs on from there; nothing recorded is run again. Without a
        change, and with another question, prompt or model, the model is asked again at the step.

        Args:
            step: Number of the step, from 1.
            observation: What the tool shall have said instead.
            call: Which of the step's calls, from 0.
            reply: What the model shall have written instead; it is read again, and its calls are run.
            question: What the person shall have asked instead. Replies of the steps before are kept.
            prompt: What the model shall be told instead of the system prompt. Replies of the steps before are kept.
            model: The name of the model that will go on.
        Raises:
            IndexError: there is no such step, or it has no such call.
            ValueError: more than one of observation, reply, question and prompt is given.
        """
        child: Trace = _function("branching", "fork")(
            self,
            step,
            observation=observation,
            call=call,
            reply=reply,
            question=question,
            prompt=prompt,
            model=model,
        )
        return child

    # -- other forms -----------------------------------------------------------------------------------------

    def to_html(self, lang: str | None = None) -> str:
        """A page that steps through the run, without a network."""
        page: str = _function("replay.page", "to_page")(self, lang)
        return page

    def to_otlp(self) -> dict[str, Any]:
        """The run as OpenTelemetry spans (OTLP/JSON, GenAI conventions), for the viewers that people already run."""
        spans: dict[str, Any] = _function("interchange.otlp", "to_otlp")(self)
        return spans

    def to_atif(self) -> dict[str, Any]:
        """The run as an Agent Trajectory Interchange Format document."""
        document: dict[str, Any] = _function("interchange.atif", "to_atif")(self)
        return document

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]], *, model: str = "", system: str = "") -> Trace:
        """A run of another program, from the message list that it sent to Anthropic or OpenAI."""
        trace: Trace = _function("interchange.chat_messages", "from_messages")(messages, model=model, system=system)
        return trace

    def __repr__(self) -> str:
        return f"<Trace {self.id}: {self.question[:40]!r}, {len(self.steps)} steps, {self.outcome}>"


def diff(a: Trace, b: Trace) -> tuple[Event | None, Event | None] | None:
    """The first events at which two runs part, or None where they are the same.

    Only what matters is compared: ids, times and tokens differ between any two runs. Where one run is the beginning of
    the other, its side is None.
    """
    for left, right in zip_longest(a.events, b.events):
        if left is None or right is None or _essence(left) != _essence(right):
            return left, right
    return None


# What an event says. A request follows from the events before it.
ESSENCE = {
    "run": ("question", "agent", "model", "system"),
    "reply": ("text", "thought", "tool_calls"),
    "parse": ("thought", "calls", "answer", "reminder"),
    "result": ("name", "arguments", "content", "is_error"),
    "end": ("outcome", "answer", "reason"),
}


def _essence(event: Event) -> list[Any]:
    """The kind of an event and what it says; calls without their ids."""
    said = [event.get(name) or None for name in ESSENCE.get(event["event"], ())]
    calls = [[(call["name"], call.get("arguments")) for call in calls] for calls in said if isinstance(calls, list)]
    return [event["event"], event.get("node"), [value for value in said if not isinstance(value, list)], calls]


def time_of(steps: Iterable[Step]) -> float:
    return round(sum(step.seconds for step in steps), 6)


def as_sent(messages: Sequence[Message], replaced: Mapping[str, Any] | None) -> list[Message]:
    """A conversation as a model got it, where part of it was replaced (`Reply.replaced`)."""
    if replaced is None:
        return list(messages)
    instead = (Message.from_dict(message) for message in replaced["messages"])
    return [*messages[: replaced["from"]], *instead, *messages[replaced["to"] :]]


def _function(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that imports this one: looked up when it is needed."""
    function: Callable[..., Any] = getattr(importlib.import_module(f"react_lab.{module}"), name)
    return function


# Of a reply and of a result: written only where they say something.
RARE = dict.fromkeys(("usage", "native", "cost_usd", "replaced", "traceback")) | {
    "thought": "",
    "attempts": 1,
    "waited_s": 0.0,
}


def reply_fields(reply: Reply) -> dict[str, Any]:
    """A reply as a `reply` event holds it."""
    calls = [set_fields(call) for call in reply.tool_calls]
    usage = set_fields(reply.usage) if reply.usage else None
    return _without_rare({**vars(reply), "tool_calls": calls, "usage": usage})


def result_fields(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """A result as a `result` event holds it: with the arguments that were really run."""
    ran = call.arguments if result.arguments is None else result.arguments
    return _without_rare({**vars(result), "arguments": ran})


def _without_rare(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in RARE or value != RARE[name]}


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _event(name: str, number: int, line: bytes, repeats: Repeats) -> Event:
    try:
        event = json.loads(line)
    except ValueError as error:
        raise ConfigurationError(f"{name} is not a trace: line {number} is no JSON ({error})") from None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ConfigurationError(f'{name} is not a trace: line {number} is no object with an "event"')
    try:
        return repeats.expand(event)
    except KeyError as error:
        raise ConfigurationError(f"{name} is not a trace: line {number} repeats {error}, which was not said") from None


to_json = json.JSONEncoder(ensure_ascii=False, default=str).encode  # made once: json.dumps would make it every time


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


URL = re.compile(r"https?://[^\s<>\"'`，。；、）】]+")


def find_urls(text: str) -> list[str]:
    """The web addresses in a text, without the punctuation that follows them."""
    return [_without_tail(url) for url in URL.findall(text)]


def _without_tail(url: str) -> str:
    url = url.rstrip(".,;:!?")
    closed_too_often = url.endswith(")") and url.count(")") > url.count("(")
    return _without_tail(url[:-1]) if closed_too_often else url


def find_sources(answer: str | None, steps: Iterable[Step]) -> list[str]:
    """URLs of the observations that the answer cites, or all of them where it cites none.

    An address that no observation held is not a source: the model invented it.
    """
    observed = [
        url for step in steps for result in step.results if not result.is_error for url in find_urls(result.content)
    ]
    cited = set(find_urls(answer or ""))
    return list(dict.fromkeys(url for url in observed if url in cited or not cited.intersection(observed)))


KEY_VARIABLE = re.compile(r"(API_KEY|AUTH_TOKEN|NOTION_TOKEN)$")
SECRET_SIGNS = ("authorization", "x-api-key", "key=")  # quick to look for: most texts hold none of them
SECRET_TEXT = re.compile(r"(?i)(authorization\W{1,6}(?:bearer\s+)?|x-api-key\W{1,6}|[?&]api_?key=)[^\s\"'&\\]+")


def known_secrets() -> dict[str, str]:
    """The values of the key variables, each with the text that is written in its place."""
    keys = {value: f"[{name}]" for name, value in os.environ.items() if KEY_VARIABLE.search(name)}
    return {value: shown for value, shown in keys.items() if len(value) >= 8}


def redact(text: str, secrets: Mapping[str, str]) -> str:
    """The text without known secrets, `Authorization` headers and keys in addresses."""
    for value, shown in secrets.items():
        text = text.replace(value, shown)
    lower = text.lower()
    is_suspect = any(sign in lower for sign in SECRET_SIGNS)
    return SECRET_TEXT.sub(r"\1[redacted]", text) if is_suspect else text
