"""A model that says what it was told to say, for tests and lessons."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

from react_lab.errors import ConfigurationError, ModelError
from react_lab.messages import Message, Reply, ToolCall, Usage, known_fields
from react_lab.models.base import Thought
from react_lab.tools.base import Tool


class ScriptedModel:
    """Gives the replies of a list, one a turn.

    A reply is a `Reply` or, for short, its text.
    """

    native_tools = True

    def __init__(self, replies: Iterable[Reply | str], *, name: str = "scripted") -> None:
        self.name = name
        self.replies = tuple(Reply(text=item) if isinstance(item, str) else item for item in replies)
        self._asked: list[tuple[Sequence[Message], int]] = []

    @property
    def requests(self) -> list[tuple[Message, ...]]:
        """The messages of every turn as they were sent, so that a test can look at what the model saw.

        Copied only here, since a conversation only grows: a copy on every turn would make long runs quadratic.
        """
        return [tuple(messages[:length]) for messages, length in self._asked]

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Replies from JSON Lines: each line a string, or an object with the fields of `Reply`.

        Raises:
            ConfigurationError: the file can't be read; the message names the line.
        """
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"script {path}: {error}") from error
        replies = []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    replies.append(_reply(json.loads(line)))
                except (ValueError, TypeError, KeyError) as error:
                    raise ConfigurationError(f"script {path}, line {number}: not a reply ({error})") from error
        return cls(replies, name=f"scripted:{Path(path).name}")

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        turn = len(self._asked)
        if turn >= len(self.replies):
            raise ModelError(f"the script has {len(self.replies)} replies and was asked for number {turn + 1}")
        self._asked.append((messages, len(messages)))
        if on_text:
            for piece in (Thought(self.replies[turn].thought), self.replies[turn].text):
                if piece:
                    on_text(piece)
        return self.replies[turn]


def _reply(data: object) -> Reply:
    if isinstance(data, str):
        return Reply(text=data)
    if not isinstance(data, dict):
        raise TypeError("neither a string nor an object")
    return Reply(
        text=data.get("text", ""),
        thought=data.get("thought", ""),
        tool_calls=tuple(known_fields(ToolCall, call) for call in data.get("tool_calls", ())),
        stop_reason=data.get("stop_reason", "end"),
        usage=known_fields(Usage, data["usage"]) if data.get("usage") else None,
    )
