import pytest

from react_lab.messages import Reply, ToolCall, Usage
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace
from react_lab_exporters.document import (
    WORDS,
    Blank,
    Call,
    Facts,
    Fold,
    Heading,
    Links,
    Prose,
    Verbatim,
    decimal,
    document,
)
from react_lab_exporters.note import note_from_trace


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


@tool
def search(query: str) -> str:
    """Look something up."""
    return f"{query}: 3,776 m (https://example.org/fuji). See also https://example.org/japan."


@tool
def say(text: str) -> str:
    """Say it back."""
    return text


def run(question: str, replies: list[Reply | str], name: str = "scripted") -> Trace:
    agent = ToolUseAgent(ScriptedModel(replies, name=name), ToolRegistry([multiply, search, say]), max_steps=5)
    return agent.run(question)


def calls(*wanted: tuple[str, dict[str, object]], thought: str = "I look.", usage: Usage | None = None) -> Reply:
    made = tuple(ToolCall(f"c{number}", name, arguments) for number, (name, arguments) in enumerate(wanted))
    return Reply(text=thought, tool_calls=made, usage=usage)


def test_a_note_tells_question_answer_and_how_it_was_found():
    trace = run("What is 6 × 7?", [calls(("multiply", {"a": 6, "b": 7}), usage=Usage(100, 20)), "42"])
    note = note_from_trace(trace)
    assert (note.title, note.question, note.answer) == ("What is 6 × 7?", "What is 6 × 7?", "42")
    assert (note.outcome, note.agent, note.model) == ("answered", "ToolUseAgent", "scripted")
    assert (note.run_id, note.started_at) == (trace.id, trace.run["started_at"])
    assert [step.thought for step in note.steps] == ["I look.", ""]
    assert note.seconds == trace.seconds


def test_tokens_that_nobody_counted_are_unknown_and_not_zero():
    counted = note_from_trace(run("q?", [Reply(text="a", usage=Usage(7, 0))]))
    unknown = note_from_trace(run("q?", ["a"]))
    assert (counted.input_tokens, counted.output_tokens, counted.cost_usd) == (7, 0, None)
    assert (unknown.input_tokens, unknown.output_tokens) == (None, None)


def test_findings_are_the_observations_that_carried_something_each_once_with_its_sources():
    wanted = [
        ("search", {"query": "Fuji"}),
        ("search", {"query": "Fuji"}),
        ("multiply", {"a": "six"}),  # an error
        ("say", {"text": ""}),  # no output
        ("multiply", {"a": 0, "b": 1}),  # zero is a result
    ]
    note = note_from_trace(run("How high is Mount Fuji?", [calls(*wanted), "3,776 m"]))
    assert [finding.call.name for finding in note.findings] == ["search", "multiply"]
    assert note.findings[0].sources == ("https://example.org/fuji", "https://example.org/japan")
    assert note.findings[1].text in ("0", "0.0")
    numbers = [note.finding_number(result) for result in note.steps[0].results]
    assert numbers == [1, 1, None, None, 2]


def test_the_language_is_that_of_the_question():
    assert note_from_trace(run("6 × 7 等于多少？", ["42"])).language == "zh"
    assert note_from_trace(run("What is 6 × 7?", ["等于 42"])).language == "en"


def test_a_note_says_when_the_offline_stand_in_answered():
    by_rules, by_model = (note_from_trace(run("q?", ["a"], name)) for name in ("offline", "anthropic:some-model"))
    assert by_rules.by_stand_in
    assert "offline-stand-in" in by_rules.tags
    assert not by_model.by_stand_in
    assert by_model.tags == ("react-lab",)


def test_a_run_without_an_answer_says_why():
    note = note_from_trace(run("q?", [calls(("say", {"text": str(n)})) for n in range(5)]))
    assert (note.answer, note.outcome, note.reason) == (None, "max_steps", "no answer after 5 steps")


def test_a_long_question_gets_a_short_title_on_one_line():
    note = note_from_trace(run("Why\n" + "so " * 100 + "long?", ["because"]))
    assert len(note.title) <= 80
    assert note.title.startswith("Why so so")
    assert note.title.endswith("…")


def test_an_unfinished_trace_makes_a_note_too():
    finished = run("What is 6 × 7?", [calls(("multiply", {"a": 6, "b": 7})), "42"])
    note = note_from_trace(Trace(finished.events[:-1]))
    assert (note.outcome, note.answer) == ("interrupted", None)
    assert len(note.findings) == 1


def test_a_note_knows_the_tools_and_the_settings_of_the_run():
    note = note_from_trace(run("q?", ["a"]))
    assert note.tools == ("multiply", "search", "say")
    assert note.settings["max_steps"] == 5


@pytest.mark.parametrize(("question", "review"), [("Why?", "Review"), ("为什么？", "复盘")])
def test_the_experiment_sheet_is_filled_in_where_the_run_knows_and_blank_elsewhere(question, review):
    parts = document(note_from_trace(run(question, [calls(("say", {"text": "42"})), "because"])), "experiment")
    headings = [part.text for part in parts if isinstance(part, Heading)]
    assert len(headings) == 9
    assert headings[-2] == review
    assert Prose(question) in parts
    assert Prose("because") in parts
    assert Call("multiply, search, say") in parts
    assert ("max_steps", "5") in [row for part in parts if isinstance(part, Facts) for row in part.rows]
    blanks = [part for part in parts if isinstance(part, Blank)]
    assert len(blanks) == 5


def test_every_word_of_a_document_exists_in_both_languages():
    assert WORDS["en"].keys() == WORDS["zh"].keys()


# -- what it cost --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("costs", "told"), [((0.1, 0.2), "0.3"), ((1e-05, None), "0.00001"), ((0.0,), "0"), ((12.5,), "12.5")]
)
def test_what_a_run_cost_is_told_in_both_templates(costs, told):
    replies = [calls(("say", {"text": "x"})), "done"][-len(costs) :]
    trace = run("q?", replies)
    found = [event for event in trace.events if event["event"] == "reply"]
    for event, cost in zip(found, costs, strict=True):
        event.update({} if cost is None else {"cost_usd": cost})
    for template in ("research", "experiment"):
        rows = [
            row for part in document(note_from_trace(trace), template) if isinstance(part, Facts) for row in part.rows
        ]
        assert ("Cost (USD)", told) in rows


def test_an_unknown_cost_is_left_out():
    rows = [row for part in document(note_from_trace(run("q?", ["a"]))) if isinstance(part, Facts) for row in part.rows]
    assert [name for name, _ in rows] == ["Model", "Seconds"]


def test_a_number_is_written_without_an_exponent():
    assert [decimal(number) for number in (1e-06, 100, 0.25, 0)] == ["0.000001", "100", "0.25", "0"]


# -- workflows -----------------------------------------------------------------------------------------------

FUJI, JAPAN = "https://example.org/fuji", "https://example.org/japan"


def workflow(question: str = "How high is Mount Fuji?", **end: object) -> Trace:
    """A run of several nodes, one of which only runs tools."""
    call = {"id": "c", "name": "search", "arguments": {"query": "Fuji"}}
    return Trace(
        [
            {"event": "run", "id": "r", "question": question, "model": "scripted", "started_at": "2026-11-30T00:00:00"},
            {"event": "reply", "step": 1, "node": "planner", "text": "I search.", "seconds": 1.5},
            {"event": "parse", "step": 2, "node": "researcher-2", "calls": [call]},
            {
                "event": "result",
                "step": 2,
                "node": "researcher-2",
                "call_id": "c",
                "name": "search",
                "content": "3,776 m",
            },
            {"event": "reply", "step": 3, "node": "writer", "text": "3,776 m [1]", "seconds": 1.0},
            {"event": "reply", "step": 4, "node": "mine-x", "text": "x", "seconds": 1.0},
            {"event": "end", "outcome": "answered", "answer": "3,776 m [1]", "sources": [FUJI, JAPAN], **end},
        ]
    )


def test_a_finding_of_a_workflow_is_a_statement_with_its_sources():
    trace = workflow(findings=[{"text": "It is 3,776 m high.", "sources": [2, FUJI, 9]}, {"text": "It is in Japan."}])
    note = note_from_trace(trace)
    assert [(finding.text, finding.sources) for finding in note.findings] == [
        ("It is 3,776 m high.", (JAPAN, FUJI)),
        ("It is in Japan.", ()),
    ]
    folds = [part for part in document(note) if isinstance(part, Fold)]
    assert folds[0] == Fold(Heading("Finding 1", 3), (Prose("It is 3,776 m high."), Links((JAPAN, FUJI))))
    assert Verbatim("3,776 m") in folds[3].parts  # what was observed is told where it was observed


def test_without_statements_the_findings_of_a_workflow_are_its_observations():
    assert [finding.text for finding in note_from_trace(workflow()).findings] == ["3,776 m"]


@pytest.mark.parametrize(
    ("question", "nodes"),
    [("How high?", ["planner", "researcher-2", "writer", "mine-x"]), ("多高？", ["规划", "检索 2", "撰写", "mine-x"])],
)
def test_the_steps_of_a_workflow_stand_under_the_names_of_its_nodes(question, nodes):
    parts = document(note_from_trace(workflow(question)))
    headings = [part.text for part in parts if isinstance(part, Heading) and part.level == 3]
    assert headings == nodes
    assert [part.title.level for part in parts if isinstance(part, Fold) and isinstance(part.title, Heading)] == [4] * 4


def test_what_a_workflow_says_about_itself_is_kept():
    parts = document(note_from_trace(workflow(notes=["Nothing was found about <b>."])))
    assert parts[parts.index(Heading("Remarks")) + 1] == Prose("Nothing was found about <b>.")
