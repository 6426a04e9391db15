"""The agents of axe-lsp that make the conversations of `bare_loop`."""

from __future__ import annotations

import os
from pathlib import Path

from conversations import PROMPT

PARENT, CHILD = "parent", "child"

_AGENT = 'name = "{name}"\nmodel = "openai/{model}"\nsystem_prompt = "{prompt}"\n'
_DELEGATES = f'sub_agents = ["{CHILD}"]\n'


def make_home(folder: Path, address: str) -> None:
    """A home for this process and its children, in which all models are at one address."""
    home = str(folder)
    os.environ.update(AXE_OPENAI_BASE_URL=address, OPENAI_API_KEY="key", HOME=home)
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[variable] = home


def write_agents(folder: Path, model: str, child_model: str = "wait-50") -> None:
    """An agent that is answered by `model`, and the one that it may call."""
    agents = folder / "axe" / "agents"
    agents.mkdir(parents=True, exist_ok=True)
    parent = _AGENT.format(name=PARENT, model=model, prompt=PROMPT) + _DELEGATES
    (agents / f"{PARENT}.toml").write_text(parent)
    child = _AGENT.format(name=CHILD, model=child_model, prompt=PROMPT)
    (agents / f"{CHILD}.toml").write_text(child)
