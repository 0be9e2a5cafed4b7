"""Every tool as models see it: schemas that both providers take, also strictly, and calls that both loops can make."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema import Draft202012Validator

from react_lab import Agent, Message, OfflineModel, Reply, ScriptedModel, TextReActAgent, ToolCall, ToolUseAgent
from react_lab.errors import ConfigurationError, ToolError
from react_lab.tools.base import Tool
from react_lab.tools.calculator import calculator
from react_lab.tools.files import file_tools
from react_lab.tools.live import examine_live, live_calls
from react_lab.tools.notes import Notebook, note_tools
from react_lab.tools.open_meteo import OpenMeteo
from react_lab.tools.python_code import make_python
from react_lab.tools.read_url import make_read_url
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.schema import problems
from react_lab.tools.search import make_search, search
from react_lab.tools.sql import make_sql
from react_lab.tools.standard import TOOLS, standard_tools, taken_apart, tools_named
from react_lab.tools.table import make_table
from react_lab.tools.weather import make_weather, weather
from react_lab.tools.web_search import Wikipedia
from tests.test_weather_live import Servers

NO_ARTICLES = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"batchcomplete": True}))
TEXT = httpx2.MockTransport(
    lambda request: httpx2.Response(200, text="some text", headers={"Content-Type": "text/plain"})
)


def tables(folder: Path) -> Path:
    (folder / "city.csv").write_text("name,people\nParis,2100000\n", encoding="utf-8")
    return folder


def zoo(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "zoo.db")) as file, file:
        file.execute("CREATE TABLE animal (name TEXT)")
    return folder / "zoo.db"


def weather_service() -> OpenMeteo:
    return OpenMeteo(transport=httpx2.MockTransport(Servers()))


def note_tool(folder: Path, name: str) -> Tool:
    return ToolRegistry(note_tools(Notebook(folder / "notes.sqlite"))).get(name)


def file_tool(folder: Path, name: str) -> Tool:
    return ToolRegistry(file_tools(tables(folder))).get(name)


# Each tool, made in a folder, with an example of its arguments; there may be two forms of a tool.
EVERY_TOOL: Mapping[str, tuple[Callable[[Path], Tool], Mapping[str, Any]]] = {
    "calculator": (lambda _: calculator, {"expression": "6 * 7"}),
    "almanac": (lambda _: search, {"query": "Australia capital"}),
    "web search": (
        lambda _: make_search(backend=Wikipedia(transport=NO_ARTICLES)),
        {"query": "rover", "limit": 2},
    ),
    "sample weather": (lambda _: weather, {"city": "Paris"}),
    "live weather": (
        lambda _: make_weather(live=True, service=weather_service()),
        {"city": "Paris", "days": 2, "units": "metric"},
    ),
    "read_url": (lambda _: make_read_url(transport=TEXT), {"url": "https://a.example/", "part": 1}),
    "write_note": (lambda folder: note_tool(folder, "write_note"), {"text": "A note."}),
    "read_notes": (lambda folder: note_tool(folder, "read_notes"), {"limit": 3}),
    "search_notes": (lambda folder: note_tool(folder, "search_notes"), {"query": "note", "limit": 3}),
    "list_files": (lambda folder: file_tool(folder, "list_files"), {"folder": "notes"}),
    "read_file": (lambda folder: file_tool(folder, "read_file"), {"name": "city.csv", "part": 1}),
    "search_files": (lambda folder: file_tool(folder, "search_files"), {"text": "Paris"}),
    "table": (
        lambda folder: make_table(tables(folder)),
        {"name": "city.csv", "plot": None, "x": None, "y": None},
    ),
    "sql": (lambda folder: make_sql(zoo(folder)), {"query": "SELECT name FROM animal"}),
    "python": (lambda _: make_python(), {"code": "print(6 * 7)"}),
}
FORMAL = ("calculator", "sql", "python")  # what they take is written in neither language


@pytest.fixture(params=EVERY_TOOL)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tool, Mapping[str, Any]]:
    make, arguments = EVERY_TOOL[request.param]
    return make(tmp_path), arguments


# -- schemas -----------------------------------------------------------------------------------------------------

# What OpenAI's strict mode knows of JSON Schema, as far as a tool made from a function can use it.
STRICT_KEYWORDS = {"type", "properties", "required", "additionalProperties", "description", "anyOf", "enum"}


def keywords(schema: Mapping[str, Any]) -> set[str]:
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    return set(schema).union(*map(keywords, below))


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form in which a strict server takes a schema: every parameter is required, an optional one takes null."""
    return {**schema, "required": list(schema["properties"])}


def test_the_schema_is_valid_also_in_strict_mode(case: tuple[Tool, Mapping[str, Any]]) -> None:
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


def test_both_providers_are_told_the_same(case: tuple[Tool, Mapping[str, Any]]) -> None:
    tool, _ = case
    anthropic, openai = tool.to_anthropic_schema(), tool.to_openai_schema()["function"]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)
    assert (anthropic["name"], anthropic["description"]) == (openai["name"], openai["description"])
    assert anthropic["input_schema"] == openai["parameters"] == tool.parameters


# -- calls -------------------------------------------------------------------------------------------------------


def test_a_scripted_model_can_call_the_tool_in_both_loops(case: tuple[Tool, Mapping[str, Any]]) -> None:
    tool, arguments = case
    native = Reply("", tool_calls=(ToolCall("1", tool.name, arguments),), stop_reason="tool_calls")
    text = f"Thought: try\nAction: {tool.name}({json.dumps(dict(arguments))})"
    agents: list[Agent] = [
        ToolUseAgent(ScriptedModel([native, Reply("done")]), ToolRegistry([tool])),
        TextReActAgent(ScriptedModel([text, "Final Answer: done"]), ToolRegistry([tool])),
    ]
    for agent in agents:
        trace = agent.run("Try the tool.")
        (result,) = trace.steps[0].results
        assert not result.is_error, result.content
        assert trace.answer == "done"


def test_the_stand_in_fills_the_parameters_so_that_they_fit(case: tuple[Tool, Mapping[str, Any]]) -> None:
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


# -- tools by name -----------------------------------------------------------------------------------------------


def test_tools_are_picked_by_name_in_the_order_in_which_they_are_named(tmp_path: Path) -> None:
    tables(tmp_path)
    zoo(tmp_path)
    named = tools_named(["files=.,python , notes", "calculator", "sql=zoo.db", "table=."])
    assert named.list_tools() == [
        *("list_files", "read_file", "search_files", "python", "write_note", "read_notes", "search_notes"),
        *("calculator", "sql", "table"),
    ]


def test_the_standard_tools_can_be_named_with_others() -> None:
    assert tools_named(["standard"]).list_tools() == standard_tools().list_tools()
    assert tools_named(["standard,python,calculator"]).list_tools() == ["calculator", "search", "weather", "python"]
    assert tools_named(["standard"], live=True).list_tools() == ["calculator", "search", "weather", "read_url"]


def test_a_search_is_named_with_its_backend() -> None:
    assert "Search the web" in tools_named(["search=wikipedia,standard"]).get("search").description
    assert "almanac" in tools_named(["search"]).get("search").description
    with pytest.raises(ConfigurationError, match="unknown search 'google'"):
        tools_named(["search=google"])


def test_several_files_are_named_one_by_one(tmp_path: Path) -> None:
    zoo(tmp_path).rename(tmp_path / "other.db")
    zoo(tmp_path)
    assert "other.animal (name TEXT); zoo.animal (name TEXT)" in tools_named(["sql=other.db,sql=zoo.db"]).describe()


def test_a_notebook_is_named_with_its_file(tmp_path: Path) -> None:
    tools_named(["notes=mine.sqlite"]).execute("write_note", {"text": "A note."})
    assert (tmp_path / "mine.sqlite").exists()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("calculator", ["calculator"]),
        (" calculator , files=a b,", ["calculator", "files=a b"]),
        ("mcp=run --tools a,b", ["mcp=run --tools a,b"]),
        ("calculator, mcp=run a,files=b", ["calculator", "mcp=run a,files=b"]),
        ("files=mcp=x", ["files=mcp=x"]),
    ],
)
def test_names_are_separated_by_commas_but_for_a_command(text: str, parts: list[str]) -> None:
    assert taken_apart(text) == parts


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("calculater", "unknown tool 'calculater'; the tools are: calculator, standard"),
        ("Search", "unknown tool 'Search'; the tools are: search"),
        ("=x", "unknown tool ''"),
        ("files", "files has to know what it works on; write files=FOLDER"),
        ("sql=", "write sql=FILE..."),
        ("mcp=", "write mcp=COMMAND..."),
        ("python=3", "python takes nothing after it, not '3'; write python"),
        ("files=.,files=..", "files is named for . and for ..; write files=FOLDER once"),
        ("files=nowhere", "nowhere is no folder"),
        ("sql=nowhere.db", "can't read .*nowhere.db"),
        ("mcp=no-such-command-anywhere", "can't connect to the MCP server"),
    ],
)
def test_what_is_named_wrongly_is_told_with_the_right_form(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        tools_named([name])


def test_every_name_makes_tools_or_tells_what_it_needs() -> None:
    for name, takes in TOOLS.items():
        if takes and not takes.startswith("["):
            with pytest.raises(ConfigurationError, match=f"write {name}={re.escape(takes)}"):
                tools_named([name])
        else:
            assert len(tools_named([name])) > 0


def test_what_may_change_between_two_calls_is_not_cached(tmp_path: Path) -> None:
    registry = tools_named([f"standard,notes={tmp_path / 'n.sqlite'},files={tmp_path}"])
    kept = [tool.name for tool in registry if tool.cacheable]
    assert kept == ["calculator", "search", "weather"]
