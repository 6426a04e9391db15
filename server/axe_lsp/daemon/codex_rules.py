"""Rules of Codex (`.codex/rules`), which are Starlark: faults that keep Codex 0.171 from starting.

Starlark is parsed as Python, of which it is nearly a part; what it has not is searched for afterwards. Only what Codex
was seen to refuse is a fault: names that are nowhere defined, and values that are computed, are not judged.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Callable, Iterator, Sequence

_MOST_OF_RULES = 2**16
"""Characters of rules that are parsed. Longer ones are taken to be in order."""

_DECISIONS = ("allow", "prompt", "forbidden")

_Fault = tuple[int, str]
"""The line, and the message."""


def rules_fault(text: str) -> str:
    """Return the first fault of rules; "" if there is none."""
    if len(text) > _MOST_OF_RULES:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except SyntaxError as error:
        return f"line {error.lineno or 1} is not valid Starlark: {error.msg}"
    except (ValueError, MemoryError, RecursionError, tokenize.TokenError):
        return ""  # A NUL, or thousands of nested parts.
    faults = (*_faults_of_nodes(tree), *_faults_of_tokens(tokens), *_misplaced(tree))
    return min(faults, default=(0, ""))[1]


_STATEMENTS = (ast.While, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Try, ast.With, ast.Raise)
_FURTHER_STATEMENTS = (ast.Global, ast.Nonlocal, ast.Delete, ast.Assert, ast.Match)
_ASYNCHRONOUS = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
_EXPRESSIONS = (ast.Set, ast.SetComp, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.YieldFrom)
_OPERATORS = (ast.Is, ast.IsNot, ast.Pow)
_OF_LATER_PYTHON = tuple(
    getattr(ast, name) for name in ("TryStar", "TypeAlias", "TemplateStr") if hasattr(ast, name)
)
_FOREIGN = (
    *(*_STATEMENTS, *_FURTHER_STATEMENTS, *_ASYNCHRONOUS, *_EXPRESSIONS, *_OPERATORS),
    *_OF_LATER_PYTHON,
)
"""What Python has and Starlark has not."""


def _faults_of_nodes(tree: ast.Module) -> Iterator[_Fault]:
    line = 1
    unpacked = {
        id(each)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for each in call.args
        if isinstance(each, ast.Starred)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", line)
        reason = _reason(node)
        if isinstance(node, ast.Starred) and id(node) not in unpacked:
            reason = "it has `*` in calls and parameters only"
        if reason:
            yield line, f"line {line} is not valid Starlark: {reason}"
        if isinstance(node, ast.Call):
            yield from _faults_of_call(node)


def _reason(node: ast.AST) -> str:
    """Return why a node is no Starlark; "" if it is."""
    if isinstance(node, _FOREIGN):
        return f"it has no `{type(node).__name__.lower()}`"
    if isinstance(node, ast.arguments):
        return _reason_of_parameters(node)
    return next((reason for is_foreign, reason in _FORMS if is_foreign(node)), "")


_FORMS: tuple[tuple[Callable[[ast.AST], bool], str], ...] = (
    (
        lambda node: isinstance(node, ast.Compare) and len(node.ops) > 1,
        "comparisons can't be chained",
    ),
    (
        lambda node: isinstance(node, ast.Assign) and len(node.targets) > 1,
        "assignments can't be chained",
    ),
    (
        lambda node: isinstance(node, ast.AnnAssign) and node.value is None,
        "a name with a type needs a value",
    ),
    (
        lambda node: isinstance(node, ast.Dict) and None in node.keys,
        "it has `**` in calls and parameters only",
    ),
    (
        lambda node: isinstance(node, ast.FormattedValue) and node.format_spec is not None,
        "it has no formats in f-strings",
    ),
    (lambda node: isinstance(node, ast.Name) and node.id == "load", "Codex has nothing to load"),
    (lambda node: isinstance(node, ast.Name) and not node.id.isascii(), "names are ASCII"),
)
"""Uses of nodes that both have, of which only Python allows these, with the reason."""


def _reason_of_parameters(node: ast.arguments) -> str:
    if node.posonlyargs:
        return "it has no positional-only parameters"
    further = [each for each in (node.vararg, node.kwarg) if each is not None]
    names = [each.arg for each in (*node.args, *node.kwonlyargs, *further)]
    return "a parameter is there twice" if len({*names}) < len(names) else ""


def _faults_of_tokens(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[_Fault]:
    """Yield the faults that the tree of Python no longer shows."""
    before = None
    for token in tokens:
        if token.type in (tokenize.NL, tokenize.COMMENT):
            continue
        reason = ""
        if token.type == tokenize.STRING and before == tokenize.STRING:
            reason = "strings next to each other are not joined"
        elif token.type == tokenize.STRING and token.string[0] in "uU":
            reason = "it has no `u` before strings"
        elif token.type == tokenize.NUMBER and {*"_jJ"} & {*token.string}:
            reason = f"it has no number {token.string}"
        elif token.type == tokenize.OP and token.string.startswith("@"):
            reason = "it has no `@`"
        elif token.type == tokenize.INDENT and "\t" in token.string:
            reason = "tabs are not allowed"
        if reason:
            yield token.start[0], f"line {token.start[0]} is not valid Starlark: {reason}"
        before = token.type


def _misplaced(tree: ast.Module) -> Iterator[_Fault]:
    """Yield the statements that end a function or a loop outside of one."""
    left: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while left:
        each, in_def, in_for = left.pop()
        if isinstance(each, ast.FunctionDef):
            in_def, in_for = True, False
        elif isinstance(each, ast.For):
            in_for = True
        place = ""
        if isinstance(each, ast.Return) and not in_def:
            place = "a function"
        elif isinstance(each, (ast.Break, ast.Continue)) and not in_for:
            place = "a loop"
        if place and isinstance(each, ast.stmt):
            reason = f"`{type(each).__name__.lower()}` is outside of {place}"
            yield each.lineno, f"line {each.lineno} is not valid Starlark: {reason}"
        left += [(child, in_def, in_for) for child in ast.iter_child_nodes(each)]


def _faults_of_call(call: ast.Call) -> Iterator[_Fault]:
    """Yield the faults of a call, and of a rule whose arguments are written out."""
    line = call.lineno
    names = [each.arg for each in call.keywords if each.arg is not None]
    if len({*names}) < len(names):
        yield line, f"line {line} is not valid Starlark: an argument is there twice"
    named = {each.arg: each.value for each in call.keywords}
    if not isinstance(call.func, ast.Name) or call.func.id != "prefix_rule" or None in named:
        return
    if "pattern" not in named and not call.args:
        yield line, f"`pattern` is missing in line {line}"
    pattern = named.get("pattern", call.args[0] if call.args else None)
    if fault := _pattern_fault(pattern):
        yield line, f"the pattern in line {line} {fault}"
    decision = named.get("decision")
    if isinstance(decision, ast.Constant) and decision.value not in _DECISIONS:
        at = decision.lineno
        yield at, f"the decision in line {at} is none of {', '.join(_DECISIONS)}"


def _pattern_fault(pattern: ast.expr | None) -> str:
    """Return what is wrong with a pattern that is written out; "" if nothing is."""
    if isinstance(pattern, ast.Constant):
        return "is not a list"
    if not isinstance(pattern, ast.List):
        return ""
    if not pattern.elts:
        return "is empty"
    texts = (each.value for each in pattern.elts if isinstance(each, ast.Constant))
    return "" if all(isinstance(each, str) for each in texts) else "has a value that is not a text"
