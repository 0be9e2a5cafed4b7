"""Answers one SQL query over some files, and nothing else can be done to them. Run as a program of its own by sql.py.

It reads a request from stdin and prints what the model is to read. SQLite's own engine reads its databases; DuckDB
loads other tables and is then shut off from files and network. This file needs none of the package.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_CELL_CHARS = 200
MAX_VALUE_BYTES = 10_000_000  # of a text or blob that SQLite works out
READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
HARMLESS_PRAGMAS = ("table_info", "table_xinfo", "data_version")  # the last is what FTS5 looks at
DANGEROUS_FUNCTIONS = ("load_extension", "fts3_tokenizer")

Rows = Sequence[Sequence[Any]]
Tables = Mapping[str, Sequence[str]]  # each with its columns and their types


class SQLite:
    """Databases side by side, each under its name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.connection = sqlite3.connect(":memory:", uri=True)
        self.connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for name, path in files.items():
            self.connection.execute(f"ATTACH ? AS {quoted(name)}", (f"{Path(path).as_uri()}?mode=ro",))
        self.connection.execute("PRAGMA trusted_schema = OFF")  # a view in a file must not call what has effects
        self.connection.execute("PRAGMA temp_store = MEMORY")  # which has a limit, unlike the disk
        self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        # Looking at all tables here also connects the virtual ones, which takes more than reading.
        self.tables: Tables = {table: columns for name in files for table, columns in self._tables_of(name, len(files))}
        self.connection.set_authorizer(authorize)

    def _tables_of(self, name: str, databases: int) -> Iterator[tuple[str, Sequence[str]]]:
        found = "SELECT name FROM pragma_table_list WHERE schema = ? AND type != 'shadow' ORDER BY name"
        names = [table for (table,) in self.connection.execute(found, (name,))]
        for table in (table for table in names if not table.startswith("sqlite_")):
            with suppress(sqlite3.Error):  # a view of what is gone, or a virtual table of an unknown kind
                columns = self.connection.execute(f"PRAGMA {quoted(name)}.table_xinfo({quoted(table)})")
                told = [f"{quoted(column)} {kind}".strip() for _, column, kind, *_ in columns]
                yield (quoted(table) if databases == 1 else f"{quoted(name)}.{quoted(table)}"), told

    def select(self, query: str, max_rows: int) -> tuple[list[str], Rows]:
        try:
            cursor = self.connection.execute(query)
            return [column[0] for column in cursor.description or ()], cursor.fetchmany(max_rows)
        except sqlite3.DatabaseError as error:
            if "not authorized" in str(error) or "prohibited" in str(error):
                raise ValueError(f"only SELECT is allowed here, on the tables at hand ({error})") from None
            raise


def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """SQLite asks for everything that a query would do; what is on no list is denied."""
    allowed = (
        action in READING
        or (action == sqlite3.SQLITE_FUNCTION and second not in DANGEROUS_FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and first in HARMLESS_PRAGMAS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class DuckDB:
    """Files of one table each, loaded under its name."""

    LOADED = {".parquet": "read_parquet", ".json": "read_json", ".jsonl": "read_json", ".ndjson": "read_json"}

    def __init__(self, files: Mapping[str, str]) -> None:
        import duckdb

        self.connection = duckdb.connect(":memory:", config={"memory_limit": "1GB", "threads": 2})
        for name, path in files.items():
            reader = self.LOADED.get(Path(path).suffix.lower(), "read_csv")
            source = path if reader == "read_parquet" else in_utf8(path)
            text = source.replace("'", "''")
            self._do(f"CREATE TABLE {quoted(name)} AS SELECT * FROM {reader}('{text}')")
        self._do("SET temp_directory = ''")
        self._do("SET enable_external_access = false")
        self._do("SET lock_configuration = true")
        self._do("BEGIN TRANSACTION READ ONLY")
        columns = {name: self._do(f"DESCRIBE {quoted(name)}") for name in files}
        self.tables: Tables = {quoted(name): [f"{quoted(c[0])} {c[1]}" for c in columns[name]] for name in files}

    def _do(self, statement: str) -> list[Any]:
        return self.connection.execute(statement).fetchall()

    def select(self, query: str, max_rows: int) -> tuple[list[str], Rows]:
        kinds = [statement.type.name for statement in self.connection.extract_statements(query)]
        if kinds != ["SELECT"]:
            raise ValueError(f"only one SELECT at a time is allowed here, not {' and '.join(kinds) or 'this'}")
        result = self.connection.execute(query)
        return [column[0] for column in result.description or ()], result.fetchmany(max_rows)


def quoted(name: str) -> str:
    """A name as SQL takes it; plain ones stay plain."""
    return name if name.isidentifier() and name.isascii() else '"' + name.replace('"', '""') + '"'


def in_utf8(path: str) -> str:
    """The file, or a copy of it in UTF-8: Chinese spreadsheets are often written in GB 18030."""
    data = Path(path).read_bytes()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        copy = Path(f"{Path(path).stem}-utf8{Path(path).suffix}")
        copy.write_text(data.decode("gb18030"), encoding="utf-8", newline="")
        return str(copy)
    return path


def as_markdown(columns: Sequence[str], rows: Rows) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(value: Any) -> str:
    if isinstance(value, bytes):
        return f"({len(value)} bytes)"
    text = "NULL" if value is None else " ".join(str(value).split())
    return (text if len(text) <= MAX_CELL_CHARS else text[:MAX_CELL_CHARS] + "…").replace("|", "\\|")


def answer(engine: SQLite | DuckDB, query: str, max_rows: int, more: str) -> str:
    """The rows as a Markdown table, with `more` below where there are more of them; without a query the tables."""
    if not query.strip():
        return "; ".join(f"{name} ({', '.join(columns)})" for name, columns in engine.tables.items())
    columns, rows = engine.select(query, max_rows + 1)
    return as_markdown(columns, rows[:max_rows]) + (more if len(rows) > max_rows else "")


def main() -> None:
    request = json.load(sys.stdin)
    engine: type[SQLite | DuckDB] = SQLite if request["engine"] == "SQLite" else DuckDB
    try:
        print(answer(engine(request["files"]), request["query"], request["max_rows"], request["more"]))
    except Exception as error:  # whatever the engine says, the model has to read it
        sys.exit(f"{error or type(error).__name__}")


if __name__ == "__main__":
    main()
