"""What enters a conversation at a boundary, the moment before a request: answers of side runs, and messages.

And the end of a run that has side runs or messages: it goes on until nothing is left to give.
"""

from __future__ import annotations

from collections.abc import Sequence

from axe_lsp.runtime.children.side_runs import SideRun, SideRuns, text_of_answers, until_first
from axe_lsp.runtime.conversation import Conversation
from axe_lsp.runtime.events import AgentIdle, MessagesGiven, RunIds
from axe_lsp.runtime.inbox import Inbox
from axe_lsp.runtime.journal import Journal
from axe_lsp.runtime.limits.clock import Clock
from axe_lsp.runtime.messages import Given
from axe_lsp.runtime.recordings.recording import RecordedTools
from axe_lsp.runtime.run_log import Gave, RunLog


class Delivery:
    """Gives one run what has come for it. A run that is `recorded` gets what the recording says."""

    def __init__(
        self,
        ids: RunIds,
        log: RunLog,
        journal: Journal,
        inbox: Inbox,
        side_runs: SideRuns,
        *,
        clock: Clock,
        waits_at_end: bool,
        recorded: RecordedTools | None,
    ) -> None:
        self._ids = ids
        self._log = log
        self._journal = journal
        self._inbox = inbox
        self._side_runs = side_runs
        self._clock = clock
        self._waits_at_end = waits_at_end
        self.recorded = recorded

    async def before_request(self, conversation: Conversation) -> None:
        """Give what has come, before the next request."""
        turn = conversation.turns + 1
        if conversation.given_turn == turn:
            return
        if self.recorded is not None:
            await self._give_recorded(conversation, turn)
            return
        await self._give(conversation, turn, self._side_runs.ready)

    async def is_woken(self, conversation: Conversation) -> bool:
        """Return whether a conversation goes on whose last answer was the end; wait for side runs before that.

        Nothing is awaited between the last look and the return: who closes the inbox at once loses no message.
        """
        while True:
            turn, working = conversation.turns + 1, self._side_runs.working
            if self.recorded is not None and self.recorded.has_given(self._ids):
                if await self._give_recorded(conversation, turn, wakes=True):
                    return True
            elif await self._give(conversation, turn, self._side_runs.ready, wakes=True):
                return True
            if working and self._waits_at_end:
                await self._idle(turn, working)
            elif working:
                await self._side_runs.cancel_all()
            else:
                return await self._give(conversation, turn, (), wakes=True, with_later=True)

    async def _idle(self, turn: int, working: Sequence[SideRun]) -> None:
        """Wait until all side runs have ended, or a message comes."""
        names = tuple(each.name for each in working)
        self._journal.emit(AgentIdle(run=self._ids, turn=turn, side_runs=names))
        with self._clock.waiting(), self._clock.waiting_for_side_runs():
            while self._side_runs.working and not self._inbox.has_urgent:
                await until_first(self._side_runs.change, self._inbox.arrival)

    async def _give(
        self,
        conversation: Conversation,
        turn: int,
        sides: Sequence[SideRun],
        *,
        wakes: bool = False,
        with_later: bool = False,
    ) -> bool:
        """Give answers and messages. Returns False if there are none."""
        if sides:
            await self._side_runs.take_over_changes(sides)
            # Others may have ended meanwhile.
            sides = [each for each in self._side_runs.ready if each.outcome is not None]
        if wakes and not (sides or self._inbox.has_urgent or (with_later and self._inbox.queued)):
            return False
        if wakes:
            conversation.wake()
        messages = self._inbox.take(with_later=with_later)
        ids = tuple(each.message_id for each in messages)
        self._keep(
            conversation, turn, sides, tuple(each.text for each in messages), ids, wakes=wakes
        )
        return bool(sides or messages)

    def _keep(
        self,
        conversation: Conversation,
        turn: int,
        sides: Sequence[SideRun],
        messages: tuple[str, ...],
        ids: tuple[str, ...],
        *,
        wakes: bool,
    ) -> None:
        """Add texts to the conversation, keep the step, and report it."""
        texts = (*text_of_answers(sides), *messages)
        names = tuple(each.name for each in sides)
        conversation.give(turn, texts, Given(names, messages))
        if not texts:
            return
        self._side_runs.gave(names)
        self._log.keep("gave", turn, data=Gave(names, ids, messages, wakes))
        text = "\n\n".join(texts)[: MessagesGiven.MAX_TEXT]
        self._journal.emit(
            MessagesGiven(run=self._ids, turn=turn, side_runs=names, message_ids=ids, text=text)
        )

    async def _give_recorded(
        self, conversation: Conversation, turn: int, *, wakes: bool = False
    ) -> bool:
        """Give what the recorded request of the turn has given, once these side runs have ended."""
        assert self.recorded is not None
        given = self.recorded.given(self._ids, turn)
        sides = [side for side in map(self._side_runs.find, given.side_runs) if side is not None]
        for side in sides:
            while not side.has_answer:
                await self._side_runs.change.wait()
        await self._side_runs.take_over_changes(sides)
        if wakes and not (sides or given.messages):
            return False
        if wakes:
            conversation.wake()
        self._keep(conversation, turn, sides, given.messages, (), wakes=wakes)
        return bool(sides or given.messages)
