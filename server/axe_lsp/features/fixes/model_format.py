"""The provider that is missing in front of the model's name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axe_lsp.agentfile.model_name import AXE_PROVIDERS
from axe_lsp.features.fix import Case, Fix, find_value, respell

_SEPARATOR = re.compile(r"\s*(?:[:\\.]|//|\s)\s*")

_MAKERS = {"claude": "anthropic", "gpt": "openai", "gemini": "google", "llama": "ollama"}
"""How the names of well-known models begin, and who serves them."""


def fixes(case: Case) -> Iterator[Fix]:
    found = find_value(case)
    written = found.decoded(case) if found is not None else None
    if isinstance(written, str):
        models = dict.fromkeys(_meant(case, written.strip("/ ")))
        for rank, model in enumerate(models):
            yield respell(case, model, preferred=rank == 0)


def _meant(case: Case, written: str) -> Iterator[str]:
    """What `written` may stand for, likely models first."""
    provider, *name = _SEPARATOR.split(written, maxsplit=1)
    if provider.lower() in AXE_PROVIDERS and name:
        yield f"{provider.lower()}/{name[0]}"
    used = {each.model.value for each in case.snapshot.files() if each.model is not None}
    yield from sorted(model for model in used if "/" in model and written in model.split("/", 1))
    for beginning, maker in _MAKERS.items():
        if written.lower().startswith(beginning):
            yield f"{maker}/{written}"
