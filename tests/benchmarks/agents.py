"""Agent files of any size, and workspaces of any number of them.

They have the shape of real ones: most of a file is its prompt; keys and arrays stand before and behind
it. What is edited stands at the end, where everything above it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

DIGIT = "max_depth = "
"""What stands before the digit that the benchmarks change: 3 and 4 are right, 9 is too much."""

_LIMITS = f"""
# How deep and how far this agent may go.
[sub_agents_config]
{DIGIT}3
parallel = true
"""

_PROMPT = """\
You are a careful reviewer of changes to a large code base. Read the diff first, then the files around
it, then the tests. A finding needs a file, a line and a reason; "looks odd" is no reason.

## How to work

1. List what the change claims to do — in one sentence each, in the author's words.
2. Check each claim against the code. Set `status = "confirmed"` only for what you have seen yourself.
3. Ask `linter` and `tester` for what a machine can find; don't repeat their work.

- Never invent line numbers.  A wrong one costs more than a missing one.
- Quote at most three lines of code (they are on the reader's screen anyway).
- If nothing is wrong, say so in a line. Größe, naïve, 変更: names are to be kept as they are written.

"""


HELPERS = ("linter", "tester")
"""Whom the reviewer calls."""

_REVIEWER = "reviewer"
_HELPER = "helper"


def reviewer_text(size: int) -> str:
    """Return the agent file of the reviewer, of about that size."""
    return agent_text(size, _REVIEWER, HELPERS)


def make_reviewer(folder: Path, size: int) -> tuple[str, str]:
    """Return a project with the reviewer and its helpers: the URI and the text of the reviewer's file."""
    project = Workspace(folder, 0)
    project.path("").parent.mkdir(parents=True)
    _make_sources(folder, size)
    for name in HELPERS:
        project.path(name).write_text(agent_text(1_000, name), "utf-8")
    return project.uri(_REVIEWER), reviewer_text(size)


def agent_text(size: int, name: str, sub_agents: tuple[str, ...] = ()) -> str:
    """Return an agent file of about `size` characters without a problem, if those whom it calls exist."""
    globs = [f"{module}/**/*.py" for module in _modules(size)]
    head = [
        f'name = "{name}"',
        'description = "Reviews changes and says what is wrong with them"',
        'model = "anthropic/claude-sonnet-5-5"',
        *([f"sub_agents = {_array(sub_agents)}"] if sub_agents else []),
        f"files = [\n{''.join(f'  {_quoted(glob)},{chr(10)}' for glob in globs)}]",
        "timeout = 300",
    ]
    tail = f"""
{_LIMITS if sub_agents else ""}
[memory]
enabled = true
last_n = 10

[params]
temperature = 0.2
max_tokens = 4096
"""
    before = "\n".join(head) + '\nsystem_prompt = """\n'
    room = max(len(_PROMPT) // 4, size - len(before) - len(tail))
    prompt = (_PROMPT * (room // len(_PROMPT) + 1))[:room].rstrip()
    return f'{before}{prompt}\n"""{tail}'


def _modules(size: int) -> list[str]:
    """Return the folders of sources that an agent file of that size is about."""
    return [f"src/module_{number:04}" for number in range(max(2, size // 400))]


def _make_sources(folder: Path, size: int) -> None:
    """A file for each glob to match."""
    for module in _modules(size):
        (folder / module).mkdir(parents=True)
        (folder / module / "main.py").write_text("print()\n", "utf-8")


def position_behind(text: str, what: str) -> dict[str, int]:
    """Return the place behind the first `what`; its line is ASCII, so that all encodings agree."""
    before = text[: text.index(what) + len(what)]
    return {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}


def replacement(text: str, behind: str, new: str) -> dict[str, Any]:
    """Return the incremental change that replaces the character behind `behind`."""
    start = position_behind(text, behind)
    end = {**start, "character": start["character"] + 1}
    return {"range": {"start": start, "end": end}, "text": new}


@dataclass(frozen=True)
class Workspace:
    """Agents that call each other as in a large organisation: a tree, ten below each.

    `coordinator` is its root, so everything can be reached from it. All who have others below them
    also call the `helper`.
    """

    folder: Path
    count: int

    @property
    def coordinator(self) -> str:
        return _name(0)

    @property
    def team_lead(self) -> str:
        """An agent with ten below it that call nobody, or as near to that as there is."""
        return _name(max(0, (self.count - 1) // 10 - 1))

    @property
    def helper(self) -> str:
        """The agent that a tenth of all others call."""
        return _HELPER

    def path(self, name: str) -> Path:
        return self.folder / "axe" / "agents" / f"{name}.toml"

    @property
    def stranger_text(self) -> str:
        """An agent that names an unknown one, which can be said once all agents are known."""
        return agent_text(1_000, "stranger", ("nobody",))

    def uri(self, name: str) -> str:
        return self.path(name).as_uri()

    def text(self, name: str) -> str:
        return self.path(name).read_text("utf-8")

    def texts(self) -> dict[str, str]:
        """Return all files by their URIs."""
        paths = sorted(self.path("").parent.iterdir())
        return {path.as_uri(): path.read_text("utf-8") for path in paths}

    def read_all(self) -> None:
        """What nobody who wants to know all agents can do without."""
        for path in self.path("").parent.iterdir():
            path.read_bytes()


class MarkdownWorkspace(Workspace):
    """The same in Markdown: agents of Copilot, whose `agents` VS Code compares with those that there are."""

    @property
    def stranger_text(self) -> str:
        return markdown_text(1_000, "stranger", ("nobody",))

    def path(self, name: str) -> Path:
        return self.folder / ".github" / "agents" / f"{name}.agent.md"


BOOLEAN = "user-invocable: "
"""What stands before the word that the benchmarks change in Markdown: `true` is right, `xrue` is wrong."""


def markdown_text(size: int, name: str, sub_agents: tuple[str, ...] = ()) -> str:
    """Return an agent in Markdown of about `size` characters without a problem, if those whom it calls exist."""
    head = [
        "---",
        f"name: {name}",
        "description: Reviews changes and says what is wrong with them",
        "tools: [read, search, agent]",
        *([f"agents: {_array(sub_agents)}"] if sub_agents else []),
        f"{BOOLEAN}true",
        "---",
        "",
    ]
    before = "\n".join(head)
    room = max(len(_PROMPT) // 4, size - len(before))
    return before + (_PROMPT * (room // len(_PROMPT) + 1))[:room].rstrip() + "\n"


def make_markdown_workspace(folder: Path, count: int, size: int = 1000) -> MarkdownWorkspace:
    """Write `count` agents in Markdown of `size` characters each, who call each other as those in TOML do."""
    workspace = MarkdownWorkspace(folder, count)
    workspace.path("").parent.mkdir(parents=True)
    for number in range(count):
        below = tuple(map(_name, range(10 * number + 1, min(10 * number + 11, count))))
        name = _name(number)
        workspace.path(name).write_text(markdown_text(size, name, below), "utf-8")
    return workspace


def make_workspace(folder: Path, count: int, size: int = 1000) -> Workspace:
    """Write `count` agents of `size` characters each, and a helper."""
    workspace = Workspace(folder, count)
    workspace.path("").parent.mkdir(parents=True)
    _make_sources(folder, size)
    for number in range(count):
        below = range(10 * number + 1, min(10 * number + 11, count))
        calls = (*map(_name, below), *([_HELPER] if below else []))
        name = _name(number)
        # So that the coordinator's calls may go down to the last of ten thousand.
        text = agent_text(size, name, calls).replace(f"{DIGIT}3", f"{DIGIT}4")
        workspace.path(name).write_text(text, "utf-8")
    workspace.path(_HELPER).write_text(agent_text(size, _HELPER), "utf-8")
    return workspace


def _name(number: int) -> str:
    return f"agent-{number:05}"


def _array(names: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


def _quoted(text: str) -> str:
    return f'"{text}"'
