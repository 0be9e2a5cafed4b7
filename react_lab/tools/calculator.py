"""A calculator for models: an allow-list over Python's syntax tree, because an allow-list beats a block-list.

Nothing is forbidden here. A few things are allowed, and whatever stands on none of the lists does not run.
"""

import ast
import math
import operator
import re
import unicodedata
from collections.abc import Callable

from react_lab.errors import ToolError
from react_lab.tools.base import tool

Number = int | float

MAX_CHARS = 500  # bounds the depth of the tree too, so that walking it can't exhaust Python's stack
MAX_BITS = 10_000  # of a whole number: about 3000 digits, fewer than the 4300 that Python agrees to print


class CalculatorError(ToolError, ValueError):
    """The expression can't be worked out; the message says what to write instead."""


def power(base: Number, exponent: Number) -> Number:
    """Look at the result's size before working it out: 2**100 is cheap, 9**9**9 would never end."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and (int(base).bit_length() - 1) * exponent > MAX_BITS:
        raise OverflowError
    return base**exponent


def factorial(number: int) -> int:
    if number > 1000:
        raise OverflowError
    return math.factorial(number)


def round_to(number: Number, digits: int = 0) -> Number:
    if abs(digits) > 300:  # round(5, -10**9) would work out 10**10**9 first
        raise ValueError("digits must lie between -300 and 300")
    return round(number, digits) if digits else round(number)


CONSTANTS = {"pi": math.pi, "e": math.e}
SIGNS: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
}
FUNCTIONS: dict[str, Callable[..., Number]] = {
    **{function.__name__: function for function in (abs, min, max, math.sqrt, math.floor, math.ceil)},
    **{function.__name__: function for function in (math.exp, math.log, math.log10, math.sin, math.cos, math.tan)},
    **{"round": round_to, "pow": power, "factorial": factorial},
}
ALLOWED = f"Allowed: numbers, + - * / // % **, parentheses, {', '.join([*CONSTANTS, *FUNCTIONS])}."
TOO_LARGE = "the result is too large: whole numbers may have about 3000 digits, others go up to 1e308"


def calculate(expression: str) -> Number:
    """Work out an arithmetic expression, exactly as long as all numbers are whole.

    Raises:
        CalculatorError: it is not arithmetic, not defined or too large. Nothing else is ever raised, and the
            result is never infinite, complex or not a number.
    """
    text = plain(expression)
    try:
        return value_of(ast.parse(text, mode="eval").body)
    except ZeroDivisionError:
        raise CalculatorError("division by zero: the result is undefined") from None
    except OverflowError:
        raise CalculatorError(TOO_LARGE) from None
    except SyntaxError:
        raise CalculatorError(f"{text!r} is not arithmetic: write it as in 2 * (3 + 4). {ALLOWED}") from None
    except (RecursionError, MemoryError):
        raise CalculatorError("the expression is nested too deeply: work it out in parts") from None


def value_of(node: ast.expr) -> Number:
    """Work out one node of the tree; these cases are the whole language."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return checked(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in SIGNS:
            return SIGNS[type(sign)](value_of(operand))
        case ast.BinOp(left=left, op=symbol, right=right) if type(symbol) in OPERATORS:
            return checked(OPERATORS[type(symbol)](value_of(left), value_of(right)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            values = [value_of(argument) for argument in arguments]
            try:
                return checked(FUNCTIONS[name](*values))
            except (TypeError, ValueError) as error:
                raise CalculatorError(f"{ast.unparse(node)} is not defined: {error}") from None
    raise CalculatorError(f"{ast.unparse(node)!r} ({type(node).__name__}) is not allowed. {ALLOWED}")


def checked(value: Number | complex) -> Number:
    """Let a finite real number of bounded size through."""
    match value:
        case int() if value.bit_length() <= MAX_BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case complex():
            raise CalculatorError("the result is not a real number, e.g. the root of a negative one")
    raise OverflowError


OTHER_SIGNS = str.maketrans(dict.fromkeys("×✕✖⋅·", "*") | dict.fromkeys("−–—", "-") | {"÷": "/", "π": "pi"})
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
TRAPS = (  # what Python would read as something else, or not at all: pattern, and what to write
    (r"\^", "write ** for a power, as in 2**10"),
    (r"!", "write factorial(5) for 5!"),
    (r"[\d.)]+\s*%\s*(of\b|$|[-+*/)])|[\d.)]+%\s", "% is the remainder; write 15 / 100 * 200 for 15 percent of 200"),
    (r"(?<![\w.])\d[\d.]*(?![eE][+-]?\d)[A-Za-z]\w*", "write every operator, as in 2 * pi"),
    (r"[a-z]\w*\s*\(.*?\b[1-9]\d{0,2},\d{3}\b", "write 1000 without separator, and a space after any other comma"),
    (r"[^\w\s.,+*/%()-]|[^\x00-\x7f]", "only arithmetic can be read"),
)


def plain(expression: str) -> str:
    """Bring what people and models type, such as １２ × 3² or 1,000 + 2,000 =, into Python's notation.

    What has two readings is refused, not guessed: a model that reads an error tries again, a model that reads
    a wrong number goes on.
    """
    if len(expression) > MAX_CHARS:
        raise CalculatorError(f"more than {MAX_CHARS} characters: work the expression out in parts")
    # Powers first: NFKC makes 32 of 3². Other digits of that kind (½ ₂ ①) are left alone and refused below.
    text = re.sub(f"[{''.join(map(chr, SUPERSCRIPTS))}]+", lambda m: f"**({m[0].translate(SUPERSCRIPTS)})", expression)
    text = "".join(char if unicodedata.category(char) == "No" else digits_of(char) for char in text)
    text = " ".join(re.sub(r"=\s*\??\s*$", "", text.translate(OTHER_SIGNS)).split())
    if not text:
        raise CalculatorError("the expression is empty: write one such as (23 + 45) * 2")
    for pattern, advice in TRAPS:
        if trap := re.search(pattern, text):
            raise CalculatorError(f"{trap[0].strip()!r} is not allowed: {advice}. {ALLOWED}")
    return re.sub(r"(?<![\w.,])[1-9]\d{0,2}(,\d{3})+(?![\w,])", lambda number: number[0].replace(",", ""), text)


def digits_of(char: str) -> str:
    """A character in its plain form: １ and ٣ are digits, （ is a parenthesis."""
    return str(unicodedata.decimal(char, unicodedata.normalize("NFKC", char)))


def format_number(value: Number) -> str:
    """Write a whole number with all its digits, and others without binary noise: 0.1 + 0.2 gives 0.3."""
    if isinstance(value, int):
        return str(value)
    return format(value + 0.0, ".12g" if abs(value) < 1e9 else ".15g")  # adding 0.0 makes 0 of -0.0


@tool(
    zh="""计算一个算式，如 (23 + 45) * 2、2 ** 20、sqrt(2) / 3 或 round(1000 / 12, 2)。凡是计算都用它；
    它不查资料，也不换算单位。2400 的百分之十五写作 15 / 100 * 2400；log 是自然对数，角度用弧度。

    Args:
        expression: 用 Python 的写法，数字不带单位，没有等号，如 "(23 + 45) * 2"。
    """
)
def calculator(expression: str) -> str:
    """Work out an arithmetic expression such as (23 + 45) * 2, 2 ** 20, sqrt(2) / 3 or round(1000 / 12, 2).

    For every calculation; it knows no facts and no units. Write 15 / 100 * 2400 for 15 percent of 2400. log is the
    natural logarithm; angles are in radians.

    Args:
        expression: In Python's notation, numbers without units, no equals sign, such as "(23 + 45) * 2".
    """
    return format_number(calculate(expression))
