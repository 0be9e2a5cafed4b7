"""A tool: what a model is told of it, and what runs when the model calls it."""

from __future__ import annotations

import copy
import functools
import inspect
import json
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, overload

from react_lab.language import Language

Schema = dict[str, Any]

NO_OUTPUT = "(no output)"


class Tool(ABC):
    """Something a model can call.

    A subclass sets `name`, `description` and `parameters` and writes `execute`. The description is all that a
    model knows: it says what the tool does, when to use it and where its limits are. A Chinese question is answered
    with the Chinese texts, where the tool has them.
    """

    name: str
    description: str
    parameters: Schema  # JSON Schema of an object
    description_zh: str = ""
    notes_zh: Mapping[str, str] = {}  # what a parameter's description says, by the parameter's name
    serial: bool = False  # True: never run at the same time as another call
    has_effects: bool = False  # True: it changes something, so a call's result never stands for another call
    cacheable: bool = True  # False: what it tells may change from call to call

    @abstractmethod
    def execute(self, **arguments: Any) -> str:
        """Do the work and give back what the model shall read. May raise; the registry reports it to the model."""

    def told_in(self, language: Language) -> Tool:
        """The same tool with its texts in that language."""
        if language == "en" or not self.description_zh:
            return self
        told = copy.copy(self)
        told.description = self.description_zh
        told.parameters = with_notes(self.parameters, self.notes_zh)
        return told

    def to_anthropic_schema(self) -> Schema:
        """The tool as Anthropic's Messages API takes it."""
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}

    def to_openai_schema(self) -> Schema:
        """The tool as OpenAI's Chat Completions API takes it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class FunctionTool(Tool):
    """A tool made from a typed function; calling it still calls the function."""

    def __init__(self, function: Callable[..., Any], *, zh: str = "", has_effects: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.has_effects = has_effects
        self.name = function.__name__
        self.description, notes = read_docstring(function.__doc__ or "")
        self.description_zh, self.notes_zh = read_docstring(zh)
        self.parameters = parameters_schema(function, notes)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def execute(self, **arguments: Any) -> str:
        return as_text(self.function(**arguments))


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(*, zh: str = "", has_effects: bool = False) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(function: Callable[..., Any] | None = None, /, *, zh: str = "", has_effects: bool = False) -> Any:
    """Make a tool from a function with type hints and a Google-style docstring.

    The docstring's text becomes the description, its `Args:` the descriptions of the parameters; `Literal`,
    `list[...]`, optional types and default values go into the JSON Schema. `zh` is the same docstring in Chinese. A
    tool that changes something is made with `@tool(has_effects=True)`.

    Raises:
        TypeError: a parameter has no type hint, or one that has no JSON Schema.
    """
    if function is None:
        return functools.partial(FunctionTool, zh=zh, has_effects=has_effects)
    return FunctionTool(function)


def as_text(value: Any) -> str:
    """A tool's result as text: 0, False and [] are results, None and "" are "(no output)"."""
    if value is None or value == "":
        return NO_OUTPUT
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description that a docstring gives, and its notes on the parameters."""
    from docstring_parser import DocstringStyle, parse

    docstring = parse(inspect.cleandoc(text), style=DocstringStyle.GOOGLE)
    notes = {item.arg_name: unbroken(item.description or "") for item in docstring.params}
    return unbroken(docstring.description or ""), notes


def unbroken(text: str) -> str:
    """A text without line breaks between two Chinese characters, which would show as gaps."""
    return re.sub(r"(?<=[^\x00-\x7f])\n(?=[^\x00-\x7f])", "", text.strip())


def with_notes(parameters: Schema, notes: Mapping[str, str]) -> Schema:
    """The same parameters with other descriptions."""
    properties = {
        name: {**schema, "description": notes[name]} if name in notes else schema
        for name, schema in parameters.get("properties", {}).items()
    }
    return {**parameters, "properties": properties}


def parameters_schema(function: Callable[..., Any], notes: Mapping[str, str]) -> Schema:
    """JSON Schema of a function's parameters: an object that allows nothing beyond them."""
    hints = typing.get_type_hints(function)
    properties: Schema = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{function.__name__}: parameter {name!r} needs a type hint, e.g. {name}: str")
        try:
            properties[name] = type_schema(hints[name])
        except TypeError as error:
            raise TypeError(f"{function.__name__}: parameter {name!r}: {error}") from None
        if notes.get(name):
            properties[name]["description"] = notes[name]
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def type_schema(hint: Any) -> Schema:
    """JSON Schema of a type hint."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return {}
    if hint in JSON_TYPES:
        return {"type": JSON_TYPES[hint]}
    if origin is Literal:
        return {"type": JSON_TYPES[type(args[0])], "enum": list(args)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [type_schema(arg) for arg in args]}
    if list in (hint, origin):
        return {"type": "array", "items": type_schema(args[0]) if args else {}}
    if dict in (hint, origin):
        return {"type": "object", "additionalProperties": type_schema(args[1]) if args else True}
    raise TypeError(f"{hint!r} has no JSON Schema; use str, int, float, bool, Literal, list, dict or | None")
