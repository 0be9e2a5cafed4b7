"""A note: what a person wants to keep of a run, in no format yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.tools.base import NO_OUTPUT
from react_lab.trace import Outcome, Step, Trace, find_urls

MAX_TITLE_CHARS = 80


@dataclass(frozen=True)
class Finding:
    """What was found out, and the addresses behind it.

    Of an agent it is an observation that carried something, and `call` is what brought it; of a workflow it is a
    statement.
    """

    text: str
    sources: tuple[str, ...]
    call: ToolCall | None = None


@dataclass(frozen=True)
class Note:
    """A run as an exporter sees it. None is unknown, which is not zero."""

    run_id: str
    title: str
    question: str
    language: Language
    answer: str | None
    outcome: Outcome
    reason: str | None  # why there is no answer
    findings: tuple[Finding, ...]
    sources: tuple[str, ...]
    steps: tuple[Step, ...]
    agent: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    started_at: str  # ISO 8601
    seconds: float
    tags: tuple[str, ...]
    tools: tuple[str, ...] = ()  # what the agent could call
    settings: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()  # of a workflow: what it did not find, and what it could not prove

    @property
    def by_stand_in(self) -> bool:
        """Whether the offline stand-in answered: a set of rules, no language model."""
        return is_stand_in(self.model)

    def finding_number(self, result: ToolResult) -> int | None:
        """Which finding a result became, from 1."""
        texts = [finding.text if finding.call else None for finding in self.findings]
        return texts.index(result.content) + 1 if carried_something(result) and result.content in texts else None


def note_from_trace(trace: Trace) -> Note:
    """The note of a run; the same trace always makes the same note."""
    usage = trace.usage
    model = trace.model
    return Note(
        run_id=trace.id,
        title=shorten(trace.question),
        question=trace.question,
        language=trace.language,
        answer=trace.answer,
        outcome=trace.outcome,
        reason=trace.reason,
        findings=tuple(stated(trace)) or observed(trace.steps),
        sources=trace.sources,
        steps=trace.steps,
        agent=str(trace.run.get("agent", "")),
        model=model,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost_usd=None if trace.cost_usd is None else round(trace.cost_usd, 6),
        started_at=str(trace.run.get("started_at", "")),
        seconds=trace.seconds,
        tags=("react-lab", "offline-stand-in") if is_stand_in(model) else ("react-lab",),
        tools=tuple(str(schema.get("name", "")) for schema in trace.run.get("tools", ())),
        settings=trace.run.get("settings", {}),
        remarks=tuple(map(str, trace.finish.get("notes", ()))),
    )


def stated(trace: Trace) -> Iterator[Finding]:
    """The findings of a workflow; a source is named by its address, or by its number among the run's sources."""
    numbered = dict(enumerate(trace.sources, start=1))
    for finding in trace.finish.get("findings", ()):
        sources = (numbered.get(source) if isinstance(source, int) else source for source in finding.get("sources", ()))
        yield Finding(str(finding["text"]), tuple(str(source) for source in sources if source))


def observed(steps: tuple[Step, ...]) -> tuple[Finding, ...]:
    """What the tools found, oldest first; the same text is found only once."""
    findings: dict[str, Finding] = {}
    for step in steps:
        calls = {call.id: call for call in step.calls}
        for result in step.results:
            if carried_something(result) and result.content not in findings:
                sources = tuple(dict.fromkeys(find_urls(result.content)))
                findings[result.content] = Finding(result.content, sources, calls[result.call_id])
    return tuple(findings.values())


def carried_something(result: ToolResult) -> bool:
    return not result.is_error and result.content.strip() not in ("", NO_OUTPUT)


def is_stand_in(model: str) -> bool:
    return model.startswith("offline")


def shorten(question: str) -> str:
    """A question as a title: one line, of bounded length."""
    line = " ".join(question.split())
    return line if len(line) <= MAX_TITLE_CHARS else line[: MAX_TITLE_CHARS - 1].rstrip() + "…"
