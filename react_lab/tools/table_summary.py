"""Sums up a table with pandas and draws it with Matplotlib. Run as a program of its own by table.py.

It reads CSV from stdin, prints the summary and leaves a drawing in `plot.png`. This file needs none of the package.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import sys
import warnings
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

MAX_COLUMNS = 40
FIRST_ROWS = 3
MAX_BARS = 30
MAX_CELL_CHARS = 60
PLOT = "plot.png"
FONTS = ["DejaVu Sans", "Noto Sans CJK SC", "Microsoft YaHei", "PingFang SC", "WenQuanYi Micro Hei", "SimHei"]

WORDS = {
    "en": {
        "size": "{} rows, {} columns. The first rows:",
        "head": ["column", "type", "missing", "values"],
        "number": "from {} to {}, mean {}, median {}",
        "date": "from {} to {}",
        "text": "{} different, most often {} ({} times)",
        "empty": "none",
        "no column": "there is no column {}; the columns are: {}",
        "no numbers": "the column {} holds no numbers",
        "needs": "a plot of this kind needs {}",
    },
    "zh": {
        "size": "{} 行，{} 列。前几行：",
        "head": ["列", "类型", "缺失", "取值"],
        "number": "从 {} 到 {}，平均 {}，中位数 {}",
        "date": "从 {} 到 {}",
        "text": "{} 种，最多的是 {}（{} 次）",
        "empty": "无",
        "no column": "没有 {} 这一列；各列为：{}",
        "no numbers": "{} 这一列不是数字",
        "needs": "这种图需要 {}",
    },
}


def read(data: bytes) -> pd.DataFrame:
    """The table, in UTF-8 or GB 18030, with whatever separates its columns."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("gb18030")
    try:
        separator = csv.Sniffer().sniff(text[:10_000], ",;\t|").delimiter
    except csv.Error:
        separator = ","
    frame = pd.read_csv(io.StringIO(text), sep=separator, skipinitialspace=True)
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        dates = pd.to_datetime(frame[name], format="ISO8601", errors="coerce")
        if frame[name].notna().any() and dates.notna().equals(frame[name].notna()):
            frame[name] = dates
    return frame


def summary(frame: pd.DataFrame, words: dict[str, Any]) -> str:
    shown = frame.iloc[:FIRST_ROWS, :MAX_COLUMNS]
    rows = [[name, kind_of(frame[name]), int(frame[name].isna().sum()), values(frame[name], words)] for name in shown]
    size = words["size"].format(*frame.shape)
    return f"{size}\n\n{as_markdown(list(shown), shown.values.tolist())}\n\n{as_markdown(words['head'], rows)}"


def kind_of(column: pd.Series[Any]) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "bool"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    return "date" if pd.api.types.is_datetime64_any_dtype(column) else "text"


def values(column: pd.Series[Any], words: dict[str, Any]) -> str:
    held = column.dropna()
    kind = kind_of(column)
    if held.empty:
        return str(words["empty"])
    if kind == "number":
        numbers = (held.min(), held.max(), held.mean(), held.median())
        return str(words["number"].format(*(f"{number:.10g}" for number in numbers)))
    if kind == "date":
        return str(words["date"].format(cell(held.min()), cell(held.max())))
    counts = held.astype(str).value_counts()
    return str(words["text"].format(len(counts), cell(counts.index[0]), counts.iloc[0]))


def as_markdown(columns: list[Any], rows: list[list[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(value: Any) -> str:
    text = " ".join(str(value).removesuffix(" 00:00:00").split())
    return (text if len(text) <= MAX_CELL_CHARS else text[:MAX_CELL_CHARS] + "…").replace("|", "\\|")


def draw(frame: pd.DataFrame, kind: str, x: str | None, y: str | None, words: dict[str, Any]) -> None:
    """Leave a drawing of one or two columns in the file `PLOT`."""
    import matplotlib as mpl

    mpl.use("Agg")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # of fonts that this system lacks
    mpl.rcParams.update({"font.family": FONTS, "text.parse_math": False})  # a name with $ is no formula
    if not x or (not y and kind in ("line", "scatter")):
        raise ValueError(words["needs"].format("x + y" if x else "x"))
    for name in filter(None, (x, y)):
        if name not in frame:
            raise ValueError(words["no column"].format(name, ", ".join(map(str, frame))))
    numbers = x if kind == "histogram" else y
    if numbers and kind_of(frame[numbers]) != "number":
        raise ValueError(words["no numbers"].format(numbers))
    if kind == "histogram":
        axes = frame[x].plot.hist(bins=20)
    elif kind == "bar":
        bars = frame[x].value_counts() if not y else frame.groupby(x)[y].mean().sort_values(ascending=False)
        axes = bars.head(MAX_BARS).plot.bar()
    else:
        ordered = frame.sort_values(x) if kind == "line" else frame
        axes = ordered.plot(x=x, y=y, kind=kind)
    axes.set_xlabel(x)
    axes.set_ylabel(y or "")
    axes.figure.tight_layout()
    axes.figure.savefig(PLOT, dpi=100)


def main() -> None:
    asked = json.loads(sys.argv[1])
    words = WORDS[asked["language"]]
    warnings.simplefilter("ignore")  # what is printed, the model reads
    try:
        frame = read(sys.stdin.buffer.read())
        if asked["plot"]:
            draw(frame, asked["plot"], asked["x"], asked["y"], words)
        print(summary(frame, words))
    except Exception as error:  # whatever pandas says, the model has to read it
        sys.exit(str(error) or type(error).__name__)


if __name__ == "__main__":
    main()
