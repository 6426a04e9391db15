"""`axe-lsp config`."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import tomli

from axe_lsp.cli.main import main


def test_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/axe\n"


def test_init_creates_what_is_missing_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    config, skill = tmp_path / "axe/config.toml", tmp_path / "axe/skills/sample/SKILL.md"
    assert main(["config", "init"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/axe\n"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert (tmp_path / "axe" / "agents").is_dir()
    assert skill.read_text().startswith("#")
    uncommented = config.read_text().replace("# [", "[").replace('# api_key = ""', 'api_key = "k"')
    assert tomli.loads(uncommented)["providers"]["openai"]["api_key"] == "k"
    config.write_text("# mine")
    skill.unlink()
    assert main(["config", "init"]) == 0
    assert config.read_text() == "# mine"
    assert skill.exists()


def test_without_a_home_there_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("HOME")
    assert main(["config", "path"]) == 1
    assert "HOME" in capsys.readouterr().err


def test_without_a_subcommand_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    out = capsys.readouterr().out
    assert "path" in out
    assert "init" in out


def test_a_folder_that_cannot_be_created_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert main(["config", "init"]) == 1
    assert capsys.readouterr().err == (
        f"failed to create the configuration: {tmp_path}/file/axe/agents: Not a directory\n"
    )
