"""How the offline stand-in goes about a question: a plan for each form of question.

A plan is a generator: it yields what it wishes to be done, is sent what was observed, and returns the answer.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from react_lab.language import Language
from react_lab.models.offline_kit import Kit, Wish
from react_lab.models.offline_reading import (
    FUTURE,
    SMALLER_WINS,
    Question,
    Sentence,
    best_sentence,
    clauses,
    numbers_in,
    query_of,
    sentences_in,
    words_of,
)


@dataclass(frozen=True)
class Observation:
    text: str
    is_error: bool


Plan = Generator[tuple[str, list[Wish]], list[Observation], str]  # yields (thought, wishes), returns the answer

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
