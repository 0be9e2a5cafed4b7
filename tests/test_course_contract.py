"""What a learner builds keeps the contract of the library's own: one suite, both parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from react_lab import ScriptedModel, TextReActAgent, ToolCall, ToolError, ToolRegistry, ToolUseAgent, load_model
from react_lab.course import parts
from react_lab.course.exercise import all_exercises
from react_lab.hardening.cache import with_cache
from react_lab.hardening.retry import with_retry
from react_lab.text_react import FORMAT
from react_lab.tools.standard import standard_tools

ANSWERS = {
    item.part.partition(":")[2]: {"solution": item.solution}
    | {f"alternate {i}": code for i, code in enumerate(item.alternates, 1)}
    for item in all_exercises().values()
    if item.part
}


def versions(name: str) -> list[str]:
    return ["ours", *ANSWERS[name]]


def part(name: str, version: str, workspace: Path) -> Any:
    """The library's part, or one that a learner has built and that has passed."""
    exercise = next(item for item in all_exercises().values() if item.part.endswith(f":{name}"))
    if version != "ours":
        parts.keep(exercise, ANSWERS[name][version], workspace)
    return parts.mine_or_ours(name)


@pytest.mark.parametrize("version", versions("Tool"))
def test_a_tool_is_told_to_a_model_and_run_by_a_registry(version: str, tmp_path: Path) -> None:
    Base = part("Tool", version, tmp_path)

    class Shout(Base):  # type: ignore[misc, valid-type]
        name = "shout"
        description = "Say it loud."
        parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

        def execute(self, text: str) -> str:
            return text.upper()

    registry = ToolRegistry([Shout()])
    assert registry.schemas("anthropic") == [
        {"name": "shout", "description": "Say it loud.", "input_schema": Shout.parameters}
    ]
    assert registry.describe("zh") == "- shout(text: string): Say it loud."
    assert registry.execute("shout", {"text": "hi"}) == "HI"
    assert "'text' is a required property" in registry.execute("shout", {})
    run = TextReActAgent(ScriptedModel(['Action: shout({"text": "hi"})', "Final Answer: HI"]), registry).run("Shout hi")
    assert (run.steps[0].results[0].content, run.outcome) == ("HI", "answered")
    with pytest.raises(TypeError, match="abstract"):
        type("Silent", (Base,), {"name": "silent", "description": "", "parameters": {}})()


@pytest.mark.parametrize("version", versions("parameters_schema"))
def test_a_schema_of_a_function_is_valid_and_checks_calls(version: str, tmp_path: Path) -> None:
    def trip(start: str, days: int = 1, by_night: bool = False, price: float = 0.5) -> str:
        return ""

    schema = part("parameters_schema", version, tmp_path)(trip, {"start": "A city"})
    Draft202012Validator.check_schema(schema)
    fits = Draft202012Validator(schema).is_valid
    assert fits({"start": "Oslo", "days": 2})
    assert not fits({"days": 2})
    assert not fits({"start": "Oslo", "days": "two"})
    assert not fits({"start": "Oslo", "hours": 2})


@pytest.mark.parametrize("version", versions("calculate"))
@pytest.mark.parametrize("agent_class", [TextReActAgent, ToolUseAgent])
def test_an_agent_calculates_with_it_and_reads_its_refusal(version: str, agent_class: Any, tmp_path: Path) -> None:
    calculate = part("calculate", version, tmp_path)
    Base, parameters_schema = parts.mine_or_ours("Tool"), parts.mine_or_ours("parameters_schema")

    def work_out(expression: str) -> str:
        return str(calculate(expression))

    class Calculator(Base):  # type: ignore[misc, valid-type]
        name = "calculator"
        description = "Work out an arithmetic expression such as (23 + 45) * 2. For every calculation."
        parameters = parameters_schema(work_out, {})

        def execute(self, expression: str) -> str:
            return work_out(expression)

    registry = ToolRegistry([Calculator()])
    assert agent_class(load_model("offline"), registry).run("What is (23 + 45) * 2?").answer == "136"
    assert registry.execute("calculator", {"expression": "open('x')"}).startswith("Error: ")
    with pytest.raises(ToolError):
        calculate('__import__("os")')


@pytest.mark.parametrize("version", versions("ToolRegistry"))
def test_a_registry_serves_agents_and_wrappers(version: str, tmp_path: Path) -> None:
    registry = part("ToolRegistry", version, tmp_path)(standard_tools())
    wrapped = with_cache(with_retry(registry))
    for agent in (TextReActAgent(load_model(), wrapped), ToolUseAgent(load_model(), registry)):
        assert agent.run("What is 6 * 7?").answer == "42"
    calls = [
        ToolCall("a", "calculator", {"expression": "6*7"}),
        ToolCall("b", "nothing"),
        ToolCall("c", "calculator", {"expression": 6}),
    ]
    told = [(result.call_id, result.is_error) for result in registry.run_all(calls)]
    assert told == [("a", False), ("b", True), ("c", True)]
    with pytest.raises(ValueError, match="calculator"):
        registry.register(registry.get("calculator"))


@pytest.mark.parametrize("version", versions("parse_reply"))
def test_a_reader_reads_every_form_that_a_prompt_shows(version: str, tmp_path: Path) -> None:
    parse_reply = part("parse_reply", version, tmp_path)
    for shown in FORMAT.values():
        acting, *_, answering = shown.split("\n\n")
        assert [action.name for action in parse_reply(acting).actions] == ["tool_name"]
        assert parse_reply(answering).answer
    cut = parse_reply("Thought: t\nAction: look[x]\nObservation: lies\nFinal Answer: lies")
    assert (cut.answer, cut.text.rstrip()) == (None, "Thought: t\nAction: look[x]")
