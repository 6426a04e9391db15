"""`--replay` and `--record` of `axe-lsp run`: where answers come from, and where they are kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.files.user_config import known_secrets
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.providers.provider import Provider, ProviderHook
from axe_lsp.runtime.recordings.file import load_recording, save_recording
from axe_lsp.runtime.recordings.recorder import Recorder
from axe_lsp.runtime.recordings.replay import Replay


@contextmanager
def recordings(replay: Path | None, record: Path | None) -> Iterator[ProviderHook]:
    """Replaying replaces the provider, recording wraps it. Raises ConfigError."""
    recording = load_recording(replay) if replay else None
    if record and not record.absolute().parent.is_dir():
        raise ConfigError(f"failed to write recording: {record.absolute().parent} is not a folder")
    if record and record.is_dir():
        raise ConfigError(f"failed to write recording: {record} is a folder; name a file in it")
    recorders: list[Recorder] = []

    def hook(provider: Provider) -> Provider:
        answering = Replay(recording, os.environ) if recording else provider
        if not record:
            return answering
        recorders.append(Recorder(answering))
        return recorders[-1]

    try:
        yield hook
    finally:
        # Also what led to a failure, to Ctrl-C or to the end of a CI job is worth a recording.
        for recorder in recorders:
            assert record is not None
            _save(record, recorder)


def _save(path: Path, recorder: Recorder) -> None:
    try:
        save_recording(path, recorder.recording(known_secrets(os.environ)))
    except OSError as error:
        raise ConfigError(f"failed to write recording: {os_fault(error)}") from error
