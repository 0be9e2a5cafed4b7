"""The trace: events on disk as they happen, and what can be read from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from react_lab import (
    ConfigurationError,
    ModelError,
    Reply,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Trace,
    Usage,
    tool,
)
from react_lab.trace import find_urls


@tool
def weather(city: str) -> str:
    """Weather."""
    return f"{city}: 18 °C. Source: https://example.org/weather."


REGISTRY = ToolRegistry([weather])
CALL = Reply("I look.", tool_calls=(ToolCall("c1", "weather", {"city": "北京"}),), usage=Usage(10, 2))


def finished(path: Path | None = None) -> Trace:
    model = ScriptedModel([CALL, Reply("18 °C", usage=Usage(20, 3, cached_tokens=10))])
    return ToolUseAgent(model, REGISTRY).run("北京天气？", save=path)


def test_events_come_in_the_order_in_which_things_happen() -> None:
    kinds = ["run", "request", "reply", "parse", "result", "request", "reply", "parse", "end"]
    assert [event["event"] for event in finished().events] == kinds


def test_the_file_holds_the_same_events(tmp_path: Path) -> None:
    trace = finished(tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [event["event"] for event in trace.events]
    assert Trace.load(tmp_path / "t.jsonl").events == trace.events
    assert "北京" in lines[0]


def test_a_trace_that_is_loaded_tells_the_same(tmp_path: Path) -> None:
    trace = finished(tmp_path / "t.jsonl")
    loaded = Trace.load(tmp_path / "t.jsonl")
    assert loaded.steps == trace.steps
    assert (loaded.answer, loaded.outcome, loaded.usage) == ("18 °C", "answered", Usage(30, 5, 10))


def test_sources_are_the_addresses_that_stood_in_observations() -> None:
    assert finished().sources == ("https://example.org/weather",)


def test_an_address_that_the_model_invented_is_no_source() -> None:
    model = ScriptedModel([CALL, "18 °C (https://invented.example)"])
    assert ToolUseAgent(model, REGISTRY).run("?").sources == ("https://example.org/weather",)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://e.org/a.", "https://e.org/a"),
        ("(https://e.org/a_(b)).", "https://e.org/a_(b)"),
        ("来源：https://e.org/a。", "https://e.org/a"),
        ("<https://e.org/a?b=c&d=e>", "https://e.org/a?b=c&d=e"),
        ("https://e.org/a)))", "https://e.org/a"),
    ],
)
def test_an_address_ends_where_the_sentence_goes_on(text: str, url: str) -> None:
    assert find_urls(text) == [url]


def test_the_prompt_of_a_step_is_what_was_sent() -> None:
    model = ScriptedModel([CALL, "18 °C"])
    trace = ToolUseAgent(model, REGISTRY).run("北京天气？")
    assert [trace.prompt_at(step) for step in (1, 2)] == model.requests


def test_a_prompt_of_a_step_that_never_was_is_an_error() -> None:
    with pytest.raises(IndexError, match="no step 7; this run has 2"):
        finished().prompt_at(7)


def test_the_file_grows_with_the_run_and_not_with_its_square(tmp_path: Path) -> None:
    def size(steps: int) -> int:
        path = tmp_path / f"{steps}.jsonl"
        replies = [Reply("x" * 100, tool_calls=(ToolCall(str(i), "weather", {"city": "x"}),)) for i in range(steps)]
        ToolUseAgent(ScriptedModel([*replies, "done"]), REGISTRY, max_steps=steps + 1).run("?", save=path)
        return path.stat().st_size

    small, middle, large = size(0), size(40), size(80)
    assert large - middle == pytest.approx(middle - small, rel=0.1)


def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="exists already"):
        finished(path)
    assert path.read_text(encoding="utf-8") == "mine"


def test_every_cut_of_a_file_loads_as_interrupted_or_says_what_is_wrong(tmp_path: Path) -> None:
    finished(tmp_path / "t.jsonl")
    data = (tmp_path / "t.jsonl").read_bytes()
    first = data.index(b"\n") + 1
    cut = tmp_path / "cut.jsonl"
    for length in range(0, len(data) - 1, 7):
        cut.write_bytes(data[:length])
        if length < first:
            with pytest.raises(ConfigurationError, match="is not a trace"):
                Trace.load(cut)
        else:
            assert Trace.load(cut).outcome == "interrupted"
            assert cut.read_bytes() == data[:length]  # who reads writes nothing


def test_a_file_that_lacks_only_its_last_line_end_is_whole_and_can_be_gone_on_with(tmp_path: Path) -> None:
    whole, path = finished(tmp_path / "t.jsonl"), tmp_path / "t.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    loaded = Trace.load(path)
    assert loaded.events == whole.events
    loaded.append("note", text="more")
    loaded.append("end", outcome="answered", answer="more")
    assert Trace.load(path).events == loaded.events
    assert [event["event"] for event in loaded.events[-3:]] == ["end", "note", "end"]


def test_a_run_that_was_cut_anywhere_goes_on_without_paying_twice(tmp_path: Path) -> None:
    whole = finished(tmp_path / "t.jsonl")
    data = (tmp_path / "t.jsonl").read_bytes()
    path = tmp_path / "cut.jsonl"
    for length in range(data.index(b"\n") + 1, len(data), 11):
        path.write_bytes(data[:length])
        cut = Trace.load(path)
        replies = [CALL, Reply("18 °C", usage=Usage(20, 3, cached_tokens=10))][len(cut.steps) :]
        resumed = ToolUseAgent(ScriptedModel(replies), REGISTRY).resume(cut)
        assert (resumed.answer, len(resumed.steps), resumed.usage) == (whole.answer, 2, whole.usage)
        assert Trace.load(path).answer == whole.answer


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "its first line is no `run` event"),
        ("hello\n", "line 1 is no JSON"),
        ("[1]\n", 'line 1 is no object with an "event"'),
        ('{"event": "reply"}\n', "its first line is no `run` event"),
        ('{"event": "run", "version": 99}\n', "newer react-lab"),
        ('{"event": "run", "version": 1}\n{"event": \n{"event": "end"}\n', "line 2 is no JSON"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told):
        Trace.load(tmp_path / "x.jsonl")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"can't read nope\.jsonl"):
        Trace.load("nope.jsonl")


def test_a_finished_run_that_is_resumed_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    finished(path)
    before = path.read_bytes()
    trace = ToolUseAgent(ScriptedModel([]), REGISTRY).resume(Trace.load(path))
    assert (trace.answer, path.read_bytes()) == ("18 °C", before)


def test_a_run_that_was_out_of_steps_goes_on_with_more_of_them(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    stopped = ToolUseAgent(ScriptedModel([CALL]), REGISTRY, max_steps=1).run("?", save=path)
    assert stopped.outcome == "max_steps"
    assert ToolUseAgent(ScriptedModel(["18 °C"]), REGISTRY, max_steps=2).resume(Trace.load(path)).answer == "18 °C"
    assert Trace.load(path).outcome == "answered"


def test_half_a_character_is_kept(tmp_path: Path) -> None:
    trace = ToolUseAgent(ScriptedModel(["half \ud83d"]), REGISTRY).run("?", save=tmp_path / "t.jsonl")
    assert trace.answer == Trace.load(tmp_path / "t.jsonl").answer == "half \ud83d"
    assert Trace.load(trace.save(tmp_path / "copy.jsonl")).answer == "half \ud83d"
    assert (tmp_path / "copy.jsonl").read_text(encoding="utf-8").count(r"half \ud83d") == 3


def test_unknown_events_and_fields_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    finished(path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"event": "mood", "step": 1, "value": "good"}\n')
    trace = Trace.load(path)
    assert trace.save(tmp_path / "copy.jsonl").read_bytes() == path.read_bytes()
    assert (trace.outcome, len(trace.steps)) == ("answered", 2)


def test_a_fork_changes_one_observation_and_runs_on() -> None:
    trace = finished()
    child = trace.fork(1, observation="北京: 30 °C")
    agent = ToolUseAgent(model := ScriptedModel(["30 °C"]), REGISTRY)
    agent.resume(child)
    assert child.answer == "30 °C"
    assert child.steps[0].results[0].content == "北京: 30 °C"
    assert child.parent == {"id": trace.id, "step": 1, "change": {"call": 0, "observation": "北京: 30 °C"}}
    assert "30 °C" in model.requests[0][-1].tool_results[0].content
    assert "18 °C" in trace.steps[0].results[0].content


@pytest.mark.parametrize(("step", "call"), [(2, 0), (9, 0), (1, 1), (1, -1)])
def test_a_fork_of_an_observation_that_never_was_is_an_error(step: int, call: int) -> None:
    with pytest.raises(IndexError):
        finished().fork(step, observation="x", call=call)


def test_a_model_that_fails_leaves_a_trace_that_can_be_resumed(tmp_path: Path) -> None:
    agent = ToolUseAgent(ScriptedModel([CALL]), REGISTRY)
    with pytest.raises(ModelError, match="script has 1 replies"):
        agent.run("北京天气？", save=tmp_path / "t.jsonl")
    trace = Trace.load(tmp_path / "t.jsonl")
    assert (trace.outcome, len(trace.steps)) == ("error", 1)
    assert ToolUseAgent(ScriptedModel(["18 °C"]), REGISTRY).resume(trace).answer == "18 °C"
    assert Trace.load(tmp_path / "t.jsonl").answer == "18 °C"


@pytest.mark.parametrize("leave", [KeyboardInterrupt, GeneratorExit])
def test_a_run_that_is_left_is_recorded_as_interrupted(leave: type[BaseException]) -> None:
    agent = ToolUseAgent(ScriptedModel([CALL, "18 °C"]), REGISTRY)
    trace = agent.start("?")
    steps = agent.steps(trace)
    next(steps)
    with pytest.raises(leave):
        steps.throw(leave)
    assert trace.outcome == "interrupted"
    assert agent.resume(trace).answer == "18 °C"


SECRET = "sk-live-1234567890"


@pytest.mark.parametrize(
    "leak",
    [
        lambda: SECRET,
        lambda: "Authorization: Bearer abcdefgh12345",
        lambda: "GET https://example.org/search?q=x&api_key=abcdefgh12345",
        lambda: "x-api-key: abcdefgh12345",
    ],
)
def test_no_secret_reaches_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leak: Callable[[], str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    @tool
    def careless() -> str:
        """Leaks."""
        raise RuntimeError(leak())

    model = ScriptedModel([Reply(tool_calls=(ToolCall("1", "careless"),)), leak()])
    trace = ToolUseAgent(model, ToolRegistry([careless])).run(leak(), save=tmp_path / "t.jsonl")
    for text in ((tmp_path / "t.jsonl").read_text(encoding="utf-8"), json.dumps(trace.events)):
        assert SECRET not in text
        assert "abcdefgh12345" not in text
