"""Markdown as models write it, made up from a seed; and what its words and links are, by another renderer."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from html import escape

from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.compare import links_in
from react_lab_exporters.notion.reader import below, text_in

WORDS = "agent loop thought action 观察 温度 答案 naïve 🙂 🇨🇳 a_b c*d <b>x</b> 5% $5 x^2 (note) “q” 1,000 e.g.".split()
LANGUAGES = ["python", "Python  ", "js {1,3}", "", "brainfuck", "c++", "sh"]


def words(rng: random.Random, least: int = 1, most: int = 20) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))


def sentence(rng: random.Random) -> str:
    pieces: list[Callable[[], str]] = [
        lambda: words(rng),
        lambda: f"**{rng.choice(WORDS[:6])}** *{rng.choice(WORDS[:6])}* `code {rng.randint(0, 9)}`",
        lambda: f"[{rng.choice(WORDS[:6])}](https://example.org/{rng.randint(0, 99)}?q=a&r=b)",
        lambda: f"[{rng.choice(WORDS[:6])}](notes/{rng.randint(0, 99)}.md)",
        lambda: f"https://example.com/x{rng.randint(0, 99)}",
        lambda: "\\(x_1 + y\\) and $a^2$ for $5 or $10",
        lambda: "~~gone~~ \\*kept\\* &amp; &lt;tag&gt;",
    ]
    return " ".join(rng.choice(pieces)() for _ in range(rng.randint(1, 4)))


def listing(rng: random.Random, depth: int, indent: str = "") -> str:
    mark = rng.choice(["-", "1."])
    lines = []
    for _ in range(rng.randint(1, 4)):
        lines.append(f"{indent}{mark} {rng.choice(['', '', '[ ] ', '[x] '])}{words(rng)}")
        if depth > 1 and rng.random() < 0.6:
            lines.append(listing(rng, depth - 1, indent + " " * (len(mark) + 1)))
    return "\n".join(lines)


def table(rng: random.Random) -> str:
    width = rng.randint(1, 6)
    rows = rng.choice([3, 8, 151])
    lines = ["| " + " | ".join(["head"] * width) + " |", "|" + "---|" * width]
    for _ in range(rows):
        cells = width + rng.choice([0, 0, 0, -1, 2])
        lines.append("| " + " | ".join(words(rng, 1, 3).replace("|", "/") for _ in range(max(cells, 1))) + " |")
    return "\n".join(lines)


def document(seed: int, most: int = 25) -> str:
    """A report of at most so many pieces: a few to a few hundred blocks."""
    rng = random.Random(seed)
    pieces: list[Callable[[], str]] = [
        lambda: "#" * rng.randint(1, 6) + " " + words(rng, 1, 5),
        lambda: sentence(rng),
        lambda: sentence(rng),
        lambda: listing(rng, rng.randint(1, 6)),
        lambda: table(rng),
        lambda: f"```{rng.choice(LANGUAGES)}\n{words(rng)}\n\n  {words(rng)}\n```",
        lambda: "> " + sentence(rng) + "\n>\n> > " + words(rng),
        lambda: "\\[\nx\n= y\n\\]",
        lambda: rng.choice(["long ", "长文本", "🙂 "]) * rng.choice([1, 900]),
        lambda: f"See[^{rng.randint(1, 3)}].\n\n[^{rng.randint(1, 3)}]: {words(rng)}",
        lambda: "---",
        lambda: "![chart](https://example.org/chart.png)",
        lambda: "\n\n".join(words(rng, 1, 3) for _ in range(rng.choice([1, 120]))),
    ]
    return "\n\n".join(rng.choice(pieces)() for _ in range(rng.randint(1, most)))


# -- what is kept ----------------------------------------------------------------------------------------------


def all_text(blocks: list[Block]) -> str:
    return "\n".join(f"{text_in(each)}\n{all_text(below(each))}" for each in blocks)


def all_links(blocks: list[Block]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in blocks:
        found.update(links_in(each[each["type"]]))
        found += all_links(below(each))
    return found


def word_counts(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def reference(markdown: str) -> BeautifulSoup:
    """The text by the parser's own renderer: HTML as text, tables, nothing else of ours."""
    md = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("html_block")
    md.add_render_rule("html_inline", lambda _, tokens, number, options, env: escape(tokens[number].content))
    return BeautifulSoup(md.render(re.sub(r"- \[[ x]\] ", "- ", markdown)), "html.parser")


def lost_words(markdown: str, blocks: list[Block]) -> Counter[str]:
    """Words that the parser's own renderer shows and the blocks do not hold."""
    return word_counts(reference(markdown).get_text()) - word_counts(all_text(blocks))


def lost_links(markdown: str, blocks: list[Block]) -> set[str]:
    """Web addresses that the parser's own renderer links to and the blocks do not."""
    wanted = {str(a["href"]) for a in reference(markdown).find_all("a")}
    web = {url for url in wanted if url.startswith(("http://", "https://"))}
    return web - set(all_links(blocks))
