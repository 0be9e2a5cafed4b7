"""The command line, run as a person runs it: exit codes, stdout, stderr, and what is on disk afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from react_lab import Trace

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMAND = [sys.executable, "-m", "react_lab"]


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        timeout=60,
        check=False,
    )


def traces() -> list[Path]:
    return sorted(Path("runs").glob("*.jsonl")) if Path("runs").exists() else []


def test_ask_shows_thought_action_and_observation_then_the_answer() -> None:
    result = run("ask", "What is (23 + 45) * 2?")
    labels = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert labels[:4] == ["Thought", "Action", "Observation", "Answer"]
    assert "Answer: 136" in result.stdout
    assert "offline stand-in" in result.stdout
    assert str(traces()[0]) in result.stdout
    assert (result.returncode, result.stderr) == (0, "")


def test_ask_in_chinese_speaks_chinese() -> None:
    result = run("ask", "上海和北京的温差是多少度？", "--lang", "zh")
    assert "观察：上海（中国）：" in result.stdout
    assert "离线替身" in result.stdout


def test_the_answer_comes_with_its_sources() -> None:
    result = run("ask", "How old were the winners of the 2024 Nobel Prize in Physics together at the end of 2024?")
    assert "168" in result.stdout
    assert "https://www.nobelprize.org/prizes/physics/2024/summary/" in result.stdout


def test_quiet_prints_the_answer_alone() -> None:
    assert run("ask", "What is 6 * 7?", "--quiet").stdout == "42\n"


@pytest.mark.parametrize("mode", ["text", "native"])
def test_json_prints_one_object(mode: str) -> None:
    data = json.loads(run("ask", "What is 6 * 7?", "--json", "--mode", mode).stdout)
    assert {key: data[key] for key in ("question", "answer", "outcome", "model", "mode")} == {
        "question": "What is 6 * 7?",
        "answer": "42",
        "outcome": "answered",
        "model": "offline",
        "mode": mode,
    }
    (call,) = data["steps"][0]["calls"]
    assert (call["name"], call["arguments"], call["content"]) == ("calculator", {"expression": "6 * 7"}, "42")
    assert (call["is_error"], call["cached"]) == (False, False)
    assert Trace.load(data["trace"]).answer == "42"


def test_save_names_the_file() -> None:
    run("ask", "What is 6 * 7?", "--save", "mine/42.jsonl")
    assert Trace.load("mine/42.jsonl").answer == "42"


BAD: list[tuple[list[str], str]] = [
    (["ask", ""], "the question is empty"),
    (["ask", "x" * 100_000], "the question has 100000 characters; the limit is 20000"),
    (["ask", "hi", "--model", "gpt"], "unknown model 'gpt'"),
    (["ask", "hi", "--model", "anthropic:x"], "set ANTHROPIC_API_KEY"),
    (["ask", "hi", "--mode", "telepathy"], "'telepathy' is not one of 'text', 'native'"),
    (["ask", "hi", "--max-steps", "0"], "'--max-steps'"),
    (["ask", "hi", "--save", "a-file/x.jsonl"], "can't write a-file/x.jsonl"),
    (["ask"], "Missing argument 'QUESTION'"),
    (["replay", "nope.jsonl"], "can't read nope.jsonl"),
    (["replay", "a-file"], "a-file is not a trace: line 1 is no JSON"),
    (["publish", "nope.jsonl"], "can't read nope.jsonl"),
    (["publish", "nope.jsonl", "--to", "fax"], "unknown target 'fax' for --to; use one of: html, markdown, notion"),
    (["tools", "call", "calculater", "{}"], "unknown tool 'calculater'; the tools are: calculator"),
    (["tools", "call", "calculator", "{"], "is no JSON object"),
    (["lab", "--dir", "a-file", "--no-browser"], "a-file"),
    (["lab", "--lang", "fr"], "'fr' is not one of 'en', 'zh'"),
    (["dance"], "No such command 'dance'"),
]


@pytest.mark.parametrize(("arguments", "told"), BAD)
def test_wrong_use_is_one_line_on_stderr_and_exit_code_2(arguments: list[str], told: str) -> None:
    Path("a-file").write_text("not a trace\n", encoding="utf-8")
    result = run(*arguments)
    assert told in result.stderr
    assert result.stderr.startswith("react-lab: ")
    assert result.stderr.count("\n") == 1
    assert (result.stdout, result.returncode) == ("", 2)
    assert sorted(path.name for path in Path().rglob("*")) == ["a-file"]  # nothing half-written


def test_a_question_without_answer_exits_with_1_and_the_reason() -> None:
    Path("s.jsonl").write_text('"hm"\n"hm"\n"hm"\n', encoding="utf-8")
    result = run("ask", "hi", "--model", "scripted:s.jsonl", "--mode", "text")
    assert result.returncode == 1
    assert result.stderr == "react-lab: no answer (error): 3 replies in a row could not be read\n"
    assert Trace.load(traces()[0]).outcome == "error"


def test_a_model_that_fails_exits_with_1_and_keeps_the_trace() -> None:
    Path("s.jsonl").write_text("", encoding="utf-8")
    result = run("ask", "hi", "--model", "scripted:s.jsonl")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "the script has 0 replies" in result.stderr
    assert Trace.load(traces()[0]).outcome == "error"


@pytest.mark.parametrize("encoding", ["gbk", "ascii", "utf-8"])
def test_a_console_that_lacks_characters_still_gets_the_text(encoding: str) -> None:
    result = run("ask", "K2 和珠穆朗玛峰哪个更高？", "--lang", "zh", PYTHONIOENCODING=encoding)
    assert (result.returncode, result.stderr) == (0, "")
    assert "K2" in result.stdout


def test_chat_keeps_the_conversation_and_leaves_on_quit() -> None:
    result = run("chat", text="What is 6 * 7?\n\nWhat is 1 + 1?\nquit\nnever asked\n")
    assert "Answer: 42" in result.stdout
    assert "Answer: 2" in result.stdout
    assert result.returncode == 0
    second = Trace.load(traces()[1])
    assert [message.text for message in second.prompt_at(1)][1:] == ["What is 6 * 7?", "42", "What is 1 + 1?"]


@pytest.mark.parametrize("text", ["exit\n", ""])
def test_chat_leaves_on_exit_and_at_the_end_of_the_input(text: str) -> None:
    assert run("chat", text=text).returncode == 0


def test_chat_commands_show_and_change_the_conversation() -> None:
    Path("s.jsonl").write_text('"Hello Ada."\n', encoding="utf-8")
    lines = [
        "/trace",
        "/tools",
        "What is 6 * 7?",
        "/trace",
        "/reset",
        "/model scripted:s.jsonl",
        "I am Ada.",
        "/dance",
        "/help",
    ]
    result = run("chat", text="\n".join(lines))
    for shown in (
        "- calculator(",
        "Step 1 of 2",
        "starts anew",
        "Talking with scripted:s.jsonl",
        "Answer: Hello Ada.",
        "/reset",
    ):
        assert shown in result.stdout
    assert result.stderr.splitlines() == [
        "react-lab: nothing has been asked yet",
        "react-lab: unknown command /dance; /help lists them",
    ]
    assert [message.text for message in Trace.load(traces()[1]).prompt_at(1)][1:] == ["I am Ada."]


def test_the_prompt_and_the_raw_reply_of_every_turn_can_be_shown() -> None:
    result = run("ask", "What is 6 * 7?", "--mode", "text", "--show-prompt", "--raw")
    prompts = result.stdout.split("--- prompt of step ")[1:]
    assert len(prompts) == 2
    assert all("[system] You answer questions" in prompt for prompt in prompts)
    assert "Observation: 42" in prompts[1]
    assert 'Action: calculator({"expression": "6 * 7"})' in result.stdout.split("--- raw reply of step 1")[1]


def test_the_log_is_silent_unless_it_is_asked_for() -> None:
    assert run("ask", "What is 6 * 7?").stderr == ""
    logged = run("ask", "What is 6 * 7?", REACT_LAB_LOG="debug").stderr
    assert 'react_lab.trace DEBUG {"event": "run"' in logged
    assert "use debug, info, warning or error" in run("doctor", REACT_LAB_LOG="loud").stderr


def test_chat_goes_on_after_a_bad_question() -> None:
    result = run("chat", text="x" * 30_000 + "\nWhat is 6 * 7?\n")
    assert "the question has 30000 characters" in result.stderr
    assert "Answer: 42" in result.stdout


def test_replay_prints_the_whole_run_where_there_is_no_terminal() -> None:
    run("ask", "What is 6 * 7?", "--save", "t.jsonl")
    result = run("replay", "t.jsonl")
    assert result.returncode == 0
    for text in ("What is 6 * 7?", "calculator", "42", "Observation"):
        assert text in result.stdout


def test_replay_writes_a_page() -> None:
    run("ask", "What is 6 * 7?", "--save", "t.jsonl")
    assert run("replay", "t.jsonl", "--html", "t.html").stdout == "t.html\n"
    assert "What is 6 * 7?" in Path("t.html").read_text(encoding="utf-8")


def test_publish_writes_a_note_and_a_second_time_changes_nothing() -> None:
    run("ask", "What is the capital of Australia?", "--save", "t.jsonl")
    first = run("publish", "t.jsonl", "--to", "markdown")
    (note,) = Path("notes").glob("*.md")
    before = note.read_bytes(), note.stat().st_mtime_ns
    second = run("publish", "t.jsonl", "--to", "markdown")
    assert (first.stdout, second.stdout) == (f"created: {note}\n", f"unchanged: {note}\n")
    assert (note.read_bytes(), note.stat().st_mtime_ns) == before
    assert "Canberra" in note.read_text(encoding="utf-8")


def test_a_trace_that_was_cut_off_can_be_resumed() -> None:
    run("ask", "What is 6 * 7?", "--save", "t.jsonl")
    lines = Path("t.jsonl").read_bytes().splitlines(keepends=True)
    Path("t.jsonl").write_bytes(b"".join(lines[:4]) + lines[4][:20])
    assert "interrupted" in run("replay", "t.jsonl").stdout.casefold()
    assert "Answer: 42" in run("resume", "t.jsonl").stdout
    assert Trace.load("t.jsonl").outcome == "answered"


def test_doctor_shows_whether_a_key_is_set_and_never_its_value() -> None:
    result = run("doctor", OPENAI_API_KEY="sk-secret-123456")
    assert result.returncode == 0
    assert "OPENAI_API_KEY     set" in result.stdout
    assert "sk-secret" not in result.stdout + result.stderr
    assert "Model that would answer: openai:" in result.stdout
    assert "Offline path: works" in result.stdout


def test_without_arguments_the_help_is_shown() -> None:
    result = run()
    assert (result.returncode, result.stderr) == (0, "")
    assert "Usage: react-lab" in result.stdout
    assert "提一个问题" in result.stdout


def test_the_version_is_the_packages_own() -> None:
    assert run("--version").stdout == f"react-lab {version('react-lab')}\n"


def test_tools_are_shown_as_a_model_sees_them() -> None:
    assert "- calculator(expression: string):" in run("tools").stdout
    assert {tool["name"] for tool in json.loads(run("tools", "--json").stdout)} == {"calculator", "search", "weather"}
    assert run("tools", "call", "calculator", '{"expression": "6 * 7"}').stdout == "42\n"


SLOW_SCRIPT = """
import sys, time
from react_lab import Reply, ScriptedModel, ToolCall, cli
class Slow(ScriptedModel):
    def reply(self, messages, **options):
        answer = super().reply(messages, **options)
        if len(self.requests) == 2:
            print("waiting", file=sys.stderr, flush=True)
            time.sleep(30)
        return answer
call = Reply(tool_calls=(ToolCall("1", "calculator", {"expression": "6 * 7"}),))
cli.load_model = lambda spec: Slow([call, "42"])
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_in_the_middle_of_a_run_loses_nothing() -> None:
    command = [sys.executable, "-c", SLOW_SCRIPT, "ask", "What is 6 * 7?", "--save", "t.jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        _, complaint = process.communicate(timeout=10)
    assert time.monotonic() - started < 5
    assert complaint == "react-lab: interrupted; go on with: react-lab resume t.jsonl\n"
    assert process.returncode == 1
    trace = Trace.load("t.jsonl")
    assert (trace.outcome, [r.content for s in trace.steps for r in s.results]) == ("interrupted", ["42"])


@pytest.mark.skipif(os.name == "nt", reason="pipes close differently on Windows")
def test_output_into_a_closed_pipe_is_one_line_and_keeps_the_trace() -> None:
    command = f"{sys.executable} -m react_lab ask 'What is the capital of Peru?' --save t.jsonl | true"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert result.stderr.count("\n") <= 1
    assert "Traceback" not in result.stderr
    assert Trace.load("t.jsonl").question == "What is the capital of Peru?"


def test_research_shows_every_node_and_publishes_the_answer() -> None:
    done = run("research", "Which is longer, the Nile or the Amazon?", "--to", "markdown", "--lang", "en")
    assert done.returncode == 0, done.stderr
    for text in (
        "planner ---",
        "-> queries: Nile longer; Amazon longer",
        "researcher ---",
        "-> findings: The Nile",
        "[1, 2]",
    ):
        assert text in done.stdout
    assert len(list(Path("notes").glob("*.md"))) == 1


def test_research_that_finds_nothing_says_so_and_publishes_nothing() -> None:
    done = run("research", "Who is the king of Wakanda?", "--to", "markdown", "--lang", "en")
    assert done.returncode == 1
    assert "none of the searches found anything (king Wakanda)" in done.stderr
    assert not Path("notes").exists()


@pytest.mark.parametrize("mode", ["plan", "research"])
def test_a_workflow_that_was_cut_off_can_be_resumed(mode: str) -> None:
    question = "What are the capitals of France and Germany?"
    first = json.loads(run("ask", question, "--mode", mode, "--json").stdout)
    trace = Path(first["trace"])
    lines = trace.read_text(encoding="utf-8").splitlines(keepends=True)
    trace.write_text("".join(lines[: len(lines) // 2]), encoding="utf-8")
    assert run("resume", str(trace)).returncode == 0
    assert Trace.load(trace).answer == first["answer"]
    assert first["mode"] == mode


def test_compare_answers_in_every_mode_and_keeps_the_traces() -> None:
    done = run("compare", "What is the capital of France?", "--lang", "en")
    assert done.returncode == 0, done.stderr
    rows = [line.split()[0] for line in done.stdout.splitlines() if line and not line.startswith(" ")]
    assert rows[:7] == ["mode", "direct", "thought", "text", "native", "plan", "research"]
    assert {path.parent.name for path in Path("runs").glob("*/*/question.jsonl")} == set(rows[1:7])


def test_batch_asks_each_question_once_and_scores_the_answers() -> None:
    Path("q.csv").write_text("question,answer\nWhat is 6 * 7?,42\n法国的首都是哪座城市？,巴黎\n", encoding="utf-8")
    first = run("batch", "q.csv", "--workers", "2", "--lang", "en")
    assert first.returncode == 0, first.stderr
    assert "holds 100%" in first.stdout
    results = Path("batch/q/results.jsonl")
    written = results.read_bytes()
    assert run("batch", "q.csv", "--lang", "en").stdout == first.stdout
    assert results.read_bytes() == written


def test_batch_says_which_mode_it_does_not_know() -> None:
    Path("q.csv").write_text("question\nWhat is 6 * 7?\n", encoding="utf-8")
    done = run("batch", "q.csv", "--mode", "magic")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown mode 'magic'" in done.stderr


def test_a_search_is_chosen_by_name_and_an_unknown_one_is_told() -> None:
    assert "Ottawa" in run("ask", "What is the capital of Canada?", "--search", "almanac").stdout
    done = run("ask", "What is the capital of Canada?", "--search", "oracle")
    assert done.returncode == 2
    assert "oracle" in done.stderr
    assert "almanac" in done.stderr
