"""The player in a terminal."""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.utils import get_cwidth

from react_lab.replay.terminal import TerminalPlayer, application, print_trace, replay_in_terminal, wrap
from react_lab.trace import Trace
from tests.browser.runs import calling, desk, lighthouse, lighthouse_in_chinese, long_run, run


def shown(player: TerminalPlayer, columns: int = 80, rows: int = 40) -> str:
    return "\n".join(text for _, text in player.screen(columns, rows))


def test_the_arrow_keys_step_forward_and_back() -> None:
    player = TerminalPlayer(lighthouse())
    assert "Step 1 of 3" in shown(player)
    player.press("right")
    assert "The search failed." in shown(player)
    player.press("left")
    assert "I look up its height first." in shown(player)
    player.press("left")
    assert "Step 1 of 3" in shown(player)


def test_home_and_end_go_to_the_first_and_the_last_step() -> None:
    player = TerminalPlayer(lighthouse())
    player.press("end")
    player.press("right")
    assert "Step 3 of 3" in shown(player)
    assert "Sources\n  https://almanac.example/lanterna" in shown(player)
    player.press("home")
    assert "Step 1 of 3" in shown(player)


def test_prompt_and_raw_reply_unfold() -> None:
    player = TerminalPlayer(lighthouse())
    player.press("right")
    assert "[tool" not in shown(player, rows=200)
    player.press("p")
    player.press("r")
    text = shown(player, rows=200)
    assert "Prompt as sent · 4 messages, 2 new" in text
    assert "[user]\n  How tall is the Lighthouse of Genoa in feet?" in text
    assert "[tool · new]\n  search: Error: RuntimeError" in text
    assert text.count("The search failed.") == 2
    player.press("p")
    assert "[user]" not in shown(player, rows=200)


def test_the_events_of_a_step_unfold() -> None:
    player = TerminalPlayer(lighthouse())
    player.press("e")
    text = shown(player, rows=60)
    assert "Events\n  request: 2 new messages" in text
    assert "  reader: Thought · calls search" in text


def test_the_overview_draws_time_and_prompt_of_every_step() -> None:
    player = TerminalPlayer(desk())
    player.press("right")
    player.press("o")
    lines = shown(player, columns=100, rows=60).splitlines()
    first = next(place for place, line in enumerate(lines) if "Time" in line and "Context" in line)
    rows = lines[first + 1 : first + 8]
    assert [row[2:6] for row in rows] == ["   1", ">  2", "   3", "   4", "   5", "   6", "   7"]
    assert all("#" in row for row in rows)
    assert "synthesizer" in rows[2]


def test_a_filter_leaves_only_the_steps_with_errors() -> None:
    player = TerminalPlayer(lighthouse())
    player.press("end")
    player.press("x")
    assert "Errors only (1)" in player.foot
    player.press("home")
    assert player.number == 1
    player.press("right")
    assert player.number == 1
    player.press("x")
    player.press("right")
    assert player.number == 2


def test_search_goes_to_the_steps_that_hold_the_text() -> None:
    player = TerminalPlayer(lighthouse())
    for key in ["/", *"LANTERNA", "x", "backspace"]:
        player.press(key)
    assert shown(player).endswith("/LANTERNA_")
    player.press("enter")
    assert "Step 2 of 3" in shown(player)
    assert "/LANTERNA · 1 of 2 · arrows move" in shown(player)
    player.press("n")
    assert "Step 3 of 3" in shown(player)
    player.press("n")
    assert "Step 2 of 3" in shown(player)
    player.press("N")
    assert "Step 3 of 3" in shown(player)
    player.press("home")
    assert "/LANTERNA · – of 2" in shown(player)
    for key in ["/", "q", "q", "enter"]:
        player.press(key)
    assert shown(player).endswith("/qq · not found")
    for key in ["n", "/", "z", "escape"]:
        player.press(key)
    assert shown(player).endswith("q quit")


def test_a_step_that_is_longer_than_the_screen_scrolls_to_its_end() -> None:
    player = TerminalPlayer(long_run(2))
    assert re.search(r" \d+/\d+ --|-- *\d+/\d+ $", shown(player, rows=20).splitlines()[-2])
    first = shown(player, rows=20)
    for _ in range(20):
        player.press("pagedown")
    assert "0001 0001" in shown(player, rows=20)
    assert shown(player, rows=20) != first
    player.press("right")
    assert "Step 2 of 2" in shown(player, rows=20)


@pytest.mark.parametrize("columns", [20, 33, 80])
def test_no_row_is_wider_than_the_screen_and_no_screen_is_higher(columns: int) -> None:
    for trace in (lighthouse(), lighthouse_in_chinese(), long_run(3)):
        player = TerminalPlayer(trace)
        player.press("p")
        screen = player.screen(columns, 24)
        assert len(screen) == 24
        assert max(get_cwidth(text) for _, text in screen) <= columns


def test_the_controls_are_in_the_language_of_the_person() -> None:
    text = shown(TerminalPlayer(lighthouse_in_chinese(), lang="zh"))
    assert "第 1 步，共 2 步" in text
    assert "思考\n  我先查热那亚灯塔的高度。" in text
    assert "由离线替身作答" in text


def test_a_run_without_steps_can_be_looked_at() -> None:
    player = TerminalPlayer(Trace(lighthouse().events[:1]))
    player.press("end")
    assert "The run ended before the model replied." in shown(player)


def test_escape_sequences_of_a_model_never_reach_the_terminal() -> None:
    bad = "\x1b]0;owned\x07\x1b[2J\x9b31m"
    trace = run(bad, [calling(bad, ("echo", {"text": bad})), bad])
    player = TerminalPlayer(trace)
    printed = io.StringIO()
    print_trace(trace, printed)
    for text in (shown(player), printed.getvalue()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
        assert "\\x1b]0;owned\\x07" in text


@pytest.mark.parametrize("encoding", ["gbk", "ascii", "utf-8"])
def test_a_console_that_lacks_characters_prints_all_the_same(encoding: str) -> None:
    trace = run("灯塔有多高？😀", ["77 米 — ½ 😀"])
    raw = io.BytesIO()
    console = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    print_trace(trace, console, lang="zh")
    console.flush()
    assert "77 " in raw.getvalue().decode(encoding)


def test_the_whole_run_is_printed_where_nobody_can_press_keys(capsys: pytest.CaptureFixture[str]) -> None:
    replay_in_terminal(lighthouse(), lang="en")
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("===")] == [
        line for line in printed.splitlines() if re.match(r"=== Step [123] of 3 · ", line)
    ]
    assert 'Action\n  search {"query": "Lanterna of Genoa"}\n\nObservation\n  Lighthouse of Genoa\n  77 m' in printed
    assert "Answer\n  77 m, about 253 feet." in printed


def test_rows_break_between_words_and_anywhere_in_chinese() -> None:
    assert list(wrap("one two three", 8)) == ["one two ", "three"]
    assert list(wrap("灯塔灯塔灯", 4)) == ["灯塔", "灯塔", "灯"]
    assert list(wrap("x" * 10, 4)) == ["xxxx", "xxxx", "xx"]
    assert list(wrap("", 4)) == [""]


def test_the_program_takes_keys_and_ends_with_q() -> None:
    player = TerminalPlayer(lighthouse())
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
        keyboard.send_text("/q\r\x1b[C\x1b[Cq")
        application(player).run()
    assert player.number == 3


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_it_works_in_a_real_terminal(tmp_path: Path) -> None:
    path = lighthouse().save(tmp_path / "run.jsonl")
    code = (
        "import sys; from react_lab.trace import Trace; from react_lab.replay.terminal import replay_in_terminal\n"
        "replay_in_terminal(Trace.load(sys.argv[1]), lang='en')"
    )
    screen, keyboard = os.openpty()
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=keyboard, stdout=keyboard, env={**os.environ, "TERM": "xterm"}) as player:
        read_until(screen, b"I look up its height first.")
        os.write(screen, b"\x1b[C")
        os.write(screen, b"q")
        shown = read_until(screen, b"\x1b[?1049l")  # the last picture is drawn whole
        assert player.wait(timeout=20) == 0
    os.close(screen)
    os.close(keyboard)
    assert b"The search failed." in shown


def read_until(terminal: int, text: bytes) -> bytes:
    """What a terminal shows, up to a text."""
    seen = b""
    while text not in seen:
        readable, _, _ = select.select([terminal], [], [], 20)
        assert readable, f"{text!r} never came; there was {seen!r}"
        seen += os.read(terminal, 65536)
    return seen
