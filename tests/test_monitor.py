"""What a run took, as rows, as a table, and as spans that are sent to a collector."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from rich.console import Console

from react_lab import Message, Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, Trace, Usage, tool
from react_lab.errors import TemporaryToolError
from react_lab.hardening.cache import with_cache
from react_lab.hardening.retry import with_retry
from react_lab.language import Language
from react_lab.monitor import WORDS, export_spans, stats, table, total


class Clocked(ScriptedModel):
    """A scripted model that says that each reply was the second attempt."""

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        return replace(super().reply(messages, **options), attempts=2, waited_s=1.5)


@pytest.fixture
def trace() -> Trace:
    failures = [TemporaryToolError("busy", retry_after_s=2)]

    @tool
    def look(what: str) -> str:
        """Look."""
        if failures:
            raise failures.pop()
        return f"found {what}"

    def call(number: int) -> ToolCall:
        return ToolCall(str(number), "look", {"what": "x"})

    replies = [
        Reply(tool_calls=(call(1),), usage=Usage(1000, 10), cost_usd=0.001),
        Reply(tool_calls=(call(2), call(3)), usage=Usage(1200, 20, 900), cost_usd=0.0005),
        Reply("done"),
    ]
    tools = with_cache(with_retry(ToolRegistry([look]), sleep=lambda wait_s: None))
    return ToolUseAgent(Clocked(replies), tools).run("What is x?")


def test_each_step_tells_what_it_took(trace: Trace) -> None:
    rows = stats(trace)
    assert [(row["step"], row["calls"], row["cached"], row["retries"], row["waited_s"]) for row in rows] == [
        (1, 1, 0, 2, 3.5),  # the model's and the tool's
        (2, 2, 2, 1, 1.5),
        (3, 0, 0, 1, 1.5),
    ]
    assert [(row["input_tokens"], row["cached_tokens"], row["output_tokens"], row["cost_usd"]) for row in rows] == [
        (1000, 0, 10, 0.001),
        (1200, 900, 20, 0.0005),
        (None, None, None, None),
    ]
    for row, step in zip(rows, trace.steps, strict=True):
        assert row["model_s"] + row["tools_s"] == pytest.approx(step.seconds)


def test_totals_are_sums_of_what_is_known(trace: Trace) -> None:
    sums = total(stats(trace))
    assert (sums["input_tokens"], sums["output_tokens"], sums["cached_tokens"]) == (2200, 30, 900)
    assert sums["cost_usd"] == pytest.approx(trace.cost_usd)
    assert sums["model_s"] + sums["tools_s"] == pytest.approx(trace.seconds, abs=1e-5)
    assert total([])["cost_usd"] is None


def printed(trace: Trace, language: Language) -> list[list[str]]:
    out = io.StringIO()
    Console(file=out, width=200).print(table(trace, language))
    return [line.split() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_table_is_in_both_languages(trace: Trace, language: Language) -> None:
    head, *steps, footer = printed(trace, language)
    assert head == " ".join(word for name, word in WORDS[language].items() if name != "total").split()
    assert [line[0] for line in steps] == ["1", "2", "3"]
    assert steps[2][-1] == "?"  # unknown is not zero
    assert footer[0] == WORDS[language]["total"]
    assert footer[-2:] == ["30", "0.001500"]


def test_columns_that_tell_nothing_are_left_out() -> None:
    head, *_ = printed(ToolUseAgent(ScriptedModel(["42"]), ToolRegistry()).run("?"), "en")
    assert "cached" not in head
    assert "retries" not in head
    assert "US$" in head


def test_both_languages_have_the_same_words() -> None:
    assert WORDS["en"].keys() == WORDS["zh"].keys()


# -- spans -------------------------------------------------------------------------------------------------------


class Collector(BaseHTTPRequestHandler):
    status = 200
    taken: list[tuple[str, dict[str, str], Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.taken.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Collector]]:
    """A collector that runs on loopback and is named in the environment."""

    class Here(Collector):
        taken = []

    server = HTTPServer(("127.0.0.1", 0), Here)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}/")
    yield Here
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_run_goes_to_the_collector_that_the_environment_names(
    trace: Trace, collector: type[Collector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc, x-project = lab ")
    assert export_spans(trace)
    ((path, headers, body),) = collector.taken
    assert path == "/v1/traces"
    assert body == json.loads(json.dumps(trace.to_otlp()))
    assert (headers["content-type"], headers["authorization"], headers["x-project"]) == (
        "application/json",
        "Basic abc",
        "lab",
    )


def test_an_address_for_traces_is_used_as_it_is(
    trace: Trace, collector: type[Collector], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "api/otlp")
    assert export_spans(trace)
    assert collector.taken[0][0] == "/api/otlp"


def test_half_an_emoji_does_not_stop_the_export(collector: type[Collector]) -> None:
    assert export_spans(ToolUseAgent(ScriptedModel(["\ud83d"]), ToolRegistry()).run("?"))


def test_a_collector_that_fails_is_logged_and_nothing_else(
    trace: Trace, collector: type[Collector], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector.status = 500
    assert not export_spans(trace)
    for address in ("http://127.0.0.1:9/", "nowhere", "http://[", "http://127.0.0.1:99999"):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        assert not export_spans(trace)
    told = [message for message in caplog.messages if "the spans were not sent" in message]
    assert len(told) == 5


def test_without_a_collector_nothing_is_loaded(trace: Trace) -> None:
    assert not export_spans(trace)
    code = (
        "import sys; from react_lab import Trace; from react_lab.monitor import export_spans; "
        "print(export_spans(Trace([{'event': 'run'}])), {'httpx2', 'rich', 'react_lab.interchange'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["False", "set()\n"]
