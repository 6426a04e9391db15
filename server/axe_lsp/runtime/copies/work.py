"""The work of one called agent in a copy of its folder: before it, after it, and if it ends early."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import anyio
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.copies.copy import Copy, CopyError, Snapshot
from axe_lsp.runtime.copies.git import in_thread
from axe_lsp.runtime.copies.handover import Returning, hand_over, not_applied
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.prepare import require_folder
from axe_lsp.runtime.prompt import folder_of
from axe_lsp.runtime.run_log import RunLog
from axe_lsp.runtime.run_result import Handover
from axe_lsp.runtime.runs import InCopy, Order
from axe_lsp.runtime.safety.approval import Approve
from axe_lsp.runtime.services import Tree
from axe_lsp.runtime.tools.agreed_changes import AgreedChanges
from axe_lsp.runtime.tools.tool import Watch


class WorkInCopy:
    """An async context manager, which gives the order for the agent that works in the copy.

    At its end the copy is deleted. What was changed in it and not handed over is kept as a commit.
    """

    def __init__(self, order: Order, definition: AgentDefinition, tree: Tree, watch: Watch) -> None:
        self._order = order
        self._definition = definition
        self._tree = tree
        self._services = services = tree.services
        self._machines = services.machines
        self._watch = watch
        self._elsewhere = AsyncExitStack()
        self._copy = Copy(order.ids.run_id, order.ids.agent, services.environment)
        self._folder = Path()
        self._agreed = AgreedChanges()
        self._is_handed_over = False
        self.handover: Handover | None = None
        watch.ref = self._copy.ref

    async def __aenter__(self) -> Order:
        """Make the copy. Raises ConfigError."""
        order, services = self._order, self._services
        folder = folder_of(order, self._definition, services.workspace, services.environment)
        require_folder(folder)
        self._folder = folder.resolve()
        try:
            await self._open()
        except BaseException as error:
            await self._end()
            if isinstance(error, CopyError):
                raise ConfigError(str(error)) from error
            raise
        top = Path(self._copy.about.top)
        # A copy of a copy stands for what the first one is a copy of.
        top = top if order.copied is None else order.copied.original(top)
        # What it changed elsewhere would not come back with the copy.
        return replace(order, copied=InCopy(str(top), str(self._copy.tree)), more_folders=())

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def hand_over(self, approve: Approve, log: RunLog, secrets: Collection[str]) -> None:
        """Bring home what was changed in the copy, as the agent's file says."""
        order, definition = self._order, self._definition
        copied = order.copied
        home = copied.at if copied is not None and copied.has(self._folder) else ""
        self.handover = await hand_over(
            self._copy,
            Returning(
                ids=order.ids,
                folder=self._folder,
                changes="keep" if definition.read_only else definition.isolation.changes,
                approve=approve,
                log=log,
                secrets=secrets,
                is_undoable=not home,  # A copy is gone before anybody can undo that.
                home=self._tree.remote_copies.get(home),
                agreed=self._agreed,
                outer=self._tree.agreed_changes.get(home),
                workspace=None if home else self._services.workspace,
            ),
        )
        self._is_handed_over = True

    async def _open(self) -> None:
        """Make the copy, which a cancellation stops. Raises CopyError or ConfigError."""
        copy, folder, snapshots = self._copy, self._folder, self._services.snapshots

        async def snapshot() -> Snapshot:
            return await in_thread(partial(copy.snapshot, folder))

        await in_thread(partial(copy.claim, folder))
        found = await snapshots.of(str(folder), snapshot)
        async with snapshots.making:
            await in_thread(partial(copy.make, folder, found))
        remote_copy = None
        if self._machines is not None:
            remote_copy = await self._elsewhere.enter_async_context(
                self._machines(self._copy, self._watch)
            )
        if remote_copy is not None:
            self._tree.remote_copies[str(self._copy.tree)] = remote_copy
        else:
            # Another machine may show something else than what it does.
            self._tree.agreed_changes[str(self._copy.tree)] = self._agreed
            self._watch.placed("here", str(self._copy.folder))

    async def _end(self) -> None:
        with anyio.CancelScope(shield=True):
            self._tree.remote_copies.pop(str(self._copy.tree), None)
            self._tree.agreed_changes.pop(str(self._copy.tree), None)
            await self._elsewhere.aclose()
            if self._is_handed_over:
                await anyio.to_thread.run_sync(self._copy.close)
            elif await anyio.to_thread.run_sync(self._copy.leave):
                self.handover = not_applied(
                    "It worked in a copy. Its changes were not applied; they are kept as "
                    f"{self._copy.where}."
                )
            elif self._copy.is_stuck:
                self.handover = not_applied(
                    "It worked in a copy. Its changes were not applied and can't be kept as a commit; "
                    f"its files are left in {self._copy.folder}."
                )
        if self.handover is None:
            return
        text = f"agent {quoted(self._order.ids.agent)}: {self.handover.outcome}"
        if self.handover.unapplied:
            self._services.warn(text)
        elif self._order.ids.depth == 0:  # It has no caller that is told.
            self._services.note(text)
