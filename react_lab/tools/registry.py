"""A named set of tools, and the one place where a call is checked and run."""

from __future__ import annotations

import difflib
import json
import re
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from react_lab.errors import ToolError
from react_lab.language import Language
from react_lab.messages import ToolCall, ToolResult
from react_lab.tools.base import Schema, Tool, as_text
from react_lab.tools.schema import problems
from react_lab.tools.threads import run_together, start, wait_for

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what both Anthropic and OpenAI accept
MAX_THREADS = 8


class ToolRegistry:
    """The tools of an agent, by name.

    A mistake of the caller (a name that is taken or not allowed) raises; a mistake of the model never does: it
    becomes an error result that says what to do instead.

    Args:
        timeout_s: How long one call may take. A tool that takes longer is left to itself, and the model is told.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, timeout_s: float | None = None) -> None:
        if timeout_s is not None and timeout_s <= 0:
            raise ValueError(f"timeout_s must be more than 0, not {timeout_s}")
        self.timeout_s = timeout_s
        self._tools: dict[str, Tool] = {}
        for item in tools:
            self.register(item)

    def register(self, new: Tool) -> Tool:
        """Add a tool and give it back.

        Raises:
            TypeError: it is not a Tool.
            ValueError: the name is taken, or has characters that providers refuse.
        """
        if not isinstance(new, Tool):
            raise TypeError(f"{new!r} is not a Tool: subclass Tool, or put @tool above a typed function")
        if not NAME.fullmatch(new.name):
            raise ValueError(f"tool name {new.name!r}: use 1 to 64 of the characters a-z A-Z 0-9 _ -")
        if new.name in self._tools:
            raise ValueError(f"a tool named {new.name!r} is registered already; give one of them another name")
        self._tools[new.name] = new
        return new

    def get(self, name: str) -> Tool:
        """The tool of that name.

        Raises:
            KeyError: there is none; the message lists the names, the nearest first.
        """
        try:
            return self._tools[name]
        except KeyError:
            raise KeyError(self._unknown(name)) from None

    def list_tools(self) -> list[str]:
        """The names, in the order of registration."""
        return list(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def told_in(self, language: Language) -> tuple[Tool, ...]:
        """All tools with their texts in a language, as a model gets them."""
        return tuple(item.told_in(language) for item in self)

    def schemas(
        self, provider: Literal["anthropic", "openai"] = "anthropic", *, language: Language = "en"
    ) -> list[Schema]:
        """All tools as a provider's API takes them."""
        if provider == "openai":
            return [item.to_openai_schema() for item in self.told_in(language)]
        return [item.to_anthropic_schema() for item in self.told_in(language)]

    def describe(self, language: Language = "en") -> str:
        """All tools as text for a prompt: a line of signature and description each, its parameters below."""
        return "\n".join(describe(item) for item in self.told_in(language))

    def execute(self, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        """Run a tool by name and give back what the model would read; a mistake comes back as an error text."""
        return self.run(ToolCall("", name, arguments or {})).content

    def run(self, call: ToolCall, *, max_chars: int = 4000) -> ToolResult:
        """Check a model's call and run it. Whatever goes wrong is a result with `is_error=True`."""
        content = ""
        trouble: Failure | None = None
        problem = call.error or self._problem(call)
        started = time.perf_counter()
        if problem is None:
            try:
                content = as_text(self._execute(call))
            except Exception as error:  # a tool is foreign code: any failure is the model's to read
                problem = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
                trouble = Failure(traceback.format_exc())
                trouble.error = error.with_traceback(None)
        return ToolResult(
            call_id=call.id,
            name=call.name,
            content=shorten(content if problem is None else f"Error: {problem}", max_chars),
            is_error=problem is not None,
            traceback=trouble,
            seconds=round(time.perf_counter() - started, 6),
        )

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        """Run a model's calls side by side and give back one result per call, in the calls' order.

        Args:
            calls: What the model asked for, in its order; may be empty.
            max_chars: Characters (not tokens) kept of each result: head and tail, with a note of what was left out.
        Raises:
            ValueError: `max_chars` is not positive. A model's mistake never raises: it is a result.
        """
        if max_chars < 1:
            raise ValueError(f"max_chars must be at least 1, not {max_chars}")
        results: list[ToolResult] = []
        for serial, group in groupby(calls, key=self._is_serial):
            batch = list(group)
            if serial or len(batch) == 1:
                results += [self.run(call, max_chars=max_chars) for call in batch]
            else:
                runs = [partial(self.run, call, max_chars=max_chars) for call in batch]
                results += run_together(runs, max_threads=MAX_THREADS)
        return tuple(results)

    def _execute(self, call: ToolCall) -> str:
        execute = partial(self._tools[call.name].execute, **call.arguments)
        if self.timeout_s is None:
            return execute()
        running = start(execute)
        if not wait_for([running], timeout_s=self.timeout_s):
            raise ToolError(f"{call.name} timed out after {self.timeout_s:g} s; ask for less, or do without it")
        return running.result()

    def _is_serial(self, call: ToolCall) -> bool:
        return call.name in self._tools and self._tools[call.name].serial

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name.casefold(), [key.casefold() for key in self._tools], cutoff=0.4)
        names = sorted(self._tools, key=lambda key: near.index(key.casefold()) if key.casefold() in near else len(near))
        return f"unknown tool {name!r}; the tools are: {', '.join(names) or '(none)'}"

    def _problem(self, call: ToolCall) -> str | None:
        """What is wrong with a call, in words that a model can act on."""
        if call.name not in self._tools:
            return self._unknown(call.name)
        found = problems(self._tools[call.name].parameters, call.arguments)
        if not found:
            return None
        takes = signature(self._tools[call.name])
        return f"{call.name} was not run, its arguments do not fit: {'; '.join(found)}. It takes {takes}"


class Wrapper(ToolRegistry):
    """Base of what is put around a registry: the same tools, and `run_all` does something of its own about the inner's.

    Wrappers stack, since each runs calls by the `run_all` of what it wraps.
    """

    def __init__(self, inner: ToolRegistry) -> None:
        super().__init__()
        self.inner = inner
        self._tools = inner._tools  # shared: what is registered with one is known to the other

    def run(self, call: ToolCall, *, max_chars: int = 4000) -> ToolResult:
        return self.run_all([call], max_chars=max_chars)[0]

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        return self.inner.run_all(calls, max_chars=max_chars)


class Failure(str):
    """The traceback of a tool that failed: a text for the person, and for wrappers the exception itself."""

    error: Exception


def signature(item: Tool) -> str:
    """A tool as a line of code: `weather(city: string, days: integer = 1)`."""
    required = item.parameters.get("required", ())
    parts = []
    for name, schema in item.parameters.get("properties", {}).items():
        default = "" if name in required else f" = {json.dumps(schema.get('default'), ensure_ascii=False)}"
        parts.append(f"{name}: {type_name(schema)}{default}")
    return f"{item.name}({', '.join(parts)})"


def type_name(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in a few words: `integer`, `"c" | "f"`, `string[]`."""
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(type_name(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return type_name(schema.get("items", {})) + "[]"
    return str(schema.get("type", "any"))


def describe(item: Tool) -> str:
    """A tool as a prompt shows it."""
    lines = [f"- {signature(item)}: {' '.join(item.description.split())}"]
    for name, schema in item.parameters.get("properties", {}).items():
        if "description" in schema:
            lines.append(f"    {name}: {' '.join(schema['description'].split())}")
    return "\n".join(lines)


def shorten(text: str, max_chars: int) -> str:
    """Head and tail of a text that is too long (an error message is often at the end), with a note between."""
    if len(text) <= max_chars:
        return text
    note = f"\n[... {len(text) - max_chars} characters left out ...]\n"
    head = (max_chars + 1) // 2
    tail = max_chars - head
    return text[:head] + note + (text[-tail:] if tail else "")
