"""Trying again when the outside world fails for a moment: around a model, or around a registry of tools."""

from __future__ import annotations

import errno
import logging
import math
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import tenacity

from react_lab.errors import ModelError, TemporaryToolError, ToolError
from react_lab.language import language_of
from react_lab.messages import Message, Reply, ToolCall, ToolResult
from react_lab.models.base import Model
from react_lab.models.provider import ProviderModel
from react_lab.tools.registry import ToolRegistry, Wrapper

log = logging.getLogger(__name__)

AGAIN = {
    "en": "\n\n[The connection broke off. The reply begins again:]\n\n",
    "zh": "\n\n[连接中断，回复从头开始：]\n\n",
}


class Again(str):
    """A piece for `on_text` that says that the pieces before it are void: the reply begins anew."""


Inner = TypeVar("Inner", Model, ToolRegistry)


def with_retry(
    inner: Inner,
    *,
    attempts: int = 4,
    first_wait_s: float = 1.0,
    max_wait_s: float = 120.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Inner:
    """The same model, or the same tools, tried again when a failure is temporary.

    Temporary are, of a model, the statuses 408, 409, 429 and those from 500 on, and answers that did not come or broke
    off; of a tool, `TemporaryToolError` and, if it has no effects, the errors of the network. Before each new attempt
    there is a random wait of at most `first_wait_s`, then of twice that, and so on, but never less than the server asks
    for.

    It belongs directly around a model, and the other parts around it: the SDK's own retries are switched off then, for
    retries inside retries would multiply.

    Args:
        attempts: How often to try, the first time included.
        max_wait_s: The longest wait. Where a server asks for a longer one, there is no further attempt.
    """
    if attempts < 1:
        raise ValueError(f"attempts must be at least 1, not {attempts}")
    backoff = tenacity.wait_random_exponential(multiplier=first_wait_s, max=max_wait_s)
    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception(lambda error: asked_wait_s(error) <= max_wait_s),
        wait=lambda state: max(asked_wait_s(_error(state)), backoff(state)),
        stop=tenacity.stop_after_attempt(attempts),
        sleep=sleep,
        before_sleep=_tell,
        reraise=True,
    )
    wrapper: Any = RetryingModel
    if isinstance(inner, ToolRegistry):
        wrapper = partial(RetryingTools, max_wait_s=max_wait_s)
    retrying: Inner = wrapper(inner, policy)
    return retrying


class RetryingModel:
    """A model that is asked again; see `with_retry`.

    Pieces of text that were handed out before a connection broke off can't be called back: `Again` comes after them.
    """

    def __init__(self, inner: Model, policy: tenacity.Retrying) -> None:
        self.inner = inner.without_own_retries() if isinstance(inner, ProviderModel) else inner
        self.name, self.native_tools = inner.name, inner.native_tools
        self.policy = policy

    def reply(
        self, messages: Sequence[Message], *, on_text: Callable[[str], None] | None = None, **options: Any
    ) -> Reply:
        policy = self.policy.copy()  # it counts; another thread, or an agent within a tool, counts on its own
        heard = False

        def hear(piece: str) -> None:
            nonlocal heard
            heard = True
            assert on_text is not None
            on_text(piece)

        def attempt() -> Reply:
            nonlocal heard
            if heard:
                hear(Again(AGAIN[language_of(messages[-1].text)]))
                heard = False
            return self.inner.reply(messages, on_text=hear if on_text else None, **options)

        try:
            reply = policy(attempt)
        except ModelError as error:
            if (tried := policy.statistics["attempt_number"]) > 1:
                error.args = (f"{error} (tried {tried} times)",)
            raise
        attempts, waited_s = policy.statistics["attempt_number"], round(policy.statistics["idle_for"], 3)
        return reply if attempts == 1 else replace(reply, attempts=attempts, waited_s=waited_s)


class RetryingTools(Wrapper):
    """Tools that are tried again; see `with_retry`. The calls of a batch that failed are tried again together."""

    def __init__(self, inner: ToolRegistry, policy: tenacity.Retrying, max_wait_s: float) -> None:
        super().__init__(inner)
        self.policy = policy
        self.max_wait_s = max_wait_s

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        policy = self.policy.copy()
        results: dict[int, ToolResult] = {}
        todo = list(range(len(calls)))
        started = time.perf_counter()

        def attempt() -> None:
            nonlocal todo
            tried = self.inner.run_all([calls[index] for index in todo], max_chars=max_chars)
            counted = (_counted(result, policy.statistics, started) for result in tried)
            results.update(zip(todo, counted, strict=True))
            waits = {index: self._asked_wait_s(results[index]) for index in todo}
            todo = [index for index in todo if waits[index] <= self.max_wait_s]
            if todo:
                told = "; ".join(f"{results[index].name}: {results[index].content}" for index in todo)
                raise TemporaryToolError(told, retry_after_s=max(waits[index] for index in todo))

        with suppress(TemporaryToolError):  # after the last attempt: the results tell
            policy(attempt)
        return tuple(results[index] for index in range(len(calls)))

    def _asked_wait_s(self, result: ToolResult) -> float:
        """Infinite, too, for a call that may have had its effect before the connection broke off."""
        error = getattr(result.traceback, "error", None)
        if error is None or (self.get(result.name).has_effects and not isinstance(error, TemporaryToolError)):
            return math.inf
        return asked_wait_s(error)


def _counted(result: ToolResult, statistics: Mapping[str, Any], started: float) -> ToolResult:
    """A result of a later attempt, with the time of all attempts and the waits between."""
    attempts, waited_s = statistics["attempt_number"], round(statistics["idle_for"], 3)
    if attempts == 1:
        return result
    seconds = round(time.perf_counter() - started, 6)
    return replace(result, attempts=attempts, waited_s=waited_s, seconds=seconds)


def asked_wait_s(error: BaseException | None) -> float:
    """How long to wait at least before trying again; infinite where that is of no use."""
    if isinstance(error, TemporaryToolError) or (isinstance(error, ModelError) and error.temporary):
        return error.retry_after_s or 0.0
    told = isinstance(error, ToolError | ModelError)  # by someone who knew that it is not temporary
    return 0.0 if isinstance(error, Exception) and not told and is_of_network(error) else math.inf


UNREACHABLE = (errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTDOWN, errno.EHOSTUNREACH)


def is_of_network(error: BaseException) -> bool:
    """Whether an error, or one that it was raised from, says that a connection failed or that nothing came in time."""
    clients = (sys.modules[name] for name in ("httpx", "httpx2") if name in sys.modules)
    kinds = (ConnectionError, TimeoutError, socket.gaierror, *(client.TransportError for client in clients))
    if isinstance(error, kinds) or (isinstance(error, OSError) and error.errno in UNREACHABLE):
        return True
    cause = error.__cause__ or error.__context__
    return cause is not None and is_of_network(cause)


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _tell(state: tenacity.RetryCallState) -> None:
    wait_s = state.next_action.sleep if state.next_action else 0.0
    log.warning("%s; trying again in %.1f s", _error(state), wait_s)
