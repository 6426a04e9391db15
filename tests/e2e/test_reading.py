"""What a client is told while many agent files are being read."""

from __future__ import annotations

from pathlib import Path

from support.session import Project

MANY = 4_000
"""Agents that take longer to read than anybody would not notice."""

PATIENCE = 120.0
"""Seconds. It is one, where the machine has nothing else to do."""

PROGRESS = {"window": {"workDoneProgress": True}}


def test_reading_many_agents_is_told_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for number in range(MANY):
        project.write(f"agent-{number}", f'name = "agent-{number}"\nmodel = "ollama/m"\n')
    with project.editor(capabilities=PROGRESS) as editor:
        editor.client.answer_with["window/workDoneProgress/create"] = lambda _: None
        token = editor.client.wait_for("window/workDoneProgress/create")["token"]
        begun = editor.client.wait_for("$/progress")
        assert begun == {
            "token": token,
            "value": {"kind": "begin", "title": "Reading agent files"},
        }
        ended = editor.client.wait_for("$/progress", timeout=PATIENCE)
        assert ended == {"token": token, "value": {"kind": "end"}}
        assert editor.client.request("axe/graph", {})["complete"]
