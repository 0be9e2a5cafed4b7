r"""What models write and the parser's own plugins miss: \(…\) and \[…\] maths, <br>, rows wider than their table."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.rules_inline import StateInline


def bracket_math_plugin(md: MarkdownIt) -> None:
    r"""Maths in \(…\) and \[…\]; the plugin texmath takes quadratic time over many that never close."""
    md.inline.ruler.before("escape", "bracket_math", bracket_math)
    md.block.ruler.before("fence", "bracket_math_block", bracket_math_block, {"alt": ["paragraph", "blockquote"]})


PAIRS = {"\\(": ("\\)", "math_inline"), "\\[": ("\\]", "math_inline_double")}


def bracket_math(state: StateInline, silent: bool) -> bool:
    opening = state.src[state.pos : state.pos + 2]
    if opening not in PAIRS:
        return False
    closing, kind = PAIRS[opening]
    end = state.src.find(closing, state.pos + 2, state.posMax)
    content = state.src[state.pos + 2 : end]
    if end < 0 or not re.search(r"\w", content):  # \[\\\] is three escapes
        return False
    if not silent:
        token = state.push(kind, "math", 0)
        token.content, token.markup, token.info = content, opening, closing
    state.pos = end + 2
    return True


def bracket_math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    r"""Lines from one that begins with \[ to one that ends with \], with no blank line between them."""
    if state.is_code_block(start) or not getLine(state, start).startswith("\\["):
        return False
    for last in range(start, end):
        line = getLine(state, last).rstrip()
        inside = last == start or (state.sCount[last] >= state.blkIndent and not line.startswith("\\["))
        if not line or not inside:  # to look beyond another \[ would take quadratic time
            return False
        if line.endswith("\\]") and (last > start or len(line) > 4):
            break
    else:
        return False
    text = state.getLines(start, last + 1, state.blkIndent, False).strip()
    content = text[2:-2]
    if not re.search(r"\w", content) or "\\]" in content:
        return False
    if not silent:
        state.line = last + 1
        token = state.push("math_block", "math", 0)
        token.content, token.markup, token.map = content, "\\[", [start, state.line]
    return True


LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def line_break_plugin(md: MarkdownIt) -> None:
    """<br> breaks a line, as the only tag: tables have no other way to say it."""
    md.inline.ruler.before("autolink", "line_break", line_break)


def line_break(state: StateInline, silent: bool) -> bool:
    found = LINE_BREAK.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def wide_table_plugin(md: MarkdownIt) -> None:
    """Cells beyond the header's, which GitHub drops, are kept in `meta["extra"]` of their row."""
    md.block.ruler.at("table", wide_table, {"alt": ["paragraph", "reference"]})


def wide_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    before = len(state.tokens)
    if not table(state, start, end, silent):
        return False
    width = sum(token.type == "th_open" for token in state.tokens[before:])
    for token in state.tokens[before:]:
        if token.type == "tr_open" and token.map:
            cells = escapedSplit(getLine(state, token.map[0]).strip().removeprefix("|").removesuffix("|"))
            token.meta["extra"] = [text.strip() for text in cells[width:]]
    return True
