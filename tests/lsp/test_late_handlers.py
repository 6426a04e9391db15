"""Handlers that are imported with their first request are there, and take what they are given."""

from __future__ import annotations

import inspect

import pytest

from axe_lsp.lsp.late_handlers import COMMANDS, REQUESTS, imported


@pytest.mark.parametrize("place", [*REQUESTS.values(), *COMMANDS.values()])
def test_each_place_holds_a_function_of_a_session_and_params(place: str) -> None:
    inspect.signature(imported(place)).bind(object(), None)
