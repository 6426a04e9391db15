"""The path of the recording of a model `replay/NAME`. Its content is not read here."""

from __future__ import annotations

import os
from pathlib import Path

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.folders import Environment, config_folder
from axe_lsp.runtime.files.regular_files import is_file
from axe_lsp.runtime.plain_text import shown_path


def find_recording(name: str, workdir: Path, workspace: Path, environment: Environment) -> Path:
    """The first that there is, without links. Raises ConfigError, with the places, if there is none.

    A link of the workspace may not lead out of it; one in the folder of axe's configuration is the user's.
    """
    places = recording_places(name, workdir, workspace, environment)
    for path in places:
        if is_file(path):
            place = Path(os.path.realpath(path))
            within = [path.parents[2], workspace]
            if path != places[-1] and not any(_is_below(place, each) for each in within):
                shown = shown_path(path)
                raise ConfigError(f"the recording {shown} is a link that leads out of its folder")
            return place
    folders = ", ".join(str(path.parent) for path in places)
    raise ConfigError(f"recording {quoted(name)} not found (looked for {name}.toml in {folders})")


def _is_below(place: Path, folder: Path) -> bool:
    return place.is_relative_to(os.path.realpath(folder))


def recording_places(
    name: str, workdir: Path, workspace: Path, environment: Environment
) -> tuple[Path, ...]:
    """Where it is looked for, in this order. Raises ConfigError for a name that would lead elsewhere."""
    if Path(name).name != name or "\\" in name:
        raise ConfigError(f"recording name {quoted(name)} must not contain path separators")
    folders = [
        workdir / "axe" / "replays",
        workspace / "axe" / "replays",
        config_folder(environment) / "replays",
    ]
    return tuple(folder / f"{name}.toml" for folder in dict.fromkeys(folders))
