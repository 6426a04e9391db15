"""Modules of a package, imported without the rest of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import httpcore2
import pytest

from axe_lsp.runtime.providers import http_client
from axe_lsp.runtime.providers.light_import import import_parts

_FILES = {
    "__init__.py": "from .parts.one import One\nfrom .rest import Rest\n",
    "parts/__init__.py": "from .one import One\nfrom .two import Two\n",
    "parts/one.py": "import math\nclass One: ...\n",
    "parts/two.py": "class Two: ...\n",
    "rest.py": "class Rest: ...\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a package that can be imported."""
    for name, text in _FILES.items():
        file = tmp_path / "heavy" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield "heavy"
    for name in _imported():
        del sys.modules[name]


def _imported() -> set[str]:
    return {name for name in sys.modules if name.partition(".")[0] == "heavy"}


def test_nothing_but_the_parts_is_imported(package: str) -> None:
    import_parts([f"{package}.parts.one"])
    heavy = import_module(package)
    assert heavy.One is heavy.parts.One is import_module("heavy.parts.one").One
    assert _imported() == {"heavy", "heavy.parts", "heavy.parts.one"}
    assert "math" not in vars(heavy)


def test_the_rest_is_imported_for_who_asks_for_it(package: str) -> None:
    import_parts([f"{package}.parts.one"])
    heavy = import_module(package)
    one = heavy.One
    from heavy import Rest  # type: ignore[import-not-found] # noqa: PLC0415

    assert heavy.Rest is Rest
    assert heavy.One is one
    assert heavy.parts.Two is import_module("heavy.parts.two").Two
    assert _imported() == {
        "heavy",
        "heavy.parts",
        "heavy.parts.one",
        "heavy.parts.two",
        "heavy.rest",
    }


def test_a_name_that_a_package_lacks_is_an_error_as_usual(package: str) -> None:
    import_parts([f"{package}.parts.one"])
    with pytest.raises(AttributeError, match="module 'heavy' has no attribute 'Nobody'"):
        assert import_module(package).Nobody


@pytest.mark.parametrize("part", ["heavy.moved", "heavy.gone.one", "nowhere.one"])
def test_a_part_that_is_gone_leaves_the_package_as_it_is(package: str, part: str) -> None:
    import_parts([part])
    heavy: ModuleType = import_module(package)
    assert (heavy.One.__name__, heavy.Rest.__name__) == ("One", "Rest")


def test_the_client_has_the_classes_that_everybody_has() -> None:
    assert vars(http_client)["httpcore2"] is httpcore2
    assert httpcore2.AsyncConnectionPool.__module__ == "httpcore2"
    assert httpcore2.AsyncHTTP11Connection in http_client._DirectConnection.__bases__
