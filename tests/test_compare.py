"""Two runs side by side, and the panels that make the second one."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolUseAgent, Trace, Usage
from react_lab.modes import make_runner
from react_lab.replay.compare import align, comparison_page, tell_two
from react_lab.replay.panels import Workbench
from react_lab.replay.player import compare, publish, replay
from react_lab.replay.story import as_text
from react_lab.trace import diff
from tests.browser.runs import REGISTRY, calling, desk, lighthouse, run


def saying(*thoughts: str) -> Trace:
    """A run of a step for each thought, and an answer."""
    return run("?", [*(calling(thought, ("echo", {"text": thought})) for thought in thoughts), "done"])


def agent(*replies: Reply | str) -> ToolUseAgent:
    return ToolUseAgent(ScriptedModel(replies), REGISTRY)


def longest_common(a: str, b: str) -> int:
    """The length of a longest common subsequence, by its definition."""

    @cache
    def longest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return 0
        if a[i] == b[j]:
            return 1 + longest(i + 1, j + 1)
        return max(longest(i + 1, j), longest(i, j + 1))

    return longest(0, 0)


@pytest.mark.parametrize("seed", range(30))
def test_as_many_steps_as_possible_stand_side_by_side(seed: int) -> None:
    dice = random.Random(seed)
    a, b = ("".join(dice.choices("abcdef"[: 2 + seed % 5], k=dice.randrange(60))) for _ in range(2))
    pairs = align(a, b)
    assert [i for i, _ in pairs if i is not None] == list(range(len(a)))
    assert [j for _, j in pairs if j is not None] == list(range(len(b)))
    equal = sum(i is not None and j is not None and a[i] == b[j] for i, j in pairs)
    assert equal == longest_common(a, b)


def test_rows_say_what_is_equal_different_or_alone() -> None:
    told = tell_two(saying("a", "b", "c", "d"), saying("a", "b", "c", "x", "y"), "en")
    assert [row["mark"] for row in told["rows"]] == ["equal"] * 3 + ["different", "only_right", "equal"]
    assert told["start"] == 4
    assert "They part at row 4: 4 equal · 1 different · 1 only in B." in told["lines"]
    differing = [part["label"] for part in told["rows"][3]["sides"][0]["parts"] if part.get("differs")]
    assert differing == ["Thought", "Action", "Observation"]


def test_lines_that_one_side_lacks_are_told_in_parts_and_in_prompts() -> None:
    parent = lighthouse()
    told = tell_two(parent, parent.fork(3, prompt="Answer in verse."), "en")
    child = parent.fork(2, observation="Lighthouse of Genoa\n80 m tall")
    changed = tell_two(parent, child, "en")["rows"][1]["sides"][1]
    assert [part["lines"] for part in changed["parts"] if part.get("differs")] == [[1]]
    assert told["rows"][0]["mark"] == "equal"  # what was said is the same, though another prompt was sent
    assert [message["lines"] for message in told["rows"][0]["sides"][1]["messages"]] == [[0], []]


def test_what_each_run_took_is_set_against_the_other() -> None:
    a = run("?", [Reply("x", usage=Usage(100, 20))])
    b = run("?", [Reply("y", usage=Usage(1350, 15))])
    assert "B against A: +1,250 tokens in, -5 out · +0.00 s" in tell_two(a, b, "en")["lines"]


def test_equal_runs_are_called_equal() -> None:
    told = tell_two(lighthouse(), lighthouse(), "zh")
    assert "两次运行逐步相同。" in told["lines"]
    assert told["start"] == 1
    assert diff(lighthouse(), lighthouse()) is None


def test_a_comparison_can_be_read_as_text_and_written_as_a_page() -> None:
    told = tell_two(saying("a"), saying("b"), "en")
    text = as_text(told)
    assert "--- A\n\nThought · differs\n  a" in text
    assert "--- B\n\nThought · differs\n  b" in text
    assert "<title>?</title>" in comparison_page(saying("a"), saying("b"), lang="en")
    assert "text/html" in compare(saying("a"), saying("b"))._repr_mimebundle_()[0]


# -- forks ---------------------------------------------------------------------------------------------------


def test_the_first_difference_of_a_fork_is_what_was_changed() -> None:
    parent = lighthouse()
    child = agent("80 m").resume(parent.fork(2, observation="80 m tall"))
    parted = diff(parent, child)
    assert parted is not None
    left, right = parted
    assert left is not None
    assert right is not None
    assert (right["event"], right["step"], right["content"], right["changed"]) == ("result", 2, "80 m tall", True)
    told = tell_two(parent, child, "en")
    assert told["start"] == 2


def test_a_changed_reply_is_read_again_and_its_calls_are_run() -> None:
    parent = lighthouse()
    call = ToolCall("mine", "multiply", {"a": 2, "b": 3})
    child = agent("6").resume(parent.fork(1, reply=Reply("I multiply.", tool_calls=(call,))))
    assert [step.thought for step in child.steps] == ["I multiply.", ""]
    assert child.steps[0].results[0].content == "6"
    assert child.answer == "6"
    assert (child.parent or {})["change"]["reply"] == "I multiply."


def test_another_question_keeps_the_steps_before_and_asks_again() -> None:
    parent = lighthouse()
    model = ScriptedModel(["About 77 m."])
    child = ToolUseAgent(model, REGISTRY).resume(parent.fork(3, question="And in metres?", model="another"))
    assert child.question == model.requests[0][1].text == child.prompt_at(3)[1].text == "And in metres?"
    assert child.steps[:2] == parent.steps[:2]
    assert (child.answer, child.model) == ("About 77 m.", "another")
    assert parent.prompt_at(3)[1].text == parent.question == "How tall is the Lighthouse of Genoa in feet?"


def test_without_a_change_the_model_is_asked_again() -> None:
    child = agent("Something else.").resume(lighthouse().fork(3))
    assert child.answer == "Something else."
    assert diff(lighthouse(), child) != (None, None)


def test_one_change_a_fork_and_only_where_there_is_a_step() -> None:
    with pytest.raises(ValueError, match="one change a fork"):
        lighthouse().fork(1, observation="a", reply="b")
    with pytest.raises(IndexError, match="no step 9; this run has 3"):
        lighthouse().fork(9, reply="b")


def test_a_fork_runs_nothing_again_and_leaves_its_parent_alone(tmp_path: Path) -> None:
    path = lighthouse().save(tmp_path / "parent.jsonl")
    before = path.read_bytes()
    parent = Trace.load(path)
    for changes in ({"observation": "x"}, {"reply": "Final."}, {"question": "Why?"}, {}):
        model = ScriptedModel(["the end"])
        child = ToolUseAgent(model, REGISTRY).resume(parent.fork(2, **changes))  # type: ignore[arg-type]
        assert len(model.requests) == (0 if "reply" in changes else 1)
        assert child.steps[0] == parent.steps[0]
    assert path.read_bytes() == before
    assert Trace.load(path).events == parent.events


# -- the panels ----------------------------------------------------------------------------------------------


def bench(trace: Trace, *replies: Reply | str) -> Workbench:
    made = replay(trace, agent=agent(*replies), lang="en")
    assert isinstance(made, Workbench)
    return made


def test_the_panel_changes_an_observation_and_shows_both_runs(tmp_path: Path) -> None:
    parent = Trace.load(lighthouse().save(tmp_path / "run.jsonl"))
    panel = bench(parent, "80 m")
    panel.player._handle_custom_msg({"branch": 2}, [])
    assert (panel.step.value, panel.panel.selected_index) == (2, 0)
    assert panel.panel.titles == ("Edit and run from here", "Publish")
    assert [label for label, _ in panel.change.options] == [
        "observation 1: search",
        "observation 2: multiply",
        "the model's reply",
        "the question",
        "the system prompt",
        "nothing, ask again",
    ]
    assert panel.text.value.startswith("Lighthouse of Genoa")
    panel.text.value = "80 m tall"
    panel.run.click()
    (child,) = panel.forks
    assert child.answer == "80 m"
    assert Trace.load(tmp_path / "run-fork-1.jsonl").events == child.events
    assert panel.status.value == f"{child.id}: answered, saved as {tmp_path / 'run-fork-1.jsonl'}"
    (beside,) = panel.comparison.children
    assert beside.told["start"] == 2


def test_a_fork_can_change_the_system_prompt_of_a_run_or_of_a_node() -> None:
    child = lighthouse().fork(2, prompt="Answer in verse.")
    assert child.prompt_at(2)[0].text == "Answer in verse."
    assert (child.parent or {})["change"] == {"prompt": "Answer in verse."}
    node = desk().fork(3, prompt="Be brief.")
    assert node.prompt_at(3)[0].text == "Be brief."
    assert node.prompt_at(1)[0].text != "Be brief."
    finished = agent("80 m").resume(child)
    assert (finished.answer, finished.prompt_at(2)[0].text) == ("80 m", "Answer in verse.")


def test_the_panel_forks_a_workflow_within_a_node() -> None:
    panel = replay(desk(), agent=make_runner("offline", "research"), lang="en")
    assert isinstance(panel, Workbench)
    panel.step.value = 2
    panel.text.value = "[1] Mount Everest: Mount Everest is 9000 metres high.\nSource: https://b.example/everest"
    panel.run.click()
    (child,) = panel.forks
    assert "9000" in (child.answer or "")
    assert child.parent is not None
    assert child.parent["step"] == 2
    assert [step.node for step in child.steps][:2] == ["planner", "researcher"]


def test_the_panel_changes_a_reply_with_its_calls() -> None:
    panel = bench(lighthouse(), "6")
    panel.change.value = "reply"
    assert '"query": "locked"' in panel.text.value
    panel.text.value = "{"
    panel.run.click()
    assert panel.status.value.startswith("no reply: ")
    assert panel.forks == []
    panel.text.value = '{"text": "x", "tool_calls": [{"name": "multiply", "arguments": {"a": 2, "b": 3}}]}'
    panel.run.click()
    assert panel.forks[0].steps[0].results[0].content == "6"


def test_the_panel_changes_question_and_model() -> None:
    panel = bench(lighthouse(), "unused")
    panel.change.value = "question"
    panel.text.value = "How old is it?"
    panel.model.value = "nobody:nothing"
    panel.run.click()
    assert "nobody" in panel.status.value
    assert panel.forks == []
    panel.model.value = "offline"
    panel.run.click()
    (child,) = panel.forks
    assert (child.question, child.model) == ("How old is it?", "offline")
    assert panel.agent.model.name == "scripted"


def test_a_fork_that_fails_is_kept_with_its_error() -> None:
    panel = bench(lighthouse())
    panel.change.value = "nothing"
    assert panel.text.disabled
    panel.run.click()
    (child,) = panel.forks
    assert child.outcome == "error"
    assert "the script has 0 replies" in (child.reason or "")
    assert panel.status.value == f"{child.id}: failed"
    assert not panel.run.disabled


def test_a_run_is_published_by_the_exporter_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    panel = publish(lighthouse(), lang="en")
    assert "markdown" in panel.target.options
    panel.target.value = "markdown"
    panel.place.value = str(tmp_path / "notes")
    panel.dry_run.value = True
    panel.button.click()
    assert panel.status.value.startswith("would create: ")
    panel.dry_run.value = False
    panel.button.click()
    assert len(list((tmp_path / "notes").glob("*.md"))) == 1
    monkeypatch.setattr("react_lab.replay.panels.entry_points", lambda group: [])
    assert publish(lighthouse(), lang="zh").status.value == "没有安装导出工具。"


def test_files_that_only_the_kernel_can_make_are_sent_when_asked_for() -> None:
    player: Any = replay(lighthouse(), lang="en")
    sent: list[dict[str, Any]] = []
    player.send = sent.append
    player._handle_custom_msg({"save": "page"}, [])
    player._handle_custom_msg({"save": "trace"}, [])
    assert [message["file"]["name"] for message in sent] == ["run.html", "run.jsonl"]
    assert sent[0]["file"]["text"].startswith("<!doctype html>")
    assert len(sent[1]["file"]["text"].splitlines()) == len(player.trace.events)
