"""player.js in a page of its own, in Chromium."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from react_lab import Reply, ScriptedModel, TextReActAgent, ToolCall, Trace
from react_lab.replay.page import to_page
from tests.browser.runs import REGISTRY, calling, desk, lighthouse, lighthouse_in_chinese, long_run, run
from tests.payloads import PAYLOADS

pytestmark = pytest.mark.browser

Show = Callable[..., Page]


@pytest.fixture
def show(page: Page, tmp_path: Path) -> Show:
    """Open the page of a run; the tab then is at its first step and has the focus."""

    def show(trace: Trace, lang: str = "en") -> Page:
        path = tmp_path / "run.html"
        path.write_text(to_page(trace, lang), encoding="utf-8")
        page.goto(path.as_uri())
        player(page).focus()
        return page

    return show


def player(page: Page) -> Locator:
    return page.locator(".react-lab-player")


def expect_step(page: Page, number: int, count: int = 3) -> None:
    expect(page.get_by_role("status")).to_have_text(f"Step {number} of {count}")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_run_opens_at_its_first_step_with_a_single_request(show: Show, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    show(lighthouse())
    expect_step(page, 1)
    expect(page.get_by_text("ToolUseAgent · scripted · answered · 1,644 tokens in (920 from cache)")).to_be_visible()
    expect(page.get_by_text("I look up its height first.")).to_be_visible()
    expect(page.get_by_text("412 tokens in, 38 out")).to_be_visible()
    assert len(requests) == 1


def test_buttons_step_forward_and_back_and_stop_at_the_ends(show: Show) -> None:
    page = show(lighthouse())
    forward, back = (page.get_by_role("button", name=name) for name in ("Step forward", "Step back"))
    forward.click()
    expect_step(page, 2)
    expect(page.get_by_text("The search failed.")).to_be_visible()
    back.click()
    expect_step(page, 1)
    expect(back).to_be_disabled()
    page.get_by_role("button", name="Last step").click()
    forward.click(force=True)
    expect_step(page, 3)
    expect(forward).to_be_disabled()
    page.get_by_role("button", name="First step").click()
    expect_step(page, 1)


def test_the_keyboard_steps_too(show: Show) -> None:
    page = show(lighthouse())
    for key, number in [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowRight", 3), ("ArrowLeft", 2), ("Home", 1)]:
        press(page, key)
        expect_step(page, number)
    press(page, "End")
    expect_step(page, 3)
    press(page, "Control+ArrowLeft", "Alt+Home", "j", "Tab")
    expect_step(page, 3)


def test_the_slider_jumps(show: Show) -> None:
    page = show(long_run(40))
    slider = page.get_by_role("slider", name="Go to step")
    slider.fill("27")
    expect_step(page, 27, 40)
    expect(slider).to_have_attribute("aria-valuetext", "Step 27 of 40")
    slider.focus()
    press(page, "ArrowLeft")
    expect_step(page, 26, 40)
    expect(slider).to_have_value("26")


def test_the_number_of_a_step_can_be_typed(show: Show) -> None:
    page = show(long_run(40))
    number = page.get_by_role("spinbutton", name="Step number")
    number.fill("27")
    press(page, "Enter")
    expect_step(page, 27, 40)
    number.fill("")
    press(page, "Enter")
    expect(number).to_have_value("27")
    number.fill("900")
    press(page, "ArrowLeft", "Enter")  # the key moves within the number
    expect_step(page, 40, 40)
    player(page).focus()
    press(page, "ArrowLeft")
    expect(number).to_have_value("39")


def test_long_lines_wrap_unless_the_person_wants_columns(show: Show) -> None:
    table = "\n".join(" | ".join(["a column"] * 40) for _ in range(3))
    page = show(run("Table?", [calling("I look.", ("echo", {"text": table})), "Done."]))
    observed = page.locator(".panel.observation pre")
    height = "pre => pre.getBoundingClientRect().height / parseFloat(getComputedStyle(pre).lineHeight)"
    assert observed.evaluate(height) > 5
    wrap = page.get_by_role("button", name="Wrap lines")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    wrap.click()
    expect(wrap).to_have_attribute("aria-pressed", "false")
    assert observed.evaluate(height) < 5  # three lines and a bar to scroll them
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_playback_follows_the_clock(show: Show, page: Page) -> None:
    page.clock.install()
    show(long_run(40))
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(3200)
    expect_step(page, 3, 40)
    page.clock.fast_forward(15_000)  # frames are lost, the steps that were due are not waited for
    page.clock.run_for(50)
    expect_step(page, 13, 40)
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(5000)
    expect_step(page, 13, 40)


def test_playback_ends_with_the_run_and_starts_over(show: Show, page: Page) -> None:
    page.clock.install()
    show(lighthouse())
    press(page, " ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.clock.run_for(10_000)
    expect_step(page, 3)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    press(page, " ")
    expect_step(page, 1)
    page.clock.run_for(1600)
    expect_step(page, 2)


def test_who_steps_by_hand_ends_playback(show: Show, page: Page) -> None:
    page.clock.install()
    show(long_run(40))
    press(page, " ", "ArrowRight")
    page.clock.run_for(6000)
    expect_step(page, 2, 40)
    press(page, " ", " ")
    page.clock.run_for(6000)
    expect_step(page, 2, 40)


def test_an_error_looks_like_one_and_its_traceback_unfolds(show: Show) -> None:
    page = show(lighthouse())
    error = page.locator(".panel.error")
    expect(error.get_by_role("heading", name="Error")).to_be_visible()
    expect(error).to_contain_text("RuntimeError: the index is locked by another process")
    traceback = page.get_by_text("Traceback (most recent call last)")
    expect(traceback).to_have_count(0)
    page.get_by_text("Traceback", exact=True).click()
    expect(traceback).to_be_visible()


def test_the_prompt_as_sent_marks_what_is_new(show: Show) -> None:
    page = show(lighthouse())
    press(page, "ArrowRight")
    prompt = page.locator("details.prompt")
    expect(prompt.locator("summary")).to_have_text("Prompt as sent4 messages, 2 new")
    expect(prompt.locator(".message")).to_have_count(0)
    prompt.locator("summary").click()
    expect(prompt.locator(".message")).to_have_count(2)
    expect(prompt.locator(".role")).to_have_text(["assistantnew", "toolnew"])
    prompt.get_by_text("2 earlier messages").click()
    expect(prompt.locator(".role")).to_have_text(["system", "user", "assistantnew", "toolnew"])
    press(page, "ArrowRight")
    expect(prompt.locator(".role")).to_have_text(["system", "user", "assistant", "tool", "assistantnew", "toolnew"])


def test_what_was_unfolded_stays_so_and_the_keys_stay_with_the_player(show: Show) -> None:
    page = show(lighthouse())
    reply = page.locator("details.reply")
    reply.locator("summary").click()
    expect(reply.locator("pre")).to_have_text("I look up its height first.")
    press(page, "ArrowRight")  # the summary that had the focus is gone
    expect(reply.locator("pre")).to_contain_text("The search failed.")
    expect(player(page)).to_be_focused()
    press(page, "ArrowRight")
    expect_step(page, 3)
    reply.locator("summary").click()
    press(page, "ArrowLeft")
    expect(reply).not_to_have_attribute("open", "")


def test_sources_of_the_web_are_links_and_nothing_else_is(show: Show) -> None:
    trace = lighthouse()
    trace.events[-1]["sources"] += ["javascript:alert(1)", "data:text/html,x", " https://example.org"]
    page = show(trace)
    press(page, "End")
    links = page.get_by_role("link")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://almanac.example/lanterna")
    expect(links).to_have_attribute("rel", "noopener noreferrer")
    expect(page.get_by_text("javascript:alert(1)")).to_be_visible()


def test_hostile_text_is_shown_and_never_run(show: Show, page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    everything = "\n".join(PAYLOADS)
    reply = Reply(everything, thought=everything, tool_calls=(ToolCall("c1", everything, {"text": everything}),))
    echo = calling("And its output.", ("echo", {"text": everything}))
    assert len(PAYLOADS) >= 40
    show(run(everything, [reply, echo, Reply(everything)]))
    for step in range(3):
        expect_step(page, step + 1)
        for kind in ("prompt", "reply", "events", "earlier"):
            if step == 0 and kind != "earlier":
                page.locator(f"details.{kind} > summary").click()
        page.wait_for_timeout(100)
        seen = player(page).inner_text()
        counts = [seen.count(payload) for payload in PAYLOADS]
        assert min(counts) >= 3, dict(zip(PAYLOADS, counts, strict=True))  # question, prompt or reply, and the step
        press(page, "ArrowRight")
    assert page.evaluate("() => window.owned") is None
    foreign = "img, iframe, style, script, form, object, embed, link, base, video, audio, template, [onclick], [onload]"
    assert player(page).locator(foreign).count() == 0
    assert player(page).locator("input").count() == 3  # slider, number of a step, search
    assert len(requests) == 1


def test_everything_is_in_chinese_for_who_reads_chinese(show: Show) -> None:
    page = show(lighthouse_in_chinese(), "zh")
    expect(player(page)).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("status")).to_have_text("第 1 步，共 2 步")
    for name in ("第一步", "后退一步", "播放", "前进一步", "最后一步"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
    expect(page.get_by_text("由离线替身作答：它只有几条规则，不是语言模型。")).to_be_visible()
    expect(page.get_by_role("heading")).to_have_text(["思考", "行动", "观察"])
    for summary in page.locator("summary").all():
        summary.click()
    assert not re.search(r"Thought|Action|Step|message|new|Raw", player(page).inner_text())


def test_a_question_in_another_language_keeps_its_own(show: Show) -> None:
    page = show(lighthouse_in_chinese(), "en")
    expect(player(page)).to_have_attribute("lang", "en")
    expect(page.locator(".question")).to_have_attribute("lang", "zh-CN")
    expect(page.get_by_role("heading").first).to_have_attribute("lang", "en")


def timed(trace: Trace) -> Trace:
    """The run as if a model and its tools had taken their time: model 1 s, tools 0.5 s, 0.6 s and so on."""
    seconds = itertools.count(5)
    for event in trace.events:
        if event["event"] == "reply":
            event["seconds"] = 1.0
        elif event["event"] == "result":
            event["seconds"] = next(seconds) / 10
    return trace


def test_search_finds_in_every_text_and_says_which_of_how_many(show: Show) -> None:
    trace = run(
        "Where is the needle?",
        [
            calling("A Needle in a thought.", ("echo", {"text": "hay"})),
            calling("Nothing here.", ("echo", {"text": "hay"})),
            calling("Still nothing.", ("echo", {"text": "in the arguments: NEEDLE"})),
            Reply("Done.", thought="x"),
        ],
    )
    page = show(trace)
    press(page, "/")
    page.keyboard.type("needle")
    found = page.locator(".found")
    expect(found).to_have_text("1 of 2")
    expect_step(page, 1, 4)
    press(page, "Enter")
    expect(found).to_have_text("2 of 2")
    expect_step(page, 3, 4)
    assert marked(page) == ["NEEDLE", "NEEDLE"]  # in the arguments, and in what came back
    press(page, "Enter")
    expect_step(page, 1, 4)
    press(page, "Shift+Enter")
    expect_step(page, 3, 4)
    page.get_by_role("button", name="Previous match").click()
    expect(found).to_have_text("1 of 2")
    page.get_by_role("searchbox").fill("no such word")
    expect(found).to_have_text("not found")
    press(page, "Escape")
    expect(found).to_have_text("")
    expect(player(page)).to_be_focused()
    press(page, "ArrowRight")
    expect_step(page, 2, 4)


def marked(page: Page) -> list[str]:
    """What is marked as found."""
    marks = "() => [...CSS.highlights.get('react-lab-found')].map((range) => range.toString())"
    return list(page.evaluate(marks))


def test_what_is_found_in_something_folded_unfolds_it(show: Show) -> None:
    page = show(lighthouse())
    press(page, "/")
    page.keyboard.type("almanac.example/lanterna")
    expect_step(page, 2)
    page.get_by_role("searchbox").fill("traceback (most")
    expect_step(page, 1)
    expect(page.get_by_text("Traceback (most recent call last)")).to_be_visible()
    assert marked(page) == ["Traceback (most"]


def test_a_filter_leaves_only_the_steps_of_a_tool_or_with_errors(show: Show) -> None:
    page = show(lighthouse())
    press(page, "End")
    page.get_by_role("combobox", name="Tool").select_option("search")
    expect(page.get_by_role("status")).to_have_text("Step 2 of 3 · 2 of 2 shown")
    player(page).focus()
    press(page, "ArrowRight")
    expect(page.get_by_role("status")).to_have_text("Step 2 of 3 · 2 of 2 shown")
    press(page, "Home")
    expect(page.get_by_role("status")).to_have_text("Step 1 of 3 · 1 of 2 shown")
    page.get_by_role("combobox", name="Tool").select_option("multiply")
    expect(page.get_by_role("status")).to_have_text("Step 2 of 3 · 1 of 1 shown")
    page.get_by_role("button", name="Errors only").click()
    expect(page.get_by_role("status")).to_have_text("No step fits this filter.")
    page.get_by_role("combobox", name="Tool").select_option("All tools")
    expect(page.get_by_role("status")).to_have_text("Step 1 of 3 · 1 of 1 shown")
    page.get_by_role("button", name="Errors only").click()
    expect_step(page, 1)


def test_a_workflow_can_be_stepped_node_by_node(show: Show) -> None:
    page = show(desk())
    expect(player(page).locator(".costs")).to_contain_text("planner")
    page.get_by_label("Node").select_option("researcher-2")
    expect(player(page).locator(".costs")).to_contain_text("researcher-2")
    expect(player(page).get_by_role("status")).to_contain_text("1 of 1 shown")
    expect(page.locator("details.prompt")).to_have_count(0)  # it asks no model
    page.get_by_label("Node").select_option("planner-2")
    page.locator("details.prompt > summary").click()
    expect(page.locator("details.prompt .message")).to_have_count(2)
    expect(page.locator("details.prompt")).to_contain_text("Still missing")


def test_the_list_of_steps_jumps_and_follows(show: Show) -> None:
    page = show(long_run(60))
    page.locator("details.steps > summary").click()
    rows = page.get_by_role("listbox", name="Steps")
    rows.get_by_role("option").nth(3).click()
    expect_step(page, 4, 60)
    expect(rows.get_by_role("option", selected=True)).to_contain_text("Thought 4.")
    press(page, "End")
    expect(rows.get_by_role("option", selected=True)).to_have_attribute("aria-posinset", "60")
    rows.focus()
    press(page, "ArrowUp", "ArrowUp", "ArrowDown")
    expect_step(page, 59, 60)
    rows.evaluate("(list) => list.scrollTo(0, 0)")
    expect(rows.get_by_role("option").first).to_contain_text("Thought 1.")


def test_a_click_on_the_drawings_goes_to_the_step(show: Show) -> None:
    page = show(timed(lighthouse()))
    time, context = (page.get_by_role("img", name=name) for name in ("Time", "Context"))
    expect(time).to_have_attribute("aria-label", "Time · model 3.00 s, tools 1.20 s")
    # Model 1 s, tool 0.5 s; model 1 s, two tools side by side, the longer 0.7 s; model 1 s: 4.2 s in all.
    for at, number in ((0.1, 1), (0.5, 2), (0.9, 3)):
        click_at(time, at)
        expect_step(page, number)
        click_at(context, at)
        expect_step(page, number)
    edges = page.evaluate(
        """() => [...document.querySelectorAll(".timeline path")].map((path) => [path.className.baseVal,
        (path.getAttribute("d").match(/M[^h]+/g) ?? []).map((start) => start.slice(1).split(" ").map(Number))])"""
    )
    assert dict(map(tuple, edges)) == {
        "model": [[0, 0], [357.14, 0], [761.9, 0]],
        "tool": [[595.24, 17], [595.24, 26]],  # both begin when the model has finished, one below the other
        "failed": [[238.1, 17]],
    }


def click_at(element: Locator, share: float) -> None:
    """Click into an element, so much of its width from the left."""
    box = element.bounding_box()
    assert box
    element.click(position={"x": box["width"] * share, "y": box["height"] / 2})


def test_an_address_can_point_to_a_step_and_follows_it(show: Show, page: Page) -> None:
    show(lighthouse())
    press(page, "ArrowRight")
    page.wait_for_url("**#step-2")
    page.reload()
    expect_step(page, 2)
    page.evaluate("() => { location.hash = '#step-3' }")
    expect_step(page, 3)
    page.evaluate("() => { location.hash = '#step-99' }")
    expect_step(page, 3)


def test_the_speed_of_playback_can_be_chosen(show: Show, page: Page) -> None:
    page.clock.install()
    show(long_run(40))
    page.get_by_role("combobox", name="Speed").select_option("4×")
    player(page).focus()
    press(page, " ")
    page.clock.run_for(1600)
    expect_step(page, 5, 40)
    page.get_by_role("combobox", name="Speed").select_option("0.25×")
    page.clock.run_for(5900)
    expect_step(page, 5, 40)
    page.clock.run_for(200)
    expect_step(page, 6, 40)


def test_a_step_unfolds_into_its_events(show: Show) -> None:
    page = show(lighthouse())
    press(page, "ArrowRight")
    page.locator("details.events > summary").click()
    expect(page.locator("dt")).to_have_text(["request", "reply", "reader", "result", "result"])
    expect(page.locator("dd").nth(2)).to_have_text("Thought · calls search · calls multiply")


def test_the_raw_reply_shows_what_the_reader_took(show: Show) -> None:
    text = 'Sure 😀!\nThought: I repeat it.\nAction: echo({"text": "灯塔"})\nObservation: invented'
    page = show(TextReActAgent(ScriptedModel([text, "Final Answer: done"]), REGISTRY).run("?"))
    page.locator("details.reply > summary").click()
    expect(page.locator(".piece")).to_have_text(["I repeat it.", 'echo({"text": "灯塔"})'])
    expect(page.locator("details.reply pre")).to_have_text(text)


def test_data_folds_and_keeps_every_character(show: Show) -> None:
    data = {"found": [{"n": n, "big": 12345678901234567890, "text": "a\nb"} for n in range(9)], "more": True}
    page = show(run("?", [calling("x", ("echo", {"text": json.dumps(data)})), "done"]))
    pre = page.locator(".observation pre")
    expect(pre.locator("> details > summary")).to_have_text("{")
    found = pre.get_by_text('"found": [')
    expect(pre.get_by_text("12345678901234567890").first).to_be_hidden()
    found.click()
    expect(pre.get_by_text('"n": 8').first).to_be_visible()
    assert json.loads(pre.text_content() or "") == data


def test_charts_and_text_can_be_taken_away(show: Show, tmp_path: Path) -> None:
    page = show(timed(lighthouse()))
    with page.expect_download() as charts:
        page.get_by_role("button", name="Charts (PNG)").click()
    picture = charts.value.path().read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5000
    with page.expect_download() as text:
        page.get_by_role("button", name="Markdown").click()
    markdown = text.value.path().read_text(encoding="utf-8")
    assert "## Step 2 of 3" in markdown
    assert '**Action**\n\n```text\nsearch\n{"query": "Lanterna of Genoa"}\n```' in markdown


def test_a_long_run_keeps_the_page_small(show: Show) -> None:
    page = show(long_run(300))
    press(page, "End", "ArrowLeft")
    expect_step(page, 299, 300)
    page.locator("details.steps > summary").click()
    expect(page.get_by_role("listbox").get_by_role("option")).to_have_count(10)  # of 300: those in sight, and two
    assert page.locator("*").count() <= 300


def test_nothing_is_wider_than_a_narrow_screen(show: Show) -> None:
    long = "https://example.org/" + "a" * 4000
    trace = run("灯" * 400, [calling("灯" * 4000, ("echo", {"text": long})), Reply(long)])
    page = show(trace)
    page.set_viewport_size({"width": 320, "height": 700})
    for summary in ("Prompt as sent", "Raw reply"):
        page.get_by_text(summary).click()
    for _ in range(2):
        assert page.evaluate("() => document.documentElement.scrollWidth") == 320
        press(page, "ArrowRight")


def test_a_run_without_steps_shows_why(show: Show) -> None:
    trace = lighthouse()
    page = show(Trace([trace.events[0], {"event": "end", "outcome": "error", "reason": "provider down"}]))
    expect(page.get_by_text("provider down")).to_be_visible()
    expect(page.get_by_text("The run ended before the model replied.")).to_be_visible()
    expect(page.get_by_role("button")).to_have_count(0)
    press(page, "ArrowRight", "End", " ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark(show: Show, page: Page, screenshot: Callable[..., Path], scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    show(lighthouse())
    page.get_by_text("Traceback", exact=True).click()
    for summary in ("Prompt as sent", "Raw reply"):
        page.get_by_text(summary).click()
    screenshot(page, f"page-{scheme}")
    faint = [found for found in page.evaluate(CONTRASTS) if found["contrast"] < 4.5]
    assert faint == []


# Every text of the player with the contrast to its background, as WCAG 2 defines it.
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => {
    const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb(color).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return rgb(color)[3] === 255 ? color : paper(element.parentElement);
  };
  const texts = [...document.querySelectorAll(".react-lab-player *")].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const [low, high] = [light(getComputedStyle(element).color), light(paper(element))].sort((a, b) => a - b);
    return { text: element.textContent.slice(0, 40), contrast: (high + 0.05) / (low + 0.05) };
  });
}"""


def test_pictures_for_a_person_to_look_at(show: Show, page: Page, screenshot: Callable[..., Path]) -> None:
    show(lighthouse_in_chinese(), "zh")
    press(page, "End")
    screenshot(page, "page-zh")
    show(lighthouse())
    press(page, "ArrowRight")
    screenshot(page, "page-step")
    page.set_viewport_size({"width": 380, "height": 800})
    screenshot(page, "page-narrow")
    page.set_viewport_size({"width": 1000, "height": 800})
    show(desk())
    page.get_by_role("combobox", name="Node").select_option("synthesizer")
    page.locator("details.steps > summary").click()
    screenshot(page, "page-workflow")
