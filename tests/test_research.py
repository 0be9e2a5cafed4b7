"""The research workflow: four nodes, citations that are checked, and no gap filled with an invention."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from react_lab import (
    ModelError,
    OfflineModel,
    Reply,
    ResearchWorkflow,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    Trace,
    tool,
)
from react_lab.tools.notes import Notebook, note_tools
from react_lab.tools.search import OFFLINE, WEB
from react_lab.tools.standard import standard_tools
from react_lab.trace import diff
from react_lab.workflow.state import first_state, visit

RESULTS = {
    "K2 height": "[1] K2: K2 is 8,611 metres high.\nSource: https://a.example/k2",
    "Everest height": "[1] Everest: Everest is 8,849 m high.\nSource: https://a.example/everest\n\n"
    "[2] Everest: The mountain was climbed in 1953.\nSource: https://a.example/climb",
}
QUESTION = "Which is higher, K2 or Everest?"


class Desk:
    """A search that counts, over a few results."""

    def __init__(self, results: dict[str, str] | None = None) -> None:
        self.asked: list[str] = []
        self.down = "down"
        results = RESULTS if results is None else results

        @tool
        def search(query: str) -> str:
            """Look something up."""
            self.asked.append(query)
            if query == self.down:
                raise ConnectionError("no network")
            return results.get(query, f'No entry in the almanac matches "{query}".')

        self.registry = ToolRegistry([search])


def form(name: str, **fields: Any) -> Reply:
    return Reply(tool_calls=(ToolCall("f", name, fields),), stop_reason="tool_calls")


def plan(*queries: str) -> Reply:
    return form("plan_research", queries=list(queries))


def findings(
    *pairs: tuple[str, list[int]], missing: tuple[str, ...] = (), contradictions: tuple[str, ...] = ()
) -> Reply:
    items = [{"text": text, "sources": sources} for text, sources in pairs]
    return form("record_findings", findings=items, contradictions=list(contradictions), missing=list(missing))


HIGH = (("K2 is 8,611 metres high.", [1]), ("Everest is 8,849 m high.", [2]))
SCRIPT = [
    plan("K2 height", "Everest height"),
    findings(*HIGH),
    "Everest is higher [1, 2]: 8,849 m against 8,611 m [1, 2].",
]


def research(*replies: Reply | str, desk: Desk | None = None, **options: Any) -> Trace:
    desk = desk or Desk()
    return ResearchWorkflow(ScriptedModel(replies or SCRIPT), desk.registry, **options).run(QUESTION)


def test_the_four_nodes_find_an_answer_with_numbered_sources() -> None:
    trace = research()
    assert trace.outcome == "answered"
    assert trace.answer == (
        "Everest is higher [1, 2]: 8,849 m against 8,611 m [1, 2].\n\n"
        "Sources:\n[1] https://a.example/k2\n[2] https://a.example/everest"
    )
    assert trace.sources == ("https://a.example/k2", "https://a.example/everest")
    assert [step.node for step in trace.steps] == ["planner", "researcher", "synthesizer", "writer"]
    assert trace.finish["findings"][0] == {"text": "K2 is 8,611 metres high.", "sources": ["https://a.example/k2"]}


def test_each_node_changes_its_own_fields_and_the_trace_tells_which() -> None:
    changes = {event["node"]: set(event["changes"]) for event in research().events if event["event"] == "state"}
    assert changes["planner"] == {"queries", "turn_count", "notes"}
    assert changes["researcher"] == {"raw_results", "sources", "notes"}
    assert changes["synthesizer"] == {"findings", "contradictions", "missing", "notes"}
    assert changes["writer"] == {"final_answer", "notes"}


def test_a_node_that_changes_another_ones_field_is_an_error() -> None:
    def meddler(state: Any, trace: Trace, node: str) -> Iterator[Any]:
        return {"question": "Another?"}
        yield

    trace = Trace.start(question="?", agent="", model="", system="", tools=[], history=[])
    with pytest.raises(ValueError, match="may change queries, not question"):
        list(visit(first_state("?"), trace, "planner", meddler, "queries"))


def test_the_planner_is_made_to_fill_in_its_form() -> None:
    class Watching(ScriptedModel):
        def reply(self, messages: Any, **options: Any) -> Reply:
            self.forced = [*getattr(self, "forced", []), options.get("tool_choice")]
            return super().reply(messages, **options)

    model = Watching(SCRIPT)
    ResearchWorkflow(model, Desk().registry).run(QUESTION)
    assert model.forced == ["plan_research", "record_findings", None]


def test_a_model_that_writes_the_form_as_text_is_understood() -> None:
    written = 'Here it is:\n```json\n{"queries": ["K2 height", "Everest height"]}\n```'
    assert research(written, *SCRIPT[1:]).answer == research().answer


def test_a_model_without_tool_calls_is_asked_in_words() -> None:
    forms = [json.dumps(reply.tool_calls[0].arguments) for reply in (SCRIPT[0], SCRIPT[1]) if isinstance(reply, Reply)]
    model = ScriptedModel([*forms, SCRIPT[2]])
    model.native_tools = False
    trace = ResearchWorkflow(model, Desk().registry).run(QUESTION)
    assert trace.outcome == "answered"
    assert "JSON Schema" in model.requests[0][0].text


def test_a_form_that_does_not_fit_is_handed_back_once_more() -> None:
    trace = research(form("plan_research", queries="K2"), *SCRIPT)
    assert trace.outcome == "answered"
    assert "is not of type 'array'" in (trace.steps[0].reminder or "")


def test_a_planner_without_queries_is_said_and_the_question_is_searched() -> None:
    desk = Desk({QUESTION: RESULTS["Everest height"]})
    trace = research("?", "?", "?", findings(("Everest is 8,849 m high.", [1])), "Everest [1].", desk=desk)
    assert desk.asked == [QUESTION]
    assert "The planner gave no queries" in trace.finish["notes"][0]


def test_all_queries_are_run_once_and_results_keep_their_source() -> None:
    desk = Desk()
    research(desk=desk)
    assert sorted(desk.asked) == ["Everest height", "K2 height"]


def test_what_is_missing_is_looked_for_in_another_round() -> None:
    desk = Desk()
    trace = research(
        plan("K2 height"),
        findings(HIGH[0], missing=("Everest",)),
        plan("K2 height", "Everest height"),
        findings(*HIGH),
        "Everest is higher [1, 2].",
        desk=desk,
    )
    assert desk.asked == ["K2 height", "Everest height"]
    nodes = ["planner", "researcher", "synthesizer", "planner-2", "researcher-2", "synthesizer-2", "writer"]
    assert [step.node for step in trace.steps] == nodes
    assert "Still missing:\n1. Everest" in trace.prompt_at(4)[1].text


def test_rounds_have_a_limit_and_the_gap_is_named() -> None:
    trace = research(
        plan("K2 height"), findings(HIGH[0], missing=("Everest",)), "K2 is 8,611 metres high [1].", rounds=1
    )
    assert trace.outcome == "answered"
    assert "Not found out: Everest" in trace.finish["notes"]


def test_a_search_that_fails_does_not_stop_the_others() -> None:
    trace = research(plan("down", "Everest height"), findings(("Everest is 8,849 m high.", [1])), "Everest [1].")
    assert trace.outcome == "answered"
    assert any("The search for “down” failed" in note for note in trace.finish["notes"])


@pytest.mark.parametrize("heading", [*WEB.values(), *OFFLINE.values()])
def test_the_heading_of_a_search_is_no_source(heading: str) -> None:
    desk = Desk({query: f"{heading}\n\n{text}" for query, text in RESULTS.items()})
    trace = research(desk=desk)
    assert trace.sources == ("https://a.example/k2", "https://a.example/everest")
    assert trace.answer == research().answer


@pytest.mark.parametrize(("heading", "is_said"), [(WEB["en"], False), (OFFLINE["en"], True), (OFFLINE["zh"], True)])
def test_that_the_web_was_not_reached_is_said_once(heading: str, is_said: bool) -> None:
    desk = Desk({query: f"{heading}\n\n{text}" for query, text in RESULTS.items()})
    assert research(desk=desk).finish["notes"] == [OFFLINE["en"]] * is_said


def test_a_query_with_braces_is_named_as_it_is() -> None:
    desk = Desk()
    desk.down = "{} down"
    trace = research(
        plan("{} down", "Everest height"), findings(("Everest is 8,849 m high.", [1])), "Everest [1].", desk=desk
    )
    assert "The search for “{} down” failed" in trace.finish["notes"][0]
    assert trace.finish["notes"][0].endswith("no network")


def test_an_empty_notebook_is_no_source(tmp_path: Path) -> None:
    memory = [item for item in note_tools(Notebook(tmp_path / "notes.sqlite")) if item.name == "search_notes"]
    assert research(memory=memory).sources == ("https://a.example/k2", "https://a.example/everest")


def test_nothing_found_is_no_answer_and_nothing_is_written() -> None:
    trace = research(plan("Wakanda"), plan("Wakanda king"))
    assert (trace.outcome, trace.answer) == ("error", None)
    assert "Wakanda; Wakanda king" in (trace.reason or "")
    assert "writer" not in [step.node for step in trace.steps]


def test_a_finding_that_its_source_does_not_hold_is_dropped() -> None:
    trace = research(
        SCRIPT[0],
        findings(*HIGH, ("K2 was climbed in 1954.", [1]), ("Everest is in Nepal.", [9])),
        SCRIPT[2],
    )
    assert [item["text"] for item in trace.finish["findings"]] == [text for text, _ in HIGH]
    assert len([note for note in trace.finish["notes"] if note.startswith("Dropped")]) == 2


def test_a_claim_that_its_citation_does_not_support_is_marked() -> None:
    trace = research(*SCRIPT[:2], "Everest is 8,848 m high [2]. K2 is 8,611 metres high [1]. Both were climbed [7].")
    mark = " (not supported by its source)"
    written = f"Everest is 8,848 m high [2].{mark} K2 is 8,611 metres high [1]. Both were climbed [7].{mark}"
    assert (trace.answer or "").startswith(written)
    assert len([note for note in trace.finish["notes"] if note.startswith("Not supported")]) == 2


def test_a_refusal_of_the_writer_ends_the_run_as_refused() -> None:
    trace = research(*SCRIPT[:2], Reply("No.", stop_reason="refusal"))
    assert trace.outcome == "refused"


def test_a_used_up_budget_ends_the_run_with_what_was_found() -> None:
    trace = research(*SCRIPT[:2], Reply(thought="the budget of 2 calls is used up", stop_reason="budget"))
    assert trace.outcome == "budget"
    assert trace.answer == "- K2 is 8,611 metres high. [1]\n- Everest is 8,849 m high. [2]"
    assert trace.reason == "the budget of 2 calls is used up"


def test_the_memory_is_asked_before_the_search_and_cited() -> None:
    asked: list[str] = []

    @tool
    def recall(query: str) -> str:
        """Look into my notes."""
        asked.append(query)
        return "My note: Everest is 8,849 m high.\nSource: https://notes.example/1"

    desk = Desk()
    trace = research(
        plan("Everest height"), findings(("Everest is 8,849 m high.", [1])), "8,849 m [1].", desk=desk, memory=[recall]
    )
    assert [step.node for step in trace.steps][:3] == ["planner", "memory", "researcher"]
    assert (asked, desk.asked) == (["Everest height"], ["Everest height"])
    assert trace.sources == ("https://notes.example/1",)


def test_a_registry_without_a_search_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="needs a tool named 'search'"):
        ResearchWorkflow(OfflineModel(), ToolRegistry())


def test_a_run_that_was_cut_anywhere_goes_on_without_asking_or_searching_twice(tmp_path: Path) -> None:
    whole, path = research(), tmp_path / "t.jsonl"
    for cut in range(1, len(whole.events)):
        Trace(whole.events[:cut]).save(path)
        trace = Trace.load(path)
        replied = sum(event["event"] == "reply" for event in trace.events)
        searched = [event["arguments"]["query"] for event in trace.events if event["event"] == "result"]
        desk = Desk()
        ResearchWorkflow(ScriptedModel(SCRIPT[replied:]), desk.registry).resume(trace)
        assert diff(trace, whole) is None, cut
        assert sorted([*searched, *desk.asked]) == ["Everest height", "K2 height"]
        assert Trace.load(path).events == trace.events


def test_a_model_that_fails_leaves_a_run_to_go_on_with() -> None:
    desk = Desk()
    workflow = ResearchWorkflow(ScriptedModel(SCRIPT[:1]), desk.registry)
    trace = workflow.start(QUESTION)
    with pytest.raises(ModelError):
        workflow.resume(trace)
    assert trace.outcome == "error"
    ResearchWorkflow(ScriptedModel(SCRIPT[1:]), desk.registry).resume(trace)
    assert (trace.outcome, len(desk.asked)) == ("answered", 2)


def test_a_finished_run_stays_as_it_is() -> None:
    trace = research()
    events = list(trace.events)
    assert ResearchWorkflow(ScriptedModel([]), Desk().registry).resume(trace).events == events


def test_another_observation_changes_what_follows() -> None:
    child = research().fork(2, observation="[1] K2: K2 is 9,000 metres high.\nSource: https://b.example", call=0)
    ResearchWorkflow(ScriptedModel([findings(("K2 is 9,000 metres high.", [1])), "K2 [1]."]), Desk().registry).resume(
        child
    )
    assert child.finish["findings"][0]["text"] == "K2 is 9,000 metres high."


@pytest.mark.parametrize(
    ("question", "answer", "source"),
    [
        (
            "Which is longer, the Nile or the Amazon?",
            "Nile is longer than Amazon (Nile 6650, Amazon 6400) [1, 2]",
            "Nile",
        ),
        ("法国的首都是哪座城市？", "法国的首都是巴黎。[1]", "France"),
    ],
)
def test_the_stand_in_does_research_in_the_almanac(question: str, answer: str, source: str) -> None:
    trace = ResearchWorkflow(OfflineModel(), standard_tools()).run(question)
    assert (trace.answer or "").startswith(answer)
    assert source in " ".join(trace.sources)


def test_the_stand_in_looks_again_for_what_is_missing_and_names_the_gap() -> None:
    trace = ResearchWorkflow(OfflineModel(), standard_tools()).run("Which is higher, K2 or Mount Qomorangula?")
    assert trace.finish["notes"][-1].startswith("Not found out: ")


def test_settings_that_allow_no_round_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="rounds and max_queries must be at least 1"):
        ResearchWorkflow(OfflineModel(), standard_tools(), rounds=0)
