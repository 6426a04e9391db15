"""Systems that no test runs on: what can be known of them from here."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from axe_lsp.runtime.tools.commands import clean_environment, run_to_end
from axe_lsp.runtime.tools.tool import Workplace


@pytest.mark.req("001-C6")
async def test_windows_ends_a_command_with_all_that_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`taskkill` is Windows' own; here it is one that takes the same arguments."""
    taskkill = tmp_path / "taskkill"
    taskkill.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nkill -9 "$4"\n')
    taskkill.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(sys, "platform", "win32")
    environment = clean_environment(Workplace(tmp_path, {"SYSTEMROOT": "C:/Windows"}))
    assert environment["SYSTEMROOT"] == "C:/Windows"
    with anyio.fail_after(30):
        ended = await run_to_end(["/bin/sh", "-c", "echo on; exec sleep 1000"], tmp_path, {}, 1)
    assert (ended.output.text(), ended.code) == ("on\n", None)
    assert (tmp_path / "asked").read_text().startswith("/F /T /PID ")
    done = await run_to_end(["/bin/sh", "-c", "echo done; exit 3"], tmp_path, {}, 30)
    assert (done.output.text(), done.code) == ("done\n", 3)
