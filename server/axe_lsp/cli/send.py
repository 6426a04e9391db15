"""`axe-lsp send`: messages to a run that is going on in any process of the user."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from axe_lsp.cli.active_runs import FoundRun, find, reached, refuse_below_agent
from axe_lsp.cli.arguments import Parser
from axe_lsp.cli.streams import compact, piped_text
from axe_lsp.cli.text_width import one_line
from axe_lsp.hosting.executors.connection import new_request
from axe_lsp.hosting.protocol import MessageAnswer
from axe_lsp.runtime.errors import ConfigError
from axe_lsp.runtime.events import MessageMode
from axe_lsp.runtime.inbox import MessageEdit, MessageRefusedError, NewMessage
from axe_lsp.runtime.json_data import Json
from axe_lsp.runtime.plain_text import visible
from axe_lsp.runtime.run_log import StoredMessage


def main(arguments: Sequence[str]) -> int:
    """Send a message; returns the exit code."""
    options = _parser().parse_args(arguments)
    refuse_below_agent("send")
    run = find(options.run)
    run.require_active(f"`axe-lsp run --continue {run.root[:8]}` replies to a completed run")
    if options.list:
        _print_queued(_request(run), as_json=options.json)
    elif options.remove:
        answer = _request(run, edit=MessageEdit(options.remove, removes=True))
        if not answer.has_changed:
            raise ConfigError(f"no message {options.remove!r} waits; it may have been given")
    else:
        text = options.text if options.text is not None else piped_text() or ""
        if not text.strip():
            raise ConfigError("the message is empty; nothing was sent")
        print(_request(run, message=NewMessage(text, options.mode)).message_id)
    return 0


def _request(
    run: FoundRun, message: NewMessage | None = None, edit: MessageEdit | None = None
) -> MessageAnswer:
    with reached(run) as executor:
        answer = executor.request_messages(
            new_request(run.root, run.run_id, message=message, edit=edit)
        )
    if answer.refusal is not None:
        raise ConfigError(f"{MessageRefusedError(answer.refusal)}; nothing was sent")
    return answer


def _print_queued(answer: MessageAnswer, *, as_json: bool) -> None:
    if as_json:
        print(compact([_as_json(each) for each in answer.messages]))
        return
    for each in answer.messages:
        text = one_line(each.text)
        line = f"{each.message_id}  {each.mode:5}  {text}"
        print(visible(line) if sys.stdout.isatty() else line)


def _as_json(message: StoredMessage) -> dict[str, Json]:
    """Return a message as `axe/messages` has it."""
    return {
        "messageId": message.message_id,
        "mode": message.mode,
        "text": message.text,
        "from": message.sender,
        "time": message.time,
    }


def _parser() -> Parser:
    parser = Parser(
        prog="axe-lsp send",
        description="Send a message to a run that is going on, and print the message's id. "
        "The run gets it before its next request.",
    )
    parser.add_argument("run", metavar="RUN", help="the beginning of the id of a run")
    parser.add_argument(
        "text", metavar="TEXT", nargs="?", help="the message (default: standard input)"
    )
    which = parser.add_mutually_exclusive_group()
    mode: dict[str, MessageMode] = {"--after": "after", "--now": "now"}
    for name, what in (
        ("--after", "give the message when the run would end"),
        ("--now", "break off what the run does, and give the message at once"),
    ):
        which.add_argument(name, dest="mode", action="store_const", const=mode[name], help=what)
    which.add_argument("--list", action="store_true", help="list the messages that wait")
    which.add_argument("--remove", metavar="ID", help="remove a message that waits")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(mode="next")
    return parser
