"""The identity of a version of an agent: equal for files that mean the same, whatever their comments, order and layout."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.plain_text import digest_of
from axe_lsp.runtime.prompt import load_skill
from axe_lsp.runtime.safety.reach import Admitted


def definition_digest(
    definition: AgentDefinition, workspace: Path, environment: Environment
) -> str:
    """Return the SHA-256 of a definition with the text of its skill, without its path.

    The text of a skill for which the user would have to trust the file does not count: it is not read for this.
    """
    skill = ""
    with suppress(ConfigError):
        check = Admitted((), definition, workspace, environment).check_skill
        skill = load_skill(definition.skill, environment, check)
    content = replace(definition, source=None, read_only=False, notes=(), beyond_first_axe=False)
    values = msgspec.to_builtins(content, enc_hook=str)
    return digest_of(json.dumps([values, skill], sort_keys=True))
