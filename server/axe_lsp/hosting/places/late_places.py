"""Where agents in copies work, for processes in which hardly any agent has one: nothing is imported until then."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.tools.tool import Hands, Watch

if TYPE_CHECKING:
    from axe_lsp.hosting.places.places import Places
    from axe_lsp.runtime.copies.copy import Copy


class LatePlaces:
    """The `Places` of a process, made for the first copy. It is a `runtime.services.Places`."""

    def __init__(self, environment: Environment, on: str = "") -> None:
        self._environment = environment
        self._on = on
        self._places: Places | None = None

    @property
    def takes_root(self) -> bool:
        """Whether a root works in a copy there, too: if the user has named the machine for this run."""
        return "://" in self._on

    def __call__(self, copy: Copy, watch: Watch) -> AbstractAsyncContextManager[Hands | None]:
        """The copy on another machine that is like this one; None if there is none. Raises ConfigError."""
        if self._places is None:
            from axe_lsp.hosting.places.places import Places  # noqa: PLC0415 - as said above

            self._places = Places(self._environment, self._on)
        return self._places(copy, watch)
