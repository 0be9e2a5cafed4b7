"""What a run took, step by step: time, tokens and money as a table, and as spans for the viewers that people run."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from react_lab.language import Language
from react_lab.messages import Reply, Usage
from react_lab.trace import Step, Trace

if TYPE_CHECKING:
    from rich.table import Table

log = logging.getLogger(__name__)

Row = dict[str, Any]

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "step": "step",
        "model_s": "model s",
        "tools_s": "tools s",
        "waited_s": "waited s",
        "calls": "calls",
        "cached": "cached",
        "retries": "retries",
        "input_tokens": "tokens in",
        "cached_tokens": "from cache",
        "output_tokens": "out",
        "cost_usd": "US$",
        "total": "total",
    },
    "zh": {
        "step": "步",
        "model_s": "模型（秒）",
        "tools_s": "工具（秒）",
        "waited_s": "等待（秒）",
        "calls": "调用",
        "cached": "命中缓存",
        "retries": "重试",
        "input_tokens": "输入词元",
        "cached_tokens": "其中缓存",
        "output_tokens": "输出词元",
        "cost_usd": "美元",
        "total": "合计",
    },
}
SUMMED = tuple(name for name in WORDS["en"] if name not in ("step", "total"))


def stats(trace: Trace) -> list[Row]:
    """One row a step: `step`, `node`, `model_s`, `tools_s` (of calls side by side, the slowest), `waited_s` (between
    attempts, a part of the two), `calls`, `cached`, `retries`, and tokens and cost, None where they are unknown.
    """
    return [_row(trace, step) for step in trace.steps]


def _row(trace: Trace, step: Step) -> Row:
    reply = trace.reply_at(step.index) or Reply()  # a workflow's step may have none
    waited_s = reply.waited_s + max((result.waited_s for result in step.results), default=0.0)
    retries = reply.attempts - 1 + sum(result.attempts - 1 for result in step.results)
    return {
        "step": step.index,
        "node": step.node,
        "model_s": step.model_seconds,
        "tools_s": step.seconds - step.model_seconds,
        "waited_s": waited_s,
        "calls": len(step.calls),
        "cached": sum(result.cached for result in step.results),
        "retries": retries,
        **(vars(step.usage) if step.usage else dict.fromkeys(vars(Usage()))),
        "cost_usd": step.cost_usd,
    }


def total(rows: Iterable[Row]) -> Row:
    """The sums of all columns; None where nothing is known, else the sum of what is."""
    kept = list(rows)
    return {name: _sum(row[name] for row in kept) for name in SUMMED}


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def table(trace: Trace, language: Language) -> Table:
    """The rows of `stats` and their sums, to be printed with rich; columns of nothing but zeros are left out."""
    from rich.table import Table

    rows, words = stats(trace), WORDS[language]
    sums = total(rows)
    shown = Table(box=None, show_footer=True)
    shown.add_column(words["step"], words["total"])
    columns = [name for name in SUMMED if sums[name] != 0]
    for name in columns:
        shown.add_column(words[name], _shown(name, sums[name]), justify="right")
    for row in rows:
        shown.add_row(f"{row['step']} {row['node']}", *(_shown(name, row[name]) for name in columns))
    return shown


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "?"  # unknown is not zero
    if name.endswith("_s"):
        return f"{value:.2f}"
    return f"{value:.6f}" if name == "cost_usd" else f"{value:,}"


# -- spans -------------------------------------------------------------------------------------------------------

TIMEOUT_S = 10.0


def export_spans(trace: Trace) -> bool:
    """Send a run to the OpenTelemetry collector that the usual variables name (OTLP over HTTP, as JSON).

    `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is used as it is, `OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces`; headers come
    from `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS`. Without an address nothing happens. A
    collector that can't be reached is logged: a run must not fail for it.

    Returns:
        Whether the run was taken.
    """
    address = _endpoint()
    if not address:
        return False
    import httpx2

    headers = {"Content-Type": "application/json", **_headers()}
    try:
        body = json.dumps(trace.to_otlp()).encode()
        httpx2.post(address, content=body, headers=headers, timeout=TIMEOUT_S).raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        log.warning("the spans were not sent to %s: %s", address, error)
        return False
    return True


def _endpoint() -> str | None:
    if own := os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        return own
    shared = os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    return f"{shared.rstrip('/')}/v1/traces" if shared else None


def _headers() -> dict[str, str]:
    """`name=value,name=value`, the values percent-encoded (OpenTelemetry's "Protocol Exporter")."""
    given = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_HEADERS") or os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (pair.partition("=") for pair in given.split(",") if "=" in pair)
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
