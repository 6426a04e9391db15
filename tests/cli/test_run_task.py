"""`axe-lsp run`: the prompt as a word, standard input that is empty or no text, `--json=full`."""

from __future__ import annotations

import json
import sys
from typing import Any

import jsonschema
import pytest

from axe_lsp.cli.full_result import json_schema
from support.command_line import COMMAND, Home
from support.scripted_provider import Refuses, Says, ScriptedProvider, calls_agent
from support.terminal import Terminal

SOLO = 'name = "solo"\nmodel = "anthropic/m"\n'


def task(provider: ScriptedProvider) -> str:
    """Return the text of the first message of the last request."""
    content = provider.requests[-1].body["messages"][0]["content"]
    return content if isinstance(content, str) else "".join(each["text"] for each in content)


@pytest.mark.parametrize(
    "arguments",
    [
        ["solo", "Hello?"],
        ["solo", "--json", "Hello?"],
        ["--json", "solo", "Hello?"],
        ["solo", "Hello?", "-v"],
    ],
)
def test_word_after_agent_is_prompt(
    home: Home, provider: ScriptedProvider, arguments: list[str]
) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."))

    assert home.call("run", *arguments)[0] == 0
    assert task(provider) == "Hello?"


def test_binary_standard_input_is_refused_before_anything_is_sent(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})

    code, _, err = home.shell_line(f"printf 'a\\000b' | {COMMAND[0]} -m axe_lsp run solo")

    assert code == 2
    assert "standard input is binary, not text in UTF-8; nothing was sent" in err
    assert not provider.requests


def test_other_encoding_of_standard_input_is_reported(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."))

    _, _, err = home.shell_line(f"printf 'caf\\351' | {COMMAND[0]} -m axe_lsp run solo")

    assert "standard input is not UTF-8" in err
    assert task(provider) == "caf\N{REPLACEMENT CHARACTER}"


def test_replacement_character_of_standard_input_itself_is_not_reported(
    home: Home, provider: ScriptedProvider
) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."))

    assert home.call("run", "solo", stdin="caf\N{REPLACEMENT CHARACTER}")[2] == ""


@pytest.mark.parametrize("prompt", [[], ["-p", "Review."]])
def test_require_stdin_sends_nothing_without_text(
    home: Home, provider: ScriptedProvider, prompt: list[str]
) -> None:
    home.add({"solo": SOLO})

    code, _, err = home.call("run", "solo", "--require-stdin", *prompt, stdin=" \n")

    assert code == 2
    assert "standard input has no text" in err
    assert not provider.requests


def test_empty_pipe_is_reported_at_terminal_only(home: Home, provider: ScriptedProvider) -> None:
    home.add({"solo": SOLO})
    provider.script("m", Says("Yes."), Says("Yes."))

    assert home.call("run", "solo", stdin="") == (0, "Yes.", "")

    pipe = ["/bin/sh", "-c", f"true | {sys.executable} -m axe_lsp run solo"]
    with Terminal(pipe, home.environment, home.work) as terminal:
        code, rows = terminal.end()
    assert code == 0
    assert "Warning: standard input is empty" in " ".join(rows)


class TestFullJson:
    def validated(self, out: str) -> Any:
        result = json.loads(out)
        jsonschema.validate(result, json_schema())
        return result

    def test_agent_of_first_axe_has_all_keys(self, home: Home, provider: ScriptedProvider) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Says("Yes."))

        _, out, _ = home.call("run", "solo", "--json=full")

        result = self.validated(out)
        assert set(result) == set(json_schema()["$defs"]["FullResult"]["properties"])
        (stored,) = json.loads(home.call("history", "list", "--json")[1])
        assert (result["run_id"], result["status"]) == (stored["runId"], "completed")
        assert result["tree"] == {"cost": None, "input_tokens": 10, "output_tokens": 5}
        assert result["error"] is None

    def test_tree_has_called_agents(self, home: Home, provider: ScriptedProvider) -> None:
        home.add(
            {
                "solo": SOLO + 'sub_agents = ["sub"]\n',
                "sub": SOLO.replace("solo", "sub").replace("/m", "/n"),
            }
        )
        provider.script("m", Says(calls=[calls_agent("sub", "Go")]), Says("Yes."))
        provider.script("n", Says("No."))

        _, out, _ = home.call("run", "solo", "--json=full")

        result = self.validated(out)
        assert (result["input_tokens"], result["tree"]["input_tokens"]) == (20, 30)
        assert result["tool_call_details"][0]["name"] == "call_agent"

    def test_failure_has_all_keys(self, home: Home, provider: ScriptedProvider) -> None:
        home.add({"solo": SOLO})
        provider.script("m", Refuses(401))

        _, out, _ = home.call("run", "solo", "--json=full")

        result = self.validated(out)
        assert result["status"] == "failed"
        assert result["error"]["kind"] == "api"

    def test_missing_agent_has_all_keys(self, home: Home) -> None:
        _, out, _ = home.call("run", "nobody", "--json=full")

        result = self.validated(out)
        assert result["run_id"] == ""
        assert result["error"]["kind"] == "config"

    def test_other_value_is_an_error(self, home: Home) -> None:
        code, _, err = home.call("run", "solo", "--json=everything")

        assert code == 1
        assert "'everything' is neither true nor false" in err

    def test_later_agent_has_id_status_tree_and_cost_without_full(
        self, home: Home, provider: ScriptedProvider
    ) -> None:
        home.add({"solo": SOLO + "[budget]\nmax_turns = 5\n"})
        provider.script("m", Says("Yes."))

        _, out, _ = home.call("run", "solo", "--json")

        assert {"run_id", "status", "tree", "cost"} <= set(json.loads(out))
