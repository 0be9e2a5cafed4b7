"""The learner's code of an exercise: found in the cells that ran, told apart from what was given."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from react_lab.course.exercise import Exercise, defined

# What a notebook calls for the person, not for the answer.
FOR_THE_PERSON = frozenset(
    ("check", "hint", "solution", "show", "predict", "explain", "quiz", "progress", "replay", "print", "display")
)
EXCHANGE = "mine_or_ours"


@dataclass(frozen=True)
class Attempt:
    """Code that defines what an exercise asks for, and whether the learner has written any of it."""

    code: str
    is_untouched: bool


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top of a cell: its text, the names that it defines, and those that it reads."""

    cell: int
    tree: ast.stmt
    text: str

    @property
    def defines(self) -> set[str]:
        return set(defined(self.tree))

    @property
    def reads(self) -> set[str]:
        try:
            return set(taken(symtable.symtable(self.text, "<cell>", "exec")))
        except SyntaxError:  # `await` at the top of a cell
            return {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)} - self.defines

    def builds(self, name: str) -> bool:
        """Whether it makes what the name stands for: it neither imports it nor takes it, `mine_or_ours("Tool")`."""
        return (
            name in self.defines
            and EXCHANGE not in self.reads
            and not isinstance(self.tree, ast.Import | ast.ImportFrom)
        )


def find_attempt(exercise: Exercise, cells: Iterable[str]) -> Attempt | None:
    """What a learner's cells make of an exercise; None if they don't define what it asks for.

    The cell that defines it comes whole; from the others comes what it needs, and no more.

    Args:
        exercise: Whose name is wanted.
        cells: Code in the order in which it ran; what ran last counts. Cells that are no Python are passed over.
    """
    statements = [item for number, cell in enumerate(cells) for item in read_cell(number, cell)]
    cell = next((item.cell for item in reversed(statements) if item.builds(exercise.name)), None)
    if cell is None:
        return None
    own = [item for item in statements if item.cell == cell and not is_for_the_person(item.tree)]
    chosen = {*own, *needed(own, statements)}
    code = "\n\n".join(item.text for item in statements if item in chosen)
    return Attempt(code, is_untouched=is_starter(exercise, own))


def needed(own: Sequence[Statement], statements: Sequence[Statement]) -> set[Statement]:
    """Of all statements, those that define what others read, directly or not; the last definition counts."""
    last = {name: item for item in statements for name in item.defines}
    have = {name for item in own for name in item.defines}
    missing = {name for item in own for name in item.reads} - have
    found = set()
    while missing:
        name = missing.pop()
        have.add(name)
        if name in last:
            found.add(last[name])
            missing |= last[name].reads - have
    return found


def read_cell(number: int, cell: str) -> Iterator[Statement]:
    """The statements of a cell; none if it is no Python."""
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(cell, "<cell>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return
    assert isinstance(tree, ast.Module)
    lines = cell.splitlines()
    for item in tree.body:
        decorators = getattr(item, "decorator_list", [])
        start = min([item.lineno, *(decorator.lineno for decorator in decorators)])
        yield Statement(number, item, "\n".join(lines[start - 1 : item.end_lineno]))


def is_for_the_person(statement: ast.stmt) -> bool:
    """Whether it is a bare call of something that only shows, or a magic of IPython."""
    called = {
        node.func.id for node in ast.walk(statement) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return "get_ipython" in called or (isinstance(statement, ast.Expr) and bool(called & FOR_THE_PERSON))


def is_starter(exercise: Exercise, own: Sequence[Statement]) -> bool:
    """Whether everything that the starter defines is still as it was given; comments and layout don't count."""
    mine = {name: ast.dump(item.tree) for item in own for name in item.defines}
    given = {name: ast.dump(item) for item in ast.parse(exercise.starter).body for name in defined(item)}
    return given.items() <= mine.items()


def taken(table: symtable.SymbolTable) -> Iterator[str]:
    """The names that code takes from outside its functions."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from taken(inner)
