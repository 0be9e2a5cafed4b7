"""One real call to each tool that needs the network, for `react-lab doctor --live`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial

from react_lab.errors import ReactLabError
from react_lab.language import Language
from react_lab.tools.open_meteo import OpenMeteo
from react_lab.tools.search import WEB_BACKENDS

MAX_CHARS = 100  # shown of what came back
ASKED: Mapping[Language, Mapping[str, str]] = {
    "en": {"search": "Python programming language", "weather": "Paris", "read_url": "https://example.com/"},
    "zh": {"search": "Python 编程语言", "weather": "北京", "read_url": "https://example.com/"},
}


def live_calls(language: Language) -> dict[str, Callable[[], str]]:
    """A call to every service that needs no key or whose key is set; each gives back what came."""
    asked = ASKED[language]
    searches: dict[str, Callable[[], str]] = {
        f"search ({name})": partial(search_once, name, asked["search"], language)
        for name, backend in WEB_BACKENDS.items()
        if not backend.key_names or any(os.environ.get(key) for key in backend.key_names)
    }
    return {
        **searches,
        "weather": lambda: OpenMeteo().report(asked["weather"], days=0, units="metric"),
        "read_url": partial(read_once, asked["read_url"]),
    }


def examine_live(say: Callable[[str], None], calls: Mapping[str, Callable[[], str]]) -> bool:
    """Make each call and say in a line what came back or what went wrong.

    Returns:
        Whether all of them worked.
    """
    return min(works(say, name, call) for name, call in calls.items())


def works(say: Callable[[str], None], name: str, call: Callable[[], str]) -> bool:
    try:
        told = " ".join(call().split())
    except Exception as error:  # whatever it is, the person has to see it
        kind = "" if isinstance(error, ReactLabError) else f"{type(error).__name__}: "
        say(f"  --  {name}: {kind}{' '.join(str(error).split())}")
        return False
    say(f"  ok  {name}: {told if len(told) <= MAX_CHARS else told[:MAX_CHARS] + '…'}")
    return True


def search_once(name: str, query: str, language: Language) -> str:
    return " | ".join(passage.title for passage in WEB_BACKENDS[name]().find(query, limit=3, language=language))


def read_once(url: str) -> str:
    from react_lab.tools.read_url import BEGIN, make_read_url

    return str(make_read_url()(url)).partition(BEGIN)[2]
