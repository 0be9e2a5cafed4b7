"""What a search gives back, whichever backend was asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from react_lab.language import Language, language_of


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


def listing(passages: Iterable[Passage]) -> str:
    """Passages as a model reads them: numbered, with a blank line between."""
    return "\n\n".join(f"[{number}] {passage}" for number, passage in enumerate(passages, start=1))
