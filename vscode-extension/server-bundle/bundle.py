"""Puts the language server into the extension, in the folder `bundled`, before the extension is packaged.

    python3 server-bundle/bundle.py               the server's wheel, for the universal extension
    python3 server-bundle/bundle.py linux-x64     all that it needs, for one platform

For a platform the packages are unpacked, because they run without a step of installation so: `any` holds what
is the same for all versions of Python, `cp311` and its like the rest. uv finds packages for platforms other
than this one; where it is not installed it comes from PyPI, into an environment that is thrown away.
"""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

EXTENSION = Path(__file__).parents[1]
BUNDLED = EXTENSION / "bundled"
STARTER = Path(__file__).with_name("axe-lsp.py")

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

PLATFORMS = {
    "linux-x64": "x86_64-manylinux_2_28",
    "linux-arm64": "aarch64-manylinux_2_28",
    "alpine-x64": "x86_64-unknown-linux-musl",
    "alpine-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "win32-x64": "x86_64-pc-windows-msvc",
    "win32-arm64": "aarch64-pc-windows-msvc",
}
"""What VS Code calls a platform, and what uv does."""


def main(arguments: list[str]) -> None:
    """Bundle for the platform that is given, or for none."""
    target = arguments[0] if arguments else None
    if target is not None and target not in PLATFORMS:
        sys.exit(f"unknown platform {target!r}; these are known: {', '.join(PLATFORMS)}")
    shutil.rmtree(BUNDLED, ignore_errors=True)
    BUNDLED.mkdir()
    with tempfile.TemporaryDirectory() as scratch:
        uv = _uv(Path(scratch))
        wheel = _wheel(uv, Path(scratch))
        if target is None:
            _store(wheel, BUNDLED / wheel.name)
        else:
            _unpack(uv, wheel, PLATFORMS[target])


def _uv(scratch: Path) -> str:
    installed = shutil.which("uv")
    if installed:
        return installed
    environment = scratch / "uv"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
    _run(programs / "python", "-m", "pip", "install", "-q", "uv")
    return str(programs / "uv")


def _wheel(uv: str, scratch: Path) -> Path:
    _run(uv, "build", "--quiet", "--wheel", "--out-dir", scratch, EXTENSION.parent)
    return next(scratch.glob("*.whl"))


def _store(wheel: Path, target: Path) -> None:
    """Copy a wheel without compression: the extension's package compresses it as one file, by a fifth better."""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as stored:
        for entry in source.infolist():
            stored.writestr(entry, source.read(entry), compress_type=zipfile.ZIP_STORED)


def _unpack(uv: str, wheel: Path, platform: str) -> None:
    folders = [BUNDLED / f"cp{version.replace('.', '')}" for version in PYTHONS]
    for folder, version in zip(folders, PYTHONS, strict=True):
        where = ["--target", folder, "--python-platform", platform, "--python-version", version]
        only_wheels = ["--only-binary", ":all:", "--python", sys.executable]
        server = f"axe-lsp[mcp] @ {wheel.as_uri()}"
        _run(uv, "pip", "install", "--quiet", *only_wheels, *where, server)
        shutil.rmtree(
            folder / "bin", ignore_errors=True
        )  # Programs that would start another Python.
        (folder / ".lock").unlink(missing_ok=True)
    _share(folders)
    shutil.copy(STARTER, BUNDLED)


def _share(folders: list[Path]) -> None:
    """Move what is the same in all folders to `any`: whole packages, because Python looks for one in one place."""
    common = BUNDLED / "any"
    common.mkdir()
    first, *others = folders
    for entry in sorted(first.iterdir()):
        copies = [other / entry.name for other in others]
        if all(_is_same(entry, copy) for copy in copies):
            for copy in copies:
                _remove(copy)
            entry.rename(common / entry.name)


def _is_same(one: Path, other: Path) -> bool:
    if one.is_dir() and other.is_dir():
        names = sorted(path.relative_to(one) for path in _files(one))
        if names != sorted(path.relative_to(other) for path in _files(other)):
            return False
        return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _files(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _remove(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _run(*command: str | Path) -> None:
    subprocess.run(list(map(str, command)), check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
