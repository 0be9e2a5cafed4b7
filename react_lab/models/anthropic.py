"""Claude over Anthropic's Messages API (anthropic SDK 2.x)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anthropic
import httpx2

from react_lab.models.catalogue import PROVIDERS, Provider
from react_lab.models.provider import ProviderModel
from react_lab.models.wires import Json, Telling, WireError
from react_lab.models.wires import anthropic as wire

MAX_PAUSES = 5


class AnthropicModel(ProviderModel):
    """A Claude model. Without `client`, key and address come from the environment."""

    failures = (anthropic.AnthropicError, httpx2.HTTPError, json.JSONDecodeError)
    unanswered = (anthropic.APIConnectionError, httpx2.TransportError)
    stream_class = anthropic.Stream[object]

    def __init__(
        self,
        name: str,
        *,
        client: anthropic.Anthropic | None = None,
        provider: Provider = PROVIDERS["anthropic"],
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        client = client or anthropic.Anthropic(api_key=provider.secret(), base_url=provider.address())
        super().__init__(name, provider=provider, form=wire, client=client, fields=fields)

    def ask(self, body: Json, telling: Telling | None) -> Json:
        """A turn that the provider pauses is sent back as it is, and goes on where it stopped."""
        response = super().ask(body, telling)
        for _ in range(MAX_PAUSES):
            if response.get("stop_reason") != "pause_turn":
                return response
            response = wire.joined(response, super().ask(wire.with_turn(body, response), telling))
        raise WireError(f"the provider paused the turn {MAX_PAUSES} times and did not end it")
