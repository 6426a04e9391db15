"""A project with a run that has changed files, to be undone in an editor."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from support.editors import server_program
from support.engines import agent
from support.scripted_provider import Call, Says, ScriptedProvider


def run_that_changes_files(
    project: Path, provider: ScriptedProvider, environment: Mapping[str, str]
) -> Path:
    """Make the run; returns the agent's file.

    notes.txt said "Ship on Friday.", new.txt was not there, and plan.txt has changed since the run. A
    further message is answered with "No.".
    """
    writer = project / "axe" / "agents" / "writer.toml"
    writer.parent.mkdir(parents=True)
    (text,) = agent("writer", tools=["write_file", "run_command"]).values()
    writer.write_text(text, encoding="utf-8")
    notes, plan = project / "notes.txt", project / "plan.txt"
    notes.write_text("Ship on Friday.\n", encoding="utf-8")
    plan.write_text("Rest.\n", encoding="utf-8")
    contents = {"notes.txt": "Ship never.\n", "plan.txt": "Work.\n", "new.txt": "new\n"}
    calls = [
        Call("write_file", {"path": name, "content": content}, name)
        for name, content in contents.items()
    ]
    command = Call("run_command", {"command": "true"})
    provider.script("m-writer", Says(calls=[*calls, command]), Says("Done."), Says("No."))
    program = [str(server_program()), "run", "writer", "-p", "Change it", "--yes"]
    subprocess.run(program, cwd=project, env=dict(environment), check=True, capture_output=True)
    assert notes.read_text(encoding="utf-8") == "Ship never.\n"
    plan.write_text("edited since\n", encoding="utf-8")
    return writer
