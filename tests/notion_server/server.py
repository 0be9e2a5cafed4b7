"""A Notion server for tests, on a real socket of this machine: state, limits, errors, and faults on demand."""

from __future__ import annotations

import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.notion_server.checks import without_ignored, wrong_with_request, wrong_with_response
from tests.notion_server.store import BOT, Json, Refused, Store, Thing, dashed, markdown_of
from tests.notion_server.uploads import MAX_FILE, attached, create_upload, form_in, send_upload, show_upload

TOKEN = "ntn_a_token_for_tests_only"
VERSIONS = ("2025-09-03", "2026-03-11")
MAX_ROWS = 10_000


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    Args:
        status: Answered instead of 200; None drops the connection without an answer.
        after: Whether the request takes effect first.
        retry_after: The header, in whatever form.
        html: Whether the answer is a proxy's page instead of Notion's JSON.
        hang_s: How long nothing happens before that.
    """

    status: int | None = None
    after: bool = False
    retry_after: str | None = None
    html: bool = False
    hang_s: float = 0


@dataclass
class Logged:
    method: str
    path: str
    body: Json
    status: int = 0
    at: float = 0.0


CODES = {429: "rate_limited", 529: "service_overload", 409: "conflict_error", 500: "internal_server_error"}
CODES |= {502: "bad_gateway", 503: "service_unavailable", 504: "gateway_timeout"}


@dataclass
class NotionServer:
    """The state, what was asked, and what shall go wrong.

    Args:
        faults: What goes wrong, by the number of the request from 0.
        clock: Of the log; a test whose sleeping is a fake gives its own.
        lag: How many queries miss the newest page.
        lenient: Whether to drop first what Notion ignores; our own requests hold none of it.
        id_cursors: Whether a block's id serves as a cursor.
        known_markdown: Whether the markdown endpoint exists.
    """

    store: Store = field(default_factory=Store)
    log: list[Logged] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    lag: int = 0
    lenient: bool = False
    id_cursors: bool = True
    known_markdown: bool = True
    address: str = ""
    complaints: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    cursors: dict[str, int] = field(default_factory=dict)

    @property
    def writes(self) -> list[Logged]:
        """The requests that changed something."""
        reads = ("query", "search")
        return [each for each in self.log if each.method != "GET" and not each.path.endswith(reads)]

    def answer(self, method: str, path: str, query: Json, body: Json) -> Json:
        """Carry out a request.

        Raises:
            Refused: as Notion would.
        """
        body = without_ignored(body) if self.lenient else body
        for route_method, pattern, name in ROUTES:
            if method == route_method and (found := re.fullmatch(pattern, path)):
                ids = found.groupdict()
                if name in CHECKED and (wrong := wrong_with_request(CHECKED[name], {**ids, **body})):
                    raise Refused(400, "validation_error", wrong)
                answer: Json = getattr(self, name)(*ids.values(), body if method != "GET" else query)
                if (kind := RESPONSES.get(name)) and (wrong := wrong_with_response(kind, answer)):
                    self.complaints.append(f"response of {name}: {wrong}")
                return answer
        raise Refused(400, "invalid_request_url", f"Invalid request URL: {method} {path}")

    # -- users and search ------------------------------------------------------------------------------------

    def me(self, _: Json) -> Json:
        bot: Json = {"owner": {"type": "workspace", "workspace": True}, "workspace_name": "Test", "workspace_id": BOT}
        bot["workspace_limits"] = {"max_file_upload_size_in_bytes": MAX_FILE}
        return {"object": "user", "id": BOT, "name": "Tests", "avatar_url": None, "type": "bot", "bot": bot}

    def search(self, body: Json) -> Json:
        words = str(body.get("query", "")).lower()
        wanted = body.get("filter", {}).get("value")
        kinds = ("page", "data_source") if wanted is None else (wanted,)
        there = [each for each in self.store.things.values() if each.kind in kinds and not each.in_trash]
        found = [each for each in there if words in title_of(self.store.show(each)).lower()]
        return self.listed(list(map(self.store.show, found)), body, "page_or_data_source")

    # -- pages -----------------------------------------------------------------------------------------------

    def create_page(self, body: Json) -> Json:
        parent = body["parent"]
        children = attached(self.store, body.get("children", []))
        if "data_source_id" in parent:
            source = self.store.get(parent["data_source_id"], "data_source")
            where = {"type": "data_source_id", "data_source_id": source.id, "database_id": source.parent["database_id"]}
            page = self.store.add("page", where, {"properties": {}})
            try:
                self.store.set_properties(page, body.get("properties", {}))
            except Refused:
                del self.store.things[page.id]
                raise
        else:
            above = self.store.get(parent.get("page_id", "?"), "page")
            values = {"title": body.get("properties", {}).get("title", {}).get("title", [])}
            page = self.store.add("page", {"type": "page_id", "page_id": above.id}, {"properties": values})
        self.store.append(page, children)
        return self.store.show(page)

    def get_page(self, page: str, _: Json) -> Json:
        return self.store.show(self.store.get(page, "page"))

    def update_page(self, wanted: str, body: Json) -> Json:
        page = self.store.get(wanted, "page")
        page.in_trash = body.get("in_trash", page.in_trash)
        if "properties" in body:
            self.store.set_properties(page, body["properties"])
        return self.store.show(page)

    def get_markdown(self, wanted: str, _: Json) -> Json:
        if not self.known_markdown:
            raise Refused(400, "invalid_request_url", "Invalid request URL.")
        page = self.store.get(wanted, "page")
        text = "\n".join(markdown_of(self.store, page))
        return {
            "object": "page_markdown",
            "id": page.id,
            "markdown": text,
            "truncated": False,
            "unknown_block_ids": [],
        }

    # -- blocks ----------------------------------------------------------------------------------------------

    def get_children(self, wanted: str, query: Json) -> Json:
        parent = self.store.get(wanted, "block", "page")
        return self.listed(list(map(self.store.show, self.store.alive(parent))), query, "block")

    def append_children(self, wanted: str, body: Json) -> Json:
        parent = self.store.get(wanted, "block", "page")
        if parent.in_trash:
            raise Refused(400, "validation_error", "Can't edit block that is archived.")
        made = self.store.append(parent, attached(self.store, body["children"]), body.get("position"))
        return self.listed(list(map(self.store.show, made)), {}, "block")

    def get_block(self, wanted: str, _: Json) -> Json:
        return self.store.show(self.store.get(wanted, "block"))

    def update_block(self, wanted: str, body: Json) -> Json:
        block = self.store.get(wanted, "block")
        block.in_trash = body.get("in_trash", block.in_trash)
        block.fields[block.fields["type"]] |= attached(self.store, body.get(block.fields["type"], {}))
        block.edited_by = BOT
        return self.store.show(block)

    def delete_block(self, wanted: str, _: Json) -> Json:
        block = self.store.get(wanted, "block", "page")
        if block.in_trash:
            raise Refused(404, "object_not_found", "Could not find block.")
        block.in_trash = True
        return self.store.show(block)

    # -- databases and data sources --------------------------------------------------------------------------

    def create_database(self, body: Json) -> Json:
        self.store.get(body["parent"]["page_id"], "page")
        made = self.store.add("database", body["parent"], {"title": body.get("title", [])})
        columns = body.get("initial_data_source", {}).get("properties", {"Name": {"title": {}}})
        where = {"type": "database_id", "database_id": made.id}
        source = self.store.add("data_source", where, {"title": made.fields["title"], "properties": {}})
        self.define(source, columns)
        return self.store.show(made)

    def get_database(self, wanted: str, _: Json) -> Json:
        return self.store.show(self.store.get(wanted, "database"))

    def get_data_source(self, wanted: str, _: Json) -> Json:
        return self.store.show(self.store.get(wanted, "data_source"))

    def update_data_source(self, wanted: str, body: Json) -> Json:
        source = self.store.get(wanted, "data_source")
        self.define(source, body.get("properties", {}))
        return self.store.show(source)

    def define(self, source: Thing, columns: Json) -> None:
        """Add, rename or (None) remove columns, which are named by name or id."""
        schema = source.fields["properties"]
        for key, definition in columns.items():
            name = next((name for name, column in schema.items() if key in (name, column["id"])), key)
            if definition is None:
                del schema[name]
            elif name in schema and "name" in definition:
                schema[definition["name"]] = {**schema.pop(name), "name": definition["name"]}
            else:
                schema[name] = as_column(name, definition)
                if "relation" in schema[name]:
                    schema[name]["relation"] |= {"database_id": source.parent["database_id"]}

    def query(self, wanted: str, body: Json) -> Json:
        source = self.store.get(wanted, "data_source")
        for key in keys_in(body.get("filter", {})):
            self.store.column(source, key)
        rows = self.store.pages(source.id)
        if self.lag and rows:
            self.lag -= 1
            rows = rows[:-1]
        shown = [row for row in map(self.store.show, rows) if self.matches(source, row, body.get("filter"))]
        answer = self.listed(shown[:MAX_ROWS], body, "page_or_data_source")
        if len(shown) > MAX_ROWS and not answer["has_more"]:
            answer["request_status"] = {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"}
        return answer

    def matches(self, source: Thing, row: Json, condition: Json | None) -> bool:
        """Whether a row passes a filter: and, or, and text that equals."""
        match condition:
            case None:
                return True
            case {"or": list(parts)}:
                return any(self.matches(source, row, part) for part in parts)
            case {"and": list(parts)}:
                return all(self.matches(source, row, part) for part in parts)
            case {"property": key, "rich_text": {"equals": wanted}}:
                value = row["properties"][self.store.column(source, key)]
                return "".join(item["plain_text"] for item in value["rich_text"]) == wanted
            case {"timestamp": "created_time", "created_time": {"on_or_after": moment}}:
                return bool(row["created_time"] >= moment)
            case _:
                raise Refused(400, "validation_error", f"this server knows no filter {condition}")

    # -- files -----------------------------------------------------------------------------------------------

    def create_upload(self, body: Json) -> Json:
        return show_upload(create_upload(self.store, body))

    def get_upload(self, wanted: str, _: Json) -> Json:
        return show_upload(self.store.get(wanted, "file_upload"))

    def send_upload(self, wanted: str, form: Json) -> Json:
        upload = self.store.get(wanted, "file_upload")
        send_upload(upload, form)
        return show_upload(upload)

    # -- lists -----------------------------------------------------------------------------------------------

    def listed(self, results: list[Json], options: Json, kind: str) -> Json:
        """One page of a list; a cursor says where the next one starts."""
        size = min(int(options.get("page_size", 100)), 100)
        cursor = options.get("start_cursor")
        ids = [each["id"] for each in results]
        if cursor is None:
            start = 0
        elif cursor in self.cursors:
            start = self.cursors[cursor]
        elif self.id_cursors and dashed(cursor) in ids:
            start = ids.index(dashed(cursor))
        else:
            raise Refused(400, "validation_error", "The start_cursor provided is invalid.")
        more = start + size < len(results)
        following = ids[start + size] if more and self.id_cursors else f"{kind}-{start + size}" if more else None
        if following and not self.id_cursors:
            self.cursors[following] = start + size
        page = results[start : start + size]
        return {"object": "list", "results": page, "next_cursor": following, "has_more": more, "type": kind, kind: {}}


UUID = r"[0-9a-fA-F-]+"
ROUTES = [
    ("GET", "users/me", "me"),
    ("POST", "search", "search"),
    ("POST", "pages", "create_page"),
    ("GET", rf"pages/(?P<page_id>{UUID})", "get_page"),
    ("PATCH", rf"pages/(?P<page_id>{UUID})", "update_page"),
    ("GET", rf"pages/(?P<page_id>{UUID})/markdown", "get_markdown"),
    ("GET", rf"blocks/(?P<block_id>{UUID})/children", "get_children"),
    ("PATCH", rf"blocks/(?P<block_id>{UUID})/children", "append_children"),
    ("GET", rf"blocks/(?P<block_id>{UUID})", "get_block"),
    ("PATCH", rf"blocks/(?P<block_id>{UUID})", "update_block"),
    ("DELETE", rf"blocks/(?P<block_id>{UUID})", "delete_block"),
    ("POST", "databases", "create_database"),
    ("GET", rf"databases/(?P<database_id>{UUID})", "get_database"),
    ("GET", rf"data_sources/(?P<data_source_id>{UUID})", "get_data_source"),
    ("PATCH", rf"data_sources/(?P<data_source_id>{UUID})", "update_data_source"),
    ("POST", rf"data_sources/(?P<data_source_id>{UUID})/query", "query"),
    ("POST", "file_uploads", "create_upload"),
    ("GET", rf"file_uploads/(?P<file_upload_id>{UUID})", "get_upload"),
    ("POST", rf"file_uploads/(?P<file_upload_id>{UUID})/send", "send_upload"),
]
CHECKED = {
    "create_page": "CreatePage",
    "update_page": "UpdatePage",
    "append_children": "AppendBlockChildren",
    "create_database": "CreateDatabase",
    "update_data_source": "UpdateDataSource",
    "update_block": "UpdateBlock",
    "query": "QueryDataSource",
    "create_upload": "CreateFileUpload",
}
RESPONSES = {
    "me": "User",
    "create_page": "Page",
    "get_page": "Page",
    "update_page": "Page",
    "get_markdown": "PageMarkdown",
    "get_children": "BlockList",
    "append_children": "BlockList",
    "get_block": "Block",
    "create_database": "Database",
    "get_database": "Database",
    "get_data_source": "DataSource",
    "update_data_source": "DataSource",
    "update_block": "Block",
    "query": "Query",
    "create_upload": "FileUpload",
    "get_upload": "FileUpload",
    "send_upload": "FileUpload",
}
numbers = itertools.count(1)


def as_column(name: str, definition: Json) -> Json:
    kind = definition.get("type") or next(key for key in definition if key not in ("name", "description"))
    settings = {"number": {"format": "number"}, "select": {"options": []}, "multi_select": {"options": []}}
    key = "title" if kind == "title" else f"c%3A{next(numbers):02}"
    inner = {**settings.get(kind, {}), **definition[kind]}
    if "options" in inner:
        inner["options"] = [as_option(option) for option in inner["options"]]
    return {"id": key, "name": name, "description": None, "type": kind, kind: inner}


def as_option(option: Json) -> Json:
    return {"id": option["name"][:4], "color": "default", "description": None, **option}


def keys_in(condition: Json) -> Iterator[str]:
    """What a filter calls its columns."""
    if "property" in condition:
        yield condition["property"]
    for part in (*condition.get("or", ()), *condition.get("and", ())):
        yield from keys_in(part)


def title_of(page: Json) -> str:
    if "title" in page:
        return "".join(item["plain_text"] for item in page["title"])
    values = (value for value in page["properties"].values() if value["type"] == "title")
    return "".join(item["plain_text"] for value in values for item in value["title"])


class Handler(BaseHTTPRequestHandler):
    """HTTP on the outside of a `NotionServer`."""

    protocol_version = "HTTP/1.1"
    notion: NotionServer

    def handle_any(self) -> None:
        notion = self.notion
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        kind = self.headers.get("Content-Type", "")
        is_form = kind.startswith("multipart/")
        body = form_in(kind, data) if is_form else json.loads(data) if data else {}
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        with notion.lock:
            logged = Logged(self.command, url.path.removeprefix("/v1/"), body, at=notion.clock())
            number = len(notion.log)
            notion.log.append(logged)
            fault = notion.faults.get(number)
            if fault is None or fault.after:
                logged.status, answer = self.carry_out(logged, query)
        if fault is not None:
            time.sleep(fault.hang_s)
            self.fail(fault)
            return
        self.give(logged.status, json.dumps(answer).encode())

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def carry_out(self, logged: Logged, query: Json) -> tuple[int, Json]:
        try:
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                raise Refused(401, "unauthorized", "API token is invalid.")
            if self.headers.get("Notion-Version") not in VERSIONS:
                raise Refused(400, "missing_version", "Notion-Version header should be defined.")
            return 200, self.notion.answer(logged.method, logged.path, query, logged.body)
        except Refused as refused:
            return refused.status, error_body(refused.status, refused.code, str(refused))

    def fail(self, fault: Fault) -> None:
        if fault.status is None:
            self.close_connection = True
            return
        headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
        body = json.dumps(error_body(fault.status, CODES.get(fault.status, "validation_error"), "A fault.")).encode()
        self.give(fault.status, b"<html><h1>Bad gateway</h1></html>" if fault.html else body, headers)

    def give(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """The server keeps its own log."""


def error_body(status: int, code: str, message: str) -> Json:
    return {"object": "error", "status": status, "code": code, "message": message, "request_id": "r"}


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that was killed has gone; nothing to tell."""


@contextmanager
def running(**options: Any) -> Iterator[NotionServer]:
    """A server that listens until the block ends."""
    notion = NotionServer(**options)
    handler = type("BoundHandler", (Handler,), {"notion": notion})
    server = QuietServer(("127.0.0.1", 0), handler)
    notion.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield notion
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def contents(notion: NotionServer, parent: Thing) -> list[Any]:
    """Everything below a page, without ids: what two runs of the same export must agree on."""
    found = []
    for thing in notion.store.alive(parent):
        kind = thing.fields["type"]
        found.append([kind, thing.fields[kind], contents(notion, thing)])
    return found
