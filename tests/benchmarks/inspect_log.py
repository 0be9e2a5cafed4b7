"""Writes messages as a log that `inspect view` opens. It runs in an environment that has inspect-ai, not in ours."""

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import log, model, tool  # type: ignore[import-not-found]


def chat(message: dict[str, Any]) -> list[Any]:
    """A message of ours as those of Inspect, which has one for each result of a tool."""
    match message["role"]:
        case "system":
            return [model.ChatMessageSystem(content=message["text"])]
        case "user":
            return [model.ChatMessageUser(content=message["text"])]
        case "assistant":
            calls = [
                tool.ToolCall(id=call["id"], function=call["name"], arguments=call["arguments"])
                for call in message.get("tool_calls", ())
            ]
            return [model.ChatMessageAssistant(content=message["text"], tool_calls=calls)]
    return [
        model.ChatMessageTool(content=result["content"], tool_call_id=result["call_id"], function=result["name"])
        for result in message["tool_results"]
    ]


messages = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
dataset = log.EvalDataset(samples=1, sample_ids=["1"])
config = log.EvalConfig()
spec = log.EvalSpec(created="2026-01-01T00:00:00Z", task="run", dataset=dataset, model="benchmark", config=config)
sample = log.EvalSample(
    id="1", epoch=1, input="?", target="", messages=[one for each in messages for one in chat(each)]
)
log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=[sample]), sys.argv[2])
