"""From a name like `anthropic:claude-haiku-5-5` to a model; the one table of providers and model names."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab.models.base import Model
from react_lab.models.offline import OfflineModel
from react_lab.models.scripted import ScriptedModel

CHECKED = "2026-11-29"  # when the names below were looked up


@dataclass(frozen=True)
class Provider:
    key: str  # the environment variable that holds the key
    default: str  # a cheap model of the current generation


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("ANTHROPIC_API_KEY", "claude-haiku-5-5"),
    "openai": Provider("OPENAI_API_KEY", "gpt-6-luna"),
}
FORMS = ("offline", "scripted:FILE", *(f"{provider}:NAME" for provider in PROVIDERS))


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
    return next((f"{name}:{p.default}" for name, p in PROVIDERS.items() if os.environ.get(p.key)), "offline")


def load_model(spec: str | None = None) -> Model:
    """The model of that name.

    Args:
        spec: `offline`, `scripted:FILE`, `anthropic:NAME` or `openai:NAME` (without `:NAME`, a cheap current one);
            None chooses as `chosen_spec` does.
    Raises:
        ConfigurationError: no such provider, or its key is missing. No request has been made by then.
    """
    read_dotenv()
    provider, _, name = (spec or chosen_spec()).partition(":")
    if provider == "offline":
        return OfflineModel()
    if provider == "scripted":
        return ScriptedModel.from_file(name)
    if provider not in PROVIDERS:
        near = difflib.get_close_matches(provider, ["offline", "scripted", *PROVIDERS], n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ConfigurationError(f"unknown model {spec!r}{hint}; use one of: {', '.join(FORMS)}")
    key = PROVIDERS[provider].key
    if not os.environ.get(key):
        raise ConfigurationError(f"{provider}:{name} needs a key: set {key} in the environment or in a .env file")
    name = name or PROVIDERS[provider].default
    if provider == "anthropic":
        from react_lab.models.anthropic import AnthropicModel

        return AnthropicModel(name)
    from react_lab.models.openai import OpenAIModel

    return OpenAIModel(name)
