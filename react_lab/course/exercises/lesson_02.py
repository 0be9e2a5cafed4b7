"""Lesson 02: a registry that refuses two tools of one name, checks arguments, and turns mistakes into results."""
# ruff: noqa: E501 - texts for people are easier to read unbroken

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from react_lab.course.exercise import Exercise, Quiz, Sentence, Wrong, both
from react_lab.course.expect import Difference, Literal, Raised, expect, tried
from react_lab.errors import ToolError
from react_lab.messages import ToolCall, ToolResult
from react_lab.tools.base import Tool

LESSON = "02_registry"


class Echo(Tool):
    """A tool to try things with: it gives back what it got."""

    def __init__(self, name: str) -> None:
        self.name, self.description = name, f"Say {name}."
        self.parameters = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def execute(self, **arguments: Any) -> str:
        return f"{self.name} {arguments}"

    def __repr__(self) -> str:
        return f"Echo({self.name!r})"


# -- registry-duplicate --------------------------------------------------------------------------------------

STARTER_REGISTER = """
def register(tools, new):
    # en: Your turn: a name that is taken raises a ValueError that says which name it is.
    # zh: 轮到你了：名字已经被占用，就抛出 ValueError，并写明是哪个名字。
    tools[new.name] = new
    return new
"""
REFUSE = """    if new.name in tools:
        raise ValueError(f"a tool named {new.name!r} is registered already")
"""
STORE = "    tools[new.name] = new\n"
REGISTER_RIGHT = f"\ndef register(tools, new):\n{REFUSE}{STORE}    return new\n"


def check_register(names: Mapping[str, Any]) -> None:
    """A new name is kept and given back; a name that is taken raises, and the first tool stays."""
    register = names["register"]
    tools: dict[str, Any] = {}
    first, other = Echo("search"), Echo("add")
    refuses = {"refuses-all": Raised(ValueError)}
    got = tried(register, tools, first)
    expect("register({}, Echo('search'))", got, first, known={"gives-none": None, **refuses}, otherwise="gives-other")
    expect("register({}, Echo('search')); list(tools)", list(tools), ["search"], otherwise="keeps-nothing")
    expect("register(tools, Echo('add'))", tried(register, tools, other), other, known=refuses, otherwise="gives-other")
    doing, wanted = "register(tools, Echo('search'))  # again", Raised(ValueError("… 'search' …"))
    got = tried(register, tools, Echo("search"))
    if not isinstance(got, Raised):
        if isinstance(got, Exception):
            raise Difference("returns-error", doing, wanted, got)
        symptom = "renames" if len(tools) > 2 else "keeps-first" if tools["search"] is first else "overwrites"
        raise Difference(symptom, doing, wanted, Literal(f"{got!r}; the tools: {', '.join(tools)}"))
    expect(doing, got, wanted, otherwise="other-error")
    if "search" not in got.text:
        raise Difference("names-nothing", doing, wanted, got)
    if tools.get("search") is not first:
        raise Difference("too-late", f'{doing}; tools["search"]', Literal("the first"), Literal("the second"))


REGISTRY_DUPLICATE = Exercise(
    id="registry-duplicate",
    lesson=LESSON,
    check=check_register,
    starter=STARTER_REGISTER,
    solution=REGISTER_RIGHT,
    alternates=(
        """
def register(tools, new):
    if tools.setdefault(new.name, new) is not new:
        raise ValueError("taken: " + new.name)
    return new
""",
        """
class NameTaken(ValueError):
    pass


def register(tools, new):
    for name in tools:
        if name == new.name:
            raise NameTaken(f"{name} is taken; give one of the two another name")
    tools.update({new.name: new})
    return tools[new.name]
""",
    ),
    wrong=(
        Wrong(
            "overwrites",
            REGISTER_RIGHT.replace(REFUSE, '    if new.name in tools:\n        print("warning:", new.name)\n'),
            both(
                "The second tool took the place of the first, and everything goes on with the wrong one. A printed warning "
                "wouldn't help: it scrolls by. Look for new.name, and raise.",
                "第二个工具顶掉了第一个，一切照常，用的却是错的那个。打印警告没有用：它一闪而过。看 new.name 在不在里面，在就抛出异常。",
            ),
        ),
        Wrong(
            "keeps-first",
            REGISTER_RIGHT.replace(REFUSE + STORE, "    tools.setdefault(new.name, new)\n"),
            both(
                "Now the first tool stays and the second is dropped without a word. Whoever registered it believes that "
                "it is there.",
                "现在留下了第一个，第二个被悄悄丢掉了。注册它的人还以为它在里面。",
            ),
        ),
        Wrong(
            "returns-error",
            REGISTER_RIGHT.replace("raise ValueError", "return ValueError"),
            both(
                "The exception was returned, not raised. Whoever doesn't look at what comes back never hears of it; raise "
                "makes Python stop there.",
                "异常是返回的，不是抛出的。不看返回值的人永远不会知道；用 raise，Python 才会停在那里。",
            ),
        ),
        Wrong(
            "renames",
            REGISTER_RIGHT.replace(
                REFUSE + STORE, '    tools[new.name + "_2" if new.name in tools else new.name] = new\n'
            ),
            both(
                "The second tool got a name that nobody chose, and the tool's own name no longer fits it. The model would "
                "see two that it can't tell apart. Let the programmer choose.",
                "第二个工具得到了一个谁也没选过的名字，和它自己的 name 也对不上。模型会看到两个分不清的工具。名字应该让程序员来定。",
            ),
        ),
        Wrong(
            "gives-none",
            REGISTER_RIGHT.replace("    return new\n", ""),
            both(
                "The tool is kept, but the function gives back None. Give back the tool, as the starter did: then "
                "register can be written around it.",
                "工具存好了，函数却返回 None。请像原来那样返回这个工具：这样注册和使用可以写在一起。",
            ),
        ),
        Wrong(
            "refuses-all",
            REGISTER_RIGHT.replace(REFUSE + STORE, STORE + REFUSE),
            both(
                "Even a new name is refused. The name is in the dict by the time you look: look first, then store.",
                "连新名字也被拒绝了。你检查的时候，名字已经放进字典了：先检查，再存。",
            ),
        ),
        Wrong(
            "other-error",
            REGISTER_RIGHT.replace("ValueError", "KeyError"),
            both(
                "It is refused, but with another exception. A value that can't be used is a ValueError in Python; a "
                "KeyError would say that something is missing.",
                "拒绝了，但用的是别的异常。在 Python 里，值不能用是 ValueError；KeyError 的意思是缺了什么。",
            ),
        ),
        Wrong(
            "names-nothing",
            REGISTER_RIGHT.replace("a tool named {new.name!r} is registered already", "duplicate tool"),
            both(
                "Refused, but which tool? With twenty of them, the name in the text is what saves the search.",
                "拒绝了，可是哪个工具？工具有二十个的时候，错误里写上名字，才不用一个个去找。",
            ),
        ),
        Wrong(
            "too-late",
            """
def register(tools, new):
    is_taken = new.name in tools
    tools[new.name] = new
    if is_taken:
        raise ValueError(f"{new.name} is taken")
    return new
""",
            both(
                "It raises, but the first tool is already gone. Whoever catches the exception goes on with the second. "
                "Raise before you store.",
                "抛出了异常，可第一个工具已经被顶掉了。谁接住异常继续运行，用的就是第二个。先抛出，再谈存。",
            ),
        ),
    ),
    hints=(
        both(
            "The function already stores and gives back. What has to be known before it stores?",
            "存和返回都有了。在存之前，得先知道什么？",
        ),
        both(
            "Above the line tools[new.name] = new: if new.name is in tools, raise a ValueError with the name in its text.",
            "在 tools[new.name] = new 这一行上面：如果 new.name 已经在 tools 里，就抛出 ValueError，文字里带上这个名字。",
        ),
        both(
            'if ... in tools:\n    raise ValueError(f"a tool named {...!r} is registered already")',
            'if ... in tools:\n    raise ValueError(f"a tool named {...!r} is registered already")',
        ),
    ),
)

# -- registry-check ------------------------------------------------------------------------------------------

STARTER_PROBLEMS = """
PYTHON_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool}


def problems(schema, arguments):
    properties = schema.get("properties", {})
    found = []
    # en: 1. a required argument that is missing
    # zh: 1. 必需的参数没有写
    for name in schema.get("required", []):
        if name not in arguments:
            found.append(f"{name}: is required, but missing")
    for name, value in arguments.items():
        # en: 2. a name that is not in properties
        # zh: 2. properties 里没有的名字
        # en: 3. a value of the wrong type; its word is properties[name].get("type")
        # zh: 3. 类型不对的值；它的类型词是 properties[name].get("type")
        ...
    return found
"""
UNKNOWN = """        if name not in properties:
            found.append(f"{name}: there is no such parameter")
            continue
"""
TYPED = """        word = properties[name].get("type")
        if word in PYTHON_TYPES and not isinstance(value, PYTHON_TYPES[word]):
            found.append(f"{name}: {value!r} is not of type {word!r}")
"""
BOOLEANS = """        elif isinstance(value, bool) and word in ("integer", "number"):
            found.append(f"{name}: {value!r} is not of type {word!r}")
"""
PROBLEMS_RIGHT = STARTER_PROBLEMS.replace("        ...\n", UNKNOWN + TYPED + BOOLEANS)
FORECAST: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "above": {"type": "number"},
        "metric": {"type": "boolean"},
        "hours": {"type": "array", "items": {"type": "integer"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def check_problems(names: Mapping[str, Any]) -> None:
    """Nothing is said of what fits; each thing that doesn't fit is said in a text that names it."""
    problems = names["problems"]

    def says(arguments: Mapping[str, Any], *words: str, known: Mapping[str, Any] | None = None, otherwise: str) -> None:
        known = {"nothing": None, "text": lambda value: isinstance(value, str | bool), **(known or {})}
        may_raise = any(isinstance(value, Raised) for value in known.values())
        got = tried(problems, FORECAST, arguments) if may_raise else problems(FORECAST, arguments)
        if isinstance(got, list) and len(got) == len(words):
            if all(any(word in str(text) for text in got) for word in words):
                return
            otherwise = "names-nothing"
        wanted = Literal(", ".join(f"'… {word} …'" for word in words).join("[]"))
        expect(f"problems(forecast, {arguments})", got, wanted, known=known, otherwise=otherwise)

    says({"city": "Oslo"}, otherwise="refuses-right")
    says({}, "city", otherwise="misses-missing")
    unknown = {"unknown-raises": Raised(KeyError), "raises": Raised(ValueError), "accepts-unknown": []}
    says({"city": "Oslo", "day": 3}, "day", known=unknown, otherwise="unknown-otherwise")
    says({"city": "Oslo", "days": "3"}, "days", known={"accepts-type": []}, otherwise="type-otherwise")
    says({"city": "Oslo", "above": 3, "metric": True, "days": 3}, otherwise="too-strict")
    other = {"word-raises": Raised(KeyError)}
    says({"city": "Oslo", "hours": [6, 12], "note": "x"}, known=other, otherwise="word-refused")
    says({"days": "3", "metric": 1}, "city", "days", "metric", otherwise="one-only")
    says({"city": "Oslo", "days": True}, "days", otherwise="true-is-one")


REGISTRY_CHECK = Exercise(
    id="registry-check",
    lesson=LESSON,
    part="react_lab.tools.schema:problems",
    check=check_problems,
    starter=STARTER_PROBLEMS,
    solution=PROBLEMS_RIGHT,
    alternates=(
        """
PYTHON_TYPES = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}


def problems(schema, arguments):
    properties = schema.get("properties", {})
    missing = [f"{name} is missing" for name in schema.get("required", []) if name not in arguments]
    unknown = [f"{name} is unknown" for name in arguments if name not in properties]
    wrong = []
    for name in properties.keys() & arguments.keys():
        word = properties[name].get("type")
        if type(arguments[name]) not in PYTHON_TYPES.get(word, (type(arguments[name]),)):
            wrong.append(f"{name} must be: {word}")
    return missing + unknown + wrong
""",
        """
def fits(value, word):
    match word:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer" | "number":
            wanted = int if word == "integer" else (int, float)
            return isinstance(value, wanted) and value is not True and value is not False
    return True


def one(name, properties, value):
    if name not in properties:
        return f"{name}? There are: {list(properties)}"
    if not fits(value, properties[name].get("type")):
        return f"{name} must not be {value!r}"


def problems(schema, arguments):
    found = [f"{name} is required" for name in schema["required"] if name not in arguments]
    found += [one(name, schema["properties"], value) for name, value in arguments.items()]
    return [problem for problem in found if problem]
""",
    ),
    wrong=(
        Wrong(
            "accepts-unknown",
            STARTER_PROBLEMS.replace(
                "        ...\n", TYPED.replace("properties[name]", "properties.get(name, {})") + BOOLEANS
            ),
            both(
                "An argument that the tool doesn't have was let through. The model meant days and wrote day; it should "
                "hear of it, not get the weather of the wrong day.",
                "工具没有的参数被放过去了。模型想写 days，写成了 day；应该告诉它，而不是给它错的天数的天气。",
            ),
        ),
        Wrong(
            "unknown-raises",
            STARTER_PROBLEMS.replace("        ...\n", TYPED + BOOLEANS),
            both(
                "A name that is not in properties makes your own lookup fail. Ask whether it is there before you take "
                "properties[name].",
                "遇到 properties 里没有的名字，是你自己的查找出了错。先问有没有，再取 properties[name]。",
            ),
        ),
        Wrong(
            "raises",
            PROBLEMS_RIGHT.replace('found.append(f"{name}: there is', 'raise ValueError(f"{name}: there is'),
            both(
                "problems only tells; it doesn't stop anything. Raising ends it at the first thing that is wrong. Append, "
                "and let the caller decide.",
                "problems 只管说，不负责拦。一抛出异常，就停在了第一个问题上。请加到列表里，由调用的人来决定。",
            ),
        ),
        Wrong(
            "accepts-type",
            STARTER_PROBLEMS.replace("        ...\n", UNKNOWN),
            both(
                "The text '3' passed for a number. It looks the same to a model; to your tool it doesn't.",
                "文字 '3' 被当成数放过去了。在模型看来没什么差别，对你的工具来说差别很大。",
            ),
        ),
        Wrong(
            "true-is-one",
            PROBLEMS_RIGHT.replace(BOOLEANS, ""),
            both(
                "In Python a bool is an int: isinstance(True, int) is true. JSON keeps them apart, and days=True makes "
                "no sense. Treat bool on its own.",
                "在 Python 里 bool 也是 int：isinstance(True, int) 为真。JSON 把两者分开，days=True 也说不通。请单独处理 bool。",
            ),
        ),
        Wrong(
            "too-strict",
            PROBLEMS_RIGHT.replace('"number": (int, float)', '"number": float'),
            both(
                'A whole number is a "number", too. Refuse 3 where 3.5 is allowed, and the model will try again and again '
                "with the same right value.",
                '整数也是 "number"。允许 3.5 却不收 3，模型就会拿着同一个正确的值一试再试。',
            ),
        ),
        Wrong(
            "word-raises",
            PROBLEMS_RIGHT.replace("word in PYTHON_TYPES and ", ""),
            both(
                "A schema may say array, or no type at all, and PYTHON_TYPES has no such word. Look only at the types "
                "that you know, and let the others pass.",
                "schema 里可以写 array，也可以不写类型，而 PYTHON_TYPES 里没有这样的词。只检查认识的类型，其余放行。",
            ),
        ),
        Wrong(
            "one-only",
            PROBLEMS_RIGHT.replace("    return found", "    return found[:1]"),
            both(
                "Only one problem is told, and there are three. A model that hears them one by one needs three turns, "
                "and each turn costs.",
                "有三个问题，只说了一个。一次听一个，模型就要多走三轮，而每一轮都要花钱。",
            ),
        ),
        Wrong(
            "names-nothing",
            PROBLEMS_RIGHT.replace('f"{name}: {value!r} is not', 'f"{value!r} is not').replace(
                'f"{name}: there is no such parameter"', '"there is no such parameter"'
            ),
            both(
                "It says that something is wrong, but not where. Put the name of the parameter into the text.",
                "说了有错，没说错在哪个参数。把参数的名字写进文字里。",
            ),
        ),
        Wrong(
            "text",
            PROBLEMS_RIGHT.replace("    return found", '    return "; ".join(found)'),
            both(
                "Give back the list. Whoever calls it can count the problems and join them; from one text that is hard.",
                "请返回列表。调用的人可以数、可以拼接；拿到一整段文字就不好办了。",
            ),
        ),
        Wrong(
            "nothing",
            PROBLEMS_RIGHT.replace("    return found", "    print(found)"),
            both(
                "The function gives back None. Return the list, also when it is empty: an empty list means that all fits.",
                "函数返回了 None。请返回列表，空的时候也一样：空列表表示全都对。",
            ),
        ),
    ),
    hints=(
        both(
            "Step 1 shows the pattern: ask, then append a text that names the parameter. Steps 2 and 3 are two more "
            "questions about each argument.",
            "第 1 步就是样子：先问，再加一条写明参数名的文字。第 2、3 步就是对每个参数再问两个问题。",
        ),
        both(
            "Where the ... is: first, is name in properties at all? If not, say so and continue. Then take its word, and "
            "if PYTHON_TYPES knows it, ask isinstance. And think of True, which Python counts as an int.",
            "在 ... 的位置：先看 name 在不在 properties 里，不在就写一条，然后 continue。再取出类型词，PYTHON_TYPES 里有的话，用 isinstance 判断。别忘了 True：Python 把它也算作 int。",
        ),
        both(
            "if name not in properties:\n    found.append(...)\n    continue\n"
            'word = properties[name].get("type")\n'
            "if word in PYTHON_TYPES and not isinstance(value, ...):\n    found.append(...)\n"
            'elif isinstance(value, bool) and word in ("integer", "number"):\n    found.append(...)',
            "if name not in properties:\n    found.append(...)\n    continue\n"
            'word = properties[name].get("type")\n'
            "if word in PYTHON_TYPES and not isinstance(value, ...):\n    found.append(...)\n"
            'elif isinstance(value, bool) and word in ("integer", "number"):\n    found.append(...)',
        ),
    ),
)

# -- registry-run --------------------------------------------------------------------------------------------

STARTER_RUN = """
from react_lab import ToolError, ToolResult
from react_lab.course import mine_or_ours
from react_lab.tools.base import as_text
from react_lab.tools.registry import shorten

problems = mine_or_ours("problems")


class ToolRegistry:
    def __init__(self, tools=()):
        self._tools = {}
        for item in tools:
            self.register(item)

    def register(self, new):
        if new.name in self._tools:
            raise ValueError(f"a tool named {new.name!r} is registered already")
        self._tools[new.name] = new
        return new

    def get(self, name):
        if name not in self._tools:
            raise KeyError(self._unknown(name))
        return self._tools[name]

    def run(self, call, *, max_chars=4000):
        # en: 0. what could not even be read: done, as an example
        # zh: 0. 根本读不懂的调用：已经写好，可以照着写
        if call.error:
            return self._failed(call, call.error)
        # en: 1. look up: is there a tool of that name? self._unknown has the words
        # zh: 1. 查找：有没有叫这个名字的工具？要说的话在 self._unknown 里
        found = self.get(call.name)
        # en: 2. check: do the arguments fit found.parameters? problems has the words
        # zh: 2. 检查：参数符合 found.parameters 吗？要说的话由 problems 给出
        # en: 3. run: what if the tool raises? A ToolError has its words; of another exception say its type, too
        # zh: 3. 运行：工具抛出异常怎么办？ToolError 自己有话说；别的异常，还要说出它的类型
        value = found.execute(**call.arguments)
        return ToolResult(call.id, call.name, shorten(as_text(value), max_chars))

    def _failed(self, call, problem):
        return ToolResult(call.id, call.name, f"Error: {problem}", is_error=True)

    def _unknown(self, name):
        return f"unknown tool {name!r}; the tools are: {', '.join(self._tools)}"
"""
LOOK_UP = """        if call.name not in self._tools:
            return self._failed(call, self._unknown(call.name))
"""
FIND = "        found = self.get(call.name)\n"
CHECK = """        if wrong := problems(found.parameters, call.arguments):
            return self._failed(call, "; ".join(wrong))
"""
EXECUTE = "        value = found.execute(**call.arguments)\n"
TRY = """        try:
            value = found.execute(**call.arguments)
        except ToolError as error:
            return self._failed(call, error)
        except Exception as error:
            return self._failed(call, f"{type(error).__name__}: {error}")
"""
RUN_RIGHT = STARTER_RUN.replace(FIND, LOOK_UP + FIND).replace(EXECUTE, CHECK + TRY)
BEFORE_RUN, _, AFTER_RUN = STARTER_RUN.partition("    def run(")
AFTER_RUN = AFTER_RUN[AFTER_RUN.index("    def _failed") :]


class Double(Tool):
    """A tool that keeps count of its runs."""

    name, description = "double", "Twice a whole number."
    parameters = {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": False,
    }

    def __init__(self) -> None:
        self.runs = 0

    def execute(self, **arguments: Any) -> str:
        self.runs += 1
        return str(arguments["number"] * 2)


class Broken(Tool):
    """A tool that raises what it was made with."""

    name, description = "read", "Read the file."
    parameters = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}

    def __init__(self, error: Exception) -> None:
        self.error = error

    def execute(self, **arguments: Any) -> str:
        raise self.error


def check_run(names: Mapping[str, Any]) -> None:
    """Right calls run; every mistake of a model, and of a tool, is a result that says what is wrong."""
    ToolRegistry, double = names["ToolRegistry"], Double()
    tools = [double, Broken(KeyError("notes"))]

    def result(call: ToolCall, *words: str, otherwise: str, raises: str = "raises") -> None:
        """Run a call; with words, the result wanted is an error that holds them."""
        double.runs = 0
        got = caught(ToolRegistry(tools).run, call)
        told = f"Error: … {' … '.join(words)} …', is_error=True" if words else "42'"
        known: dict[str, Callable[[Any], bool]] = {
            "gives-none": lambda got: got is None,
            "gives-text": lambda got: isinstance(got, str),
            raises: lambda got: isinstance(got, Raised),
            "gives-other": lambda got: not isinstance(got, ToolResult),
            "id-lost": lambda got: (got.call_id, got.name) != (call.id, call.name),
            "runs-anyway": lambda got: bool(words) and double.runs > 0,
            "not-error": lambda got: bool(words) and not got.is_error and got.content.startswith("Error"),
            otherwise: lambda got: not fits(got, words),
        }
        for symptom, shows in known.items():
            if shows(got):
                wanted = Literal(f"ToolResult({call.id!r}, {call.name!r}, '{told})")
                raise Difference(symptom, shown_call(call), wanted, seen(got))

    result(ToolCall("1", "double", {"number": 21}), otherwise="right-fails")
    unknown = ToolCall("2", "dubble", {"number": 21})
    result(unknown, "'dubble'", raises="unknown-raises", otherwise="unknown-otherwise")
    result(unknown, "double", "read", otherwise="no-names")
    result(ToolCall("3", "double", {"number": "21"}), "number", raises="check-raises", otherwise="no-reason")
    result(ToolCall("4", "read"), "notes", raises="tool-raises", otherwise="no-reason")
    result(ToolCall("4", "read"), "KeyError", "notes", otherwise="type-lost")
    tools[1] = Broken(ToolError("write the file first"))
    result(ToolCall("5", "read"), "write the file first", raises="tool-raises", otherwise="no-reason")
    result(ToolCall("6", "double", {"number": 21}, error="cut off"), "cut off", otherwise="no-reason")
    known = {"duplicate": lambda got: not isinstance(got, Raised)}
    expect("ToolRegistry([double, double])", tried(ToolRegistry, [double, double]), Raised(ValueError), known=known)


def fits(got: ToolResult, words: tuple[str, ...]) -> bool:
    if not words:
        return (got.content, got.is_error) == ("42", False)
    return got.is_error and all(word in got.content for word in words)


def caught(run: Callable[[ToolCall], object], call: ToolCall) -> object:
    """What a call gives back; of the exceptions, those that a registry has to deal with."""
    try:
        return run(call)
    except (KeyError, ValueError, ToolError) as error:
        return Raised(error)


def shown_call(call: ToolCall) -> str:
    unread = f", error={call.error!r}" if call.error else ""
    return f"registry.run(ToolCall({call.id!r}, {call.name!r}, {dict(call.arguments)}{unread}))"


def seen(got: object) -> Literal:
    """A result as far as the exercise goes."""
    if not isinstance(got, ToolResult):
        return Literal(repr(got))
    error = ", is_error=True" if got.is_error else ""
    return Literal(f"ToolResult({got.call_id!r}, {got.name!r}, {got.content!r}{error})")


REGISTRY_RUN = Exercise(
    id="registry-run",
    lesson=LESSON,
    part="react_lab.tools.registry:ToolRegistry",
    check=check_run,
    starter=STARTER_RUN,
    solution=RUN_RIGHT,
    alternates=(
        BEFORE_RUN
        + """    def run(self, call, *, max_chars=4000):
        problem = call.error or self._problem(call)
        if not problem:
            try:
                value = self._tools[call.name].execute(**call.arguments)
                return ToolResult(call.id, call.name, shorten(as_text(value), max_chars))
            except Exception as error:
                problem = error if isinstance(error, ToolError) else repr(error)
        return self._failed(call, problem)

    def _problem(self, call):
        if call.name not in self._tools:
            return self._unknown(call.name)
        return "\\n".join(problems(self._tools[call.name].parameters, call.arguments))

"""
        + AFTER_RUN,
        BEFORE_RUN
        + """    def run(self, call, *, max_chars=4000):
        try:
            content, failed = shorten(as_text(self._checked(call).execute(**call.arguments)), max_chars), False
        except ToolError as error:
            content, failed = f"Error: {error}", True
        except Exception as error:
            content, failed = f"Error: {type(error).__name__} {error}", True
        return ToolResult(call_id=call.id, name=call.name, content=content, is_error=failed)

    def _checked(self, call):
        if call.error:
            raise ToolError(call.error)
        found = self._tools.get(call.name)
        if found is None:
            raise ToolError(self._unknown(call.name))
        wrong = problems(found.parameters, call.arguments)
        if wrong:
            raise ToolError(" and ".join(wrong))
        return found

"""
        + AFTER_RUN,
    ),
    wrong=(
        Wrong(
            "unknown-raises",
            RUN_RIGHT.replace(LOOK_UP, ""),
            both(
                "A model misspelt a name, and the whole run ended with your KeyError. Nobody told the model. Before you "
                "get the tool, ask whether it is there.",
                "模型写错了一个名字，整次运行就随着你的 KeyError 结束了，模型什么也不知道。取工具之前，先问它在不在。",
            ),
        ),
        Wrong(
            "no-names",
            RUN_RIGHT.replace(
                "self._failed(call, self._unknown(call.name))", 'self._failed(call, f"no {call.name!r}")'
            ),
            both(
                "The model hears that the name is wrong, but not which ones there are. self._unknown lists them.",
                "模型知道名字不对了，却不知道有哪些名字。self._unknown 会把它们列出来。",
            ),
        ),
        Wrong(
            "runs-anyway",
            RUN_RIGHT.replace(CHECK, ""),
            both(
                "The arguments don't fit, and the tool ran all the same. Here it doubled a text. Next time it may write "
                "to the wrong file.",
                "参数不符合要求，工具还是运行了。这次只是把一段文字翻了倍，下次可能就写错了文件。",
            ),
        ),
        Wrong(
            "check-raises",
            RUN_RIGHT.replace('return self._failed(call, "; ".join(wrong))', 'raise ValueError("; ".join(wrong))'),
            both(
                "The arguments were checked, and then you raised. It is the model's mistake, and an exception never "
                "reaches a model. Return a failed result.",
                "参数检查了，然后你抛出了异常。这是模型的错误，而异常传不到模型那里。请返回一个失败的结果。",
            ),
        ),
        Wrong(
            "tool-raises",
            RUN_RIGHT.replace(TRY, EXECUTE),
            both(
                "The tool failed, and the run failed with it. A tool is somebody's code on somebody's network: count on "
                "exceptions, and tell the model.",
                "工具出了错，整次运行也跟着完了。工具是别人的代码，跑在别人的网络上：要料到它会抛出异常，并告诉模型。",
            ),
        ),
        Wrong(
            "type-lost",
            RUN_RIGHT.replace('f"{type(error).__name__}: {error}"', "error"),
            both(
                "The text of a KeyError is only the key. The model reads 'notes' and can't know that it is missing. Put "
                "the type in front.",
                "KeyError 的文字只有那个键。模型读到 'notes'，不会知道是它不存在。在前面写上异常的类型。",
            ),
        ),
        Wrong(
            "no-reason",
            RUN_RIGHT.replace('"; ".join(wrong)', '"wrong arguments"'),
            both(
                "An error that doesn't say what is wrong makes the model guess. You have the words: hand them on.",
                "错误里没说哪里不对，模型只好去猜。要说的话你手里都有：传给它。",
            ),
        ),
        Wrong(
            "not-error",
            RUN_RIGHT.replace(', f"Error: {problem}", is_error=True', ', f"Error: {problem}"'),
            both(
                "The words are right, but the result says that all went well. The trace would show a success, and so would "
                "every count of failures.",
                "话是对的，结果却写着一切正常。轨迹会显示成功，统计失败次数时也数不到它。",
            ),
        ),
        Wrong(
            "gives-text",
            RUN_RIGHT.replace(
                "return ToolResult(call.id, call.name, shorten(as_text(value), max_chars))",
                "return shorten(as_text(value), max_chars)",
            ),
            both(
                "This is the bare text. Put it into a ToolResult with the id of its call: where there are three calls, "
                "someone has to know which text answers which.",
                "这只是文字。请装进 ToolResult，带上调用的 id：有三个调用时，得知道哪段文字回答哪一个。",
            ),
        ),
        Wrong(
            "id-lost",
            RUN_RIGHT.replace("ToolResult(call.id, call.name, shorten", 'ToolResult("", call.name, shorten'),
            both(
                "The result doesn't say which call it answers. Take id and name from the call.",
                "结果没有说明它回答的是哪个调用。id 和 name 都从 call 里取。",
            ),
        ),
    ),
    hints=(
        both(
            "Step 0 is the pattern for the other three: if something is wrong, return self._failed(call, the words).",
            "第 0 步就是另外三步的样子：有什么不对，就 return self._failed(call, 要说的话)。",
        ),
        both(
            "Step 1 asks whether call.name is in self._tools, above self.get. Step 2 joins the list that problems gives. "
            "Step 3 puts try around the line with execute, with one except for ToolError and one for Exception.",
            "第 1 步在 self.get 之前看 call.name 在不在 self._tools 里。第 2 步把 problems 给出的列表拼起来。第 3 步用 try 包住 execute 那一行，一个 except 接 ToolError，一个接 Exception。",
        ),
        both(
            "if call.name not in ...:\n    return self._failed(call, ...)\n"
            'if wrong := problems(..., ...):\n    return self._failed(call, "; ".join(wrong))\n'
            "try:\n    value = ...\nexcept ToolError as error:\n    return self._failed(call, error)\n"
            'except Exception as error:\n    return self._failed(call, f"{type(error).__name__}: ...")',
            "if call.name not in ...:\n    return self._failed(call, ...)\n"
            'if wrong := problems(..., ...):\n    return self._failed(call, "; ".join(wrong))\n'
            "try:\n    value = ...\nexcept ToolError as error:\n    return self._failed(call, error)\n"
            'except Exception as error:\n    return self._failed(call, f"{type(error).__name__}: ...")',
        ),
    ),
)

EXERCISES = (REGISTRY_DUPLICATE, REGISTRY_CHECK, REGISTRY_RUN)

QUIZZES = (
    Quiz(
        id="start-remembers",
        lesson="00_start",
        question=both(
            "How does a model know in step 3 what it did in step 1?",
            "到了第 3 步，模型怎么知道自己在第 1 步做过什么？",
        ),
        choices=(
            both("It keeps a memory of its own between turns", "它在两轮之间有自己的记忆"),
            both("It reads the trace file from your disk", "它会从磁盘上读轨迹文件"),
            both("The whole conversation is sent to it again", "整段对话会重新发给它"),
        ),
        right=2,
        why=both(
            "A model remembers nothing. Each turn, it reads the conversation from the beginning.",
            "模型什么都不记得。每一轮，它都从头读一遍对话。",
        ),
    ),
    Quiz(
        id="tool-told",
        lesson="01_tool",
        question=both(
            "A tool can't convert currencies. Where must that be written?",
            "某个工具不会换算货币。这一点必须写在哪里？",
        ),
        choices=(
            both("In its description, which the model reads", "写在说明里，模型会读到"),
            both("In a comment beside its execute method", "写在 execute 方法旁边的注释里"),
            both("Nowhere: the model sees it in the code", "不用写：模型从代码里看得出来"),
        ),
        right=0,
        why=both(
            "Name, description and schema are all that a model knows of a tool.",
            "模型对一个工具的了解，只有名字、说明和 schema。",
        ),
    ),
    Quiz(
        id="registry-order",
        lesson=LESSON,
        question=both("In which order does a registry treat a call?", "注册表按什么顺序处理一次调用？"),
        choices=(
            both("Run it, then check what came back", "先运行，再检查返回的内容"),
            both("Check the arguments, look up the tool, run it", "检查参数，查找工具，运行"),
            both("Look up the tool, check the arguments, run it", "查找工具，检查参数，运行"),
        ),
        right=2,
        why=both(
            "The schema to check against belongs to the tool, so the tool comes first. What runs has been checked.",
            "检查要用工具自己的 schema，所以先查找工具。能运行的，都检查过了。",
        ),
    ),
    Quiz(
        id="registry-whose",
        lesson=LESSON,
        question=both(
            "A model calls a tool that doesn't exist. What does the registry do?",
            "模型调用了一个不存在的工具。注册表会怎么做？",
        ),
        choices=(
            both("It raises, so that the programmer sees it", "抛出异常，让程序员看到"),
            both("It returns an error that lists the tools", "返回一个错误，并列出有哪些工具"),
            both("It runs the tool with the nearest name", "运行名字最接近的工具"),
        ),
        right=1,
        why=both(
            "The model made the mistake and the model can mend it, if it is told. Guessing for it could run something that "
            "nobody asked for.",
            "错是模型犯的，告诉它，它就能改。替它猜，可能会运行谁也没要求的东西。",
        ),
    ),
)

SENTENCES = (
    Sentence(
        id="registry-why-result",
        lesson=LESSON,
        question=both(
            "Why does a registry make a result of a tool's exception, and let a taken name raise?",
            "为什么注册表把工具的异常变成结果，而名字重复时却抛出异常？",
        ),
        answer=both(
            "Because a mistake should reach whoever can mend it: the model reads results and can try again, while a taken "
            "name can only be mended by the programmer.",
            "因为错误要送到能改它的人那里：模型读得到结果，可以再试；名字重复只有程序员才能改。",
        ),
    ),
)
