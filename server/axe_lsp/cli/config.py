"""`axe-lsp config`: the user's configuration folder, which axe-lsp shares with axe, and the keys in it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from getpass import getpass
from pathlib import Path

from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import complain, tell_person
from axe_lsp.runtime.errors import ConfigError, RunError
from axe_lsp.runtime.files.folders import config_folder
from axe_lsp.runtime.files.user_config import load_user_config
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

# Requests that a provider refuses for a moment (429, 500, 503, 529) are sent again, for all agents whose
# files have no [retry] of their own:
# [retry]
# max_retries = 3
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
    options = parser.parse_args(arguments)
    command = options.command
    if command is None:
        parser.print_help()
        return 0
    try:
        if command == "key":
            return _ask_for_key(options.provider)
        folder = config_folder(os.environ)
        if command == "init":
            _create(folder)
    except RunError as error:
        complain(error)
        return 1
    print(folder)
    if command == "init":
        tell_person(
            "`axe-lsp config key anthropic` stores an API key in config.toml there; `axe-lsp init` creates an agent."
        )
    return 0


def _create(folder: Path) -> None:
    """Create what is missing; what is there stays as it is. Raises ConfigError."""
    try:
        (folder / "agents").mkdir(parents=True, exist_ok=True)
        _write_new(folder / "skills" / "sample" / "SKILL.md", SKILL, mode=0o644)
        _write_new(folder / "config.toml", CONFIG, mode=0o600)  # It will hold keys.
    except OSError as error:
        raise ConfigError(f"failed to create the configuration: {os_fault(error)}") from error


def _ask_for_key(provider: str) -> int:
    """Put the key of a provider into config.toml. Raises RunError."""
    # Imported late: the other commands don't need it.
    from axe_lsp.daemon.config_file import put_key

    provider = provider or _line("Provider (such as anthropic or openai): ")
    config = load_user_config(os.environ)
    row = config.provider(provider)
    if row is None:
        raise ConfigError(
            f"{quoted(provider)} is not a known provider",
            hint=f"Known are {', '.join(sorted(PROVIDERS))}, and those with a `wire` in config.toml",
        )
    key = _secret(f"API key of {provider} (it is not shown): ").strip()
    if not key:
        raise ConfigError("no key was given; nothing has changed")
    path = put_key(os.environ, provider, key, replaces=True)
    print(f"The key of {provider} is in {path}, which only you can read.")
    if os.environ.get(row.key_variable):
        print(f"{row.key_variable} in the environment overrides it.", file=sys.stderr)
    return 0


def _line(prompt: str) -> str:
    print(prompt, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def _secret(prompt: str) -> str:
    """Return a line that nobody sees; from standard input if that is not a terminal."""
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    try:
        return getpass(prompt)
    except (EOFError, KeyboardInterrupt):
        return ""


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

    def command(name: str, help_: str) -> ArgumentParser:
        return commands.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.")

    command("path", "print the path of the folder")
    command("init", "create the folder, config.toml and a sample skill")
    key = "store the API key of a provider in config.toml, without showing it"
    command("key", key).add_argument(
        "provider",
        metavar="PROVIDER",
        nargs="?",
        default="",
        help="such as anthropic; asked for if missing",
    )
    return parser
