"""The changes of an agent that has worked in a copy: they are applied, asked about, or kept."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path

import anyio
from msgspec import Struct, field
from msgspec.structs import replace

from axe_lsp.runtime.copies.applying import ApplyError, Plan, Planned, apply, plan
from axe_lsp.runtime.copies.copy import Copy, locked
from axe_lsp.runtime.copies.git import GitError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.plain_text import os_fault
from axe_lsp.runtime.resuming.saved_files import keep_file_after, keep_file_before
from axe_lsp.runtime.run_log import RunLog
from axe_lsp.runtime.run_result import Handover
from axe_lsp.runtime.safety.approval import ApprovalRequest, Approve, Rehearsal
from axe_lsp.runtime.safety.protected_places import changed_file_of
from axe_lsp.runtime.safety.questions import SAID_NO
from axe_lsp.runtime.safety.redaction import redact
from axe_lsp.runtime.tools.agreed_changes import AgreedChanges, digest_of_content
from axe_lsp.runtime.tools.tool import RemoteCopy, ToolError

APPLY_CHANGES = "apply_changes"
"""The tool's name in questions and rules. No model can call it."""

_MOST_NAMED = 50

_NOTHING_CHANGED = (
    "Error: It worked in a copy, and its changes were not applied; no file was changed."
)


class Returning(Struct, frozen=True):
    """An agent whose work in a copy is over.

    `folder` is the one that it has a copy of; `changes` is that of its file. What it changes can be undone if
    it `is_undoable`. Questions hold none of the `secrets`. If the folder is itself a copy that is like one on
    another machine, `home` is that one. Nobody is asked about changes that they have `agreed` to before. If the folder is
    a copy, `outer` are the changes in that which a person has agreed to; else it is in the `workspace`.
    """

    ids: RunIds
    folder: Path
    changes: str
    approve: Approve
    log: RunLog
    secrets: Collection[str]
    is_undoable: bool
    home: RemoteCopy | None = None
    agreed: AgreedChanges = field(default_factory=AgreedChanges)
    outer: AgreedChanges | None = None
    workspace: Path | None = None


async def hand_over(copy: Copy, agent: Returning) -> Handover | None:
    """Bring the changes home as the agent's file says; None if there are none."""
    try:
        kept = await anyio.to_thread.run_sync(copy.collect)
    except (GitError, OSError) as error:
        return uncollected(copy, _fault(error))
    if not kept:
        return None
    try:
        repositories = await anyio.to_thread.run_sync(lambda: copy.repositories(copy.changes(kept)))
        keep = _keep if agent.changes == "keep" else _apply
        handover = await keep(copy, kept, agent)
    except (GitError, OSError) as error:
        return _failed(copy, [f"the changes can't be read: {_fault(error)}"])
    if not repositories:
        return handover
    lost = f"Of the repositories that it has made, only the files are there, no commits: {_named(repositories)}"
    return replace(handover, text=f"{handover.text.rstrip('.')}. {lost}")


async def _keep(copy: Copy, kept: str, agent: Returning) -> Handover:
    planned = await _planned(copy, kept, agent)
    count = len(planned.files) + len(planned.conflicts)
    changed = "1 file was" if count == 1 else f"{count:,} files were"
    files = _named(_lines(planned.files) + list(planned.conflicts))
    return Handover(
        f"It worked in a copy. {changed} changed there; nothing was applied. "
        f"The changes are kept as {copy.where}: {files}",
        unapplied="all",
    )


def uncollected(copy: Copy, reason: str) -> Handover:
    """Return the handover of changes that could not be kept as a commit."""
    left = f"Its files are left in {copy.folder}." if copy.is_stuck else "They are lost."
    return not_applied(f"{_NOTHING_CHANGED} They can't be read: {reason}. {left}")


def not_applied(text: str) -> Handover:
    """Return a handover none of whose changes were applied to the folder."""
    return Handover(text, is_error=True, unapplied="all")


def _fault(error: GitError | OSError) -> str:
    return os_fault(error) if isinstance(error, OSError) else str(error)


async def _apply(copy: Copy, kept: str, agent: Returning) -> Handover:
    refusals: dict[Planned, str] = {}  # Empty for what is allowed.
    seen: list[Planned] = []
    while True:
        planned = await _planned(copy, kept, agent)
        if planned.conflicts:
            return _failed(copy, planned.conflicts)
        for file in planned.files:
            if file not in refusals:
                refusal = refusals[file] = await _decided(file, copy, agent, seen)
                if refusal and not refusal.startswith(SAID_NO):  # Nobody looks at the others.
                    return _failed(copy, [f"{file.path}: {refusal}"])
        files = [file for file in planned.files if not refusals[file]]
        denied = [f"{file.path}: {refusals[file]}" for file in planned.files if file not in files]
        if denied and not files:
            return _failed(copy, denied)
        await _keep_before(files, agent)
        try:
            async with agent.home.alike() if agent.home is not None else nullcontext():
                is_done = await anyio.to_thread.run_sync(
                    _apply_now, copy, kept, agent, planned, files
                )
        except (ApplyError, ToolError) as error:
            return _failed(copy, [str(error)])
        if is_done:  # Else a file was changed meanwhile.
            break
    await _keep_after(files, agent)
    _note_seen([file for file in files if file in seen], agent)
    applied = _named(_lines(files)) or "none, as they are there already"
    if denied:
        return Handover(
            f"It worked in a copy. All of its changes are kept as {copy.where}. "
            f"These were applied: {applied}. These were denied: {_named(denied)}",
            unapplied="some",
        )
    await anyio.to_thread.run_sync(copy.drop)
    return Handover(f"It worked in a copy. Its changes were applied: {applied}")


def _apply_now(
    copy: Copy, kept: str, agent: Returning, wanted: Plan, files: Sequence[Planned]
) -> bool:
    """Apply what was allowed, one agent at a time; False if that is not what it means any more."""
    with locked(copy.tree.parent.parent / "lock"):
        now = plan(copy.changes(kept), agent.folder, copy.about.prefix, copy.about.own)
        if now != wanted:
            return False
        apply(files)
        return True


async def _planned(copy: Copy, kept: str, agent: Returning) -> Plan:
    def find() -> Plan:
        return plan(copy.changes(kept), agent.folder, copy.about.prefix, copy.about.own)

    return await anyio.to_thread.run_sync(find)


async def _decided(file: Planned, copy: Copy, agent: Returning, seen: list[Planned]) -> str:
    """Return why a change is not to be applied, "" if it is. What a person has agreed to is `seen`."""
    if file.is_write and agent.agreed.has(copy.folder.resolve() / file.path, *_contents(file)):
        seen.append(file)
        return ""
    return await agent.approve(_approval_request(file, agent, seen))


def _note_seen(files: Iterable[Planned], agent: Returning) -> None:
    """Take note that a person has agreed to these changes, which are in the copy of the caller now."""
    if agent.outer is not None:
        for file in files:
            agent.outer.add(agent.folder / file.path, *map(digest_of_content, _contents(file)))


def _contents(file: Planned) -> tuple[bytes | None, bytes | None]:
    """Return the content of a file now and in the copy, None for no file."""
    now, then = (each.content if each is not None else None for each in (file.now, file.then))
    return now, then


def _approval_request(file: Planned, agent: Returning, seen: list[Planned]) -> ApprovalRequest:
    # A rule for `write_file` allows what that tool could do, and nothing else.
    as_write = agent.changes == "apply" and file.is_write
    real = file.rehearsal
    shown = real.told(lambda text: redact(text, agent.secrets))
    is_whole = file.is_write and shown.change is not None and shown.change == real.change

    async def rehearse() -> Rehearsal:
        return shown

    def agree() -> None:
        if is_whole:
            seen.append(file)

    tool = "write_file" if as_write else APPLY_CHANGES
    path = redact(file.path, agent.secrets)
    roots = (*filter(None, [agent.workspace]), agent.folder)
    changed = changed_file_of(file.place, roots).told(lambda text: redact(text, agent.secrets))
    return ApprovalRequest(agent.ids, tool, {"path": path}, rehearse, on_agreed=agree, file=changed)


async def _keep_before(files: Iterable[Planned], agent: Returning) -> None:
    if agent.is_undoable and agent.log.is_kept:
        for number, file in enumerate(files):
            if file.is_undoable:
                name = f"{APPLY_CHANGES} {number}"
                await keep_file_before(agent.log, 0, name, file.place, agent.secrets)


async def _keep_after(files: Iterable[Planned], agent: Returning) -> None:
    if agent.is_undoable and agent.log.is_kept:
        for number, file in enumerate(files):
            if file.is_undoable:
                name = f"{APPLY_CHANGES} {number}"
                await keep_file_after(agent.log, 0, name, file.place, agent.secrets)


def _failed(copy: Copy, reasons: Iterable[str]) -> Handover:
    return not_applied(f"{_NOTHING_CHANGED} They are kept as {copy.where}. {_named(list(reasons))}")


def _lines(files: Iterable[Planned]) -> list[str]:
    return [f"{file.letter} {file.path}" for file in files]


def _named(lines: list[str]) -> str:
    shown = ", ".join(lines[:_MOST_NAMED])
    return f"{shown} and {len(lines) - _MOST_NAMED:,} more" if len(lines) > _MOST_NAMED else shown
