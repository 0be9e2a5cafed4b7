"""One request to Notion, whatever the weather: never faster than it allows, repeated where that is safe.

Notion has no key that makes a write repeatable. A request that creates something and got no clear answer is
therefore not sent again here: `Unsure` tells the writer, who looks whether it took effect.
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
from notion_client import Client
from notion_client.errors import HTTPResponseError, RequestTimeoutError

from react_lab.errors import ConfigurationError, ReactLabError
from react_lab.trace import known_secrets, redact

log = logging.getLogger(__name__)

ADDRESS = "https://api.notion.com"
VERSION = "2026-03-11"
TIMEOUT_S = 70  # Notion itself gives up after 60
REQUESTS_PER_S = 3
BURST = 3
BUSY = (429, 529)  # not accepted; come back later
OUTAGE = (409, 500, 502, 503, 504)  # may or may not have taken effect
MAX_BUSY = 200
MAX_OUTAGES = 8
MAX_BACKOFF_S = 64

Body = dict[str, Any]
T = TypeVar("T")


class NotionError(ReactLabError):
    """Notion refused, or could not be reached; the message says what to do about it."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(redact(message, known_secrets()))
        self.status = status


class Unsure(NotionError):
    """The request may have taken effect: nobody answered, or the answer was an outage."""


class Notion:
    """Notion's API for one integration.

    Args:
        token: The integration's secret.
        address: Where to ask; another one in tests.
        timeout_s: After which an answer is no longer waited for.
        sleep: Waits so many seconds; another one in tests.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        token: str,
        *,
        address: str = ADDRESS,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api = Client(
            auth=token,
            base_url=address,
            notion_version=VERSION,
            timeout_ms=int(timeout_s * 1000),
            retry=False,
            logger=logging.getLogger(f"{__name__}.api"),
            log_level=logging.CRITICAL,  # every failure is told by an exception of ours
        )
        self.sleep = sleep
        self.clock = clock
        self.next_turn = float("-inf")

    @classmethod
    def from_environment(cls) -> Self:
        """With the token in `NOTION_TOKEN`.

        Raises:
            ConfigurationError: it is missing, or no token at all.
        """
        token = os.environ.get("NOTION_TOKEN", "").strip()
        if not token:
            raise ConfigurationError(
                "Notion needs a token: create an integration at https://www.notion.so/profile/integrations, "
                "copy its secret, and set NOTION_TOKEN in the environment or in a .env file"
            )
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigurationError("NOTION_TOKEN holds blanks or characters that no token has; copy it again")
        return cls(token, address=os.environ.get("NOTION_BASE_URL") or ADDRESS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.api.close()

    def send(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        *,
        query: Body | None = None,
        form: Body | None = None,
        repeatable: bool = True,
    ) -> Any:
        """Send a request until it is answered.

        Args:
            method: GET, POST, PATCH or DELETE.
            path: Below the version, as in `pages`.
            body: Sent as JSON.
            query: Sent in the address.
            form: Sent instead of a body; a file is (name, bytes, type).
            repeatable: Whether sending it twice does the same as sending it once.
        Returns:
            The answer's JSON.
        Raises:
            Unsure: it is not repeatable and may have taken effect.
            NotionError: refused, or still no answer after many tries.
        """
        tried: Counter[int] = Counter()
        while True:
            self.wait_for_turn()
            log.debug("%s %s", method, path)
            try:
                return self.api.request(path, method, query=query, body=body, form_data=form)
            except (HTTPResponseError, RequestTimeoutError, httpx.RequestError, json.JSONDecodeError) as error:
                trouble = trouble_of(error, path)
                if trouble.accepted and not repeatable:
                    raise Unsure(trouble.problem) from error
                if tried[trouble.limit] == trouble.limit:
                    raise NotionError(f"{trouble.problem}, {trouble.limit + 1} times; try again later") from error
            tried[trouble.limit] += 1
            self.sleep(backoff(tried[trouble.limit]) if trouble.wait_s is None else trouble.wait_s)

    def insist(self, action: Callable[[], T]) -> T:
        """The result of an action that looks first what is done already: while it is unsure, it is taken again.

        Raises:
            NotionError: it was unsure many times.
        """
        for attempt in range(1, MAX_OUTAGES + 1):
            try:
                return action()
            except Unsure as error:
                last = error
                self.sleep(backoff(attempt))
        raise NotionError(f"{last}, after {MAX_OUTAGES} more tries; publish again later") from last

    def wait_for_turn(self) -> None:
        """Keep to three requests a second on average, of which a few may come at once."""
        now = self.clock()
        turn = max(self.next_turn, now - (BURST - 1) / REQUESTS_PER_S)
        self.next_turn = turn + 1 / REQUESTS_PER_S
        if turn > now:
            self.sleep(turn - now)

    def pages_of(self, method: str, path: str, options: Body | None = None) -> Iterator[Any]:
        """The results of a list, page by page."""
        asked: Body = {"page_size": 100, **(options or {})}
        while True:
            answer = self.send(method, path, query=asked) if method == "GET" else self.send(method, path, asked)
            yield from answer["results"]
            if not answer.get("has_more") or not answer.get("next_cursor"):
                return
            asked = {**asked, "start_cursor": answer["next_cursor"]}


@dataclass(frozen=True)
class Trouble:
    """A failure that may pass.

    Args:
        problem: What happened.
        accepted: Whether the request may have taken effect.
        limit: How often to try again.
        wait_s: How long to wait, where Notion says so.
    """

    problem: str
    accepted: bool = True
    limit: int = MAX_OUTAGES
    wait_s: float | None = None


def trouble_of(error: Exception, path: str) -> Trouble:
    """What to think of a failure.

    Raises:
        NotionError: it will not pass.
    """
    match error:
        case HTTPResponseError(status=status) if status in BUSY:
            return Trouble("Notion is busy", accepted=False, limit=MAX_BUSY, wait_s=retry_after(error.headers))
        case HTTPResponseError(status=status) if status in OUTAGE:
            return Trouble(f"Notion answers {status} ({str(error)[:200]})", wait_s=retry_after(error.headers))
        case HTTPResponseError():
            raise refusal(error, path) from error
        case httpx.ConnectError():
            return Trouble(f"Notion can't be reached ({error})", accepted=False)
        case _:
            return Trouble(f"no answer from Notion ({type(error).__name__})")


def retry_after(headers: httpx.Headers) -> float | None:
    """Seconds to wait, from a header that holds seconds or a date."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def backoff(attempt: int) -> float:
    """1, 2, 4 … seconds, and up to half as much by chance, so that many clients do not come back together."""
    return float(min(2 ** (attempt - 1), MAX_BACKOFF_S) * random.uniform(1, 1.5))


def refusal(error: HTTPResponseError, path: str) -> NotionError:
    """What Notion refused, with what to click."""
    kind = path.partition("/")[0].removesuffix("s").replace("_", " ")
    advice = {
        401: "Notion does not know this token: copy the secret of your integration again into NOTION_TOKEN "
        "(https://www.notion.so/profile/integrations)",
        403: "the integration may not do this: open it at https://www.notion.so/profile/integrations and allow it "
        "to read, update and insert content",
        404: f"Notion finds no such {kind}, or it is not shared with the integration: open it in Notion, "
        "click ••• → Connections, and add your integration",
    }
    told = advice.get(error.status, f"Notion refuses: {error}")
    return NotionError(f"{told} (HTTP {error.status}, {path})", error.status)
