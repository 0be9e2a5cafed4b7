"""From blocks to the fewest requests that write them: pure, so that it can be shown before anything is sent.

A request carries at most 100 blocks side by side, 1,000 in all, 500 KB, and three levels. Only the blocks on its
first level come back with their ids. So a block whose children do not all go along must stand on the first level of
an append, and what is left of its children is appended to it afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from react_lab_exporters.notion.blocks import Block, children_of, with_children

MAX_CHILDREN = 100
MAX_BLOCKS = 1000
MAX_LEVELS = 3
MAX_BYTES = 450_000  # Notion takes 500 KB; the rest is for the properties

Place = tuple[int, int]  # the block that request number [0] made at position [1]


@dataclass(frozen=True)
class Send:
    """One request: these blocks, below the page (None) or below a block that an earlier request made.

    The first of a plan creates the page; the others append.
    """

    parent: Place | None
    children: list[Block]


def plan(blocks: Sequence[Block]) -> list[Send]:
    """The requests that create a page with these blocks, in the order in which to send them."""
    planner = Planner()
    nodes = list(map(measure, blocks))
    head = planner.leading(nodes, MAX_LEVELS)
    planner.sends.append(Send(None, [whole(node) for node in nodes[:head]]))
    planner.fill(None, nodes[head:])
    return planner.sends


def plan_appends(blocks: Sequence[Block]) -> list[Send]:
    """The requests that append these blocks to a page or block that exists."""
    planner = Planner()
    planner.fill(None, list(map(measure, blocks)))
    return planner.sends


@dataclass(frozen=True, eq=False)
class Node:
    """A block and the measures of everything below it."""

    block: Block  # without its children
    children: list[Node]
    levels: int
    widest: int  # longest array of children
    count: int
    size: int  # bytes


def measure(block: Block) -> Node:
    children = list(map(measure, children_of(block)))
    alone = with_children(block, ())
    return Node(
        alone,
        children,
        levels=1 + max((child.levels for child in children), default=0),
        widest=max([len(children), *(child.widest for child in children)]),
        count=1 + sum(child.count for child in children),
        size=size(alone) + len('"children":[],') + sum(child.size for child in children),
    )


def size(body: object) -> int:
    """Bytes of a body as the client sends it, and a comma."""
    return len(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()) + 1


def whole(node: Node) -> Block:
    return with_children(node.block, list(map(whole, node.children)))


@dataclass(frozen=True)
class Cut:
    """A block as one request can carry it, and those of its children that must follow."""

    sent: Block
    count: int
    size: int
    rest: Sequence[Node] = ()


class Planner:
    """One pass; it remembers how each block is cut, since a block is looked at once for every level above it."""

    def __init__(self) -> None:
        self.sends: list[Send] = []
        self.cuts: dict[Node, Cut] = {}

    def fill(self, parent: Place | None, nodes: Sequence[Node]) -> None:
        """Plan the appends below a parent."""
        for pack in self.packs(nodes):
            number = len(self.sends)
            self.sends.append(Send(parent, [cut.sent for cut in pack]))
            for position, cut in enumerate(pack):
                self.fill((number, position), cut.rest)

    def packs(self, nodes: Iterable[Node]) -> Iterator[list[Cut]]:
        """The blocks dealt out to requests, each as full as can be."""
        pack: list[Cut] = []
        count = size = 0
        for cut in map(self.cut, nodes):
            if pack and (len(pack) == MAX_CHILDREN or count + cut.count > MAX_BLOCKS or size + cut.size > MAX_BYTES):
                yield pack
                pack, count, size = [], 0, 0
            pack.append(cut)
            count += cut.count
            size += cut.size
        if pack:
            yield pack

    def cut(self, node: Node) -> Cut:
        if node not in self.cuts:
            self.cuts[node] = self.make_cut(node)
        return self.cuts[node]

    def make_cut(self, node: Node) -> Cut:
        """Send a block with all its children if they fit, else with as many as save a request."""
        if fits(node, MAX_LEVELS):
            return Cut(whole(node), node.count, node.size)
        own = size(node.block)
        head = self.leading(node.children, MAX_LEVELS - 1, count=1, size=own)
        is_table = node.block["type"] == "table"  # which can't be made without a row
        if not is_table and self.requests(node.children[head:]) == self.requests(node.children):
            head = 0
        sent = node.children[:head]
        return Cut(
            with_children(node.block, list(map(whole, sent))),
            1 + sum(child.count for child in sent),
            own + sum(child.size for child in sent),
            node.children[head:],
        )

    def requests(self, nodes: Sequence[Node]) -> int:
        """How many requests append these blocks and everything below them."""
        return sum(1 + sum(self.requests(cut.rest) for cut in pack) for pack in self.packs(nodes))

    def leading(self, nodes: Sequence[Node], levels: int, count: int = 0, size: int = 0) -> int:
        """How many of the blocks, from the first, go whole into a request that holds `count` blocks already."""
        for position, node in enumerate(nodes[:MAX_CHILDREN]):
            count += node.count
            size += node.size
            if not fits(node, levels) or count > MAX_BLOCKS or size > MAX_BYTES:
                return position
        return min(len(nodes), MAX_CHILDREN)


def fits(node: Node, levels: int) -> bool:
    """Whether a block with all below it goes into one request, at a place with that many levels left."""
    return node.levels <= levels and node.widest <= MAX_CHILDREN and node.count <= MAX_BLOCKS and node.size <= MAX_BYTES
