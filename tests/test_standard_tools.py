"""Every tool as models see it: schemas that both providers take, also strictly, and calls that both loops can make."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator

from react_lab import Agent, Message, OfflineModel, Reply, ScriptedModel, TextReActAgent, ToolCall, ToolUseAgent
from react_lab.errors import ConfigurationError, ToolError
from react_lab.tools.base import Tool
from react_lab.tools.calculator import calculator
from react_lab.tools.live import examine_live, live_calls
from react_lab.tools.notes import Notebook, note_tools
from react_lab.tools.open_meteo import OpenMeteo
from react_lab.tools.read_url import make_read_url
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.schema import problems
from react_lab.tools.search import make_search, search
from react_lab.tools.standard import standard_tools
from react_lab.tools.weather import make_weather, weather
from react_lab.tools.web_search import Wikipedia
from tests.test_weather_live import Servers

NO_ARTICLES = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"batchcomplete": True}))
TEXT = httpx2.MockTransport(
    lambda request: httpx2.Response(200, text="some text", headers={"Content-Type": "text/plain"})
)


def every_tool(folder: Path) -> list[tuple[str, Tool, dict[str, Any]]]:
    """Each tool with an example of its arguments; a name is there twice where there are two forms of the tool."""
    write, read, find = note_tools(Notebook(folder / "notes.sqlite"))
    return [
        ("calculator", calculator, {"expression": "6 * 7"}),
        ("almanac", search, {"query": "Australia capital"}),
        ("web search", make_search(backend=Wikipedia(transport=NO_ARTICLES)), {"query": "rover", "limit": 2}),
        ("sample weather", weather, {"city": "Paris"}),
        (
            "live weather",
            make_weather(live=True, service=OpenMeteo(transport=httpx2.MockTransport(Servers()))),
            {"city": "Paris", "days": 2, "units": "metric"},
        ),
        ("read_url", make_read_url(transport=TEXT), {"url": "https://a.example/", "part": 1}),
        ("write_note", write, {"text": "A note."}),
        ("read_notes", read, {"limit": 3}),
        ("search_notes", find, {"query": "note", "limit": 3}),
    ]


NAMES = [name for name, _, _ in every_tool(Path("unused"))]
FREE = ("calculator",)  # an example of an expression stands in its description


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tool, dict[str, Any]]:
    return next((tool, arguments) for name, tool, arguments in every_tool(tmp_path) if name == request.param)


# -- schemas -----------------------------------------------------------------------------------------------------

# What OpenAI's strict mode knows of JSON Schema, as far as a tool made from a function can use it.
STRICT_KEYWORDS = {"type", "properties", "required", "additionalProperties", "description", "anyOf", "enum"}


def keywords(schema: Mapping[str, Any]) -> set[str]:
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    return set(schema).union(*map(keywords, below))


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form in which a strict server takes a schema: every parameter is required, an optional one takes null."""
    return {**schema, "required": list(schema["properties"])}


def test_the_schema_is_valid_also_in_strict_mode(case: tuple[Tool, dict[str, Any]]) -> None:
    tool, arguments = case
    Draft202012Validator.check_schema(tool.parameters)
    assert keywords(tool.parameters) <= STRICT_KEYWORDS
    assert tool.parameters["additionalProperties"] is False
    needed = {name: arguments[name] for name in tool.parameters["required"]}
    assert not problems(tool.parameters, needed)
    for sent in (arguments, needed):  # a strict server has every parameter filled, with null where nothing is wanted
        filled = {**dict.fromkeys(tool.parameters["properties"]), **sent}
        assert not problems(strict(tool.parameters), filled)
        assert not problems(tool.parameters, filled)


def test_both_providers_are_told_the_same(case: tuple[Tool, dict[str, Any]]) -> None:
    tool, _ = case
    anthropic, openai = tool.to_anthropic_schema(), tool.to_openai_schema()["function"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
    assert (anthropic["name"], anthropic["description"]) == (openai["name"], openai["description"])
    assert anthropic["input_schema"] == openai["parameters"] == tool.parameters


# -- descriptions ------------------------------------------------------------------------------------------------


def test_a_description_says_when_not_to_use_the_tool_and_each_parameter_has_an_example(
    case: tuple[Tool, dict[str, Any]],
) -> None:
    tool, _ = case
    if tool.name in FREE:
        return
    assert re.search(r"\b(?:not|no|Nothing else)\b|is better", tool.description), tool.description
    for name, schema in tool.parameters["properties"].items():
        assert re.search(r'such as|"metric"', schema["description"]), (tool.name, name)


def test_what_takes_words_shows_them_in_both_languages(case: tuple[Tool, dict[str, Any]]) -> None:
    tool, _ = case
    words = [name for name, schema in tool.parameters["properties"].items() if schema.get("type") == "string"]
    if words and tool.name not in FREE:
        assert any(re.search("[\u4e00-\u9fff]", tool.parameters["properties"][name]["description"]) for name in words)


def test_no_two_tools_do_the_same(tmp_path: Path) -> None:
    registry = ToolRegistry([*standard_tools(live=True), *note_tools(Notebook(tmp_path / "n.sqlite"))])
    beginnings = {tool.name: tool.description.split()[:3] for tool in registry}
    assert len({str(words) for words in beginnings.values()}) == len(registry), beginnings


# -- calls -------------------------------------------------------------------------------------------------------


def test_a_scripted_model_can_call_the_tool_in_both_loops(case: tuple[Tool, dict[str, Any]]) -> None:
    tool, arguments = case
    native = Reply("", tool_calls=(ToolCall("1", tool.name, arguments),), stop_reason="tool_calls")
    text = f"Thought: try\nAction: {tool.name}({json.dumps(arguments)})"
    agents: list[Agent] = [
        ToolUseAgent(ScriptedModel([native, Reply("done")]), ToolRegistry([tool])),
        TextReActAgent(ScriptedModel([text, "Final Answer: done"]), ToolRegistry([tool])),
    ]
    for agent in agents:
        trace = agent.run("Try the tool.")
        (result,) = trace.steps[0].results
        assert not result.is_error, result.content
        assert trace.answer == "done"


def test_the_stand_in_fills_the_parameters_so_that_they_fit(case: tuple[Tool, dict[str, Any]]) -> None:
    tool, _ = case
    (call,) = OfflineModel().reply([Message("user", "Kyoto 2")], tools=[tool], tool_choice=tool.name).tool_calls
    assert not problems(tool.parameters, call.arguments)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the capital of Australia?", "Canberra"),
        ("What is (23 + 45) * 2?", "136"),
        ("北京今天天气怎么样？", "示例数据"),
    ],
)
def test_the_stand_in_is_not_confused_by_a_search_that_names_the_web(question: str, answer: str) -> None:
    def offline(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("no network")

    backend = Wikipedia(transport=httpx2.MockTransport(offline))
    tools = ToolRegistry([calculator, make_search(backend=backend), weather, make_read_url()])
    agents: list[Agent] = [ToolUseAgent(OfflineModel(), tools), TextReActAgent(OfflineModel(), tools)]
    for agent in agents:
        assert answer in (agent.run(question).answer or "")


def test_the_stand_in_reads_what_a_web_search_found() -> None:
    page = {"title": "Zog", "index": 1, "extract": "The capital of Zog is Zogville.", "fullurl": "https://zog.example/"}
    found = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"query": {"pages": [page]}}))
    agent = ToolUseAgent(OfflineModel(), ToolRegistry([make_search(backend=Wikipedia(transport=found))]))
    trace = agent.run("What is the capital of Zog?")
    assert trace.answer == "The capital of Zog is Zogville.\nSources: https://zog.example/"


# -- the registry ------------------------------------------------------------------------------------------------


def test_without_live_the_tools_are_those_of_the_lessons_whatever_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-0123456789")
    tools = standard_tools()
    assert tools.list_tools() == ["calculator", "search", "weather"]
    assert tools.get("search") is search
    assert tools.get("weather") is weather


def test_live_tools_search_the_web_and_read_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = standard_tools(live=True)
    assert tools.list_tools() == ["calculator", "search", "weather", "read_url"]
    assert "Search the web" in tools.get("search").description
    assert "forecast" in tools.get("weather").description
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    assert standard_tools(live=True).list_tools() == ["calculator", "search", "weather"]


def test_a_named_search_is_used_in_either_case(monkeypatch: pytest.MonkeyPatch) -> None:
    assert standard_tools("almanac", live=True).get("search") is search
    assert "Search the web" in standard_tools("wikipedia").get("search").description
    monkeypatch.setenv("REACT_LAB_SEARCH", "wikipedia")
    assert "Search the web" in standard_tools().get("search").description
    with pytest.raises(ConfigurationError, match="TAVILY_API_KEY"):
        standard_tools("tavily")


def test_the_examination_calls_what_needs_no_key_and_what_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(live_calls("en")) == ["search (duckduckgo)", "search (wikipedia)", "weather", "read_url"]
    monkeypatch.setenv("SERPAPI_KEY", "0123456789")
    assert "search (serpapi)" in live_calls("zh")


def test_the_examination_says_of_each_call_what_came_or_what_went_wrong() -> None:
    def fails() -> str:
        raise ToolError("it is\nblocked")

    said: list[str] = []
    assert not examine_live(said.append, {"bad": fails, "good": lambda: "came\nback " + "x" * 200})
    assert said == ["  --  bad: it is blocked", "  ok  good: came back " + "x" * 90 + "…"]
    assert examine_live(said.append, {"good": lambda: ""})
