"""What a client is told while many agent files are being read."""

from __future__ import annotations

from pathlib import Path

from support.session import Project

MANY = 8_000
"""Agent files that no machine reads within the half second of which nothing is told."""

PATIENCE = 120.0
"""Seconds. It is one, where the machine has nothing else to do."""

PROGRESS = {"window": {"workDoneProgress": True}}


def test_reading_many_agents_is_told_from_its_beginning_to_its_end(tmp_path: Path) -> None:
    project = Project(tmp_path)
    agent = project.write("agent", 'name = "agent"\nmodel = "ollama/m"\n')
    for number in range(1, MANY):
        project.path(f"agent-{number}").hardlink_to(agent)
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
