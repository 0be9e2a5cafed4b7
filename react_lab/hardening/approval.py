"""Asking the person before a tool with effects runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from react_lab.language import Language, language_of
from react_lab.messages import ToolCall, ToolResult
from react_lab.tools.registry import ToolRegistry, Wrapper

REFUSED: Mapping[Language, str] = {
    "en": "the person did not allow this call, so it was not run; do without it, or ask them what to do instead",
    "zh": "用户没有同意，所以这个调用没有执行；请换个做法，或者问用户希望怎么做",
}


def with_approval(registry: ToolRegistry, ask: Callable[[ToolCall], bool]) -> ToolRegistry:
    """The same tools, where a call of one that has effects is run only if the person agrees.

    A call that can't be run is not asked for. Put it around `with_retry`, not inside, so that it asks once.

    Args:
        ask: Shows a call to the person and tells whether they agree.
    """
    return ApprovedTools(registry, ask)


class ApprovedTools(Wrapper):
    """Tools that may be refused; see `with_approval`."""

    def __init__(self, inner: ToolRegistry, ask: Callable[[ToolCall], bool]) -> None:
        super().__init__(inner)
        self.ask = ask

    def run_all(self, calls: Sequence[ToolCall], *, max_chars: int = 4000) -> tuple[ToolResult, ...]:
        """Ask for one call after the other, then run all of them; one that is refused becomes an error result."""
        return self.inner.run_all([self._asked(call) for call in calls], max_chars=max_chars)

    def _asked(self, call: ToolCall) -> ToolCall:
        unfit = call.error or self._problem(call)
        if unfit or not self.get(call.name).has_effects or self.ask(call):
            return call
        written = json.dumps(call.arguments, ensure_ascii=False, default=str)
        return replace(call, error=REFUSED[language_of(written)])
