"""The texts of one folder: what can be read and found, and that nothing outside it can."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab import ToolRegistry
from react_lab.errors import ConfigurationError
from react_lab.tools.files import MAX_FILE_BYTES, MAX_LINES, PART_CHARS, TooMuch, file_tools, listed, walk

SECRET = "the secret of the other folder"
POSIX = os.name == "posix"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts, beside one with a secret."""
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "home"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "plan.md").write_text("Due date: Monday\nThen rest.\n", encoding="utf-8")
    (folder / "notes" / "计划.md").write_text("截止日期：周一\n", encoding="utf-8")
    (folder / "旧.txt").write_bytes("旧的文字".encode("gb18030"))
    (folder / "long.txt").write_text("".join(f"line {n}\n" for n in range(1000)), encoding="utf-8")
    (folder / "empty.txt").write_text("", encoding="utf-8")
    (folder / "bom.txt").write_text("begins", encoding="utf-8-sig")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "odd.bin").write_bytes(b"\xff\xfe\xfd")
    (folder / ".env").write_text(f"KEY={SECRET}", encoding="utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(SECRET, encoding="utf-8")
    (outside / "secret.txt").write_text(SECRET, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def tools(home: Path) -> ToolRegistry:
    return ToolRegistry(file_tools(home))


def read(tools: ToolRegistry, name: str, part: int | None = None) -> str:
    return tools.execute("read_file", {"name": name, "part": part})


# -- what can be read --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["notes/plan.md", "notes\\plan.md", "./notes//plan.md", "notes/./plan.md"])
def test_a_file_is_read_by_its_path_from_the_folder_on(tools: ToolRegistry, name: str) -> None:
    assert read(tools, name) == "Due date: Monday\nThen rest.\n"


def test_texts_are_read_in_the_encodings_that_are_in_use(tools: ToolRegistry) -> None:
    assert read(tools, "旧.txt") == "旧的文字"
    assert read(tools, "bom.txt") == "begins"
    assert read(tools, "empty.txt") == "(no output)"


def test_a_long_text_comes_in_parts(tools: ToolRegistry, home: Path) -> None:
    whole = (home / "long.txt").read_text(encoding="utf-8")
    first, last = read(tools, "long.txt"), read(tools, "long.txt", 3)
    assert first == whole[:PART_CHARS] + "\n(The text goes on in part 2.)"
    assert last == whole[2 * PART_CHARS :]
    for part in (0, -1, 4):
        assert "has no such part" in read(tools, "long.txt", part)


def test_files_are_listed_with_their_sizes_and_without_what_is_hidden(tools: ToolRegistry) -> None:
    listed = tools.execute("list_files").splitlines()
    assert "notes/plan.md (28)" in listed or "notes/plan.md (30)" in listed  # Windows writes line ends of two bytes
    assert not [line for line in listed if "/." in line or line.startswith(".")]
    assert [line.split(" ")[0] for line in tools.execute("list_files", {"folder": "notes"}).splitlines()] == [
        "notes/plan.md",
        "notes/计划.md",
    ]
    assert tools.execute("list_files", {"folder": "nowhere"}) == "(no files 没有文件)"


def test_a_text_is_found_in_either_case_with_file_and_line(tools: ToolRegistry) -> None:
    assert tools.execute("search_files", {"text": "DUE DATE"}) == "notes/plan.md:1: Due date: Monday"
    assert tools.execute("search_files", {"text": "截止"}) == "notes/计划.md:1: 截止日期：周一"
    assert tools.execute("search_files", {"text": "旧的"}) == "旧.txt:1: 旧的文字"
    assert tools.execute("search_files", {"text": "nothing like it"}) == 'No file holds "nothing like it".'
    assert tools.execute("search_files", {"text": "没有这个"}) == "文件里没有“没有这个”。"
    assert "the text is empty" in tools.execute("search_files", {"text": " "})


def test_no_more_lines_come_than_a_model_can_use(tools: ToolRegistry) -> None:
    lines = tools.execute("search_files", {"text": "line"}).splitlines()
    assert len(lines) == MAX_LINES + 1
    assert lines[-1].startswith("(There are more")


def test_files_without_end_are_gone_through_for_a_limited_time(home: Path) -> None:
    with pytest.raises(TooMuch):
        list(walk(home, timeout_s=0))
    assert listed(walk(home, timeout_s=0)).startswith("(There are more")


def test_a_search_is_letter_by_letter_and_no_pattern(tools: ToolRegistry) -> None:
    assert tools.execute("search_files", {"text": "(a+)+$"}) == 'No file holds "(a+)+$".'


def test_a_folder_that_is_none_is_the_caller_s_mistake(home: Path) -> None:
    for name in ("nowhere", "long.txt"):
        with pytest.raises(ConfigurationError, match="is no folder"):
            file_tools(home / name)


# -- what can't --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../secret.txt", "leads out of the folder"),
        ("notes/../../secret.txt", "leads out of the folder"),
        ("notes/../notes/plan.md", "leads out of the folder"),
        ("..\\secret.txt", "leads out of the folder"),
        ("notes\\..\\../secret.txt", "leads out of the folder"),
        ("/etc/passwd", "leads out of the folder"),
        ("//server/share/x", "leads out of the folder"),
        ("\\\\server\\share\\x", "leads out of the folder"),
        ("\\\\?\\C:\\x", "leads out of the folder"),
        ("C:\\Windows\\win.ini", "leads out of the folder"),
        ("c:x", "leads out of the folder"),
        ("~/x", "leads out of the folder"),
        ("~root/x", "leads out of the folder"),
        ("%2e%2e/secret.txt", "there is no file"),
        ("..%2fsecret.txt", "is hidden"),
        ("file:///etc/passwd", "there is no file"),
        ("‥/secret.txt", "there is no file"),  # a character of two dots
        ("．．/secret.txt", "there is no file"),  # full width
        ("..／secret.txt", "is hidden"),  # a full-width slash
        ("..∕secret.txt", "is hidden"),  # a division slash
        (".. /secret.txt", "is hidden"),
        ("...", "is hidden"),
        ("notes/plan.md\0.txt", "there is no file"),
        ("\ud800", "there is no file"),
        ("notes/plan.md/x", "there is no file"),
        ("x" * 5000, "there is no file"),
        ("a/" * 5000 + "x", "there is no file"),
        (".env", "is hidden"),
        (".git/config", "is hidden"),
        ("notes", "is a folder"),
        ("", "no name is given"),
        ("./", "no name is given"),
        ("image.png", "is no text"),
        ("odd.bin", "is no text"),
        ("没有.md", "没有文件"),
        ("../秘密.txt", "指向文件夹之外"),
    ],
)
def test_each_other_name_is_refused_with_a_reason(tools: ToolRegistry, name: str, told: str) -> None:
    content = read(tools, name)
    assert content.startswith("Error: ")
    assert told in content
    assert SECRET not in content


PIECES = st.sampled_from(
    "/ \\ . : ~ % \0 * .. ../ ..\\ %2e %2f ． ‥ ／ ∕ notes plan.md secret.txt .env .git/config home C: etc passwd "
    "file:// \u202e \ufeff".split(" ")
)


@settings(max_examples=500, deadline=None)
@given(name=st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=40), tool=st.sampled_from(["read", "list"]))
def test_no_name_at_all_leads_to_the_secret(tools: ToolRegistry, name: str, tool: str) -> None:
    found = read(tools, name) if tool == "read" else tools.execute("list_files", {"folder": name})
    assert SECRET not in found
    assert found.startswith("Error: ") or "secret.txt" not in found


@pytest.fixture
def linked(home: Path, tmp_path: Path) -> Path:
    """A folder with links of every kind."""
    folder = tmp_path / "linked"
    folder.mkdir()
    (folder / "plain.txt").write_text("plain", encoding="utf-8")
    try:
        (folder / "file").symlink_to(home.parent / "secret.txt")
        (folder / "folder").symlink_to(home.parent, target_is_directory=True)
        (folder / "here").symlink_to(folder, target_is_directory=True)
        (folder / "loop").symlink_to(folder / "loop")
        (folder / "zero").symlink_to("/dev/zero")
    except OSError:
        pytest.skip("no links here")
    return folder


@pytest.mark.parametrize("name", ["file", "folder/secret.txt", "folder/home/../secret.txt", "loop", "zero"])
def test_links_are_not_followed(linked: Path, name: str) -> None:
    content = read(ToolRegistry(file_tools(linked)), name)
    assert content.startswith("Error: ")
    assert SECRET not in content


def test_links_are_neither_listed_nor_searched(linked: Path) -> None:
    tools = ToolRegistry(file_tools(linked))
    assert tools.execute("list_files") == "plain.txt (5)"
    assert SECRET not in tools.execute("search_files", {"text": "secret"})
    assert list(walk(linked)) == ["plain.txt"]


@pytest.mark.skipif(not POSIX, reason="elsewhere the path is resolved first, as files.py says")
def test_a_link_within_the_folder_is_refused_by_name(linked: Path) -> None:
    assert "'here/plain.txt' is a link, and links are not followed" in read(
        ToolRegistry(file_tools(linked)), "here/plain.txt"
    )


def test_the_folder_itself_may_be_reached_by_a_link(linked: Path) -> None:
    assert read(ToolRegistry(file_tools(linked / "here")), "plain.txt") == "plain"


SWAP = """\
import os, time
deadline = time.monotonic() + 1
while time.monotonic() < deadline:
    for source, target in (("real", "away"), ("spare", "real"), ("real", "spare"), ("away", "real")):
        os.rename(source, target)
"""


@pytest.mark.skipif(not POSIX, reason="the attack needs POSIX, as does what withstands it")
def test_a_link_that_is_swapped_in_meanwhile_leads_nowhere(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "raced"
    (folder / "real").mkdir(parents=True)
    (folder / "real" / "secret.txt").write_text("harmless", encoding="utf-8")
    (folder / "spare").symlink_to(home.parent, target_is_directory=True)
    with subprocess.Popen([sys.executable, "-c", SWAP], cwd=folder) as swapping:
        tools = ToolRegistry(file_tools(folder))
        seen = set()
        while swapping.poll() is None:
            seen.add(read(tools, "real/secret.txt").split(" ")[0])
            assert SECRET not in tools.execute("search_files", {"text": "secret of the other"})
    assert seen <= {"harmless", "Error:"}
    assert "harmless" in seen


@pytest.mark.skipif(not POSIX, reason="there are no named pipes")
def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    tools = ToolRegistry(file_tools(tmp_path))
    started = time.monotonic()
    assert "is no ordinary file" in read(tools, "pipe")
    assert tools.execute("list_files") == "(no files 没有文件)"
    assert time.monotonic() - started < 2


def test_a_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(20_000_000_000)
    (tmp_path / "just.txt").write_bytes(b"x" * MAX_FILE_BYTES)
    (tmp_path / "more.txt").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    tools = ToolRegistry(file_tools(tmp_path))
    started = time.monotonic()
    assert "is too large" in read(tools, "huge.txt")
    assert "is too large" in read(tools, "more.txt")
    assert read(tools, "just.txt").startswith("xxx")
    assert tools.execute("search_files", {"text": "y"}) == 'No file holds "y".'
    assert time.monotonic() - started < 5


@pytest.mark.skipif(not POSIX, reason="needs to count open files")
def test_no_file_is_left_open(tools: ToolRegistry, tmp_path: Path) -> None:
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("notes/plan.md", "notes", "nope/x", "notes/nope", "image.png", "../x"):
        read(tools, name)
    assert len(list(Path("/dev/fd").iterdir())) == before
