"""Agents in copies on other machines, from an editor."""

from __future__ import annotations

from pathlib import Path

from support.answers import Call, Says, calls_agent
from support.machines import SshMachines
from support.repositories import Repository
from support.scripted_provider import ScriptedProvider
from support.session import Project, agent_file

ASKS = {"experimental": {"axe": {"approve": True}}}


def test_the_setting_chooses_the_engine_and_events_tell_the_place(
    tmp_path: Path, provider: ScriptedProvider
) -> None:
    project = Project(tmp_path, provider.environment)
    machines = SshMachines(tmp_path / "machines", "build1")
    machines.configure(tmp_path / "home" / ".config")
    config = tmp_path / "home" / ".config" / "axe" / "config.toml"
    config.write_text(config.read_text().replace('engine = "ssh"', 'engine = "here"'))
    project.write("lead", agent_file("lead", sub_agents=["helper"]))
    copied = '[isolation]\nmode = "copy"\n'
    project.write("helper", agent_file("helper", tools=["run_command"]) + copied)
    Repository(project.root, {"a.txt": "a\n"})
    provider.script("m-lead", Says(calls=[calls_agent("helper", "go")]), Says("done"))
    command = Call("run_command", {"command": "echo $PWD > a.txt"})
    provider.script("m-helper", Says(calls=[command]), Says("helped"))
    settings = {"execution": {"engine": "ssh"}}
    with project.editor(capabilities=ASKS, initializationOptions={"axe": settings}) as editor:
        asked = []
        editor.client.answer_with["axe/approve"] = lambda params: (
            asked.append(params["tool"]) or {"decision": "allow"}
        )
        result = editor.client.request("axe/run", {"agent": "lead", "task": "go"})
        assert result["content"] == "done"
        told = [it["params"] for it in editor.client.received if it.get("method") == "axe/place"]
    assert [(each["place"], each.get("waiting")) for each in told] == [
        ("", "a machine"),
        ("ssh://build1", None),
    ]
    assert told[1]["ref"].startswith("refs/axe/")
    assert asked == ["run_command", "apply_changes"]
    assert (project.root / "a.txt").read_text().strip() == told[1]["folder"]
    assert str(machines.folder / "build1") in told[1]["folder"]
