"""The version of Codex that is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from axe_lsp.agentfile.other_programs import CODEX
from axe_lsp.daemon.installed_program import installed_version

SAYS = '#!/bin/sh\n[ -n "$CODEX_HOME" ] && touch "$CODEX_HOME/used" && echo codex-cli 0.180.2\n'
STAYS_AWAY = "#!/bin/sh\ntouch {}/started\n"

posix = pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of a shell")


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@posix
def test_version_is_that_of_the_package_above_the_linked_program(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "@openai" / "codex"
    real = program(package / "vendor" / "bin" / "codex", STAYS_AWAY.format(tmp_path))
    (package / "package.json").write_text(
        json.dumps({"name": "@openai/codex", "version": "0.172.3-linux-x64"})
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(real)
    assert installed_version(CODEX, {"PATH": str(tmp_path / "bin")}) == "0.172.3"
    assert not (tmp_path / "started").exists()


@posix
@pytest.mark.process
def test_program_without_a_package_says_its_version_with_a_home_of_its_own(tmp_path: Path) -> None:
    program(tmp_path / "bin" / "codex", SAYS)
    home = tmp_path / "home"
    environment = {"PATH": str(tmp_path / "bin"), "CODEX_HOME": str(home)}
    assert installed_version(CODEX, environment) == "0.180.2"
    assert not home.exists()


def test_there_is_no_version_without_a_program(tmp_path: Path) -> None:
    assert installed_version(CODEX, {"PATH": str(tmp_path)}) == ""
