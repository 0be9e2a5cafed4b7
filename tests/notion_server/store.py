"""What Notion keeps: databases, data sources, pages and blocks, and how it shows them. No network here."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

Json = dict[str, Any]
BOT = "b0700000-0000-4000-8000-000000000001"
PERSON = "9e250000-0000-4000-8000-000000000002"
PLAIN = dict.fromkeys(("bold", "italic", "strikethrough", "underline", "code"), False) | {"color": "default"}
COLOURED = frozenset(
    "paragraph heading_1 heading_2 heading_3 heading_4 bulleted_list_item numbered_list_item quote to_do toggle".split()
)


class Refused(Exception):
    """An error as Notion answers it."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def not_found(kind: str, wanted: str) -> Refused:
    return Refused(
        404,
        "object_not_found",
        f"Could not find {kind} with ID: {wanted}. Make sure the relevant pages and databases are shared with your "
        "integration.",
    )


@dataclass
class Thing:
    """A page, block, database or data source: its own fields, and its children in order."""

    kind: str
    parent: Json
    number: int
    fields: Json = field(default_factory=dict)
    children: list[str] = field(default_factory=list)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    created_by: str = BOT
    edited_by: str = BOT
    in_trash: bool = False
    shared: bool = True

    @property
    def time(self) -> str:
        """Notion rounds to the minute; here every thing has a minute of its own."""
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=self.number)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def hands(self) -> Json:
        return {
            "created_time": self.time,
            "last_edited_time": self.time,
            "created_by": {"object": "user", "id": self.created_by},
            "last_edited_by": {"object": "user", "id": self.edited_by},
        }


def dashed(wanted: str) -> str:
    try:
        return str(uuid.UUID(wanted))
    except ValueError:
        raise Refused(400, "validation_error", f"path failed validation: {wanted!r} should be a valid uuid") from None


class Store:
    """The workspace of one integration, with a page that is shared with it.

    `known_ids`: whether a column may be named by its id.
    """

    def __init__(self, *, known_ids: bool = True) -> None:
        self.known_ids = known_ids
        self.things: dict[str, Thing] = {}
        self.home = self.add("page", {"type": "workspace", "workspace": True}, {"properties": title_property("Home")})

    def add(self, kind: str, parent: Json, fields: Json) -> Thing:
        thing = Thing(kind, parent, len(self.things), fields)
        self.things[thing.id] = thing
        return thing

    def get(self, wanted: str, *kinds: str) -> Thing:
        thing = self.things.get(dashed(wanted))
        if thing is None or thing.kind not in kinds or not thing.shared:
            raise not_found(kinds[0], wanted)
        return thing

    def pages(self, source: str) -> list[Thing]:
        """The rows of a data source that are not in the trash, oldest first."""
        return [
            thing
            for thing in self.things.values()
            if thing.kind == "page" and thing.parent.get("data_source_id") == source and not thing.in_trash
        ]

    def alive(self, parent: Thing) -> list[Thing]:
        return [self.things[each] for each in parent.children if not self.things[each].in_trash]

    # -- writing ---------------------------------------------------------------------------------------------

    def append(self, parent: Thing, blocks: list[Json], position: Json | None = None, by: str = BOT) -> list[Thing]:
        place = len(parent.children)
        match position:
            case {"type": "start"}:
                place = 0
            case {"type": "after_block", "after_block": {"id": before}}:
                if dashed(before) not in parent.children:
                    raise Refused(400, "validation_error", f"after_block {before} is not a child of the parent")
                place = parent.children.index(dashed(before)) + 1
        made = [self.make(parent, block, by) for block in blocks]
        parent.children[place:place] = [each.id for each in made]
        return made

    def make(self, parent: Thing, block: Json, by: str) -> Thing:
        kind = block.get("type") or next(key for key in block if key != "object")
        where = "page_id" if parent.kind == "page" else "block_id"
        inner = {name: value for name, value in block[kind].items() if name != "children"}
        thing = self.add("block", {"type": where, where: parent.id}, {"type": kind, kind: inner})
        thing.created_by = thing.edited_by = by
        self.append(thing, block[kind].get("children", []), by=by)
        return thing

    def column(self, source: Thing, key: str) -> str:
        """The name of the column that is named by its name or id."""
        for name, column in source.fields["properties"].items():
            if key == name or (key == column["id"] and (self.known_ids or key == "title")):
                return str(name)
        raise Refused(400, "validation_error", f"{key} is not a property that exists.")

    def set_properties(self, page: Thing, values: Json) -> None:
        """Write values under the names or the ids of their columns; a page that is no row has only a title."""
        if "data_source_id" not in page.parent:
            page.fields["properties"] |= {name: value["title"] for name, value in values.items()}
            return
        source = self.things[page.parent["data_source_id"]]
        schema = source.fields["properties"]
        for key, value in values.items():
            name = self.column(source, key)
            kind = schema[name]["type"]
            if kind not in value:
                raise Refused(400, "validation_error", f"{name} is expected to be {kind}.")
            page.fields["properties"][name] = value[kind]

    # -- showing ---------------------------------------------------------------------------------------------

    def show(self, thing: Thing) -> Json:
        shown: Json = getattr(self, f"show_{thing.kind}")(thing)
        return shown

    def show_block(self, thing: Thing) -> Json:
        kind = thing.fields["type"]
        return {
            "object": "block",
            "id": thing.id,
            "parent": thing.parent,
            **thing.hands,
            "has_children": bool(self.alive(thing)),
            "in_trash": thing.in_trash,
            "archived": thing.in_trash,
            "type": kind,
            kind: shown_content(kind, thing.fields[kind]),
        }

    def show_page(self, thing: Thing) -> Json:
        source = self.things.get(thing.parent.get("data_source_id", ""))
        values = thing.fields["properties"]
        if source is None:
            title = {"id": "title", "type": "title", "title": shown_text(values["title"])}
            return self.page_fields(thing, {"title": title})
        columns = source.fields["properties"].items()
        return self.page_fields(thing, {name: shown_value(column, values.get(name)) for name, column in columns})

    def page_fields(self, thing: Thing, properties: Json) -> Json:
        return {
            "object": "page",
            "id": thing.id,
            "parent": thing.parent,
            **thing.hands,
            "in_trash": thing.in_trash,
            "archived": thing.in_trash,
            "is_archived": False,
            "is_locked": False,
            "icon": None,
            "cover": None,
            "url": f"https://www.notion.so/{thing.id.replace('-', '')}",
            "public_url": None,
            "properties": properties,
        }

    def show_database(self, thing: Thing) -> Json:
        inside = [each for each in self.things.values() if each.parent.get("database_id") == thing.id]
        sources = [each for each in inside if each.kind == "data_source"]
        return {
            "object": "database",
            "id": thing.id,
            "parent": thing.parent,
            **thing.hands,
            "title": shown_text(thing.fields.get("title", [])),
            "description": [],
            "is_inline": False,
            "in_trash": thing.in_trash,
            "archived": thing.in_trash,
            "is_locked": False,
            "icon": None,
            "cover": None,
            "url": f"https://www.notion.so/{thing.id.replace('-', '')}",
            "public_url": None,
            "data_sources": [{"id": each.id, "name": name_of(each)} for each in sources],
        }

    def show_data_source(self, thing: Thing) -> Json:
        return {
            **self.show_database(thing),
            "object": "data_source",
            "parent": thing.parent,
            "database_parent": {"type": "page_id", "page_id": self.home.id},
            "properties": thing.fields["properties"],
        }


def title_property(text: str) -> Json:
    return {"title": [{"type": "text", "text": {"content": text}}]}


def name_of(thing: Thing) -> str:
    return "".join(item["text"]["content"] for item in thing.fields.get("title", ()))


def shown_text(items: list[Json]) -> list[Json]:
    return [
        {
            **item,
            "type": item.get("type", "text"),
            **(
                {"text": {"content": item["text"]["content"], "link": item["text"].get("link")}}
                if "text" in item
                else {}
            ),
            "annotations": {**PLAIN, **item.get("annotations", {})},
            "plain_text": item["text"]["content"] if "text" in item else item["equation"]["expression"],
            "href": (item.get("text", {}).get("link") or {}).get("url"),
        }
        for item in items
    ]


def shown_content(kind: str, inner: Json) -> Json:
    """What is inside a block, with what Notion adds."""
    shown = {**inner}
    if kind in COLOURED:
        shown = {"color": "default", "icon": None, **shown}
    if kind.startswith("heading"):
        shown = {"is_toggleable": False, **shown}
    if kind == "code":
        shown = {"caption": [], **shown}
    if kind == "table":
        shown = {"has_column_header": False, "has_row_header": False, **shown}
    if kind == "image":
        shown = {"type": "external", **shown}
    for name in ("rich_text", "caption"):
        if name in shown:
            shown[name] = shown_text(shown[name])
    if kind == "table_row":
        shown["cells"] = [shown_text(cell) for cell in shown["cells"]]
    return shown


def shown_value(column: Json, value: Any) -> Json:
    kind = column["type"]
    match kind:
        case "title" | "rich_text":
            value = shown_text(value or [])
        case "select" if value:
            value = {"id": value["name"][:4], "color": "default", **value}
        case "multi_select":
            value = [{"id": option["name"][:4], "color": "default", **option} for option in value or []]
        case "date" if value:
            value = {"end": None, "time_zone": None, **value}
        case "checkbox":
            value = bool(value)
        case "relation":
            value = value or []
    return {"id": column["id"], "type": kind, kind: value}


def markdown_of(store: Store, parent: Thing, indent: str = "") -> Iterator[str]:
    """Lines of Markdown, enough to read a page by."""
    for thing in store.alive(parent):
        kind = thing.fields["type"]
        inner = thing.fields[kind]
        text = "".join(item["plain_text"] for item in shown_text(inner.get("rich_text", [])))
        cells = " | ".join("".join(item["plain_text"] for item in shown_text(cell)) for cell in inner.get("cells", ()))
        yield f"{indent}{MARKS.get(kind, '')}{text or cells or inner.get('expression', '')}"
        yield from markdown_of(store, thing, indent + "\t")


MARKS = {"heading_1": "# ", "heading_2": "## ", "heading_3": "### ", "bulleted_list_item": "- ", "quote": "> "}
