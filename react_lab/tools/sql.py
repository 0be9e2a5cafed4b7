"""The tool `sql`: questions in SQL to the files that a person names, reading only.

Each query runs in a process of its own (sql_query.py, within the limits of limited.py), since an engine that is asked
to stop may go on: DuckDB 2.0 heeds an interrupt only between two of its steps, and one step can take minutes.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from react_lab.errors import ConfigurationError, ToolError
from react_lab.language import Language, language_of
from react_lab.tools.base import FunctionTool, tool
from react_lab.tools.limited import Finished, Limits, run_limited

SQLITE_HEADER = b"SQLite format 3\0"
TABLE_FILES = (".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson")
MAX_LOADED_MB = 200
MAX_QUERY_CHARS = 10_000
MAX_LISTED_CHARS = 3000  # of the tables, in the description
QUERY = Path(__file__).with_name("sql_query.py")

MORE: Mapping[Language, str] = {
    "en": "\n(There are more rows than these {}. Narrow the query, or count and sum in it.)",
    "zh": "\n（不止这 {} 行。请缩小查询范围，或者在查询里计数、求和。）",
}
STOPPED: Mapping[Language, str] = {
    "en": "the query was stopped: it took longer than {} s or gave too much. Ask for less, with WHERE, LIMIT or an "
    "aggregate.",
    "zh": "查询被停止：用时超过 {} 秒，或者结果太多。请用 WHERE、LIMIT 或聚合函数缩小范围。",
}
FAILED: Mapping[Language, str] = {"en": "the query failed: ", "zh": "查询失败："}


def make_sql(*files: str | Path, limits: Limits | None = None, max_rows: int = 50) -> FunctionTool:
    """The tool that queries these files: either SQLite databases, or tables as CSV, Parquet or JSON.

    Args:
        limits: Of a query; by default 10 s and 2 GB.
        max_rows: Rows that a model gets to read.
    Raises:
        ConfigurationError: a file can't be read, or is of neither kind; or the package that reads it is missing.
    """
    database = Database(files, limits or Limits(memory_mb=2048), max_rows)

    @tool(
        zh="""用 SQL 查询表格，只读。用于对下列表中的数据筛选、计数、求和、连接；不能用于别的文件，也不能修改任何内容。

        Args:
            query: 一条 SELECT 语句，如 "SELECT kind, count(*) FROM animals GROUP BY kind ORDER BY 2 DESC LIMIT 10"；
                空字符串则列出全部的表、列和类型。
        """
    )
    def sql(query: str) -> str:
        """Query tables in SQL, reading only.

        To filter, count, sum and join what is in the tables below; not for other files, and nothing can be changed.

        Args:
            query: One SELECT, such as "SELECT kind, count(*) FROM animals GROUP BY kind ORDER BY 2 DESC LIMIT 10";
                an empty text lists all tables with their columns and types.
        """
        return database.answer(query)

    tables = database.answer("")
    listed = tables if len(tables) <= MAX_LISTED_CHARS else tables[:MAX_LISTED_CHARS] + " …"
    sql.description += f" The dialect is {database.engine}'s. Tables: {listed}"
    sql.description_zh += f"方言为 {database.engine}。表：{listed}"
    return sql


class Database:
    """Files that are queried together, each under its name without what follows the dot."""

    def __init__(self, files: tuple[str | Path, ...], limits: Limits, max_rows: int) -> None:
        paths = [Path(file).resolve() for file in files]
        self.files = {re.sub(r"\W", "_", path.stem): str(path) for path in paths}
        self.engine = engine_for(paths)
        self.limits = limits
        self.max_rows = max_rows
        if len(self.files) < len(paths):
            raise ConfigurationError("two of the files have the same name; give each another one")
        checked = self._run("")
        if checked.exit_code != 0 or checked.stopped:
            raise ConfigurationError(f"{', '.join(self.files.values())} can't be read: {checked.output.strip()}")

    def answer(self, query: str) -> str:
        """What a model reads of a query."""
        language = language_of(query)
        if len(query) > MAX_QUERY_CHARS:
            raise ValueError(f"the query has {len(query)} characters; the limit is {MAX_QUERY_CHARS}")
        finished = self._run(query)
        if finished.stopped:
            raise ToolError(STOPPED[language].replace("{}", f"{self.limits.timeout_s:g}"))
        if finished.exit_code != 0:
            raise ToolError(FAILED[language] + finished.output.strip())
        return finished.output.rstrip("\n")

    def _run(self, query: str) -> Finished:
        more = MORE[language_of(query)].replace("{}", str(self.max_rows))
        request = {"engine": self.engine, "files": self.files, "query": query, "max_rows": self.max_rows, "more": more}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            return run_limited(QUERY, folder=Path(folder), stdin=json.dumps(request).encode(), limits=self.limits)


def engine_for(paths: list[Path]) -> str:
    """Who reads these files."""
    kinds = {kind_of(path) for path in paths}
    if len(kinds) != 1:
        raise ConfigurationError("sql takes one file or several: SQLite databases, or else CSV, Parquet and JSON files")
    (engine,) = kinds
    if engine == "DuckDB" and find_spec("duckdb") is None:
        raise ConfigurationError("tables in CSV, Parquet or JSON need a package: pip install 'react-lab[data]'")
    return engine


def kind_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(len(SQLITE_HEADER))
        size_mb = path.stat().st_size / 1e6
    except OSError as error:
        raise ConfigurationError(f"can't read {path}: {error.strerror}") from error
    if head == SQLITE_HEADER:
        return "SQLite"
    if path.suffix.lower() not in TABLE_FILES:
        raise ConfigurationError(f"{path} is no SQLite database, and its name ends in none of {' '.join(TABLE_FILES)}")
    if size_mb > MAX_LOADED_MB:
        raise ConfigurationError(f"{path} has {size_mb:.0f} MB; up to {MAX_LOADED_MB} MB can be loaded")
    return "DuckDB"
