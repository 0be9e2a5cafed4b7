"""The tools that the command line and the lessons start with. All of them work without key or network."""

from __future__ import annotations

from react_lab.tools.calculator import calculator
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.search import search
from react_lab.tools.weather import weather


def standard_tools() -> ToolRegistry:
    """A new registry with calculator, search and weather."""
    return ToolRegistry([calculator, search, weather])
