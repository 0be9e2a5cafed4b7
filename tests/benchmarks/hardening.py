"""What each part of hardening is good for. Run: python -m tests.benchmarks.hardening

Prints a table, each part with and without: what a cache saves over repeated questions about the weather of ten cities,
how long a batch of calls takes, how many tokens a run of thirty rounds sends, how many runs are answered although
model and tool fail now and then, and by how much eight threads pass a limit. Model and tools take the time that is
given below; who asks for what and what fails is drawn with a fixed seed. Nothing is asked over a network.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.table import Table

from react_lab import (
    Agent,
    Message,
    Model,
    ModelError,
    OfflineModel,
    Reply,
    ScriptedModel,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Usage,
    tool,
)
from react_lab.errors import TemporaryToolError
from react_lab.hardening.budget import with_budget
from react_lab.hardening.cache import with_cache
from react_lab.hardening.compaction import with_compaction
from react_lab.hardening.conversation import estimate_tokens
from react_lab.hardening.retry import with_retry
from react_lab.tools.weather import weather as sample

SEED = 2026
MODEL_S = 0.05
TOOL_S = 0.2
QUESTIONS = 40
GAP_S = 30.0  # on average, between two questions; of a clock that is set, not waited for
TTL_S = 300.0
CITIES = ("Beijing", "Shanghai", "Tokyo", "London", "Paris", "Berlin", "Sydney", "New York", "Cairo", "Moscow")
FAULTS = 0.2  # the share of calls that fail, of the model's and of the tool's
ROUNDS = 30
Row = tuple[str, str, str, str]


class Slow:
    """A model that takes its time, or fails where `fault` raises."""

    native_tools = True

    def __init__(self, inner: Model, *, seconds: float = 0.0, fault: Callable[[], None] = lambda: None) -> None:
        self.inner, self.name = inner, inner.name
        self.seconds, self.fault = seconds, fault

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        time.sleep(self.seconds)
        self.fault()
        return self.inner.reply(messages, **options)


def slow_weather(*, seconds: float = 0.0, fault: Callable[[], None] = lambda: None) -> tuple[ToolRegistry, list[str]]:
    """The sample weather as a slow service, and the list of the cities that it was asked for."""
    asked: list[str] = []

    @tool
    def weather(city: str) -> str:
        time.sleep(seconds)
        fault()
        asked.append(city)
        return sample.execute(city=city)

    weather.description = sample.description
    return ToolRegistry([weather]), asked


def questions(count: int) -> Iterator[str]:
    """Half about one city, half about two; as in life, some cities are asked for far more often than others."""
    chance = random.Random(SEED)
    weights = [1 / rank for rank in range(1, len(CITIES) + 1)]
    for _ in range(count):
        one, other = chance.choices(CITIES, weights, k=2)
        alone = one == other or chance.random() < 0.5
        yield f"What is the weather in {one}?" if alone else f"Which is warmer, {one} or {other}?"


def cache_rows() -> Iterator[Row]:
    calls, seconds = {}, {}
    for cached in (False, True):
        registry, asked = slow_weather(seconds=TOOL_S)
        chance, now = random.Random(SEED), [0.0]
        tools = with_cache(registry, ttl_s=TTL_S, clock=lambda now=now: now[0]) if cached else registry  # type: ignore[misc]
        agent = ToolUseAgent(Slow(OfflineModel(), seconds=MODEL_S), tools)
        taken = []
        for question in questions(QUESTIONS):
            now[0] += chance.expovariate(1 / GAP_S)
            taken.append(seconds_of(partial(agent.run, question)))
        calls[cached], seconds[cached] = len(asked), mean(taken)
    saved = 1 - calls[True] / calls[False]
    yield f"cache: tool calls of {QUESTIONS} questions", str(calls[False]), str(calls[True]), f"-{saved:.0%}"
    faster = 1 - seconds[True] / seconds[False]
    yield "cache: mean time of an answer", f"{seconds[False]:.3f} s", f"{seconds[True]:.3f} s", f"-{faster:.0%}"


def parallel_rows() -> Iterator[Row]:
    registry, _ = slow_weather(seconds=TOOL_S)
    batch = [ToolCall(city, "weather", {"city": city}) for city in CITIES[:5]]
    alone = seconds_of(lambda: [registry.run(call) for call in batch])
    together = median(seconds_of(lambda: registry.run_all(batch)) for _ in range(5))
    yield f"parallel: 5 calls of {TOOL_S} s", f"{alone:.3f} s", f"{together:.3f} s", f"-{1 - together / alone:.0%}"


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@tool
def read(page: int) -> str:
    """Read a page."""
    start = f"Page {page} says {page}. Source: https://example.org/{page}. "
    return start + "x" * (1000 - len(start))


NATIVE = [Reply(tool_calls=(ToolCall(f"c{page}", "read", {"page": page}),)) for page in range(ROUNDS)]
TEXT = [f'Thought: next page\nAction: read({{"page": {page}}})' for page in range(ROUNDS)]


def compaction_rows() -> Iterator[Row]:
    loops: dict[str, tuple[type[Agent], list[Reply | str]]] = {
        "native": (ToolUseAgent, [*NATIVE, "done"]),
        "text": (TextReActAgent, [*TEXT, "Final Answer: done"]),
    }
    for name, (loop, script) in loops.items():
        sums = []
        for wrap in (lambda model: model, with_compaction):
            model = ScriptedModel(script)
            assert (
                loop(wrap(model), ToolRegistry([read]), max_steps=ROUNDS + 1).run("What do they say?").answer == "done"
            )
            sums.append(sum(map(estimate_tokens, model.requests)))
        whole, short = sums
        said = f"compaction: prompt tokens of {ROUNDS} rounds, {name}"
        yield said, f"{whole:,}", f"{short:,}", f"{short / whole:.0%} of it"


def retry_rows() -> Iterator[Row]:
    right = {
        question: ToolUseAgent(OfflineModel(), slow_weather()[0]).run(question).answer for question in questions(100)
    }
    answered = []
    for retrying in (False, True):
        chance = random.Random(SEED)

        def model_fault(chance: random.Random = chance) -> None:
            if chance.random() < FAULTS:
                raise ModelError("overloaded", temporary=True, status=529)

        def tool_fault(chance: random.Random = chance) -> None:
            if chance.random() < FAULTS:
                raise TemporaryToolError("too many requests")

        model: Model = Slow(OfflineModel(), fault=model_fault)
        tools, _ = slow_weather(fault=tool_fault)
        if retrying:
            model, tools = with_retry(model, sleep=lambda s: None), with_retry(tools, sleep=lambda s: None)
        answered.append(sum(answer_of(ToolUseAgent(model, tools), question) == right[question] for question in right))
    before, after = (f"{count} of {len(right)}" for count in answered)
    yield f"retry: right answers, {FAULTS:.0%} of all calls fail", before, after, f"+{answered[1] - answered[0]}"


def answer_of(agent: Agent, question: str) -> str | None:
    try:
        return agent.run(question).answer
    except ModelError:
        return None


class Metered:
    """A model whose replies take between 100 and 400 tokens."""

    name, native_tools = "metered", True

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.lock = threading.Lock()
        self.sizes: list[int] = []

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        with self.lock:
            size = self.chance.randint(100, 400)
            self.sizes.append(size)
        time.sleep(0.001)
        return Reply("so", usage=Usage(size))


def budget_rows() -> Iterator[Row]:
    limit = 5000
    free = [tokens_of_threads(Metered(seed), None) for seed in range(20)]
    limited = [tokens_of_threads(Metered(seed), limit) for seed in range(20)]
    passed = f"at most {max(limited) - limit} beyond"
    yield f"budget: tokens of 8 threads, limit {limit:,}", f"{mean(free):,.0f}", f"{mean(limited):,.0f}", passed


def tokens_of_threads(metered: Metered, limit: int | None) -> int:
    model = with_budget(metered, max_tokens=limit, on_warning=lambda text: None) if limit else metered
    threads = [threading.Thread(target=ask_often, args=(model,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(metered.sizes)


def ask_often(model: Model) -> None:
    for _ in range(20):
        model.reply([Message("user", "?")])


def main() -> None:
    logging.getLogger("react_lab").setLevel(logging.ERROR)
    table = Table("", "without", "with", "")
    for rows in (cache_rows, parallel_rows, compaction_rows, retry_rows, budget_rows):
        for row in rows():
            table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
