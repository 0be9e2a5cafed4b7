"""From a name like `anthropic:claude-haiku-5-5` to a model; the one table of providers and model names."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.messages import Usage
from react_lab.models.base import Model
from react_lab.models.offline import OfflineModel
from react_lab.models.scripted import ScriptedModel

CHECKED = "2026-11-29"  # when the names and addresses below were looked up


@dataclass(frozen=True)
class Provider:
    """Where models are asked, and what is particular about asking there.

    Args:
        name: What a spec begins with.
        prefix: Of its variables: `PREFIX_API_KEY`, `PREFIX_BASE_URL`, `PREFIX_MODEL_ID`, `PREFIX_WIRE`.
        model: A cheap model of the current generation; None where only the person can know.
        base_url: Its address, which the variable overrides.
        needs_key: False for servers of one's own.
        refuses: Beginnings of model names ("" for all) and the options that these refuse or quietly ignore.
        streams_tools: Whether streamed calls arrive whole.
        streams_only: Whether some models answer streamed requests only.
        fields: What goes into every request.
        stream_fields: What goes into every streamed request.
    """

    name: str
    prefix: str
    model: str | None = None
    base_url: str | None = None
    needs_key: bool = True
    refuses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    streams_tools: bool = True
    streams_only: bool = False
    fields: Mapping[str, Any] = field(default_factory=dict)
    stream_fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The variable that holds the key."""
        return f"{self.prefix}_API_KEY"

    @property
    def default(self) -> str:
        return self._variable("MODEL_ID") or self.model or ""

    @property
    def ready(self) -> bool:
        return not self.needs_key or bool(os.environ.get(self.key))

    def secret(self) -> str:
        """The key.

        Raises:
            ConfigurationError: it is missing, or no key at all.
        """
        key = self._variable("API_KEY")
        if not key and self.needs_key:
            raise ConfigurationError(f"{self.name} needs a key: set {self.key} in the environment or in a .env file")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigurationError(f"{self.key} holds blanks or characters that no key has; copy the key again")
        return key or "none"

    def address(self) -> str:
        """Where to send requests.

        Raises:
            ConfigurationError: the address is missing, or is none.
        """
        address = self._variable("BASE_URL") or self.base_url or ""
        if not address.startswith(("http://", "https://")):
            wrong = f"{address!r} is no address" if address else "there is no address"
            raise ConfigurationError(
                f"{self.name}: {wrong}; set {self.prefix}_BASE_URL to one that begins with https://"
            )
        return address

    def wire(self) -> str:
        """The wire that the person wants; "" leaves the choice to the address."""
        return self._variable("WIRE")

    def refused_by(self, model: str) -> set[str]:
        return {option for start, options in self.refuses.items() if model.startswith(start) for option in options}

    def streams(self, *, wanted: bool, with_tools: bool) -> bool:
        return self.streams_only or (wanted and (self.streams_tools or not with_tools))

    def _variable(self, name: str) -> str:
        return os.environ.get(f"{self.prefix}_{name}", "").strip()


UNFORCED = {"": ("tool_choice",)}
PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            "anthropic",
            "ANTHROPIC",
            "claude-haiku-5-5",
            "https://api.anthropic.com",
            refuses=dict.fromkeys(("claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5"), ("tool_choice",)),
        ),
        Provider(
            "openai",
            "OPENAI",
            "gpt-6-luna",
            "https://api.openai.com/v1",
            refuses=dict.fromkeys(("o3", "o4-mini"), ("stop",)),
        ),
        Provider("deepseek", "DEEPSEEK", "deepseek-flash", "https://api.deepseek.com"),
        Provider(
            "dashscope",
            "DASHSCOPE",
            "qwen-flash",
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            refuses=UNFORCED,
            streams_only=True,
        ),
        Provider(
            "moonshot",
            "MOONSHOT",
            "kimi-k2.6",
            "https://api.moonshot.cn/v1",
            refuses={"kimi-k2": ("tool_choice",)},
        ),
        Provider(
            "zhipu",
            "ZHIPUAI",
            "glm-5.3-flash",
            "https://open.bigmodel.cn/api/paas/v4",
            refuses={"": ("tool_choice", "stream_options")},
            stream_fields={"tool_stream": True},
        ),
        Provider(
            "ollama",
            "OLLAMA",
            None,
            "http://localhost:11434/v1",
            needs_key=False,
            refuses=UNFORCED,
            streams_tools=False,
        ),
        Provider("vllm", "VLLM", None, "http://localhost:8000/v1", needs_key=False),
        Provider("llama.cpp", "LLAMA_CPP", "default", "http://localhost:8080/v1", needs_key=False, refuses=UNFORCED),
        Provider("llm", "LLM"),  # any compatible server, under the variables of the Hello-Agents textbook
    )
}
ALIASES = {"qwen": "dashscope", "kimi": "moonshot", "glm": "zhipu", "llamacpp": "llama.cpp"}
FORMS = ("offline", "scripted:FILE", "local", "local:FILE.gguf", *(f"{provider}:NAME" for provider in PROVIDERS))


def read_dotenv() -> Path | None:
    """Take variables from the nearest `.env`, upwards from the working directory; what is set already wins.

    Returns:
        The file that was read.
    """
    from dotenv import find_dotenv, load_dotenv

    found = find_dotenv(usecwd=True)
    if found:
        load_dotenv(found, encoding="utf-8")
    return Path(found) if found else None


def chosen_spec() -> str:
    """The model when none is named: `REACT_LAB_MODEL`, else the first provider with a key, else offline."""
    if spec := os.environ.get("REACT_LAB_MODEL"):
        return spec
    return next((f"{p.name}:{p.default}" for p in PROVIDERS.values() if os.environ.get(p.key)), "offline")


def load_model(spec: str | None = None) -> Model:
    """The model of that name.

    Args:
        spec: `offline`, `scripted:FILE`, `local`, or a provider and one of its models, as in `deepseek:NAME`
            (without `:NAME`, a cheap current one); None chooses as `chosen_spec` does.
    Raises:
        ConfigurationError: no such provider, or its key is missing. No request has been made by then.
    """
    read_dotenv()
    spec = spec or chosen_spec()
    kind, _, name = spec.partition(":")
    kind = ALIASES.get(kind, kind)
    if kind == "offline":
        return OfflineModel()
    if kind == "scripted":
        return ScriptedModel.from_file(name)
    if kind == "local":
        from react_lab.models.local import load_local

        return load_local(name)
    if kind not in PROVIDERS:
        near = difflib.get_close_matches(kind, ["offline", "scripted", "local", *PROVIDERS, *ALIASES], n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigurationError(f"unknown model {spec!r}{hint}; use one of: {', '.join(FORMS)}")
    return _ask_provider(PROVIDERS[kind], name)


def _ask_provider(provider: Provider, name: str) -> Model:
    provider.secret(), provider.address()  # what is missing is told before an SDK is imported
    name = name or provider.default
    if not name:
        raise ConfigurationError(
            f"{provider.name}: which model? Write {provider.name}:NAME or set {provider.prefix}_MODEL_ID"
        )
    if provider.name == "anthropic":
        from react_lab.models.anthropic import AnthropicModel

        return AnthropicModel(name)
    from react_lab.models.openai import OpenAIModel

    return OpenAIModel(name, provider=provider)


def model_rows() -> list[dict[str, Any]]:
    """What can be asked, for a person or as JSON.

    Returns:
        One row a provider: `model`, the variable of its `key` (None: needs none), whether it is `ready`, and the
        price of a million tokens in US dollars, `input_usd` and `output_usd` (None: unknown, which is not free).
    """
    rows: list[dict[str, Any]] = [
        {"model": name, "key": None, "ready": ready, "input_usd": 0.0, "output_usd": 0.0}
        for name, ready in (("offline", True), ("local", importlib.util.find_spec("xllamacpp") is not None))
    ]
    for provider in PROVIDERS.values():
        model = provider.default
        paid, earned = price_per_million(provider, model)
        rows.append(
            {
                "model": f"{provider.name}:{model or 'NAME'}",
                "key": provider.key if provider.needs_key else None,
                "ready": provider.ready,
                "input_usd": paid,
                "output_usd": earned,
            }
        )
    return rows


def price_per_million(provider: Provider, model: str) -> tuple[float | None, float | None]:
    """US dollars for a million tokens, in and out, of a short prompt (some prices rise with its length)."""
    address = provider.base_url or ""
    short = (Usage(input_tokens=1000), Usage(output_tokens=1000))
    paid, earned = (cost_usd(usage, model=model, address=address) for usage in short)
    return (None, None) if paid is None or earned is None else (paid * 1000, earned * 1000)


def cost_usd(usage: Usage, *, model: str, address: str) -> float | None:
    """US dollars that a reply cost; None, which is not free, where genai-prices is missing or does not know the model.

    The address tells the provider: what a gateway charges is unknown, whatever the model is called.
    """
    try:
        genai_prices = importlib.import_module("genai_prices")
    except ImportError:
        return None
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=usage.cached_tokens
    )
    try:
        return float(genai_prices.calc_price(counted, model_ref=model, provider_api_url=address).total_price)
    except (LookupError, ValueError):
        return None
