"""A model: anything that continues a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from react_lab.messages import Message, Reply
from react_lab.tools.base import Tool


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
            tool_choice: The name of the one tool that it must call; None leaves the choice to the model.
            stop: Texts before which writing ends, where the provider can do that (text ReAct does not rely on it).
            on_text: Called with pieces of text as they arrive, where the provider streams.
        Raises:
            ModelError: the provider or the network failed.
        """
        ...
