from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from react_lab.errors import ConfigurationError
from react_lab_exporters.notion.client import NotionError
from react_lab_exporters.notion.columns import COLUMNS, match_columns, option
from react_lab_exporters.notion.commands import app
from react_lab_exporters.notion.database import examine, id_in, open_data_source, setup
from react_lab_exporters.notion.exporter import open_writer
from react_lab_exporters.notion.report import publish_report, render_report
from react_lab_exporters.notion.smoke import smoke
from react_lab_exporters.notion.text import units
from tests.notion_server.lab import changed, notion_lab, trace_of
from tests.notion_server.server import TOKEN, Fault

pytestmark = pytest.mark.slow  # a server, faults and waits

ID = "0123456789abcdef0123456789abcdef"
DASHED = "01234567-89ab-cdef-0123-456789abcdef"


@pytest.fixture
def lab(tmp_path):
    with notion_lab(tmp_path / "state") as lab:
        yield lab


def schema(lab) -> dict[str, Any]:
    columns: dict[str, Any] = lab.source.fields["properties"]
    return columns


def adopt(lab, **options) -> list[str]:
    return list(setup(lab.notion, database=lab.source.id, folder=lab.folder, **options))


# -- making and adopting -------------------------------------------------------------------------------------


def test_the_database_has_every_column_and_is_remembered(lab):
    assert {name: column["type"] for name, column in schema(lab).items()} == {c.name: c.kind for c in COLUMNS}
    lines = list(setup(lab.notion, folder=lab.folder))
    assert lines[:2] == ["The token works: it belongs to Tests.", "Found the database 'react-lab'."]


def test_missing_columns_are_added_only_when_told_to(lab):
    del schema(lab)["Cost"], schema(lab)["Run ID"]
    schema(lab)["Mine"] = {"id": "mine", "name": "Mine", "description": None, "type": "checkbox", "checkbox": {}}
    with pytest.raises(ConfigurationError, match=r"no column 'Run ID'.*--add-columns"):
        adopt(lab)
    assert "Cost" not in schema(lab)
    assert any(line == "Added the columns Cost, Run ID." for line in adopt(lab, add_columns=True))
    assert {"Cost", "Run ID", "Mine"} <= schema(lab).keys()


def test_the_title_may_have_any_name(lab):
    schema(lab)["Name"] = {**schema(lab).pop("Question"), "name": "Name"}
    adopt(lab)
    lab.publish(trace_of("42"))
    assert lab.values()["Name"] == "What is it?"


def test_a_column_of_another_type_is_told_before_anything_is_written(lab):
    schema(lab)["Answer"] = {"id": "n", "name": "Answer", "description": None, "type": "checkbox", "checkbox": {}}
    assert "Note: column 'Answer' is of type checkbox, not rich_text; it is left out." in adopt(lab)
    [published] = lab.publish(trace_of("42"))
    assert published.action == "created"
    assert published.details == ("column 'Answer' is of type checkbox, not rich_text; it is left out",)
    assert lab.values()["Run ID"]


def test_without_the_run_id_nothing_is_written(lab):
    schema(lab)["Run ID"]["type"] = "number"
    schema(lab)["Run ID"]["number"] = {"format": "number"}
    with pytest.raises(ConfigurationError, match="'Run ID' is of type number, not rich_text"):
        lab.publish(trace_of("42"))
    assert not lab.server.writes


def test_a_renamed_column_keeps_working(lab):
    trace = trace_of("42")
    lab.publish(trace)
    for old, new in (("Answer", "回答"), ("Run ID", "Key")):
        schema(lab)[new] = {**schema(lab).pop(old), "name": new}
        lab.row.fields["properties"][new] = lab.row.fields["properties"].pop(old)
    [published] = lab.publish(changed(trace, "43"))
    assert (published.action, published.details) == ("updated", ())
    assert lab.values()["回答"] == "43"
    assert len(lab.rows) == 1


def test_a_column_that_was_deleted_and_made_anew_is_found_by_its_name(lab):
    answer = schema(lab).pop("Answer")
    schema(lab)["Answer"] = {**answer, "id": "new"}
    lab.publish(trace_of("42"))
    assert lab.values()["Answer"] == "42"


def test_a_column_that_was_deleted_is_left_out_and_told(lab):
    del schema(lab)["Cost"]
    assert lab.publish(trace_of("42"))[0].details == ("there is no column 'Cost'; it is left out",)


def test_where_notion_knows_no_ids_of_columns_their_names_are_used(lab):
    lab.server.store.known_ids = False
    trace = trace_of("42")
    schema(lab)["回答"] = {**schema(lab).pop("Answer"), "name": "回答"}
    adopt(lab)
    assert lab.publish(trace)[0].action == "created"
    assert lab.publish(changed(trace, "43"))[0].action == "updated"
    assert lab.values()["Run ID"] == trace.id
    refused = [each for each in lab.server.log if each.status == 400]
    assert len(refused) == 2  # once for each time that something was published


def test_another_refusal_is_not_taken_for_one_of_ids(lab):
    lab.server.faults = {2: Fault(400)}
    assert lab.publish(trace_of("42"), attach_trace=False)[0].action == "failed"
    assert len(lab.server.log) == 3


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_doctor_says_what_is_configured_and_what_is_next(lab, language, monkeypatch, tmp_path):
    said: list[str] = []
    examine(said.append, language, lab.folder)
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    examine(said.append, language, tmp_path / "nothing")
    examine(said.append, language, lab.folder)
    assert "NOTION_TOKEN" in said[0]
    assert "react-lab notion setup --parent" in said[1]
    assert lab.source.id in said[2]
    assert TOKEN not in "".join(said)


# -- what an address means -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [ID, DASHED, DASHED.upper(), f"https://www.notion.so/me/Title-{ID}?v={'f' * 32}", f"https://notion.so/{ID}#x"],
)
def test_an_id_is_found_in_whatever_is_copied(given):
    assert id_in(given) == DASHED


def test_what_holds_no_id_is_told():
    with pytest.raises(ConfigurationError, match="'my database' holds no id"):
        id_in("my database")


def test_a_database_and_its_data_source_mean_the_same(lab):
    database = lab.source.parent["database_id"]
    assert open_data_source(lab.notion, database).id == open_data_source(lab.notion, lab.source.id).id


def test_several_data_sources_are_named(lab):
    parent = lab.source.parent
    lab.server.store.add("data_source", parent, {"title": [], "properties": {}})
    with pytest.raises(ConfigurationError, match="2 data sources; name one of them: 'react-lab'"):
        open_data_source(lab.notion, parent["database_id"])


def test_a_page_where_a_database_belongs_is_told(lab):
    with pytest.raises(ConfigurationError, match="is a page, not a database; `react-lab notion setup --parent"):
        open_data_source(lab.notion, lab.server.store.home.id)


def test_a_database_where_a_page_belongs_is_told(lab):
    with pytest.raises(ConfigurationError, match="--parent names a database; use --database"):
        list(setup(lab.notion, parent=lab.source.parent["database_id"], folder=lab.folder))


def test_what_is_not_shared_says_what_to_click(lab):
    with pytest.raises(NotionError, match=r"not shared with the integration.*Connections"):
        open_data_source(lab.notion, ID)


def test_without_a_place_setup_says_what_to_do(lab, tmp_path):
    with pytest.raises(ConfigurationError, match="where shall the database be"):
        list(setup(lab.notion, folder=tmp_path / "new"))


# -- options -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Physics - Data, Statistics and Probability", "x" * 118, "🙂" * 80, "a" * 100])
def test_an_option_is_one_that_notion_takes(name):
    made = option(name)["name"]
    assert units(made) <= 100
    assert "," not in made
    assert option(name) == option(name)


def test_two_long_names_stay_two():
    assert option("x" * 118) != option("x" * 119)


def test_columns_are_matched_by_id_before_name():
    columns = {
        "Key": {"id": "k", "type": "rich_text"},
        "Run ID": {"id": "r", "type": "rich_text"},
        "T": {"id": "title", "type": "title"},
    }
    assert match_columns(columns, {"Run ID": "k"}).ids["Run ID"] == "k"
    assert match_columns(columns, {}).ids["Run ID"] == "r"


# -- reports and commands ------------------------------------------------------------------------------------


def test_a_report_is_a_page_and_is_updated_in_place(lab, tmp_path):
    file = tmp_path / "report.md"
    file.write_text("---\nauthor: me\n---\n# My report\n\nText.\n", encoding="utf-8")
    with open_writer(lab.notion, folder=lab.folder) as (writer, _):
        assert publish_report(writer, file).action == "created"
        assert publish_report(writer, file).action == "unchanged"
        file.write_text("# My report\n\nMore text.\n", encoding="utf-8")
        assert publish_report(writer, file).action == "updated"
    assert lab.values()["Question"] == "My report"
    assert [kind for kind, _, _ in lab.page] == ["heading_1", "paragraph"]


def test_front_matter_is_kept_as_code_and_a_rule_is_a_rule():
    assert [block["type"] for block in render_report("---\na: b\nc:\n - d\n---\ntext").blocks] == ["code", "paragraph"]
    assert [block["type"] for block in render_report("---\n\ntext\n\n---\n").blocks] == [
        "divider",
        "paragraph",
        "divider",
    ]


def test_the_smoke_test_cleans_up_and_answers_every_question(lab):
    lines = list(smoke(lab.notion, lab.server.store.home.id))
    assert len(lab.server.log) <= 25
    assert lines[-1] == "the page is in the trash"
    assert not [line for line in lines if "refused: Notion finds" in line]
    made = [each for each in lab.server.store.things.values() if each.parent.get("page_id") == lab.server.store.home.id]
    assert [each.in_trash for each in made if each.kind == "page"] == [True]


def test_the_smoke_test_cleans_up_after_a_failure_too(lab):
    lab.server.faults = {n: Fault(400) for n in range(2, 6)}
    assert list(smoke(lab.notion, lab.server.store.home.id))[-1] == "the page is in the trash"


def test_the_commands_say_what_they_did(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    monkeypatch.setenv("NOTION_BASE_URL", lab.server.address)
    monkeypatch.setenv("REACT_LAB_HOME", str(tmp_path))
    run = CliRunner().invoke
    result = run(app, ["setup", "--parent", lab.server.store.home.id])
    assert (result.exit_code, result.output.splitlines()[-1][:21]) == (0, "Runs are published to")
    Path("r.md").write_text("# Report", encoding="utf-8")
    result = run(app, ["publish-report", "r.md"])
    assert (result.exit_code, result.output[:8]) == (0, "created:")
    assert run(app, ["smoke", lab.server.store.home.id]).exit_code == 0
