"""The trace as a file on its page."""

import pytest

from react_lab.trace import Trace
from react_lab_exporters.notion import attachment
from react_lab_exporters.notion.attachment import trace_file
from react_lab_exporters.notion.exporter import NotionExporter
from tests.notion_server import uploads
from tests.notion_server.lab import Lab, changed, notion_lab, trace_of
from tests.notion_server.server import Fault
from tests.notion_server.store import PERSON, Thing
from tests.notion_server.victim import MOMENTS
from tests.test_markdown import make_trace
from tests.test_notion_publish import publish_and_die

pytestmark = pytest.mark.slow  # a server


@pytest.fixture
def lab(tmp_path):
    with notion_lab(tmp_path / "state") as lab:
        yield lab


def files(lab: Lab) -> list[Thing]:
    return [each for each in lab.server.store.things.values() if each.kind == "file_upload"]


def names(lab: Lab) -> list[str]:
    """Of the files on the page."""
    return [inner["name"] for kind, inner, _ in lab.page if kind == "file"]


def test_the_file_is_the_trace_to_the_byte_and_can_be_read_again(lab, tmp_path):
    trace = make_trace("half an emoji: \ud83d, a line\r\nand <b>")
    lab.publish(trace)
    [file] = files(lab)
    assert file.fields["data"] == trace.save(tmp_path / "saved.jsonl").read_bytes()
    path = tmp_path / "from notion.jsonl.txt"
    path.write_bytes(file.fields["data"])
    assert Trace.load(path).events == trace.events
    assert lab.page[-1][0] == "file"
    assert names(lab) == [trace_file(trace).name]
    assert names(lab)[0].endswith(".jsonl.txt")


def test_a_run_that_changed_has_its_new_file_only(lab):
    trace = trace_of("one")
    lab.publish(trace)
    [first] = names(lab)
    lab.publish(changed(trace, "two"))
    assert names(lab) == [trace_file(changed(trace, "two")).name] != [first]


def test_another_layout_of_the_same_run_sends_no_file(lab):
    trace = trace_of("one")
    lab.publish(trace)
    assert lab.publish(trace, template="experiment")[0].action == "updated"
    assert len(files(lab)) == len(names(lab)) == 1


def test_a_file_that_the_person_moved_or_described_is_not_sent_again(lab):
    trace = trace_of("one")
    lab.publish(trace)
    block = lab.server.store.alive(lab.row)[-1]
    block.edited_by = PERSON
    lab.publish(trace, template="experiment")
    assert len(files(lab)) == len(names(lab)) == 1


@pytest.mark.parametrize("refused", [2, 3, 4])
def test_where_notion_takes_no_file_the_page_is_whole_and_says_so(lab, refused):
    """Whether it refuses to make the upload, to take it, or to hang it up."""
    lab.server.faults = {refused: Fault(403)}
    trace = trace_of("one")
    [published] = lab.publish(trace)
    assert published.action == "created"
    assert "the trace is not attached: the integration may not do this" in published.details[0]
    assert "'one'" in str(lab.page)
    assert names(lab) == []
    assert lab.count(trace) == 1  # only the columns are read


def test_where_notion_takes_no_file_a_page_is_brought_up_to_date_all_the_same(lab):
    trace = trace_of("one")
    lab.publish(trace)
    lab.server.faults = {len(lab.server.log) + 5: Fault(400)}
    [published] = lab.publish(changed(trace, "two"))
    assert published.action == "updated"
    assert "the trace is not attached: Notion refuses" in published.details[0]
    assert "'two'" in str(lab.page)
    assert names(lab) == []


def test_a_page_that_is_refused_for_another_reason_gets_its_file_when_it_is_tried_again(lab):
    trace = trace_of("one")
    lab.server.faults = {4: Fault(400), 5: Fault(400)}
    assert lab.publish(trace)[0].action == "failed"
    assert lab.publish(trace)[0].details == ()
    assert len(names(lab)) == 1


def test_a_file_that_is_too_large_for_the_workspace_is_told(lab, monkeypatch):
    monkeypatch.setattr(uploads, "MAX_FILE", 100)
    [published] = lab.publish(trace_of("one"))
    assert "the trace is not attached: Notion refuses: text/plain of" in published.details[0]


def test_a_file_that_is_too_large_for_one_part_is_not_even_tried(lab, monkeypatch):
    monkeypatch.setattr(attachment, "MAX_BYTES", 100)
    [published] = lab.publish(trace_of("one"))
    assert "more than 100" in published.details[0]
    assert not [each for each in lab.server.log if each.path.startswith("file_uploads")]


def test_a_token_that_is_wrong_is_no_refusal_of_the_file(lab):
    lab.server.faults = {2: Fault(401)}
    trace = trace_of("one")
    assert lab.publish(trace)[0].action == "failed"
    assert lab.publish(trace)[0].action == "created"
    assert len(names(lab)) == 1


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_does_not_send_a_file_that_was_sent(lab, moment, number):
    trace = trace_of("one")
    publish_and_die(lab, trace, moment, number)
    lab.publish(trace)
    assert len(names(lab)) == 1
    assert [each.fields["status"] for each in files(lab)] == ["uploaded"]


@pytest.mark.parametrize("forgotten", [True, False])
def test_a_file_that_expired_meanwhile_is_sent_again(lab, monkeypatch, forgotten):
    trace = trace_of("one")
    publish_and_die(lab, trace, MOMENTS[0], 2)
    monkeypatch.setattr(attachment, "now", lambda: "3000")
    if forgotten:
        del lab.server.store.things[files(lab)[0].id]
    else:
        files(lab)[0].fields["status"] = "expired"
    lab.publish(trace)
    assert files(lab)[-1].fields["status"] == "uploaded"
    assert len(names(lab)) == 1


def test_whoever_wants_no_file_says_so(lab, monkeypatch):
    monkeypatch.setenv("NOTION_ATTACH_TRACE", "no")
    [published] = NotionExporter(lab.notion, lab.folder).publish([trace_of("one")])
    assert published.action == "created"
    assert files(lab) == []
