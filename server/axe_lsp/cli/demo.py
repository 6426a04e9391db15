"""`axe-lsp demo`: a small example with several agents, which needs neither a key nor a network.

The files, the agents and the runtime are the real ones; only the model's answers are recorded.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from axe_lsp.agentfile.definition import AgentDefinition
from axe_lsp.agentfile.text import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.display import open_display
from axe_lsp.runtime.agent_files import AgentFolders
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.prepare import Resolve
from axe_lsp.runtime.providers.replay import Replay
from axe_lsp.runtime.recording_file import load_recording
from axe_lsp.runtime.runs import RunRequest

AGENT = "release-check"
EXAMPLE = Path(__file__).parents[1] / "demo"
RECORDING = EXAMPLE / "axe" / "replays" / f"{AGENT}.toml"

INTRODUCTION = """\
An agent checks whether a small Python library can be released. It asks three others,
which work at the same time, and one of them asks a fourth.

The agents and the files that they read are real. The model's answers are recorded
(they were written for this demo): nothing is sent anywhere, and no key is needed.
"""

IN_YOUR_EDITOR = (
    "and open axe/agents/release-check.toml in your editor. axe/README.md tells more.\n"
)


def main(arguments: Sequence[str]) -> int:
    """Run the example or copy it; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        if options.copy is not None:
            _copy(options.copy)
        else:
            _show(pace=0 if options.fast else 1)
    except RunError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


def example_agents(folder: Path) -> Resolve:
    """Finds the agents of the example and no others, whatever the user's own are called."""
    agents = AgentFolders([folder / "axe" / "agents"])

    def resolve(name: str, _base: Path) -> AgentDefinition:
        return agents.resolve(name)

    return resolve


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp demo",
        description="Run a small example with recorded answers. Nothing is sent anywhere.",
    )
    parser.add_argument("--copy", metavar="DIR", type=Path, help="write the example into DIR")
    parser.add_argument("--fast", action="store_true", help="do not take the recorded time")
    return parser


def _copy(folder: Path) -> None:
    try:
        occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise ConfigError(f"failed to copy the example: {error}") from error
    if occupied:
        raise ConfigError(f"{quoted(str(folder))} exists and is not empty; name a new folder")
    _copy_example(folder)
    print(f"The example is in {folder}. Now:")
    print(_table(_steps(folder, _program())) + IN_YOUR_EDITOR, end="")


def _copy_example(folder: Path) -> None:
    """As new files: an installed package may be read-only, and holds what Python compiled."""
    try:
        for source in EXAMPLE.rglob("*"):
            if source.is_file() and source.suffix != ".pyc":
                target = folder / source.relative_to(EXAMPLE)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
    except OSError as error:
        raise ConfigError(f"failed to copy the example: {error}") from error


def _show(pace: float) -> None:
    print(INTRODUCTION, file=sys.stderr, flush=True)
    with TemporaryDirectory(prefix="axe-lsp-demo-") as name:
        folder = Path(name) / "duro"
        _copy_example(folder)
        answer = asyncio.run(_run(folder, pace))
    print(answer, end="", flush=True)
    program, folder = _program(), Path("duro")
    copy_it = (f"{program} demo --copy {folder}", "write this example into a new folder")
    advice = _table([copy_it, *_steps(folder, program)]) + IN_YOUR_EDITOR
    print(f"\nTo try it yourself:\n{advice}", end="", file=sys.stderr)


def _program() -> str:
    """What a shell in any folder takes for this program, which need not be on PATH."""
    own = shutil.which("axe-lsp", path=str(Path(sys.executable).parent))
    on_path = shutil.which("axe-lsp")
    if own is None or (on_path is not None and Path(on_path).samefile(own)):
        return "axe-lsp"
    return shlex.quote(own)


def _steps(folder: Path, program: str) -> list[tuple[str, str]]:
    """What to do with a copy, and what for."""
    return [
        (f"cd {shlex.quote(str(folder))}", ""),
        (f"{program} run {AGENT}", "run it again, from the files that are there now"),
        (f"{program} check", "check the agent files"),
    ]


def _table(steps: Sequence[tuple[str, str]]) -> str:
    width = max(len(command) for command, _ in steps)
    return "".join(f"  {command:{width}}   {why}".rstrip() + "\n" for command, why in steps)


async def _run(folder: Path, pace: float) -> str:
    recording = load_recording(folder / RECORDING.relative_to(EXAMPLE))
    display = open_display(sys.stderr, os.environ)
    engine = Engine(
        resolve=example_agents(folder),
        workspace=folder,
        emit=display.event,
        warn=display.say,
        provider_hook=lambda _: Replay(recording, os.environ, pace),
    )
    with closing(display):
        async with engine:
            return (await engine.run(RunRequest(AGENT))).content
