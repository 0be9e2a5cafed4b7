"""The tools that the command line and the lessons start with; without `live` they need neither key nor network."""

from __future__ import annotations

from importlib.util import find_spec

from react_lab.tools.calculator import calculator
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.search import choose_search, make_search
from react_lab.tools.weather import make_weather


def standard_tools(search: str | None = None, *, live: bool = False) -> ToolRegistry:
    """A new registry with calculator, search and weather.

    Args:
        search: A backend's name; without one, `choose_search` decides.
        live: For a live model: real weather and, where the extra `web` is installed, `read_url`. Else everything is
            the same in every run.
    Raises:
        ConfigurationError: there is no such backend, or it lacks its key or a package.
    """
    tools = [calculator, make_search(choose_search(search, model_is_live=live)), make_weather(live=live)]
    if live and find_spec("trafilatura"):
        from react_lab.tools.read_url import make_read_url

        tools.append(make_read_url())
    return ToolRegistry(tools)
