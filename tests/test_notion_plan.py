from math import ceil
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from react_lab_exporters.notion.blocks import Block, block, to_blocks
from react_lab_exporters.notion.plan import MAX_BYTES, Send, plan, plan_appends, size
from react_lab_exporters.notion.reader import below
from react_lab_exporters.notion.text import plain
from tests.notion_documents import document


def paragraph(text: Any = "x", children: list[Block] | None = None) -> Block:
    return block("paragraph", plain(str(text)), children or ())


def flat(count: int) -> list[Block]:
    return [paragraph(number) for number in range(count)]


def chain(depth: int) -> Block:
    return paragraph(depth, [chain(depth - 1)] if depth > 1 else [])


def table(rows: int) -> Block:
    row = {"type": "table_row", "table_row": {"cells": [plain("c")]}}
    return {"type": "table", "table": {"table_width": 1, "children": [row] * rows}}


def carried_out(sends: list[Send]) -> list[Any]:
    """The page that the requests of a plan make."""
    page: list[Any] = []
    made: list[list[Any]] = []
    for send in sends:
        target = page if send.parent is None else made[send.parent[0]][send.parent[1]][1]
        new = [copy(each) for each in send.children]
        target += new
        made.append(new)
    return page


def copy(each: Block) -> Any:
    """A block as [itself without children, children]."""
    inner = {name: value for name, value in each[each["type"]].items() if name != "children"}
    return [{"type": each["type"], each["type"]: inner}, [copy(child) for child in below(each)]]


def height(each: Block) -> int:
    return 1 + max(map(height, below(each)), default=0)


def count(each: Block) -> int:
    return 1 + sum(map(count, below(each)))


def widest(each: Block) -> int:
    return max([len(below(each)), *map(widest, below(each))])


# -- formula R, facts/notion.md section 7, written anew ------------------------------------------------------


def whole(each: Block) -> bool:
    return height(each) <= 3 and widest(each) <= 100 and count(each) <= 1000 and size(each) <= MAX_BYTES


def own(each: Block) -> int:
    """Requests under a block beyond the one that creates it."""
    children = below(each)
    if whole(each):
        return 0
    if height(each) == 2:
        return ceil(len(children) / 100) - 1
    return packs(children) + sum(map(own, children))


def packs(blocks: list[Block]) -> int:
    """Appends of at most 100 blocks side by side and 1,000 in all."""
    packs = top = total = 0
    for each in blocks:
        weight = count(each) if whole(each) else min(len(below(each)), 100) + 1 if height(each) == 2 else 1
        if packs == 0 or top == 100 or total + weight > 1000:
            packs, top, total = packs + 1, 0, 0
        top, total = top + 1, total + weight
    return packs


def formula(blocks: list[Block]) -> int:
    first = next((place for place, each in enumerate(blocks) if not whole(each)), len(blocks))
    total = head = 0
    while head < min(first, 100) and total + count(blocks[head]) <= 1000:
        total += count(blocks[head])
        head += 1
    return 1 + packs(blocks[head:]) + sum(map(own, blocks))


SHAPES = [
    ([], 1),
    (flat(100), 1),
    (flat(250), 3),
    (flat(1000), 10),
    ([chain(3) for _ in range(100)], 1),
    ([chain(8)], 7),
    ([*flat(10), chain(5), *flat(9)], 4),
    ([*flat(45), *[chain(5) for _ in range(10)], *flat(45)], 22),
    ([table(450)], 6),
    ([paragraph("toggle", flat(250))], 4),
]


@pytest.mark.parametrize(("blocks", "requests"), SHAPES)
def test_the_shapes_of_the_facts_take_the_requests_of_the_formula(blocks, requests):
    assert len(plan(blocks)) == requests
    assert formula(blocks) == requests


@pytest.mark.parametrize("blocks", [shape for shape, _ in SHAPES])
def test_a_plan_makes_the_page_block_for_block(blocks):
    assert carried_out(plan(blocks)) == [copy(each) for each in blocks]
    assert carried_out(plan_appends(blocks)) == [copy(each) for each in blocks]


@pytest.mark.parametrize("seed", range(40))
def test_a_made_up_report_takes_no_more_than_the_formula_and_every_request_is_within_the_limits(seed):
    blocks = to_blocks(document(seed)).blocks
    sends = plan(blocks)
    assert len(sends) <= formula(blocks)
    assert carried_out(sends) == [copy(each) for each in blocks]
    for send in sends:
        assert_within_limits(send)


trees = st.recursive(
    st.builds(paragraph, st.integers(0, 9)),
    lambda inner: st.builds(paragraph, st.just("n"), st.lists(inner, max_size=6)),
    max_leaves=60,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    st.lists(st.one_of(trees, st.builds(table, st.integers(1, 230)), st.builds(chain, st.integers(1, 7))), max_size=130)
)
def test_any_tree_of_blocks_is_planned_whole_and_in_no_more_than_the_formula(blocks):
    sends = plan(blocks)
    assert carried_out(sends) == [copy(each) for each in blocks]
    assert len(sends) <= formula(blocks)
    for send in sends:
        assert_within_limits(send)


def assert_within_limits(send: Send) -> None:
    assert len(send.children) <= 100
    assert sum(map(count, send.children)) <= 1000
    assert size(send.children) <= 500_000
    assert max(map(height, send.children), default=0) <= 3
    assert max(map(widest, send.children), default=0) <= 100
    assert all(below(each) for each in send.children if each["type"] == "table")


def test_children_that_go_along_with_their_parent_can_save_a_request_over_the_formula():
    blocks = [paragraph(0, [paragraph(1, flat(12)) for _ in range(90)])]
    assert (len(plan(blocks)), formula(blocks)) == (3, 4)


def test_bytes_bind_too():
    blocks = [paragraph("字" * 30_000) for _ in range(12)]
    assert len(plan(blocks)) == 3
    for send in plan(blocks):
        assert_within_limits(send)


def test_a_tree_of_a_thousand_levels_of_choice_is_planned_quickly():
    deep = chain(1)
    for _ in range(40):
        deep = paragraph("w", [deep, chain(2)])
    assert len(plan([deep])) <= formula([deep])
