"""The tools `list_files`, `read_file` and `search_files`: the texts of one folder that a person names, reading only.

A name is followed from folder to folder, each opened within the one before and no link taken (O_NOFOLLOW, as openat(2)
explains), so that what is swapped in between leads nowhere. Windows has no such call; there the path is resolved first
and must lie in the folder.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from react_lab.errors import ConfigurationError, ToolError
from react_lab.language import Language, language_of
from react_lab.tools.base import Tool, tool

PART_CHARS = 3500  # of a text at a time, so that a part fits into an observation
MAX_FILE_BYTES = 5_000_000
MAX_LINES = 100
MAX_LINE_CHARS = 200
TOO_MANY = "(There are more; ask for less. 还有更多，请缩小范围。)"

TROUBLES: Mapping[str, Mapping[Language, str]] = {
    "empty": {"en": 'no name is given: give one such as "notes/plan.md"', "zh": '没有给出文件名：如 "notes/plan.md"'},
    "outside": {
        "en": "{} leads out of the folder; give a path from the folder on, such as notes/plan.md",
        "zh": "{} 指向文件夹之外；请给出从该文件夹开始的路径，如 notes/plan.md",
    },
    "hidden": {
        "en": "{} is hidden (a name that begins with a dot), and such files are not read",
        "zh": "{} 是隐藏文件（名称以点开头），不能读取",
    },
    "missing": {
        "en": "there is no file {}; list_files tells what there is",
        "zh": "没有文件 {}；用 list_files 查看有哪些",
    },
    "link": {"en": "{} is a link, and links are not followed", "zh": "{} 是链接，不能跟随链接"},
    "folder": {
        "en": "{} is a folder; list_files tells what is in it",
        "zh": "{} 是文件夹；用 list_files 查看其中的文件",
    },
    "device": {"en": "{} is no ordinary file (a device or a pipe)", "zh": "{} 不是普通文件（是设备或管道）"},
    "large": {"en": "{} is too large to be read", "zh": "{} 太大，不能读取"},
    "binary": {"en": "{} is no text", "zh": "{} 不是文本文件"},
    "no part": {"en": "{} has no such part; the first is 1", "zh": "{} 没有这一部分；第一部分是 1"},
}
MORE: Mapping[Language, str] = {
    "en": "\n(The text goes on in part {}.)",
    "zh": "\n（后面还有内容，见第 {} 部分（part）。）",
}


def file_tools(folder: str | Path) -> list[Tool]:
    """The tools on one folder.

    Raises:
        ConfigurationError: there is no such folder.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise ConfigurationError(f"{folder} is no folder")

    @tool(
        zh="""列出文件夹里的文件，含各级子文件夹。用于在读取之前了解有哪些文件、各有多少字节；不显示隐藏文件和链接。

        Args:
            folder: 只看这个子文件夹，如 "notes"；不填则看整个文件夹。
        """
    )
    def list_files(folder: str | None = None) -> str:
        """List the files of the folder and of the folders in it.

        To see what there is before you read, each with its size in bytes; hidden files and links are not shown.

        Args:
            folder: Only this one of the folders in it, such as "notes"; without it all.
        """
        within = "/".join(parts_of(folder)) + "/" if folder else ""
        names = (name for name in walk(root) if name.startswith(within))
        return listed(f"{name} ({(root / name).lstat().st_size})" for name in names) or "(no files 没有文件)"

    @tool(
        zh="""读取文件夹里的一个文本文件。用于已知名称的文件；不能读取图片、PDF 等，也不能读取文件夹以外的文件。

        Args:
            name: 从该文件夹开始的路径，如 "notes/计划.md"。
            part: 长文每 3500 字为一部分：读第几部分，从 1 开始，如 2；不填为第一部分。
        """
    )
    def read_file(name: str, part: int | None = None) -> str:
        """Read a text file of the folder.

        For a file whose name you know; not for images, PDF and the like, and nothing outside the folder can be read.

        Args:
            name: Its path from the folder on, such as "notes/plan.md" or "notes/计划.md".
            part: Long texts come in parts of 3500 characters: which one to read, from 1 on, such as 2; without it the
                first.
        """
        number = 1 if part is None else int(part)
        text = read_text(root, name)
        shown = text[max(0, number - 1) * PART_CHARS : number * PART_CHARS]
        if number < 1 or (number > 1 and not shown):
            raise trouble("no part", name)
        more = MORE[language_of(shown)].replace("{}", str(number + 1))
        return shown + more if len(text) > number * PART_CHARS else shown

    @tool(
        zh="""在文件夹的所有文本文件里查找一段文字，返回含有它的行（文件:行号: 内容）。用于不知道内容在哪个文件时；
        只查原文，不分大小写，不是网络搜索。

        Args:
            text: 要查找的文字，原样，如 "截止日期"。
        """
    )
    def search_files(text: str) -> str:
        """Find a text in the files of the folder: the lines that hold it, as file:number: line.

        For what may stand in any of the files; it looks for the very text, upper or lower case, and not on the web.

        Args:
            text: What to look for, letter by letter, such as "due date" or "截止日期".
        """
        if not text.strip():
            raise ValueError('the text is empty: give what to look for, such as "due date"')
        nothing = "文件里没有“{}”。" if language_of(text) == "zh" else 'No file holds "{}".'
        return listed(lines_with(root, text)) or nothing.replace("{}", text)

    return [list_files, read_file, search_files]


class TooMuch(Exception):
    """There are more files than can be gone through in time."""


def listed(lines: Iterable[str]) -> str:
    """As many lines as a model can use."""
    shown: list[str] = []
    try:
        for line in lines:
            if len(shown) == MAX_LINES:
                raise TooMuch
            shown.append(line)
    except TooMuch:
        shown.append(TOO_MANY)
    return "\n".join(shown)


def lines_with(root: Path, text: str) -> Iterator[str]:
    """The lines that hold a text, each with its file and number."""
    wanted = text.casefold()
    for name in walk(root):
        with suppress(ToolError):  # not a text, or gone
            for number, line in enumerate(read_text(root, name).splitlines(), start=1):
                if wanted in line.casefold():
                    yield f"{name}:{number}: {line.strip()[:MAX_LINE_CHARS]}"


def walk(root: Path, *, timeout_s: float = 5.0) -> Iterator[str]:
    """The names of the files that may be read, in order.

    Raises:
        TooMuch: the time is over.
    """
    deadline = time.monotonic() + timeout_s
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        visible = sorted(name for name in files if not name.startswith("."))
        for path in (Path(folder), *(Path(folder, name) for name in visible)):  # a folder takes time, too
            if time.monotonic() > deadline:
                raise TooMuch
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(root).as_posix()


def read_text(root: Path, name: str) -> str:
    """The text of a file in UTF-8 or in GB 18030.

    Raises:
        ToolError: it can't be read; the reason is written for the model.
    """
    data = read_bytes(root, name)
    if b"\0" in data:
        raise trouble("binary", name)
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise trouble("binary", name)


def read_bytes(root: Path, name: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    descriptor = open_within(root, name)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise trouble("folder" if stat.S_ISDIR(mode) else "device", name)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > max_bytes:
        raise trouble("large", name)
    return data


def open_within(root: Path, name: str) -> int:
    """A descriptor of what that name stands for in the folder, whatever it is."""
    parts = parts_of(name)
    try:
        if sys.platform == "win32":
            return os.open(inside(root, name, parts), os.O_RDONLY | os.O_BINARY)
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        for part in parts:
            above = at
            try:
                at = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=above)  # no wait for a pipe
            finally:
                os.close(above)
        return at
    except (OSError, ValueError) as error:
        is_link = isinstance(error, OSError) and error.errno in (errno.ELOOP, errno.EMLINK)
        raise trouble("link" if is_link else "missing", name) from error


def inside(root: Path, name: str, parts: list[str]) -> Path:
    path = root.joinpath(*parts).resolve()
    if not path.is_relative_to(root):
        raise trouble("outside", name)
    return path


def parts_of(name: str) -> list[str]:
    """A path from the folder on, taken apart; `/` and `\\` are the same on every system."""
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    if not parts:
        raise trouble("empty", name)
    if name.startswith(("/", "\\", "~")) or ".." in parts or re.match(r"[A-Za-z]:", name):
        raise trouble("outside", name)
    if hidden := next((part for part in parts if part.startswith(".")), None):
        raise trouble("hidden", hidden)
    return parts


def trouble(kind: str, name: str) -> ToolError:
    return ToolError(TROUBLES[kind][language_of(name)].replace("{}", repr(name[:MAX_LINE_CHARS])))
