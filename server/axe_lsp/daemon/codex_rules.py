"""Rules of Codex (`.codex/rules`), which are Starlark: faults that keep Codex 0.171 from starting.

Starlark is parsed as Python, of which it is nearly a part; what it has not is searched for afterwards. Then the rules
are evaluated, and the examples in them compared with their patterns. Only what Codex was seen to refuse is a fault.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

from axe_lsp.daemon.starlark import (
    Evaluation,
    FaultError,
    Native,
    Parameter,
    Parameters,
    UnmodelledError,
    Value,
    kind_of,
    undefined_names,
)

_MOST_OF_RULES = 2**16
"""Characters of rules that are parsed. Longer ones are taken to be in order."""

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
    faults = (
        *_faults_of_nodes(tree),
        *_faults_of_tokens(tokens),
        *_misplaced(tree),
        *_form_feeds(text, tokens),
    )
    return min(faults)[1] if faults else _evaluation_fault(tree)


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


def _form_feeds(text: str, tokens: Sequence[tokenize.TokenInfo]) -> Iterator[_Fault]:
    """Yield the form feeds outside of texts and comments, which Python takes for blanks."""
    kinds = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1))
    spans = sorted((each.start, each.end) for each in tokens if each.type in kinds)
    for number, line in enumerate(text.split("\n") if "\f" in text else (), 1):
        for match in re.finditer("\f", line):
            place = number, match.start()
            before = bisect_right(spans, place, key=lambda span: span[0])
            if not before or spans[before - 1][1] <= place:
                yield number, f"line {number} is not valid Starlark: it has a form feed"


def _faults_of_call(call: ast.Call) -> Iterator[_Fault]:
    names = [each.arg for each in call.keywords if each.arg is not None]
    if len({*names}) < len(names):
        reason = "an argument is there twice"
        yield call.lineno, f"line {call.lineno} is not valid Starlark: {reason}"


# -- what rules are evaluated to

_DECISIONS = ("allow", "prompt", "forbidden")
_PROTOCOLS = ("http", "https", "socks5_tcp", "socks5_udp")


def _optional(name: str, kind: str) -> Parameter:
    return Parameter(name, kind, is_required=False)


_PARAMETERS: Mapping[str, Parameters] = {
    "prefix_rule": Parameters(
        (
            Parameter("pattern", "list"),
            _optional("decision", "string"),
            _optional("match", "list"),
            _optional("not_match", "list"),
            _optional("justification", "string"),
            _optional("canonical_matching", "bool"),
        )
    ),
    "network_rule": Parameters(
        (
            Parameter("host", "string"),
            Parameter("protocol", "string"),
            Parameter("decision", "string"),
            _optional("justification", "string"),
        )
    ),
    "host_executable": Parameters((Parameter("name", "string"), Parameter("paths", "list"))),
}
"""The functions that Codex adds to Starlark."""


def _evaluation_fault(tree: ast.Module) -> str:
    """Return the first fault that shows when rules are evaluated; "" if there is none that can be told."""
    try:
        undefined = next(undefined_names(tree, _PARAMETERS), None)
        if undefined is not None:
            return f"line {undefined[0]} uses `{undefined[1]}`, which is not defined"
        return _Rules().fault(tree)
    except RecursionError:
        return ""


class _Rules:
    """The rules of one text as they are evaluated, with their examples."""

    def __init__(self) -> None:
        self._examples: list[tuple[int, Mapping[str, Value]]] = []
        """The lines and values of calls whose examples are compared when all rules are there, as Codex does."""

    def fault(self, tree: ast.Module) -> str:
        """Return the first fault of rules; "" if there is none that can be told."""
        calls = {
            "prefix_rule": self._prefix_rule,
            "network_rule": self._network_rule,
            "host_executable": self._host_executable,
        }
        natives = {
            name: Native(name, parameters, calls[name]) for name, parameters in _PARAMETERS.items()
        }
        try:
            Evaluation(natives).run(tree)
        except FaultError as fault:
            return f"line {fault.line} {fault.reason}"
        except UnmodelledError:
            pass
        return next(filter(None, (_fault_of_examples(*each) for each in self._examples)), "")

    def _prefix_rule(self, line: int, values: Mapping[str, Value]) -> None:
        if not values["pattern"]:
            raise FaultError(line, "has an empty pattern")
        for each in values["pattern"]:
            _check_texts(line, "pattern", each)
        _check_word(line, "decision", values["decision"], _DECISIONS)
        _check_justification(line, values["justification"])
        for each in (*(values["match"] or ()), *(values["not_match"] or ())):
            _check_texts(line, "example", each)
            if not each:
                raise FaultError(line, "has an empty example")
            if isinstance(each, str) and _words(each) is None:
                raise FaultError(line, f"has an example with an open quote: {each}")
        self._examples.append((line, values))

    @staticmethod
    def _network_rule(line: int, values: Mapping[str, Value]) -> None:
        host = values["host"]
        if not host.strip() or "*" in host or "://" in host or " " in host.strip():
            raise FaultError(line, "has a `host` that is not the name of one host")
        _check_word(line, "protocol", values["protocol"], _PROTOCOLS)
        _check_word(line, "decision", values["decision"], (*_DECISIONS, "deny"))
        _check_justification(line, values["justification"])

    @staticmethod
    def _host_executable(line: int, values: Mapping[str, Value]) -> None:
        name = values["name"]
        if not name or "/" in name:
            raise FaultError(line, "has a `name` that is not the name of a program")
        for path in values["paths"]:
            if not isinstance(path, str) or not path.startswith("/"):
                raise FaultError(line, "has a path of a program that is not absolute")
            if path.rpartition("/")[2] != name:
                raise FaultError(line, f"has a path of a program that does not end in `{name}`")


def _check_texts(line: int, role: str, value: Value) -> None:
    """Raise FaultError unless a value is a string, or a list of some."""
    if isinstance(value, str):
        return
    if not isinstance(value, list):
        raise FaultError(line, f"has a {kind_of(value)} in its {role}, where a string belongs")
    if not value:
        raise FaultError(line, f"has an empty list in its {role}")
    for each in value:
        if not isinstance(each, str):
            raise FaultError(line, f"has a {kind_of(each)} in its {role}, where a string belongs")


def _check_word(line: int, name: str, value: Value, words: Sequence[str]) -> None:
    if value is not None and value not in words:
        raise FaultError(line, f"has a {name} that is none of {', '.join(words)}")


def _check_justification(line: int, value: Value) -> None:
    if value is not None and not value.strip():
        raise FaultError(line, "has an empty justification")


def _words(command: str) -> list[str] | None:
    """Return the words of an example, [] where shells differ about them; None if a quote is open."""
    import shlex

    try:
        return [] if {*"\\#"} & {*command} else shlex.split(command)
    except ValueError:
        return None


def _fault_of_examples(line: int, values: Mapping[str, Value]) -> str:
    """Return the fault of the examples of a rule; "" if each fits, as far as that can be told."""
    pattern = values["pattern"]
    for key, is_wanted in (("match", True), ("not_match", False)):
        for each in values[key] or ():
            words = _words(each) if isinstance(each, str) else each
            if words and "/" not in words[0] and _matches(pattern, words) is not is_wanted:
                shown = " ".join(words)
                outcome = "does not match" if is_wanted else "matches"
                return f"line {line} has an example in `{key}` that its pattern {outcome}: {shown}"
    return ""


def _matches(pattern: Sequence[Value], words: Sequence[str]) -> bool:
    return len(words) >= len(pattern) and all(
        word == part if isinstance(part, str) else word in part
        for part, word in zip(pattern, words, strict=False)
    )
