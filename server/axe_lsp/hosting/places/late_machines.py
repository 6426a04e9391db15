"""The machines of agents in copies, for processes in which hardly any agent has one: imported with the first one."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.user_config import may_choose_machines
from axe_lsp.runtime.tools.tool import RemoteCopy, Watch

if TYPE_CHECKING:
    from axe_lsp.hosting.places.machines import Machines
    from axe_lsp.runtime.copies.copy import Copy


class LateMachines:
    """The `Machines` of a process, made for the first copy. It is a `runtime.services.Machines`."""

    def __init__(self, environment: Environment, on: str = "") -> None:
        self._environment = environment
        self._on = on
        self._machines: Machines | None = None

    @property
    def takes_root(self) -> bool:
        """Whether a root works in a copy there, too: if the user has named the machine for this run."""
        return "://" in self._on

    def check(self) -> None:
        """Raise ConfigError if `[execution]` of config.toml or `on` is wrong."""
        if self._on or may_choose_machines(self._environment):
            self._late().check()

    def __call__(self, copy: Copy, watch: Watch) -> AbstractAsyncContextManager[RemoteCopy | None]:
        """Return the copy on another machine that is like this one; None if there is none. Raises ConfigError."""
        return self._late()(copy, watch)

    def _late(self) -> Machines:
        if self._machines is None:
            from axe_lsp.hosting.places.machines import Machines

            self._machines = Machines(self._environment, self._on)
        return self._machines
