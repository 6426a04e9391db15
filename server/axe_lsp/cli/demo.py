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

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.text.nearest import nearest
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.display import open_display
from axe_lsp.cli.streams import complain, print_message
from axe_lsp.runtime.engine import Engine
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.agent_files import AgentFolders
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.recordings.file import load_recording
from axe_lsp.runtime.recordings.replay import Replay
from axe_lsp.runtime.runs import Resolve, RunRequest
from axe_lsp.runtime.safety.approval import allowed
from axe_lsp.runtime.safety.trust import TrustPolicy
from axe_lsp.runtime.services import RunServices

_FOLDER = Path(__file__).parents[1] / "demo"

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
        complain(error)
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
    print_message(example.introduction + _RECORDED)
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
    """Return the command that starts this program from any folder, also if it is not on PATH."""
    own = shutil.which("axe-lsp", path=str(Path(sys.executable).parent))
    on_path = shutil.which("axe-lsp")
    if own is None or (on_path is not None and Path(on_path).samefile(own)):
        return "axe-lsp"
    return shlex.quote(own)


def _steps(example: Example, folder: Path, program: str) -> list[tuple[str, str]]:
    """Return the commands for a copy, with their purpose."""
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


# -- the examples, whose files are only ever copied


class Example(Struct, frozen=True):
    """A project with agents. The one to run, and its recording, are called like the example.

    `shows` is a line for lists, `introduction` explains the run. `copy` is
    a name for a copy; agents that write need `--yes` to be run in it.
    """

    name: str
    shows: str
    introduction: str
    copy: str = ""
    writes: bool = False

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return _FOLDER / self.name

    @property
    def recording(self) -> Path:
        """The recorded answers, seen from its folder."""
        return Path("axe", "replays", f"{self.name}.toml")

    @property
    def suggested_copy(self) -> Path:
        """A folder for a copy."""
        return Path(self.copy or self.name)


EXAMPLES: dict[str, Example] = {
    example.name: example
    for example in (
        Example(
            "release-check",
            "three agents review a library in parallel, and one of them calls a fourth",
            """\
An agent checks whether a small Python library can be released. It calls three others in parallel,
and one of them calls a fourth.
""",
            copy="duro",
        ),
        Example(
            "manager-workers",
            "a manager gives each issue to a specialist",
            """\
A manager has three issues of a small Python library. It gives each to a specialist; they work in
parallel, and the manager sorts their results.
""",
        ),
        Example(
            "plan-execute-review",
            "one agent plans, one changes the code, one reviews it, until it is correct",
            """\
A change request for a small Python program passes three agents in sequence: a planner, an executor
that changes the file, and a reviewer that finds a fault.
""",
            writes=True,
        ),
        Example(
            "debate",
            "two agents make proposals and answer each other, a third decides",
            """\
Where should a small web shop keep its sessions? Two agents propose, each reads what the
other says and answers, and their parent decides.
""",
        ),
        Example(
            "pull-investigation",
            "agents get only a prompt, and collect their context with tools",
            """\
Three agents examine a small web shop. Each gets only a prompt by the tool Task, and collects its
context with tools.
""",
        ),
        Example(
            "explore-plan-code",
            "the built-in types of Task in sequence: explore, plan, code",
            """\
A small change goes through the built-in types of the tool Task: one explores and one plans,
which can't write, and one changes the code. The parent sums up.
""",
            writes=True,
        ),
        Example(
            "side-runs",
            "an agent starts two reviews, goes on with its own, and gets their answers later",
            """\
An agent reviews a small Python library. It starts two others as side runs, does not wait for them,
and reviews a module itself. Their answers come before its last one.
""",
            copy="meter",
        ),
        Example(
            "copies",
            "three agents change one library in copies; two patches fit, one conflicts",
            """\
Three agents change the same file of a small Python library at the same time, each in a copy (this
needs git). Their changes come back as patches: two fit, one conflicts. The library is in a
temporary folder, which is deleted at the end.
""",
            copy="tables",
            writes=True,
        ),
    )
}
"""By name. The first is shown to those who name none."""


def copy_example(example: Example, folder: Path) -> None:
    """Write it into a folder. Raises ConfigError.

    As new files: an installed package may be read-only, and holds what Python compiled.
    """
    try:
        for source in example.folder.rglob("*"):
            if source.is_file() and source.suffix != ".pyc":
                target = folder / source.relative_to(example.folder)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read_bytes())
    except OSError as error:
        raise ConfigError(f"failed to copy the example: {os_fault(error)}") from error


def example_agents(folder: Path) -> Resolve:
    """Find the agents of an example and no others, whatever the user's own are called."""
    agents = AgentFolders([folder / "axe" / "agents"])

    def resolve(name: str, _caller: Caller) -> AgentDefinition:
        return agents.resolve(name)

    return resolve
