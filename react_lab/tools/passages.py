"""What a search gives back, whichever backend was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from react_lab.language import Language, language_of

MARK = re.compile(r"(?m)^\[(\d+)\] ")  # what a passage of a listing begins with
NOTHING = re.compile(r"(?i)no (?:entr|result|match|page|note)|nothing|not found|(?:\w*中)?没有|未找到|找不到")


@dataclass(frozen=True)
class Passage:
    """One text and where it comes from.

    `source` names the site or the backend, `published` is a date in the source's own form; both are "" where nothing
    is known of them, and so is `url` of an answer that a backend put together itself.
    """

    title: str
    text: str
    url: str
    source: str = ""
    published: str = ""

    def __str__(self) -> str:
        chinese = language_of(self.text) == "zh"
        about = ", ".join(part for part in (self.source, self.published) if part)
        title = f"{self.title} ({about})" if about else self.title
        told = f"{title}：{self.text}" if chinese else f"{title}: {self.text}"
        if not self.url:
            return told
        return f"{told}\n来源：{self.url}" if chinese else f"{told}\nSource: {self.url}"


class Backend(Protocol):
    """Something that can be searched. `name` is how sentences call it."""

    name: str

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        """What is found for a query, best first; the language is the query's.

        Raises:
            ToolError: nothing can be said about the query; the text says why, and what to do next.
        """
        ...


def listing(passages: Iterable[Passage | str]) -> str:
    """Passages as a model reads them: numbered, with a blank line between; nothing in one looks like the next."""
    texts = (MARK.sub(r"(\1) ", str(passage)) for passage in passages)
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))


def texts_of(observation: str) -> list[str]:
    """The passages of a search's observation, without their numbers and without the heading above the first.

    A text that is not numbered is one passage; one that says that nothing was found is none.
    """
    if NOTHING.match(observation):
        return []
    heading, *numbered = MARK.split(observation)
    texts = numbered[1::2] or [heading]
    return [text.strip() for text in texts if text.strip()]
