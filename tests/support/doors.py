"""Programs of others that drive us over ACP and MCP, as `.ci/install-doors` installs them."""

from __future__ import annotations

from pathlib import Path

from support.editors import CACHE, missing

_PACKAGES = CACHE / "doors" / "node_modules"

NODE = _PACKAGES / ".bin" / "node"


def program(name: str, path: str) -> list[str]:
    """Return the command of a program in JavaScript, which is at a path among the packages."""
    file = _PACKAGES / path
    if not file.exists() or not NODE.exists():
        missing(name, ".ci/install-doors")
    return [str(NODE), str(file)]


def acpx() -> list[str]:
    """Return the client of ACP for the command line."""
    return program("acpx", "acpx/dist/cli.js")


def conformance(package: Path | str) -> list[str]:
    """Return the official conformance suite of MCP: `conformance`, or the later `conformance-next`."""
    return program("conformance suite of MCP", f"{package}/dist/index.js")
