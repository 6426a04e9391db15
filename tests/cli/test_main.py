"""The way to the subcommands."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from axe_lsp import __version__
from axe_lsp.cli.main import COMMANDS, main


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"{name:<9}{command.help}" in out


def test_a_misspelt_command_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rnu"]) == 1
    assert capsys.readouterr().err == "axe-lsp: unknown command `rnu`. Did you mean `run`?\n"
    assert main(["xyzzy"]) == 1
    assert "`axe-lsp --help` lists the commands." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"axe-lsp version {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "the following arguments are required: agent"),
        (["run", "a", "b"], "unrecognized arguments: b"),
        (["run", "a", "--timeout"], "--timeout"),
        (["run", "a", "--timeout", "1.5"], "--timeout"),
        (["run", "a", "--verb"], "unrecognized arguments: --verb"),
        (["agents", "show"], "agent"),
        (["agents", "bogus"], "bogus"),
        (["version", "x"], "x"),
    ],
)
def test_arguments_that_make_no_sense_are_told_in_a_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    captured = capsys.readouterr()
    assert caught.value.code == 1
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_exists(command: str) -> None:
    assert find_spec(COMMANDS[command].module) is not None


@pytest.mark.parametrize("module", ["axe_lsp.cli.main", "axe_lsp.cli.run", "axe_lsp.cli.agents"])
@pytest.mark.process
def test_nothing_slow_is_imported_before_it_is_needed(module: str) -> None:
    code = (
        f"import sys, {module}; "
        "print([m for m in ('pygls', 'lsprotocol', 'httpx2', 'httpcore2', 'asyncio', 'concurrent.futures')"
        " if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


@pytest.mark.process
def test_a_command_ends_without_looking_for_garbage() -> None:
    code = "import gc; from axe_lsp.cli.main import main; main(['version']); print(gc.get_freeze_count() > 0)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.endswith("True\n")


@pytest.mark.process
def test_a_run_imports_neither_the_language_server_nor_what_only_other_runs_need() -> None:
    others = (
        "httpx2",
        "h2",
        "httpcore2._sync",
        "email.utils",
        "pygls",
        "lsprotocol",
        "axe_lsp.cli.display",
        "axe_lsp.hosting.supervisor.isolated_runs",
        "axe_lsp.hosting.protocol",
        "axe_lsp.hosting.history.queries",
        "axe_lsp.runtime.mcp.tools",
        "axe_lsp.runtime.preview",
        "axe_lsp.runtime.recordings.file",
        "axe_lsp.runtime.tools.read_file",
    )
    code = (
        "import sys, axe_lsp.cli.live_run, axe_lsp.runtime.providers.http_client; "
        f"print([m for m in {others} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["run", "nobody"], 2),
        (["history", "list", "--before", "yesterday"], 1),
        (["serve", "--nonsense"], 1),
        (["run", "nobody", "--agents-dir", "nowhere"], 2),
    ],
)
@pytest.mark.process
def test_what_cannot_be_complained_of_changes_no_exit_code(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "axe_lsp", *arguments]
        process = subprocess.run(command, stderr=full, env=environment, cwd=tmp_path, check=False)
    assert process.returncode == code


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.process
def test_a_long_text_that_cannot_be_written_is_an_error_in_a_line() -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "axe_lsp", "schema"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 1
    assert process.stderr == "axe-lsp: the output can't be written: No space left on device\n"
