"""Models that could be named: those in use, those that providers list, those that are installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from axe_lsp.agentfile.scaffold import NO_MODEL
from axe_lsp.agentfile.schema.key_spec import Names
from axe_lsp.agentfile.schema.models import MODELS, LocalModel, known_model
from axe_lsp.agentfile.schema.providers import PROVIDERS, REPLAY_PROVIDER
from axe_lsp.features.completion.cursor import Where, cursor_at
from axe_lsp.features.completion.item import Completion, CompletionKind, offer
from axe_lsp.features.describe import model_line, model_markdown
from axe_lsp.workspace.agent_file import AgentFile
from axe_lsp.workspace.snapshot import Snapshot

OLLAMA = "ollama"


def model_offers(
    snapshot: Snapshot, file: AgentFile, installed: Sequence[LocalModel]
) -> Iterator[Completion]:
    """Yield the models that the workspace uses most, then the others, then the providers."""
    for name, count in _in_use(snapshot, file):
        detail = f"used by {count} agent{'s' if count > 1 else ''}"
        model = known_model(name)
        yield offer(
            name,
            CompletionKind.MODEL,
            f"{detail} · {model_line(model)}" if model is not None else detail,
            model_markdown(model) if model is not None else "",
        )
    for local in installed:
        yield offer(f"{OLLAMA}/{local.name}", CompletionKind.MODEL, _installed(local))
    for model in sorted(MODELS, key=lambda model: model.ends != ""):
        yield offer(str(model), CompletionKind.MODEL, model_line(model), model_markdown(model))
    named = snapshot.facts_about(file).named_providers or ()
    for provider in (*named, *PROVIDERS, REPLAY_PROVIDER):
        detail = "provider of config.toml" if provider in named else "provider"
        yield offer(f"{provider}/", CompletionKind.MODEL, detail)


def is_about_ollama(file: AgentFile, offset: int) -> bool:
    """Return whether the name of a model of Ollama is being typed."""
    if file.open is None:
        return False
    cursor = cursor_at(file.open, offset)
    if cursor.where is not Where.STRING or cursor.spec is None:
        return False
    typed = file.open.parse.text[cursor.range.start : offset]
    provider, slash, _ = typed.partition("/")
    is_its_name = provider == OLLAMA if slash else len(provider) > 1 and OLLAMA.startswith(provider)
    return cursor.spec.names is Names.MODEL and is_its_name


def _in_use(snapshot: Snapshot, file: AgentFile) -> list[tuple[str, int]]:
    names = Counter(
        each.model.value for each in snapshot.files() if each.model and each is not file
    )
    real = [(name, count) for name, count in names.items() if "/" in name and name != NO_MODEL]
    return sorted(real, key=lambda each: (-each[1], each[0]))


def _installed(local: LocalModel) -> str:
    size = f"{local.size / 1e9:.1f} GB" if local.size else ""
    return ", ".join(filter(None, ("installed", local.parameters, size)))
