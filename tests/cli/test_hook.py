"""`axe-lsp hook`: what the model of a coding agent is told about agent files that its tool call has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.cli import hook
from support.command_line import Home

BAD_CODEX = (
    'name = "r"\ndescription = "d"\ndeveloper_instructions = "x"\n'
    'sandbox_mod = "read-only"\ntools = ["read"]\n'
)
GOOD_CODEX = 'name = "r"\ndescription = "d"\ndeveloper_instructions = "x"\n'
LEAD = 'name = "lead"\nmodel = "anthropic/m"\nsub_agents = ["helper"]\n'
HELPER = 'name = "helper"\nmodel = "anthropic/m"\n'


class Session:
    """A session of a coding agent in a project, which calls the hook in this process."""

    def __init__(self, home: Home) -> None:
        self.root, self.home = home.work, home
        (self.root / ".git").mkdir()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def event(self, tool: str, name: str = "PostToolUse", **arguments: Any) -> dict[str, Any]:
        return {
            "session_id": "s",
            "cwd": str(self.root),
            "hook_event_name": name,
            "tool_name": tool,
            "tool_input": arguments,
            "tool_response": {},
        }

    def ask(self, event: object) -> str:
        """Return the text for the model."""
        answer = hook.answer(json.dumps(event).encode(), self.home.environment)
        if not answer:
            return ""
        output = json.loads(answer)["hookSpecificOutput"]
        assert isinstance(event, dict)
        assert output["hookEventName"] == event["hook_event_name"]
        return str(output["additionalContext"])

    def wrote(self, name: str) -> str:
        return self.ask(self.event("Write", file_path=str(self.root / name), content=""))

    def ran(self, event: str = "PostToolUse", tool: str = "Bash") -> str:
        return self.ask(self.event(tool, event, command="ls"))


@pytest.fixture
def session(home: Home, monkeypatch: pytest.MonkeyPatch) -> Session:
    for name, value in home.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.work)  # The hook changes the folder; this puts it back.
    return Session(home)


def test_written_codex_agent_is_reported_with_lines_and_fixes(session: Session) -> None:
    session.write(".codex/agents/r.toml", BAD_CODEX)
    assert session.wrote(".codex/agents/r.toml").split("\n") == [
        "axe-lsp: .codex/agents/r.toml has 2 errors; Codex will not load it.",
        'line 4: unknown key "sandbox_mod"; Codex rejects the file. '
        "Replace `sandbox_mod` with `sandbox_mode`. [unknown-key]",
        "line 5: tools must be a table, not an array. [wrong-type]",
    ]


def test_written_markdown_agent_is_reported_errors_first(session: Session) -> None:
    text = "---\nname: r\nmodel: sonet\ntools: Red\n---\nbody\n"
    session.write(".claude/agents/r.md", text)
    head, *lines = session.wrote(".claude/agents/r.md").split("\n")
    assert head == (
        "axe-lsp: .claude/agents/r.md has 1 error and 2 warnings; Claude Code will not load it."
    )
    assert [line.rpartition("[")[2] for line in lines] == [
        "missing-key]",
        "no-effect]",
        "unknown-tool]",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".codex/agents/r.toml", GOOD_CODEX),
        ("pyproject.toml", "[project\n"),
        ("README.md", "---\nname\n---\n"),
        ("src/main.py", "x ="),
    ],
)
def test_good_or_foreign_file_is_not_reported(session: Session, name: str, text: str) -> None:
    session.write(name, text)
    assert session.wrote(name) == ""


def test_hints_and_information_are_left_out(session: Session) -> None:
    """An axe agent without an API key has a finding that no model can fix."""
    session.write(
        "axe/agents/helper.toml", HELPER.replace("anthropic/m", "anthropic/claude-haiku-4-5")
    )
    assert session.wrote("axe/agents/helper.toml") == ""


def test_gemini_gets_the_name_of_its_event(session: Session) -> None:
    path = session.write(".codex/agents/r.toml", BAD_CODEX)
    event = session.event("write_file", "AfterTool", file_path=str(path))
    assert "sandbox_mode" in session.ask(event)


def test_each_file_of_a_patch_is_reported(session: Session) -> None:
    session.write(".codex/agents/r.toml", BAD_CODEX)
    session.write(".codex/agents/moved.toml", BAD_CODEX)
    session.write("axe/agents/x.toml", 'name = "x"\nmodl = "q"\n')
    patch = (
        "*** Begin Patch\n*** Add File: .codex/agents/r.toml\n+x\n"
        "*** Update File: .codex/agents/old.toml\n*** Move to: .codex/agents/moved.toml\n@@\n-a\n+b\n"
        "*** Update File: axe/agents/x.toml\n@@\n-a\n+b\n*** End Patch"
    )
    text = session.ask(session.event("apply_patch", command=patch))
    files = [line.split()[1] for line in text.split("\n") if line.startswith("axe-lsp:")]
    assert files == [".codex/agents/r.toml", ".codex/agents/moved.toml", "axe/agents/x.toml"]
    assert "no run of it can start" in text


def test_caller_of_an_agent_that_a_patch_deletes_is_reported(session: Session) -> None:
    session.write("axe/agents/lead.toml", LEAD)
    patch = "*** Begin Patch\n*** Delete File: axe/agents/helper.toml\n*** End Patch"
    text = session.ask(session.event("apply_patch", command=patch))
    assert text.split("\n") == [
        "axe-lsp: axe/agents/lead.toml has 1 warning.",
        'line 3: no agent file defines "helper"; calling it will fail. [unknown-agent]',
    ]


def test_agent_that_a_shell_command_has_written_is_reported_once(session: Session) -> None:
    assert session.ran("SessionStart", "") == ""
    session.write(".codex/agents/r.toml", BAD_CODEX)
    assert "sandbox_mode" in session.ran()
    assert session.ran() == ""


def test_callers_of_an_agent_that_a_shell_command_has_removed_are_reported(
    session: Session,
) -> None:
    session.write("axe/agents/lead.toml", LEAD)
    helper = session.write("axe/agents/helper.toml", HELPER)
    assert session.ran() == ""
    helper.unlink()
    assert '"helper"' in session.ran()


def test_file_that_a_write_has_reported_is_not_repeated_after_a_shell_command(
    session: Session,
) -> None:
    session.ran("SessionStart", "")
    session.write(".codex/agents/r.toml", BAD_CODEX)
    assert "sandbox_mode" in session.wrote(".codex/agents/r.toml")
    assert session.ran(tool="run_shell_command") == ""


def test_first_shell_command_of_a_session_has_nothing_to_compare_with(session: Session) -> None:
    session.write(".codex/agents/r.toml", BAD_CODEX)
    assert session.ran() == ""


def test_marks_of_sessions_are_private_and_deleted_after_a_week(session: Session) -> None:
    session.ran()
    (mark,) = (session.home.history.parent / "hooks").iterdir()
    if os.name == "posix":
        assert (mark.stat().st_mode & 0o777, mark.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    old = mark.with_name("old.json")
    old.write_text("{}")
    os.utime(old, (0, 0))
    session.write("axe/agents/helper.toml", HELPER)
    session.ran()
    assert [each.name for each in mark.parent.iterdir()] == [mark.name]


def test_answer_has_at_most_ten_findings_and_two_thousand_characters(session: Session) -> None:
    keys = "".join(f'key_{number} = "{"x" * 50}"\n' for number in range(40))
    session.write(".codex/agents/r.toml", GOOD_CODEX + keys)
    text = session.wrote(".codex/agents/r.toml")
    assert len(text) <= 2_000
    assert sum(line.startswith("line ") for line in text.split("\n")) <= 10
    assert "`axe-lsp check` lists" in text.split("\n")[-1]


def test_secret_in_a_file_is_not_repeated(session: Session) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    session.write(".codex/agents/r.toml", f'{GOOD_CODEX}sandbox_mod = "{secret}"\n')
    text = session.wrote(".codex/agents/r.toml")
    assert "sandbox_mod" in text
    assert secret[:20] not in text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"\xff",
        b'"text"',
        b'{"hook_event_name": 1}',
        b'{"hook_event_name": "PostToolUse"}',
        b'{"hook_event_name": "PostToolUse", "cwd": "relative"}',
        b'{"hook_event_name": "PostToolUse", "cwd": "/no/such/folder"}',
        b"[" * 100_000,
    ],
)
def test_input_that_is_no_event_gets_no_answer(content: bytes, session: Session) -> None:
    assert hook.answer(content, session.home.environment) == ""


@pytest.mark.parametrize("value", [None, 1, "", "\0", [], {"a": 1}, "x" * 10_000])
def test_target_of_a_wrong_type_gets_no_answer(value: object, session: Session) -> None:
    assert session.ask(session.event("Write", file_path=value)) == ""
    assert session.ask(session.event("apply_patch", command=value)) == ""


PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", ["claude-code/hook", "codex", "gemini"])
def test_integrations_call_the_hook_by_a_constant_command(folder: str) -> None:
    """Codex trusts a hook by its text, so each change of it has to be trusted again."""
    path = PROJECT / "integrations" / folder / "hooks" / "hooks.json"
    events = json.loads(path.read_text("utf-8"))["hooks"]
    (tool_event,) = events.keys() & set(hook.AFTER_TOOLS)
    ((command,),) = ([each["command"] for each in row["hooks"]] for row in events[tool_event])
    assert command == "command -v axe-lsp >/dev/null && axe-lsp hook || true"
    matched = events[tool_event][0]["matcher"].split("|")
    assert {*hook.SHELLS} & {*matched}
    assert "SessionStart" in events


@pytest.mark.parametrize(
    ("marketplace", "manifest"),
    [
        (".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"),
        (".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"),
    ],
)
def test_marketplaces_name_plugins_that_exist(marketplace: str, manifest: str) -> None:
    for row in json.loads((PROJECT / marketplace).read_text("utf-8"))["plugins"]:
        source = row["source"]
        folder = PROJECT / (source if isinstance(source, str) else source["path"])
        assert json.loads((folder / manifest).read_text("utf-8"))["name"] == row["name"]
        assert (folder / "LICENSE").read_text("utf-8") == (PROJECT / "LICENSE").read_text("utf-8")


@pytest.mark.process
def test_command_reads_an_event_from_standard_input(home: Home) -> None:
    path = home.work / ".codex" / "agents" / "r.toml"
    path.parent.mkdir(parents=True)
    path.write_text(BAD_CODEX)
    home.environment[hook.SECONDS] = "1000"
    event = {
        "cwd": str(home.work),
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": str(path)},
    }
    code, out, err = home.call("hook", stdin=json.dumps(event))
    assert (code, err) == (0, "")
    assert "sandbox_mode" in json.loads(out)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.process
def test_command_ends_silently_when_its_time_is_up(home: Home) -> None:
    home.environment[hook.SECONDS] = "0"
    assert home.call("hook", "--unknown", stdin='{"cwd": "/"}') == (0, "", "")
