"""A package of the language server in another version, which pip installs without a network.

It is the server of the environment that the tests run in, and says that it is that version.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from support.editors import server_program

_START = """\
import os

SAYS = "import axe_lsp; axe_lsp.__version__ = {version!r}; from axe_lsp.cli.main import main; main()"


def main():
    import sys
    os.execv({python!r}, [{python!r}, "-c", SAYS, *sys.argv[1:]])
"""

_PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "axe-lsp"
version = "{version}"
"""

_BACKEND = """\
import shutil


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    shutil.copy({wheel!r}, wheel_directory)
    return {name!r}
"""


def write_wheel(folder: Path, version: str) -> Path:
    """Return a wheel with a program `axe-lsp` and nothing that it needs."""
    about = f"axe_lsp-{version}.dist-info"
    python = str(server_program().with_name("python"))
    files = {
        "other_server.py": _START.format(version=version, python=python),
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: axe-lsp\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": "[console_scripts]\naxe-lsp = other_server:main\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{about}/RECORD"])
    wheel = folder / f"axe_lsp-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as package:
        for name, text in {**files, f"{about}/RECORD": record}.items():
            package.writestr(name, text)
    return wheel


def write_clone(folder: Path, version: str) -> Path:
    """Return a folder that pip can build and install."""
    folder.mkdir()
    wheel = write_wheel(folder, version)
    backend = _BACKEND.format(wheel=str(wheel), name=wheel.name)
    (folder / "pyproject.toml").write_text(_PROJECT.format(version=version), encoding="utf-8")
    (folder / "backend.py").write_text(backend, encoding="utf-8")
    return folder
