"""Asking web services for JSON: the one place where each way to fail becomes a sentence that says what to do next."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from react_lab.errors import ConfigurationError, TemporaryToolError, ToolError
from react_lab.language import Language

if TYPE_CHECKING:
    import httpx2

MAX_TOLD_CHARS = 200  # of a service's own words
USER_AGENT = "react-lab (lessons on LLM agents; python-httpx2)"

FAILURES: Mapping[str, Mapping[Language, str]] = {
    "unreachable": {
        "en": "there is no connection to {}. Trying again won't help; do without it, and say so in the answer.",
        "zh": "连不上 {}。重试没有用；请不依靠它作答，并在答案里说明。",
    },
    "slow": {
        "en": "{} did not answer in time. Try the same once more; if it fails again, do without it and say so.",
        "zh": "{} 没有及时响应。可以原样再试一次；再失败就不依靠它作答，并加以说明。",
    },
    "limited": {
        "en": "{} takes no more requests for now (rate limit). This tells nothing about the subject, and other words "
        "won't help. Try again later, or do without it and say so.",
        "zh": "{} 暂时不接受更多请求（频率限制）。这不等于查不到，换关键词没有用。请稍后再试，或者不依靠它作答并说明。",
    },
    "broken": {
        "en": "{} has a fault of its own just now. Try the same later; if it fails again, do without it and say so.",
        "zh": "{} 目前自身出了故障。可以稍后原样再试；再失败就不依靠它作答，并加以说明。",
    },
    "used up": {
        "en": "the requests that this account has at {} are used up. Other words won't help; do without it and say so.",
        "zh": "这个账户在 {} 的请求额度已经用完。换关键词没有用；请不依靠它作答，并加以说明。",
    },
    "key": {
        "en": "{} does not accept the key. Only the person can mend that; do without it and say so.",
        "zh": "{} 不接受这个密钥。只有用户能解决；请不依靠它作答，并加以说明。",
    },
    "blocked": {
        "en": "{} sent a page for people (a captcha, perhaps) in the place of data. That is not the same as finding "
        "nothing: other words won't help. Do without it and say that it was blocked.",
        "zh": "{} 返回的不是数据，而是给人看的网页（可能是验证码）。这不等于查不到，换关键词没有用。"
        "请不依靠它作答，并说明访问被拦截。",
    },
    "refused": {
        "en": "{} refused the request. Write it differently, or do without it and say so.",
        "zh": "{} 拒绝了这个请求。请换一种写法，或者不依靠它作答并加以说明。",
    },
}


TEMPORARY = ("slow", "limited", "broken")


class Unreachable(ToolError):
    """There is no connection; whoever has something to offer instead can catch this."""


def trouble(
    kind: str, name: str, language: Language, *, told: str = "", retry_after_s: float | None = None
) -> ToolError:
    """The error for one of the ways above in which a service can fail.

    Args:
        told: The service's own words, if it gave any.
        retry_after_s: After which time it said that it can be asked again.
    """
    words = " ".join(told.split())[:MAX_TOLD_CHARS]
    text = FAILURES[kind][language].replace("{}", name) + (f" ({words})" if words else "")
    if kind in TEMPORARY:
        return TemporaryToolError(text, retry_after_s=retry_after_s)
    return Unreachable(text) if kind == "unreachable" else ToolError(text)


class Service:
    """Base of the clients of web services.

    Args:
        key: By default the value of the first of the variables `key_names` that is set.
        transport: Takes the place of the network, as `httpx2.MockTransport` does.
        timeout_s: Of connecting, and of each wait for data.
    Raises:
        ConfigurationError: the service wants a key and there is none.
    """

    name: str
    key_names: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, *, key: str | None = None, transport: httpx2.BaseTransport | None = None, timeout_s: float = 10.0
    ) -> None:
        self.key = key or next((os.environ[name] for name in self.key_names if os.environ.get(name)), "")
        self.transport = transport
        self.timeout_s = timeout_s
        if self.key_names and not self.key:
            raise ConfigurationError(f"{self.name} wants a key: put {self.key_names[0]}=... into .env")
        logging.getLogger("httpx2").addFilter(without_keys)  # httpx2 logs the address of every request

    def ask(self, method: str, url: str, *, language: Language, **options: Any) -> dict[str, Any]:
        """Send a request and give back the JSON object that comes.

        Args:
            options: As for `httpx2.request`: `params`, `json`, `headers`.
        Raises:
            Unreachable: there is no connection.
            TemporaryToolError: the service is slow, overrun or at fault.
            ToolError: it does not take the key or the request, has no requests left, or sends no JSON.
        """
        import httpx2

        headers = {"User-Agent": USER_AGENT, **options.pop("headers", {})}
        try:
            with httpx2.Client(transport=self.transport, timeout=self.timeout_s, headers=headers) as client:
                response = client.request(method, url, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise self.trouble("unreachable", language, told=str(error)) from error
        except httpx2.TimeoutException as error:
            raise self.trouble("slow", language) from error
        except httpx2.HTTPError as error:
            raise self.trouble("broken", language) from error
        data = json_object(response)
        kind = trouble_of(response, data)
        if kind is None and data is not None:
            return data
        wait_s = retry_after_s(response)
        raise self.trouble(kind or "blocked", language, told=own_words(data or {}), retry_after_s=wait_s)

    def trouble(
        self, kind: str, language: Language, *, told: str = "", retry_after_s: float | None = None
    ) -> ToolError:
        """The error to raise; a service may well repeat the key in its own words."""
        told = told.replace(self.key, "[key]") if self.key else told
        return trouble(kind, self.name, language, told=told, retry_after_s=retry_after_s)


def json_object(response: httpx2.Response) -> dict[str, Any] | None:
    """The object in an answer; None where a page for people came instead."""
    try:
        data = response.json()
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


KINDS = {401: "key", 402: "used up", 403: "key", 429: "limited", 432: "used up", 433: "used up"}  # the last: Tavily


def trouble_of(response: httpx2.Response, data: Mapping[str, Any] | None) -> str | None:
    """In which of the ways above an answer fails, if it does."""
    if response.status_code < 400:
        return None
    if response.status_code >= 500:
        return "broken"
    if data is None and response.status_code == 403:
        return "blocked"
    if "run out" in own_words(data or {}):  # SerpApi's way of a 402, under the status 429
        return "used up"
    return KINDS.get(response.status_code, "refused")


def own_words(data: Mapping[str, Any]) -> str:
    """What a service says of its failure, wherever in its answer it puts that; Open-Meteo's `error` is only True."""
    words: Any = data
    while isinstance(words, Mapping):
        said = (words.get(name) for name in ("detail", "error", "reason", "message", "info"))
        words = next((part for part in said if part and isinstance(part, str | Mapping)), "")
    return str(words)


def retry_after_s(response: httpx2.Response) -> float | None:
    given = response.headers.get("Retry-After", "")
    return float(given) if given.isdecimal() else None  # the other form, a date, is not worth reading here


def without_keys(record: logging.LogRecord) -> bool:
    """Take keys out of what is logged; SerpApi's travels in the address."""
    record.msg, record.args = re.sub(r"(api_key=)[^&\s\"]+", r"\1[redacted]", record.getMessage()), None
    return True
