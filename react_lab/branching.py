"""A new run from a recorded one: the same up to a step, but for one change."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from react_lab.messages import Reply, set_fields
from react_lab.trace import Event, Trace, now, reply_fields

Branch = tuple[list[Event], dict[str, Any]]  # the events that are taken over, and what was changed


def fork(
    parent: Trace,
    step: int,
    *,
    observation: str | None,
    call: int,
    reply: Reply | str | None,
    question: str | None,
    prompt: str | None,
    model: str | None,
) -> Trace:
    """See `Trace.fork`."""
    if sum(change is not None for change in (observation, reply, question, prompt)) > 1:
        raise ValueError("one change a fork: give an observation, a reply, a question or a prompt")
    if step not in {event.get("step") for event in parent.events}:
        raise IndexError(f"no step {step}; this run has {len(parent.steps)}")
    if observation is None and parent.find("request", step) is None:
        raise ValueError(f"step {step} asks no model: change an observation")
    if observation is not None:
        events, change = with_observation(parent, step, call, observation)
    elif reply is not None:
        events, change = with_reply(parent, step, Reply(reply) if isinstance(reply, str) else reply)
    elif question is not None:
        events, change = with_question(parent, step, question)
    elif prompt is not None:
        events, change = with_prompt(parent, step, prompt)
    else:
        events, change = list(up_to_request(parent, step)), {}
    if model is not None:
        events[0], change = {**events[0], "model": model}, {**change, "model": model}
    origin = {"id": parent.id, "step": step, "change": change}
    head = {**events[0], "id": uuid.uuid4().hex[:12], "started_at": now(), "parent": origin}
    return Trace([head, *events[1:]])


def with_observation(parent: Trace, step: int, call: int, observation: str) -> Branch:
    results = list(parent.find_all("result", step))
    if not 0 <= call < len(results):
        raise IndexError(f"step {step} has {len(results)} observations; there is no number {call}")
    said = {"content": observation, "is_error": False, "traceback": None, "changed": True}
    events = [{**event, **said} if event is results[call] else event for event in up_to(parent, step)]
    return events, {"call": call, "observation": observation}


def with_reply(parent: Trace, step: int, reply: Reply) -> Branch:
    node = {"node": parent.node_at(step)} if parent.node_at(step) else {}
    event = {"event": "reply", "step": step, **node, **reply_fields(reply), "seconds": 0.0, "changed": True}
    change = {"reply": reply.text, "tool_calls": [set_fields(call) for call in reply.tool_calls]}
    return [*up_to_request(parent, step), event], change


def with_question(parent: Trace, step: int, question: str) -> Branch:
    if parent.node_at(step):
        raise ValueError("the question of a workflow goes through all of its nodes: start a new run with the other")
    first = parent.find("request", 1)
    assert first is not None, "every run begins with a request"
    asked = [{**message, "text": question} if message["role"] == "user" else message for message in first["messages"]]
    events = [
        {**event, "messages": asked, "changed": True} if event is first else event
        for event in up_to_request(parent, step)
    ]
    return [{**events[0], "question": question}, *events[1:]], {"question": question}


def with_prompt(parent: Trace, step: int, prompt: str) -> Branch:
    node = parent.node_at(step) or None
    events = [
        {**event, "system": prompt} if event["event"] == "run" and event.get("node") == node else event
        for event in up_to_request(parent, step)
    ]
    return events, {"prompt": prompt}


def up_to(parent: Trace, step: int) -> Iterator[Event]:
    """The events up to the end of a step; those of nodes that have no step only if they came before it."""
    begun = False
    for event in parent.events:
        begun = begun or event.get("step") == step
        if event.get("step", step + 1 if begun else 0) <= step:
            yield event


def up_to_request(parent: Trace, step: int) -> Iterator[Event]:
    """The events before a step, and the step's request."""
    return (event for event in up_to(parent, step) if event.get("step") != step or event["event"] == "request")
