"""Scoring the offline stand-in: which questions it answers, and by which calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from react_lab import Trace


def is_right(case: Mapping[str, Any], trace: Trace) -> bool:
    """Whether the answer holds one of `accept`, and the calls of `tools` were made, in any order."""
    made = Counter(call.name for step in trace.steps for call in step.calls)
    answer = re.sub(r"(?<=\d),(?=\d{3})", "", trace.answer or "").casefold()
    return not Counter(case["tools"]) - made and any(accepts(pattern, answer) for pattern in case["accept"])


def accepts(pattern: str, answer: str) -> bool:
    if pattern.startswith("re:"):
        return re.search(pattern[3:], answer, re.I) is not None
    return pattern.casefold() in answer
