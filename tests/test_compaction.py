"""Long conversations in short: where they are cut, what stays, what is sent, and what it saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab import (
    Agent,
    Message,
    Model,
    ModelError,
    Reply,
    ScriptedModel,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolResult,
    ToolUseAgent,
    Trace,
    Usage,
    tool,
)
from react_lab.hardening.compaction import HEADING, extract, find_cut, gist, terms, with_compaction
from react_lab.hardening.conversation import estimate_tokens, question_at
from react_lab.models.pairing import check_pairing
from react_lab.tool_use import EMPTY

ROUNDS = 30
QUESTION = "Which of the thirty cities is the warmest?"


@tool
def read(page: int) -> str:
    """Read a page."""
    start = f"City number {page} has {page} degrees. Source: https://example.org/{page}. "
    return start + "x" * (1000 - len(start))


def native_model(rounds: int = ROUNDS, *, native: Callable[[int], Any] = lambda number: None) -> ScriptedModel:
    turns = [
        Reply("Next page.", tool_calls=(ToolCall(f"c{i}", "read", {"page": i}),), native=native(i))
        for i in range(rounds)
    ]
    return ScriptedModel([*turns, Reply("City 29 is the warmest.")])


def text_model(rounds: int = ROUNDS) -> ScriptedModel:
    turns = [f'Thought: next page\nAction: read({{"page": {i}}})' for i in range(rounds)]
    return ScriptedModel([*turns, "Final Answer: City 29 is the warmest."])


def run(model: Model, question: str = QUESTION, **options: Any) -> Trace:
    loop = options.pop("loop", ToolUseAgent)
    agent: Agent = loop(model, ToolRegistry([read]), max_steps=ROUNDS + 1)
    return agent.run(question, **options)


LOOPS = {ToolUseAgent: native_model, TextReActAgent: text_model}


def prompt_tokens(model: ScriptedModel) -> list[int]:
    return [estimate_tokens(request) for request in model.requests]


# -- what it saves -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", LOOPS)
def test_thirty_rounds_cost_less_than_half_and_grow_no_more(loop: type[Agent]) -> None:
    whole, short = LOOPS[loop](), LOOPS[loop]()
    plain, compacted = run(whole, loop=loop), run(with_compaction(short), loop=loop)
    assert compacted.answer == plain.answer == "City 29 is the warmest."
    sizes = prompt_tokens(short)
    assert sum(sizes) <= 0.45 * sum(prompt_tokens(whole))
    first, second = sum(sizes[10:20]), sum(sizes[20:30])  # the sum grows linearly: a later part is no larger
    assert second <= 1.15 * first
    assert max(sizes) <= 2500


@pytest.mark.parametrize("loop", LOOPS)
def test_a_cut_stays_for_several_turns_so_that_a_prompt_cache_works(loop: type[Agent]) -> None:
    model = LOOPS[loop]()
    run(with_compaction(model), loop=loop)
    requests = model.requests
    kept = [after[: len(before)] == before for before, after in pairwise(requests)]
    assert kept.count(False) <= ROUNDS / 4


def test_a_short_conversation_is_sent_as_it_is() -> None:
    model = native_model(3)
    trace = run(with_compaction(model))
    assert all(trace.reply_at(step.index).replaced is None for step in trace.steps)  # type: ignore[union-attr]
    assert not any(HEADING["en"] in message.text for request in model.requests for message in request)


# -- what stays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("keep_rounds", [1, 3, 5])
def test_system_prompt_question_and_last_rounds_stay(loop: type[Agent], keep_rounds: int) -> None:
    model = LOOPS[loop]()
    trace = run(with_compaction(model, max_tokens=1500, keep_rounds=keep_rounds), loop=loop)
    whole = LOOPS[loop]()
    run(whole, loop=loop)
    for sent, all_of_it in zip(model.requests, whole.requests, strict=True):
        assert sent[:2] == all_of_it[:2]
        assert sent[1].text == QUESTION
        tail = all_of_it[2:][-2 * keep_rounds :]
        assert sent[-len(tail) :] == tail or not tail
    assert trace.outcome == "answered"


def test_what_was_sent_can_be_told_from_the_trace() -> None:
    model = native_model(native=lambda number: {"provider": "anthropic", "model": "scripted", "content": [number]})
    trace = run(with_compaction(model), history=[Message("user", "Hello"), Message("assistant", "Good day")])
    assert [trace.prompt_at(step.index) for step in trace.steps] == model.requests
    last = trace.reply_at(trace.steps[-1].index)
    assert last is not None
    assert last.replaced is not None


def test_the_question_of_a_conversation_stays_and_its_past_is_summed_up() -> None:
    past = [
        message
        for i in range(12)
        for message in (
            Message("user", f"Question {i}? " + "y" * 500),
            Message("assistant", f"Answer {i}. " + "z" * 500),
        )
    ]
    model = native_model(6)
    run(with_compaction(model, max_tokens=1500), history=past)
    for sent in model.requests:
        assert QUESTION in [message.text for message in sent if message.role == "user"]
    first, last = model.requests[0], model.requests[-1]
    assert "- ? Question 7?" in first[1].text  # nothing of the run is cut away as long as the past suffices
    assert last[1].text == QUESTION
    assert last[2].text.startswith(HEADING["en"])


def test_what_the_loop_says_is_not_taken_for_the_question() -> None:
    conversation = [
        Message("system", "s"),
        Message("user", "first?"),
        Message("assistant", "yes"),
        Message("user", "What now?"),
        Message("assistant", "Action: look()"),
        Message("user", "Observation: a lot"),
        Message("assistant", ""),
        Message("user", EMPTY["en"]),
        Message("assistant", "nonsense"),
        Message("user", "Your reply could not be read: it is nonsense. ..."),
        Message("assistant", "行动：look()"),
        Message("user", "观察：很多"),
    ]
    assert question_at(conversation) == 3
    assert question_at(conversation[:3]) == 1
    assert question_at(conversation[:1]) == 0


# -- sealed thoughts ---------------------------------------------------------------------------------------------


def natives(sent: Sequence[Message]) -> list[int]:
    return [message.native["content"][0] for message in sent if message.native]


def test_sealed_thoughts_go_only_where_their_past_is_unchanged() -> None:
    model = native_model(native=lambda number: {"provider": "anthropic", "model": "scripted", "content": [number]})
    run(with_compaction(model))
    before: tuple[Message, ...] = ()
    for sent in model.requests:
        if sent[: len(before)] == before:
            assert len(natives(sent)) == len(natives(before)) + bool(before)
        else:
            assert natives(sent) == []  # the cut has moved
        for place, message in enumerate(sent):
            if message.native:  # what this turn was written on is what stands before it now
                assert sent[:place] == model.requests[message.native["content"][0]]
        before = sent


def test_reasoning_that_is_bound_to_nothing_stays() -> None:
    model = native_model(native=lambda number: {"provider": "openai-chat", "model": "scripted", "content": [number]})
    run(with_compaction(model))
    assert all(message.native for message in model.requests[-1] if message.role == "assistant")


# -- every cut is safe -------------------------------------------------------------------------------------------


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """What the loops produce, in any order: answers, questions, calls with results, text actions, reminders."""
    messages = [Message("system", "s" * draw(st.integers(0, 200)))] if draw(st.booleans()) else []
    messages.append(Message("user", "first?"))
    for number in range(draw(st.integers(0, 12))):
        filler = draw(st.sampled_from(["", "天" * 40, "word " * 40, "x" * 400]))
        match draw(st.sampled_from(["calls", "action", "answer", "empty"])):
            case "calls":
                calls = tuple(ToolCall(f"{number}.{n}", "read", {"page": n}) for n in range(draw(st.integers(1, 3))))
                native = draw(st.sampled_from([None, {"provider": "anthropic", "model": "m", "content": []}]))
                messages.append(Message("assistant", filler, tool_calls=calls, native=native))
                results = tuple(ToolResult(call.id, "read", filler) for call in calls)
                messages.append(Message("tool", tool_results=results))
            case "action":
                messages += [
                    Message("assistant", f"Thought: {filler}\nAction: read(1)"),
                    Message("user", f"Observation: {filler}"),
                ]
            case "answer":
                messages += [Message("assistant", filler), Message("user", f"And {number}? {filler}")]
            case "empty":
                messages += [Message("assistant", ""), Message("user", EMPTY["zh"])]
    return messages


@settings(max_examples=300)
@given(conversations(), st.integers(1, 600), st.integers(1, 4))
def test_calls_and_results_are_paired_at_every_cut(messages: list[Message], max_tokens: int, keep_rounds: int) -> None:
    model = ScriptedModel(["ok"])
    reply = with_compaction(model, max_tokens=max_tokens, keep_rounds=keep_rounds).reply(messages)
    (sent,) = model.requests
    check_pairing(sent)
    assert messages[question_at(messages)] in sent
    assert sent[0] == messages[0] or messages[0].role != "system"
    turns = [index for index, message in enumerate(messages) if message.role == "assistant"]
    kept = (
        [(m.role, m.text, m.tool_calls, m.tool_results) for m in messages[turns[-keep_rounds:][0] :]] if turns else []
    )
    assert [(m.role, m.text, m.tool_calls, m.tool_results) for m in sent][len(sent) - len(kept) :] == kept
    if estimate_tokens(messages) <= max_tokens:
        assert (reply.replaced, list(sent)) == (None, messages)


@given(conversations(), st.integers(1, 600))
def test_a_cut_moves_only_forward(messages: list[Message], max_tokens: int) -> None:
    ends = [0]
    for length in range(1, len(messages) + 1):
        if length == len(messages) or messages[length].role == "assistant":
            if question_at(messages[:length]) != question_at(messages):
                continue  # another run
            cut = find_cut(messages[:length], max_tokens=max_tokens, keep_rounds=2)
            ends.append(cut.end if cut else 0)
    assert ends == sorted(ends)


# -- the summary -------------------------------------------------------------------------------------------------


def test_a_line_tells_the_call_the_sentence_that_matters_and_the_source() -> None:
    text = "Welcome. The highest mountain of Japan is Mount Fuji, at 3776 m. Read more at https://example.org/fuji."
    assert gist(text, terms("How high is Mount Fuji in Japan?")) == (
        "The highest mountain of Japan is Mount Fuji, at 3776 m. https://example.org/fuji"
    )
    call = ToolCall("1", "search", {"query": "Fuji"})
    middle = [
        Message("assistant", "", tool_calls=(call,)),
        Message("tool", tool_results=(ToolResult("1", "search", text),)),
    ]
    assert extract(middle, "How high is Mount Fuji?", max_tokens=300).splitlines() == [
        '- search({"query": "Fuji"})',
        "  → The highest mountain of Japan is Mount Fuji, at 3776 m. https://example.org/fuji",
    ]


def test_the_summary_has_a_limit_and_says_what_it_leaves_out() -> None:
    model = native_model()
    run(with_compaction(model, max_tokens=2000))
    summary = model.requests[-1][2].text
    assert estimate_tokens([Message("user", summary)]) < 2000 / 8 + 60
    assert "(earlier steps left out: " in summary


@pytest.mark.parametrize("loop", LOOPS)
def test_a_chinese_conversation_gets_a_chinese_summary(loop: type[Agent]) -> None:
    model = LOOPS[loop]()
    run(with_compaction(model), "三十座城市里哪一座最暖和？", loop=loop)
    assert model.requests[-1][2].text.startswith("前文摘要")
    assert "步已略去" in model.requests[-1][2].text


def test_a_chinese_character_counts_as_a_token_and_four_letters_as_one() -> None:
    assert estimate_tokens([Message("user", "a" * 400)]) == 104
    assert estimate_tokens([Message("user", "天" * 400)]) == 404


def test_a_model_may_write_the_summary_and_its_tokens_are_counted() -> None:
    class Summarizer:
        name, native_tools = "summarizer", True
        tasks: list[str] = []

        def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
            self.tasks.append(messages[0].text)
            return Reply(f"summary {len(self.tasks)}", usage=Usage(100, 10), cost_usd=0.5)

    counted = [
        Reply(tool_calls=(ToolCall(f"c{i}", "read", {"page": i}),), usage=Usage(7, 1), cost_usd=1.0) for i in range(20)
    ]
    model, summarizer = ScriptedModel([*counted, Reply("done", usage=Usage(7, 1))]), Summarizer()
    trace = run(with_compaction(model, summarize=summarizer))
    assert "City number 2 has 2 degrees" in summarizer.tasks[0]
    assert model.requests[-1][2].text == f"{HEADING['en']}\nsummary {len(summarizer.tasks)}"
    written = [step for step in trace.steps if step.usage and step.usage.input_tokens > 7]
    assert len(written) == len(summarizer.tasks) < 8  # one for each cut, and not one for each turn
    assert trace.reply_at(written[0].index).cost_usd == 1.5  # type: ignore[union-attr]


def test_another_summary_of_the_same_past_breaks_the_seals_again() -> None:
    class Summarizer:
        name, native_tools = "summarizer", True

        def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
            return Reply("what a model says is never twice the same")

    model = native_model(native=lambda number: {"provider": "anthropic", "model": "scripted", "content": [number]})
    trace = run(with_compaction(model, summarize=Summarizer()))
    sealed = [step.index for step in trace.steps[ROUNDS // 2 :] if natives(trace.prompt_at(step.index))]
    conversation = trace.conversation_at(sealed[-1])
    resumed = ScriptedModel(["so", "so"])
    later = with_compaction(resumed, summarize=Summarizer())  # in a new process: the summary is written anew
    for _ in range(2):
        later.reply(conversation)
    assert [natives(sent) for sent in resumed.requests] == [[], []]


@pytest.mark.parametrize("reply", [ModelError("down"), Reply("  ")])
def test_without_a_summary_by_the_model_there_is_an_extract(reply: ModelError | Reply) -> None:
    class Silent:
        name, native_tools = "silent", True

        def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
            if isinstance(reply, ModelError):
                raise reply
            return reply

    model = native_model()
    assert run(with_compaction(model, summarize=Silent())).outcome == "answered"
    assert "- read(" in model.requests[-1][2].text


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"keep_rounds": 0}])
def test_limits_are_at_least_one(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        with_compaction(ScriptedModel([]), **wrong)
