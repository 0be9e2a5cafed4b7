import pytest

from react_lab.messages import Reply, ToolCall, Usage
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace
from react_lab_exporters.document import WORDS, Blank, Facts, Heading, Prose, Sentence, document
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
    assert Sentence("multiply, search, say") in parts
    assert ("max_steps", "5") in [row for part in parts if isinstance(part, Facts) for row in part.rows]
    blanks = [part for part in parts if isinstance(part, Blank)]
    assert len(blanks) == 5


def test_every_word_of_a_document_exists_in_both_languages():
    assert WORDS["en"].keys() == WORDS["zh"].keys()
