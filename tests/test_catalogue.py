"""From a name to a model: providers, keys, addresses, and what is said when one of them is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from react_lab import ConfigurationError, ModelError, load_model
from react_lab.models.catalogue import PROVIDERS, Provider, chosen_spec, model_rows
from react_lab.models.openai import OpenAIModel
from react_lab.models.provider import ProviderModel
from tests.wire_server import QUESTION

KEYED = [provider for provider in PROVIDERS.values() if provider.needs_key]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in ("MODEL_ID", "WIRE"):
            monkeypatch.delenv(f"{provider.prefix}_{name}", raising=False)


def test_without_a_key_the_offline_stand_in_answers() -> None:
    assert load_model().name == "offline"


def test_the_variable_names_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_LAB_MODEL", "anthropic:claude-x")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert load_model().name == "anthropic:claude-x"


@pytest.mark.parametrize("provider", KEYED, ids=lambda provider: provider.name)
class TestEveryProviderWithAKey:
    def test_it_is_chosen_when_its_key_is_set(self, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(provider.key, "k")
        monkeypatch.setenv("LLM_BASE_URL", "http://localhost:1/v1")
        monkeypatch.setenv("LLM_MODEL_ID", "m")
        assert load_model().name == f"{provider.name}:{provider.default}"

    def test_a_missing_key_is_named_before_any_request(self, provider: Provider) -> None:
        with pytest.raises(ConfigurationError, match=f"set {provider.key} in the environment or in a \\.env file"):
            load_model(f"{provider.name}:some-model")

    def test_its_address_can_be_changed(self, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(provider.key, "k")
        monkeypatch.setenv(f"{provider.prefix}_BASE_URL", "http://localhost:1/v9")
        model = load_model(f"{provider.name}:m")
        assert isinstance(model, ProviderModel)
        assert str(model.client.base_url).startswith("http://localhost:1/v9")
        monkeypatch.setenv(f"{provider.prefix}_BASE_URL", "localhost:1")
        with pytest.raises(ConfigurationError, match=f"'localhost:1' is no address; set {provider.prefix}_BASE_URL"):
            load_model(f"{provider.name}:m")

    @pytest.mark.parametrize("key", ["a key", "密钥", "sk-1\nsk-2"])
    def test_a_key_that_is_none_is_not_shown(
        self, provider: Provider, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(provider.key, key)
        with pytest.raises(ConfigurationError, match=provider.key) as caught:
            load_model(f"{provider.name}:m")
        assert key not in str(caught.value)


@pytest.mark.parametrize("name", ["ollama", "vllm", "llama.cpp"])
def test_a_server_of_ones_own_needs_no_key(name: str) -> None:
    model = load_model(f"{name}:some-model")
    assert isinstance(model, OpenAIModel)
    assert (model.name, model.wire) == (f"{name}:some-model", "chat")


@pytest.mark.parametrize(("alias", "name"), [("qwen", "dashscope"), ("kimi", "moonshot"), ("llamacpp", "llama.cpp")])
def test_providers_go_by_other_names_too(alias: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROVIDERS[name].key, "k")
    assert load_model(f"{alias}:m").name == f"{name}:m"


def test_the_variables_of_the_textbook_are_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_API_KEY", " k\n")
    with pytest.raises(ConfigurationError, match="set LLM_BASE_URL"):
        load_model()
    monkeypatch.setenv("LLM_BASE_URL", "http://localhost:1/v1")
    with pytest.raises(ConfigurationError, match="Write llm:NAME or set LLM_MODEL_ID"):
        load_model()
    monkeypatch.setenv("LLM_MODEL_ID", "some-model")
    model = load_model()
    assert isinstance(model, OpenAIModel)
    assert (model.name, model.wire, model.client.api_key) == ("llm:some-model", "chat", "k")


@pytest.mark.parametrize(
    ("address", "wanted", "wire"),
    [
        ("", "", "responses"),
        ("http://localhost:1/v1", "", "chat"),
        ("http://localhost:1/v1", "responses", "responses"),
        ("", "chat", "chat"),
    ],
)
def test_the_wire_goes_by_the_address_and_can_be_set(
    address: str, wanted: str, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_WIRE", wanted)
    model = load_model("openai:m")
    assert isinstance(model, OpenAIModel)
    assert model.wire == wire


def test_an_unknown_wire_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_WIRE", "smoke")
    with pytest.raises(ConfigurationError, match="unknown wire 'smoke'; use one of: responses, chat"):
        load_model("openai:m")


def test_an_unknown_model_lists_what_there_is() -> None:
    with pytest.raises(ConfigurationError, match=r"'antropic:x' \(did you mean 'anthropic'\?\); use one of: offline"):
        load_model("antropic:x")


def test_a_dotenv_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")  # so that what .env sets is undone afterwards
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(".env").write_text("OPENAI_API_KEY=k\n", encoding="utf-8")
    assert load_model().name.startswith("openai:")


def test_a_script_is_read_from_a_file() -> None:
    Path("script.jsonl").write_text(
        '"hello\u2028"\n{"text": "", "tool_calls": [{"id": "1", "name": "multiply", "arguments": {"a": 1, "b": 2}}]}\n',
        encoding="utf-8",
    )
    model = load_model("scripted:script.jsonl")
    assert model.reply(QUESTION).text == "hello\u2028"
    assert model.reply(QUESTION).tool_calls[0].arguments == {"a": 1, "b": 2}
    with pytest.raises(ModelError, match="the script has 2 replies and was asked for number 3"):
        model.reply(QUESTION)


@pytest.mark.parametrize("text", ["{", "7", '{"tool_calls": [{"name": "x"}]}'])
def test_a_script_that_cannot_be_read_names_the_line(text: str) -> None:
    Path("script.jsonl").write_text(f'"hello"\n{text}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"script\.jsonl, line 2"):
        load_model("scripted:script.jsonl")


# -- the list of models --------------------------------------------------------------------------------------


def test_the_list_tells_what_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    rows = {row["model"].partition(":")[0]: row for row in model_rows()}
    assert list(rows) == ["offline", "local", *PROVIDERS]
    assert (rows["openai"]["ready"], rows["anthropic"]["ready"]) == (True, False)
    assert rows["anthropic"]["key"] == "ANTHROPIC_API_KEY"
    assert rows["ollama"]["key"] is None


def test_prices_are_those_of_a_short_prompt_and_unknown_ones_are_none() -> None:
    pytest.importorskip("genai_prices", reason="pip install genai-prices")
    rows = {row["model"]: row for row in model_rows()}
    haiku = rows["anthropic:claude-haiku-5-5"]
    assert (haiku["input_usd"], haiku["output_usd"]) == (0.1, 0.5)
    assert rows["ollama:NAME"]["input_usd"] is None


def test_without_the_extra_no_price_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert {row["input_usd"] for row in model_rows() if row["model"] not in ("offline", "local")} == {None}


def test_nothing_is_chosen_that_needs_no_key() -> None:
    assert chosen_spec() == "offline"
