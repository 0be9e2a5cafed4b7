"""Runs a learner's code against an exercise, in a process of its own: fresh names, a time limit, nothing left behind.

{"id": "tool-class", "code": "..."}    a line in, as the process reads it
{"outcome": "wrong", "symptom": ...}   a line out: the fields of a Verdict
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from react_lab.course.exercise import Exercise, all_exercises
from react_lab.course.expect import Difference

Outcome = Literal["not attempted", "right", "wrong", "raised", "broken"]
YOURS = "<your code>"
START_S = 60  # on a machine that is busy


@dataclass(frozen=True)
class Verdict:
    """What became of an attempt.

    `wrong` has `doing`, `expected` and `got`, and of an agent exercise the `trace` and the `step` to open it at.
    `raised` has the exception in `got` and the learner's own `line`. `broken` is no one's answer: the environment
    failed, and `got` says how. `seconds` are those of the check, without the start of the process.
    """

    outcome: Outcome
    symptom: str = ""
    doing: str = ""
    expected: str = ""
    got: str = ""
    line: str = ""
    trace: str = ""
    step: int = 1
    seconds: float = 0.0


class Judge:
    """A process that runs answers, one after the other; a learner's check has one of its own.

    Args:
        folder: Where the code runs; by default the folder that the person is in.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> str:
        """Start the process, unless it runs, and wait for it; gives back what is broken, or ""."""
        if self.process is not None:
            return ""
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                cwd=self.folder,
                env={**os.environ, "PYTHONUTF8": "1"},
            )
        except OSError as error:
            return f"{type(error).__name__}: {error}"
        broken = str(self._read(START_S).get("broken", "the process that runs your code did not start"))
        if broken:
            self.close()
        return broken

    def verdict(self, exercise: Exercise, code: str) -> Verdict:
        """Run code against the exercise. Whatever happens to the process is a verdict, too."""
        if broken := self.start():
            return Verdict("broken", got=broken)
        started = time.perf_counter()
        answer = self._ask({"id": exercise.id, "code": code}, exercise.limit_s)
        seconds = round(time.perf_counter() - started, 3)
        if "outcome" in answer:
            return Verdict(**answer | {"seconds": seconds})
        self.close()
        if answer.get("late"):
            limit = f"{exercise.limit_s:g} s"
            return Verdict("wrong", "timeout", expected=f"≤ {limit}", got=f"> {limit}", seconds=seconds)
        return Verdict("raised", "exit", got="SystemExit", seconds=seconds)

    def _ask(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any]:
        assert self.process is not None
        assert self.process.stdin is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
        except OSError:  # it has ended; so says the empty answer
            return {}
        return self._read(limit_s)

    def _read(self, limit_s: float) -> dict[str, Any]:
        """The next line; `{"late": True}` if it did not come in time, `{}` if the process ended."""
        process, late = self.process, threading.Event()
        assert process is not None
        assert process.stdout is not None

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(limit_s, stop)
        timer.start()
        try:
            line = process.stdout.readline()
        finally:
            timer.cancel()
        data: dict[str, Any] = json.loads(line) if line.endswith("\n") else {}
        return data or ({"late": True} if late.is_set() else {})

    def close(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


# -- inside the process --------------------------------------------------------------------------------------


def serve() -> None:
    """Answer requests until the input ends. What the learner's code prints goes nowhere."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests, sys.stdin = sys.stdin, io.StringIO()  # input() ends at once
    sys.path.append("")  # the learner's own modules, behind everything else
    exercises, broken = {}, ""
    try:
        exercises = all_exercises()
    except Exception as error:
        broken = f"{type(error).__name__}: {error}"
    print(json.dumps({"broken": broken}), file=replies, flush=True)
    for line in requests:
        request = json.loads(line)
        verdict = judge(exercises[request["id"]], request["code"])
        print(json.dumps(asdict(verdict)), file=replies, flush=True)


def judge(exercise: Exercise, code: str) -> Verdict:
    """The verdict on code, run here and now: without a time limit, and trusted with this process."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            names = run(code)
            exercise.check(names)
    except Difference as difference:
        fields = vars(difference) | {"trace": difference.trace.to_jsonl() if difference.trace else ""}
        return Verdict("wrong", **fields)
    except (Exception, SystemExit) as error:
        return blame(error)
    return Verdict("right")


def run(code: str) -> dict[str, Any]:
    """Run a learner's code in a fresh namespace, and give back the namespace."""
    linecache.cache[YOURS] = (len(code), None, code.splitlines(keepends=True), YOURS)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, YOURS, "exec", dont_inherit=True), names)
    return names


def blame(error: BaseException) -> Verdict:
    """Whose an exception is: the learner's, if a line of theirs led to it; no one's, if a module of ours is missing."""
    told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    symptom = f"raised:{type(error).__name__}"
    way = list(places(error))
    if isinstance(error, SyntaxError) and error.filename == YOURS:
        way.append((YOURS, (error.text or "").strip()))
    if isinstance(error, ImportError) and way[-1][0] != YOURS:
        return Verdict("broken", got=told)
    if lines := [line for file, line in way if file == YOURS]:
        return Verdict("raised", symptom, got=told, line=lines[-1])
    return Verdict("wrong", symptom, got=told, doing=way[-1][1])


def places(error: BaseException) -> Iterator[tuple[str, str]]:
    """File and line of each call on the way to an exception."""
    for frame in traceback.extract_tb(error.__traceback__):
        yield frame.filename, (frame.line or "").strip()


if __name__ == "__main__":
    serve()
