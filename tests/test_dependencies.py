"""What axe-lsp stands on."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
import tomli

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "server" / "axe_lsp"

MODULES = {
    "anyio": {"anyio"},
    "certifi": {"certifi"},
    "httpx2": {"httpx2", "httpcore2"},
    "jsonschema": {"jsonschema", "referencing"},
    "mcp": {"mcp"},
    "msgspec": {"msgspec"},
    "lsprotocol": {"lsprotocol", "attrs", "cattrs"},
    "pygls": {"pygls"},
    "tomli": {"tomli"},
    "tomli-w": {"tomli_w"},
}
"""Each dependency and what it brings to be imported. One for HTTP serves every provider."""

OPTIONAL = {"opentelemetry"}
"""What only those install who ask for the extra `otel`."""


@pytest.mark.req("001-C1", "001-DD8")
def test_users_install_these_libraries_and_no_other() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]} == set(MODULES)


@pytest.mark.req("001-C1", "001-DD8")
def test_what_is_imported_is_what_users_install() -> None:
    own = {"axe_lsp", *sys.stdlib_module_names}
    assert set(imported()) - own == OPTIONAL.union(*MODULES.values())


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for type checkers count. Contracts of `.importlinter` hold whole packages to it."""
    graph = grimp.build_graph("axe_lsp", cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    assert len(imports) > 100
    graphlib.TopologicalSorter(imports).prepare()


def imported() -> Iterator[str]:
    """The packages that the modules of axe-lsp import; its example is none of them."""
    for path in PACKAGE.rglob("*.py"):
        if PACKAGE / "demo" in path.parents:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]
