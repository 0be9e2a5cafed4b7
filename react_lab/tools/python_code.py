"""A tool that runs Python programs which a model writes: in a process of its own, within limits, after asking.

It is no security boundary (see `limited.py`): the program can read the person's files. So the tool counts as one that
has effects, and the command line asks before it runs one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from react_lab.errors import ToolError
from react_lab.language import Language, language_of
from react_lab.tools.base import FunctionTool, tool
from react_lab.tools.limited import Finished, Limits, run_limited

MAX_CHARS = 50_000  # of a program
PROGRAM = "program.py"

WORDS: Mapping[str, Mapping[Language, str]] = {
    "silent": {
        "en": "(It ran and printed nothing. Print what you want to see.)",
        "zh": "（已运行，没有输出。想看到什么，就用 print 打印出来。）",
    },
    "time": {
        "en": "the program was stopped: it took longer than {} s. Make it do less. Until then it printed:\n",
        "zh": "程序被停止：运行超过了 {} 秒。请减少计算量。此前的输出：\n",
    },
    "output": {
        "en": "the program was stopped: it printed more than {} bytes. Print less. It began with:\n",
        "zh": "程序被停止：输出超过了 {} 字节。请少打印一些。开头是：\n",
    },
    "failed": {"en": "the program failed (exit code {}):\n", "zh": "程序出错（退出码 {}）：\n"},
}


def make_python(*, limits: Limits | None = None) -> FunctionTool:
    """The tool that runs programs, by default for 10 s with 1 GB of memory."""
    kept = limits or Limits()

    @tool(
        zh="""运行一个 Python 程序，返回它打印的内容。用于计算器和其他工具做不到的事：循环、日期、统计、整理文字。
        每次都从头运行，变量和文件都不保留；没有网络，不能启动别的程序，只能运行几秒。

        Args:
            code: 完整的程序，想看到的都用 print 打印，如 "import statistics\\nprint(statistics.mean([1, 2, 4]))"。
        """,
        has_effects=True,
    )
    def python(code: str) -> str:
        """Run a Python program and get what it prints.

        For what the calculator and the other tools can't do: loops, dates, statistics, work on text. Each run starts
        anew, and no variables or files are kept; there is no network, no other program, and only a few seconds.

        Args:
            code: The whole program, which prints all that you want to see, such as
                "import statistics\\nprint(statistics.mean([1, 2, 4]))".
        """
        if len(code) > MAX_CHARS:
            raise ValueError(f"the program has {len(code)} characters; the limit is {MAX_CHARS}")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            (Path(folder) / PROGRAM).write_text(code, encoding="utf-8", errors="replace")
            return observe(run_limited(Path(PROGRAM), folder=Path(folder), limits=kept), kept, language_of(code))

    return python


def observe(finished: Finished, limits: Limits, language: Language) -> str:
    """What a model reads of a program that ended well; another one raises."""
    if finished.stopped is None and finished.exit_code == 0:
        return finished.output or WORDS["silent"][language]
    number = {"time": limits.timeout_s, "output": limits.max_bytes}.get(finished.stopped or "", finished.exit_code)
    raise ToolError(WORDS[finished.stopped or "failed"][language].replace("{}", f"{number:g}") + finished.output)
