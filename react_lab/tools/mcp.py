"""The Model Context Protocol, both ways: tools of any MCP server for our agents, our tools for any MCP client.

The SDK is asynchronous and our loop is not: a connection lives in a thread of its own with an event loop, in which one
task opens and closes it; calls are handed over to it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import tempfile
import threading
import weakref
from collections.abc import Collection, Coroutine, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, suppress
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from react_lab.errors import ConfigurationError, ToolError
from react_lab.language import Language
from react_lab.messages import ToolCall
from react_lab.tools.base import Schema, Tool
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.threads import start, wait_for

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ContentBlock
    from mcp.types import Tool as ToldTool

T = TypeVar("T")
MAX_PAGES = 20  # of a server's list of tools
MAX_CHARS = 20_000  # of a result that our server gives
CLOSE_TIMEOUT_S = 10.0
SPARE_S = 5.0


# -- their tools for our agents ----------------------------------------------------------------------------------


def mcp_tools(
    server: Any, *, taken: Collection[str] = (), env: Mapping[str, str] | None = None, timeout_s: float = 60.0
) -> list[Tool]:
    """The tools of an MCP server, ready to be registered.

    The connection is closed when the last of them is gone, at the end of the program at the latest. Of the server's
    annotations one is believed: a tool that it does not call read-only counts as one with effects.

    Args:
        server: A command line such as `"uvx mcp-server-time"`, the address of a server, `"https://…/mcp"`, or what else
            the SDK's `Client` connects to, such as a server in this process.
        taken: Names that are in use; a tool of such a name gets another one.
        env: What the server's process gets to know of, beside the few variables that the SDK hands on (no keys).
        timeout_s: For the connection, and for each call.
    Raises:
        ConfigurationError: the package is missing, the server can't be reached, or a tool's schema is of no use.
    """
    require_mcp()
    connection = Connection(server, dict(env or {}), timeout_s)
    try:
        listed = connection.wait_for(list_tools(connection.client))
    except Exception as error:
        raise ConfigurationError(f"the MCP server {server!r} does not tell its tools: {reason(error)}") from error
    tools: list[Tool] = []
    for told in listed:
        check_schema(told.name, told.input_schema)
        name = free_name(told.name, {*taken, *(tool.name for tool in tools)})
        tools.append(McpTool(connection, told, name))
    return tools


class McpTool(Tool):
    """A tool of an MCP server."""

    def __init__(self, connection: Connection, told: ToldTool, name: str) -> None:
        self.connection = connection
        self.told = told
        self.name = name
        self.description = told.description or told.title or told.name
        self.parameters = {"type": "object", "properties": {}, **told.input_schema}
        self.has_effects = not (told.annotations and told.annotations.read_only_hint)

    def execute(self, **arguments: Any) -> str:
        result = self.connection.wait_for(self.connection.client.call_tool(self.told.name, arguments))
        if result.is_error:
            raise ToolError(text_of(result))
        return text_of(result)


class Connection:
    """A client that is connected as long as this object is there."""

    def __init__(self, server: Any, env: dict[str, str], timeout_s: float) -> None:
        self.timeout_s = timeout_s
        opened: Future[tuple[Client, asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:  # by the server, to stderr
            transport = connect_to(server, env, cast(TextIO, said))
            thread = threading.Thread(target=lambda: asyncio.run(hold(transport, opened, timeout_s)), daemon=True)
            thread.start()
            try:
                wait_for([opened])
            except Exception as error:
                said.seek(0)
                told = f"{reason(error)} {said.read()[-500:]}".strip()
                raise ConfigurationError(f"can't connect to the MCP server {server!r}: {told}") from error
        self.client, self.loop, over = opened.result()
        self.close = weakref.finalize(self, close, self.loop, over, thread)  # also at the end of the program

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the other thread do some work, and give back its result."""
        try:
            running = asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:  # the loop has ended
            work.close()
            raise ToolError("the connection to the MCP server is closed; do without its tools") from None
        try:
            if not wait_for([running], timeout_s=self.timeout_s + SPARE_S):  # the SDK's own limit comes first
                raise ToolError(f"the MCP server did not answer within {self.timeout_s:g} s; do without it")
        except BaseException:
            running.cancel()
            raise
        return running.result()


async def hold(
    transport: Any, opened: Future[tuple[Client, asyncio.AbstractEventLoop, asyncio.Event]], timeout_s: float
) -> None:
    """Connect, tell it, and stay connected until the event is set."""
    from mcp import Client

    try:
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(timeout_s):
                client = await stack.enter_async_context(Client(transport, read_timeout_seconds=timeout_s))
            over = asyncio.Event()
            opened.set_result((client, asyncio.get_running_loop(), over))
            await over.wait()
    except BaseException as error:
        if not opened.done():  # later there is nobody to tell, and each call finds out for itself
            opened.set_exception(error)


def close(loop: asyncio.AbstractEventLoop, over: asyncio.Event, thread: threading.Thread) -> None:
    with suppress(RuntimeError):  # the loop has ended by itself
        loop.call_soon_threadsafe(over.set)
    if thread is not threading.current_thread():  # where the garbage collector may run, too
        thread.join(CLOSE_TIMEOUT_S)


def connect_to(server: Any, env: dict[str, str], said: TextIO) -> Any:
    """What the SDK's client takes: a command line becomes a process."""
    from mcp import StdioServerParameters, stdio_client

    if not isinstance(server, str) or server.startswith(("http://", "https://")):
        return server
    parts = command_line(server)
    if not parts:
        raise ConfigurationError("no MCP server is named: give a command or an address")
    return stdio_client(StdioServerParameters(command=parts[0], args=parts[1:], env=env), errlog=said)


def command_line(text: str) -> list[str]:
    try:
        if os.name == "posix":
            return shlex.split(text)
        return [part.strip("\"'") for part in shlex.split(text, posix=False)]  # a backslash is part of a path
    except ValueError as error:
        raise ConfigurationError(f"{text!r} is no command line: {error}") from error


async def list_tools(client: Client) -> list[ToldTool]:
    tools: list[ToldTool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def reason(error: BaseException) -> str:
    """The first failure of a group of failures, in words."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that providers take and that is not in use."""
    legal = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:60] or "tool"
    return next(candidate for candidate in chain([legal], (f"{legal}_{n}" for n in count(2))) if candidate not in taken)


def check_schema(name: str, schema: Schema) -> None:
    """Make sure that arguments can be checked against a schema, without anything being fetched for it."""
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(schema)
        resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
        for reference in references(schema):
            resolver.lookup(reference)
    except (SchemaError, Unresolvable) as error:
        raise ConfigurationError(f"the schema of the MCP tool {name!r} is of no use: {error}") from error


def references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from (value for key, value in schema.items() if key in ("$ref", "$dynamicRef") and isinstance(value, str))
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from references(part)


def text_of(result: CallToolResult) -> str:
    """A result as a model reads it."""
    texts = [text_of_block(block) for block in result.content]
    if result.structured_content is not None and not any(block.type == "text" for block in result.content):
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return "\n".join(texts)


def text_of_block(block: ContentBlock) -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}, {block.mime_type}, {len(block.data) * 3 // 4} bytes]"
        case "resource_link":
            return f"[{block.title or block.name}: {block.uri}]"
    return getattr(block.resource, "text", f"[{block.resource.uri}]")


# -- our tools for their clients ---------------------------------------------------------------------------------


def serve(registry: ToolRegistry, *, language: Language = "en") -> None:
    """Serve the tools over stdin and stdout until the client hangs up."""
    require_mcp()
    from mcp.server.stdio import stdio_server

    async def run() -> None:
        server = make_server(registry, language=language)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    asyncio.run(run())


def make_server(registry: ToolRegistry, *, language: Language = "en") -> Server[Any]:
    """An MCP server with the registry's tools, told in a language."""
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult, ListToolsResult, TextContent, ToolAnnotations
    from mcp.types import Tool as ToldTool

    async def on_list_tools(*_: Any) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                ToldTool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.parameters,
                    annotations=ToolAnnotations(read_only_hint=not tool.has_effects),
                )
                for tool in registry.told_in(language)
            ]
        )

    async def on_call_tool(_: Any, asked: Any) -> CallToolResult:
        call = ToolCall("", asked.name, asked.arguments or {})
        result = await asyncio.wrap_future(start(partial(registry.run, call, max_chars=MAX_CHARS)))
        text = result.content.removeprefix("Error: ") if result.is_error else result.content
        return CallToolResult(content=[TextContent(text=text)], is_error=result.is_error)

    return Server("react-lab", version=version("react-lab"), on_list_tools=on_list_tools, on_call_tool=on_call_tool)


def require_mcp() -> None:
    if find_spec("mcp") is None:
        raise ConfigurationError("MCP needs a package: pip install 'react-lab[mcp]'")
