"""The tool `table`: what is in a CSV file, and a drawing of it that the person sees."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from react_lab.errors import ConfigurationError, ToolError
from react_lab.language import Language, language_of
from react_lab.tools.base import FunctionTool, tool
from react_lab.tools.files import read_bytes
from react_lab.tools.limited import Limits, run_limited

MAX_FILE_BYTES = 50_000_000
SUMMARY = Path(__file__).with_name("table_summary.py")
PLOT = "plot.png"

PLOTTED: Mapping[Language, str] = {
    "en": "\n\nPlot: {} (the person sees it)",
    "zh": "\n\n图：{} （用户看得到）",
}
STOPPED: Mapping[Language, str] = {
    "en": "the table is too large to be summed up in {} s",
    "zh": "表格太大，{} 秒内处理不完",
}


def make_table(folder: str | Path, *, plots: str | Path = "runs/plots", limits: Limits | None = None) -> FunctionTool:
    """The tool that sums up the CSV files of a folder.

    Args:
        plots: Where drawings are kept; the observation names the file.
        limits: By default 30 s (drawing begins with the loading of Matplotlib) and 2 GB.
    Raises:
        ConfigurationError: there is no such folder, or a package is missing.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise ConfigurationError(f"{folder} is no folder")
    if not (find_spec("pandas") and find_spec("matplotlib")):
        raise ConfigurationError("summing up tables needs packages: pip install 'react-lab[data]'")
    kept = limits or Limits(timeout_s=30, memory_mb=2048)

    @tool(
        zh="""概括一个 CSV 文件：行数、各列的类型、缺失和取值，需要时画一张给用户看的图。用于了解文件里有什么；
        不用于筛选和连接，也不用于 CSV 以外的文件。

        Args:
            name: 从文件夹开始的路径，如 "销量.csv"。
            plot: "histogram" 画 x 的分布；"bar" 画 x 各值的个数，给了 y 则画 y 的平均值；
                "line" 和 "scatter" 画 y 随 x 的变化；如 "bar"；不填则不画图。
            x: 横轴的列名，如 "城市"。
            y: 纵轴的列名，要是数字，如 "人口"。
        """
    )
    def table(
        name: str,
        plot: Literal["histogram", "bar", "line", "scatter"] | None = None,
        x: str | None = None,
        y: str | None = None,
    ) -> str:
        """Describe a CSV file: its rows, and each column's type, gaps and values; if wanted with a plot for the person.

        To get to know what is in a file; not to filter or join, and for no file but CSV.

        Args:
            name: Its path from the folder on, such as "sales.csv" or "销量.csv".
            plot: "histogram" shows how x is spread, "bar" how often each x occurs or, with y, the mean of y for it,
                "line" and "scatter" y over x; such as "bar"; without it nothing is drawn.
            x: The column on the horizontal axis, such as "city".
            y: The column on the vertical axis, with numbers, such as "population".
        """
        language = language_of(f"{name}{x}{y}")
        asked = {"plot": plot, "x": x, "y": y, "language": language}
        data = read_bytes(root, name, max_bytes=MAX_FILE_BYTES)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as at:
            finished = run_limited(SUMMARY, [json.dumps(asked)], folder=Path(at), stdin=data, limits=kept)
            if finished.stopped:
                raise ToolError(STOPPED[language].replace("{}", f"{kept.timeout_s:g}"))
            if finished.exit_code != 0:
                raise ToolError(f"{name}: {finished.output.strip()}")
            if not plot:
                return finished.output.strip()
            path = keep(Path(at, PLOT).read_bytes(), Path(plots), f"{Path(name).stem}-{plot}")
        return finished.output.strip() + PLOTTED[language].replace("{}", path.as_posix())

    return table


def keep(image: bytes, folder: Path, title: str) -> Path:
    """Put a drawing in a folder, under a name that no other drawing has."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = re.sub(r"\W", "_", title)
    path = folder / f"{plain}-{hashlib.sha256(image).hexdigest()[:8]}.png"
    path.write_bytes(image)
    return path
