"""Limits on what a model may be asked: calls, tokens, money, time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.hardening.conversation import estimate_tokens, observations, question_at
from react_lab.language import Language, language_of
from react_lab.messages import Message, Reply
from react_lab.models.base import Model
from react_lab.text_react import parse_reply

log = logging.getLogger(__name__)

WARN_AT = 0.8
USED: dict[Language, dict[str, str]] = {
    "en": {
        "calls": "{spent:.0f} of {limit:.0f} calls",
        "tokens": "{spent:,.0f} of {limit:,.0f} tokens",
        "cost_usd": "${spent:.4f} of ${limit:.4f}",
        "seconds": "{spent:.1f} of {limit:.1f} seconds",
        "warning": "the budget is running low: {}",
        "reached": "the budget is used up: {}",
    },
    "zh": {
        "calls": "{spent:.0f} 次调用（上限 {limit:.0f} 次）",
        "tokens": "{spent:,.0f} 个词元（上限 {limit:,.0f} 个）",
        "cost_usd": "{spent:.4f} 美元（上限 {limit:.4f} 美元）",
        "seconds": "{spent:.1f} 秒（上限 {limit:.1f} 秒）",
        "warning": "预算即将用完：已用 {}",
        "reached": "预算已用完：已用 {}",
    },
}


def with_budget(
    model: Model,
    *,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_cost_usd: float | None = None,
    max_seconds: float | None = None,
    on_warning: Callable[[str], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> BudgetedModel:
    """The same model, which is asked no more once a limit is reached.

    Limits hold for all conversations and threads together. They are checked before each call, so the last one may go
    beyond them. Then a reply with the stop reason `budget` comes instead: its text is the best that the conversation
    holds so far, its thought says which limit was reached.

    Args:
        max_tokens: Tokens in and out; estimated where the model does not count them.
        max_seconds: Time since the first call.
        on_warning: Gets a sentence when four fifths of a limit are used; by default it is logged as a warning.
        clock: The time in seconds.
    Raises:
        ConfigurationError: later, by a reply: there is a limit on money and the model's price is unknown.
    """
    limits = {"calls": max_calls, "tokens": max_tokens, "cost_usd": max_cost_usd, "seconds": max_seconds}
    given = {kind: float(limit) for kind, limit in limits.items() if limit is not None}
    if not given or min(given.values()) <= 0:
        raise ValueError("give at least one limit, and only limits above 0")
    return BudgetedModel(model, given, on_warning or log.warning, clock)


class BudgetedModel:
    """A model with limits; see `with_budget`. `spent` tells what was used, by kind of limit."""

    def __init__(
        self, inner: Model, limits: dict[str, float], on_warning: Callable[[str], None], clock: Callable[[], float]
    ) -> None:
        self.inner = inner
        self.name, self.native_tools = inner.name, inner.native_tools
        self.limits = limits
        self.on_warning = on_warning
        self.clock = clock
        self._spent = {"calls": 0.0, "tokens": 0.0, "cost_usd": 0.0}
        self._largest: dict[str, float] = {}  # what one call took so far, of tokens and of money
        self._began: float | None = None
        self._running = 0
        self._warned: set[str] = set()
        self._state = threading.Condition()  # guards the five above

    @property
    def spent(self) -> dict[str, float]:
        return {**self._spent, "seconds": 0.0 if self._began is None else self.clock() - self._began}

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        words = USED[language_of(messages[question_at(messages)].text)]
        with self._state:
            self._state.wait_for(self._leaves_room)
            if reached := self._beyond(1.0):
                reason = words["reached"].replace("{}", self._told(reached[0], words))
                return Reply(text=best_so_far(messages), thought=reason, stop_reason="budget")
            self._began = self.clock() if self._began is None else self._began
            self._running += 1
            self._spent["calls"] += 1
        reply = None
        try:
            reply = self.inner.reply(messages, **options)
        finally:
            with self._state:
                self._running -= 1
                self._state.notify_all()
                if reply is not None:
                    self._count(messages, reply)
        self._warn(words)
        return reply

    def _warn(self, words: dict[str, str]) -> None:
        with self._state:
            low = [kind for kind in self._beyond(WARN_AT) if kind not in self._warned]
            self._warned.update(low)
        for kind in low:
            self.on_warning(words["warning"].replace("{}", self._told(kind, words)))

    def _leaves_room(self) -> bool:
        """Whether the calls under way can't use up what is left; no call is taken to be larger than the largest one."""
        return not self._running or all(
            self._spent[kind] + self._running * self._largest.get(kind, math.inf) < self.limits[kind]
            for kind in ("tokens", "cost_usd")
            if kind in self.limits
        )

    def _count(self, messages: Sequence[Message], reply: Reply) -> None:
        if reply.usage is None:
            tokens = estimate_tokens([*messages, Message("assistant", reply.text, tool_calls=reply.tool_calls)])
        else:
            tokens = reply.usage.input_tokens + reply.usage.output_tokens
        took = {"tokens": float(tokens)}
        if "cost_usd" in self.limits:
            if reply.cost_usd is None:
                raise ConfigurationError(
                    f"what {self.name} costs is unknown, so a limit on money can't be kept: limit tokens or calls "
                    "instead (prices of known providers: pip install 'react-lab[prices]')"
                )
            took["cost_usd"] = reply.cost_usd
        for kind, amount in took.items():
            self._spent[kind] += amount
            self._largest[kind] = max(self._largest.get(kind, 0.0), amount)

    def _beyond(self, share: float) -> list[str]:
        """The limits of which that share is used."""
        spent = self.spent
        return [kind for kind, limit in self.limits.items() if spent[kind] >= share * limit]

    def _told(self, kind: str, words: dict[str, str]) -> str:
        return words[kind].format(spent=self.spent[kind], limit=self.limits[kind])


def best_so_far(messages: Sequence[Message]) -> str:
    """The best that there is instead of an answer: what the model last said since the question, else what it last saw.

    Of a turn of text ReAct only the thought counts, not the action.
    """
    since = messages[question_at(messages) :]
    for message in reversed([message for message in since if message.role == "assistant"]):
        parsed = parse_reply(message.text)
        said = parsed.answer or parsed.thought or ("" if parsed.actions else message.text.strip())
        if said:
            return said
    seen = [text for message in since for text in observations(message)]
    return seen[-1] if seen else ""
