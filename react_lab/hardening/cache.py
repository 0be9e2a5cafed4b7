"""Results that are kept for a while, so that equal calls run once: in memory, or in a file that processes share."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Protocol

from react_lab.errors import ConfigurationError
from react_lab.messages import ToolCall, ToolResult
from react_lab.tools.registry import ToolRegistry, Wrapper
from react_lab.tools.threads import wait_for

log = logging.getLogger(__name__)

FILE = "tool-results.sqlite3"
BUSY_S = 10.0  # how long to wait while another process writes

Answer = Future[ToolResult | None]  # None: whoever ran the call gave up


def with_cache(
    registry: ToolRegistry,
    *,
    ttl_s: float = 300.0,
    folder: str | Path | None = None,
    clock: Callable[[], float] = time.time,
) -> ToolRegistry:
    """The same tools, where an equal call is answered with the last result, marked `cached`.

    Calls are equal when the tool and the arguments are, defaults filled in. Equal calls at the same time run once (in
    each process). Errors are not kept, nor results of tools that have effects or are not `cacheable`, as a tool
    that reads what another one changes should not be.

    Args:
        ttl_s: Seconds for which a result is good.
        folder: Where to keep results for other processes and for later; None keeps them in memory.
        clock: The time in seconds, the same for all processes.
    Raises:
        ConfigurationError: the folder can't be used.
    """
    if ttl_s <= 0:
        raise ValueError(f"ttl_s must be more than 0, not {ttl_s}")
    store: Store = MemoryStore() if folder is None else DiskStore(Path(folder))
    return CachedTools(registry, store, ttl_s, clock)


class CachedTools(Wrapper):
    """Tools whose results are kept; see `with_cache`."""

    def __init__(self, inner: ToolRegistry, store: Store, ttl_s: float, clock: Callable[[], float]) -> None:
        super().__init__(inner)
        self.store = store
        self.ttl_s = ttl_s
        self.clock = clock
        self._lock = threading.Lock()
        self._running: dict[str, Answer] = {}  # by key, what some thread is about to answer

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        """Take what is kept, run what nobody runs yet, and then wait for what another thread runs."""
        keys = [self._key(call, max_chars) for call in calls]
        mine: dict[str, Answer] = {}
        try:
            answers = self._claim(dict.fromkeys(filter(None, keys)), mine)
            todo = [index for index, key in enumerate(keys) if not key or (key in mine and keys.index(key) == index)]
            ran = self.inner.run_all([calls[index] for index in todo], max_chars=max_chars)
            results = dict(zip(todo, ran, strict=True))
            for index in todo:
                if key := keys[index]:
                    self._keep(key, results[index])
                    answers[key].set_result(results[index])
        finally:
            self._release(mine)
        for index, key in enumerate(keys):
            if key and index not in results:
                results[index] = self._taken(calls[index], answers[key], max_chars)
        return tuple(results[index] for index in range(len(calls)))

    def _key(self, call: ToolCall, max_chars: int) -> str | None:
        """What equal calls share; None for calls that can't be run, must not be kept, or hold more than JSON data."""
        if call.error or call.name not in self:
            return None
        called = self.get(call.name)
        if called.has_effects or not called.cacheable:
            return None
        tool = called.to_anthropic_schema()  # another tool of the same name is another tool
        properties = tool["input_schema"].get("properties", {})
        try:
            defaults = {name: schema["default"] for name, schema in properties.items() if "default" in schema}
            text = json.dumps([tool, {**defaults, **call.arguments}, max_chars], sort_keys=True)
        except (TypeError, ValueError, RecursionError):
            return None
        return hashlib.sha256(text.encode()).hexdigest()

    def _claim(self, keys: Iterable[str], mine: dict[str, Answer]) -> dict[str, Answer]:
        """An answer, or the promise of one, for every key; promises that are for this thread to keep go into `mine`."""
        answers = {}
        for key in keys:
            with self._lock:
                answers[key] = self._kept(key) or self._running.get(key) or mine.setdefault(key, Future())
                self._running.update(mine)
        return answers

    def _release(self, mine: dict[str, Answer]) -> None:
        with self._lock:
            for key, answer in mine.items():
                self._running.pop(key, None)
                if not answer.done():
                    answer.set_result(None)

    def _kept(self, key: str) -> Answer | None:
        started, now = time.perf_counter(), self.clock()
        at, content = self.store.get(key) or (now + 1, "")
        if not 0 <= now - at < self.ttl_s:
            return None
        answer: Answer = Future()
        answer.set_result(ToolResult("", "", content, cached=True, seconds=round(time.perf_counter() - started, 6)))
        return answer

    def _keep(self, key: str, result: ToolResult) -> None:
        if not result.is_error:
            now = self.clock()
            self.store.put(key, now, result.content, forget_before=now - self.ttl_s)

    def _taken(self, call: ToolCall, answer: Answer, max_chars: int) -> ToolResult:
        """A result that an equal call got; errors are shared only by calls of the same time."""
        started = time.perf_counter()
        wait_for([answer])
        result = answer.result()
        if result is None:
            return self.run(call, max_chars=max_chars)
        seconds = result.seconds if result.cached else round(time.perf_counter() - started, 6)
        return ToolResult(
            call.id, call.name, result.content, result.is_error, result.traceback, not result.is_error, seconds=seconds
        )


class Store(Protocol):
    """Where results are kept: `get` gives back a content with the time at which it was put."""

    def get(self, key: str) -> tuple[float, str] | None: ...
    def put(self, key: str, at: float, content: str, *, forget_before: float) -> None: ...


class MemoryStore:
    """A dictionary that forgets; for the threads of one process."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, str]] = {}

    def get(self, key: str) -> tuple[float, str] | None:
        return self._kept.get(key)

    def put(self, key: str, at: float, content: str, *, forget_before: float) -> None:
        for old in [key for key, (then, _) in list(self._kept.items()) if then < forget_before]:
            self._kept.pop(old, None)
        self._kept[key] = (at, content)


class DiskStore:
    """A table in a file. A writer that is killed leaves the old row or the new one: each change is a transaction."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as table:
                table.execute("CREATE TABLE IF NOT EXISTS result (key TEXT PRIMARY KEY, at REAL, content TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(f"{self.file} can't keep results ({error}); name another folder") from error

    def get(self, key: str) -> tuple[float, str] | None:
        try:
            with closing(self._open()) as table:
                row = table.execute("SELECT at, content FROM result WHERE key = ?", (key,)).fetchone()
            return (float(row[0]), str(json.loads(row[1]))) if row else None
        except (sqlite3.Error, ValueError, TypeError) as error:
            log.warning("%s: %s", self.file, error)  # a call must not fail for its cache
            return None

    def put(self, key: str, at: float, content: str, *, forget_before: float) -> None:
        try:
            with closing(self._open()) as table, table:
                table.execute("DELETE FROM result WHERE at < ?", (forget_before,))
                table.execute("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", (key, at, json.dumps(content)))
        except sqlite3.Error as error:
            log.warning("%s: %s", self.file, error)

    def _open(self) -> sqlite3.Connection:
        """A connection for one use: threads and forked processes must not share one."""
        return sqlite3.connect(self.file, timeout=BUSY_S, isolation_level="IMMEDIATE")
