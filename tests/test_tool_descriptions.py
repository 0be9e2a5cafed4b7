"""What a model is told of the tools: by the same rules, and as well in Chinese as in English."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from react_lab import Message, OfflineModel, Reply, TextReActAgent, Tool, ToolRegistry, ToolUseAgent, tool
from react_lab.language import CJK, Language
from react_lab.tools.notes import Notebook, note_tools
from react_lab.tools.standard import standard_tools
from tests.test_standard_tools import EVERY_TOOL, FORMAL


@pytest.fixture(params=EVERY_TOOL)
def each(request: pytest.FixtureRequest, tmp_path: Path) -> Tool:
    return EVERY_TOOL[request.param][0](tmp_path)


def notes_of(item: Tool) -> dict[str, str]:
    return {name: schema.get("description", "") for name, schema in item.parameters["properties"].items()}


# -- the rules ---------------------------------------------------------------------------------------------------

LIMITS = {"en": r"\b(?:not|no|Nothing else)\b|is better", "zh": "不|没有|更好"}
EXAMPLE = {"en": r'such as|"metric"', "zh": '如|"metric"'}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_description_says_where_the_limits_are_and_each_parameter_has_an_example(
    each: Tool, language: Language
) -> None:
    told = each.told_in(language)
    assert re.search(LIMITS[language], told.description), told.description
    for name, note in notes_of(told).items():
        assert re.search(EXAMPLE[language], note), (each.name, name)


def test_what_takes_words_shows_them_in_both_languages(each: Tool) -> None:
    words = [name for name, schema in each.parameters["properties"].items() if schema.get("type") == "string"]
    if words and each.name not in FORMAL:
        assert any(CJK.search(note) for note in notes_of(each).values())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_two_tools_do_the_same(tmp_path: Path, language: Language) -> None:
    made = [make(tmp_path).told_in(language) for make, _ in EVERY_TOOL.values()]
    beginnings = {(item.name, item.description[: 20 if language == "en" else 8]) for item in made}
    assert len({text for _, text in beginnings}) == len(made), beginnings


# -- two languages -----------------------------------------------------------------------------------------------


def test_every_tool_is_told_in_chinese_and_in_english(each: Tool) -> None:
    english, chinese = each.told_in("en"), each.told_in("zh")
    assert english is each
    assert (chinese.name, chinese.has_effects, chinese.serial) == (each.name, each.has_effects, each.serial)
    assert set(notes_of(chinese)) == set(notes_of(english))
    for text in (chinese.description, *notes_of(chinese).values()):
        assert CJK.search(text)
        assert not re.search(r"[\u4e00-\u9fff，。；：、]\s*\n\s*[\u4e00-\u9fff]", text)  # which would show as a gap


def test_only_the_texts_differ(each: Tool) -> None:
    def bare(item: Tool) -> Any:
        properties = item.parameters["properties"].items()
        without = {name: {**schema, "description": ""} for name, schema in properties}
        return {**item.parameters, "properties": without}

    assert bare(each.told_in("zh")) == bare(each)


def test_the_chinese_form_of_a_tool_runs_as_the_tool_does(tmp_path: Path) -> None:
    make, arguments = EVERY_TOOL["read_file"]
    item = make(tmp_path)
    assert item.told_in("zh").execute(**arguments) == item.execute(**arguments)


def test_a_tool_without_chinese_texts_keeps_its_own() -> None:
    @tool
    def plain(a: int) -> int:
        """Do it.

        Args:
            a: A number.
        """
        return a

    assert plain.told_in("zh") is plain


def test_a_parameter_without_a_chinese_note_keeps_its_own() -> None:
    @tool(zh="加起来。\n\nArgs:\n    a: 第一个数。")
    def add(a: int, b: int) -> int:
        """Add.

        Args:
            a: The first number.
            b: The second number.
        """
        return a + b

    assert notes_of(add.told_in("zh")) == {"a": "第一个数。", "b": "The second number."}
    assert notes_of(add) == {"a": "The first number.", "b": "The second number."}


def test_a_tool_that_is_a_class_has_both_languages_too() -> None:
    class Bell(Tool):
        name = "bell"
        description = "Ring."
        description_zh = "敲钟。"
        notes_zh: Mapping[str, str] = {"times": "敲几下。"}
        parameters: dict[str, Any] = {
            "type": "object",
            "properties": {"times": {"type": "integer", "description": "How often."}},
        }

        def execute(self, **arguments: Any) -> str:
            return "dong"

    assert ToolRegistry([Bell()]).describe("zh") == "- bell(times: integer = null): 敲钟。\n    times: 敲几下。"
    assert ToolRegistry([Bell()]).describe() == "- bell(times: integer = null): Ring.\n    times: How often."


def test_schemas_come_in_both_languages_for_both_providers() -> None:
    tools = standard_tools()
    for language, beginning in (("en", "Work out an arithmetic"), ("zh", "计算一个算式")):
        anthropic = tools.schemas("anthropic", language=language)  # type: ignore[arg-type]
        openai = tools.schemas("openai", language=language)  # type: ignore[arg-type]
        assert anthropic[0]["description"].startswith(beginning)
        assert anthropic[0]["description"] == openai[0]["function"]["description"]
        assert anthropic[0]["input_schema"] == openai[0]["function"]["parameters"]


# -- what reaches the model --------------------------------------------------------------------------------------


class Listener:
    """A model that keeps what it is told, and answers at once."""

    name = "listener"
    native_tools = True

    def __init__(self) -> None:
        self.tools: Sequence[Tool] = ()
        self.system = ""

    def reply(self, messages: Sequence[Message], *, tools: Sequence[Tool] = (), **_: Any) -> Reply:
        self.tools, self.system = tools, messages[0].text
        return Reply("Final Answer: done")


@pytest.mark.parametrize(
    ("question", "beginning"),
    [("What is 6 times 7?", "Work out an arithmetic"), ("6 乘以 7 等于多少？", "计算一个算式")],
)
def test_tools_are_told_in_the_language_of_the_question(question: str, beginning: str) -> None:
    model = Listener()
    trace = ToolUseAgent(model, standard_tools()).run(question)
    assert model.tools[0].description.startswith(beginning)
    assert trace.run["tools"][0]["description"].startswith(beginning)
    TextReActAgent(model, standard_tools()).run(question)
    assert f"- calculator(expression: string): {beginning}" in model.system


def test_what_was_asked_before_does_not_decide_the_language() -> None:
    model = Listener()
    agent = ToolUseAgent(model, standard_tools())
    history = [Message("user", "你好"), Message("assistant", "你好！")]
    agent.resume(agent.start("What is 6 times 7?", history=history))
    assert model.tools[0].description.startswith("Work out")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who created the Rust programming language?", "Graydon Hoare"),
        ("ReAct 论文的第一作者是谁？", "姚顺雨"),
        ("What is (23 + 45) * 2?", "136"),
        ("Python 和 Java 哪个更早出现？", "Python"),
        ("北京今天天气怎么样？", "示例数据"),
    ],
)
def test_the_stand_in_chooses_rightly_among_all_tools(tmp_path: Path, first: bool, question: str, answer: str) -> None:
    wanted = [name for name in EVERY_TOOL if name not in ("web search", "live weather", "read_url")]
    made = [EVERY_TOOL[name][0](tmp_path) for name in (wanted if first else reversed(wanted))]
    agents: list[Callable[[], Any]] = [
        lambda: ToolUseAgent(OfflineModel(), ToolRegistry(made)),
        lambda: TextReActAgent(OfflineModel(), ToolRegistry(made)),
    ]
    for agent in agents:
        assert answer in (agent().run(question).answer or "")


def test_a_note_is_still_written_when_it_is_asked_for(tmp_path: Path) -> None:
    tools = standard_tools()
    for item in note_tools(Notebook(tmp_path / "notes.sqlite")):
        tools.register(item)
    trace = ToolUseAgent(OfflineModel(), tools).run('Write a note: "Li Hua prefers tea."')
    assert [call.name for step in trace.steps for call in step.calls] == ["write_note"]
