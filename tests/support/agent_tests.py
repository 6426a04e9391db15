"""A project with agents, a recording and a file of tests, for tests of `axe-lsp test`."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from axe_lsp.testing.case_session import CaseSession, Plan, run_session
from axe_lsp.testing.run_case import Outcome
from axe_lsp.testing.suite import load_suite
from support.scripted_provider import Call, Says, ScriptedProvider, calls_agent

TEST = ["test", "--trust"]
"""The command, and what its cases may do is trusted."""

AGENTS = {
    "lead": 'model = "openai/m-lead"\nsystem_prompt = "You lead."\ntools = ["read_file", "write_file"]\n'
    'sub_agents = ["tests", "docs"]\n',
    "tests": 'model = "openai/m-tests"\ntools = ["read_file"]\n',
    "docs": 'model = "openai/m-docs"\n',
}

RECORDING = """
version = 1

[[run]]
agent = "lead"
model = "openai/m-lead"
system = "You lead."
tools = ["read_file", "write_file", "call_agent"]

[[run.turn]]
sent = [{ role = "user", content = "Can this be released?" }]
text = "I look."
input_tokens = 100
output_tokens = 10
tool_calls = [
    { id = "1", name = "read_file", arguments = '{"path": "src/a.py"}' },
    { id = "2", name = "call_agent", arguments = '{"agent": "tests", "task": "Run the fast ones"}' },
]

[[run.turn]]
text = "I write."
input_tokens = 100
output_tokens = 10
tool_calls = [{ id = "3", name = "write_file", arguments = '{"path": "CHANGELOG.md", "content": "# 1.2\\n"}' }]

[[run.turn]]
text = '{"ok": true, "passed": 212}'
input_tokens = 100
output_tokens = 10

[[run]]
agent = "tests"

[[run.turn]]
text = ""
input_tokens = 40
output_tokens = 4
tool_calls = [{ id = "4", name = "read_file", arguments = '{"path": "gone.py"}' }]

[[run.turn]]
text = "212 passed"
input_tokens = 40
output_tokens = 6
"""

HEAD = """\
agent = "lead"
workspace = "fixtures/small"
allow = ["write_file"]

[[case]]
name = "asks"
task = "Can this be released?"
replay = "asks.toml"
"""

PLAIN = HEAD.replace('allow = ["write_file"]\n', "")
"""The same without a tool that needs trust."""

TOO_FEW_TURNS = "\n[case.expect]\nturns = { max = 1 }\n"
"""An expectation on line 10 of such a file that fails: the run has 3 turns."""

JUDGE = """
name = "judge"
model = "openai/m-judge"

[input.properties]
task = { type = "string" }
answer = { type = "string" }
transcript = { type = "string" }
criteria = { type = "string" }

[output]
required = ["pass", "reason"]

[output.properties]
pass = { type = "boolean" }
reason = { type = "string" }
"""


class Project:
    """The project in a folder. `tests` is the folder of its files of tests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tests = root / "axe" / "tests"
        for name, text in AGENTS.items():
            self.write(f"axe/agents/{name}.toml", f'name = "{name}"\n{text}')
        self.write("axe/tests/recordings/asks.toml", RECORDING)
        self.write("axe/tests/fixtures/small/src/a.py", "a = 1\n")
        self.write("axe/tests/fixtures/small/CHANGELOG.md", "# 1.1\n")

    def write(self, path: str, text: str) -> Path:
        """Write a file, in new folders where needed."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def case(self, expect: str = "", head: str = HEAD) -> Path:
        """Return the file of tests, with these lines below the case."""
        return self.write("axe/tests/release.toml", f"{head}{expect}")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a part of a file, which has to be there."""
        file = self.root / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    async def outcomes(self, path: Path, **options: object) -> list[Outcome]:
        """Return what comes of a file of tests. Its `allow` counts as trusted."""
        suite = load_suite(path, path.name, self.root)
        campaign = CaseSession((Plan(suite, suite.cases.cases),), **options)  # type: ignore[arg-type] # fields of it
        return [each async for each in run_session(campaign)]


def script(provider: ScriptedProvider, answer: str = "Yes: 212 passed") -> None:
    """The lead calls an agent, reads a file, and answers."""
    provider.script(
        "m-lead",
        Says(calls=[calls_agent("tests", "Run them"), Call("read_file", {"path": "src/a.py"})]),
        Says(answer),
    )
    provider.script("m-tests", Says("212 passed"))


def shows(stream: IO[str] | None, text: str) -> None:
    """Wait until a line has the text."""
    assert stream is not None
    while text not in (line := stream.readline()):
        assert line, "it has ended"
