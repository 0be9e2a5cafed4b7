"""Fetching what lies at a web address that a model gave: within bounds, and with a reason where it can't be had."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import httpx2

from react_lab.errors import TemporaryToolError, ToolError
from react_lab.language import Language, language_of
from react_lab.tools.guarded import RefusedAddress, UnknownHost
from react_lab.tools.web import USER_AGENT, retry_after_s

MAX_REDIRECTS = 5
MAX_BYTES = {"page": 3_000_000, "pdf": 20_000_000, "text": 3_000_000}  # after decompression
STATUS = {401: "closed", 403: "closed", 404: "absent", 410: "absent", 429: "busy", 451: "closed"}


@dataclass(frozen=True)
class Page:
    """What lies at an address: `kind` is "page", "pdf" or "text"."""

    url: str
    kind: str
    body: bytes
    charset: str | None


def fetch(url: str, transport: httpx2.BaseTransport) -> Page:
    """Get what lies at an address; every redirect is checked like the first address.

    Raises:
        ToolError: it can't be had, and why; `TemporaryToolError` where trying again may help.
    """
    headers = {"User-Agent": USER_AGENT, "Accept": "text/html, text/*, application/pdf", "Accept-Encoding": "gzip"}
    try:
        with httpx2.Client(transport=transport, headers=headers, timeout=10) as client:
            address = checked(url)
            for _ in range(MAX_REDIRECTS + 1):
                with client.stream("GET", address) as response:
                    if not response.has_redirect_location:
                        return page_in(response)
                    address = checked(str(address.join(response.headers["Location"])))
    except RefusedAddress as error:
        raise trouble("private", url) from error
    except UnknownHost as error:
        raise trouble("unknown", url) from error
    except httpx2.TimeoutException as error:
        raise trouble("slow", url) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise trouble("broken", url, f"({error})") from error
    raise trouble("redirects", url)


def checked(url: str) -> httpx2.URL:
    """An address that may be asked: of the web, and without a name and password, which only serve to disguise it."""
    try:
        address = httpx2.URL(url.strip())
    except httpx2.InvalidURL as error:
        raise trouble("invalid", url) from error
    if address.scheme not in ("http", "https") or not address.host:
        raise trouble("invalid", url)
    if address.userinfo:
        raise trouble("userinfo", url)
    return address


def page_in(response: httpx2.Response) -> Page:
    """The page in an answer, if it is one and not too large."""
    url, status = str(response.url), response.status_code
    if status >= 400:
        kind = STATUS.get(status, "faulty" if status >= 500 else "closed")
        raise trouble(kind, url, f"(HTTP {status})", retry_after_s=retry_after_s(response))
    kind, limit = kind_of(response)
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > limit:
            raise trouble("large", url, f"({limit // 1_000_000} MB)")
    return Page(url, kind, bytes(body), response.charset_encoding)


def kind_of(response: httpx2.Response) -> tuple[str, int]:
    """The kind of a page, by what its server says of it, and how many bytes of it are read."""
    media = response.headers.get("Content-Type", "text/html").partition(";")[0].strip().casefold()
    if media in ("text/html", "application/xhtml+xml"):
        kind = "page"
    elif media == "application/pdf":
        kind = "pdf"
    elif re.fullmatch(r"text/.+|application/(.+\+)?(json|xml)", media):
        kind = "text"
    else:
        raise trouble("kind", str(response.url), f"({media})")
    return kind, MAX_BYTES[kind]


# -- what the model is told ------------------------------------------------------------------------------------------

TROUBLES: Mapping[str, Mapping[Language, str]] = {
    "invalid": {
        "en": "{} is no address of a web page: give one that begins with https:// or http://.",
        "zh": "{} 不是网页地址：请给出以 https:// 或 http:// 开头的地址。",
    },
    "userinfo": {
        "en": "{} has a user name in it, and such addresses are not opened. Leave out what stands before the @.",
        "zh": "{} 里带有用户名，这样的地址不会打开。请去掉 @ 前面的部分。",
    },
    "private": {
        "en": "{} leads to this machine or to a private network. Only public pages are read; use another source.",
        "zh": "{} 指向本机或内部网络。这里只读公开的网页；请换一个来源。",
    },
    "unknown": {
        "en": "{} can't be reached: there is no such host, or no network. Check the address, or use another source.",
        "zh": "打不开 {}：没有这个主机，或者没有网络。请检查地址，或者换一个来源。",
    },
    "slow": {
        "en": "{} did not send its page in time. Try it once more, or use another source.",
        "zh": "{} 没有及时传完网页。可以再试一次，或者换一个来源。",
    },
    "broken": {
        "en": "the connection to {} failed. Try it once more, or use another source.",
        "zh": "与 {} 的连接失败。可以再试一次，或者换一个来源。",
    },
    "redirects": {
        "en": "{} sends its readers from one address to the next without end. Use another source.",
        "zh": "{} 不停地跳转。请换一个来源。",
    },
    "absent": {
        "en": "there is no page at {}. Take an address from a result instead of guessing one.",
        "zh": "{} 没有这个网页。请使用搜索结果里的地址，不要自己猜。",
    },
    "closed": {
        "en": "{} does not let this program read the page. Use another source.",
        "zh": "{} 不允许程序读取这个网页。请换一个来源。",
    },
    "busy": {
        "en": "{} takes no more requests for now. Try again later, or use another source.",
        "zh": "{} 暂时不接受更多请求。请稍后再试，或者换一个来源。",
    },
    "faulty": {
        "en": "{} has a fault of its own just now. Try again later, or use another source.",
        "zh": "{} 目前自身出了故障。请稍后再试，或者换一个来源。",
    },
    "large": {
        "en": "what lies at {} is too large to be read. Use another source.",
        "zh": "{} 的内容太大，无法读取。请换一个来源。",
    },
    "kind": {
        "en": "what lies at {} is no page, text or PDF. Use another source.",
        "zh": "{} 不是网页、文本或 PDF。请换一个来源。",
    },
    "pypdf": {
        "en": "{} is a PDF, and reading those needs the package pypdf, which only the person can install "
        "(pip install 'react-lab[web]'). Use another source.",
        "zh": "{} 是 PDF，读取需要 pypdf 包，只有用户能安装（pip install 'react-lab[web]'）。请换一个来源。",
    },
    "unreadable": {
        "en": "the text of {} could not be taken out of the file. Use another source.",
        "zh": "无法从 {} 的文件里取出文字。请换一个来源。",
    },
    "no text": {
        "en": "there is no readable text at {}: the page may be drawn by scripts or want a login. Use another source.",
        "zh": "{} 没有可读的文字：网页可能由脚本生成，或者需要登录。请换一个来源。",
    },
    "no part": {
        "en": "the text of {} has fewer parts. Answer from the parts that you have read.",
        "zh": "{} 的文字没有这么多部分。请根据已经读过的部分作答。",
    },
}
TEMPORARY = ("slow", "broken", "busy", "faulty")
MAX_URL_CHARS = 200


def trouble(kind: str, url: str, told: str = "", *, retry_after_s: float | None = None) -> ToolError:
    """The error for one of the ways above in which reading a page can fail."""
    text = f"{TROUBLES[kind][language_of(unquote(url))].replace('{}', url[:MAX_URL_CHARS])} {told}".rstrip()
    return TemporaryToolError(text, retry_after_s=retry_after_s) if kind in TEMPORARY else ToolError(text)
