"""The state of a research workflow: what each node receives whole, and of which it changes its own fields."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, TypedDict, cast

from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult, set_fields
from react_lab.nodes import open_node
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Outcome, Step, Trace, result_fields


class Source(TypedDict):
    """A passage that a search brought: where it is from, and the query that found it."""

    number: int
    query: str
    text: str
    url: str


class Finding(TypedDict):
    """A statement, and the numbers of the sources that support it."""

    text: str
    sources: list[int]


class RawResult(TypedDict):
    """What a tool said to one query."""

    tool: str
    query: str
    content: str
    is_error: bool


class State(TypedDict):
    """What a research workflow knows. `question` is never changed; `notes` tell what went wrong on the way."""

    question: str
    queries: list[str]
    raw_results: list[RawResult]
    sources: list[Source]
    findings: list[Finding]
    contradictions: list[str]
    missing: list[str]  # queries that would fill the gaps; none when there is enough
    final_answer: str
    turn_count: int
    notes: list[str]


Changes = Mapping[str, Any]
Node = Callable[[State, Trace, str], Generator[Step, None, Changes]]  # of the state, the trace and the node's name


def first_state(question: str) -> State:
    empty: dict[str, Any] = {
        name: [] for name in ("queries", "raw_results", "sources", "findings", "contradictions", "missing", "notes")
    }
    return cast(State, {"question": question, **empty, "final_answer": "", "turn_count": 0})


def visit(state: State, trace: Trace, name: str, node: Node, *fields: str) -> Generator[Step, None, State]:
    """Have a node do its work; give back the state with its changes, which the trace records too.

    Besides its own fields a node may change `notes`.

    Raises:
        ValueError: the node changed a field that is not its own.
    """
    changes = yield from node(state, trace, name)
    if foreign := sorted(set(changes) - {*fields, "notes"}):
        raise ValueError(f"node {name!r} may change {', '.join(fields)}, not {', '.join(foreign)}")
    if not any(event["event"] == "state" and event.get("node") == name for event in trace.events):
        trace.append("state", node=name, changes=changes)
    return cast(State, {**state, **changes})


class Ended(Exception):
    """A node can't go on, and neither can the workflow: how the run ends, and why."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


def answer_of(part: Trace) -> str | None:
    """What a node's model answered, or None where it gave no usable answer.

    Raises:
        Ended: the budget is used up.
    """
    if part.outcome == "budget":
        raise Ended("budget", part.reason or "")
    return part.answer if part.outcome in ("answered", "truncated") else None


def run_tools(
    trace: Trace, node: str, registry: ToolRegistry, calls: Sequence[ToolCall], language: Language
) -> Generator[Step, None, list[ToolResult]]:
    """A node that asks no model: run the calls side by side, and record them as one step."""
    if not calls:
        return []
    head: dict[str, Any] = {"question": trace.question, "agent": "tools", "model": "", "system": ""}
    head["tools"] = registry.schemas(language=language)
    part = open_node(trace, node, {**head, "history": [], "language": language})
    if part.find("parse", 1) is None:
        part.append("parse", step=1, thought="", calls=[set_fields(call) for call in calls], answer=None, reminder=None)
    done = {result.call_id: result for result in part.results_at(1)}
    todo = [call for call in calls if call.id not in done]
    for call, result in zip(todo, registry.run_all(todo), strict=True):
        part.append("result", step=1, **result_fields(call, result))
        done[result.call_id] = result
    if not part.is_over:
        part.end("answered")
    yield part.in_whole(part.step(1))
    return [done[call.id] for call in calls]
