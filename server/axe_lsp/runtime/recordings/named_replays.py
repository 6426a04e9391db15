"""Recordings that agent files name as their model, `replay/NAME`: where they are, and playing them."""

from __future__ import annotations

import os
from pathlib import Path

from axe_lsp.agentfile.schema.providers import REPLAY_PROVIDER, ModelName
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.regular_files import is_file
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.plain_text import shown_path
from axe_lsp.runtime.providers.provider import Exchange, OnDelta, Provider
from axe_lsp.runtime.recordings.recording import RecordedTools, recorded_of


def find_recording(name: str, workdir: Path, workspace: Path, environment: Environment) -> Path:
    """Return the first that there is, without links. Raises ConfigError, with the places, if there is none.

    A link of the workspace may not lead out of it; one in the folder of axe's configuration is the user's.
    """
    places = recording_places(name, workdir, workspace, environment)
    for path in places:
        if is_file(path):
            place = Path(os.path.realpath(path))
            within = map(os.path.realpath, (path.parents[2], workspace))
            if path != places[-1] and not any(map(place.is_relative_to, within)):
                shown = shown_path(path)
                raise ConfigError(f"the recording {shown} is a link that leads out of its folder")
            return place
    folders = ", ".join(str(path.parent) for path in places)
    raise ConfigError(f"recording {quoted(name)} not found (looked for {name}.toml in {folders})")


def recording_places(
    name: str, workdir: Path, workspace: Path, environment: Environment
) -> tuple[Path, ...]:
    """Return where it is looked for, in this order. Raises ConfigError for a name that would lead elsewhere."""
    if Path(name).name != name or "\\" in name:
        raise ConfigError(f"recording name {quoted(name)} must not contain path separators")
    folders = [
        workdir / "axe" / "replays",
        workspace / "axe" / "replays",
        config_folder(environment) / "replays",
    ]
    return tuple(folder / f"{name}.toml" for folder in dict.fromkeys(folders))


class NamedReplays:
    """Plays `NAME.toml` for the model `replay/NAME`; passes every other model on."""

    def __init__(self, workspace: Path, environment: Environment, otherwise: Provider) -> None:
        self._workspace = workspace
        self._environment = environment
        self._otherwise = otherwise
        self._replays: dict[str, Provider] = {}

    def check(self, model: ModelName, workdir: Path) -> None:
        """Raise RunError if there is no such recording."""
        if model.provider != REPLAY_PROVIDER:
            self._otherwise.check(model, workdir)
        elif model.name not in self._replays:
            # Imported late: nearly all agents have a model.
            from axe_lsp.runtime.recordings.file import load_recording
            from axe_lsp.runtime.recordings.replay import Replay

            path = find_recording(model.name, workdir, self._workspace, self._environment)
            self._replays[model.name] = Replay(
                load_recording(path, is_place=True), self._environment
            )

    def window(self, model: ModelName) -> int | None:
        """Return the known context window: none, since a replay is never too long."""
        return None if model.provider == REPLAY_PROVIDER else self._otherwise.window(model)

    def recorded(self, model: ModelName) -> RecordedTools | None:
        """Return the recording of a model, or that of the other provider."""
        if model.provider != REPLAY_PROVIDER:
            return recorded_of(self._otherwise, model)
        return recorded_of(self._replays.get(model.name), model)

    async def send(self, exchange: Exchange, on_delta: OnDelta | None) -> Response:
        """Answer a request."""
        if exchange.model.provider != REPLAY_PROVIDER:
            return await self._otherwise.send(exchange, on_delta)
        return await self._replays[exchange.model.name].send(exchange, on_delta)
