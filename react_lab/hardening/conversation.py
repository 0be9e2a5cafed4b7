"""Reading a conversation from outside: where the question stands, and about how long it all is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from react_lab.agent import BEST_GUESS
from react_lab.messages import Message
from react_lab.text_react import NEXT, OBSERVATION, REMINDER
from react_lab.tool_use import EMPTY
from react_lab.trace import to_json

OBSERVED = tuple(OBSERVATION.values())
# How the loops begin what they tell a model as a user, beside the question.
TOLD = (*OBSERVED, *BEST_GUESS.values(), *EMPTY.values(), *(head for head, _ in REMINDER.values()))
TOKENS_PER_MESSAGE = 4  # role and separators


def question_at(messages: Sequence[Message]) -> int:
    """The index of the person's last question; 0 where there is none."""
    asked = (index for index, message in enumerate(messages) if message.role == "user" and not is_told(message))
    return max(asked, default=0)


def is_told(message: Message) -> bool:
    """Whether it is the loop that speaks here, not the person."""
    return message.text.startswith(TOLD)


def observations(message: Message) -> list[str]:
    """What a message tells of tools, in either loop."""
    if message.role == "user" and message.text.startswith(OBSERVED):
        text = message.text
        for head, tail in zip(OBSERVED, NEXT.values(), strict=True):
            text = text.removeprefix(head).removesuffix(tail)
        return [text]
    return [result.content for result in message.tool_results]


def estimate_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens: four Latin letters or one Chinese character each.

    Tokenizers differ by a third and more; it is a measure for deciding, not for paying.
    """
    return sum(TOKENS_PER_MESSAGE + sum(map(_tokens, _texts(message))) for message in messages)


def _texts(message: Message) -> list[str]:
    calls = [call.name + to_json(call.arguments) for call in message.tool_calls]
    return [message.text, *calls, *(result.content for result in message.tool_results)]


def _tokens(text: str) -> int:
    # In UTF-8, a Latin letter takes one byte and a Chinese character three: counting bytes is the fastest way to tell.
    wide = (len(text.encode("utf-8", "surrogatepass")) - len(text)) / 2
    return round(wide + (len(text) - wide) / 4)
