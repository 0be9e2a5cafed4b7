"""OpenAI's two wires: Responses for api.openai.com, Chat Completions for every server that is compatible with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from react_lab.errors import ConfigurationError
from react_lab.models.catalogue import PROVIDERS, Provider
from react_lab.models.provider import ProviderModel, WireForm
from react_lab.models.wires import chat, responses

FORMS: Mapping[str, WireForm] = {"responses": responses, "chat": chat}


class OpenAIModel(ProviderModel):
    """A model behind the openai SDK (3.x). Without `client`, key and address come from the environment.

    `wire` is `responses` or `chat`; without it, the provider's variable (`OPENAI_WIRE`, ...) and then the address
    decide: current models of OpenAI itself take tools on Responses only, other servers speak chat.
    """

    failures = (openai.OpenAIError, httpx2.HTTPError, json.JSONDecodeError)
    unanswered = (openai.APIConnectionError, httpx2.TransportError)
    stream_class = openai.Stream[object]

    def __init__(
        self,
        name: str,
        *,
        client: openai.OpenAI | None = None,
        wire: str | None = None,
        provider: Provider = PROVIDERS["openai"],
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        client = client or openai.OpenAI(api_key=provider.secret(), base_url=provider.address())
        self.wire = wire or provider.wire() or ("responses" if client.base_url.host == "api.openai.com" else "chat")
        if self.wire not in FORMS:
            raise ConfigurationError(f"unknown wire {self.wire!r}; use one of: {', '.join(FORMS)}")
        super().__init__(name, provider=provider, form=FORMS[self.wire], client=client, fields=fields)
