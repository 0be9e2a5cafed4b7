"""Whether a request or a response is what Notion documents: the official types, and the limits beside them."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft7Validator, ValidationError, validators
from jsonschema.exceptions import best_match

from tests.notion_server.make_schemas import SCHEMAS

Json = dict[str, Any]
MAX_BYTES = 500_000
MAX_BLOCKS = 1000
MAX_LEVELS = 3


@cache
def schemas() -> Any:
    return json.loads(gzip.decompress(SCHEMAS.read_bytes()))


@cache
def validator(kind: str, name: str) -> Any:
    """A validator that, of the choices of an `anyOf`, tries only those that may fit: there are dozens of blocks."""
    definitions = schemas()[kind]["definitions"]

    def any_of(checker: Any, choices: list[Json], instance: Any, schema: Json) -> Iterator[ValidationError]:
        named = [definitions[c["$ref"].rpartition("/")[2]] if "$ref" in c else c for c in choices]
        left = [choice for choice in named if may_fit(choice, instance)]
        yield from Draft7Validator.VALIDATORS["anyOf"](checker, left or choices, instance, schema)

    return validators.extend(Draft7Validator, {"anyOf": any_of})(
        {"$ref": f"#/definitions/{name}", "definitions": definitions}
    )


def may_fit(choice: Json, instance: Any) -> bool:
    if not isinstance(instance, dict) or choice.get("type") != "object":
        return True
    known = choice.get("properties", {})
    if not instance.keys() >= set(choice.get("required", ())):
        return False
    if choice.get("additionalProperties") is False and not instance.keys() <= known.keys():
        return False
    return known.get("type", {}).get("const", instance.get("type")) == instance.get("type")


def wrong_with_request(name: str, body: dict[str, Any]) -> str | None:
    """What the types or the limits forbid in a request; None if it is fine."""
    size = len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_BYTES:
        return f"body of {size} bytes"
    error = first_error(validator("requests", name), body)
    return error or next(broken_limits(body), None)


def wrong_with_response(name: str, body: dict[str, Any]) -> str | None:
    return first_error(validator("responses", name), body)


def first_error(checker: Any, body: dict[str, Any]) -> str | None:
    if checker.is_valid(body):
        return None
    error = best_match(checker.iter_errors(body))
    return f"body failed validation: {error.json_path}: {error.message[:300]}" if error else None


def broken_limits(body: dict[str, Any]) -> Iterator[str]:
    """What the types can't say; see facts/notion.md, section 3."""
    children = body.get("children", [])
    yield from wrong_children(children)
    blocks = sum(map(count, children))
    if blocks > MAX_BLOCKS:
        yield f"{blocks} blocks in one request"
    if max(map(levels, children), default=0) > MAX_LEVELS:
        yield f"blocks nested over {MAX_LEVELS} levels"
    if "markdown" in body and "children" in body:
        yield "markdown and children exclude each other"
    yield from wrong_text(body)


def inner(block: dict[str, Any]) -> dict[str, Any]:
    kind = block.get("type") or next(key for key in block if key != "object")
    content: dict[str, Any] = block[kind]
    return content


def count(block: dict[str, Any]) -> int:
    return 1 + sum(map(count, inner(block).get("children", ())))


def levels(block: dict[str, Any]) -> int:
    return 1 + max(map(levels, inner(block).get("children", ())), default=0)


def wrong_children(children: list[dict[str, Any]]) -> Iterator[str]:
    if len(children) > 100:
        yield f"children.length should be ≤ 100, instead was {len(children)}"
    for block in children:
        content = inner(block)
        width = content.get("table_width")
        for row in content.get("children", ()):
            if width is not None and len(row["table_row"]["cells"]) != width:
                yield "the number of cells in a table row must match the table width"
        if width is not None and not content.get("children"):
            yield "a table needs at least one row"
        yield from wrong_children(content.get("children", []))


def wrong_text(value: Any, key: str = "") -> Iterator[str]:
    match value:
        case {"content": str(text), **rest}:
            if utf16(text) > 2000:
                yield f"text.content.length should be ≤ 2000, instead was {utf16(text)}"
            if rest.get("link"):
                yield from wrong_text(rest["link"])
        case {"expression": str(text)} if utf16(text) > 1000:
            yield f"equation.expression.length should be ≤ 1000, instead was {utf16(text)}"
        case {"url": str(url)} if not acceptable(url):
            yield f"Invalid URL for link: {url[:80]}"
        case {"start": str(date)} if not re.match(r"\d{4}-\d\d-\d\d", date):
            yield f"{date!r} is no date"
        case dict():
            for name, part in value.items():
                yield from wrong_text(part, name)
        case list():
            if len(value) > 100:
                yield f"{key}.length should be ≤ 100, instead was {len(value)}"
            for part in value:
                if key in ("multi_select", "options"):
                    yield from wrong_option(part)
                yield from wrong_text(part, key)


def wrong_option(option: dict[str, Any]) -> Iterator[str]:
    name = option.get("name", "x")
    if not 0 < utf16(name) <= 100 or "," in name:
        yield f"{name[:80]!r} is no name for an option"


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def acceptable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return utf16(url) <= 2000 and (bool(parts.netloc) or parts.scheme in ("mailto", "tel"))
    except ValueError:
        return False


IGNORED = ("plain_text", "href", "has_more")


def without_ignored(value: Any) -> Any:
    """A request without the keys of responses that Notion takes no notice of, as recorded requests show."""
    match value:
        case {"type": "url", "url": str(url)}:
            return {"url": url}
        case dict():
            return {name: without_ignored(part) for name, part in value.items() if name not in IGNORED}
        case list():
            return list(map(without_ignored, value))
    return value
