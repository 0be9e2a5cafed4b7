"""The reader of text ReAct, its prompts, and the loop over both."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import Reply, ScriptedModel, TextReActAgent, ToolRegistry, tool
from react_lab.text_react import FORMAT, NEXT, RULES, Syntax, parse_reply


def calls(text: str) -> list[tuple[str, object]]:
    return [(action.name, action.argument) for action in parse_reply(text).actions]


@pytest.mark.parametrize(
    ("text", "argument"),
    [
        ("Thought: t\nAction: look[red fox]", "red fox"),
        ("Thought: t\nAction: look(red fox)", "red fox"),
        ('Thought: t\nAction: look("red fox")', "red fox"),
        ('Thought: t\nAction: look({"q": "red fox"})', {"q": "red fox"}),
        ("Thought: t\nAction: look(q='red fox', n=2)", {"q": "red fox", "n": 2}),
        ("Thought: t\nAction: look({'q': 'red fox', 'all': True,})", {"q": "red fox", "all": True}),
        ("Thought: t\nAction: look\nAction Input: red fox", "red fox"),
        ('Thought: t\nAction: look\nAction Input: {"q": "red fox"}', {"q": "red fox"}),
        ('Action:\n```json\n{"action": "look", "action_input": "red fox"}\n```', "red fox"),
        ('```json\n{"action": "look", "action_input": {"q": "red fox"}}\n```', {"q": "red fox"}),
        ('{"tool_call": {"name": "look", "arguments": {"q": "red fox"}}}', {"q": "red fox"}),
        ("**Thought:** t\n**Action:** look[red fox]", "red fox"),
        ("### Thought\n\n### Action: `look[red fox]`", "red fox"),
        ("Thought 1: t\nAction 1: look[red fox]\nObservation 1:", "red fox"),
        ("思考：先查。\n行动：look[red fox]\n观察：编造的", "red fox"),
        ("思考: 先查。\n行动: look（red fox）", "red fox"),
        ("<think>Action: other[x]</think>Thought: t\r\nAction: look[red fox]\r\n", "red fox"),
        ("Action:\n```\nlook[red fox]\n```", "red fox"),
        ("Action: look[red fox].<|eot_id|>", "red fox"),
        ("look[red fox]", "red fox"),
        ('Action: look({"q": "a ] ) } Action: other[x]"})', {"q": "a ] ) } Action: other[x]"}),
        ('Action: look({"q": "line one\nAction: other[x]"})', {"q": "line one\nAction: other[x]"}),
        ('Action: look({"q": "line one\nObservation: two"})', {"q": "line one\nObservation: two"}),
        ("Action: look[a [b] c]", "a [b] c"),
        ("Action: look({'re': '\\d+ \\n', 'all': true})", {"re": "\\d+ \n", "all": True}),
        ("Action: look(re='\\d+', all=true)", {"re": "\\d+", "all": True}),
        ("Action: look\nAction Input:\n```\nThought: no\nAction: demo[1]\n```", "Thought: no\nAction: demo[1]"),
        ("Action: look[red fox]\nFinal Answer: invented", "red fox"),
        ("Action: first I think, then I act\nAction: look[red fox]", "red fox"),
        ("Action: look[red fox] Observation: it says [55]", "red fox"),
    ],
)
def test_every_form_of_one_call_is_read(text: str, argument: object) -> None:
    assert calls(text) == [("look", argument)]


@pytest.mark.parametrize(
    "text",
    [
        "Thought: t\nFinal Answer: 42 [1]",
        "Action: Finish[42 [1]]",
        'Action: finish(answer="42 [1]")',
        "思考：够了\n最终答案：42 [1]",
        "思考：够了\n行动：Finish[42 [1]]",
        "**Final Answer:** 42 [1]\n\nObservation: invented",
        "Action: None needed\nFinal Answer: 42 [1]",
    ],
)
def test_every_form_of_an_answer_is_read(text: str) -> None:
    assert (parse_reply(text).answer, parse_reply(text).actions) == ("42 [1]", ())


def test_a_batch_is_read_in_order() -> None:
    assert calls('Action: [a({"x": 1}), b({"y": 2})]') == [("a", {"x": 1}), ("b", {"y": 2})]
    assert calls("Action: a[1], b[2]") == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("The capital is Paris, see [1] and f(x).", "neither an action nor a final answer"),
        ("Thought: I should search.", "neither an action nor a final answer"),
        ("Thought: t\nAction: search for foxes", "is no action"),
        ("Action: look[red f", "no closing ]"),
        ('Action: look({"q": "red f', "cut off"),
        ("Action: look\nAction Input: {broken}", "no JSON object"),
        ("Observation: invented first\nAction: look[x]", "it begins with an observation"),
        ("<think>Action: look[x]", "it is empty"),
    ],
)
def test_what_cannot_be_read_is_said_and_never_run(text: str, told: str) -> None:
    parsed = parse_reply(text)
    assert (parsed.actions, parsed.answer) == ((), None)
    assert told in (parsed.error or "")


def test_an_invented_observation_does_not_enter_the_conversation() -> None:
    assert parse_reply("Thought: t\nAction: look[x]\nObservation: lies").text == "Thought: t\nAction: look[x]"


@pytest.mark.parametrize(
    "piece",
    [
        "Action: foo\n",
        "\n",
        "[",
        "{",
        "(",
        '"',
        "<think>",
        "Search[",
        "Action Input: ",
        "Action: f({",
        "```json\n{",
        "# ",
        "a=1, ",
        "'a': 1, ",
        "'",
        "<|a",
    ],
)
@pytest.mark.parametrize("start", ["", "Action: ", "Thought: x", "Action: f(", "Action: f({"])
def test_a_megabyte_of_hostile_text_is_read_within_a_second(start: str, piece: str) -> None:
    started = time.perf_counter()
    parse_reply(start + piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - started < 1


SHAPES = st.sampled_from(
    "Thought: t|Action: look[x]|Action:| look({'q': 1})|Action Input: |{|}|]|(|```|Observation: o|Final Answer: 42"
    "|行动：|思考：|观察：|<think>|</think>|\"|\\|'|Finish[|, |\n".split("|")
)


@given(st.lists(SHAPES | st.text(max_size=5), max_size=12).map("".join))
def test_no_join_of_shapes_crashes_the_reader_or_leaves_it_undecided(text: str) -> None:
    parsed = parse_reply(text)
    assert sum([bool(parsed.actions), parsed.answer is not None, parsed.error is not None]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Thought: t\nAction: look[a [b] c]\nObservation: o",
        'Thought: t\nAction: look({"q": "red fox", "n": {"m": [1, 2]}})\nObservation: o',
        "Action: look(q='red (fox)', n=2)",
        "Action: look('red) fox')",
        'Action: [a({"x": 1}), b({"y": 2})]',
        'Thought: t\nAction:\n```json\n{"action": "look", "action_input": {"q": "fox"}}\n```',
    ],
)
def test_no_prefix_of_a_reply_makes_a_call_that_the_whole_does_not(text: str) -> None:
    whole = parse_reply(text).actions
    for length in range(len(text)):
        part = parse_reply(text[:length]).actions
        assert part == whole[: len(part)]


def examples_in(prompt: str) -> list[str]:
    """The replies that a prompt shows."""
    return re.findall(r"(?m)^(?:Thought: |思考：).*\n.*$", prompt)


@pytest.mark.parametrize(("syntax", "language"), list(FORMAT))
def test_the_reader_reads_every_reply_that_a_prompt_shows(syntax: Syntax, language: str) -> None:
    action, final = map(parse_reply, examples_in(FORMAT[syntax, language]))
    assert [a.name for a in action.actions] == ["tool_name"]
    assert action.thought
    assert final.answer in ("the answer, with its sources", "答案，并附上来源")


@tool
def look(query: str) -> str:
    """Look something up with {braces} and %s in its description."""
    return f"found {query}"


@tool
def scale(values: list[float], factor: float) -> str:
    """Multiply each."""
    return str([value * factor for value in values])


@tool
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


REGISTRY = ToolRegistry([look, scale, double])


@pytest.mark.parametrize("question", ["What is {this}?", "{这}是什么？"])
def test_the_prompt_holds_rules_tools_and_format_in_the_questions_language(question: str) -> None:
    prompt = TextReActAgent(ScriptedModel([]), REGISTRY).system_prompt(question)
    language = "zh" if "这" in question else "en"
    assert RULES[language] in prompt
    assert REGISTRY.describe() in prompt
    assert prompt.endswith(FORMAT["call", language])


def run(*replies: str, question: str = "?") -> tuple[list[str], str | None, ScriptedModel]:
    model = ScriptedModel(replies)
    trace = TextReActAgent(model, REGISTRY).run(question)
    return [result.content for step in trace.steps for result in step.results], trace.answer, model


def test_a_bare_text_goes_to_the_only_required_parameter() -> None:
    assert run("Action: look[fox]", "Final Answer: ok")[:2] == (["found fox"], "ok")
    assert run("Action: double[21]", "Final Answer: ok")[0] == ["42"]


def test_a_bare_text_that_fits_no_single_parameter_is_explained() -> None:
    (told,), _, _ = run("Action: scale[1, 2]", "Final Answer: ok")
    assert told == "Error: scale takes 2 parameters; write them as a JSON object"


def test_an_unreadable_reply_is_answered_with_the_reason_and_the_format() -> None:
    _, answer, model = run("I would search.", "Final Answer: ok")
    assert answer == "ok"
    assert "neither an action nor a final answer" in model.requests[1][-1].text
    assert FORMAT["call", "en"] in model.requests[1][-1].text


def test_the_reminder_is_in_the_language_of_the_question() -> None:
    _, _, model = run("我去查一下。", "最终答案：好", question="几点了？")
    assert model.requests[1][-1].text.startswith("无法读取你的回复")


def test_the_observation_follows_its_action() -> None:
    _, _, model = run("Thought: t\nAction: look[fox]\nObservation: lies", "Final Answer: ok")
    assert [message.text for message in model.requests[1][-2:]] == [
        "Thought: t\nAction: look[fox]",
        "Observation: found fox" + NEXT["en"],
    ]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("Action: look\nAction Input: red f", False),
        ("Action: look[red fox]", True),
        ('Action: look({"query": "fox"})', True),
    ],
)
def test_an_action_that_the_token_limit_may_have_shortened_is_not_run(text: str, runs: bool) -> None:
    model = ScriptedModel([Reply(text, stop_reason="max_tokens"), "Final Answer: ok"])
    (result,) = TextReActAgent(model, REGISTRY).run("?").steps[0].results
    assert result.is_error is not runs
    assert ("cut off by the token limit" in result.content) is not runs


def test_examples_stand_at_the_end_of_the_prompt() -> None:
    example = "Thought: {braces}\nAction: look[x]"
    prompt = TextReActAgent(ScriptedModel([]), REGISTRY, examples=[example]).system_prompt("?")
    assert prompt.endswith(f"{FORMAT['call', 'en']}\n\nExamples:\n\n{example}")


@pytest.mark.parametrize(("question", "label"), [("?", "Plan:"), ("？吗", "计划：")])
def test_claude_is_asked_for_a_plan_and_its_plan_is_read_as_the_thought(question: str, label: str) -> None:
    model = ScriptedModel([f"{label} look it up\nAction: look[fox]", "Final Answer: ok"], name="anthropic:claude-x")
    agent = TextReActAgent(model, REGISTRY)
    prompt = agent.system_prompt(question)
    assert label in prompt
    assert "Thought" not in prompt
    assert agent.run(question).steps[0].thought == "look it up"


def test_an_unknown_syntax_is_refused() -> None:
    with pytest.raises(ValueError, match="syntax 'xml'"):
        TextReActAgent(ScriptedModel([]), REGISTRY, syntax="xml")  # type: ignore[arg-type]


def test_the_reader_meets_its_bars_on_real_outputs(shared: Path) -> None:
    bench = [sys.executable, str(shared / "bench" / "score_parse.py")]
    result = subprocess.run(bench, capture_output=True, text=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stdout
