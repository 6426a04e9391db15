"""The analysis of an agent's memory by a model (axe M7)."""

from __future__ import annotations

from pathlib import Path

import anyio

from axe_lsp.agentfile.schema.model_name import ModelNameError, parse_model_name
from axe_lsp.runtime.errors import AgentError, RunTimeoutError, timeout_message
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.messages import Message, Request
from axe_lsp.runtime.providers.provider import Exchange, Provider
from axe_lsp.runtime.runs import DEFAULT_TIMEOUT, new_run_id

INSTRUCTIONS = """\
You analyze the memory of an AI agent. You are given the log of its past tasks and their results.
Write a report of exactly three sections, under exactly these headings:

## Patterns Found
Themes, kinds of tasks and ways of working that come up again and again. Without any, write "No \
clear patterns detected."

## Repeated Work
Tasks that were done more than once with the same or nearly the same input. Without any, write "No \
repeated work detected."

## Recommendations
What the user could change in the agent's configuration, its skill or the way it is used, as \
concrete steps that follow from the above. Without any, write "No specific recommendations."

Be brief, and name entries by their timestamps where that helps.
"""

TEMPERATURE = 0.3
MAX_TOKENS = 4096


async def analyze(agent: str, model: str, entries: str, provider: Provider, workspace: Path) -> str:
    """Ask `model` (as provider/model-name) what `entries` have in common: one request, no tools.

    Raises RunError.
    """
    try:
        chosen = parse_model_name(model)
    except ModelNameError as error:
        raise AgentError(str(error)) from error
    provider.check(chosen, workspace)
    run_id = new_run_id()
    request = Request(
        model=chosen.name,
        system=INSTRUCTIONS,
        messages=(Message("user", entries),),
        temperature=TEMPERATURE,
        max_tokens=MAX_TOKENS,
    )
    exchange = Exchange(RunIds(run_id, run_id, agent), chosen, 1, request, workspace)
    try:
        with anyio.fail_after(DEFAULT_TIMEOUT):
            return (await provider.send(exchange, on_delta=None)).content
    except TimeoutError as error:
        raise RunTimeoutError(timeout_message(DEFAULT_TIMEOUT)) from error
