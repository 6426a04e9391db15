"""`axe-lsp run` with agents that use tools."""

from __future__ import annotations

import signal

import pytest

from support.command_line import Home
from support.engines import agent
from support.processes import Sleepers
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider

WRITE = Call("write_file", {"path": "a.txt", "content": "A"})


def told(provider: ScriptedProvider, call: str) -> str:
    """Return the result that the model got for a call, last."""
    messages = provider.requests[-1].body["messages"]
    (result,) = [each["content"] for each in messages if each.get("tool_call_id") == call]
    return str(result)


def test_tools_change_files_if_the_user_says_yes(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("writer", tools=["write_file"]))
    provider.script("m-writer", Says(calls=[WRITE]), Says("done"))
    assert home.call("run", "writer", "--yes") == (0, "done", "")
    assert (home.work / "a.txt").read_text() == "A"


def test_without_a_yes_nothing_is_changed_and_the_user_learns_why(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add(agent("writer", tools=["write_file"]))
    provider.script("m-writer", Says(calls=[WRITE, WRITE]), Says("done"))
    code, out, err = home.call("run", "writer")
    assert (code, out) == (0, "done")
    assert err == (
        'Warning: agent "writer" wanted to use write_file, which needs your approval: '
        "--allow 'write_file(a.txt)' allows it; --yes lets all tools change files and run commands\n"
    )
    assert not (home.work / "a.txt").exists()


class TestAllow:
    def test_rule_of_command_line_allows_its_calls_only(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["write_file", "run_command"]))
        run = Call("run_command", {"command": "echo hello there"}, "2")
        other = Call("run_command", {"command": "touch b.txt"}, "3")
        provider.script("m-writer", Says(calls=[WRITE, run, other]), Says("done"))

        rules = ["--allow", "write_file(a.*)", "--allow", "run_command(echo *)"]
        code, _, err = home.call("run", "writer", *rules)

        assert code == 0
        assert (home.work / "a.txt").read_text() == "A"
        assert told(provider, "2").startswith("hello there\n")
        assert "was not allowed" in told(provider, "3")
        assert not (home.work / "b.txt").exists()
        assert "--allow 'run_command(touch b.txt)' allows it" in err

    def test_rule_holds_for_resumed_run_and_for_each_message_of_chat(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["write_file"]))
        provider.script("m-writer", Refuses(500))
        assert home.call("run", "writer")[0] != 0
        rule = ["--allow", "write_file(a.*)"]

        provider.script("m-writer", Says(calls=[WRITE]), Says("resumed"))
        assert home.call("resume", *rule) == (0, "resumed", "")
        assert (home.work / "a.txt").read_text() == "A"

        (home.work / "a.txt").unlink()
        provider.script("m-writer", Says("hello"), Says(calls=[WRITE]), Says("written"))
        assert home.call("chat", "writer", *rule, stdin="one\ntwo\n")[:2] == (0, "hello\nwritten\n")
        assert (home.work / "a.txt").read_text() == "A"

    def test_rule_of_config_toml_allows_its_calls(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["write_file"]))
        config = home.config / "config.toml"
        config.write_text(
            f"[tools]\nallow = ['write_file(a.*)', 'x/y']\n{config.read_text() if config.exists() else ''}"
        )
        provider.script("m-writer", Says(calls=[WRITE]), Says("done"))

        code, _, err = home.call("run", "writer")

        assert code == 0
        assert (home.work / "a.txt").read_text() == "A"
        assert '"x/y" in [tools] of config.toml names a server of MCP' in err

    @pytest.mark.parametrize("value", ["3", "[3]", "'write_file'"])
    def test_rules_of_wrong_type_are_reported(
        self, home: Home, provider: ScriptedProvider, value: str
    ) -> None:
        home.add(agent("writer", tools=["write_file"]))
        (home.config / "config.toml").write_text(f"[tools]\nallow = {value}\n")

        code, _, err = home.call("run", "writer")

        assert code == 2
        assert "tools.allow is not an array of strings" in err

    @pytest.mark.parametrize(
        "command",
        [
            "cat a | sh",
            "true; rm -r x",
            "echo $(id)",
            "echo a\nrm b",
            "a && b",
            "echo \x1b[2J",
            "x > y",
        ],
    )
    def test_denied_command_of_shell_is_offered_no_rule(
        self, home: Home, provider: ScriptedProvider, command: str
    ) -> None:
        home.add(agent("writer", tools=["run_command"]))
        call = Call("run_command", {"command": command}, "1")
        provider.script("m-writer", Says(calls=[call]), Says("done"))

        _, _, err = home.call("run", "writer")

        assert err == (
            'Warning: agent "writer" wanted to use run_command, which needs your approval: '
            "--yes lets all tools change files and run commands\n"
        )

    def test_offered_rule_is_quoted_for_shells(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["run_command"]))
        command = "echo 'a b' \"c\""
        call = Call("run_command", {"command": command}, "1")
        provider.script("m-writer", Says(calls=[call]), Says("done"))
        _, _, err = home.call("run", "writer")
        offered = err.partition("approval: ")[2].partition(" allows it")[0]

        provider.script("m-writer", Says(calls=[call]), Says("done"))
        code, _, err = home.shell(f"run writer {offered}")

        assert (code, err) == (0, "")
        assert told(provider, "1").startswith("a b c\n")

    def test_rule_without_effect_is_refused_before_anything_is_sent(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["write_file"]))

        code, _, err = home.call("run", "writer", "--allow", "read_file(x)")

        assert code == 1
        assert "only `run_command` takes a command" in err
        assert not provider.requests

    def test_many_denied_calls_cause_few_warnings(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add(agent("writer", tools=["run_command"]))
        calls = [Call("run_command", {"command": f"touch {n}"}, str(n)) for n in range(30)]
        provider.script("m-writer", Says(calls=calls), Says("done"))

        _, _, err = home.call("run", "writer")

        assert err.count("Warning:") == 10


@pytest.mark.req("001-8.7")
def test_verbose_tells_what_tools_are_used_for(home: Home, provider: ScriptedProvider) -> None:
    (home.work / "a.txt").write_text("A")
    home.add(agent("reader", tools=["read_file"]))
    calls = [
        Call("read_file", {"path": "a.txt"}, "1"),
        Call("read_file", {"path": "b\n" * 90}, "2"),
    ]
    provider.script("m-reader", Says(calls=calls), Says("done"))
    code, _, err = home.call("run", "reader", "-v")
    assert code == 0
    said = [line for line in err.splitlines() if line.startswith("[tool]")]
    assert '[tool] read_file: path "a.txt" (success)' in said
    long = "b " * 60
    assert f'[tool] read_file: path "{long}...": {long}... (error)' in said


def test_dry_run_names_the_tools_that_are_offered(home: Home, provider: ScriptedProvider) -> None:
    home.add(agent("a", tools=["Read", "write_*"], tool_policy={"allow": ["List"]}))
    code, out, err = home.call("run", "a", "--dry-run")
    assert (code, err) == (0, "")
    assert "--- Tools ---\nread_file, write_file, list_directory\n" in out
    assert provider.requests == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_when_axe_lsp_is_killed_its_commands_end(
    home: Home, provider: ScriptedProvider, end: signal.Signals
) -> None:
    sleepers = Sleepers()
    home.add(agent("a", tools=["run_command"]))
    command = f"setsid {sleepers.command} & {sleepers.command}; true"
    provider.script("m-a", Says(calls=[Call("run_command", {"command": command})]))
    with home.start("run", "a", "--yes") as process:
        sleepers.wait_for(2)
        process.send_signal(end)
        sleepers.wait_for(0)
        process.communicate()
