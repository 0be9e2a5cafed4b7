"""A model: anything that continues a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from react_lab.messages import Message, Reply
from react_lab.tools.base import Tool


class Thought(str):
    """A piece of reasoning on its way to `on_text`; a plain `str` there is a piece of the text."""


@runtime_checkable
class Model(Protocol):
    """What an agent needs of a model.

    `native_tools` tells whether `tools` are understood; a model without them still does text ReAct.
    """

    name: str
    native_tools: bool

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        """The model's next turn.

        Args:
            messages: The conversation so far, oldest first; a system message can only be the first.
            tools: What the model may call.
            tool_choice: The name of the one tool that it must call; None leaves the choice to the model. Where a
                provider can't force a call, the model is asked for it in words.
            stop: Texts before which writing ends, where the provider can do that (text ReAct does not rely on it).
            on_text: Called with pieces of the text and, as `Thought`, of the reasoning as they arrive, where the
                provider streams. The pieces of each kind, joined, are the reply's `text` and `thought`.
        Raises:
            ModelError: the provider or the network failed.
            PairingError: a call lacks its result or the other way round; nothing was sent.
        """
        ...
