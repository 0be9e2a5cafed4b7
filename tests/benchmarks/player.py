"""How fast the player is. Run: python -m tests.benchmarks.player [--lab | --inspect PYTHON]

In headless Chromium: opening and stepping through 1,000 steps, elements at 1,000 and 10,000 steps, search, playback,
memory, size of the page. With `--lab` instead the step against one HTML widget that the kernel updates, in the same
JupyterLab. With `--inspect` opening 1,000 steps against `inspect view`, which the environment of that Python has.
Medians; what is compared is measured in one run.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from importlib import resources
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from urllib.error import URLError

from playwright.sync_api import Browser, Page, sync_playwright

from react_lab import Trace
from react_lab.interchange.recording import Turn, record
from react_lab.messages import Message, Reply, ToolCall, ToolResult
from react_lab.replay.page import to_page
from react_lab.trace import to_json
from tests.browser.conftest import find_chromium
from tests.browser.lab import Lab
from tests.browser.runs import save_notebook

REPEATS = 5

# Steps through the whole run and says how long each step took until the document was changed, in milliseconds.
STEP_TIMES = """(count) => {
  const root = document.querySelector(".react-lab-player");
  const times = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    root.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    root.querySelector(".body").offsetHeight;
    times.push(performance.now() - started);
  }
  return times;
}"""

SEARCH_TIMES = """(words) => {
  const query = document.querySelector("[type=search]");
  return words.map((word) => {
    query.value = word;
    const started = performance.now();
    query.dispatchEvent(new Event("input"));
    return [performance.now() - started, document.querySelector(".found").textContent];
  });
}"""

# The steps that were shown during playback, with the time of each.
PLAYBACK = """(milliseconds) => new Promise((done) => {
  const root = document.querySelector(".react-lab-player");
  const seen = [];
  const watcher = new MutationObserver(() => seen.push([performance.now(), root.querySelector("[type=range]").value]));
  watcher.observe(root.querySelector(".body"), { childList: true });
  root.querySelector("[aria-label=Play]").click();
  const started = performance.now();
  setTimeout(() => {
    watcher.disconnect();
    root.querySelector("[aria-label=Pause]").click();
    done({ seen, elapsed: performance.now() - started });
  }, milliseconds);
})"""

HEAP = "() => { window.gc?.(); return performance.memory.usedJSHeapSize; }"


def passages() -> list[str]:
    """Real text: the entries of the almanac."""
    lines = resources.files("react_lab.tools").joinpath("almanac.jsonl").read_text(encoding="utf-8").splitlines()
    return [" ".join(str(value) for value in json.loads(line).values()) for line in lines]


def long_trace(steps: int, characters: int, *, seed: int = 1) -> Trace:
    """A run of real text: each step has a thought, a call and an observation, in all of so many characters."""
    dice = random.Random(seed)
    texts = passages()
    turns: list[Turn] = []
    added = [Message("user", "What stands in the almanac?")]
    for number in range(1, steps):
        observed = ""
        while len(observed) < characters:
            observed += dice.choice(texts) + "\n"
        call = ToolCall(f"c{number}", "search", {"query": f"entry {number}"})
        reply = Reply(f"Thought {number}.", tool_calls=(call,))
        result = ToolResult(call.id, "search", observed[:characters], seconds=0.2)
        turns.append(Turn(added, reply, 1.0, results=[result]))
        added = turns[-1].sent_next()
    turns.append(Turn(added, Reply("Done."), 1.0))
    return record(turns, question="What stands in the almanac?", model="benchmark", system="Search.")


def opened(browser: Browser, page_file: Path) -> tuple[Page, float]:
    """The page of a run, and how long it took until its first step was there, in seconds."""
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.add_init_script(
        "new MutationObserver((_, watcher) => { if (document.querySelector('.react-lab-player .panel')) {"
        "window.shownAfter = performance.now(); watcher.disconnect(); } }).observe(document, "
        "{ childList: true, subtree: true });"
    )
    page.goto(page_file.as_uri())
    page.wait_for_function("() => window.shownAfter")
    return page, page.evaluate("() => window.shownAfter") / 1000


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def measure_page(browser: Browser, folder: Path) -> None:
    trace = long_trace(1000, 2000)
    written = len(trace.to_jsonl().encode())
    unique = sum(len(to_json(message.to_dict()).encode()) for message in prompt_of(trace))
    file = folder / "run.html"
    file.write_text(to_page(trace, "en"), encoding="utf-8")
    size = file.stat().st_size
    print(f"trace of 1,000 steps: {written:,} bytes, {written / unique:.2f} times its messages")
    print(f"page: {size:,} bytes, {size / written:.0%} of the trace")
    opens = []
    for _ in range(REPEATS):
        page, seconds = opened(browser, file)
        opens.append(seconds)
        page.close()
    print(f"first step shown after {median(opens):.2f} s (median of {REPEATS})")
    page, _ = opened(browser, file)
    page.locator("details.steps > summary").click()
    heap = page.evaluate(HEAP)
    times = page.evaluate(STEP_TIMES, 900)
    grown = page.evaluate(HEAP) / heap
    print(f"a step, laid out: p50 {median(times):.2f} ms, p95 {percentile(times, 0.95):.2f} ms")
    print(f"heap after 900 steps: {grown:.2f} of what it was before")
    words = ["Thought 77", "nobel", "诺贝尔", "no such words", "the", "Thought 999"]
    found = page.evaluate(SEARCH_TIMES, words)
    first, rest = found[0][0], [spent for spent, _ in found[1:]]
    print(f"search: first {first:.1f} ms, then median {median(rest):.1f} ms, worst {max(rest):.1f} ms")
    page.get_by_role("searchbox").fill("")
    page.close()
    measure_playback(browser, file)
    for steps in (1000, 10_000):
        print(f"elements at {steps:,} steps of 4 kB: {elements(browser, folder, steps)}")


def prompt_of(trace: Trace) -> tuple[Message, ...]:
    return trace.prompt_at(trace.steps[-1].index)


def measure_playback(browser: Browser, file: Path) -> None:
    page, _ = opened(browser, file)
    page.get_by_role("combobox", name="Speed").select_option("16×")
    result: dict[str, Any] = page.evaluate(PLAYBACK, 10_000)
    numbers = [int(value) for _, value in result["seen"]]
    due = 1 + int(result["elapsed"] / (1500 / 16))
    skipped = sum(b - a - 1 for a, b in pairwise(numbers))
    print(f"playback at {16000 / 1500:.1f} steps/s: {numbers[-1]} shown of {due} due after 10 s, {skipped} skipped")
    page.close()


def elements(browser: Browser, folder: Path, steps: int) -> int:
    file = folder / f"{steps}.html"
    file.write_text(to_page(long_trace(steps, 4000), "en"), encoding="utf-8")
    page, _ = opened(browser, file)
    page.locator("details.steps > summary").click()
    page.locator(".react-lab-player").press("End")
    page.locator(".react-lab-player").press("ArrowLeft")
    count = page.locator("*").count()
    page.close()
    return count


# -- beside inspect view -------------------------------------------------------------------------------------

SHOWN_AFTER = """(words) => new Promise((done) => {
  const check = () => (document.body.innerText.includes(words) ? done(performance.now()) : setTimeout(check, 10));
  check();
})"""


def measure_inspect(browser: Browser, folder: Path, python: str) -> None:
    """The same run as our page and as a log that Inspect's own server shows, from the address to the first thought."""
    trace = long_trace(1000, 2000)
    ours = folder / "run.html"
    ours.write_text(to_page(trace, "en"), encoding="utf-8")
    messages, logs = folder / "messages.json", folder / "logs"
    messages.write_text(to_json([message.to_dict() for message in prompt_of(trace)]), encoding="utf-8")
    script = Path(__file__).with_name("inspect_log.py")
    subprocess.run([python, str(script), str(messages), str(logs / "run.eval")], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = f"http://127.0.0.1:{port}"
    command = [python, "-m", "inspect_ai", "view", "start", "--log-dir", str(logs), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(server)
        addresses = {"page": ours.as_uri(), "inspect view": f"{server}/#/logs/run.eval/samples/sample/1/1/messages"}
        times = {name: [first_thought(browser, address) for _ in range(REPEATS)] for name, address in addresses.items()}
        process.terminate()
    page, inspect = (median(found) for found in times.values())
    print(f"first thought shown: page {page:.2f} s, inspect view {inspect:.2f} s, {inspect / page:.1f} times")


def first_thought(browser: Browser, address: str) -> float:
    """Seconds from the address to a page that shows the first thought."""
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto(address, wait_until="commit")
    spent: float = page.evaluate(SHOWN_AFTER, "Thought 1.")
    page.close()
    return spent / 1000


def wait_for(server: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(server, timeout=5).close()
        except URLError:
            time.sleep(0.3)
        else:
            return
    sys.exit(f"nothing answers at {server}")


# -- in JupyterLab -------------------------------------------------------------------------------------------

CELLS = """\
from react_lab.replay.player import replay
from react_lab.trace import Trace
trace = Trace.load({path!r})"""
PLAYER = "replay(trace, lang='en')"
NAIVE = """\
import html, ipywidgets
from react_lab.replay.story import story, tell
steps = tell(story(trace), "en")["steps"]
view, slider = ipywidgets.HTML(), ipywidgets.IntSlider(1, 1, len(steps))
def show(change):
    parts = steps[slider.value - 1]["parts"]
    shown = "".join(f"<h3>{part['label']}</h3><pre>{html.escape(part['text'])}</pre>" for part in parts)
    view.value = f"<div class=naive data-step={slider.value}>{shown}</div>"
slider.observe(show, "value")
show(None)
ipywidgets.VBox([slider, view])"""

# Milliseconds from a key to the changed document.
LAB_STEPS = """async ({ root, steps, shown }) => {
  const target = document.querySelector(root);
  const times = [];
  for (let i = 0; i < steps; i++) {
    const before = document.querySelector(shown).textContent;
    const started = performance.now();
    target.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", keyCode: 39, bubbles: true }));
    await new Promise((done) => {
      const check = () => (document.querySelector(shown)?.textContent !== before ? done() : setTimeout(check));
      check();
    });
    times.push(performance.now() - started);
  }
  return times;
}"""


RESTART = "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart() }"
PANEL, WHOLE = ".panel", ".react-lab-player[aria-busy=false]"

# Milliseconds from running the active cell to what it shows.
FIRST_SHOWN = """async (shown) => {
  const cell = document.querySelector(".jp-Notebook .jp-Cell.jp-mod-active");
  const old = cell.querySelector(shown);
  const started = performance.now();
  window.jupyterapp.commands.execute("notebook:run-cell");
  await new Promise((done) => {
    const check = () => {
      const found = cell.querySelector(shown);
      found && found !== old ? done() : setTimeout(check);
    };
    check();
  });
  return performance.now() - started;
}"""


def measure_lab(browser: Browser, folder: Path) -> None:
    """The same run in one notebook: our player, and an HTML widget that the kernel fills at every step."""
    path = long_trace(1000, 2000).save(folder / "run.jsonl")
    notebook_file = save_notebook(folder / "bench.ipynb", CELLS.format(path=str(path)), PLAYER, NAIVE)
    with Lab(folder) as lab:
        page = browser.new_page(viewport={"width": 1000, "height": 800})
        notebook = lab.open(notebook_file, page)
        notebook.run_all()
        first: dict[str, list[float]] = {PANEL: [], f"{WHOLE} {PANEL}": [], ".naive": []}
        for shown, times in [*first.items()] * (2 * REPEATS):
            page.evaluate(RESTART)  # else what earlier runs of the cell left in the kernel would be measured, too
            notebook.wait_for_kernel()
            notebook.show("from react_lab")
            notebook.command("notebook:run-cell")
            notebook.wait_for_kernel()
            notebook.show("import html" if shown == ".naive" else "replay(trace")
            times.append(page.evaluate(FIRST_SHOWN, shown))
            notebook.wait_for_kernel()
        notebook.run_all()
        player, whole, naive = (median(times) for times in first.values())
        print(f"in JupyterLab, from running the cell: player {player:.0f} ms (its last text {whole:.0f} ms),")
        print(f"  HTML widget {naive:.0f} ms; {player / naive:.2f} times")
        ours: list[float] = []
        theirs: list[float] = []
        sent = 0
        for _ in range(REPEATS):
            notebook.show("replay(trace")
            before = notebook.messages
            options = {"root": ".react-lab-player", "steps": 30, "shown": ".react-lab-player .position"}
            ours += page.evaluate(LAB_STEPS, options)
            sent += notebook.messages - before
            notebook.show("import html, ipywidgets")
            options = {"root": ".jupyter-widgets .noUi-handle", "steps": 30, "shown": ".naive"}
            theirs += page.evaluate(LAB_STEPS, options)
        for name, share in (("p50", 0.5), ("p95", 0.95)):
            our, their = percentile(ours, share), percentile(theirs, share)
            print(f"in JupyterLab, {name}: player {our:.2f} ms, HTML widget {their:.1f} ms, {their / our:.0f} times")
        print(f"messages to the kernel in {len(ours)} steps: {sent}")


def main() -> None:
    chromium = find_chromium()
    if chromium is None:
        sys.exit("no Chromium found: install one, or name it in REACT_LAB_CHROMIUM")
    arguments = ["--no-sandbox", "--js-flags=--expose-gc", "--enable-precise-memory-info"]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        match sys.argv[1:]:
            case []:
                measure_page(browser, Path(name))
            case ["--lab"]:
                measure_lab(browser, Path(name))
            case ["--inspect", python]:
                measure_inspect(browser, Path(name), python)
            case _:
                sys.exit(__doc__)
        browser.close()


if __name__ == "__main__":
    main()
