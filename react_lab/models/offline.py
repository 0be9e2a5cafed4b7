"""The offline stand-in for a language model: a few rules instead of a network, so that everything runs without a key.

It sees only what a model sees (messages, system prompt, tool schemas) and answers in the same shape, as text ReAct
or as native tool calls. It knows words, not facts: every fact comes from an observation. Where its rules do not
reach, it says that it doesn't know.

A question becomes a *plan*: a generator that yields wishes, is sent their observations and returns the answer. The
model keeps no state. On every turn the plan starts anew and is fed the observations that stand in the conversation;
the first wish without an observation is the next action.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_lab.language import Language, language_of
from react_lab.messages import Message, Reply, ToolCall, Usage
from react_lab.models.reading import (
    ATTRIBUTES,
    CONCEPTS,
    FUTURE,
    NUMBER,
    SMALLER_WINS,
    Question,
    Sentence,
    best_sentence,
    clauses,
    numbers_in,
    query_of,
    read_question,
    sentences_in,
    words_of,
)
from react_lab.tools.base import Tool


@dataclass(frozen=True)
class Wish:
    """A call that a plan asks for."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same for a wish and for the action that was written for it, in any syntax."""
        return " ".join([self.name, *(str(value) for value in self.arguments.values())])


@dataclass(frozen=True)
class Observation:
    text: str
    is_error: bool


Plan = Generator[tuple[str, list[Wish]], list[Observation], str]  # yields (thought, wishes), returns the answer


class OfflineModel:
    """Answers by rules, without network or key: for learning and for tests, not for answers that matter."""

    name = "offline"
    native_tools = True

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        protocol = Native(messages, tools) if tools else Text(messages)
        kit = Kit(protocol.tools)
        question = read_question(protocol.question)
        if tool_choice is not None and not protocol.observed:
            chosen = [Wish(tool_choice, kit.arguments(tool_choice, question))]
            reply = protocol.act(SAYINGS[question.language]["forced"], chosen)
        else:
            reply = _next_turn(answer_question(question, kit), protocol, question.language)
        if on_text:
            on_text(reply.text)
        return Reply(
            reply.text, tool_calls=reply.tool_calls, stop_reason=reply.stop_reason, usage=_usage(messages, reply)
        )


def _next_turn(plan: Plan, protocol: Native | Text, language: Language) -> Reply:
    """Feed a plan what was observed already; its first wish that was not is the next action."""
    try:
        thought, wishes = next(plan)
        while all(wish.key in protocol.observed for wish in wishes):
            thought, wishes = plan.send([protocol.observed[wish.key] for wish in wishes])
    except StopIteration as end:
        return protocol.answer(SAYINGS[language]["enough"], end.value)
    return protocol.act(thought, [wish for wish in wishes if wish.key not in protocol.observed])


def _usage(messages: Sequence[Message], reply: Reply) -> Usage:
    """Its tokens are words and single Chinese characters."""
    prompt = "\n".join(m.text + "".join(r.content for r in m.tool_results) for m in messages)
    written = reply.text + "".join(json.dumps(call.arguments, ensure_ascii=False) for call in reply.tool_calls)
    return Usage(len(TOKEN.findall(prompt)), len(TOKEN.findall(written)))


TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")

# -- plans ---------------------------------------------------------------------------------------------------

SAYINGS: dict[Language, dict[str, str]] = {
    "en": {
        "calculate": "This has to be calculated: {}.",
        "look": "I need to find out: {}.",
        "again": "That did not help; I try other keywords: {}.",
        "use": "The tool {} fits.",
        "forced": "I am to use this tool.",
        "enough": "I have what I need.",
        "unknown": "I don't know: I could not find this in what the tools returned.",
        "future": "I don't know: the future can't be looked up, and I found nothing about it.",
        "no tool": "I cannot find this out with the tools that I have.",
        "failed": "I cannot answer this: {}",
        "sources": "Sources: ",
    },
    "zh": {
        "calculate": "这需要计算：{}。",
        "look": "我需要查明：{}。",
        "again": "没有帮助，换关键词再试：{}。",
        "use": "适合用工具 {}。",
        "forced": "我要使用这个工具。",
        "enough": "信息已经足够。",
        "unknown": "我不知道：在工具返回的内容里没有找到。",
        "future": "我不知道：将来的事无法查到，也没有找到相关内容。",
        "no tool": "用现有的工具无法回答。",
        "failed": "无法回答：{}",
        "sources": "来源：",
    },
}


COMMA: dict[Language, str] = {"en": ", ", "zh": "、"}


def answer_question(question: Question, kit: Kit) -> Plan:
    """The plan for a question, chosen by its form."""
    if question.expression:
        return (yield from calculate(question, question.expression, kit))
    special = kit.special(question)
    if special is None and kit.search is None:
        return SAYINGS[question.language]["no tool"]
    if len(question.entities) > 1 and "award" not in question.topic:
        return (yield from compare(question, kit, special))
    if special is not None:
        return (yield from use(question, kit, special))
    if "born" in question.topic and (year := REFERENCE_YEAR.search(question.text)):
        return (yield from add_ages(question, kit, year[1] or year[2]))
    if question.then:
        return (yield from work_on(question, kit))
    return (yield from look_up(question, kit))


def work_on(question: Question, kit: Kit) -> Plan:
    """Arithmetic on one value that has to be looked up first."""
    say, query = SAYINGS[question.language], query_of(question.text)
    (result,) = yield say["look"].format(query), [kit.searching(query)]
    counted = [sentence for sentence in sentences_in(result.text) if numbers_in(sentence.text)]
    sentence = best_sentence(words_of(question.text), counted)
    if sentence is None:
        return say["unknown"]
    expression = numbers_in(sentence.text)[0] + question.then
    value = yield from calculate(question, expression, kit)
    return f"{expression} = {value} ({sentence.text})" + _sources([sentence], question.language)


def calculate(question: Question, expression: str, kit: Kit) -> Plan:
    """Arithmetic: with the calculator, or with a tool for two numbers if that is all there is."""
    say = SAYINGS[question.language]
    wish = kit.calculation(expression)
    if wish is None:
        return say["no tool"]
    (result,) = yield say["calculate"].format(expression), [wish]
    return say["failed"].format(_reason(result)) if result.is_error else result.text


def use(question: Question, kit: Kit, name: str) -> Plan:
    """One call of a tool whose description fits the question."""
    say = SAYINGS[question.language]
    (result,) = yield say["use"].format(name), [Wish(name, kit.arguments(name, question))]
    return say["failed"].format(_reason(result)) if result.is_error else result.text


def look_up(question: Question, kit: Kit) -> Plan:
    """A fact: search, and give the sentence that answers each part of the question."""
    say = SAYINGS[question.language]
    found: list[Sentence] = []
    for saying, query in zip(("look", "again"), _queries(question.text), strict=False):
        (result,) = yield say[saying].format(query), [kit.searching(query)]
        for clause in clauses(question.text):
            passages = [s for s in sentences_in(result.text) if not found or s.title == found[0].title]
            sentence = best_sentence(words_of(clause), passages)
            if sentence and not result.is_error and sentence not in found:
                found.append(sentence)
        if FUTURE.search(question.text):
            return say["future"]
        if found:
            text = ("" if question.language == "zh" else " ").join(sentence.text for sentence in found)
            return text + _sources(found, question.language)
    return say["unknown"]


def compare(question: Question, kit: Kit, special: str | None) -> Plan:
    """Several things side by side: a value for each, then their sum, difference or order."""
    say, names = SAYINGS[question.language], question.entities
    topic = query_of(question.subject)
    if special:
        wishes = [Wish(special, kit.arguments(special, question, entity=name)) for name in names]
    else:
        wishes = [kit.searching(f"{name} {topic}".strip()) for name in names]
    wanted = COMMA[question.language].join(str(value) for wish in wishes for value in wish.arguments.values())
    results = yield say["look"].format(wanted), wishes
    found = [_value_of(name, question, result, special) for name, result in zip(names, results, strict=True)]
    known = [(name, value, sentence) for name, (value, sentence) in zip(names, found, strict=True) if sentence]
    if len(known) < len(names):
        missing = [name for name, (_, sentence) in zip(names, found, strict=True) if not sentence]
        return f"{say['unknown']} ({COMMA[question.language].join(missing)})"
    sentences = [sentence for _, _, sentence in known]
    values = [value for _, value, _ in known if value]
    if len(values) < len(names) or not (question.operation or question.comparison):
        return " ".join(sentence.text for sentence in sentences) + _sources(sentences, question.language)
    return (yield from combine(question, kit, names, values, sentences))


def combine(
    question: Question, kit: Kit, names: Sequence[str], values: Sequence[str], sentences: Sequence[Sentence]
) -> Plan:
    """What the question asks of several values: their sum, their difference, which is larger."""
    ordered = sorted(zip(names, values, strict=True), key=lambda pair: float(pair[1]), reverse=True)
    shown = COMMA[question.language].join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    parts = []
    if question.comparison:
        winner = ordered[-1 if SMALLER_WINS.search(question.comparison) else 0][0]
        equal = float(ordered[0][1]) == float(ordered[-1][1])
        parts.append(_judgement(question, names, winner, equal=equal))
    if question.operation:
        numbers = values if question.operation == "sum" else [value for _, value in ordered]
        sign = " + " if question.operation == "sum" else " - "
        expression = sign.join(f"({n})" if n.startswith("-") else n for n in numbers)
        result = yield from calculate(question, f"({expression}){question.then}" if question.then else expression, kit)
        parts.append(f"{expression if not question.then else f'({expression}){question.then}'} = {result}")
    text = ("；" if question.language == "zh" else "; ").join(parts)
    return f"{text} ({shown})" + _sources(sentences, question.language)


def _judgement(question: Question, names: Sequence[str], winner: str, *, equal: bool) -> str:
    if equal:
        return "两者相同" if question.language == "zh" else "They are equal"
    if question.language == "zh":
        return f"{winner}{question.comparison}"
    others = " and ".join(name for name in names if name != winner)
    return (
        f"{winner} is {question.comparison} than {others}" if question.comparison != "first" else f"{winner} came first"
    )


REFERENCE_YEAR = re.compile(r"(?i)\bend of (\d{4})|(\d{4})\s*年(?:底|末)")


def add_ages(question: Question, kit: Kit, year: str) -> Plan:
    """Ages at the end of a year, from the years of birth."""
    say = SAYINGS[question.language]
    query = query_of(REFERENCE_YEAR.sub(" ", question.text))
    (result,) = yield say["look"].format(query), [kit.searching(query)]
    sentences = sentences_in(result.text)
    first = best_sentence([word for word in words_of(query) if word != "born"], sentences)
    if first is None:
        return say["unknown"]
    births = [s for s in sentences if s.title == first.title and "born" in words_of(s.text) and numbers_in(s.text)]
    births = [s for s in births if _is_named(s, query)] or births
    if not births:
        return say["unknown"]
    terms = [f"({year} - {_year(s.text)})" for s in births]
    told = " ".join(birth.text for birth in births)
    if question.operation == "sum" or len(terms) == 1:
        expression = " + ".join(terms)
        total = yield from calculate(question, expression, kit)
        return f"{total} = {expression} ({told})" + _sources(births, question.language)
    ages: list[str] = []
    for term in terms:
        age = yield from calculate(question, term, kit)
        ages.append(f"{age} = {term}")
    return f"{COMMA[question.language].join(ages)} ({told})" + _sources(births, question.language)


def _year(text: str) -> str:
    return next((number for number in numbers_in(text) if len(number) == 4), "0")


def _is_named(sentence: Sentence, query: str) -> bool:
    """Whether a sentence of birth is about somebody whom the question names."""
    names = {word for word in words_of(sentence.text) if not word.isdigit()} - {"born"}
    return bool(names.intersection(words_of(query)))


def _value_of(
    name: str, question: Question, result: Observation, special: str | None
) -> tuple[str | None, Sentence | None]:
    """The number that an observation gives for a name, and the sentence it stands in."""
    if result.is_error:
        return None, None
    if special:
        sentence: Sentence | None = Sentence(result.text.splitlines()[0])
    else:
        wanted = [*words_of(name), *question.topic]
        sentences = sentences_in(result.text)
        asked = set(question.topic) if question.operation or question.comparison else set()
        counted = [s for s in sentences if numbers_in(s.text, without=name) and asked.intersection(words_of(s.text))]
        sentence = best_sentence(wanted, counted, must_hold=name) or best_sentence(wanted, sentences, must_hold=name)
    if sentence is None:
        return None, None
    return next(iter(numbers_in(sentence.text, without=name)), None), sentence


def _queries(text: str) -> list[str]:
    """Keywords to search for: all of them, then without the last."""
    words = query_of(text).split()
    return [" ".join(words), " ".join(words[:-1])] if len(words) > 2 else [" ".join(words) or text]


def _sources(sentences: Iterable[Sentence], language: Language) -> str:
    urls = dict.fromkeys(sentence.url for sentence in sentences if sentence.url)
    return "\n" + SAYINGS[language]["sources"] + " ".join(urls) if urls else ""


def _reason(result: Observation) -> str:
    return re.split(r"(?<=[。])|(?<=\.)\s", result.text.removeprefix("Error: "), maxsplit=1)[0]


# -- tools ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Card:
    """A tool as a model sees it: parameters are name → (type, required, choices)."""

    name: str
    description: str
    parameters: Mapping[str, tuple[str, bool, tuple[Any, ...]]]

    @property
    def words(self) -> set[str]:
        spaced = re.sub(r"[_-]", " ", self.name)
        return set(words_of(f"{spaced} {' '.join(self.parameters)} {self.description}"))

    def of_type(self, *types: str) -> list[str]:
        return [name for name, (kind, _, _) in self.parameters.items() if kind in types]


SIGNS = {"*": "multiply", "+": "add", "-": "subtract", "/": "divide"}


class Kit:
    """The tools at hand, and which of them is good for what: judged by names and descriptions alone."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self.cards = {card.name: card for card in cards}
        self.search = next((c for c in cards if "search" in c.words and c.of_type("string")), None)
        others = [c for c in cards if c is not self.search]
        self.calculator = next((c for c in others if "calculate" in c.words and len(c.of_type("string")) == 1), None)

    def special(self, question: Question) -> str | None:
        """A tool, neither search nor calculator, whose words the question shares."""
        asked = set(words_of(question.text))
        others = [card for card in self.cards.values() if card not in (self.search, self.calculator)]
        best = max(others, key=lambda card: len(_subject(card) & asked), default=None)
        return best.name if best and _subject(best) & asked else None

    def searching(self, query: str) -> Wish:
        assert self.search is not None
        return Wish(self.search.name, {self.search.of_type("string")[0]: query})

    def calculation(self, expression: str) -> Wish | None:
        if self.calculator is not None:
            return Wish(self.calculator.name, {self.calculator.of_type("string")[0]: expression})
        two = re.fullmatch(rf"\(?(-?{NUMBER})\s*([*/+-])\s*(-?{NUMBER})\)?", expression)
        for card in self.cards.values():
            numbers = card.of_type("number", "integer")
            if two and len(numbers) == 2 and SIGNS[two[2]] in card.words:
                return Wish(card.name, dict(zip(numbers, (_number(two[1]), _number(two[3])), strict=True)))
        return None

    def arguments(self, name: str, question: Question, *, entity: str | None = None) -> dict[str, Any]:
        """Fill a tool's parameters from the question: choices it names, numbers in order, the thing it is about."""
        card = self.cards[name]
        numbers = [_number(text) for text in numbers_in(question.text)]
        filled: dict[str, Any] = {}
        for parameter, (kind, required, choices) in card.parameters.items():
            named = [choice for choice in choices if str(choice).casefold() in question.text.casefold()]
            if choices:
                value = named[0] if named else choices[0] if required else None
            elif kind in ("number", "integer"):
                value = numbers.pop(0) if numbers else 0 if required else None
            elif kind == "array":
                value = [query_of(part) for part in clauses(question.text)]
            else:
                value = (entity or _subject_of(question, card)) if required else None
            if value is not None:
                filled[parameter] = value
        return filled


def _subject(card: Card) -> set[str]:
    """The words that tell a tool from others: those of its name, and the concepts in its first sentence."""
    first = re.split(r"[.。\n]", card.description, maxsplit=1)[0]
    return set(words_of(re.sub(r"[_-]", " ", card.name))) | ATTRIBUTES.intersection(words_of(first))


def _subject_of(question: Question, card: Card) -> str:
    """What a question is about, for a tool that takes a text: the quoted words, else those that are not the tool's."""
    if quoted := re.search(r"[\"“'‘「](.+?)[\"”'’」]", question.text):
        return quoted[1]
    text = question.text
    for word in sorted(
        (w for w in CONCEPTS if language_of(w) == "zh" and CONCEPTS[w] in card.words), key=len, reverse=True
    ):
        text = text.replace(word, " ")
    words = [word for word in query_of(text).split() if not set(words_of(word)) & card.words]
    capitals = [word for word in words if word[:1].isupper()]
    return " ".join(capitals or words) or question.text


def _number(text: str) -> int | float:
    return float(text.replace(",", "")) if "." in text else int(text.replace(",", ""))


# -- the two protocols ---------------------------------------------------------------------------------------


class Native:
    """Native tool use: calls and results are data."""

    def __init__(self, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        start = max(i for i, message in enumerate(messages) if message.role == "user")
        self.question = messages[start].text
        self.tools = [_card(item) for item in tools]
        calls = {call.id: call for message in messages[start:] for call in message.tool_calls}
        self.observed = {
            Wish(result.name, calls[result.call_id].arguments).key: Observation(result.content, result.is_error)
            for message in messages[start:]
            for result in message.tool_results
        }
        self.turn = len(messages)

    def act(self, thought: str, wishes: Sequence[Wish]) -> Reply:
        calls = tuple(ToolCall(f"offline_{self.turn}_{i}", w.name, w.arguments) for i, w in enumerate(wishes, start=1))
        return Reply(thought, tool_calls=calls, stop_reason="tool_calls")

    def answer(self, thought: str, text: str) -> Reply:
        return Reply(text)


def _card(item: Tool) -> Card:
    required = item.parameters.get("required", ())
    return Card(
        item.name,
        item.description,
        {
            name: (schema.get("type", "string"), name in required, tuple(schema.get("enum", ())))
            for name, schema in item.parameters.get("properties", {}).items()
        },
    )


class Text:
    """Text ReAct: tools, format and language are read from the system prompt, observations from the conversation."""

    TOOL = re.compile(r"(?m)^- ([\w-]+)\((.*?)\): (.*)$")
    PARAMETER = re.compile(r"(\w+): ([\w\"| \[\]-]+)( = [^,]+)?")
    NOTE = re.compile(r"^(?:Observation: |观察：)")
    ACTION = re.compile(r"(?ms)^(?:Action: |行动：)([\w-]+)[\[(](.*)[\])]\s*\Z")

    def __init__(self, messages: Sequence[Message]) -> None:
        system = messages[0].text if messages and messages[0].role == "system" else ""
        asked = [i for i, message in enumerate(messages) if message.role == "user" and not self._is_note(messages, i)]
        self.question = messages[asked[-1]].text
        self.tools = [self._card(match) for match in self.TOOL.finditer(system)]
        self.chinese = "行动：" in system
        self.brackets = bool(re.search(r"(?m)^(?:Action: |行动：)\w+\[", system))
        self.observed: dict[str, Observation] = {}
        for wrote, told in zip(messages[asked[-1] :], messages[asked[-1] + 1 :], strict=False):
            action = self.ACTION.search(wrote.text)
            if wrote.role == "assistant" and action:
                note = self.NOTE.sub("", told.text)
                self.observed[f"{action[1]} {self._plain(action[2])}"] = Observation(note, note.startswith("Error:"))

    def _is_note(self, messages: Sequence[Message], index: int) -> bool:
        """An observation, or a reminder of the format: what follows an action that was not an answer."""
        return bool(self.NOTE.match(messages[index].text)) or "Thought: what you need" in messages[index].text

    def _card(self, match: re.Match[str]) -> Card:
        parameters = {}
        for name, kind, default in self.PARAMETER.findall(match[2]):
            choices = tuple(json.loads(choice) for choice in re.findall(r"\"[^\"]*\"", kind))
            parameters[name] = ("array" if kind.endswith("[]") else kind.strip(), not default, choices)
        return Card(match[1], match[3], parameters)

    def _plain(self, argument: str) -> str:
        try:
            return " ".join(str(value) for value in json.loads(argument).values())
        except (ValueError, AttributeError):
            return argument

    def act(self, thought: str, wishes: Sequence[Wish]) -> Reply:
        wish = wishes[0]  # the format asks for one action a turn
        values = list(wish.arguments.values())
        bare = self.brackets and len(values) == 1 and isinstance(values[0], str) and "{" not in values[0]
        argument = values[0] if bare else json.dumps(wish.arguments, ensure_ascii=False)
        written = f"{wish.name}[{argument}]" if self.brackets else f"{wish.name}({argument})"
        return Reply(f"{self._label('Thought', '思考')}{thought}\n{self._label('Action', '行动')}{written}")

    def answer(self, thought: str, text: str) -> Reply:
        label = self._label("Final Answer", "最终答案")
        final = f"{self._label('Action', '行动')}Finish[{text}]" if self.brackets else label + text
        return Reply(f"{self._label('Thought', '思考')}{thought}\n{final}")

    def _label(self, english: str, chinese: str) -> str:
        return f"{chinese}：" if self.chinese else f"{english}: "
