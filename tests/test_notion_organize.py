from pathlib import Path

import pytest
from typer.testing import CliRunner

from react_lab.errors import ConfigurationError
from react_lab_exporters.notion import organize
from react_lab_exporters.notion.client import NotionError
from react_lab_exporters.notion.commands import app
from react_lab_exporters.notion.exporter import open_writer
from react_lab_exporters.notion.organize import Plan, apply, propose, read_rows, terms, undo
from tests.notion_server.lab import notion_lab, trace_of
from tests.notion_server.server import TOKEN

pytestmark = pytest.mark.slow  # a server, faults and waits

QUESTIONS = [
    "How high is Mount Fuji?",
    "How high is Mount Fuji in feet?",
    "Which mountain in Japan is the highest?",
    "Who climbed Mount Fuji first?",
    "What is 6 × 7?",
    "上海的温度是多少？",
    "北京的温度是多少？",
    "巴黎的温度是多少？",
]


@pytest.fixture
def lab(tmp_path):
    with notion_lab(tmp_path / "state") as lab:
        lab.publish(*(trace_of(f"answer {number}", question) for number, question in enumerate(QUESTIONS)))
        yield lab


@pytest.fixture
def writer(lab):
    with open_writer(lab.notion, folder=lab.folder) as (writer, _):
        yield writer


def tags(lab) -> dict[str, list[str]]:
    return {lab.values(row)["Question"]: lab.values(row)["Tags"] for row in lab.rows}


def test_rows_that_share_a_word_get_it_as_a_tag_and_similar_questions_are_related(writer):
    plan = propose(writer)
    proposed = {change.title: change for change in plan.changes}
    assert list(proposed["Who climbed Mount Fuji first?"].tags[1]) == ["react-lab", "fuji", "mount"]
    assert "的温度是" in proposed["上海的温度是多少？"].tags[1] or "温度是多" in proposed["上海的温度是多少？"].tags[1]
    assert "What is 6 × 7?" not in proposed
    assert len(proposed["How high is Mount Fuji?"].related[1]) == 1
    assert len(plan.digests) == 1


def test_proposing_writes_nothing(lab, writer):
    before = len(lab.server.writes)
    propose(writer)
    assert len(lab.server.writes) == before


def test_a_plan_is_applied_once_with_at_most_one_write_a_row(lab, writer):
    plan = propose(writer)
    before = len(lab.server.writes)
    lines = list(apply(writer, plan))
    assert len(lab.server.writes) - before == len(plan.changes) + 2  # the column, and the digest
    assert lines[-1].endswith(": created")
    assert tags(lab)["How high is Mount Fuji?"] == ["react-lab", "fuji", "mount"]
    before = len(lab.server.writes)
    assert [line.rpartition(": ")[2] for line in apply(writer, plan)] == ["unchanged"]
    assert len(lab.server.writes) == before
    assert propose(writer).changes == []


def test_a_plan_is_taken_back(lab, writer):
    before = tags(lab)
    plan = propose(writer)
    list(apply(writer, plan))
    list(undo(writer, plan))
    assert tags(lab) == before
    assert not any(row.related for row in read_rows(writer))


def test_what_the_person_changed_since_is_left_alone(lab, writer):
    plan = propose(writer)
    lab.rows[0].fields["properties"]["Tags"] = [{"name": "mine"}]
    list(apply(writer, plan))
    list(undo(writer, plan))
    assert tags(lab)["How high is Mount Fuji?"] == ["mine"]


def test_a_digest_lists_the_weeks_runs_as_links(lab, writer):
    list(apply(writer, propose(writer)))
    [digest] = [row for row in lab.rows if lab.values(row)["Tags"] == ["digest"]]
    links = [block.fields["bulleted_list_item"]["rich_text"][0]["text"] for block in lab.server.store.alive(digest)]
    assert [link["content"] for link in links] == QUESTIONS
    assert links[0]["link"]["url"] == lab.server.store.show(lab.rows[0])["url"]


def test_a_column_of_another_type_stops_before_the_first_write(lab, writer):
    plan = propose(writer)
    lab.source.fields["properties"]["Related"] = {
        "id": "r",
        "name": "Related",
        "description": None,
        "type": "checkbox",
        "checkbox": {},
    }
    before = len(lab.server.writes)
    with pytest.raises(NotionError, match="of type checkbox, not relation"):
        list(apply(writer, plan))
    assert len(lab.server.writes) == before


def test_more_rows_than_one_query_gives_are_all_read(lab, writer, monkeypatch):
    monkeypatch.setattr(organize, "MAX_ROWS", 3)
    monkeypatch.setattr("tests.notion_server.server.MAX_ROWS", 3)
    assert [row.title for row in read_rows(writer)] == QUESTIONS


def test_a_plan_survives_its_file(writer, tmp_path):
    plan = propose(writer)
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded.digests == plan.digests
    assert [change.page for change in loaded.changes] == [change.page for change in plan.changes]
    (tmp_path / "plan.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="holds no plan"):
        Plan.load(tmp_path / "plan.json")


def test_the_command_proposes_applies_and_undoes(lab, monkeypatch):
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    monkeypatch.setenv("NOTION_BASE_URL", lab.server.address)
    monkeypatch.setenv("REACT_LAB_HOME", str(lab.folder.parent))
    before = tags(lab)
    run = CliRunner().invoke
    options = ["organize", "--database", lab.source.id]
    assert "review notion-plan.json" in run(app, options).output
    assert Path("notion-plan.json").exists()
    assert "changed: How high is Mount Fuji?" in run(app, [*options, "--apply"]).output
    assert "to the trash: digest-" in run(app, [*options, "--undo"]).output
    assert tags(lab) == before


def test_words_that_say_nothing_are_no_terms():
    assert terms("What is the most common answer about Fuji?") == {"common", "answer", "fuji"}
    assert "温度" in terms("上海的温度")
