"""MCP both ways: the SDK's own client and server in this process and over stdio, and a server of the package index."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from react_lab import ToolCall, ToolRegistry, tool
from react_lab.errors import ConfigurationError
from react_lab.tools.base import Schema
from react_lab.tools.mcp import Connection, McpTool, make_server, mcp_tools
from react_lab.tools.standard import standard_tools, tools_named

mcp = pytest.importorskip("mcp")

PIXEL = base64.b64encode(b"\x89PNG" + b"\0" * 11).decode()


def server(**tools: Any) -> Any:
    """The SDK's own server in this process."""
    from mcp.server import MCPServer

    made = MCPServer("test")
    for name, function in tools.items():
        made.add_tool(function, name=name)
    return made


def raw_server(*told: Any, answer: Any = None) -> Any:
    """A server of the lower level, which says what it is made to say."""
    from mcp.server.lowlevel import Server
    from mcp.types import ListToolsResult

    async def on_list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=list(told))

    async def on_call_tool(*_: Any) -> Any:
        return answer

    return Server("raw", on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def described(name: str, schema: Schema | None = None, **more: Any) -> Any:
    return mcp.types.Tool(name=name, input_schema=schema or {"type": "object"}, **more)


@pytest.fixture
def mount() -> Iterator[Any]:
    """Mounts a server's tools, and closes the connection when the test is over."""
    connections: list[Connection] = []

    def mounted(source: Any, **options: Any) -> ToolRegistry:
        tools = mcp_tools(source, **options)
        connections.extend(item.connection for item in tools if isinstance(item, McpTool))
        return ToolRegistry(tools)

    yield mounted
    for connection in connections:
        connection.close()


# -- their tools for our agents ----------------------------------------------------------------------------------


def test_a_server_s_tools_are_tools_like_any_other(mount: Any) -> None:
    def add(a: int, b: int = 2) -> int:
        """Add two numbers."""
        return a + b

    tools = mount(server(add=add))
    assert tools.list_tools() == ["add"]
    assert tools.get("add").description == "Add two numbers."
    assert tools.execute("add", {"a": 1}) == "3"
    assert tools.execute("add", {"a": "x"}).startswith("Error: add was not run, its arguments do not fit: a: 'x'")


def test_a_tool_that_fails_is_an_error_result(mount: Any) -> None:
    from mcp.server.mcpserver.exceptions import ToolError

    def fail() -> str:
        raise ToolError("the well is dry")

    result = mount(server(fail=fail)).run(ToolCall("1", "fail", {}))
    assert result.is_error
    assert "the well is dry" in result.content


def test_what_is_no_text_is_named(mount: Any) -> None:
    types = mcp.types
    link = types.ResourceLink(name="log", uri="file:///log.txt")
    text = types.TextResourceContents(uri="file:///a.txt", text="inside")
    blob = types.BlobResourceContents(uri="file:///b.bin", blob=PIXEL)
    content = [
        types.TextContent(text="a text"),
        types.ImageContent(data=PIXEL, mime_type="image/png"),
        types.AudioContent(data=PIXEL, mime_type="audio/wav"),
        link,
        types.EmbeddedResource(resource=text),
        types.EmbeddedResource(resource=blob),
    ]
    answer = types.CallToolResult(content=content, structured_content={"told": "already"})
    assert mount(raw_server(described("many"), answer=answer)).execute("many").splitlines() == [
        "a text",
        "[image, image/png, 15 bytes]",
        "[audio, audio/wav, 15 bytes]",
        "[log: file:///log.txt]",
        "inside",
        "[file:///b.bin]",
    ]


def test_data_without_text_is_given_as_json(mount: Any) -> None:
    answer = mcp.types.CallToolResult(content=[], structured_content={"城市": ["北京"]})
    assert mount(raw_server(described("data"), answer=answer)).execute("data") == '{"城市": ["北京"]}'
    nothing = mcp.types.CallToolResult(content=[])
    assert mount(raw_server(described("data"), answer=nothing)).execute("data") == "(no output)"


def test_names_are_made_legal_and_unlike_those_in_use(mount: Any) -> None:
    answer = mcp.types.CallToolResult(content=[mcp.types.TextContent(text="ok")])
    names = ["search", "file.read", "file/read", "x" * 100, "读取"]
    tools = mount(raw_server(*map(described, names), answer=answer), taken=["search"])
    assert tools.list_tools() == ["search_2", "file_read", "file_read_2", "x" * 60, "__"]
    assert [tools.execute(name) for name in tools.list_tools()] == ["ok"] * 5


def test_only_what_is_called_read_only_counts_as_without_effects(mount: Any) -> None:
    hints = {"reads": True, "writes": False, "silent": None}
    told = [described(name, annotations=mcp.types.ToolAnnotations(read_only_hint=hint)) for name, hint in hints.items()]
    tools = mount(raw_server(*told, described("bare")))
    assert [item.has_effects for item in tools] == [False, True, True, True]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}},
        {"type": "object", "anyOf": [{"properties": {"a": {"$ref": "file:///etc/passwd"}}}]},
        {"type": "object", "properties": {"a": {"type": "no such type"}}},
    ],
)
def test_a_schema_that_leads_elsewhere_is_refused_and_nothing_is_fetched(schema: Schema) -> None:
    with pytest.raises(ConfigurationError, match="the schema of the MCP tool 'odd' is of no use"):
        mcp_tools(raw_server(described("odd", schema)))


def test_a_schema_may_refer_to_itself(mount: Any) -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}}
    answer = mcp.types.CallToolResult(content=[mcp.types.TextContent(text="ok")])
    tools = mount(raw_server(described("trees", schema), answer=answer))
    assert tools.execute("trees", {"a": {"left": {"left": {}}}}) == "ok"
    assert "do not fit" in tools.execute("trees", {"a": {"left": 1}})


def test_calls_of_one_turn_run_side_by_side(mount: Any) -> None:
    running = []

    async def wait(name: str) -> str:
        running.append(name)
        while len(running) < 3:
            await asyncio.sleep(0.01)
        return name

    tools = mount(server(wait=wait))
    results = tools.run_all([ToolCall(str(n), "wait", {"name": str(n)}) for n in range(3)])
    assert [result.content for result in results] == ["0", "1", "2"]


def test_a_call_that_takes_too_long_is_given_up(mount: Any) -> None:
    async def sleep() -> str:
        await asyncio.sleep(60)
        return ""

    tools = mount(server(sleep=sleep), timeout_s=1.0)
    started = time.monotonic()
    assert tools.run(ToolCall("1", "sleep", {})).is_error
    assert time.monotonic() - started < 5


def test_after_the_end_of_the_connection_a_call_says_so() -> None:
    tools = mcp_tools(server(hello=lambda: "hello"))
    assert isinstance(tools[0], McpTool)
    tools[0].connection.close()
    tools[0].connection.close()
    result = ToolRegistry(tools).run(ToolCall("1", tools[0].name, {}))
    assert result.content == "Error: the connection to the MCP server is closed; do without its tools"


# -- our tools for their clients ---------------------------------------------------------------------------------


def seen_by_a_client(registry: ToolRegistry, *calls: tuple[str, dict[str, Any]], **options: Any) -> Any:
    """What the SDK's client gets to see of our tools."""

    async def look() -> Any:
        async with mcp.Client(make_server(registry, **options)) as client:
            told = (await client.list_tools()).tools
            return told, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(look())


def test_a_client_sees_our_tools_as_a_model_does() -> None:
    @tool(has_effects=True)
    def send(text: str) -> str:
        """Send a text."""
        return f"sent {text}"

    registry = standard_tools()
    registry.register(send)
    told, results = seen_by_a_client(registry, ("calculator", {"expression": "6 * 7"}), ("send", {"text": "hi"}))
    assert [item.name for item in told] == registry.list_tools()
    assert [item.input_schema for item in told] == [item.parameters for item in registry]
    assert [item.annotations.read_only_hint for item in told] == [True, True, True, False]
    assert [result.content[0].text for result in results] == ["42", "sent hi"]


def test_a_client_is_told_in_the_language_that_was_chosen() -> None:
    told, _ = seen_by_a_client(standard_tools(), language="zh")
    assert told[0].description.startswith("计算一个算式")
    assert "如" in told[0].input_schema["properties"]["expression"]["description"]


def test_a_client_s_mistakes_are_error_results() -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [("calculator", {"expression": "1/0"}), ("calculator", {}), ("nope", {})]
    _, results = seen_by_a_client(standard_tools(), *wrong)
    assert [result.is_error for result in results] == [True, True, True]
    texts = [result.content[0].text for result in results]
    assert texts[0] == "division by zero: the result is undefined"
    assert "do not fit" in texts[1]
    assert "the tools are" in texts[2]


# -- over stdio --------------------------------------------------------------------------------------------------

IMPORTS = "from react_lab.tools.mcp import serve; from react_lab.tools.standard import standard_tools"


def command(before: str = "") -> str:
    """The command line of our server, which does something else before."""
    return f"{sys.executable} -c '{IMPORTS}; {before}serve(standard_tools())'"


@pytest.mark.slow
def test_our_server_and_our_client_understand_each_other_over_stdio(mount: Any) -> None:
    tools = mount(command("print(1); "))  # which does not belong there, and is passed over
    assert tools.list_tools() == ["calculator", "search", "weather"]
    assert tools.execute("calculator", {"expression": "6 * 7"}) == "42"
    assert tools.execute("calculator", {"expression": "x"}).startswith("Error: 'x' (Name) is not allowed")


@pytest.mark.slow
def test_keys_are_not_handed_on_to_a_server_but_what_is_named_is(mount: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    script = Path("told.py")
    script.write_text(
        "import os\nfrom mcp.server import MCPServer\nserver = MCPServer('told')\n"
        "@server.tool()\ndef told() -> str:\n    return str(dict(os.environ))\nserver.run()\n",
        encoding="utf-8",
    )
    content = mount(f"{sys.executable} told.py", env={"NAMED": "yes"}).execute("told")
    assert "sk-0123456789" not in content
    assert "'NAMED': 'yes'" in content


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("no-such-command-anywhere", "No such file"),
        (f"{sys.executable} -c 1/0", "ZeroDivisionError"),
        (f"{sys.executable} -c 'print(1)'", "Connection closed"),
        ("", "no MCP server is named"),
        ("run 'it", "is no command line: No closing quotation"),
        ("http://127.0.0.1:9/mcp", "attempts failed"),
    ],
)
def test_a_server_that_can_t_be_reached_is_the_person_s_to_know(source: str, told: str) -> None:
    started = time.monotonic()
    with pytest.raises(ConfigurationError, match=told):
        mcp_tools(source, timeout_s=20.0)
    assert time.monotonic() - started < 25


@pytest.mark.slow
def test_a_server_that_says_nothing_is_given_up() -> None:
    started = time.monotonic()
    with pytest.raises(ConfigurationError, match="TimeoutError"):
        mcp_tools(f"{sys.executable} -c 'import time; time.sleep(60)'", timeout_s=1.0)
    assert time.monotonic() - started < 15


@pytest.mark.slow
def test_a_server_that_dies_is_an_error_of_each_call_from_then_on(mount: Any) -> None:
    script = Path("dies.py")
    script.write_text(
        "import os\nfrom mcp.server import MCPServer\nserver = MCPServer('dies')\n"
        "@server.tool()\ndef die() -> str:\n    os._exit(1)\nserver.run()\n",
        encoding="utf-8",
    )
    tools = mount(f"{sys.executable} dies.py")
    started = time.monotonic()
    for _ in range(2):
        assert "Connection closed" in tools.execute("die")
    assert time.monotonic() - started < 10


def test_a_server_without_tools_is_the_person_s_to_know() -> None:
    from mcp.server.lowlevel import Server

    with pytest.raises(ConfigurationError, match="does not tell its tools"):
        mcp_tools(Server("bare"))


@pytest.mark.slow
def test_a_program_with_an_open_connection_ends_by_itself(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        f"from react_lab.tools.mcp import mcp_tools\ntools = mcp_tools({command()!r})\n"
        "print(tools[0].execute(expression='6 * 7'))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("42\n", "")


@pytest.mark.slow
def test_a_server_of_the_package_index_is_mounted_and_called() -> None:
    pytest.importorskip("mcp_server_time")
    tools = tools_named([f"calculator,mcp={sys.executable} -m mcp_server_time --local-timezone=UTC"])
    assert tools.list_tools() == ["calculator", "get_current_time", "convert_time"]
    asked = {"source_timezone": "Asia/Shanghai", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    assert "T13:00:00+09:00" in tools.execute("convert_time", asked)
    assert tools.execute("convert_time", {**asked, "target_timezone": "Mars/X"}).startswith("Error: ")
