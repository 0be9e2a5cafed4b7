"""A note as a document: its parts in reading order, in no format yet; the two templates are written here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.trace import Step
from react_lab_exporters.note import Note

Template = Literal["research", "experiment"]

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "question": "Question",
        "answer": "Answer",
        "findings": "Findings",
        "sources": "Sources",
        "steps": "How it was found",
        "step": "Step {}",
        "finding": "Finding",
        "remarks": "Remarks",
        "failed": "failed",
        "reminder": "The reply could not be read; the model was told:",
        "no answer": "There is no answer",
        "stand-in": "Answered by the offline stand-in: a small set of rules, not a language model.",
        "data": "Meta data",
        "problem": "Problem",
        "objective": "Objective",
        "tools": "Tools",
        "variables": "Variables",
        "log": "Log",
        "observations": "Observations",
        "review": "Review",
        "next": "Next actions",
        "goal": "What do I want to find out, and how will I know that I have?",
        "compare": "Did it turn out as expected?",
        "cause": "What explains the difference?",
        "keep": "Keep, change or drop?",
        "try": "What do I try next, and by when?",
        "run": "Run",
        "outcome": "Outcome",
        "agent": "Agent",
        "model": "Model",
        "started": "Started",
        "seconds": "Seconds",
        "tokens": "Tokens in / out",
        "cost": "Cost (USD)",
    },
    "zh": {
        "question": "问题",
        "answer": "回答",
        "findings": "发现",
        "sources": "来源",
        "steps": "查找过程",
        "step": "第 {} 步",
        "finding": "发现",
        "remarks": "说明",
        "failed": "失败",
        "reminder": "这条回复无法解析，模型收到的提醒：",
        "no answer": "没有答案",
        "stand-in": "由离线替身作答：它只是一小组规则，不是语言模型。",
        "data": "基本信息",
        "problem": "问题",
        "objective": "目标",
        "tools": "工具",
        "variables": "变量",
        "log": "记录",
        "observations": "观察",
        "review": "复盘",
        "next": "下一步",
        "goal": "想弄清什么？怎样才算弄清了？",
        "compare": "结果符合预期吗？",
        "cause": "差别从何而来？",
        "keep": "保留、修改还是放弃？",
        "try": "下一步试什么？何时完成？",
        "run": "运行",
        "outcome": "结果",
        "agent": "智能体",
        "model": "模型",
        "started": "开始时间",
        "seconds": "用时（秒）",
        "tokens": "输入 / 输出词元",
        "cost": "费用（美元）",
    },
}

# The nodes of the library's workflows in Chinese; in English they are called what the code calls them.
NODES = {
    "planner": "规划",
    "memory": "查自己的笔记",
    "researcher": "检索",
    "synthesizer": "综合",
    "writer": "撰写",
    "step": "任务",
    "review": "复查",
    "answer": "作答",
}


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Sentence:
    """A line of our own words."""

    text: str
    aside: bool = False  # shown in italics


@dataclass(frozen=True)
class Prose:
    """A text that a person or a model wrote; it may be Markdown."""

    text: str


@dataclass(frozen=True)
class Verbatim:
    """A text to show word for word."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call on one line, with its number among the findings or what became of it."""

    text: str
    number: int | None = None
    remark: str = ""


@dataclass(frozen=True)
class Links:
    urls: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names and values, as a table of two columns."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Blank:
    """A question that is left for the person to answer."""

    text: str


@dataclass(frozen=True)
class Fold:
    """Parts under a title, which an exporter may show folded."""

    title: Heading | Call
    parts: tuple[Part, ...]


Part = Heading | Sentence | Prose | Verbatim | Call | Links | Facts | Blank | Fold


def document(note: Note, template: Template = "research") -> list[Part]:
    """The parts of a note, below its title."""
    stand_in = [Sentence(WORDS[note.language]["stand-in"], aside=True)] if note.by_stand_in else []
    return [*stand_in, *TEMPLATES[template](note)]


def research(note: Note) -> Iterator[Part]:
    """Answer, findings, sources, and how it was found."""
    words = WORDS[note.language]
    if note.question != note.title:
        yield Heading(words["question"])
        yield Prose(note.question)
    yield Heading(words["answer"])
    yield answer(note)
    if note.findings:
        yield Heading(words["findings"])
        yield from findings(note)
    if note.sources:
        yield Heading(words["sources"])
        yield Links(note.sources)
    yield from remarks(note)
    yield Heading(words["steps"])
    yield Facts(tuple(spent(note)))
    yield from steps(note)


def experiment(note: Note) -> Iterator[Part]:
    """The sheet of plan, do, check, act: what the run knows is filled in, the rest is left for the person."""
    words = WORDS[note.language]
    yield Heading(words["data"])
    yield Facts(tuple(facts(note)))
    yield Heading(words["problem"])
    yield Prose(note.question)
    yield Heading(words["objective"])
    yield Blank(words["goal"])
    yield Heading(words["tools"])
    yield Call(", ".join(note.tools) or "–")
    yield Heading(words["variables"])
    yield Facts(tuple((name, as_text(value)) for name, value in note.settings.items()) or (("–", "–"),))
    yield Heading(words["log"])
    yield from steps(note)
    yield Heading(words["observations"])
    yield answer(note)
    yield from findings(note)
    if note.sources:
        yield Links(note.sources)
    yield from remarks(note)
    yield Heading(words["review"])
    yield Blank(words["compare"])
    yield Blank(words["cause"])
    yield Heading(words["next"])
    yield Blank(words["keep"])
    yield Blank(words["try"])


TEMPLATES = {"research": research, "experiment": experiment}


def answer(note: Note) -> Prose:
    without = f"{WORDS[note.language]['no answer']} ({note.outcome}): {note.reason or '–'}"
    return Prose(note.answer or without)


def facts(note: Note) -> Iterator[tuple[str, str]]:
    """What is known of the run; what is unknown is left out."""
    words = WORDS[note.language]
    yield words["run"], note.run_id
    yield words["started"], note.started_at
    yield words["agent"], note.agent
    yield words["outcome"], note.outcome
    yield from spent(note)


def spent(note: Note) -> Iterator[tuple[str, str]]:
    words = WORDS[note.language]
    yield words["model"], note.model
    yield words["seconds"], f"{note.seconds:.3f}"
    if note.input_tokens is not None:
        yield words["tokens"], f"{note.input_tokens} / {note.output_tokens}"
    if note.cost_usd is not None:
        yield words["cost"], decimal(note.cost_usd)


def decimal(number: float) -> str:
    """Up to six decimals, and never an exponent."""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def findings(note: Note) -> Iterator[Fold]:
    word = WORDS[note.language]["finding"]
    for number, finding in enumerate(note.findings, start=1):
        links = (Links(finding.sources),) if finding.sources else ()
        if finding.call:
            yield Fold(Call(call_text(finding.call), number), (Verbatim(finding.text), *links))
        else:
            yield Fold(Heading(f"{word} {number}", level=3), (Prose(finding.text), *links))


def remarks(note: Note) -> Iterator[Part]:
    if note.remarks:
        yield Heading(WORDS[note.language]["remarks"])
        yield from map(Prose, note.remarks)


def steps(note: Note) -> Iterator[Part]:
    """The steps in their order, under the names of the nodes where a workflow made them."""
    title = WORDS[note.language]["step"]
    for node, group in groupby(note.steps, key=lambda step: step.node):
        if node:
            yield Heading(node_title(note, node), level=3)
        for step in group:
            yield Fold(Heading(title.format(step.index), level=4 if node else 3), tuple(step_parts(note, step)))


def node_title(note: Note, node: str) -> str:
    name, _, number = node.partition("-")
    return f"{NODES[name]} {number}".rstrip() if note.language == "zh" and name in NODES else node


def step_parts(note: Note, step: Step) -> Iterator[Part]:
    words = WORDS[note.language]
    if step.thought:
        yield Prose(step.thought)
    results = {result.call_id: result for result in step.results}
    for call in step.calls:
        yield from observation(note, call, results.get(call.id))
    if step.reminder is not None:
        yield Sentence(words["reminder"])
        yield Verbatim(step.reminder)
    if step.answer is not None:
        yield Sentence(f"→ {words['answer']}")


def observation(note: Note, call: ToolCall, result: ToolResult | None) -> Iterator[Part]:
    words = WORDS[note.language]
    if result is None:
        yield Call(call_text(call))
    elif number := note.finding_number(result):
        yield Call(call_text(call), remark=f"→ {words['finding']} {number}")
    else:
        yield Call(call_text(call), remark=f"→ {words['failed']}" if result.is_error else "")
        yield Verbatim(result.content)


def call_text(call: ToolCall) -> str:
    arguments = (f"{name}={as_text(value)}" for name, value in call.arguments.items())
    return f"{call.name}({', '.join(arguments)})"


def as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
