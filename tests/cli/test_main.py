"""The way to the subcommands."""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import tomli

from axe_lsp import __version__
from axe_lsp.cli import main as main_module
from axe_lsp.cli.main import COMMANDS, main, module_of
from axe_lsp.cli.version import commit_of
from support.command_line import COMMAND, Home
from support.terminal import Terminal

ROOT = Path(__file__).parents[2]


def test_the_overview_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, what in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(what)}$", out, re.MULTILINE), name


def test_a_misspelt_command_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rnu"]) == 1
    assert capsys.readouterr().err == "axe-lsp: unknown command `rnu`. Did you mean `run`?\n"
    assert main(["xyzzy"]) == 1
    assert "`axe-lsp --help` lists the commands." in capsys.readouterr().err


_INTERRUPTED_AT = """
import atexit, os, signal, sys
from importlib import import_module

class Interrupt:
    def find_spec(self, name, path, target=None):
        if name == place:
            os.kill(os.getpid(), signal.SIGINT)

place, entry, *sys.argv[1:] = sys.argv[1:]
sys.meta_path.insert(0, Interrupt())
if place == "exit":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
module, _, function = entry.partition(":")
sys.exit(getattr(import_module(module), function)())
"""
"""A program that gets Ctrl-C when it imports a module, or when Python exits."""

_ENTRY = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["axe-lsp"]


def interrupted_at(place: str, *arguments: str) -> tuple[int, bytes, bytes]:
    """Return exit code, output and errors of a command that is interrupted at a place."""
    command = [sys.executable, "-c", _INTERRUPTED_AT, place, _ENTRY, *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.process
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_during_the_imports_of_a_command_prints_no_traceback(name: str) -> None:
    for module in ("axe_lsp.cli.streams", "axe_lsp.runtime.errors", module_of(name)):
        assert interrupted_at(module, name) == (130, b"", b""), module


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "code"),
    [
        # The system ends the process until there is a handler; shells report 130.
        ("axe_lsp.cli", -signal.SIGINT),
        ("axe_lsp.cli.main", 130),
        ("axe_lsp.tuning", 130),
        ("axe_lsp.shortages", 130),
    ],
)
def test_ctrl_c_during_the_first_imports_prints_no_traceback(module: str, code: int) -> None:
    assert interrupted_at(module, "version") == (code, b"", b"")


@pytest.mark.process
def test_ignored_ctrl_c_stays_ignored_during_imports() -> None:
    # As in the background of a script.
    command = shlex.join(
        [sys.executable, "-c", _INTERRUPTED_AT, "axe_lsp.tuning", _ENTRY, "--version"]
    )
    done = subprocess.run(
        ["sh", "-c", f"trap '' INT; {command}"], check=False, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.process
def test_ctrl_c_while_an_event_loop_starts_prints_no_warning() -> None:
    code = """
import sys
from axe_lsp.cli import main, version

async def work():
    pass

def begin(_):
    unfinished = work()
    raise KeyboardInterrupt

version.main = begin
sys.exit(main.main(["version"]))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")


@pytest.mark.process
def test_ctrl_c_after_the_command_prints_no_traceback_and_keeps_its_output() -> None:
    code, out, errors = interrupted_at("exit", "version")
    assert (code, errors) == (130, b"")
    assert out.startswith(b"axe-lsp version ")


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert re.fullmatch(rf"axe-lsp version {re.escape(__version__)}(\+g[0-9a-f]{{7}})?\n", said)


def test_a_checkout_and_a_build_of_it_name_the_commit(tmp_path: Path) -> None:
    root = tmp_path / "checkout"
    package = root / "server" / "axe_lsp"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.2.3"\n')
    shutil.copy(ROOT / "build_version.py", root)
    assert built_version(root) == "1.2.3"
    (root / "PKG-INFO").write_text("Name: axe-lsp\nVersion: 1.2.3+g7654321\n")
    assert built_version(root) == "1.2.3+g7654321"
    (root / "PKG-INFO").unlink()
    git = partial(subprocess.run, cwd=root, check=True, capture_output=True, text=True)
    who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
    git(["git", "init", "-q"])
    git(["git", *who, "commit", "-q", "--allow-empty", "-m", "one"])
    commit = git(["git", "rev-parse", "HEAD"]).stdout.strip()
    assert built_version(root) == f"1.2.3+g{commit[:7]}"
    assert commit_of(root / ".git") == commit
    git(["git", "pack-refs", "--all"])
    assert commit_of(root / ".git") == commit
    git(["git", "worktree", "add", "-q", "-b", "side", str(tmp_path / "side")])
    assert commit_of(tmp_path / "side" / ".git") == commit
    git(["git", "clone", "-q", "--depth", "1", root.as_uri(), str(tmp_path / "shallow")])
    assert commit_of(tmp_path / "shallow" / ".git") == commit
    git(["git", "tag", "v1.2.3"])
    assert built_version(root) == "1.2.3"
    assert commit_of(tmp_path / "none" / ".git") == ""


def built_version(root: Path) -> str:
    program = "import build_version; print(build_version.version())"
    command = [sys.executable, "-B", "-c", program]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "the following arguments are required: agent"),
        (["run", "a", "b", "c"], "unrecognized arguments: c; a prompt of several words needs"),
        (["run", "a", "b", "-p", "c"], "unrecognized arguments: b; -p is the task already"),
        (["run", "a", "--verb"], "did you mean `--verbose`?"),
        (["history", "lst"], "did you mean `list`?"),
        (["history", "list", "--agnet", "a"], "did you mean `--agent`?"),
        (["run", "a", "--timeout"], "--timeout"),
        (["run", "a", "--timeout", "1.5"], "--timeout"),
        (["run", "a", "--verb"], "unrecognized arguments: --verb"),
        (["agents", "show"], "agent"),
        (["agents", "bogus"], "bogus"),
        (["version", "x"], "x"),
    ],
)
def test_invalid_arguments_are_one_line(
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
    assert find_spec(module_of(command)) is not None


@pytest.mark.parametrize("module", ["axe_lsp.cli.main", "axe_lsp.cli.run", "axe_lsp.cli.agents"])
@pytest.mark.process
def test_slow_modules_are_not_imported_at_the_start(module: str) -> None:
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
        "pygls",
        "lsprotocol",
        "prompt_toolkit",
        "axe_lsp.cli.display",
        "axe_lsp.hosting.supervisor.isolated_runs",
        "axe_lsp.hosting.protocol",
        "axe_lsp.hosting.history.queries",
        "axe_lsp.runtime.mcp.server_tools",
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
        (["history", "list", "--before", "yesterday"], 2),
        (["serve", "--nonsense"], 1),
        (["run", "nobody", "--agents-dir", "nowhere"], 2),
    ],
)
@pytest.mark.process
def test_full_standard_error_does_not_change_the_exit_code(
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


def test_the_server_says_on_a_terminal_what_it_waits_for(home: Home) -> None:
    command = ["/bin/sh", "-c", f"exec {shlex.join(COMMAND)} </dev/tty"]
    with Terminal(command, home.environment, home.work, columns=100) as terminal:
        terminal.shows(lambda rows: any("waits for messages of an editor" in row for row in rows))
        terminal.shows(lambda rows: any("`axe-lsp --help` lists" in row for row in rows))
        terminal.type(b"\x04")
        assert terminal.end()[0] in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ["serve", "--tcp", "foo"],
            "argument --tcp: 'foo' is not a port, a number from 0 to 65535",
        ),
        (["serve", "--tcp", "65536"], "argument --tcp: '65536' is not a port"),
        (["serve", "--log-file", "gone/log"], "the log can't be written: "),
        (["resume", "ab", "--from-turn", "x"], "'x' is not the number of a turn"),
        (["resume", "ab", "--from-turn", "0"], "'0' is not the number of a turn"),
    ],
)
def test_invalid_option_value_names_the_valid_ones(
    home: Home, arguments: list[str], reason: str
) -> None:
    code, out, err = home.call(*arguments)
    assert (code, out) == (1, "")
    assert reason in err


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EMFILE, "Too many open files", "a.py"), "no further file can be opened"),
        (OSError(errno.ENFILE, "Too many open files in system"), "no further file can be opened"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "the memory does not suffice"),
        (MemoryError(), "the memory does not suffice"),
        (RuntimeError("can't start new thread"), "the memory does not suffice"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("is_cause", [False, True])
def test_shortage_of_a_resource_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    told: str,
    is_cause: bool,
) -> None:
    def fail(_: object) -> int:
        if is_cause:
            raise RuntimeError("internal error") from error
        raise error

    monkeypatch.setattr(main_module, "_main", fail)
    monkeypatch.setattr(main_module, "_forget_unfinished_work", lambda: None)
    assert main_module.main(["run"]) == main_module.OUT_OF_RESOURCES
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"axe-lsp: {told}")


def test_error_that_is_no_shortage_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> int:
        raise OSError(errno.EACCES, "Permission denied", "a.py")

    monkeypatch.setattr(main_module, "_main", fail)
    with pytest.raises(PermissionError):
        main_module.main(["run"])


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("files", range(5, 12))
def test_server_that_may_not_open_files_ends_with_one_sentence_or_works(
    tmp_path: Path, files: int
) -> None:
    """Its event loop takes some of the files, and what protects its keys needs another one a moment later."""
    home = Home(tmp_path, {})
    # Its standard input is open for longer than that moment.
    code, out, err = home.shell_line(
        f"sleep 3 | (ulimit -n {files}; exec {shlex.join([*COMMAND, 'serve'])})"
    )
    assert (out, "Traceback" in err) == ("", False)
    assert "Exception in callback" not in err
    if code == main_module.OUT_OF_RESOURCES:
        assert err.splitlines()[-1].startswith("axe-lsp: no further file can be opened")


@pytest.mark.process
def test_run_that_may_not_open_files_ends_with_one_sentence(tmp_path: Path) -> None:
    home = Home(tmp_path, {"OPENAI_API_KEY": "k", "AXE_OPENAI_BASE_URL": "http://127.0.0.1:1"})
    home.add({"solo": 'name = "solo"\nmodel = "openai/m"\n'})
    command = shlex.join([*COMMAND, "run", "solo", "-p", "Go"])
    # Three are left beside the standard streams, and an event loop needs all of them.
    code, out, err = home.shell_line(f"ulimit -n 6; exec {command}")
    assert (code, out) == (2, "")
    assert err == (
        "axe-lsp: no further file can be opened: the limit is reached. `ulimit -n 1024` raises it\n"
    )
