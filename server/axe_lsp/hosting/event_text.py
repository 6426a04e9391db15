"""Events in words, for logs that a person reads."""

from __future__ import annotations

from collections.abc import Mapping

from axe_lsp.agentfile.text.amounts import as_line, counted
from axe_lsp.hosting.notifications import Notification
from axe_lsp.runtime.events import place_in_words, wait_reason
from axe_lsp.runtime.incomplete import in_words
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.messages import argument_text

_LONGEST_ACTIVITY = 120


def describe(news: Notification) -> str | None:
    """Return an event in one line, indented by depth; None for those that would only make noise."""
    event = news.params
    indent, agent = "  " * event["depth"], event["agent"]
    match news.method, event.get("kind"):
        case "axe/agent", "begin" | "resume" as kind:
            how = "started" if kind == "begin" else f"resumed at turn {event['turn']}"
            return f"{indent}{agent}: {how} on {event['model'] or 'an unknown model'}"
        case "axe/agent", "end":
            seconds = event["durationMs"] / 1000
            why = event.get("error") or in_words(event.get("incomplete"))
            reason = f": {why}" if why else ""
            used = event.get("tree", event)
            cost = f", ${used['cost']:.4f}" if used.get("cost") else ""
            return f"{indent}{agent}: {event['status']} after {seconds:.1f} s{cost}{reason}"
        case (
            ("axe/turn", "retry")
            | ("axe/agent", "idle")
            | ("axe/wait" | "axe/context" | "axe/place" | "axe/message", _)
        ):
            told = _pause(event)
            return f"{indent}{agent}: {told}" if told else None
        case "axe/turn", "end":
            calls = [call["name"] for call in event["toolCalls"]]
            what = f"calls {', '.join(calls)}" if calls else event["stopReason"] or "answered"
            mark = in_words(event.get("incomplete"))
            return f"{indent}{agent}: turn {event['turn']}, {what}{mark and f'; {mark}'}"
        case "axe/tool", "end" if event["isError"]:
            return f"{indent}{agent}: {event['name']} failed: {event['content']}"
    return None


def activity(news: Notification) -> str | None:
    """Return the present action of an agent, in a few words: `lint > read_file a.py`; None if the event says nothing of it."""
    event = news.params
    match news.method, event.get("kind"):
        case "axe/agent", "begin":
            what = event["task"]
        case "axe/turn", "begin":
            what = f"turn {event['turn']}"
        case "axe/tool", "begin":
            first = argument_text(next(iter(event["arguments"].values()), None))
            what = f"{event['name']} {first}"
        case _:
            return None
    return as_line(f"{event['agent']} > {what}", _LONGEST_ACTIVITY)


def _message(event: Mapping[str, Json]) -> str:
    """Return the text of an event about a message, or about what a request has given."""
    match event["kind"]:
        case "idle":
            return f"waits for {', '.join(event['sideRuns'])}"
        case "queued":
            text = as_line(event["text"], _LONGEST_ACTIVITY)
            return f"message from {event['from']} ({event['mode']}): {text}"
        case "given":
            count = len(event["messageIds"])
            messages = [counted(count, "message")] if count else []
            return f"turn {event['turn']} gives {', '.join([*event['sideRuns'], *messages])}"
        case "removed":
            return "a message was removed"
    return ""


def _room_made(event: Mapping[str, Json]) -> str:
    """Return the text of an event about a conversation that has become too long."""
    if event.get("kind") == "begin":
        return f"asks for a summary, since about {event['tokensBefore']} tokens are too many"
    if event.get("error"):
        return f"no summary: {event['error']}"
    what = (
        f"{event['results']} old tool results shortened to make room"
        if "results" in event
        else f"{event['messages']} messages replaced by a summary"
    )
    return f"{what}, about {event['tokensBefore']} to {event['tokensAfter']} tokens"


def _pause(event: Mapping[str, Json]) -> str:
    """Return why a request is not being answered at present, or is not what it was; where an agent works."""
    if "sideRuns" in event or "messageId" in event:
        return _message(event)
    if "place" in event:
        return place_in_words(event["place"], event.get("waiting"), event.get("reason"))
    if "tokensBefore" in event:
        return _room_made(event)
    if "attempt" not in event:
        return f"{event['provider']} {wait_reason(event.get('waitMs'))}"
    seconds = event["waitMs"] / 1000
    times = f"{event['attempt']} of {event['maxAttempts']}"
    return f"{event['category']}: {event['message']}; sent again in {seconds:.1f} s ({times})"
