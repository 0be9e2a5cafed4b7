"""SQL over files that a person names: what it answers, and that nothing but reading can be done."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab import ToolCall, ToolRegistry, ToolResult
from react_lab.errors import ConfigurationError
from react_lab.tools.base import FunctionTool
from react_lab.tools.limited import Limits
from react_lab.tools.sql import MAX_QUERY_CHARS, make_sql
from react_lab.tools.sql_query import DuckDB, SQLite, answer, as_markdown

QUICK = Limits(timeout_s=3.0, memory_mb=2048)  # starting takes a second where the machine is busy


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zoo") / "zoo.db"
    file = sqlite3.connect(path)
    file.executescript("""
        CREATE TABLE animal (name TEXT, kind TEXT, weight REAL, "the note" TEXT);
        INSERT INTO animal VALUES ('Ada', 'cat', 4.5, 'a|b'), ('Bo', 'dog', 20, NULL), ('阿福', 'cat', 3, x'00ff');
        CREATE VIEW kind AS SELECT kind, count(*) AS number FROM animal GROUP BY kind;
        CREATE VIEW broken AS SELECT * FROM gone;
        CREATE VIRTUAL TABLE story USING fts5(body);
        INSERT INTO story VALUES ('the cat sleeps');
    """)
    file.commit()
    file.close()
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    duckdb = pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("tables")
    (folder / "city.csv").write_text("name,people,founded\nParis,2100000,0250-01-01\nLyon,500000,\n", encoding="utf-8")
    (folder / "人口.csv").write_bytes("城市,人口\n北京,2189\n上海,2487\n".encode("gb18030"))
    (folder / "trip.jsonl").write_text('{"to": "Paris", "days": [1, 2]}\n{"to": "Lyon"}\n', encoding="utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 7 AS n) TO '{folder / 'seven.parquet'}' (FORMAT parquet)").fetchall()
    return {path.stem: str(path) for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def sql(zoo: Path) -> FunctionTool:
    return make_sql(zoo)


def ask(tool: FunctionTool, query: str) -> ToolResult:
    return ToolRegistry([tool]).run(ToolCall("1", "sql", {"query": query}))


# -- answers -----------------------------------------------------------------------------------------------------


def test_an_answer_is_a_small_markdown_table(sql: FunctionTool) -> None:
    assert ask(sql, "SELECT name, weight FROM animal WHERE kind = 'cat' ORDER BY weight").content == (
        "| name | weight |\n| --- | --- |\n| 阿福 | 3.0 |\n| Ada | 4.5 |"
    )


def test_the_description_names_the_tables_with_their_columns_and_types_in_both_languages(sql: FunctionTool) -> None:
    listed = 'animal (name TEXT, kind TEXT, weight REAL, "the note" TEXT); kind (kind TEXT, number); story (body'
    assert f"The dialect is SQLite's. Tables: {listed}" in sql.description
    assert f"方言为 SQLite。表：{listed}" in sql.description_zh
    assert ask(sql, " ").content.startswith(listed)


def test_a_broken_view_and_the_inner_tables_of_an_index_are_not_listed(sql: FunctionTool) -> None:
    assert "broken" not in sql.description
    assert "story_data" not in sql.description


def test_a_full_text_index_can_be_searched(sql: FunctionTool) -> None:
    assert "the cat sleeps" in ask(sql, "SELECT body FROM story WHERE story MATCH 'sleeps'").content


def test_what_would_break_the_table_is_made_harmless() -> None:
    rows = [["a|b\nc", None, b"\0\xff", "x" * 300, 1.5]]
    assert as_markdown(["one\ntwo", "n", "b", "x", "f"], rows).splitlines() == [
        "| one two | n | b | x | f |",
        "| --- | --- | --- | --- | --- |",
        "| a\\|b c | NULL | (2 bytes) | " + "x" * 200 + "… | 1.5 |",
    ]


def test_more_rows_than_a_model_can_use_are_cut_and_it_says_so(zoo: Path) -> None:
    content = ask(make_sql(zoo, max_rows=2), "SELECT name FROM animal").content
    assert content.endswith("| Bo |\n(There are more rows than these 2. Narrow the query, or count and sum in it.)")
    assert "不止这 2 行" in ask(make_sql(zoo, max_rows=2), "SELECT name AS 名字 FROM animal").content
    assert "more rows" not in ask(make_sql(zoo, max_rows=3), "SELECT name FROM animal").content


def test_several_databases_are_queried_together(zoo: Path, tmp_path: Path) -> None:
    other = tmp_path / "the shop.db"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE price (kind TEXT, euro INTEGER)")
        file.execute("INSERT INTO price VALUES ('cat', 50)")
    file.close()
    sql = make_sql(zoo, other)
    assert "the_shop.price (kind TEXT, euro INTEGER)" in sql.description
    query = "SELECT name, euro FROM zoo.animal JOIN the_shop.price USING (kind) ORDER BY name"
    assert "| Ada | 50 |" in ask(sql, query).content


def test_tables_in_other_files_are_queried_by_their_names(tables: dict[str, str]) -> None:
    sql = make_sql(*tables.values())
    for told in ("city (name VARCHAR, people BIGINT, founded DATE)", "seven (n INTEGER)", '"人口" ("城市" VARCHAR'):
        assert told in sql.description
    query = 'SELECT name, people, n, "to", days FROM city JOIN trip ON name = "to", seven ORDER BY name'
    assert ask(sql, query).content.splitlines()[2:] == [
        "| Lyon | 500000 | 7 | Lyon | NULL |",
        "| Paris | 2100000 | 7 | Paris | [1, 2] |",
    ]
    assert "| 4676 |" in ask(sql, 'SELECT sum("人口") FROM "人口"').content


def test_a_mistake_is_told_as_the_engine_tells_it(sql: FunctionTool) -> None:
    assert ask(sql, "SELECT * FROM nope").content == "Error: the query failed: no such table: nope"
    assert ask(sql, "SELECT 名 FROM animal").content.startswith("Error: 查询失败：")
    assert "the limit is" in ask(sql, "-" * (MAX_QUERY_CHARS + 1)).content


def test_what_can_t_be_queried_is_refused_at_once(zoo: Path, tables: dict[str, str], tmp_path: Path) -> None:
    text, damaged = tmp_path / "text.txt", tmp_path / "damaged.db"
    text.write_text("hello", encoding="utf-8")
    damaged.write_bytes(zoo.read_bytes()[:100] + b"\xff" * 5000)
    for files, told in [
        ((), "one file or several"),
        ((zoo, tables["city"]), "SQLite databases, or else CSV"),
        ((tmp_path / "gone.csv",), "No such file"),
        ((text,), "no SQLite database"),
        ((damaged,), "can't be read"),
        ((zoo, zoo.parent / "sub" / ".." / "zoo.db"), "same name"),
    ]:
        (zoo.parent / "sub").mkdir(exist_ok=True)
        with pytest.raises(ConfigurationError, match=told):
            make_sql(*files)


def test_a_missing_package_is_named(tables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'react-lab\[data\]'"):
        make_sql(tables["city"])


# -- attacks -----------------------------------------------------------------------------------------------------

ATTACKS = [
    "INSERT INTO animal VALUES ('x', 'x', 1, '')",
    "UPDATE animal SET weight = 0",
    "DELETE FROM animal",
    "DROP TABLE animal",
    "WITH x AS (SELECT 1) DELETE FROM animal",
    "CREATE TABLE evil (x)",
    "CREATE TEMP TABLE evil AS SELECT 1",
    "CREATE TRIGGER evil AFTER INSERT ON animal BEGIN SELECT 1; END",
    "ALTER TABLE animal ADD COLUMN x",
    "ATTACH 'evil.db' AS evil",
    "ATTACH ':memory:' AS evil",
    "DETACH zoo",
    "VACUUM",
    "VACUUM INTO 'evil.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN IMMEDIATE",
    "SAVEPOINT x",
    "PRAGMA writable_schema = 1",
    "PRAGMA zoo.user_version = 7",
    "PRAGMA zoo.journal_mode = WAL",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA trusted_schema = ON",
    "SELECT * FROM pragma_database_list",
    "PRAGMA database_list",
    "SELECT load_extension('evil')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "SELECT writefile('evil.db', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT 1; DELETE FROM animal",
    "INSERT INTO story(story) VALUES ('rebuild')",
    "\0",
]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def untouched(zoo: Path, tmp_path: Path) -> Iterator[None]:
    """Fails if the database has changed or a file has appeared beside it or where we are."""
    before, beside = digest(zoo), sorted(zoo.parent.iterdir())
    yield
    assert digest(zoo) == before
    assert sorted(zoo.parent.iterdir()) == beside
    assert not list(tmp_path.glob("evil*"))


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("query", ATTACKS)
def test_sqlite_refuses_all_but_reading(zoo: Path, query: str) -> None:
    engine = SQLite({"zoo": str(zoo)})
    with closing(engine.connection), pytest.raises((ValueError, sqlite3.Error)):
        engine.select(query, 10)


@pytest.mark.usefixtures("untouched")
def test_a_refusal_is_an_error_result_that_says_why(sql: FunctionTool) -> None:
    result = ask(sql, "DELETE FROM animal")
    assert result.is_error
    assert "only SELECT is allowed here" in result.content


WORDS = st.sampled_from(
    "SELECT INSERT UPDATE DELETE DROP ATTACH PRAGMA VACUUM INTO FROM WITH AS SET TABLE VALUES ( ) , ; * = 1 'evil.db' "
    "animal kind story x name user_version writable_schema WHERE UNION ALL CREATE -- /* */ zoo . main temp".split()
)


@settings(max_examples=300, deadline=None)
@given(query=st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=50))
def test_no_statement_at_all_changes_the_database(zoo: Path, query: str) -> None:
    before = digest(zoo)
    engine = SQLite({"zoo": str(zoo)})
    with suppress(ValueError, sqlite3.Error):
        answer(engine, query, 5, "")
    engine.connection.close()
    assert digest(zoo) == before


ENDLESS = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT"


BLOBS = "WITH RECURSIVE t(x) AS (SELECT randomblob(9999) UNION SELECT randomblob(9999) FROM t)"


@pytest.mark.slow
@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "query",
    [
        f"{ENDLESS} count(*) FROM t",
        f"{BLOBS} SELECT count(*) FROM t",
        f"SELECT count(*) FROM {', '.join(f'animal a{n}' for n in range(40))}",
        "SELECT printf('%.*c', 2000000000, 'x')",  # a single step of SQLite's
    ],
)
def test_a_query_without_end_is_stopped_in_time(zoo: Path, query: str) -> None:
    sql = make_sql(zoo, limits=QUICK)
    started = time.monotonic()
    result = ask(sql, query)
    assert time.monotonic() - started < QUICK.timeout_s + 3
    assert result.is_error
    assert "longer than 3 s" in result.content or "memory" in result.content.lower(), result.content


@pytest.mark.parametrize(
    "query",
    [
        "SELECT hex(zeroblob(900000000))",
        "SELECT group_concat(printf('%.*c', 9000000, 'x')) FROM animal",
    ],
)
def test_a_value_that_is_too_large_is_refused(sql: FunctionTool, query: str) -> None:
    assert "too big" in ask(sql, query).content


def test_a_result_without_end_gives_its_first_rows(sql: FunctionTool) -> None:
    assert "There are more rows than these 50." in ask(sql, f"{ENDLESS} x FROM t").content


def test_rows_that_are_too_wide_are_refused(sql: FunctionTool) -> None:
    wide = ", ".join(["printf('%.*c', 200, 'x')"] * 300)
    assert "gave too much" in ask(sql, f"{ENDLESS} {wide} FROM t").content


def test_a_view_in_a_strange_file_can_t_call_what_has_effects(tmp_path: Path) -> None:
    path = tmp_path / "strange.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE VIEW trap AS SELECT load_extension('evil') AS x")
    file.close()
    assert ask(make_sql(path), "SELECT * FROM trap").is_error


DUCKDB_ATTACKS = [
    "INSERT INTO city VALUES ('x', 1, NULL)",
    "WITH x AS (INSERT INTO city VALUES ('x', 1, NULL) RETURNING 1) SELECT * FROM x",
    "CREATE TABLE evil AS SELECT 1",
    "DROP TABLE city",
    "COPY city TO 'evil.csv'",
    "COPY city FROM '/etc/passwd'",
    "EXPORT DATABASE 'evil'",
    "ATTACH 'evil.db'",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('{city}')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_blob('/etc/*')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM sniff_csv('/etc/passwd')",
    "SELECT * FROM read_csv('http://127.0.0.1:9/x.csv')",
    "SELECT * FROM parquet_metadata('{seven}')",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET memory_limit = '100GB'",
    "RESET enable_external_access",
    "PRAGMA enable_profiling",
    "CALL duckdb_settings()",
    "SELECT 1; SELECT 2",
    "CREATE SECRET x (TYPE s3)",
    "COMMIT",
    "CHECKPOINT",
    "CONNECT 'x'",
    "SELECT * FROM query('DROP TABLE city')",
    "",
]


@pytest.mark.parametrize("query", DUCKDB_ATTACKS)
def test_duckdb_refuses_all_but_reading_what_was_loaded(tables: dict[str, str], tmp_path: Path, query: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    engine = DuckDB({"city": tables["city"]})
    before = digest(Path(tables["city"]))
    with pytest.raises((ValueError, duckdb.Error)):
        engine.select(query.replace("{city}", tables["city"]).replace("{seven}", tables["seven"]), 10)
    engine.connection.close()
    assert digest(Path(tables["city"])) == before
    assert not list(tmp_path.glob("evil*"))


@pytest.mark.parametrize(
    "query",
    [
        pytest.param(f"{ENDLESS} count(*) FROM t", marks=pytest.mark.slow),
        pytest.param("SELECT count(*) FROM range(10000000) a, range(1000000) b", marks=pytest.mark.slow),
        "SELECT list_sum(range(2000000000))",  # heeds no interrupt for minutes
        "SELECT repeat('x', 2000000000)",
    ],
)
def test_a_query_of_duckdb_without_end_is_stopped_in_time(tables: dict[str, str], query: str) -> None:
    sql = make_sql(tables["city"], limits=Limits(timeout_s=4.0, memory_mb=2048))
    started = time.monotonic()
    result = ask(sql, query)
    assert time.monotonic() - started < 8
    assert result.is_error


def test_a_name_with_a_quotation_mark_does_not_leave_its_place(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    path = tmp_path / 'it\'s "x".csv'
    try:
        path.write_text("a\n1\n", encoding="utf-8")
    except OSError:
        pytest.skip("no such names here")
    assert "| 1 |" in ask(make_sql(path), "SELECT a FROM it_s__x_").content
