"""Prints what Phoenix makes of an OTLP/JSON file. It runs in an environment that has arize-phoenix, not in ours."""

import base64
import json
import pathlib
import sys

from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped,import-not-found]
from opentelemetry.proto.trace.v1.trace_pb2 import Span  # type: ignore[import-not-found]
from phoenix.trace.otel import decode_otlp_span  # type: ignore[import-not-found]


def read(written: dict) -> dict:  # type: ignore[type-arg]
    """A span as Phoenix keeps it. JSON of protobuf messages has ids in base64, OTLP/JSON in hex."""
    ids = {name: written[name] for name in ("traceId", "spanId", "parentSpanId") if name in written}
    packed = {name: base64.b64encode(bytes.fromhex(value)).decode() for name, value in ids.items()}
    span = decode_otlp_span(ParseDict({**written, **packed}, Span()))
    llm, tool = span.attributes.get("llm", {}), span.attributes.get("tool", {})
    counts = llm.get("token_count", {})
    return {
        "kind": str(getattr(span.span_kind, "value", span.span_kind)),
        "parent": span.parent_id,
        "status": str(getattr(span.status_code, "value", span.status_code)),
        "tokens": [int(counts.get("prompt", -1)), int(counts.get("completion", -1))],
        "messages": len(llm.get("input_messages", [])),
        "tool": tool.get("name"),
        "input": span.attributes.get("input", {}).get("value"),
        "output": span.attributes.get("output", {}).get("value"),
    }


with pathlib.Path(sys.argv[1]).open(encoding="utf-8") as file:
    document = json.load(file)
spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
print(json.dumps([read(span) for span in spans]))
