"""What the core costs, and what the offline stand-in can do. Run: python -m tests.benchmarks.core [QUESTIONS.jsonl]

Prints the import time against a bare interpreter, the time that each loop adds to a step (a ScriptedModel, a tool
that does nothing, the trace on disk), the size of a 200-step trace, and how many of the questions beside this file (or
of those given) the offline stand-in answers in each protocol and workflow.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from react_lab import (
    Agent,
    OfflineModel,
    PlanAndExecuteAgent,
    Reply,
    ResearchWorkflow,
    ScriptedModel,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    tool,
)
from react_lab.runner import Runner
from react_lab.tools.standard import standard_tools
from tests.conftest import SHARED
from tests.offline_questions import is_right

REPEATS = 9


@tool
def nothing(value: str) -> str:
    """Do nothing."""
    return value


REGISTRY = ToolRegistry([nothing])


def python_ms(statement: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (time.perf_counter() - started) * 1000


def import_times() -> tuple[float, float]:
    """Milliseconds of a bare interpreter and of one that imports the package; taken in turns."""
    pairs = [(python_ms("pass"), python_ms("import react_lab")) for _ in range(REPEATS)]
    return median(bare for bare, _ in pairs), median(full for _, full in pairs)


def native_agent(steps: int) -> Agent:
    calls = [Reply("t", tool_calls=(ToolCall(str(i), "nothing", {"value": str(i)}),)) for i in range(steps - 1)]
    return ToolUseAgent(ScriptedModel([*calls, Reply("done")]), REGISTRY, max_steps=steps)


def text_agent(steps: int) -> Agent:
    replies = [f'Thought: t\nAction: nothing({{"value": "{i}"}})' for i in range(steps - 1)]
    return TextReActAgent(ScriptedModel([*replies, "Final Answer: done"]), REGISTRY, max_steps=steps)


def run_once(make: Callable[[int], Agent], steps: int) -> tuple[float, int]:
    """Microseconds of CPU a step, and the size of the trace in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        agent = make(steps)
        started = time.process_time()
        trace = agent.run("?", save=path)
        spent = time.process_time() - started
        assert trace.outcome == "answered", trace
        return spent / steps * 1e6, path.stat().st_size


def offline_share(questions: Path, make: Callable[[], Runner]) -> tuple[int, int]:
    cases = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    return sum(is_right(case, make().run(case["question"])) for case in cases), len(cases)


def main() -> None:
    bare, full = import_times()
    print(f"import react_lab: {full - bare:.1f} ms over a bare interpreter ({bare:.1f} ms); median of {REPEATS}")
    for name, make in {"native": native_agent, "text": text_agent}.items():
        run_once(make, 10)  # imports and caches
        for steps in (10, 50, 200):
            runs = [run_once(make, steps) for _ in range(REPEATS)]
            cost = median(spent for spent, _ in runs)
            print(f"{name}: {cost:.0f} µs CPU a step over {steps} steps; trace {runs[0][1]} bytes")
    tools = standard_tools()
    loops: dict[str, Callable[[], Runner]] = {
        "native": lambda: ToolUseAgent(OfflineModel(), tools),
        "text": lambda: TextReActAgent(OfflineModel(), tools),
        "text, brackets": lambda: TextReActAgent(OfflineModel(), tools, syntax="bracket"),
        "plan and execute": lambda: PlanAndExecuteAgent(OfflineModel(), tools),
        "research": lambda: ResearchWorkflow(OfflineModel(), tools),
    }
    own = [Path(__file__).with_name("questions.jsonl"), SHARED / "cases" / "offline_questions.jsonl"]
    for questions in filter(Path.exists, map(Path, sys.argv[1:]) if len(sys.argv) > 1 else own):
        for name, loop in loops.items():
            right, asked = offline_share(questions, loop)
            print(f"offline stand-in, {name}: {right} of {asked} questions of {questions.name} answered")


if __name__ == "__main__":
    main()
