"""Classes whose making was put off are what attrs would have made at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

DESCRIBE = """
import re, attrs
from lsprotocol import types

def describe(cls):
    attrs.resolve_types(cls, types.ALL_TYPES_MAP, {})
    fields = [
        [f.name, f.type, f.default, f.validator, f.eq, f.repr, f.init, f.kw_only, f.on_setattr]
        for f in attrs.fields(cls)
    ]
    dunders = sorted(name for name in vars(cls) if name.startswith("__"))
    slots = {"__slots__", "__weakref__", "__dict__", "__getstate__", "__setstate__",
             "__attrs_props__", "__attrs_own_setattr__"}
    return repr([fields, [name for name in dunders if name not in slots]])

classes = sorted(
    (name, cls) for name, cls in types.ALL_TYPES_MAP.items()
    if isinstance(cls, type) and attrs.has(cls)
)
for name, cls in classes:
    print(name, re.sub(" at 0x[0-9a-f]+", "", describe(cls)))
"""

USE = """
import axe_lsp.lsp
from lsprotocol import types
from axe_lsp.rpc.deferred_types import _pending

assert len(_pending) > 400, len(_pending)
here = types.Position(1, 2)
assert types.Range(here, here) == types.Range(types.Position(1, 2), types.Position(1, 2))
assert repr(types.WorkDoneProgressBegin("x", percentage=3)).startswith("WorkDoneProgressBegin(")
class Subclass(types.Command): pass
assert Subclass("title", "command").command == "command"
try:
    types.Position(-1, 0)
except ValueError:
    pass
else:
    raise AssertionError("validators are missing")
"""


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_every_class_has_the_fields_and_methods_that_attrs_gives_it() -> None:
    deferred = run("import axe_lsp.lsp\n" + DESCRIBE)
    assert len(deferred.splitlines()) > 500
    assert deferred == run(DESCRIBE)


@pytest.mark.process
def test_classes_work_from_their_first_use_on() -> None:
    run(USE)


@pytest.mark.process
def test_converting_a_message_completes_few_classes() -> None:
    run(
        "import axe_lsp.lsp\n"
        "from axe_lsp.rpc.deferred_types import _pending\n"
        "from axe_lsp.rpc.lsp_json import read_params\n"
        "read_params('textDocument/hover', {'textDocument': {'uri': 'u'},"
        " 'position': {'line': 1, 'character': 1}})\n"
        "assert len(_pending) > 530, len(_pending)\n"
    )


@pytest.mark.process
def test_types_that_were_imported_before_stay_as_they_are() -> None:
    run(
        "import lsprotocol.types as types, axe_lsp.lsp\n"
        "from axe_lsp.rpc.deferred_types import _pending\n"
        "assert not _pending\n"
        "assert types.Position(1, 2).line == 1\n"
    )
