"""A model behind a provider's SDK: what is the same whatever the wire.

A reply is one request: check the pairing, write the conversation in the wire's form, post it, read the answer. The
body is posted as it stands, for `create()` of the openai SDK would walk every message of the history on every call
(half a millisecond each); retries, time limits, events and errors are the SDK's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Protocol, Self

from react_lab.errors import ModelError
from react_lab.language import language_of
from react_lab.messages import Message, Reply
from react_lab.models.catalogue import Provider, cost_usd
from react_lab.models.failures import model_error, refused_option
from react_lab.models.pairing import call_ids, check_pairing
from react_lab.models.wires import Json, Telling, WireError
from react_lab.tools.base import Tool

# Said at the end of the conversation where a call can't be forced.
CALL_IT = {"en": "Now call the tool {} and write nothing else.", "zh": "现在请调用工具 {}，不要写别的内容。"}


class WireForm(Protocol):
    """A module of `react_lab.models.wires`."""

    PATH: str
    STREAM_FIELDS: Mapping[str, Any]

    def body(self, model: str, system: str, messages: list[Json]) -> Json: ...
    def options(self, model: str, tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]) -> Json: ...
    def to_wire(self, messages: Sequence[Message], model: str) -> list[Json]: ...
    def from_wire(self, response: Mapping[str, Any], *, model: str, taken: set[str]) -> Reply: ...
    def collect(self, events: Iterable[Mapping[str, Any]], telling: Telling) -> Json: ...


class ProviderModel:
    """Base of the models that ask a server.

    Args:
        name: The model's name at its provider.
        provider: Whose server it is, and what that server can't do.
        form: The form in which it is asked.
        client: The SDK's client.
        fields: What goes into every request beside the rest, such as `{"max_tokens": 512}`.
    """

    native_tools = True
    failures: ClassVar[tuple[type[Exception], ...]]  # what the SDK raises
    unanswered: ClassVar[tuple[type[Exception], ...]]  # those of them that mean that no answer came
    stream_class: ClassVar[Any]  # the SDK's iterator over events

    def __init__(
        self, name: str, *, provider: Provider, form: WireForm, client: Any, fields: Mapping[str, Any] | None = None
    ) -> None:
        self.name = f"{provider.name}:{name}"
        self.model = name
        self.provider = provider
        self.form = form
        self.client = client
        self.fields = {**provider.fields, **(fields or {})}
        self.refused = set(provider.refused_by(name))  # options; what the server refuses later on joins them

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        check_pairing(messages)
        telling = Telling(on_text or (lambda piece: None))
        stream = self.provider.streams(wanted=on_text is not None, with_tools=bool(tools))
        options = self.form.options(self.model, tools, tool_choice, stop)
        if stream:
            options |= {"stream": True, **self.form.STREAM_FIELDS, **self.provider.stream_fields}
        try:
            response = self._ask_without_refused(messages, options, tool_choice, telling if stream else None)
            reply = self.form.from_wire(response, model=self.name, taken=call_ids(messages))
        except (LookupError, TypeError, AttributeError) as error:
            raise ModelError(f"{self.name}: an answer of unknown form ({type(error).__name__}: {error})") from error
        except WireError as error:
            raise model_error(self.name, error, key=self.client.api_key) from error
        except self.failures as error:
            address = str(self.client.base_url)
            raise model_error(
                self.name, error, key=self.client.api_key, address=address, unanswered=self.unanswered
            ) from error
        if not stream:
            telling.thought(reply.thought)
            telling.text(reply.text)
        if reply.usage is None:
            return reply
        return replace(reply, cost_usd=cost_usd(reply.usage, model=self.model, address=str(self.client.base_url)))

    def without_own_retries(self) -> Self:
        """The same model, whose SDK does not try again by itself."""
        once = copy(self)
        once.client = self.client.with_options(max_retries=0)
        return once

    def _ask_without_refused(
        self, messages: Sequence[Message], options: Json, tool_choice: str | None, telling: Telling | None
    ) -> Json:
        """Ask; when the server refuses an option, ask again without it, and so from then on."""
        while True:
            allowed = {name: value for name, value in options.items() if name not in self.refused}
            if tool_choice and "tool_choice" not in allowed:
                messages = asked_to_call(messages, tool_choice)
            try:
                return self.ask({**self._body(messages), **allowed, **self.fields}, telling)
            except self.failures as error:
                option = refused_option(error, allowed)
                if option is None:
                    raise
                self.refused.add(option)

    def _body(self, messages: Sequence[Message]) -> Json:
        system = messages[0].text if messages[0].role == "system" else ""
        return self.form.body(self.model, system, self.form.to_wire(messages, self.name))

    def ask(self, body: Json, telling: Telling | None) -> Json:
        """Post a request and give back the answer; with `telling`, put together from events."""
        if telling is None:
            return as_object(self._post(body))
        with self._post(body, stream=True, stream_cls=self.stream_class) as events:
            return self.form.collect(map(as_object, events), telling)

    def _post(self, body: Json, **options: Any) -> Any:
        try:
            return self.client.post(self.form.PATH, cast_to=object, body=body, **options)
        except UnicodeEncodeError:  # half an emoji, from a tool or a model that was cut off
            return self.client.post(self.form.PATH, cast_to=object, body=well_formed(body), **options)


def well_formed(data: Json) -> Json:
    """The same data with halves of characters put together or replaced."""
    text = json.dumps(data, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    joined: Json = json.loads(text)
    return joined


def as_object(answer: object) -> Json:
    """An answer that must be a JSON object; a proxy in between may have sent a page."""
    if not isinstance(answer, dict):
        raise WireError(f"the server's answer is no JSON object: {str(answer)[:100]!r}; check the address")
    return answer


def asked_to_call(messages: Sequence[Message], tool_choice: str) -> list[Message]:
    """The conversation with a request to call that tool, once."""
    request = Message("user", CALL_IT[language_of(messages[-1].text)].replace("{}", tool_choice))
    return [*messages, request] if messages[-1] != request else list(messages)
