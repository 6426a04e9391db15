"""A new user with an empty home and an empty folder, who makes the first agent at the terminal and goes to an editor."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.editors import clean_environment, server_program
from support.scripted_provider import Refuses, Says, ScriptedProvider

_MODEL = "claude-sonnet-5-5"
_VARIABLE = "ANTHROPIC_API_KEY"


class FirstHour:
    """The agent that `axe-lsp init` has made, and a provider that refuses a key once."""

    def __init__(self, provider: ScriptedProvider, scratch: Path) -> None:
        provider.script(_MODEL, Refuses(401, "invalid x-api-key"), Says("It works."))
        self._project = scratch / "project"
        self._project.mkdir()
        places = {name: at for name, at in provider.environment.items() if "BASE_URL" in name}
        self.environment = clean_environment(scratch / "home", **places)
        self.with_key = {**self.environment, _VARIABLE: "sk-ant-of-a-first-hour"}
        refused = self._init(self.environment)
        assert refused.returncode == 2
        assert f"set {_VARIABLE}" in refused.stderr, "it says which variable is missing"
        made = self._init(self.with_key)
        self.agent = Path(made.stdout.splitlines()[0])
        assert self.agent.exists()

    def key_is_asked_for(self, told: str) -> bool:
        """Return whether an editor has named the variable of the key."""
        return f"set {_VARIABLE} or add to config.toml" in told

    def _init(self, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(server_program()), "init"],
            cwd=self._project,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
