"""Evaluation of Starlark for its faults: names without a value, operands and arguments of a wrong type, and the like.

A text is parsed as Python, and evaluated as Codex 0.171 evaluates rules, as far as it is modelled. Where something
is not, evaluation ends without a fault. It takes a bounded number of steps, so that a stranger's text can be evaluated.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct

Value = Any
"""None, a bool, int, float, str, list, tuple, dict or range, or a `Function` or `Native`."""

_MOST_STEPS = 50_000
_MOST_FRAMES = 60
"""Calls within calls; Codex has stopped at fewer."""
_MOST_BITS = 4096
_MOST_SHOWN = 80
"""Characters of a value in a message."""

BUILT_INS = frozenset(
    [
        "None",
        "True",
        "False",
        "abs",
        "all",
        "any",
        "bool",
        "bytes",
        "chr",
        "dict",
        "dir",
        "enumerate",
        "fail",
        "float",
        "getattr",
        "hasattr",
        "hash",
        "int",
        "len",
        "list",
        "max",
        "min",
        "ord",
        "range",
        "repr",
        "reversed",
        "sorted",
        "str",
        "tuple",
        "type",
        "zip",
    ]
)
"""The names that Starlark itself defines for Codex."""

_METHODS = {
    "string": frozenset(
        [
            "capitalize",
            "codepoints",
            "count",
            "elems",
            "endswith",
            "find",
            "format",
            "index",
            "isalnum",
            "isalpha",
            "isdigit",
            "islower",
            "isspace",
            "istitle",
            "isupper",
            "join",
            "lower",
            "lstrip",
            "partition",
            "removeprefix",
            "removesuffix",
            "replace",
            "rfind",
            "rindex",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "title",
            "upper",
        ]
    ),
    "list": frozenset(["append", "clear", "extend", "index", "insert", "pop", "remove"]),
    "dict": frozenset(
        ["clear", "get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"]
    ),
}


class FaultError(Exception):
    """A fault that ends the evaluation. `reason` follows the words "line N"."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


class UnmodelledError(Exception):
    """What follows is not known, so that nothing is said about it."""


class Parameter(Struct, frozen=True):
    """A parameter of a function. `kind` is the only type that it takes, "" for any."""

    name: str
    kind: str = ""
    is_required: bool = True
    is_named_only: bool = False
    default: Value = None


class Parameters(Struct, frozen=True):
    """All parameters of a function, with the names of those that take the other arguments."""

    listed: tuple[Parameter, ...]
    positional_rest: str = ""
    named_rest: str = ""

    def bind(
        self, line: int, function: str, arguments: Sequence[Value], named: Mapping[str, Value]
    ) -> dict[str, Value]:
        """Return the values by parameter. Raise FaultError for arguments that do not fit."""
        positional = [each.name for each in self.listed if not each.is_named_only]
        values = dict(zip(positional, arguments, strict=False))
        if len(arguments) > len(positional) and not self.positional_rest:
            raise FaultError(line, f"calls {function} with too many arguments")
        further = dict[str, Value]()
        names = {each.name for each in self.listed}
        for name, value in named.items():
            if name in values:
                raise FaultError(line, f"calls {function} with `{name}` twice")
            if name not in names and not self.named_rest:
                raise FaultError(line, f"calls {function} with the unknown argument `{name}`")
            (values if name in names else further)[name] = value
        for each in self.listed:
            if each.name not in values and each.is_required:
                raise FaultError(line, f"calls {function} without `{each.name}`")
            if each.kind and each.name in values and kind_of(values[each.name]) != each.kind:
                kind = kind_of(values[each.name])
                raise FaultError(
                    line, f"calls {function} with a {kind} as `{each.name}`; it takes a {each.kind}"
                )
            values.setdefault(each.name, each.default)
        if self.positional_rest:
            values[self.positional_rest] = tuple(arguments[len(positional) :])
        if self.named_rest:
            values[self.named_rest] = further
        return values


class _Frame:
    """The names of one call, of a comprehension or of the text, with their values."""

    def __init__(self, names: Iterable[str], outer: _Frame | None = None) -> None:
        self.names, self.outer = frozenset(names), outer
        self.values = dict[str, Value]()

    def owner(self, name: str) -> _Frame | None:
        """Return the frame that a name belongs to; None for one that is defined nowhere in the text."""
        frame: _Frame | None = self
        while frame is not None and name not in frame.names:
            frame = frame.outer
        return frame


class Function(Struct, frozen=True, eq=False):
    """A function or lambda of the text."""

    name: str
    parameters: Parameters
    body: Sequence[ast.stmt] | ast.expr
    frame: _Frame
    returns: ast.expr | None = None
    """The annotation of its result."""


class Native(Struct, frozen=True, eq=False):
    """A function of Codex: its parameters, and what is done with the line of a call and its values."""

    name: str
    parameters: Parameters
    call: Callable[[int, Mapping[str, Value]], Value]


class _BuiltIn(Struct, frozen=True):
    """A function of Starlark itself."""

    name: str


class _Method(Struct, frozen=True, eq=False):
    owner: Value
    name: str


_KINDS: Mapping[type, str] = {
    type(None): "NoneType",
    bool: "bool",
    int: "int",
    float: "float",
    str: "string",
    list: "list",
    tuple: "tuple",
    dict: "dict",
    range: "range",
}


def kind_of(value: Value) -> str:
    """Return the type of a value as Starlark names it."""
    return _KINDS.get(type(value), "function")


# -- names


def undefined_names(tree: ast.Module, natives: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each use of a name that no scope around it defines."""
    known = _Frame({*BUILT_INS, *natives})
    yield from _undefined(tree.body, _Frame(_bound(tree.body), known))


def _undefined(nodes: Iterable[ast.AST], frame: _Frame) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, ast.Name):
            if frame.owner(node.id) is None:
                yield node.lineno, node.id
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            body, returns = _body(node)
            yield from _undefined([node.args, *returns], frame)
            names = {*_parameter_names(node.args), *_bound(body)}
            yield from _undefined(body, _Frame(names, frame))
        elif isinstance(node, (ast.ListComp, ast.DictComp)):
            yield from _undefined([node.generators[0].iter], frame)
            inner = _Frame(_targets(node.generators), frame)
            results = [node.elt] if isinstance(node, ast.ListComp) else [node.key, node.value]
            yield from _undefined(
                [*results, *(c for each in node.generators for c in each.ifs)], inner
            )
            yield from _undefined([each.iter for each in node.generators[1:]], inner)
        else:
            yield from _undefined(ast.iter_child_nodes(node), frame)


def _body(node: ast.FunctionDef | ast.Lambda) -> tuple[Sequence[ast.AST], Sequence[ast.expr]]:
    """Return the body of a function, and the annotation of its result if it has one."""
    if isinstance(node, ast.Lambda):
        return [node.body], []
    return node.body, [node.returns] if node.returns is not None else []


def _bound(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements bind in their own scope."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.DictComp)):
            yield from _bound(ast.iter_child_nodes(node))


def _targets(generators: Iterable[ast.comprehension]) -> Iterator[str]:
    return _bound(each.target for each in generators)


def _parameter_names(parameters: ast.arguments) -> Iterator[str]:
    further = [each for each in (parameters.vararg, parameters.kwarg) if each is not None]
    return (each.arg for each in (*parameters.args, *parameters.kwonlyargs, *further))


# -- operators

_BINARY: Mapping[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    ast.BitAnd: ("&", operator.and_),
    ast.BitXor: ("^", operator.xor),
    ast.LShift: ("<<", operator.lshift),
    ast.RShift: (">>", operator.rshift),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}
_Kinds = frozenset[tuple[str, str]]
_NUMBERS: _Kinds = frozenset((a, b) for a in ("int", "float") for b in ("int", "float"))
_SEQUENCES = ("string", "list", "tuple")
_ALIKE: _Kinds = frozenset((each, each) for each in _SEQUENCES)
_REPEATED: _Kinds = frozenset(
    pair for each in _SEQUENCES for pair in ((each, "int"), ("int", each))
)
_INTEGERS: _Kinds = frozenset([("int", "int")])
_OPERANDS: Mapping[str, _Kinds] = {
    "+": _NUMBERS | _ALIKE,
    "*": _NUMBERS | _REPEATED,
    **dict.fromkeys(("-", "/", "//", "%"), _NUMBERS),
    **dict.fromkeys(("&", "^", "<<", ">>"), _INTEGERS),
    **dict.fromkeys(("<", "<=", ">", ">="), _NUMBERS | _ALIKE | {("bool", "bool")}),
}
"""The types that each operator takes, as Codex was seen to take them."""


def _key(line: int, value: Value) -> Value:
    """Return a value as a key of a dict."""
    kind = kind_of(value)
    if kind in ("list", "dict", "range"):
        raise FaultError(line, f"has a {kind} where the key of a dict belongs")
    if kind not in ("string", "int"):
        raise UnmodelledError
    return value


def _shown(key: Value) -> str:
    """Return the key of a dict for a message."""
    return repr(key)[:_MOST_SHOWN]


class _ReturnError(Exception):
    def __init__(self, line: int, value: Value) -> None:
        super().__init__()
        self.line, self.value = line, value


class _BreakError(Exception):
    pass


class _ContinueError(Exception):
    pass


class Evaluation:
    """One evaluation of a text, with the functions that its program adds."""

    def __init__(self, natives: Mapping[str, Native]) -> None:
        self._natives = natives
        self._steps = self._frames = 0
        self._iterated: list[int] = []
        """The ids of lists and dicts that loops go through."""

    def run(self, tree: ast.Module) -> None:
        """Evaluate a text. Raise FaultError at its first fault, UnmodelledError where it can't be told."""
        self._run(tree.body, _Frame(_bound(tree.body)))

    def _charge(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise UnmodelledError

    # -- statements

    def _run(self, body: Iterable[ast.stmt], frame: _Frame) -> None:
        for node in body:
            self._charge()
            run = self._STATEMENTS.get(type(node))
            if run is None:
                raise UnmodelledError
            run(self, node, frame)

    def _run_expression(self, node: ast.Expr, frame: _Frame) -> None:
        self._value(node.value, frame)

    def _run_assignment(self, node: ast.Assign, frame: _Frame) -> None:
        self._assign(node.targets[0], self._value(node.value, frame), frame)

    def _run_typed_assignment(self, node: ast.AnnAssign, frame: _Frame) -> None:
        assert node.value is not None  # Starlark has no name with a type alone.
        value = self._value(node.value, frame)
        _check_kind(node.lineno, node.annotation, value)
        self._assign(node.target, value, frame)

    def _run_if(self, node: ast.If, frame: _Frame) -> None:
        self._run(node.body if self._is_true(node.test, frame) else node.orelse, frame)

    def _define(self, node: ast.FunctionDef, frame: _Frame) -> None:
        parameters = self._parameters(node.args, frame)
        function = Function(node.name, parameters, node.body, frame, node.returns)
        frame.values[node.name] = function

    def _return(self, node: ast.Return, frame: _Frame) -> None:
        result = self._value(node.value, frame) if node.value else None
        raise _ReturnError(node.lineno, result)

    def _break(self, _: ast.Break, __: _Frame) -> None:
        raise _BreakError

    def _continue(self, _: ast.Continue, __: _Frame) -> None:
        raise _ContinueError

    def _pass(self, _: ast.Pass, __: _Frame) -> None:
        pass

    def _loop(self, node: ast.For, frame: _Frame) -> None:
        for each in self._elements(node.iter, frame):
            self._assign(node.target, each, frame)
            try:
                self._run(node.body, frame)
            except _BreakError:
                return
            except _ContinueError:
                pass

    def _elements(self, node: ast.expr, frame: _Frame) -> Iterator[Value]:
        value = self._value(node, frame)
        if kind_of(value) not in ("list", "tuple", "dict", "range"):
            raise FaultError(node.lineno, f"goes through a {kind_of(value)}, which has no elements")
        self._iterated.append(id(value))
        try:
            for each in value:
                self._charge()
                yield each
        finally:
            self._iterated.pop()

    def _assign(self, target: ast.expr, value: Value, frame: _Frame) -> None:
        match target:
            case ast.Name():
                frame.values[target.id] = value
            case ast.Tuple() | ast.List():
                if kind_of(value) in ("dict", "range"):
                    raise UnmodelledError
                if kind_of(value) not in ("list", "tuple"):
                    raise FaultError(target.lineno, f"assigns a {kind_of(value)} to several names")
                if len(value) != len(target.elts):
                    counts = f"{len(value)} values to {len(target.elts)} names"
                    raise FaultError(target.lineno, f"assigns {counts}")
                for each, element in zip(target.elts, value, strict=True):
                    self._assign(each, element, frame)
            case ast.Subscript():
                owner = self._value(target.value, frame)
                self._set_item(target.lineno, owner, self._value(target.slice, frame), value)
            case _:
                raise UnmodelledError

    def _set_item(self, line: int, owner: Value, key: Value, value: Value) -> None:
        if kind_of(owner) not in ("list", "dict"):
            raise FaultError(line, f"changes a {kind_of(owner)}, which can't be changed")
        if id(owner) in self._iterated:
            raise UnmodelledError
        if isinstance(owner, dict):
            owner[_key(line, key)] = value
        else:
            self._item(line, owner, key)
            owner[key] = value

    def _augment(self, node: ast.AugAssign, frame: _Frame) -> None:
        target = node.target
        if not isinstance(target, ast.Name):
            raise UnmodelledError
        before = self._name(ast.Name(target.id, ast.Load(), lineno=target.lineno), frame)
        added = self._value(node.value, frame)
        if isinstance(before, list) and isinstance(node.op, ast.Add):
            self._method(node.lineno, before, "extend", [added])
        else:
            frame.values[target.id] = self._binary(node.lineno, node.op, before, added)

    # -- expressions

    def _value(self, node: ast.expr, frame: _Frame) -> Value:
        self._charge()
        value = self._EXPRESSIONS.get(type(node))
        if value is None:
            raise UnmodelledError
        return value(self, node, frame)

    def _constant(self, node: ast.Constant, _: _Frame) -> Value:
        if type(node.value) not in _KINDS:
            raise UnmodelledError
        return node.value

    def _list(self, node: ast.List, frame: _Frame) -> list[Value]:
        return [self._value(each, frame) for each in node.elts]

    def _tuple(self, node: ast.Tuple, frame: _Frame) -> tuple[Value, ...]:
        return tuple(self._value(each, frame) for each in node.elts)

    def _operation(self, node: ast.BinOp, frame: _Frame) -> Value:
        left, right = self._value(node.left, frame), self._value(node.right, frame)
        return self._binary(node.lineno, node.op, left, right)

    def _choice(self, node: ast.IfExp, frame: _Frame) -> Value:
        is_true = self._is_true(node.test, frame)
        return self._value(node.body if is_true else node.orelse, frame)

    def _attribute(self, node: ast.Attribute, frame: _Frame) -> _Method:
        owner = self._value(node.value, frame)
        if node.attr not in _METHODS.get(kind_of(owner), ()):
            reason = f"asks a {kind_of(owner)} for `{node.attr}`, which it has not"
            raise FaultError(node.lineno, reason)
        return _Method(owner, node.attr)

    def _comprehension(self, node: ast.ListComp, frame: _Frame) -> list[Value]:
        return [self._value(node.elt, inner) for inner in self._rounds(node, frame)]

    def _text(self, node: ast.JoinedStr, frame: _Frame) -> str:
        return "".join(self._part_of_text(each, frame) for each in node.values)

    def _lambda(self, node: ast.Lambda, frame: _Frame) -> Function:
        return Function("lambda", self._parameters(node.args, frame), node.body, frame)

    def _part_of_text(self, node: ast.expr, frame: _Frame) -> str:
        """Return a part of an f-string."""
        if isinstance(node, ast.FormattedValue):
            value = self._value(node.value, frame)
            if node.conversion != -1 or kind_of(value) not in ("string", "int"):
                raise UnmodelledError
        else:
            value = self._value(node, frame)
        text = str(value)
        self._charge(len(text))
        return text

    def _is_true(self, node: ast.expr, frame: _Frame) -> bool:
        return bool(self._value(node, frame))

    def _name(self, node: ast.Name, frame: _Frame) -> Value:
        owner = frame.owner(node.id)
        if owner is not None:
            if node.id not in owner.values:
                raise FaultError(node.lineno, f"uses `{node.id}` before it has a value")
            return owner.values[node.id]
        return self._natives.get(node.id) or _BuiltIn(node.id)

    def _dict(self, node: ast.Dict, frame: _Frame) -> dict[Value, Value]:
        values = dict[Value, Value]()
        for name, each in zip(node.keys, node.values, strict=True):
            assert name is not None  # There is no `**` in Starlark.
            key = _key(name.lineno, self._value(name, frame))
            if key in values:
                raise FaultError(name.lineno, f"has the key {_shown(key)} of a dict twice")
            values[key] = self._value(each, frame)
        return values

    def _binary(self, line: int, kind: ast.AST, left: Value, right: Value) -> Value:
        symbol, function = _BINARY.get(type(kind), ("", operator.add))
        kinds = kind_of(left), kind_of(right)
        if not symbol or (symbol == "%" and kinds[0] == "string"):
            raise UnmodelledError
        if kinds not in _OPERANDS[symbol]:
            raise FaultError(line, f"applies `{symbol}` to {kinds[0]} and {kinds[1]}")
        if symbol in ("/", "//", "%") and not right:
            raise FaultError(line, "divides by zero")
        is_compared = symbol in ("<", "<=", ">", ">=") and kinds[0] in ("list", "tuple")
        if "float" in kinds or symbol == "/" or is_compared:
            raise UnmodelledError
        if symbol in ("<<", ">>") and not 0 <= right < _MOST_BITS:
            raise UnmodelledError
        if kinds in _REPEATED and symbol == "*":
            number, sequence = sorted((left, right), key=lambda each: not isinstance(each, int))
            self._charge(max(0, number) * len(sequence))
        elif kinds in _ALIKE and symbol == "+":
            self._charge(len(left) + len(right))
        result = function(left, right)
        if type(result) is int and result.bit_length() > _MOST_BITS:
            raise UnmodelledError
        return result

    def _compare(self, node: ast.Compare, frame: _Frame) -> Value:
        left, right = self._value(node.left, frame), self._value(node.comparators[0], frame)
        match node.ops[0]:
            case ast.Eq():
                return self._equal(left, right)
            case ast.NotEq():
                return not self._equal(left, right)
            case ast.In():
                return self._contains(node.lineno, left, right)
            case ast.NotIn():
                return not self._contains(node.lineno, left, right)
            case other:
                return self._binary(node.lineno, other, left, right)

    def _equal(self, left: Value, right: Value) -> bool:
        self._charge()
        kinds = kind_of(left), kind_of(right)
        if kinds in _NUMBERS:
            return bool(left == right)
        if kinds[0] != kinds[1]:
            return False
        if kinds[0] in ("list", "tuple"):
            return len(left) == len(right) and all(map(self._equal, left, right))
        if kinds[0] in ("string", "bool", "NoneType"):
            return bool(left == right)
        raise UnmodelledError

    def _contains(self, line: int, value: Value, owner: Value) -> bool:
        kind = kind_of(owner)
        if kind in ("list", "tuple"):
            self._charge(len(owner))
            return any(self._equal(value, each) for each in owner)
        if kind in ("dict", "range"):
            return _key(line, value) in owner
        if kind == "string" and isinstance(value, str):
            self._charge(len(owner))
            return value in owner
        raise FaultError(line, f"applies `in` to {kind_of(value)} and {kind}")

    def _boolean(self, node: ast.BoolOp, frame: _Frame) -> Value:
        value = None
        for each in node.values:
            value = self._value(each, frame)
            if bool(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _unary(self, node: ast.UnaryOp, frame: _Frame) -> Value:
        value = self._value(node.operand, frame)
        kind = kind_of(value)
        symbol = {ast.UAdd: "+", ast.USub: "-", ast.Invert: "~"}.get(type(node.op), "not")
        if symbol == "not":
            return not value
        if kind == "float" and symbol != "~":
            raise UnmodelledError
        if kind != "int":
            raise FaultError(node.lineno, f"applies `{symbol}` to a {kind}")
        return {"+": value, "-": -value, "~": ~value}[symbol]

    def _subscript(self, node: ast.Subscript, frame: _Frame) -> Value:
        owner = self._value(node.value, frame)
        if isinstance(node.slice, ast.Slice):
            raise UnmodelledError
        return self._item(node.lineno, owner, self._value(node.slice, frame))

    @staticmethod
    def _item(line: int, owner: Value, key: Value) -> Value:
        kind = kind_of(owner)
        if isinstance(owner, dict):
            if _key(line, key) not in owner:
                raise FaultError(line, f"asks a dict for the key {_shown(key)}, which it has not")
            return owner[key]
        if kind not in ("string", "list", "tuple", "range") or kind_of(key) != "int":
            raise FaultError(line, f"applies `[]` to {kind} and {kind_of(key)}")
        if not -len(owner) <= key < len(owner):
            raise FaultError(line, f"asks for the element {key} of {len(owner)}")
        return owner[key]

    def _rounds(self, node: ast.ListComp, frame: _Frame) -> Iterator[_Frame]:
        """Yield the frame of a comprehension for each of its elements."""
        inner = _Frame(_targets(node.generators), frame)

        def rounds(depth: int) -> Iterator[_Frame]:
            if depth == len(node.generators):
                yield inner
                return
            part = node.generators[depth]
            for each in self._elements(part.iter, inner if depth else frame):
                self._assign(part.target, each, inner)
                if all(self._is_true(test, inner) for test in part.ifs):
                    yield from rounds(depth + 1)

        return rounds(0)

    # -- calls

    def _parameters(self, node: ast.arguments, frame: _Frame) -> Parameters:
        listed = []
        required = len(node.args) - len(node.defaults)
        defaults: list[ast.expr | None] = [*[None] * required, *node.defaults, *node.kw_defaults]
        for index, each in enumerate((*node.args, *node.kwonlyargs)):
            default = defaults[index]
            parameter = Parameter(
                each.arg,
                kind=_kind_of_annotation(each.annotation),
                is_required=default is None,
                is_named_only=index >= len(node.args),
                default=self._value(default, frame) if default is not None else None,
            )
            listed.append(parameter)
        rest, named_rest = (each.arg if each else "" for each in (node.vararg, node.kwarg))
        return Parameters(tuple(listed), rest, named_rest)

    def _call(self, node: ast.Call, frame: _Frame) -> Value:
        function = self._value(node.func, frame)
        if any(isinstance(each, ast.Starred) for each in node.args):
            raise UnmodelledError
        arguments = [self._value(each, frame) for each in node.args]
        named, line = self._named_arguments(node, frame), node.lineno
        match function:
            case Function():
                values = function.parameters.bind(line, function.name, arguments, named)
                return self._call_function(line, function, values)
            case Native():
                values = function.parameters.bind(line, function.name, arguments, named)
                return function.call(line, values)
            case _Method() if not named:
                return self._method(line, function.owner, function.name, arguments)
            case _BuiltIn() if not named:
                return self._built_in(line, function.name, arguments)
            case _Method() | _BuiltIn():
                raise UnmodelledError
            case _:
                raise FaultError(line, f"calls a {kind_of(function)}, which is not a function")

    def _named_arguments(self, node: ast.Call, frame: _Frame) -> dict[str, Value]:
        named = dict[str, Value]()
        for each in node.keywords:
            value = self._value(each.value, frame)
            if each.arg is not None:
                named[each.arg] = value
                continue
            names = value if isinstance(value, dict) else {}
            self._charge(len(names) + len(named))
            if not names or {*names} & {*named} or not all(isinstance(name, str) for name in names):
                raise UnmodelledError
            named.update(names)
        return named

    def _call_function(self, line: int, function: Function, values: dict[str, Value]) -> Value:
        if self._frames > _MOST_FRAMES:
            raise FaultError(line, f"calls {function.name} within itself too often")
        body = function.body
        inner = _Frame({*values, *(() if isinstance(body, ast.expr) else _bound(body))})
        inner.outer, inner.values = function.frame, values
        self._frames += 1
        try:
            if isinstance(body, ast.expr):
                return self._value(body, inner)
            self._run(body, inner)
        except _ReturnError as end:
            _check_kind(end.line, function.returns, end.value)
            return end.value
        finally:
            self._frames -= 1
        return None

    def _method(self, line: int, owner: Value, name: str, arguments: Sequence[Value]) -> Value:
        kinds = [kind_of(each) for each in arguments]
        if isinstance(owner, list):
            if id(owner) in self._iterated:
                raise UnmodelledError
            if (name, kinds) == ("extend", ["list"]):
                self._charge(len(arguments[0]))
                owner.extend(arguments[0][:])
                return None
            if name == "append" and len(kinds) == 1:
                owner.append(arguments[0])
                return None
        if isinstance(owner, str):
            self._charge(len(owner))
            if name == "join" and kinds == ["list"]:
                return self._join(line, owner, arguments[0])
            if {*kinds} <= {"string"} and (name, len(kinds)) in _METHODS_OF_TEXTS:
                if name == "split" and arguments == [""]:
                    raise UnmodelledError
                return getattr(owner, name)(*arguments)
        raise UnmodelledError

    def _join(self, line: int, between: str, parts: Sequence[Value]) -> str:
        for each in parts:
            if not isinstance(each, str):
                raise FaultError(line, f"joins a {kind_of(each)} to a string")
        self._charge(sum(len(each) + len(between) for each in parts))
        return between.join(parts)

    def _built_in(self, line: int, name: str, arguments: Sequence[Value]) -> Value:
        kinds = [kind_of(each) for each in arguments]
        if name == "fail":
            texts = (each for each in arguments if isinstance(each, str))
            raise FaultError(line, f"calls fail: {' '.join(texts)[:_MOST_SHOWN]}")
        if name == "len" and len(kinds) == 1:
            if kinds[0] not in ("string", "list", "tuple", "dict", "range"):
                raise FaultError(line, f"asks a {kinds[0]} for its length")
            return len(arguments[0])
        if name == "range" and {*kinds} == {"int"} and len(kinds) < 3:
            return range(*arguments)
        if name == "str" and kinds in (["string"], ["int"]):
            return str(arguments[0])
        if name in ("list", "tuple") and kinds in (["list"], ["tuple"]):
            self._charge(len(arguments[0]))
            return {"list": list, "tuple": tuple}[name](arguments[0])
        raise UnmodelledError

    _STATEMENTS: ClassVar[Mapping[type, Callable[[Evaluation, Any, _Frame], None]]] = {
        ast.Expr: _run_expression,
        ast.Assign: _run_assignment,
        ast.AnnAssign: _run_typed_assignment,
        ast.AugAssign: _augment,
        ast.If: _run_if,
        ast.For: _loop,
        ast.FunctionDef: _define,
        ast.Return: _return,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Pass: _pass,
    }
    _EXPRESSIONS: ClassVar[Mapping[type, Callable[[Evaluation, Any, _Frame], Value]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.List: _list,
        ast.Tuple: _tuple,
        ast.Dict: _dict,
        ast.BinOp: _operation,
        ast.Compare: _compare,
        ast.BoolOp: _boolean,
        ast.UnaryOp: _unary,
        ast.IfExp: _choice,
        ast.Call: _call,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.ListComp: _comprehension,
        ast.JoinedStr: _text,
        ast.Lambda: _lambda,
    }


_METHODS_OF_TEXTS = frozenset(
    [
        ("split", 0),
        ("split", 1),
        ("strip", 0),
        ("lower", 0),
        ("upper", 0),
        ("startswith", 1),
        ("endswith", 1),
        ("removeprefix", 1),
        ("removesuffix", 1),
    ]
)
"""Methods of strings that are those of Python, with their number of arguments."""


def _kind_of_annotation(node: ast.expr | None) -> str:
    """Return the type that an annotation demands, as far as it is a plain name; "" for any."""
    names = {"int": "int", "str": "string", "bool": "bool", "list": "list", "dict": "dict"}
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def _check_kind(line: int, annotation: ast.expr | None, value: Value) -> None:
    """Raise FaultError if a value is not of the type of its annotation, as far as that is a plain name."""
    kind = _kind_of_annotation(annotation)
    if kind and kind_of(value) != kind:
        raise FaultError(line, f"has a {kind_of(value)} where its annotation says {kind}")
