"""The page of a run, made whole: created by a plan, or brought up to date, however often that was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, TypeVar

from react_lab_exporters.exporter import Action
from react_lab_exporters.notion.attachment import upload
from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.client import Body, Notion, NotionError, Unsure
from react_lab_exporters.notion.columns import RUN_ID, Match
from react_lab_exporters.notion.compare import alike, shape, untouched
from react_lab_exporters.notion.content import Content, create_body
from react_lab_exporters.notion.journal import Journal, Record
from react_lab_exporters.notion.plan import Send, plan, plan_appends
from react_lab_exporters.notion.reader import below, children, tree

LOOK_AGAIN_S = 2  # a query may lag behind a write
MAX_FILTERS = 100
REFUSALS = (400, 403, 404, 413)
T = TypeVar("T")


class Writer:
    """Writes pages into one data source, whose columns it finds by their ids."""

    def __init__(self, notion: Notion, journal: Journal, data_source: str, matched: Match) -> None:
        self.notion = notion
        self.journal = journal
        self.data_source = data_source
        self.matched = matched
        self.keys = matched.ids  # what requests call the columns
        self.on_progress: Callable[[str], None] = lambda text: None

    def with_columns(self, send: Callable[[], T]) -> T:
        """Ids outlive the names of columns; where Notion refuses one, names are used from then on."""
        try:
            return send()
        except NotionError as error:
            ids = set(self.keys.values()) - {"title"}
            if self.keys is self.matched.names or not any(each in str(error) for each in ids):
                raise
        self.keys = self.matched.names
        return send()

    def keyed(self, values: Mapping[str, Any]) -> Body:
        """Values as requests call their columns; those of columns that are not there are left out."""
        return {self.keys[name]: value for name, value in values.items() if name in self.keys}

    def find(self, runs: Iterable[str]) -> dict[str, Any]:
        """The oldest page of each run that has one."""
        wanted = list(runs)
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), MAX_FILTERS):
            for page in self.rows(wanted[start : start + MAX_FILTERS]):
                found.setdefault(run_id_of(page, self.matched.ids[RUN_ID.name]), page)
        return found

    def rows(self, runs: Sequence[str]) -> list[Any]:
        """The rows of up to a hundred runs, oldest first."""

        def ask() -> list[Any]:
            filters = [{"property": self.keys[RUN_ID.name], "rich_text": {"equals": run}} for run in runs]
            query = {
                "filter": {"or": filters} if len(filters) > 1 else filters[0],
                "sorts": [{"timestamp": "created_time", "direction": "ascending"}],
            }
            return list(self.notion.pages_of("POST", f"data_sources/{self.data_source}/query", query))

        return self.with_columns(ask)

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
        if content.file and content.file.name == record.file and record.refused:
            content = replace(content, file=None)
        goes_on = record.begun == content.hash and (record.sent or record.open is not None)
        page = None if goes_on else self.existing(record.page or there, content.run)
        if not goes_on and not page:
            self.journal.note("begin", run=content.run, hash=content.hash)
        return self.with_file(content, lambda it: self.update(it, page) if page else self.create(it, record))

    def with_file(self, content: Content, write: Callable[[Content], Action]) -> Action:
        """Write a page with its file or, where Notion does not take that, without it."""
        try:
            return write(content)
        except NotionError as error:
            if content.file is None or error.status not in REFUSALS:
                raise
            refused = error
        action = write(replace(content, file=None))
        self.journal.note("refused", run=content.run, file=content.file.name, problem=str(refused))
        return action

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
        sends = plan([*content.blocks, *self.file_block(content)])
        for number in range(len(sends)):
            self.on_progress(f"{number + 1}/{len(sends)}")
            if number not in record.sent:
                self.carry_out(content, record, sends, number)
        self.journal.note("published", run=content.run, hash=content.hash)
        return "created"

    def carry_out(self, content: Content, record: Record, sends: Sequence[Send], number: int) -> None:
        made = self.notion.insist(lambda: self.send_one(content, record, sends, number))
        self.journal.note("sent", run=content.run, number=number, **made)

    def send_one(self, content: Content, record: Record, sends: Sequence[Send], number: int) -> dict[str, Any]:
        """Send one request of the plan; where it may have been sent before, only what is not there yet."""
        doubtful = record.open == number
        if number == 0:
            page = self.find_twice(content.run) if doubtful else None
            page = page or self.with_columns(lambda: self.send_create(content, sends[0]))
            return {"page": page["id"], "url": page.get("url", ""), "ids": []}
        parent, before, known = siblings(record, sends, number)
        wanted = sends[number].children
        ids = self.look(parent, before, known, wanted) if doubtful else []
        if len(ids) < len(wanted):
            self.journal.note("send", run=content.run, number=number)
            ids = ids + self.append(parent, wanted[len(ids) :])
        return {"ids": ids}

    def file_block(self, content: Content, there: Sequence[Block] = ()) -> list[Block]:
        """The block with the page's file, which is uploaded unless it is on the page."""
        if content.file is None:
            return []
        if on_page := [each for each in there if content.file.is_in(each)]:
            return on_page
        return [content.file.block(upload(self.notion, self.journal, content.run, content.file))]

    def send_create(self, content: Content, first: Send) -> Any:
        self.journal.note("send", run=content.run, number=0)
        body = create_body(self.data_source, self.keyed(content.properties), first.children)
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

    def update(self, content: Content, page: Any) -> Action:
        """Change what has changed on a page, and nothing that the person wrote."""
        self.notion.insist(lambda: self.rewrite(page, content))
        self.set_columns(page["id"], content.properties)
        known = {"page": page["id"], "url": page.get("url", "")}
        self.journal.note("published", run=content.run, hash=content.hash, **known)
        return "updated"

    def set_columns(self, page: str, values: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> None:
        """Write values by our names of the columns, and those of other columns by theirs."""

        def send() -> None:
            self.notion.send("PATCH", f"pages/{page}", {"properties": {**self.keyed(values), **(others or {})}})

        self.with_columns(send)

    def rewrite(self, page: Any, content: Content) -> None:
        """Insert the blocks that are missing, then remove those of ours that are too many."""
        there = tree(self.notion, page["id"])
        places = [place for place, each in enumerate(there) if untouched(each, page["created_by"]["id"])]
        ours = [there[place] for place in places]
        files = self.file_block(content, there)
        blocks = [*content.blocks, *(each for each in files if each in ours or each not in there)]
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
