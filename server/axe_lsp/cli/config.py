"""`axe-lsp config`: the user's configuration folder, which axe-lsp shares with axe."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import complain
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.folders import config_folder
from axe_lsp.runtime.plain_text import os_fault

CONFIG = """\
# Settings for providers, shared by axe and axe-lsp.
# Environment variables take precedence over this file:
#   API key    <PROVIDER>_API_KEY       such as ANTHROPIC_API_KEY
#   base URL   AXE_<PROVIDER>_BASE_URL  such as AXE_OLLAMA_BASE_URL

# [providers.anthropic]
# api_key = ""
# base_url = ""

# [providers.openai]
# api_key = ""
# base_url = ""

# [providers.ollama]
# base_url = "http://localhost:11434"
"""

SKILL = """\
# Sample skill

A skill is a text that several agents share: a way of working, a checklist, house rules.
An agent uses this one with `skill = "skills/sample/SKILL.md"`.

## How to work

1. Read what you were given before you answer.
2. Say what you found and where.
3. Say what you could not find out.
"""


def main(arguments: Sequence[str]) -> int:
    """Find or create the configuration folder."""
    parser = _parser()
    command = parser.parse_args(arguments).command
    if command is None:
        parser.print_help()
        return 0
    try:
        folder = config_folder(os.environ)
        if command == "init":
            _create(folder)
    except RunError as error:
        complain(error)
        return 1
    print(folder)
    return 0


def _create(folder: Path) -> None:
    """Create what is missing; what is there stays as it is. Raises ConfigError."""
    try:
        (folder / "agents").mkdir(parents=True, exist_ok=True)
        _write_new(folder / "skills" / "sample" / "SKILL.md", SKILL, mode=0o644)
        _write_new(folder / "config.toml", CONFIG, mode=0o600)  # It will hold keys.
    except OSError as error:
        raise ConfigError(f"failed to create the configuration: {os_fault(error)}") from error


def _write_new(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _parser() -> Parser:
    parser = Parser(prog="axe-lsp config", description="Find and create the configuration folder.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, help_: str) -> None:
        commands.add_parser(name, help=help_, description=help_.capitalize() + ".")

    command("path", "print the path of the folder")
    command("init", "create the folder, config.toml and a sample skill")
    return parser
