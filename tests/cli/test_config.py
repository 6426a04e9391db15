"""`axe-lsp config`."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
import tomli

from axe_lsp.cli.main import main
from support.command_line import COMMAND, Home


def test_path_of_the_configuration_is_printed(
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


@pytest.mark.parametrize("asks", [["config", "key"], ["acp", "--agent", "config", "config", "key"]])
def test_a_key_is_stored_where_only_its_user_can_read_it(home: Home, asks: list[str]) -> None:
    """Clients of ACP add the words to their own command."""
    secret = "sk-ant-the-first-key-0123456789"
    code, out, err = home.call(*asks, stdin=f"anthropic\n{secret}\n")
    assert (code, secret in out + err) == (0, False)
    assert home.call("config", "key", "anthropic", stdin="the-second-key\n")[0] == 0
    path = home.config / "config.toml"
    assert tomli.loads(path.read_text())["providers"]["anthropic"]["api_key"] == "the-second-key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert home.call("config", "key", "anthropic", stdin="\n")[0] == 1
    assert "the-second-key" in path.read_text()


def test_key_of_an_unknown_provider_is_not_stored(home: Home) -> None:
    code, _, err = home.call("config", "key", "nobody", stdin="k\n")
    assert (code, '"nobody" is not a known provider' in err) == (1, True)
    assert not (home.config / "config.toml").exists()


def test_a_variable_that_overrides_the_stored_key_is_named(home: Home) -> None:
    home.environment["OPENAI_API_KEY"] = "another"
    code, _, err = home.call("config", "key", "openai", stdin="k\n")
    assert (code, err) == (0, "OPENAI_API_KEY in the environment overrides it.\n")


def test_typed_key_is_not_echoed(home: Home) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "config", "key", "openai"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=home.environment,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        shown = b""
        while b"not shown" not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, b"sk-typed\n")
        with suppress(OSError):  # The end of a terminal.
            while piece := os.read(ours, 1024):
                shown += piece
        assert process.wait() == 0
    os.close(ours)
    assert b"sk-typed" not in shown
    assert "sk-typed" in (home.config / "config.toml").read_text()
