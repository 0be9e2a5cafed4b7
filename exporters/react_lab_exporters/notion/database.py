"""The database: made by `react-lab notion setup`, or adopted; found again by whatever address the person has of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.home import home
from react_lab.language import Language
from react_lab_exporters.notion.client import Notion, NotionError
from react_lab_exporters.notion.columns import COLUMNS, Match, match_columns
from react_lab_exporters.notion.journal import Journal, open_journal
from react_lab_exporters.notion.text import plain

TITLE = "react-lab"
ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True)
class DataSource:
    """Where rows go: a database is a container of one or more of these."""

    id: str
    name: str
    url: str
    schema: dict[str, Any]


def default_folder() -> Path:
    """The folder of journals and of the chosen database."""
    return home() / "notion"


def journal_path(folder: Path, data_source: str) -> Path:
    return folder / f"{data_source.replace('-', '')}.jsonl"


def chosen(folder: Path) -> str:
    """The database that `NOTION_DATABASE` names, else the one that was set up; "" if there is none."""
    if named := os.environ.get("NOTION_DATABASE", "").strip():
        return named
    file = folder / "database.json"
    return str(json.loads(file.read_text(encoding="utf-8"))["data_source"]) if file.exists() else ""


def id_in(text: str) -> str:
    """The id in an address or an id, as Notion writes it.

    Raises:
        ConfigurationError: there is none.
    """
    address = text.split("?")[0]  # what follows is the id of a view
    found = ID.findall(address)
    if not found:
        raise ConfigurationError(f"{text!r} holds no id of Notion; copy the address of the database from the browser")
    plain_id = found[-1].replace("-", "").lower()
    return "-".join((plain_id[:8], plain_id[8:12], plain_id[12:16], plain_id[16:20], plain_id[20:]))


def open_data_source(notion: Notion, given: str) -> DataSource:
    """The data source that an id or address means, be it that of the data source or of its database.

    Raises:
        ConfigurationError: it is another kind of thing, or there are several to choose from.
        NotionError: there is no such thing, or it is not shared with the integration.
    """
    wanted = id_in(given)
    if found := get(notion, f"data_sources/{wanted}"):
        return as_data_source(found)
    if database := get(notion, f"databases/{wanted}"):
        sources = database["data_sources"]
        if len(sources) != 1:
            names = ", ".join(f"{source['name']!r}: {source['id']}" for source in sources) or "none"
            raise ConfigurationError(f"this database has {len(sources)} data sources; name one of them: {names}")
        return as_data_source(notion.send("GET", f"data_sources/{sources[0]['id']}"))
    if get(notion, f"pages/{wanted}"):
        raise ConfigurationError(
            f"{given} is a page, not a database; `react-lab notion setup --parent {given}` makes a database in it"
        )
    raise NotionError(
        f"Notion finds nothing under {given}, or it is not shared with the integration: open it in Notion, "
        "click ••• → Connections, and add your integration",
        404,
    )


def get(notion: Notion, path: str) -> Any:
    """What is there; None if there is nothing of that kind (Notion answers 400 or 404)."""
    try:
        return notion.send("GET", path)
    except NotionError as error:
        if error.status in (400, 404):
            return None
        raise


def as_data_source(found: Any) -> DataSource:
    name = "".join(item.get("plain_text", "") for item in found.get("title", ()))
    return DataSource(found["id"], name, str(found.get("url", "")), found["properties"])


def setup(
    notion: Notion,
    *,
    parent: str | None = None,
    database: str | None = None,
    add_columns: bool = False,
    folder: Path | None = None,
) -> Iterator[str]:
    """Check the token, then make a database or adopt one, and remember it; what is done is told line by line.

    Args:
        notion: The integration.
        parent: Page in which to make the database.
        database: An existing one to adopt; its columns and rows are kept.
        add_columns: Whether to add the columns that an existing one lacks.
        folder: Where to remember it; `default_folder()` by default.
    Raises:
        ConfigurationError: neither is given, or a column that is needed holds something else.
        NotionError: Notion refused.
    """
    folder = default_folder() if folder is None else folder
    yield f"The token works: it belongs to {notion.send('GET', 'users/me').get('name') or 'an integration'}."
    given = database or ("" if parent else chosen(folder))
    if given:
        source = open_data_source(notion, given)
        yield f"Found the database {source.name!r}."
    elif parent:
        source = create_database(notion, id_in(parent))
        yield f"Made the database {source.name!r}."
    else:
        raise ConfigurationError(
            "where shall the database be? Share a page with the integration (••• → Connections), then "
            "`react-lab notion setup --parent ADDRESS_OF_THE_PAGE`, or `--database ADDRESS` for one that exists"
        )
    with open_journal(journal_path(folder, source.id)) as journal:
        matched = match_columns(source.schema, journal.columns)
        if matched.missing and add_columns:
            definitions = {column.name: column.definition for column in matched.missing}
            source = as_data_source(notion.send("PATCH", f"data_sources/{source.id}", {"properties": definitions}))
            yield f"Added the columns {', '.join(definitions)}."
            matched = match_columns(source.schema, journal.columns)
        yield from (f"Note: {warning}." for warning in matched.warnings)
        matched.require_run_id()
        remember(journal, matched)
    (folder / "database.json").write_text(json.dumps({"data_source": source.id}), encoding="utf-8")
    yield f"Runs are published to {source.url or source.id}."


def create_database(notion: Notion, parent: str) -> DataSource:
    body = {
        "parent": {"type": "page_id", "page_id": parent},
        "title": plain(TITLE),
        "initial_data_source": {"properties": {column.name: column.definition for column in COLUMNS}},
    }
    try:
        made = notion.send("POST", "databases", body, repeatable=False)
    except NotionError as error:
        if error.status in (400, 404) and get(notion, f"databases/{parent}"):
            raise ConfigurationError("--parent names a database; use --database to adopt it") from error
        raise
    source = as_data_source(notion.send("GET", f"data_sources/{made['data_sources'][0]['id']}"))
    return DataSource(source.id, source.name or TITLE, str(made.get("url", "")), source.schema)


def remember(journal: Journal, matched: Match) -> None:
    """Keep the ids of the columns, so that one that is renamed is still found."""
    if dict(matched.ids) != journal.columns:
        journal.note("columns", ids=dict(matched.ids))


WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "no token": "Notion: NOTION_TOKEN is not set; create an integration: https://www.notion.so/profile/integrations",
        "no database": "Notion: the token is set, but no database: react-lab notion setup --parent ADDRESS_OF_A_PAGE",
        "ready": "Notion: the token is set; runs go to the database {}",
    },
    "zh": {
        "no token": "Notion：未设置 NOTION_TOKEN；请先创建集成：https://www.notion.so/profile/integrations",
        "no database": "Notion：令牌已设置，但还没有数据库：react-lab notion setup --parent 页面地址",
        "ready": "Notion：令牌已设置；运行结果发布到数据库 {}",
    },
}


def examine(say: Callable[[str], None], language: Language, folder: Path | None = None) -> None:
    """What is configured and what to do next, for `react-lab doctor`; nothing is asked, and no token is shown."""
    given = chosen(default_folder() if folder is None else folder)
    if not os.environ.get("NOTION_TOKEN"):
        say(WORDS[language]["no token"])
    else:
        say(WORDS[language]["ready"].format(given) if given else WORDS[language]["no database"])
