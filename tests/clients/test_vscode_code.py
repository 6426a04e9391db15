"""Agents in the real VS Code ask TypeScript's own server, and hear what their edits have broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.editors import current_code_server, missing, server_program
from support.engines import agent
from support.extension import TRUSTING, put_server_into, vscode
from support.scripted_provider import Call, Says, ScriptedProvider

AGE = "export const age: number = 1;\nexport function older(): number {\n  return age + 1;\n}\n"
MAIN = "import { age, older } from './age';\nconsole.log(age, older());\n"
ASKS = [
    Call("definition", {"at": "src/main.ts:2", "name": "age"}),
    Call("references", {"at": "src/age.ts:1", "name": "age"}),
    Call("hover", {"at": "src/main.ts:2", "name": "older"}),
    Call("symbols", {"path": "src/age.ts"}),
    Call("call_hierarchy", {"at": "src/age.ts:2", "name": "older"}),
    Call("diagnostics", {"path": "src/age.ts"}),
]
TYPE_ERROR = "src/age.ts:1: error: Type 'string' is not assignable to type 'number'. [ts 2322]"


def edit(old: str, new: str) -> Call:
    return Call("edit_file", {"path": "src/age.ts", "old_string": old, "new_string": new})


def write_typescript(project: Path) -> None:
    """Write a project of two modules, with an agent that may edit them."""
    (project / "src").mkdir(parents=True)
    (project / "src" / "age.ts").write_text(AGE, encoding="utf-8")
    (project / "src" / "main.ts").write_text(MAIN, encoding="utf-8")
    options = {"compilerOptions": {"strict": True, "types": []}, "include": ["src"]}
    (project / "tsconfig.json").write_text(json.dumps(options), encoding="utf-8")
    coder = project / "axe" / "agents" / "coder.toml"
    coder.parent.mkdir(parents=True)
    tools = ["edit_file", *(call.name for call in ASKS)]
    coder.write_text(agent("coder", tools=tools)["coder"], encoding="utf-8")


@pytest.mark.editor
def test_agent_asks_typescript_and_sees_the_errors_of_its_edits(
    extension: Path, provider: ScriptedProvider, tmp_path: Path
) -> None:
    project = tmp_path / "typed"
    write_typescript(project)
    put_server_into(project).symlink_to(server_program())
    server = current_code_server() or missing("current code-server", ".ci/install-code-server")
    numbers = [edit(f"= {number};", f"= {number + 1};") for number in range(1, 10)]
    provider.script(
        "m-coder",
        *(Says(calls=[call]) for call in ASKS),
        Says(calls=[edit("= 1;", "= 'one';")]),
        Says(calls=[edit("= 'one';", "= 1;")]),
        *(Says(calls=[call]) for call in numbers),
        Says(calls=[edit("= 10;", "= 'ten';")]),
        Says("Done."),
    )
    settings = {**TRUSTING, "axe.tools.allow": ["edit_file"]}
    with vscode(extension, project, tmp_path, settings, provider.environment, server) as window:
        window.open_file("axe/agents/coder.toml")
        window.run_agent("coder", "Go")
        window.run_command("axe: Show the Log of Runs")
        window.wait_for_output("coder | Done.", "coder ✓ completed")
    results = [each.body["messages"][-1]["content"] for each in provider.asked("m-coder")][1:]
    definition, references, hover, symbols, callers, diagnostics, broken, mended, *fast = results
    assert definition.splitlines()[1:] == ["src/age.ts:1: export const age: number = 1;"]
    lines = ["src/age.ts:1:", "src/age.ts:3:", "src/main.ts:1:", "src/main.ts:2:"]
    assert sorted(line.split(" ")[0] for line in references.splitlines()[1:]) == lines
    assert "older(): number" in hover
    assert "src/age.ts:2: function older" in symbols.splitlines()
    assert any(line.startswith("src/main.ts:2: ") for line in callers.splitlines())
    assert diagnostics == "no problems"
    replaced = "replaced 1 occurrence(s) in src/age.ts"
    # A busy machine may take longer than the time that a result waits. Nothing old is in it then.
    late = f"{replaced}\nthe editor has not finished checking src/age.ts"
    errors = [each for each in (broken, fast[-1]) if each != late]
    assert errors
    assert all(each.splitlines()[2:] == [TYPE_ERROR] for each in errors)
    assert {mended, *fast[:-1]} <= {replaced, late}
