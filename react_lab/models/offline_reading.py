"""How the offline stand-in reads English and Chinese: words, the parts of a question, the sentence that answers it.

Knowledge of language only: no fact about the world stands here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from react_lab.language import Language, language_of
from react_lab.tools.passages import texts_of

# Words of a row mean the same to the stand-in, in both languages; the first one names the concept.
CONCEPT_ROWS = """
weather temperature warm warmer hot hotter cold colder cool degree 天气 气温 温度 温差 更热 更冷 更暖 几度 多少度
born birth birthday birthdate old age aged young younger 出生 生于 年龄 多少岁 几岁 岁数 多大年纪 多大
author create creator design designer invent inventor develop write wrote 作者 创建 设计 发明 创造 创始人 开发
award win winner won laureate receive 得主 授予 颁给 获奖者 获奖 获得 赢得 发给
high higher highest height tall taller elevation 海拔 高度 更高 多高
area large larger largest bigger size 面积 更大
long longer longest length 全长 长度 更长 多长
appear appearance release introduce publish post 首次 问世 发布 发表 出现 诞生
distance far farther distant 距离 更远 多远
multiply times product multiplied 乘以 乘积 相乘
add plus sum addition 加上 之和 总和 相加
subtract minus difference subtraction 减去 之差 相减 相差
divide divided division quotient 除以 除法
moon satellite 卫星
calculate calculator arithmetic expression evaluate compute 计算 算式
search find look lookup information 搜索 查找 查询
"""
CONCEPTS = {word: row.split()[0] for row in CONCEPT_ROWS.strip().splitlines() for word in row.split()}
ATTRIBUTES = set(CONCEPTS.values())

STOP_WORDS = set(
    """a an the of in on at to for from by with and or is are was were be been do does did has have had how many much
    what which who whom whose when where why that this these those it its there their they he she his her please tell
    me i you can could would about between than as into over right now current currently today moment together total
    altogether number pass passed year years end city country name named give list first us all so one ones come came
    get if not no more most value result equal use using let's two three compare""".split()
)
STOP_PHRASES = """
    请告诉我 请问 告诉我 哪个国家 哪个城市 哪座城市 哪座 哪一个 哪一年 哪个 哪里 哪些 哪位 哪年 哪国 哪
    哪条 哪颗 哪本 哪部 哪种 哪项 哪只 哪家 哪片 哪块 哪支 哪所 哪栋 哪幢 哪场
    什么时候 什么 谁 是多少 多少 几个 几颗 怎么样 怎样 如何 今天 现在 目前 当前 此刻 一下 一共 总共 等于 之间
    分别 平均 更 吗 呢 是 的 了 有 在 被 由 于 这 那 到 为 请 和 与 跟 或 还是 以及 年底 年末 年 叫 位 结果
    比较
""".split()

OPERATIONS = {
    "sum": r"\b(?:sum|add|together|total|altogether)\b|之和|总和|加起来|一共|总共|合计|相加",
    "difference": r"\b(?:difference|by how (?:many|much)|years (?:passed |are |lie )?between|how (?:many|much) \w+er)\b"
    r"|温差|之差|相差|差多少|差几|[高大长远热冷重]多少|相隔|差距",
}
COMPARISON = re.compile(
    r"\b(?:higher|taller|larger|bigger|longer|warmer|hotter|farther|more|greater|heavier|later|newer|younger"
    r"|lower|smaller|shorter|colder|cooler|nearer|fewer|less|lighter|older|earlier|first)\b"
    r"|更[\u3400-\u9fff]{1,2}?(?=[,?。些]|$)"
)
SMALLER_WINS = re.compile(
    r"lower|smaller|shorter|colder|cooler|nearer|fewer|less|lighter|older|earlier|first|[低小短冷近少轻早]"
)
FUTURE = re.compile(r"(?i)\bnext (?:year|month|week)\b|\btomorrow\b|明年|明天|后年|下个月|将来")

NUMBER = r"\d[\d,]*(?:\.\d+)?"
ZH_DIGITS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "1": 1, "2": 2, "3": 3, "4": 4}


@dataclass(frozen=True)
class Question:
    """What the stand-in makes of a question.

    `expression` is set where it is arithmetic and nothing else. `entities` are things named side by side ("gold and
    silver"); `operation` and `comparison` say what is asked of them, `then` is arithmetic on the result ("* 10").
    """

    text: str
    language: Language
    expression: str | None = None
    operation: str | None = None
    comparison: str | None = None
    entities: tuple[str, ...] = ()
    then: str = ""

    @property
    def topic(self) -> list[str]:
        """The words that are left when the entities are taken out."""
        return words_of(self.subject)

    @property
    def subject(self) -> str:
        """The question without the entities and without what is to be done with their values."""
        rest = self.text
        for part in self.entities:
            rest = rest.replace(part, " ")
        for pattern in OPERATIONS.values():
            rest = re.sub(pattern, " ", rest, flags=re.I)
        return rest


@dataclass(frozen=True)
class Sentence:
    """A sentence of an observation, with the heading, passage and address that it stands under."""

    text: str
    title: str = ""
    passage: str = ""
    url: str | None = None


def read_question(text: str) -> Question:
    """Take a question apart."""
    plain = unicodedata.normalize("NFKC", text).strip()
    body, then = _split_then(plain)
    inner = expression_in(body) if then else None
    operation = next((name for name, pattern in OPERATIONS.items() if re.search(pattern, body, re.I)), None)
    comparison = COMPARISON.search(body)
    return Question(
        text=body,
        language=language_of(plain),
        expression=f"({inner}){then}" if inner else expression_in(plain),
        operation=operation,
        comparison=comparison[0] if comparison else None,
        entities=entities_in(body),
        then=then,
    )


WORD_RUN = r"[\u3400-\u9fff]+|[A-Za-zÀ-ÖØ-öø-ɏ0-9+#.'’-]+"

# -- words ---------------------------------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    """The words that carry meaning, in order: concepts where they have one, Chinese as pairs of characters."""
    found: list[str] = []
    for run in re.findall(WORD_RUN, unicodedata.normalize("NFKC", text)):
        found += _chinese_words(run) if language_of(run) == "zh" else _english_word(run)
    return list(dict.fromkeys(found))


def _english_word(run: str) -> Iterator[str]:
    word = run.strip(".'’-").casefold()
    word = word[:-2] if word.endswith(("'s", "’s")) else word
    if word and word not in STOP_WORDS:
        forms = (word, word.removesuffix("s"), word.removesuffix("ed"), re.sub("ed$", "e", word))
        yield next((CONCEPTS[form] for form in forms if form in CONCEPTS), stem(word))


def stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(sorted(words, key=len, reverse=True)))


ZH_CONCEPT = _any_of(word for word in CONCEPTS if language_of(word) == "zh")
ZH_STOP = _any_of(STOP_PHRASES)
ZH_KNOWN = _any_of([*STOP_PHRASES, *(word for word in CONCEPTS if language_of(word) == "zh")])


def _chinese_words(run: str) -> Iterator[str]:
    for match in ZH_CONCEPT.finditer(run):
        yield CONCEPTS[match[0]]
    for part in ZH_STOP.sub(" ", ZH_CONCEPT.sub(" ", protect(run))).split():
        part = part.replace("龢", "和")
        yield from (part,) if len(part) == 1 else (part[i : i + 2] for i in range(len(part) - 1))


def protect(text: str) -> str:
    """Keep the 和 of 和平 and the "or" of a name from being read as conjunctions."""
    return (
        re.sub(r"和(?=平)", "龢", text).replace("生理学或医学", "生理学医学").replace("Physiology or ", "Physiology ")
    )


def query_of(text: str) -> str:
    """The words of a text that are worth searching for, as they were written."""
    kept: list[str] = []
    for run in re.findall(WORD_RUN, protect(text)):
        if language_of(run) == "zh":
            kept += ZH_KNOWN.sub(lambda match: match[0] if match[0] in CONCEPTS else " ", run).split()
        elif list(_english_word(run)):
            kept.append(re.sub(r"['’]s$", "", run).strip(".'’-"))
    return " ".join(dict.fromkeys(kept)).replace("龢", "和")


FOLLOW_UP = re.compile(r"(?i)(?:and|what about|how about)(?: in| for| of)? (.{1,40}?)|(?:那么?|换成)?\s*(.{1,12}?)呢")


def in_context(earlier: str, question: str) -> str:
    """A follow-up ("And in X?", "那 X 呢？") as the whole question that it stands for: the earlier one, of X."""
    match = FOLLOW_UP.fullmatch(question.strip().rstrip("?？").rstrip())
    names = re.findall(r"(?<!^)\b[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*", earlier)
    words = [word for word in query_of(earlier).split() if word not in CONCEPTS]
    about = names[-1] if names else words[-1 if language_of(earlier) == "en" else 0] if words else ""
    return earlier.replace(about, (match[1] or match[2]).strip()) if match and about else question


# -- entities ------------------------------------------------------------------------------------------------

CLAUSE = re.compile(
    r"(?i),?\s*\band (?=by how|who|what|when|which|how|where|in which)|,\s*(?=by how|哪|谁|相差|差多少)"
)
CHOICE = re.compile(r"(?i)^\s*(?:which|who|what)\b[^,]*,\s*(?=.*\bor\b)")  # "Which is higher, A or B?"
EN_LIST = re.compile(r"\s*(?:,\s*and|,\s*or|,|\band\b|\bor\b|\bvs\.?)\s+(?:of\s+|in\s+|the\s+)*", re.I)
ZH_LIST = re.compile(r"\s*(?:和|与|跟|、|还是|以及|或)\s*")
ZH_BREAK = re.compile(
    "|".join(
        [ZH_CONCEPT.pattern, r"[。?,;:的]", r"\d+\s*年底?", *(w for w in STOP_PHRASES if not ZH_LIST.fullmatch(w))]
    )
)


def clauses(text: str) -> list[str]:
    """The parts of a question that ask for different things."""
    return [part for part in CLAUSE.split(text) if part and part.strip()]


def entities_in(text: str) -> tuple[str, ...]:
    """Two or more things named side by side: `gold and silver`, `氧、碳和铁`. Nothing where there is no such list."""
    text = protect(CLAUSE.split(text)[0] if CLAUSE.split(text)[0].strip() else text)
    if language_of(text) == "zh":
        groups = (ZH_LIST.split(part) for part in ZH_BREAK.split(text) if part and ZH_LIST.search(part))
    else:
        groups = (_english_list(part) for part in re.split(r"[?;:.](?:\s|$)", text))
    for group in groups:
        names = [name.strip().replace("龢", "和") for name in group]
        if len(names) > 1 and all(names):
            return tuple(names)
    return ()


def _english_list(text: str) -> list[str]:
    """The names around the last conjunction: the words on each side that are not common ones."""
    if not re.search(r"(?i)\b(?:and|or|vs)\b", text):
        return []
    parts = EN_LIST.split(CHOICE.sub("", text))
    names = [_tail(parts[0]), *(_head(part) for part in parts[1:])]
    while names and not names[0]:
        names.pop(0)
    return [name for name in names if name]


def _is_common(word: str) -> bool:
    bare = word.strip("?,.'’").casefold()
    return bare in STOP_WORDS or bare in CONCEPTS or stem(bare) in CONCEPTS


def _tail(text: str) -> str:
    """The words at the end that name something; from the first capital on, if there is one."""
    name: list[str] = []
    for word in reversed(text.split()):
        if _is_common(word):
            break
        name.insert(0, word)
    capital = next((i for i, word in enumerate(name) if word[0].isupper() or word[0].isdigit()), 0)
    return " ".join(name[capital:]).strip("?,.")


def _head(text: str) -> str:
    name: list[str] = []
    for word in text.split():
        if _is_common(word):
            break
        name.append(word)
    return " ".join(name).strip("?,.")


# -- arithmetic ----------------------------------------------------------------------------------------------

ARITHMETIC_WORDS = [
    (r"(?i)\bdivide\s+(.+?)\s+by\s+", r"\1 / "),
    (r"(?i)\bmultiply\s+(.+?)\s+(?:by|and|with)\s+", r"\1 * "),
    (r"(?i)\bsubtract\s+(NUM)\s+from\s+(NUM)", r"\2 - \1"),
    (r"(?i)\badd\s+(NUM)\s+(?:and|to)\s+(NUM)", r"\1 + \2"),
    (r"(?i)\b(?:sum of|add)\s+(NUM)((?:,\s*NUM)*),?\s+and\s+(NUM)", r"\1\2 + \3"),
    (r"(?i)\bproduct of\s+(NUM)\s+and\s+(NUM)", r"\1 * \2"),
    (r"(?i)\bdifference (?:between|of)\s+(NUM)\s+and\s+(NUM)", r"\1 - \2"),
    (r"(?i)\bsquare root of\s+(NUM)", r"sqrt(\1)"),
    (r"(NUM)\s*(?:%|percent|per cent)\s+of\s+", r"\1 / 100 * "),
    (r"(?i)\s*\b(?:to the power of|raised to(?: the power of)?)\s*", " ** "),
    (r"(?i)\s+squared\b|\s*的平方(?!根)", " ** 2"),
    (r"(?i)\s+cubed\b|\s*的立方", " ** 3"),
    (r"(?i)\s*\b(?:times|multiplied by)\s*|\s*乘以?\s*", " * "),
    (r"(?i)\s*\bdivided by\s*|\s*除以\s*", " / "),
    (r"(?i)\s*\bplus\b\s*|\s*加上?\s*(?=NUM|\()", " + "),
    (r"(?i)\s*\bminus\b\s*|\s*减去?\s*", " - "),
    (r"(NUM)\s*的\s*(NUM)\s*次方", r"\1 ** \2"),
    (r"(NUM)\s*的\s*(NUM)\s*%", r"\1 * \2 / 100"),
    (r"(NUM)\s*的平方根|根号\s*(NUM)", r"sqrt(\1\2)"),
    (r"(NUM)\s*[和与]\s*(NUM)\s*(?:的和|之和|相加)", r"\1 + \2"),
    (r"(NUM)\s*[和与]\s*(NUM)\s*(?:的差|之差|相减)", r"\1 - \2"),
    (r"(NUM)\s*[和与]\s*(NUM)\s*(?:的积|之积|的乘积|相乘)", r"\1 * \2"),
    (r"\s*[×✕]\s*", " * "),
    (r"\s*÷\s*", " / "),
]
EXPRESSION = re.compile(r"(?:sqrt\(|[\d.(+-])(?:sqrt|[\d\s.,+*/%()^-])*[\d)]")
ROUNDING = re.compile(
    r"(?i)(?:保留|精确到)\s*(?:小数点后)?\s*(\S)\s*位小数?"
    r"|(?:rounded |round )?to (\d|two|three|one) (?:decimal|place|digit)\w*(?: places)?"
)
ROUND_WORDS = {**ZH_DIGITS, "one": 1, "two": 2, "three": 3}


def expression_in(text: str) -> str | None:
    """The arithmetic in a question that is arithmetic and nothing else, in Python's notation."""
    rounding = ROUNDING.search(text)
    plain = ROUNDING.sub(" ", text)
    for pattern, replacement in ARITHMETIC_WORDS:
        plain = re.sub(pattern.replace("NUM", r"-?\d[\d,]*(?:\.\d+)?"), replacement, plain)
    found = max(EXPRESSION.findall(plain), key=len, default="").strip(" ,")
    rest = words_of(plain.replace(found, " ", 1))
    if not re.search(r"[\d)]\s*[-+*/%^]|sqrt", found) or set(rest) - {"calculate", "add", "decimal", "rounded"}:
        return None
    found = re.sub(r",\s+", " + ", found).rstrip("=").strip()
    digits = ROUND_WORDS.get((rounding[1] or rounding[2]).casefold()) if rounding else None
    return f"round({found}, {digits})" if digits else found


THEN = re.compile(
    rf"(?i),?\s*(?:and |then |再|然后|并)*(multiplied by|times|divided by|plus|minus|乘以|除以|加上|减去)\s*({NUMBER})"
    r"(?=\s*[?。.]?\s*$|\s*(?:是多少|等于))"
)
THEN_SIGNS = {"multiplied by": "*", "times": "*", "乘以": "*", "divided by": "/", "除以": "/", "plus": "+", "加上": "+"}


FIRST = re.compile(rf"(?i)^(multiply|divide) (.*[a-z]{{3}}.*) by ({NUMBER})[.?]?$")


def _split_then(text: str) -> tuple[str, str]:
    """A question without what is to be done with its result, and that as arithmetic: ` * 10`."""
    if first := FIRST.search(text):
        return first[2], f" {'*' if first[1].casefold() == 'multiply' else '/'} {first[3].replace(',', '')}"
    if match := THEN.search(text):
        return text[: match.start()], f" {THEN_SIGNS.get(match[1].casefold(), '-')} {match[2].replace(',', '')}"
    return text, ""


# -- observations --------------------------------------------------------------------------------------------

ADDRESS = re.compile(r"(?m)^(?:Source|来源)\s*[:：]\s*(https?://\S+)\s*$")
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)\s+|(?<=[。！？])\s*")


def sentences_in(observation: str) -> list[Sentence]:
    """The sentences of a search result, each with its heading and source."""
    found = []
    for passage in texts_of(observation):
        address = ADDRESS.search(passage)
        title, separator, body = ADDRESS.sub("", passage).strip().partition(": ")
        if not separator:
            title, separator, body = title.partition("：")
        if not separator:
            title, body = "", title
        url = address[1] if address else None
        found += [
            Sentence(text.strip(), title, body, url) for text in SENTENCE_END.split(body) if text and text.strip()
        ]
    return found


def best_sentence(wanted: Sequence[str], sentences: Iterable[Sentence], *, must_hold: str = "") -> Sentence | None:
    """The sentence that holds most of the wanted words; None if all passages hold too few.

    What has to stand in sentence or heading: wanted numbers, wanted concepts (who asks for the author is not helped
    by a sentence without one), and the name `must_hold`.
    """
    best, best_score = None, 0.0
    for sentence in sentences:
        text, title = set(words_of(sentence.text)), set(words_of(sentence.title))
        held = text.union(title, words_of(sentence.passage)).intersection(wanted)
        musts = {word for word in wanted if word.isdigit() or word in ATTRIBUTES} | set(words_of(must_hold))
        score = len(text.intersection(wanted)) + 0.5 * len(title.intersection(wanted))
        # the entry of that very name comes first
        score += 2 * len(title.intersection(words_of(must_hold))) / max(len(title), 1)
        if musts <= text | title and len(held) >= 0.6 * len(wanted) and score > best_score:
            best, best_score = sentence, score
    return best


def numbers_in(text: str, *, without: str = "") -> list[str]:
    """The numbers of a text, as they are written, but those that belong to a name (the 2 of K2)."""
    for name in (without, *without.split()):
        text = text.replace(name, " ") if name else text
    return [number.replace(",", "") for number in re.findall(rf"(?<![\w.])-?{NUMBER}", text, re.ASCII)]
