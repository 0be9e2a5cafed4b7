"""What a provider's error means for us: a ModelError that a person can read, or an option to do without."""

from __future__ import annotations

import contextlib
import email.utils
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from react_lab.errors import ModelError
from react_lab.models.wires import CUT_SHORT

MAX_CHARS = 300
MIN_KEY_CHARS = 8  # shorter ones are those of tests and of local servers, and parts of words
MARKUP = re.compile(r"(?is)<(style|script|title)\b.*?</\1>|<[^>]*>")
HINTS = {
    401: "check the key",
    402: "the account has no credit",
    403: "this key may not do that",
    404: "check the model's name and the address",
    413: "the request is too large",
    429: "too many requests, or no credit left",
    529: "the provider is overloaded",
}


def model_error(
    name: str, error: Exception, *, key: str, address: str = "", unanswered: tuple[type[Exception], ...] = ()
) -> ModelError:
    """The error in one line, with status and hint, without the key; to be raised `from` the one given.

    The key is also taken out of the texts of the given error and of its causes, which a traceback would print.
    `unanswered` are the classes of errors that mean that no answer came: no connection, or one that broke off.
    """
    key = key if len(key) >= MIN_KEY_CHARS else ""
    status = getattr(error, "status_code", None)
    hint = f" ({HINTS[status]})" if status in HINTS else ""
    where = f" ({address})" if address and not status else ""
    text = _short(_without(key, _message(error)))
    cause: BaseException | None = error
    while cause is not None:
        cause.args = tuple(_without(key, arg) for arg in cause.args)
        cause = cause.__cause__ or cause.__context__
    return ModelError(
        f"{name}: error {status}{hint}: {text}" if status else f"{name}: {text}{where}",
        temporary=isinstance(error, unanswered) or str(error) == CUT_SHORT or may_pass(error),
        status=status,
        retry_after_s=retry_after_s(_headers(error)),
    )


BUSY = (408, 409, 429)  # beside all from 500 on
# A stream that is under way has no status left to give: the error's type or code says what it would have been.
BUSY_KINDS = (
    "overloaded_error",
    "api_error",
    "rate_limit_error",
    "timeout_error",
    "server_error",
    "rate_limit_exceeded",
)
USED_UP = ("insufficient_quota", "billing_hard_limit_reached")  # OpenAI's way of a 402, under the status 429


def may_pass(error: Exception) -> bool:
    """Whether the same request may succeed later, by the status and by what the provider says."""
    status = getattr(error, "status_code", None)
    kinds = _kinds(getattr(error, "body", None))
    if kinds.intersection(USED_UP) or _headers(error).get("x-should-retry") == "false":
        return False
    if status is None or status < 400:
        return bool(kinds.intersection(BUSY_KINDS))
    return status in BUSY or status >= 500


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait (RFC 9110 §10.2.3: a number or a date; OpenAI also gives milliseconds)."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after"]))
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    return None


def _headers(error: Exception) -> Mapping[str, str]:
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", {})
    return headers


def _kinds(body: object) -> set[str]:
    """The types and codes of an error's body, which may hold the error itself or stand around it."""
    if not isinstance(body, Mapping):
        return set()
    return {str(body.get("type")), str(body.get("code"))} | _kinds(body.get("error"))


def _message(error: Exception) -> str:
    """The provider's own words, wherever in the answer it put them; of a failed connection, why."""
    body = getattr(error, "body", None)
    words = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(words, Mapping):
        words = words.get("message") or words.get("type")
    reason = error.__cause__ if not hasattr(error, "status_code") else None
    return str(words or (f"{error} {reason}" if reason else error))


def _short(text: str) -> str:
    """One line of plain text: an overloaded proxy answers with a whole page of HTML."""
    line = " ".join(MARKUP.sub(" ", text[: 50 * MAX_CHARS]).split())
    return line if len(line) <= MAX_CHARS else line[:MAX_CHARS] + "…"


def _without(key: str, text: Any) -> Any:
    return text.replace(key, "[key]") if key and isinstance(text, str) else text


# What a server may refuse and we can do without: no stop (the reader cuts by itself), no summary of the thought,
# no count of tokens, and a call that is asked for in words instead of forced.
OPTIONAL = {
    "tool_choice": ("tool_choice", "tool choice"),
    "stop": ("stop",),
    "stop_sequences": ("stop_sequences",),
    "stream_options": ("stream_options",),
    "tool_stream": ("tool_stream",),
    "thinking": ("thinking", "adaptive"),
    "reasoning": ("reasoning", "reasoning.summary", "summary", "verified"),
    "include": ("include", "encrypted content", "encrypted_content"),
}


def refused_option(error: Exception, sent: Iterable[str]) -> str | None:
    """The option that an error 400 or 422 complains of, among those that were sent and can be left out."""
    text = f"{getattr(error, 'param', None) or ''} {_message(error)}".lower()
    if getattr(error, "status_code", None) not in (400, 422) or re.search(r"\b(messages|input)[.\[]\d?", text):
        return None  # a complaint about a message, which may well name its thinking block
    return next((name for name in sent if any(_names(text, word) for word in OPTIONAL.get(name, ()))), None)


def _names(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", text) is not None
