"""The examples that ship with the package, and what each shows. Their files are only ever copied."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import AgentFolders
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.runs import Resolve

_FOLDER = Path(__file__).parents[1] / "demo"


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
    """Finds the agents of an example and no others, whatever the user's own are called."""
    agents = AgentFolders([folder / "axe" / "agents"])

    def resolve(name: str, _caller: Caller) -> AgentDefinition:
        return agents.resolve(name)

    return resolve
