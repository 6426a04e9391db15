"""Rules of Codex, which are Starlark. Verdicts of Codex itself are in `tests/recorded/codex`."""

from __future__ import annotations

import warnings

import pytest

from axe_lsp.daemon.codex_rules import rules_fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", ""),
        ('def f(x):\n    prefix_rule(pattern=[x])\n\nf("ls")\n', ""),
        ('prefix_rule(["ls"], "allow")\n', ""),
        ('prefix_rule(**{"pattern": ["ls"]})\n', ""),
        ('x = f"a"; y = lambda a: "\\d"\n', ""),
        ('prefix_rule(pattern=["ls"], decision="deny")\n', "the decision in line 1 is none of"),
        ("\nprefix_rule()\n", "`pattern` is missing in line 2"),
        ("x = 1\nimport os\n", "line 2 is not valid Starlark: it has no `import`"),
        ("x = (1 is 2)\n", "line 1 is not valid Starlark: it has no `is`"),
        ("x = [\n", "line 1 is not valid Starlark: "),
        ("\ufeffx = 1\n", "line 1 is not valid Starlark: "),
    ],
)
def test_fault_of_rules_names_the_line(text: str, fault: str) -> None:
    assert rules_fault(text).startswith(fault)
    assert bool(rules_fault(text)) == bool(fault)


@pytest.mark.parametrize(
    "part", ["-", "not ", "(", "x[0]", "1+", "lambda:", "\0", '"\\d" or ', "f"]
)
def test_rules_of_a_stranger_are_parsed_without_error_and_warning(part: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rules_fault(part * (2**16 // len(part)))


ACCEPTED = (
    "if True:\n    x = 1\n",
    'for a in [1]:\n    prefix_rule(pattern=["ls"])\n',
    'x = f"a"\n',
    'y = 1\nx = f"{y}"\n',
    'x = f"{len([1])}"\n',
    'y = 1\nx = f"{y!r}"\n',
    "x = lambda a: a\n",
    "x: int = 1\n",
    "def f(a: str) -> int:\n    return 1\n",
    'x = b"a"\n',
    'x = r"\\d"\n',
    'x = "\\d"\n',
    "x = 0o17\n",
    "x = 1; y = 2\n",
    "x = ...\n",
    "x = 1 != 2\n",
    "def f(a, *, b):\n    pass\n",
    "x = {a: 1 for a in [1]}\n",
    "x = [1,2][::2]\n",
    "x = 1\nx = 2\n",
    "x = 1\nx += 1\n",
    "x = [1]\nx[0] += 1\n",
    '"""doc"""\n',
    "x = 0xFF\n",
    "x = 1e3\n",
    "match = 1\ntype = 2\n",
    "is_ = 1\n",
    'x = "ü"\n',
    "x = 1\r\ny = 2\r\n",
    "x = 1 + \\\n 2\n",
    "x = 1",
    "def f():\n    'doc'\n",
    'network_rule(host="a", protocol="https", decision="allow")\n',
    "x = True and not False or None\n",
    "x = 1 if True else 2\n",
    "x = 1 << 2 >> 1 & 3 | 4 ^ 5\n",
    "x = '''a\nb'''\n",
    "x = 1 not in [1]\n",
    "x = ~1 + -1 + +1\n",
    'prefix_rule(pattern=["ls"],)\n',
    'prefix_rule(*[["ls"]])\n',
    "def f(*a, **k):\n    pass\n",
    "x = 1if True else 2\n",
    "# x\n",
    "def f():\n    def g():\n        pass\n    return g\n",
)
"""Rules with which Codex 0.171 has started."""

REFUSED = (
    ("def f():\n    while True:\n        pass\n", 2),
    ('y = 1\nx = f"{y:>3}"\n', 2),
    ("x: int\n", 1),
    ("a, *b = [1, 2]\n", 1),
    ("x = 1 < 2 < 3\n", 1),
    ("a = b = 1\n", 1),
    ("x = 2 ** 3\n", 1),
    ("x = [] @ []\n", 1),
    ("x = 1j\n", 1),
    ('x = "a" "b"\n', 1),
    ('x = u"a"\n', 1),
    ("x = 1_000\n", 1),
    ("def f():\n\treturn 1\n", 2),
    ("def d(f):\n    return f\n@d\ndef g():\n    pass\n", 3),
    ("async def f():\n    pass\n", 1),
    ("def f(a, /, b):\n    pass\n", 1),
    ("x = [*[1]]\n", 1),
    ("x = {**{}}\n", 1),
    ("x = {1}\n", 1),
    ("x = list(a for a in [1])\n", 1),
    ("match 1:\n    case 1:\n        pass\n", 1),
    ("x = (y := 1)\n", 1),
    ("def f():\n    global x\n", 2),
    ("return 1\n", 1),
    ("break\n", 1),
    ('load("x.bzl", "y")\n', 1),
    ("  x = 1\n", 1),
    ("x = 01\n", 1),
    ("as = 1\n", 1),
    ("type X = int\n", 1),
    ("def f():\n    try:\n        pass\n    except E:\n        pass\n", 2),
    ('prefix_rule(pattern=["a"], pattern=["b"])\n', 1),
    ("def f(a, b):\n    pass\nf(a=1, 2)\n", 3),
    ("def f(a, a):\n    pass\n", 1),
    ("prefix_rule(pattern=[])\n", 1),
    ('prefix_rule(pattern="ls")\n', 1),
    ("prefix_rule(pattern=[1])\n", 1),
    ("x = [1]\ndel x[0]\n", 2),
    ("def f(**k, a):\n    pass\n", 1),
    ("def f():\n    yield 1\n", 2),
    ("await x\n", 1),
    ("print 1\n", 1),
    ("\ufeffx = 1\n", 1),
    ("ü = 1\n", 1),
)
"""Rules with which Codex 0.171 has not started, and the line that it has named (of the tab, one before)."""


@pytest.mark.parametrize("text", ACCEPTED)
def test_rules_that_codex_accepts_have_no_fault(text: str) -> None:
    assert rules_fault(text) == ""


@pytest.mark.parametrize(("text", "line"), REFUSED)
def test_rules_that_codex_refuses_have_a_fault_in_that_line(text: str, line: int) -> None:
    assert f"line {line} " in f"{rules_fault(text)} "
