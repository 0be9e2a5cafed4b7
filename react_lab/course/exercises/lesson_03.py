"""Lesson 03: a reader of replies: labels, invented observations, calls, and the whole of `parse_reply`."""
# ruff: noqa: E501 - texts for people are easier to read unbroken

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_lab.course.exercise import Exercise, Quiz, Sentence, Wrong, both
from react_lab.course.expect import Difference, Literal, Raised, expect
from react_lab.text_react import Action, ParsedReply

LESSON = "03_reader"

# -- reader-labels -------------------------------------------------------------------------------------------

STARTER_SPLIT = r"""
import re
from typing import NamedTuple

# en: 1. The words. Join the English and the Chinese one with |
# zh: 1. 词。英文和中文用 | 连起来
WORDS = {
    "thought": "Thought",
    "action": "Action",
    "observation": "Observation",
    "answer": "Final Answer",
}
# en: 2. What may stand before the word, in its line
# zh: 2. 在这一行里，词的前面可以有什么
BEFORE = r"[ ]*"
# en: 3. What may stand between the word and the text, with the colon
# zh: 3. 词和正文之间可以有什么，包括冒号
AFTER = r"[ ]*:[ ]*"


class Part(NamedTuple):
    kind: str
    text: str
    start: int


def split_reply(text):
    words = "|".join(f"(?P<{kind}>{word})" for kind, word in WORDS.items())
    labels = list(re.finditer(f"(?im)^{BEFORE}(?:{words}){AFTER}", text))
    ends = [label.start() for label in labels[1:]] + [len(text)]
    parts = []
    for label, end in zip(labels, ends):
        parts.append(Part(label.lastgroup, text[label.end() : end].strip(), label.start()))
    return parts
"""
CHINESE = {"Thought": "思考", "Action": "行动", "Observation": "观察", "Final Answer": "最终答案"}
BEFORE, AFTER = r"[ #*]*", r"[ *\d]*[:：][ *]*"


def split_with(before: str = BEFORE, after: str = AFTER, *, chinese: bool = True) -> str:
    """The starter with other patterns, and with or without the Chinese words."""
    code = STARTER_SPLIT.replace('BEFORE = r"[ ]*"', f'BEFORE = r"{before}"')
    code = code.replace('AFTER = r"[ ]*:[ ]*"', f'AFTER = r"{after}"')
    for english, word in CHINESE.items() if chinese else ():
        code = code.replace(f'"{english}"', f'"{english}|{word}"')
    return code


def check_split(names: Mapping[str, Any]) -> None:
    """Labels in each dress are found; the same words inside a line are not."""
    split_reply = names["split_reply"]

    def splits(text: str, *wanted: tuple[str, str], symptom: str) -> None:
        found = split_reply(text)
        got = [(part.kind, part.text) for part in found]
        known = {
            "kind-lost": lambda got: any(kind is None for kind, _ in got),
            "stars-left": lambda got: any(text.startswith("*") for _, text in got),
        }
        expect(f"split_reply({text!r})", got, list(wanted), known=known, otherwise=symptom)

    splits("Thought: a\nAction: look[fox]", ("thought", "a"), ("action", "look[fox]"), symptom="plain")
    splits("**Thought:** a\n**Action**: look[fox]", ("thought", "a"), ("action", "look[fox]"), symptom="bold")
    splits("### Thought: a\n### Final Answer: b", ("thought", "a"), ("answer", "b"), symptom="heading")
    splits("Thought 2: a\nAction 2: look[fox]", ("thought", "a"), ("action", "look[fox]"), symptom="numbered")
    splits("Final Answer: 42", ("answer", "42"), symptom="digits-eaten")
    splits("思考: 甲\n行动: look[fox]", ("thought", "甲"), ("action", "look[fox]"), symptom="chinese")
    splits("观察：甲\n最终答案：乙", ("observation", "甲"), ("answer", "乙"), symptom="wide-colon")
    inside = "Thought: I read in an Observation: it is old."
    splits(inside, ("thought", inside.removeprefix("Thought: ")), symptom="anywhere")
    plain = "Thought: a\nActions are next.\nAction plans too."
    splits(plain, ("thought", plain.removeprefix("Thought: ")), symptom="no-colon")
    start = [part.start for part in split_reply("Thought: a\nAction: b")]
    expect("[part.start for part in split_reply('Thought: a\\nAction: b')]", start, [0, 11], otherwise="start")


READER_LABELS = Exercise(
    id="reader-labels",
    lesson=LESSON,
    part=f"{__name__}:split_reply",
    check=check_split,
    starter=STARTER_SPLIT,
    solution=split_with(),
    alternates=(
        split_with(r"(?:[ #]|\*\*)*", r"(?:\*\*)?(?: ?\d+)?(?:\*\*)? *(?::|：)(?:\*\*)? *"),
        r"""
import re
from typing import NamedTuple

KINDS = {
    "thought": "thought", "action": "action", "observation": "observation", "final answer": "answer",
    "思考": "thought", "行动": "action", "观察": "observation", "最终答案": "answer",
}
LABEL = re.compile(r"^\W*(" + "|".join(KINDS) + r")\W*\d*\W*$", re.IGNORECASE)


class Part(NamedTuple):
    kind: str
    text: str
    start: int


def split_reply(text):
    parts, start = [], 0
    for line in text.splitlines(keepends=True):
        label, colon, rest = line.replace("：", ":").partition(":")
        found = LABEL.match(label) if colon else None
        if found:
            parts.append(Part(KINDS[found[1].lower()], line[len(label) + 1 :].lstrip("* "), start))
        elif parts:
            parts[-1] = parts[-1]._replace(text=parts[-1].text + line)
        start += len(line)
    return [part._replace(text=part.text.strip()) for part in parts]
""",
    ),
    wrong=(
        Wrong(
            "bold",
            split_with(before=r"[ ]*"),
            both(
                "A label in bold was passed over. Models like Markdown: a star may stand before the word. Inside square "
                "brackets a star is just a star.",
                "加粗的标签被漏掉了。模型喜欢写 Markdown：词的前面可能有星号。写在方括号里，星号就只是星号。",
            ),
        ),
        Wrong(
            "stars-left",
            split_with(after=r"[ *\d]*[:：][ ]*"),
            both(
                "The label was found, but stars are left in the text. In **Action:** they close after the colon.",
                "标签找到了，可正文里还留着星号。在 **Action:** 里，后两个星号在冒号之后。",
            ),
        ),
        Wrong(
            "heading",
            split_with(before=r"[ *]*"),
            both(
                "A label that is a heading, ### Action:, was passed over. Let # stand before the word.",
                "写成标题的标签（### Action:）被漏掉了。词的前面也要允许有 #。",
            ),
        ),
        Wrong(
            "numbered",
            split_with(after=r"[ *]*[:：][ *]*"),
            both(
                "The paper numbers its labels, Action 2:, and models have read the paper. Let digits stand before the "
                "colon: \\d is one digit.",
                "论文给标签编了号（Action 2:），模型读过论文。冒号前面要允许有数字：\\d 是一位数字。",
            ),
        ),
        Wrong(
            "digits-eaten",
            split_with(after=r"[ *\d]*[:：][ *\d]*"),
            both(
                "The answer was 42, and it is gone: your pattern took the digits for a part of the label. Digits may stand "
                "before the colon, not after it.",
                "答案是 42，却不见了：数字被当成了标签的一部分。数字可以在冒号前面，不能在后面。",
            ),
        ),
        Wrong(
            "chinese",
            split_with(chinese=False),
            both(
                "Ask in Chinese, and the labels come in Chinese. Each word in WORDS needs its second language after a |.",
                "用中文提问，标签也会是中文的。WORDS 里的每个词，都要在 | 后面加上另一种语言。",
            ),
        ),
        Wrong(
            "wide-colon",
            split_with(after=r"[ *\d]*:[ *]*"),
            both(
                "Chinese text has a colon of its own, the wide ：. It is another character: [:：] takes either.",
                "中文有自己的冒号，全角的“：”。它是另一个字符：[:：] 两种都认。",
            ),
        ),
        Wrong(
            "anywhere",
            split_with(before=r".*"),
            both(
                "A word in the middle of a sentence was taken for a label. Before the word, allow blanks and marks, but "
                "no other text.",
                "句子中间的词被当成了标签。词的前面只能有空格和符号，不能有别的文字。",
            ),
        ),
        Wrong(
            "no-colon",
            split_with(after=r"[ *\d]*[:：]?[ *]*"),
            both(
                "A sentence that begins with the word was taken for a label. It is the colon that makes a label: it must "
                "be there.",
                "以这个词开头的句子被当成了标签。有冒号才是标签：冒号不能省。",
            ),
        ),
        Wrong(
            "kind-lost",
            split_with(after=r"[ *\d]*(:|：)[ *]*"),
            both(
                "The kind came out as None. Round brackets open a group, and the last group is taken for the kind. Use "
                "[...] for one of several characters, or (?:...).",
                "kind 成了 None。圆括号会产生一个分组，而最后一个分组会被当成 kind。几个字符里选一个用 [...]，或者用 (?:...)。",
            ),
        ),
    ),
    hints=(
        both(
            "You need not touch split_reply itself. Take the forms in the list above one by one, and ask which of the "
            "three patterns has to allow more.",
            "split_reply 本身不用动。对照上面的几种写法，一种一种地看：三处里的哪一处要放宽？",
        ),
        both(
            "WORDS: Thought|思考 and so on. BEFORE: blank, # and *, any number of them. AFTER: blanks, stars and digits, "
            "then one of the two colons, then blanks and stars.",
            "WORDS：写成 Thought|思考，依此类推。BEFORE：空格、#、*，个数不限。AFTER：空格、星号和数字，然后是两种冒号之一，再是空格和星号。",
        ),
        both(
            'BEFORE = r"[ #...]*"\nAFTER = r"[ ...\\d]*[:...][ ...]*"',
            'BEFORE = r"[ #...]*"\nAFTER = r"[ ...\\d]*[:...][ ...]*"',
        ),
    ),
)

# -- reader-invented -----------------------------------------------------------------------------------------

STARTER_OWN = """
from react_lab.course import mine_or_ours

split_reply = mine_or_ours("split_reply")


def own_words(text):
    # en: Your turn: the text before the first observation. A part has a .kind and a .start
    # zh: 轮到你了：返回第一个观察之前的文字。每一部分都有 .kind 和 .start
    return text
"""
LOOP = """    for part in split_reply(text):
        if part.kind == "observation":
            return text[: part.start]
"""
OWN_RIGHT = STARTER_OWN.replace("    return text\n", LOOP + "    return text\n")
OWN, LIE, REST = "Thought: a\nAction: look[fox]", "Observation: it is blue", "Thought: b\nFinal Answer: blue"


def check_own(names: Mapping[str, Any]) -> None:
    """A reply ends where its first observation begins, however that is written, and nowhere else."""
    own_words = names["own_words"]

    def keeps(text: str, wanted: str, symptom: str, known: Mapping[str, Any] | None = None) -> None:
        got = own_words(text)
        got = got.strip() if isinstance(got, str) else got
        expect(f"own_words({text!r})", got, wanted, known={"gives-none": None, **(known or {})}, otherwise=symptom)

    keeps(OWN, OWN, "cuts-right")
    whole = f"{OWN}\n{LIE}\n{REST}"
    known = {
        "keeps-all": whole,
        "keeps-rest": lambda got: "Final Answer" in got and LIE not in got,
        "keeps-observation": lambda got: got == LIE,
        "keeps-lie": lambda got: LIE in got,
    }
    keeps(whole, OWN, "cuts-wrong", known)
    keeps(f"{OWN}\n{LIE}\n{OWN}\n{LIE}", OWN, "cuts-last")
    keeps(
        "Thought: The Observation said red.\nAction: look[fox]",
        "Thought: The Observation said red.\nAction: look[fox]",
        "cuts-thought",
    )
    keeps("思考：甲\n行动：look[fox]\n观察：是蓝的", "思考：甲\n行动：look[fox]", "one-language")
    keeps(f"{OWN}\n**Observation 1:** blue", OWN, "one-dress")
    keeps(LIE, "", "keeps-lie")


READER_INVENTED = Exercise(
    id="reader-invented",
    lesson=LESSON,
    part=f"{__name__}:own_words",
    check=check_own,
    starter=STARTER_OWN,
    solution=OWN_RIGHT,
    alternates=(
        STARTER_OWN.replace(
            "    return text\n",
            """    starts = [part.start for part in split_reply(text) if part.kind == "observation"]
    return text[: min(starts, default=len(text))].rstrip()
""",
        ),
        STARTER_OWN.replace(
            "    return text\n",
            """    end = next((kind_start[1] for kind_start in begins(text) if kind_start[0] == "observation"), None)
    return text[:end]


def begins(text):
    return [(part.kind, part.start) for part in split_reply(text)]
""",
        ),
    ),
    wrong=(
        Wrong(
            "gives-none",
            OWN_RIGHT.replace(LOOP + "    return text\n", LOOP),
            both(
                "A reply without any observation gave None. Most replies are like that: give them back whole.",
                "没有观察的回复得到了 None。大多数回复都没有：请原样返回。",
            ),
        ),
        Wrong(
            "cuts-right",
            OWN_RIGHT.replace('part.kind == "observation"', 'part.kind == "action"'),
            both(
                "This reply has no observation, and yet it was cut. Thought and action are the model's own words.",
                "这个回复里没有观察，却被截断了。思考和行动都是模型自己的话。",
            ),
        ),
        Wrong(
            "keeps-all",
            OWN_RIGHT.replace("    return text\n", "        return text\n"),
            both(
                "The reply came back whole. A return inside the loop ends it at the first part, and the observation is "
                "never reached: return the whole text after the loop.",
                "回复原样返回了。循环里的 return 在第一部分就结束了循环，走不到观察那里：全文要在循环之后返回。",
            ),
        ),
        Wrong(
            "keeps-rest",
            OWN_RIGHT.replace(
                LOOP + "    return text\n",
                '    return "\\n".join(line for line in text.splitlines() if not line.startswith("Observation"))\n',
            ),
            both(
                "The invented line is gone, but what the model concluded from it is still there. Cut there, and keep "
                "nothing that follows.",
                "编造的那一行没了，可模型由它得出的结论还在。从那里截断，后面的一概不留。",
            ),
        ),
        Wrong(
            "keeps-lie",
            OWN_RIGHT.replace("text[: part.start]", "text[: part.start + len(part.text) + 13]"),
            both(
                "The invention is still in it. It begins where its label begins: at part.start.",
                "编造的内容还在里面。它从标签开始的地方开始，也就是 part.start。",
            ),
        ),
        Wrong(
            "keeps-observation",
            OWN_RIGHT.replace("text[: part.start]", 'f"Observation: {part.text}"'),
            both(
                "This is the very part that has to go. What is wanted is what stands before it.",
                "这正是该去掉的部分。要的是它前面的内容。",
            ),
        ),
        Wrong(
            "cuts-last",
            OWN_RIGHT.replace("split_reply(text)", "reversed(split_reply(text))"),
            both(
                "With two inventions, you cut at the second. From the first one on, nothing is real.",
                "编造了两处，你截在第二处。从第一处起，就没有真的了。",
            ),
        ),
        Wrong(
            "cuts-thought",
            STARTER_OWN.replace("    return text\n", '    return text.split("Observation")[0]\n'),
            both(
                "A thought may speak of an observation. Only a label at the start of a line counts, and split_reply finds "
                "those.",
                "思考里可以提到观察。只有行首的标签才算，而 split_reply 会找出它们。",
            ),
        ),
        Wrong(
            "one-language",
            STARTER_OWN.replace(
                "    return text\n",
                '    return text.split("\\nObservation")[0]\n',
            ),
            both(
                "Cut in English, passed in Chinese. split_reply knows both languages: ask for part.kind.",
                "英文的截掉了，中文的放过去了。split_reply 两种语言都认得：看 part.kind。",
            ),
        ),
        Wrong(
            "one-dress",
            STARTER_OWN.replace(
                "    return text\n",
                '    return text.split("\\nObservation")[0].split("\\n观察")[0]\n',
            ),
            both(
                "A label in bold slipped through. You have already taught split_reply all of its forms: use it.",
                "加粗的标签漏过去了。各种写法你已经教给 split_reply 了：用上它。",
            ),
        ),
    ),
    hints=(
        both(
            "You don't have to search for the word. Something that you have already built knows where each part begins.",
            "不用自己去找那个词。你已经做出来的东西，知道每一部分从哪里开始。",
        ),
        both(
            'Go through split_reply(text). At the first part whose kind is "observation", return the text up to its '
            "start. Only after the loop, return the whole text.",
            '逐个看 split_reply(text)。遇到第一个 kind 是 "observation" 的部分，返回它的 start 之前的文字。循环之后，才返回全文。',
        ),
        both(
            "for part in split_reply(text):\n    if part.kind == ...:\n        return text[:...]\nreturn text",
            "for part in split_reply(text):\n    if part.kind == ...:\n        return text[:...]\nreturn text",
        ),
    ),
)

# -- reader-call ---------------------------------------------------------------------------------------------

STARTER_CALL = r"""
import json
import re

from react_lab.text_react import Action

CLOSING = {"[": "]", "(": ")"}


def unquoted(text):
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def read_call(text):
    begun = re.match(r"[`\s]*(\w+)\s*([\[(])\s*", text)
    if begun is None:
        return None
    name, opening = begun.groups()
    inside, closing = begun.end(), CLOSING[opening]
    # en: JSON, done: it ends where the object ends, whatever brackets stand in it
    # zh: JSON，已经写好：对象到哪里结束，它就到哪里结束，里面有什么括号都不要紧
    if text.startswith("{", inside):
        try:
            argument, end = json.JSONDecoder().raw_decode(text, inside)
        except ValueError:
            return None
        return Action(name, argument) if text[end:].lstrip().startswith(closing) else None
    # en: Your turn: find the bracket that closes this one. Between them, brackets may open and close.
    # en: Where there is none, the action was cut off: None.
    # zh: 轮到你了：找到和它配对的右括号。两者之间可以还有成对的括号。
    # zh: 找不到，说明行动被截断了：返回 None。
    end = text.rfind(closing)
    return Action(name, unquoted(text[inside:end]))
"""
GREEDY = "    end = text.rfind(closing)\n    return Action(name, unquoted(text[inside:end]))\n"
COUNT = """    depth = 1
    for end in range(inside, len(text)):
        depth += (text[end] == opening) - (text[end] == closing)
        if depth == 0:
            return Action(name, unquoted(text[inside:end]))
    return None
"""
CALL_RIGHT = STARTER_CALL.replace(GREEDY, COUNT)


def check_call(names: Mapping[str, Any]) -> None:
    """The first call is read as far as its own bracket; what is no call, or not closed, is None."""
    read_call = names["read_call"]

    def reads(text: str, argument: object, known: Mapping[str, Any] | None = None, *, otherwise: str) -> None:
        wanted = None if argument is None else Action("look", argument)  # type: ignore[arg-type]
        expect(f"read_call({text!r})", caught(read_call, text), wanted, known=known, otherwise=otherwise)

    right = {
        "gives-none": None,
        "gives-tuple": lambda got: not isinstance(got, Action),
        "one-too-many": Action("look", "red fox]"),
        "stops-at-once": Action("look", ""),
    }
    reads("look[red fox]", "red fox", right, otherwise="misread")
    reads("look(red fox)", "red fox", {"one-kind": None}, otherwise="misread")
    text_only = {"json-text": lambda got: isinstance(getattr(got, "argument", None), str)}
    reads('look({"q": "red ) fox"})', {"q": "red ) fox"}, text_only, otherwise="json-lost")
    reads('look("red fox")', "red fox", {"quotes-left": Action("look", '"red fox"')}, otherwise="misread")
    greedy = {"greedy": lambda got: "blue" in str(getattr(got, "argument", ""))}
    reads("look[red fox], look[blue fox]", "red fox", greedy, otherwise="misread")
    reads("look[a [b] c]", "a [b] c", {"too-short": Action("look", "a [b")}, otherwise="misread")
    reads("look(f(1) + f(2))", "f(1) + f(2)", {"too-short": Action("look", "f(1")}, otherwise="misread")
    half = {"half-raises": lambda got: isinstance(got, Raised)}
    reads("look[red f", None, half, otherwise="half-runs")
    reads("look[a [b] c", None, half, otherwise="half-runs")
    reads('look({"q": "red f', None, half, otherwise="half-runs")
    reads("look for a fox", None, otherwise="prose-runs")


def caught(read: Callable[[str], object], text: str) -> object:
    """What is read; of the exceptions, those that say that a text can't be read."""
    try:
        return read(text)
    except (ValueError, IndexError) as error:
        return Raised(error)


READER_CALL = Exercise(
    id="reader-call",
    lesson=LESSON,
    part=f"{__name__}:read_call",
    check=check_call,
    starter=STARTER_CALL,
    solution=CALL_RIGHT,
    alternates=(
        STARTER_CALL.replace(
            GREEDY,
            """    end = text.find(closing, inside)
    while end >= 0:
        argument = text[inside:end]
        if argument.count(opening) == argument.count(closing):
            return Action(name, unquoted(argument))
        end = text.find(closing, end + 1)
""",
        ),
        STARTER_CALL.replace(
            GREEDY,
            """    waiting = [opening]
    for position, character in enumerate(text[inside:], start=inside):
        if character == opening:
            waiting.append(character)
        elif character == closing:
            waiting.pop()
        if not waiting:
            break
    return None if waiting else Action(argument=unquoted(text[inside:position]), name=name)
""",
        ),
    ),
    wrong=(
        Wrong(
            "greedy",
            STARTER_CALL.replace(GREEDY, "    if closing not in text:\n        return None\n" + GREEDY),
            both(
                "You took the last bracket of the text, and swallowed a second call whole. This is what a greedy (.*) does "
                "in a regular expression.",
                "你取的是文字里最后一个括号，把第二个调用整个吞了进去。正则表达式里贪婪的 (.*) 就会这样。",
            ),
        ),
        Wrong(
            "too-short",
            STARTER_CALL.replace(
                GREEDY,
                "    end = text.find(closing, inside)\n"
                "    return Action(name, unquoted(text[inside:end])) if end >= 0 else None\n",
            ),
            both(
                "You took the first bracket, but that one closes another. Count: one up where a bracket opens, one down "
                "where it closes.",
                "你取的是第一个右括号，可它和别的左括号配对。要数一数：左括号加一，右括号减一。",
            ),
        ),
        Wrong(
            "half-runs",
            CALL_RIGHT.replace("    return None\n", "    return Action(name, unquoted(text[inside:]))\n").replace(
                "    if begun is None:\n        return Action(name, unquoted(text[inside:]))\n",
                "    if begun is None:\n        return None\n",
            ),
            both(
                "The reply broke off in the middle, and half an action came out of it. It would run: think of "
                "delete[notes/old*] cut off after notes/.",
                "回复在中间断了，却读出了半个行动，而且会真的运行。想想 delete[notes/old*] 断在 notes/ 后面会怎样。",
            ),
        ),
        Wrong(
            "half-raises",
            STARTER_CALL.replace(
                GREEDY,
                """    depth, end = 1, inside
    while depth:
        depth += (text[end] == opening) - (text[end] == closing)
        end += 1
    return Action(name, unquoted(text[inside : end - 1]))
""",
            ),
            both(
                "Where no bracket closes, your code runs off the end of the text and raises. A reply that breaks off is "
                "nothing unusual: give back None.",
                "没有右括号时，你的代码一直找到文字之外，抛出了异常。回复断在半路并不少见：返回 None。",
            ),
        ),
        Wrong(
            "one-too-many",
            CALL_RIGHT.replace("text[inside:end]", "text[inside : end + 1]"),
            both(
                "The closing bracket came along. The argument ends one character before it: text[inside:end].",
                "右括号也被带上了。参数到它前面一个字符为止：text[inside:end]。",
            ),
        ),
        Wrong(
            "stops-at-once",
            CALL_RIGHT.replace("depth = 1", "depth = 0"),
            both(
                "The count was 0 before anything was closed, so the argument came out empty. One bracket is open already: "
                "begin with 1.",
                "还没遇到右括号，计数就已经是 0，参数成了空的。这时已经有一个左括号：从 1 开始。",
            ),
        ),
        Wrong(
            "one-kind",
            CALL_RIGHT.replace("== opening", '== "["').replace("== closing", '== "]"'),
            both(
                "Square brackets are read, round ones never close. Which two count depends on the call: compare with "
                "opening and closing.",
                "方括号读得出来，圆括号却永远等不到结尾。数哪两种括号，要看这个调用用的是哪种：和 opening、closing 比较。",
            ),
        ),
        Wrong(
            "quotes-left",
            CALL_RIGHT.replace("unquoted(text[inside:end])", "text[inside:end]"),
            both(
                "The quotes stayed in the argument, and the tool would search for them. unquoted takes them off.",
                "引号留在了参数里，工具会连引号一起去搜。用 unquoted 去掉它们。",
            ),
        ),
        Wrong(
            "json-text",
            CALL_RIGHT.replace("return Action(name, argument) if", "return Action(name, text[inside:end]) if"),
            both(
                "This is still the text of the JSON. A tool takes arguments by name, so it needs the dict that was made of "
                "it.",
                "这还是 JSON 的文字。工具按名字取参数，需要的是由它得到的字典。",
            ),
        ),
        Wrong(
            "gives-none",
            CALL_RIGHT.replace("            return Action(name, unquoted", "            Action(name, unquoted"),
            both(
                "Nothing came out. Either return is missing, or the count never came down to 0: it begins behind the opening "
                "bracket, at inside.",
                "什么都没读出来。要么少了 return，要么一直没数到 0：要从左括号后面的 inside 开始数。",
            ),
        ),
    ),
    hints=(
        both(
            "Neither the first closing bracket is right, nor the last. Read look[a [b] c] with a finger: how do you know "
            "where to stop?",
            "第一个右括号不对，最后一个也不对。用手指着读 look[a [b] c]：你怎么知道该停在哪里？",
        ),
        both(
            "Start with depth = 1, since one bracket is open. Go through the text from inside on: opening adds one, closing "
            "takes one away. At 0 you are there. If the text ends before that, return None.",
            "从 depth = 1 开始，因为已经有一个左括号。从 inside 往后逐个字符看：遇到 opening 加一，遇到 closing 减一。到 0 就是它。文字先到头了，就返回 None。",
        ),
        both(
            "depth = 1\nfor end in range(inside, len(text)):\n    if text[end] == opening:\n        depth += ...\n"
            "    elif text[end] == closing:\n        depth -= ...\n    if depth == ...:\n        return Action(...)\nreturn None",
            "depth = 1\nfor end in range(inside, len(text)):\n    if text[end] == opening:\n        depth += ...\n"
            "    elif text[end] == closing:\n        depth -= ...\n    if depth == ...:\n        return Action(...)\nreturn None",
        ),
    ),
)

# -- reader-parse --------------------------------------------------------------------------------------------

STARTER_PARSE = """
from react_lab.course import mine_or_ours
from react_lab.text_react import ParsedReply

split_reply = mine_or_ours("split_reply")
own_words = mine_or_ours("own_words")
read_call = mine_or_ours("read_call")


def parse_reply(text):
    text = own_words(text)
    thought, problem = "", "it holds neither an action nor a final answer"
    for part in split_reply(text):
        if part.kind == "thought":
            thought = part.text
        # en: 1. An answer: return it, as ParsedReply(thought, answer=..., text=text)
        # zh: 1. 答案：返回 ParsedReply(thought, answer=..., text=text)
        # en: 2. An action: read_call reads it. Return it, as ParsedReply(thought, actions=(...,), text=text)
        # zh: 2. 行动：由 read_call 来读。返回 ParsedReply(thought, actions=(...,), text=text)
        # en: 3. But Finish[...], in large or small letters, is an answer.
        # zh: 3. 但 Finish[...] 是答案，大写小写都算。
        # en: 4. And an action that can't be read goes into problem, in its own words; go on to the next part.
        # zh: 4. 读不懂的行动，把它的原文写进 problem，再看下一部分。
    return ParsedReply(thought, error=problem, text=text)
"""
PARSE_ANSWER = """        if part.kind == "answer":
            return ParsedReply(thought, answer=part.text, text=text)
"""
PARSE_ACTION = """        if part.kind == "action":
            action = read_call(part.text)
            if action is None:
                problem = f"{part.text!r} is no action"
            elif action.name.lower() == "finish":
                return ParsedReply(thought, answer=action.argument, text=text)
            else:
                return ParsedReply(thought, actions=(action,), text=text)
"""
HEAD, TAIL = STARTER_PARSE.split("        # en: 1.")[0], "    return ParsedReply(thought, error=problem, text=text)\n"
PARSE_RIGHT = HEAD + PARSE_ANSWER + PARSE_ACTION + TAIL


def check_parse(names: Mapping[str, Any]) -> None:
    """One action, or an answer, or an error: whatever was written, one of the three comes out."""
    parse_reply = names["parse_reply"]

    def parses(
        text: str, said: Said, known: Mapping[str, Callable[[Any], bool]] | None = None, *, otherwise: str
    ) -> None:
        got = caught(parse_reply, text)
        tests: dict[str, Callable[[Any], bool]] = {
            "raises": lambda got: isinstance(got, Raised),
            "gives-none": lambda got: got is None,
            "gives-other": lambda got: not isinstance(got, ParsedReply),
            "bare-action": lambda got: not isinstance(got.actions, tuple),
            "no-error": lambda got: not got.actions and got.answer is None and got.error is None,
            **(known or {}),
            otherwise: lambda got: not fits(got, said),
            "thought-lost": lambda got: got.thought != said.get("thought", got.thought),
        }
        for symptom, shows in tests.items():
            if shows(got):
                raise Difference(symptom, f"parse_reply({text!r})", wanted(said), seen(got, said))

    fox = (Action("look", "red fox"),)
    unread = {"unread": lambda got: got.error is not None}
    parses("Thought: a\nAction: look[red fox]", {"thought": "a", "actions": fox}, unread, otherwise="action-lost")
    json_fox = (Action("look", {"q": "red fox"}),)
    parses('Thought: a\nAction: look({"q": "red fox"})', {"actions": json_fox}, otherwise="action-lost")
    parses("思考：甲\n最终答案：乙", {"thought": "甲", "answer": "乙"}, otherwise="answer-lost")
    finish = {
        "finish-runs": lambda got: bool(got.actions),
        "answer-action": lambda got: isinstance(got.answer, Action),
    }
    parses("Thought: a\nAction: Finish[42]", {"thought": "a", "answer": "42"}, finish, otherwise="answer-lost")
    parses("Thought: a\nAction: finish[42]", {"answer": "42"}, otherwise="finish-case")
    parses("Action: look[red fox]\nFinal Answer: blue", {"actions": fox}, otherwise="answer-first")
    parses("Action: look[red fox]\nAction: look[blue fox]", {"actions": fox}, otherwise="last-wins")
    parses("Action: first I think\nAction: look[red fox]", {"actions": fox}, otherwise="gives-up")
    parses("Thought: a\nAction: search for foxes", {"error": "search for foxes"}, otherwise="no-words")
    parses("I would search.", {"error": ""}, otherwise="reads-nothing")
    parses("Action: look[red f", {"error": ""}, otherwise="half-runs")
    lie = "Thought: a\nAction: look[red fox]\nObservation: blue\nFinal Answer: blue"
    cut = {"thought": "a", "actions": fox, "text": OWN.replace("fox", "red fox")}
    parses(lie, cut, {"lie-kept": lambda got: "blue" in got.text}, otherwise="answer-first")


Said = Mapping[str, Any]  # the fields of a ParsedReply that a reply has to give; of an error, words that it must hold


def fits(got: ParsedReply, said: Said) -> bool:
    if "error" in said:
        return got.error is not None and said["error"] in got.error and not got.actions and got.answer is None
    return (got.actions, got.answer, got.error) == (said.get("actions", ()), said.get("answer"), None)


def wanted(said: Said) -> Literal:
    return shown({name: f"'… {value} …'" if name == "error" else repr(value) for name, value in said.items()})


def seen(got: object, said: Said) -> Literal:
    """A reply as it was read, without what is empty; with its text where that is asked for."""
    if not isinstance(got, ParsedReply):
        return Literal(repr(got))
    fields = {name: value for name, value in vars(got).items() if name != "text" or name in said}
    return shown({name: repr(value) for name, value in fields.items() if value not in ("", (), None)})


def shown(fields: Mapping[str, str]) -> Literal:
    return Literal("ParsedReply(" + ", ".join(f"{name}={value}" for name, value in fields.items()) + ")")


READER_PARSE = Exercise(
    id="reader-parse",
    lesson=LESSON,
    part="react_lab.text_react:parse_reply",
    check=check_parse,
    starter=STARTER_PARSE,
    solution=PARSE_RIGHT,
    alternates=(
        HEAD
        + """        elif part.kind == "answer":
            return ParsedReply(thought, answer=part.text, text=text)
        elif part.kind == "action" and (action := read_call(part.text)):
            if action.name.casefold() == "finish":
                return ParsedReply(thought, answer=action.argument, text=text)
            return ParsedReply(thought, actions=(action,), text=text)
        else:
            problem = "this can't be read as an action: " + part.text
"""
        + TAIL,
        HEAD.split("def parse_reply")[0]
        + """def parse_reply(text):
    text = own_words(text)
    thought, unread = "", []
    for kind, content, _ in split_reply(text):
        match kind:
            case "thought":
                thought = content
            case "answer":
                return ParsedReply(thought=thought, answer=content, text=text)
            case "action":
                action = read_call(content)
                if action and action.name in ("Finish", "finish", "FINISH"):
                    return ParsedReply(thought=thought, answer=action.argument, text=text)
                if action:
                    return ParsedReply(thought=thought, actions=(action,), text=text)
                unread.append(content)
    error = f"no action: {unread}" if unread else "write an action or a final answer"
    return ParsedReply(thought=thought, error=error, text=text)
""",
    ),
    wrong=(
        Wrong(
            "unread",
            HEAD + PARSE_ANSWER + TAIL,
            both(
                "The action was passed over, and the model would be told that it wrote none. Parts of the kind action still "
                "need their turn.",
                "行动被跳过了，模型会被告知它没有写行动。kind 是 action 的部分还没有处理。",
            ),
        ),
        Wrong(
            "bare-action",
            PARSE_RIGHT.replace("actions=(action,)", "actions=(action)"),
            both(
                "actions has to be a tuple: a reply may hold several. A tuple of one has a comma, (action,).",
                "actions 必须是元组：一个回复里可能有好几个行动。只有一个元素的元组要写逗号：(action,)。",
            ),
        ),
        Wrong(
            "finish-runs",
            PARSE_RIGHT.replace('action.name.lower() == "finish"', 'action.name == "Final Answer"'),
            both(
                "Finish[42] came out as a call, and no tool is called Finish. In the paper's form this is how a model "
                "answers: give back its argument as the answer.",
                "Finish[42] 成了一次调用，可没有哪个工具叫 Finish。在论文的写法里，模型就是这样作答的：把它的参数作为答案返回。",
            ),
        ),
        Wrong(
            "answer-action",
            PARSE_RIGHT.replace("answer=action.argument", "answer=action"),
            both(
                "The answer is an Action now, brackets and all. A person wants to read its argument.",
                "答案成了一个 Action。人要读的是它的参数（argument）。",
            ),
        ),
        Wrong(
            "finish-case",
            PARSE_RIGHT.replace('action.name.lower() == "finish"', 'action.name == "Finish"'),
            both(
                "Finish was understood, finish was not. Models are not strict about letters: compare action.name.lower().",
                "Finish 认得，finish 不认得。模型不太在意大小写：用 action.name.lower() 来比较。",
            ),
        ),
        Wrong(
            "answer-first",
            HEAD.replace(
                "    for part in",
                """    found = {part.kind: part.text for part in split_reply(text)}
    if "answer" in found:
        return ParsedReply(found.get("thought", ""), answer=found["answer"], text=text)
    for part in""",
            )
            + PARSE_ACTION
            + TAIL,
            both(
                "An answer was found somewhere in the text, though an action stands before it. The tool has not run yet, so "
                "that answer is a guess. Take what comes first.",
                "在文字里找到了一个答案，可它前面还有一个行动。工具还没运行，这个答案只是猜的。谁在前面就取谁。",
            ),
        ),
        Wrong(
            "last-wins",
            HEAD.replace("    for part in", "    found = None\n    for part in")
            + PARSE_ANSWER.replace('"answer":', '"answer" and found is None:')
            + PARSE_ACTION.replace("return ParsedReply(thought, actions", "found = ParsedReply(thought, actions")
            + TAIL.replace("return", "return found or"),
            both(
                "Of two actions you took the last. The model wrote it without having seen what the first one brings.",
                "两个行动里你取了后一个。模型写它的时候，还没见到前一个的结果。",
            ),
        ),
        Wrong(
            "gives-up",
            PARSE_RIGHT.replace(
                'problem = f"{part.text!r} is no action"',
                'return ParsedReply(thought, error=f"{part.text!r} is no action", text=text)',
            ),
            both(
                "You gave up at the first action that is prose, and a good one stands below it. Keep the problem in mind, "
                "and go on.",
                "遇到第一个写成大白话的行动，你就放弃了，可下面有一个好的。先记下问题，接着看。",
            ),
        ),
        Wrong(
            "no-words",
            PARSE_RIGHT.replace('                problem = f"{part.text!r} is no action"', "                continue"),
            both(
                "The model did write an action, and is told that there is none. Quote what you couldn't read: then it knows "
                "what to write differently.",
                "模型写了行动，却被告知没有写。把读不懂的原文引出来：它才知道该改哪里。",
            ),
        ),
        Wrong(
            "no-error",
            PARSE_RIGHT.replace("thought, error=problem", "thought"),
            both(
                "Neither action nor answer nor error: whoever calls this has nothing to go by. Hand problem on as the error.",
                "没有行动，没有答案，也没有错误：调用的人无从下手。把 problem 作为 error 传出去。",
            ),
        ),
        Wrong(
            "raises",
            PARSE_RIGHT.replace(TAIL, "    raise ValueError(problem)\n"),
            both(
                "An unreadable reply ended in an exception. It is the model's mistake, so the model has to hear of it: give "
                "it back as the error.",
                "读不懂的回复变成了异常。这是模型的错误，得让模型知道：作为 error 返回。",
            ),
        ),
        Wrong(
            "lie-kept",
            PARSE_RIGHT.replace("    text = own_words(text)", "    whole, text = text, own_words(text)").replace(
                "actions=(action,), text=text", "actions=(action,), text=whole"
            ),
            both(
                "The call is right, but text still holds the invented observation. It goes back into the conversation, and "
                "next turn the model reads its own invention as a fact.",
                "调用是对的，可 text 里还留着编造的观察。它会回到对话里，下一轮模型就把自己编的当成事实来读。",
            ),
        ),
        Wrong(
            "thought-lost",
            PARSE_RIGHT.replace("            thought = part.text\n", "            pass\n"),
            both(
                "The thought is gone. Nothing runs on it, but without it nobody can tell from the trace why a step was taken.",
                "思考丢了。运行用不到它，可没有它，谁也没法从轨迹里看出为什么走了这一步。",
            ),
        ),
    ),
    hints=(
        both(
            "The loop meets the parts in the order in which the model wrote them. Return as soon as you have something to "
            "run or an answer: what comes first wins.",
            "循环按模型书写的顺序遇到各个部分。一有能运行的行动或者答案，就返回：谁在前面就取谁。",
        ),
        both(
            "Two more ifs, on part.kind. For an action, call read_call(part.text) and tell three cases apart: None, a name "
            "that is finish in small letters, and anything else.",
            "再写两个 if，判断 part.kind。遇到行动，调用 read_call(part.text)，分三种情况：None，名字小写后是 finish，其余。",
        ),
        both(
            'if part.kind == "answer":\n    return ParsedReply(thought, answer=..., text=text)\n'
            'if part.kind == "action":\n    action = read_call(...)\n    if action is None:\n        problem = ...\n'
            '    elif action.name.lower() == "finish":\n        return ParsedReply(thought, answer=..., text=text)\n'
            "    else:\n        return ParsedReply(thought, actions=(...,), text=text)",
            'if part.kind == "answer":\n    return ParsedReply(thought, answer=..., text=text)\n'
            'if part.kind == "action":\n    action = read_call(...)\n    if action is None:\n        problem = ...\n'
            '    elif action.name.lower() == "finish":\n        return ParsedReply(thought, answer=..., text=text)\n'
            "    else:\n        return ParsedReply(thought, actions=(...,), text=text)",
        ),
    ),
)

EXERCISES = (READER_LABELS, READER_INVENTED, READER_CALL, READER_PARSE)


def __getattr__(name: str) -> Any:
    """The finished parts of this lesson: in the library, they are woven into `parse_reply`."""
    for item in EXERCISES:
        if item.part == f"{__name__}:{name}":
            names: dict[str, Any] = {}
            exec(item.solution, names)
            return names[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


QUIZZES = (
    Quiz(
        id="start-sees",
        lesson="00_start",
        question=both("How much of a model's reply does a tool get to see?", "模型的一个回复里，工具看得到多少？"),
        choices=(
            both("The arguments of its own call", "自己那次调用的参数"),
            both("The thought and the action", "思考和行动"),
            both("The whole conversation so far", "到目前为止的整段对话"),
        ),
        right=0,
        why=both(
            "A tool gets arguments and nothing else. What the model thought is for the person who reads the trace.",
            "工具得到的只有参数。模型怎么想的，是留给读轨迹的人看的。",
        ),
    ),
    Quiz(
        id="registry-silent",
        lesson="02_registry",
        question=both(
            "Two tools with one name go into a plain dict. What is bad about it?",
            "两个同名的工具放进一个普通的字典。坏在哪里？",
        ),
        choices=(
            both("Python raises, and the agent can't start", "Python 抛出异常，智能体无法启动"),
            both("One is gone, and nobody hears of it", "其中一个没了，而且没人知道"),
            both("Both run, and the model sees two results", "两个都运行，模型看到两个结果"),
        ),
        right=1,
        why=both(
            "The second takes the first one's place in silence. So a registry refuses a name that is taken.",
            "第二个一声不响地顶掉了第一个。所以名字已经有了，注册表就拒绝。",
        ),
    ),
    Quiz(
        id="reader-ends",
        lesson=LESSON,
        question=both(
            "A reply holds an action, an observation that the model made up, and a final answer. What counts?",
            "一个回复里有行动、模型编造的观察，还有最终答案。哪些算数？",
        ),
        choices=(
            both("The action", "行动"),
            both("The final answer", "最终答案"),
            both("The action and the final answer", "行动和最终答案"),
        ),
        right=0,
        why=both(
            "Nothing has run yet. What follows the action rests on an invention, so it is cut off.",
            "什么都还没有运行。行动之后的内容建立在编造之上，所以要截掉。",
        ),
    ),
    Quiz(
        id="reader-half",
        lesson=LESSON,
        question=both(
            "A reply breaks off; its last line is “Action: delete[notes/”. What does the reader give back?",
            "一个回复断在半路，最后一行是“Action: delete[notes/”。解析器应该给出什么？",
        ),
        choices=(
            both("The action, with what there is of it", "这个行动，有多少算多少"),
            both("The action, with the bracket added", "这个行动，补上括号"),
            both("An error, so that nothing is run", "一个错误，什么都不运行"),
        ),
        right=2,
        why=both(
            "Nobody knows what the rest would have been. The model is told, and can write it again.",
            "谁也不知道后面本来是什么。告诉模型，它可以再写一遍。",
        ),
    ),
)

SENTENCES = (
    Sentence(
        id="reader-why-contract",
        lesson=LESSON,
        question=both(
            "Why do prompt and reader belong together?",
            "为什么提示词和解析器要放在一起？",
        ),
        answer=both(
            "The prompt asks for a form and the reader takes it in: if one changes alone, the model does as it was told and "
            "is refused.",
            "提示词要求一种写法，解析器读这种写法：只改一边，模型照着做了，却会被拒绝。",
        ),
    ),
)
