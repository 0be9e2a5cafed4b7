"""Results that are kept: what counts as equal, how long, and that nothing wrong or torn ever comes out."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolError, ToolRegistry, ToolUseAgent, tool
from react_lab.errors import ConfigurationError
from react_lab.hardening.cache import FILE, with_cache
from react_lab.hardening.retry import with_retry
from react_lab.replay.live import APPROVED, Gate
from react_lab.tools.registry import Wrapper


class Counting:
    """A tool `look` that counts its runs, and the registry it is in; `fails` makes it raise."""

    def __init__(self, *, seconds: float = 0.0, has_effects: bool = False) -> None:
        self.runs: Counter[str] = Counter()
        self.fails = False
        self._lock = threading.Lock()

        @tool(has_effects=has_effects)
        def look(what: str, limit: int = 3) -> str:
            """Look."""
            with self._lock:
                self.runs[what] += 1
                number = self.runs[what]
            time.sleep(seconds)
            if self.fails:
                raise ToolError("not now")
            return f"{what} {limit} run {number}"

        self.registry = ToolRegistry([look])


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def look(what: str = "Paris", id: str = "1", **more: Any) -> ToolCall:
    return ToolCall(id, "look", {"what": what, **more})


@pytest.fixture(params=["memory", "disk"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., ToolRegistry]:
    """`with_cache`, once in memory and once on disk."""
    if request.param == "memory":
        return with_cache
    return lambda registry, **options: with_cache(registry, folder=tmp_path / "cache", **options)


Make = Callable[..., ToolRegistry]


def test_an_equal_call_runs_once_and_the_second_result_is_marked(make: Make) -> None:
    counting = Counting(seconds=0.05)
    registry = make(counting.registry)
    first, second = registry.run(look()), registry.run(look(id="2"))
    assert (first.content, first.cached) == ("Paris 3 run 1", False)
    assert (second.content, second.cached, second.call_id) == ("Paris 3 run 1", True, "2")
    assert second.seconds < 0.05 <= first.seconds
    assert counting.runs["Paris"] == 1


def test_a_hit_is_marked_in_the_trace() -> None:
    call = Reply(tool_calls=(look(),))
    model = ScriptedModel([call, Reply(tool_calls=(look(id="2"),)), "done"])
    trace = ToolUseAgent(model, with_cache(Counting().registry)).run("?")
    assert [event["cached"] for event in trace.events if event["event"] == "result"] == [False, True]


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ({"what": "Paris"}, {"limit": 3, "what": "Paris"}, True),  # the default, filled in
        ({"what": "a", "limit": 1}, {"limit": 1, "what": "a"}, True),
        ({"what": "Paris"}, {"what": "paris"}, False),
        ({"what": "Paris"}, {"what": "Paris", "limit": 4}, False),
        ({"what": "\ud83d"}, {"what": "\ud83d"}, True),  # half an emoji
        ({"what": "北京"}, {"what": "北京"}, True),
    ],
)
def test_equal_is_what_would_run_alike(make: Make, a: dict[str, Any], b: dict[str, Any], equal: bool) -> None:
    registry = make(Counting().registry)
    registry.run(ToolCall("1", "look", a))
    assert registry.run(ToolCall("2", "look", b)).cached is equal


def test_tools_of_one_name_with_another_description_are_not_the_same(tmp_path: Path) -> None:
    for text in ("Look in the almanac.", "Look in the web."):

        @tool
        def look(what: str) -> str:
            return what

        look.description = text
        assert not with_cache(ToolRegistry([look]), folder=tmp_path).run(ToolCall("1", "look", {"what": "x"})).cached


def test_a_shortened_result_does_not_stand_for_a_longer_one(make: Make) -> None:
    registry = make(Counting().registry)
    assert "left out" in registry.run(look("x" * 100), max_chars=20).content
    assert registry.run(look("x" * 100)).content.startswith("x" * 100)


def test_a_result_is_good_for_a_time(make: Make) -> None:
    counting, clock = Counting(), Clock()
    registry = make(counting.registry, ttl_s=300, clock=clock)
    registry.run(look())
    clock.now += 299.9
    assert registry.run(look()).cached
    clock.now += 0.1
    assert not registry.run(look()).cached
    clock.now -= 3600  # somebody set the clock back
    assert not registry.run(look()).cached
    assert counting.runs["Paris"] == 3


def test_what_is_too_old_is_thrown_away(tmp_path: Path) -> None:
    clock = Clock()
    registry = with_cache(Counting().registry, folder=tmp_path, ttl_s=10, clock=clock)
    for what in ("a", "b", "c"):
        registry.run(look(what))
        clock.now += 8
    with sqlite3.connect(tmp_path / FILE) as table:
        assert table.execute("SELECT count(*) FROM result").fetchone() == (2,)
    table.close()


def test_errors_are_never_kept(make: Make) -> None:
    counting = Counting()
    registry = make(counting.registry)
    counting.fails = True
    assert [registry.run(look()).is_error for _ in range(2)] == [True, True]
    counting.fails = False
    assert (registry.run(look()).is_error, counting.runs["Paris"]) == (False, 3)
    for bad in (
        ToolCall("1", "none"),
        ToolCall("2", "look", {}),
        look(error=None, id="3"),
        ToolCall("4", "look", {"what": {1}}),
    ):
        assert [registry.run(bad).cached for _ in range(2)] == [False, False]
    unread = ToolCall("5", "look", {"what": "Paris"}, error="cut off")
    assert registry.run(unread).content == "Error: cut off"


def test_a_tool_with_effects_always_runs(make: Make) -> None:
    counting = Counting(has_effects=True)
    registry = make(counting.registry)
    results = [*registry.run_all([look(id="1"), look(id="2")]), registry.run(look())]
    assert [result.cached for result in results] == [False] * 3
    assert counting.runs["Paris"] == 3


def test_equal_calls_of_one_batch_run_once(make: Make) -> None:
    counting = Counting(seconds=0.02)
    results = make(counting.registry).run_all([look("a", "1"), look("b", "2"), look("a", "3"), look("a", "4")])
    assert [(result.call_id, result.content, result.cached) for result in results] == [
        ("1", "a 3 run 1", False),
        ("2", "b 3 run 1", False),
        ("3", "a 3 run 1", True),
        ("4", "a 3 run 1", True),
    ]


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        results[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_equal_calls_of_several_threads_run_once(make: Make) -> None:
    counting = Counting(seconds=0.2)
    registry = make(counting.registry)
    results = in_threads(8, lambda number: registry.run(look(id=str(number))))
    assert {result.content for result in results} == {"Paris 3 run 1"}
    assert sorted(result.cached for result in results) == [False] + [True] * 7
    assert [result.call_id for result in results] == [str(number) for number in range(8)]


def test_batches_that_wait_for_one_another_do_not_lock_up() -> None:
    counting = Counting(seconds=0.05)
    registry = with_cache(counting.registry)
    orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]]
    results = in_threads(6, lambda number: registry.run_all([look(what, what) for what in orders[number % 3]]))
    for number, batch in enumerate(results):
        assert [result.content for result in batch] == [f"{what} 3 run 1" for what in orders[number % 3]]
    assert counting.runs == {"a": 1, "b": 1, "c": 1}


def test_an_error_is_shared_by_calls_of_the_same_time_only(make: Make) -> None:
    counting = Counting(seconds=0.2)
    counting.fails = True
    registry = make(counting.registry)
    results = in_threads(4, lambda number: registry.run(look(id=str(number))))
    assert [(result.is_error, result.cached) for result in results] == [(True, False)] * 4
    assert counting.runs["Paris"] == 1
    assert registry.run(look()).is_error
    assert counting.runs["Paris"] == 2


def test_a_call_that_was_interrupted_leaves_nobody_waiting() -> None:
    started, runs = threading.Event(), []

    @tool
    def look(what: str) -> str:
        """Look."""
        runs.append(what)
        if len(runs) == 1:
            started.set()
            time.sleep(0.2)
            raise KeyboardInterrupt
        return "found"

    registry = with_cache(ToolRegistry([look]))

    def work(number: int) -> Any:
        if number:
            started.wait()
        try:
            return registry.run(ToolCall(str(number), "look", {"what": "x"})).content
        except KeyboardInterrupt:
            return "interrupted"

    assert in_threads(2, work) == ["interrupted", "found"]


def test_wrappers_stack_in_any_order() -> None:
    class Noting(Wrapper):
        seen = 0

        def run_all(self, calls: Any, *, max_chars: int = 4000) -> Any:
            self.seen += len(calls)
            return super().run_all(calls, max_chars=max_chars)

    for inner_first in (True, False):
        counting = Counting()
        inner = Noting(counting.registry)
        stack = with_cache(with_retry(inner)) if inner_first else with_retry(with_cache(inner))
        gate = Gate(stack, lambda call: APPROVED)
        assert [gate.run_all([look()])[0].cached for _ in range(2)] == [False, True]
        assert inner.seen == counting.runs["Paris"] == 1


def test_a_time_to_live_is_more_than_nothing() -> None:
    with pytest.raises(ValueError, match="ttl_s must be more than 0, not 0"):
        with_cache(ToolRegistry(), ttl_s=0)


# -- on disk -----------------------------------------------------------------------------------------------------


def test_results_are_there_for_the_next_process(tmp_path: Path) -> None:
    with_cache(Counting().registry, folder=tmp_path).run(look("a\ud83d北京"))
    again = with_cache(Counting().registry, folder=tmp_path).run(look("a\ud83d北京"))
    assert (again.cached, again.content) == (True, "a\ud83d北京 3 run 1")


def test_a_folder_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="name another folder"):
        with_cache(ToolRegistry(), folder=tmp_path / "file")
    (tmp_path / FILE).write_text("this is no database" * 100, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="not a database"):
        with_cache(ToolRegistry(), folder=tmp_path)


def test_a_cache_that_breaks_makes_no_call_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    registry = with_cache(Counting().registry, folder=tmp_path)
    registry.run(look())
    (tmp_path / FILE).write_text("overwritten" * 1000, encoding="utf-8")
    assert registry.run(look()).content == "Paris 3 run 2"
    assert all(FILE in message for message in caplog.messages)


def test_an_entry_that_is_no_result_is_passed_over(tmp_path: Path) -> None:
    registry = with_cache(Counting().registry, folder=tmp_path)
    registry.run(look())
    with sqlite3.connect(tmp_path / FILE) as table:
        table.execute("UPDATE result SET content = ?", ("cos\nsystem\n(S'id'\ntR.",))  # a pickle is only text here
    table.close()
    assert registry.run(look()).content == "Paris 3 run 2"


def hammer(folder: str, seconds: float, seed: int) -> int:
    """Ask for random things; the number of results that are not what the tool gives. Run in a process of its own."""

    @tool
    def echo(number: int) -> str:
        """Echo."""
        return json.dumps([number] * (number % 50 * 100))

    registry = with_cache(ToolRegistry([echo]), folder=folder, ttl_s=0.2)
    chance, until, wrong = random.Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number = chance.randrange(200)
        result = registry.run(ToolCall("1", "echo", {"number": number}), max_chars=100_000)
        wrong += result.content != json.dumps([number] * (number % 50 * 100))
    return wrong


@pytest.mark.slow
def test_processes_that_share_a_cache_never_see_a_wrong_result(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.starmap(hammer, [(str(tmp_path), 2.0, seed) for seed in range(3)]) == [0, 0, 0]


VICTIM = """
import sys
from tests.test_cache import hammer
print("ready", flush=True)
hammer(sys.argv[1], 60, int(sys.argv[2]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_writer_that_is_killed_leaves_nothing_torn(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    for seed in range(6):
        victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(tmp_path), str(seed)], stdout=subprocess.PIPE, cwd=root, text=True
        )
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(0.05 + seed * 0.037)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        victim.stdout.close()
        assert hammer(str(tmp_path), 0.2, seed) == 0
        table = sqlite3.connect(tmp_path / FILE)
        assert table.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        table.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_may_use_the_same_cache(tmp_path: Path) -> None:
    registry = with_cache(Counting().registry, folder=tmp_path)
    registry.run(look())
    child = os.fork()
    if child == 0:
        os._exit(0 if registry.run(look()).cached and not registry.run(look("Rome")).cached else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert registry.run(look("Rome")).cached
