"""Tables summed up, and drawings that the person sees."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from react_lab import ToolRegistry
from react_lab.errors import ConfigurationError
from react_lab.tools.limited import Limits
from react_lab.tools.table import make_table

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

CITIES = """\
city,country,people,founded,capital
Paris,France,2100000,1950-01-01,true
Lyon,France,500000,1900-02-03,false
Berlin,Germany,3700000,1800-10-28,true
X|Y,,,,
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "cities.csv").write_text(CITIES, encoding="utf-8")
    (folder / "销量.csv").write_bytes("城市;销量\n北京;10\n上海;20\n北京;30\n".encode("gb18030"))
    (folder / "tabs.tsv").write_text("a\tb\n1\t2\n", encoding="utf-8-sig")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n", encoding="utf-8")
    (folder / "binary.csv").write_bytes(b"\xff\xfe\xfd\0")
    (folder / "hostile.csv").write_text("$\\frac{$,b\n1,2\n", encoding="utf-8")
    return folder


def table(folder: Path, name: str, **asked: Any) -> str:
    return ToolRegistry([make_table(folder)]).execute("table", {"name": name, **asked})


def test_a_summary_tells_rows_and_what_each_column_holds(folder: Path) -> None:
    assert (
        table(folder, "cities.csv")
        == """\
4 rows, 5 columns. The first rows:

| city | country | people | founded | capital |
| --- | --- | --- | --- | --- |
| Paris | France | 2100000.0 | 1950-01-01 | True |
| Lyon | France | 500000.0 | 1900-02-03 | False |
| Berlin | Germany | 3700000.0 | 1800-10-28 | True |

| column | type | missing | values |
| --- | --- | --- | --- |
| city | text | 0 | 4 different, most often Paris (1 times) |
| country | text | 1 | 2 different, most often France (2 times) |
| people | number | 1 | from 500000 to 3700000, mean 2100000, median 2100000 |
| founded | date | 1 | from 1800-10-28 to 1950-01-01 |
| capital | text | 1 | 2 different, most often True (2 times) |"""
    )


def test_a_chinese_table_is_read_and_summed_up_in_chinese(folder: Path) -> None:
    summary = table(folder, "销量.csv")
    assert summary.startswith("3 行，2 列。前几行：\n\n| 城市 | 销量 |")
    assert "| 城市 | text | 0 | 2 种，最多的是 北京（2 次） |" in summary
    assert "| 销量 | number | 0 | 从 10 到 30，平均 20，中位数 20 |" in summary


def test_whatever_separates_the_columns_is_found(folder: Path) -> None:
    assert "| a | b |" in table(folder, "tabs.tsv")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("cities.csv", {"plot": "bar", "x": "country", "y": "people"}),
        ("销量.csv", {"plot": "bar", "x": "城市"}),
        pytest.param("cities.csv", {"plot": "histogram", "x": "people"}, marks=pytest.mark.slow),
        pytest.param("cities.csv", {"plot": "line", "x": "founded", "y": "people"}, marks=pytest.mark.slow),
        pytest.param("cities.csv", {"plot": "scatter", "x": "founded", "y": "people"}, marks=pytest.mark.slow),
    ],
)
def test_a_drawing_is_kept_and_named_for_the_person(
    folder: Path, tmp_path: Path, name: str, asked: dict[str, Any]
) -> None:
    summary = table(folder, name, **asked)
    (path,) = (tmp_path / "runs" / "plots").iterdir()
    kept = f"runs/plots/{path.name}"
    words = f"图：{kept} （用户看得到）" if name == "销量.csv" else f"Plot: {kept} (the person sees it)"
    assert summary.endswith(f"\n\n{words}")
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert path.stem.startswith(f"{Path(name).stem}_{asked['plot']}-")


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("cities.csv", {"plot": "line", "x": "founded"}, "a plot of this kind needs x + y"),
        ("cities.csv", {"plot": "histogram"}, "a plot of this kind needs x"),
        ("cities.csv", {"plot": "bar", "x": "nope"}, "no column nope; the columns are: city, country"),
        ("cities.csv", {"plot": "histogram", "x": "city"}, "the column city holds no numbers"),
        ("cities.csv", {"plot": "pie", "x": "city"}, "do not fit"),
        ("销量.csv", {"plot": "line", "x": "城市", "y": "人口"}, "没有 人口 这一列"),
        ("empty.csv", {}, "No columns"),
        ("ragged.csv", {}, "Expected 2 fields in line 3"),
        ("binary.csv", {}, "can't decode"),
        ("../x.csv", {}, "leads out of the folder"),
        ("/etc/passwd", {}, "leads out of the folder"),
        ("nope.csv", {}, "there is no file"),
    ],
)
def test_what_can_t_be_done_is_told_with_the_reason(
    folder: Path, tmp_path: Path, name: str, asked: dict[str, Any], told: str
) -> None:
    content = table(folder, name, **asked)
    assert content.startswith("Error: ")
    assert told in content
    assert not (tmp_path / "runs").exists()


def test_a_name_that_could_be_a_formula_is_just_a_name(folder: Path) -> None:
    assert "Plot: runs/plots/hostile_line-" in table(folder, "hostile.csv", plot="line", x="$\\frac{$", y="b")


def test_a_table_that_takes_too_long_is_given_up(folder: Path) -> None:
    tool = make_table(folder, limits=Limits(timeout_s=0.05))
    started = time.monotonic()
    assert "too large to be summed up in 0.05 s" in ToolRegistry([tool]).execute("table", {"name": "cities.csv"})
    assert time.monotonic() - started < 3


def test_a_missing_folder_or_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="is no folder"):
        make_table(folder / "nowhere")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'react-lab\[data\]'"):
        make_table(folder)
