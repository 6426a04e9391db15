"""Imports modules of a package without all else that the package's `__init__` imports.

`import httpcore2` takes a sixth of the processor time from the start of `axe-lsp run` to its first request, and
more than half of that is for what no request needs: its synchronous twin, proxies, the metadata of packages.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any


def import_parts(parts: Iterable[str]) -> None:
    """Import modules, named as `package._folder.module`. Afterwards their packages have what they define.

    The rest of a package is imported when another name of it is used, so that there is no visible
    difference. A package that is imported already stays as it is, and one that lacks a part is left to
    be imported as usual.
    """
    with suppress(ImportError):
        for part in parts:
            folders = part.split(".")[:-1]
            packages = [_deferred(".".join(folders[: end + 1])) for end in range(len(folders))]
            names = vars(import_module(part))
            for package in packages:
                for name, value in names.items():
                    if getattr(value, "__module__", "").startswith(folders[0]):
                        vars(package).setdefault(name, value)


def _deferred(name: str) -> ModuleType:
    """A package whose `__init__` runs when it is asked for a name that it has not."""
    if name in sys.modules:
        return sys.modules[name]
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        raise ImportError(name)
    package, loader, lock = module_from_spec(spec), spec.loader, RLock()

    def run(wanted: str) -> Any:
        with lock:
            if vars(package).pop("__getattr__", None) is not None:
                loader.exec_module(package)
        try:
            return vars(package)[wanted]
        except KeyError:
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}") from None

    vars(package)["__getattr__"] = run
    sys.modules[name] = package
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], own, package)
    return package
