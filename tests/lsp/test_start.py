"""A session that never runs an agent doesn't wait for what runs need."""

from __future__ import annotations

import subprocess
import sys

import pytest

_SERVER = "from axe_lsp.daemon.daemon import Daemon; from axe_lsp.lsp.server import AxeServer"
_FOR_RUNS = ("anyio", "httpcore2", "httpx2", "axe_lsp.hosting", "axe_lsp.runtime.runs")
_FOR_MISTAKES_AND_WINDOWS = ("difflib", "urllib.request")


@pytest.mark.process
def test_a_server_is_made_without_what_only_runs_need() -> None:
    code = f"import sys; {_SERVER}; AxeServer(Daemon()); print(*sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(made.stdout.split())
    assert "axe_lsp.lsp.publish_diagnostics" in imported
    assert imported.isdisjoint([*_FOR_RUNS, *_FOR_MISTAKES_AND_WINDOWS])
