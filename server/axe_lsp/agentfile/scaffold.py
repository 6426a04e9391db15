"""The file that a new agent begins as: axe's, with what else could be said in comments."""

from __future__ import annotations

from axe_lsp.agentfile.text.splices import literal

NO_MODEL = "provider/model-name"
"""The model of a new agent for which none can be chosen."""


def scaffold(name: str, model: str) -> str:
    """Return the text of a new agent file."""
    return _SCAFFOLD.format(name=literal(name), model=literal(model))


_SCAFFOLD = """\
name = {name}
description = ""

# The model, as provider/model-name
model = {model}

# The instructions of every conversation
# system_prompt = ""

# A SKILL.md to append; a relative path starts at the configuration folder
# skill = ""

# Text files to show to the agent: globs, relative to workdir
# files = []

# The working directory; the default is the folder in which the run is started
# workdir = ""

# Agents that it may call
# sub_agents = []

# [sub_agents_config]
# max_depth = 3
# parallel = true
# timeout = 120

# [memory]
# enabled = false
# path = ""
# last_n = 10
# max_entries = 100

# [params]
# temperature = 0.3
# max_tokens = 4096
"""
