"""The research workflow: planner → researcher → synthesizer, again while something is missing, then writer.

Each node receives the whole state and gives back changes to its own fields. Whatever goes wrong is said in the
state's `notes`; nothing is made up to fill a gap.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from itertools import product
from typing import Any

from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.models.base import Model
from react_lab.runner import Runner
from react_lab.tools.base import Tool
from react_lab.tools.passages import texts_of
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.search import OFFLINE
from react_lab.trace import Step, Trace, find_urls
from react_lab.workflow.asking import Form, Writer
from react_lab.workflow.citations import cited, flag, is_supported, without_citations
from react_lab.workflow.prompts import (
    HEADINGS,
    NOTES,
    PLANNER,
    SYNTHESIZER,
    WRITER,
    findings_form,
    plan_form,
)
from react_lab.workflow.state import (
    Changes,
    Ended,
    Finding,
    RawResult,
    Source,
    State,
    answer_of,
    first_state,
    run_tools,
    visit,
)

Steps = Generator[Step, None, Changes]


class ResearchWorkflow(Runner):
    """Answers a question from sources, with numbered citations.

    Args:
        model: Who plans, synthesizes and writes.
        registry: Holds the tool `search`, or another that takes a text as its only required argument.
        rounds: How often it may plan and search.
        max_queries: Queries of one round.
        memory: Tools that are asked before the search, such as those over a person's own notes; each takes a text as
            its only required argument.
    """

    def __init__(
        self,
        model: Model,
        registry: ToolRegistry,
        *,
        rounds: int = 2,
        max_queries: int = 5,
        memory: Sequence[Tool] = (),
    ) -> None:
        if rounds < 1 or max_queries < 1:
            raise ValueError(f"rounds and max_queries must be at least 1, not {rounds} and {max_queries}")
        super().__init__(model, registry)
        self.rounds = rounds
        self.max_queries = max_queries
        self.memory = tuple(memory)
        self.search = registry.get("search") if "search" in registry else _searching(registry)

    def system_prompt(self, question: str) -> str:
        return ""  # each node has its own

    @property
    def settings(self) -> dict[str, Any]:
        return {"rounds": self.rounds, "max_queries": self.max_queries, "memory": [item.name for item in self.memory]}

    def carry_on(self, trace: Trace) -> Iterator[Step]:
        state = first_state(trace.question)
        try:
            for turn in range(1, self.rounds + 1):
                suffix = f"-{turn}" if turn > 1 else ""
                state = yield from visit(state, trace, f"planner{suffix}", self.plan, "queries", "turn_count")
                if self.memory:
                    state = yield from visit(state, trace, f"memory{suffix}", self.remember, "raw_results", "sources")
                state = yield from visit(state, trace, f"researcher{suffix}", self.research, "raw_results", "sources")
                found = ("findings", "contradictions", "missing")
                state = yield from visit(state, trace, f"synthesizer{suffix}", self.synthesize, *found)
                if state["findings"] and not state["missing"]:
                    break
            state = yield from visit(state, trace, "writer", self.write, "final_answer")
        except Ended as ended:
            self._end(trace, state, ended.outcome, str(ended))
        else:
            self._end(trace, state, "answered")

    def _end(self, trace: Trace, state: State, outcome: Any, reason: str | None = None) -> None:
        if trace.outcome == outcome:
            return
        answer = state["final_answer"] or "\n".join(finding_lines(state["findings"])) or None
        numbers = cited(answer or "")
        urls = [source["url"] for source in state["sources"] if source["number"] in numbers and source["url"]]
        findings = [{"text": item["text"], "sources": _urls(item, state)} for item in state["findings"]]
        told = {"sources": list(dict.fromkeys(urls)), "findings": findings, "notes": state["notes"]}
        trace.end(outcome, answer=answer, reason=reason, **told)

    # -- the nodes -------------------------------------------------------------------------------------------

    def plan(self, state: State, trace: Trace, node: str) -> Steps:
        """Questions to queries."""
        language = trace.language
        form = Form(self.model, PLANNER[language], plan_form(language, self.max_queries), language)
        text = state["question"] + section(HEADINGS[language]["missing"], numbered(state["missing"]))
        part = yield from form.steps_within(trace, node, text, language=language)
        filled = answer_of(part)
        asked = [str(query).strip() for query in json.loads(filled)["queries"]] if filled else []
        queries = [query for query in dict.fromkeys(asked) if query and query not in state["queries"]]
        notes = state["notes"]
        if not queries and not state["queries"]:
            queries, notes = [state["question"]], [*notes, NOTES[language]["no plan"]]
        return {"queries": [*state["queries"], *queries], "turn_count": state["turn_count"] + 1, "notes": notes}

    def remember(self, state: State, trace: Trace, node: str) -> Steps:
        """What the memory holds on the new queries."""
        return (yield from self._look_up(state, trace, node, ToolRegistry(self.memory), self.memory))

    def research(self, state: State, trace: Trace, node: str) -> Steps:
        """All new queries side by side; each result is kept with its source."""
        return (yield from self._look_up(state, trace, node, self.registry, [self.search]))

    def _look_up(self, state: State, trace: Trace, node: str, registry: ToolRegistry, tools: Sequence[Tool]) -> Steps:
        names = {item.name for item in tools}
        asked = {result["query"] for result in state["raw_results"] if result["tool"] in names}
        calls = [
            ToolCall(f"{node}.{number}", item.name, {_text_parameter(item): query})
            for number, (query, item) in enumerate(product(state["queries"], tools), start=1)
            if query not in asked
        ]
        results = yield from run_tools(trace, node, registry, calls, trace.language)
        raw = [_raw(call, result) for call, result in zip(calls, results, strict=True)]
        sources = new_sources(raw, state["sources"])
        notes = [*state["notes"], *_notes(raw, sources, trace.language)]
        return {"raw_results": [*state["raw_results"], *raw], "sources": [*state["sources"], *sources], "notes": notes}

    def synthesize(self, state: State, trace: Trace, node: str) -> Steps:
        """Sources to findings; a finding that no source supports is dropped."""
        language, words = trace.language, NOTES[trace.language]
        if not state["sources"]:
            return {"missing": state["queries"]}
        form = Form(self.model, SYNTHESIZER[language], findings_form(language), language)
        text = state["question"] + section(HEADINGS[language]["results"], source_lines(state["sources"]), "\n\n")
        part = yield from form.steps_within(trace, node, text, language=language)
        filled = answer_of(part)
        if filled is None:
            findings: list[Finding] = [{"text": item["text"], "sources": [item["number"]]} for item in state["sources"]]
            return {"findings": findings, "missing": [], "notes": [*state["notes"], words["no findings"]]}
        handed_in = json.loads(filled)
        texts = {source["number"]: source["text"] for source in state["sources"]}
        kept, dropped = _supported(handed_in["findings"], texts)
        notes = [*state["notes"], *(words["dropped"].replace("{}", item["text"]) for item in dropped)]
        gaps = {"contradictions": handed_in["contradictions"], "missing": handed_in["missing"]}
        return {"findings": kept, **gaps, "notes": notes}

    def write(self, state: State, trace: Trace, node: str) -> Steps:
        """Findings to an answer; a claim that its citation does not support is marked."""
        language, words = trace.language, NOTES[trace.language]
        if not state["findings"]:
            raise Ended("error", words["nothing"].replace("{}", "; ".join(state["queries"])))
        lines = [*finding_lines(state["findings"]), *(f"- {item}" for item in state["contradictions"])]
        text = state["question"] + section(HEADINGS[language]["findings"], lines)
        if state["missing"]:
            text += section(HEADINGS[language]["missing"], numbered(state["missing"]))
        part = yield from Writer(self.model, WRITER[language]).steps_within(trace, node, text, language=language)
        written = answer_of(part)
        if written is None:
            raise Ended("refused" if part.outcome == "refused" else "error", part.reason or words["no answer"])
        texts = {source["number"]: source["text"] for source in state["sources"]}
        answer, unsupported = flag(written, texts, language)
        notes = [*state["notes"], *(words["flagged"].replace("{}", without_citations(item)) for item in unsupported)]
        if state["missing"]:
            notes.append(words["gaps"].replace("{}", "; ".join(state["missing"])))
        return {
            "final_answer": answer + section(HEADINGS[language]["sources"], _references(answer, state)),
            "notes": notes,
        }


# -- what passes between the nodes ---------------------------------------------------------------------------


def _raw(call: ToolCall, result: ToolResult) -> RawResult:
    [query] = call.arguments.values()
    return {"tool": call.name, "query": str(query), "content": result.content, "is_error": result.is_error}


def new_sources(raw: Sequence[RawResult], known: Sequence[Source]) -> list[Source]:
    """The passages of search results that are not known yet, numbered on."""
    texts = {source["text"] for source in known}
    found: list[Source] = []
    for result in raw:
        for text in [] if result["is_error"] else texts_of(result["content"]):
            if text not in texts:
                texts.add(text)
                number = len(known) + len(found) + 1
                url = next(iter(reversed(find_urls(text))), "")
                found.append({"number": number, "query": result["query"], "text": text, "url": url})
    return found


def source_lines(sources: Sequence[Source]) -> list[str]:
    return [f"[{source['number']}] {source['text']}" for source in sources]


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """`- Everest is 8,849 m high. [1, 3]`"""
    return [f"- {item['text']} [{', '.join(map(str, item['sources']))}]" for item in findings]


def _supported(findings: Sequence[Finding], texts: dict[int, str]) -> tuple[list[Finding], list[Finding]]:
    """The findings that their sources support, and the others; a source that does not exist is taken out."""
    kept: list[Finding] = []
    dropped: list[Finding] = []
    for item in findings:
        numbers = [number for number in dict.fromkeys(item["sources"]) if number in texts]
        good = is_supported(item["text"], [texts[number] for number in numbers])
        (kept if good else dropped).append({"text": item["text"], "sources": numbers})
    return kept, dropped


def _urls(finding: Finding, state: State) -> list[str]:
    urls = [source["url"] for source in state["sources"] if source["number"] in finding["sources"] and source["url"]]
    return list(dict.fromkeys(urls))


def _references(answer: str, state: State) -> list[str]:
    """The list of sources below an answer: those that it cites."""
    numbers = cited(answer)
    listed = (source for source in state["sources"] if source["number"] in numbers)
    return [f"[{source['number']}] {source['url'] or source['query']}" for source in listed]


def _notes(raw: Sequence[RawResult], sources: Sequence[Source], language: Language) -> list[str]:
    """What the searches did not bring."""
    words, fruitful = NOTES[language], {source["query"] for source in sources}
    notes = []
    for result in raw:
        if result["is_error"]:
            notes.append(words["failed"].format(result["query"], result["content"]))
        elif result["query"] not in fruitful and not texts_of(result["content"]):
            notes.append(words["empty"].format(result["query"]))
    if any(result["content"].startswith(tuple(OFFLINE.values())) for result in raw):
        notes.append(OFFLINE[language])
    return notes


def numbered(items: Sequence[str]) -> list[str]:
    return [f"{place}. {item}" for place, item in enumerate(items, start=1)]


def section(heading: str, lines: Sequence[str], between: str = "\n") -> str:
    return f"\n\n{heading}\n{between.join(lines)}" if lines else ""


def _searching(registry: ToolRegistry) -> Tool:
    fitting = [item for item in registry if len(item.parameters.get("required", ())) == 1]
    if not fitting:
        raise ValueError(f"research needs a tool named 'search'; the registry has: {', '.join(registry.list_tools())}")
    return fitting[0]


def _text_parameter(item: Tool) -> str:
    """The name of a tool's only required parameter."""
    [name] = item.parameters["required"]
    return str(name)
