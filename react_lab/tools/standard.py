"""The tools by name: those that the command line and the lessons start with, and those that a person picks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec

from react_lab.errors import ConfigurationError
from react_lab.tools.base import Tool
from react_lab.tools.calculator import calculator
from react_lab.tools.files import file_tools
from react_lab.tools.notes import Notebook, note_tools
from react_lab.tools.python_code import make_python
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.search import choose_search, make_search
from react_lab.tools.sql import make_sql
from react_lab.tools.table import make_table
from react_lab.tools.weather import make_weather

# What can be named, and what stands after its "=": brackets where it may be left out, dots where there may be several.
TOOLS: Mapping[str, str] = {
    "standard": "",
    "calculator": "",
    "search": "[BACKEND]",
    "weather": "",
    "read_url": "",
    "notes": "[FILE]",
    "files": "FOLDER",
    "table": "FOLDER",
    "sql": "FILE...",
    "python": "",
    "mcp": "COMMAND...",
}
CACHEABLE = ("calculator", "search", "weather", "read_url")  # files, notes and databases may change at any time


def standard_tools(search: str | None = None, *, live: bool = False) -> ToolRegistry:
    """A new registry with calculator, search and weather.

    Args:
        search: A backend's name; without one, `choose_search` decides.
        live: For a live model: real weather and, where the extra `web` is installed, `read_url`. Else everything is
            the same in every run, and needs neither key nor network.
    Raises:
        ConfigurationError: there is no such backend, or it lacks its key or a package.
    """
    return tools_named(["standard"], search=search, live=live)


def tools_named(names: Iterable[str], *, search: str | None = None, live: bool = False) -> ToolRegistry:
    """A new registry with the tools that are named.

    Args:
        names: Of `TOOLS`, one or several with commas between, such as `"standard,files=docs"`. After `mcp=` all that
            follows is the server's command or address. Where a tool takes several files, it is named for each:
            `"sql=a.csv,sql=b.csv"`.
        search: As for `standard_tools`, as is `live`.
    Raises:
        ConfigurationError: there is no tool of that name, or it can't be made of what is said after it.
    """
    asked: dict[str, list[str]] = {}
    for name in (name for text in names for name in taken_apart(text)):
        if name == "standard":
            asked |= {part: asked.get(part, [""]) for part in standard_names(live=live)}
        else:
            known, _, what = name.partition("=")
            asked.setdefault(known, []).append(what)
    tools: list[Tool] = []
    for name, whats in asked.items():
        check(name, whats)
        made = make(name, whats, search=search, live=live, taken=[tool.name for tool in tools])
        for item in made:
            item.cacheable = name in CACHEABLE
        tools += made
    return ToolRegistry(tools)


def taken_apart(text: str) -> list[str]:
    plain, *server = re.split(r"(?:^|,)\s*(?=mcp=)", text, maxsplit=1)  # a command may hold commas
    return [name for name in map(str.strip, plain.split(",")) if name] + server


def standard_names(*, live: bool) -> list[str]:
    pages = live and find_spec("trafilatura") is not None
    return ["calculator", "search", "weather", *(["read_url"] if pages else [])]


def check(name: str, whats: list[str]) -> None:
    """Make sure that a tool is named as it has to be."""
    if name not in TOOLS:
        near = get_close_matches(name.casefold(), TOOLS, n=1, cutoff=0.5)
        known = ", ".join([*near, *(other for other in TOOLS if other not in near)])
        raise ConfigurationError(f"unknown tool {name!r}; the tools are: {known}")
    takes = TOOLS[name]
    right = f"{name}={takes}" if takes else name
    if any(whats) and not takes:
        raise ConfigurationError(f"{name} takes nothing after it, not {whats[0]!r}; write {right}")
    if not all(whats) and takes and not takes.startswith("["):
        raise ConfigurationError(f"{name} has to know what it works on; write {right}")
    if len(set(whats)) > 1 and not takes.endswith("..."):
        raise ConfigurationError(f"{name} is named for {' and for '.join(whats)}; write {right} once")


def make(name: str, whats: list[str], *, search: str | None, live: bool, taken: Collection[str]) -> list[Tool]:
    """The tools of a name that is checked; most are one."""
    first = whats[0]
    match name:
        case "calculator":
            return [calculator]
        case "search":
            return [make_search(choose_search(first or search, model_is_live=live))]
        case "weather":
            return [make_weather(live=live)]
        case "read_url":
            from react_lab.tools.read_url import make_read_url

            return [make_read_url()]
        case "notes":
            return note_tools(Notebook(first or None))
        case "files":
            return file_tools(first)
        case "table":
            return [make_table(first)]
        case "sql":
            return [make_sql(*whats)]
        case "python":
            return [make_python()]
    from react_lab.tools.mcp import mcp_tools

    tools: list[Tool] = []
    for server in whats:
        tools += mcp_tools(server, taken=[*taken, *(tool.name for tool in tools)])
    return tools
