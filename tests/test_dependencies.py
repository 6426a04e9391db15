"""What axe-lsp stands on."""

from __future__ import annotations

import ast
import graphlib
import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
import tomli

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "server" / "axe_lsp"

LIBRARIES = {
    "anyio",
    "attrs",
    "cattrs",
    "certifi",
    "httpcore2",
    "httpx2",
    "jsonschema",
    "lsprotocol",
    "msgspec",
    "prompt-toolkit",
    "pygls",
    "referencing",
    "tomli",
    "tomli-w",
}
"""What all users install. One library for HTTP serves every provider."""

EXTRAS = {
    "dask": {"distributed"},
    "mcp": {"mcp", "uvicorn"},
    "otel": {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"},
}
"""What only those install who ask for it."""


@pytest.mark.req("001-C1", "001-DD8")
def test_users_install_these_libraries_and_no_other() -> None:
    project = tomli.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert names(project["dependencies"]) == LIBRARIES
    assert {name: names(extras[name]) for name in EXTRAS} == EXTRAS


@pytest.mark.slow
@pytest.mark.req("001-C1", "001-DD8")
def test_what_is_imported_is_declared_and_the_other_way_round() -> None:
    """Which distribution a module comes from, the installed ones say themselves."""
    providers = distributions()
    own = {"axe_lsp", *sys.stdlib_module_names}
    declared = LIBRARIES.union(*EXTRAS.values())
    used = set[str]()
    for module in set(imported()) - own:
        found = providers[module]
        assert found & declared, f"{module} comes from {found}, which are not declared"
        used |= found
    assert declared - used == set()


def distributions() -> dict[str, set[str]]:
    """Return the distributions that install a top-level module, by its name.

    `importlib.metadata.packages_distributions` finds only some of them on Python 3.10.
    """
    found: dict[str, set[str]] = {}
    for each in importlib.metadata.distributions():
        # `files` would make objects of a hundred thousand lines.
        lines = (each.read_text("RECORD") or "").splitlines()
        paths = {line.partition(",")[0] for line in lines}
        for module in {
            path.partition("/")[0].removesuffix(".py") for path in paths if path.endswith(".py")
        }:
            found.setdefault(module, set()).add(each.name.lower().replace("_", "-"))
    return found


def names(requirements: list[str]) -> set[str]:
    """Return the names of distributions in requirements such as `mcp>=2.3,<3`."""
    return {re.split(r"[^\w-]", each)[0] for each in requirements}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports for type checkers count. Contracts of `.importlinter` hold whole packages to it."""
    graph = grimp.build_graph("axe_lsp", cache_dir=None)
    imports = {each: graph.find_modules_directly_imported_by(each) for each in graph.modules}
    assert len(imports) > 100
    graphlib.TopologicalSorter(imports).prepare()


def imported() -> Iterator[str]:
    """Yield the packages that the modules of axe-lsp import; its example is none of them."""
    for path in PACKAGE.rglob("*.py"):
        if PACKAGE / "demo" in path.parents:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        checked = [each for each in ast.walk(tree) if isinstance(each, ast.If)]
        for_checkers = [
            each for it in checked if ast.unparse(it.test) == "TYPE_CHECKING" for each in it.body
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "typing_extensions":
                assert node in for_checkers  # Type checkers bring it; nobody installs it.
            elif isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]
