"""The last results of the cases that a client has run: shown by hover, and as diagnostics until the next edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from axe_lsp.serving.json_rpc import JsonObject

_SHOWN = {"failed", "stale", "provider"}
"""The verdicts whose failures are diagnostics. A missing recording is one without a run."""


class _Kept(NamedTuple):
    """The result of a case, and the text of the file that was tested."""

    result: JsonObject
    text: str


class TestResults:
    """Results by the URI of a file and the name of a case. `listeners` are called with the URI of each new one."""

    __test__ = False
    """For pytest: this is no test."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, _Kept]] = {}
        self.listeners: list[Callable[[str], None]] = []

    def keep(self, uri: str, result: JsonObject, text: str) -> None:
        """Keep a result in place of the last one of its case."""
        self._kept.setdefault(uri, {})[result["name"]] = _Kept(result, text)
        for listener in self.listeners:
            listener(uri)

    def markdown(self, uri: str, name: str) -> str | None:
        """The last result of a case. Failures quote what models say, so they are shown as code."""
        kept = self._kept.get(uri, {}).get(name)
        if kept is None:
            return None
        result = kept.result
        is_kept = result["verdict"] != "passed" and "runId" in result
        run = f" · run `{result['runId'][:8]}`" if is_kept else ""
        failures = [f"line {each['line']}: {each['message']}" for each in result["failures"]]
        lines = "\n".join(failures).splitlines()
        parts = [
            f"Last result: **{result['verdict']}**{run}",
            *(["\n".join(f"    {line}" for line in lines)] if lines else []),
        ]
        return "\n\n".join(parts)

    def has(self, uri: str) -> bool:
        """Whether a case of the file was run."""
        return uri in self._kept

    def failures(self, uri: str, text: str) -> Iterator[tuple[str, int, str]]:
        """Verdict, line from 0 and message of all failures in a file whose text is still the tested one."""
        for result, tested in self._kept.get(uri, {}).values():
            if result["verdict"] in _SHOWN and tested == text:
                for each in result["failures"]:
                    yield result["verdict"], each["line"] - 1, each["message"]
