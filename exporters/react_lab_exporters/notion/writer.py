"""The page of a run, made whole: created by a plan, or brought up to date, however often that was interrupted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from react_lab_exporters.exporter import Action
from react_lab_exporters.note import Note
from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.client import MAX_OUTAGES, Body, Notion, NotionError, Unsure, backoff
from react_lab_exporters.notion.columns import BY_NAME, CONTENT_HASH, QUESTION, RUN_ID, TAGS, option, properties
from react_lab_exporters.notion.journal import Journal, Record
from react_lab_exporters.notion.plan import Send, plan, plan_appends
from react_lab_exporters.notion.reader import below, children, text_in, tree
from react_lab_exporters.notion.text import plain

LOOK_AGAIN_S = 2  # a query may lag behind a write
MAX_FILTERS = 100


@dataclass(frozen=True)
class Content:
    """What a run's page shall be."""

    run: str
    properties: Mapping[str, Any]
    blocks: Sequence[Block]
    hash: str


def content_hash(note: Note, blocks: Sequence[Block]) -> str:
    """A mark that changes with anything on the page."""
    text = json.dumps([properties(note, BY_NAME), blocks], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def text_content(columns: Mapping[str, str], run: str, title: str, tag: str, blocks: Sequence[Block]) -> Content:
    """A page that is no run: a report, a digest. `run` is what it is known by."""
    mark = hashlib.sha256(json.dumps([title, blocks]).encode()).hexdigest()[:16]
    values = {
        QUESTION.name: {"title": plain(title)[:1]},
        TAGS.name: {"multi_select": [option(tag)]},
        RUN_ID.name: {"rich_text": plain(run)},
        CONTENT_HASH.name: {"rich_text": plain(mark)},
    }
    return Content(run, {columns[name]: value for name, value in values.items() if name in columns}, blocks, mark)


def create_body(data_source: str, values: Mapping[str, Any], blocks: Sequence[Block]) -> Body:
    parent = {"type": "data_source_id", "data_source_id": data_source}
    body: Body = {"parent": parent, "properties": dict(values)}
    return {**body, "children": list(blocks)} if blocks else body


class Writer:
    """Writes pages into one data source."""

    def __init__(self, notion: Notion, journal: Journal, data_source: str, columns: Mapping[str, str]) -> None:
        self.notion = notion
        self.journal = journal
        self.data_source = data_source
        self.columns = columns

    def find(self, runs: Iterable[str]) -> dict[str, Any]:
        """The oldest page of each run that has one."""
        wanted = list(runs)
        found: dict[str, Any] = {}
        key = self.columns[RUN_ID.name]
        for start in range(0, len(wanted), MAX_FILTERS):
            filters = [{"property": key, "rich_text": {"equals": run}} for run in wanted[start : start + MAX_FILTERS]]
            query = {
                "filter": {"or": filters} if len(filters) > 1 else filters[0],
                "sorts": [{"timestamp": "created_time", "direction": "ascending"}],
            }
            for page in self.notion.pages_of("POST", f"data_sources/{self.data_source}/query", query):
                found.setdefault(run_id_of(page, key), page)
        return found

    def publish(self, content: Content, there: str | None) -> Action:
        """Create the page of a run, go on creating it, or bring it up to date.

        Args:
            content: What the page shall be.
            there: Id of the page that the database holds of this run, if the journal knows none.
        Raises:
            NotionError: it could not be done; the next call goes on from there.
        """
        record = self.journal.record(content.run)
        if record.hash == content.hash:
            return "unchanged"
        if record.begun == content.hash and (record.sent or record.open is not None):
            return self.create(content, record)
        if page := self.existing(record.page or there, content.run):
            return self.update(content, record, page)
        self.journal.note("begin", run=content.run, hash=content.hash)
        return self.create(content, record)

    def existing(self, page: str | None, run: str) -> Any:
        """The page, if there is one; a page that was deleted for good is looked for under its run."""
        if page is None:
            return None
        try:
            found = self.notion.send("GET", f"pages/{page}")
        except NotionError as error:
            if error.status != 404:
                raise
            found = self.find([run]).get(run)
        if found and found.get("in_trash"):
            raise NotionError(f"its page is in the trash of Notion; restore it there first: {found.get('url')}")
        return found

    # -- creating --------------------------------------------------------------------------------------------

    def create(self, content: Content, record: Record) -> Action:
        sends = plan(content.blocks)
        for number in range(len(sends)):
            if number not in record.sent:
                self.carry_out(content, record, sends, number)
        self.journal.note("published", run=content.run, hash=content.hash)
        return "created"

    def carry_out(self, content: Content, record: Record, sends: Sequence[Send], number: int) -> None:
        """Send one request of the plan; where it may have been sent before, only what is not there yet."""
        doubtful = record.open == number
        for attempt in range(1, MAX_OUTAGES + 1):
            try:
                if number == 0:
                    page = self.find_twice(content.run) if doubtful else None
                    page = page or self.send_create(content, sends[0])
                    made = {"page": page["id"], "url": page.get("url", ""), "ids": []}
                else:
                    parent, before, known = siblings(record, sends, number)
                    wanted = sends[number].children
                    ids = self.look(parent, before, known, wanted) if doubtful else []
                    if len(ids) < len(wanted):
                        self.journal.note("send", run=content.run, number=number)
                        ids = ids + self.append(parent, wanted[len(ids) :])
                    made = {"ids": ids}
            except Unsure as error:
                doubtful, last = True, error
                self.notion.sleep(backoff(attempt))
                continue
            self.journal.note("sent", run=content.run, number=number, **made)
            return
        raise NotionError(f"{last}, after {MAX_OUTAGES} more tries; publish again later") from last

    def send_create(self, content: Content, first: Send) -> Any:
        self.journal.note("send", run=content.run, number=0)
        body = create_body(self.data_source, content.properties, first.children)
        return self.notion.send("POST", "pages", body, repeatable=False)

    def find_twice(self, run: str) -> Any:
        """The page of a run, looked for again after a while: a query may miss what was just written."""
        if page := self.find([run]).get(run):
            return page
        self.notion.sleep(LOOK_AGAIN_S)
        return self.find([run]).get(run)

    def look(self, parent: str, before: Sequence[Block], known: Sequence[str], wanted: Sequence[Block]) -> list[str]:
        """Ids of those of the wanted blocks, from the first, that stand below the parent already.

        Args:
            parent: Page or block.
            before: Blocks that come first and whose ids nobody knows.
            known: Ids of blocks that come first.
            wanted: Blocks of the request whose fate is unknown. What else is there, the person wrote.
        """
        expected = [*before, *wanted]
        found: list[str] = []
        for there in children(self.notion, parent, since=known[-1] if known else None):
            if there["id"] not in known and len(found) < len(expected) and alike(there, expected[len(found)]):
                found.append(there["id"])
        return found[len(before) :]

    def append(self, parent: str, blocks: Sequence[Block], position: Body | None = None) -> list[str]:
        """Ids of the blocks, once they are there."""
        body: Body = {"children": list(blocks)}
        if position is not None:
            body["position"] = position
        answer = self.notion.send("PATCH", f"blocks/{parent}/children", body, repeatable=False)
        ids = [made["id"] for made in answer["results"]]
        if len(ids) != len(blocks):
            raise Unsure(f"Notion tells of {len(ids)} new blocks instead of {len(blocks)}")
        return ids

    # -- bringing up to date ---------------------------------------------------------------------------------

    def update(self, content: Content, record: Record, page: Any) -> Action:
        """Change what has changed on a page, and nothing that the person wrote."""
        for attempt in range(1, MAX_OUTAGES + 1):
            try:
                self.rewrite(page, content.blocks)
                break
            except Unsure as error:  # what there is now is read again
                last = error
                self.notion.sleep(backoff(attempt))
        else:
            raise NotionError(f"{last}, after {MAX_OUTAGES} more tries; publish again later") from last
        self.notion.send("PATCH", f"pages/{page['id']}", {"properties": dict(content.properties)})
        known = {"page": page["id"], "url": page.get("url", "")}
        self.journal.note("published", run=content.run, hash=content.hash, **known)
        return "updated"

    def rewrite(self, page: Any, blocks: Sequence[Block]) -> None:
        """Insert the blocks that are missing, then remove those of ours that are too many."""
        there = tree(self.notion, page["id"])
        places = [place for place, each in enumerate(there) if untouched(each, page["created_by"]["id"])]
        ours = [there[place] for place in places]
        compared = SequenceMatcher(None, list(map(shape, ours)), list(map(shape, blocks)), autojunk=False)
        changes = [change for change in compared.get_opcodes() if change[0] != "equal"]
        for _, old, _, new, new_end in changes:
            if new < new_end:
                if old < len(ours):
                    before = there[places[old] - 1]["id"] if places[old] else "start"
                else:
                    before = ours[-1]["id"] if ours else None
                self.insert(page["id"], blocks[new:new_end], before)
        for _, old, old_end, _, _ in changes:
            for gone in ours[old:old_end]:
                self.remove(gone["id"])

    def insert(self, page: str, blocks: Sequence[Block], before: str | None) -> None:
        """Put blocks behind another one, at the start, or (None) at the end of the page."""
        ids: list[list[str]] = []
        for send in plan_appends(blocks):
            if send.parent is None:
                ids.append(self.append(page, send.children, position(before)))
                before = ids[-1][-1] if before is not None else None
            else:
                number, place = send.parent
                ids.append(self.append(ids[number][place], send.children))

    def remove(self, block: str) -> None:
        try:
            self.notion.send("DELETE", f"blocks/{block}")
        except NotionError as error:
            if error.status != 404:  # gone already
                raise


def siblings(record: Record, sends: Sequence[Send], number: int) -> tuple[str, Sequence[Block], list[str]]:
    """Where a request appends: the parent, what comes first of unknown ids, and the known ids that come first."""
    place = sends[number].parent
    parent = record.page if place is None else record.sent[place[0]][place[1]]
    earlier = [n for n in range(1, number) if sends[n].parent == place]
    known = [made for n in earlier for made in record.sent[n]]
    if place is None:
        return parent, [] if known else sends[0].children, known
    head = below(sends[place[0]].children[place[1]])  # went along with the parent
    return parent, [] if known else head, known


def position(before: str | None) -> Body | None:
    if before is None:
        return None
    return {"type": "start"} if before == "start" else {"type": "after_block", "after_block": {"id": before}}


def run_id_of(page: Any, key: str) -> str:
    values = (value for value in page["properties"].values() if value["id"] == key)
    return "".join(item["plain_text"] for value in values for item in value["rich_text"])


# -- comparing what is there with what shall be -------------------------------------------------------------


def alike(there: Block, wanted: Block) -> bool:
    """Whether a block on the page is the wanted one, whatever Notion did to its spaces."""
    return there["type"] == wanted["type"] and text_in(there).split() == text_in(wanted).split()


def shape(block: Block) -> str:
    """All that makes two blocks the same for a reader, as a text that can be compared."""
    inner = block[block["type"]]
    links = [url.rstrip("/") for url in links_in(inner)]
    details = [inner.get(name) for name in ("language", "checked")]
    return json.dumps([block["type"], text_in(block).split(), links, details, list(map(shape, below(block)))])


def links_in(inner: Mapping[str, Any]) -> Iterator[str]:
    for items in (inner.get("rich_text", ()), *inner.get("cells", ())):
        for item in items:
            if (link := item.get("text", {}).get("link")) and link.get("url"):
                yield link["url"]


def untouched(block: Block, author: str) -> bool:
    """Whether whoever made the page wrote this block and everything in it."""
    hands = [block.get(name, {}).get("id") for name in ("created_by", "last_edited_by")]
    return set(hands) == {author} and all(untouched(each, author) for each in block.get("children", ()))
