"""`axe-lsp doctor`, `models` and `help`."""

from __future__ import annotations

import json
import shlex
import sqlite3
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from axe_lsp.cli.examples import EXAMPLES, TOPICS
from axe_lsp.cli.main import COMMANDS, module_of
from support.command_line import Home
from support.scripted_provider import ScriptedProvider

DOCS = Path(__file__).parents[2] / "docs"


def findings(home: Home, *options: str) -> dict[str, list[Any]]:
    """Return the findings by topic."""
    by_topic: dict[str, list[Any]] = {}
    for each in json.loads(home.call("doctor", "--json", *options)[1]):
        by_topic.setdefault(each["topic"], []).append(each)
    return by_topic


class TestDoctor:
    def test_names_of_keys_are_shown_and_values_are_not(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        secret = "sk-ant-REDACTED"
        home.environment["ANTHROPIC_API_KEY"] = secret
        home.environment["AXE_ANTHROPIC_BASE_URL"] = provider.url.replace("//", f"//user:{secret}@")

        code, out, err = home.call("doctor", "--network")

        assert code == 0
        assert "anthropic: $ANTHROPIC_API_KEY" in out
        assert secret not in out + err

    def test_nothing_is_connected_to_unless_network_is_given(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        assert "network" not in findings(home)
        assert {each["level"] for each in findings(home, "--network")["network"]} >= {"ok"}
        assert not provider.requests

    def test_broken_config_is_a_fault_with_next_step(self, home: Home) -> None:
        (home.config / "config.toml").write_text("[providers\n")

        code, out, _ = home.call("doctor")

        assert code == 1
        assert "FAULT" in out
        assert "axe-lsp check" in findings(home)["config"][0]["nextStep"]

    def test_readable_config_is_a_warning(self, home: Home) -> None:
        (home.config / "config.toml").write_text("")
        (home.config / "config.toml").chmod(0o644)

        assert findings(home)["config"][0]["level"] == "warning"

    def test_damaged_history_is_a_fault(self, home: Home) -> None:
        home.history.parent.mkdir(parents=True)
        home.history.write_bytes(b"no database" * 1000)

        assert findings(home)["history"][0]["level"] == "fault"

    def test_history_of_runs_is_counted(self, home: Home) -> None:
        home.history.parent.mkdir(parents=True)
        with sqlite3.connect(home.history) as connection:
            connection.execute("CREATE TABLE runs (depth)")
            connection.execute("INSERT INTO runs VALUES (0), (1)")
        connection.close()

        assert findings(home)["history"][0]["text"].startswith("1 run,")

    def test_missing_programs_have_next_steps(self, home: Home, tmp_path: Path) -> None:
        home.environment["PATH"] = str(tmp_path)

        found = findings(home)

        assert found["git"][0]["level"] == "warning"
        assert all(found[topic][0]["nextStep"] for topic in ("git", "ripgrep", "editors"))

    def test_agents_that_reach_outside_wait_for_trust(self, home: Home) -> None:
        folder = home.work / "axe" / "agents"
        folder.mkdir(parents=True)
        text = 'name = "a"\nmodel = "anthropic/m"\nfiles = ["../secret"]\n'
        (folder / "a.toml").write_text(text)
        (folder / "broken.toml").write_text("name = \n")

        found = findings(home)

        assert [each["level"] for each in found["trust"]] == ["warning"]
        assert any("broken.toml can't be run" in each["text"] for each in found["agents"])


class TestModels:
    def test_models_of_provider_have_prices(self, home: Home) -> None:
        code, out, _ = home.call("models", "anthropic", "--json")

        models = json.loads(out)
        assert code == 0
        assert models
        assert {each["provider"] for each in models} == {"anthropic"}
        assert all(each["context"] > 0 and each["outputPrice"] > 0 for each in models)

    def test_typo_of_provider_gets_suggestion(self, home: Home) -> None:
        code, _, err = home.call("models", "antropic")

        assert code == 2
        assert '"antropic" is not a known provider' in err

    def test_absent_ollama_has_no_models(self, home: Home) -> None:
        home.environment["AXE_OLLAMA_BASE_URL"] = "http://127.0.0.1:1"

        assert home.call("models", "ollama", "--json") == (0, "[]\n", "")


class TestHelp:
    def test_topics_are_the_pages_of_the_documentation(self, home: Home) -> None:
        topics = [line.split()[0] for line in home.call("help")[1].splitlines()]

        assert topics == sorted(path.stem for path in DOCS.glob("*.md"))

    def test_page_is_printed_as_it_is_in_a_pipe(self, home: Home) -> None:
        assert home.call("help", "undo")[1].startswith("usage: axe-lsp undo")
        assert "# Providers" in home.call("help", "providers")[1]

    def test_typo_of_topic_gets_suggestion(self, home: Home) -> None:
        home.environment["TERM"] = "dumb"

        code, _, err = home.call("help", "provider")

        assert code == 2
        assert "Did you mean `providers`?" in err

    @pytest.mark.parametrize("name", COMMANDS)
    def test_each_command_has_two_examples_that_are_valid(self, name: str) -> None:
        examples = [each for each in EXAMPLES[name] if f"axe-lsp {name}" in each]
        assert len(EXAMPLES[name]) == 2
        assert (DOCS / f"{TOPICS.get(name, 'command-line')}.md").exists()
        make = getattr(import_module(module_of(name)), "_parser", None)
        for example in examples:
            words = shlex.split(
                example.rpartition("| ")[2]
                .removeprefix("ssh HOST ")
                .removeprefix('eval "$(')
                .removesuffix(')"')
            )
            assert words[:2] == ["axe-lsp", name]
            if make is not None and words[2:3] != ["new"]:
                make().parse_args(words[2:])

    def test_help_of_command_ends_with_examples_and_page(self, home: Home) -> None:
        out = home.call("run", "--help")[1]

        assert "git diff | axe-lsp run reviewer --require-stdin" in out
        assert "`axe-lsp help command-line` shows the documentation." in out
        assert sys.executable not in out
