import logging
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from react_lab.errors import ConfigurationError
from react_lab_exporters.notion.client import Notion, NotionError, Unsure
from tests.notion_server.lab import Clock
from tests.notion_server.server import TOKEN, Fault, running

pytestmark = pytest.mark.slow  # a server, faults and waits


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server(clock):
    with running(clock=clock) as server:
        yield server


@pytest.fixture
def notion(server, clock):
    with Notion(TOKEN, address=server.address, timeout_s=0.5, sleep=clock.sleep, clock=clock) as notion:
        yield notion


def home(server) -> str:
    return f"pages/{server.store.home.id}"


def append(notion, server, **options):
    body = {"children": [{"type": "divider", "divider": {}}]}
    return notion.send("PATCH", f"blocks/{server.store.home.id}/children", body, **options)


def test_three_requests_a_second_on_average_and_a_few_at_once(notion, server, clock):
    for _ in range(60):
        notion.send("GET", home(server))
    times = [each.at for each in server.log]
    assert max(sum(start <= at < start + 1 for at in times) for start in times) <= 6
    assert 59 / 3 - 1 <= times[-1] - times[0] <= 59 / 3 * 1.05


@pytest.mark.parametrize(("header", "least"), [("7", 7), ("120", 120), ("1.5", 1.5)])
def test_what_notion_says_of_waiting_is_kept(notion, server, clock, header, least):
    server.faults = {0: Fault(429, retry_after=header)}
    notion.send("GET", home(server))
    first, second = server.log
    assert second.at - first.at >= least


def test_a_date_to_wait_for_is_kept(notion, server, clock):
    server.faults = {0: Fault(429, retry_after=format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True))}
    notion.send("GET", home(server))
    assert 85 < server.log[1].at - server.log[0].at <= 90.5


@pytest.mark.parametrize("status", [429, 529])
def test_sixty_refusals_in_a_row_are_survived_also_by_a_write(notion, server, status):
    server.faults = {n: Fault(status, retry_after=None if n % 3 else "3") for n in range(60)}
    append(notion, server, repeatable=False)
    assert len(server.log) == 61
    assert len(server.store.home.children) == 1


@pytest.mark.parametrize(
    "fault", [Fault(500), Fault(502, html=True), Fault(503), Fault(504), Fault(409), Fault(), Fault(hang_s=1)]
)
def test_what_can_be_repeated_is_repeated_after_an_outage(notion, server, fault):
    server.faults = {0: fault, 1: fault}
    assert notion.send("GET", home(server))["object"] == "page"


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize(
    "fault", [Fault(500), Fault(502, html=True), Fault(503), Fault(), Fault(hang_s=1), Fault(200, html=True)]
)
def test_a_write_without_a_clear_answer_is_not_repeated_blindly(notion, server, fault, after):
    server.faults = {0: Fault(fault.status, after, None, fault.html, fault.hang_s)}
    with pytest.raises(Unsure):
        append(notion, server, repeatable=False)
    assert len(server.log) == 1
    assert len(server.store.home.children) == after


def test_a_server_that_is_not_there_is_told_after_a_while(clock):
    nowhere = Notion(TOKEN, address="http://127.0.0.1:9", sleep=clock.sleep, clock=clock)
    with nowhere as notion, pytest.raises(NotionError, match="can't be reached"):
        notion.send("POST", "pages", {}, repeatable=False)
    assert sum(clock.slept) > 60


def test_an_outage_that_stays_is_told(notion, server):
    server.faults = {n: Fault(503) for n in range(20)}
    with pytest.raises(NotionError, match=r"answers 503.*9 times; try again later"):
        notion.send("GET", home(server))


def test_a_wrong_token_says_where_to_copy_it_from(server, clock):
    wrong = Notion("ntn_wrong_and_secret", address=server.address, sleep=clock.sleep, clock=clock)
    with wrong as notion, pytest.raises(NotionError, match="copy the secret of your integration again") as raised:
        notion.send("GET", "users/me")
    assert "ntn_wrong_and_secret" not in str(raised.value)
    assert raised.value.status == 401


def test_a_page_that_is_not_shared_says_what_to_click(notion, server):
    server.store.home.shared = False
    with pytest.raises(NotionError, match=r"finds no such page, or it is not shared.*••• → Connections"):
        notion.send("GET", home(server))


def test_what_an_integration_may_not_do_says_where_to_allow_it(notion, server):
    server.faults = {0: Fault(403)}
    with pytest.raises(NotionError, match="allow it to read, update and insert"):
        notion.send("GET", home(server))


def test_the_token_is_in_no_error_and_no_log(notion, server, caplog, monkeypatch):
    monkeypatch.setenv("NOTION_TOKEN", TOKEN)
    caplog.set_level(logging.DEBUG)
    server.faults = {0: Fault(400), 1: Fault(503)}
    for _ in range(2):
        with pytest.raises(NotionError) as raised:
            append(notion, server, repeatable=False)
        assert TOKEN not in repr(raised.value)
    assert caplog.records
    assert TOKEN not in caplog.text


def test_without_a_token_the_person_is_told_how_to_get_one(monkeypatch):
    with pytest.raises(ConfigurationError, match="create an integration"):
        Notion.from_environment()
    monkeypatch.setenv("NOTION_TOKEN", "ntn_令牌")
    with pytest.raises(ConfigurationError, match="copy it again"):
        Notion.from_environment()


def test_a_long_list_is_read_page_by_page(notion, server):
    for _ in range(250):
        server.store.append(server.store.home, [{"type": "divider", "divider": {}}])
    path = f"blocks/{server.store.home.id}/children"
    assert len({each["id"] for each in notion.pages_of("GET", path)}) == 250
    assert len(server.log) == 3
