"""Names of models: axe writes `provider/model-name`, the others a name of their own provider."""

from __future__ import annotations

import re

from axe_lsp.agentfile.convert.formats import Reading, Writing
from axe_lsp.agentfile.schema.models import MODELS
from axe_lsp.agentfile.schema.providers import ModelNameError, parse_model_name

INHERIT = "inherit"
"""The model of the session, in Claude Code and Gemini CLI."""

_FAMILIES = (("claude-", "anthropic"), ("gpt-", "openai"), ("gemini-", "google"))
CLAUDE_ALIASES = ("sonnet", "opus", "haiku", "fable")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
"""The efforts that the models of Codex and Claude Code know."""


def read_model(reading: Reading) -> None:
    """Take `model` as a text, or as a list whose first model counts."""
    key = reading.format.keys["model"]
    value = reading.take(key)
    if isinstance(value, list) and value:
        for other in value[1:]:
            reading.notes.lost(f"{key}: {other}", "only the first model counts")
        value = value[0]
    if value is None or value == INHERIT:
        if value is not None:
            reading.notes.lost(key, "`inherit` is the model of the session")
        return
    model = _of_axe(value) if isinstance(value, str) else ""
    if not model:
        reading.notes.lost(key, f"{value!r} does not say which provider has the model")
        return
    reading.source_keys["model"] = key
    reading.agent.model = model
    if model != value:
        reading.notes.mapped(key, f"`{value}` is `{model}`")


def _of_axe(text: str) -> str:
    """Return the model as `provider/model-name`, "" if it is not known who has it."""
    name = re.sub(r"\s*\((?:copilot|preview)\)|\[1m\]$", "", text.strip(), flags=re.IGNORECASE)
    if name in CLAUDE_ALIASES:
        newest = (str(each) for each in MODELS if each.name.startswith(f"claude-{name}-"))
        return next(newest, "")
    known = name.lower().replace(" ", "-")
    if "/" in known:
        return name
    for start, provider in _FAMILIES:
        if known.startswith(start):
            is_claude = start == "claude-"
            return f"{provider}/{known.replace('.', '-') if is_claude else known}"
    return ""


def write_model(writing: Writing, provider: str) -> None:
    """Write the model if the one provider has it that the format's program talks to."""
    model = writing.agent.model
    if not model:
        return
    try:
        name = parse_model_name(model)
    except ModelNameError:
        writing.lost("model", f"{model!r} is not `provider/model-name`")
        return
    writing.notes.forget(writing.keys["model"])
    if name.provider != provider:
        writing.lost("model", f"{writing.format.title} has no models of {name.provider}")
        return
    writing.set(writing.format.keys["model"], name.name)
    writing.notes.mapped(writing.keys["model"], f"now `{name.name}`")


def write_effort(writing: Writing) -> None:
    """Write the effort if it is one of `EFFORTS`."""
    effort = writing.agent.effort
    if effort in EFFORTS:
        writing.set(writing.format.keys["effort"], effort)
    elif effort:
        writing.lost("effort", f"{writing.format.title} has no effort `{effort}`")
