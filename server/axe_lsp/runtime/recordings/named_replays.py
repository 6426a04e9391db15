"""Recordings that agent files name as their model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from axe_lsp.agentfile.schema.model_name import REPLAY_PROVIDER, ModelName
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.providers.provider import Exchange, OnDelta, Provider

if TYPE_CHECKING:
    from axe_lsp.runtime.recordings.replay import Replay


class NamedReplays:
    """Plays `NAME.toml` for the model `replay/NAME`; passes every other model on."""

    def __init__(self, workspace: Path, environment: Environment, otherwise: Provider) -> None:
        self._workspace = workspace
        self._environment = environment
        self._otherwise = otherwise
        self._replays: dict[str, Replay] = {}

    def check(self, model: ModelName, workdir: Path) -> None:
        """Raise RunError if there is no such recording."""
        if model.provider != REPLAY_PROVIDER:
            self._otherwise.check(model, workdir)
        elif model.name not in self._replays:
            # Imported late: nearly all agents have a model.
            from axe_lsp.runtime.recordings.file import load_recording
            from axe_lsp.runtime.recordings.recording_path import find_recording
            from axe_lsp.runtime.recordings.replay import Replay

            path = find_recording(model.name, workdir, self._workspace, self._environment)
            self._replays[model.name] = Replay(
                load_recording(path, is_place=True), self._environment
            )

    def window(self, model: ModelName) -> int | None:
        """The known context window: none, since a replay is never too long."""
        return None if model.provider == REPLAY_PROVIDER else self._otherwise.window(model)

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Answer a request."""
        if exchange.model.provider != REPLAY_PROVIDER:
            return await self._otherwise.send(exchange, on_delta)
        return await self._replays[exchange.model.name].send(exchange, on_delta)
