"""`react-lab publish --to notion`: each run a row and a page, however often it is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab.trace import Trace
from react_lab_exporters.document import Template
from react_lab_exporters.exporter import Published
from react_lab_exporters.note import Note, note_from_trace
from react_lab_exporters.notion.client import Notion, NotionError
from react_lab_exporters.notion.columns import match_columns, properties
from react_lab_exporters.notion.database import chosen, home, journal_path, open_data_source, remember
from react_lab_exporters.notion.journal import Journal, open_journal
from react_lab_exporters.notion.page import note_blocks
from react_lab_exporters.notion.preview import Preview
from react_lab_exporters.notion.writer import Content, Writer, content_hash


class NotionExporter:
    """One row and page a run in a database of Notion.

    A run that has not changed since is not sent again; one that has changed updates its page, and what the person
    wrote there, or in other columns, stays. A page that fails does not keep the others from being published.

    Args:
        notion: Whom to ask; by default the integration whose token is in `NOTION_TOKEN`.
        folder: Where the journals are; `database.home()` by default.
    """

    name = "notion"

    def __init__(self, notion: Notion | None = None, folder: Path | None = None) -> None:
        self.notion = notion
        self.folder = home() if folder is None else folder

    def publish(
        self, traces: Iterable[Trace], *, to: str = "", dry_run: bool = False, template: Template = "research"
    ) -> Iterator[Published]:
        """Publish the runs, one whenever the next is asked for.

        Args:
            traces: The runs.
            to: Address or id of the database; by default `NOTION_DATABASE`, else the one that was set up.
            dry_run: Only tell which requests would be sent, and write a preview of the page; no network is used.
            template: How the page is laid out.
        Raises:
            ConfigurationError: no token or database is configured, or the database has no column for the run's id.
            NotionError: the database can't be opened.
        """
        notes = list(map(note_from_trace, traces))
        if dry_run:
            yield from (Preview(note, template).published() for note in notes)
            return
        with self.connection() as notion, open_writer(notion, to, self.folder) as (writer, warnings):
            yield from publish_all(writer, notes, template, warnings)

    @contextmanager
    def connection(self) -> Iterator[Notion]:
        if self.notion is not None:
            yield self.notion
            return
        with Notion.from_environment() as notion:
            yield notion


@contextmanager
def open_writer(notion: Notion, to: str = "", folder: Path | None = None) -> Iterator[tuple[Writer, tuple[str, ...]]]:
    """What writes into a database, with the journal locked, and what the database lacks.

    Raises:
        ConfigurationError: no database is set up, or it has no column for the run's id.
        NotionError: it can't be opened.
    """
    folder = home() if folder is None else folder
    given = to or chosen(folder)
    if not given:
        raise ConfigurationError("no database is set up: run `react-lab notion setup`, or see `--dry-run`")
    source = open_data_source(notion, given)
    with open_journal(journal_path(folder, source.id)) as journal:
        matched = match_columns(source.schema, journal.columns)
        matched.require_run_id()
        remember(journal, matched)
        yield Writer(notion, journal, source.id, matched.ids), matched.warnings


def publish_all(
    writer: Writer, notes: list[Note], template: Template, warnings: tuple[str, ...] = ()
) -> Iterator[Published]:
    there = writer.find(note.run_id for note in notes if unknown(writer.journal, note))
    for note in notes:
        rendered = note_blocks(note, template)
        mark = content_hash(note, rendered.blocks)
        content = Content(note.run_id, properties(note, writer.columns, mark), rendered.blocks, mark)
        record = writer.journal.record(note.run_id)
        try:
            action = writer.publish(content, there.get(note.run_id, {}).get("id"))
        except NotionError as error:
            target = record.url or note.title
            yield Published(target, "failed", (str(error), *warnings))
        else:
            yield Published(record.url, action, (*warnings, *rendered.warnings) if action != "unchanged" else ())


def unknown(journal: Journal, note: Note) -> bool:
    """Whether only Notion can tell if the run has a page."""
    record = journal.record(note.run_id)
    return not record.page and not record.begun
