"""Tools with effects run only if the person agrees."""

from __future__ import annotations

from react_lab import Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, tool
from react_lab.errors import TemporaryToolError
from react_lab.hardening.approval import REFUSED, with_approval
from react_lab.hardening.cache import with_cache
from react_lab.hardening.retry import with_retry


class Desk:
    """Two tools, and a person who is asked and answers."""

    def __init__(self, *answers: bool) -> None:
        self.answers = list(answers)
        self.asked: list[ToolCall] = []
        self.sent: list[str] = []

        @tool(has_effects=True)
        def send(text: str) -> str:
            """Send a text."""
            self.sent.append(text)
            return "sent"

        @tool
        def look(text: str) -> str:
            """Look at a text."""
            return f"saw {text}"

        self.registry = ToolRegistry([send, look])

    def ask(self, call: ToolCall) -> bool:
        self.asked.append(call)
        return self.answers.pop(0)


def call(name: str, text: str, call_id: str = "1") -> ToolCall:
    return ToolCall(call_id, name, {"text": text})


def test_what_the_person_allows_is_run() -> None:
    desk = Desk(True)
    result = with_approval(desk.registry, desk.ask).run(call("send", "hello"))
    assert (result.content, result.is_error) == ("sent", False)
    assert desk.sent == ["hello"]
    assert desk.asked == [call("send", "hello")]


def test_what_the_person_refuses_is_an_error_that_a_model_can_act_on() -> None:
    desk = Desk(False, False)
    tools = with_approval(desk.registry, desk.ask)
    result = tools.run(call("send", "hello"))
    assert (result.content, result.is_error, result.call_id) == (f"Error: {REFUSED['en']}", True, "1")
    assert tools.run(call("send", "你好")).content == f"Error: {REFUSED['zh']}"
    assert desk.sent == []


def test_a_tool_without_effects_is_not_asked_for() -> None:
    desk = Desk()
    assert with_approval(desk.registry, desk.ask).run(call("look", "x")).content == "saw x"


def test_a_call_that_can_t_be_run_is_not_asked_for() -> None:
    desk = Desk()
    tools = with_approval(desk.registry, desk.ask)
    for wrong in (ToolCall("1", "send", {}), ToolCall("1", "nope", {}), ToolCall("1", "send", {}, error="cut off")):
        assert tools.run(wrong).is_error
    assert desk.asked == []


def test_of_several_calls_each_is_asked_for_in_turn() -> None:
    desk = Desk(True, False, True)
    calls = [call("send", "a", "1"), call("look", "b", "2"), call("send", "c", "3"), call("send", "d", "4")]
    results = with_approval(desk.registry, desk.ask).run_all(calls)
    assert [result.call_id for result in results] == ["1", "2", "3", "4"]
    assert [result.is_error for result in results] == [False, False, True, False]
    assert sorted(desk.sent) == ["a", "d"]
    assert [asked.id for asked in desk.asked] == ["1", "3", "4"]


def test_around_retry_and_cache_it_asks_once_for_each_call() -> None:
    desk = Desk(True, True)
    failures = [TemporaryToolError("later"), TemporaryToolError("later")]

    @tool(has_effects=True)
    def shaky(text: str) -> str:
        """Fail twice."""
        if failures:
            raise failures.pop()
        return "done"

    desk.registry.register(shaky)
    tools = with_approval(with_cache(with_retry(desk.registry, first_wait_s=0.001)), desk.ask)
    assert tools.run(call("shaky", "x")).content == "done"
    assert len(desk.asked) == 1
    tools.run(call("shaky", "x"))
    assert len(desk.asked) == 2


def test_an_agent_goes_on_after_a_refusal() -> None:
    desk = Desk(False)
    replies = [Reply("", tool_calls=(call("send", "hello"),), stop_reason="tool_calls"), Reply("Then I won't.")]
    trace = ToolUseAgent(ScriptedModel(replies), with_approval(desk.registry, desk.ask)).run("Say hello.")
    assert trace.answer == "Then I won't."
    assert trace.steps[0].results[0].is_error
    assert desk.sent == []
