"""`axe-lsp init`: a project's first agent, with a model for which the user has a key."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from axe_lsp.agentfile.lookup_order import AGENT_FOLDERS, SUFFIX
from axe_lsp.agentfile.schema.models import MODELS
from axe_lsp.agentfile.schema.providers import PROVIDERS
from axe_lsp.agentfile.text.splices import literal
from axe_lsp.cli.arguments import Parser
from axe_lsp.daemon import disk
from axe_lsp.runtime.agent_search import project_agents_folder
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.agent_files import check_name
from axe_lsp.runtime.files.default_model import named_model, usual_model
from axe_lsp.runtime.files.folders import working_folder
from axe_lsp.runtime.files.user_config import UserConfig, load_user_config
from axe_lsp.runtime.plain_text import os_fault

_AGENT = '''\
name = {name}
description = "Answers questions about the files of this project"
model = {model}

system_prompt = """
You answer questions about this project. Look into its files before you answer, and name the files
that you have used.
"""

# Tools that only read. `axe-lsp help agent-files` lists all tools.
tools = ["list_directory", "find_files", "grep", "read_file"]
'''


def main(arguments: Sequence[str]) -> int:
    """Write the agent, and say what comes next."""
    options = _parser().parse_args(arguments)
    path, model = _init(options.name.removesuffix(SUFFIX), options.model)
    name = path.stem
    print(f"{path}\n\nThe agent {name} uses {model}. Next:")
    print(f'  axe-lsp run {quote(name)} -p "What is this project about?"')
    print(f"  axe-lsp chat {quote(name)}")
    print("  axe-lsp check")
    return 0


def _init(name: str, model: str) -> tuple[Path, str]:
    """Return the new file and its model. Raises ConfigError."""
    check_name(name)
    config = load_user_config(os.environ)
    model = named_model(model, config) if model else _usual_model(config)
    folder = project_agents_folder() or working_folder() / AGENT_FOLDERS[0]
    path = folder / f"{name}{SUFFIX}"
    try:
        disk.create(path, _AGENT.format(name=literal(name), model=literal(model)))
    except FileExistsError:
        raise ConfigError(
            f"there is an agent {path} already; `axe-lsp init NAME` takes another name"
        ) from None
    except OSError as error:
        raise ConfigError(f"the agent can't be written: {os_fault(error)}") from error
    return path, model


def _usual_model(config: UserConfig) -> str:
    """Return a model for which there is a key. Raises ConfigError."""
    model = usual_model(config)
    if model is not None:
        return model
    others = [name for name in PROVIDERS if config.key_origin(name)]
    if others:
        provider = others[0]
        raise ConfigError(
            f"there is a key for {provider}, of which no model is known here; name one: "
            f"axe-lsp init --model {provider}/NAME"
        )
    variables = " or ".join(
        PROVIDERS[name].key_variable for name in dict.fromkeys(each.provider for each in MODELS)
    )
    raise ConfigError(
        f"no API key was found; set {variables}, or name a model that needs none: "
        "axe-lsp init --model ollama/NAME"
    )


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="axe-lsp init",
        description="Create the first agent of a project, with a model for which there is a key.",
    )
    parser.add_argument(
        "name", nargs="?", default="assistant", help="the name of the agent (default: assistant)"
    )
    parser.add_argument(
        "--model",
        metavar="PROVIDER/NAME",
        default="",
        help="the model (default: one of a provider for which there is a key)",
    )
    return parser
