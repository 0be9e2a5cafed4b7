"""Two runs side by side: which steps are equal, where they part, and what each took."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from react_lab.language import Language, interface_language
from react_lab.replay.page import page_of
from react_lab.replay.story import Story, joined, story, tell
from react_lab.replay.words import WORDS
from react_lab.trace import Trace

Pair = tuple[int | None, int | None]  # indices of a step on the left and on the right
MARKS = ("equal", "different", "only_left", "only_right")


def comparison_page(a: Trace, b: Trace, *, lang: str | None = None) -> str:
    """Two runs side by side as one HTML file, like that of a single run."""
    return page_of(tell_two(a, b, interface_language(lang)))


def tell_two(a: Trace, b: Trace, language: Language) -> Story:
    """Two runs in words, for player.js: rows of a step each, from one side or from both.

    A row has a `mark` (one of MARKS). In a row of two steps, parts that differ have `differs`; parts and messages have
    the numbers of the `lines`, from 0, that the other side lacks.
    """
    words = WORDS[language]
    facts = [story(trace) for trace in (a, b)]
    told = [tell(side, language) for side in facts]
    left, right = (side["steps"] for side in facts)
    pairs = align([_said(step) for step in left], [_said(step) for step in right])
    rows = [_row(facts, told, pair, language) for pair in pairs]
    marks = [row["mark"] for row in rows]
    parted = next((number for number, mark in enumerate(marks, start=1) if mark != "equal"), None)
    counts = [words["part_count"].format(count=marks.count(mark), mark=words[mark]) for mark in MARKS if mark in marks]
    sides = [words["left"], words["right"]]
    heads = [f"{name} · {line}" for name, side in zip(sides, told, strict=True) for line in side["lines"]]
    questions = list(dict.fromkeys(side["question"] for side in told))
    return {
        "id": f"{a.id} {b.id}",
        "question": "\n".join(questions),
        "language": facts[0]["language"],
        "lines": [
            *heads,
            words["part_at"].format(row=parted, counts=joined(counts)) if parted else words["same_runs"],
            _deltas(facts[0], facts[1], language),
        ],
        "start": parted or 1,
        "sides": [{"name": name, "timeline": side["timeline"]} for name, side in zip(sides, told, strict=True)],
        "rows": rows,
        "interface": {"language": language, "words": words},
    }


def _said(step: Story) -> Hashable:
    """What a step says, without what it took: two steps that say the same are equal."""
    calls = [
        (call["name"], call["arguments"], call["result"] and (call["result"]["content"], call["result"]["is_error"]))
        for call in step["calls"]
    ]
    return (step["thought"], tuple(calls), step["answer"], step["reminder"])


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Pair]:
    """Pair up two sequences so that as many equal items as possible stand side by side.

    What stands between equal items is paired in order, as different; what is left over stands alone. The equal items
    are a longest common subsequence.

    >>> align("abcd", "axcde")
    [(0, 0), (1, 1), (2, 2), (3, 3), (None, 4)]
    """
    pairs: list[Pair] = []
    i = j = 0
    for next_i, next_j in [*common(a, b), (len(a), len(b))]:
        both = min(next_i - i, next_j - j)
        pairs += zip(range(i, i + both), range(j, j + both), strict=True)
        pairs += [(k, None) for k in range(i + both, next_i)]
        pairs += [(None, k) for k in range(j + both, next_j)]
        if next_i < len(a):
            pairs.append((next_i, next_j))
        i, j = next_i + 1, next_j + 1
    return pairs


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence (Wagner and Fischer, 1974)."""
    start = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]  # of a[i:] and b[j:]
    for i in range(len(a) - 1, start - 1, -1):
        for j in range(len(b) - 1, start - 1, -1):
            one_less = max(longest[i + 1][j], longest[i][j + 1])
            longest[i][j] = longest[i + 1][j + 1] + 1 if a[i] == b[j] else one_less
    return [(k, k) for k in range(start)] + list(_walk(a, b, longest, start))


def _walk(
    a: Sequence[Hashable], b: Sequence[Hashable], longest: list[list[int]], start: int
) -> Iterator[tuple[int, int]]:
    i = j = start
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1


def _row(facts: list[Story], told: list[Story], pair: Pair, language: Language) -> Story:
    words = WORDS[language]
    sides = [None if i is None else side["steps"][i] for side, i in zip(told, pair, strict=True)]
    left, right = (None if i is None else side["steps"][i] for side, i in zip(facts, pair, strict=True))
    if left is None or right is None:
        mark = "only_right" if left is None else "only_left"
        return {"mark": mark, "line": words[mark], "sides": sides}
    mark = "equal" if _said(left) == _said(right) else "different"
    sides = [_marked(side, other, words["differs"]) for side, other in (sides, sides[::-1])]
    return {"mark": mark, "line": joined([words[mark], _deltas(left, right, language)]), "sides": sides}


def _marked(step: Any, other: Any, word: str) -> Story:
    """A step whose parts that the other one lacks say so, and whose parts and messages say which lines it lacks."""

    def said(part: Story) -> tuple[str, ...]:
        return (part["kind"], part["title"], part["text"])

    known = set(map(said, other["parts"]))
    parts = [
        part if said(part) in known else {**part, "differs": word, "lines": _lines_apart(part, other["parts"])}
        for part in step["parts"]
    ]
    messages = [{**message, "lines": _lines_apart(message, other["messages"])} for message in step["messages"]]
    return {**step, "parts": parts, "messages": messages}


def _lines_apart(text: Story, others: Sequence[Story]) -> list[int]:
    """The numbers of the lines that stand in no other part, or message, of the same label."""
    known = {line for other in others if other["label"] == text["label"] for line in other["text"].split("\n")}
    return [number for number, line in enumerate(text["text"].split("\n")) if line not in known]


def _deltas(left: Story, right: Story, language: Language) -> str:
    """What the right one took more than the left one, as far as both are known."""
    words = WORDS[language]
    deltas = []
    if left["usage"] and right["usage"]:
        more = {name: right["usage"][name] - left["usage"][name] for name in ("input", "output")}
        deltas.append(words["delta_tokens"].format(**more))
    if left["cost"] is not None and right["cost"] is not None:
        deltas.append(words["delta_cost"].format(cost=right["cost"] - left["cost"]))
    deltas.append(words["delta_seconds"].format(seconds=round(right["seconds"] - left["seconds"], 2) + 0.0))
    return words["against"].format(deltas=joined(deltas))
