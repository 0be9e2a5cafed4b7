"""Programs that a model writes: what they give, and what they can't do however they try."""

from __future__ import annotations

import os
import sys
import textwrap
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab import ToolCall, ToolRegistry, ToolResult
from react_lab.tools.limited import Limits, run_limited
from react_lab.tools.python_code import MAX_CHARS, PROGRAM, make_python

LINUX = sys.platform == "linux"
POSIX = os.name == "posix"


def run(code: str, **limits: float) -> ToolResult:
    registry = ToolRegistry([make_python(limits=Limits(**limits))])  # type: ignore[arg-type]
    return registry.run(ToolCall("1", "python", {"code": textwrap.dedent(code)}))


@pytest.fixture(scope="session")
def set_apart() -> None:
    """Whether this system gives namespaces: only there are some attacks stopped."""
    if run("import os; print(os.getpid())").content != "1\n":
        pytest.skip("no namespaces for ordinary users here")


# -- what it gives -----------------------------------------------------------------------------------------------


def test_what_a_program_prints_is_what_the_model_reads() -> None:
    assert run("for n in range(3): print(n, '平方', n * n)").content == "0 平方 0\n1 平方 1\n2 平方 4\n"


def test_a_silent_program_is_told_to_print() -> None:
    assert run("x = 1").content == "(It ran and printed nothing. Print what you want to see.)"
    assert run("x = '中'").content == "（已运行，没有输出。想看到什么，就用 print 打印出来。）"


def test_a_failure_is_an_error_result_with_the_program_s_own_lines_only() -> None:
    result = run("""\
        def half(x):
            return x / 0
        print("begins")
        half(1)
        """)
    assert result.is_error
    assert result.content.startswith("Error: the program failed (exit code 1):\nbegins\nTraceback")
    assert 'File "program.py", line 2, in half' in result.content
    assert "ZeroDivisionError" in result.content
    assert "runpy" not in result.content
    assert "limited.py" not in result.content


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = (", "SyntaxError"),
        ("raise SystemExit(3)", "exit code 3"),
        ("import sys; sys.exit('bye')", "bye"),
        ("input()", "EOFError"),
        ("\0", "null bytes"),
        ("print(open('nowhere.txt').read())", "FileNotFoundError"),
    ],
)
def test_each_kind_of_failure_says_what_it_is(code: str, told: str) -> None:
    result = run(code)
    assert result.is_error
    assert told in result.content


def test_each_run_starts_anew_in_an_empty_folder_that_is_gone_afterwards() -> None:
    code = "import os; print(os.getcwd()); print(os.listdir()); open('left.txt', 'w').write('x')"
    first, second = run(code).content.splitlines(), run(code).content.splitlines()
    assert first[1] == second[1] == f"['{PROGRAM}']"
    assert not Path(first[0]).exists()


def test_programs_run_side_by_side() -> None:
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda n: run(f"print({n})").content, range(4)))
    assert results == ["0\n", "1\n", "2\n", "3\n"]


def test_a_tool_that_runs_programs_has_effects() -> None:
    assert make_python().has_effects


def test_a_program_without_end_is_not_even_started() -> None:
    assert "the limit is" in run("#" * (MAX_CHARS + 1)).content


@settings(max_examples=15, deadline=None)
@given(st.text(max_size=200))
def test_any_text_at_all_gives_a_result(code: str) -> None:
    assert run(code, timeout_s=5.0).content


# -- what it stops -----------------------------------------------------------------------------------------------


SLEEP = pytest.param("import time; time.sleep(60)", marks=pytest.mark.slow)


@pytest.mark.parametrize("code", ["while True: pass", SLEEP])
def test_an_endless_program_ends_in_time_with_what_it_printed(code: str) -> None:
    started = time.monotonic()
    result = run(f"print('begins', flush=True)\n{code}", timeout_s=1.0)
    assert time.monotonic() - started < 5
    assert result.content.startswith("Error: the program was stopped: it took longer than 1 s.")
    assert "begins" in result.content


def test_a_flood_of_output_ends_at_once_and_only_its_beginning_is_kept() -> None:
    started = time.monotonic()
    result = run("while True: print('x' * 1000)", timeout_s=20.0, max_bytes=10_000)
    assert time.monotonic() - started < 10
    assert "it printed more than 10000 bytes" in result.content
    assert len(result.content) < 10_200


def test_a_program_that_ends_after_a_flood_is_cut_all_the_same() -> None:
    assert "it printed more than 100 bytes" in run("print('x' * 1000)", max_bytes=100).content


@pytest.mark.skipif(not LINUX, reason="only Linux limits address space")
@pytest.mark.parametrize("code", ["x = [0] * 10**10", "x = [b'x' * 10**6]\nwhile True: x.append(b'x' * 10**7)"])
def test_memory_without_end_is_an_error_of_the_program(code: str) -> None:
    result = run(code, memory_mb=300)
    assert "MemoryError" in result.content


@pytest.mark.skipif(not POSIX, reason="Windows has no such limit")
def test_a_file_without_end_is_an_error_of_the_program() -> None:
    result = run("with open('big', 'wb') as file:\n    while True: file.write(b'x' * 10**6)")
    assert "File too large" in result.content


def test_keys_are_not_among_its_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    assert "sk-0123456789" not in run("import os; print(dict(os.environ))").content


HUNT = """\
    import pathlib
    for file in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            data = file.read_bytes()
        except OSError:
            continue
        for line in data.split(b"\\0"):
            if line.startswith(b"HUNTED_API_KEY="):
                print("found", line)
    print("done")
    """


@pytest.mark.skipif(not LINUX, reason="only Linux has /proc")
@pytest.mark.usefixtures("set_apart")
def test_keys_can_t_be_read_out_of_the_process_that_started_it(tmp_path: Path) -> None:
    script = tmp_path / "outer.py"  # os.environ of a process that runs does not show in /proc, so it takes another one
    script.write_text("from tests.test_python_tool import HUNT, run\nprint(run(HUNT).content)", encoding="utf-8")
    import subprocess

    root = Path(__file__).parents[1]
    surroundings = {**os.environ, "HUNTED_API_KEY": "sk-0123456789", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, str(script)], env=surroundings, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "done"


@pytest.mark.parametrize(
    "code",
    [
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import socket; socket.getaddrinfo('example.com', 80)",
        "import socket; socket.socket().bind(('127.0.0.1', 0))",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    ],
)
def test_the_network_is_refused_with_a_reason(code: str) -> None:
    assert "the network can't be used in here" in run(code).content


@pytest.mark.skipif(not LINUX, reason="elsewhere this way stays open, as limited.py says")
@pytest.mark.usefixtures("set_apart")
def test_there_is_no_network_behind_the_refusal_either() -> None:
    """Straight to the system's own functions, past everything that Python could refuse."""
    code = """\
        import ctypes, struct
        libc = ctypes.CDLL(None, use_errno=True)
        end = libc.socket(2, 1, 0)
        for host in (b"\\x7f\\0\\0\\1", b"\\x01\\x01\\x01\\x01"):
            address = struct.pack("=HH4s8x", 2, 0x5000, host)
            print(libc.connect(end, address, len(address)), ctypes.get_errno())
        """
    assert run(code).content == "-1 101\n-1 101\n"  # ENETUNREACH, of this machine too


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.system('echo hi')",
        "import subprocess; subprocess.run(['echo', 'hi'])",
        "import os, sys; os.execv(sys.executable, [sys.executable, '-c', ''])",
        *(["import os; os.fork()", "import os; os.posix_spawn('/bin/echo', ['echo'], {})"] if POSIX else []),
    ],
)
def test_other_programs_are_refused_with_a_reason(code: str) -> None:
    assert "other programs can't be used in here" in run(code).content


@pytest.mark.skipif(not POSIX, reason="there is no fork")
def test_a_fork_bomb_does_not_go_off() -> None:
    started = time.monotonic()
    result = run("import os\nfor _ in range(20):\n    os.fork()")
    assert "PermissionError" in result.content
    assert time.monotonic() - started < 10


FORKS = """\
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
for _ in range(24):
    if libc.fork() == 0:  # past Python's own way, which is refused
        if sys.argv[1].startswith("apart"):
            os.setsid()  # and out of the group
        time.sleep(60)
        os._exit(0)
print("forked", flush=True)
if "leave" not in sys.argv[1]:
    time.sleep(60)
"""


SLOW = [pytest.param(way, marks=pytest.mark.slow) for way in ("group", "apart")]


def survivors(mark: str) -> list[int]:
    """The processes that were started with this mark among their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not LINUX, reason="only Linux has /proc to look at")
@pytest.mark.usefixtures("set_apart")
@pytest.mark.parametrize("way", [*SLOW, "group-leave", "apart-leave"])
def test_whatever_a_program_has_started_ends_with_it(tmp_path: Path, way: str) -> None:
    (tmp_path / PROGRAM).write_text(FORKS, encoding="utf-8")
    mark = f"{way}-{uuid.uuid4()}"
    finished = run_limited(Path(PROGRAM), [mark], folder=tmp_path, limits=Limits(timeout_s=2.0))
    assert finished.output.count("forked") == 1
    assert finished.stopped == (None if "leave" in way else "time")
    deadline = time.monotonic() + 5
    while survivors(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = survivors(mark)
    for number in left:
        os.kill(number, 9)
    assert left == []
