"""Tools made from typed functions."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from react_lab import Tool, tool
from react_lab.tools.base import as_text


@tool
def forecast(city: str, days: int = 1, unit: Literal["c", "f"] = "c", tags: list[str] | None = None) -> str:
    """Tell the weather of the coming days.

    Use it for dates in the future only.

    Args:
        city: Name of the city,
            with its country.
        days: How many days.
    """
    return f"{city}: {days} {unit} {tags}"


def test_name_and_description_come_from_the_function() -> None:
    assert forecast.name == "forecast"
    assert forecast.description == "Tell the weather of the coming days.\n\nUse it for dates in the future only."


def test_argument_notes_become_parameter_descriptions() -> None:
    assert forecast.parameters["properties"]["city"] == {
        "type": "string",
        "description": "Name of the city,\nwith its country.",
    }


def test_only_parameters_without_default_are_required() -> None:
    assert forecast.parameters["required"] == ["city"]
    assert forecast.parameters["properties"]["days"]["default"] == 1


def test_literal_becomes_an_enumeration() -> None:
    assert forecast.parameters["properties"]["unit"] == {"type": "string", "enum": ["c", "f"], "default": "c"}


def test_optional_list_becomes_a_choice_of_schemas() -> None:
    expected = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
    assert forecast.parameters["properties"]["tags"] == expected


def test_the_schema_is_valid_json_schema() -> None:
    Draft202012Validator.check_schema(forecast.parameters)


def test_a_tool_can_still_be_called_as_the_function_it_was() -> None:
    assert forecast("Oslo", days=2) == "Oslo: 2 c None"
    assert forecast.execute(city="Oslo") == "Oslo: 1 c None"


def test_both_providers_get_their_own_shape() -> None:
    assert forecast.to_anthropic_schema()["input_schema"] is forecast.parameters
    assert forecast.to_openai_schema() == {
        "type": "function",
        "function": {
            "name": "forecast",
            "description": forecast.description,
            "parameters": forecast.parameters,
        },
    }


def test_a_parameter_without_type_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="'city' needs a type hint"):

        @tool
        def bad(city):  # type: ignore[no-untyped-def]
            return city


def test_a_type_without_schema_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"'when'.*has no JSON Schema"):

        @tool
        def bad(when: set[str]) -> None: ...


def test_a_tool_without_name_description_and_execute_is_abstract() -> None:
    with pytest.raises(TypeError):
        Tool()  # type: ignore[abstract]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(no output)"),
        ("", "(no output)"),
        (0, "0"),
        (False, "false"),
        ([], "[]"),
        ({}, "{}"),
        ({"城市": "北京"}, '{"城市": "北京"}'),
        (" ", " "),
        (object, "<class 'object'>"),
    ],
)
def test_falsy_results_are_results(value: Any, text: str) -> None:
    assert as_text(value) == text
