"""Markdown, as models and people write it, to Notion's blocks: every word and link kept, or named in a warning.

markdown-it-py reads; this renders. Nesting and arrays are as deep and long as the text wants; the plan deals
them out to requests. A single block never exceeds what Notion takes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from react_lab.trace import URL, find_urls
from react_lab_exporters.notion.languages import notion_language
from react_lab_exporters.notion.syntax import bracket_math_plugin, line_break_plugin, wide_table_plugin
from react_lab_exporters.notion.text import (
    MAX_EQUATION,
    MAX_ITEMS,
    MAX_TEXT_BYTES,
    Item,
    Run,
    clean,
    in_blocks,
    is_address,
    plain,
    rich_text,
    units,
)

Block = dict[str, Any]

STYLES = {"em": "italic", "strong": "bold", "s": "strikethrough"}
MAX_NESTING = 60  # as the parser counts: a list in a list is two deeper
TASK = re.compile(r"\[([ xX])\]\s+")


@dataclass(frozen=True)
class Rendered:
    blocks: list[Block]
    warnings: list[str]


def to_blocks(markdown: str, *, embed_images: bool = False) -> Rendered:
    """Render a text.

    Args:
        markdown: What a model or a person wrote.
        embed_images: Show images instead of linking to them. Whoever opens the page then asks the image's server.
    """
    renderer = Renderer(embed_images)
    blocks = renderer.render(markdown)
    return Rendered(blocks, list(dict.fromkeys(renderer.warnings)))


# -- blocks by kind ------------------------------------------------------------------------------------------


def block(kind: str, content: Sequence[Item] = (), children: Sequence[Block] = (), **fields: Any) -> Block:
    """A block that holds text."""
    inner = {"rich_text": list(content), **fields}
    if children:
        inner["children"] = list(children)
    return {"type": kind, kind: inner}


def text_blocks(kind: str, items: list[Item], children: Sequence[Block] = (), **fields: Any) -> Iterator[Block]:
    """A block with the text, or several where it is too long for one; children belong to the first."""
    first, *rest = in_blocks(items)
    yield block(kind, first, children, **fields)
    for more in rest:
        yield block("paragraph" if kind in ITEMS else kind, more, **({} if kind in ITEMS else fields))


ITEMS = ("bulleted_list_item", "numbered_list_item", "to_do")


def paragraphs(text: str) -> list[Block]:
    return list(text_blocks("paragraph", plain(text)))


def code_blocks(text: str, language: str = "plain text", caption: str = "") -> list[Block]:
    fields = {"caption": plain(caption)} if caption else {}
    return list(text_blocks("code", plain(text), language=language, **fields))


def children_of(item: Block) -> list[Block]:
    children: list[Block] = item[item["type"]].get("children", [])
    return children


def with_children(item: Block, children: Sequence[Block]) -> Block:
    """The block with these children instead of its own."""
    kind = item["type"]
    inner = {name: value for name, value in item[kind].items() if name != "children"}
    return {**item, kind: {**inner, "children": list(children)} if children else inner}


# -- the parser ----------------------------------------------------------------------------------------------


@cache
def parser() -> MarkdownIt:
    """CommonMark with what GitHub adds, maths and footnotes; HTML is text, and nothing inside a tag is Markdown."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    md.use(footnote_plugin).use(amsmath_plugin)
    md.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    md.use(bracket_math_plugin).use(line_break_plugin).use(wide_table_plugin)
    # A note stays where it was written, also one that nothing refers to.
    return md.disable(["footnote_tail", "footnote_inline", "html_block"])


@dataclass
class Renderer:
    """One pass over a text, and the warnings of it."""

    embed_images: bool = False
    warnings: list[str] = field(default_factory=list)
    linked: set[str] = field(default_factory=set)
    env: dict[str, Any] = field(default_factory=dict)  # the parser's: addresses and footnotes by their label

    def render(self, markdown: str) -> list[Block]:
        source = clean(markdown)
        tokens = parser().parse(source, self.env)
        if max((t.level for token in tokens for t in (token, *(token.children or ()))), default=0) >= MAX_NESTING - 2:
            self.warnings.append("a text that nests too deeply is shown as its source")
            return code_blocks(source, "markdown")
        blocks = self.all(SyntaxTreeNode(tokens).children)
        unused = [ref["href"] for ref in self.env.get("references", {}).values() if ref["href"] not in self.linked]
        for url in dict.fromkeys(unused):  # models end with a list of "[1]: https://…" that nothing refers to
            blocks += text_blocks("paragraph", rich_text(self.link([Run(url)], url)))
        return blocks

    def all(self, nodes: Iterable[SyntaxTreeNode]) -> list[Block]:
        return [made for node in nodes for made in self.one(node)]

    def one(self, node: SyntaxTreeNode) -> Iterator[Block]:
        """The blocks of a block-level node."""
        match node.type:
            case "paragraph":
                yield from self.paragraph(node)
            case "heading":
                yield from self.heading(node)
            case "bullet_list" | "ordered_list":
                if node.attrs.get("start", 1) != 1:
                    self.warnings.append(f"a list that starts at {node.attrs['start']} starts at 1 in Notion")
                for item in node.children:
                    yield from self.item(item, ordered=node.type == "ordered_list")
            case "blockquote":
                yield from self.with_first_paragraph("quote", node.children)
            case "fence":
                yield from self.fence(node)
            case "code_block":
                yield from code_blocks(node.content.removesuffix("\n"))
            case "math_block" | "amsmath":
                yield from self.equation(node.content.strip())
            case "hr":
                yield {"type": "divider", "divider": {}}
            case "table":
                yield from self.table(node)
            case "footnote_reference":
                mark = Run(f"[{node.meta['label']}] ")
                yield from self.with_first_paragraph("paragraph", node.children, mark)
            case other:
                raise AssertionError(f"the parser gave a {other!r}, which no rule here makes")

    def paragraph(self, node: SyntaxTreeNode) -> Iterator[Block]:
        [inline] = node.children
        match inline.children:
            case [SyntaxTreeNode(type="image") as image] if self.embed_images and is_address(str(image.attrs["src"])):
                caption = plain(text_in(self.runs(image)))[:MAX_ITEMS]
                yield {"type": "image", "image": {"external": {"url": image.attrs["src"]}, "caption": caption}}
            case [SyntaxTreeNode(type="math_inline_double") as equation]:
                yield from self.equation(equation.content.strip())
            case _:
                yield from text_blocks("paragraph", rich_text(self.runs(inline)))

    def heading(self, node: SyntaxTreeNode) -> Iterator[Block]:
        level = int(node.tag[1])
        if level > 4:
            self.warnings.append(f"a heading of level {level} has level 4 in Notion")
        yield from text_blocks(f"heading_{min(level, 4)}", rich_text(self.runs(*node.children)))

    def item(self, node: SyntaxTreeNode, *, ordered: bool) -> Iterator[Block]:
        paragraph = node.children[0] if node.children and node.children[0].type == "paragraph" else None
        task = TASK.match(paragraph.children[0].content) if paragraph else None
        if paragraph and task and not ordered:
            runs = strip_start(self.runs(paragraph.children[0]), len(task[0]))
            yield from self.composed("to_do", runs, node.children[1:], checked=task[1] in "xX")
        else:
            kind = "numbered_list_item" if ordered else "bulleted_list_item"
            yield from self.with_first_paragraph(kind, node.children)

    def with_first_paragraph(self, kind: str, nodes: list[SyntaxTreeNode], *mark: Run) -> Iterator[Block]:
        """A block that takes its text from the paragraph that its content begins with, if it does."""
        if nodes and nodes[0].type == "paragraph":
            yield from self.composed(kind, [*mark, *self.runs(nodes[0].children[0])], nodes[1:])
        else:
            yield from self.composed(kind, list(mark), nodes)

    def composed(self, kind: str, runs: list[Run], nodes: list[SyntaxTreeNode], **fields: Any) -> Iterator[Block]:
        first, *rest = text_blocks(kind, rich_text(runs), **fields)
        yield with_children(first, [*rest, *self.all(nodes)])

    def fence(self, node: SyntaxTreeNode) -> Iterator[Block]:
        info = unescapeAll(node.info).strip()
        language = notion_language(info)
        caption = "" if language else info  # a language that Notion does not know is still told
        yield from code_blocks(node.content.removesuffix("\n"), language or "plain text", caption)

    def equation(self, expression: str) -> list[Block]:
        if expression and units(expression) <= MAX_EQUATION:
            return [{"type": "equation", "equation": {"expression": expression}}]
        if expression:
            self.warnings.append(f"an equation of {units(expression)} characters is shown as LaTeX code")
        return code_blocks(expression, "latex")

    def table(self, node: SyntaxTreeNode) -> Iterator[Block]:
        rows = [[self.runs(*cell.children) for cell in row.children] for part in node.children for row in part.children]
        tokens = [row for part in node.children for row in part.children]
        for row, token in zip(rows, tokens, strict=True):
            row += [self.inline(text) for text in token.meta.get("extra", ())]
        width = min(max(map(len, rows)), MAX_ITEMS)
        longest = max(sum(len(run.text.encode()) for cell in row for run in cell) for row in rows)
        if longest > MAX_TEXT_BYTES:
            self.warnings.append("a table with a row of over 100 KB is shown as text")
            yield from paragraphs("\n".join(" | ".join(text_in(cell) for cell in row) for row in rows))
            return
        cells = [self.cells(row, width) for row in rows]
        fields = {"table_width": width, "has_column_header": True, "has_row_header": False}
        table_rows = [{"type": "table_row", "table_row": {"cells": row}} for row in cells]
        yield {"type": "table", "table": {**fields, "children": table_rows}}

    def cells(self, row: list[list[Run]], width: int) -> list[list[Item]]:
        """A row as wide as the table; what is too wide even for Notion is joined in the last cell."""
        whole = row[:width] + [[] for _ in range(width - len(row))]
        whole[-1] = [run for cell in (whole[-1], *row[width:]) for run in (Run(" | "), *cell)][1:]
        return [self.cell(runs) for runs in whole]

    def cell(self, runs: list[Run]) -> list[Item]:
        items = rich_text(runs)
        if len(items) <= MAX_ITEMS:
            return items
        self.warnings.append("a table cell with over 100 changes of style is shown without them")
        return plain(text_in(runs))  # a row has at most 100 KB, so this has few items

    # -- text inside a block ---------------------------------------------------------------------------------

    def inline(self, text: str) -> list[Run]:
        return self.runs(SyntaxTreeNode(parser().parseInline(text, self.env)).children[0])

    def runs(self, node: SyntaxTreeNode) -> list[Run]:
        return self.inside(node, frozenset())

    def inside(self, node: SyntaxTreeNode, styles: frozenset[str]) -> list[Run]:
        return [run for child in node.children for run in self.styled(child, styles)]

    def styled(self, node: SyntaxTreeNode, styles: frozenset[str]) -> list[Run]:
        """The runs of an inline node."""
        match node.type:
            case "text" | "html_inline":
                return with_addresses(node.content, styles)
            case "softbreak" | "hardbreak":
                return [Run("\n", styles)]
            case "code_inline":
                return [Run(node.content, styles | {"code"})]
            case "math_inline" | "math_inline_double":
                return [self.inline_equation(node, styles)]
            case "footnote_ref":
                return [Run(f"[{node.meta['label']}]", styles)]
            case "link":
                return self.link(self.inside(node, styles), str(node.attrs["href"]), styles)
            case "image":
                self.warnings.append("an image is shown as a link to it")
                return self.link(self.inside(node, styles), str(node.attrs["src"]), styles)
            case "em" | "strong" | "s":
                return self.inside(node, styles | {STYLES[node.type]})
            case other:
                raise AssertionError(f"the parser gave a {other!r}, which no rule here makes")

    def link(self, runs: list[Run], url: str, styles: frozenset[str] = frozenset()) -> list[Run]:
        """The runs as a link; where Notion would refuse the address, they are plain text."""
        self.linked.add(url)
        if not any(run.text for run in runs):
            runs = [Run(url, styles)]
        if is_address(url):
            return [Run(run.text, run.styles, url, run.equation) for run in runs]
        self.warnings.append(f"not a web address, so no link: {url[:100]}")
        return runs

    def inline_equation(self, node: SyntaxTreeNode, styles: frozenset[str]) -> Run:
        if units(node.content.strip()) in range(1, MAX_EQUATION + 1):
            return Run(node.content.strip(), styles, equation=True)
        self.warnings.append(f"an equation of {units(node.content)} characters is shown as LaTeX code")
        return Run(f"{node.markup}{node.content}{node.info or node.markup}", styles | {"code"})


def with_addresses(text: str, styles: frozenset[str]) -> list[Run]:
    """A text whose bare web addresses are links."""
    runs, done = [], 0
    for found in URL.finditer(text):
        [url] = find_urls(found[0])
        if is_address(url):
            runs += [Run(text[done : found.start()], styles), Run(url, styles, url)]
            done = found.start() + len(url)
    return [run for run in (*runs, Run(text[done:], styles)) if run.text]


def text_in(runs: Iterable[Run]) -> str:
    return "".join(run.text for run in runs)


def strip_start(runs: list[Run], count: int) -> list[Run]:
    """The runs without their first characters."""
    kept = []
    for run in runs:
        kept.append(Run(run.text[count:], run.styles, run.url, run.equation))
        count = max(0, count - len(run.text))
    return kept
