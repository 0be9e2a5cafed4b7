"""The backends that search the web: Tavily, SerpApi, Wikipedia, and DuckDuckGo with its neighbours."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from react_lab.errors import ConfigurationError, ToolError
from react_lab.language import Language
from react_lab.tools.passages import Passage
from react_lab.tools.web import Service, own_words, trouble

MAX_TEXT_CHARS = 600  # of one result, so that five fit into an observation
ANSWER: Mapping[Language, str] = {"en": "Answer", "zh": "答案"}


def passage(title: Any, text: Any, url: Any, *, source: Any = "", published: Any = "") -> Passage:
    """A passage from what a service sent: on one line each, so that no text can pose as another result."""
    told = line(text)
    short = told if len(told) <= MAX_TEXT_CHARS else told[:MAX_TEXT_CHARS] + "…"
    return Passage(line(title), short, line(url), line(source) or site(line(url)), line(published))


def line(text: Any) -> str:
    return " ".join(str(text or "").split())


def site(url: str) -> str:
    host = re.match(r"https?://(?:www\.)?([^/:?#]+)", url)
    return host[1] if host else ""


class Tavily(Service):
    """tavily.com: a search made for models, with an answer that a model wrote from the results."""

    name = "Tavily"
    key_names = ("TAVILY_API_KEY",)

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        region = {"country": "china"} if language == "zh" else {}
        data = self.ask(
            "POST",
            "https://api.tavily.com/search",
            language=language,
            headers={"Authorization": f"Bearer {self.key}"},
            json={"query": query, "max_results": limit, "include_answer": True, **region},
        )
        found = [
            passage(item.get("title"), item.get("content"), item.get("url"), published=item.get("published_date"))
            for item in data.get("results") or ()
        ]
        answer = data.get("answer")
        return [passage(ANSWER[language], answer, "", source=self.name), *found] if answer else found


class SerpApi(Service):
    """serpapi.com: Google's results, among them the direct answers that it shows above the others."""

    name = "SerpApi"
    key_names = ("SERPAPI_API_KEY", "SERPAPI_KEY")

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        region = {"hl": "zh-cn", "gl": "cn"} if language == "zh" else {"hl": "en", "gl": "us"}
        asked = {"engine": "google", "q": query, "num": limit, **region, "api_key": self.key}
        data = self.ask("GET", "https://serpapi.com/search.json", language=language, params=asked)
        error = data.get("error")
        if error and "hasn't returned any results" not in error:
            raise self.trouble("refused", language, told=str(error))
        organic = [
            passage(
                item.get("title"),
                item.get("snippet"),
                item.get("link"),
                source=item.get("source"),
                published=item.get("date"),
            )
            for item in data.get("organic_results") or ()
        ]
        return [*direct_answers(data, language), *organic[:limit]]


def direct_answers(data: Mapping[str, Any], language: Language) -> Iterator[Passage]:
    """What Google shows above its results: a list of answers, an answer box, an entry of its knowledge graph."""
    listed = data.get("answer_box_list")
    if listed:
        yield passage(ANSWER[language], "; ".join(map(str, listed)), "", source="Google")
    box = data.get("answer_box") or {}
    told = box.get("answer") or box.get("result") or box.get("snippet") or "; ".join(map(str, box.get("list") or ()))
    if told:
        yield passage(box.get("title") or ANSWER[language], told, box.get("link"), published=box.get("date"))
    entry = data.get("knowledge_graph") or {}
    if entry.get("description"):
        origin = entry.get("source") or {}
        address = origin.get("link") or entry.get("website")
        yield passage(entry.get("title"), entry["description"], address, source=origin.get("name"))


class Wikipedia(Service):
    """The first paragraphs of articles, in the query's language."""

    name = "Wikipedia"

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        asked = {"action": "query", "format": "json", "formatversion": 2, "generator": "search"}
        asked |= {"gsrsearch": query, "gsrlimit": limit, "prop": "extracts|info", "inprop": "url"}
        asked |= {"exintro": 1, "explaintext": 1, "exlimit": "max"}
        if language == "zh":
            asked |= {"variant": "zh-cn"}  # articles are written in traditional and simplified characters alike
        data = self.ask("GET", f"https://{language}.wikipedia.org/w/api.php", language=language, params=asked)
        if "error" in data:  # MediaWiki says so with a status of 200
            raise self.trouble("refused", language, told=own_words(data))
        pages = sorted((data.get("query") or {}).get("pages") or (), key=lambda page: page.get("index", 0))
        return [passage(page["title"], page.get("extract"), page.get("fullurl"), source=self.name) for page in pages]


# -- DuckDuckGo --------------------------------------------------------------------------------------------------

# DuckDuckGo alone often turns programs away, so its neighbours are asked too; ddgs does not tell who answered.
ENGINES = "duckduckgo, brave, mojeek, yahoo, wikipedia"
NOTHING_OR_BLOCKED: Mapping[Language, str] = {
    "en": "no results: either nothing was found, or the search engines turned this program away; the two can't be told "
    "apart here. Try once with other words; if there is nothing again, do without the search and say so.",
    "zh": "没有结果：可能是没有找到，也可能是搜索引擎拒绝了程序访问，这里无法区分。"
    "请换关键词再试一次；如果还是没有，就不依靠搜索作答，并加以说明。",
}

TextSearch = Callable[..., list[dict[str, Any]]]


class DuckDuckGo:
    """DuckDuckGo and other engines, read by the package `ddgs`; no key.

    Args:
        text: In the place of `DDGS().text`.
    """

    name = "DuckDuckGo"
    key_names: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, text: TextSearch | None = None) -> None:
        self.text = text or load_text_search()

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        region = "cn-zh" if language == "zh" else "us-en"
        try:
            rows = self.text(query, region=region, max_results=limit)
        except Exception as error:  # the package's own kinds, which stand in a module of either name
            raise self.failure(error, language) from error
        if not rows:
            raise ToolError(NOTHING_OR_BLOCKED[language])
        return [passage(row.get("title"), row.get("body"), row.get("href")) for row in rows]

    def failure(self, error: Exception, language: Language) -> ToolError:
        if "DNSError" in str(error) or "ConnectError" in str(error):
            return trouble("unreachable", self.name, language)
        match type(error).__name__:
            case "TimeoutException":
                return trouble("slow", self.name, language)
            case "RatelimitException":
                return trouble("limited", self.name, language)
            case "DDGSException" | "DuckDuckGoSearchException":  # which say "No results found." of a block, too
                return ToolError(NOTHING_OR_BLOCKED[language])
            case _:
                return trouble("broken", self.name, language, told=str(error))


def load_text_search() -> TextSearch:
    """`text` of the package `ddgs`, or of `duckduckgo_search`, as it was called until 2025, where only that is there.

    The old package never asks DuckDuckGo: its last version asks Bing whatever it is told, and gives back nothing where
    it can't read the page.
    """
    try:
        from ddgs import DDGS
    except ImportError:
        return load_old_text_search()
    return lambda query, **options: DDGS(timeout=10).text(query, backend=ENGINES, **options)


def load_old_text_search() -> TextSearch:
    try:
        from duckduckgo_search import DDGS  # type: ignore[import-not-found]
    except ImportError:
        raise ConfigurationError("searching with DuckDuckGo needs a package: pip install ddgs") from None

    def text(query: str, **options: Any) -> list[dict[str, Any]]:
        with warnings.catch_warnings(record=True):  # it warns of its new name, and changes which warnings are shown
            found: list[dict[str, Any]] = DDGS(timeout=10).text(query, **options)
            return found

    return text
