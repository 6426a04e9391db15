"""`axe-lsp demo`: small examples with several agents, which need neither a key nor a network.

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

from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.display import open_display
from axe_lsp.cli.examples import EXAMPLES, Example, copy_example, example_agents
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.recordings.file import load_recording
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.runs import RunRequest
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices

_RECORDED = """
The agents and the files that they read are real. The model's answers are recorded
(they were written for this demo): nothing is sent anywhere, and no key is needed.
"""


def main(arguments: Sequence[str]) -> int:
    """Run an example, copy it, or list them all; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        example = _example(options.example)
        if options.list:
            print(_table([(each.name, each.shows) for each in EXAMPLES.values()]), end="")
        elif options.copy is not None:
            _copy(example, options.copy)
        else:
            _show(example, pace=0 if options.fast else 1)
    except RunError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp demo",
        description="Run a small example with recorded answers. Nothing is sent anywhere.",
    )
    first = next(iter(EXAMPLES))
    parser.add_argument("example", nargs="?", default=first, help=f"which one (default: {first})")
    what = parser.add_mutually_exclusive_group().add_argument
    what("--list", action="store_true", help="list the examples")
    what("--copy", metavar="DIR", type=Path, help="copy the example to DIR")
    what("--fast", action="store_true", help="skip the recorded pauses")
    return parser


def _example(name: str) -> Example:
    if name in EXAMPLES:
        return EXAMPLES[name]
    meant = nearest(name, EXAMPLES)
    hint = f"Did you mean {meant}?" if meant else f"There are {', '.join(EXAMPLES)}."
    raise ConfigError(f"there is no example {quoted(name)}. {hint}")


def _copy(example: Example, folder: Path) -> None:
    try:
        occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise ConfigError(f"failed to copy the example: {os_fault(error)}") from error
    if occupied:
        raise ConfigError(f"{quoted(str(folder))} exists and is not empty; name a new folder")
    copy_example(example, folder)
    print(f"The example is in {folder.absolute()}. Now:")
    print(_table(_steps(example, folder, _program())) + _in_your_editor(example), end="")


def _show(example: Example, pace: float) -> None:
    print(example.introduction + _RECORDED, file=sys.stderr, flush=True)
    with TemporaryDirectory(prefix="axe-lsp-demo-") as name:
        folder = Path(name) / example.suggested_copy
        copy_example(example, folder)
        answer = asyncio.run(_run(example, folder, pace))
    print(answer, end="", flush=True)
    program, folder = _program(), example.suggested_copy
    which = "" if example is next(iter(EXAMPLES.values())) else f" {example.name}"
    copy_it = (f"{program} demo{which} --copy {folder}", "copy this example to a new folder")
    advice = _table([copy_it, *_steps(example, folder, program)]) + _in_your_editor(example)
    others = f"{program} demo --list names {len(EXAMPLES) - 1} further examples.\n"
    print(f"\nTo try it yourself:\n{advice}\n{others}", end="", file=sys.stderr)


def _program() -> str:
    """The command that starts this program from any folder, also if it is not on PATH."""
    own = shutil.which("axe-lsp", path=str(Path(sys.executable).parent))
    on_path = shutil.which("axe-lsp")
    if own is None or (on_path is not None and Path(on_path).samefile(own)):
        return "axe-lsp"
    return shlex.quote(own)


def _steps(example: Example, folder: Path, program: str) -> list[tuple[str, str]]:
    """The commands for a copy, with their purpose."""
    run = f"{program} run {example.name}"
    again = (run, "run it again, from the files in the folder")
    if example.writes:
        again = (f"{run} --yes", "run it; --yes lets it change the files")
    return [
        (f"cd {shlex.quote(str(folder))}", ""),
        again,
        (f"{program} check", "check the agent files"),
        # Only tests of agents that write have `allow`, which needs trust.
        (f"{program} test{' --trust' if example.writes else ''}", "replay the test of its agents"),
    ]


def _in_your_editor(example: Example) -> str:
    return f"and open axe/agents/{example.name}.toml in your editor. axe/README.md tells more.\n"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(left) for left, _ in rows)
    return "".join(f"  {left:{width}}   {right}".rstrip() + "\n" for left, right in rows)


async def _run(example: Example, folder: Path, pace: float) -> str:
    recording = load_recording(folder / example.recording)
    display = open_display(sys.stderr, os.environ)
    services = RunServices(
        resolve=example_agents(folder),
        workspace=folder,
        trust=TrustPolicy(os.environ),
        # What copies leave lies beside the example, and goes with it.
        environment={**os.environ, "XDG_STATE_HOME": str(folder.parent / "state")},
        emit=display.event,
        warn=display.say,
        # What is changed is a copy that nobody keeps, and by recorded answers only.
        approve=allowed,
    )
    engine = Engine(services, provider_hook=lambda _: Replay(recording, os.environ, pace))
    with closing(display):
        async with engine:
            return (await engine.run(RunRequest(example.name))).content
