"""Lesson 01: the Tool base class, a schema from a typed function, a safe calculator, and an error worth reading."""
# ruff: noqa: E501 - texts for people are easier to read unbroken

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from react_lab.course.exercise import Exercise, Quiz, Sentence, Wrong, both
from react_lab.course.expect import Difference, Raised, expect, tried
from react_lab.errors import ToolError

LESSON = "01_tool"

# -- tool-class ----------------------------------------------------------------------------------------------

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def check_class(names: Mapping[str, Any]) -> None:
    """A tool can be made of it, tells a model what it is, and must have an execute."""
    Tool = names["Tool"]

    class Clock(Tool):  # type: ignore[misc, valid-type]
        name = "clock"
        description = "Tell the time in a city. It knows no dates."
        parameters = CITY

        def execute(self, city: str) -> str:
            return f"12:00 in {city}"

    class Broken(Tool):  # type: ignore[misc, valid-type]
        name, description, parameters = "broken", "A tool without execute.", CITY

    clock = Clock()
    told = {"name": clock.name, "description": clock.description, "input_schema": CITY}
    got = clock.to_anthropic_schema()
    known = {
        "nothing": None,
        "text": lambda value: isinstance(value, str),
        "wrong-key": lambda value: isinstance(value, dict) and "parameters" in value,
        "no-description": {key: told[key] for key in ("name", "input_schema")},
        "class-name": told | {"name": "Clock"},
        "only-properties": told | {"input_schema": CITY["properties"]},
        "fixed": lambda value: isinstance(value, dict) and value.get("name") != "clock",
    }
    expect("Clock().to_anthropic_schema()", got, told, known=known, otherwise="other-schema")
    if isinstance(made := tried(Broken), Broken):
        raise Difference("not-abstract", "Broken()  # a tool without execute", Raised(TypeError), made)


TOOL_CLASS = Exercise(
    id="tool-class",
    lesson=LESSON,
    part="react_lab.tools.base:Tool",
    check=check_class,
    starter='''
from abc import ABC, abstractmethod


class Tool(ABC):
    name: str
    description: str
    parameters: dict

    @abstractmethod
    def execute(self, **arguments) -> str:
        """Do the work, and give back what the model shall read."""

    def to_anthropic_schema(self) -> dict:
        # en: Your turn: a dict with the keys "name", "description" and "input_schema".
        # zh: 轮到你了：返回一个字典，键是 "name"、"description" 和 "input_schema"。
        ...
''',
    solution='''
from abc import ABC, abstractmethod


class Tool(ABC):
    name: str
    description: str
    parameters: dict

    @abstractmethod
    def execute(self, **arguments) -> str:
        """Do the work, and give back what the model shall read."""

    def to_anthropic_schema(self) -> dict:
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}
''',
    alternates=(
        """
from abc import ABC, abstractmethod


class Tool(ABC):
    name: str
    description: str
    parameters: dict

    @abstractmethod
    def execute(self, **arguments) -> str: ...

    def to_anthropic_schema(self) -> dict:
        schema = dict(name=self.name, description=self.description)
        schema["input_schema"] = self.parameters
        return schema
""",
        """
import abc


class Tool(metaclass=abc.ABCMeta):
    name = description = ""
    parameters = {}

    @abc.abstractmethod
    def execute(self, **arguments):
        raise NotImplementedError

    def to_anthropic_schema(self):
        keys = {"name": "name", "description": "description", "input_schema": "parameters"}
        return {key: getattr(self, attribute) for key, attribute in keys.items()}
""",
    ),
    wrong=(
        Wrong(
            "nothing",
            """
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        print({"name": self.name, "description": self.description, "input_schema": self.parameters})
""",
            both(
                "The method gives back None. Printing shows a value to you; only return hands it to the caller.",
                "这个方法返回的是 None。print 只是给你看，return 才会把值交给调用者。",
            ),
        ),
        Wrong(
            "text",
            """
import json
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        return json.dumps({"name": self.name, "description": self.description, "input_schema": self.parameters})
""",
            both(
                "This is a text that looks like a dict. Give back the dict itself: what sends it will turn it into JSON.",
                "这是一段看起来像字典的文字。请直接返回字典：发送的那一层会把它转成 JSON。",
            ),
        ),
        Wrong(
            "wrong-key",
            """
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
""",
            both(
                'Inside our class they are called parameters, but this API wants them under "input_schema". A key that '
                "a provider doesn't know is refused or, worse, ignored.",
                '在我们的类里叫 parameters，而这个 API 要的键是 "input_schema"。服务方不认识的键会被拒绝，更糟的是被悄悄忽略。',
            ),
        ),
        Wrong(
            "no-description",
            """
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        return {"name": self.name, "input_schema": self.parameters}
""",
            both(
                "The description is missing. It is the only thing that tells a model when to use the tool.",
                "少了说明（description）。模型要靠它才知道什么时候该用这个工具。",
            ),
        ),
        Wrong(
            "class-name",
            """
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        return {"name": type(self).__name__, "description": self.description, "input_schema": self.parameters}
""",
            both(
                "This is the name of the class. The model has to call the tool by its own name, self.name.",
                "这是类的名字。模型要用工具自己的名字来调用它，也就是 self.name。",
            ),
        ),
        Wrong(
            "only-properties",
            """
from abc import ABC, abstractmethod

class Tool(ABC):
    @abstractmethod
    def execute(self, **arguments): ...

    def to_anthropic_schema(self):
        parameters = self.parameters["properties"]
        return {"name": self.name, "description": self.description, "input_schema": parameters}
""",
            both(
                'Only the inner part arrived. The schema is the whole of self.parameters, with "type" and "required".',
                '只给出了里面的一部分。schema 是整个 self.parameters，连同 "type" 和 "required"。',
            ),
        ),
        Wrong(
            "not-abstract",
            """
class Tool:
    def execute(self, **arguments):
        return ""

    def to_anthropic_schema(self):
        return {"name": self.name, "description": self.description, "input_schema": self.parameters}
""",
            both(
                "A tool that forgot its execute could be made, and would fail only when a model calls it. Keep ABC and "
                "@abstractmethod: they make Python refuse it at once.",
                "忘了写 execute 的工具也造得出来，要等到模型调用它时才出错。请保留 ABC 和 @abstractmethod：有了它们，Python 会当场拒绝。",
            ),
        ),
    ),
    hints=(
        both(
            "Everything that the model needs to know is already in the object. The method only puts it in a box.",
            "模型需要知道的东西，对象里都有了。这个方法只是把它们装进一个盒子。",
        ),
        both(
            "Replace the ... in to_anthropic_schema. The values are self.name, self.description and self.parameters; "
            'only the last one has another key, "input_schema".',
            '改 to_anthropic_schema 里的 ... 。三个值是 self.name、self.description 和 self.parameters；只有最后一个换了键名，叫 "input_schema"。',
        ),
        both(
            'return {"name": ..., "description": ..., "input_schema": ...}',
            'return {"name": ..., "description": ..., "input_schema": ...}',
        ),
    ),
)

# -- tool-schema ---------------------------------------------------------------------------------------------

STARTER_SCHEMA = """
import inspect
import typing

JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parameters_schema(function, notes):
    hints = typing.get_type_hints(function)  # {"city": str, "days": int, ...}
    properties = {}
    required = []
    for name, parameter in inspect.signature(function).parameters.items():
        # en: 1. its type: JSON_TYPES knows the word for hints[name]
        # zh: 1. 类型：hints[name] 对应的词在 JSON_TYPES 里
        properties[name] = {"type": "string"}
        # en: 2. its note, if it has one, as "description"
        # zh: 2. 说明：notes 里有的话，作为 "description"
        if name in notes:
            properties[name]["description"] = notes[name]
        # en: 3. a parameter without a default is required; one with a default tells it as "default"
        # zh: 3. 没有默认值的参数是必需的；有默认值的，把它写在 "default" 里
        required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
"""
SCHEMA_RIGHT = STARTER_SCHEMA.replace('{"type": "string"}\n', '{"type": JSON_TYPES[hints[name]]}\n').replace(
    "        required.append(name)\n",
    """        if parameter.default is parameter.empty:
            required.append(name)
        else:
            properties[name]["default"] = parameter.default
""",
)


def forecast(city: str, days: int = 1, metric: bool = True, above: float = 0.5) -> str:
    """The function that the check describes."""
    return ""


def ping() -> str:
    """A function that takes nothing."""
    return ""


FORECAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of the city"},
        "days": {"type": "integer", "default": 1},
        "metric": {"type": "boolean", "default": True},
        "above": {"type": "number", "default": 0.5},
    },
    "required": ["city"],
    "additionalProperties": False,
}
DOING = 'parameters_schema(forecast, {"city": "Name of the city"})'


def of_days(key: str, value: object) -> Any:
    """Whether a schema says this of the parameter `days`."""
    return lambda got: isinstance(got, dict) and got.get("properties", {}).get("days", {}).get(key) == value


def check_schema(names: Mapping[str, Any]) -> None:
    """Types, notes, defaults and what is required."""
    parameters_schema = names["parameters_schema"]
    got = parameters_schema(forecast, {"city": "Name of the city"})
    known = {
        "nothing": None,
        "all-strings": of_days("type", "string"),
        "python-types": lambda got: of_days("type", "int")(got) or of_days("type", int)(got),
        "all-required": lambda got: isinstance(got, dict) and "days" in got.get("required", ()),
        "none-required": lambda got: isinstance(got, dict) and not got.get("required"),
        "no-default": lambda got: isinstance(got, dict) and "default" not in got["properties"].get("days", {}),
        "empty-default": lambda got: isinstance(got, dict) and "default" in got["properties"].get("city", {}),
        "no-note": lambda got: isinstance(got, dict) and "description" not in got["properties"].get("city", {}),
    }
    expect(DOING, got, FORECAST, known=known, otherwise="other-schema")
    empty = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    expect("parameters_schema(ping, {})", parameters_schema(ping, {}), empty, otherwise="no-parameters")


TOOL_SCHEMA = Exercise(
    id="tool-schema",
    lesson=LESSON,
    part="react_lab.tools.base:parameters_schema",
    check=check_schema,
    starter=STARTER_SCHEMA,
    solution=SCHEMA_RIGHT,
    alternates=(
        """
import inspect
import typing

JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parameters_schema(function, notes):
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters
    properties = {name: {"type": JSON_TYPES[hints[name]]} for name in parameters}
    for name, note in notes.items():
        properties[name]["description"] = note
    required = []
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty:
            required += [name]
            continue
        properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
""",
        """
import inspect

JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def one(parameter, note):
    schema = {"type": JSON_TYPES[parameter.annotation]}
    if note:
        schema["description"] = note
    if parameter.default is not parameter.empty:
        schema["default"] = parameter.default
    return schema


def parameters_schema(function, notes):
    parameters = inspect.signature(function, eval_str=True).parameters
    return {
        "type": "object",
        "properties": {name: one(item, notes.get(name)) for name, item in parameters.items()},
        "required": [name for name, item in parameters.items() if item.default is item.empty],
        "additionalProperties": False,
    }
""",
    ),
    wrong=(
        Wrong(
            "all-strings",
            SCHEMA_RIGHT.replace("JSON_TYPES[hints[name]]", '"string"'),
            both(
                'Every parameter came out as a "string". A model that reads this sends "3" where your function counts '
                "with 3.",
                '每个参数都成了 "string"。模型照着它会发来 "3"，而你的函数要拿数字 3 来计算。',
            ),
        ),
        Wrong(
            "python-types",
            SCHEMA_RIGHT.replace("JSON_TYPES[hints[name]]", "hints[name].__name__"),
            both(
                'These are Python\'s words for the types. JSON Schema has its own: look "integer" up in JSON_TYPES.',
                '这些是 Python 的类型名。JSON Schema 有自己的叫法：到 JSON_TYPES 里去查，比如 "integer"。',
            ),
        ),
        Wrong(
            "all-required",
            SCHEMA_RIGHT.replace("if parameter.default is parameter.empty:", "if True:"),
            both(
                "days has a default, and still it is required: the model would have to make up a value each time.",
                "days 有默认值，却仍是必需的：模型每次都得自己编一个值出来。",
            ),
        ),
        Wrong(
            "none-required",
            SCHEMA_RIGHT.replace("required.append(name)", "pass"),
            both(
                "Nothing is required, so a call without a city would pass, and your function would raise a TypeError.",
                "没有一个参数是必需的：不带城市的调用也会放行，然后你的函数抛出 TypeError。",
            ),
        ),
        Wrong(
            "no-default",
            SCHEMA_RIGHT.replace('properties[name]["default"] = parameter.default', "pass"),
            both(
                "What is optional is right, but the model isn't told what happens if it leaves days out. Put the value "
                'under "default".',
                '哪些参数可选是对的，可是模型不知道省掉 days 会怎样。把默认值写到 "default" 里。',
            ),
        ),
        Wrong(
            "empty-default",
            SCHEMA_RIGHT.replace("        else:\n            properties", "        properties"),
            both(
                "city has no default, but its schema got one: parameter.empty, Python's mark for nothing there. It can't "
                "even be sent as JSON.",
                "city 没有默认值，schema 里却写了一个：parameter.empty，那是 Python 表示“没有”的记号，连 JSON 都转不成。",
            ),
        ),
        Wrong(
            "no-note",
            SCHEMA_RIGHT.replace("if name in notes:", "if False:"),
            both(
                "The note on city got lost. Without it a model has only the parameter's name to go by.",
                "city 的说明丢了。没有说明，模型就只能猜参数名的意思。",
            ),
        ),
        Wrong(
            "nothing",
            SCHEMA_RIGHT.replace("    return {", "    schema = {"),
            both(
                "The function gives back None: the last line needs a return.",
                "函数返回的是 None：最后一行少了 return。",
            ),
        ),
    ),
    hints=(
        both(
            "Two things in the loop are still the same for every parameter: its type, and that it is required. Both "
            "should depend on the parameter.",
            "循环里还有两样东西对每个参数都一样：类型，以及“必需”。它们都应该因参数而异。",
        ),
        both(
            "Step 1: look hints[name] up in JSON_TYPES. Step 3: compare parameter.default with parameter.empty, which "
            "is what Python puts there when there is no default.",
            "第 1 步：到 JSON_TYPES 里查 hints[name]。第 3 步：把 parameter.default 和 parameter.empty 比一比，没有默认值时 Python 放的就是后者。",
        ),
        both(
            'properties[name] = {"type": JSON_TYPES[...]}\n\nif parameter.default is parameter.empty:\n    ...\nelse:\n'
            '    properties[name]["default"] = ...',
            'properties[name] = {"type": JSON_TYPES[...]}\n\nif parameter.default is parameter.empty:\n    ...\nelse:\n'
            '    properties[name]["default"] = ...',
        ),
    ),
)

# -- tool-calculate ------------------------------------------------------------------------------------------

STARTER_CALCULATE = """
import ast
import operator

from react_lab import ToolError

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value_of(node):
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand)
        # en: Your turn: a case for ast.BinOp(left=..., op=..., right=...) whose operator stands in OPERATORS.
        # zh: 轮到你了：再写一个 case，处理 ast.BinOp(left=..., op=..., right=...)，并且运算符要在 OPERATORS 里。
    # en: Whatever is left stands on no list. It must not run, and the model must learn why.
    # zh: 走到这里的都不在名单上。它不能运行，还要让模型知道为什么。
    return eval(ast.unparse(node))


def calculate(expression):
    return value_of(ast.parse(expression, mode="eval").body)
"""
BINOP = """        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
            return OPERATORS[type(sign)](value_of(left), value_of(right))
"""
YOUR_TURN = STARTER_CALCULATE[
    STARTER_CALCULATE.index("        # en: Your turn") : STARTER_CALCULATE.index("    # en: What")
]
LAST = STARTER_CALCULATE[STARTER_CALCULATE.index("    # en: What") : STARTER_CALCULATE.index("\n\ndef calculate")]
REFUSE = '    raise ToolError(f"{ast.unparse(node)!r} is not allowed: use numbers, + - * / and parentheses")\n'
CALCULATE_RIGHT = STARTER_CALCULATE.replace(YOUR_TURN, BINOP).replace(LAST, REFUSE)


def check_calculate(names: Mapping[str, Any]) -> None:
    """Arithmetic is worked out; whatever stands on no list is refused with a ToolError that says what."""
    calculate = names["calculate"]
    for text, value in (("6 * 7", 42), ("(23 + 45) * 2", 136), ("-3 - -5", 2), ("7 / 2", 3.5)):
        known = {
            "refuses-all": Raised(ToolError),
            "leaves": lambda got: isinstance(got, Raised) and got.kind in (TypeError, AttributeError, KeyError),
        }
        if text.startswith("("):
            known = {"not-nested": lambda got: True}
        expect(f"calculate({text!r})", tried(calculate, text), value, known=known, otherwise="miscalculates")
    for text in ('__import__("os").getcwd()', "().__class__", "open", '"ha" * 3', "True", "1 < 2", "[1, 2]"):
        known = {
            "gives-none": None,
            "says-none": lambda got: isinstance(got, str) and "error" in got.casefold(),
            "still-runs": lambda got: not isinstance(got, Raised),
            "other-error": lambda got: isinstance(got, Raised),
        }
        got = tried(calculate, text)
        expect(f"calculate({text!r})", got, Raised(ToolError), known=known)
        if len(got.text.strip()) < 5:
            raise Difference("says-nothing", f"calculate({text!r})", Raised(ToolError("…")), got)


TOOL_CALCULATE = Exercise(
    id="tool-calculate",
    lesson=LESSON,
    part="react_lab.tools.calculator:calculate",
    check=check_calculate,
    starter=STARTER_CALCULATE,
    solution=CALCULATE_RIGHT,
    alternates=(
        """
import ast
import operator

from react_lab import ToolError

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value_of(node):
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -value_of(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        work_out = OPERATORS[type(node.op)]
        return work_out(value_of(node.left), value_of(node.right))
    raise ToolError("not allowed: " + ast.dump(node))


def calculate(expression):
    return value_of(ast.parse(expression, mode="eval").body)
""",
        CALCULATE_RIGHT.replace(
            BINOP,
            """        case ast.BinOp(left, ast.Add(), right):
            return value_of(left) + value_of(right)
        case ast.BinOp(left, ast.Sub(), right):
            return value_of(left) - value_of(right)
        case ast.BinOp(left, ast.Mult(), right):
            return value_of(left) * value_of(right)
        case ast.BinOp(left, ast.Div(), right):
            return value_of(left) / value_of(right)
""",
        ),
    ),
    wrong=(
        Wrong(
            "still-runs",
            CALCULATE_RIGHT.replace(REFUSE, "    return eval(ast.unparse(node))\n"),
            both(
                "This ran. Arithmetic works, but whatever is left still reaches eval, and eval runs anything. The last "
                "line has to refuse.",
                "它居然运行了。算式没问题，可剩下的一切仍然会走到 eval，而 eval 什么都肯跑。最后一行必须拒绝。",
            ),
        ),
        Wrong(
            "refuses-all",
            STARTER_CALCULATE.replace(LAST, REFUSE),
            both(
                "Nothing bad runs any more, and no arithmetic either: the case for ast.BinOp is missing, or does not return.",
                "坏东西跑不了了，可算式也跑不了：还缺 ast.BinOp 的那个 case，或者它没有 return。",
            ),
        ),
        Wrong(
            "leaves",
            CALCULATE_RIGHT.replace("(value_of(left), value_of(right))", "(left, right)"),
            both(
                "left and right are nodes of the tree, not numbers yet. Ask value_of for each of them first.",
                "left 和 right 还是语法树的节点，不是数。先分别用 value_of 求出它们的值。",
            ),
        ),
        Wrong(
            "not-nested",
            CALCULATE_RIGHT.replace("(value_of(left), value_of(right))", "(left.value, right.value)"),
            both(
                "It works for two plain numbers, but not where a side is itself a sum. Don't take .value: ask value_of, "
                "which can do both.",
                "两边都是单个数时没问题，可一边本身是算式时就不行了。不要取 .value，用 value_of，它两种都能处理。",
            ),
        ),
        Wrong(
            "gives-none",
            CALCULATE_RIGHT.replace(REFUSE, "    return None\n"),
            both(
                "It doesn't run, good. But the model now reads None and learns nothing from it. Raise a ToolError that "
                "says what is not allowed.",
                "没有运行，很好。可模型读到的是 None，什么也学不到。请抛出 ToolError，说清什么不允许。",
            ),
        ),
        Wrong(
            "says-none",
            CALCULATE_RIGHT.replace(REFUSE, '    return "Error: not allowed"\n'),
            both(
                "The error is returned as if it were a result; inside a larger sum it would be added to a number. Raise "
                "it instead: an exception can't be mistaken for a value.",
                "错误被当作结果返回了；在更大的算式里，它会被拿去和数相加。请抛出它：异常不会被误当成值。",
            ),
        ),
        Wrong(
            "other-error",
            CALCULATE_RIGHT.replace(REFUSE, '    raise ValueError("not allowed")\n'),
            both(
                "It is refused, but with another exception. A ToolError says: this text is written for the model.",
                "拒绝了，但用的是别的异常。ToolError 的意思是：这段文字是写给模型看的。",
            ),
        ),
        Wrong(
            "says-nothing",
            CALCULATE_RIGHT.replace(REFUSE, "    raise ToolError\n"),
            both(
                "Refused, but without a word. The model reads the text of this error: say what is not allowed, and what is.",
                "拒绝了，却一个字没说。模型读的就是这个错误的文字：写清什么不允许、什么可以用。",
            ),
        ),
    ),
    hints=(
        both(
            "Two lines are missing their safety: one kind of node has no case yet, and what has no case is still run.",
            "两个地方要动：有一种节点还没有 case，而没有 case 的东西现在仍会被运行。",
        ),
        both(
            "In the new case, type(sign) tells which operator it is, and OPERATORS has the function for it. Both sides "
            "are nodes: value_of turns each into a number. The last line becomes raise ToolError(...).",
            "在新的 case 里，type(sign) 说明是哪个运算符，OPERATORS 里有对应的函数。两边都是节点：用 value_of 各自求值。最后一行改成 raise ToolError(...)。",
        ),
        both(
            "case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:\n"
            '    return OPERATORS[...](..., ...)\n\nraise ToolError(f"... is not allowed")',
            "case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:\n"
            '    return OPERATORS[...](..., ...)\n\nraise ToolError(f"... is not allowed")',
        ),
    ),
)

# -- tool-error ----------------------------------------------------------------------------------------------

STARTER_ERROR = """
from react_lab import ToolError

HEIGHTS = {"Everest": 8849, "K2": 8611, "Lhotse": 8516}


def height(mountain):
    return HEIGHTS[mountain]
"""
ERROR_RIGHT = STARTER_ERROR.replace(
    "    return HEIGHTS",
    """    if mountain not in HEIGHTS:
        raise ToolError(f"no mountain {mountain!r}; there are: {', '.join(HEIGHTS)}")
    return HEIGHTS""",
)


def check_error(names: Mapping[str, Any]) -> None:
    """A known name gives its number, an unknown one an error that names it and the way out."""
    height = names["height"]
    expect('height("K2")', tried(height, "K2"), 8611, otherwise="breaks-right")
    doing, got = 'height("Olympus")', tried(height, "Olympus")
    wanted = Raised(ToolError("… 'Olympus' … Everest, K2, Lhotse"))
    known = {
        "gives-none": None,
        "text": lambda value: isinstance(value, str),
        "made-up": lambda value: isinstance(value, int),
        "key-error": Raised(KeyError),
    }
    expect(doing, got, wanted, known=known, otherwise="other-error")
    if "Olympus" not in got.text:
        raise Difference("names-nothing", doing, wanted, got)
    if not all(name in got.text for name in names.get("HEIGHTS", ())):
        raise Difference("no-way-out", doing, wanted, got)


def instead(line: str) -> str:
    """The right answer with another line in place of its ToolError."""
    return ERROR_RIGHT.replace("raise ToolError(f\"no mountain {mountain!r}; there are: {', '.join(HEIGHTS)}\")", line)


TOOL_ERROR = Exercise(
    id="tool-error",
    lesson=LESSON,
    check=check_error,
    starter=STARTER_ERROR,
    solution=ERROR_RIGHT,
    alternates=(
        """
from react_lab import ToolError

HEIGHTS = {"Everest": 8849, "K2": 8611, "Lhotse": 8516}


def height(mountain):
    try:
        return HEIGHTS[mountain]
    except KeyError:
        raise ToolError(f"I don't know {mountain}. Ask for one of {list(HEIGHTS)}.") from None
""",
        """
from react_lab import ToolError

HEIGHTS = {"Everest": 8849, "K2": 8611, "Lhotse": 8516}


class UnknownMountain(ToolError):
    pass


def height(mountain):
    found = HEIGHTS.get(mountain)
    if found is None:
        raise UnknownMountain(mountain + "? Everest, K2 and Lhotse are the ones I know.")
    return found
""",
    ),
    wrong=(
        Wrong(
            "gives-none",
            STARTER_ERROR.replace("HEIGHTS[mountain]", "HEIGHTS.get(mountain)"),
            both(
                "An unknown mountain gives None. The model can't tell whether the mountain, the list or the tool is at "
                "fault.",
                "查不到的山返回 None。模型分不清是山名不对、名单不全，还是工具坏了。",
            ),
        ),
        Wrong(
            "made-up",
            STARTER_ERROR.replace("HEIGHTS[mountain]", "HEIGHTS.get(mountain, 0)"),
            both(
                "An unknown mountain is now a number, and the model believes numbers: it would tell people that Olympus "
                "is so high.",
                "查不到的山变成了一个数，而模型相信数：它会告诉别人奥林匹斯山就这么高。",
            ),
        ),
        Wrong(
            "text",
            instead('return "unknown mountain Olympus; there are: Everest, K2, Lhotse"'),
            both(
                "Good words, but returned like a height. Raise them, so that the trace shows that the call failed.",
                "话写得不错，却像高度一样返回了。请抛出它，轨迹里才看得出这次调用失败了。",
            ),
        ),
        Wrong(
            "key-error",
            instead("raise KeyError(mountain)"),
            both(
                "A KeyError says what was missing, but not that the text is meant for the model, nor what would work.",
                "KeyError 只说了缺什么：没说这段文字是给模型看的，也没说怎样才行。",
            ),
        ),
        Wrong(
            "names-nothing",
            instead('raise ToolError("unknown mountain; there are: Everest, K2, Lhotse")'),
            both(
                "Name what came: a model that made three calls at once has to know which one failed.",
                "要写出收到的是什么：模型一次发出三个调用时，得知道失败的是哪一个。",
            ),
        ),
        Wrong(
            "no-way-out",
            instead('raise ToolError(f"unknown mountain {mountain}")'),
            both(
                "It says what is wrong, but not what would be right. List the mountains: the next call can then succeed.",
                "说了哪里错，没说怎样才对。把能查的山列出来，下一次调用就能成功。",
            ),
        ),
    ),
    hints=(
        both(
            "Put yourself in the model's place: what would you have to read to get it right the second time?",
            "站在模型的位置想一想：读到什么，你第二次就能做对？",
        ),
        both(
            "Before the return, find out whether mountain is in HEIGHTS. If not, raise a ToolError whose text holds the "
            "name that came and the names that there are.",
            "在 return 之前先看 mountain 在不在 HEIGHTS 里。不在的话，抛出 ToolError，文字里写上收到的名字和可用的名字。",
        ),
        both(
            "if mountain not in HEIGHTS:\n    raise ToolError(f\"no mountain {...}; there are: {', '.join(...)}\")",
            "if mountain not in HEIGHTS:\n    raise ToolError(f\"no mountain {...}; there are: {', '.join(...)}\")",
        ),
    ),
)

EXERCISES = (TOOL_CLASS, TOOL_SCHEMA, TOOL_CALCULATE, TOOL_ERROR)

QUIZZES = (
    Quiz(
        id="start-reads",
        lesson="00_start",
        question=both("What does a model get to read before it acts?", "行动之前，模型读得到什么？"),
        choices=(
            both("The code of each tool", "每个工具的代码"),
            both("The tools' descriptions, and the conversation so far", "工具的说明，以及到目前为止的对话"),
            both("Only the question, the same each time", "每次都一样，只有问题本身"),
        ),
        right=1,
        why=both(
            "A model sees text: the prompt with the tools' descriptions, and the conversation. It never sees code.",
            "模型只看得到文字：带有工具说明的提示词，以及对话。代码它从来看不到。",
        ),
    ),
    Quiz(
        id="start-changed",
        lesson="00_start",
        question=both(
            "You changed the year in an observation. What happened to the answer?",
            "你改动了观察结果里的年份。答案怎么样了？",
        ),
        choices=(
            both("It followed the observation", "跟着观察结果变了"),
            both("It stayed: the model knew better", "没变：模型自己知道"),
            both("The run stopped with an error", "运行报错停下了"),
        ),
        right=0,
        why=both(
            "An agent believes its tools. So tools have to be right, and have to say when they are not.",
            "智能体相信它的工具。所以工具要对，不对的时候要说出来。",
        ),
    ),
    Quiz(
        id="tool-required",
        lesson=LESSON,
        question=both(
            "A tool's function is def forecast(city: str, days: int = 1). What is required?",
            "工具的函数是 def forecast(city: str, days: int = 1)。哪些参数是必需的？",
        ),
        choices=(both("city and days", "city 和 days"), both("days", "days"), both("city", "city")),
        right=2,
        why=both(
            "days has a default, so a call may leave it out.",
            "days 有默认值，调用时可以不写。",
        ),
    ),
    Quiz(
        id="tool-allow",
        lesson=LESSON,
        question=both("Why is an allow-list safer than a list of forbidden words?", "为什么白名单比黑名单安全？"),
        choices=(
            both("It is faster to check than a long list", "比起长长的名单，检查起来更快"),
            both("What nobody thought of is refused, not run", "没人想到的东西会被拒绝，而不是被运行"),
            both("The model can read it and keep to it", "模型能读懂它，并且照着做"),
        ),
        right=1,
        why=both(
            "A list of the forbidden is only as good as its author's imagination. An allow-list fails on the safe side.",
            "黑名单的好坏全看作者想得到多少。白名单就算漏了什么，也漏在安全的一边。",
        ),
    ),
)

SENTENCES = (
    Sentence(
        id="tool-why-schema",
        lesson=LESSON,
        question=both("What is a tool's schema good for?", "工具的 schema 有什么用？"),
        answer=both(
            "It tells the model which arguments a call must have, and lets us check them before the tool runs.",
            "它告诉模型一次调用要带哪些参数，也让我们能在工具运行之前先检查这些参数。",
        ),
    ),
)
