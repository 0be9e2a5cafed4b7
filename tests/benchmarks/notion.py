"""What publishing to Notion costs and survives, against the test server. Run: python -m tests.benchmarks.notion [NAME…]

`texts` takes the examples of CommonMark from a file that is not part of this repository:
`npm pack commonmark-spec@0.31.2`, then --spec package/spec.txt. Without it that line is left out.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from react_lab_exporters.note import note_from_trace
from react_lab_exporters.notion.attachment import trace_file
from react_lab_exporters.notion.blocks import to_blocks
from react_lab_exporters.notion.content import create_body
from react_lab_exporters.notion.plan import plan
from react_lab_exporters.notion.preview import Preview
from react_lab_exporters.notion.text import plain
from tests.notion_documents import document, lost_links, lost_words, reference, word_counts
from tests.notion_server.checks import wrong_with_request
from tests.notion_server.lab import FORTY, SIX, UPLOAD, Lab, notion_lab, trace_of
from tests.notion_server.server import Fault
from tests.notion_server.victim import MOMENTS
from tests.test_markdown import HOSTILE
from tests.test_notion_plan import formula

ROOT = Path(__file__).resolve().parents[2]
REPORTS = 500
DOCUMENTS = 10_000
RUNS = 1000


def requests(_: argparse.Namespace) -> Iterator[str]:
    """Requests of made-up reports against formula R."""
    outcomes: Counter[str] = Counter()
    for seed in range(REPORTS):
        trace = trace_of(document(seed))
        blocks = Preview(note_from_trace(trace), file=trace_file(trace)).blocks
        ours, wanted = len(plan(blocks)), formula(blocks)
        outcomes["equal" if ours == wanted else "fewer" if ours < wanted else "more"] += 1
    yield f"requests for the pages of {REPORTS} reports against R: {dict(outcomes)}; {UPLOAD} more each for the trace"


def texts(options: argparse.Namespace) -> Iterator[str]:
    """Payloads within schema and limits, words and links kept."""
    if options.spec:
        yield measured("CommonMark examples", spec_examples(options.spec))
    yield measured("hostile texts", HOSTILE)
    yield measured("made-up documents", (document(seed, most=4) for seed in range(DOCUMENTS)))


def spec_examples(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    found = re.findall(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", text, re.DOTALL | re.MULTILINE)
    return [example.replace("→", "\t") for example in found]


def measured(name: str, markdowns: Iterable[str]) -> str:
    documents = payloads = refused = all_words = lost = links_lost = unwarned = 0
    spent = slowest = 0.0
    for markdown in markdowns:
        started = time.perf_counter()
        rendered = to_blocks(markdown)
        sends = plan(rendered.blocks)
        took = time.perf_counter() - started
        documents, spent, slowest = documents + 1, spent + took, max(slowest, took)
        for number, send in enumerate(sends):
            create = create_body("0" * 32, {"title": {"title": plain("t")}}, send.children)
            append = {"block_id": "0" * 32, "children": send.children}
            kind, body = ("AppendBlockChildren", append) if number else ("CreatePage", create)
            payloads += 1
            refused += wrong_with_request(kind, body) is not None
        all_words += sum(word_counts(reference(markdown).get_text()).values())
        missing = sum(lost_words(markdown, rendered.blocks).values())
        lost += missing
        unwarned += bool(missing) and not rendered.warnings
        links_lost += len(lost_links(markdown, rendered.blocks))
    kept = 100 * (1 - lost / max(all_words, 1))
    return (
        f"{documents:,} {name}: {payloads:,} payloads, {refused} refused; words kept {kept:.3f} % of {all_words:,} "
        f"({unwarned} texts lost some without a warning), links lost {links_lost}; "
        f"{1000 * spent / max(documents, 1):.1f} ms a text, at most {1000 * slowest:.0f} ms"
    )


def kills(_: argparse.Namespace) -> Iterator[str]:
    """kill -9 at every request of two reports, and what the next run makes of it."""
    for text in (SIX, FORTY):
        trace = trace_of(text)
        with tempfile.TemporaryDirectory() as folder, notion_lab(Path(folder)) as calm:
            calm.publish(trace)
            wanted, usual, writes = calm.page, len(calm.server.log), len(calm.server.writes)
        same = 0
        extra = []
        for moment in MOMENTS:
            for number in range(writes):
                with tempfile.TemporaryDirectory() as folder, notion_lab(Path(folder) / "state") as lab:
                    file = trace.save(Path(folder) / "run.jsonl")
                    kill(lab, file, moment, number)
                    lab.publish(trace)
                    same += lab.page == wanted
                    extra.append(len(lab.server.log) - usual)
        yield (
            f"kill -9 of a report of {writes} requests, {UPLOAD} of them for the trace: {len(extra)} kills, "
            f"{same} pages equal to the undisturbed one, extra requests at most {max(extra)}"
        )


def kill(lab: Lab, trace: Path, moment: str, number: int) -> None:
    command = [sys.executable, "-m", "tests.notion_server.victim", lab.server.address, str(lab.folder), str(trace)]
    done = subprocess.run([*command, moment, str(number)], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode, "it was not killed"
    assert not done.stderr, done.stderr


def storm(_: argparse.Namespace) -> Iterator[str]:
    """Sixty 429 in a row."""
    trace = trace_of(SIX)
    with tempfile.TemporaryDirectory() as folder, notion_lab(Path(folder)) as lab:
        lab.server.faults = {n: Fault(429, retry_after=str(1 + 2 * n)) for n in range(2, 62)}
        [published] = lab.publish(trace)
        yield f"60 times 429: {published.action}, {len(lab.rows)} row, {lab.clock.now - 1000:.0f} s waited (not really)"


def republish(_: argparse.Namespace) -> Iterator[str]:
    """A thousand runs, published again."""
    traces = [trace_of(f"answer {number}") for number in range(RUNS)]
    with tempfile.TemporaryDirectory() as folder, notion_lab(Path(folder)) as lab:
        lab.publish(*traces)
        rows, first, started = len(lab.rows), len(lab.server.log), lab.clock.now
        actions = Counter(each.action for each in lab.publish(*traces))
        requests = len(lab.server.log) - first
        pace = first / (started - 1000)
        yield f"{RUNS} runs: {first} requests, {pace:.2f} a second; again: {dict(actions)}, {requests} request"
        yield f"rows before and after: {rows}, {len(lab.rows)}"


PARTS: dict[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    part.__name__: part for part in (requests, texts, kills, storm, republish)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--spec", type=Path)
    options = parser.parse_args()
    for name in options.parts:
        for line in PARTS[name](options):
            print(line, flush=True)


if __name__ == "__main__":
    main()
