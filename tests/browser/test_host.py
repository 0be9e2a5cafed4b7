"""player.js in a page that plays the notebook: stories that change, several players, players that close."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import Page, expect

from react_lab import Reply, ScriptedModel, ToolUseAgent, Trace
from react_lab.replay.compare import comparison_page
from react_lab.replay.page import PLAYER_CSS, PLAYER_JS, to_page
from react_lab.replay.player import replay
from react_lab.replay.story import found_in, story, tell
from react_lab.replay.widget import static_copy
from react_lab_exporters.markdown import MarkdownExporter
from tests.browser.runs import REGISTRY, calling, desk, lighthouse, lighthouse_in_chinese, long_run, run
from tests.payloads import PAYLOADS

pytestmark = pytest.mark.browser

# The part of anywidget that the player meets: a model that can change, send and receive; `open` makes a player.
HOST = """
window.hosts = [];
window.open_player = (story, step = 1) => {
  const listeners = {};
  const values = { story, step };
  const host = { sent: [], el: document.body.appendChild(document.createElement("main")) };
  const model = {
    get: (name) => values[name],
    set: (name, value) => host.change(name, value), // as in real hosts, a listener hears of its own changes, too
    send: (message) => host.sent.push(message),
    on: (event, listener) => { listeners[event] = listener; },
    off: (event) => { delete listeners[event]; },
  };
  host.change = (name, value) => { values[name] = value; listeners[`change:${name}`]?.(); };
  host.tell = (message) => listeners["msg:custom"](message);
  host.close = render({ model, el: host.el });
  host.listeners = listeners;
  hosts.push(host);
};
"""


@pytest.fixture
def host(page: Page, tmp_path: Path) -> Page:
    file = tmp_path / "host.html"
    file.write_text(
        f"<!doctype html><meta charset=utf-8><style>{PLAYER_CSS}</style><body>"
        f"<script type=module>{PLAYER_JS}\n{HOST}</script>",
        encoding="utf-8",
    )
    page.goto(file.as_uri())
    return page


def told(trace: Trace, *, running: bool = False, **interface: object) -> str:
    data = tell(story(trace, running=running), "en")
    return json.dumps({**data, "interface": {**data["interface"], **interface}})


def until(trace: Trace, step: int) -> Trace:
    """The run as it was when it had so many steps."""
    return Trace([event for event in trace.events if event["event"] == "run" or event.get("step", step + 1) <= step])


def test_a_run_that_grows_is_followed_by_who_is_at_its_end(host: Page) -> None:
    trace = lighthouse()
    host.evaluate("(story) => open_player(story)", told(until(trace, 0), running=True))
    expect(host.get_by_text("The model has not replied yet.")).to_be_visible()
    expect(host.get_by_role("button")).to_have_count(0)
    for step in (1, 2):
        host.evaluate("(story) => hosts[0].change('story', story)", told(until(trace, step), running=True))
        expect(host.get_by_role("status")).to_have_text(f"Step {step} of {step}")
    host.locator(".react-lab-player").press("ArrowLeft")
    host.locator("details.reply > summary").click()
    host.evaluate("(story) => hosts[0].change('story', story)", told(trace))
    expect(host.get_by_role("status")).to_have_text("Step 1 of 3")
    expect(host.locator("details.reply pre")).to_have_text("I look up its height first.")
    expect(host.get_by_text("answered", exact=False).first).to_be_visible()


def test_a_player_can_be_opened_at_a_step(host: Page) -> None:
    host.evaluate("(story) => open_player(story, 3)", told(lighthouse()))
    expect(host.get_by_role("status")).to_have_text("Step 3 of 3")


def test_another_run_begins_at_its_first_step_with_nothing_left_of_the_last(host: Page) -> None:
    host.evaluate("(story) => open_player(story)", told(long_run(60)))
    player = host.locator(".react-lab-player")
    player.press("End")
    player.press("/")
    host.keyboard.type("thought 59")
    expect(host.locator(".found")).to_have_text("1 of 1")
    host.evaluate("(story) => hosts[0].change('story', story)", told(lighthouse()))
    expect(host.get_by_role("status")).to_have_text("Step 1 of 3")
    expect(host.get_by_role("searchbox")).to_have_value("")
    expect(player).not_to_contain_text("Thought 5")


def test_the_kernel_can_move_the_player_and_is_asked_only_for_what_it_must_do(host: Page) -> None:
    host.evaluate("(story) => open_player(story)", told(lighthouse(), files=["page"], branch=True))
    host.evaluate("() => hosts[0].change('step', 3)")
    expect(host.get_by_role("status")).to_have_text("Step 3 of 3")
    host.locator(".react-lab-player").press("ArrowLeft")
    assert host.evaluate("() => hosts[0].sent") == []
    host.get_by_role("button", name="Edit and run from here").click()
    host.get_by_role("button", name="Web page").click()
    assert host.evaluate("() => hosts[0].sent") == [{"branch": 2}, {"save": "page"}]
    with host.expect_download() as file:
        host.evaluate("() => hosts[0].tell({ file: { name: 'run.html', text: '<b>灯塔</b>' } })")
    assert file.value.suggested_filename == "run.html"
    assert file.value.path().read_text(encoding="utf-8") == "<b>灯塔</b>"


def test_a_player_goes_on_playing_though_the_host_tells_it_of_its_own_moves(host: Page) -> None:
    host.evaluate("(story) => open_player(story)", told(long_run(20)))
    host.get_by_role("combobox", name="Speed").select_option("16×")
    host.get_by_role("button", name="Play").click()
    expect(host.get_by_role("status")).to_have_text("Step 20 of 20")


def test_two_players_do_not_disturb_each_other_and_leave_nothing_behind(host: Page) -> None:
    for trace in (lighthouse(), long_run(20)):
        host.evaluate("(story) => open_player(story)", told(trace))
    first, second = host.locator(".react-lab-player").all()
    for player, text in ((first, "Lanterna"), (second, "thought")):
        player.press("/")
        player.get_by_role("searchbox").fill(text)
    second.press("ArrowRight")
    expect(first.get_by_role("status")).to_have_text("Step 2 of 3")
    assert host.evaluate("() => CSS.highlights.get('react-lab-found').size") >= 2
    second.get_by_role("button", name="Play").click()
    host.evaluate("() => hosts.forEach((host) => host.close())")
    expect(host.locator(".react-lab-player")).to_have_count(0)
    assert host.evaluate("() => CSS.highlights.get('react-lab-found').size") == 0
    assert host.evaluate("() => hosts.flatMap((host) => Object.keys(host.listeners))") == []


def test_search_counts_what_python_counts(host: Page) -> None:
    dice = random.Random(7)
    words = ["灯塔", "Lighthouse", "é", "a b", "{}", "\\n", "😀", "İstanbul", "<b>", "$1", ".*"]
    replies: list[Reply | str] = [
        calling(" ".join(dice.choices(words, k=4)), ("echo", {"text": " ".join(dice.choices(words, k=3))}))
        for _ in range(80)
    ]
    trace = run("?", [*replies, "done"])
    steps = tell(story(trace), "en")["steps"]
    host.evaluate("(story) => open_player(story)", told(trace))
    for text in [*words, "LIGHT", "灯", "echo", "question", "done", "nowhere"]:
        host.evaluate("() => hosts[0].change('step', 1)")
        host.get_by_role("searchbox").fill(text)
        count = len(found_in(steps, text))
        expect(host.locator(".found")).to_have_text(f"1 of {count}" if count else "not found")


def test_a_long_prompt_costs_nothing_while_it_is_folded(host: Page) -> None:
    trace = run("x" * 20_000, ["y" * 200_000])
    trace.events[0]["system"] = "z" * 200_000
    host.evaluate("(story) => open_player(story)", told(trace))
    prompt = host.locator("details.prompt")
    assert len(prompt.text_content() or "") < 200
    prompt.locator("summary").click()
    expect(prompt).to_contain_text("z" * 1000)  # filled a moment after it is opened
    assert len(prompt.text_content() or "") > 200_000


# -- hostile text on every surface ---------------------------------------------------------------------------


@pytest.fixture
def hostile() -> Trace:
    everything = "\n".join(PAYLOADS)
    replies: list[Reply | str] = [calling(everything, ("echo", {"text": everything})), Reply(everything)]
    return run(everything, replies)


def harmless(page: Page, requests: list[str]) -> None:
    """Nothing ran, nothing was asked for but the page itself."""
    page.wait_for_timeout(150)
    assert page.evaluate("() => window.owned") is None
    assert [url for url in requests if not url.startswith(("file:", "about:", "blob:"))] == []


def visible(text: str) -> None:
    flat = "".join(text.split())
    missing = [payload for payload in PAYLOADS if "".join(payload.split()) not in flat]
    assert missing == []


@pytest.fixture
def requests(page: Page) -> list[str]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_hostile_text_is_only_text_in_the_copy_of_a_notebook(
    page: Page, requests: list[str], hostile: Trace, tmp_path: Path
) -> None:
    file = tmp_path / "copy.html"
    body = static_copy(tell(story(hostile), "en"))
    file.write_text(f"<!doctype html><meta charset=utf-8>{body}", encoding="utf-8")
    page.goto(file.as_uri())
    page.get_by_text("Read it as text").click()
    visible(page.locator("pre").inner_text())
    visible(page.frame_locator("iframe").locator(".react-lab-player").inner_text())
    harmless(page, requests)


def test_hostile_text_is_only_text_in_a_comparison(
    page: Page, requests: list[str], hostile: Trace, tmp_path: Path
) -> None:
    file = tmp_path / "two.html"
    file.write_text(comparison_page(hostile, lighthouse(), lang="en"), encoding="utf-8")
    page.goto(file.as_uri())
    visible(page.locator(".side").first.inner_text())
    with page.expect_download() as text:
        page.get_by_role("button", name="Markdown").click()
    visible(text.value.path().read_text(encoding="utf-8"))
    harmless(page, requests)


def test_hostile_text_is_only_text_in_a_note(page: Page, requests: list[str], hostile: Trace, tmp_path: Path) -> None:
    (note,) = MarkdownExporter().publish([hostile], to=tmp_path / "notes")
    _, _, body = Path(note.target).read_text(encoding="utf-8").split("---\n", 2)
    shown = MarkdownIt("commonmark").render(body)
    file = tmp_path / "note.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{shown}", encoding="utf-8")
    page.goto(file.as_uri())
    visible(page.locator("body").inner_text())
    harmless(page, requests)


# -- two runs ------------------------------------------------------------------------------------------------


@pytest.fixture
def two() -> tuple[Trace, Trace]:
    parent = lighthouse()
    child = parent.fork(2, observation="Lighthouse of Genoa\n80 m tall, built in 1543.")
    return parent, ToolUseAgent(ScriptedModel(["80 m, about 262 feet."]), REGISTRY).resume(child)


def test_a_comparison_opens_at_the_first_difference_and_steps(
    page: Page, two: tuple[Trace, Trace], tmp_path: Path, screenshot: Callable[[Page, str], Path]
) -> None:
    file = tmp_path / "two.html"
    file.write_text(comparison_page(*two, lang="en"), encoding="utf-8")
    page.goto(file.as_uri())
    status = page.get_by_role("status")
    expect(status).to_have_text("Step 2 of 3")
    expect(page.locator(".panel.different")).to_have_count(2)
    expect(page.locator(".panel.different").last).to_contain_text("changed by hand")
    assert page.locator(".side").last.locator(".panel.different mark").all_inner_texts() == [
        "80 m tall, built in 1543."
    ]
    expect(page.locator(".timeline")).to_have_count(2)
    page.get_by_role("button", name="Differences only").click()
    expect(status).to_have_text("Step 2 of 3 · 1 of 2 shown")
    page.locator(".react-lab-player").press("ArrowRight")
    expect(status).to_have_text("Step 3 of 3 · 2 of 2 shown")
    for side, count in ((0, "6 messages"), (1, "6 messages")):
        expect(page.locator(".side").nth(side).locator("details.prompt summary")).to_contain_text(count)
    page.locator(".side").last.locator("details.prompt > summary").click()
    page.locator(".side").last.get_by_text("4 earlier messages").click()
    expect(page.locator(".side").last.locator(".message")).to_have_count(6)
    sent = page.locator(".side").last.locator("details.prompt")
    expect(sent.locator("mark")).to_have_text("80 m tall, built in 1543.")
    screenshot(page, "comparison")


# -- axe -----------------------------------------------------------------------------------------------------

AXE = "async () => (await axe.run()).violations.map((found) => [found.impact, found.id, found.nodes[0].html])"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, two: tuple[Trace, Trace], tmp_path: Path, scheme: str) -> None:
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    pages = {
        "run": to_page(lighthouse(), "en"),
        "zh": to_page(lighthouse_in_chinese(), "zh"),
        "long": to_page(long_run(100), "en"),
        "workflow": to_page(desk(), "en"),
        "two": comparison_page(*two, lang="en"),
    }
    for name, text in pages.items():
        file = tmp_path / f"{name}.html"
        file.write_text(text, encoding="utf-8")
        page.goto(file.as_uri())
        page.locator(".react-lab-player").press("End")
        for summary in page.locator("summary").all():
            summary.click()
        page.evaluate(axe)
        assert [found for found in page.evaluate(AXE) if found[0] in ("serious", "critical")] == []


def test_a_player_in_python_is_one_model_however_often_it_is_moved() -> None:
    player = replay(lighthouse(), lang="en")
    for step in (3, 1, 2):
        player.step = step  # type: ignore[union-attr]
    assert player.step == 2  # type: ignore[union-attr]
