"""A conversation that its own model sums up when it becomes too long (`[context] compaction`). Pure.

The task and the last step stay as they are: the last answer with its calls, and their results. What is
between them is replaced by a summary, which stands behind the task. The request for the summary begins
with what the provider has answered before, so it fits, and its cache serves it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.incomplete import explained
from axe_lsp.runtime.messages import Message, Request, Response
from axe_lsp.runtime.shortening import shortened, tokens_of

_INTERRUPTED = "My context window is nearly full."
"""The message of the model between results and the request for a summary: roles have to alternate."""

_ASK = """\
This conversation is about to exceed your context window. Its beginning will be replaced by a summary,
which you write now; the task itself stays. Include what was done and decided, what was found out
(facts, names, paths, figures, and exact wording where it matters), and what is left to do. Leave out
nothing that the rest of the work needs. Answer with the summary alone, and call no tools."""

_SUMMED_UP = """\
{task}

---

[This conversation has become too long for your context window, so its beginning was replaced by this
summary, which you have written:]

{summary}

[End of the summary. Go on with the task.]"""

_LEAST_ROOM = 4_096
"""Tokens that a summary may have at least, whatever the agent's own answers may have."""


class Compaction(Struct, frozen=True):
    """How a conversation can be summed up: what to ask, and the messages that `stay` behind the summary.

    So many messages are `replaced`, of which the `task` is the first, without an earlier summary.
    """

    asked: Request
    task: Message
    stay: tuple[Message, ...]
    replaced: int

    def with_summary(
        self, request: Request, summary: str, side_runs: Sequence[str] = ()
    ) -> Request:
        """Return the request that goes on from a summary, which names the side runs that work."""
        summary = summary.strip()
        if side_runs:
            summary += f"\n\nStill running: {', '.join(map(quoted, side_runs))}."
        told = _SUMMED_UP.format(task=self.task.content, summary=summary)
        return replace(request, messages=(replace(self.task, content=told), *self.stay))


def compaction_of(
    request: Request, task: Message, size: int, limit: int | None
) -> Compaction | None:
    """Return how to sum up a conversation of about `size` tokens, None if there is nothing to sum up.

    A request may have at most `limit` tokens, None if nobody knows. `task` is the conversation's
    first message.
    """
    messages = request.messages
    last = max((i for i, each in enumerate(messages) if each.role == "assistant"), default=0)
    while last > 1 and messages[last - 1].role == "assistant":  # A paused answer is one answer.
        last -= 1
    if last < 2:
        return None
    old, stay = messages[:last], messages[last:]
    interruption = (Message("assistant", _INTERRUPTED), Message("user", _ASK))
    too_many = size - tokens_of(stay) + tokens_of(interruption) - limit if limit else 0
    if too_many > 0:
        made = shortened(old, too_many, too_many)
        old = made.messages if made else old
    asked = replace(
        request,
        messages=(*old, *interruption),
        max_tokens=request.max_tokens and max(request.max_tokens, _LEAST_ROOM),
        response_format=None,
        params=replace(request.params, stop=()),
    )
    return Compaction(asked, task, stay, last)


def fault_of(answer: Response) -> str:
    """Return why an answer is no summary, "" if it is one."""
    if answer.incomplete is not None:
        return explained(answer.incomplete, answer.incomplete_detail)
    return "" if answer.content.strip() else "the model has written no summary"
