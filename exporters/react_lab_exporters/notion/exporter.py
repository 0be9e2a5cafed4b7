"""`react-lab publish --to notion`: each run a row and a page, however often it is published."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab.trace import Trace
from react_lab_exporters.document import Template
from react_lab_exporters.exporter import Published
from react_lab_exporters.note import note_from_trace
from react_lab_exporters.notion.attachment import Attachment, trace_file
from react_lab_exporters.notion.client import Notion, NotionError
from react_lab_exporters.notion.columns import match_columns, properties
from react_lab_exporters.notion.content import Content, content_hash
from react_lab_exporters.notion.database import chosen, default_folder, id_in, journal_path, open_data_source, remember
from react_lab_exporters.notion.journal import Journal, Record, open_journal
from react_lab_exporters.notion.page import note_blocks
from react_lab_exporters.notion.preview import Preview
from react_lab_exporters.notion.writer import Writer


class NotionExporter:
    """One row and page a run in a database of Notion.

    A run that has not changed since is not sent again; one that has changed updates its page, and what the person
    wrote there, or in other columns, stays. A page that fails does not keep the others from being published.

    Args:
        notion: Whom to ask; by default the integration whose token is in `NOTION_TOKEN`.
        folder: Where the journals are; `database.default_folder()` by default.
        attach_trace: Whether the run's file hangs on its page; by default, unless `NOTION_ATTACH_TRACE` is "no".
    """

    name = "notion"

    def __init__(
        self, notion: Notion | None = None, folder: Path | None = None, *, attach_trace: bool | None = None
    ) -> None:
        self.notion = notion
        self.folder = default_folder() if folder is None else folder
        wanted = os.environ.get("NOTION_ATTACH_TRACE", "yes") != "no"
        self.attach_trace = wanted if attach_trace is None else attach_trace
        self.on_progress: Callable[[str], None] = lambda text: None

    def publish(
        self, traces: Iterable[Trace], *, to: str = "", dry_run: bool = False, template: Template = "research"
    ) -> Iterator[Published]:
        """Publish the runs, one whenever the next is asked for.

        Args:
            traces: The runs.
            to: Address or id of the database; by default `NOTION_DATABASE`, else the one that was set up.
            dry_run: Only tell which requests would be sent, and show the page; no network is used.
            template: How the page is laid out.
        Raises:
            ConfigurationError: no token or database is configured, or the database has no column for the run's id.
            NotionError: the database can't be opened.
        """
        if dry_run:
            known = self.known(to)
            for trace in traces:
                record = known.get(trace.id, Record())
                yield Preview(note_from_trace(trace), template, self.file(trace), record).published()
            return
        with self.connection() as notion, open_writer(notion, to, self.folder) as (writer, warnings):
            writer.on_progress = self.on_progress
            yield from self.publish_all(list(traces), writer, template, warnings)

    def publish_all(
        self, traces: Sequence[Trace], writer: Writer, template: Template, warnings: tuple[str, ...]
    ) -> Iterator[Published]:
        there = writer.find(trace.id for trace in traces if unknown(writer.journal, trace.id))
        for trace in traces:
            note, file = note_from_trace(trace), self.file(trace)
            rendered = note_blocks(note, template)
            mark = content_hash(note, rendered.blocks, file)
            content = Content(note.run_id, properties(note, mark), rendered.blocks, mark, file)
            record = writer.journal.record(note.run_id)
            try:
                action = writer.publish(content, there.get(note.run_id, {}).get("id"))
            except NotionError as error:
                yield Published(record.url or note.title, "failed", (str(error), *warnings))
            else:
                told = (*warnings, *rendered.warnings, *not_attached(record, file))
                yield Published(record.url, action, told if action != "unchanged" else ())

    def file(self, trace: Trace) -> Attachment | None:
        return trace_file(trace) if self.attach_trace else None

    def known(self, to: str) -> dict[str, Record]:
        """What the journal knows of each run, by the run's id."""
        given = to or chosen(self.folder)
        return Journal(journal_path(self.folder, id_in(given))).records if given else {}

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
    folder = default_folder() if folder is None else folder
    given = to or chosen(folder)
    if not given:
        raise ConfigurationError("no database is set up: run `react-lab notion setup`, or see `--dry-run`")
    source = open_data_source(notion, given)
    with open_journal(journal_path(folder, source.id)) as journal:
        matched = match_columns(source.schema, journal.columns)
        matched.require_run_id()
        remember(journal, matched)
        yield Writer(notion, journal, source.id, matched), matched.warnings


def not_attached(record: Record, file: Attachment | None) -> Iterator[str]:
    if file and file.name == record.file and record.refused:
        yield f"the trace is not attached: {record.refused}"


def unknown(journal: Journal, run: str) -> bool:
    """Whether only Notion can tell if the run has a page."""
    record = journal.record(run)
    return not record.page and not record.begun
