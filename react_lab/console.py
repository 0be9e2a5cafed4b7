"""What the command line prints: a run as it happens, its answer, and one line where something is wrong."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from react_lab.language import Language
from react_lab.messages import ToolCall, set_fields
from react_lab.monitor import table
from react_lab.replay.story import readable
from react_lab.tools.registry import shorten
from react_lab.trace import Event, Step, Trace

SHOWN_CHARS = 1200  # of an observation; the trace keeps it whole

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "thought": "Thought: ",
        "action": "Action: ",
        "observation": "Observation: ",
        "reply": "Reply: ",
        "reminder": "Reminder: ",
        "answer": "Answer: ",
        "handed over": "-> ",
        "note": "Note: ",
        "sources": "Sources: ",
        "trace": "Trace: {}  (step through it: react-lab replay {})",
        "chat": "Talking with {}. /help lists the commands; quit, exit or Ctrl-D leaves; Ctrl-C stops an answer.",
        "thinking": "{} is thinking",
        "stand-in": "Answered by the offline stand-in (a few rules, no language model). "
        "With a key a real model answers; see react-lab doctor.",
        "prompt": "prompt of step {}",
        "raw": "raw reply of step {}",
        "no answer": "no answer ({}): {}",
        "may run": "The model wants to run {}, which can change something:",
        "allow": "Run it? [y/N] ",
        "nobody": "{} was not run: it has effects, and there is nobody to ask; allow it with --yes",
        "interrupted": "interrupted; go on with: react-lab resume {}",
    },
    "zh": {
        "thought": "思考：",
        "action": "行动：",
        "observation": "观察：",
        "reply": "回复：",
        "reminder": "提醒：",
        "answer": "答案：",
        "handed over": "-> ",
        "note": "说明：",
        "sources": "来源：",
        "trace": "轨迹：{}（逐步回放：react-lab replay {}）",
        "chat": "正在与 {} 对话。/help 列出命令；输入 quit、exit 或按 Ctrl-D 离开；Ctrl-C 停止当前回答。",
        "thinking": "{} 正在思考",
        "stand-in": "以上由离线替身作答（几条规则，不是语言模型）。设置密钥后由真实模型作答，见 react-lab doctor。",
        "prompt": "第 {} 步的提示词",
        "raw": "第 {} 步的原始回复",
        "no answer": "没有答案（{}）：{}",
        "may run": "模型要运行 {}，它可能改动一些东西：",
        "allow": "要运行吗？[y/N] ",
        "nobody": "没有运行 {}：它会改动一些东西，而这里没有人可以询问；加上 --yes 则允许运行",
        "interrupted": "已中断；继续运行：react-lab resume {}",
    },
}
LAST_NODES = ("writer", "answer")  # what they write is the answer of the run, which is printed at the end
STYLES = {"thought": "cyan", "action": "bold yellow", "observation": "green", "reminder": "magenta", "answer": "bold"}


def prepare_streams() -> None:
    """A character that the console lacks (GBK, ASCII) becomes a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def log_if_asked() -> None:
    """`REACT_LAB_LOG=debug` writes every event of every run to stderr."""
    level = os.environ.get("REACT_LAB_LOG", "").upper()
    if level not in ("", "DEBUG", "INFO", "WARNING", "ERROR"):
        raise ValueError(f"REACT_LAB_LOG={level.lower()}: use debug, info, warning or error")
    if level:
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s %(message)s")
        logging.getLogger("react_lab").setLevel(level)


def complain(text: str) -> None:
    """One line for the person, on stderr."""
    print(f"react-lab: {' '.join(readable(text).split())}", file=sys.stderr)


def asking(language: Language) -> Callable[[ToolCall], bool]:
    """Shows a call to the person and asks whether it may run; where there is no person, none may."""
    words = WORDS[language]

    def may_run(call: ToolCall) -> bool:
        if not sys.stdin.isatty():
            complain(words["nobody"].format(call.name))
            return False
        lines = [f"{name}: {value}" for name, value in call.arguments.items()]
        print(readable("\n".join([words["may run"].format(call.name), *lines])), file=sys.stderr)
        print(words["allow"], end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in ("y", "yes", "是")

    return may_run


def close_stdout() -> None:
    """After a broken pipe: keep Python from complaining again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class PlainConsole(Console):
    """A console that leaves lines as they are, and a closed pipe to `main`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, **options)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class LiveView:
    """Prints a run as its events are recorded; a listener for `Agent.start`."""

    def __init__(
        self,
        language: Language,
        model: str,
        *,
        show_prompt: bool = False,
        raw: bool = False,
        console: Console | None = None,
    ) -> None:
        self.language = language
        self.words = WORDS[language]
        self.console = console or PlainConsole()
        self.spinner = Spinner("dots", self.words["thinking"].format(model))
        self.live = self.new_live()
        self.arriving = ""  # of a reply that streams
        self.reply = ""
        self.show_prompt = show_prompt
        self.raw = raw
        self.prompt: list[Event] = []  # the messages sent so far

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event["event"]:
            case "run":
                self.prompt = [{"role": "system", "text": event["system"]}, *event["history"]]
                if "node" in event:
                    self.rule(event["node"])
            case "request":
                self.prompt += event["messages"]
                if self.show_prompt:
                    self.print_prompt(event["step"])
                self.arriving = ""
                self.live = self.new_live()
                if self.console.is_terminal:
                    self.live.start()
            case "text":
                self.arriving = (self.arriving + event["text"])[-SHOWN_CHARS:]
                last_lines = "\n".join(self.arriving.splitlines()[-8:])
                self.live.update(Group(self.spinner, Text(readable(last_lines), style="dim")))
            case "reply":
                self.live.stop()
                self.reply = event["text"]
                if self.raw:
                    self.rule(self.words["raw"].format(event["step"]))
                    self.console.print(Text(readable(event["text"])))
                    self.rule("")
            case "parse":
                self.line("thought", event["thought"])
                for call in event["calls"]:
                    self.line("action", f"{call['name']}({json.dumps(call.get('arguments', {}), ensure_ascii=False)})")
                if event["reminder"]:
                    self.line("reply", shorten(self.reply, SHOWN_CHARS))
                    self.line("reminder", event["reminder"].partition("\n")[0])
            case "result":
                self.line("observation", shorten(event["content"], SHOWN_CHARS))
            case "end" if "node" in event and event["node"] not in LAST_NODES:
                for text in handed_over(event["answer"]):
                    self.line("handed over", shorten(text, SHOWN_CHARS))

    def new_live(self) -> Live:
        """A place below the text for what is arriving; one for each reply, since rich's can't be used twice."""
        return Live(self.spinner, console=self.console, transient=True, refresh_per_second=12)

    def print_prompt(self, step: int) -> None:
        """Every message of a step's request, as sent."""
        self.rule(self.words["prompt"].format(step))
        for message in self.prompt:
            self.console.print(Text(f"[{message['role']}] ", style="bold") + Text(readable(message["text"])))
            for call in message.get("tool_calls", ()):
                arguments = json.dumps(call.get("arguments", {}), ensure_ascii=False)
                self.console.print(Text(readable(f"  {call['name']} {arguments}")))
            for result in message.get("tool_results", ()):
                self.console.print(Text(readable(f"  {result['name']}: {result['content']}")))
        self.rule("")

    def rule(self, title: str) -> None:
        self.console.print(Text(f"--- {title} ".ljust(60, "-"), style="dim"))

    def line(self, kind: str, text: str | None) -> None:
        """A label and a text; nothing where there is no text."""
        if text and text.strip():
            self.console.print(Text(self.words[kind], style=STYLES.get(kind, "")) + Text(readable(text.strip())))

    def finish(self, trace: Trace, *, stats: bool = False) -> None:
        """The answer with its sources, with `stats` what each step took, and where the trace is."""
        self.line("answer", trace.answer)
        for note in trace.finish.get("notes", ()):
            self.line("note", note)
        missing = [url for url in trace.sources if url not in (trace.answer or "")]
        self.line("sources", "\n".join(missing))
        if stats:
            self.console.print(table(trace, self.language))
        if trace.model == "offline":
            self.console.print(Text(self.words["stand-in"], style="dim"))
        if trace.path is not None:
            self.console.print(Text(self.words["trace"].format(trace.path, trace.path), style="dim"))

    @contextmanager
    def showing(self) -> Iterator[None]:
        """No spinner is left behind, whatever happens."""
        try:
            yield
        finally:
            self.live.stop()


def handed_over(answer: str | None) -> list[str]:
    """What a node of a workflow gives to the next one: its text, or of a form the fields that are filled."""
    try:
        form = json.loads(answer or "")
    except ValueError:
        form = None
    if not isinstance(form, dict):
        return [answer] if answer else []
    return [f"{name}: {'; '.join(map(_in_brief, values))}" for name, values in form.items() if values]


def _in_brief(value: Any) -> str:
    return str(value.get("text", value)) if isinstance(value, dict) else str(value)


class Progress:
    """A line on stderr that changes while something takes long; silent where there is no terminal."""

    def __init__(self) -> None:
        console = PlainConsole(stderr=True)
        self.status = console.status("") if console.is_terminal else None

    def show(self, text: str) -> None:
        if self.status:
            self.status.update(readable(text))
            self.status.start()

    def clear(self) -> None:
        if self.status:
            self.status.stop()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


def readiness(row: Mapping[str, Any]) -> str:
    """Whether a model can be asked, of a row of `model_rows`."""
    if row["ready"]:
        return "ready"
    return f"needs {row['key']}" if row["key"] else "no key needed"


def price(row: Mapping[str, Any]) -> str:
    """Dollars for a million tokens in and out; what is not known is not zero."""
    if row["input_usd"] is None:
        return "price unknown"
    return f"${row['input_usd']:g} in, ${row['output_usd']:g} out per million tokens"


def as_json(trace: Trace, mode: str) -> str:
    """The object that `--json` prints."""
    return json.dumps(
        {
            "question": trace.question,
            "answer": trace.answer,
            "outcome": trace.outcome,
            "reason": trace.reason,
            "model": trace.model,
            "mode": mode,
            "steps": [_step(step) for step in trace.steps],
            "sources": list(trace.sources),
            "usage": vars(trace.usage) if trace.usage else None,
            "seconds": trace.seconds,
            "trace": str(trace.path) if trace.path else None,
        },
        ensure_ascii=False,
    )


def _step(step: Step) -> dict[str, Any]:
    results = {result.call_id: result for result in step.results}
    calls = []
    for call in step.calls:
        entry: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": call.arguments}
        if result := results.get(call.id):
            entry |= {key: getattr(result, key) for key in ("content", "is_error", "cached", "seconds")}
        calls.append(entry)
    usage = set_fields(step.usage) if step.usage else None
    return {"index": step.index, "thought": step.thought, "calls": calls, "usage": usage, "seconds": step.seconds}
