"""Rules of Codex, which are Starlark. Verdicts of Codex itself are in `tests/recorded/codex`."""

from __future__ import annotations

import warnings

import pytest

from axe_lsp.daemon.codex_files import rules_fault


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
