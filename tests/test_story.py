"""What there is to show of a trace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab import (
    Message,
    ModelError,
    Reply,
    ScriptedModel,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Trace,
    Usage,
    tool,
)
from react_lab.replay.page import to_page
from react_lab.replay.player import replay
from react_lab.replay.story import as_text, readable, sent, story, tell
from react_lab.replay.words import WORDS
from tests.browser.runs import desk


@tool
def height(of: str) -> str:
    """How tall something is."""
    if of == "?":
        raise RuntimeError("no such lighthouse")
    return f"{of}: 77 m. https://almanac.example/{of}"


def call(of: str) -> Reply:
    return Reply(f"I look up {of}.", tool_calls=(ToolCall("c1", "height", {"of": of}),), usage=Usage(100, 20))


def agent(*replies: Reply | str, model: str = "scripted") -> ToolUseAgent:
    return ToolUseAgent(ScriptedModel(replies, name=model), ToolRegistry([height]), max_steps=200)


def run(*replies: Reply | str, question: str = "How tall is it?", model: str = "scripted") -> Trace:
    return agent(*replies, model=model).run(question)


def test_the_head_of_a_story_says_who_was_asked_what_and_how_it_ended() -> None:
    told = story(run(call("Genoa"), Reply("77 m", usage=Usage(200, 5, cached_tokens=90))))
    assert (told["question"], told["language"]) == ("How tall is it?", "en")
    assert (told["agent"], told["model"], told["outcome"]) == ("ToolUseAgent", "scripted", "answered")
    assert (told["answer"], told["sources"]) == ("77 m", ["https://almanac.example/Genoa"])
    assert told["usage"] == {"input": 300, "output": 25, "cached": 90}


def test_a_step_holds_thought_call_observation_and_the_raw_reply() -> None:
    first, last = story(run(call("Genoa"), "77 m"))["steps"]
    assert first["thought"] == first["reply"] == "I look up Genoa."
    assert (first["calls"][0]["name"], first["calls"][0]["arguments"]) == ("height", '{"of": "Genoa"}')
    assert first["calls"][0]["result"]["content"] == "Genoa: 77 m. https://almanac.example/Genoa"
    assert (first["answer"], last["answer"], last["calls"]) == (None, "77 m", [])


def test_a_prompt_is_the_messages_of_all_steps_so_far_exactly_as_sent() -> None:
    trace = run(call("Genoa"), call("Pharos"), "77 m")
    told = story(trace)
    for step in told["steps"]:
        prompt = trace.prompt_at(step["number"])
        shown = sent(told, step["number"])
        assert [message["role"] for message in shown] == [message.role for message in prompt]
        assert [message["text"] for message in shown] == [message.text for message in prompt]
    assert [(step["prompt"], len(step["messages"])) for step in told["steps"]] == [(2, 2), (4, 2), (6, 2)]


def test_what_was_said_before_the_question_belongs_to_the_first_prompt() -> None:
    before = run("Hello!", question="Hi").prompt_at(1)[1:]
    told = story(agent("77 m").run("How tall is it?", history=before))
    assert told["steps"][0]["prompt"] == 3
    assert [message["text"] for message in sent(told, 1)[1:]] == ["Hi", "How tall is it?"]


def test_a_story_grows_with_the_length_of_a_run_and_not_with_its_square() -> None:
    short, long = (len(json.dumps(story(run(*[call("x" * 500)] * steps, "done")))) for steps in (40, 160))
    assert long < 4.1 * short


def test_an_error_keeps_its_traceback_for_the_person() -> None:
    result = story(run(call("?"), "unknown"))["steps"][0]["calls"][0]["result"]
    assert result["is_error"]
    assert result["content"] == "Error: RuntimeError: no such lighthouse"
    assert "Traceback" in result["traceback"]


def test_a_fork_names_its_parent_and_marks_what_was_changed() -> None:
    parent = run(call("Genoa"), "77 m")
    fork = agent("unused", "80 m").resume(parent.fork(1, observation="Genoa: 80 m"))
    told = story(fork)
    assert told["parent"] == {"id": parent.id, "step": 1}
    assert told["steps"][0]["calls"][0]["result"]["changed"]
    assert sent(told, 2)[3]["results"][0]["content"] == "Genoa: 80 m"
    assert f"A fork of run {parent.id} at step 1." in as_text(tell(told, "en"))
    assert "Observation · changed by hand" in as_text(tell(told, "en"))


@pytest.mark.parametrize(("language", "words"), [("en", "stand-in"), ("zh", "离线替身")])
def test_the_offline_stand_in_is_called_one(language: Any, words: str) -> None:
    assert any(words in line for line in tell(story(run("Hi", model="offline")), language)["lines"])
    assert not any(words in line for line in tell(story(run("Hi")), language)["lines"])


def test_a_run_without_any_reply_says_so() -> None:
    trace = agent().start("How tall is it?")
    with pytest.raises(ModelError):
        agent().resume(trace)
    told = story(trace)
    assert (told["outcome"], told["steps"]) == ("error", [])
    assert tell(told, "en")["lines"][-1] == "The run ended before the model replied."


def test_a_call_that_was_not_run_says_so() -> None:
    trace = run(call("Genoa"), "77 m")
    interrupted = Trace([event for event in trace.events if event["event"] in ("run", "request", "reply", "parse")][:4])
    told = story(interrupted)
    assert told["steps"][0]["calls"][0]["result"] is None
    assert "Observation · not run" in as_text(tell(told, "en"))


def test_tokens_that_nobody_counted_are_not_shown_as_zero() -> None:
    told = tell(story(run("77 m")), "en")
    assert told["lines"] == ["ToolUseAgent · scripted · answered · 0.00 s"]


def test_reasons_and_reminders_are_told() -> None:
    text = as_text(tell(story(run("", "", "")), "en"))
    assert "failed" in text
    assert "3 replies in a row could not be read" in text
    assert "Reminder\n  Your reply was empty." in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 中文 \t tab\nline", "plain 中文 \t tab\nline"),
        ("\r\n", "\n"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b2J and \x7f", "\\x9b2J and \\x7f"),
        ("safe\u202etxt.exe", "safe\\u202etxt.exe"),
        ("half \ud83d", "half \\ud83d"),
        ("whole 😀", "whole 😀"),
    ],
)
def test_control_characters_are_spelled_out(text: str, shown: str) -> None:
    assert readable(text) == shown


def test_every_text_of_a_story_can_be_shown_and_saved() -> None:
    bad = "\x1b]0;title\x07 \ud800 \u202e"
    reply = Reply(bad, thought=bad, tool_calls=(ToolCall("c1", "height", {"of": bad}),))
    told = tell(story(run(reply, bad, question="?" + bad)), "en")
    told["interface"] = {}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", json.dumps(told, ensure_ascii=False))
    assert json.dumps(told, ensure_ascii=False).encode()


STRINGS = [
    "你好，世界",
    "\\u4f60\\u597d",
    "a\\nb \\\\ c",
    "\"quoted\" and 'quoted'",
    "😀 👩‍👩‍👧 🇨🇳",
    "𠀀𪚥 beyond the basic plane",
    "e\u0301 combining",
    "wide\u3000blanks\u00a0inside",
    "العربية עברית",
    "{'not': json}",
    "ＦＵＬＬ ｗｉｄｔｈ",
    "한국어 ひらがな",
    "\ufeffmark",
    "tab\tand\nline",
    "&amp; &#20320; %E4%BD%A0",
]


@pytest.mark.parametrize("text", STRINGS)
def test_every_view_and_export_shows_the_same_characters(text: str) -> None:
    trace = run(Reply(text, tool_calls=(ToolCall("c1", "height", {"of": text}),)), text, question=text)
    told = tell(story(trace), "en")
    assert told["question"] == told["steps"][0]["parts"][0]["text"] == told["steps"][1]["reply"] == text
    assert told["steps"][0]["parts"][2]["text"].startswith(f"{text}: 77 m.")
    lines = text.replace("\n", "\n  ")
    assert f"Answer\n  {lines}" in as_text(told)
    for export in (trace.to_otlp(), trace.to_atif(), json.loads(replay(trace, lang="en").story)):
        assert json.dumps(text, ensure_ascii=False)[1:-1] in json.dumps(export, ensure_ascii=False)
    assert json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")[1:-1] in to_page(trace, "en")


PIECES = [
    "你好",
    "𠮷",
    "😀",
    "e\u0301",
    "\\n",
    "\\u4f60",
    "&lt;",
    "<b>",
    '"',
    "'",
    "\ud83d",
    "\u200b",
    "한글",
    "ＡＢ",
    " ",
    "%20",
]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join).filter(str.strip))
def test_generated_texts_are_the_same_in_every_view_and_in_the_file(text: str) -> None:
    trace = run(Reply(text, tool_calls=(ToolCall("c1", "height", {"of": text}),)), text, question=text)
    with TemporaryDirectory() as folder:
        assert Trace.load(trace.save(Path(folder) / "t.jsonl")).events == trace.events
    told, shown = tell(story(trace), "en"), readable(text)
    assert told["question"] == told["steps"][0]["parts"][0]["text"] == told["steps"][1]["reply"] == shown
    assert f"Answer\n  {shown.strip()}" in as_text(told)
    for export in (trace.to_otlp(), trace.to_atif()):
        assert json.dumps(text, ensure_ascii=False)[1:-1] in json.dumps(export, ensure_ascii=False)
    assert json.dumps(shown, ensure_ascii=False).replace("<", "\\u003c")[1:-1] in to_page(trace, "en")


def test_data_with_escaped_characters_is_shown_with_the_characters_and_sent_as_it_was() -> None:
    @tool
    def fetch() -> str:
        """Fetch data."""
        return json.dumps({"greeting": "你好" * 12, "n": 12345678901234567890})

    reply = Reply("", tool_calls=(ToolCall("c1", "fetch", {}),))
    trace = ToolUseAgent(ScriptedModel([reply, "ok"]), ToolRegistry([fetch])).run("?")
    told = tell(story(trace), "en")
    assert '"greeting": "你好你好' in told["steps"][0]["parts"][1]["text"]
    assert '"n": 12345678901234567890' in told["steps"][0]["parts"][1]["text"]
    assert "\\u4f60\\u597d" in told["steps"][1]["messages"][1]["text"]


def test_parts_of_a_text_reply_that_the_reader_used_have_their_places() -> None:
    text = 'Hm.\nThought: 😀 so\nAction: height({"of": "Genoa"})\nObservation: invented'
    trace = TextReActAgent(ScriptedModel([text, "Final Answer: 77 m"]), ToolRegistry([height])).run("?")
    first, last = tell(story(trace), "en")["steps"]
    assert [(kind, text[start:end]) for kind, start, end in first["pieces"]] == [
        ("thought", "😀 so"),
        ("action", 'height({"of": "Genoa"})'),
    ]
    assert [last["reply"][start:end] for _, start, end in last["pieces"]] == ["77 m"]


def test_the_context_is_told_by_kind_also_where_observations_are_written_as_the_user() -> None:
    native = run(call("Genoa"), "77 m")
    replies = ['Thought: t\nAction: height({"of": "Genoa"})', "Final Answer: 77 m"]
    text = TextReActAgent(ScriptedModel(replies), ToolRegistry([height])).run("How tall is it?")
    for trace in (native, text):
        first, second = (step["context"] for step in tell(story(trace), "en")["steps"])
        system, user, assistant, observed = second
        assert first == [system, user, 0, 0]
        assert user == len("How tall is it?")
        assert assistant > 0
        assert observed >= len("Genoa: 77 m. https://almanac.example/Genoa")
    sent = sum(len(message.text) for message in text.prompt_at(2))
    assert sum(second) == sent


def test_what_replies_cost_is_told_where_it_is_known() -> None:
    trace = run(call("Genoa"), "77 m")
    assert "$" not in tell(story(trace), "en")["lines"][0]
    for event in trace.events:
        event |= {"cost_usd": 0.0123} if event["event"] == "reply" else {}
    told = tell(story(trace), "en")
    assert "$0.0246" in told["lines"][0]
    assert "$0.0123" in told["steps"][0]["line"]


def test_arguments_that_json_does_not_know_stay_text() -> None:
    reply = Reply("", tool_calls=(ToolCall("c1", "height", {"of": float("nan")}),))
    told = story(run(reply, "no"))
    assert told["steps"][0]["calls"][0]["arguments"] == '{"of": NaN}'
    json.dumps(told, allow_nan=False)


def test_long_arguments_take_a_line_each() -> None:
    reply = Reply("", tool_calls=(ToolCall("c1", "height", {"of": "x" * 80}),))
    assert story(run(reply, "no"))["steps"][0]["calls"][0]["arguments"].startswith('{\n  "of": "xxx')


def test_both_languages_have_the_same_words_with_the_same_gaps() -> None:
    def gaps(text: str) -> list[str]:
        return sorted(re.findall(r"\{\w+", text))

    assert WORDS["en"].keys() == WORDS["zh"].keys()
    assert all(gaps(WORDS["en"][key]) == gaps(WORDS["zh"][key]) for key in WORDS["en"])


def labelled(trace: Trace, number: int) -> list[tuple[str, str]]:
    """The messages of a step's prompt as the trace has them, told."""
    words = WORDS["en"]
    return [(words[f"role.{message.role}"], message.text) for message in trace.prompt_at(trace.steps[number - 1].index)]


def test_the_prompt_of_a_workflows_step_is_that_of_its_node() -> None:
    trace = desk()
    told = tell(story(trace), "en")
    for number, step in enumerate(told["steps"], start=1):
        shown = [(message["label"], message["text"]) for message in sent(told, number)]
        assert shown == (labelled(trace, number) if step["prompt"] else [])
        assert step["prompt"] == len(shown)


def test_a_step_says_its_node_and_the_last_one_what_it_changed() -> None:
    planner, researcher = tell(story(desk()), "en")["steps"][:2]
    assert (planner["node"], researcher["node"]) == ("planner", "researcher")
    assert planner["line"].startswith("planner · ")
    assert ["state", "queries, turn_count, notes"] in planner["events"]
    assert [kind for kind, _ in researcher["events"]] == ["reader", "result", "result", "state"]


def test_what_was_sent_instead_of_old_messages_is_shown_in_their_place() -> None:
    summary = Message("user", "Summary: nothing so far.").to_dict()
    trace = run(call("A"), call("B"), Reply("77 m", replaced={"from": 2, "to": 4, "messages": [summary]}))
    told = tell(story(trace), "en")
    assert [message["text"] for message in sent(told, 3)][2] == "Summary: nothing so far."
    assert [message["text"] for message in sent(told, 2)][2] == 'I look up A.\nheight {"of": "A"}'
    last = told["steps"][2]
    assert (last["prompt"], last["replaced"]["notes"]) == (5, "2 messages were sent as 1")
    assert len(trace.prompt_at(3)) == 5
    whole = story(run(call("A"), call("B"), "77 m"))["steps"][2]["context"]
    shortened = story(trace)["steps"][2]["context"]
    assert sum(shortened.values()) < sum(whole.values())


def test_attempts_and_waits_of_a_reply_are_told() -> None:
    step = tell(story(run(Reply("77 m", attempts=3, waited_s=2.5))), "en")["steps"][0]
    assert "3 attempts · waited 2.5 s" in dict(step["events"])["reply"]


def test_dollars_are_added_up_where_they_are_known() -> None:
    told = story(run(Reply("I look.", tool_calls=call("A").tool_calls, cost_usd=0.25), Reply("77 m", cost_usd=0.5)))
    assert told["cost"] == 0.75
    assert "$0.7500" in tell(told, "en")["lines"][0]
    assert story(run("77 m"))["cost"] is None
