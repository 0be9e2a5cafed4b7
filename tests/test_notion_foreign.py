"""Clients of others against the test server: they were written for the real one, and keep this one honest.

Those in JavaScript: `npm install --prefix DIR @notionhq/client@5.26.0 notion-helper@1.3.33`, then NOTION_JS=DIR.
"""

import io
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.notion_server.lab import notion_lab, trace_of
from tests.notion_server.server import TOKEN, Fault, NotionServer, contents, running

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "notion_server"


@pytest.fixture
def server():
    """One that drops first what Notion ignores: clients send back fields that only answers should hold."""
    with running(lenient=True) as server:
        yield server
        assert not server.complaints


# -- ultimate-notion, which checks every answer against its models -------------------------------------------


def open_session(server: NotionServer, folder: Path) -> Any:
    uno = pytest.importorskip("ultimate_notion")
    from ultimate_notion.config import Config, UNOCfg

    file = folder / "config.toml"
    file.touch()
    return uno.Session(Config(ultimate_notion=UNOCfg(token=TOKEN, cfg_path=file)), base_url=server.address)


@pytest.fixture
def session(server, tmp_path):
    with open_session(server, tmp_path) as session:
        yield session


def test_ultimate_notion_makes_a_database_fills_it_and_finds_rows(server, session):
    import ultimate_notion as uno

    class Runs(uno.Schema, db_title="Runs"):
        title = uno.PropType.Title("Question")
        key = uno.PropType.Text("Run ID")
        tokens = uno.PropType.Number("Tokens")
        tags = uno.PropType.MultiSelect("Tags", options=[uno.Option("tag")])
        model = uno.PropType.Select("Model", options=[uno.Option("m")])
        started = uno.PropType.Date("Started")
        done = uno.PropType.Checkbox("Done")

    runs = session.create_ds(session.get_page(server.store.home.id), schema=Runs)
    row = runs.create_page(title="Why?", key="k", tokens=3, tags=["tag"], model="m", done=True)
    for number in range(120):
        runs.create_page(title=f"Row {number}", key=str(number))
    assert len(runs.get_all_pages()) == 121
    [found] = runs.query.filter(uno.prop("Run ID") == "k").execute()
    assert found == row
    row.props.tokens = 4
    row = row.reload()
    assert (row.title, row.props.tokens, row.props.done, row.props.model.name) == ("Why?", 4, True, "m")
    assert session.search_ds("Runs").item() == runs
    assert session.get_db(runs.database_id).data_sources.item() == runs


def test_ultimate_notion_writes_a_page_reads_it_back_and_edits_it(server, session):
    import ultimate_notion as uno

    blocks = [uno.Heading1("h"), uno.BulletedItem("b"), uno.Code("x = 1"), uno.Quote("q"), uno.ToDoItem("t")]
    page = session.create_page(session.get_page(server.store.home.id), "A page", blocks=blocks)
    page.append([uno.Paragraph(f"p{number}") for number in range(150)])
    page.append(uno.Table(2, 2))
    page.append(uno.File(session.upload(io.BytesIO(b"text\n"), file_name="a.txt", mime_type="text/plain")))
    assert page.reload().to_markdown().count("\np") == 150
    page.children[0].rich_text = uno.text("h2")
    page.children[1].delete()
    page.title = "Another title"
    [stored] = [each for each in server.store.things.values() if each.id == str(page.id)]
    kinds = [kind for kind, _, _ in contents(server, stored)]
    assert kinds == ["heading_1", "code", "quote", "to_do", *["paragraph"] * 150, "table", "file"]
    assert page.reload().children[0].rich_text == "h2"
    assert session.search_page("Another title").item() == page
    assert page.delete().is_deleted
    assert not page.restore().is_deleted


def test_ultimate_notion_reads_what_we_published(tmp_path):
    with notion_lab(tmp_path / "state", lenient=True) as lab:
        lab.publish(trace_of("The **answer**.\n\n- a\n  - b\n\n| h |\n|---|\n| c |"))
        with open_session(lab.server, tmp_path) as session:
            page = session.get_page(lab.row.id)
            assert page.title == "What is it?"
            assert page.props.status == "answered"
            assert "The **answer**." in page.to_markdown()
            assert [type(each).__name__ for each in page.children][-2:] == ["ToggleItem", "File"]


# -- in JavaScript -------------------------------------------------------------------------------------------


def node(script: str, server: NotionServer) -> str:
    """What a script says of the server."""
    modules, program = os.environ.get("NOTION_JS"), shutil.which("node")
    if modules is None or program is None:
        pytest.skip("needs Node.js and the clients, see the top of this file")
    command: list[Any] = [program, SCRIPTS / script, modules, server.address, TOKEN, server.store.home.id]
    done = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_official_client_works(server):
    server.lenient = False
    server.faults = {3: Fault(429, retry_after="1")}
    assert node("foreign.mjs", server) == "created, appended 150, read 150, found 1, updated, trashed, 404"


def test_notion_helper_writes_a_deep_page(server):
    assert node("foreign_helper.mjs", server) == "246 blocks, from depth 6 to p239"
