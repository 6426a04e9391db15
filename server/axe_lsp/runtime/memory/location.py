"""The file of a memory: an agent's own file, its workspace's, or one that is gone when the run ends."""

from __future__ import annotations

import contextlib
from pathlib import Path

from axe_lsp.agentfile.agent_definition import MemoryConfig
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, cache_folder, data_folder, expand_path


def memory_path(
    agent: str, config: MemoryConfig, workspace: Path, environment: Environment, root_run_id: str
) -> Path | None:
    """The file; None for the memory of a run where there is no run. Raises ConfigError."""
    if config.scope == "run":
        return _of_run(root_run_id, environment) if root_run_id else None
    if config.path:
        return workspace / expand_path(config.path, environment)
    folder = data_folder(environment) / "memory"
    return folder / (_of_workspace(workspace) if config.scope == "workspace" else f"{agent}.md")


def forget_run(root_run_id: str, environment: Environment) -> None:
    """Remove what agents have remembered for one run, which has ended."""
    with contextlib.suppress(ConfigError, OSError):
        _of_run(root_run_id, environment).unlink()


def _of_run(root_run_id: str, environment: Environment) -> Path:
    return cache_folder(environment) / "memory" / f"{root_run_id}.md"


def _of_workspace(workspace: Path) -> str:
    """Told apart by the whole path, and told to people by its last part."""
    import hashlib

    place = workspace.resolve()
    digest = hashlib.sha256(str(place).encode("utf-8", "surrogateescape")).hexdigest()
    return f"workspaces/{place.name}-{digest[:12]}.md"
