import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from react_lab.errors import ConfigurationError
from react_lab.trace import Trace
from react_lab_exporters.exporter import Exporter
from react_lab_exporters.note import note_from_trace
from react_lab_exporters.notion import writer
from react_lab_exporters.notion.attachment import trace_file
from react_lab_exporters.notion.database import setup
from react_lab_exporters.notion.exporter import NotionExporter
from react_lab_exporters.notion.journal import Journal, open_journal
from react_lab_exporters.notion.plan import plan
from react_lab_exporters.notion.preview import Preview
from tests.notion_server.checks import utf16
from tests.notion_server.lab import FORTY, FOUR, SIX, UPLOAD, Lab, changed, notion_lab, trace_of
from tests.notion_server.server import Fault
from tests.notion_server.store import PERSON
from tests.notion_server.victim import MOMENTS, arm
from tests.test_markdown import make_trace

pytestmark = pytest.mark.slow  # a server, faults and waits


@pytest.fixture
def lab(tmp_path):
    with notion_lab(tmp_path / "state") as lab:
        yield lab


def paragraph(text: str) -> dict[str, Any]:
    return {"type": "paragraph", "paragraph": {"rich_text": [{"type": "text", "text": {"content": text}}]}}


def requests_for(trace: Trace) -> int:
    return len(plan(Preview(note_from_trace(trace), file=trace_file(trace)).blocks))


# -- one run -------------------------------------------------------------------------------------------------


def test_a_run_becomes_a_row_and_a_page(lab):
    trace = make_trace(answer="It is *that*.")
    [published] = lab.publish(trace)
    assert published.action == "created"
    assert published.target == lab.server.store.show(lab.row)["url"]
    values = lab.values()
    assert values["Question"] == "What is it?"
    assert (values["Answer"], values["Status"], values["Model"]) == ("It is *that*.", "answered", "scripted")
    assert (values["Tokens in"], values["Tokens out"], values["Sources"]) == (100, 20, 1)
    assert (values["Run ID"], values["Tags"], values["Error"]) == (trace.id, ["react-lab"], None)
    assert values["Started"] == trace.run["started_at"]
    kinds = [kind for kind, _, _ in lab.page]
    assert kinds == [
        "heading_2",
        "paragraph",
        "heading_2",
        "toggle",
        "heading_2",
        "bulleted_list_item",
        "heading_2",
        "table",
        "toggle",
        "toggle",
        "file",
    ]


def test_tokens_that_nobody_counted_stay_empty(lab):
    lab.publish(trace_of("42"))
    assert lab.values()["Tokens in"] is None


@pytest.mark.parametrize(("answer", "requests"), [("42", 1), (FOUR, 4), (SIX, 6), (FORTY, 40)])
def test_a_run_takes_the_requests_of_its_plan(lab, answer, requests):
    trace = trace_of(answer)
    lab.publish(trace)
    assert requests_for(trace) == requests
    assert len(lab.server.writes) == UPLOAD + requests
    assert len(lab.server.log) == UPLOAD + requests + 2  # the columns are read, and the run is looked for


def test_a_run_published_again_sends_nothing(lab):
    trace = trace_of("42")
    lab.publish(trace)
    assert lab.publish(trace)[0].action == "unchanged"
    assert lab.count(trace) == 1  # the columns are read
    assert len(lab.rows) == 1


def test_a_run_published_from_another_computer_is_found_by_its_id(lab, tmp_path):
    trace = trace_of("42")
    lab.publish(trace)
    elsewhere = NotionExporter(lab.notion, tmp_path / "elsewhere")
    [published] = elsewhere.publish([trace], to=lab.source.id)
    assert published.action == "updated"
    assert len(lab.rows) == 1
    assert [each.method for each in lab.server.writes[UPLOAD + 1 :]] == ["PATCH"]  # its properties; the rest is there


def test_the_experiment_sheet_is_a_page_too(lab):
    lab.publish(make_trace(), template="experiment")
    assert [kind for kind, _, _ in lab.page].count("heading_2") == 9


def test_a_warning_is_told(lab):
    assert lab.publish(trace_of("[x](a.md)"))[0].details == ("not a web address, so no link: a.md",)


def test_what_is_not_configured_is_told(lab, tmp_path):
    exporter: Exporter = NotionExporter(folder=tmp_path / "nothing")
    assert exporter.name == "notion"
    with pytest.raises(ConfigurationError, match="create an integration"):
        list(exporter.publish([trace_of("42")]))
    with pytest.raises(ConfigurationError, match="no database is set up: run `react-lab notion setup`"):
        list(NotionExporter(lab.notion, tmp_path / "nothing").publish([trace_of("42")]))


def test_long_values_are_cut_to_what_a_column_holds(lab):
    trace = trace_of("🙂" * 3000)
    trace.run["model"] = "a,b" + "x" * 200
    lab.publish(trace)
    assert 1990 < utf16(lab.values()["Answer"]) <= 2000
    assert utf16(lab.values()["Model"]) <= 100
    assert "," not in lab.values()["Model"]


# -- a run that changed --------------------------------------------------------------------------------------


def test_a_run_that_changed_updates_its_page_and_its_columns(lab):
    trace = trace_of("one\n\ntwo\n\nthree")
    lab.publish(trace)
    page = lab.row.id
    [published] = lab.publish(changed(trace, "one\n\ntwo and a half\n\nthree\n\nfour"))
    assert (published.action, lab.row.id) == ("updated", page)
    assert lab.values()["Answer"].startswith("one\n\ntwo and a half")
    texts = [inner["rich_text"][0]["text"]["content"] for kind, inner, _ in lab.page if kind == "paragraph"]
    assert [kind for kind, _, _ in lab.page].count("file") == 1
    assert texts == ["one", "two and a half", "three", "four"]


def test_only_what_changed_is_written(lab):
    trace = trace_of("\n\n".join(f"p{n}" for n in range(150)))
    lab.publish(trace, attach_trace=False)
    lab.server.log.clear()
    lab.publish(changed(trace, "\n\n".join(f"p{n}" for n in range(150) if n != 70)), attach_trace=False)
    assert [(each.method, each.path.split("/")[0]) for each in lab.server.writes] == [
        ("DELETE", "blocks"),
        ("PATCH", "pages"),
    ]


def test_what_the_person_wrote_stays(lab):
    trace = trace_of("one\n\n- list\n  - inner")
    lab.publish(trace)
    store = lab.server.store
    ours = store.alive(lab.row)
    store.append(lab.row, [paragraph("mine, first")], {"type": "start"}, by=PERSON)
    store.append(
        lab.row, [paragraph("mine, between")], {"type": "after_block", "after_block": {"id": ours[1].id}}, by=PERSON
    )
    store.append(lab.row, [paragraph("mine, last")], by=PERSON)
    store.append(ours[2], [paragraph("mine, inside")], by=PERSON)
    lab.source.fields["properties"]["My rating"] = {
        "id": "mine",
        "name": "My rating",
        "description": None,
        "type": "number",
        "number": {"format": "number"},
    }
    lab.row.fields["properties"]["My rating"] = 5
    lab.publish(changed(trace, "another"))
    text = str(lab.page)
    for mine in ("first", "between", "last", "inside"):
        assert text.count(f"mine, {mine}") == 1
    assert "'another'" in text
    assert "'one'" not in text
    assert lab.values()["My rating"] == 5


def test_a_block_that_the_person_edited_stays(lab):
    trace = trace_of("one\n\ntwo")
    lab.publish(trace)
    edited = lab.server.store.alive(lab.row)[1]
    edited.fields["paragraph"]["rich_text"][0]["text"]["content"] = "one, as I see it"
    edited.edited_by = PERSON
    lab.publish(changed(trace, "three"))
    assert "one, as I see it" in str(lab.page)
    assert "'two'" not in str(lab.page)


def test_a_page_in_the_trash_is_not_written_to_and_says_so(lab):
    trace = trace_of("one")
    lab.publish(trace)
    lab.row.in_trash = True
    [published] = lab.publish(changed(trace, "two"))
    assert published.action == "failed"
    assert "restore it there first" in published.details[0]


def test_a_page_that_was_deleted_for_good_is_made_anew(lab):
    trace = trace_of("one")
    lab.publish(trace)
    del lab.server.store.things[lab.row.id]
    assert lab.publish(changed(trace, "two"))[0].action == "created"
    assert "'two'" in str(lab.page)


# -- many runs -----------------------------------------------------------------------------------------------


def test_many_runs_are_looked_for_at_once(lab, monkeypatch):
    monkeypatch.setattr(writer, "MAX_FILTERS", 5)
    traces = [trace_of(f"answer {n}") for n in range(12)]
    assert lab.count(*traces) == 1 + 3 + 12 * (UPLOAD + 1)
    assert lab.count(*traces) == 1
    assert len(lab.rows) == 12


def test_a_page_that_fails_does_not_stop_the_others_and_only_that_one_is_tried_again(lab):
    traces = [trace_of(f"answer {n}") for n in range(3)]
    lab.server.faults = {7: Fault(400), 8: Fault(400)}  # when the second page is made, with its file and without
    published = lab.publish(*traces)
    assert [each.action for each in published] == ["created", "failed", "created"]
    assert "HTTP 400" in published[1].details[0]
    before = len(lab.server.writes)
    assert [each.action for each in lab.publish(*traces)] == ["unchanged", "created", "unchanged"]
    assert len(lab.server.writes) == before + 1  # its trace is there already
    assert len(lab.rows) == 3


def test_two_databases_have_a_row_each(lab):
    trace = trace_of("42")
    lab.publish(trace)
    list(setup(lab.notion, parent=lab.server.store.home.id, folder=lab.folder))
    assert lab.publish(trace)[0].action == "created"
    rows = [each for each in lab.server.store.things.values() if "data_source_id" in each.parent]
    assert len(rows) == 2


# Pages are the same only of the same run, since its id and its time stand on them.
RUN = trace_of(FOUR)
SHORT = trace_of("one\n\ntwo")
LONGER = changed(SHORT, f"one\n\n{FOUR}\n\nthree")


@pytest.fixture(scope="module")
def calm_pages(tmp_path_factory):
    """The page of a run that was published, and of one that was updated, in good weather."""
    with notion_lab(tmp_path_factory.mktemp("calm") / "created") as lab:
        lab.publish(RUN)
        created = lab.page
    with notion_lab(tmp_path_factory.mktemp("calm") / "updated") as lab:
        lab.publish(SHORT)
        lab.publish(LONGER)
        return created, lab.page


# -- the weather ---------------------------------------------------------------------------------------------

WEATHER = {
    "429": Fault(429, retry_after="65"),
    "529": Fault(529),
    "500 before": Fault(500),
    "500 after": Fault(500, after=True),
    "502 as a page of a proxy": Fault(502, after=True, html=True),
    "503 before": Fault(503),
    "503 after": Fault(503, after=True),
    "504 after": Fault(504, after=True),
    "409 before": Fault(409),
    "drop before": Fault(),
    "drop after": Fault(after=True),
    "hang": Fault(504, after=True, hang_s=0.6),
}


@pytest.mark.parametrize("fault", WEATHER.values(), ids=WEATHER.keys())
def test_bad_weather_at_any_request_leaves_the_page_as_in_good_weather(tmp_path, fault, calm_pages):
    """Each fault while the file is sent, the page made, and at a request with a parent of its own."""
    for number in (3, 4, 6):
        with notion_lab(tmp_path / str(number), timeout_s=0.3) as lab:
            lab.server.faults = {number: fault}
            assert lab.publish(RUN)[0].action == "created"
            assert lab.page == calm_pages[0]


@pytest.mark.parametrize("number", range(7, 19))
@pytest.mark.parametrize("fault", [WEATHER[name] for name in ("503 after", "drop before")])
def test_bad_weather_while_a_page_is_updated(tmp_path, fault, number, calm_pages):
    with notion_lab(tmp_path / str(number), timeout_s=0.3) as lab:
        lab.publish(SHORT)
        lab.server.faults = {number: fault}
        assert lab.publish(LONGER)[0].action == "updated"
        assert lab.page == calm_pages[1]


def test_a_query_that_misses_what_was_just_written_makes_no_second_page(lab):
    lab.server.faults = {4: Fault(503, after=True)}
    lab.server.lag = 1
    assert lab.publish(trace_of("42"))[0].action == "created"
    assert len(lab.rows) == 1
    assert 2 in lab.clock.slept


def test_no_request_is_sent_while_notion_asks_to_wait(lab):
    lab.server.faults = {n: Fault(429, retry_after=str(1 + n % 120)) for n in range(2, 62)}
    assert lab.publish(trace_of(SIX))[0].action == "created"
    times = [each.at for each in lab.server.log]
    waited = [times[n + 1] - times[n] for n in range(2, 62)]
    assert all(round(seconds, 6) >= 1 + n % 120 for n, seconds in enumerate(waited, start=2))
    assert len(lab.rows) == 1


# -- a process that dies -------------------------------------------------------------------------------------


class Killed(BaseException):
    """In the place of a kill: nothing may catch it."""


def kill() -> None:
    raise Killed


def publish_and_die(lab: Lab, trace: Trace, moment: str, number: int) -> None:
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(Journal, "note", Journal.note)
        patches.setattr(lab.notion.api, "request", lab.notion.api.request)
        arm(lab.notion, moment, number, kill)
        with pytest.raises(Killed):
            lab.publish(trace)


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("number", range(UPLOAD + 4))
def test_a_process_killed_at_any_request_is_completed_by_the_next(tmp_path, moment, number, calm_pages):
    with notion_lab(tmp_path, id_cursors=number != 5) as lab:
        publish_and_die(lab, RUN, moment, number)
        lab.publish(RUN)
        assert lab.page == calm_pages[0]
        assert len(lab.server.log) <= 2 + UPLOAD + 4 + 3
        assert lab.publish(RUN)[0].action == "unchanged"


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_process_that_is_really_killed_is_completed_by_the_next(tmp_path, moment):
    trace = trace_of(SIX)
    file = trace.save(tmp_path / "run.jsonl")
    with notion_lab(tmp_path / "state") as lab:
        command = [sys.executable, "-m", "tests.notion_server.victim", lab.server.address, str(lab.folder), str(file)]
        root = Path(__file__).resolve().parents[1]
        killed = subprocess.run([*command, moment, "5"], cwd=root, check=False, capture_output=True)
        assert killed.returncode != 0
        assert b"Traceback" not in killed.stderr
        assert lab.publish(trace)[0].action == "created"
        assert len(lab.server.writes) <= UPLOAD + 7
        assert str(lab.page).count("Paragraph 229") == 1


def test_a_run_that_changed_while_it_was_half_published_is_brought_up_to_date(lab):
    trace = trace_of(SIX)
    publish_and_die(lab, trace, MOMENTS[1], 5)
    lab.publish(changed(trace, "short"))
    assert [kind for kind, _, _ in lab.page] == ["heading_2", "paragraph", "heading_2", "table", "toggle", "file"]


def test_a_lost_journal_is_made_up_for_by_reading_the_page(lab):
    trace = trace_of(SIX)
    publish_and_die(lab, trace, MOMENTS[1], 5)
    for file in lab.folder.glob("*.jsonl"):
        file.unlink()
    lab.publish(trace)
    assert str(lab.page).count("Paragraph 229") == 1
    assert len(lab.rows) == 1


# -- the journal ---------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_dropped_and_the_next_entry_stands_alone(tmp_path):
    path = tmp_path / "j.jsonl"
    with open_journal(path) as journal:
        journal.note("begin", run="r", hash="h")
        journal.note("sent", run="r", number=0, ids=[], page="p", url="u")
    path.write_bytes(path.read_bytes()[:-9])
    with open_journal(path) as journal:
        assert (journal.record("r").begun, journal.record("r").page) == ("h", "")
        journal.note("sent", run="r", number=0, ids=[], page="p", url="u")
    assert Journal(path).record("r").page == "p"


def test_only_one_process_at_a_time_publishes(lab):
    with open_journal(next(lab.folder.glob("*.jsonl"))), pytest.raises(ConfigurationError, match="another react-lab"):
        lab.publish(trace_of("42"))


def test_the_journal_holds_no_secret_and_nothing_of_the_run(lab):
    lab.publish(trace_of("a very private answer"))
    text = next(lab.folder.glob("*.jsonl")).read_text("utf-8")
    assert "ntn_" not in text
    assert "private" not in text


# -- the dry run ---------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_requests_that_are_then_sent(lab):
    trace = trace_of(SIX)
    preview = Preview(note_from_trace(trace), file=trace_file(trace))
    lab.publish(trace)
    sent = lab.server.writes
    assert [(each.method, each.path.split("/")[0]) for each in preview.requests] == [
        (each.method, each.path.split("/")[0]) for each in sent
    ]
    [made] = [each for each in lab.server.store.things.values() if each.kind == "file_upload"]
    planned = json.dumps([each.body["children"] for each in preview.requests if "children" in each.body])
    assert json.loads(planned.replace("<upload>", made.id)) == [
        each.body["children"] for each in sent if "children" in each.body
    ]
    assert preview.requests[1].data == made.fields["data"]
    values = [each.body["properties"].values() for each in (preview.requests[UPLOAD], sent[UPLOAD])]
    assert list(values[0]) == list(values[1])


def test_a_dry_run_needs_neither_token_nor_database_nor_network(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    trace = make_trace()
    [published] = NotionExporter(folder=tmp_path / "state").publish([trace], dry_run=True)
    assert published.action == "would create or update"
    assert f"holds the run {trace.id} already" in published.details[UPLOAD + 1]
    assert [line.split()[1] for line in published.details[: UPLOAD + 1]] == [
        "/v1/file_uploads",
        "/v1/file_uploads/<upload>/send",
        "/v1/pages",
    ]
    assert published.details[UPLOAD].endswith(" bytes")
    [file] = tmp_path.glob("*.html")
    assert str(file) in published.details[-1]
    assert "It is <em>that</em>." in file.read_text("utf-8")
    assert published.preview == file.read_text("utf-8")
    assert not (tmp_path / "state").exists()


def test_a_dry_run_tells_what_the_journal_knows(lab):
    trace = trace_of("42")
    lab.publish(trace)
    requests = len(lab.server.log)
    actions = [lab.publish(each, dry_run=True)[0].action for each in (trace, changed(trace, "43"), trace_of("42"))]
    assert actions == ["unchanged", "would update", "would create or update"]
    assert len(lab.server.log) == requests


def test_a_dry_run_of_what_was_begun_tells_that_it_would_be_created(lab):
    publish_and_die(lab, RUN, MOMENTS[0], 4)
    assert lab.publish(RUN, dry_run=True)[0].action == "would create"


def test_a_dry_run_leaves_the_journal_as_it_is(lab):
    lab.publish(RUN)
    [journal] = lab.folder.glob("*.jsonl")
    journal.write_bytes(journal.read_bytes() + b'{"event": "se')
    before = journal.read_bytes()
    lab.publish(RUN, dry_run=True)
    assert journal.read_bytes() == before


def test_a_dry_run_with_no_address_says_so(tmp_path):
    with pytest.raises(ConfigurationError, match="'my database' holds no id"):
        list(NotionExporter(folder=tmp_path).publish([RUN], to="my database", dry_run=True))


def test_what_was_done_is_told_in_the_persons_language(lab, monkeypatch):
    trace = trace_of("42")
    assert str(lab.publish(trace, dry_run=True)[0]).startswith("would create or update: What is it?\n    POST /v1/file")
    monkeypatch.setenv("REACT_LAB_LANG", "zh")
    told = str(lab.publish(trace, dry_run=True)[0])
    assert told.startswith("将创建或更新：What is it?\n")
    assert f"已有运行 {trace.id}" in told
    assert "\n    预览：" in told
    [published] = lab.publish(trace)
    assert str(published) == f"已创建：{published.target}"


def test_progress_is_told_request_by_request(lab):
    exporter, told = NotionExporter(lab.notion, lab.folder), list[str]()
    exporter.on_progress = told.append
    list(exporter.publish([RUN]))
    assert told == ["1/4", "2/4", "3/4", "4/4"]


def test_a_preview_shows_hostile_text_as_text():
    preview = Preview(
        note_from_trace(make_trace("<script>1</script>", answer='<img src=x> [x](https://a.io/?"onload="x)'))
    )
    html = preview.page()
    assert "<script>" not in html
    assert "<img" not in html
    assert '"onload="' not in html


def test_the_exporter_is_found_by_its_entry_point():
    found = entry_points(group="react_lab.exporters", name="notion")
    if not found:
        pytest.skip("the entry point is not installed yet")
    assert next(iter(found)).load() is NotionExporter
